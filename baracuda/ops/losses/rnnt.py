"""The loss of recurrent neural network transducers, forward and backward.

The steps of its recurrences are the diagonals of the lattice of frames and labels, and their lanes the numbers of labels: a cell
is reached from the frame before, by a blank, and from the label before, which are neighbours on the diagonal before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.lazy import cached_property
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec
from baracuda.formula import functions as f
from baracuda.formula.expr import Axes, Expr, const, coord, input_, param, select
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.recurrence.pipeline import Formula, Pipeline, Temporary, View
from baracuda.lowering.recurrence.problem import BATCH, LANE, STEP, Component, Recurrence, Store, Trace, read, state, state_at
from baracuda.ops.losses.alignment import (
    AlignmentDescriptor,
    AlignmentExpressions,
    AlignmentPlan,
    class_of,
    log_add,
    probability,
    share_of_mean,
    total_loss,
)

_S32 = ElementKind.S32


@dataclass(frozen=True)
class RnntLossDescriptor(AlignmentDescriptor):
    """A batch of alignments of at most `frames` frames with at most `max_target_length` labels.

    `fused_log_softmax` says that logits are given and not logarithms of probabilities; `clamp`, where it is positive, how large
    an element of the gradient may be. `saved` says whether the forward pass returns what the backward pass reads.
    """

    batch_size: int
    frames: int
    max_target_length: int
    num_classes: int
    element: ElementKind
    target_element: ElementKind = ElementKind.S32
    length_element: ElementKind = ElementKind.S32
    blank: int = 0
    clamp: float = -1.0
    reduction: str = "mean"
    fused_log_softmax: bool = True
    saved: bool = False

    def validate(self) -> None:
        self.check(frames=self.frames, max_target_length=self.max_target_length)
        if not isinstance(self.clamp, (int, float)) or self.clamp != self.clamp:
            raise InvalidProblemError(f"clamp: {self.clamp!r}; expected a number, not positive for none")

    @property
    def parameters(self) -> Mapping[str, float]:
        return {**super().parameters, "clamp": self.clamp}

    @cached_property
    def structure(self) -> RnntLossDescriptor:
        return replace(self, blank=0, clamp=1.0 if self.clamp > 0 else -1.0)

    @property
    def lanes(self) -> int:
        return self.max_target_length + 1

    @property
    def diagonals(self) -> int:
        return self.frames + self.max_target_length

    @property
    def logits_shape(self) -> tuple[int, ...]:
        return (self.batch_size, self.frames, self.lanes, self.num_classes)

    @property
    def targets_shape(self) -> tuple[int, ...]:
        return (self.batch_size, self.max_target_length)

    @property
    def log_alpha_shape(self) -> tuple[int, ...]:
        """Batch elements, diagonals and labels: the cell of frame t and u labels is on diagonal t + u."""
        return (self.batch_size, self.diagonals, self.lanes)

    @property
    def log_norm_shape(self) -> tuple[int, ...]:
        return self.logits_shape[:3]

    @property
    def saved_norm(self) -> bool:
        """Whether the logarithms of the softmax's denominators are saved."""
        return self.saved and self.fused_log_softmax


@dataclass
class RnntLossArgs(Args):
    """logits: logits or logarithms of probabilities; targets: the labels; logit_lengths, target_lengths: frames and labels of
    each batch element; loss: the result; nll, log_alpha and, of logits, log_norm: what the backward pass reads, None unless the
    descriptor says `saved`."""

    logits: Any
    targets: Any
    logit_lengths: Any
    target_lengths: Any
    loss: Any
    nll: Any = None
    log_alpha: Any = None
    log_norm: Any = None


@dataclass
class RnntLossBackwardArgs(Args):
    """dy: the gradient of the loss; the tensors of the forward pass and what it saved; dlogits: the gradient."""

    dy: Any
    logits: Any
    targets: Any
    logit_lengths: Any
    target_lengths: Any
    nll: Any
    log_alpha: Any
    log_norm: Any
    dlogits: Any


class _Words(AlignmentExpressions[RnntLossDescriptor]):
    def __init__(self, d: RnntLossDescriptor) -> None:
        super().__init__(d, "logit_lengths")
        self.count = self.labels + 1
        self.diagonals = select(self.frames > 0, self.frames + self.labels, 0)
        self.zero = const(0.0, self.kind)

    def log_probability(self, frame: Expr, label: Expr, number: Expr) -> Expr:
        """That of a class in a cell."""
        d = self.d
        x = read("logits", d.element, BATCH, frame, label, number)
        return x - read("log_norm", self.kind, BATCH, frame, label) if d.fused_log_softmax else x

    def on_blank(self, frame: Expr, label: Expr) -> Expr:
        return self.log_probability(frame, label, param("blank", _S32))

    def on_label(self, frame: Expr, label: Expr) -> Expr:
        """The logarithm of the probability of the label that follows the first `label` ones."""
        if self.d.max_target_length == 0:
            return self.nothing
        return self.log_probability(frame, label, self.target(label))

    def target(self, number: Expr) -> Expr:
        return class_of(read("targets", self.d.target_element, BATCH, number))

    def parameters(self) -> dict[str, float]:
        return {**super().parameters(), "clamp": self.d.clamp}


