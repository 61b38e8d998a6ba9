"""Losses over all alignments of two sequences, forward and backward: `ctc_loss` and `rnnt_loss`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef, tensor_mut
from baracuda.core.views import view
from baracuda.frontends.arrays import empty_like, writable
from baracuda.frontends.call import apply, describe, one
from baracuda.frontends.declared import declared
from baracuda.frontends.ranges import check_range, checked, lengths_of, most_and_sum
from baracuda.ops.declaration.words import Bounds, Count, Reduction
from baracuda.ops.losses.ctc import CtcLossArgs, CtcLossBackwardArgs, CtcLossBackwardPlan, CtcLossDescriptor, CtcLossPlan
from baracuda.ops.losses.rnnt import RnntLossArgs, RnntLossBackwardArgs, RnntLossBackwardPlan, RnntLossDescriptor, RnntLossPlan

#: Of a batch, of its only element, and as numbers.
_LENGTHS = "batch or () or numbers or number : s32 s64"

# --- what the arguments are -------------------------------------------------------------------------------------------


class _Ctc:
    """The tensors of a CTC loss as its plans take them, and their descriptor."""

    def __init__(
        self,
        log_probs: Any,
        targets: Any,
        input_lengths: Any,
        target_lengths: Any,
        *,
        bounds: Bounds,
        max_target_length: int | None,
        **words: Any,
    ) -> None:
        self.given = describe(log_probs, "log_probs")
        check = checked(bounds)
        shape = self.given.shape
        self.single = len(shape) == 2
        frames, batch, classes = (shape[0], 1, shape[1]) if self.single else shape
        self.log_probs = self.batched(self.given) if self.single else log_probs
        self.input_lengths = lengths_of(input_lengths, "input_lengths", batch, self.given)
        self.target_lengths = lengths_of(target_lengths, "target_lengths", batch, self.given)
        labels = describe(targets, "targets")
        self.targets = targets
        if self.single and len(labels.shape) == 1:
            self.targets = labels = view(labels, 0, (1, *labels.shape), (0, *labels.strides))
        extent = labels.shape[-1]
        total = extent if len(labels.shape) == 1 else None
        if check:
            check_range(self.input_lengths, "input_lengths", 0, frames, log_probs)
            check_range(self.target_lengths, "target_lengths", 0, extent, log_probs)
        if total is not None and (check or max_target_length is None):
            most, of_all = most_and_sum(self.target_lengths, log_probs)
            if check and of_all != total:
                raise InvalidProblemError(f"targets: {total} of them; expected {of_all}, the sum of target_lengths")
            if check and max_target_length is not None and most > max_target_length:
                raise InvalidProblemError(f"max_target_length: {max_target_length}; expected {most} or more")
            max_target_length = min(max(most, 0), total) if max_target_length is None else max_target_length
        self.descriptor = CtcLossDescriptor(
            frames=frames,
            batch_size=batch,
            num_classes=classes,
            max_target_length=extent if total is None or max_target_length is None else max_target_length,
            element=self.given.kind,
            target_element=labels.kind,
            length_element=describe(self.input_lengths, "input_lengths").kind,
            target_total=total,
            **words,
        )
        if check:
            check_range(self.targets, "targets", 0, classes - 1, log_probs, self.target_lengths if total is None else None)

    @property
    def inputs(self) -> tuple[Any, ...]:
        return (self.log_probs, self.targets, self.input_lengths, self.target_lengths)

    def batched(self, x: Any) -> Any:
        """A tensor like log_probs with a batch axis."""
        return view(x, 0, (x.shape[0], 1, x.shape[1]), (x.strides[0], 0, x.strides[1])) if self.single else x

    def per_element(self, loss: TensorRef) -> Any:
        """A loss with a batch axis where the descriptor has one."""
        if self.single and self.descriptor.reduction == "none" and loss.shape == ():
            return view(loss, 0, (1,), (1,))
        return loss


def _written(like: Any, shape: Sequence[int], kind: ElementKind, out: Any) -> tuple[Any, TensorRef]:
    """The tensor to return, and what it is written through."""
    array = out if out is not None else empty_like(like, shape, kind)
    ref = tensor_mut(array if out is not None else writable(array), name="out")
    if ref.shape != tuple(shape) or ref.kind is not kind:
        raise InvalidProblemError(f"out: shape is {ref.shape} of {ref.kind}; expected {tuple(shape)} of {kind}")
    return array, ref


# --- connectionist temporal classification ----------------------------------------------------------------------------


_CTC: dict[str, str] = {
    "log_probs": "frames batch classes or frames classes : T float",
    "targets": "batch labels or labels : s32 s64",
    "input_lengths": _LENGTHS,
    "target_lengths": _LENGTHS,
}


@declared(**_CTC)
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
    *,
    max_target_length: Count | None = None,
    bounds: Bounds = "check",
    saved: bool = False,
    out: Any = None,
) -> Any:
    """-log of the probability that frames spell the targets, over all their alignments (Graves et al. 2006).

    Parameters
    ----------
    log_probs : (frames, batch, classes), or (frames, classes) of one, in f16, bf16, f32 or f64, any strides; as log_softmax
        gives them.
    targets : classes in s32 or s64, (batch, labels), where what lies beyond the lengths is ignored; or those of the batch one
        after another, (sum of target_lengths,).
    input_lengths, target_lengths : frames and labels of each batch element, (batch,), s32 or s64; on the CPU also numbers.
    blank : the class that stands between labels.
    reduction : "none" gives (batch,), "sum" their sum, "mean" the mean of each divided by its number of labels.
    zero_infinity : whether the loss of targets that are too long for their frames is 0 instead of inf.
    max_target_length : the most labels there are, where targets lie one after another: without it target_lengths are read, for
        which a GPU is waited for.
    bounds : "check" first reads whether lengths and targets are in range (on a GPU this waits for the stream, and cannot be
        captured in a graph) and raises `InvalidProblemError` with the first that is not; "clamp" reads nothing and takes the
        nearest in range, as plans do.
    saved : whether also to return what the backward pass reads: the loss of each batch element, and alpha (batch, frames,
        2 * labels + 1).

    All four promises hold: the bits are the same on the CPU and on every GPU, alone and in a batch.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> log_probs = np.log(np.full((2, 1, 3), 1 / 3))
    >>> loss = baracuda.ctc_loss(log_probs, np.array([[1]]), np.array([2]), np.array([1]))
    >>> round(float(np.exp(-loss)), 12)  # three of nine: a label, then itself or a blank, or after a blank
    0.333333333333
    """
    p = _Ctc(log_probs, targets, input_lengths, target_lengths, blank=blank, reduction=reduction, zero_infinity=zero_infinity,
             max_target_length=max_target_length, bounds=bounds, saved=saved)  # fmt: skip
    d = p.descriptor
    loss, target = _written(log_probs, () if p.single else d.loss_shape, d.element, out)
    saved_outputs = [(d.lengths_shape, d.compute), (d.log_alpha_shape, d.compute)] if saved else [None, None]
    outputs = [(d.loss_shape, d.element), *saved_outputs]
    results = apply(CtcLossPlan, CtcLossArgs, d, log_probs, p.inputs, outputs, [p.per_element(target)])
    return (loss, *results[1:]) if saved else loss


@declared(dy="... : float", **_CTC, nll="... : float", log_alpha="... : float")
def ctc_loss_backward(
    dy: Any,
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    nll: Any = None,
    log_alpha: Any = None,
    *,
    blank: int = 0,
    reduction: Reduction = "mean",
    zero_infinity: bool = False,
    max_target_length: Count | None = None,
    bounds: Bounds = "check",
    out: Any = None,
) -> Any:
    """The gradient of `ctc_loss`'s log_probs, given that of the loss: (e**log_probs - occupancy of the class) * dloss.

    As in PyTorch this is the gradient with respect to what log_probs is the log_softmax of. It is 0 beyond the frames; where
    there is no alignment it is NaN, or 0 with `zero_infinity`. nll and log_alpha are what `ctc_loss` returns with saved=True, and
    are computed again where they are not given. The other parameters and errors are those of `ctc_loss`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> log_probs = np.log(np.full((1, 1, 2), 0.5))
    >>> baracuda.ctc_loss_backward(np.array(1.0), log_probs, np.array([[1]]), [1], [1]).round(12).tolist()
    [[[0.5, -0.5]]]
    """
    words: dict[str, Any] = {"blank": blank, "zero_infinity": zero_infinity, "max_target_length": max_target_length}
    p = _Ctc(log_probs, targets, input_lengths, target_lengths, reduction=reduction, bounds=bounds, saved=False, **words)
    if nll is None or log_alpha is None:
        again = {**words, "max_target_length": p.descriptor.max_target_length, "bounds": "clamp", "saved": True}
        _, nll, log_alpha = ctc_loss(log_probs, targets, input_lengths, target_lengths, reduction="sum", **again)
    gradient, target = _written(log_probs, p.given.shape, p.given.kind, out)
    inputs = (p.per_element(describe(dy, "dy")), *p.inputs, nll, log_alpha)
    outputs = [(p.descriptor.log_probs_shape, p.descriptor.element)]
    apply(CtcLossBackwardPlan, CtcLossBackwardArgs, p.descriptor, log_probs, inputs, outputs, [p.batched(target)])
    return gradient


# --- transducers ------------------------------------------------------------------------------------------------------


def _rnnt(
    logits: Any, targets: Any, logit_lengths: Any, target_lengths: Any, *, bounds: Bounds, blank: int, **words: Any
) -> tuple[RnntLossDescriptor, tuple[Any, ...]]:
    """The descriptor and the tensors of an RNN-T loss."""
    x, labels = describe(logits, "logits"), describe(targets, "targets")
    check = checked(bounds)
    batch, frames, lanes, classes = x.shape
    if lanes == 0:
        raise InvalidProblemError(f"logits: shape is {x.shape}; expected (batch, frames, labels + 1, classes)")
    if not -classes <= blank < classes:
        raise InvalidProblemError(f"blank: {blank!r}; expected a class from {-classes} to {classes - 1}")
    first = lengths_of(logit_lengths, "logit_lengths", batch, x)
    second = lengths_of(target_lengths, "target_lengths", batch, x)
    descriptor = RnntLossDescriptor(
        batch_size=batch,
        frames=frames,
        max_target_length=lanes - 1,
        num_classes=classes,
        element=x.kind,
        target_element=labels.kind,
        length_element=describe(first, "logit_lengths").kind,
        blank=blank % classes,
        **words,
    )
    if check:
        check_range(first, "logit_lengths", 1, frames, logits)
        check_range(second, "target_lengths", 0, lanes - 1, logits)
        check_range(targets, "targets", 0, classes - 1, logits, second)
    return descriptor, (logits, targets, first, second)


_RNNT: dict[str, str] = {
    "logits": "batch frames steps classes : T float",
    "targets": "batch steps-1 : s32 s64",
    "logit_lengths": _LENGTHS,
    "target_lengths": _LENGTHS,
}


@declared(**_RNNT)
def rnnt_loss(
    logits: Any,
    targets: Any,
    logit_lengths: Any,
    target_lengths: Any,
    blank: int = -1,
    clamp: float = -1.0,
    reduction: Reduction = "mean",
    fused_log_softmax: bool = True,
    *,
    bounds: Bounds = "check",
    saved: bool = False,
    out: Any = None,
) -> Any:
    """-log of the probability of the targets under a transducer, over all its ways through frames and labels (Graves 2012).

    Parameters
    ----------
    logits : (batch, frames, labels + 1, classes) in f16, bf16, f32 or f64, any strides.
    targets : classes in s32 or s64, (batch, labels); what lies beyond the lengths is ignored.
    logit_lengths, target_lengths : frames and labels of each batch element, (batch,), s32 or s64; on the CPU also numbers.
    blank : the class that goes to the next frame; negative ones count from the end.
    clamp : where positive, the largest magnitude of an element of the gradient; the forward pass does not read it.
    reduction : "none" gives (batch,), "sum" and "mean" go over the batch.
    fused_log_softmax : whether logits are such; otherwise they are logarithms of probabilities already.
    bounds : as in `ctc_loss`.
    saved : whether also to return what the backward pass reads: the loss of each batch element, alpha by diagonals, and for
        logits the logarithms of the softmax's denominators.

    Names and defaults are those of torchaudio. All four promises hold.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logits = np.zeros((1, 2, 2, 2))  # one label in two frames: two ways, each of three steps of probability 1/2
    >>> round(float(np.exp(-baracuda.rnnt_loss(logits, np.array([[0]]), [2], [1]))), 12)
    0.25
    """
    d, inputs = _rnnt(logits, targets, logit_lengths, target_lengths, blank=blank, clamp=clamp, reduction=reduction,
                      fused_log_softmax=fused_log_softmax, bounds=bounds, saved=saved)  # fmt: skip
    shapes = (d.lengths_shape, d.log_alpha_shape, d.log_norm_shape)
    saved_outputs = [(s, d.compute) if on else None for s, on in zip(shapes, (saved, saved, d.saved_norm), strict=True)]
    results = apply(RnntLossPlan, RnntLossArgs, d, logits, inputs, [(d.loss_shape, d.element), *saved_outputs], [out])
    return tuple(x for x in results if x is not None) if saved else results[0]


@declared(dy="... : float", **_RNNT, nll="... : float", log_alpha="... : float", log_norm="... : float")
def rnnt_loss_backward(
    dy: Any,
    logits: Any,
    targets: Any,
    logit_lengths: Any,
    target_lengths: Any,
    nll: Any = None,
    log_alpha: Any = None,
    log_norm: Any = None,
    *,
    blank: int = -1,
    clamp: float = -1.0,
    reduction: Reduction = "mean",
    fused_log_softmax: bool = True,
    bounds: Bounds = "check",
    out: Any = None,
) -> Any:
    """The gradient of `rnnt_loss`'s logits, given that of the loss; 0 beyond the lengths.

    nll, log_alpha and, for logits, log_norm are what `rnnt_loss` returns with saved=True, and are computed again where one of
    them is not given. Where `clamp` is positive, elements are brought into -clamp ... clamp before they are multiplied by that of
    the loss. The other parameters and errors are those of `rnnt_loss`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rnnt_loss_backward(np.array(1.0), np.zeros((1, 1, 1, 2)), np.zeros((1, 0), np.int32), [1], [0]).tolist()
    [[[[0.5, -0.5]]]]
    """
    words: dict[str, Any] = {"blank": blank, "clamp": clamp, "fused_log_softmax": fused_log_softmax}
    d, inputs = _rnnt(logits, targets, logit_lengths, target_lengths, reduction=reduction, bounds=bounds, saved=False, **words)
    if nll is None or log_alpha is None or (fused_log_softmax and log_norm is None):
        again = rnnt_loss(logits, targets, logit_lengths, target_lengths, reduction="sum", bounds="clamp", saved=True, **words)
        _, nll, log_alpha, *norms = again
        log_norm = norms[0] if norms else None
    operands = (dy, *inputs, nll, log_alpha, log_norm if fused_log_softmax else None)
    return one(apply(RnntLossBackwardPlan, RnntLossBackwardArgs, d, logits, operands, [(d.logits_shape, d.element)], [out]))
