"""Fourier transforms; PyTorch says their scale as one of none, the root of the length, and the length."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten
FORWARD, INVERSE = ("backward", "ortho", "forward"), ("forward", "ortho", "backward")


@serves(aten._fft_c2c.default)
def c2c(x: Any, dim: Any, normalization: int, forward: bool) -> Any:
    if not len(dim):
        return baracuda.positive(x)
    norms = FORWARD if forward else INVERSE
    return (baracuda.fftn if forward else baracuda.ifftn)(x, None, tuple(dim), norms[normalization])


@serves(aten._fft_r2c.default)
def r2c(x: Any, dim: Any, normalization: int, onesided: bool) -> Any:
    return (baracuda.rfftn if onesided else baracuda.fftn)(x, None, tuple(dim), FORWARD[normalization])


@serves(aten._fft_c2r.default)
def c2r(x: Any, dim: Any, normalization: int, last_dim_size: int) -> Any:
    lengths = (*(x.shape[d] for d in dim[:-1]), last_dim_size)
    return baracuda.irfftn(x, lengths, tuple(dim), INVERSE[normalization])
