"""Filters with feedback.

a_0 y_t = sum over k of b_k x_(t-k) - sum over k > 0 of a_k y_(t-k), with zeros before the first element.

*Order.* Coefficients are divided by a_0. The sum over b is a matrix product's, over falling k. With one coefficient a_1 the rest
is the recurrence h_t = -a_1 h_(t-1) + u_t in the order of scans (rule 5 of the contract); with more each element is a chain of
fused multiply-adds from the oldest one on (`baracuda/lowering/filter/problem.py`).
"""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import broadcast_shape, broadcasted, flipped, slab, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, select
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.elementwise.binary_ops import add, div, mul
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.elementwise.unary import neg
from baracuda.ops.fft.long_convolution import summed_to
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.reductions.reductions import sum_
from baracuda.ops.scans.scans import linear_recurrence
from baracuda.ops.signal.filter_plan import FilterDescriptor, FilterPlan


def _clamped(x: Expr) -> Expr:
    return f.minimum(f.maximum(x, -1.0), 1.0)


def _clamped_slope(dy: Expr, filtered: Expr) -> Expr:
    return select((filtered >= -1.0) & (filtered <= 1.0), dy, 0.0)


_INTERNAL: dict[str, Any] = {"family": "signal", "takes": "float", "differentiable": False}
_clamp_op = Op(_clamped, Rule.COMMON, name="clamped_signal", **_INTERNAL)
_slope_op = Op(_clamped_slope, Rule.COMMON, name="slope_of_clamped_signal", **_INTERNAL)
_LETTERS = "abcdefg"


def _last(x: TensorRef, start: int, stop: int) -> Any:
    return slab(x, len(x.shape) - 1, start, stop)


def _turned(x: TensorRef) -> Any:
    return flipped(x, (len(x.shape) - 1,))


class _Rows:
    """Rows and coefficients, broadcast, and the steps on them."""

    def __init__(self, do: Steps, x: TensorRef, a: TensorRef, b: TensorRef) -> None:
        self.do, self.kind = do, x.kind.compute
        if a.shape[-1] < 1 or b.shape[-1] < 1:
            raise InvalidProblemError(f"a, b: shapes {a.shape}, {b.shape}; expected one coefficient or more")
        self.lead = broadcast_shape([x.shape[:-1], a.shape[:-1], b.shape[:-1]])
        self.length = x.shape[-1]
        self.shape = (*self.lead, self.length)
        self.x = broadcasted(in_element(do, x, self.kind), self.shape)
        self.first = in_element(do, _last(a, 0, 1), self.kind)
        self.a = do.run(div, {"a": in_element(do, a, self.kind), "b": self.first})
        self.b = do.run(div, {"a": in_element(do, b, self.kind), "b": self.first})

    def windows(self, x: TensorRef, count: int) -> Any:
        """Of each element of rows, itself and those before it, the oldest first: `count` in all, zeros before the row."""
        do = self.do
        wide, last = do.rows((*x.shape[:-1], self.length + count - 1), self.kind), len(x.shape) - 1
        do.zero(slab(wide, last, 0, count - 1))
        do.copy(x, slab(wide, last, count - 1, count - 1 + self.length))
        return view(wide, 0, (*x.shape, count), (*wide.strides, wide.strides[-1]))

    def weighted(self, x: TensorRef, taps: TensorRef) -> Any:
        """The sums of taps times elements and those before, over falling taps."""
        count, rank = taps.shape[-1], len(self.lead)
        windows = self.windows(x, count)
        kept = [i for i in range(len(taps.shape) - 1) if taps.shape[i] != 1]
        labels = _LETTERS[:rank]
        own = "".join(labels[rank - len(taps.shape) + 1 + i] for i in kept)
        flat = view(taps, 0, (*(taps.shape[i] for i in kept), count), (*(taps.strides[i] for i in kept), taps.strides[-1]))
        kind = self.kind
        d = MatmulDescriptor(windows.shape, flat.shape, labels + "tk", own + "k", labels + "t", kind, kind, kind)
        return self.do.plan(MatmulPlan, d, {"a": windows, "b": _turned(flat)})

    def correlated(self, slope: TensorRef, x: TensorRef, count: int) -> Any:
        """For each row the sums over t of slope_t x_(t-k), k below count."""
        windows, labels, kind = self.windows(x, count), _LETTERS[: len(self.lead)], self.kind
        d = MatmulDescriptor(windows.shape, slope.shape, labels + "tk", labels + "t", labels + "k", kind, kind, kind)
        return _turned(self.do.plan(MatmulPlan, d, {"a": windows, "b": slope}))

    def fed_back(self, u: TensorRef) -> Any:
        """The rest of the filter."""
        do, order = self.do, self.a.shape[-1] - 1
        if not order:
            return u
        coefficients = _last(self.a, 1, order + 1)
        if order == 1:
            factors = broadcasted(do.run(neg, {"x": coefficients}), self.shape)
            return do.run(linear_recurrence, {"a": factors, "b": u})
        a = broadcasted(coefficients, (*self.lead, order))
        return do.plan(FilterPlan, FilterDescriptor(self.shape, order, self.kind), {"x": u, "a": a})


