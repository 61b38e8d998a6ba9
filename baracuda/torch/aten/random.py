"""Random numbers: this library's, with a key for each draw that comes from PyTorch's generator of the CPU.

So `torch.manual_seed`, `fork_rng` and saved states of that generator say what is drawn, on every device.
"""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten


def new_key(like: Any, generator: Any = None) -> Any:
    """The key of the next draw, on the device of `like`."""
    if generator is not None and generator.device.type != "cpu":
        raise baracuda.UnsupportedError(f"generator of {generator.device}: keys come from generators of the CPU")
    seed = torch.empty((), dtype=torch.int64).random_(generator=generator).item()
    return baracuda.rng_key(seed, like=like)


@serves(aten.bernoulli_.float, aten.bernoulli.p)
def bernoulli(x: Any, p: float = 0.5, *, generator: Any = None) -> Any:
    u = baracuda.rand(new_key(x, generator), tuple(x.shape), torch.float32)
    return baracuda.cast(baracuda.lt(u, p), dtype=x.dtype)


@serves(aten.bernoulli.default)
def bernoulli_of(p: Any, *, generator: Any = None) -> Any:
    return baracuda.cast(baracuda.lt(baracuda.rand(new_key(p, generator), tuple(p.shape), torch.float32), p), dtype=p.dtype)


@serves(aten.native_dropout.default)
def dropout(x: Any, p: float, train: Any) -> Any:
    if train is False or not p:
        return baracuda.positive(x), baracuda.full(tuple(x.shape), True, torch.bool, like=x)
    keep = baracuda.ge(baracuda.rand(new_key(x), tuple(x.shape), torch.float32), p)
    y = baracuda.mul(x, baracuda.cast(keep, dtype=x.dtype))
    return (baracuda.mul(y, 1 / (1 - p)) if p < 1 else y), keep


def _element(dtype: Any) -> Any:
    return dtype or torch.get_default_dtype()


def _drawn(function: Any, size: Any, dtype: Any, device: Any, generator: Any = None) -> Any:
    return function(new_key(torch.empty((), device=device), generator), tuple(size), _element(dtype))


@serves(aten.rand.default)
def rand(size: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _drawn(baracuda.rand, size, dtype, device)


@serves(aten.randn.default)
def randn(size: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _drawn(baracuda.randn, size, dtype, device)


@serves(aten.rand_like.default)
def rand_like(x: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _drawn(baracuda.rand, x.shape, dtype or x.dtype, device or x.device)


@serves(aten.randn_like.default)
def randn_like(x: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _drawn(baracuda.randn, x.shape, dtype or x.dtype, device or x.device)


@serves(aten.uniform_.default)
def uniform(x: Any, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Any:
    return baracuda.rand(new_key(x, generator), tuple(x.shape), x.dtype, low=low, high=high)


@serves(aten.normal_.default)
def normal(x: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    return baracuda.add(baracuda.mul(baracuda.randn(new_key(x, generator), tuple(x.shape), x.dtype), std), mean)


@serves(aten.randperm.default)
def randperm(n: int, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return baracuda.randperm(new_key(torch.empty((), device=device)), n, dtype or torch.int64)


@serves(aten.randint.low)
def randint_low(low: int, high: int, size: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return baracuda.randint(new_key(torch.empty((), device=device)), low, high, tuple(size), dtype or torch.int64)


@serves(aten.randint.default)
def randint(high: int, size: Any, **options: Any) -> Any:
    return randint_low(0, high, size, **options)
