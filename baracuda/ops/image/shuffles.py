"""Images taken apart into patches, and channels and pixels exchanged: elements moved, none changed."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, reshaped, view
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import Positive


def _moved(do: Steps, x: TensorRef, apart: list[int], order: list[int], shape: list[int]) -> Any:
    """The elements of x, whose axes are split as `apart` says, in another order of axes, in a shape."""
    split = do.reshaped(x, apart)
    seen = permuted(split, order)
    y = do.result(shape, x.kind)
    flat = reshaped(y, seen.shape)
    if flat is None:  # of an output that is strided: by way of a contiguous one
        made = do.rows(seen.shape, x.kind)
        do.copy(seen, made)
        do.copy(view(made, 0, y.shape, contiguous_strides(y.shape)), y)
    else:
        do.copy(seen, flat)
    return y


def _multiple(name: str, extent: int, by: int, what: str) -> int:
    if extent % by:
        raise InvalidProblemError(f"x: {extent} {what}; expected a multiple of {by}, as {name} says")
    return extent // by


# --- pixels and channels ----------------------------------------------------------------------------------------------

Order = Literal["CRD", "DCR"]


def _shuffled(do: Steps, x: TensorRef, r: int, order: str) -> Any:
    *lead, c, h, w = x.shape
    n, k = len(lead), _multiple("upscale_factor", c, r * r, "channels")
    apart = [*lead, k, r, r, h, w] if order == "CRD" else [*lead, r, r, k, h, w]
    channel, down, right = (n, n + 1, n + 2) if order == "CRD" else (n + 2, n, n + 1)
    return _moved(do, x, apart, [*range(n), channel, n + 3, down, n + 4, right], [*lead, k, h * r, w * r])


def _unshuffled(do: Steps, x: TensorRef, r: int, order: str) -> Any:
    *lead, c, h, w = x.shape
    n = len(lead)
    rows, columns = _multiple("downscale_factor", h, r, "rows"), _multiple("downscale_factor", w, r, "columns")
    ahead = [n, n + 2, n + 4] if order == "CRD" else [n + 2, n + 4, n]
    return _moved(do, x, [*lead, c, rows, r, columns, r], [*range(n), *ahead, n + 1, n + 3], [*lead, c * r * r, rows, columns])


@composed(x="... c h w", out=True)
def pixel_shuffle(do: Steps, x: TensorRef, upscale_factor: Positive, *, order: Order = "CRD") -> Any:
    """(..., C * r * r, H, W) as (..., C, H * r, W * r): each block of r x r pixels is what r * r channels have at its place.

    order "CRD" counts channels as (C, r, r), PyTorch's way, "DCR" as (r, r, C), the default of ONNX's DepthToSpace.

    Source: torch.nn.functional.pixel_shuffle, ONNX DepthToSpace.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pixel_shuffle(np.arange(4).reshape(4, 1, 1), 2).tolist()
    [[[0, 1], [2, 3]]]
    """
    return _shuffled(do, x, upscale_factor, order)


@composed(dy="... c h w", out=True)
def pixel_shuffle_backward(do: Steps, dy: TensorRef, upscale_factor: Positive, *, order: Order = "CRD") -> Any:
    """The gradient of `pixel_shuffle`'s x: `pixel_unshuffle` of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pixel_shuffle_backward(np.float32([[[0, 1], [2, 3]]]), 2).ravel().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    return _unshuffled(do, dy, upscale_factor, order)


@composed(x="... c h w", out=True)
def pixel_unshuffle(do: Steps, x: TensorRef, downscale_factor: Positive, *, order: Order = "CRD") -> Any:
    """(..., C, H * r, W * r) as (..., C * r * r, H, W), the inverse of `pixel_shuffle`.

    ONNX's SpaceToDepth is order="DCR". Source: torch.nn.functional.pixel_unshuffle, ONNX SpaceToDepth.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pixel_unshuffle(np.array([[[0, 1], [2, 3]]]), 2).ravel().tolist()
    [0, 1, 2, 3]
    """
    return _unshuffled(do, x, downscale_factor, order)


