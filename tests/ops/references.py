"""What each plan should compute, from the published formulas, in float64 (or wider) NumPy.

A reference gives for each output its value and the magnitude that rounding errors scale with. `check` accepts an output
that is within so many units of the compute kind's precision times that magnitude, rounded to the output's own kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import baracuda
from baracuda.cli.verify import values as data
from baracuda.cli.verify.bits import canonical_bits
from baracuda.core.elements import ElementKind as K

#: Units in the last place of the compute kind that a result may be off, times its magnitude: a chain of 8 and about 20
#: pairwise additions, and a handful of roundings and elementary functions around them.
UNITS = 48
_EPSILON = {K.F32: 2.0**-23, K.F64: 2.0**-52}

Results = dict[str, tuple[np.ndarray, np.ndarray]]
Reference = Callable[[Any, Mapping[str, np.ndarray]], Results]


def wide(array: np.ndarray) -> np.ndarray:
    """float64, or more for f64 itself where the platform has it."""
    return array.astype(np.longdouble if array.dtype == np.float64 else np.float64)


def _softmax(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    x, axis = v["x"], d.softmax_axis
    top = x.max(axis, keepdims=True)
    shifted = x - top
    e = np.exp(shifted)
    total = e.sum(axis, keepdims=True)
    y = e / total
    spread = np.minimum(abs(shifted), 2000.0)  # an error of the exponent is a relative error of the exponential
    error = 3 + np.where(y > 0, y * spread, 0).sum(axis, keepdims=True)
    if d.kind is baracuda.SoftmaxKind.LOG_SOFTMAX:
        return {"y": (shifted - np.log(total), abs(x) + abs(top) + abs(np.log(total)) + error)}
    return {"y": (y, y * (spread + error))}


def _softmax_backward(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    dy, y, axis = v["dy"], v["y"], d.softmax_axis
    if d.kind is baracuda.SoftmaxKind.LOG_SOFTMAX:
        p = np.exp(y)
        return {"dx": (dy - p * dy.sum(axis, keepdims=True), abs(dy) + p * (1 + abs(y)) * abs(dy).sum(axis, keepdims=True))}
    dx = y * (dy - (y * dy).sum(axis, keepdims=True))
    return {"dx": (dx, abs(y) * (abs(dy) + abs(y * dy).sum(axis, keepdims=True)))}


def _inner(d: Any) -> tuple[int, ...]:
    return tuple(a for a in range(len(d.input_shape)) if d.norm_axes_mask >> a & 1)


def _rms_norm(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    x = v["x"]
    rms = np.sqrt((x * x).mean(_inner(d), keepdims=True) + d.eps) if x.size else np.full(d.rms_shape(), np.nan)
    y = x / rms * v.get("gamma", 1.0)
    return {"y": (y, abs(y)), "rms": (rms, rms)}


def _rms_norm_backward(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    dy, x, rms = v["dy"], v["x"], v["rms"]
    inner = _inner(d)
    cells = np.prod([d.input_shape[a] for a in inner])
    g = dy * v.get("gamma", 1.0)
    dx = g / rms - x * (g * x).sum(inner, keepdims=True) / (rms**3 * cells)
    magnitude = abs(g) / rms + abs(x) * abs(g * x).sum(inner, keepdims=True) / (rms**3 * cells)
    results = {"dx": (dx, magnitude)}
    if "gamma" in v:
        outer = tuple(a for a in range(dy.ndim) if a not in inner)
        results["dgamma"] = ((dy * x / rms).sum(outer), abs(dy * x / rms).sum(outer))
    return results


def _distance(d: Any) -> np.ndarray:
    return np.arange(d.key_len)[None, :] - np.arange(d.query_len)[:, None].astype(np.float64)


def _alibi(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    bias = v["slopes"][:, None, None] * _distance(d)
    return {"y": (v["scores"] + bias, abs(v["scores"]) + abs(bias))}


def _alibi_backward(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    terms = v["dy"] * _distance(d)
    zero = np.zeros_like(v["dy"])
    return {"dscores": (v["dy"], zero), "dslopes": (terms.sum((0, 2, 3)), abs(terms).sum((0, 2, 3)))}


def _lerp(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    a, b, w = v["a"], v["b"], d.param
    return {"y": (a + w * (b - a), abs(a) + abs(w) * (abs(a) + abs(b)))}


def _lerp_backward(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    dy, w = v["dy"], d.param
    return {"da": ((1 - w) * dy, (1 + abs(w)) * abs(dy)), "db": (w * dy, abs(w * dy))}


_RANGE = {K.S8: (-128, 127), K.U8: (0, 255)}


def _code(d: Any, v: Mapping[str, np.ndarray]) -> np.ndarray:
    """The code before the clamp. The quotient is taken in the compute kind, whose rounding decides which code is nearest."""
    real = d.element.compute.numpy
    code: np.ndarray = np.rint(v["x"].astype(real) / v["scale"].astype(real)[:, None])
    return code + v["zero_point"].astype(real)[:, None] if "zero_point" in v else code


def _quantize(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    code = np.clip(_code(d, v), *_RANGE[d.quantized])
    code = np.where(np.isnan(code), 0, code)
    return {"q": (code, np.zeros_like(code))}


def _quantize_backward(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    low, high = _RANGE[d.quantized]
    code = _code(d, v)
    dx = np.where((code >= low) & (code <= high), v["dq"] / v["scale"][:, None], 0.0)
    return {"dx": (dx, abs(dx))}


def _dequantize(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    y = (v["q"] - (v["zero_point"][:, None] if "zero_point" in v else 0)) * v["scale"][:, None]
    return {"y": (y, abs(y))}


def _dequantize_backward(d: Any, v: Mapping[str, np.ndarray]) -> Results:
    d_input = v["d_output"] * v["scale"][:, None]
    return {"d_input": (d_input, abs(d_input))}


REFERENCES: dict[str, Reference] = {
    "softmax": _softmax,
    "softmax_backward": _softmax_backward,
    "rms_norm": _rms_norm,
    "rms_norm_backward": _rms_norm_backward,
    "alibi": _alibi,
    "alibi_backward": _alibi_backward,
    "binary_param": _lerp,
    "binary_param_backward": _lerp_backward,
    "quantize_per_token": _quantize,
    "quantize_per_token_backward": _quantize_backward,
    "dequantize_per_token": _dequantize,
    "dequantize_per_token_backward": _dequantize_backward,
}


def reference(plan: Any, descriptor: Any, inputs: Mapping[str, np.ndarray]) -> Results:
    """Value and magnitude of every output."""
    with np.errstate(all="ignore"):
        return REFERENCES[plan.op](descriptor, {n: wide(a) for n, a in inputs.items()})


def check(name: str, got: np.ndarray, value: np.ndarray, magnitude: np.ndarray, element: K, variant: str = "normal") -> None:
    """Assert that an output is what rounding may make of a value.

    The interval of allowed values is rounded to the output's kind, so overflow to infinity and subnormals need no care:
    rounding is monotone.
    """
    compute = element.compute
    tiny = data.TINY[compute][0]
    slack = 4 * tiny if variant == "normal" else 64 * tiny * data.LARGE[element] ** 3
    kind = K.from_numpy(got.dtype)
    with np.errstate(all="ignore"):
        bound = np.where(np.isfinite(value), UNITS * _EPSILON[compute] * magnitude + slack, 0) * (magnitude > 0)
        low, high = (wide(data.rounded(edge, kind)) for edge in (value - bound, value + bound))
    seen = wide(got)
    bad = ~(((low <= seen) & (seen <= high)) | (np.isnan(value) & np.isnan(seen)))
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"{name}: {int(bad.sum())} of {got.size} elements are off; at {first} got {got[first]!r} "
            f"({int(canonical_bits(got)[first]):#x}), expected {value[first]!r} within {bound[first]!r}"
        )
