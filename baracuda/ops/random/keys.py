"""Keys of random numbers: two words of 32 bits, from which any number of others are made."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula.counters import philox_4x32, threefry_2x32, words_of
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.functions import equal
from baracuda.ops.creation.ranges import signed
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Result, Stored, WholeScalar
from baracuda.ops.declaration.words import Count, Dtype, Extents
from baracuda.ops.random.draws import KEY, U32, Bits, Draw, distribution, drawn, key_words

#: The last word of Philox's counter where a key is split, and where a number is folded in; 0 in draws.
_SPLIT, _FOLDED = 1, 2


def _words(low: Expr, high: Expr, use: int, key: tuple[Expr, Expr], bits: Bits) -> tuple[Expr, Expr]:
    if bits == "threefry":
        return threefry_2x32((high, low), key)
    x, y, _, _ = philox_4x32((low, high, const(0, U32), const(use, U32)), key)
    return x, y


def _first_or_second(axis: int, words: tuple[Expr, Expr]) -> Result:
    return Stored(select(equal(coord(axis), 0), *words), U32)


def _split(x: Expr, key0: Own, key1: Own, *, bits: Bits = "philox") -> Result:
    number = cast(coord(0), ElementKind.U64)
    return _first_or_second(1, _words(*words_of(number), _SPLIT, (key0, key1), bits))


def _fold(x: Expr, key0: Own, key1: Own, data: Own, *, bits: Bits = "philox", rank: int = 1) -> Result:
    number = cast(as_expr(data, ElementKind.U64), ElementKind.U64)
    return _first_or_second(rank - 1, _words(*words_of(number), _FOLDED, (key0, key1), bits))


def _folded_number(x: Expr, key0: Own, key1: Own, *, data: WholeScalar = 0, bits: Bits = "philox") -> Result:
    number = cast(as_expr(data, ElementKind.S64), ElementKind.U64)
    return _first_or_second(0, _words(*words_of(number), _FOLDED, (key0, key1), bits))


def _seeded(x: Expr, *, seed: WholeScalar = 0) -> Result:
    low, high = words_of(cast(as_expr(seed, ElementKind.S64), ElementKind.U64))
    return _first_or_second(0, (high, low))


_INTERNAL: dict[str, Any] = {"family": "random", "takes": "any", "differentiable": False}
_seed_op = Op(_seeded, Rule.EACH, name="key_of_seed", **_INTERNAL)
_split_op = Op(_split, Rule.EACH, name="split_key", **_INTERNAL)
_fold_op = Op(_fold, Rule.EACH, name="folded_key", **_INTERNAL)
_folded_number_op = Op(_folded_number, Rule.EACH, name="key_of_number", **_INTERNAL)


@composed(like="?", creates=True, numbers={"seed": ()})
def rng_key(do: Steps, like: TensorRef, seed: int) -> Any:
    """A key of random numbers: the upper and the lower 32 bits of a seed, which counts modulo 2**64.

    Draws of one key are always the same; those of keys that `rng_split` and `rng_fold_in` make of it are independent of each
    other and of its own.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.rng_key(7).tolist()
    [0, 7]
    """
    key = do.rows((2,), U32)
    return do.run(_seed_op, {"x": key}, key, seed=signed(seed))


@composed(key=KEY)
def rng_split(do: Steps, key: TensorRef, num: Count = 2, *, bits: Bits = "philox") -> Any:
    """`num` keys of one: a tensor of shape (num, 2).

    With bits="threefry" they are those of `jax.random.split`.

    Examples
    --------
    >>> import baracuda
    >>> a, b = baracuda.rng_split(baracuda.rng_key(7))
    >>> a.shape
    (2,)
    """
    keys = do.rows((num, 2), U32)
    return do.run(_split_op, {"x": keys, **key_words(key)}, keys, bits=bits)


@composed(key=KEY, data="... or number : int", numbers={"data": ()})
def rng_fold_in(do: Steps, key: TensorRef, data: Any, *, bits: Bits = "philox") -> Any:
    """The key made of a key and a whole number, or of each number of a tensor; numbers count modulo 2**64.

    With bits="threefry" it is that of `jax.random.fold_in`, which takes numbers of 32 bits.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.rng_fold_in(baracuda.rng_key(7), 3).shape
    (2,)
    """
    shape = data.shape if isinstance(data, TensorRef) else ()
    keys = do.rows((*shape, 2), U32)
    if isinstance(data, TensorRef):
        wide = view(data, 0, (*shape, 2), (*data.strides, 0))
        return do.run(_fold_op, {"x": keys, **key_words(key), "data": wide}, keys, bits=bits, rank=len(shape) + 1)
    return do.run(_folded_number_op, {"x": keys, **key_words(key)}, keys, bits=bits, data=signed(int(data)))


def _random_bits(draw: Draw) -> Expr:
    return draw.long_word() if draw.element.bits == 64 else draw.word()


bits_op = distribution(_random_bits)


@composed(key=KEY)
def rng_bits(do: Steps, key: TensorRef, shape: Extents, dtype: Dtype = None, *, bits: Bits = "philox") -> Any:
    """Random bits, all of an integer: `dtype` (u8, u16, u32, u64 or a signed one), by default u32.

    Of 8 and 16 bits they are the lowest of those of 32. With bits="threefry" they are those of `jax.random.bits`.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.rng_bits(baracuda.rng_key(7), 4, "u8").shape
    (4,)
    """
    return drawn(do, bits_op, key, shape, dtype or U32, bits)
