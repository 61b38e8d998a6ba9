"""Comparisons, tests of one number, and logic. Results are bool."""

from __future__ import annotations

from collections.abc import Callable

from baracuda.core.elements import Category, ElementKind
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, compare, const
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.traced import NonNegative, Scalar, Value

_INF = float("inf")


def equal(a: Value, b: Value) -> Expr:
    """a == b, for numbers of any category."""
    if isinstance(a, Complex) or isinstance(b, Complex):
        assert isinstance(a, Complex)
        assert isinstance(b, Complex)
        return compare("eq", a.re, b.re) & compare("eq", a.im, b.im)
    return compare("eq", a, b)


@op()
def eq(a: Value, b: Value) -> Expr:
    """a == b; false where either is NaN."""
    return equal(a, b)


@op()
def ne(a: Value, b: Value) -> Expr:
    """a != b; true where either is NaN."""
    return ~equal(a, b)


def _ordered(name: str, words: str) -> Op:
    def formula(a: Expr, b: Expr) -> Expr:
        return compare(name, a, b)

    formula.__doc__ = f"a {words} b; false where either is NaN."
    return op(name=name)(formula)


lt, le, gt, ge = (_ordered(*words) for words in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")))


def near(a: Value, b: Value, rtol: Scalar, atol: Scalar, *, equal_nan: bool) -> Expr:
    """|a - b| <= atol + rtol |b|, or a == b."""
    if isinstance(a, Expr) and isinstance(b, Expr) and not a.kind.is_float:
        a, b = cast(a, ElementKind.F64), cast(b, ElementKind.F64)
    within: Expr = abs(a - b) <= atol + rtol * abs(b)
    is_near = equal(a, b) | ((abs(b) < _INF) & within)
    return is_near | (_nan(a) & _nan(b)) if equal_nan else is_near


@op()
def isclose(a: Value, b: Value, *, rtol: NonNegative = 1e-5, atol: NonNegative = 1e-8, equal_nan: bool = False) -> Expr:
    """|a - b| <= atol + rtol |b|; infinities are close to themselves alone. Integers are compared in f64."""
    return near(a, b, rtol, atol, equal_nan=equal_nan)


def _any_part(test: Callable[[Expr], Expr], x: Value) -> Expr:
    return test(x.re) | test(x.im) if isinstance(x, Complex) else test(x)


def _never(x: Expr) -> Expr:
    return compare("ne", x, x)


def _nan(x: Value) -> Expr:
    return _any_part(lambda v: compare("ne", v, v), x)


@op()
def isnan(x: Value) -> Expr:
    """Whether x, or one of its parts, is NaN."""
    return _any_part(_never, x)


@op()
def isinf(x: Value) -> Expr:
    """Whether x, or one of its parts, is an infinity."""
    return _any_part(lambda v: f.equal(abs(v), _INF) if v.kind.is_float else _never(v), x)


@op()
def isfinite(x: Value) -> Expr:
    """Whether x, with all of its parts, is neither an infinity nor NaN."""
    return ~_any_part(lambda v: ~(abs(v) < _INF) if v.kind.is_float else _never(v), x)


@op()
def isposinf(x: Expr) -> Expr:
    """Whether x is +inf."""
    return f.equal(x, _INF) if x.kind.is_float else _never(x)


@op()
def isneginf(x: Expr) -> Expr:
    """Whether x is -inf."""
    return f.equal(x, -_INF) if x.kind.is_float else _never(x)


@op(takes="float,int,bool,complex")
def isreal(x: Value) -> Expr:
    """Whether the imaginary part is zero."""
    return f.equal(x.im, 0.0) if isinstance(x, Complex) else const(True, ElementKind.BOOL)


@op(takes="float,int,bool,complex")
def iscomplex(x: Value) -> Expr:
    """Whether the imaginary part is not zero."""
    return f.not_equal(x.im, 0.0) if isinstance(x, Complex) else const(False, ElementKind.BOOL)


# --- logic ------------------------------------------------------------------------------------------------------------


def truth(x: Value) -> Expr:
    """x != 0; NaN is true."""
    if isinstance(x, Complex):
        return f.not_equal(x.re, 0.0) | f.not_equal(x.im, 0.0)
    return x if x.kind.category is Category.BOOL else compare("ne", x, const(0, x.kind))


@op()
def logical_and(a: Value, b: Value) -> Expr:
    """Whether both are true; a number is true unless it is 0."""
    return truth(a) & truth(b)


@op()
def logical_or(a: Value, b: Value) -> Expr:
    """Whether either is true; a number is true unless it is 0."""
    return truth(a) | truth(b)


@op()
def logical_xor(a: Value, b: Value) -> Expr:
    """Whether exactly one is true; a number is true unless it is 0."""
    return truth(a) ^ truth(b)


@op()
def logical_not(x: Value) -> Expr:
    """Whether x is 0 or false."""
    return ~truth(x)
