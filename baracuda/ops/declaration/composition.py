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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.patterns import Declared

#: Where a step writes: a tensor, one for each result, or None for new ones.
Into = TensorRef | tuple[TensorRef, ...] | None


class Steps(Protocol):
    """What a body makes its steps with."""

    #: What the caller gave to write the result to; None where nothing.
    out: Any

    def run(self, op: Op, tensors: Mapping[str, Any], into: Into = None, **options: Any) -> Any:
        """An op's result, or a tuple of several."""

    def new(self, shape: Sequence[int], kind: ElementKind) -> TensorMut:
        """A new tensor, to write."""

    def zero(self, target: TensorMut) -> None:
        """Make every element 0."""

    def copy(self, source: TensorRef, target: TensorMut) -> None:
        """The elements of one view into another, in the element of the target."""


@dataclass(frozen=True)
class Composed:
    """A composition: its body, which takes `Steps` first, the patterns of its tensors, and whether it takes `out`.

    The tensor of the first pattern says which library results are of.
    """

    body: Callable[..., Any]
    patterns: Mapping[str, Declared]
    out: bool

    @property
    def name(self) -> str:
        return self.body.__name__


#: Every composition by name.
COMPOSED: dict[str, Composed] = {}


def composed(*, out: bool = False, **patterns: Declared) -> Callable[[Callable[..., Any]], Composed]:
    """Declare a composition and register it under its name."""

    def declare(body: Callable[..., Any]) -> Composed:
        made = Composed(body, patterns, out)
        if made.name in COMPOSED:
            raise InvalidProblemError(f"{made.name}: declared twice")
        COMPOSED[made.name] = made
        return made

    return declare
