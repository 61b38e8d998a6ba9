"""Reductions over any set of axes at once: sums, products, extremes, logic, exponentials, norms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from baracuda.core.bounds import OtherThan
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.formula import complex_scans
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.complex_functions import FUNCTIONS
from baracuda.formula.expr import Expr, as_expr, cast, const, reduce, select
from baracuda.formula.host import HostNumber
from baracuda.formula.pooling import pooled
from baracuda.ops.declaration.op import Op, map_parts, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Host, NonNegative, Own, Scalar, Value
from baracuda.ops.elementwise.comparisons import equal, near, truth

#: What every reduction of the array API has in common.
REDUCTION: dict[str, Any] = {"rows": True, "axis": None, "keepdims": False, "rowless": True}


def count_of(x: Value) -> Expr:
    """The number of elements of a row, in the kind of x."""
    return f.row_length(x.kind)


# --- sums and products ------------------------------------------------------------------------------------------------


@op(Rule.ACCUMULATING, element_option=True, **REDUCTION)
def sum_(x: Value) -> Value:
    """The sum. Integers and bool are summed in s64 (u64) unless dtype says otherwise."""
    return map_parts(f.sum_, x)


@op(Rule.ACCUMULATING, element_option=True, **REDUCTION)
def prod(x: Value) -> Value:
    """The product, in the canonical order; of complex numbers the last of the running products. Integers and bool are multiplied
    in s64 (u64) unless dtype says otherwise."""
    return complex_scans.prod(x) if isinstance(x, Complex) else f.prod(x)


@prod.backward
def _prod_backward(dy: Value, x: Value) -> dict[str, Value]:
    if isinstance(x, Complex):
        assert isinstance(dy, Complex)
        return {"dx": complex_scans.prod_backward(dy, x)}
    assert isinstance(dy, Expr)
    return {"dx": _slope_of_product(dy, x)}


def _slope_of_product(dy: Expr, x: Expr) -> Expr:
    """dy times the product of the others: with one zero in the row only that element has a gradient, with more none has."""
    zero = f.equal(x, 0.0)
    return dy * slope_of_factor(x, f.prod(select(zero, 1.0, x)), f.sum_(cast(zero, x.kind)))


@prod.backward_again
def _prod_backward_again(dy: Expr, x: Expr) -> dict[str, Expr]:
    """The same, with what is zero because another factor is zero written as a multiple of that factor: of the sum of the zeros,
    whose value is 0 and whose slope by each of them is 1."""
    zero = f.equal(x, 0.0)
    rest = select(zero, 1.0, x)
    zeros, others, missing = f.sum_(cast(zero, x.kind)), f.prod(rest), f.sum_(select(zero, x, 0.0))
    one = f.equal(zeros, 1.0)
    of_zero = select(one, others, select(f.equal(zeros, 2.0), others * (missing - x), 0.0))
    of_rest = others / rest * select(f.equal(zeros, 0.0), 1.0, select(one, missing, 0.0))
    return {"dx": dy * select(zero, of_zero, of_rest)}


def slope_of_factor(x: Expr, others: Expr, zeros: Expr) -> Expr:
    """The product of all factors but x, given that of all that are not zero and how many are."""
    without = select(f.equal(zeros, 0.0), others / x, 0.0)
    return select(f.equal(x, 0.0), select(f.equal(zeros, 1.0), others, 0.0), without)


@op(Rule.FLOATING, element_option=True, takes="float,int,bool,complex", **REDUCTION)
def mean(x: Value) -> Value:
    """The sum over the number of elements; NaN over none."""
    return map_parts(f.sum_, x) / count_of(x)


@op(**REDUCTION)
def reduce_sum_square(x: Expr) -> Expr:
    """The sum of squares."""
    return f.sum_(x * x)


@op(extra=("total",), saves=("total",), results=("y", "total"), **REDUCTION)
def reduce_log_sum(x: Expr) -> tuple[Expr, Expr]:
    """The logarithm of the sum.

    Of the row only its sum is left to the gradient, in `total`, which `saved=True` asks for.
    """
    total = f.sum_(x)
    return f.log(total), total


@reduce_log_sum.backward
def _reduce_log_sum_backward(dy: Expr, total: Expr) -> dict[str, Expr]:
    return {"dx": dy / total}


# --- extremes ---------------------------------------------------------------------------------------------------------


@op(saves=("y",), **REDUCTION)
def max_(x: Expr) -> Expr:
    """The largest element; NaN if one is NaN. Ties share the gradient equally. Over no element: -inf, or the least integer.

    Differs from PyTorch: with an axis its max gives indices too, as `argmax` does, and over no element it raises. This is amax.
    """
    return f.max_(x)


@op(saves=("y",), **REDUCTION)
def min_(x: Expr) -> Expr:
    """The smallest element; NaN if one is NaN. Ties share the gradient equally. Over no element: +inf, or the largest integer.

    Differs from PyTorch: with an axis its min gives indices too, as `argmin` does, and over no element it raises. This is amin.
    """
    return f.min_(x)


Tensors: TypeAlias = "Mapping[str, tuple[tuple[int, ...], ElementKind]]"


def over_something(tensors: Tensors, axes: tuple[int, ...], options: Mapping[str, Any]) -> None:
    """Raise where a row has no element, and so none that is the largest, but there are rows."""
    for name, (shape, _) in tensors.items():
        rows = [n for a, n in enumerate(shape) if a not in axes]
        if all(rows) and not all(shape):
            raise InvalidProblemError(f"{name}: shape is {shape}; expected an element or more along {axes}, to name one of them")


@op(results=("smallest", "largest"), saves=("smallest", "largest"), check=over_something, **REDUCTION)
def aminmax(x: Expr) -> tuple[Expr, Expr]:
    """The smallest and the largest element, in one pass; there must be one."""
    return f.min_(x), f.max_(x)


@op(check=over_something, **REDUCTION)
def ptp(x: Expr) -> Expr:
    """The largest element minus the smallest; there must be one."""
    return f.max_(x) - f.min_(x)


# --- logic and counts -------------------------------------------------------------------------------------------------


@op(**REDUCTION)
def all_(x: Value) -> Expr:
    """Whether every element is true; a number is true unless it is 0."""
    return reduce("and", truth(x))


@op(**REDUCTION)
def any_(x: Value) -> Expr:
    """Whether some element is true; a number is true unless it is 0."""
    return reduce("or", truth(x))


@op(**REDUCTION)
def reduce_xor(x: Expr) -> Expr:
    """Exclusive or of the bits; on bool, whether an odd number is true."""
    return reduce("xor", x)


@op(**REDUCTION)
def count_nonzero(x: Value) -> Expr:
    """How many elements are not 0, as s64; NaN counts."""
    return f.sum_(cast(truth(x), ElementKind.S64))


@op(**REDUCTION, results=("y", "infinite"))
def all_finite_check(x: Expr, *, scale: Scalar = 1.0) -> tuple[Expr, Expr]:
    """x * scale, and whether some element of x is infinite or NaN: the unscaling step of loss scaling."""
    return x * scale, reduce("or", ~(abs(x) < float("inf")))


@op(takes="float,int,complex", positions=("rtol", "atol", "equal_nan"), **REDUCTION)
def allclose(a: Value, b: Value, *, rtol: NonNegative = 1e-5, atol: NonNegative = 1e-8, equal_nan: bool = False) -> Expr:
    """Whether every element `isclose`.

    Differs from PyTorch: the result is a tensor, nothing is waited for.
    """
    return reduce("and", near(a, b, rtol, atol, equal_nan=equal_nan))


@op(**REDUCTION)
def array_equiv(a: Value, b: Value) -> Expr:
    """Whether every element of a equals that of b, after broadcasting; NaN equals nothing."""
    return reduce("and", equal(a, b))


def _same_shape(tensors: Tensors, axes: tuple[int, ...], options: Mapping[str, Any]) -> None:
    shapes = [shape for shape, _ in tensors.values()]
    if len(set(shapes)) > 1:
        raise InvalidProblemError(f"array_equal: shapes {shapes[0]} and {shapes[1]}; expected the same (see array_equiv)")


@op(check=_same_shape, **REDUCTION)
def array_equal(a: Value, b: Value) -> Expr:
    """Whether every element of a equals that of b, which has the same shape; NaN equals nothing."""
    return reduce("and", equal(a, b))


# --- without NaN ------------------------------------------------------------------------------------------------------


def is_nan(x: Expr) -> Expr:
    return f.not_equal(x, x)


def present(x: Expr) -> Expr:
    """How many elements are not NaN."""
    return f.sum_(cast(~is_nan(x), x.kind))


@op(Rule.ACCUMULATING, element_option=True, **REDUCTION)
def nansum(x: Expr) -> Expr:
    """The sum of what is not NaN."""
    return f.sum_(select(is_nan(x), const(0, x.kind), x)) if x.kind.is_float else f.sum_(x)


@op(**REDUCTION)
def nanprod(x: Expr) -> Expr:
    """The product of what is not NaN."""
    return f.prod(select(is_nan(x), 1.0, x))


@nanprod.backward
def _nanprod_backward(dy: Expr, x: Expr) -> dict[str, Expr]:
    return {"dx": select(is_nan(x), 0.0, _slope_of_product(dy, select(is_nan(x), 1.0, x)))}


@nanprod.backward_again
def _nanprod_backward_again(dy: Expr, x: Expr) -> dict[str, Expr]:
    (plain,) = _prod_backward_again(dy, select(is_nan(x), 1.0, x)).values()
    return {"dx": select(is_nan(x), 0.0, plain)}


@op(**REDUCTION)
def nanmean(x: Expr) -> Expr:
    """The mean of what is not NaN; NaN where nothing is."""
    return f.sum_(select(is_nan(x), 0.0, x)) / present(x)


@op(**REDUCTION)
def nanmax(x: Expr) -> Expr:
    """The largest of what is not NaN; NaN where nothing is."""
    return select(f.equal(present(x), 0.0), float("nan"), f.max_(select(is_nan(x), float("-inf"), x)))


@op(**REDUCTION)
def nanmin(x: Expr) -> Expr:
    """The smallest of what is not NaN; NaN where nothing is."""
    return select(f.equal(present(x), 0.0), float("nan"), f.min_(select(is_nan(x), float("inf"), x)))


def square_of(d: Value) -> Expr:
    """The square of a number's modulus."""
    return d.re * d.re + d.im * d.im if isinstance(d, Complex) else d * d


