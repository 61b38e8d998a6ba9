"""Draws: what a distribution is a formula of, and how a tensor of them is made.

Element i of a draw, counted in logical order, is a function of the key and of i. Its words are

    philox    word i % 4 of Philox 4x32-10 of the counter (i // 4, stream, 0), and of 64 bits the words 2 (i % 2), the lower, and
              2 (i % 2) + 1 of the counter (i // 2, stream, 0), where i // 4 and i // 2 take two words of the four;
    threefry  both words of Threefry 2x32-20 of the counter (upper half of i, lower half), x and y: x ^ y, and of 64 bits x above
              y, as `jax.random` has them; beyond the first stream, with the key made by `rng_fold_in` of the stream.

A draw that is rejected is made again: turn t of loop n of element i has the four words of Philox of the counter (lower, upper
half of i, 2**24 n + t, 3), or of 64 bits the halves of those and of the counter (..., 2**24 n + 2**16 + t, 3); by Threefry words
2 j and 2 j + 1, or j of 64 bits, are those of the counter (t, j) with the key that the counter (upper half of i, lower half)
gives in stream 2**30 + n.

A stream is one of the words that an element takes; most distributions take one. f16, bf16 and f32 take words of 32 bits and are
computed in f32, f64 takes those of 64.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from math import prod
from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_at, broadcast_shape, broadcasted, reshaped, shape_of, slab, strides_in
from baracuda.formula.conversions import cast_to
from baracuda.formula.counters import philox_4x32, threefry_2x32, words_of
from baracuda.formula.elementary.logarithm import log_of_split, split
from baracuda.formula.elementary.pieces import horner
from baracuda.formula.elementary.tables import elementary
from baracuda.formula.expr import Expr, as_expr, bitcast, cast, const, coord, fma, select, sqrt_of_ordinary
from baracuda.formula.functions import equal, log1p
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Stored, WholeScalar

U32, U64, F32 = ElementKind.U32, ElementKind.U64, ElementKind.F32
S64 = ElementKind.S64
_SIGNED = {U32: ElementKind.S32, U64: S64}
#: What is added to a stream for the second word of a pair of 64 bits.
_SECOND = 1 << 31
#: The last word of Philox's counter in turns of loops (1 and 2 are keys'), and the first of their streams of Threefry.
_TURNS, _TURNS_STREAM = 3, 1 << 30
#: What makes words of a key and a counter.
Bits = Literal["philox", "threefry"]
#: The pattern of a key.
KEY = "2 : u32"
#: Numbers that follow from shapes: how far apart neighbours along an axis are numbered, and by 2**30 how many lie before.
_STEPS, _PART = tuple(f"shape_step{axis}" for axis in range(8)), "shape_part"
#: Elements of one launch; a coordinate has 31 bits.
_AT_ONCE_BITS = 30
_AT_ONCE = 1 << _AT_ONCE_BITS
#: Elements that a counter has words for at most.
_BLOCK = 4


def _long(low: Expr, high: Expr) -> Expr:
    return cast(high, U64) << 32 | cast(low, U64)


def ln(x: Expr) -> Expr:
    """The logarithm of a positive normal number."""
    return log_of_split(split(x))


@dataclass(frozen=True)
class Number:
    """The number of an element: part * 2**30 + place, place below 2**30.

    The place keeps to itself in shifts: from its lowest bits compilers see that neighbours share the words of a counter.
    """

    part: Expr
    place: Expr

    def words(self, shift: int = 0) -> tuple[Expr, Expr]:
        """The number by 2**shift, rounded down: its lower and its upper 32 bits."""
        low = (self.place >> shift) + cast(self.part << _AT_ONCE_BITS - shift, U32)
        return low, cast(self.part >> 32 - _AT_ONCE_BITS + shift, U32)

    def bit(self, bit: int) -> Expr:
        return equal(self.place >> bit & 1, 1)


@dataclass(frozen=True)
class NumberInRow(Number):
    """The number of an element: part + place, where part, that of its row's first one, is a multiple of `_BLOCK`."""

    def words(self, shift: int = 0) -> tuple[Expr, Expr]:
        return words_of((self.part >> shift) + cast(self.place >> shift, U64))


