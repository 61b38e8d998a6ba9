"""Reductions and scans of the elements whose mask is true, chosen by a word, as in torch.masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from baracuda.core.bounds import Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula import functions as f
from baracuda.formula import reductions as r
from baracuda.formula import scans as s
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, bitcast, cast, const, reduce, select
from baracuda.formula.host import HostNumber
from baracuda.formula.pooling import pooled_squares
from baracuda.ops.declaration.op import map_parts, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Value
from baracuda.ops.reductions.reductions import ORDERS, Order, Tensors, extreme_of, log_sum_exp, norm_of, over_something


def _kept(x: Value, mask: Expr, instead: float = 0.0) -> Value:
    """x where the mask is true, elsewhere a number that the reduction does not see."""
    return map_parts(lambda v: select(mask, v, const(instead, v.kind)), x)


def _variance(x: Expr, mask: Expr, correction: Scalar) -> Expr:
    count = f.sum_(cast(mask, x.kind))
    average = f.sum_(select(mask, x, 0.0)) / count
    d = select(mask, x - average, 0.0)
    return pooled_squares(d * d, count, average) / f.maximum(count - correction, 0.0)


def _norm(x: Expr, mask: Expr, order: Order) -> Expr:
    least = not isinstance(order, HostNumber) and order == float("-inf")
    return norm_of(select(mask, x, float("inf") if least else 0.0), order)


#: Of float rows alone: from x, mask, correction and the order of the norm.
_FLOATS: dict[str, Callable[[Expr, Expr, Scalar, Order], Expr]] = {
    "mean": lambda x, mask, _, order: f.sum_(select(mask, x, 0.0)) / f.sum_(cast(mask, x.kind)),
    "var": lambda x, mask, correction, order: _variance(x, mask, correction),
    "std": lambda x, mask, correction, order: f.root(_variance(x, mask, correction)),
    "norm": lambda x, mask, _, order: _norm(x, mask, order),
    "logsumexp": lambda x, mask, _, order: log_sum_exp(select(mask, x, float("-inf"))),
}
#: What becomes of the elements that count.
Masked: TypeAlias = Literal["sum", "prod", "mean", "amax", "amin", "argmax", "argmin", "var", "std", "norm", "logsumexp"]
#: Of every real row.
_REALS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "sum": lambda x, mask: f.sum_(select(mask, x, const(0, x.kind))),
    "prod": lambda x, mask: f.prod(select(mask, x, const(1, x.kind))),
    "amax": lambda x, mask: reduce("max", select(mask, x, extreme_of(x.kind, "max"))),
    "amin": lambda x, mask: reduce("min", select(mask, x, extreme_of(x.kind, "min"))),
    "argmax": lambda x, mask: r.argmax(select(mask, x, extreme_of(x.kind, "max"))),
    "argmin": lambda x, mask: r.argmin(select(mask, x, extreme_of(x.kind, "min"))),
}


def _to_name_one(tensors: Tensors, axes: tuple[int, ...], options: Mapping[str, Any]) -> None:
    if options["reduction"] in ("argmax", "argmin"):
        over_something(tensors, axes, options)


@op(rows=True, axis=None, keepdims=False, check=_to_name_one, rowless=True, literals={"p": ORDERS})
def masked_reduce(
    x: Value,
    mask: Own,
    *,
    reduction: Masked = "sum",
    correction: Annotated[Scalar, Finite()] = 1.0,
    p: Order = 2,
) -> Value:
    """A reduction of the elements whose mask is true, as in torch.masked.

    `reduction` is "sum", "prod", "mean", "amax", "amin", "argmax", "argmin", "var", "std" (with n - correction), "norm" (of
    order `p`) or "logsumexp". Where no mask is true it gives what is neutral: 0 for a sum or norm, 1 for a product, -inf for
    amax and logsumexp, +inf for amin, the least or largest integer; NaN for mean, var and std. argmax and argmin number the
    elements of the whole row; integers are summed and multiplied in the element they have, where they wrap.

    Raises `UnsupportedError` for what is not defined on integers or complex numbers (these take "sum" and "mean").

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, mask = np.float32([1, 5, 3]), np.array([True, False, True])
    >>> float(baracuda.masked_reduce(x, mask, reduction="amax"))
    3.0
    """
    if isinstance(x, Complex):
        if reduction not in ("sum", "mean"):
            raise UnsupportedError(f"reduction: {reduction!r} of complex numbers; expected sum or mean")
        total = map_parts(f.sum_, _kept(x, mask))
        return total / f.sum_(cast(mask, x.kind)) if reduction == "mean" else total
    if reduction in _REALS:
        return _REALS[reduction](x, mask)
    if not x.kind.is_float:
        raise UnsupportedError(f"reduction: {reduction!r} of {x.kind}; expected one of {', '.join(_REALS)}")
    return _FLOATS[reduction](x, mask, correction, p)


@op(Rule.ACCUMULATING, family="scan", takes="float,int,complex", element_option=True, rows=True, axis=-1)
def masked_cumsum(x: Value, mask: Own) -> Value:
    """The running sum of the elements whose mask is true; where it is false, that so far. Integers are summed in s64 (u64)."""
    return map_parts(s.cumsum, _kept(x, mask))


@op(Rule.ACCUMULATING, family="scan", takes="float,int", element_option=True, rows=True, axis=-1)
def masked_cumprod(x: Expr, mask: Own) -> Expr:
    """The running product of the elements whose mask is true; where it is false, that so far. Integers are multiplied in s64
    (u64)."""
    return s.cumprod(select(mask, x, const(1, x.kind)))


@op(Rule.EACH, rows=True, axis=None, keepdims=False, rowless=True, takes="float,int,bool")
def hash_tensor(x: Expr) -> Expr:
    """The exclusive or, as u64, of the bits of every element converted to 64 bits: a float to f64, an integer to s64 or u64. It
    does not depend on the order of the elements, and of no element it is 0. Every NaN counts as 0x7ff8000000000000.

    Source: torch.hash_tensor with mode 0.

    Differs from PyTorch: there a NaN counts as its own bits.
    """
    if x.kind.is_float:
        quiet = const(0x7FF8000000000000, ElementKind.U64)
        bits = bitcast(cast(x, ElementKind.F64), ElementKind.U64)
        return reduce("xor", select(f.equal(x, x), bits, quiet))
    return reduce("xor", cast(x, ElementKind.U64))
