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
from baracuda.core.tensor import TensorRef
from baracuda.core.views import expanded_dims, slab
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed
from baracuda.ops.declaration.traced import IndexBound
from baracuda.ops.declaration.words import Bounds, Reduction, Wrt
from baracuda.ops.elementwise.binary_ops import add, div, mul
from baracuda.ops.elementwise.comparisons import ne
from baracuda.ops.elementwise.conversions import cast, in_element
from baracuda.ops.elementwise.ternary_ops import where
from baracuda.ops.elementwise.unary import neg
from baracuda.ops.indexing.indexing import index_select
from baracuda.ops.losses.classes import cross_entropy
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.reductions.reductions import count_nonzero, sum_

#: Rows to a block.
ROWS = 1024

_LAYER: dict[str, Any] = {
    "x": "rows width : T float",
    "weight": "classes width : T",
    "target": "rows : int",
    "bias": "classes : T",
}
Smoothing = Annotated[float, AtLeast(0), AtMost(1)]


class _Layer:
    """The layer, its targets, and the blocks of rows."""

    def __init__(
        self,
        do: Steps,
        x: TensorRef,
        weight: TensorRef,
        target: TensorRef,
        bias: Given,
        preference: PlanPreference | None,
        class_weight: Given = None,
        **words: Any,
    ) -> None:
        self.do, self.x, self.weight, self.target, self.bias = do, x, weight, target, bias
        self.preference, self.class_weight, self.kind = preference, class_weight, x.kind
        self.words = {"axis": 1, "reduction": "none", **words}

    def blocks(self) -> Iterator[tuple[int, int, TensorRef]]:
        """First and last row of each block, and its logits."""
        for first in range(0, self.x.shape[0], ROWS):
            last = min(first + ROWS, self.x.shape[0])
            x = slab(self.x, 0, first, last)
            d = labelled(x, self.weight, "mk", "nk", "mn", bias_axis=None if self.bias is None else -1)
            tensors = {"a": x, "b": self.weight, "bias": self.bias}
            yield first, last, self.do.plan(MatmulPlan, d, tensors, preference=self.preference)

    def scores(self, logits: TensorRef, first: int, last: int) -> dict[str, Given]:
        """What the loss of a block's rows reads."""
        return {"x": logits, "target": slab(self.target, 0, first, last), "weight": self.class_weight}

    def losses(self) -> TensorRef:
        """One loss for each row."""
        array = self.do.new(self.x.shape[:1], self.kind)
        for first, last, logits in self.blocks():
            self.do.run(cross_entropy, self.scores(logits, first, last), slab(array, 0, first, last), **self.words)
        return array

    def gradients(self, dy: TensorRef, wrt: Wrt) -> tuple[TensorRef, ...]:
        """Those of the input, the weight and the bias, given one number for each row."""
        do = self.do
        tensors = {"x": self.x, "weight": self.weight} | ({} if self.bias is None else {"bias": self.bias})
        names = chosen(wrt, tuple(tensors))
        results: dict[str, Any] = {"x": do.new_like(self.x)} if "x" in names else {}
        for first, last, logits in self.blocks():
            scores = self.scores(logits, first, last)
            _, lse, total = do.run(cross_entropy, scores, saved=True, **self.words)
            saved = {"lse": lse, "total": total}
            d = do.gradients(cross_entropy, scores, slab(dy, 0, first, last), ("x",), saved, **self.words)["x"]
            if "x" in names:
                product = labelled(d, self.weight, "mk", "kn", "mn")
                into = slab(results["x"], 0, first, last)
                do.plan(MatmulPlan, product, {"a": d, "b": self.weight}, into, self.preference)
            if "weight" in names:
                results["weight"] = self._added(d, slab(self.x, 0, first, last), results.get("weight"))
            if "bias" in names:
                part = do.run(sum_, {"x": d}, axis=0, dtype=self.kind.compute)
                results["bias"] = do.run(add, {"a": results["bias"], "b": part}) if "bias" in results else part
        for name in {*names} - {*results}:  # of no rows
            results[name] = do.filled(tensors[name].shape, tensors[name].kind, 0.0)
        return tuple(in_element(do, results[n], tensors[n].kind) for n in names)

    def _added(self, a: TensorRef, b: TensorRef, c: Given) -> TensorRef:
        """a.T @ b + c, in the compute kind."""
        d = labelled(a, b, "km", "kn", "mn", element=self.kind.compute, c_shape=None if c is None else c.shape)
        made: TensorRef = self.do.plan(MatmulPlan, d, {"a": a, "b": b, "c": c}, preference=self.preference)
        return made

    def counted(self) -> TensorRef:
        """How many targets count, or the sum of their weights, in the input's element."""
        do = self.do
        counts = do.run(ne, {"a": self.target, "b": self.words["ignore_index"]})
        if self.class_weight is None:
            counted: TensorRef = do.run(cast, {"x": do.run(count_nonzero, {"x": counts})}, dtype=self.kind)
            return counted
        index = do.run(cast, {"x": self.target}, dtype=ElementKind.S64)
        weights = do.run(index_select, {"x": self.class_weight, "index": index}, axis=0)
        those = do.run(where, {"condition": counts, "a": weights, "b": 0.0})
        total: TensorRef = do.run(cast, {"x": do.run(sum_, {"x": those}, dtype=self.kind.compute)}, dtype=self.kind)
        return total


