"""The loss of connectionist temporal classification, forward and backward.

The lanes of its recurrences are the extended labels: a blank, the first label, a blank, the second, ..., a blank.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Any

from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec
from baracuda.formula import functions as f
from baracuda.formula import scans
from baracuda.formula.expr import Expr, cast, const, coord, input_, param, select
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.recurrence.pipeline import Formula, Pipeline, Temporary, View
from baracuda.lowering.recurrence.problem import (
    BATCH,
    LANE,
    STEP,
    Chains,
    Component,
    Recurrence,
    Store,
    Trace,
    read,
    state,
    state_at,
    total,
)
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

_S32, _BOOL = ElementKind.S32, ElementKind.BOOL


@dataclass(frozen=True)
class CtcLossDescriptor(AlignmentDescriptor):
    """A batch of alignments of at most `frames` frames with at most `max_target_length` labels.

    Targets are padded, of shape (batch_size, max_target_length), or where `target_total` is given one after another in a
    tensor of so many. `saved` says whether the forward pass returns what the backward pass reads.
    """

    frames: int
    batch_size: int
    num_classes: int
    max_target_length: int
    element: ElementKind
    target_element: ElementKind = ElementKind.S64
    length_element: ElementKind = ElementKind.S64
    target_total: int | None = None
    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False
    saved: bool = False

    def validate(self) -> None:
        self.check(frames=self.frames, max_target_length=self.max_target_length, target_total=self.target_total or 0)
        if self.target_total is not None and self.max_target_length > self.target_total:
            raise InvalidProblemError(
                f"max_target_length: {self.max_target_length}; expected at most the {self.target_total} targets there are"
            )

    @property
    def log_probs_shape(self) -> tuple[int, ...]:
        return (self.frames, self.batch_size, self.num_classes)

    @property
    def targets_shape(self) -> tuple[int, ...]:
        return (self.batch_size, self.max_target_length) if self.target_total is None else (self.target_total,)

    @property
    def lanes(self) -> int:
        """Extended labels."""
        return 2 * self.max_target_length + 1

    @property
    def log_alpha_shape(self) -> tuple[int, ...]:
        return (self.batch_size, self.frames, self.lanes)


@dataclass
class CtcLossArgs(Args):
    """log_probs: logarithms of probabilities; targets: the labels; input_lengths, target_lengths: frames and labels of each batch
    element; loss: the result; nll, log_alpha: what the backward pass reads, None unless the descriptor says `saved`."""

    log_probs: Any
    targets: Any
    input_lengths: Any
    target_lengths: Any
    loss: Any
    nll: Any = None
    log_alpha: Any = None


@dataclass
class CtcLossBackwardArgs(Args):
    """dy: the gradient of the loss; the tensors of the forward pass and what it saved; dlog_probs: the gradient."""

    dy: Any
    log_probs: Any
    targets: Any
    input_lengths: Any
    target_lengths: Any
    nll: Any
    log_alpha: Any
    dlog_probs: Any


class _Words(AlignmentExpressions[CtcLossDescriptor]):
    def __init__(self, d: CtcLossDescriptor) -> None:
        super().__init__(d, "input_lengths")
        self.count = self.labels * 2 + 1
        self.label, self.skip = read("label", _S32, BATCH, LANE), read("skip", _BOOL, BATCH, LANE)

    def target(self, number: Expr) -> Expr:
        """The class of a label."""
        d = self.d
        if d.max_target_length == 0:
            return param("blank", _S32)
        if d.target_total is None:
            return class_of(read("targets", d.target_element, BATCH, number))
        start = read("offsets", d.length_element, BATCH)
        return class_of(read("targets", d.target_element, start + cast(number, start.kind)))

    def extended(self, distance: int) -> list[Formula | Recurrence]:
        """The stages that write the class of each lane, and whether it and the lane `distance` from it are two different labels:
        then no blank need come between them."""
        d = self.d
        own, other = LANE >> 1, (LANE >> 1) + distance // 2
        is_label = f.not_equal(LANE & 1, 0)
        lasts = (
            Store("label", select(is_label, self.target(own), param("blank", _S32))),
            Store("skip", is_label & f.not_equal(self.target(own), self.target(other))),
        )
        none = const(0, _S32)
        stages: list[Formula | Recurrence] = [Recurrence(d.batch_size, 0, d.lanes, none, self.count, lasts=lasts)]
        if d.target_total is not None and d.max_target_length:
            stages.insert(0, self._offsets())
        return stages

    def _offsets(self) -> Formula:
        """Where each batch element's targets begin."""
        kind = self.d.length_element
        lengths = input_("target_lengths", kind)
        offsets = scans.cumsum(f.clamp(lengths, 0, param("labels", lengths.kind)), exclusive=True)
        graph = Graph((Port("target_lengths", kind),), ((Port("offsets", kind), offsets),), (True,))
        views = {name: View(name, (0,)) for name in ("target_lengths", "offsets")}
        return Formula(graph, (self.d.batch_size,), (True,), views)

    def temporaries(self) -> dict[str, Temporary]:
        d = self.d
        temporaries = {"label": Temporary(_S32, (d.batch_size, d.lanes)), "skip": Temporary(_BOOL, (d.batch_size, d.lanes))}
        return {**temporaries, "offsets": Temporary(d.length_element, (d.batch_size,))}

    def counted(self, loss: Expr) -> Expr:
        """A batch element's loss, or 0 where there is no alignment and that is asked for."""
        return select(f.equal(loss, inf), 0.0, loss) if self.d.zero_infinity else loss

    def per_label(self, value: Expr, labels: Expr) -> Expr:
        """A value divided by the number of labels, at least 1."""
        return value / cast(f.maximum(labels, 1), value.kind)


