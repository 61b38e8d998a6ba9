"""Cases of the normalization family."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from tests.cases.case import OpCases, Shapes

Tensor = torch.Tensor

_NORM: list[Shapes] = [((3, 67), (67,)), ((2, 5, 1030), (1030,)), ((6, 33), None), ((4, 5, 33), (4, 1, 33))]
_AFFINE: list[Shapes] = [(x, w, w) for x, w in _NORM]
_CHANNELS: list[Shapes] = [((4, 6, 5, 7), (6,), (6,)), ((33, 5), (5,), (5,)), ((2, 3, 1030), None, None)]
_SPATIAL: list[Shapes] = [((4, 6, 5, 7), (6,), (6,)), ((2, 8, 130), (8,), (8,)), ((2, 4, 1030), None, None)]
_GROUPS: list[Shapes] = [((4, 2, 3, 5, 7), (2, 3), (2, 3)), ((2, 2, 4, 130), (2, 4), (2, 4)), ((2, 2, 1030), None, None)]
_BATCH: list[Shapes] = [(x, w, w, w, w) for x, w, _ in _CHANNELS]
_VECTORS: list[Shapes] = [((3, 67),), ((2, 5, 33),), ((4, 1030, 3),)]
_HALVES: list[Shapes] = [
    ((2, 7, 3, 32), (2, 7, 3, 32), (32,), (32,), (7, 1, 32), (7, 1, 32)),
    ((5, 9), (5, 9), (9,), (9,), None, None),
    ((5, 64), (5, 64), None, None, (64,), (64,)),
]


# --- rows -------------------------------------------------------------------------------------------------------------


def _layer_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5, axis: Any = -1) -> Tensor:
    variance, mean = torch.var_mean(x, axis, correction=0, keepdim=True)
    y = (x - mean) / torch.sqrt(variance + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def _rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6) -> Tensor:
    y = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    return y if weight is None else y * weight


def _ada(x: Tensor, scale: Tensor, shift: Tensor, eps: float = 1e-6) -> Tensor:
    return _layer_norm(x, 1.0 + scale, shift, eps)


def _add_rms_norm(x: Tensor, residual: Tensor, weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
    return _rms_norm(x + residual, weight), x + residual


def _add_layer_norm(x: Tensor, residual: Tensor, *affine: Tensor | None) -> tuple[Tensor, Tensor]:
    return _layer_norm(x + residual, *affine), x + residual


def _gated(x: Tensor, z: Tensor, weight: Tensor | None = None, norm_before_gate: bool = True) -> Tensor:
    return _rms_norm(x, weight) * F.silu(z) if norm_before_gate else _rms_norm(x * F.silu(z), weight)


def _quantized(y: Tensor, dtype: str) -> Tensor:
    if dtype == "s8":
        return y.round().clamp(-128, 127)
    kind = {"f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}[dtype]
    most = torch.finfo(kind).max
    return y.clamp(-most, most).to(kind).double()


def _rms_norm_quant(x: Tensor, weight: Tensor | None = None, scale: Tensor | None = None, dtype: str = "s8") -> Any:
    y = _rms_norm(x, weight)
    if scale is not None:
        return _quantized(y / scale, dtype)
    row = y.abs().amax(-1, keepdim=True) / {"s8": 127.0, "f8e4m3": 448.0, "f8e5m2": 57344.0}[dtype]
    return _quantized(y / row, dtype), row


def _qk_norm(first: Tensor, second: Tensor, *rest: Tensor | None) -> tuple[Tensor, Tensor]:
    weights, angles = [w for w in rest[:2] if w is not None], [v for v in rest[2:] if v is not None]
    whole = _rms_norm(torch.cat([first, second], -1), torch.cat(weights) if weights else None)
    a, b = whole.tensor_split(2, -1)
    if not angles:
        return a, b
    cos, sin = angles
    return a * cos - b * sin, a * sin + b * cos


# --- channels ---------------------------------------------------------------------------------------------------------


def _batch_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
) -> Any:
    own = training or running_mean is None
    moved = [None if r is None else r.detach().clone() for r in (running_mean, running_var)]
    y = F.batch_norm(x, *moved, weight, bias, own, momentum)
    return (y, *moved) if own and running_mean is not None else y


def _group_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Of (samples, groups, channels of a group, ...)."""
    joined = x.reshape((x.shape[0], -1, *x.shape[3:]))
    affine = [None if v is None else v.reshape(-1) for v in (weight, bias)]
    return F.group_norm(joined, x.shape[1], *affine).reshape(x.shape)


def _stats(x: Tensor) -> tuple[Tensor, Tensor]:
    axes = [a for a in range(x.ndim) if a != 1]
    variance, mean = torch.var_mean(x, axes, correction=0)
    return mean, torch.rsqrt(variance + 1e-5)