@composed(dy="... c h w", out=True)
def pixel_unshuffle_backward(do: Steps, dy: TensorRef, downscale_factor: Positive, *, order: Order = "CRD") -> Any:
    """The gradient of `pixel_unshuffle`'s x: `pixel_shuffle` of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.pixel_unshuffle_backward(np.arange(4.0).reshape(4, 1, 1), 2).tolist()
    [[[0.0, 1.0], [2.0, 3.0]]]
    """
    return _shuffled(do, dy, downscale_factor, order)


def _exchanged(do: Steps, x: TensorRef, groups: int, *, back: bool) -> Any:
    if len(x.shape) < 2:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected (N, C, ...)")
    n, c, *rest = x.shape
    each = _multiple("groups", c, groups, "channels")
    first, second = (each, groups) if back else (groups, each)
    return _moved(do, x, [n, first, second, *rest], [0, 2, 1, *range(3, 3 + len(rest))], [n, c, *rest])


@composed(x="...", out=True)
def channel_shuffle(do: Steps, x: TensorRef, groups: Positive) -> Any:
    """(N, C, ...) with its channels, seen as (groups, C / groups), transposed (ShuffleNet). Source: torch.channel_shuffle.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.channel_shuffle(np.arange(6).reshape(1, 6), 2).tolist()
    [[0, 3, 1, 4, 2, 5]]
    """
    return _exchanged(do, x, groups, back=False)


@composed(dy="...", out=True)
def channel_shuffle_backward(do: Steps, dy: TensorRef, groups: Positive) -> Any:
    """The gradient of `channel_shuffle`'s x: its channels where they came from.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.channel_shuffle_backward(np.float32([[0, 3, 1, 4, 2, 5]]), 2).tolist()
    [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]
    """
    return _exchanged(do, dy, groups, back=True)


# --- patches ----------------------------------------------------------------------------------------------------------

Patch = int | tuple[int, int]
Layout = Literal["channels_first", "channels_last"]


def _pair(size: Any, name: str) -> tuple[int, int]:
    pair = size if isinstance(size, tuple) else (size, size)
    if min(pair) < 1:
        raise InvalidProblemError(f"{name}: {size}; expected 1 or more")
    return pair


def _patches(do: Steps, x: TensorRef, size: Patch, layout: str) -> Any:
    n, c, h, w = x.shape
    down, right = _pair(size, "patch_size")
    rows, columns = _multiple("patch_size", h, down, "rows"), _multiple("patch_size", w, right, "columns")
    inside = [1, 3, 5] if layout == "channels_first" else [3, 5, 1]
    return _moved(do, x, [n, c, rows, down, columns, right], [0, 2, 4, *inside], [n, rows * columns, c * down * right])


