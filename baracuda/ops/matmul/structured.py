"""Products by a weight of which two of each four neighbours are kept: 2:4 sparsity.

A weight (n, k) is held as its values, (n, k / 2), and their places: for each four neighbours along k two numbers of 2 bits, 0 to
3, four of them a byte, the first one lowest: (n, ceil(k / 8)) of u8. Where both numbers are one place, the first value counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_at, expanded_dims, slab, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Shape, Space, Stored
from baracuda.ops.declaration.words import Dtype, Wrt
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.matmul.scales import check_bias, free_labels
from baracuda.ops.quantization.blocks import in_words
from baracuda.ops.reductions.reductions import sum_

_S32, _U64 = ElementKind.S32, ElementKind.U64


def _places(index: Expr, axis: int) -> tuple[Expr, Expr]:
    """The places of both values of a group of four, which is the first or the second of its byte, as `axis` counts."""
    own = cast(index, _S32) >> (cast(coord(axis), _S32) * 4)
    return own & 3, (own >> 2) & 3


def _dense(first: Expr, second: Expr, index: Own) -> Expr:
    at, places = cast(coord(3), _S32), _places(index, 2)
    return select(f.equal(at, places[0]), first, select(f.equal(at, places[1]), second, const(0, first.kind)))


def _word(pair: Own, index: Own, *, bits: int = 16) -> Stored:
    """The four elements, of so many bits each, of the first or the second group of an index's byte, as a word."""
    first, second = _places(index, 2)
    wide, kind = cast(pair, _U64), ElementKind.U64 if bits == 16 else ElementKind.U32
    low, high = wide & ((1 << bits) - 1), wide >> bits
    word = low << cast(first * bits, _U64) | select(f.equal(first, second), const(0, _U64), high << cast(second * bits, _U64))
    return Stored(cast(word, kind), kind)


def _word_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"pair": (0, 1, 2), "index": (0, 1)})


def _dense_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"first": (0, 1, 2), "second": (0, 1, 2), "index": (0, 1)}, {3: 4})


def _kept(x0: Expr, x1: Expr, x2: Expr, x3: Expr, index: Own) -> dict[str, Expr]:
    first, second = _places(index, 2)

    def at(place: Expr) -> Expr:
        low = select(f.equal(place, 0), x0, x1)
        return select(place < 2, low, select(f.equal(place, 2), x2, x3))

    return {"first": at(first), "second": select(f.equal(first, second), const(0, x0.kind), at(second))}


_OPTIONS: dict[str, Any] = {"family": "gemm", "takes": "any", "byte_floats": True, "differentiable": False}
_dense_op = Op(_dense, Rule.COMMON, name="dense_of_2_4", space=_dense_space, **_OPTIONS)
_word_op = Op(_word, Rule.EACH, name="word_of_2_4", space=_word_space, **_OPTIONS)
_kept_op = Op(_kept, Rule.COMMON, name="kept_of_2_4", results=("first", "second"), **_OPTIONS)