@dataclass(frozen=True)
class Draw:
    """What a distribution's formula draws from: the words of one element. `kind` is what it computes in."""

    number: Number
    key: tuple[Expr, Expr]
    bits: Bits
    kind: ElementKind
    element: ElementKind

    def of(self, parameter: Expr | float) -> Expr:
        """A parameter in the kind of the computation."""
        return cast(parameter, self.kind) if isinstance(parameter, Expr) else const(parameter, self.kind)

    def _stream_key(self, stream: int) -> tuple[Expr, Expr]:
        return threefry_2x32((const(0, U32), const(stream, U32)), self.key) if stream else self.key

    def _threefry(self, stream: int) -> tuple[Expr, Expr]:
        low, high = self.number.words()
        return threefry_2x32((high, low), self._stream_key(stream))

    def _philox(self, stream: int, shift: int) -> tuple[Expr, Expr, Expr, Expr]:
        low, high = self.number.words(shift)
        return philox_4x32((low, high, const(stream, U32), const(0, U32)), self.key)

    def word(self, stream: int = 0) -> Expr:
        """32 bits."""
        if self.bits == "threefry":
            x, y = self._threefry(stream)
            return x ^ y
        w = self._philox(stream, 2)
        odd, upper = self.number.bit(0), self.number.bit(1)
        return select(upper, select(odd, w[3], w[2]), select(odd, w[1], w[0]))

    def long_word(self, stream: int = 0) -> Expr:
        """64 bits."""
        if self.bits == "threefry":
            high, low = self._threefry(stream)
        else:
            w, odd = self._philox(stream, 1), self.number.bit(0)
            low, high = select(odd, w[2], w[0]), select(odd, w[3], w[1])
        return _long(low, high)

    @property
    def _width(self) -> int:
        return self.kind.bits

    def _whole(self, stream: int) -> Expr:
        return self.long_word(stream) if self._width == 64 else self.word(stream)

    def fine_uniform(self, stream: int = 0) -> Expr:
        """A whole number over 2**24, or 2**53, from 0 to below 1, whatever the element."""
        return self._fraction(stream, _SIGNIFICANDS[self.kind])

    def uniform(self, stream: int = 0) -> Expr:
        """The upper bits of a word, as many as the significand of the element has, over their number: 0 to below 1."""
        return self._fraction(stream, _SIGNIFICANDS[self.element])

    def _fraction(self, stream: int, digits: int) -> Expr:
        return cast(self._whole(stream) >> self._width - digits, self.kind) * const(2.0**-digits, self.kind)

    def above_zero(self, stream: int = 0) -> Expr:
        """(k + 1) / 2**32, or 2**64, for a word k: above 0, at most 1, as fine as the kind near 0."""
        return self.above_zero_of(self._whole(stream))

    def above_zero_of(self, word: Expr) -> Expr:
        """`above_zero` of a word."""
        scale = const(2.0**-self._width, self.kind)
        return fma(cast(word, self.kind), scale, scale)

    def sides(self, stream: int = 0) -> tuple[Expr, Expr]:
        """Whether the lowest bit of a word is set, and (k + 1/2) / 2**32, or 2**64, for the bits k above it: a side of a
        distribution, and how much of it lies beyond, from above 0 to 1/2."""
        return self.sides_of(self._whole(stream))

    def sides_of(self, word: Expr) -> tuple[Expr, Expr]:
        """`sides` of a word."""
        return equal(word & 1, 1), self._inside(word >> 1)

    def turn_words(self, turn: Expr, number: int = 0) -> tuple[Expr, Expr, Expr, Expr]:
        """Four words for a turn of one of the element's loops, which nothing else has."""
        low, high = self.number.words()
        wide, counted = self._width == 64, cast(turn, U32)
        if self.bits == "threefry":
            own = threefry_2x32((high, low), self._stream_key(_TURNS_STREAM + number))
            pairs = [threefry_2x32((counted, const(call, U32)), own) for call in range(4 if wide else 2)]
            words = [_long(y, x) for x, y in pairs] if wide else [w for x_y in pairs for w in x_y]
        else:
            words = []
            for call in range(2 if wide else 1):
                w = philox_4x32((low, high, counted + (number << 24 | call << 16), const(_TURNS, U32)), self.key)
                words += [_long(w[0], w[1]), _long(w[2], w[3])] if wide else w
        return words[0], words[1], words[2], words[3]

    def pair(self, stream: int = 0) -> tuple[Expr, Expr]:
        """Two words that an element of even number shares with the one behind it."""
        if self.bits == "threefry":
            low, high = self.number.words(1)
            x, y = threefry_2x32((high, low), self._stream_key(stream))
            if self._width == 32:
                return x, y
            return _long(y, x), _long(*reversed(threefry_2x32((high, low), self._stream_key(stream | _SECOND))))
        if self._width == 64:
            w = self._philox(stream, 1)
            return _long(w[0], w[1]), _long(w[2], w[3])
        w, upper = self._philox(stream, 2), self.number.bit(1)
        return select(upper, w[2], w[0]), select(upper, w[3], w[1])

    def normal(self, stream: int = 0) -> Expr:
        """A draw of the standard normal distribution by the method of Box and Muller, of which an element of even number has the
        cosine and the one behind it the sine: r cos t, r sin t, where r = sqrt(-2 ln u), and t is all turns alike."""
        return self.normal_of(*self.pair(stream), self.number.place & 1)

    def normal_of(self, first: Expr, second: Expr, back: Expr | None = None) -> Expr:
        """The standard normal draw r cos t of two words, or of an angle that is so many quarters back."""
        radius = sqrt_of_ordinary(ln(self._inside(first)) * -2.0)
        width = self._width
        turned = second if back is None else second - (cast(back, second.kind) << width - 2)
        rest = cast(bitcast(second << 2, _SIGNED[second.kind]), self.kind)
        part = fma(rest, const(math.pi / 2 * 2.0**-width, self.kind), const(math.pi / 4 * 2.0**-width, self.kind))
        square = part * part
        sine = fma(part * square, horner(square, elementary.SIN[self.kind]), part)
        cosine = fma(square, horner(square, elementary.COS[self.kind]), const(1, self.kind))
        value = radius * select(equal(turned & 1 << width - 2, 0), cosine, sine)
        negative = turned + (1 << width - 2) & 1 << width - 1
        return bitcast(bitcast(value, second.kind) ^ negative, self.kind)

    def _inside(self, word: Expr) -> Expr:
        """(k + 1/2) / 2**32, or 2**64: above 0, and where it rounds to 1 at most."""
        width = self._width
        return fma(cast(word, self.kind), const(2.0**-width, self.kind), const(2.0 ** -(width + 1), self.kind))

    def exponential(self, stream: int = 0) -> Expr:
        """A draw of the standard exponential distribution, by the inverse of its distribution function."""
        return -ln(self.above_zero(stream))

    def log_odds(self, stream: int = 0) -> Expr:
        """A draw of the standard logistic distribution."""
        upper, tail = self.sides(stream)
        x = log1p(-tail) - ln(tail)
        return select(upper, x, -x)

    def minus_log(self, stream: int = 0) -> Expr:
        """-ln(u) for u in (0, 1), as fine near 1 as near 0."""
        upper, tail = self.sides(stream)
        return select(upper, -log1p(-tail), -ln(tail))


