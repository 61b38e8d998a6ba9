"""An op that takes several plans, declared: its tensors as patterns, its options as annotations, its body as steps on views.

    @composed(x="... m n")
    def trace(do: Steps, x: TensorRef, *, offset: int = 0, dtype: Dtype = None) -> TensorRef:
        '''The sum of the diagonal x[i, i + offset].'''
        return do.run(sum_, {"x": diagonal(x, offset)}, do.out, axis=-1, dtype=dtype)

The body sees tensors as where they lie; which library they are of, and who allocates, it never learns. From the declaration
follow the public function with its checks and error texts, its cached calls and its line of the catalogue. Its gradient is
another composition, called the same with `_backward`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from baracuda.core.descriptor import Descriptor
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.implementation import Executable
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.patterns import Declared
from baracuda.ops.declaration.traced import IndexBound

#: A tensor that may be left out.
Given: TypeAlias = TensorRef | None
#: Where a step writes: a tensor, one for each result, or None for new ones.
Into: TypeAlias = TensorRef | tuple[Given, ...] | None
#: Results that a backward takes, by name.
Saved: TypeAlias = Mapping[str, Given] | None
Shape = Sequence[int]


class Steps(Protocol):
    """What a body makes its steps with. In a tensor's place an op may have a number."""

    #: What the caller gave to write the result to; None where nothing.
    out: Any

    def run(self, op: Op, tensors: Mapping[str, Any], into: Into = None, **options: Any) -> Any:
        """An op's result, or a tuple of several."""

    def gradients(
        self, op: Op, tensors: Mapping[str, Any], dy: TensorRef, wrt: Sequence[str], saved: Saved = None, **options: Any
    ) -> dict[str, TensorRef]:
        """The gradients of an op's tensors by name, given that of its result; only of those that the op reads. Results that the
        backward takes too are computed again where they are not given."""

    def plan(
        self,
        plan: type[Plan[Any, Any]],
        descriptor: Descriptor,
        tensors: Mapping[str, Any],
        into: Into = None,
        preference: PlanPreference | None = None,
    ) -> Any:
        """What a plan of a family of its own computes: its result, or a tuple of several."""

    def launch(self, program: Executable, addresses: Sequence[int], written: Sequence[TensorRef]) -> None:
        """A program that is no plan's, with the addresses of its operands; `written` are the tensors that it writes."""

    def new(self, shape: Shape, kind: ElementKind, lying_as: Given = None) -> TensorMut:
        """A new tensor, to write; its axes lie in memory in the order of those of another of the same rank, if one is given."""

    def rows(self, shape: Shape, kind: ElementKind) -> TensorMut:
        """A new contiguous tensor, to write."""

    def result(self, shape: Shape, kind: ElementKind, lying_as: Given = None) -> TensorMut:
        """What the caller gave to write the result to, of this shape and element and no memory of a tensor that is read; where
        nothing, a new tensor as `new` makes it."""

    def result_like(self, tensor: TensorRef) -> TensorMut:
        """What the caller gave to write the result to, of the shape and element of a tensor; a new tensor where nothing."""

    def replacing(self, tensors: Sequence[TensorRef]) -> list[Any]:
        """What the caller gave to write to in place of each of these tensors, one `out` for each: the very tensor, or one of its
        shape and element that shares no memory with any other; new tensors where nothing."""

    def new_like(self, tensor: TensorRef) -> TensorMut:
        """A new tensor of the shape and element of another, and in its memory order."""

    def filled(self, shape: Shape, kind: ElementKind, value: complex) -> TensorMut:
        """A new tensor with one number everywhere."""

    def fill(self, target: TensorMut, value: complex, name: str = "value") -> None:
        """Make every element one number, which kernels are given by this name."""

    def zero(self, target: TensorMut) -> None:
        """Make every element 0."""

    def copy(self, source: TensorRef, target: TensorMut) -> None:
        """The elements of one view into another, in the element of the target; where that is theirs, bit by bit."""

    def move(
        self,
        pieces: Iterable[tuple[TensorRef, TensorMut]],
        into: TensorMut | None = None,
        fill: complex = 0,
        name: str = "value",
    ) -> None:
        """The elements of views into as many others, which do not overlap; where these are parts of one, `into`, what is left of
        it is filled with one number, which kernels are given by this name."""

    def merge(self, pieces: Sequence[tuple[int, TensorRef]], axis: int, into: TensorMut) -> None:
        """Write the sum of some pieces, each of which begins at a place along an axis; zero where there is none.

        An element's pieces are added in the order they are given in, up to five of them in the kind they compute in.
        """

    def reshaped(self, tensor: TensorRef, shape: Shape) -> Any:
        """The elements of a tensor in another shape, one extent of which may be -1: a view where its strides allow one."""

    def on_host(self, tensor: TensorRef) -> Any:
        """A tensor's values as a NumPy array, once they are there: a copy, so that the call is not made of its launches again."""

    def check_indices(self, index: TensorRef, name: str, limits: IndexBound) -> None:
        """Raise `InvalidProblemError` where an index is out of range, with the first one that is; on a GPU when the host next
        waits for the device."""

    def check_range(self, index: TensorRef, name: str, low: int, last: int) -> None:
        """The same for what is no index of an axis."""


