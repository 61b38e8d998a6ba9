"""Linear chains of tags: the logarithm of the sum over all paths, and the best path, as recurrences over the tags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Implementation
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_shape
from baracuda.formula import functions as f
from baracuda.formula.expr import Axes, Expr, cast, const, input_, param, select
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.backend import candidates
from baracuda.lowering.recurrence.pipeline import Formula, Pipeline, PipelineImplementation, Temporary, View
from baracuda.lowering.recurrence.problem import BATCH, LANE, STEP, Component, Store, read, state
from baracuda.lowering.recurrent.problem import DEPTH, Fold, Phase, Recurrent, Trace, fold, message, weight
from baracuda.ops.declaration.formula_plan import FLOATS

_S32, _S64 = ElementKind.S32, ElementKind.S64
_Found = tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]


@dataclass(frozen=True)
class TagsDescriptor(Descriptor):
    """Chains of at most `steps` tags out of `tags`, for `batch` rows.

    has_start, has_end say whether there are scores of the first and of the last tag, length_element whether rows have lengths of
    their own; saves whether what a backward pass reads is stored.
    """

    steps: int
    batch: int
    tags: int
    element: ElementKind
    has_start: bool = False
    has_end: bool = False
    length_element: ElementKind | None = None
    saves: bool = False

    def validate(self) -> None:
        check_element("element", self.element, FLOATS)
        if self.length_element is not None:
            check_element("length_element", self.length_element, (_S32, _S64))
        check_shape("x", self.x_shape)

    @property
    def compute(self) -> ElementKind:
        return self.element.compute

    @property
    def pointer_element(self) -> ElementKind:
        return _S32

    @property
    def path_element(self) -> ElementKind:
        return _S64

    x_shape = property(lambda d: (d.steps, d.batch, d.tags))
    path_shape = property(lambda d: (d.steps, d.batch, 1))
    transitions_shape = property(lambda d: (d.tags, d.tags))
    weight_shape = property(lambda d: (1, d.tags, d.tags))
    tags_shape = property(lambda d: (d.tags,))
    ends_shape = property(lambda d: (d.batch, d.tags))
    rows_shape = property(lambda d: (d.batch,))
    has_lengths = property(lambda d: d.length_element is not None)


class _Words:
    def __init__(self, d: TagsDescriptor) -> None:
        self.d, self.kind = d, d.compute
        self.length: Expr = param("steps", _S32)
        if d.length_element is not None:
            given = read("lengths", d.length_element, BATCH)
            self.length = cast(f.clamp(given, 0, param("steps", given.kind)), _S32)
        self.zero = const(0.0, self.kind)

    def score(self, row: Expr) -> Expr:
        return read("x", self.d.element, row, BATCH, LANE)

    def at_start(self) -> Expr:
        return read("start", self.d.element, LANE) if self.d.has_start else self.zero

    def at_end(self) -> Expr:
        return read("end", self.d.element, LANE) if self.d.has_end else self.zero

    def log_sum(self) -> tuple[Fold, Fold]:
        """The largest of what is summed, and the sum of exponentials of what each is below it."""
        term = weight(self.kind) + message(self.kind)
        most = Fold(const(-inf, self.kind), f.maximum(fold(self.kind, 0), term))
        return most, Fold(self.zero, fold(self.kind, 1) + f.exp(term - self.base()), 1)

    def base(self) -> Expr:
        most = fold(self.kind, 0)
        return select(f.equal(most, -inf), 0.0, most)

    def log_summed(self) -> Expr:
        return self.base() + f.log(fold(self.kind, 1))

    def recurrent(self, phases: tuple[Phase, ...], first: tuple[Expr, ...] = ()) -> Recurrent:
        return Recurrent(self.d.batch, self.d.steps, self.length, phases, self.kind, first)

    def pipeline(self, *stages: Any, temporaries: dict[str, Temporary] | None = None) -> Pipeline:
        return Pipeline(stages, self.kind, temporaries or {}, {"steps": self.d.steps})


def _sums(d: TagsDescriptor) -> Pipeline:
    w, kind = _Words(d), d.compute
    alpha = select(f.equal(STEP, 0), w.at_start(), w.log_summed()) + w.score(STEP)
    last = state(0, kind) + w.at_end()
    phase = Phase(
        d.tags, "transitions", d.tags, 1, transposed=True, folds=w.log_sum(), state=(Component(w.zero, alpha),), message=(alpha,),
        traces=(Trace("alpha", STEP, alpha, fill=-inf),) if d.saves else (), lasts=(Store("ends", last),),
    )  # fmt: skip
    return w.pipeline(w.recurrent((phase,), (w.zero,)))


def _share(log: Expr, norm: Expr, dy: Expr) -> Expr:
    """The gradient's part whose logarithm, apart from dy, is log - norm; rounding may have made that positive."""
    return select(f.equal(log, -inf), 0.0, f.exp(f.minimum(log - norm, 0.0)) * dy)


