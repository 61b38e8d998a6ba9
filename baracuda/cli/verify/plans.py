"""Cases of the plans with descriptors of their own: which there are, what shapes they take, and a case for each choice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import prod
from typing import Any

import numpy as np

import baracuda
from baracuda.cli.verify import values as data
from baracuda.cli.verify.batches import batches
from baracuda.cli.verify.case import Array, Batch, Case
from baracuda.cli.verify.placement import LAYOUTS, TensorPlacement
from baracuda.core.elements import ElementKind as K
from baracuda.core.plan import Plan
from baracuda.core.spec import TensorSpec
from baracuda.ops.declaration.formula_plan import FLOATS

__all__ = ["FLOATS", "SUBJECTS", "Subject", "SubjectCase", "args_type", "subject"]

#: Row lengths at and around everything a schedule could break at.
LENGTHS = (1, 2, 3, 7, 8, 31, 32, 63, 64, 127, 128, 129, 255, 257, 1000, 1023, 1024, 1025, 2047, 2049, 5000, 16385, 70001)
#: Shapes of every rank.
SHAPES = (
    (1000,), (129,), (1, 1), (7, 129), (64, 64), (257, 40), (5, 1), (3, 2049), (3, 5, 33), (9, 1, 130), (2, 3, 4, 31),
    (16, 3, 8, 8), (2, 1, 3, 2, 17), (2, 3, 1, 2, 2, 9), (2, 2, 1, 3, 2, 1, 7), (2, 1, 2, 2, 1, 3, 2, 5),
)  # fmt: skip
#: Shapes without elements.
EMPTY = ((0,), (0, 5), (5, 0), (0, 0), (3, 0, 4), (2, 3, 0, 5), (0, 3, 2, 2))
_ATTENTION = ((1, 1, 1, 1), (2, 3, 10, 9), (1, 5, 33, 77), (3, 2, 16, 130), (1, 2, 5, 1025), (4, 8, 1, 64))
_TOKENS = (*(s for s in SHAPES if len(s) == 2), (1000, 3), (2, 1030))

#: The ops of the catalogue that these plans are of.
OPS = ("softmax", "log_softmax", "rms_norm", "alibi", "lerp", "quantize_per_token", "dequantize_per_token")

Describe = Callable[[tuple[int, ...], K], Any]


@dataclass(frozen=True)
class Subject:
    """A plan with every choice of its descriptor made except shape and element.

    `axis` is where its rows run, counted from the front (a number), from the back (negative), or "middle".
    """

    label: str
    plan: Any
    describe: Describe
    shapes: tuple[tuple[int, ...], ...] = SHAPES
    rank: int | None = None
    axis: int | str = -1
    omitted: frozenset[str] = frozenset()

    def shape(self, rows: int, n: int) -> tuple[int, ...]:
        """A shape with about `rows` rows of length n."""
        if self.rank == 4:
            return (1, rows, 1, n) if n % 2 else (2, rows, 2, n // 2)
        if self.axis == "middle":
            return (1, n, rows)
        return (n, rows) if self.axis == 0 else (rows, n)

    @property
    def op(self) -> str:
        """The op of the catalogue."""
        return next(name for name in OPS if self.label.startswith(name))

    @property
    def floating(self) -> bool:
        """Whether NaN and infinities can be among its inputs."""
        return self.plan is not baracuda.DequantizePerTokenPlan


def args_type(plan: Any) -> Any:
    """The args class of a plan."""
    return getattr(baracuda, plan.__name__.removesuffix("Plan") + "Args")


def _softmax(kind: Any, axis: int | str, shape: tuple[int, ...], element: K) -> Any:
    return baracuda.SoftmaxDescriptor(kind, shape, len(shape) // 2 if axis == "middle" else axis, element)


def _norm(cls: Any, count: int, has_gamma: bool, shape: tuple[int, ...], element: K) -> Any:
    rank = len(shape)
    mask = sum(1 << a for a in range(max(rank - count, 0), rank))
    return cls(shape, mask, has_gamma, element)


def _alibi(shape: tuple[int, ...], element: K) -> Any:
    return baracuda.AlibiDescriptor(*shape, element)


def _lerp(shape: tuple[int, ...], element: K) -> Any:
    return baracuda.BinaryParamDescriptor(baracuda.BinaryKind.LERP, shape, element, 0.3)


def _tokens(cls: Any, quantized: K, has_zero_point: bool, shape: tuple[int, ...], element: K) -> Any:
    if cls is baracuda.DequantizePerTokenBackwardDescriptor:  # its gradient knows no zero points
        return cls(*shape, element, quantized)
    return cls(*shape, element, quantized, has_zero_point)


def _subjects() -> Iterator[Subject]:
    b = baracuda
    softmax, log_softmax = b.SoftmaxKind.SOFTMAX, b.SoftmaxKind.LOG_SOFTMAX
    for kind, axis in ((softmax, -1), (softmax, 0), (softmax, "middle"), (log_softmax, -1), (log_softmax, 0)):
        for suffix, plan in (("", b.SoftmaxPlan), ("_backward", b.SoftmaxBackwardPlan)):
            label = f"{kind.value}{suffix}" + ("" if axis == -1 else f"@{axis}")
            yield Subject(label, plan, partial(_softmax, kind, axis), axis=axis)
    for count, has_gamma in ((1, True), (1, False), (2, True), (8, True)):
        tail = "" if count == 1 and has_gamma else "_plain" if count == 1 else f"@{count}axes"
        yield Subject(f"rms_norm{tail}", b.RMSNormPlan, partial(_norm, b.RMSNormDescriptor, count, has_gamma))
        describe = partial(_norm, b.RMSNormBackwardDescriptor, count, has_gamma)
        yield Subject(f"rms_norm_backward{tail}", b.RMSNormBackwardPlan, describe)
    attention: dict[str, Any] = {"shapes": _ATTENTION, "rank": 4}
    yield Subject("alibi", b.AlibiPlan, _alibi, **attention)
    yield Subject("alibi_backward", b.AlibiBackwardPlan, _alibi, **attention)
    yield Subject("alibi_backward_dslopes", b.AlibiBackwardPlan, _alibi, **attention, omitted=frozenset({"dscores"}))
    yield Subject("alibi_backward_dscores", b.AlibiBackwardPlan, _alibi, **attention, omitted=frozenset({"dslopes"}))
    yield Subject("lerp", b.BinaryParamPlan, _lerp, shapes=((), *SHAPES))
    yield Subject("lerp_backward", b.BinaryParamBackwardPlan, _lerp, shapes=((), *SHAPES))
    for name in ("Quantize", "QuantizeBackward", "Dequantize", "DequantizeBackward"):
        stem = name.removesuffix("Backward") + "PerToken" + ("Backward" if name.endswith("Backward") else "")
        plan, descriptor = getattr(b, f"{stem}Plan"), getattr(b, f"{stem}Descriptor")
        for quantized, zero in ((K.S8, True), (K.U8, True), (K.S8, False)):
            if name == "DequantizeBackward" and quantized is K.U8:
                continue
            label = f"{plan.op}_{quantized}" + ("" if zero else "_symmetric")
            yield Subject(label, plan, partial(_tokens, descriptor, quantized, zero), shapes=_TOKENS, rank=2)


SUBJECTS = tuple(_subjects())


#: Tensors whose data goes by another name than their own: what the reference hashes were made of.
_DATA = {"d_output": "dy"}


def subject(label: str) -> Subject:
    """The subject of a label."""
    return next(s for s in SUBJECTS if s.label == label)


def _values(spec: TensorSpec, descriptor: Any, seed: str, variant: str) -> Array:
    """An input's values, of the sort that its name asks for."""
    shape, kind = spec.expected_shape(descriptor), spec.expected_kind(descriptor)
    if kind is K.S32:
        return data.integers(seed, shape, -5, 5).astype(kind.numpy)
    if not kind.is_float:
        return data.raw(seed, prod(shape)).astype(np.uint8).view(kind.numpy).reshape(shape)
    if spec.name == "scale":
        return data.rounded(0.01 + 0.05 * data.uniform(seed, shape), kind)
    if spec.name == "rms":
        return data.rounded(0.5 + data.uniform(seed, shape), kind)
    values = data.normal(seed, shape)
    if spec.name == "y" and getattr(descriptor, "kind", None) is baracuda.SoftmaxKind.LOG_SOFTMAX:
        return data.rounded(-abs(values), kind)  # a logarithm of a probability
    if spec.name == "y":
        return data.rounded(abs(values) / 8, kind)
    return data.rounded(data.salted(values, seed, kind, variant), kind)


