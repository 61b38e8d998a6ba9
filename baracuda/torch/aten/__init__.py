"""What computes each aten function, by domain. Importing this fills the table of `baracuda.torch.registry`."""

from baracuda.torch.aten import (
    attention,
    convolution,
    creation,
    fft,
    indexing,
    losses,
    memory,
    normalization,
    optimizers,
    pointwise,
    pooling,
    products,
    random,
    recurrent,
    reductions,
    shapes,
)

__all__ = [
    "attention",
    "convolution",
    "creation",
    "fft",
    "indexing",
    "losses",
    "memory",
    "normalization",
    "optimizers",
    "pointwise",
    "pooling",
    "products",
    "random",
    "recurrent",
    "reductions",
    "shapes",
]
