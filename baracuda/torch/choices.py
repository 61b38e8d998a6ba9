"""One choice on all devices, where PyTorch takes a function apart in ways that differ from device to device.

Attention and recurrent networks become other ops above autograd, and so above any dispatch mode: on a GPU flash, memory-efficient
or cuDNN attention and cuDNN's layers, on a CPU the flash attention of CPUs and oneDNN's layers or single steps, depending on
elements, sizes and processor. While a mode of ours is entered, the dispatcher has kernels for these functions that make
the choice of `baracuda.torch.registry.CHOSEN` in threads that are in such a mode, and PyTorch's own in all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from baracuda.core.locks import lock
from baracuda.torch.registry import CHOSEN

KEYS = "AutogradCPU", "AutogradCUDA"


class _Choices:
    """The kernels, which are there as long as anybody is in a mode."""

    def __init__(self) -> None:
        self.lock = lock()
        self.users = 0
        self.kernels: Any = None

    @contextmanager
    def of(self, kind: type) -> Iterator[None]:
        """Ours, in threads that are in a dispatch mode of this kind."""
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.kernels = torch.library.Library("aten", "IMPL")
                for overload, function in CHOSEN.items():
                    for key in KEYS:
                        self.kernels.impl(overload, _kernel(overload, function, kind), key)
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if not self.users:
                    self.kernels._destroy()
                    self.kernels = None


def _kernel(overload: Any, function: Callable[..., Any], kind: type) -> Callable[..., Any]:
    def kernel(*args: Any, **keywords: Any) -> Any:
        if any(isinstance(mode, kind) for mode in _get_current_dispatch_mode_stack()):
            return function(*args, **keywords)
        return overload.decompose(*args, **keywords)

    return kernel


choices = _Choices()
