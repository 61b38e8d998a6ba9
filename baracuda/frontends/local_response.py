"""Local response normalization: each element over a power of the mean square of its neighbouring channels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.views import output, placed, run, slab, windows
from baracuda.frontends.words import FiniteFloat, Positive
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


def _described(x: Any) -> TensorRef:
    ref = describe(x, "x")
    if len(ref.shape) > 7:
        raise InvalidProblemError(f"x: shape is {ref.shape}; expected 7 axes at most")
    return ref


def _point(tensor: TensorRef, start: int, count: int) -> Any:
    """Some channels, with one more axis that the windows lie along."""
    rank = len(tensor.shape)
    return placed(slab(tensor, _CHANNELS, start, start + count), range(rank), rank + 1)


@declared(x="samples channels ... : float")
def local_response_norm(x: Any, size: Positive, alpha: FiniteFloat = 1e-4, beta: FiniteFloat = 0.75, k: FiniteFloat = 1.0) -> Any:
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
    ref = _described(x)
    result, target = output(x, ref.shape, ref.kind)
    for c, count, start, extent in _pieces(ref.shape[_CHANNELS], size // 2, (size - 1) // 2):
        tensors = {"x": _point(ref, c, count), "window": windows(ref, _CHANNELS, start, count, extent)}
        run(r.divided_by_window, tensors, x, _point(target, c, count), k=k, share=alpha / size, beta=beta)
    return result


@declared(x="samples channels *rest : float", dy="samples channels *rest : float")
def local_response_norm_backward(
    dy: Any, x: Any, size: Positive, alpha: FiniteFloat = 1e-4, beta: FiniteFloat = 0.75, k: FiniteFloat = 1.0
) -> Any:
    """The gradient of `local_response_norm`'s x. It holds two tensors of x's shape, in the kind x computes in, meanwhile."""
    ref, given = _described(x), describe(dy, "dy")
    before, after, share = size // 2, (size - 1) // 2, alpha / size
    channels, wide = ref.shape[_CHANNELS], ref.kind.compute
    (_, kept), (_, slopes), (result, target) = (output(x, ref.shape, kind) for kind in (wide, wide, ref.kind))
    for c, count, start, extent in _pieces(channels, before, after):
        window = windows(ref, _CHANNELS, start, count, extent)
        tensors = {"dy": _point(given, c, count), "x": _point(ref, c, count), "window": window}
        into = (_point(kept, c, count), _point(slopes, c, count))
        run(r.slopes_of_windows, tensors, x, into, k=k, share=share, beta=beta)
    for c, count, start, extent in _pieces(channels, after, before):
        window = windows(slopes, _CHANNELS, start, count, extent)
        tensors = {"x": _point(ref, c, count), "kept": _point(kept, c, count), "slopes": window}
        run(r.gathered_slopes, tensors, x, _point(target, c, count), share=share, beta=beta)
    return result