def _in_bytes(groups: int) -> list[tuple[int, int, int]]:
    """The first byte of indices, how many there are, and the groups of four of each: of whole bytes, then of a last half."""
    found = [(0, groups // 2, 2)] if groups > 1 else []
    return [*found, (groups // 2, 1, 1)] if groups % 2 else found


def _values(t: TensorRef, byte: int, count: int, groups: int, number: int) -> Any:
    """The first or the second value of each group."""
    down, right = t.strides
    return view(t, (4 * byte + number) * right, (t.shape[0], count, groups), (down, 4 * right, 2 * right))


def _fours(t: TensorRef, byte: int, count: int, groups: int) -> Any:
    """The four elements of each group of a whole weight."""
    down, right = t.strides
    return view(t, 8 * byte * right, (t.shape[0], count, groups, 4), (down, 8 * right, 4 * right, right))


def _index(index: TensorRef, byte: int, count: int) -> Any:
    return slab(index, 1, byte, byte + count)


def _in_groups(t: TensorRef, byte: int, count: int, groups: int) -> Any:
    """Words, one for each group of four, by the bytes of indices."""
    down, right = t.strides
    return view(t, 2 * byte * right, (t.shape[0], count, groups), (down, 2 * right, right))


def dense(do: Steps, values: TensorRef, index: TensorRef) -> TensorRef:
    """The weight (n, k), zeros where nothing is kept."""
    weight = do.rows((values.shape[0], 2 * values.shape[1]), values.kind)
    if 0 in weight.shape:
        return weight
    if values.kind.bits in (8, 16):
        pairs, words = in_words(do, values, 2), in_words(do, weight, 4)
        for byte, count, groups in _in_bytes(words.shape[1]):
            tensors = {"pair": _in_groups(pairs, byte, count, groups), "index": _index(index, byte, count)}
            do.run(_word_op, tensors, _in_groups(words, byte, count, groups), bits=values.kind.bits)
        return weight
    for byte, count, groups in _in_bytes(values.shape[1] // 2):
        first, second = (_values(values, byte, count, groups, i) for i in (0, 1))
        tensors = {"first": first, "second": second, "index": _index(index, byte, count)}
        do.run(_dense_op, tensors, _fours(weight, byte, count, groups))
    return weight


def _check(x: TensorRef, values: TensorRef, index: TensorRef) -> None:
    k = x.shape[-1]
    if k % 4 or values.shape[1] * 2 != k:
        raise InvalidProblemError(
            f"values: shape is {values.shape} for x of {k} along k; expected half of it, of a multiple of 4"
        )
    if index.shape[1] != -(-k // 8):
        raise InvalidProblemError(
            f"index: shape is {index.shape}; expected {(values.shape[0], -(-k // 8))}, two groups of four a byte"
        )


_WEIGHT: dict[str, Any] = {"x": "*rows k : T real", "values": "n kept : T", "index": "n places : u8", "bias": "n"}


@composed(out=True, **_WEIGHT)
def semi_structured_24_gemm(
    do: Steps,
    x: TensorRef,
    values: TensorRef,
    index: TensorRef,
    bias: Given = None,
    *,
    dtype: Dtype = None,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """x @ weight.T + bias for a weight of which two of each four neighbours along k are kept: x (..., k), k a multiple of 4.

    values (n, k / 2), of x's element, are what is kept; index (n, ceil(k / 8)), u8, their places among four: 2 bits for each
    value, four a byte, the first one lowest. Where both values of four name one place, the first counts. The result's element is
    x's unless dtype says otherwise (s32 for exact sums of s8); bias is (n) of that.

    The result has the bits of `linear` with the whole weight, zeros where nothing is kept.

    Raises `InvalidProblemError` for shapes and elements that do not fit.

    Source: torch._cslt_sparse_mm; NVIDIA's 2:4 sparsity (Mishra et al. 2021).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> values, index = np.float32([[5, 7]]), np.uint8([[0b1101]])  # 0, 5, 0, 7
    >>> baracuda.semi_structured_24_gemm(np.float32([[1, 2, 3, 4]]), values, index).tolist()
    [[38.0]]
    """
    _check(x, values, index)
    element = dtype or x.kind
    check_bias(bias, element)
    free = free_labels(len(x.shape))
    weight = dense(do, values, index)
    d = labelled(x, weight, f"{free}k", "nk", f"{free}n", element=element, bias_axis=None if bias is None else -1)
    y: TensorRef = do.plan(MatmulPlan, d, {"a": x, "b": weight, "bias": bias}, do.out, preference)
    return y


@composed(dy="*rows n : float", **{**_WEIGHT, "x": "*rows k : T float"})
def semi_structured_24_gemm_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    values: TensorRef,
    index: TensorRef,
    bias: Given = None,
    *,
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> Any:
    """The gradients of `semi_structured_24_gemm`'s x, values and bias, those named in `wrt` or of all that are given.

    dx = dy @ weight; those of the values are what is at their places in dy.T @ x; that of the bias is dy summed over the rows."""
    _check(x, values, index)
    names = chosen(wrt, ("x", "values", *(() if bias is None else ("bias",))))
    free = free_labels(len(x.shape))
    made: dict[str, TensorRef] = {}
    if "x" in names:
        weight = dense(do, values, index)
        d = labelled(dy, weight, f"{free}n", "nk", f"{free}k")
        made["x"] = do.plan(MatmulPlan, d, {"a": dy, "b": weight}, None, preference)
    if "values" in names:
        d = labelled(dy, x, f"{free}n", f"{free}k", "nk")
        slope = do.plan(MatmulPlan, d, {"a": dy, "b": x}, None, preference)
        kept = do.rows(values.shape, values.kind)
        for byte, count, groups in _in_bytes(values.shape[1] // 2):
            fours = _fours(slope, byte, count, groups)
            tensors = {f"x{i}": axis_at(fours, 3, i) for i in range(4)}
            into = tuple(_values(kept, byte, count, groups, i) for i in (0, 1))
            do.run(_kept_op, {**tensors, "index": expanded_dims(_index(index, byte, count), (0, 1), 3)}, into)
        made["values"] = kept
    if "bias" in names:
        made["bias"] = do.run(sum_, {"x": dy}, axis=tuple(range(len(dy.shape) - 1)), dtype=dy.kind) if len(dy.shape) > 1 else dy
    return one_or_all([made[n] for n in names])
