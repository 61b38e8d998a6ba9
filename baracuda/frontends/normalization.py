"""Group norm of tensors with one axis of channels, which its plans see as two: groups, and channels of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.ops.declaration.composition import one_or_all
from baracuda.ops.declaration.patterns import Declared
from baracuda.ops.declaration.words import Eps, Positive, Wrt

_NAMES = ("x", "weight", "bias")


def _split(x: Any, name: str, axis: int, groups: int | None) -> Any:
    """A view of a tensor with an axis of channels cut into groups of neighbours; the tensor itself where it is cut already."""
    if x is None or groups is None:
        return x
    shape = describe(x, name).shape
    if shape[axis] % groups:
        raise InvalidProblemError(f"num_groups: {groups!r}; expected a divisor of the {shape[axis]} channels of {name}")
    return x.reshape((*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]))


def _views(tensors: Sequence[Any], groups: int | None) -> list[Any]:
    return [_split(v, n, int(n == "x"), groups) for n, v in zip(_NAMES, tensors, strict=True)]


def _forward(name: str, tensors: Sequence[Any], groups: int | None, eps: float, saved: bool) -> Any:
    found = function(name)(*_views(tensors, groups), eps=eps, saved=saved)
    y, *statistics = found if saved else (found,)
    y = y.reshape(tuple(tensors[0].shape))
    return (y, *statistics) if saved else y


def _backward(
    name: str,
    dy: Any,
    tensors: Sequence[Any],
    saved: Sequence[Any],
    groups: int | None,
    eps: float,
    wrt: Wrt,
) -> Any:
    named = {n: v for n, v in zip(_NAMES, tensors, strict=True) if v is not None}
    wanted = tuple(named) if wrt is None else tuple(wrt)
    views = _views(tensors, groups)
    found = function(f"{name}_backward")(_split(dy, "dy", 1, groups), *views, *saved, eps=eps, wrt=wanted)
    gradients = found if isinstance(found, tuple) else (found,)
    made = tuple(g.reshape(tuple(named[n].shape)) for n, g in zip(wanted, gradients, strict=True))
    return one_or_all(made)


def _channels(channels: int, rest: tuple[int, ...], num_groups: int | None) -> tuple[int, ...]:
    """The shape of what there is of each channel."""
    return (channels, *rest[:1]) if num_groups is None else (channels,)


def _groups(samples: int, channels: int, num_groups: int | None) -> tuple[int, ...]:
    return (samples, channels if num_groups is None else num_groups)


_FORWARD: dict[str, Declared] = {"x": "samples channels *rest : float", "weight": _channels, "bias": _channels}
_OF_BACKWARD: dict[str, Declared] = {**_FORWARD, "dy": "samples channels *rest : float", "mean": _groups, "rstd": _groups}


@declared(**_FORWARD)
def group_norm(
    x: Any, weight: Any = None, bias: Any = None, *, num_groups: Positive | None = None, eps: Eps = 1e-5, saved: bool = False
) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias with one mean and variance for each sample's groups of channels (Wu and He
    2018).

    x is (samples, channels, ...), weight and bias (channels); without num_groups the channels are two axes already, groups and
    channels of a group. `saved` adds mean and 1 / sqrt(var + eps), (samples, groups). Raises `InvalidProblemError` unless
    num_groups divides the channels.

    Differs from PyTorch: num_groups is a keyword.
    """
    return _forward("group_norm", (x, weight, bias), num_groups, eps, saved)


@declared(**_FORWARD)
def group_norm_silu(
    x: Any, weight: Any = None, bias: Any = None, *, num_groups: Positive | None = None, eps: Eps = 1e-5, saved: bool = False
) -> Any:
    """silu(group_norm(x)) in one pass, with the parameters of `group_norm`."""
    return _forward("group_norm_silu", (x, weight, bias), num_groups, eps, saved)


@declared(**_OF_BACKWARD)
def group_norm_backward(
    dy: Any,
    x: Any,
    weight: Any = None,
    bias: Any = None,
    mean: Any = None,
    rstd: Any = None,
    *,
    num_groups: Positive | None = None,
    eps: Eps = 1e-5,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `group_norm`'s tensors, those named in `wrt` or all that are given; mean and rstd are its results."""
    return _backward("group_norm", dy, (x, weight, bias), (mean, rstd), num_groups, eps, wrt)


@declared(**_OF_BACKWARD)
def group_norm_silu_backward(
    dy: Any,
    x: Any,
    weight: Any = None,
    bias: Any = None,
    mean: Any = None,
    rstd: Any = None,
    *,
    num_groups: Positive | None = None,
    eps: Eps = 1e-5,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `group_norm_silu`'s tensors, as `group_norm_backward`."""
    return _backward("group_norm_silu", dy, (x, weight, bias), (mean, rstd), num_groups, eps, wrt)
