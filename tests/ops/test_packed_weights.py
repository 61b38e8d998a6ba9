"""Products with packed weights: bits against the contract in NumPy, values against PyTorch on dequantized weights, and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from tests.cases.trial import to_device, to_host
from tests.ops.packed_reference import RANGES, packed, product, whole_weights

torch = pytest.importorskip("torch")
Array = np.ndarray[Any, Any]
#: Rows, weights and steps of k: one row, more than are multiplied side by side, odd extents, several steps of a strip.
SHAPES = [(1, 16, 256), (3, 33, 300), (17, 40, 777), (140, 20, 256), (2, 7, 1)]


def drawn(kind: str, m: int, n: int, k: int, group: int, *, zero: bool) -> tuple[Array, Array, Array, Array | None]:
    """x, codes, scales and zero points."""
    rng = np.random.default_rng(m + n + k + group)
    groups = max(1, -(-k // group))
    x = (rng.standard_normal((m, k)) * np.exp(rng.standard_normal((m, k)))).astype(np.float32)
    low, high = RANGES[kind]
    zeros = rng.integers(low, high, (n, groups)).astype(np.int32) if zero else None
    return x, rng.integers(low, high, (n, k)), rng.standard_normal((n, groups)).astype(np.float32), zeros


def stored(kind: str, codes: Array) -> Array:
    """The weights as a function takes them."""
    if kind in ("u8", "s8"):
        return codes.astype(np.uint8 if kind == "u8" else np.int8)
    return packed(codes, 2 if kind == "ternary" else 4, high_first=kind == "nf4")


def called(kind: str, x: Any, weight: Any, scale: Any, zero: Any, **options: Any) -> Any:
    """The function of a kind of weights."""
    if kind == "ternary":
        return baracuda.ternary_gemm(x, weight, scale, **options)
    if kind == "nf4":
        return baracuda.nf4_gemm(x, weight, scale, **options)
    if kind in ("u8", "s8"):
        return baracuda.int8_weight_gemm(x, weight, scale, zero, **options)
    return baracuda.int4_weight_gemm(x, weight, scale, zero, signed=kind == "s4", **options)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("group", [32, 64, 128, 256, 1 << 20])
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.one_of(10)
def test_bits_are_those_of_the_contract(kind: str, zero: bool, group: int, shape: tuple[int, ...], device: str) -> None:
    zero = zero and kind not in ("ternary", "nf4")
    x, codes, scale, zeros = drawn(kind, *shape, group, zero=zero)
    if shape[0] == 17:  # with elements that are not finite
        x[3, 5], x[4, 700], x[5, 9], x[5, 20] = np.inf, np.nan, -np.inf, np.inf
    tensors = [None if t is None else to_device(t, device) for t in (x, stored(kind, codes), scale, zeros)]
    y = to_host(called(kind, *tensors, group_size=group))
    np.testing.assert_array_equal(y, product(kind, x, codes, scale, zeros, group))


@pytest.mark.parametrize("kind", RANGES)
def test_values_are_those_of_pytorch_on_dequantized_weights(kind: str, device: str) -> None:
    x, codes, scale, zeros = drawn(kind, 5, 24, 384, 128, zero=kind in ("u4", "u8"))
    x = np.clip(x, -4, 4)
    whole = whole_weights(kind, codes, zeros, 128) * (2.0**-14 if kind == "nf4" else 1.0)
    bias = np.linspace(-3, 3, 24, dtype=np.float32)
    weights = whole * np.repeat(scale, 128, 1).astype(np.float64)
    exact = torch.nn.functional.linear(torch.from_numpy(x).double(), torch.from_numpy(weights), torch.from_numpy(bias).double())
    tensors = [None if t is None else to_device(t, device) for t in (x, stored(kind, codes), scale, zeros)]
    y = to_host(called(kind, *tensors, bias=to_device(bias, device), group_size=128, activation="silu"))
    expected = torch.nn.functional.silu(exact).numpy()
    bound = 0.51 * 2.0**-15 * 4 * np.abs(weights).sum(1) + 1e-6 * (np.abs(x) @ np.abs(weights).T)
    assert np.all(np.abs(y - expected) < 1.1 * bound + 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_rounded_once(dtype: str, device: str) -> None:
    x, codes, scale, zeros = drawn("u4", 6, 20, 256, 64, zero=True)
    narrow = torch.from_numpy(x).to(getattr(torch, dtype)).clamp(-100, 100)
    sums = product("u4", narrow.float().numpy(), codes, scale, zeros, 64)
    assert zeros is not None
    weights = [torch.from_numpy(t).to(device) for t in (stored("u4", codes), scale, zeros)]
    tensors = [narrow.to(device), *weights]
    y = baracuda.int4_weight_gemm(*tensors, group_size=64)
    assert torch.equal(y.cpu(), torch.from_numpy(sums).to(narrow.dtype))
    whole = baracuda.int4_weight_gemm(*tensors, group_size=64, dtype="f32")
    assert np.array_equal(whole.cpu().numpy(), sums)


def test_any_strides(device: str) -> None:
    x, codes, scale, zeros = drawn("u4", 6, 20, 256, 64, zero=True)
    assert zeros is not None
    weight = stored("u4", codes)
    expected = product("u4", x, codes, scale, zeros, 64).reshape(2, 3, 20)
    turned = [torch.from_numpy(t.T.copy()).to(device).T for t in (weight, scale, zeros)]
    apart = torch.zeros(3, 2, 512, device=device)[:, :, ::2].transpose(0, 1)
    apart.copy_(torch.from_numpy(x.reshape(2, 3, 256)))
    out = torch.full((3, 2, 40), float("nan"), device=device).transpose(0, 1)[:, :, ::2]
    y = baracuda.int4_weight_gemm(apart, *turned, out=out)
    assert y is out
    assert np.array_equal(out.cpu().numpy(), expected)


def test_scales_of_rows_and_of_the_tensor(device: str) -> None:
    x, codes, scale, _ = drawn("s8", 3, 20, 200, 1 << 20, zero=False)
    tensors = to_device(x, device), to_device(stored("s8", codes), device)
    of_rows = to_host(baracuda.int8_weight_gemm(*tensors, to_device(scale[:, 0].copy(), device)))
    assert np.array_equal(of_rows, product("s8", x, codes, scale, None, 1 << 20))
    of_all = to_host(baracuda.int8_weight_gemm(*tensors, to_device(np.array(0.75, np.float16), device)))
    assert np.array_equal(of_all, product("s8", x, codes, np.full_like(scale, 0.75), None, 1 << 20))


def test_a_row_has_the_same_bits_alone(device: str) -> None:
    x, codes, scale, zeros = drawn("u4", 40, 48, 512, 128, zero=True)
    assert zeros is not None
    tensors = [to_device(t, device) for t in (stored("u4", codes), scale, zeros)]
    every = to_host(baracuda.int4_weight_gemm(to_device(x, device), *tensors))
    for rows in (slice(0, 1), slice(7, 9), slice(20, 36)):
        some = to_host(baracuda.int4_weight_gemm(to_device(x[rows], device), *tensors))
        assert np.array_equal(some, every[rows])


def test_nothing(device: str) -> None:
    for m, k in ((2, 0), (0, 4)):
        tensors = np.ones((m, k), np.float32), np.zeros((3, k // 2), np.uint8), np.ones(3, np.float32)
        y = to_host(baracuda.int4_weight_gemm(*(to_device(t, device) for t in tensors)))
        assert np.array_equal(y, np.zeros((m, 3), np.float32))


def test_nf4_scales_as_bitsandbytes_keeps_them(device: str) -> None:
    x, codes, scale, _ = drawn("nf4", 2, 6, 128, 64, zero=False)
    tensors = to_device(x, device), to_device(stored("nf4", codes), device)
    y = to_host(baracuda.nf4_gemm(*tensors, to_device(scale.reshape(-1), device)))
    assert np.array_equal(y, product("nf4", x, codes, scale, None, 64))


X, W, S = np.ones((2, 64), np.float32), np.zeros((3, 32), np.uint8), np.ones((3, 2), np.float32)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((X, W[:, :31], S), {}, InvalidProblemError, r"weight: shape is \(3, 31\); expected \(n, 32\), 64 codes of 4 bits a row"),
        (
            (X, W, S),
            {"group_size": 48},
            InvalidProblemError,
            "group_size: 48; expected 32, 64, a multiple of 128, or the whole of k",
        ),
        ((X, W, np.ones((3, 3), np.float32)), {}, InvalidProblemError, "3 for each row of 64 weights; expected group_size"),
        ((X, W, S), {"group_size": 64}, InvalidProblemError, r"scale: shape is \(3, 2\); expected \(\), \(3,\) or \(3, 1\)"),
        ((X.astype(np.float64), W, S), {}, InvalidProblemError, "x: element is f64; expected one of f16, bf16, f32"),
        ((X, W, S, np.ones((3, 2), np.float32)), {}, UnsupportedError, "zero_point"),
        ((X, W, S, None, np.ones(4, np.float32)), {}, InvalidProblemError, "bias"),
        ((X, W, S), {"activation": "sine"}, InvalidProblemError, "activation"),
        ((X, W.astype(np.int8), S), {}, InvalidProblemError, "weight"),
    ],
)
def test_what_is_refused(arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        baracuda.int4_weight_gemm(*arguments, **options)


@pytest.mark.parametrize("type_", ["Q4_0", "Q8_0"])
def test_codes_of_ggml_are_multiplied_as_they_are(type_: str, device: str) -> None:
    rng = np.random.default_rng(5)
    n, k, size = 20, 256, 18 if type_ == "Q4_0" else 34
    x = rng.standard_normal((4, k)).astype(np.float32)
    x[2, 40] = np.inf
    scale = rng.standard_normal((n, k // 32)).astype(np.float16)
    codes = rng.integers(0, 256, (n, k // 32, size - 2)).astype(np.uint8)
    weight = np.concatenate([scale.view(np.uint8).reshape(n, -1, 2), codes], -1).reshape(n, -1)
    y = to_host(baracuda.gguf_gemm(to_device(x, device), to_device(weight, device), type_))
    if type_ == "Q8_0":
        expected = product("s8", x, codes.view(np.int8).reshape(n, k), scale, None, 32)
    else:
        halves = np.concatenate([codes & 15, codes >> 4], -1).reshape(n, k)
        expected = product("u4", x, halves, scale, np.full(scale.shape, 8), 32)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("type_", ["Q4_1", "Q5_0", "Q2_K", "Q4_K", "Q6_K", "IQ4_XS", "MXFP4"])
def test_other_formats_of_ggml_are_dequantized(type_: str, device: str) -> None:
    size, length = {"Q4_1": (20, 32), "Q5_0": (22, 32), "Q2_K": (84, 256), "Q4_K": (144, 256), "Q6_K": (210, 256)}.get(
        type_, (136, 256) if type_ == "IQ4_XS" else (17, 32)
    )
    rng = np.random.default_rng(6)
    # bytes below 60 are no exponent of infinity in either half of an f16, nor in E8M0
    weight = to_device(rng.integers(0, 60, (9, 512 // length * size)).astype(np.uint8), device)
    x, bias = (to_device(rng.standard_normal(s).astype(np.float32), device) for s in ((2, 3, 512), (9,)))
    y = to_host(baracuda.gguf_gemm(x, weight, type_, bias, activation="relu"))
    by = baracuda.gguf_dequantize(weight, type_)
    np.testing.assert_array_equal(y, to_host(baracuda.linear(x, by, bias, activation="relu")))


def test_a_row_of_blocks_that_is_not_whole_is_refused() -> None:
    with pytest.raises(InvalidProblemError, match=r"shape is \(3, 35\); expected \(n, bytes\), 18 bytes for each 32 of 64"):
        baracuda.gguf_gemm(X, np.zeros((3, 35), np.uint8), "Q4_0")