_SIGNIFICANDS = {ElementKind.F16: 11, ElementKind.BF16: 8, F32: 24, ElementKind.F64: 53}

Formula = Callable[..., Any]


def distribution(
    formula: Formula, *, takes: str = "any", counts: bool = False, literals: Mapping[str, Sequence[float]] | None = None
) -> Op:
    """The op that draws by a formula, which takes a `Draw`, tensors, and numbers by keyword, of which `literals` are constants.
    Integers are made of draws in f32, or if it counts, those of 32 bits and more in f64, which has all of them."""
    own = [p for p in inspect.signature(formula).parameters.values() if p.name != "draw"]
    tensors = [p for p in own if p.kind is not p.KEYWORD_ONLY]

    def drawing(space: Expr, key0: Expr, key1: Expr, *given: Expr, **options: Any) -> Result:
        element: ElementKind = options.pop("element")
        steps, rank = [options.pop(name) for name in _STEPS], options.pop("rank")
        part = cast(as_expr(options.pop(_PART), S64), U64)
        place = cast(coord(0), U32)
        number, by_rows = Number(part, place), options.pop("by_rows")
        if rank != 1:
            total = const(0, U64)
            for axis, step in zip(range(rank - by_rows), steps, strict=False):
                total = cast(coord(axis), U64) * cast(as_expr(step, S64), U64) + total
            number = Number(total >> _AT_ONCE_BITS, cast(total, U32) & _AT_ONCE - 1)
            if by_rows:
                number = NumberInRow(total, cast(coord(rank - 1), U32))
        whole = ElementKind.F64 if counts and element.bits >= 32 else F32
        kind = element.compute if element.is_float else whole
        draw = Draw(number, (key0, key1), options.pop("bits"), kind, element)
        return Stored(cast_to(formula(draw, *given, **options), element), element)

    def keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)

    def tensor(name: str) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Expr)

    drawing.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *map(tensor, ("space", "key0", "key1")),
            *tensors,
            *(p for p in own if p.kind is p.KEYWORD_ONLY),
            keyword("rank", int, 1),
            keyword("by_rows", bool, False),
            keyword("bits", Bits, "philox"),
            *(keyword(name, WholeScalar, 0) for name in (_PART, *_STEPS)),
            keyword("element", ElementKind, inspect.Parameter.empty),
        ]
    )
    update_wrapper(drawing, formula)
    name = formula.__name__.strip("_")
    return Op(
        drawing, Rule.EACH, name=f"draws_{name}", family="random", takes=takes, element_option=True, differentiable=False,
        literals=literals,
    )  # fmt: skip


