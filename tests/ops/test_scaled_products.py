"""Products of scaled, packed and structured factors against NumPy, their gradients against PyTorch, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import Error, InvalidProblemError
from tests.cases.trial import to_device, to_host

torch = pytest.importorskip("torch")

F32 = np.float32
E4M3, E5M2 = K.F8E4M3.numpy, K.F8E5M2.numpy


def called(device: str, function: Callable[..., Any], *tensors: Any, **words: Any) -> Any:
    """A function's result on the host, of tensors on a device."""
    placed = [to_device(np.asarray(t), device) if isinstance(t, (np.ndarray, np.generic)) else t for t in tensors]
    words = {k: to_device(v, device) if isinstance(v, np.ndarray) else v for k, v in words.items()}
    result = function(*placed, **words)
    return tuple(map(to_host, result)) if isinstance(result, tuple) else to_host(result)


def _drawn(rng: Any, kind: Any, *shape: int) -> Any:
    if np.dtype(kind).kind in "iu" and np.dtype(kind).itemsize == 1:
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max + 1, shape).astype(kind)
    return rng.standard_normal(shape).astype(kind)


def _same(got: Any, expected: Any) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert np.array_equal(got.view(f"u{got.itemsize}"), np.ascontiguousarray(expected).view(f"u{got.itemsize}"))


# --- integers ---------------------------------------------------------------------------------------------------------


@pytest.mark.one_of(3)
@pytest.mark.parametrize("dtype", [K.F16, K.BF16, K.F32], ids=str)
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
@pytest.mark.parametrize("rows", [(), (7,), (3, 5), (70,)], ids=str)
def test_w8a8(rows: tuple[int, ...], kind: Any, dtype: K, device: str) -> None:
    """Bit for bit: the integer, rounded, by one scale, by the other, plus the bias."""
    rng = np.random.default_rng(1)
    x, weight = _drawn(rng, kind, *rows, 136), _drawn(rng, np.int8, 33, 136)
    x_scale, w_scale = np.asarray(rng.random(rows) / 99, F32), F32(rng.random((33, 1)))
    zeros, bias = np.asarray(rng.integers(-128, 128, rows), np.int32), rng.standard_normal(33).astype(dtype.numpy)
    exact = (x.astype(np.int64) - zeros[..., None]) @ weight.T.astype(np.int64)
    value = exact.astype(F32) * x_scale[..., None] * w_scale[:, 0] + bias.astype(F32)
    y = called(device, baracuda.w8a8_gemm, x, weight, x_scale, w_scale, bias, zeros, dtype=dtype)
    _same(y, value.astype(dtype.numpy))
    sums, one = weight.sum(1, dtype=np.int32), np.array([0.25], F32)
    y = called(device, baracuda.w8a8_gemm, x, weight, one, one, None, np.array(5, np.int8), sums, dtype=dtype)
    value = ((x.astype(np.int64) - 5) @ weight.T.astype(np.int64)).astype(F32) / 16
    _same(y, value.astype(dtype.numpy))


def _quantized(a: Any, sa: Any, za: Any, b: Any, sb: Any, zb: Any, sy: Any, zy: Any) -> Any:
    exact = np.matmul(a.astype(np.int64) - za, b.astype(np.int64) - zb)
    limits = np.iinfo(zy.dtype)
    return np.clip(np.rint(exact.astype(F32) * sa * sb / sy) + zy, limits.min, limits.max).astype(zy.dtype)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((7, 1, 3, 4), (2, 4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,))],
    ids=str,
)  # fmt: skip
def test_qlinear_matmul(shapes: tuple[Any, Any], device: str) -> None:
    rng = np.random.default_rng(2)
    for left, right, result in ((np.int8, np.uint8, np.int8), (np.uint8, np.int8, np.uint8)):
        a, b = _drawn(rng, left, *shapes[0]), _drawn(rng, right, *shapes[1])
        scales, zeros = (F32(0.1), F32(0.3), F32(20)), (left(3), right(7), result(11))
        operands = [np.asarray(v) for v in (a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2])]
        expected = _quantized(a, scales[0], int(zeros[0]), b, scales[1], int(zeros[1]), scales[2], np.asarray(zeros[2]))
        assert np.array_equal(called(device, baracuda.qlinear_matmul, *operands), expected)


