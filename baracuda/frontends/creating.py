"""Functions that make tensors of nothing but a shape and numbers: on what device and of which library."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout_key import LAYOUT_KEYS
from baracuda.core.tensor import tensor_ref
from baracuda.frontends import array
from baracuda.frontends.arrays import adopted, empty_like, library_of

_CPU = np.zeros(1, np.uint8)
#: A tensor of each library on each device, which stands for it.
_examples: dict[Any, Any] = {}
#: What two parameters of every such function are.
WHERE = """
    The result is NumPy's on the CPU and our `Array` on a CUDA device, which `device` says; or of the library and on the device of
    `like`, a tensor or the type `Array`.
"""


def device_of_name(device: Any) -> Device:
    """A device from one, from a framework's, or from a name such as "cpu" or "cuda:1"."""
    if isinstance(device, Device):
        return device
    kind, _, index = str(device).partition(":")
    if kind == "cpu" and not index:
        return Device.cpu()
    if kind == "cuda" and (not index or index.isdecimal()):
        return Device.cuda(int(index or 0))
    raise InvalidProblemError(f"device: {device!r}; expected a Device, or a name such as 'cpu' or 'cuda:0'")


def example_of(device: Any, like: Any) -> Any:
    """A tensor of the library and on the device that results are to be on."""
    if device is None:
        if like is None:
            return _CPU
        if type(like) not in LAYOUT_KEYS:
            return _example_of(None, like)
        place = type(like), getattr(like, "device", "cpu")
        found = _examples.get(place)
        if found is None:
            found = _examples[place] = _example_of(None, like)
        return found
    return _example_of(device, like)


def _example_of(device: Any, like: Any) -> Any:
    where = None if device is None else device_of_name(device)
    if like is None or like is array.Array:
        where = where or Device.cpu()
        if like is None and where.kind is DeviceKind.CPU:
            return _CPU
        return _kept(("baracuda", where), lambda: array.empty((1,), ElementKind.U8, where))
    like = adopted(like, "like")
    own, library = tensor_ref(like, name="like").device, library_of(like)
    if where is None or where == own:
        return _kept((library, own), lambda: empty_like(like, (1,), ElementKind.U8))
    if library == "torch":
        name = "cpu" if where.kind is DeviceKind.CPU else f"cuda:{where.index}"
        torch = sys.modules["torch"]
        return _kept((library, where), lambda: torch.empty((1,), dtype=torch.uint8, device=name))
    if library in ("numpy", "baracuda"):
        return example_of(where, None if library == "numpy" else array.Array)
    raise InvalidProblemError(f"device: {where}; expected {own}, that of like")


def _kept(key: Any, make: Callable[[], Any]) -> Any:
    if key not in _examples:
        _examples[key] = make()
    return _examples[key]


class CreatingFunction:
    """A callable around a function whose first parameter says where its results are, and of which library."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__wrapped__ = getattr(function, "__wrapped__", function)
        own = inspect.signature(self.__wrapped__)
        keyword = inspect.Parameter.KEYWORD_ONLY
        where = [inspect.Parameter(n, keyword, default=None, annotation=Any) for n in ("device", "like")]
        self.__signature__ = own.replace(parameters=[*(p for n, p in own.parameters.items() if n != "like"), *where])
        summary, gap, rest = (function.__doc__ or "").partition("\n    Examples\n")
        self.__doc__ = summary.rstrip() + "\n" + WHERE + gap + rest
        self.__name__ = self.__qualname__ = str(getattr(function, "__name__", ""))
        self.__module__ = "baracuda"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __call__(self, *arguments: Any, device: Any = None, like: Any = None, **keywords: Any) -> Any:
        return self._function(example_of(device, like), *arguments, **keywords)