def _pairs(d: TagsDescriptor) -> Pipeline:
    kind = d.compute
    kinds = {"alpha": kind, "transitions": d.element, "onward": kind, "log_z": kind, "dy": d.element}
    x = {n: input_(n, k) for n, k in kinds.items()}
    total = f.sum_(_share((x["alpha"] + x["transitions"]) + x["onward"], x["log_z"], x["dy"]))
    inner = (False, False, True, True)
    ports = tuple(Port(n, k) for n, k in kinds.items())
    graph = Graph(ports, ((Port("dtransitions", d.element, Axes.OUTER), total),), inner)
    views = {
        "alpha": View("alpha", (2, None, 0, 1)),
        "onward": View("onward", (None, 2, 0, 1)),
        "transitions": View("transitions", (0, 1, None, None)),
        "log_z": View("log_z", (None, None, None, 0)),
        "dy": View("dy", (None, None, None, 0)),
        "dtransitions": View("dtransitions", (0, 1, None, None)),
    }
    shape = (d.tags, d.tags, d.steps, d.batch)
    return Pipeline((Formula(graph, shape, inner, views),), kind)


def _shares(d: TagsDescriptor) -> Pipeline:
    w, kind = _Words(d), d.compute
    row = w.length - 1 - STEP
    onward = state(0, kind) + w.score(row)
    norm, dy = read("log_z", kind, BATCH), read("dy", d.element, BATCH)
    through = read("alpha", kind, row, BATCH, LANE) + state(0, kind)

    first = Phase(
        d.tags,
        message=(onward,),
        traces=(Trace("dx", row, _share(through, norm, dy)), Trace("onward", row, onward, fill=-inf)),
    )
    second = Phase(
        d.tags, "transitions", d.tags, 1, folds=w.log_sum(), state=(Component(w.at_end(), w.log_summed()),)
    )  # fmt: skip
    return w.pipeline(w.recurrent((first, second)))


def _best(d: TagsDescriptor) -> Pipeline:
    w, kind = _Words(d), d.compute
    term = weight(kind) + message(kind)
    better = term > fold(kind, 0)
    folds = (
        Fold(const(-inf, kind), select(better, term, fold(kind, 0))),
        Fold(const(0, _S32), select(better, DEPTH, fold(_S32, 1))),
    )
    score = select(f.equal(STEP, 0), w.at_start(), fold(kind, 0)) + w.score(STEP)
    phase = Phase(
        d.tags, "transitions", d.tags, 1, transposed=True, folds=folds, state=(Component(w.zero, score),), message=(score,),
        traces=(Trace("pointers", STEP, fold(_S32, 1)),), lasts=(Store("ends", state(0, kind) + w.at_end()),),
    )  # fmt: skip
    return w.pipeline(w.recurrent((phase,), (w.zero,)))


def _path(d: TagsDescriptor) -> Pipeline:
    w = _Words(d)
    row = w.length - 1 - STEP
    before = read("pointers", _S32, row, BATCH, state(0, _S32))
    phase = Phase(
        1, state=(Component(cast(read("last", _S64, BATCH), _S32), before),),
        traces=(Trace("path", row, cast(state(0, _S32), _S64), fill=-1),),
    )  # fmt: skip
    return w.pipeline(w.recurrent((phase,)))


_SCORES = (
    TensorSpec("x", "scores of the tags, (steps, batch, tags)", shape="x_shape"),
    TensorSpec("transitions", "scores from tag to tag, (1, tags, tags)", shape="weight_shape"),
    TensorSpec("start", "scores of the first tag", shape="tags_shape", when="has_start"),
    TensorSpec("end", "scores of the last tag", shape="tags_shape", when="has_end"),
    TensorSpec("lengths", "tags of each row", shape="rows_shape", element="length_element", when="has_lengths"),
)


@dataclass
class TagSumsArgs(Args):
    """x, transitions, start, end, lengths: the scores; ends: for each last tag the logarithm of the sum over the paths that end
    with it; alpha: the same at every step."""

    x: Any
    transitions: Any
    start: Any = None
    end: Any = None
    lengths: Any = None
    ends: Any = None
    alpha: Any = None


class TagSumsPlan(Plan[TagsDescriptor, TagSumsArgs]):
    """alpha[t, j] = x[t, j] + log of the sum over i of e**(alpha[t-1, i] + transitions[i, j]): the largest term, then the sum of
    exponentials of each term less it, in rising i. All four promises hold."""

    category, op, args = OpCategory.RNN, "crf_forward", TagSumsArgs
    tensors = (
        *_SCORES,
        TensorSpec("ends", "by last tag", shape="ends_shape", element="compute", written=True),
        TensorSpec("alpha", "at every step", shape="x_shape", element="compute", written=True, when="saves"),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: TagsDescriptor) -> _Found:
        return candidates(device, partial(PipelineImplementation, device, _sums(descriptor), cls.tensors, descriptor))


