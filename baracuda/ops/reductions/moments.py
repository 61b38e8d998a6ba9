"""Variances and standard deviations, over any set of axes at once."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import Finite
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, select
from baracuda.formula.pooling import pooled_squares
from baracuda.ops.declaration.op import map_parts, op
from baracuda.ops.declaration.traced import Scalar, Value
from baracuda.ops.reductions.reductions import REDUCTION, count_of, is_nan, present, square_of

#: PyTorch's third by position is unbiased, a way to say correction that there is not here.
_MOMENTS: dict[str, Any] = {**REDUCTION, "positions": ("axis",)}


def _moments(x: Value, correction: Scalar) -> tuple[Expr, Value]:
    """Variance and mean; the variance from the deviations, NaN where the divisor is not positive."""
    average: Value = map_parts(f.sum_, x) / count_of(x)
    mean_parts = (average.re, average.im) if isinstance(average, Complex) else (average,)
    deviations = pooled_squares(square_of(x - average), count_of(x), *mean_parts)
    return deviations / f.maximum(count_of(x) - correction, 0.0), average


@op(**_MOMENTS)
def var(x: Value, *, correction: Annotated[Scalar, Finite()] = 0.0) -> Expr:
    """sum |x - mean|**2 / (n - correction); correction is 0 as in NumPy and the array API.

    Differs from PyTorch: its correction is 1 unless given.
    """
    return _moments(x, correction)[0]


@op(saves=("y",), **_MOMENTS)
def std(x: Value, *, correction: Annotated[Scalar, Finite()] = 0.0) -> Expr:
    """The square root of `var`.

    Differs from PyTorch: its correction is 1 unless given, and the gradient of a row that does not vary is NaN, here 0.
    """
    return f.root(_moments(x, correction)[0])


@op(results=("variance", "average"), **_MOMENTS)
def var_mean(x: Value, *, correction: Annotated[Scalar, Finite()] = 0.0) -> tuple[Value, Value]:
    """`var` and `mean`, in one pass over memory where a row fits on the chip, or is long enough to be cut into blocks.

    Differs from PyTorch: its correction is 1 unless given.
    """
    return _moments(x, correction)


@op(results=("deviation", "average"), **_MOMENTS)
def std_mean(x: Value, *, correction: Annotated[Scalar, Finite()] = 0.0) -> tuple[Value, Value]:
    """`std` and `mean`, in one pass over memory as `var_mean`.

    Differs from PyTorch: its correction is 1 unless given.
    """
    variance, average = _moments(x, correction)
    return f.root(variance), average


def _nan_variance(x: Expr, correction: Scalar) -> Expr:
    gone, count = is_nan(x), present(x)
    average = f.sum_(select(gone, 0.0, x)) / count
    d = select(gone, 0.0, x - average)
    return pooled_squares(d * d, count, average) / select(count > correction, count - correction, float("nan"))


@op(**_MOMENTS)
def nanvar(x: Expr, *, correction: Annotated[Scalar, Finite()] = 0.0) -> Expr:
    """The variance of what is not NaN; NaN where no more than `correction` elements are left."""
    return _nan_variance(x, correction)


@op(**_MOMENTS)
def nanstd(x: Expr, *, correction: Annotated[Scalar, Finite()] = 0.0) -> Expr:
    """The square root of `nanvar`."""
    return f.root(_nan_variance(x, correction))
