"""Where values lie: NumPy's on the CPU, or our arrays on a device, but for those that operators read on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import baracuda
from baracuda.core.device import Device
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.array import Array
from baracuda.onnx.coded import Coded, computed


def device_of(word: Any) -> Device | None:
    """The device that an option names; None for NumPy's arrays on the CPU."""
    if word is None or isinstance(word, Device):
        return word
    name, _, index = str(word).partition(":")
    if name == "cpu" and not index:
        return None
    if name == "cuda" and (index.isdigit() or not index):
        return Device.cuda(int(index or 0))
    raise InvalidProblemError(f"device: {word!r}; expected 'cpu', 'cuda', 'cuda:0' and so on, or a Device")


def placed(value: Any, device: Device | None) -> Any:
    """A NumPy array on the device; texts stay where they are."""
    if device is None:
        return value
    if isinstance(value, list):
        return [placed(v, device) for v in value]
    if isinstance(value, Coded):
        return Coded(placed(value.codes, device), value.dtype)
    if not isinstance(value, np.ndarray) or not computed(value.dtype):
        return value
    return baracuda.to_device(value, device)


def beside(call: Callable[..., Any], hosted: Callable[[int], bool], device: Device | None) -> Callable[..., Any]:
    """The function with all of its inputs on the device if one is, but for those that it reads on the host."""
    if device is None:
        return call

    def run(*given: Any, **words: Any) -> Any:
        if any(isinstance(x.codes if isinstance(x, Coded) else x, Array) for x in given):
            given = tuple(x if hosted(i) else placed(x, device) for i, x in enumerate(given))
        return call(*given, **words)

    return run


def on_host(value: Any) -> Any:
    """A result as NumPy has it."""
    if isinstance(value, list):
        return [on_host(v) for v in value]
    if isinstance(value, Coded):
        return value.numpy()
    return baracuda.to_host(value) if isinstance(value, Array) else value


def to_numpy(values: Sequence[Any]) -> list[Any]:
    """Results on the host."""
    return [on_host(v) for v in values]
