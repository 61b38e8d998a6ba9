"""Packed codes, layouts of words, GPTQ's sweep and scales that follow from statistics."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import baracuda
from tests.ops.quantized_rows import packed, scale_of

RNG = np.random.default_rng(20)
Array = np.ndarray[Any, Any]


def _signed(codes: Array, bits: int) -> Array:
    low = codes.astype(np.int64) & (1 << bits) - 1
    return low - ((low >> bits - 1) << bits)


@pytest.mark.parametrize("bits", [4, 2])
@pytest.mark.parametrize("order", ["low_first", "high_first"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32])
def test_packing(bits: int, order: Any, kind: Any) -> None:
    for shape, axis in (((3, 16), -1), ((3, 17), -1), ((9, 4), 0), ((1,), 0), ((2, 0), 1)):
        whole = RNG.integers(0, 100, shape).astype(kind)
        for x in (whole, whole[..., ::-1]):
            last = np.moveaxis(x.astype(np.int64), axis, -1)
            wanted = np.moveaxis(packed(last, bits, order == "low_first"), -1, axis)
            words: dict[str, Any] = {"axis": axis, "order": order}
            got = baracuda.pack_int4(x, **words) if bits == 4 else baracuda.pack_int2(x, **words)
            assert got.shape == wanted.shape
            assert (got == wanted).all()
            words["size"] = x.shape[axis]
            for signed in (True, False):
                if bits == 4:
                    back = baracuda.unpack_int4(got, signed=signed, **words)
                else:
                    back = baracuda.pack_int2(got, inverse=True, signed=signed, **words)
                assert back.dtype == (np.int8 if signed else np.uint8)
                assert (back == (_signed(x, bits) if signed else x.astype(np.int64) & (1 << bits) - 1)).all()


def test_sizes_that_bytes_do_not_have() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match="size: 3; expected 5 to 8 codes of 2 bytes"):
        baracuda.pack_int2(np.zeros(2, np.uint8), inverse=True, size=3)


# --- layouts, as the libraries' own code builds them ------------------------------------------------------------------


def _gptq(w: Array) -> Array:
    return sum((w[c::8].astype(np.uint32) << np.uint32(4 * c) for c in range(8)), np.zeros(1, np.uint32))


def _awq(w: Array) -> Array:
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    return sum((w[:, o::8].astype(np.uint32) << np.uint32(4 * i) for i, o in enumerate(order)), np.zeros(1, np.uint32))


def _marlin(w: Array) -> Array:
    """The permutation of 1024 codes that a warp loads, then 16 x 16 tiles, then words of neighbours."""
    places: list[int] = []
    for lane in range(32):
        rows = [2 * (lane % 4), 2 * (lane % 4) + 1, 2 * (lane % 4 + 4), 2 * (lane % 4 + 4) + 1]
        own = [16 * row + lane // 4 + 8 * half for half in (0, 1) for row in rows]
        for tile in range(4):
            places += [p + 256 * tile for p in own]
    order = np.array(places).reshape(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]].ravel()
    k, n = w.shape
    tiles = w.reshape(k // 16, 16, n // 16, 16).transpose(0, 2, 1, 3).reshape(-1, 1024)[:, order].reshape(k // 16, 16 * n)
    return sum((tiles[:, c::8].astype(np.uint32) << np.uint32(4 * c) for c in range(8)), np.zeros(1, np.uint32))


@pytest.mark.parametrize(("layout", "reference"), [("gptq", _gptq), ("awq", _awq), ("marlin", _marlin)])
def test_layouts(layout: Any, reference: Any) -> None:
    w = RNG.integers(0, 16, (32, 192)).astype(np.uint8)
    words = baracuda.pack_int4_layout(w, layout=layout)
    assert (words.view(np.uint32) == reference(w)).all()
    assert (baracuda.pack_int4_layout(words, layout=layout, inverse=True) == w).all()
    signed = baracuda.pack_int4_layout(words.view(np.uint32), layout=layout, inverse=True, signed=True)
    assert (signed == _signed(w, 4)).all()


def test_extents_that_a_layout_does_not_take() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match=r"x: shape is \(16, 32\); expected multiples of 16 and 64"):
        baracuda.pack_int4_layout(np.zeros((16, 32), np.uint8), layout="marlin")


# --- GPTQ -------------------------------------------------------------------------------------------------------------


def _fma(a: Any, b: Any, c: Any) -> Any:
    return np.float32(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))))


@pytest.mark.parametrize(("block", "size"), [(12, 4), (10, -1), (7, 3)])
@pytest.mark.parametrize("symmetric", [True, False])
def test_gptq(block: int, size: int, symmetric: bool) -> None:
    n, low, high = 5, -8, 7
    factor = RNG.standard_normal((block, 2 * block))
    hessian = factor @ factor.T / block + np.eye(block)
    u = np.ascontiguousarray(np.linalg.cholesky(np.linalg.inv(hessian)).T.astype(np.float32))
    weight = RNG.standard_normal((n, block)).astype(np.float32)
    got = baracuda.gptq_update(weight, u, group_size=size, quant_min=low, quant_max=high, symmetric=symmetric)
    w, width = weight.copy(), block if size == -1 else size
    q, y, errors = np.zeros((n, block)), np.zeros_like(w), np.zeros_like(w)
    scale, zero = np.zeros(got[3].shape, np.float32), np.zeros(got[3].shape, np.int32)
    for i in range(block):
        g = i // width
        for r in range(n):
            if i % width == 0:
                scale[r, g], zero[r, g] = scale_of(w[r, i : i + width], low, high, symmetric)
            q[r, i] = np.clip(np.rint(w[r, i] / scale[r, g]) + zero[r, g], low, high)
            y[r, i] = np.float32(q[r, i] - zero[r, g]) * scale[r, g]
            errors[r, i] = (w[r, i] - y[r, i]) / u[i, i]
            for j in range(i + 1, block):
                w[r, j] = _fma(-errors[r, i], u[i, j], w[r, j])
    assert (got[0] == q).all()
    for ours, wanted in zip(got[1:4], (y, errors, scale), strict=True):
        assert (ours == wanted).all()
    assert (zero == 0).all() if got[4] is None else (got[4] == zero).all()
    again = baracuda.gptq_update(weight, u, got[3], got[4], group_size=size, quant_min=low, quant_max=high)
    assert all((a == b).all() for a, b in zip(again, got[:3], strict=True))


# --- scales -----------------------------------------------------------------------------------------------------------


def test_smooth_quant_keeps_the_product() -> None:
    x, weight = RNG.standard_normal((7, 12)).astype(np.float32), RNG.standard_normal((5, 12)).astype(np.float32)
    largest = np.abs(x).max(0), np.abs(weight).max(0)
    s, divided, multiplied = baracuda.smooth_quant_scale(*largest, alpha=0.75, x=x, weight=weight)
    np.testing.assert_allclose(s, largest[0] ** 0.75 / largest[1] ** 0.25, rtol=1e-6)
    np.testing.assert_allclose(divided @ multiplied.T, x @ weight.T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("algorithm", ["max", "most_recent"])
def test_histories_of_amax(algorithm: Any) -> None:
    history, scale = np.abs(RNG.standard_normal((5, 4))).astype(np.float32), np.float32([1, 2, 3, 4])
    amax = np.float32([3, 0, np.inf, np.nan])
    filled = history.copy()
    filled[0] = amax
    largest = filled.max(0) if algorithm == "max" else amax
    fits = (largest > 0) & (largest < np.inf)
    wanted = np.where(fits, np.float32(448) / np.where(fits, largest, 1) / np.float32(4), scale)
    moved = np.roll(filled, -1, 0)
    moved[0] = 0
    for state, given in ((history, amax), (filled, None)):
        new, found = baracuda.amax_history_update(state, scale, given, algorithm=algorithm, margin=2)
        np.testing.assert_array_equal(new, moved)
        np.testing.assert_array_equal(found, wanted)
