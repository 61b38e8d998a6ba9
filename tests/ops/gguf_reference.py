"""GGML's block formats in NumPy, element by element: which byte and which bits element e of a block is made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Bytes = np.ndarray
SIZES = {
    "Q4_0": (32, 18), "Q4_1": (32, 20), "Q5_0": (32, 22), "Q5_1": (32, 24), "Q8_0": (32, 34), "Q8_1": (32, 36),
    "Q2_K": (256, 84), "Q3_K": (256, 110), "Q4_K": (256, 144), "Q5_K": (256, 176), "Q6_K": (256, 210), "Q8_K": (256, 292),
    "IQ4_NL": (32, 18), "IQ4_XS": (256, 136), "TQ1_0": (256, 54), "TQ2_0": (256, 66), "MXFP4": (32, 17),
}  # fmt: skip
_E = np.arange(32)
_K = np.arange(256)
_NONLINEAR = np.float32([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])


def _half(b: Bytes, at: int) -> np.ndarray:
    return np.ascontiguousarray(b[:, at : at + 2]).view(np.float16).astype(np.float32)


def _bits(b: Bytes, at: np.ndarray, shift: np.ndarray, mask: int) -> np.ndarray:
    return b[:, at].astype(np.int64) >> shift & mask


def _nibbles(b: Bytes, at: int) -> np.ndarray:
    return _bits(b, at + _E % 16, 4 * (_E // 16), 15)


def _top(b: Bytes, at: int) -> np.ndarray:
    return 16 * _bits(b, at + _E // 8, _E % 8, 1)


def _signed(b: Bytes, at: int, count: int) -> np.ndarray:
    return np.ascontiguousarray(b[:, at : at + count]).view(np.int8).astype(np.float32)


def _of_six_bits(b: Bytes) -> tuple[np.ndarray, np.ndarray]:
    j = np.arange(8)
    early, late = j < 4, j >= 4
    scale = np.where(early, b[:, 4 + j] & 63, (b[:, np.minimum(8 + j, 15)] & 15) + 16 * (b[:, np.maximum(j, 4)] >> 6))
    least = np.where(early, b[:, 8 + j] & 63, (b[:, np.minimum(8 + j, 15)] >> 4) + 16 * (b[:, 4 + j] >> 6))
    assert early.sum() == late.sum() == 4
    return scale.astype(np.float32), least.astype(np.float32)


def _linear(d: np.ndarray, q: np.ndarray, m: np.ndarray | float | None = None) -> np.ndarray:
    product = (d * q.astype(np.float32)).astype(np.float32)
    return product if m is None else product + m


def _q2_k(b: Bytes) -> np.ndarray:
    code = _bits(b, 16 + 32 * (_K // 128) + _K % 32, 2 * (_K // 32 % 4), 3)
    scale = b[:, _K // 16]
    return _linear(_half(b, 80) * (scale & 15), code) - _half(b, 82) * (scale >> 4)


def _q3_k(b: Bytes) -> np.ndarray:
    code = _bits(b, 32 + 32 * (_K // 128) + _K % 32, 2 * (_K // 32 % 4), 3)
    code = code - 4 * (1 - _bits(b, _K % 32, _K // 32, 1))
    g = _K // 16
    scale = _bits(b, 96 + g % 8, 4 * (g // 8), 15) + 16 * _bits(b, 104 + g % 4, 2 * (g // 4), 3) - 32
    return _linear(_half(b, 108) * scale.astype(np.float32), code)


def _q4_k(b: Bytes, high: bool = False) -> np.ndarray:
    scale, least = _of_six_bits(b)
    code = _bits(b, (48 if high else 16) + 32 * (_K // 64) + _K % 32, 4 * (_K // 32 % 2), 15)
    if high:
        code = code + 16 * _bits(b, 16 + _K % 32, _K // 32, 1)
    return _linear((_half(b, 0) * scale)[:, _K // 32], code) - (_half(b, 2) * least)[:, _K // 32]


def _q6_k(b: Bytes) -> np.ndarray:
    low = _bits(b, 64 * (_K // 128) + _K % 64, 4 * (_K // 64 % 2), 15)
    high = _bits(b, 128 + 32 * (_K // 128) + _K % 32, 2 * (_K // 32 % 4), 3)
    return _linear((_half(b, 208) * _signed(b, 192, 16))[:, _K // 16], low + 16 * high - 32)


def _iq4_xs(b: Bytes) -> np.ndarray:
    g = np.arange(8)
    scale = _bits(b, 4 + g // 2, 4 * (g % 2), 15) + 16 * _bits(b, 2 + g // 4, 2 * (g % 4), 3) - 32
    code = _bits(b, 8 + 16 * (_K // 32) + _K % 16, 4 * (_K // 16 % 2), 15)
    return _linear((_half(b, 0) * scale.astype(np.float32))[:, _K // 32], _NONLINEAR[code])


def _tq1_0(b: Bytes) -> np.ndarray:
    e = _K
    at = np.where(e < 160, e % 32, np.where(e < 240, 32 + (e - 160) % 16, 48 + (e - 240) % 4))
    power = np.where(e < 160, e // 32, np.where(e < 240, (e - 160) // 16, (e - 240) // 4))
    digit = (b[:, at].astype(np.int64) * 3**power % 256) * 3 // 256
    return _linear(_half(b, 52), digit - 1)


def _mxfp4(b: Bytes) -> np.ndarray:
    doubled = np.float32([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12])
    scale = np.ldexp(np.float32(1), b[:, :1].astype(int) - 128).astype(np.float32)
    return scale * doubled[_nibbles(b, 1)]


DEQUANTIZE: dict[str, Callable[[Bytes], np.ndarray]] = {
    "Q4_0": lambda b: _linear(_half(b, 0), _nibbles(b, 2) - 8),
    "Q4_1": lambda b: _linear(_half(b, 0), _nibbles(b, 4), _half(b, 2)),
    "Q5_0": lambda b: _linear(_half(b, 0), _nibbles(b, 6) + _top(b, 2) - 16),
    "Q5_1": lambda b: _linear(_half(b, 0), _nibbles(b, 8) + _top(b, 4), _half(b, 2)),
    "Q8_0": lambda b: _linear(_half(b, 0), _signed(b, 2, 32)),
    "Q8_1": lambda b: _linear(_half(b, 0), _signed(b, 4, 32)),
    "Q2_K": _q2_k,
    "Q3_K": _q3_k,
    "Q4_K": _q4_k,
    "Q5_K": lambda b: _q4_k(b, high=True),
    "Q6_K": _q6_k,
    "Q8_K": lambda b: _linear(np.ascontiguousarray(b[:, :4]).view(np.float32), _signed(b, 4, 256)),
    "IQ4_NL": lambda b: _linear(_half(b, 0), _NONLINEAR[_nibbles(b, 2)]),
    "IQ4_XS": _iq4_xs,
    "TQ1_0": _tq1_0,
    "TQ2_0": lambda b: _linear(_half(b, 64), _bits(b, 32 * (_K // 128) + _K % 32, 2 * (_K // 32 % 4), 3) - 1),
    "MXFP4": _mxfp4,
}


# --- from values to bytes ---------------------------------------------------------------------------------------------


def _bytes(x: np.ndarray) -> Bytes:
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(x.astype(np.float16)).view(np.uint8)


def _inverse(d: np.ndarray) -> np.ndarray:
    return np.divide(np.float32(1), d, out=np.zeros_like(d), where=d != 0)


def _away(x: np.ndarray) -> np.ndarray:
    """Rounded, halves away from 0."""
    wide = np.abs(x.astype(np.float64))
    return (np.sign(x) * np.floor(wide + 0.5)).astype(np.int64)


def _pack(q: np.ndarray) -> Bytes:
    return (q[:, :16] & 15 | (q[:, 16:] & 15) << 4).astype(np.uint8)


def _tops(q: np.ndarray) -> Bytes:
    return np.packbits((q >> 4).astype(np.uint8), axis=-1, bitorder="little")


def _symmetric(x: np.ndarray, middle: int) -> tuple[np.ndarray, np.ndarray]:
    most = x[np.arange(len(x)), np.abs(x).argmax(1)][:, None]
    d = most / np.float32(-middle)
    fused = (x.astype(np.float64) * _inverse(d) + (middle + 0.5)).astype(np.float32)  # the product is exact
    return d, np.clip(fused.astype(np.int64), 0, 2 * middle - 1)


def _from_least(x: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    least = x.min(1, keepdims=True)
    d = (x.max(1, keepdims=True) - least) / np.float32(most)
    return d, least, np.clip(((x - least) * _inverse(d) + np.float32(0.5)).astype(np.int64), 0, most)


def _write_q4_0(x: np.ndarray) -> Bytes:
    d, q = _symmetric(x, 8)
    return np.hstack([_bytes(d), _pack(q)])


def _write_q4_1(x: np.ndarray) -> Bytes:
    d, m, q = _from_least(x, 15)
    return np.hstack([_bytes(d), _bytes(m), _pack(q)])


def _write_q5_0(x: np.ndarray) -> Bytes:
    d, q = _symmetric(x, 16)
    return np.hstack([_bytes(d), _tops(q), _pack(q)])


def _write_q5_1(x: np.ndarray) -> Bytes:
    d, m, q = _from_least(x, 31)
    return np.hstack([_bytes(d), _bytes(m), _tops(q), _pack(q)])


def _write_q8(x: np.ndarray, with_sum: bool) -> Bytes:
    d = np.abs(x).max(1, keepdims=True) / np.float32(127)
    q = _away(x * _inverse(d))
    total = [_bytes(q.sum(1, keepdims=True).astype(np.float32) * d)] if with_sum else []
    return np.hstack([_bytes(d), *total, q.astype(np.int8).view(np.uint8)])


def _digits(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    d = np.abs(x).max(1, keepdims=True)
    return d, _away(x * _inverse(d)) + 1


def _write_tq1_0(x: np.ndarray) -> Bytes:
    d, q = _digits(x)
    powers = np.array([81, 27, 9, 3, 1])
    runs = (q[:, :160].reshape(-1, 5, 32), q[:, 160:240].reshape(-1, 5, 16), q[:, 240:].reshape(-1, 4, 4))
    whole = np.hstack([(r * powers[: r.shape[1], None]).sum(1) for r in runs])
    return np.hstack([np.ceil(whole * 256 / 243).astype(np.uint8), _bytes(d)])


def _write_tq2_0(x: np.ndarray) -> Bytes:
    d, q = _digits(x)
    packed = (q.reshape(-1, 2, 4, 32) * np.array([1, 4, 16, 64])[:, None]).sum(2).reshape(-1, 64)
    return np.hstack([packed.astype(np.uint8), _bytes(d)])


def _write_mxfp4(x: np.ndarray) -> Bytes:
    doubled = np.float32([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12])
    most = np.abs(x).max(1, keepdims=True)
    e = np.where(most > 0, np.frexp(most)[1] - 1 + 125, 0)
    away = np.abs(np.ldexp(np.float32(1), e - 128).astype(np.float32)[..., None] * doubled - x[..., None])
    return np.hstack([e.astype(np.uint8), _pack(away.argmin(-1))])


QUANTIZE: dict[str, Callable[[np.ndarray], Bytes]] = {
    "Q4_0": _write_q4_0,
    "Q4_1": _write_q4_1,
    "Q5_0": _write_q5_0,
    "Q5_1": _write_q5_1,
    "Q8_0": lambda x: _write_q8(x, False),
    "Q8_1": lambda x: _write_q8(x, True),
    "TQ1_0": _write_tq1_0,
    "TQ2_0": _write_tq2_0,
    "MXFP4": _write_mxfp4,
}
