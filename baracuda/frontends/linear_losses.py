"""Losses of a linear layer's logits, a block of rows at a time, so that the matrix of all logits is never there.

A block is `ROWS` rows, whatever the device: the gradients of the weight and the bias are sums over blocks, one after another, in
the compute kind, and so have the same bits everywhere. The logits are computed again for the backward.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorMut
from baracuda.core.views import placed, slab
from baracuda.frontends.arrays import empty_like
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.indexed import check_indices
from baracuda.frontends.linear import linear
from baracuda.frontends.product_function import ProductFunction, Request
from baracuda.frontends.products import Ref, labelled, mm
from baracuda.frontends.ranges import checked
from baracuda.frontends.views import filled, output
from baracuda.ops.declaration.composition import chosen
from baracuda.ops.declaration.traced import Bound
from baracuda.ops.declaration.words import Bounds, Reduction, Wrt

#: Rows to a block.
ROWS = 1024

_LAYER: dict[str, str] = {
    "input": "rows width : T float",
    "weight": "classes width : T",
    "target": "rows : int",
    "bias": "classes : T",
}
Smoothing = Annotated[float, AtLeast(0), AtMost(1)]


@ProductFunction
def _added(a: Ref, b: Ref, c: Ref | None = None) -> Request:
    """a.T @ b + c, in the compute kind."""
    d = labelled(a, b, "km", "kn", "mn", element=a.kind.compute, c_shape=None if c is None else c.shape)
    return Request(d, {"a": 0, "b": 1} | ({} if c is None else {"c": 2}))


class _Layer:
    """The layer, its targets, and the blocks of rows."""

    def __init__(
        self,
        input: Any,
        weight: Any,
        target: Any,
        bias: Any,
        preference: PlanPreference | None,
        class_weight: Any = None,
        ignore_index: int | None = None,
        bounds: str = "clamp",
    ) -> None:
        self.input, self.weight, self.target, self.bias, self.preference = input, weight, target, bias, preference
        self.class_weight = class_weight
        self.x, self.w, self.t = describe(input, "input"), describe(weight, "weight"), describe(target, "target")
        if checked(bounds):
            check_indices(target, "target", Bound(self.w.shape[0], classes=True, ignored=ignore_index))

    @property
    def rows(self) -> int:
        return self.x.shape[0]

    def blocks(self) -> Iterator[tuple[int, int, Any]]:
        """First and last row of each block, and its logits."""
        for first in range(0, self.rows, ROWS):
            last = min(first + ROWS, self.rows)
            logits = empty_like(self.input, (last - first, self.w.shape[0]), self.x.kind)
            linear(slab(self.x, 0, first, last), self.weight, self.bias, preference=self.preference, out=logits)
            yield first, last, logits

    def loss(self, logits: Any, first: int, last: int, **words: Any) -> Any:
        """The losses of a block's rows, and what their backward reads."""
        target = self.of(first, last)
        return function("cross_entropy")(logits, target, self.class_weight, axis=1, reduction="none", bounds="clamp", **words)

    def of(self, first: int, last: int) -> Any:
        """The targets of a block."""
        return slab(self.t, 0, first, last)

    def losses(self, **words: Any) -> Any:
        """One loss for each row."""
        made, written = output(self.input, (self.rows,), self.x.kind)
        for first, last, logits in self.blocks():
            self.loss(logits, first, last, out=slab(written, 0, first, last), **words)
        return made

    def gradients(self, dlosses: Any, wrt: Wrt, **words: Any) -> tuple[Any, ...]:
        """Those of the input, the weight and the bias, given one number for each row."""
        names = chosen(wrt, ("input", "weight") + (("bias",) if self.bias is not None else ()))
        backward, total, add = function("cross_entropy_backward"), function("sum"), function("add")
        found: dict[str, Any] = dict.fromkeys(names)
        dy = describe(dlosses, "dy")
        written: TensorMut | None = None
        if "input" in names:
            found["input"], written = output(self.input, self.x.shape, self.x.kind)
        for first, last, logits in self.blocks():
            _, *saved = self.loss(logits, first, last, saved=True, **words)
            given = slab(dy, 0, first, last), logits, self.of(first, last), self.class_weight, *saved
            d = backward(*given, axis=1, reduction="none", **words)
            if written is not None:
                mm(d, self.weight, out=slab(written, 0, first, last), preference=self.preference)
            if "weight" in names:
                found["weight"] = _added(d, slab(self.x, 0, first, last), found["weight"], preference=self.preference)
            if "bias" in names:
                part = total(d, axis=0, dtype=self.x.kind.compute)
                found["bias"] = part if found["bias"] is None else add(found["bias"], part)
        for name, ref in (("weight", self.w), ("bias", describe(self.bias, "bias") if self.bias is not None else None)):
            if name in names and ref is not None:
                made = found[name] if found[name] is not None else filled(self.input, ref.shape, ref.kind, 0.0)
                found[name] = made if describe(made, name).kind is ref.kind else function("cast")(made, dtype=ref.kind)
        return tuple(found[n] for n in names)