@dataclass(frozen=True)
class SubjectCase(Case):
    """One case: a subject, a shape, an element kind, a layout for its operands, and the sort of data."""

    subject: Subject
    shape: tuple[int, ...]
    element: K
    layout: str = "contiguous"
    variant: str = "normal"
    #: What the data depends on; by default everything but the layout, so that all layouts have the same data.
    seed: str = field(default="", compare=False)
    #: Where tensors lie that do not lie as `layout` says.
    chosen: Mapping[str, TensorPlacement] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "scalar"
        return f"{self.subject.label}-{self.element}-{shape}-{self.layout}-{self.variant}"

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        found: type[Plan[Any, Any]] = self.subject.plan
        return found

    @property
    def descriptor(self) -> Any:
        return self.subject.describe(self.shape, self.element)

    @property
    def omitted(self) -> frozenset[str]:  # type: ignore[override]
        return self.subject.omitted

    @property
    def op(self) -> str:
        return self.subject.op

    @property
    def group(self) -> str:
        return self.subject.label

    @property
    def ordinary(self) -> bool:  # type: ignore[override]
        return self.variant == "normal"

    def args(self, tensors: Mapping[str, Any]) -> Any:
        return args_type(self.plan)(**tensors)

    def laid(self, layout: str) -> SubjectCase:
        return replace(self, layout=layout)

    def inputs(self) -> dict[str, Array]:
        descriptor = self.descriptor
        seed = self.seed or f"{self.subject.label}/{self.element}/{self.shape}/{self.variant}"
        given = [s for s in self.tensors() if not s.written]
        return {s.name: _values(s, descriptor, f"{seed}/{_DATA.get(s.name, s.name)}", self.variant) for s in given}

    def batches(self) -> Iterator[Batch]:
        def extend(axis: int, times: int) -> SubjectCase:
            shape = tuple(times * n if a == axis else n for a, n in enumerate(self.shape))
            return replace(self, shape=shape, layout="contiguous")

        return batches(self, extend)


#: Cases of each subject and element that are hashed.
_EACH = 6


@cache
def hashed() -> tuple[SubjectCase, ...]:
    """The cases with reference hashes: for each subject and element some row lengths, shapes of every rank, and layouts in
    turn."""
    cases = [case for i, _ in enumerate(SUBJECTS) for j, _ in enumerate(FLOATS) for case in _of(i, j)]
    return tuple({str(case): case for case in cases}.values())


def _of(i: int, j: int) -> Iterator[SubjectCase]:
    tried, element = SUBJECTS[i], FLOATS[j]
    for k in range(_EACH):
        turn = _EACH * (len(FLOATS) * i + j) + k
        if k % 2:
            shape = tried.shapes[turn // 2 % len(tried.shapes)]
        else:
            n = LENGTHS[turn // 2 % len(LENGTHS)]
            shape = tried.shape(2 if n > 5000 else 1030 if n <= 64 and k == 2 else 5, n)
        yield SubjectCase(
            tried, shape, element, LAYOUTS[turn % len(LAYOUTS)], data.VARIANTS[(turn // 3 + k) % len(data.VARIANTS)]
        )
