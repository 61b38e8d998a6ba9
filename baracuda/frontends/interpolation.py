"""Linear interpolation between samples of a function of one variable."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.reads_backward import in_kind
from baracuda.frontends.scatter import combined
from baracuda.frontends.views import output, run
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.indexing import interpolation as s
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind


def _samples(x: Any, xp: Any, fp: Any) -> dict[str, TensorRef]:
    found = {"x": describe(x, "x"), "xp": describe(xp, "xp"), "fp": describe(fp, "fp")}
    if found["xp"].shape == (0,):
        raise InvalidProblemError("xp: shape is (0,); expected one axis of at least one place")
    return found


_SAMPLES: dict[str, str] = {"x": "*shape : float", "xp": "places : float", "fp": "places : float"}


@declared(**_SAMPLES)
def interp(x: Any, xp: Any, fp: Any, left: float | None = None, right: float | None = None, *, out: Any = None) -> Any:
    """The piecewise linear function through the samples fp at the places xp, at each x: f0 + (x - x0) / (x1 - x0) * (f1 - f0)
    between the places x0 and x1 beside x, rounded with a fused multiply-add; exactly f0 at x0.

    x has any shape, xp and fp are (places), all of a float element; they promote to the result's. xp must rise; that is not
    checked, since it would wait for the device. Of places that are equal the last one counts. Below all places the result is
    `left`, by default fp[0], and above them `right`, by default fp[-1]; NaN where x is. The place is found by bisection, and all
    of it is one kernel with the same bits on every device. Raises `InvalidProblemError` for other shapes and where there is no
    place. Source: jax.numpy.interp, without `period`, which sorts xp.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.interp(np.float32([-1, 0.5, 1, 2.5]), np.float32([0, 1, 3]), np.float32([0, 10, 20])).tolist()
    [0.0, 5.0, 10.0, 17.5]
    """
    tensors = _samples(x, xp, fp)
    beyond = {n: v for n, v in {"left": left, "right": right}.items() if v is not None}
    return run(s.interp, tensors, x, out, steps=_steps(tensors), **beyond)["y"]


def _steps(tensors: dict[str, TensorRef]) -> int:
    """Steps of bisection that tell how many of the places are at most x."""
    return tensors["xp"].shape[0].bit_length()


@declared(**_SAMPLES, dy="*shape : float")
def interp_backward(
    dy: Any,
    x: Any,
    xp: Any,
    fp: Any,
    left: float | None = None,
    right: float | None = None,
    *,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `interp`'s x, xp and fp, those named in `wrt` or all.

    That of x is the slope of its segment, at a place that of the segment above it (of the last one at the last place), and 0
    beyond the places. Those of fp and xp are sums by destination in the canonical order, of a place's shares from the segments
    above it, then of those from the segments below it, each in the order of x.
    """
    tensors = _samples(x, xp, fp)
    names = chosen(wrt, tuple(tensors))
    given, shape = describe(dy, "dy"), tensors["x"].shape
    computed = max((t.kind.compute for t in (given, *tensors.values())), key=lambda kind: kind.bits)
    of_places, of_samples, ends = (_pair(x, shape, kind) for kind in (computed, computed, ElementKind.S32))
    targets = (None, *of_samples[1], *of_places[1], *ends[1])
    options = {"steps": _steps(tensors), "left": left is not None, "right": right is not None}
    made = {"x": run(s.interp_slopes, {"dy": given, **tensors}, x, targets, **options)["dx"]}
    for name, shares in (("xp", of_places[0]), ("fp", of_samples[0])):
        if name in names:
            count = tensors[name].shape
            descriptor = ScatterDescriptor(ScatterKind.SUM, count, 0, (2, *shape), computed, ElementKind.S32)
            made[name] = combined(descriptor, x, index=ends[0], x=shares)
    return one_or_all([in_kind(made[n], tensors[n].kind) for n in names])


def _pair(like: Any, shape: tuple[int, ...], kind: ElementKind) -> tuple[Any, tuple[TensorMut, TensorMut]]:
    """A new tensor for what goes to the lower and the upper end of each segment, and its two halves."""
    made, target = output(like, (2, *shape), kind)
    low, high = (view(target, i * target.strides[0], shape, target.strides[1:]) for i in (0, 1))
    return made, (low, high)