def test_qlinear_matmul_of_rows_and_columns(device: str) -> None:
    rng = np.random.default_rng(3)
    a, b = _drawn(rng, np.int8, 2, 3, 4), _drawn(rng, np.int8, 2, 4, 5)
    sa, sb, sy = (rng.random(n).astype(F32) * f for n, f in ((3, 1), (5, 1), (3, 50)))
    za, zb, zy = (rng.integers(-9, 9, s).astype(np.int8) for s in ((2, 3, 1), (5,), (3,)))
    expected = _quantized(a, sa[:, None], za.astype(int), b, sb, zb.astype(int), sy[:, None], zy[:, None])
    assert np.array_equal(called(device, baracuda.qlinear_matmul, a, sa, za, b, sb, zb, sy, zy), expected)
    nothing = called(device, baracuda.qlinear_matmul, a, sa, za, b, sb, zb, sy * F32(np.nan), zy)
    assert not nothing.any()


# --- 8-bit floats -----------------------------------------------------------------------------------------------------


def _repeated(scale: Any, shape: tuple[int, ...], rows: int, size: int) -> Any:
    """Scales of blocks, one for each element."""
    whole = np.repeat(np.repeat(scale.astype(np.float64), rows, -2), size, -1)
    return whole[..., : shape[-2], : shape[-1]]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("kinds", [(E4M3, E4M3), (E5M2, E4M3)], ids=str)
