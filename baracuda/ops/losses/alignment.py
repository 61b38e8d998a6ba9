"""What losses over all alignments of two sequences have in common: sums of probabilities by their logarithms, lengths that are
clamped to what there is, the reduction over the batch, and plans that are pipelines of kernels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Generic, TypeVar

from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.implementation import Implementation
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind
from baracuda.core.spec import check_element
from baracuda.formula import functions as f
from baracuda.formula.expr import Axes, Expr, cast, const, input_, param, select
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.backend import candidates
from baracuda.lowering.recurrence.pipeline import Formula, Pipeline, PipelineImplementation, View
from baracuda.lowering.recurrence.problem import BATCH, read
from baracuda.ops.declaration.formula_plan import FLOATS

REDUCTIONS = ("none", "mean", "sum")
#: Elements of targets and of lengths.
INDICES = (ElementKind.S32, ElementKind.S64)
#: Frames, labels and classes are counted in s32, and a label takes two lanes.
_MOST = (1 << 30) - 1


def log_add(*terms: Expr) -> Expr:
    """The logarithm of the sum of the exponentials of two or three values: the largest plus log1p of the others' share; -inf
    where all are.

    Every exponential is of a value that is not positive, and the logarithm's argument lies between 0 and 2.
    """
    low, high = f.minimum(terms[0], terms[1]), f.maximum(terms[0], terms[1])
    others = [low]
    if len(terms) == 3:
        others.append(f.minimum(high, terms[2]))
        high = f.maximum(high, terms[2])
    base = select(f.equal(high, -inf), 0.0, high)
    shares = [f.exp(-abs(x - base)) for x in others]
    return high + f.log1p(shares[0] if len(shares) == 1 else shares[0] + shares[1])


def probability(log: Expr) -> Expr:
    """The exponential of the logarithm of a probability, which rounding may have made positive."""
    return f.exp(-abs(f.minimum(log, 0.0)))


def length(tensor: str, element: ElementKind, most: str) -> Expr:
    """A batch element's length, clamped to 0 ... the parameter `most`, in s32."""
    whole = read(tensor, element, BATCH)
    return cast(f.clamp(whole, 0, param(most, whole.kind)), ElementKind.S32)


def class_of(target: Expr) -> Expr:
    """A target clamped to 0 ... the parameter "last class", in s32."""
    return cast(f.clamp(target, 0, param("last class", target.kind)), ElementKind.S32)


def minus_infinity(kind: ElementKind) -> Expr:
    return const(-inf, kind)


class AlignmentDescriptor(Descriptor):
    """What the descriptors of these losses have in common; each declares these fields."""

    numbers = (("blank", ()),)

    frames: int
    batch_size: int
    num_classes: int
    max_target_length: int
    element: ElementKind
    target_element: ElementKind
    length_element: ElementKind
    blank: int
    reduction: str

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"blank": self.blank}

    def check(self, **extents: int) -> None:
        """Raise the named error of the first common field that is wrong."""
        for name, value in {**extents, "num_classes": self.num_classes}.items():
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
                raise InvalidProblemError(f"{name}: {value!r}; expected an int from 0 to {_MOST}")
        if not isinstance(self.batch_size, int) or self.batch_size < 1:
            raise InvalidProblemError(f"batch_size: {self.batch_size!r}; expected 1 or more")
        if not isinstance(self.blank, int) or not 0 <= self.blank < self.num_classes:
            raise InvalidProblemError(f"blank: {self.blank!r}; expected a class from 0 to {self.num_classes - 1}")
        if self.reduction not in REDUCTIONS:
            raise InvalidProblemError(f"reduction: {self.reduction!r}; expected one of {', '.join(REDUCTIONS)}")
        check_element("element", self.element, FLOATS)
        check_element("target_element", self.target_element, INDICES)
        check_element("length_element", self.length_element, INDICES)

    @property
    def compute(self) -> ElementKind:
        """The kind that is computed in, and that saved tensors are stored in."""
        return self.element.compute

    @property
    def lengths_shape(self) -> tuple[int, ...]:
        return (self.batch_size,)

    @property
    def loss_shape(self) -> tuple[int, ...]:
        return (self.batch_size,) if self.reduction == "none" else ()


D = TypeVar("D", bound=AlignmentDescriptor)
A = TypeVar("A", bound=Args)


class AlignmentExpressions(Generic[D]):
    """The expressions that the stages of one descriptor share; `frame_lengths` names the tensor of each element's frames."""

    def __init__(self, d: D, frame_lengths: str) -> None:
        self.d, self.kind = d, d.compute
        self.frames = length(frame_lengths, d.length_element, "frames")
        self.labels = length("target_lengths", d.length_element, "labels")
        self.nothing = minus_infinity(self.kind)

    def parameters(self) -> dict[str, float]:
        """The numbers that the stages read, by name."""
        d = self.d
        return {
            "frames": d.frames, "labels": d.max_target_length, "last class": d.num_classes - 1, "blank": d.blank,
            "batch": d.batch_size,
        }  # fmt: skip


class AlignmentPlan(Plan[D, A], Generic[D, A]):
    """A plan that is its tensors and its pipeline."""

    @classmethod
    @abstractmethod
    def pipeline(cls, descriptor: D) -> Pipeline:
        """The kernels of a descriptor."""

    @classmethod
    def implementations(cls, device: Device, descriptor: D) -> tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]:
        make = partial(PipelineImplementation, device, cls.pipeline(descriptor), cls.tensors, descriptor)
        return candidates(device, make)


def total_loss(
    descriptor: AlignmentDescriptor, losses: str, value: Callable[[Expr, Expr | None], Expr], lengths: str | None = None
) -> Formula:
    """The stage that sums the batch's losses, or takes their mean, in the canonical order. `value` gives what counts of a loss
    and, where it asks for them, of the tensor `lengths`."""
    kind = descriptor.compute
    ports = [Port("losses", kind)]
    views = {"losses": View(losses, (0,)), "loss": View("loss", (None,))}
    own: Expr | None = None
    if lengths is not None:
        ports.append(Port("lengths", descriptor.length_element))
        views["lengths"] = View(lengths, (0,))
        own = input_("lengths", descriptor.length_element)
    loss = value(input_("losses", kind), own)
    result = f.mean(loss) if descriptor.reduction == "mean" else f.sum_(loss)
    graph = Graph(tuple(ports), ((Port("loss", descriptor.element, Axes.OUTER), result),), (True,))
    return Formula(graph, (descriptor.batch_size,), (True,), views)


def share_of_mean(descriptor: AlignmentDescriptor, dy: Expr) -> Expr:
    """The gradient of each batch element's part of the loss, given that of the result."""
    return dy / param("batch", dy.kind) if descriptor.reduction == "mean" else dy