def _words(ignore_index: int, label_smoothing: float) -> dict[str, Any]:
    return {"ignore_index": ignore_index} | ({"label_smoothing": label_smoothing} if label_smoothing else {})


@declared(**_LAYER, class_weight="classes : float")
def linear_cross_entropy(
    input: Any,
    weight: Any,
    target: Any,
    bias: Any = None,
    *,
    class_weight: Any = None,
    ignore_index: int = -100,
    label_smoothing: Smoothing = 0.0,
    reduction: Reduction = "mean",
    bounds: Bounds = "check",
    preference: PlanPreference | None = None,
) -> Any:
    """The cross entropy of the logits input @ weight.T + bias, input (rows, k), weight (n, k), target (rows) class indices.

    class_weight (n) has a factor for each class, by whose sum over the rows a mean divides. Rows whose target is `ignore_index`
    give 0 and do not count towards the mean. Memory: the logits of 1,024 rows.

    Raises `InvalidProblemError` for shapes that do not fit, for a target that is no class (bounds="clamp" does not check, as in
    `cross_entropy`), and what `linear` and `cross_entropy` raise.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, w = np.float32([[1, 0], [0, 1]]), np.float32([[2, 0], [0, 2], [0, 0]])
    >>> round(float(baracuda.linear_cross_entropy(x, w, np.array([0, 2]))), 4)
    1.2395
    """
    layer = _Layer(input, weight, target, bias, preference, class_weight, ignore_index, bounds)
    losses = layer.losses(**_words(ignore_index, label_smoothing))
    if reduction == "none":
        return losses
    whole = function("sum")(losses)
    return whole if reduction == "sum" else function("div")(whole, _counted(layer, ignore_index))


def _losses(rows: int, reduction: str) -> tuple[int, ...]:
    return (rows,) if reduction == "none" else ()


@declared(**_LAYER, class_weight="classes : float", dy=_losses)
def linear_cross_entropy_backward(
    dy: Any,
    input: Any,
    weight: Any,
    target: Any,
    bias: Any = None,
    *,
    class_weight: Any = None,
    ignore_index: int = -100,
    label_smoothing: Smoothing = 0.0,
    reduction: Reduction = "mean",
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> tuple[Any, ...]:
    """The gradients of `linear_cross_entropy`'s input, weight and bias, given that of its result; `wrt` names some of them."""
    layer = _Layer(input, weight, target, bias, preference, class_weight)
    each = dy
    if reduction != "none":
        one = filled(input, (layer.rows,), layer.x.kind, 1.0)
        share = dy if reduction == "sum" else function("div")(dy, _counted(layer, ignore_index))
        each = function("mul")(one, placed(describe(share, "dy"), (), 1))
    return layer.gradients(each, wrt, **_words(ignore_index, label_smoothing))


def _counted(layer: _Layer, ignore_index: int) -> Any:
    """How many targets count, or the sum of their weights, in the input's element."""
    counts = function("ne")(layer.target, ignore_index)
    if layer.class_weight is None:
        return function("cast")(function("count_nonzero")(counts), dtype=layer.x.kind)
    index = function("cast")(layer.target, dtype=ElementKind.S64)
    weights = function("index_select")(layer.class_weight, index, axis=0, bounds="clamp")
    total = function("sum")(function("where")(counts, weights, 0.0), dtype=layer.x.kind.compute)
    return function("cast")(total, dtype=layer.x.kind)


@declared(**_LAYER)
def chunked_logprobs(
    input: Any, weight: Any, target: Any, bias: Any = None, *, bounds: Bounds = "check", preference: PlanPreference | None = None
) -> Any:
    """The logarithm of the probability of each row's target among the classes of the logits input @ weight.T + bias.

    input is (rows, k), weight (n, k), target (rows) class indices. Memory: the logits of 1,024 rows. Raises
    `InvalidProblemError` for a target that is no class; with bounds="clamp", which does not check, it gives NaN.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.chunked_logprobs(np.float32([[0.0]]), np.float32([[1], [2]]), np.array([1])).astype(float).round(4).tolist()
    [-0.6931]
    """
    losses = _Layer(input, weight, target, bias, preference, bounds=bounds).losses()
    return function("neg")(losses)


@declared(**_LAYER, dy="rows")
def chunked_logprobs_backward(
    dy: Any,
    input: Any,
    weight: Any,
    target: Any,
    bias: Any = None,
    *,
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> tuple[Any, ...]:
    """The gradients of `chunked_logprobs`' input, weight and bias, given that of its result; `wrt` names some of them."""
    return _Layer(input, weight, target, bias, preference).gradients(function("neg")(dy), wrt)
