"""Window functions: rows of n numbers, each computed in float64 and rounded once.

With N = n where a window is periodic, so that it continues as one of n + 1 numbers would, and N = n - 1 where it is symmetric,
number k of a sum of cosines is a_0 - a_1 cos(2 pi k / N) + a_2 cos(4 pi k / N) - ..., added in this order. A window of one number
is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord
from baracuda.formula.special_functions import i0e
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Scalar, Stored
from baracuda.ops.declaration.words import Count, FiniteFloat, FloatElement, PositiveFloat

_F64 = ElementKind.F64
INTERNAL: dict[str, Any] = {"family": "signal", "takes": "any", "differentiable": False}


def _place() -> Expr:
    return cast(coord(0), _F64)


def _number(value: Any) -> Expr:
    return as_expr(value, _F64)


def _stored(value: Expr, element: ElementKind | None) -> Stored:
    assert element is not None
    return Stored(cast(value, element.compute), element)


def _cosines(
    x: Expr, total: Expr, *, period: Scalar = 1.0, first: Scalar = 0.0, a0: Scalar = 0.0, a1: Scalar = 0.0, a2: Scalar = 0.0,
    a3: Scalar = 0.0, element: ElementKind | None,
) -> Result:  # fmt: skip
    """The total so far and four terms more, of an even number of those before."""
    for i, a in enumerate((a0, a1, a2, a3)):
        angle = (_place() * (_number(first) + float(i))) / _number(period) * const(2 * math.pi, _F64)
        term = _number(a) * f.cos(angle)
        total = total - term if i % 2 else total + term
    return _stored(total, element)


def _zero(x: Expr, *, element: ElementKind | None) -> Result:
    return _stored(const(0.0, _F64), element)


def _bartlett(x: Expr, *, period: Scalar = 1.0, element: ElementKind | None) -> Result:
    return _stored(1.0 - abs((_place() + _place()) / _number(period) - 1.0), element)


def _sine(x: Expr, *, period: Scalar = 1.0, element: ElementKind | None) -> Result:
    return _stored(f.sin((_place() + 0.5) / _number(period) * const(math.pi, _F64)), element)


def _decay(x: Expr, *, center: Scalar = 0.0, tau: Scalar = 1.0, element: ElementKind | None) -> Result:
    return _stored(f.exp(-(abs(_place() - _number(center)) / _number(tau))), element)


def _bell(x: Expr, *, center: Scalar = 0.0, width: Scalar = 1.0, element: ElementKind | None) -> Result:
    t = (_place() - _number(center)) / _number(width)
    return _stored(f.exp(-(t * t) * 0.5), element)


def kaiser_of(t: Expr, beta: Expr) -> Expr:
    """I0(beta sqrt(1 - t * t)) / I0(beta), both scaled alike so that neither overflows."""
    root = f.sqrt(f.maximum((1.0 - t) * (1.0 + t), 0.0))
    return i0e(beta * root) / i0e(beta) * f.exp(beta * root - beta)


def _kaiser(x: Expr, *, period: Scalar = 1.0, beta: Scalar = 0.0, element: ElementKind | None) -> Result:
    t = (_place() + _place()) / _number(period) - 1.0
    return _stored(kaiser_of(t, _number(beta)), element)


def _op(formula: Callable[..., Any]) -> Op:
    return Op(formula, Rule.EACH, name=f"{formula.__name__[1:]}_window_of", element_option=True, **INTERNAL)


_cosines_op, _zero_op, _bartlett_op, _sine_op = _op(_cosines), _op(_zero), _op(_bartlett), _op(_sine)
_decay_op, _bell_op, _kaiser_op = _op(_decay), _op(_bell), _op(_kaiser)


def _made(do: Steps, n: int, dtype: Any, op: Op, **numbers: float) -> Any:
    y = do.rows((n,), dtype or ElementKind.F32)
    if n == 1:
        do.fill(y, 1)
    elif n:
        do.run(op, {"x": as_bits(y)}, y, dtype=y.kind, **{k: float(v) for k, v in numbers.items()})
    return y


def cosine_sum(do: Steps, n: int, coefficients: Sequence[float], periodic: bool, dtype: Any) -> Any:
    """The sum of cosines with such coefficients."""
    y = do.rows((n,), dtype or ElementKind.F32)
    if n == 1:
        do.fill(y, 1)
    if n < 2:
        return y
    total: Any = do.run(_zero_op, {"x": as_bits(y)}, do.rows((n,), _F64), dtype=_F64)
    for first in range(0, len(coefficients), 4):
        terms = {f"a{i}": float(a) for i, a in enumerate(coefficients[first : first + 4])}
        into = y if first + 4 >= len(coefficients) else do.rows((n,), _F64)
        numbers = {"period": float(n if periodic else n - 1), "first": float(first), **terms}
        total = do.run(_cosines_op, {"x": as_bits(y), "total": total}, into, dtype=into.kind, **numbers)
    return y


@composed(like="?", creates=True)
def bartlett_window(do: Steps, like: TensorRef, n: Count, periodic: bool = True, dtype: FloatElement | None = None) -> Any:
    """1 - |2k / N - 1|, a triangle with zeros at its ends; N is n, or n - 1 where it is not periodic. Its element is `dtype`, by
    default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.bartlett_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _made(do, n, dtype, _bartlett_op, period=n if periodic else n - 1)