@pytest.mark.parametrize("k", [40, 128, 300])
def test_fp8_scales(k: int, kinds: tuple[Any, Any], device: str) -> None:
    """Numbers, rows, and blocks of one row and of 128, of either factor."""
    rng = np.random.default_rng(4)
    m, n, blocks = 5, 150, -(-k // 128)
    a, b = _drawn(rng, kinds[0], m, k), _drawn(rng, kinds[1], n, k)
    shapes_a = {"one": (), "rows": (m,), "column": (m, 1), "blocks": (m, blocks)}
    shapes_b = {"one": (1,), "rows": (n,), "column": (n, 1), "blocks": (n, blocks), "squares": (2, blocks)}
    bias = rng.standard_normal(n).astype(F32)
    for of_a, of_b in [
        ("one", "one"),
        ("rows", "column"),
        ("column", "rows"),
        ("blocks", "squares"),
        ("rows", "squares"),
        ("blocks", "one"),
        ("blocks", "blocks"),
    ]:
        sa, sb = (np.asarray(rng.random(s[of]) + 0.5, F32) for s, of in ((shapes_a, of_a), (shapes_b, of_b)))
        wide = []
        for x, s, of in ((a, sa, of_a), (b, sb, of_b)):
            full = _repeated(s, x.shape, 128 if of == "squares" else 1, 128) if of in ("blocks", "squares") else s.reshape(-1, 1)
            wide.append(x.astype(np.float64) * full)
        y = called(device, baracuda.fp8_gemm_rowwise, a, b, sa, sb, bias, dtype="f32")
        room = np.abs(wide[0]) @ np.abs(wide[1].T)
        assert np.all(np.abs(y - (wide[0] @ wide[1].T + bias)) <= 1e-6 * (room + 1)), (of_a, of_b)
    assert called(device, baracuda.fp8_gemm_rowwise, a, b, *[np.ones((), F32)] * 2).dtype == K.BF16.numpy


def test_fp8_rows_are_scaled_mm(device: str) -> None:
    rng = np.random.default_rng(5)
    a, b = _drawn(rng, E4M3, 6, 260), _drawn(rng, E4M3, 9, 260)
    sa, sb = rng.random((6, 1)).astype(F32), rng.random((9, 1)).astype(F32)
    expected = called(device, baracuda.scaled_mm, a, b.T, sa, np.ascontiguousarray(sb.T))
    _same(called(device, baracuda.fp8_gemm_rowwise, a, b, sa[:, 0], sb), expected)


_POWERS = np.exp2(np.arange(256.0) - 127)
_E2M1 = np.array([s * v for s in (1, -1) for v in (0, 0.5, 1, 1.5, 2, 3, 4, 6)])


def _unpacked(codes: Any) -> Any:
    return _E2M1[np.stack([codes & 15, codes >> 4], -1).reshape(*codes.shape[:-1], -1)]


@pytest.mark.parametrize("k", [2, 32, 86, 160])
def test_block_formats(k: int, device: str) -> None:
    """Values by the published formats, and products with the bits of `linear` on them."""
    rng = np.random.default_rng(6)
    rows, n = (2, 3), 7
    bias = rng.standard_normal(n).astype(K.BF16.numpy)

    def check(function: Any, codes: Any, scales: Any, values: Any, *more: Any, factor: float = 1.0) -> None:
        y = called(device, function, *codes, *scales, *more, dtype="f32")
        x, w = values
        exact = (x @ w.swapaxes(-1, -2)) * factor
        assert np.all(np.abs(y - exact) <= 1e-6 * (np.abs(x) @ np.abs(w.T)) * factor)
        x, w = (v.astype(K.BF16.numpy) for v in values)
        assert np.array_equal(x.astype(np.float64), values[0])
        if factor == 1.0:
            _same(called(device, function, *codes, *scales, bias=bias), called(device, baracuda.linear, x, w, bias))

    blocks, small = -(-k // 32), -(-k // 16)
    exponents = [rng.integers(124, 131, (*s, blocks)).astype(np.uint8) for s in (rows, (n,))]
    wide = [np.repeat(_POWERS[e], 32, -1)[..., :k] for e in exponents]
    codes = _drawn(rng, E4M3, *rows, k), _drawn(rng, E5M2, n, k)
    check(baracuda.mxfp8_gemm, codes, exponents, [c.astype(np.float64) * s for c, s in zip(codes, wide, strict=True)])
    packed = [_drawn(rng, np.uint8, *s, k // 2) for s in (rows, (n,))]
    check(baracuda.mxfp4_gemm, packed, exponents, [_unpacked(c) * s for c, s in zip(packed, wide, strict=True)])
    scales = [(rng.random((*s, small)) + 0.5).astype(E4M3) for s in (rows, (n,))]
    values = [_unpacked(c) * np.repeat(s.astype(np.float64), 16, -1)[..., :k] for c, s in zip(packed, scales, strict=True)]
    check(baracuda.nvfp4_gemm, packed, scales, values)
    check(baracuda.nvfp4_gemm, packed, scales, values, np.array(0.5, F32), np.array([0.25], F32), factor=0.125)


def test_scales_at_the_ends(device: str) -> None:
    one, scale = np.array([[0x22]], np.uint8), np.array([[127]], np.uint8)
    for byte, expected in ((0, 2.0**-126), (255, np.nan), (254, np.inf)):
        codes = one if byte < 254 else np.array([[0x77]], np.uint8)
        y = called(device, baracuda.mxfp4_gemm, codes, one, np.array([[byte]], np.uint8), scale, dtype="f32")
        assert np.array_equal(y, np.array([[expected]], F32), equal_nan=True)


# --- groups -----------------------------------------------------------------------------------------------------------


def _by_groups(form: str, a: Any, b: Any, sa: Any, sb: Any, bias: Any, offs: Any) -> Any:
    if form == "batch":
        return (a @ b) * sa[:, :, None] * sb[:, None] + bias[:, None]
    pairs = [(0 if g == 0 else offs[g - 1], end) for g, end in enumerate(offs)]
    if form == "rows":
        parts = [(a[i:j] @ b[g]) * sa[i:j, None] * sb[g] + bias[g] for g, (i, j) in enumerate(pairs)]
        return torch.cat([*parts, torch.zeros(len(a) - offs[-1], b.shape[2], dtype=a.dtype)])
    return torch.stack([(a[:, i:j] @ b[i:j]) * sa[g, :, None] * sb[g] + bias[g] for g, (i, j) in enumerate(pairs)])


@pytest.mark.one_of(2)
@pytest.mark.parametrize("form", ["rows", "depth", "batch"])
@pytest.mark.parametrize("element", [K.S8, K.F8E4M3], ids=str)
def test_scaled_groups(element: K, form: str, device: str) -> None:
    """Values, and gradients by every tensor, against PyTorch in float64."""
    rng = np.random.default_rng(7)
    offs = None if form == "batch" else [2, 2, 7]
    shapes = {
        "rows": ((9, 4), (3, 4, 5), (9,), (3, 5), (3, 5)),
        "depth": ((4, 9), (9, 5), (3, 4), (3, 5), (3, 5)),
        "batch": ((3, 2, 4), (3, 4, 5), (3, 2), (3, 5), (3, 5)),
    }[form]
    wide = [rng.integers(-9, 9, s) if element is K.S8 else rng.standard_normal(s) for s in shapes[:2]]
    tensors = [v.astype(element.numpy) for v in wide] + [rng.standard_normal(s).astype(F32) for s in shapes[2:]]
    leaves = [torch.from_numpy(np.array(t.astype(np.float64))).requires_grad_() for t in tensors]
    expected = _by_groups(form, *leaves, offs)
    a, b, sa, sb, bias = tensors
    given = None if offs is None else np.array(offs, np.int32)
    y = called(device, baracuda.scaled_grouped_mm, a, b, sa, sb, given, bias, dtype="f32")
    np.testing.assert_allclose(y, expected.detach().numpy(), rtol=2e-5, atol=2e-5)
    dy = rng.standard_normal(expected.shape).astype(F32)
    slopes = torch.autograd.grad(expected, leaves, torch.from_numpy(dy.astype(np.float64)))
    names = ("a", "b", "scale_a", "scale_b", "bias")
    for wrt in (None, ("b",), ("scale_b", "a")):
        found = called(device, baracuda.scaled_grouped_mm_backward, dy, a, b, sa, sb, offs, bias, wrt=wrt)
        for name, g in zip(wrt or names, found if isinstance(found, tuple) else (found,), strict=True):
            want = slopes[names.index(name)].numpy()
            assert g.shape == want.shape
            np.testing.assert_allclose(g, want, rtol=2e-5, atol=2e-5 * np.abs(want).max(), err_msg=name)
    flat = called(device, baracuda.scaled_grouped_mm, a, b, sa.reshape(-1), sb.reshape(-1), offs, dtype="f32")
    _same(flat, called(device, baracuda.scaled_grouped_mm, a, b, sa, sb, offs, dtype="f32"))


# --- structure --------------------------------------------------------------------------------------------------------


def _compressed(rng: Any, n: int, k: int, kind: Any) -> tuple[Any, Any, Any]:
    """A weight with two of each four kept, what is kept, and where."""
    groups = k // 4
    places = np.array([(i, j) for i in range(4) for j in range(4) if i != j])[rng.integers(0, 12, (n, groups))]
    values = _drawn(rng, kind, n, groups, 2)
    whole = np.zeros((n, groups, 4), values.dtype)
    np.put_along_axis(whole, places, values, -1)
    halves = places[..., 0] | places[..., 1] << 2
    halves = np.concatenate([halves, np.zeros((n, groups % 2), int)], 1)
    return whole.reshape(n, k), values.reshape(n, k // 2), (halves[:, ::2] | halves[:, 1::2] << 4).astype(np.uint8)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("k", [4, 8, 20, 136])
@pytest.mark.parametrize("kind", [K.F32, K.BF16, K.F64, K.S8], ids=str)
def test_two_of_four(kind: K, k: int, device: str) -> None:
    """The bits of the whole weight's product, and its gradients."""
    rng = np.random.default_rng(8)
    whole, values, index = _compressed(rng, 6, k, kind.numpy)
    x = _drawn(rng, kind.numpy, 2, 3, k)
    if kind is K.S8:
        y = called(device, baracuda.semi_structured_24_gemm, x, values, index, dtype="s32")
        assert np.array_equal(y, x.astype(np.int32) @ whole.T.astype(np.int32))
        return
    bias, dy = _drawn(rng, kind.numpy, 6), _drawn(rng, kind.numpy, 2, 3, 6)
    _same(
        called(device, baracuda.semi_structured_24_gemm, x, values, index, bias), called(device, baracuda.linear, x, whole, bias)
    )
    dx, dvalues, dbias = called(device, baracuda.semi_structured_24_gemm_backward, dy, x, values, index, bias)
    wx, wwhole, wbias = called(device, baracuda.linear_backward, dy, x, whole, bias)
    _same(dx, wx)
    _same(dbias, wbias)
    kept = wwhole.reshape(6, k // 4, 4)
    bits = np.stack([index >> s & 3 for s in (0, 2, 4, 6)], -1).reshape(6, -1)[:, : k // 2].reshape(6, k // 4, 2)
    _same(dvalues, np.take_along_axis(kept, bits.astype(int), -1).reshape(6, k // 2))
    _same(called(device, baracuda.semi_structured_24_gemm_backward, dy, x, values, index, wrt=("values",)), dvalues)


def test_one_place_twice(device: str) -> None:
    x, values, index = F32([[1, 2, 3, 4]]), F32([[5, 7]]), np.array([[0b1010]], np.uint8)
    assert called(device, baracuda.semi_structured_24_gemm, x, values, index).tolist() == [[15.0]]
    slope = called(device, baracuda.semi_structured_24_gemm_backward, F32([[1]]), x, values, index, wrt=("values",))
    assert slope.tolist() == [[3.0, 0.0]]


@pytest.mark.parametrize("by_rows", [False, True])
def test_adapters(by_rows: bool, device: str) -> None:
    """Segments, some without an adapter, against PyTorch, and gradients by every tensor."""
    rng = np.random.default_rng(9)
    rows, k, rank, n = 9, 12, 4, 10
    starts, of = [1, 3, 3, 6, 8], [2, 0, -1, 2]
    each = [-1] * rows
    for s, i in enumerate(of):
        each[starts[s] : starts[s + 1]] = [i] * (starts[s + 1] - starts[s])
    y, x, a, b = (rng.standard_normal(s) for s in ((rows, n), (rows, k), (3, k, rank), (3, rank, n)))
    leaves = [torch.from_numpy(t.copy()).requires_grad_() for t in (y, x, a, b)]
    parts = [leaves[0][r] + (0.5 * (leaves[1][r] @ leaves[2][i] @ leaves[3][i]) if i >= 0 else 0) for r, i in enumerate(each)]
    expected = torch.stack(parts)
    words = (np.array(each),) if by_rows else (np.array(of), np.array(starts))
    got = called(device, baracuda.lora_sgmv, y, x, a, b, *words, scale=0.5)
    np.testing.assert_allclose(got, expected.detach().numpy(), rtol=1e-12)
    dy = rng.standard_normal((rows, n))
    slopes = torch.autograd.grad(expected, leaves, torch.from_numpy(dy))
    for g, want in zip(called(device, baracuda.lora_sgmv_backward, dy, y, x, a, b, *words, scale=0.5), slopes, strict=True):
        np.testing.assert_allclose(g, want.numpy(), rtol=1e-12, atol=1e-12)
    only = called(device, baracuda.lora_sgmv_backward, dy, y, x, a, b, *words, scale=0.5, wrt=("b",))
    np.testing.assert_allclose(only, slopes[3].numpy(), rtol=1e-12, atol=1e-12)
    into = to_device(y.copy(), device)
    given = [to_device(t, device) for t in (x, a, b)]
    baracuda.lora_sgmv(into, *given, *[list(map(int, w)) for w in words], scale=0.5, out=into)
    _same(to_host(into), got)


@pytest.mark.parametrize("kind", [K.F32, K.F16, K.F64, K.S32], ids=str)
def test_small_products(kind: K, device: str) -> None:
    """One chain for each sum, in f32 for 16-bit floats; of tensors and of lists."""
    rng = np.random.default_rng(10)
    a, b, c = ((rng.standard_normal(s) * 4).astype(kind.numpy) for s in ((50, 4, 3), (50, 3, 5), (50, 4, 5)))
    wide = [t.astype(np.float64) for t in (a, b, c)]
    expected = wide[0] @ wide[1]
    room = {K.F16: 2e-3, K.F32: 1e-6, K.F64: 1e-13, K.S32: 0}[kind] * (np.abs(wide[0]) @ np.abs(wide[1]) + 1)
    assert np.all(np.abs(called(device, baracuda.batched_small_gemm, a, b) - expected) <= room)
    added = called(device, baracuda.batched_small_gemm, a, b, c, alpha=2, beta=3)
    assert np.all(np.abs(added - (2 * expected + 3 * wide[2])) <= 3 * room + 1e-2 * (kind is K.F16) * np.abs(wide[2]))
    lists = [[to_device(t[i], device) for i in range(3)] for t in (a, b)]
    for y, want in zip(baracuda.batched_small_gemm(*lists), called(device, baracuda.batched_small_gemm, a, b), strict=False):
        _same(to_host(y), want)
    if kind is not K.S32:
        leaves = [torch.from_numpy(t.copy()).requires_grad_() for t in wide]
        y = 2 * (leaves[0] @ leaves[1]) + 3 * leaves[2]
        slopes = torch.autograd.grad(y, leaves, torch.from_numpy(wide[2]))
        found = called(device, baracuda.batched_small_gemm_backward, c, a, b, c, alpha=2.0, beta=3.0)
        for g, want in zip(found, slopes, strict=True):
            np.testing.assert_allclose(
                g.astype(float), want.numpy(), rtol=4e-3 if kind is K.F16 else 2e-5, atol=0.1 if kind is K.F16 else 1e-5
            )


# --- nothing, and what is refused -------------------------------------------------------------------------------------


def test_nothing(device: str) -> None:
    one, none = np.ones(1, F32), np.zeros((0, 4), np.int8)
    assert called(device, baracuda.w8a8_gemm, none, np.ones((3, 4), np.int8), one, one).shape == (0, 3)
    y = called(device, baracuda.w8a8_gemm, np.ones((2, 0), np.int8), np.ones((3, 0), np.int8), one, one, np.ones(3, K.BF16.numpy))
    assert (y == 1).all()
    assert called(device, baracuda.mxfp4_gemm, *[np.zeros((2, 0), np.uint8)] * 4).tolist() == [[0, 0], [0, 0]]
    empty = np.zeros((2, 0), F32)
    assert called(device, baracuda.semi_structured_24_gemm, empty, empty, np.zeros((2, 0), np.uint8)).tolist() == [[0, 0], [0, 0]]
    y = called(device, baracuda.lora_sgmv, np.ones((2, 3)), np.ones((2, 4)), np.ones((1, 4, 2)), np.ones((1, 2, 3)), [], [0])
    assert (y == 1).all()
    assert baracuda.batched_small_gemm([], []) == ()


_ONE, _BYTES = np.ones(1, F32), np.ones((2, 4), np.int8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: baracuda.w8a8_gemm(_BYTES, np.ones((3, 5), np.int8), _ONE, _ONE), r"weight: shape is \(3, 5\)"),
        (lambda: baracuda.w8a8_gemm(_BYTES, _BYTES, _ONE, _ONE, _ONE), r"bias: shape is \(1,\); expected \(2,\)"),
        (lambda: baracuda.w8a8_gemm(_BYTES, _BYTES, _ONE, _ONE, np.ones(2, F32)), "bias: element is f32; expected the res"),
        (lambda: baracuda.w8a8_gemm(_BYTES, _BYTES, np.ones(3, F32), _ONE), r"x_scale: shape is \(3,\)"),
        (lambda: baracuda.fp8_gemm_rowwise(*[np.ones((2, 130), E4M3)] * 2, np.ones((2, 3), F32), _ONE), "scale_a: shape is"),
        (lambda: baracuda.mxfp4_gemm(*[np.ones((2, 17), np.uint8)] * 2, *[np.ones((2, 1), np.uint8)] * 2), r"expected \(2, 2\)"),
        (lambda: baracuda.semi_structured_24_gemm(np.ones((2, 6)), np.ones((2, 3)), np.ones((2, 1), np.uint8)), "multiple of 4"),
        (lambda: baracuda.semi_structured_24_gemm(np.ones((2, 8)), np.ones((2, 4)), np.ones((2, 2), np.uint8)), "two groups"),
        (lambda: baracuda.lora_sgmv(*[np.ones((2, 2))] * 2, *[np.ones((1, 2, 2))] * 2, [1], [0, 2]), "index: 1; expected an"),
        (lambda: baracuda.lora_sgmv(*[np.ones((2, 2))] * 2, *[np.ones((1, 2, 2))] * 2, [0], [0, 3]), "starts: .*at most to 2"),
        (lambda: baracuda.scaled_grouped_mm(_BYTES, _BYTES, _ONE, _ONE, [1]), "expected .rows, k. and"),
        (lambda: baracuda.scaled_grouped_mm(_BYTES, np.ones((1, 4, 3), np.int8), np.ones(2, F32), np.ones(3, F32), [3]), "offs"),
        (lambda: baracuda.batched_small_gemm([np.ones((2, 2))], []), "lists of as many matrices"),
        (lambda: baracuda.batched_small_gemm([np.ones((2, 2))], [np.ones((3, 2))]), "do not contract"),
    ],
)  # fmt: skip
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(Error, match=message) as raised:
        call()
    assert isinstance(raised.value, InvalidProblemError)
