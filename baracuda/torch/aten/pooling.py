"""Pooling."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten


def _sizes(*values: Any) -> tuple[Any, ...]:
    """Lists as tuples; an empty one, which is a stride that is the window, as None."""
    return tuple((tuple(v) or None) if isinstance(v, (list, tuple)) else v for v in values)


def _max_pool(rank: int) -> None:
    forward, backward = getattr(baracuda, f"max_pool{rank}d"), getattr(baracuda, f"max_pool{rank}d_backward")
    names = f"max_pool{rank}d_with_indices", f"max_pool{rank}d_with_indices_backward"

    def pool(x: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False) -> Any:
        return forward(x, *_sizes(kernel_size, stride, padding, dilation, ceil_mode), True)

    def gradient(
        dy: Any, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, indices: Any
    ) -> Any:
        return backward(dy, x, *_sizes(kernel_size, stride, padding, dilation, ceil_mode), indices=indices)

    serves(getattr(aten, names[0]).default)(pool)
    serves(getattr(aten, names[1]).default)(gradient)


def _avg_pool(rank: int) -> None:
    forward, backward = getattr(baracuda, f"avg_pool{rank}d"), getattr(baracuda, f"avg_pool{rank}d_backward")

    def pool(
        x: Any,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        return forward(x, *_sizes(kernel_size, stride, padding), ceil_mode, count_include_pad, divisor_override)

    def gradient(
        dy: Any,
        x: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: Any,
    ) -> Any:
        return backward(dy, x, *_sizes(kernel_size, stride, padding), ceil_mode, count_include_pad, divisor_override)

    serves(getattr(aten, f"avg_pool{rank}d").default)(pool)
    serves(getattr(aten, f"avg_pool{rank}d_backward").default)(gradient)


def _adaptive(rank: int) -> None:
    forward, backward = getattr(baracuda, f"adaptive_avg_pool{rank}d"), getattr(baracuda, f"adaptive_avg_pool{rank}d_backward")
    serves(getattr(aten, f"_adaptive_avg_pool{rank}d").default)(lambda x, size: forward(x, tuple(size)))
    serves(getattr(aten, f"_adaptive_avg_pool{rank}d_backward").default)(lambda dy, x: backward(dy, x, tuple(dy.shape[-rank:])))


for _rank in (2, 3):
    _max_pool(_rank)
    _avg_pool(_rank)
    _adaptive(_rank)


def _largest_of_drawn_or_given(rank: int) -> None:
    """Adaptive and fractional pooling by the largest."""
    adaptive, fractional = getattr(baracuda, f"adaptive_max_pool{rank}d"), getattr(baracuda, f"fractional_max_pool{rank}d")
    of_adaptive = getattr(baracuda, f"adaptive_max_pool{rank}d_backward")
    of_fractional = getattr(baracuda, f"fractional_max_pool{rank}d_backward")

    def adaptive_gradient(dy: Any, x: Any, indices: Any) -> Any:
        return of_adaptive(dy, x, tuple(dy.shape[-rank:]), indices=indices)

    def pool(x: Any, kernel_size: Any, output_size: Any, samples: Any) -> Any:
        return fractional(x, tuple(kernel_size), tuple(output_size), None, True, samples)

    def gradient(dy: Any, x: Any, kernel_size: Any, output_size: Any, indices: Any) -> Any:
        return of_fractional(dy, x, tuple(kernel_size), tuple(output_size), indices=indices)

    serves(getattr(aten, f"adaptive_max_pool{rank}d").default)(lambda x, size: adaptive(x, tuple(size), True))
    serves(getattr(aten, f"adaptive_max_pool{rank}d_backward").default)(adaptive_gradient)
    serves(getattr(aten, f"fractional_max_pool{rank}d").default)(pool)
    serves(getattr(aten, f"fractional_max_pool{rank}d_backward").default)(gradient)


_largest_of_drawn_or_given(2)
_largest_of_drawn_or_given(3)
