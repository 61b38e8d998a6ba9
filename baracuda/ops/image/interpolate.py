"""Resizing: `interpolate`, as PyTorch, `jax.image.resize` and ONNX's Resize have it."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any, Literal

import numpy as np

from baracuda.core.elements import Category
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits, axes_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import FiniteFloat
from baracuda.ops.image.axis_maps import AxisMap, Kind, Rounding
from baracuda.ops.image.resampling import filter_weights, precise_in, resampled

Mode = Literal["nearest", "nearest-exact", "linear", "bilinear", "trilinear", "cubic", "bicubic", "area", "lanczos3", "lanczos5"]
Coordinates = Literal[
    "half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric", "tf_crop_and_resize"
]
#: The numbers of axes that PyTorch's words are for.
_RANKS = {"bilinear": 2, "bicubic": 2, "trilinear": 3}
_PLAIN = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic", "nearest-exact": "nearest"}
_SUPPORT = {"linear": 1.0, "cubic": 2.0, "lanczos3": 3.0, "lanczos5": 5.0}


def _listed(value: Any, count: int, name: str) -> tuple[Any, ...]:
    """A value for each of some axes."""
    if not isinstance(value, (tuple, list)):
        return (value,) * count
    if len(value) != count:
        raise InvalidProblemError(f"{name}: {tuple(value)}; expected one for each of {count} axes")
    return tuple(value)


class _Resize:
    """A call, understood: the axes, what becomes of each, and how elements are weighted."""

    def __init__(
        self, x: TensorRef, size: Any, scale_factor: Any, mode: str, align_corners: bool | None, recompute: bool | None,
        antialias: bool, axes: Any, coordinates: str | None, cubic_coeff_a: float | None, exclude_outside: bool,
        nearest_mode: str | None, extrapolation_value: float | None, roi: Any, aspect: str,
    ) -> None:  # fmt: skip
        rank = len(x.shape)
        self.axes = axes_of(axes, rank, "axes") if axes is not None else tuple(range(2, rank))
        if not self.axes:
            raise InvalidProblemError(f"x: shape is {x.shape}; expected axes behind the first two, or axes")
        plain = _PLAIN.get(mode, mode)
        if mode in _RANKS and len(self.axes) != _RANKS[mode]:
            raise InvalidProblemError(f"mode: {mode!r} with {len(self.axes)} axes; expected {_RANKS[mode]}")
        if x.kind.category is Category.COMPLEX or x.kind.bits < 8:
            raise UnsupportedError(f"x: element is {x.kind}; expected a float or an integer")
        if x.kind.is_float and x.kind.bits < 16 and plain != "nearest":
            raise UnsupportedError(f"x: element is {x.kind}; mode {mode!r} takes floats of 16 bits or more, and integers")
        if antialias and plain not in ("linear", "cubic", "lanczos3", "lanczos5"):
            raise InvalidProblemError(f"antialias: True with mode {mode!r}; expected linear, cubic or lanczos")
        if align_corners is not None and coordinates is not None:
            raise InvalidProblemError(f"align_corners, coordinates: {align_corners}, {coordinates!r}; expected one of them")
        if align_corners and plain in ("nearest", "area"):
            raise InvalidProblemError(f"align_corners: True with mode {mode!r}; expected linear, cubic or lanczos")
        if nearest_mode is not None and plain != "nearest":
            raise InvalidProblemError(f"nearest_mode: {nearest_mode!r} with mode {mode!r}; expected mode 'nearest'")
        if extrapolation_value is not None and (coordinates != "tf_crop_and_resize" or len(self.axes) > 3):
            raise InvalidProblemError(
                f"extrapolation_value: {extrapolation_value}; expected coordinates 'tf_crop_and_resize' and up to 3 axes"
            )
        if (roi is not None) != (coordinates == "tf_crop_and_resize"):
            raise InvalidProblemError(f"roi: {roi}; expected starts and ends with coordinates 'tf_crop_and_resize' alone")
        if roi is not None and len(roi) != 2 * len(self.axes):
            raise InvalidProblemError(f"roi: {roi}; expected a start for each of {len(self.axes)} axes, then the ends")
        self.x, self.mode, self.plain, self.antialias = x, mode, plain, antialias
        self.by_words = coordinates is not None  # ONNX's corners are those of the extent before it is rounded down
        self.coordinates = coordinates or ("align_corners" if align_corners else None)
        self.filtered = antialias or plain.startswith("lanczos") or (plain == "cubic" and exclude_outside)
        if exclude_outside and plain not in ("cubic", "lanczos3", "lanczos5"):
            raise InvalidProblemError(f"exclude_outside: True with mode {mode!r}; expected cubic or lanczos")
        self.a = cubic_coeff_a if cubic_coeff_a is not None else -0.5 if antialias else -0.75
        self.rounding: Any = nearest_mode
        self.value, self.roi = extrapolation_value, roi
        if self.value is None and coordinates == "tf_crop_and_resize" and not self.filtered:
            self.value = 0.0
        extents, factors = self._sizes(size, scale_factor, recompute, aspect)
        self.maps = {}
        for a, m, s in sorted(zip(self.axes, extents, factors, strict=True), key=lambda row: row[0]):
            if not x.shape[a] and m:
                raise InvalidProblemError(f"x: shape is {x.shape}; expected elements along axis {a}, which becomes {m} long")
            found = self._map(self.axes.index(a), x.shape[a], m, s)
            if found is not None:
                self.maps[a] = found
        self.shape = list(x.shape)
        for a, m in zip(self.axes, extents, strict=True):
            self.shape[a] = m

    def _sizes(self, size: Any, factor: Any, recompute: bool | None, aspect: str) -> tuple[list[int], Sequence[float | None]]:
        count = len(self.axes)
        sources = [self.x.shape[a] for a in self.axes]
        if (size is None) == (factor is None):
            raise InvalidProblemError(f"size, scale_factor: {size}, {factor}; expected one of them")
        if factor is not None:
            factors = _listed(factor, count, "scale_factor")
            if any(not 0 < s < 1e9 for s in factors):
                raise InvalidProblemError(f"scale_factor: {factor}; expected numbers above 0")
            return [floor(n * s) for n, s in zip(sources, factors, strict=True)], [None if recompute else s for s in factors]
        if recompute:
            raise InvalidProblemError("recompute_scale_factor: True with size; expected scale_factor")
        sizes = list(_listed(size, count, "size"))
        if min(sizes) < 0 or max(sizes) >= 1 << 31:
            raise InvalidProblemError(f"size: {tuple(sizes)}; expected extents of 0 or more, below 2**31")
        if aspect != "stretch":
            ratios = [m / n for m, n in zip(sizes, sources, strict=True) if n]
            ratio = (min if aspect == "not_larger" else max)(ratios, default=1.0)
            return [floor(ratio * n + 0.5) for n in sources], [ratio] * count
        return sizes, [None] * count

    def _map(self, number: int, n: int, m: int, factor: float | None) -> AxisMap | None:
        """How an axis is resampled; None where it stays as it is."""
        precise = precise_in(self.x.kind) and self.plain != "nearest"
        real: Any = np.float64 if precise else np.float32

        def told(value: float) -> float:
            return float(real(value))

        kind: Kind = "filter" if self.filtered else self.plain  # type: ignore[assignment]
        if kind == "area":
            return AxisMap(n, m, "area", precise=precise) if n != m else None
        scale = 1.0 / factor if factor is not None else n / m if m else 1.0
        shift, offset, words = 0.5, -0.5, self.coordinates
        usual = words is None
        rounding: Rounding = self.rounding or "round_prefer_floor"
        if kind == "nearest" and usual and self.rounding is None:
            rounding, offset = "floor", 0.0
            shift = 0.5 if self.mode == "nearest-exact" else 0.0
            if n == m:
                return None
            scale = 0.5 if m == 2 * n and not shift else scale
        elif words == "align_corners":
            last = n * factor - 1 if self.by_words and factor is not None else m - 1
            scale = (n - 1) / last if m > 1 else 0.0
            shift, offset = (0.5, -0.5) if self.filtered else (0.0, 0.0)
        elif words == "asymmetric":
            shift = offset = 0.0
        elif words == "pytorch_half_pixel" and m <= 1:
            scale, shift, offset = 0.0, 0.0, 0.0
        elif words == "half_pixel_symmetric" and factor is not None:
            offset = n / 2 * (1 - m / (n * factor)) - 0.5
        elif words == "tf_crop_and_resize":
            start, end = self.roi[number], self.roi[len(self.axes) + number]
            shift, scale = 0.0, (end - start) * (n - 1) / (m - 1) if m > 1 else 0.0
            offset = start * (n - 1) if m > 1 else 0.5 * (start + end) * (n - 1)
        if usual and n == m and (kind == "linear" or scale == 1.0):
            return None
        support, stretch = 0.0, 1.0
        if kind == "filter":
            offset += 0.5
            wide = max(abs(scale), 1.0) if self.antialias else 1.0
            support, stretch = _SUPPORT[self.plain] * wide, 1.0 / wide
        return AxisMap(
            n, m, kind, told(scale), told(shift), told(offset), rounding, told(support), told(stretch), precise,
            self.value is not None,
        )  # fmt: skip

    def weights(self, do: Steps) -> dict[int, TensorRef]:
        """The weights of filters along each axis."""
        return {d: filter_weights(do, m, self.plain, self.a) for d, m in self.maps.items()} if self.filtered else {}

    def run(self, do: Steps, x: TensorRef, into: TensorMut, *, back: bool) -> None:
        if not self.maps:
            do.copy(x, into)
            return
        resampled(do, x, self.maps, into, weights=self.weights(do), back=back, a=self.a, value=self.value)


Size = int | tuple[int, ...] | None
Factor = float | tuple[float, ...] | None
NearestMode = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"] | None
Aspect = Literal["stretch", "not_larger", "not_smaller"]


@composed(x="...", out=True)
def interpolate(
    do: Steps, x: TensorRef, size: Size = None, scale_factor: Factor = None, mode: Mode = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False, *,
    axes: int | tuple[int, ...] | None = None, coordinates: Coordinates | None = None,
    cubic_coeff_a: FiniteFloat | None = None, exclude_outside: bool = False, nearest_mode: NearestMode = None,
    extrapolation_value: float | None = None, roi: tuple[float, ...] | None = None, aspect: Aspect = "stretch",
) -> Any:  # fmt: skip
    """x resized along some axes, by default all behind the first two, to `size`, or to floor(extent * scale_factor).

    Each axis is resampled by itself. Where an element of the result lies among those of x: with align_corners first and last
    elements lie on each other, without edges do. mode: "nearest" (PyTorch's, which takes floor(o * scale)) or "nearest-exact"
    copy elements, "linear" ("bilinear", "trilinear") weighs two neighbours, "cubic" ("bicubic") four, beyond the edge the last
    one again; "area" is the mean of a window, "lanczos3" and "lanczos5" are filters. With antialias, kernels are as wide as an
    element of a smaller result, and weights of what lies outside are given to the others, as they are for lanczos and with
    exclude_outside. The scale is 1 / scale_factor, or with size or recompute_scale_factor the ratio of the extents.

    What ONNX's Resize has beyond: `coordinates`, its coordinate_transformation_mode (then `nearest_mode` says how places are
    rounded), with roi and extrapolation_value for "tf_crop_and_resize", cubic_coeff_a (-0.75; with antialias -0.5, as PyTorch
    has it), and `aspect`, its keep_aspect_ratio_policy. `jax.image.resize(x, shape, "cubic")` is mode="cubic" with
    cubic_coeff_a=-0.5, exclude_outside, and antialias.

    Weights are computed in f32 (f64 for f64 and integers of 32 bits and more), sums are nested, the last axis innermost, and
    taken in the canonical order, and the result is rounded once, of integers to nearest even, saturating: PyTorch's 8-bit
    weights may differ by 1. Raises `InvalidProblemError` for options that contradict each other.

    Source: torch.nn.functional.interpolate, jax.image.resize, ONNX Resize.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.interpolate(np.float32([[[0, 10, 20]]]), 6, mode="linear").tolist()
    [[[0.0, 2.5, 7.5, 12.5, 17.5, 20.0]]]
    >>> baracuda.interpolate(np.float32([[[1, 2]]]), scale_factor=2).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """
    resize = _Resize(
        x, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias, axes, coordinates, cubic_coeff_a,
        exclude_outside, nearest_mode, extrapolation_value, roi, aspect,
    )  # fmt: skip
    y = do.result(resize.shape, x.kind)
    if resize.plain == "nearest" and resize.value is None:
        resize.run(do, as_bits(x), as_bits(y), back=False)
    else:
        resize.run(do, x, y, back=False)
    return y


@composed(dy="...", x="... : float", out=True)
def interpolate_backward(
    do: Steps, dy: TensorRef, x: TensorRef, size: Size = None, scale_factor: Factor = None, mode: Mode = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False, *,
    axes: int | tuple[int, ...] | None = None, coordinates: Coordinates | None = None,
    cubic_coeff_a: FiniteFloat | None = None, exclude_outside: bool = False, nearest_mode: NearestMode = None,
    extrapolation_value: float | None = None, roi: tuple[float, ...] | None = None, aspect: Aspect = "stretch",
) -> Any:  # fmt: skip
    """The gradient of `interpolate`'s x, of which only shape and element count: along each axis the sum over the elements of
    the result that read an element, in rising order, by the canonical order of sums; axes as in `interpolate`, the last one
    innermost.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.interpolate_backward(np.float32([[[1, 2, 3, 4]]]), np.zeros((1, 1, 2), "f"), scale_factor=2).tolist()
    [[[3.0, 7.0]]]
    """
    resize = _Resize(
        x, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias, axes, coordinates, cubic_coeff_a,
        exclude_outside, nearest_mode, extrapolation_value, roi, aspect,
    )  # fmt: skip
    if dy.shape != tuple(resize.shape):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {tuple(resize.shape)}")
    dx = do.result_like(x)
    if 0 in dy.shape:
        do.zero(dx)
    else:
        resize.run(do, dy, dx, back=True)
    return dx
