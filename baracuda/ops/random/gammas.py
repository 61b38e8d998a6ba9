"""The gamma distribution and those that are made of it, by rejection.

Marsaglia and Tsang (2000): with d = a - 1/3, c = 1 / sqrt(9 d) and s = c z for a normal draw z, d (1 + s)**3 is accepted where
1 + s > 0 and ln u <= 3 d (ln(1 + s) - s + s**2 / 2 - s**3 / 3) for a uniform draw u. This is the method's own condition, put so
that nothing cancels where a is large; for |s| < 0.1 the bracket is -s**4 (1/4 - s/5 + s**2/6 - ...), nine terms. Of a turn's four
words two make z, the third u, and the fourth E = -ln(u') of the boost: for a < 1 the draw is that of a + 1 times e**(-E / a).
An attempt is accepted with probability 0.95 or more; the last of `TURNS` is taken as it is, one in 10**80.

A second gamma draw of an element is its second loop. a = 0 gives 0, an infinite a infinity, a negative one NaN.
"""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.elementary.pieces import horner
from baracuda.formula.expr import Expr, const, fma, select
from baracuda.formula.functions import equal
from baracuda.formula.loops import loop
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.traced import Own
from baracuda.ops.declaration.words import Extents, FloatElement
from baracuda.ops.random.draws import KEY, Bits, Draw, distribution, drawn, in_full, kind_for, ln

#: Attempts of one draw.
TURNS = 64
_ANY = "... or number : float"
#: Below this |s| the bracket is a series, of these coefficients.
_NEAR, _SERIES = 0.1, tuple((-1.0) ** k / (k + 4) for k in range(9))
_INFINITY, _NAN = float("inf"), float("nan")


def _accepted(d: Expr, s: Expr, t: Expr, u: Expr) -> Expr:
    """Whether ln u is below the logarithm of the quotient of densities; t = 1 + s is above 0."""
    near = -(s * s) * (s * s) * horner(s, _SERIES)
    far = fma(s, fma(s, fma(s, const(-1 / 3, s.kind), const(0.5, s.kind)), const(-1, s.kind)), ln(t))
    return ln(u) <= d * 3.0 * select(abs(s) < _NEAR, near, far)


def parts(draw: Draw, a: Expr, number: int = 0) -> tuple[Expr, Expr]:
    """m and e of which the gamma draw of shape a is m e**-e; e is 0 from a = 1 on, and m not far from a elsewhere."""
    one = const(1, draw.kind)
    small = a < 1.0
    d = select(small, a + 1.0, a) - 1.0 / 3
    c = one / f.sqrt(d * 9.0)
    usual = (a >= 0.0) & (a < _INFINITY)

    def going(state: tuple[Expr, ...], turn: Expr) -> Expr:
        return state[2]

    def body(state: tuple[Expr, ...], turn: Expr) -> list[Expr]:
        words = draw.turn_words(turn, number)
        s = c * draw.normal_of(words[0], words[1])
        t = s + 1.0
        least = f.maximum(t, 2.0**-100)
        rejected = ~((t > 0.0) & _accepted(d, s, least, draw.above_zero_of(words[2])))
        return [t, draw.above_zero_of(words[3]), rejected]

    t, u, _ = loop((one, one, usual), going, body, turns=TURNS)
    m = d * (t * t * t)
    e = select(small, select(equal(a, 0.0), _INFINITY, -ln(u) / a), 0.0)
    return select(a < 0.0, _NAN, m), e


def gamma(draw: Draw, a: Expr, number: int = 0) -> Expr:
    """A draw of the gamma distribution of shape a and scale 1, by loop `number` of the element."""
    m, e = parts(draw, a, number)
    return m * f.exp(-e)


def log_gamma(draw: Draw, a: Expr, number: int = 0) -> Expr:
    """The logarithm of `gamma`, which does not underflow."""
    m, e = parts(draw, a, number)
    return f.log(m) - e


def _gamma(draw: Draw, a: Own) -> Expr:
    return gamma(draw, draw.of(a))


def _log_gamma(draw: Draw, a: Own) -> Expr:
    return log_gamma(draw, draw.of(a))


def _second_log_gamma(draw: Draw, a: Own) -> Expr:
    return log_gamma(draw, draw.of(a), 1)


def _chisquare(draw: Draw, df: Own) -> Expr:
    return gamma(draw, draw.of(df) * 0.5) * 2.0


def _student_t(draw: Draw, df: Own) -> Expr:
    half = draw.of(df) * 0.5
    m, e = parts(draw, half)
    scale = select(equal(half, _INFINITY), 1.0, f.sqrt(half / m) * f.exp(e * 0.5))
    return draw.normal() * scale