_PATTERNS: dict[str, Any] = {"x": "*batch length : T float", "a": "*filters order : T float", "b": "*others taps : T float"}


@composed(**_PATTERNS)
def lfilter(do: Steps, x: TensorRef, a: TensorRef, b: TensorRef, clamp: bool = True) -> Any:
    """Rows filtered with feedback: a_0 y_t = sum over k of b_k x_(t-k) - sum over k > 0 of a_k y_(t-k), for any order.

    The axes of x, a and b before the last one broadcast. With `clamp` the result, not what is fed back, is limited to -1 to 1, as
    in torchaudio. Computed in f32, of f64 in f64.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.lfilter(np.float32([1, 0, 0, 0]), np.float32([1, -0.5]), np.float32([0.5, 0])).tolist()
    [0.5, 0.25, 0.125, 0.0625]
    """
    rows = _Rows(do, x, a, b)
    if 0 in rows.shape:
        return do.new(rows.shape, x.kind)
    y = rows.fed_back(rows.weighted(rows.x, rows.b))
    return in_element(do, do.run(_clamp_op, {"x": y}) if clamp else y, x.kind)


@composed(dy="... : T float", **_PATTERNS)
def lfilter_backward(
    do: Steps, dy: TensorRef, x: TensorRef, a: TensorRef, b: TensorRef, clamp: bool = True, *, wrt: Wrt = None
) -> Any:
    """The gradients of `lfilter`'s x, a and b, those named in `wrt`, by default all.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, a, b = np.float32([1, 0, 0]), np.float32([1, -0.5]), np.float32([0.5])
    >>> [g.tolist() for g in baracuda.lfilter_backward(np.float32([0, 0, 1]), x, a, b, wrt=("x", "b"))]
    [[0.125, 0.25, 0.5], [0.25]]
    """
    names = chosen(wrt, ("x", "a", "b"))
    rows = _Rows(do, x, a, b)
    if dy.shape != rows.shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {rows.shape}")
    tensors = {"x": x, "a": a, "b": b}
    if 0 in rows.shape:
        return one_or_all([do.filled(tensors[n].shape, x.kind, 0) for n in names])
    slope = in_element(do, dy, rows.kind)
    y = rows.fed_back(rows.weighted(rows.x, rows.b)) if clamp or "a" in names else None
    if clamp:
        slope = do.run(_slope_op, {"dy": slope, "filtered": y})
    back = _turned(rows.fed_back(_turned(slope)))
    made: dict[str, Any] = {}
    if "x" in names:
        made["x"] = _turned(rows.weighted(_turned(back), rows.b))
    if "b" in names or "a" in names:
        by_b = rows.correlated(back, rows.x, b.shape[-1])
        made["b"] = do.run(div, {"a": by_b, "b": rows.first})
    if "a" in names:
        assert y is not None
        made["a"] = _by_a(do, rows, do.run(neg, {"x": rows.correlated(back, y, a.shape[-1])}), by_b)
    results = []
    for name in names:
        total = do.rows(tensors[name].shape, rows.kind)
        summed_to(do, made[name], total)
        results.append(in_element(do, total, x.kind))
    return one_or_all(results)


def _by_a(do: Steps, rows: _Rows, by_a: TensorRef, by_b: TensorRef) -> Any:
    """The gradient of a, that of a_0 by way of what is divided by it."""
    count = rows.a.shape[-1]
    found = do.rows(by_a.shape, rows.kind)
    rest = _last(by_a, 1, count)
    scaled = do.run(sum_, {"x": do.run(mul, {"a": by_b, "b": rows.b})}, axis=-1, keepdims=True)
    if count > 1:
        do.run(div, {"a": rest, "b": rows.first}, _last(found, 1, count))
        further = do.run(sum_, {"x": do.run(mul, {"a": rest, "b": _last(rows.a, 1, count)})}, axis=-1, keepdims=True)
        scaled = do.run(add, {"a": scaled, "b": further})
    do.run(div, {"a": do.run(neg, {"x": scaled}), "b": rows.first}, _last(found, 0, 1))
    return found
