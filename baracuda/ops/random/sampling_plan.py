"""Tokens drawn from rows of logits: descriptor, args and plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Implementation, Layout
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_shape
from baracuda.lowering.backend import candidates
from baracuda.lowering.sampling.implementation import SamplingImplementation
from baracuda.lowering.sampling.problem import KEPT, KEYS, LOGITS, NAMES, TOKEN, Sampling

_KINDS = (ElementKind.F16, ElementKind.BF16, ElementKind.F32)


#: What filters have, in the order of operands.
FILTERS = ("temperature", "k", "p", "min_p", "nsigma")


@dataclass(frozen=True)
class SamplingDescriptor(Descriptor):
    """A token of each row.

    Attributes
    ----------
    shape
        Rows and the elements of each.
    element
        f16, bf16 or f32.
    given
        Of which of `FILTERS` there is a tensor of a number for each row.
    temperature, k, p, min_p, nsigma
        Of the others the number; None where there is none.
    folded, bits, stream
        Whether all rows have one key, into which their numbers are folded; how words are made of it, and from which stream.
    measured, marked
        Whether what the token's probability follows from, and whether marks of what the filters leave, are wanted.
    typical, joint, probabilities
        As `baracuda.lowering.sampling.problem` says.
    """

    shape: tuple[int, int]
    element: ElementKind
    given: tuple[str, ...] = ()
    temperature: float | None = None
    k: int | None = None
    p: float | None = None
    min_p: float | None = None
    nsigma: float | None = None
    folded: bool = False
    bits: str = "philox"
    stream: int = 0
    measured: bool = False
    marked: bool = False
    typical: bool = False
    joint: bool = False
    probabilities: bool = False

    numbers = tuple((name, ()) for name in FILTERS)

    def validate(self) -> None:
        check_shape("shape", self.shape, least=2)
        check_element("element", self.element, _KINDS)
        if len(self.shape) != 2:
            raise InvalidProblemError(f"shape: {self.shape}; expected rows and the elements of each")
        if self.typical and self.probabilities:
            raise UnsupportedError("typical: with probabilities; expected logits")

    @property
    def parameters(self) -> Mapping[str, float]:
        return {n: value for n in FILTERS if (value := getattr(self, n)) is not None}

    @property
    def key_shape(self) -> tuple[int, ...]:
        """A key for each row."""
        return (self.shape[0], 2)

    @property
    def key(self) -> ElementKind:
        """The element of keys."""
        return ElementKind.U32

    @property
    def rows(self) -> tuple[int, ...]:
        """The shape of what there is one of for each row."""
        return self.shape[:1]

    @property
    def has_temperature(self) -> bool:
        """Whether there is a tensor of temperatures."""
        return "temperature" in self.given

    @property
    def has_k(self) -> bool:
        """Whether there is a tensor of k."""
        return "k" in self.given

    @property
    def has_p(self) -> bool:
        """Whether there is a tensor of p."""
        return "p" in self.given

    @property
    def has_min_p(self) -> bool:
        """Whether there is a tensor of min_p."""
        return "min_p" in self.given

    @property
    def has_nsigma(self) -> bool:
        """Whether there is a tensor of nsigma."""
        return "nsigma" in self.given

    @property
    def words(self) -> ElementKind:
        """The element of sums of weights."""
        return ElementKind.U64

    @property
    def number(self) -> ElementKind:
        """The element of numbers for each row."""
        return ElementKind.F32

    @property
    def whole(self) -> ElementKind:
        """The element of k and of tokens."""
        return ElementKind.S64

    @property
    def mark(self) -> ElementKind:
        """The element of marks."""
        return ElementKind.BOOL

    def problem(self, layout: Layout) -> Sampling:
        """The problem for a layout of the plan's tensors."""
        logits, kept = layout[LOGITS], layout[KEPT]
        assert logits is not None
        for number in (TOKEN, TOKEN + 1, TOKEN + 2):
            at = layout[number]
            if at is not None and self.shape[0] > 1 and at.strides != (1,):
                raise UnsupportedError(f"results of strides {at.strides}; expected contiguous ones")
        key = layout[KEYS]
        assert key is not None
        given = tuple((o, at.strides[0]) for o in NAMES if (at := layout[o]) is not None)
        numbers = tuple(o for o, n in NAMES.items() if getattr(self, n) is not None)
        row, along = logits.strides
        return Sampling(
            self.element, *self.shape, (row, along), along == 1 and not logits.general, (key.strides[0], key.strides[1]), given,
            numbers, None if kept is None else (kept.strides[0], kept.strides[1]), self.measured, self.typical, self.joint,
            self.probabilities, self.folded, self.bits, self.stream,
        )  # fmt: skip


@dataclass
class SamplingArgs(Args):
    """logits, keys and numbers for each row; token, below, total, kept: the results."""

    logits: Any
    keys: Any
    temperature: Any = None
    k: Any = None
    p: Any = None
    min_p: Any = None
    nsigma: Any = None
    token: Any = None
    below: Any = None
    total: Any = None
    kept: Any = None


def _of_row(name: str, doc: str, element: str, when: str | None, *, written: bool = False) -> TensorSpec:
    return TensorSpec(name, doc, "rows", element, varies=Axes.OUTER, when=when, written=written)


class SamplingPlan(Plan[SamplingDescriptor, SamplingArgs]):
    """A token of each row of logits, of those that filters leave."""

    category, op, args = OpCategory.RANDOM, "sample", SamplingArgs
    tensors = (
        TensorSpec("logits", "rows of logits", "shape", varies=Axes.OUTER),
        TensorSpec("keys", "the key of each row", "key_shape", "key", varies=Axes.OUTER),
        _of_row("temperature", "what logits are divided by", "number", "has_temperature"),
        _of_row("k", "how many are left", "whole", "has_k"),
        _of_row("p", "the share of the weight that is left", "number", "has_p"),
        _of_row("min_p", "the least share of the largest probability", "number", "has_min_p"),
        _of_row("nsigma", "how many deviations below the largest", "number", "has_nsigma"),
        _of_row("token", "the number of the element that was drawn", "whole", None, written=True),
        _of_row("below", "how far below the largest it is", "number", "measured", written=True),
        _of_row("total", "the weights of what is left", "words", "measured", written=True),
        TensorSpec("kept", "what the filters leave", "shape", "mark", varies=Axes.OUTER, written=True, when="marked"),
    )

    @classmethod
    def implementations(
        cls, device: Device, descriptor: SamplingDescriptor
    ) -> tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]:
        return candidates(device, partial(SamplingImplementation, device, descriptor.problem))