def _forward(d: CtcLossDescriptor) -> Pipeline:
    w, kind = _Words(d), d.compute
    before = [state(0, kind), state(0, kind, -1), select(w.skip, state(0, kind, -2), w.nothing)]
    alpha = log_add(*before) + read("log_probs", d.element, STEP, BATCH, w.label)
    start = select(f.equal(LANE, 0), const(0.0, kind), w.nothing)
    on_label = select(w.labels > 0, state_at(0, kind, w.labels * 2 - 1), w.nothing)
    loss = 0.0 - log_add(state_at(0, kind, w.labels * 2), on_label)
    results = [Store("nll", loss)]
    temporaries = w.temporaries()
    if not d.saved:
        temporaries["nll"] = Temporary(kind, (d.batch_size,))
    if d.reduction == "none":
        results.append(Store("loss", w.counted(loss)))
    recurrence = Recurrence(
        d.batch_size,
        d.frames,
        d.lanes,
        w.frames,
        w.count,
        state=(Component(start, alpha, -inf),),
        traces=(Trace("log_alpha", STEP, alpha, -inf),) if d.saved else (),
        results=tuple(results),
    )
    stages: list[Any] = [*w.extended(-2), recurrence]
    if d.reduction == "mean":

        def value(loss: Expr, labels: Expr | None) -> Expr:
            assert labels is not None
            return w.per_label(w.counted(loss), f.clamp(labels, 0, param("labels", labels.kind)))

        stages.append(total_loss(d, "nll", value, "target_lengths"))
    elif d.reduction == "sum":
        stages.append(total_loss(d, "nll", lambda loss, _: w.counted(loss)))
    return Pipeline(tuple(stages), kind, temporaries, w.parameters())


def _backward(d: CtcLossDescriptor) -> Pipeline:
    w, kind = _Words(d), d.compute
    nll = read("nll", kind, BATCH)
    frame = w.frames - 1 - STEP
    row = select(w.frames > STEP, frame, STEP)
    # The sum over all ways on from a lane of a frame, without that frame's own probability, and with it.
    onward = log_add(state(0, kind), state(0, kind, 1), select(w.skip, state(0, kind, 2), w.nothing))
    beta = onward + read("log_probs", d.element, frame, BATCH, w.label)
    start = select(f.equal(LANE, w.labels * 2), const(0.0, kind), w.nothing)
    share = probability((read("log_alpha", kind, BATCH, frame, LANE) + onward) + nll)
    shares = Recurrence(
        d.batch_size,
        d.frames,
        d.lanes,
        w.frames,
        w.count,
        state=(Component(start, beta, -inf),),
        traces=(Trace("shares", row, share),),
    )
    temporaries = w.temporaries()
    temporaries |= {n: Temporary(_S32, (d.batch_size, d.lanes)) for n in ("next", "previous")}
    temporaries["shares"] = Temporary(kind, d.log_alpha_shape)
    stages = (*w.extended(2), _links(d, w), shares, _elsewhere(d, w), _occurring(d, w))
    return Pipeline(stages, kind, temporaries, w.parameters())


def _links(d: CtcLossDescriptor, w: _Words) -> Recurrence:
    """For each lane the next and the previous one of its class, -1 where there is none."""
    none = const(-1, _S32)
    components = []
    for c, other in enumerate((LANE + STEP + 1, LANE - STEP - 1)):
        previous = state(c, _S32)
        inside = (other < w.count) & (other >= 0)
        same = inside & f.equal(read("label", _S32, BATCH, other), w.label)
        components.append(Component(none, select(same & (previous < 0), other, previous)))
    lasts = (Store("next", state(0, _S32)), Store("previous", state(1, _S32)))
    return Recurrence(d.batch_size, d.lanes - 1, d.lanes, w.labels * 2, w.count, state=tuple(components), lasts=lasts)


def _scale(d: CtcLossDescriptor, dy: Expr, labels: Expr, w: _Words) -> Expr:
    """The gradient of a batch element's negative log-likelihood."""
    share = share_of_mean(d, dy)
    return w.per_label(share, labels) if d.reduction == "mean" else share