# --- exponentials and norms -------------------------------------------------------------------------------------------


def log_sum_exp(x: Expr) -> Expr:
    """log(sum e**x) of a row, by its largest element."""
    top = f.max_(x)
    shift = select(abs(top) < float("inf"), top, 0.0)

    def recentred(part: Expr, own: Sequence[Expr], whole: Sequence[Expr]) -> Expr:
        return part * f.exp(own[0] - whole[1])  # of a block of nothing but -inf 0, whatever the row's shift

    return f.log(pooled(f.sum_(f.exp(x - shift)), recentred, top, shift)) + shift


def _finite(x: Expr) -> Expr:
    return select(abs(x) < float("inf"), x, 0.0)


@op(Rule.FLOATING, takes="float,int,complex", saves=("y",), **REDUCTION)
def logsumexp(x: Value) -> Value:
    """log(sum e**x), by the largest element, of complex numbers by the largest real part; -inf over nothing but -inf, +inf with
    a +inf."""
    if not isinstance(x, Complex):
        return log_sum_exp(x)
    shift = _finite(f.max_(x.re))
    total = map_parts(f.sum_, FUNCTIONS["exp"](x - shift))
    return FUNCTIONS["log"](total) + shift  # type: ignore[no-any-return]


@logsumexp.backward
def _logsumexp_backward(dy: Value, x: Value, y: Value) -> dict[str, Value]:
    if isinstance(x, Complex):
        assert isinstance(y, Complex)
        share: Complex = FUNCTIONS["exp"](x - Complex(_finite(y.re), y.im))
        return {"dx": dy * share.conjugate()}
    assert isinstance(y, Expr)
    return {"dx": dy * f.exp(x - _finite(y))}


