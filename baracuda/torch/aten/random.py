"""Random numbers: this library's, with a key for each draw that comes from PyTorch's generator of the CPU.

So `torch.manual_seed`, `fork_rng` and saved states of that generator say what is drawn, on every device.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves
from baracuda.torch.write import write

aten = torch.ops.aten


_given = threading.local()


@contextmanager
def given_key(key: Any) -> Iterator[None]:
    """The next draw has this key."""
    _given.key = key
    try:
        yield
    finally:
        _given.key = None


def new_key(like: Any, generator: Any = None) -> Any:
    """The key of the next draw, on the device of `like`."""
    if (given := getattr(_given, "key", None)) is not None:
        return given
    if generator is not None and generator.device.type != "cpu":
        raise baracuda.UnsupportedError(f"generator of {generator.device}: keys come from generators of the CPU")
    return _drawn_by_pytorch(1, generator, {like.device})[like.device][0]


def new_keys(devices: Sequence[torch.device]) -> list[Any]:
    """A key for each of these devices, as draws one after the other would have them."""
    keys = _drawn_by_pytorch(len(devices), None, set(devices))
    return [keys[d][i] for i, d in enumerate(devices)]


def _drawn_by_pytorch(count: int, generator: Any, devices: set[torch.device]) -> dict[torch.device, Any]:
    """Keys on each device, whatever modes there are around this one."""
    with torch._C._DisableTorchDispatch():
        keys = torch.empty(count, dtype=torch.int64).random_(generator=generator).view(torch.uint32).view(-1, 2)
        return {d: keys if d.type == "cpu" else keys.to(d) for d in devices}


@serves(aten.bernoulli_.float, aten.bernoulli.p)
def bernoulli(x: Any, p: float = 0.5, *, generator: Any = None) -> Any:
    return baracuda.bernoulli(new_key(x, generator), p, shape=tuple(x.shape), dtype=x.dtype)


@serves(aten.bernoulli.default)
def bernoulli_of(p: Any, *, generator: Any = None) -> Any:
    return baracuda.bernoulli(new_key(p, generator), p, dtype=p.dtype)


@serves(aten.native_dropout.default)
def dropout(x: Any, p: float, train: Any) -> Any:
    """What PyTorch does on a CPU in steps: x * (draw / (1 - p)); so a GPU, where it is one op, has the same bits."""
    if train is False or not p:
        return baracuda.positive(x), baracuda.full(tuple(x.shape), True, torch.bool, like=x)
    keep = baracuda.bernoulli(new_key(x), 1 - p, shape=tuple(x.shape), dtype=x.dtype)
    y = baracuda.mul(x, baracuda.div(keep, 1 - p)) if p < 1 else baracuda.mul(x, keep)
    return y, baracuda.cast(keep, dtype=torch.bool)


@serves(aten.native_dropout_backward.default)
def dropout_backward(dy: Any, mask: Any, scale: float) -> Any:
    noise = baracuda.cast(mask, dtype=dy.dtype)
    return baracuda.mul(dy, baracuda.div(noise, 1 / scale) if scale else baracuda.full_like(noise, 0))


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


@serves(aten.uniform_.default, aten.uniform.default)
def uniform(x: Any, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Any:
    return baracuda.rand(new_key(x, generator), tuple(x.shape), x.dtype, low=low, high=high)


@serves(aten.normal_.default, aten.normal_functional.default)
def normal(x: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    return baracuda.add(baracuda.mul(baracuda.randn(new_key(x, generator), tuple(x.shape), x.dtype), std), mean)


@serves(aten.randperm.default)
def randperm(n: int, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return baracuda.randperm(new_key(torch.empty((), device=device)), n, dtype or torch.int64)


@serves(aten.randint.low)
def randint_low(low: int, high: int, size: Any, *, dtype: Any = None, device: Any = None, **ways: Any) -> Any:
    return _whole(new_key(torch.empty((), device=device)), low, high, tuple(size), dtype or torch.int64)


@serves(aten.randint.default)
def randint(high: int, size: Any, **options: Any) -> Any:
    return randint_low(0, high, size, **options)


@serves(aten.multinomial.default)
def multinomial(p: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    return baracuda.multinomial(new_key(p, generator), p, num_samples, replacement)


@serves(aten.randint_like.default, aten.randint_like.generator)
def randint_like(x: Any, high: int, *, dtype: Any = None, generator: Any = None, **ways: Any) -> Any:
    return randint_like_from(x, 0, high, dtype=dtype, generator=generator)


@serves(aten.randint_like.low_dtype, aten.randint_like.low_generator_dtype)
def randint_like_from(x: Any, low: int, high: int, *, dtype: Any = None, generator: Any = None, **ways: Any) -> Any:
    return _whole(new_key(x, generator), low, high, tuple(x.shape), dtype or x.dtype)


def _whole(key: Any, low: int, high: int, shape: tuple[int, ...], element: Any) -> Any:
    """Whole numbers in any element."""
    if element.is_floating_point or element.is_complex:
        return baracuda.cast(baracuda.randint(key, low, high, shape, torch.int64), dtype=element)
    return baracuda.randint(key, low, high, shape, element)


@serves(aten.normal.Tensor_float, aten.normal.float_Tensor, aten.normal.Tensor_Tensor)
def normal_of(mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Any:
    like = mean if isinstance(mean, torch.Tensor) else std
    return baracuda.normal(new_key(like, generator), mean, std, dtype=like.dtype)


@serves(aten.normal.float_float)
def normal_of_numbers(
    mean: float, std: float, size: Any, *, generator: Any = None, dtype: Any = None, device: Any = None, **ways: Any
) -> Any:
    key = new_key(torch.empty((), device=device), generator)
    return baracuda.normal(key, mean, std, tuple(size), _element(dtype))


@serves(aten.rrelu_with_noise.default, writes=True)
def rrelu_with_noise(
    x: Any, noise: Any, lower: Any = 0.125, upper: Any = 1 / 3, training: bool = False, generator: Any = None
) -> Any:
    """x, times slopes where it is not positive: drawn ones, which `noise` holds then with 1 elsewhere, or their mean."""
    if not training:
        return baracuda.leaky_relu(x, (lower + upper) / 2)
    slopes = baracuda.rand(new_key(x, generator), tuple(x.shape), x.dtype, low=lower, high=upper)
    write(noise, baracuda.where(baracuda.gt(x, 0), 1.0, slopes))
    return baracuda.mul(x, noise)


@serves(aten.rrelu_with_noise_backward.default)
def rrelu_with_noise_backward(dy: Any, x: Any, noise: Any, lower: Any, upper: Any, training: bool, self_is_result: bool) -> Any:
    if training and upper - lower > 1e-6:
        return baracuda.mul(dy, noise)
    return baracuda.leaky_relu_backward(dy, x, negative_slope=(lower + upper) / 2)