def _beta(draw: Draw, a: Own, b: Own) -> Expr:
    (x, x_down), (y, y_down) = parts(draw, draw.of(a)), parts(draw, draw.of(b), 1)
    shared = f.minimum(x_down, y_down)
    x, y = x * f.exp(shared - x_down), y * f.exp(shared - y_down)
    return x / (x + y)


def _f(draw: Draw, dfnum: Own, dfden: Own) -> Expr:
    m, n = draw.of(dfnum) * 0.5, draw.of(dfden) * 0.5
    (x, x_down), (y, y_down) = parts(draw, m), parts(draw, n, 1)
    return (x / m) / (y / n) * f.exp(y_down - x_down)


def _generalized_normal(draw: Draw, p: Own) -> Expr:
    inverse = const(1, draw.kind) / draw.of(p)
    m, e = parts(draw, inverse)
    upper, _ = draw.sides()
    x = f.exp((f.log(m) - e) * inverse)
    return select(upper, x, -x)


_gamma_op, log_gamma_op, second_log_gamma_op = map(distribution, (_gamma, _log_gamma, _second_log_gamma))
_chisquare_op, _student_op = distribution(_chisquare), distribution(_student_t)
_beta_op, _f_op, generalized_op = distribution(_beta), distribution(_f), distribution(_generalized_normal)


def draws(do: Steps, op: Any, key: TensorRef, shape: Any, dtype: Any, bits: Bits, **given: Any) -> Any:
    kind = kind_for(dtype, given)
    return drawn(do, op, key, shape, kind, bits, in_full(do, given, kind))


@composed(key=KEY, a=_ANY, numbers={"a": ()})
def gamma_sample(
    do: Steps, key: TensorRef, a: Any, shape: Extents | None = None, dtype: FloatElement = None, *, log: bool = False,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Draws of the gamma distribution of shape a and scale 1, or their logarithms, which are finite where a is so small that
    draws underflow to 0.

    By rejection (Marsaglia and Tsang 2000), each turn with words of its own. The shape is that which the parameters broadcast to
    unless `shape` says another.

    Source: torch._standard_gamma, jax.random.gamma and loggamma.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.gamma_sample(baracuda.rng_key(7), 2.0, shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, log_gamma_op if log else _gamma_op, key, shape, dtype, bits, a=a)


@composed(key=KEY, df=_ANY, numbers={"df": ()})
def chisquare_sample(
    do: Steps, key: TensorRef, df: Any, shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox"
) -> Any:
    """Draws of the chi-square distribution of df degrees of freedom: twice those of the gamma distribution of df / 2.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.chisquare_sample(baracuda.rng_key(7), 3.0, shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _chisquare_op, key, shape, dtype, bits, df=df)


@composed(key=KEY, df=_ANY, numbers={"df": ()})
def student_t_sample(
    do: Steps, key: TensorRef, df: Any, shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox"
) -> Any:
    """Draws of Student's t distribution: z sqrt(df / c), z a normal draw and c one of the chi-square distribution; z itself where
    df is infinite.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.student_t_sample(baracuda.rng_key(7), 3.0, shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _student_op, key, shape, dtype, bits, df=df)


@composed(key=KEY, a=_ANY, b=_ANY, numbers={"a": (), "b": ()})
def beta_sample(
    do: Steps, key: TensorRef, a: Any, b: Any, shape: Extents | None = None, dtype: FloatElement = None, *,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Draws of the beta distribution: x / (x + y) of gamma draws of shapes a and b, with what they have in common of a smallness
    taken out first, so that tiny shapes give 0 and 1 and not NaN.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.beta_sample(baracuda.rng_key(7), 2.0, 3.0, shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _beta_op, key, shape, dtype, bits, a=a, b=b)


@composed(key=KEY, dfnum=_ANY, dfden=_ANY, numbers={"dfnum": (), "dfden": ()})
def f_sample(
    do: Steps, key: TensorRef, dfnum: Any, dfden: Any, shape: Extents | None = None, dtype: FloatElement = None, *,
    bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Draws of the F distribution: the quotient of two chi-square draws, each over its degrees of freedom.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.f_sample(baracuda.rng_key(7), 2.0, 3.0, shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _f_op, key, shape, dtype, bits, dfnum=dfnum, dfden=dfden)


@composed(key=KEY, p=_ANY, numbers={"p": ()})
def generalized_normal_sample(
    do: Steps, key: TensorRef, p: Any, shape: Extents | None = None, dtype: FloatElement = None, *, bits: Bits = "philox"
) -> Any:
    """Draws with density proportional to e ** -|x| ** p: the 1/p-th power of gamma draws of shape 1/p, on either side.

    The shape is that which the parameters broadcast to unless `shape` says another.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.generalized_normal_sample(baracuda.rng_key(7), 3.0, shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, generalized_op, key, shape, dtype, bits, p=p)
