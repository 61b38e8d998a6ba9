"""Local response normalization: each element over a power of the mean square of its neighbouring channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import expanded_dims, slab, windows
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import FiniteFloat, Positive
from baracuda.ops.normalization import response_norms as r

_CHANNELS = 1


def _pieces(channels: int, before: int, after: int) -> Iterator[tuple[int, int, int, int]]:
    """Runs of channels whose windows are cut alike: the first channel, how many, where its window begins, and its size.

    All channels with a whole window are one run; each of the others, at most before + after, is one.
    """
    first, last = min(before, channels), max(channels - after, before)
    if first < last <= channels:
        yield first, last - first, 0, before + after + 1
    else:
        last = first
    for c in (*range(first), *range(last, channels)):
        start = max(c - before, 0)
        yield c, 1, start, min(c + after + 1, channels) - start


def _checked(x: TensorRef) -> None:
    if len(x.shape) > 7:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected 7 axes at most")


def _point(tensor: TensorRef, start: int, count: int) -> Any:
    """Some channels, with one more axis that the windows lie along."""
    rank = len(tensor.shape)
    return expanded_dims(slab(tensor, _CHANNELS, start, start + count), range(rank), rank + 1)


@composed(x="samples channels ... : float")
def local_response_norm(
    do: Steps, x: TensorRef, size: Positive, alpha: FiniteFloat = 1e-4, beta: FiniteFloat = 0.75, k: FiniteFloat = 1.0
) -> TensorMut:
    """x / (k + alpha * mean)**beta, mean the sum of squares of `size` channels around an element's own over `size`
    (Krizhevsky et al. 2012; torch's convention: what is beyond the channels is 0).

    x is (samples, channels, ...). The window begins size // 2 channels before the element's own. Windows are views of x: no
    memory is used beside the result. The channels that have a whole window take one kernel, each of the other size - 1 another.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.ones((1, 3, 1), np.float32)
    >>> baracuda.local_response_norm(x, 3, alpha=3.0, beta=2.0, k=-1.0)[0, :, 0].tolist()
    [1.0, 0.25, 1.0]
    """
    _checked(x)
    y = do.new(x.shape, x.kind)
    for c, count, start, extent in _pieces(x.shape[_CHANNELS], size // 2, (size - 1) // 2):
        tensors = {"x": _point(x, c, count), "window": windows(x, _CHANNELS, start, count, extent)}
        do.run(r.divided_by_window, tensors, _point(y, c, count), k=k, share=alpha / size, beta=beta)
    return y


@composed(x="samples channels *rest : float", dy="samples channels *rest : float")
def local_response_norm_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    size: Positive,
    alpha: FiniteFloat = 1e-4,
    beta: FiniteFloat = 0.75,
    k: FiniteFloat = 1.0,
) -> TensorMut:
    """The gradient of `local_response_norm`'s x. It holds two tensors of x's shape, in the kind x computes in, meanwhile."""
    _checked(x)
    before, after, share = size // 2, (size - 1) // 2, alpha / size
    channels, wide = x.shape[_CHANNELS], x.kind.compute
    kept, slopes, dx = (do.new(x.shape, kind) for kind in (wide, wide, x.kind))
    for c, count, start, extent in _pieces(channels, before, after):
        window = windows(x, _CHANNELS, start, count, extent)
        tensors = {"dy": _point(dy, c, count), "x": _point(x, c, count), "window": window}
        into = (_point(kept, c, count), _point(slopes, c, count))
        do.run(r.slopes_of_windows, tensors, into, k=k, share=share, beta=beta)
    for c, count, start, extent in _pieces(channels, after, before):
        window = windows(slopes, _CHANNELS, start, count, extent)
        tensors = {"x": _point(x, c, count), "kept": _point(kept, c, count), "slopes": window}
        do.run(r.gathered_slopes, tensors, _point(dx, c, count), share=share, beta=beta)
    return dx
