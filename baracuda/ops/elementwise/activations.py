"""Activation functions of one tensor, and gated ones of two."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from baracuda.core.bounds import Above, Finite, OtherThan
from baracuda.formula import functions as f
from baracuda.formula.complex import FUNCTIONS, Complex
from baracuda.formula.expr import Expr, as_expr, const, select
from baracuda.formula.special_functions import softplus as softplus_of
from baracuda.ops.declaration.op import op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import NonNegative, Positive, Scalar, Value

_SQRT_HALF = 0.7071067811865476
_SQRT_2_OVER_PI = 0.7978845608028654


def _sigmoid(x: Any) -> Any:
    return FUNCTIONS["sigmoid"](x) if isinstance(x, Complex) else f.sigmoid(x)


#: How gelu is computed: exactly, or by tanh.
Approximation: TypeAlias = Literal["none", "tanh"]


def gelu_of(x: Expr, approximate: str) -> Expr:
    """The two forms of GELU."""
    if approximate == "tanh":
        return 0.5 * x * (1.0 + f.tanh(_SQRT_2_OVER_PI * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1.0 + f.erf(x * _SQRT_HALF))


# --- rectifiers -------------------------------------------------------------------------------------------------------


@op()
def relu(x: Expr) -> Expr:
    """max(x, 0); NaN stays NaN. The gradient at 0 is 0."""
    return select(x <= const(0, x.kind), const(0, x.kind), x)


@op()
def relu6(x: Expr) -> Expr:
    """min(max(x, 0), 6). The gradient at 0 and at 6 is 0."""
    zero, six = const(0, x.kind), const(6, x.kind)
    return select(x <= zero, zero, select(x >= six, six, x))


@op()
def leaky_relu(x: Expr, *, negative_slope: Scalar = 0.01) -> Expr:
    """x above 0, negative_slope * x at and below."""
    return select(x > 0.0, x, x * negative_slope)


@op()
def threshold(x: Expr, *, threshold: Scalar = 0, value: Scalar = 0) -> Expr:
    """x where it is above the threshold (or NaN), else value."""
    return select(x <= threshold, value, x)


@op(ordered=(("min", "max"),))
def hardtanh(x: Expr, *, min: Scalar = -1, max: Scalar = 1) -> Expr:
    """x limited to min ... max. The gradient at the limits is 0."""
    return select(x <= min, min, select(x >= max, max, x))


@op()
def hardshrink(x: Expr, *, lambd: NonNegative = 0.5) -> Expr:
    """0 for |x| <= lambd, else x."""
    return select(abs(x) <= lambd, 0.0, x)


@op()
def softshrink(x: Expr, *, lambd: NonNegative = 0.5) -> Expr:
    """x moved towards 0 by lambd, and 0 for |x| <= lambd."""
    return select(x > lambd, x - lambd, select(x < -lambd, x + lambd, x * 0.0))


@op()
def relu_squared(x: Expr) -> Expr:
    """max(x, 0)**2 (So et al. 2021, Primer)."""
    r = select(x <= 0.0, 0.0, x)
    return r * r


@op()
def hardsigmoid(x: Expr) -> Expr:
    """min(max(x + 3, 0), 6) / 6."""
    y = x + 3.0
    return select(y <= 0.0, 0.0, select(y >= 6.0, 1.0, y / 6.0))


@op()
def hardswish(x: Expr) -> Expr:
    """x * min(max(x + 3, 0), 6) / 6 (Howard et al. 2019)."""
    return select(x <= -3.0, x * 0.0, select(x >= 3.0, x, x * (x + 3.0) / 6.0))


# --- smooth -----------------------------------------------------------------------------------------------------------


@op()
def elu(x: Expr, *, alpha: Scalar = 1.0) -> Expr:
    """x above 0, alpha * (e**x - 1) at and below (Clevert et al. 2015)."""
    return select(x > 0.0, x, alpha * f.expm1(f.minimum(x, 0.0)))


@op()
def selu(x: Expr) -> Expr:
    """scale * elu(x, alpha) with the constants of Klambauer et al. 2017."""
    return 1.0507009873554805 * select(x > 0.0, x, 1.6732632423543772 * f.expm1(f.minimum(x, 0.0)))


@op()
def celu(x: Expr, *, alpha: Annotated[Scalar, OtherThan(0)] = 1.0) -> Expr:
    """x above 0, alpha * (e**(x / alpha) - 1) at and below (Barron 2017).

    x is multiplied by the reciprocal of alpha, as PyTorch does.
    """
    return select(x >= 0.0, x, alpha * f.expm1(_exponent(x, alpha)))


def _exponent(x: Expr, alpha: Scalar) -> Expr:
    return f.minimum(x, 0.0) * (1.0 / as_expr(alpha, x.kind))


@celu.backward
def _celu_backward(dy: Expr, x: Expr, *, alpha: Scalar = 1.0) -> dict[str, Expr]:
    return {"dx": dy * select(x >= 0.0, 1.0, f.exp(_exponent(x, alpha)))}


@op()
def gelu(x: Expr, *, approximate: Approximation = "none") -> Expr:
    """x * Phi(x) with the normal distribution's Phi (Hendrycks and Gimpel 2016); approximate="tanh" for the tanh form, which
    is the default of jax.nn and not of torch."""
    return gelu_of(x, approximate)


@op()
def quick_gelu(x: Expr) -> Expr:
    """x * sigmoid(1.702 x)."""
    return x * f.sigmoid(1.702 * x)


@op()
def silu(x: Value) -> Value:
    """x * sigmoid(x) (Elfwing et al. 2017)."""
    gate: Value = _sigmoid(x)
    return x * gate


@op()
def mish(x: Expr) -> Expr:
    """x * tanh(log(1 + e**x)) (Misra 2019), by e**x alone: tanh(log1p(e)) = e (e + 2) / (e (e + 2) + 2)."""
    e = f.exp(f.minimum(x, 20.0))
    n = e * (e + 2.0)
    return select(x > 20.0, x, x * (n / (n + 2.0)))


@op()
def softplus(x: Expr, *, beta: Positive = 1.0, threshold: Scalar = 20.0) -> Expr:
    """log(1 + e**(beta x)) / beta, and x itself where beta x is above the threshold.

    The logarithm is multiplied by the reciprocal of beta.
    """
    scaled = x * beta
    return select(scaled > threshold, x, softplus_of(scaled) * (1.0 / as_expr(beta, x.kind)))


@softplus.backward
def _softplus_backward(dy: Expr, x: Expr, *, beta: Scalar = 1.0, threshold: Scalar = 20.0) -> dict[str, Expr]:
    scaled = x * beta
    return {"dx": dy * select(scaled > threshold, 1.0, f.sigmoid(scaled))}


@op(Rule.FLOATING)
def softsign(x: Value) -> Value:
    """x / (1 + |x|)."""
    return x / (1.0 + abs(x))


@op(Rule.FLOATING)
def tanhshrink(x: Value) -> Value:
    """x - tanh(x)."""
    return x - (FUNCTIONS["tanh"](x) if isinstance(x, Complex) else f.tanh(x))


@op()
def logsigmoid(x: Expr) -> Expr:
    """log(sigmoid(x)) = min(x, 0) - log(1 + e**-|x|)."""
    return f.minimum(x, 0.0) - f.log1p(f.exp(-abs(x)))


@op()
def log1mexp(x: Expr) -> Expr:
    """log(1 - e**-x) for x > 0, by expm1 below ln 2 and by log1p above (Maechler 2012); NaN below 0."""
    return select(x < 0.6931471805599453, f.log(-f.expm1(-x)), f.log1p(-f.exp(-x)))


@op()
def squareplus(x: Expr, *, b: NonNegative = 4.0) -> Expr:
    """(x + sqrt(x**2 + b)) / 2 (Barron 2021), for x < 0 as b / (sqrt(x**2 + b) - x) / 2, which does not cancel."""
    root = f.hypot(x, f.sqrt(as_expr(b, x.kind)))
    return select(x < 0.0, 0.5 * b / (root - x), 0.5 * x + 0.5 * root)


@op()
def sparse_plus(x: Expr) -> Expr:
    """0 below -1, x above 1, (x + 1)**2 / 4 between."""
    return select(x <= -1.0, 0.0, select(x >= 1.0, x, (x + 1.0) * (x + 1.0) * 0.25))


@op()
def sparse_sigmoid(x: Expr) -> Expr:
    """0 below -1, 1 above 1, (x + 1) / 2 between."""
    return select(x <= -1.0, 0.0, select(x >= 1.0, 1.0, (x + 1.0) * 0.5))


@op()
def softcap(x: Expr, *, cap: Annotated[Scalar, Above(0), Finite()] = 30.0) -> Expr:
    """cap * tanh(x / cap): a soft limit of the logits (Gemma 2)."""
    return cap * f.tanh(x / cap)


@op()
def snake(x: Expr, a: Expr) -> Expr:
    """x + sin(a x)**2 / a (Ziyin et al. 2020); a broadcasts, for example one a channel."""
    s = f.sin(a * x)
    return x + s * s / a


@op()
def dyt(x: Expr, alpha: Expr, weight: Expr, bias: Expr) -> Expr:
    """weight * tanh(alpha x) + bias (Zhu et al. 2025, dynamic tanh)."""
    return weight * f.tanh(alpha * x) + bias


@op()
def rrelu(x: Expr, slope: Expr) -> Expr:
    """x at and above 0, slope * x below; the random slopes are given (in evaluation, (lower + upper) / 2).

    Differs from PyTorch: there their bounds are given, and the slopes drawn.
    """
    return select(x >= 0.0, x, x * slope)


@op()
def prelu(x: Expr, weight: Expr) -> Expr:
    """x above 0, weight * x at and below; weight broadcasts to x, for example with shape (channels, 1, 1).

    Differs from PyTorch: there a weight of several elements lies along the second axis.
    """
    return select(x > 0.0, x, weight * x)


@op()
def bias_gelu(x: Expr, bias: Expr, *, approximate: Approximation = "none") -> Expr:
    """gelu(x + bias)."""
    return gelu_of(x + bias, approximate)


@op()
def bias_silu(x: Expr, bias: Expr) -> Expr:
    """silu(x + bias)."""
    z = x + bias
    return z * f.sigmoid(z)


# --- gated: of two halves, given as two tensors (views of one, where they lie in one) ---------------------------------


@op()
def glu(a: Expr, b: Expr) -> Expr:
    """a * sigmoid(b) (Dauphin et al. 2016).

    Differs from PyTorch: a and b are two tensors, there they are halves of one.
    """
    return a * f.sigmoid(b)


@op()
def swiglu(a: Expr, b: Expr) -> Expr:
    """silu(a) * b (Shazeer 2020)."""
    return a * f.sigmoid(a) * b


@op()
def geglu(a: Expr, b: Expr, *, approximate: Approximation = "none") -> Expr:
    """gelu(a) * b (Shazeer 2020)."""
    return gelu_of(a, approximate) * b


@op()
def reglu(a: Expr, b: Expr) -> Expr:
    """relu(a) * b (Shazeer 2020)."""
    return select(a <= 0.0, 0.0, a) * b


@op()
def bilinear_glu(a: Expr, b: Expr) -> Expr:
    """a * b (Shazeer 2020)."""
    return a * b


@op()
def swiglu_clamped(a: Expr, b: Expr, *, alpha: Scalar = 1.702, limit: NonNegative = 7.0) -> Expr:
    """g * sigmoid(alpha g) * (u + 1) with g = min(a, limit) and u = b limited to -limit ... limit (gpt-oss)."""
    gate, up = f.minimum(a, limit), f.clamp(b, -limit, limit)
    return gate * f.sigmoid(alpha * gate) * (up + 1.0)
