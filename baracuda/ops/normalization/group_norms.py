"""Group normalization of tensors whose channels are one axis: the op on views with the channels cut into groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.words import Eps, Positive, Wrt
from baracuda.ops.normalization import channel_norms as c

Tensors = Mapping[str, Any]


def _split(do: Steps, tensors: Tensors, groups: int | None) -> Tensors:
    """Views of tensors with the axis of channels cut into groups of neighbours; without `groups` it is cut already."""
    if groups is None:
        return tensors
    made = {}
    for name, tensor in tensors.items():
        if tensor is not None:
            axis = int(name in ("x", "dy"))
            before, (channels, *behind) = tensor.shape[:axis], tensor.shape[axis:]
            if channels % groups:
                raise InvalidProblemError(f"num_groups: {groups!r}; expected a divisor of the {channels} channels of {name}")
            made[name] = do.reshaped(tensor, (*before, groups, channels // groups, *behind))
    return made


def _forward(do: Steps, op: Op, tensors: Tensors, groups: int | None, eps: float, saved: bool) -> Any:
    shape = tensors["x"].shape
    made = do.run(op, _split(do, tensors, groups), eps=eps, saved=saved)
    y, *statistics = made if saved else (made,)
    return one_or_all([do.reshaped(y, shape), *statistics])


def _backward(
    do: Steps, op: Op, dy: TensorRef, tensors: Tensors, saved: Tensors, groups: int | None, eps: float, wrt: Wrt
) -> Any:
    given = {n: t for n, t in tensors.items() if t is not None}
    views = _split(do, {**given, "dy": dy}, groups)
    names = chosen(wrt, tuple(given))
    found = do.gradients(op, {n: views[n] for n in given}, views["dy"], names, saved, eps=eps)
    return one_or_all([do.reshaped(found[n], given[n].shape) for n in names])


def _channels(channels: int, rest: tuple[int, ...], num_groups: int | None) -> tuple[int, ...]:
    """The shape of what there is of each channel."""
    return (channels, *rest[:1]) if num_groups is None else (channels,)


def _groups(samples: int, channels: int, num_groups: int | None) -> tuple[int, ...]:
    return (samples, channels if num_groups is None else num_groups)


_FORWARD: dict[str, Any] = {"x": "samples channels *rest : float", "weight": _channels, "bias": _channels}
_OF_BACKWARD: dict[str, Any] = {**_FORWARD, "dy": "samples channels *rest : float", "mean": _groups, "rstd": _groups}


@composed(**_FORWARD)
def group_norm(
    do: Steps,
    x: TensorRef,
    weight: Given = None,
    bias: Given = None,
    *,
    num_groups: Positive | None = None,
    eps: Eps = 1e-5,
    saved: bool = False,
) -> Any:
    """(x - mean) / sqrt(var + eps) * weight + bias with one mean and variance for each sample's groups of channels (Wu and He
    2018).

    x is (samples, channels, ...), weight and bias (channels); without num_groups the channels are two axes already, groups and
    channels of a group. `saved` adds mean and 1 / sqrt(var + eps), (samples, groups). Raises `InvalidProblemError` unless
    num_groups divides the channels.

    Differs from PyTorch: num_groups is a keyword.
    """
    return _forward(do, c.group_norm, {"x": x, "weight": weight, "bias": bias}, num_groups, eps, saved)


@composed(**_FORWARD)
def group_norm_silu(
    do: Steps,
    x: TensorRef,
    weight: Given = None,
    bias: Given = None,
    *,
    num_groups: Positive | None = None,
    eps: Eps = 1e-5,
    saved: bool = False,
) -> Any:
    """silu(group_norm(x)) in one pass, with the parameters of `group_norm`."""
    return _forward(do, c.group_norm_silu, {"x": x, "weight": weight, "bias": bias}, num_groups, eps, saved)


@composed(**_OF_BACKWARD)
def group_norm_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: Given = None,
    bias: Given = None,
    mean: Given = None,
    rstd: Given = None,
    *,
    num_groups: Positive | None = None,
    eps: Eps = 1e-5,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `group_norm`'s tensors, those named in `wrt` or all that are given; mean and rstd are its results."""
    tensors = {"x": x, "weight": weight, "bias": bias}
    return _backward(do, c.group_norm, dy, tensors, {"mean": mean, "rstd": rstd}, num_groups, eps, wrt)


@composed(**_OF_BACKWARD)
def group_norm_silu_backward(
    do: Steps,
    dy: TensorRef,
    x: TensorRef,
    weight: Given = None,
    bias: Given = None,
    mean: Given = None,
    rstd: Given = None,
    *,
    num_groups: Positive | None = None,
    eps: Eps = 1e-5,
    wrt: Wrt = None,
) -> Any:
    """The gradients of `group_norm_silu`'s tensors, as `group_norm_backward`."""
    tensors = {"x": x, "weight": weight, "bias": bias}
    return _backward(do, c.group_norm_silu, dy, tensors, {"mean": mean, "rstd": rstd}, num_groups, eps, wrt)
