"""Linear-chain conditional random fields: the logarithm of the sum over all paths of tags, its gradient, and the best path."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, permuted, slab
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.elementwise.comparisons import gt
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.elementwise.ternary_ops import where
from baracuda.ops.reductions.arg_reductions import argmax
from baracuda.ops.reductions.reductions import logsumexp, max_, sum_
from baracuda.ops.rnn.tag_plans import BestTagsPlan, TagPairsPlan, TagPathPlan, TagsDescriptor, TagSharesPlan, TagSumsPlan

_SCORES: dict[str, Any] = {
    "x": "... tags : T float",
    "transitions": "tags tags : T",
    "start": "tags : T",
    "end": "tags : T",
    "lengths": "... : s32 s64",
}


class _Chains:
    """The scores of a call as plans take them."""

    def __init__(
        self, do: Steps, x: TensorRef, transitions: TensorRef, start: Given, end: Given, lengths: Given, *, batch_first: bool
    ) -> None:
        if len(x.shape) not in (2, 3):
            raise InvalidProblemError(f"x: shape is {x.shape}; expected (steps, batch, tags) or (steps, tags)")
        self.do, self.transitions, self.start, self.end = do, transitions, start, end
        self.whole, self.batch_first = len(x.shape) == 3, batch_first
        self.x = self.timed(x)
        self.lengths = lengths if self.whole or lengths is None else expanded_dims(lengths, (), 1)
        self.steps, self.batch, self.tags = self.x.shape
        if not self.tags:
            raise InvalidProblemError(f"x: shape is {x.shape}; expected one tag or more")
        if lengths is None and self.steps == 0:
            raise InvalidProblemError(f"x: shape is {x.shape}; expected one step or more")

    def timed(self, tensor: TensorRef) -> Any:
        """A tensor of the call with steps and the batch in front."""
        if not self.whole:
            return expanded_dims(tensor, (0, *range(2, len(tensor.shape) + 1)), len(tensor.shape) + 1)
        return permuted(tensor, (1, 0, *range(2, len(tensor.shape)))) if self.batch_first else tensor

    def row(self, tensor: TensorRef) -> Any:
        """A tensor with a number for each row."""
        return tensor if self.whole else expanded_dims(tensor, (), 1)

    def shape(self, *more: int) -> tuple[int, ...]:
        """The shape of what has a number for each step and row."""
        if not self.whole:
            return (self.steps, *more)
        return (self.batch, self.steps, *more) if self.batch_first else (self.steps, self.batch, *more)

    @property
    def rows(self) -> tuple[int, ...]:
        return (self.batch,) if self.whole else ()

    def descriptor(self, **fields: Any) -> TagsDescriptor:
        kind = None if self.lengths is None else self.lengths.kind
        given = {"steps": self.steps, "has_start": self.start is not None, "has_end": self.end is not None, **fields}
        return TagsDescriptor(batch=self.batch, tags=self.tags, element=self.x.kind, length_element=kind, **given)

    def tensors(self) -> dict[str, Any]:
        w = expanded_dims(self.transitions, (1, 2), 3)
        return {"x": self.x, "transitions": w, "start": self.start, "end": self.end, "lengths": self.lengths}

    def sums(self) -> tuple[Any, Any, Any]:
        """log z of each row, in the kind computed in, what comes before it by last tag, and alpha."""
        do, kind = self.do, self.x.kind.compute
        ends, alpha = do.plan(TagSumsPlan, self.descriptor(saves=True), self.tensors(), (
            do.rows((self.batch, self.tags), kind), do.rows((self.steps, self.batch, self.tags), kind)
        ))  # fmt: skip
        return self.of_none(do.run(logsumexp, {"x": ends}, axis=-1)), ends, alpha

    def of_none(self, value: TensorRef) -> Any:
        """What each row has, or 0 where it has no tag."""
        if self.lengths is None:
            return value
        some = self.do.run(gt, {"a": self.lengths, "b": 0})
        return self.do.run(where, {"condition": some, "a": value, "b": 0.0})


@composed(**_SCORES)
def crf_forward(
    do: Steps, x: TensorRef, transitions: TensorRef, start: Given = None, end: Given = None, *, lengths: Given = None,
    batch_first: bool = False, saved: bool = False,
) -> Any:  # fmt: skip
    """The logarithm of the partition function of a linear-chain CRF: of the sum of e**score over all paths of tags, for each row,

        score = start[y_0] + sum over t of x[t, y_t] + sum over t > 0 of transitions[y_{t-1}, y_t] + end[y_last]

    x is (steps, batch, tags), with batch_first (batch, steps, tags), or (steps, tags); lengths says how many steps of each row
    count; a row of none gives 0. -inf forbids a tag or a transition. With `saved`, (log_z, alpha, log_z before it is rounded),
    for the backward.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.crf_forward(np.zeros((3, 1, 2)), np.zeros((2, 2)))[0].round(4))  # log(2**3)
    2.0794
    """
    chains = _Chains(do, x, transitions, start, end, lengths, batch_first=batch_first)
    log_z, _, alpha = chains.sums()
    y = do.rows(chains.rows, x.kind)
    do.copy(log_z, chains.row(y))
    return (y, alpha, log_z) if saved else y


@composed(**_SCORES, dy="...", alpha="...", log_z="...")
def crf_forward_backward(
    do: Steps, dy: TensorRef, x: TensorRef, transitions: TensorRef, start: Given = None, end: Given = None, *, alpha: Given =
    None, log_z: Given = None, lengths: Given = None, batch_first: bool = False, wrt: Wrt = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of `crf_forward`'s x, transitions, start and end: how probable each tag, and each pair of neighbours, is,
    times dy.

    alpha and log_z are what `crf_forward` gave with saved=True; without them they are computed again.
    """
    given = {"x": True, "transitions": True, "start": start is not None, "end": end is not None}
    names = chosen(wrt, tuple(n for n, there in given.items() if there))
    chains = _Chains(do, x, transitions, start, end, lengths, batch_first=batch_first)
    if dy.shape != chains.rows:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {chains.rows}")
    dy = chains.row(dy)
    if alpha is None or log_z is None:
        log_z, _, alpha = chains.sums()
    kind = x.kind.compute
    dx, onward = do.rows(chains.shape(chains.tags), x.kind), do.rows((chains.steps, chains.batch, chains.tags), kind)
    tensors = {**chains.tensors(), "dy": dy, "alpha": alpha, "log_z": log_z}
    shares = chains.timed(dx)
    do.plan(TagSharesPlan, chains.descriptor(), tensors, (shares, onward))
    found: dict[str, Any] = {"x": dx}
    if "transitions" in names:
        d = chains.descriptor(steps=max(chains.steps - 1, 0), has_start=False, has_end=False)
        d = TagsDescriptor(d.steps, d.batch, d.tags, d.element)
        first, last = slab(alpha, 0, 0, d.steps), slab(onward, 0, chains.steps - d.steps, chains.steps)
        pairs = {"dy": dy, "log_z": log_z, "transitions": transitions, "alpha": first, "onward": last}
        found["transitions"] = do.plan(TagPairsPlan, d, pairs, do.rows(transitions.shape, x.kind))
    if "start" in names:
        found["start"] = in_element(do, do.run(sum_, {"x": slab(shares, 0, 0, min(1, chains.steps))}, axis=(0, 1)), x.kind)
    if "end" in names:
        found["end"] = _of_ends(do, chains, dy)
    return tuple(found[n] for n in names)