def _check_targets(do: Steps, target: TensorRef, weight: TensorRef, bounds: str, ignored: int | None = None) -> None:
    if bounds == "check":
        do.check_indices(target, "target", IndexBound(weight.shape[0], classes=True, ignored=ignored))


def _words(ignore_index: int, label_smoothing: float) -> dict[str, Any]:
    return {"ignore_index": ignore_index} | ({"label_smoothing": label_smoothing} if label_smoothing else {})


@composed(**_LAYER, class_weight="classes : float")
def linear_cross_entropy(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    target: TensorRef,
    bias: Given = None,
    *,
    class_weight: Given = None,
    ignore_index: int = -100,
    label_smoothing: Smoothing = 0.0,
    reduction: Reduction = "mean",
    bounds: Bounds = "check",
    preference: PlanPreference | None = None,
) -> Any:
    """The cross entropy of the logits x @ weight.T + bias, x (rows, k), weight (n, k), target (rows) class indices.

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
    _check_targets(do, target, weight, bounds, ignore_index)
    layer = _Layer(do, x, weight, target, bias, preference, class_weight, **_words(ignore_index, label_smoothing))
    losses = layer.losses()
    if reduction == "none":
        return losses
    whole = do.run(sum_, {"x": losses})
    return whole if reduction == "sum" else do.run(div, {"a": whole, "b": layer.counted()})


def _losses(rows: int, reduction: str) -> tuple[int, ...]:
    return (rows,) if reduction == "none" else ()


@composed(**_LAYER, class_weight="classes : float", dy=_losses)
def linear_cross_entropy_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    target: TensorRef,
    bias: Given = None,
    *,
    class_weight: Given = None,
    ignore_index: int = -100,
    label_smoothing: Smoothing = 0.0,
    reduction: Reduction = "mean",
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> tuple[Any, ...]:
    """The gradients of `linear_cross_entropy`'s x, weight and bias, given that of its result; `wrt` names some of them."""
    layer = _Layer(do, x, weight, target, bias, preference, class_weight, **_words(ignore_index, label_smoothing))
    if reduction != "none":
        one = do.filled(x.shape[:1], x.kind, 1.0)
        share = dy if reduction == "sum" else do.run(div, {"a": dy, "b": layer.counted()})
        dy = do.run(mul, {"a": one, "b": expanded_dims(share, (), 1)})
    return layer.gradients(dy, wrt)


@composed(**_LAYER)
def chunked_logprobs(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    target: TensorRef,
    bias: Given = None,
    *,
    bounds: Bounds = "check",
    preference: PlanPreference | None = None,
) -> Any:
    """The logarithm of the probability of each row's target among the classes of the logits x @ weight.T + bias.

    x is (rows, k), weight (n, k), target (rows) class indices. Memory: the logits of 1,024 rows. Raises
    `InvalidProblemError` for a target that is no class; with bounds="clamp", which does not check, it gives NaN.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.chunked_logprobs(np.float32([[0.0]]), np.float32([[1], [2]]), np.array([1])).astype(float).round(4).tolist()
    [-0.6931]
    """
    _check_targets(do, target, weight, bounds)
    return do.run(neg, {"x": _Layer(do, x, weight, target, bias, preference).losses()})


@composed(**_LAYER, dy="rows")
def chunked_logprobs_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: TensorRef,
    target: TensorRef,
    bias: Given = None,
    *,
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> tuple[Any, ...]:
    """The gradients of `chunked_logprobs`' x, weight and bias, given that of its result; `wrt` names some of them."""
    return _Layer(do, x, weight, target, bias, preference).gradients(do.run(neg, {"x": dy}), wrt)