@op(**REDUCTION)
def logmeanexp(x: Expr) -> Expr:
    """log(mean e**x)."""
    return log_sum_exp(x) - f.log(count_of(x))


@logmeanexp.backward
def _logmeanexp_backward(dy: Expr, x: Expr) -> dict[str, Expr]:
    e = f.exp(x - f.max_(x))
    return {"dx": dy * e / f.sum_(e)}


#: The order of a norm: any number, at run time but for those of `ORDERS`.
Order: TypeAlias = Annotated[Host, OtherThan(math.nan)]
#: The orders that a norm has a form of its own for, or its gradient, where the powers are products.
ORDERS = (0, 1, 2, math.inf, -math.inf, 3, 4, 1 / 2, 1 / 3, 1 / 4)


def norm_of(x: Value, order: Order) -> Expr:
    """The norm of a row. Its gradient is 0 where it is 0."""
    size = abs(x)
    if isinstance(order, HostNumber):
        total = f.sum_(f.pow_(size, order))
        nothing = f.equal(total, 0.0) & (as_expr(order, size.kind) > 0.0)
        return select(nothing, 0.0, f.pow_(total, 1.0 / order))
    if order == float("inf"):
        return f.max_(size)
    if order == float("-inf"):
        return f.min_(size)
    if order == 0:
        return f.sum_(cast(f.not_equal(size, 0.0), size.kind))
    if order == 1:
        return f.sum_(size)
    if order == 2:
        return f.root(f.sum_(square_of(x)))
    total = f.sum_(f.pow_(size, float(order)))
    norm = f.pow_(total, 1.0 / order)
    return select(f.equal(total, 0.0), 0.0, norm) if order > 0 else norm