def _of_ends(do: Steps, chains: _Chains, dy: TensorRef) -> Any:
    """The gradient of the scores of last tags: the softmax over them, times dy."""
    from baracuda.ops.elementwise.binary_ops import mul
    from baracuda.ops.softmax.softmaxes import softmax

    _, ends, _ = chains.sums()
    shares = do.run(mul, {"a": do.run(softmax, {"x": ends}, axis=-1), "b": expanded_dims(dy, (0,), 2)})
    if chains.lengths is not None:
        some = do.run(gt, {"a": expanded_dims(chains.lengths, (0,), 2), "b": 0})
        shares = do.run(where, {"condition": some, "a": shares, "b": 0.0})
    return in_element(do, do.run(sum_, {"x": shares}, axis=0), chains.x.kind)


@composed(**_SCORES)
def viterbi_decode(
    do: Steps, x: TensorRef, transitions: TensorRef, start: Given = None, end: Given = None, *, lengths: Given = None,
    batch_first: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The best path of tags of each row by the score of `crf_forward`, and its score: (score, path).

    score is (batch,), path (steps, batch) of s64, -1 beyond the lengths; shapes of x as there. Of equal paths that with the lower
    tag, from the last step on. A score that is NaN is never the best of the ways to a tag.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> score, path = baracuda.viterbi_decode(np.float32([[1, 0], [0, 3]]), np.float32([[0, -9], [0, 0]]))
    >>> float(score), path.tolist()
    (3.0, [1, 1])
    """
    chains = _Chains(do, x, transitions, start, end, lengths, batch_first=batch_first)
    d = chains.descriptor()
    ends, pointers = do.plan(BestTagsPlan, d, chains.tensors(), (
        do.rows((chains.batch, chains.tags), x.kind), do.rows((chains.steps, chains.batch, chains.tags), ElementKind.S32)
    ))  # fmt: skip
    score = do.rows(chains.rows, x.kind)
    do.copy(chains.of_none(do.run(max_, {"x": ends}, axis=-1)), chains.row(score))
    last = do.run(argmax, {"x": ends}, axis=-1)
    path = do.rows(chains.shape(), ElementKind.S64)
    do.plan(
        TagPathPlan,
        d,
        {"pointers": pointers, "last": last, "lengths": chains.lengths},
        expanded_dims(chains.timed(path), (0, 1), 3),
    )
    return score, path
