"""Random bits as functions of a key and a counter: Philox and Threefry, by integers of 32 bits alone.

Both are ciphers of few rounds: what they give for one counter says nothing of what they give for another, so element i of a draw
needs no state but the key, and is the same on every device, in every shape and order.

Sources: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3" (SC11), whose known answers the tests have.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, cast, const
from baracuda.formula.integer_functions import multiply_high

U32, U64 = ElementKind.U32, ElementKind.U64
_PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_PHILOX_ROUNDS = 10
_THREEFRY_PARITY = 0x1BD11BDA
_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_THREEFRY_ROUNDS = 20


def _word(value: int) -> Expr:
    return const(value & 0xFFFFFFFF, U32)


def words_of(x: Expr) -> tuple[Expr, Expr]:
    """The lower and the upper 32 bits of an integer of 64."""
    x = cast(x, U64)
    return cast(x, U32), cast(x >> 32, U32)


def philox_4x32(counter: tuple[Expr, Expr, Expr, Expr], key: tuple[Expr, Expr]) -> tuple[Expr, Expr, Expr, Expr]:
    """Four words of Philox 4x32-10 for a counter of four words, the lowest first, and a key of two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    m0, m1 = map(_word, _PHILOX_MULTIPLIERS)
    for round_ in range(_PHILOX_ROUNDS):
        s0, s1 = (_word(round_ * step) for step in _PHILOX_KEY_STEPS)
        high0, low0, high1, low1 = multiply_high(c0, m0), c0 * m0, multiply_high(c2, m1), c2 * m1
        c0, c1 = high1 ^ c1 ^ (k0 + s0), low1
        c2, c3 = high0 ^ c3 ^ (k1 + s1), low0
    return c0, c1, c2, c3


def _rotated(x: Expr, bits: int) -> Expr:
    return x << bits | x >> 32 - bits


def threefry_2x32(counter: tuple[Expr, Expr], key: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
    """Two words of Threefry 2x32-20 for a counter of two words and a key of two."""
    schedule = (*key, key[0] ^ key[1] ^ _word(_THREEFRY_PARITY))
    x, y = counter[0] + schedule[0], counter[1] + schedule[1]
    for group in range(_THREEFRY_ROUNDS // 4):
        for bits in _THREEFRY_ROTATIONS[group % 2]:
            x = x + y
            y = _rotated(y, bits) ^ x
        x = x + schedule[(group + 1) % 3]
        y = y + schedule[(group + 2) % 3] + _word(group + 1)
    return x, y