def key_words(key: TensorRef) -> dict[str, TensorRef]:
    """The words of a key as tensors of a formula."""
    return {f"key{i}": axis_at(key, 0, i) for i in (0, 1)}


def draw_into(
    do: Steps, op: Op, key: TensorRef, y: TensorMut, given: Mapping[str, Any], bits: Bits, over: Sequence[int] | None = None,
    **numbers: Any,
) -> TensorMut:  # fmt: skip
    """Draw every element of a contiguous tensor; `given` are tensors that broadcast to it, or numbers. `over` is the shape that
    elements are numbered in, with 1 where neighbours along an axis share a draw."""
    keys = key_words(key)
    if not y.kind.is_float:  # a number in a tensor's place would be one of y's element
        given = in_full(do, given, y.kind)
    tensors = {n: v for n, v in given.items() if isinstance(v, TensorRef)}
    if (over is None or tuple(over) == y.shape) and all(prod(t.shape) == 1 or _follows(t, y) for t in tensors.values()):
        flat: Any = reshaped(y, (-1,))
        along = {n: reshaped(v, () if prod(v.shape) == 1 else (-1,)) if n in tensors else v for n, v in given.items()}
        total = flat.shape[0]
        for part, start in enumerate(range(0, total, _AT_ONCE)):
            stop = min(start + _AT_ONCE, total)
            piece = slab(flat, 0, start, stop)
            read = {n: slab(v, 0, start, stop) if isinstance(v, TensorRef) and v.shape else v for n, v in along.items()}
            do.run(op, {"space": piece, **keys, **read}, piece, dtype=y.kind, rank=1, bits=bits, **{_PART: part}, **numbers)
        return y
    if max(y.shape, default=0) > _AT_ONCE:
        raise InvalidProblemError(f"shape {y.shape} with tensors of parameters; expected at most {_AT_ONCE} along an axis")
    wide = {n: broadcasted(v, y.shape, n) if n in tensors else v for n, v in given.items()}
    extents = y.shape if over is None else tuple(over)
    counted = contiguous_strides(extents)
    steps = {name: s if e != 1 else 0 for name, s, e in zip(_STEPS, counted, extents, strict=False)}
    by_rows = len(extents) > 1 and extents[-1] == y.shape[-1] and extents[-1] % _BLOCK == 0
    do.run(
        op, {"space": y, **keys, **wide}, y, dtype=y.kind, rank=len(y.shape), bits=bits, by_rows=by_rows, **steps, **numbers
    )  # fmt: skip
    return y


def in_full(do: Steps, given: Mapping[str, Any], kind: ElementKind) -> dict[str, Any]:
    """Parameters of draws of an element that has no place for all their digits: numbers are tensors of f32, or of f64 beside
    integers of 32 bits and more."""
    if kind.is_float and kind.bits >= 32:
        return dict(given)
    fine = F32 if kind.is_float or kind.bits < 32 else ElementKind.F64

    def tensor(name: str, value: float) -> TensorMut:
        held = do.rows((), fine)
        do.fill(held, value, name)
        return held

    return {n: v if isinstance(v, TensorRef) else tensor(n, v) for n, v in given.items()}


def _follows(tensor: TensorRef, y: TensorMut) -> bool:
    return tensor.shape == y.shape and strides_in(tensor.shape, tensor.strides, (prod(y.shape),)) is not None


def drawn(
    do: Steps, op: Op, key: TensorRef, shape: Any, kind: ElementKind, bits: Bits, given: Mapping[str, Any] | None = None,
    **numbers: Any,
) -> TensorMut:  # fmt: skip
    """A tensor of draws, of a shape; None: that to which the tensors of `given` broadcast."""
    given = given or {}
    tensors = [v for v in given.values() if isinstance(v, TensorRef)]
    extents = broadcast_shape(t.shape for t in tensors) if shape is None else shape_of(shape)
    return draw_into(do, op, key, do.rows(extents, kind), given, bits, **numbers)


def kind_for(dtype: ElementKind | None, given: Mapping[str, Any]) -> ElementKind:
    """The float that draws are of: `dtype`, or that of the tensors, or f32."""
    if dtype is not None:
        return dtype
    kinds = [v.kind for v in given.values() if isinstance(v, TensorRef) and v.kind.category is Category.FLOAT]
    return max(kinds, key=lambda k: k.bits) if kinds else F32
