"""Pictures of other sizes, borders that repeat what they surround, pictures read where a grid says."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.gradients import masked
from baracuda.torch.registry import serves

aten = torch.ops.aten


def _resized(name: str, rank: int, mode: str, aligns: bool, antialias: bool = False) -> None:
    """`name` and its backward: both are given the sizes, then `align_corners` if the mode knows that, then scales or None."""

    def options(shape: Any, size: Any, rest: tuple[Any, ...], scales: dict[str, Any]) -> dict[str, Any]:
        align_corners = rest[0] if aligns else None
        factors = [s for s in (*rest[int(aligns) :], *scales.values()) if s is not None]
        sized: dict[str, Any] = {"size": tuple(size)}
        if len(factors) == rank:
            sized = {"scale_factor": tuple(factors)}
            if (made := [int(n * s) for n, s in zip(shape[-rank:], factors, strict=True)]) != list(size):
                raise baracuda.UnsupportedError(f"{name}: size {tuple(size)} with scales {factors}; expected {tuple(made)}")
        return {**sized, "mode": mode, "align_corners": align_corners, "antialias": antialias}

    def forward(x: Any, size: Any, *rest: Any, **scales: Any) -> Any:
        return baracuda.interpolate(x, **options(x.shape, size, rest, scales))

    def backward(dy: Any, size: Any, sizes: Any, *rest: Any, **scales: Any) -> Any:
        return baracuda.interpolate_backward(dy, dy.new_empty(tuple(sizes)), **options(sizes, size, rest, scales))

    serves(getattr(aten, name).default)(forward)
    serves(getattr(aten, f"{name}_backward").default)(backward)


_resized("upsample_linear1d", 1, "linear", True)
_resized("upsample_bilinear2d", 2, "bilinear", True)
_resized("upsample_trilinear3d", 3, "trilinear", True)
_resized("upsample_bicubic2d", 2, "bicubic", True)
_resized("_upsample_bilinear2d_aa", 2, "bilinear", True, antialias=True)
_resized("_upsample_bicubic2d_aa", 2, "bicubic", True, antialias=True)
for _rank in (1, 2, 3):
    _resized(f"upsample_nearest{_rank}d", _rank, "nearest", False)
    _resized(f"_upsample_nearest_exact{_rank}d", _rank, "nearest-exact", False)


def _bordered(name: str, mode: str) -> None:
    def forward(x: Any, padding: Any) -> Any:
        return baracuda.pad(x, mode=mode, pad=tuple(padding))

    def backward(dy: Any, x: Any, padding: Any) -> Any:
        return baracuda.pad_backward(dy, x, mode=mode, pad=tuple(padding))

    serves(getattr(aten, name).default)(forward)
    serves(getattr(aten, f"{name}_backward").default)(backward)


for _rank in (1, 2, 3):
    _bordered(f"replication_pad{_rank}d", "edge")
    _bordered(f"reflection_pad{_rank}d", "reflect")


def _ways(mode: int, padding: int) -> tuple[str, str]:
    return ("bilinear", "nearest", "bicubic")[mode], ("zeros", "border", "reflection")[padding]


@serves(aten.grid_sampler_2d.default, aten.grid_sampler_3d.default)
def grid_sampler(x: Any, grid: Any, mode: int, padding: int, align_corners: bool) -> Any:
    return baracuda.grid_sample(x, grid, *_ways(mode, padding), align_corners)


@serves(aten.grid_sampler_2d_backward.default, aten.grid_sampler_3d_backward.default)
def grid_sampler_backward(
    dy: Any, x: Any, grid: Any, mode: int, padding: int, align_corners: bool, output_mask: Any
) -> tuple[Any, ...]:
    def gradients(wrt: tuple[str, ...]) -> Any:
        return baracuda.grid_sample_backward(dy, x, grid, *_ways(mode, padding), align_corners, wrt=wrt)

    return tuple(masked(gradients, ("x", "grid"), output_mask, (True, True)))
