"""Numbers of events: the Poisson and the binomial distribution, by rejection.

Where few events are expected (less than `FEW`) they are counted one by one: of a Poisson distribution as long as a product of
uniform draws is above e**-rate, of a binomial one as long as a sum of waiting times, each geometric, is at most n; four words of
a turn are four draws. Where many are, by Hormann's transformed rejection with squeeze (PTRS and BTRS, 1993), two words a turn.
What is accepted without the squeeze is compared with the probability p(k) itself, by Loader's form (2000), in which nothing
cancels:

    ln p(k) = -D(k, rate) - F(k), of a binomial distribution F(n) - F(k) - F(n - k) - D(k, n p) - D(n - k, n q)
    D(k, m) = k ln(k / m) + m - k, as a series in (k - m) / (k + m) where that is below 0.1
    F(k) = ln(k!) - k ln k + k, from a table below 16, else 1/2 ln(2 pi k) + 1 / (12 k) - 1 / (360 k**3) + ...

and k - m is known without rounding m: k is the sum of a whole part of m and a whole distance from it. Integers of 32 and 64 bits
are computed in f64, f16, bf16, f32 and shorter integers in f32. Probabilities above 1/2 draw what does not happen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

from baracuda.core.elements import ElementKind
from baracuda.core.parameters import OneOf
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.elementary.gamma_draws import deviance
from baracuda.formula.elementary.pieces import horner
from baracuda.formula.expr import Expr, cast, const, fma, lookup, select
from baracuda.formula.functions import equal
from baracuda.formula.loops import State, loop
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.traced import Own
from baracuda.ops.declaration.words import Extents
from baracuda.ops.random.draws import KEY, Bits, Draw, distribution, ln
from baracuda.ops.random.gammas import draws

#: From how many events on that are expected they are drawn by transformed rejection, and the most turns of either method.
FEW, TURNS = 10.0, 64
_ANY = "... or number : real"
#: What events are counted in.
_Counted = Annotated[Any, OneOf(tuple(k for k in ElementKind if (k.is_float and k.bits >= 16) or (k.is_integer and k.bits >= 8)))]
_INFINITY, _NAN = float("inf"), float("nan")
#: F(k) for k below 16.
_FACTORIALS = tuple(math.lgamma(k + 1) - (k * math.log(k) - k if k else 0) for k in range(16))
#: The coefficients of F's series in 1/k**2, times 1/k.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)


def _of_factorial(k: Expr) -> Expr:
    """F(k) for whole k from 0 on."""
    kind = k.kind
    entry = cast(f.minimum(k, const(15, kind)), ElementKind.S32)
    small = lookup(entry, [const(x, kind).attr for x in _FACTORIALS], kind)
    large = f.maximum(k, const(16, kind))
    inverse = const(1, kind) / large
    tail = inverse * horner(inverse * inverse, _STIRLING)
    return select(k < 16.0, small, fma(ln(large * (2 * math.pi)), const(0.5, kind), tail))


def _whole_part(x: Expr) -> tuple[Expr, Expr]:
    below = f.floor(x)
    return below, x - below


def _distance(draw: Draw, turn: Expr, a: Expr, b: Expr, shift: Expr) -> tuple[Expr, Expr, Expr]:
    """Of a turn of either transformed rejection: the whole distance of the candidate, how close u is to its end, and v."""
    words = draw.turn_words(turn, 1)
    upper, near = draw.sides_of(words[0])
    u = const(0.5, draw.kind) - near
    u = select(upper, u, -u)
    return f.floor(fma(fma(a, const(2, draw.kind) / near, b), u, shift)), near, draw.above_zero_of(words[1])


def _counted(draw: Draw, few: Expr, start: Expr, going: Callable[[Expr], Expr], next_: Callable[[Expr, Expr], Expr]) -> Expr:
    """How many of the draws that follow one another keep `going`, four to a turn."""
    zero = const(0, draw.kind)

    def turned(state: State, turn: Expr) -> list[Expr]:
        x, count, _ = state
        for word in draw.turn_words(turn):
            x = next_(x, draw.above_zero_of(word))
            count = select(going(x), count + 1.0, count)
        return [x, count, going(x)]

    return loop((start, zero, few), lambda state, turn: state[2], turned, turns=TURNS)[1]


def _poisson(draw: Draw, rate: Own) -> Expr:
    mu, one = draw.of(rate), const(1, draw.kind)
    few, many = (mu > 0.0) & (mu < FEW), (mu >= FEW) & (mu < _INFINITY)
    limit = f.exp(-select(few, mu, 1.0))
    small = _counted(draw, few, one, lambda x: x > limit, lambda x, u: x * u)

    m = select(many, mu, FEW)
    base, rest = _whole_part(m)
    b = fma(const(2.53, m.kind), f.sqrt(m), const(0.931, m.kind))
    a = fma(const(0.02483, m.kind), b, const(-0.059, m.kind))
    scale = const(1.1328, m.kind) / (b - 3.4) + 1.1239
    inner = const(0.9277, m.kind) - const(3.6224, m.kind) / (b - 2.0)

    def turned(state: State, turn: Expr) -> list[Expr]:
        d, near, v = _distance(draw, turn, a, b, rest + 0.43)
        k = base + d
        within = f.maximum(k, const(0, k.kind))
        likely = -deviance(within, m, d - rest) - _of_factorial(within)
        exact = ln(v * scale / (a / (near * near) + b)) <= likely
        accepted = ((near >= 0.07) & (v <= inner)) | ((k >= 0.0) & ((near >= 0.013) | (v <= near)) & exact)
        return [k, ~accepted]

    large = loop((base, many), lambda state, turn: state[1], turned, turns=TURNS)[0]
    undefined = ~(mu >= 0.0)
    return select(undefined, _NAN, select(equal(mu, _INFINITY), _INFINITY, select(many, large, small)))


def _binomial(draw: Draw, n: Own, p: Own) -> Expr:
    count, chance, one, zero = draw.of(n), draw.of(p), const(1, draw.kind), const(0, draw.kind)
    flipped = chance > 0.5
    rare = select(flipped, one - chance, chance)
    mean = count * rare
    usual = (rare > 0.0) & (count > 0.0) & (count < _INFINITY)
    few, many = usual & (mean < FEW), usual & (mean >= FEW)
    wait = -one / f.log1p(-select(few, rare, 0.5))
    small = _counted(draw, few, zero, lambda x: x <= count, lambda x, u: x + (f.floor(f.maximum(-ln(u), zero) * wait) + 1.0))

    m, p_ = select(many, count, 40.0), select(many, rare, 0.5)
    q = one - p_
    product = m * p_
    lost = fma(m, p_, -product)
    base, rest = _whole_part(product)
    rest = rest + lost
    others = m - product
    sd = f.sqrt(product * q)
    b = fma(const(2.53, m.kind), sd, const(1.15, m.kind))
    a = fma(const(0.0248, m.kind), b, fma(const(0.01, m.kind), p_, const(-0.0873, m.kind)))
    scale = (const(5.1, m.kind) / b + 2.83) * sd
    inner = const(0.92, m.kind) - const(4.2, m.kind) / b
    mode = f.floor(fma(m, p_, p_))

    def likelihood(k: Expr, away: Expr) -> Expr:
        rest_of = m - k
        by_both = deviance(k, product, away) + deviance(rest_of, others, -away)
        return -(by_both + (_of_factorial(k) + _of_factorial(rest_of)))

    at_mode = likelihood(mode, (mode - base) - rest)

    def turned(state: State, turn: Expr) -> list[Expr]:
        d, near, v = _distance(draw, turn, a, b, rest + 0.5)
        k = base + d
        inside = (k >= 0.0) & (k <= m)
        within = f.clamp(k, zero, m)
        exact = ln(v * scale / (a / (near * near) + b)) <= likelihood(within, d - rest) - at_mode
        return [within, ~(inside & (((near >= 0.07) & (v <= inner)) | exact))]

    large = loop((base, many), lambda state, turn: state[1], turned, turns=TURNS)[0]
    happened = select(many, large, select(few, f.minimum(small, count), zero))
    defined = (count >= 0.0) & (chance >= 0.0) & (chance <= 1.0)
    endless = equal(count, _INFINITY) & (rare > 0.0)
    return select(defined, select(endless, _INFINITY, select(flipped, count - happened, happened)), _NAN)


_poisson_op, _binomial_op = distribution(_poisson, counts=True), distribution(_binomial, counts=True)


@composed(key=KEY, rate=_ANY, numbers={"rate": ()})
def poisson(
    do: Steps, key: TensorRef, rate: Any = 1.0, shape: Extents | None = None, dtype: _Counted = None, *, bits: Bits = "philox"
) -> Any:
    """Draws of the Poisson distribution of a rate: how many events happen where so many are expected.

    Below a rate of 10 by products of uniform draws, from there on by Hormann's transformed rejection (PTRS), for any rate; a
    rate of 0 gives 0, an infinite one infinity, a negative one and NaN NaN (0 in integers). The shape is that of the rate unless
    `shape` says another. The element is `dtype`, a float or an integer, by default the rate's float, or f32; floats round what
    they have no place for.

    Source: torch.poisson and jax.random.poisson.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.poisson(baracuda.rng_key(7), 3.0, shape=(2, 3)).shape
    (2, 3)
    """
    return draws(do, _poisson_op, key, shape, dtype, bits, rate=rate)


@composed(key=KEY, n=_ANY, p=_ANY, numbers={"n": (), "p": ()})
def binomial(
    do: Steps, key: TensorRef, n: Any, p: Any, shape: Extents | None = None, dtype: _Counted = None, *, bits: Bits = "philox"
) -> Any:
    """Draws of the binomial distribution: how many of n trials succeed, each with probability p.

    Where less than 10 successes (or failures, if fewer) are expected by sums of waiting times, else by Hormann's transformed
    rejection (BTRS). n = 0 or p = 0 gives 0, p = 1 n; a negative n, p outside 0 to 1 and NaN give NaN (0 in integers). The shape
    is that which the parameters broadcast to unless `shape` says another. The element is `dtype`, a float or an integer, by
    default that of the float among n and p, or f32.

    Source: torch.binomial and jax.random.binomial.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.binomial(baracuda.rng_key(7), 5, 1.0, shape=2).tolist()
    [5.0, 5.0]
    """
    return draws(do, _binomial_op, key, shape, dtype, bits, n=n, p=p)