def _elsewhere(d: CtcLossDescriptor, w: _Words) -> Formula:
    """The gradient of a class that is no label: its probability. 0 beyond the frames; where there is no alignment, 0 or NaN."""
    kind, lengths = d.compute, d.length_element
    dy, x, nll = input_("dy", d.element), input_("log_probs", d.element), input_("nll", kind)
    frames, labels = input_("input_lengths", lengths), input_("target_lengths", lengths)
    scale = _scale(d, dy, f.clamp(labels, 0, param("labels", labels.kind)), w)
    impossible = const(0.0 if d.zero_infinity else nan, kind)
    gradient = select(f.equal(nll, inf), impossible, f.exp(x) * scale)
    gradient = select(cast(coord(0), frames.kind) < frames, gradient, 0.0)
    kinds = {"dy": d.element, "log_probs": d.element, "nll": kind, "input_lengths": lengths, "target_lengths": lengths}
    if d.reduction != "mean":
        del kinds["target_lengths"]
    ports = tuple(Port(n, k) for n, k in kinds.items())
    views = {n: View(n, (None, 0, None)) for n in kinds}
    views["dy"] = View("dy", (None, 0 if d.reduction == "none" else None, None))
    views |= {n: View(n, (0, 1, 2)) for n in ("log_probs", "dlog_probs")}
    graph = Graph(ports, ((Port("dlog_probs", d.element), gradient),), (False,) * 3)
    return Formula(graph, d.log_probs_shape, (False,) * 3, views)


def _occurring(d: CtcLossDescriptor, w: _Words) -> Chains:
    """The gradient of a class that is a label: less the sum of its lanes' shares, in rising order of lanes."""
    kind = d.compute
    nll = read("nll", kind, BATCH)
    dy = read("dy", d.element, BATCH) if d.reduction == "none" else read("dy", d.element)
    probabilities = f.exp(read("log_probs", d.element, STEP, BATCH, w.label))
    return Chains(
        d.batch_size,
        d.frames,
        d.lanes,
        select(f.equal(nll, inf), const(0, _S32), w.frames),
        w.count,
        head=read("previous", _S32, BATCH, LANE) < 0,
        link=read("next", _S32, BATCH, LANE),
        value=read("shares", kind, BATCH, STEP, LANE),
        result=(probabilities - total(kind)) * _scale(d, dy, w.labels, w),
        tensor="dlog_probs",
        index=(STEP, BATCH, w.label),
    )


_GIVEN = (
    TensorSpec("log_probs", "logarithms of probabilities, (frames, batch, classes)", shape="log_probs_shape"),
    TensorSpec("targets", "labels, (batch, labels) or one after another", shape="targets_shape", element="target_element"),
    TensorSpec("input_lengths", "frames of each batch element", shape="lengths_shape", element="length_element"),
    TensorSpec("target_lengths", "labels of each batch element", shape="lengths_shape", element="length_element"),
)


class CtcLossPlan(AlignmentPlan[CtcLossDescriptor, CtcLossArgs]):
    """loss = -log of the sum, over all alignments of the frames with the labels, of the product of the frames' probabilities.

    alpha[t, s] = log(e**alpha[t-1, s] + e**alpha[t-1, s-1] + e**alpha[t-1, s-2]) + log_probs[t, label[s]], where the third term
    is left out between equal labels and from blank to blank; inf where there are too few frames. The mean is that of the losses,
    each divided by its number of labels. Lengths and targets out of range are clamped. Source: Graves, Fernandez, Gomez and
    Schmidhuber, Connectionist Temporal Classification, 2006. All four promises hold.
    """

    category, op = OpCategory.LOSS, "ctc_loss"
    tensors = (
        *_GIVEN,
        TensorSpec("loss", "the loss", shape="loss_shape", written=True),
        TensorSpec("nll", "the loss of each batch element", shape="lengths_shape", element="compute", written=True, when="saved"),
        TensorSpec("log_alpha", "alpha, -inf beyond the lengths", shape="log_alpha_shape", element="compute", written=True,
                   when="saved"),
    )  # fmt: skip

    @classmethod
    def pipeline(cls, descriptor: CtcLossDescriptor) -> Pipeline:
        return _forward(descriptor)


class CtcLossBackwardPlan(AlignmentPlan[CtcLossDescriptor, CtcLossBackwardArgs]):
    """dlog_probs[t, c] = (e**log_probs[t, c] - sum over the lanes of class c of e**(alpha + beta + nll)) * dloss.

    As in PyTorch this is the gradient with respect to what log_probs is the log_softmax of. beta is alpha backwards in time,
    without the frame's own probability. The sum is taken in rising order of lanes. Beyond the frames it is 0; where there is no
    alignment, NaN, or 0 with `zero_infinity`. All four promises hold.
    """

    category, op = OpCategory.LOSS, "ctc_loss_backward"
    tensors = (
        TensorSpec("dy", "the gradient of the loss", shape="loss_shape"),
        *_GIVEN,
        TensorSpec("nll", "the loss of each batch element", shape="lengths_shape", element="compute"),
        TensorSpec("log_alpha", "alpha of the forward pass", shape="log_alpha_shape", element="compute"),
        TensorSpec("dlog_probs", "the gradient of log_probs", shape="log_probs_shape", written=True),
    )

    @classmethod
    def pipeline(cls, descriptor: CtcLossDescriptor) -> Pipeline:
        return _backward(descriptor)