@dataclass
class TagSharesArgs(Args):
    """dy: the gradient of each row's logarithm log_z; the scores, and alpha of the forward pass; dx: the gradient of x; onward:
    the logarithm of the sum over what may follow a tag, itself included."""

    dy: Any
    x: Any
    transitions: Any
    start: Any
    end: Any
    lengths: Any
    alpha: Any
    log_z: Any
    dx: Any
    onward: Any


class TagSharesPlan(Plan[TagsDescriptor, TagSharesArgs]):
    """dx[t, j] = dy * e**(alpha[t, j] + beta[t, j] - log_z), beta being the sum over what follows, taken as alpha is. All four
    promises hold."""

    category, op, args = OpCategory.RNN, "crf_forward_backward", TagSharesArgs
    tensors = (
        TensorSpec("dy", "the gradient of log_z", shape="rows_shape"),
        *_SCORES,
        TensorSpec("alpha", "of the forward pass", shape="x_shape", element="compute"),
        TensorSpec("log_z", "of the forward pass", shape="rows_shape", element="compute"),
        TensorSpec("dx", "the gradient of x", shape="x_shape", written=True),
        TensorSpec("onward", "sums over what follows", shape="x_shape", element="compute", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: TagsDescriptor) -> _Found:
        return candidates(device, partial(PipelineImplementation, device, _shares(descriptor), cls.tensors, descriptor))


@dataclass
class TagPairsArgs(Args):
    """dy, log_z: of each row; transitions; alpha: of all steps but the last; onward: of all but the first; dtransitions: the
    gradient."""

    dy: Any
    log_z: Any
    transitions: Any
    alpha: Any
    onward: Any
    dtransitions: Any = None


class TagPairsPlan(Plan[TagsDescriptor, TagPairsArgs]):
    """dtransitions[i, j] = sum over steps and rows of dy * e**(alpha[i] + transitions[i, j] + onward[j] - log_z), in the
    canonical order. All four promises hold."""

    category, op, args = OpCategory.RNN, "crf_pairs", TagPairsArgs
    tensors = (
        TensorSpec("dy", "the gradient of log_z", shape="rows_shape"),
        TensorSpec("log_z", "of the forward pass", shape="rows_shape", element="compute"),
        TensorSpec("transitions", "scores from tag to tag", shape="transitions_shape"),
        TensorSpec("alpha", "of the step before", shape="x_shape", element="compute"),
        TensorSpec("onward", "of the step", shape="x_shape", element="compute"),
        TensorSpec("dtransitions", "the gradient", shape="transitions_shape", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: TagsDescriptor) -> _Found:
        return candidates(device, partial(PipelineImplementation, device, _pairs(descriptor), cls.tensors, descriptor))


@dataclass
class BestTagsArgs(Args):
    """x, transitions, start, end, lengths: the scores; ends: the best score by last tag; pointers: of each tag at each step, the
    tag before it."""

    x: Any
    transitions: Any
    start: Any = None
    end: Any = None
    lengths: Any = None
    ends: Any = None
    pointers: Any = None


class BestTagsPlan(Plan[TagsDescriptor, BestTagsArgs]):
    """score[t, j] = x[t, j] + max over i of (score[t-1, i] + transitions[i, j]), the lowest i of equal ones. NaN is never the
    best. All four promises hold."""

    category, op, args = OpCategory.RNN, "viterbi_scores", BestTagsArgs
    tensors = (
        *_SCORES,
        TensorSpec("ends", "by last tag", shape="ends_shape", written=True),
        TensorSpec("pointers", "the tag before", shape="x_shape", element="pointer_element", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: TagsDescriptor) -> _Found:
        return candidates(device, partial(PipelineImplementation, device, _best(descriptor), cls.tensors, descriptor))


@dataclass
class TagPathArgs(Args):
    """pointers: the tag before each tag at each step; last: each row's last tag; lengths; path: the tags, -1 beyond the
    lengths."""

    pointers: Any
    last: Any
    lengths: Any = None
    path: Any = None


class TagPathPlan(Plan[TagsDescriptor, TagPathArgs]):
    """path[t - 1] = pointers[t, path[t]], from each row's last tag on."""

    category, op, args = OpCategory.RNN, "viterbi_path", TagPathArgs
    tensors = (
        TensorSpec("pointers", "the tag before", shape="x_shape", element="pointer_element"),
        TensorSpec("last", "the last tag", shape="rows_shape", element="path_element"),
        TensorSpec("lengths", "tags of each row", shape="rows_shape", element="length_element", when="has_lengths"),
        TensorSpec("path", "the tags", shape="path_shape", element="path_element", written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: TagsDescriptor) -> _Found:
        return candidates(device, partial(PipelineImplementation, device, _path(descriptor), cls.tensors, descriptor))
