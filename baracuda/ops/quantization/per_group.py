"""Quantization by groups of neighbours along an axis or several, with scales that are given or found in the same pass.

A tensor cut into groups of group_size along `axis` has scales of shape (..., ceil(k / group_size), ...): the last group has
what is left. Codes of s4 and u4 are packed, two neighbours of the last axis to a byte (u8), the first in the low half; of an
odd extent the last byte has 0 above."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Eps, FloatElement
from baracuda.ops.quantization.affine import dequantize, fake_quantize_per_tensor
from baracuda.ops.quantization.groups import GroupAxes, Groups, GroupSizes, check_groups, groups_of, new_like, parts
from baracuda.ops.quantization.packing import every, pack_into, unpack_into, words_of
from baracuda.ops.quantization.pair_formulas import PAIRS, PAIRS_BY_SCALE, VALUES_OF_PAIRS, VALUES_OF_WORDS, WORDS
from baracuda.ops.quantization.ranges import S4, CodeElement, Codes, PackedElement, check_range, codes_of
from baracuda.ops.quantization.row_formulas import BY_SCALE, GRIDS, ROWS, STRAIGHT_THROUGH
from baracuda.ops.quantization.two_rows import run_rows

_F32, _S32, _U8, _S8 = ElementKind.F32, ElementKind.S32, ElementKind.U8, ElementKind.S8


def _pairs(t: TensorRef) -> tuple[dict[str, Any], dict[str, Any]]:
    """Pairs of neighbours along the last axis, whose extent is even: words, and what they hold, or the elements of even and odd
    number."""
    words = words_of(t, 2) if t.kind in WORDS else None
    if words is not None:
        return {"x": words}, {"floats": t.kind.label}
    count = t.shape[-1] // 2
    return {"x": every(t, 0, 2, count), "other": every(t, 1, 2, count)}, {}


def _packed_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    if not shape:
        raise InvalidProblemError("x: a scalar; expected an axis along which codes are packed")
    return (*shape[:-1], -(-shape[-1] // 2))


def _pairs_lie_in_groups(groups: Groups) -> bool:
    """Whether both codes of each byte are of one group: the last axis alone is cut, into groups of even sizes."""
    last = len(groups.shape) - 1
    return [a for a, _ in groups.sizes] == [last] and not groups.sizes[0][1] % 2 and not groups.shape[last] % 2


def _scales(scale: TensorRef, zero_point: Given, groups: Groups) -> tuple[Given, Given]:
    """Scales and zero points that are given, which have an element for each group."""
    check_groups(groups, scale, "scale")
    if zero_point is not None:
        check_groups(groups, zero_point, "zero_point")
    return scale, zero_point


def _neither(zero_point: Given) -> None:
    if zero_point is not None:
        raise InvalidProblemError("zero_point: given without a scale; expected both, scale alone, or neither")


@composed(x="... : float", scale="? : float", zero_point="? : real", numbers={"eps": ()})
def quantize_per_group(
    do: Steps,
    x: TensorRef,
    scale: Given = None,
    zero_point: Given = None,
    *,
    group_size: GroupSizes = 128,
    axis: GroupAxes = -1,
    dtype: CodeElement = ElementKind.S8,
    symmetric: bool = True,
    quant_min: int | None = None,
    quant_max: int | None = None,
    eps: Eps = 0.0,
) -> Any:
    """Codes of x with a scale for each group of `group_size` neighbours along `axis`, the last of which may be smaller; both may
    be tuples, for blocks, and a size of -1 is all of an axis.

    dtype is s8 or u8, or s4 or u4 for packed codes: u8 of shape (..., ceil(n / 2)), of two neighbours of the last axis the
    first in the low half. Codes are quant_min to quant_max, by default all of dtype: s8 with -2 to 1 has two bits to be packed
    by `pack_int2`.

    Where `scale` is not given, scales and zero points are found in the same pass as `quantize_dynamic` finds them (symmetric or
    not, with eps), and the result is (q, scale, zero_point): scale in the kind that x computes in, zero_point s32, None where it
    is 0 everywhere. Where it is, the result is q = clamp(rint(x / scale) + zero_point), halves to even, and scale and zero_point
    (or None, for 0) have an element for each group; a zero point of floats is added before rounding. A NaN has the code 0.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.float32([[1, -2, 127, 4, 5, 6]])
    >>> q, scale, zero_point = baracuda.quantize_per_group(x, group_size=4, quant_min=-7, quant_max=7)
    >>> q.tolist(), scale.shape
    ([[0, 0, 7, 0, 6, 7]], (1, 2))
    >>> baracuda.quantize_per_group(x, scale, group_size=4, dtype="s4").tolist()
    [[0, 7, 118]]
    """
    codes = codes_of(dtype, quant_min, quant_max, symmetric=symmetric and scale is None)
    groups = groups_of(x.shape, group_size, axis)
    if scale is not None:
        return _by_scales(do, x, scale, zero_point, groups, codes)
    _neither(zero_point)
    scale = do.rows(groups.counts, x.kind.compute)
    zero_point = None if symmetric else do.rows(groups.counts, _S32)
    words: dict[str, Any] = {"low": codes.low, "high": codes.high, "eps": eps, "axis": groups.inner}
    found = [t for t in (scale, zero_point) if t is not None]
    if codes.packed == 2 and _pairs_lie_in_groups(groups):
        q = do.rows(_packed_shape(x.shape), _U8)
        for (xs,), into, (qs,) in parts(do, groups, (x,), found, (q,)):
            pair, how = _pairs(xs)
            run_rows(do, PAIRS[symmetric, bool(how)], pair, (qs, *into), **words, **how)
    else:
        q, unpacked = _code_tensors(do, x, codes, groups)
        for (xs, qs), into, _ in parts(do, groups, (x, unpacked), found):
            run_rows(do, ROWS[symmetric], {"x": xs}, (qs, *into), dtype=unpacked.kind, **words)
        _pack(do, unpacked, q)
    if symmetric and codes.middle:
        zero_point = do.filled(groups.counts, _S32, codes.middle)
    return q, scale, zero_point


def _code_tensors(do: Steps, x: TensorRef, codes: Codes, groups: Groups) -> tuple[Any, Any]:
    """New tensors for the codes, and for those that are packed into them afterwards."""
    if codes.packed == 1:
        q = new_like(do, x, codes.stored, groups)
        return q, q
    return do.rows(_packed_shape(x.shape), _U8), do.rows(x.shape, _S8 if codes.low < 0 else _U8)


def _pack(do: Steps, unpacked: TensorRef, q: TensorRef) -> None:
    if unpacked is not q:
        pack_into(do, unpacked, q, 4)


def _by_scales(do: Steps, x: TensorRef, scale: TensorRef, zero_point: Given, groups: Groups, codes: Codes) -> Any:
    by = _scales(scale, zero_point, groups)
    words = {"low": codes.low, "high": codes.high}
    if codes.packed == 2 and _pairs_lie_in_groups(groups):
        q = do.rows(_packed_shape(x.shape), _U8)
        for (xs,), (s, z), (qs,) in parts(do, groups, (x,), by, (q,)):
            pair, how = _pairs(xs)
            do.run(PAIRS_BY_SCALE[bool(how)], {**pair, "scale": s, "zero_point": z}, qs, **words, **how)
        return q
    q, unpacked = _code_tensors(do, x, codes, groups)
    for (xs, qs), (s, z), _ in parts(do, groups, (x, unpacked), by):
        do.run(BY_SCALE, {"x": xs, "scale": s, "zero_point": z}, qs, dtype=unpacked.kind, **words)
    _pack(do, unpacked, q)
    return q


@composed(q="... : int", scale="? : float", zero_point="? : real", out=True)
def dequantize_per_group(
    do: Steps,
    q: TensorRef,
    scale: TensorRef,
    zero_point: Given = None,
    *,
    group_size: GroupSizes = 128,
    axis: GroupAxes = -1,
    codes: PackedElement | None = None,
    size: int | None = None,
    dtype: FloatElement = ElementKind.F32,
) -> Any:
    """(q - zero_point) * scale in the float element `dtype`, with a scale and a zero point for each group, as
    `quantize_per_group` has them; scale may be of 16 bits, and zero_point of floats.

    With codes="s4" or "u4" q has two codes to a byte (u8), and the result twice its last extent, or `size`, one less, where that
    was odd. What q - zero_point is, is computed in f32 (f64 where dtype is that), exactly for integers below 2**24.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dequantize_per_group(np.int8([[1, 2, 3]]), np.float32([[0.5, 2]]), group_size=2).tolist()
    [[0.5, 1.0, 6.0]]
    >>> baracuda.dequantize_per_group(np.uint8([[0x21, 0x43]]), np.float32([[2]]), group_size=4, codes="u4").tolist()
    [[2.0, 4.0, 6.0, 8.0]]
    """
    shape = _unpacked_shape(q, codes, size)
    groups = groups_of(shape, group_size, axis)
    by, signed = _scales(scale, zero_point, groups), codes is S4
    folds = groups.folded != groups
    result = do.result(shape, dtype, q if codes is None and not folds else None)
    y = do.rows(shape, dtype) if folds else result
    if codes is not None and _pairs_lie_in_groups(groups):
        for (ys,), (s, z), (qs,) in parts(do, groups, (y,), by, (q,)):
            read = {"q": qs, "scale": s, "zero_point": z}
            pair, how = _pairs(ys)
            if how:
                do.run(VALUES_OF_WORDS, read, pair["x"], signed=signed, **how)
            else:
                do.run(VALUES_OF_PAIRS, read, tuple(pair.values()), signed=signed, dtype=dtype)
    else:
        if codes is not None:
            packed, q = q, do.rows(shape, _S8 if signed else _U8)
            unpack_into(do, packed, q, 4, signed=signed)
        for (qs, ys), (s, z), _ in parts(do, groups, (q, y), by):
            do.run(dequantize, {"q": qs, "scale": s, "zero_point": z}, ys, dtype=dtype)
    if folds:
        do.copy(y, result)
    return result


def _unpacked_shape(q: TensorRef, codes: ElementKind | None, size: int | None) -> tuple[int, ...]:
    if codes is None:
        if size is not None:
            raise InvalidProblemError(f"size: {size} without codes; expected it of packed codes alone")
        return q.shape
    if q.kind is not _U8 or not q.shape:
        raise InvalidProblemError(f"q: {q.kind} of shape {q.shape}; expected u8 with an axis of packed {codes}")
    twice = 2 * q.shape[-1]
    last = twice if size is None else size
    if not max(twice - 1, 0) <= last <= twice:
        raise InvalidProblemError(f"size: {size}; expected {max(twice - 1, 0)} or {twice} for {q.shape[-1]} bytes")
    return (*q.shape[:-1], last)


# --- simulated in training --------------------------------------------------------------------------------------------


@composed(x="... : float", scale="? : float", zero_point="? : real", numbers={"eps": ()})
def fake_quantize_per_group(
    do: Steps,
    x: TensorRef,
    scale: Given = None,
    zero_point: Given = None,
    *,
    group_size: GroupSizes = 128,
    axis: GroupAxes = -1,
    quant_min: int = -128,
    quant_max: int = 127,
    symmetric: bool = True,
    eps: Eps = 0.0,
) -> Any:
    """x rounded to a grid for each group: (clamp(rint(x / scale) + zero_point, quant_min, quant_max) - zero_point) * scale, with
    scales and zero points for each group that are given, or found as `quantize_per_group` finds them.

    The gradient goes straight through the rounding: dy where nothing was limited, else 0; where the scales are found, dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.fake_quantize_per_group(np.float32([7.2, 3.4, 0.5, -14]), group_size=2, quant_min=-7, quant_max=7).tolist()
    [7.199999809265137, 3.085714101791382, 0.0, -14.0]
    """
    groups = groups_of(x.shape, group_size, axis)
    check_range(quant_min, quant_max, symmetric and scale is None)
    y = new_like(do, x, x.kind, groups)
    if scale is None:
        _neither(zero_point)
        words = {"low": quant_min, "high": quant_max, "eps": eps, "axis": groups.inner}
        for (xs, ys), _, _ in parts(do, groups, (x, y)):
            do.run(GRIDS[symmetric], {"x": xs}, ys, **words)
        return y
    limits = {"quant_min": float(quant_min), "quant_max": float(quant_max)}
    for (xs, ys), (s, z), _ in parts(do, groups, (x, y), _scales(scale, zero_point, groups)):
        do.run(fake_quantize_per_tensor, {"x": xs, "scale": s, "zero_point": z}, ys, **limits)
    return y


@composed(dy="*shape : float", x="*shape : float", scale="? : float", zero_point="? : real", views=True)
def fake_quantize_per_group_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    scale: Given = None,
    zero_point: Given = None,
    *,
    group_size: GroupSizes = 128,
    axis: GroupAxes = -1,
    quant_min: int = -128,
    quant_max: int = 127,
) -> Any:
    """The gradient of `fake_quantize_per_group`'s x: dy where the code was in the range, else 0; dy itself without a scale.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> dy, x = np.ones((1, 4), np.float32), np.float32([[1, 200, 3, -4]])
    >>> baracuda.fake_quantize_per_group_backward(dy, x, np.float32([[1, 0.01]]), group_size=2).tolist()
    [[1.0, 0.0, 0.0, 0.0]]
    """
    groups = groups_of(x.shape, group_size, axis)
    check_range(quant_min, quant_max, False)
    if scale is None:
        return dy
    dx = new_like(do, x, x.kind, groups)
    limits = {"quant_min": float(quant_min), "quant_max": float(quant_max)}
    for (dys, xs, dxs), (s, z), _ in parts(do, groups, (dy, x, dx), _scales(scale, zero_point, groups)):
        do.run(STRAIGHT_THROUGH, {"dy": dys, "x": xs, "scale": s, "zero_point": z}, dxs, **limits)
    return dx
