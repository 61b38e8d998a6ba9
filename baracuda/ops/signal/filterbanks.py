"""Mel filterbanks: triangles on a scale of pitch, over the frequencies of a spectrum."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from baracuda.core.bounds import Above, AtLeast, Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_bits
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Scalar, Stored
from baracuda.ops.declaration.words import FloatElement, Positive
from baracuda.ops.signal.windows import INTERNAL

Scale = Literal["htk", "slaney"]
_F64 = ElementKind.F64
#: Slaney's scale: linear up to 1000 Hz, 3 mel to 200 Hz, and from there 27 mel to each factor of 6.4.
_LINEAR, _KNEE = 200.0 / 3, 15.0
_STEP = math.log(6.4) / 27.0


def mel_of(hz: float, scale: Scale) -> float:
    """A frequency in mel."""
    if scale == "htk":
        return 2595.0 * math.log10(1.0 + hz / 700.0)
    return hz / _LINEAR if hz < 1000.0 else _KNEE + math.log(hz / 1000.0) / _STEP


def _hertz(mel: Expr, scale: str) -> Expr:
    if scale == "htk":
        return (f.exp10(mel / 2595.0) - 1.0) * 700.0
    return select(mel < _KNEE, mel * _LINEAR, f.exp((mel - _KNEE) * _STEP) * 1000.0)


def _triangles(
    x: Expr, *, low: Scalar = 0.0, step: Scalar = 1.0, width: Scalar = 1.0, area: bool = False, bins: bool = False,
    scale: str = "htk", element: ElementKind | None,
) -> Result:  # fmt: skip
    """Over frequencies along the first axis, `width` apart, and filters along the second, whose edges are low + step, ... mel."""
    assert element is not None
    at, filter_ = cast(coord(0), _F64), cast(coord(1), _F64)
    edges = [_hertz((filter_ + float(i)) * as_expr(step, _F64) + as_expr(low, _F64), scale) for i in range(3)]
    if bins:
        left, centre, right = (f.floor(e / as_expr(width, _F64)) for e in edges)
        rising, falling = centre - left, right - centre
        up = select(f.equal(rising, 0.0), const(0.0, _F64), (at - left) / rising)
        down = select(f.equal(falling, 0.0), const(0.0, _F64), (right - at) / falling)
        value = select(at < centre, f.maximum(up, 0.0), f.maximum(down, 0.0))
        peak = f.equal(at, centre) & (f.equal(rising, 0.0) & f.equal(falling, 0.0) | f.equal(falling, 0.0))
        value = select(peak, const(1.0, _F64), value)
    else:
        hz = at * as_expr(width, _F64)
        left, centre, right = edges
        value = f.maximum(f.minimum((hz - left) / (centre - left), (right - hz) / (right - centre)), 0.0)
        if area:
            value = value * (2.0 / (right - left))
    return Stored(cast(value, element.compute), element)


_triangles_op = Op(_triangles, Rule.EACH, name="triangles", element_option=True, **INTERNAL)


def filterbank(
    do: Steps, freqs: int, mels: int, rate: float, f_min: float, f_max: float, norm: Any, scale: Scale, dtype: Any
) -> Any:
    """The filters as a matrix of frequencies and filters."""
    low, high = mel_of(f_min, scale), mel_of(f_max, scale)
    y = do.rows((freqs, mels), dtype or ElementKind.F32)
    numbers = {"low": low, "step": (high - low) / (mels + 1), "width": rate / 2 / max(freqs - 1, 1)}
    do.run(_triangles_op, {"x": as_bits(y)}, y, dtype=y.kind, area=norm == "slaney", scale=scale, **numbers)
    return y


@composed(like="?", creates=True)
def mel_filterbank(
    do: Steps,
    like: TensorRef,
    n_freqs: Positive,
    n_mels: Positive,
    sample_rate: Annotated[float, Above(0), Finite()],
    f_min: Annotated[float, AtLeast(0), Finite()] = 0.0,
    f_max: Annotated[float, Above(0), Finite()] | None = None,
    norm: Literal["slaney"] | None = None,
    mel_scale: Scale = "htk",
    edges: Literal["exact", "bins"] = "exact",
    dtype: FloatElement | None = None,
) -> Any:
    """A matrix of n_freqs frequencies, 0 to sample_rate / 2, and n_mels filters: triangles max(0, min(rise, fall)) between
    neighbours of n_mels + 2 points that are evenly spaced from f_min to f_max (by default sample_rate / 2) on a mel scale.

    mel_scale "htk" is 2595 log10(1 + f / 700), "slaney" is linear up to 1000 Hz and logarithmic above; norm "slaney" divides each
    filter by half its width in Hz. With edges="bins" points are rounded down to bins of sample_rate / (2 n_freqs - 1) Hz, and the
    step between them is the range over n_mels + 2, as ONNX's MelWeightMatrix has it. Computed in float64 and rounded once to
    `dtype`, by default f32.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.mel_filterbank(201, 80, 16000, norm="slaney", mel_scale="slaney").shape
    (201, 80)
    """
    top = sample_rate / 2 if f_max is None else f_max
    if not f_min < top:
        raise InvalidProblemError(f"f_min: {f_min}; expected less than f_max, which is {top}")
    if edges == "exact":
        return filterbank(do, n_freqs, n_mels, sample_rate, f_min, top, norm, mel_scale, dtype)
    if norm is not None:
        raise InvalidProblemError(f"norm: {norm!r} with edges='bins'; expected None")
    low, high = mel_of(f_min, mel_scale), mel_of(top, mel_scale)
    y = do.rows((n_freqs, n_mels), dtype or ElementKind.F32)
    numbers = {"low": low, "step": (high - low) / (n_mels + 2), "width": sample_rate / (2 * (n_freqs - 1) + 1)}
    do.run(_triangles_op, {"x": as_bits(y)}, y, dtype=y.kind, bins=True, scale=mel_scale, **numbers)
    return y
