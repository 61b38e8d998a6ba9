"""Regions of interest: boxes of an image cut into bins, and each bin averaged or its largest element taken.

A bin has samples, numbered row by row by the region's own grid. `align` samples between elements, at the places of a regular
grid in the bin; `pool` takes the elements that a bin covers, its borders rounded outwards. The sum over a bin's samples is the
canonical one over their numbers, of each sample the nested sum over its taps, rows outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula import reductions as r
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent
from baracuda.formula.integer_functions import fmod, truncate_divide
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Shape, Space, Stored, WholeScalar
from baracuda.ops.image.boxes import components
from baracuda.ops.image.samples import scattered, tap_results
from baracuda.ops.image.taps import F32, F64, S32, Tap, in_pairs, nested, reader

Variant = Literal["align", "pool", "ps_align", "ps_pool"]
#: Samples of a bin that a formula writes out, and the most that there may be along an axis of a bin.
_WRITTEN_OUT, _MOST = 16, 4096
_S64 = ElementKind.S64


class _Bins(NamedTuple):
    """The bins of a region, as a formula sees them."""

    variant: str
    starts: tuple[Expr, Expr]  # of the region along rows and columns
    sizes: tuple[Expr, Expr]  # of a bin
    grids: tuple[Expr, Expr]  # samples of a bin, of `align`
    extents: tuple[Expr, Expr]  # of the image, as s32

    @property
    def real(self) -> ElementKind:
        return self.starts[0].kind

    def borders(self, axis: int, number: Expr) -> tuple[Expr, Expr]:
        """The first element that a bin of `pool` covers, and the one after the last."""
        last = self.extents[axis] - 1 if self.variant == "ps_pool" else self.extents[axis]
        n, size, start = cast(number, self.real), self.sizes[axis], cast(self.starts[axis], S32)
        low, high = cast(f.floor(n * size), S32), cast(-f.floor(-((n + 1.0) * size)), S32)
        return f.minimum(f.maximum(low + start, 0), last), f.minimum(f.maximum(high + start, 0), last)

    def sample(self, number: Expr, bins: tuple[Expr, Expr]) -> tuple[list[list[Tap]], Expr, Expr]:
        """The taps of a sample of a bin along each axis, whether there is one, and how many there are."""
        if self.variant.endswith("pool"):
            (top, bottom), (left, right) = (self.borders(a, bins[a]) for a in (0, 1))
            width, height = f.maximum(right - left, 0), f.maximum(bottom - top, 0)
            row, column = _divided(number, width)
            return [[Tap(top + row)], [Tap(left + column)]], number < width * height, width * height
        count = self.grids[0] * self.grids[1]
        places = _divided(number, self.grids[1])
        axes = [self._taps(a, places[a], bins[a]) for a in (0, 1)]
        return axes, number < count, count

    def _taps(self, axis: int, number: Expr, bin_: Expr) -> list[Tap]:
        n, real = self.extents[axis], self.real
        inside = (cast(number, real) + 0.5) * self.sizes[axis] / cast(f.maximum(self.grids[axis], 1), real)
        p = cast(bin_, real) * self.sizes[axis] + self.starts[axis] + inside
        there = (p >= -1.0) & (p <= cast(n, real))
        p = f.maximum(p, 0.0)
        last = n - 1
        low = f.minimum(cast(f.minimum(p, cast(last, real)), S32), last)
        t = select(low >= last, 0.0, p - cast(low, real))
        return [Tap(low, 1.0 - t, there), Tap(f.minimum(low + 1, last), t, there)]


def _divided(number: Expr, by: Expr) -> tuple[Expr, Expr]:
    by = f.maximum(by, 1)
    return truncate_divide(number, by), fmod(number, by)


def _rounded(x: Expr) -> Expr:
    """x rounded to a whole number, halves away from 0, as C does it."""
    down = f.floor(abs(x) + 0.5)
    return select(x < 0.0, -down, down)


def _bins_of(
    boxes: tuple[Expr, ...], real: ElementKind, extents: tuple[Expr, Expr], size: tuple[int, int], ratio: int, aligned: bool,
    variant: str, scale: Any,
) -> _Bins:  # fmt: skip
    by = cast(scale, real) if isinstance(scale, Expr) else as_expr(scale, real)
    left, top, right, bottom = (cast(b, real) * by for b in boxes)
    if variant.endswith("pool"):
        left, top, right, bottom = (_rounded(v) for v in (left, top, right, bottom))
        more = 0.0 if variant == "ps_pool" else 1.0
        spans = (f.maximum(bottom - top + more, 1.0), f.maximum(right - left + more, 1.0))
    else:
        away = 0.5 if aligned or variant == "ps_align" else 0.0
        left, top, right, bottom = (v - away for v in (left, top, right, bottom))
        spans = bottom - top, right - left
        if variant == "align" and not aligned:
            spans = f.maximum(spans[0], 1.0), f.maximum(spans[1], 1.0)
    sizes = spans[0] / float(size[0]), spans[1] / float(size[1])
    if ratio > 0:
        grids = const(ratio, S32), const(ratio, S32)
    else:
        grids = tuple(f.maximum(cast(-f.floor(-s), S32), 0) for s in sizes)  # type: ignore[assignment]
    return _Bins(variant, (top, left), sizes, grids, extents)


def _regions(
    x: Table, image: Own, b0: Own, b1: Own, b2: Own, b3: Own, *, size: tuple[int, ...] = (1, 1), samples: int = 1,
    ratio: int = 0, aligned: bool = False, variant: Variant = "align", largest: bool = False, rows: bool = False,
    corners: bool = False, scale: Scalar = 1.0,
) -> Expr:  # fmt: skip
    separate = variant.startswith("ps")
    extents = table_extent(x, 1 + separate, S32), table_extent(x, 2 + separate, S32)
    bins = _bins_of((b0, b1, b2, b3), x.kind, extents, (size[0], size[1]), ratio, aligned, variant, scale)
    first = [cast(image, S32)]
    at = coord(2), coord(3)
    if separate:
        first.append((coord(1) * size[0] + at[0]) * size[1] + at[1])
    read = reader(x, x.kind, *first)

    def sample(number: Expr) -> tuple[Expr, Expr]:
        axes, there, _ = bins.sample(number, at)
        return (_largest_corner if corners else nested)(axes, read), there

    count = bins.sample(const(0, S32), at)[2]
    if largest or variant == "pool":
        numbers = [coord(4)] if rows else [const(s, S32) for s in range(samples)]
        values = [select(there, value, float("-inf")) for value, there in map(sample, numbers)]
        if rows:
            total = f.max_(values[0])
        else:
            total = values[0]
            for value in values[1:]:
                total = f.maximum(total, value)
        return select(count > 0, total, 0.0)
    if rows:
        value, there = sample(coord(4))
        total = f.sum_(select(there, value, -0.0))
    else:
        terms = [sample(const(s, S32)) for s in range(samples)]
        total = in_pairs([select(there, value, -0.0) for value, there in terms])
    return select(count > 0, total / cast(f.maximum(count, 1), x.kind), 0.0)


def _largest_corner(axes: Sequence[Sequence[Tap]], read: Callable[[Sequence[Expr]], Expr]) -> Expr:
    """The largest of the elements around a sample, each times its weight."""
    found: Expr | None = None
    for row in axes[0]:
        for column in axes[1]:
            value = nested([[row], [column]], read)
            found = value if found is None else f.maximum(found, value)
    assert found is not None
    return found


_BOXES = ("image", "b0", "b1", "b2", "b3")


def _space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    separate = options["variant"].startswith("ps")
    x = (None, None if separate else 1, None, None)
    extents = dict(zip((2, 3), options["size"], strict=True))
    if separate:
        extents[1] = shapes["x"][1] // (options["size"][0] * options["size"][1])
    if options["rows"]:
        extents[4] = options["samples"]
    return Space({"x": x, **dict.fromkeys(_BOXES, (0,))}, extents)


_KEYS: dict[str, Any] = {"family": "image", "takes": "float", "differentiable": False}
_written_out = Op(_regions, Rule.COMMON, name="regions", space=_space, **_KEYS)
_along_rows = Op(
    _regions, Rule.COMMON, name="regions_rows", space=_space, rows=True, axis=-1, axis_option=False, keepdims=False, **_KEYS
)


# --- how many samples -------------------------------------------------------------------------------------------------


def _counts(
    b0: Own, b1: Own, b2: Own, b3: Own, *, size: tuple[int, ...] = (1, 1), aligned: bool = False, variant: Variant = "align",
    precise: bool = False, height: WholeScalar = 1, width: WholeScalar = 1, scale: Scalar = 1.0,
) -> tuple[Stored, Stored]:  # fmt: skip
    """How many samples a region has along the rows and the columns of a bin, at most."""
    real = F64 if precise else F32
    extents = cast(as_expr(height, _S64), S32), cast(as_expr(width, _S64), S32)
    bins = _bins_of((b0, b1, b2, b3), real, extents, (size[0], size[1]), 0, aligned, variant, scale)
    if variant.endswith("pool"):
        found = [f.minimum(cast(-f.floor(-s), S32), n) + 1 for s, n in zip(bins.sizes, extents, strict=True)]
        found = [f.minimum(c, n) for c, n in zip(found, extents, strict=True)]
    else:
        found = list(bins.grids)
    return Stored(found[0], S32), Stored(found[1], S32)


_counted = Op(_counts, Rule.EACH, name="region_samples", results=("y0", "y1"), **_KEYS)


# --- gradients --------------------------------------------------------------------------------------------------------


def _tap_numbers(
    image: Own, b0: Own, b1: Own, b2: Own, b3: Own, *, size: tuple[int, ...] = (1, 1), samples: int = 1, ratio: int = 0,
    aligned: bool = False, variant: Variant = "align", precise: bool = False, channels: int = 1, height: WholeScalar = 1,
    width: WholeScalar = 1, scale: Scalar = 1.0,
) -> dict[str, Stored]:  # fmt: skip
    """The number of the element that a tap of a sample is of, and its weight."""
    real, separate = F64 if precise else F32, variant.startswith("ps")
    extents = cast(as_expr(height, _S64), S32), cast(as_expr(width, _S64), S32)
    bins = _bins_of((b0, b1, b2, b3), real, extents, (size[0], size[1]), ratio, aligned, variant, scale)
    at = (coord(2), coord(3)) if separate else (coord(1), coord(2))
    axes, there, count = bins.sample(coord(3 + separate), at)
    first = cast(image, S32)
    if separate:
        first = first * (channels * size[0] * size[1]) + ((coord(1) * size[0] + at[0]) * size[1] + at[1])
    found = tap_results(axes, extents, first, coord(-1))
    weight = 1.0 / cast(f.maximum(count, 1), real)
    if "weight" in found:
        assert isinstance(found["weight"].value, Expr)
        weight = found["weight"].value * weight
    index = found["index"].value
    assert isinstance(index, Expr)
    return {"index": Stored(select(there, index, -1), S32), "weight": Stored(weight, real)}


def _taps_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    separate = options["variant"].startswith("ps")
    axes = [options["channels"]] if separate else []
    axes += [*options["size"], options["samples"], 1 if options["variant"].endswith("pool") else 4]
    return Space(dict.fromkeys(_BOXES, (0,)), {k + 1: n for k, n in enumerate(axes)})


_taps = Op(_tap_numbers, Rule.EACH, name="region_taps", space=_taps_space, results=("index", "weight"), **_KEYS)


def _largest_taps(
    x: Table, image: Own, b0: Own, b1: Own, b2: Own, b3: Own, *, size: tuple[int, ...] = (1, 1), samples: int = 1,
    ratio: int = 0, aligned: bool = False, variant: Variant = "pool", rows: bool = True, largest: bool = True,
    scale: Scalar = 1.0,
) -> Stored:  # fmt: skip
    """The number of the largest sample of each bin, -1 for an empty bin."""
    extents = table_extent(x, 1, S32), table_extent(x, 2, S32)
    bins = _bins_of((b0, b1, b2, b3), x.kind, extents, (size[0], size[1]), ratio, aligned, variant, scale)
    at = coord(2), coord(3)
    axes, there, count = bins.sample(coord(4), at)
    value = nested(axes, reader(x, x.kind, cast(image, S32)))
    number = cast(r.argmax(select(there, value, float("-inf"))), S32)
    return Stored(select(count > 0, number, -1), S32)


_largest = Op(
    _largest_taps, Rule.COMMON, name="largest_of_regions", space=_space, rows=True, axis=-1, axis_option=False, keepdims=False,
    **_KEYS,
)  # fmt: skip


def _taps_of_largest(
    number: Own, image: Own, b0: Own, b1: Own, b2: Own, b3: Own, *, size: tuple[int, ...] = (1, 1), ratio: int = 0,
    aligned: bool = False, variant: Variant = "pool", precise: bool = False, height: WholeScalar = 1, width: WholeScalar = 1,
    channels: WholeScalar = 1, scale: Scalar = 1.0,
) -> dict[str, Stored]:  # fmt: skip
    """The elements, over all channels, that the largest sample of a bin is made of, and their weights."""
    real = F64 if precise else F32
    extents = cast(as_expr(height, _S64), S32), cast(as_expr(width, _S64), S32)
    bins = _bins_of((b0, b1, b2, b3), real, extents, (size[0], size[1]), ratio, aligned, variant, scale)
    axes, _, _ = bins.sample(f.maximum(number, 0), (coord(2), coord(3)))
    first = cast(image, S32) * cast(as_expr(channels, _S64), S32) + coord(1)
    found = tap_results(axes, extents, first, coord(4))
    index = found["index"].value
    assert isinstance(index, Expr)
    results = {"index": Stored(select(number < 0, -1, index), S32)}
    return {**results, "weight": found["weight"] if "weight" in found else Stored(const(1.0, real), real)}


def _largest_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    taps = 1 if options["variant"].endswith("pool") else 4
    return Space({"number": (0, 1, 2, 3), **dict.fromkeys(_BOXES, (0,))}, {4: taps})


_taps_largest = Op(
    _taps_of_largest, Rule.EACH, name="taps_of_largest", space=_largest_space, results=("index", "weight"), **_KEYS
)


# --- steps ------------------------------------------------------------------------------------------------------------


class Regions:
    """A call, understood: the regions, their bins, and how many samples these have."""

    def __init__(
        self, do: Steps, x: TensorRef, boxes: TensorRef, images: TensorRef | None, size: Any, variant: Variant, *,
        scale: float, ratio: int = 0, aligned: bool = False, largest: bool = False, corners: bool = False,
    ) -> None:  # fmt: skip
        self.corners = corners
        self.do, self.x, self.variant, self.largest = do, x, variant, largest or variant == "pool"
        self.size = size if isinstance(size, tuple) else (size, size)
        if min(self.size) < 1:
            raise InvalidProblemError(f"output_size: {size}; expected 1 or more")
        if ratio > _MOST:
            raise UnsupportedError(f"sampling_ratio: {ratio}; expected up to {_MOST}")
        expected = 5 if images is None else 4
        if boxes.shape[1] != expected or (images is not None and images.shape != boxes.shape[:1]):
            raise InvalidProblemError(
                f"boxes: shape is {boxes.shape}; expected (n, 5), the image's number first, or (n, 4) with batch_indices (n,)"
            )
        if images is None:
            own = view(boxes, boxes.strides[1], (boxes.shape[0], 4), boxes.strides)
            images = view(boxes, 0, boxes.shape[:1], boxes.strides[:1])
        else:
            own = boxes
        self.tensors = {"image": images, **components(own)}
        self.channels = x.shape[1]
        if variant.startswith("ps"):
            each = self.size[0] * self.size[1]
            if x.shape[1] % each:
                raise InvalidProblemError(f"x: {x.shape[1]} channels; expected a multiple of {each}, one for each bin")
            self.channels = x.shape[1] // each
        self.shape = (boxes.shape[0], self.channels, *self.size)
        self.empty = 0 in self.shape
        if not self.empty and 0 in x.shape:
            raise InvalidProblemError(f"x: shape is {x.shape}; expected elements for {boxes.shape[0]} boxes")
        self.words: dict[str, Any] = {"size": self.size, "aligned": aligned, "variant": variant, "scale": scale}
        self.extents: dict[str, Any] = {"height": x.shape[2], "width": x.shape[3]}
        self.precise = x.kind is F64
        self.ratio = ratio
        self.samples = ratio * ratio if ratio > 0 else 0 if self.empty else self._count()

    def _count(self) -> int:
        """The most samples that a bin has: it depends on the boxes, and is read on the host."""
        boxes = {n: t for n, t in self.tensors.items() if n != "image"}
        counts = self.do.run(_counted, boxes, precise=self.precise, **self.extents, **self.words)
        rows, columns = (self.do.on_host(c).astype(int) for c in counts)
        if max(rows.max(), columns.max()) > _MOST:
            raise UnsupportedError(
                f"boxes: {rows.max()} x {columns.max()} samples of a bin; expected up to {_MOST} along each axis"
            )
        return max(1, int((rows * columns).max()))

    def run(self, into: TensorMut) -> None:
        if self.empty:
            return
        rows = self.samples > _WRITTEN_OUT
        self.do.run(
            _along_rows if rows else _written_out, {"x": self.x, **self.tensors}, into, samples=self.samples, ratio=self.ratio,
            largest=self.largest, rows=rows, corners=self.corners, **self.words,
        )  # fmt: skip

    def gradient(self, dy: TensorRef, into: TensorMut) -> None:
        do = self.do
        if dy.shape != self.shape:
            raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {self.shape}")
        if self.empty:
            do.zero(into)
            return
        n, c, h, w = self.x.shape
        by_channel = self.largest or self.variant.startswith("ps")
        if self.largest:
            number = do.run(
                _largest, {"x": self.x, **self.tensors}, samples=self.samples, ratio=self.ratio, rows=True, **self.words
            )
            index, weight = do.run(
                _taps_largest, {"number": number, **self.tensors}, ratio=self.ratio, precise=self.precise, channels=c,
                **self.extents, **self.words,
            )  # fmt: skip
        else:
            index, weight = do.run(
                _taps, self.tensors, samples=self.samples, ratio=self.ratio, precise=self.precise,
                channels=self.channels if by_channel else 1, **self.extents, **self.words,
            )  # fmt: skip
        if by_channel:  # elements of all channels are destinations
            k, channels, *size = dy.shape
            dy = view(dy, 0, (k, 1, channels, *size), (dy.strides[0], 0, *dy.strides[1:]))
            own = do.rows(into.shape, into.kind)
            scattered(do, dy, index, weight, view(own, 0, (n, 1, c, h, w), (own.strides[0], 0, *own.strides[1:])))
            do.copy(own, into)
            return
        scattered(do, dy, index, weight, into)