def _from_patches(do: Steps, x: TensorRef, size: Patch, image: tuple[int, int], layout: str) -> Any:
    n, count, length = x.shape
    down, right = _pair(size, "patch_size")
    h, w = image
    if h < 0 or w < 0 or h % down or w % right or (h // down) * (w // right) != count:
        raise InvalidProblemError(f"image_size: {image}; expected {count} patches of {(down, right)}")
    c = _multiple("patch_size", length, down * right, "elements of a patch")
    rows, columns = h // down, w // right
    first = layout == "channels_first"
    apart = [n, rows, columns, *((c, down, right) if first else (down, right, c))]
    order = [0, 3, 1, 4, 2, 5] if first else [0, 5, 1, 3, 2, 4]
    return _moved(do, x, apart, order, [n, c, h, w])


@composed(x="n c h w", out=True)
def patchify(do: Steps, x: TensorRef, patch_size: Patch, *, layout: Layout = "channels_first") -> Any:
    """Images (N, C, H, W) as patches (N, H / p * W / p, C * p * p), row by row; the elements of a patch are in the order
    (C, p, p), or with layout "channels_last" (p, p, C).

    patch_size is p, or one for rows and one for columns. `unpatchify` is the way back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.patchify(np.arange(8).reshape(1, 1, 2, 4), 2).tolist()
    [[[0, 1, 4, 5], [2, 3, 6, 7]]]
    """
    return _patches(do, x, patch_size, layout)


@composed(dy="n patches length", out=True)
def patchify_backward(
    do: Steps, dy: TensorRef, patch_size: Patch, image_size: tuple[int, int], *, layout: Layout = "channels_first"
) -> Any:
    """The gradient of `patchify`'s x, of image_size (H, W): `unpatchify` of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.patchify_backward(np.arange(4.0).reshape(1, 1, 4), 2, (2, 2)).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    return _from_patches(do, dy, patch_size, image_size, layout)


@composed(x="n patches length", out=True)
def unpatchify(
    do: Steps, x: TensorRef, patch_size: Patch, image_size: tuple[int, int], *, layout: Layout = "channels_first"
) -> Any:
    """The images (N, C, H, W), of image_size (H, W), that patches are of: the inverse of `patchify`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unpatchify(np.array([[[0, 1, 4, 5], [2, 3, 6, 7]]]), 2, (2, 4)).tolist()
    [[[[0, 1, 2, 3], [4, 5, 6, 7]]]]
    """
    return _from_patches(do, x, patch_size, image_size, layout)


@composed(dy="n c h w", out=True)
def unpatchify_backward(do: Steps, dy: TensorRef, patch_size: Patch, *, layout: Layout = "channels_first") -> Any:
    """The gradient of `unpatchify`'s x: `patchify` of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.unpatchify_backward(np.arange(4.0).reshape(1, 1, 2, 2), 1).shape
    (1, 4, 1)
    """
    return _patches(do, dy, patch_size, layout)


# --- windows ----------------------------------------------------------------------------------------------------------


def _windows(do: Steps, x: TensorRef, size: Patch) -> Any:
    n, h, w, c = x.shape
    down, right = _pair(size, "window_size")
    rows, columns = _multiple("window_size", h, down, "rows"), _multiple("window_size", w, right, "columns")
    return _moved(do, x, [n, rows, down, columns, right, c], [0, 1, 3, 2, 4, 5], [n * rows * columns, down, right, c])


def _from_windows(do: Steps, x: TensorRef, image: tuple[int, int]) -> TensorMut:
    count, down, right, c = x.shape
    h, w = image
    if min(h, w, down, right) < 1 or h % down or w % right or count % ((h // down) * (w // right)):
        raise InvalidProblemError(f"image_size: {image}; expected multiples of {(down, right)} that {count} windows fill")
    rows, columns = h // down, w // right
    n = count // (rows * columns)
    made: TensorMut = _moved(do, x, [n, rows, columns, down, right, c], [0, 1, 3, 2, 4, 5], [n, h, w, c])
    return made


@composed(x="n h w c", out=True)
def window_partition(do: Steps, x: TensorRef, window_size: Patch) -> Any:
    """(N, H, W, C) as windows (N * H / s * W / s, s, s, C), row by row (Swin). `window_reverse` is the way back.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.window_partition(np.arange(8).reshape(1, 2, 4, 1), 2)[..., 0].tolist()
    [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    """
    return _windows(do, x, window_size)


@composed(dy="windows h w c", out=True)
def window_partition_backward(do: Steps, dy: TensorRef, image_size: tuple[int, int]) -> Any:
    """The gradient of `window_partition`'s x, of image_size (H, W): `window_reverse` of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.window_partition_backward(np.ones((2, 2, 2, 1)), (2, 4)).shape
    (1, 2, 4, 1)
    """
    return _from_windows(do, dy, image_size)


@composed(x="windows h w c", out=True)
def window_reverse(do: Steps, x: TensorRef, image_size: tuple[int, int]) -> Any:
    """The images (N, H, W, C), of image_size (H, W), that windows are of: the inverse of `window_partition`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> windows = baracuda.window_partition(np.arange(8).reshape(1, 2, 4, 1), 2)
    >>> baracuda.window_reverse(windows, (2, 4)).ravel().tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    return _from_windows(do, x, image_size)


@composed(dy="n h w c", out=True)
def window_reverse_backward(do: Steps, dy: TensorRef, window_size: Patch) -> Any:
    """The gradient of `window_reverse`'s x: `window_partition` of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.window_reverse_backward(np.ones((1, 2, 4, 1)), 2).shape
    (2, 2, 2, 1)
    """
    return _windows(do, dy, window_size)