def _update_stats(x: Tensor, running_mean: Tensor, running_var: Tensor, momentum: float = 0.1) -> tuple[Tensor, ...]:
    axes = [a for a in range(x.ndim) if a != 1]
    variance, mean = torch.var_mean(x, axes, correction=0)
    unbiased = x.var(axes)
    return mean, variance, torch.lerp(running_mean, mean, momentum), torch.lerp(running_var, unbiased, momentum)


def _gather_stats(
    means: Tensor, rstds: Tensor, counts: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None
) -> tuple[Tensor, ...]:
    n = counts.double()[:, None]
    mean = (means * n).sum(0) / n.sum()
    second = ((rstds**-2 - 1e-5 + means**2) * n).sum(0) / n.sum()
    variance = second - mean**2
    results = (mean, torch.rsqrt(variance + 1e-5))
    if running_mean is None or running_var is None:
        return results
    unbiased = variance * n.sum() / (n.sum() - 1.0)
    return *results, torch.lerp(running_mean, mean, 0.1), torch.lerp(running_var, unbiased, 0.1)


def _channel(v: Tensor | None, x: Tensor) -> Any:
    return 1.0 if v is None else v.reshape((-1,) + (1,) * (x.ndim - 2))


def _elemt(x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    y = (x - _channel(mean, x)) * _channel(rstd, x) * _channel(weight, x)
    return y if bias is None else y + _channel(bias, x)


def _backward_reduce(dy: Tensor, x: Tensor, mean: Tensor, rstd: Tensor) -> tuple[Tensor, ...]:
    axes = [a for a in range(x.ndim) if a != 1]
    products = (dy * (x - _channel(mean, x))).sum(axes)
    return dy.sum(axes), products, products * rstd, dy.sum(axes)


def _backward_elemt(
    dy: Tensor,
    x: Tensor,
    mean: Tensor,
    rstd: Tensor,
    sum_dy: Tensor,
    sum_dy_xmu: Tensor,
    count: Tensor,
    weight: Tensor | None = None,
) -> Tensor:
    d = x - _channel(mean, x)
    slope = _channel(rstd, x) ** 2 * _channel(sum_dy_xmu, x) / count
    return (dy - _channel(sum_dy, x) / count - d * slope) * _channel(rstd, x) * _channel(weight, x)


def global_response_norm(x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Of (samples, ..., channels)."""
    lengths = torch.linalg.vector_norm(x, 2, tuple(range(1, x.ndim - 1)), keepdim=True)
    scaled = x * lengths / (lengths.mean(-1, keepdim=True) + 1e-6)
    y = x + (scaled if weight is None else scaled * weight)
    return y if bias is None else y + bias


# --- norms of vectors -------------------------------------------------------------------------------------------------


def _normalize(x: Tensor, p: float = 2.0, eps: float = 1e-12, axis: int = 1) -> Tensor:
    return F.normalize(x, p, axis, eps)


def _renorm(x: Tensor, p: float = 2.0, max_norm: float = 1.0, axis: Any = None) -> Tensor:
    axes = tuple(range(1, x.ndim)) if axis is None else axis
    norm = torch.linalg.vector_norm(x, p, axes, keepdim=True)
    return x * torch.where(norm > max_norm, max_norm / (norm + 1e-7), 1.0)


def _weight_norm(v: Tensor, g: Tensor) -> Tensor:
    return v * (g / torch.linalg.vector_norm(v, 2, tuple(range(1, v.ndim)), keepdim=True))


def _spectral_norm(weight: Tensor, u: Tensor, v: Tensor | None = None, n_power_iterations: int = 1) -> tuple[Tensor, ...]:
    matrix = weight.reshape(weight.shape[0], -1)
    left, right = u.detach(), None if v is None else v.detach().reshape(-1)
    for _ in range(n_power_iterations):
        right = F.normalize(matrix.detach().T @ left, dim=0)
        left = F.normalize(matrix.detach() @ right, dim=0)
    assert right is not None
    sigma = left @ matrix @ right
    results = (weight / sigma, sigma)
    return (*results, left, right.reshape(weight.shape[1:])) if n_power_iterations else results


CASES = {
    "rms_norm": OpCases(_rms_norm, shapes=_NORM, keywords=({}, {"eps": 1e-2}), specials=False, tolerance=8.0, absolute=4.0),
    "layer_norm": OpCases(_layer_norm, shapes=_AFFINE, specials=False, tolerance=8.0, absolute=4.0),
    "ada_layer_norm": OpCases(
        _ada, shapes=[((3, 67), (67,), (67,)), ((4, 5, 33), (4, 1, 33), (4, 1, 33))], specials=False, tolerance=8.0, absolute=4.0
    ),
    "standardize": OpCases(
        _layer_norm,
        shapes=[((3, 67),), ((2, 5, 1030),), ((4, 7, 9),)],
        keywords=({}, {"axis": (0, -1)}),
        specials=False,
        tolerance=8.0,
        absolute=1.0,
    ),
    "fused_add_rms_norm": OpCases(
        _add_rms_norm, shapes=[(x, x, w) for x, w in _NORM], specials=False, tolerance=8.0, absolute=4.0
    ),
    "fused_add_layer_norm": OpCases(
        _add_layer_norm, shapes=[(x, x, w, w) for x, w in _NORM], specials=False, tolerance=8.0, absolute=4.0
    ),
    "gated_rms_norm": OpCases(
        _gated,
        shapes=[(x, x, w) for x, w in _NORM],
        keywords=({}, {"norm_before_gate": False}),
        specials=False,
        tolerance=16.0,
        absolute=1.0,
    ),
    "rms_norm_quant": OpCases(
        _rms_norm_quant,
        ("any", "nonzero", "positive"),
        shapes=[((3, 67), (67,), None), ((3, 67), None, ()), ((2, 5, 130), (130,), (1,))],
        keywords=({}, {"dtype": "f8e4m3"}, {"dtype": "f8e5m2"}),
        specials=False,
    ),
    "qk_norm": OpCases(_qk_norm, shapes=_HALVES, specials=False, tolerance=16.0, absolute=1.0),
    "batch_norm": OpCases(
        _batch_norm,
        ("any", "any", "positive", "any"),
        shapes=_BATCH,
        keywords=({}, {"training": True}),
        specials=False,
        tolerance=8.0,
        absolute=1.0,
    ),
    "instance_norm": OpCases(
        lambda x, weight=None, bias=None: F.instance_norm(x, None, None, weight, bias),
        shapes=_SPATIAL,
        specials=False,
        tolerance=8.0,
        absolute=1.0,
    ),
    "group_norm": OpCases(_group_norm, shapes=_GROUPS, specials=False, tolerance=8.0, absolute=4.0),
    "group_norm_silu": OpCases(
        lambda *tensors: F.silu(_group_norm(*tensors)), shapes=_GROUPS, specials=False, tolerance=16.0, absolute=4.0
    ),
    "global_response_norm": OpCases(
        global_response_norm,
        shapes=[((3, 5, 7, 16), (16,), (16,)), ((2, 130, 33), None, None)],
        gradient=False,  # it is of several plans: see test_global_response_norm.py
        specials=False,
        tolerance=8.0,
        absolute=4.0,
    ),
    "batch_norm_stats": OpCases(_stats, shapes=[(s[0],) for s in _CHANNELS], specials=False, absolute=4.0),
    "batch_norm_update_stats": OpCases(
        _update_stats,
        ("any", "any", "positive"),
        shapes=[(s[0], (s[0][1],), (s[0][1],)) for s in _CHANNELS if s[0]],
        specials=False,
        absolute=8.0,
    ),
    "batch_norm_gather_stats": OpCases(
        _gather_stats,
        ("any", "positive", "index:100", "any", "positive"),
        shapes=[((3, 7), (3, 7), (3,), (7,), (7,)), ((8, 33), (8, 33), (8,))],
        specials=False,
        tolerance=16.0,
        absolute=1.0,
    ),
    "batch_norm_elemt": OpCases(
        _elemt, shapes=[((4, 6, 5, 7), (6,), (6,), (6,), (6,)), ((33, 5), (5,), (5,))], specials=False, absolute=4.0
    ),
    "batch_norm_backward_reduce": OpCases(
        _backward_reduce,
        shapes=[((4, 6, 5, 7), (4, 6, 5, 7), (6,), (6,)), ((33, 5), (33, 5), (5,), (5,))],
        specials=False,
        absolute=64.0,
    ),
    "batch_norm_backward_elemt": OpCases(
        _backward_elemt,
        ("any", "any", "any", "small", "any", "any", "above one", "any"),
        shapes=[
            ((4, 6, 5, 7), (4, 6, 5, 7), (6,), (6,), (6,), (6,), (), (6,)),
            ((33, 5), (33, 5), (5,), (5,), (5,), (5,), (1,)),
        ],
        specials=False,
        absolute=64.0,
    ),
    "normalize": OpCases(
        _normalize,
        shapes=_VECTORS,
        keywords=({}, {"p": 1, "axis": -1}, {"p": 3.5}, {"p": float("inf")}),
        specials=False,
        tolerance=16.0,
    ),
    "renorm": OpCases(
        _renorm,
        shapes=_VECTORS,
        keywords=({"max_norm": 5.0}, {"p": 1, "max_norm": 100.0, "axis": 0}),
        specials=False,
        tolerance=16.0,
    ),
    "weight_norm": OpCases(
        _weight_norm, shapes=[((6, 67), (6, 1)), ((5, 4, 3, 7), (5, 1, 1, 1))], specials=False, tolerance=16.0
    ),
    "spectral_norm": OpCases(
        _spectral_norm,
        shapes=[((9, 33), (9,), (33,)), ((5, 4, 3, 3), (5,), (4, 3, 3))],
        keywords=({}, {"n_power_iterations": 3}, {"n_power_iterations": 0}),
        specials=False,
        tolerance=64.0,
        absolute=1.0,
    ),
}