def chosen(wrt: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """The tensors whose gradients a call asks for, each once, by default all that are known."""
    given: Any = known if wrt is None else wrt
    if not isinstance(given, (tuple, list)):
        raise InvalidProblemError(f"wrt: {given!r}; expected a tuple of names, some of {', '.join(known)}")
    found = tuple(given)
    if not found or any(n not in known for n in found) or len(set(found)) != len(found):
        raise InvalidProblemError(f"wrt: {', '.join(map(repr, found)) or 'none'}; expected some of {', '.join(known)}, each once")
    return found


def one_or_all(results: Sequence[Any]) -> Any:
    """What a function returns: its only result, or a tuple of them."""
    return results[0] if len(results) == 1 else tuple(results)


@dataclass(frozen=True)
class Composed:
    """A composition: its body, which takes `Steps` first, the patterns of its tensors, and whether it takes `out`.

    The tensor of the first pattern says which library results are of. `numbers` are parameters that kernels are given
    unchanged, under the same name, when they run; with each the values that the body treats in a way of its own. `views` says
    that its results may be views of its tensors: what the body returns is one where it lies in one of them, and a copy where the
    tensor's library has no such view. `creates` says that the first tensor, which callers do not give, only tells where results
    are and of which library: the function has `device` and `like` for it.
    """

    body: Callable[..., Any]
    patterns: Mapping[str, Declared]
    out: bool
    numbers: Mapping[str, tuple[float, ...]]
    views: bool = False
    creates: bool = False

    @property
    def name(self) -> str:
        name = self.body.__name__
        return name.rstrip("_") if hasattr(builtins, name.rstrip("_")) else name

    def __call__(self, do: Steps, *arguments: Any, **keywords: Any) -> Any:
        """Its steps as steps of another one."""
        return self.body(do, *arguments, **keywords)


#: Every composition by name.
COMPOSED: dict[str, Composed] = {}


def composed(
    *,
    out: bool = False,
    numbers: Mapping[str, tuple[float, ...]] | None = None,
    views: bool = False,
    creates: bool = False,
    **patterns: Declared,
) -> Callable[[Callable[..., Any]], Composed]:
    """Declare a composition and register it under its name."""

    def declare(body: Callable[..., Any]) -> Composed:
        composition = Composed(body, patterns, out, numbers or {}, views, creates)
        if composition.name in COMPOSED:
            raise InvalidProblemError(f"{composition.name}: declared twice")
        COMPOSED[composition.name] = composition
        return composition

    return declare
