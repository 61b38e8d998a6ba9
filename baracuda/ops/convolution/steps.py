"""Convolutions as steps: views of x, w and y whose axes are (batch, groups, spatial axes, channels), and one plan for each way in
which outputs and taps meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from baracuda.core.elements import Category
from baracuda.core.errors import UnsupportedError
from baracuda.core.preferred import preferred
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, view
from baracuda.ops.convolution.complex_steps import as_real
from baracuda.ops.convolution.plan import ConvolutionDescriptor, ConvolutionPlan
from baracuda.ops.convolution.relation import Part, Relation, is_covered, parts
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.reductions.reductions import sum_

#: Terms that a chain of a gradient by the weight takes at least.
SEGMENT_TERMS = 2048


def split(tensor: TensorRef, axis: int, groups: int) -> Any:
    """A tensor with an axis cut in so many equal pieces: their number, and what is in each."""
    n, s = tensor.shape[axis], tensor.strides[axis]
    shape = (*tensor.shape[:axis], groups, n // groups, *tensor.shape[axis + 1 :])
    return view(tensor, 0, shape, (*tensor.strides[:axis], n // groups * s, s, *tensor.strides[axis + 1 :]))


def strided(tensor: TensorRef, axis: int, first: int, step: int, count: int) -> Any:
    """Every `step`-th element along an axis."""
    if (first, step, count) == (0, 1, tensor.shape[axis]):
        return tensor
    shape = (*tensor.shape[:axis], count, *tensor.shape[axis + 1 :])
    strides = (*tensor.strides[:axis], step * tensor.strides[axis], *tensor.strides[axis + 1 :])
    offset = first * tensor.strides[axis] if count else 0
    return view(tensor, offset, shape, strides)


def convolve(
    do: Steps,
    x: TensorRef,
    w: TensorRef,
    y: TensorMut,
    relations: Sequence[Relation],
    *,
    scale: TensorRef | None = None,
    bias: TensorRef | None = None,
    residual: TensorRef | None = None,
    activation: str = "none",
    x_taps: bool = False,
    w_places: str = "",
    segmented: bool = False,
    conjugate: str = "",
) -> None:
    """Write a convolution of views: x (b, g, *i, c), w (g, *t, c, n), y (b, g, *o, n), scale and bias (g, n), residual as y. Of
    complex elements, `conjugate` says which factor is conjugated."""
    if 0 in y.shape:
        return
    if y.kind.category is Category.COMPLEX:
        if scale is not None or activation != "none":
            raise UnsupportedError(f"scale, activation: of {y.kind}; expected a float element")
        as_real(do, convolve, x, w, y, relations, conjugate=conjugate, bias=bias, residual=residual, segmented=segmented)
        return
    rank = len(relations)
    if any(r.base != 1 for r in relations) and scale is bias is residual is None and _by_library(do, x, w, y, relations):
        return
    classes = [parts(r) for r in relations]
    ways = list(product(*classes))
    if not all(is_covered(r, own) for r, own in zip(relations, classes, strict=True)):
        whole = [Part(0, 1, 0, 1, replace(r, taps=0, stride=1, dilation=1, low=0, base=1)) for r in relations]
        ways.insert(0, tuple(whole))  # what meets nothing, too
    for chosen in ways:
        into, own, more = _of_outputs(y, chosen), _of_taps(w, chosen, w_places), residual
        if residual is not None:
            more = _of_outputs(residual, chosen)
        from_ = x
        if x_taps:
            for a, part in enumerate(chosen):
                from_ = strided(from_, 2 + rank + a, part.first_tap, part.tap_step, part.relation.taps)
        inner = [part.relation for part in chosen]
        taps = [r.taps for r in inner]
        if 0 in taps or 0 in from_.shape:  # no tap meets anything
            own = view(
                own, 0, (own.shape[0], *own.shape[1 : len(own.shape) - 2 - rank], *(0,) * rank, *own.shape[-2:]), own.strides
            )
            taps = [0] * rank
            if x_taps:
                from_ = view(from_, 0, (*from_.shape[: 2 + rank], *taps, from_.shape[-1]), from_.strides)
        channels = x.shape[-1]
        length = max(1, -(-SEGMENT_TERMS // max(channels, 1))) if segmented else 0
        count = 1
        for n in taps:
            count *= n
        d = ConvolutionDescriptor(
            x.shape[0], x.shape[1], tuple(r.inputs for r in inner), channels, w.shape[-1], tuple(r.outputs for r in inner),
            tuple(taps), tuple(r.stride for r in inner), tuple(r.dilation for r in inner), tuple(r.low for r in inner),
            x.kind, w.kind, y.kind, x_taps, w_places, scale is not None, bias is not None, more is not None, activation,
            length if count > length else 0,
        )  # fmt: skip
        tensors = {"x": from_, "w": own, "scale": scale, "bias": bias, "residual": more}
        do.plan(ConvolutionPlan, d, tensors, into)


def _by_library(do: Steps, x: TensorRef, w: TensorRef, y: TensorMut, relations: Sequence[Relation]) -> bool:
    """Has a library write the gradient by the input of a convolution with strides, where one is preferred and takes it: it has
    kernels that need no classes."""
    wish = preferred()
    if wish is None or not (wish.fastest or (wish.backend is not None and wish.backend.is_library)) or 0 in (*x.shape, *w.shape):
        return False
    d = ConvolutionDescriptor(
        x.shape[0], x.shape[1], tuple(r.inputs for r in relations), x.shape[-1], w.shape[-1],
        tuple(r.outputs for r in relations), tuple(r.taps for r in relations), tuple(r.stride for r in relations),
        tuple(r.dilation for r in relations), tuple(r.low for r in relations), x.kind, w.kind, y.kind,
        base=tuple(r.base for r in relations),
    )  # fmt: skip
    try:
        do.plan(ConvolutionPlan, d, {"x": x, "w": w}, y)
    except UnsupportedError:
        return False
    return True


def _of_outputs(y: Any, chosen: Sequence[Part]) -> Any:
    """The outputs of a class."""
    for a, part in enumerate(chosen):
        y = strided(y, 2 + a, part.first_output, part.output_step, part.relation.outputs)
    return y


def _of_taps(w: Any, chosen: Sequence[Part], w_places: str) -> Any:
    """The weights of a class."""
    rank = len(chosen)
    for a, part in enumerate(chosen):
        w = strided(w, len(w.shape) - 2 - rank + a, part.first_tap, part.tap_step, part.relation.taps)
        if w_places == "outputs":
            w = strided(w, 1 + a, part.first_output, part.output_step, part.relation.outputs)
    return w


def gradient_by_input(
    do: Steps, dy: TensorRef, w: TensorRef, dx: TensorMut, relations: Sequence[Relation], *, w_places: str = ""
) -> None:
    """Write the gradient by x, (b, g, *i, c), of a convolution with dy (b, g, *o, n) and w (g, *t, c, n)."""
    last = len(w.shape) - 1
    turned = permuted(w, (*range(last - 1), last, last - 1))
    places = "inputs" if w_places else ""
    convolve(do, dy, turned, dx, [r.for_input() for r in relations], w_places=places, conjugate="w")


def gradient_by_weight(do: Steps, dy: TensorRef, x: TensorRef, dw: TensorMut, relations: Sequence[Relation]) -> None:
    """Write the gradient by w, (g, *t, c, n), of a convolution with dy (b, g, *o, n) and x (b, g, *i, c)."""
    rank = len(relations)
    spatial = range(2, 2 + rank)
    from_ = permuted(x, (2 + rank, 1, *spatial, 0))
    by = permuted(dy, (1, *spatial, 0, 2 + rank))
    into = permuted(dw, (1 + rank, 0, *range(1, 1 + rank), 2 + rank))
    convolve(do, from_, by, into, [r.for_weight() for r in relations], segmented=True, conjugate="x")


def gradient_by_bias(do: Steps, dy: TensorRef, axis: int) -> TensorRef:
    """The sums of dy over all axes but one."""
    found: TensorRef = do.run(sum_, {"x": dy}, axis=tuple(a for a in range(len(dy.shape)) if a != axis))
    return found