@composed(like="?", creates=True)
def blackman_window(do: Steps, like: TensorRef, n: Count, periodic: bool = True, dtype: FloatElement | None = None) -> Any:
    """0.42 - 0.5 cos(2 pi k / N) + 0.08 cos(4 pi k / N); N is n, or n - 1 where it is not periodic. Its element is `dtype`, by
    default f32.

    Examples
    --------
    >>> import baracuda
    >>> round(float(baracuda.blackman_window(4)[1]), 4)
    0.34
    """
    return cosine_sum(do, n, (0.42, 0.5, 0.08), periodic, dtype)


@composed(like="?", creates=True)
def hann_window(do: Steps, like: TensorRef, n: Count, periodic: bool = True, dtype: FloatElement | None = None) -> Any:
    """0.5 - 0.5 cos(2 pi k / N); N is n, or n - 1 where it is not periodic. Its element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.hann_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return cosine_sum(do, n, (0.5, 0.5), periodic, dtype)


@composed(like="?", creates=True)
def hamming_window(
    do: Steps,
    like: TensorRef,
    n: Count,
    periodic: bool = True,
    alpha: FiniteFloat = 0.54,
    beta: FiniteFloat = 0.46,
    dtype: FloatElement | None = None,
) -> Any:
    """alpha - beta cos(2 pi k / N); N is n, or n - 1 where it is not periodic. Its element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.hamming_window(4, alpha=0.5, beta=0.5).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return cosine_sum(do, n, (alpha, beta), periodic, dtype)


@composed(like="?", creates=True)
def general_hamming_window(
    do: Steps, like: TensorRef, n: Count, periodic: bool = False, alpha: FiniteFloat = 0.54, dtype: FloatElement | None = None
) -> Any:
    """alpha - (1 - alpha) cos(2 pi k / N); N is n - 1, or n where it is periodic. Its element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.general_hamming_window(3, alpha=0.5).tolist()
    [0.0, 1.0, 0.0]
    """
    return cosine_sum(do, n, (alpha, 1.0 - alpha), periodic, dtype)


@composed(like="?", creates=True)
def general_cosine_window(
    do: Steps, like: TensorRef, n: Count, a: Sequence[float], periodic: bool = False, dtype: FloatElement | None = None
) -> Any:
    """a[0] - a[1] cos(2 pi k / N) + a[2] cos(4 pi k / N) - ..., added in this order; N is n - 1, or n where it is periodic. Its
    element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.general_cosine_window(3, (0.5, 0.5)).tolist()
    [0.0, 1.0, 0.0]
    """
    if not a:
        raise InvalidProblemError("a: it is empty; expected one coefficient or more")
    return cosine_sum(do, n, a, periodic, dtype)


@composed(like="?", creates=True)
def nuttall_window(do: Steps, like: TensorRef, n: Count, periodic: bool = False, dtype: FloatElement | None = None) -> Any:
    """The sum of cosines with the coefficients 0.3635819, 0.4891775, 0.1365995 and 0.0106411 (`general_cosine_window`). Its
    element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> round(float(baracuda.nuttall_window(3)[1]), 4)
    1.0
    """
    return cosine_sum(do, n, (0.3635819, 0.4891775, 0.1365995, 0.0106411), periodic, dtype)


@composed(like="?", creates=True)
def cosine_window(do: Steps, like: TensorRef, n: Count, periodic: bool = False, dtype: FloatElement | None = None) -> Any:
    """sin(pi (k + 1/2) / n), or over n + 1 where it is periodic. Its element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.cosine_window(3).tolist()[1]
    1.0
    """
    return _made(do, n, dtype, _sine_op, period=n + periodic)


@composed(like="?", creates=True)
def exponential_window(
    do: Steps,
    like: TensorRef,
    n: Count,
    periodic: bool = False,
    center: FiniteFloat | None = None,
    tau: PositiveFloat = 1.0,
    dtype: FloatElement | None = None,
) -> Any:
    """exp(-|k - center| / tau), the center by default the middle, N / 2; N is n - 1, or n where it is periodic. Its element is
    `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.exponential_window(3).tolist()[1]
    1.0
    """
    return _made(do, n, dtype, _decay_op, center=(n - (not periodic)) / 2 if center is None else center, tau=tau)


@composed(like="?", creates=True)
def gaussian_window(
    do: Steps, like: TensorRef, n: Count, periodic: bool = False, std: PositiveFloat = 1.0, dtype: FloatElement | None = None
) -> Any:
    """exp(-((k - N / 2) / std)**2 / 2); N is n - 1, or n where it is periodic. Its element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.gaussian_window(3).tolist()[1]
    1.0
    """
    return _made(do, n, dtype, _bell_op, center=(n - (not periodic)) / 2, width=std)


@composed(like="?", creates=True)
def kaiser_window(
    do: Steps,
    like: TensorRef,
    n: Count,
    periodic: bool = True,
    beta: Annotated[float, AtLeast(0), Finite()] = 12.0,
    dtype: FloatElement | None = None,
) -> Any:
    """I0(beta sqrt(1 - (2k / N - 1)**2)) / I0(beta), with the modified Bessel function I0; N is n, or n - 1 where it is not
    periodic. Its element is `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.kaiser_window(4).tolist()[2]
    1.0
    """
    return _made(do, n, dtype, _kaiser_op, period=n if periodic else n - 1, beta=beta)
