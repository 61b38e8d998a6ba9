"""The arithmetic of sampling as formulas, which both devices lower: `problem.py` has their order."""

from __future__ import annotations

from functools import cache

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.counters import philox_4x32, threefry_2x32, words_of
from baracuda.formula.elementary.exponential import exp_moderate
from baracuda.formula.expr import Expr, bitcast, cast, const, param, select, unary
from baracuda.formula.integer_functions import multiply_high

F32, F64, U32, S32, U64, S64 = (
    ElementKind.F32, ElementKind.F64, ElementKind.U32, ElementKind.S32, ElementKind.U64, ElementKind.S64,
)  # fmt: skip
#: Weights are whole numbers over this; what is summed for mu over this; what is summed for sigma times this.
ONE, MEAN_ONE, STEP = 2.0**31, 2.0**32, 2.0**12
#: The largest v that has a weight; the largest that counts for sigma.
_DEEPEST, FARTHEST = 80.0, 1024.0
#: A v from which on the weight is 0: e**-23 * 2**31 is below 1/4.
FADED = 23.0
_LARGEST = 3.4028234663852886e38
#: A level that no element has: those that are out.
OUT = 0xFFFFFFFF

LOGIT, TOP, TEMPERATURE = (param(n, F32) for n in ("logit", "top", "temperature"))
X, M, V, E, MU = (param(n, F32) for n in ("x", "m", "v", "e", "mu"))


def _within(x: Expr) -> Expr:
    return f.minimum(x, _LARGEST)


#: A logit as it counts.
LOGIT_HELD = _within(LOGIT)
#: x of a logit, by a temperature above 0.
X_OF = f.maximum(_within(LOGIT / TEMPERATURE), -_LARGEST)


def _ordered(x: Expr) -> Expr:
    """A whole number of 32 bits that is the larger the larger x is; -0 equals +0."""
    bits = bitcast(select(f.equal(x, 0.0), const(0, F32), x), U32)
    negative = f.not_equal(bits >> 31, 0)
    return select(negative, bits ^ 0xFFFFFFFF, bits | 0x80000000)


#: How far below m an x is, in representable numbers.
LEVEL_OF = _ordered(M) - _ordered(X)
#: The same of |v - mu|.
TYPICAL_LEVEL_OF = bitcast(abs(V - MU), U32)

_HELD = f.minimum(V, _DEEPEST)
E_OF = f.minimum(exp_moderate(-_HELD), 1.0)
#: e of a probability.
SHARE_OF = LOGIT / TOP
WEIGHT_OF = cast(unary("rint", E * ONE), U32)
MEAN_TERM_OF = cast(unary("rint", E * _HELD * MEAN_ONE), U32)
#: q of sigma, of a v that counts.
STEPS_OF = cast(unary("rint", V * STEP), U32)

S1, S2, COUNT, W, R, WORD = (param(n, U64) for n in ("s1", "s2", "count", "w", "r", "word"))
NSIGMA, P, MIN_P = (param(n, F32) for n in ("nsigma", "p", "min_p"))


def _double(x: Expr) -> Expr:
    return cast(x, F64)


def _limit() -> Expr:
    mean = _double(S1) / _double(COUNT)
    variance = (_double(S2) - _double(S1) * mean) / f.maximum(_double(COUNT) - 1.0, 1.0)
    sigma = cast(f.sqrt(f.maximum(variance, 0.0)) * (1 / STEP), F32)
    return select(NSIGMA > 0.0, NSIGMA * sigma, const(0, F32))


#: The largest M - logit that `nsigma` leaves.
LIMIT_OF = _limit()
#: The smallest weight that `min_p` leaves.
LEAST_OF = select(MIN_P > 0.0, cast(f.minimum(unary("ceil", MIN_P * ONE), ONE), U32), const(0, U32))


def _target() -> Expr:
    share = unary("ceil", _double(P) * _double(W))
    wanted = cast(f.maximum(share, 1.0), U64)
    return select(wanted > W, W, wanted)


#: The sum of weights that `p` asks for, of a p below 1.
TARGET_OF = _target()
MU_OF = cast(_double(R) / _double(W) * 0.5, F32)
#: Where in the weights the token is.
PLACE_OF = multiply_high(WORD, W)

KEY0, KEY1, ROW = param("key0", U32), param("key1", U32), param("row", U64)
#: The last word of Philox's counter where a number is folded into a key.
_FOLDED = 2


@cache
def word_of(bits: str, stream: int, *, folded: bool) -> Expr:
    """The 64 random bits of a row."""
    key, zero = (KEY0, KEY1), const(0, U32)
    low, high = words_of(ROW)
    if bits == "threefry":
        key = threefry_2x32((high, low), key) if folded else key
        key = threefry_2x32((zero, const(stream, U32)), key) if stream else key
        upper, lower = threefry_2x32((zero, zero), key)
    else:
        x, y, _, _ = philox_4x32((low, high, zero, const(_FOLDED, U32)), key)
        lower, upper, _, _ = philox_4x32((zero, zero, const(stream, U32), zero), (x, y) if folded else key)
    return cast(upper, U64) << 32 | cast(lower, U64)