@op(Rule.FLOATING, saves=("y",), literals={"p": ORDERS}, positions=("p", "axis", "keepdims"), **REDUCTION)
def vector_norm(x: Value, *, p: Order = 2) -> Expr:
    """(sum |x|**p)**(1/p); the largest or smallest |x| for inf and -inf, how many are not 0 for 0."""
    return norm_of(x, p)


@op(Rule.FLOATING, saves=("y",), literals={"p": ORDERS}, positions=("p",), **REDUCTION)
def dist(a: Value, b: Value, *, p: Order = 2) -> Expr:
    """`vector_norm` of a - b with order p."""
    return norm_of(a - b, p)


# --- under a mask -----------------------------------------------------------------------------------------------------


def _masked(name: str, words: str) -> Op:
    def formula(x: Expr, mask: Own) -> Expr:
        if name == "sum":
            return f.sum_(select(mask, x, const(0, x.kind)))
        if name == "prod":
            return f.prod(select(mask, x, const(1, x.kind)))
        if name == "mean":
            return f.sum_(select(mask, x, 0.0)) / f.sum_(cast(mask, x.kind))
        return reduce(name, select(mask, x, extreme_of(x.kind, name)))

    formula.__doc__ = f"The {words} of the elements whose mask is true."
    category = "float" if name in ("mean", "prod") else "float,int"
    return op(name=f"masked_{name}", family="reduction", takes=category, **REDUCTION)(formula)


def extreme_of(kind: ElementKind, name: str) -> Expr:
    """What a max or a min over nothing gives: the least or the largest number of a kind."""
    if kind.is_float:
        return const(float("-inf") if name == "max" else float("inf"), kind)
    bits, signed = kind.bits, kind.category is Category.SIGNED
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return const(low if name == "max" else high, kind)


for _name, _words in {"sum": "sum", "prod": "product", "mean": "mean", "max": "largest", "min": "smallest"}.items():
    _masked(_name, _words)