def _norms(d: RnntLossDescriptor) -> Formula:
    """The logarithm of the softmax's denominator in each cell."""
    x = input_("logits", d.element)
    most = f.max_(x)
    inner = (False, False, False, True)
    graph = Graph(
        (Port("logits", d.element),),
        ((Port("log_norm", d.compute, Axes.OUTER), most + f.log(f.sum_(f.exp(x - most)))),),
        inner,
    )
    views = {"logits": View("logits", (0, 1, 2, 3)), "log_norm": View("log_norm", (0, 1, 2, None))}
    return Formula(graph, d.logits_shape, inner, views)


def _forward(d: RnntLossDescriptor) -> Pipeline:
    w, kind = _Words(d), d.compute
    frame = STEP - LANE
    from_frame = state(0, kind) + w.on_blank(frame - 1, LANE)
    from_label = state(0, kind, -1) + w.on_label(frame, LANE - 1)
    first = f.equal(STEP, 0) & f.equal(LANE, 0)
    inside = (frame >= 0) & (frame < w.frames)
    alpha = select(first, w.zero, select(inside, log_add(from_frame, from_label), w.nothing))
    loss = 0.0 - (state_at(0, kind, w.labels) + w.on_blank(w.frames - 1, w.labels))
    loss = select(w.frames > 0, loss, inf)
    results = [Store("nll", loss)]
    if d.reduction == "none":
        results.append(Store("loss", loss))
    recurrence = Recurrence(
        d.batch_size,
        d.diagonals,
        d.lanes,
        w.diagonals,
        w.count,
        state=(Component(w.nothing, alpha, -inf),),
        traces=(Trace("log_alpha", STEP, alpha, -inf),) if d.saved else (),
        results=tuple(results),
    )
    temporaries = {}
    if not d.saved:
        temporaries = {"nll": Temporary(kind, (d.batch_size,)), "log_norm": Temporary(kind, d.log_norm_shape)}
    stages: list[Any] = [*([_norms(d)] if d.fused_log_softmax else []), recurrence]
    if d.reduction != "none":
        stages.append(total_loss(d, "nll", lambda loss, _: loss))
    return Pipeline(tuple(stages), kind, temporaries, w.parameters())


def _backward(d: RnntLossDescriptor) -> Pipeline:
    w, kind = _Words(d), d.compute
    diagonal = w.diagonals - 1 - STEP
    row = select(w.diagonals > STEP, diagonal, STEP)
    frame = diagonal - LANE
    inside = (frame >= 0) & (frame < w.frames)
    last = f.equal(STEP, 0) & f.equal(LANE, w.labels)
    on_blank = select(last, w.zero, state(0, kind)) + w.on_blank(frame, LANE)
    on_label = state(0, kind, 1) + w.on_label(frame, LANE)
    alpha = read("log_alpha", kind, BATCH, diagonal, LANE)
    nll = read("nll", kind, BATCH)
    shares = [select(inside, probability((alpha + x) + nll), 0.0) for x in (on_blank, on_label)]
    beta = Recurrence(
        d.batch_size,
        d.diagonals,
        d.lanes,
        w.diagonals,
        w.count,
        state=(Component(w.nothing, select(inside, log_add(on_blank, on_label), w.nothing), -inf),),
        traces=tuple(Trace(n, row, x) for n, x in zip(("blanks", "labels"), shares, strict=True)),
    )
    target = w.target(LANE) if d.max_target_length else const(-1, _S32)
    following = Store("following", select(w.labels > LANE, target, -1))
    labels = Recurrence(d.batch_size, 0, d.lanes, const(0, _S32), w.count, lasts=(following,))
    temporaries = {n: Temporary(kind, d.log_alpha_shape) for n in ("blanks", "labels")}
    temporaries["following"] = Temporary(_S32, (d.batch_size, d.lanes))
    return Pipeline((labels, beta, _gradient(d)), kind, temporaries, w.parameters())


def _gradient(d: RnntLossDescriptor) -> Formula:
    """The gradient of every logit: the share of the alignments through the cell, less those that take this class there."""
    kind = d.compute
    x, dy = input_("logits", d.element), input_("dy", d.element)
    blanks, labels, following = input_("blanks", kind), input_("labels", kind), input_("following", _S32)
    through, number = blanks + labels, coord(3)
    kinds = {"dy": d.element, "blanks": kind, "labels": kind, "following": _S32}
    emitted_probability = select(f.equal(number, param("blank", _S32)), blanks, 0.0) + select(
        f.equal(number, following), labels, 0.0
    )
    gradient = -emitted_probability
    if d.fused_log_softmax:
        kinds |= {"logits": d.element, "log_norm": kind}
        softmax = f.exp(x - input_("log_norm", kind))
        gradient = select(f.equal(through, 0.0), 0.0, softmax * through) - emitted_probability
    if d.clamp > 0:
        bound = param("clamp", kind)
        gradient = f.clamp(gradient, -bound, bound)
    gradient = gradient * share_of_mean(d, dy)
    views = {n: View(n, (0, 1, 2, 3)) for n in ("logits", "dlogits")}
    views |= {
        "dy": View("dy", (0 if d.reduction == "none" else None, None, None, None)),
        "following": View("following", (0, None, 1, None)),
        "log_norm": View("log_norm", (0, 1, 2, None)),
    }
    # The cell of frame t and u labels is on diagonal t + u.
    views |= {n: View(n, (0, 1, 2, None), skew=((2, 1),)) for n in ("blanks", "labels")}
    ports = tuple(Port(n, k) for n, k in kinds.items())
    graph = Graph(ports, ((Port("dlogits", d.element), gradient),), (False,) * 4)
    return Formula(graph, d.logits_shape, (False,) * 4, views)


_GIVEN = (
    TensorSpec("logits", "logits, (batch, frames, labels + 1, classes)", shape="logits_shape"),
    TensorSpec("targets", "labels, (batch, labels)", shape="targets_shape", element="target_element"),
    TensorSpec("logit_lengths", "frames of each batch element", shape="lengths_shape", element="length_element"),
    TensorSpec("target_lengths", "labels of each batch element", shape="lengths_shape", element="length_element"),
)


class RnntLossPlan(AlignmentPlan[RnntLossDescriptor, RnntLossArgs]):
    """loss = -log of the sum, over all ways through the lattice of frames and labels, of the product of their probabilities.

    alpha[t, u] = log(e**(alpha[t-1, u] + log p(blank | t-1, u)) + e**(alpha[t, u-1] + log p(label u | t, u-1))) and the loss is
    -(alpha[T-1, U] + log p(blank | T-1, U)); inf without frames. Lengths and targets out of range are clamped. Source: Graves,
    Sequence Transduction with Recurrent Neural Networks, 2012. All four promises hold.
    """

    category, op = OpCategory.LOSS, "rnnt_loss"
    tensors = (
        *_GIVEN,
        TensorSpec("loss", "the loss", shape="loss_shape", written=True),
        TensorSpec("nll", "the loss of each batch element", shape="lengths_shape", element="compute", written=True, when="saved"),
        TensorSpec("log_alpha", "alpha by diagonals", shape="log_alpha_shape", element="compute", written=True, when="saved"),
        TensorSpec("log_norm", "logarithms of the denominators", shape="log_norm_shape", element="compute", written=True,
                   when="saved_norm"),
    )  # fmt: skip

    @classmethod
    def pipeline(cls, descriptor: RnntLossDescriptor) -> Pipeline:
        return _forward(descriptor)


class RnntLossBackwardPlan(AlignmentPlan[RnntLossDescriptor, RnntLossBackwardArgs]):
    """dlogits = dloss * (softmax * (b + l) - b [class is blank] - l [class is the next label]), where b and l are the shares of
    the alignments that go on from the cell by a blank and by a label: e**(alpha + log p + beta of the cell it leads to + nll).

    Of logarithms of probabilities the first term is left out. Beyond the lengths the gradient is 0. Where `clamp` is positive,
    elements are brought into -clamp ... clamp before they are multiplied by dloss. All four promises hold.
    """

    category, op = OpCategory.LOSS, "rnnt_loss_backward"
    tensors = (
        TensorSpec("dy", "the gradient of the loss", shape="loss_shape"),
        *_GIVEN,
        TensorSpec("nll", "the loss of each batch element", shape="lengths_shape", element="compute"),
        TensorSpec("log_alpha", "alpha of the forward pass", shape="log_alpha_shape", element="compute"),
        TensorSpec("log_norm", "logarithms of the denominators", shape="log_norm_shape", element="compute",
                   when="fused_log_softmax"),
        TensorSpec("dlogits", "the gradient of logits", shape="logits_shape", written=True),
    )  # fmt: skip

    @classmethod
    def pipeline(cls, descriptor: RnntLossDescriptor) -> Pipeline:
        return _backward(descriptor)
