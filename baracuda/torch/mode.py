"""The mode in which a PyTorch program is computed by this library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import baracuda
import baracuda.torch.aten
from baracuda.core.preferred import ARITHMETICS, preferred
from baracuda.torch.choices import choices
from baracuda.torch.registry import CHOSEN
from baracuda.torch.report import ByPyTorch, Report, promise, timed
from baracuda.torch.resolution import composed, served

Arithmetic = Literal["reproducible", "pinned", "fastest"]
PREFERENCES = ARITHMETICS


def reproducible(*, strict: bool = True, arithmetic: Arithmetic | None = None) -> Reproducible:
    """A `with` statement in which this library computes what PyTorch programs ask for, forward, backward and optimizer.

    Each aten op below autograd is computed by functions of this library, with their bits on every device. Views and memory stay
    PyTorch's. Random numbers are this library's, with keys that are taken from PyTorch's generator of the CPU on every device:
    `torch.manual_seed` says them, and a program draws the same ones on a GPU as on a CPU.

    Parameters
    ----------
    strict
        An op that is not served raises `UnsupportedError` with its name. False: PyTorch computes it, and `report()` of what the
        statement gives says which, how often and for how long.
    arithmetic
        How products are computed: "reproducible" (None: what the library does by itself, which is this), "pinned" to one
        architecture, or "fastest".

    Examples
    --------
    >>> import torch, baracuda.torch
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> with baracuda.torch.reproducible():
    ...     (x @ x).sum().backward()
    >>> x.grad
    tensor([[4., 4.],
            [4., 4.]])
    """
    return Reproducible(strict, arithmetic)


class _Mode(TorchDispatchMode):  # type: ignore[misc]
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Otherwise PyTorch wraps each call in what keeps its compiler away, which takes as long as a small op does."""
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """What is compiled is compiled under the mode too, where the compiler is there: by this library's backend, as it says."""
        return "torch._dynamo" in sys.modules


class Reproducible(_Mode):
    """What `reproducible` gives; `report()` says who computed what."""

    def __init__(self, strict: bool, arithmetic: Arithmetic | None) -> None:
        super().__init__()
        if arithmetic is not None and arithmetic not in PREFERENCES:
            raise baracuda.InvalidProblemError(f"arithmetic: {arithmetic!r}; expected None or one of {', '.join(PREFERENCES)}")
        self.strict = strict
        self.arithmetic = arithmetic
        self.preference = None if arithmetic is None else PREFERENCES[arithmetic]
        self._computes: dict[Any, Callable[..., Any]] = {}
        self._by_pytorch: dict[Any, ByPyTorch] = {}
        self._undo: list[ExitStack] = []

    def __enter__(self) -> Reproducible:
        stack = ExitStack()
        if self.preference is not None:
            stack.enter_context(baracuda.preferring(self.preference))
        # Layers that PyTorch has a fused form of in inference alone would have other bits there than in training.
        stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        # What cuDNN has a function of its own for, a GPU is asked for as a CPU is.
        stack.callback(torch._C._set_cudnn_enabled, torch._C._get_cudnn_enabled())
        torch._C._set_cudnn_enabled(False)
        stack.enter_context(choices.of(_Mode))
        if self.ignore_compile_internals():
            from baracuda.torch.compiled.backend import under_mode

            stack.enter_context(under_mode(self.strict, self.arithmetic))
        self._undo.append(stack)
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._undo.pop().close()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        compute = self._computes.get(func)
        if compute is None:
            compute = self._computes[func] = self._find(func)
        if self.preference is not None and preferred() is not self.preference:  # a thread of autograd's
            with baracuda.preferring(self.preference):
                return compute(*args, **(kwargs or {}))
        return compute(*args, **kwargs) if kwargs else compute(*args)

    def _find(self, overload: Any) -> Callable[..., Any]:
        """What computes an overload from now on."""
        if overload in CHOSEN:
            return partial(self._under_mode, CHOSEN[overload])
        found = served(overload)
        if found is not None:
            return partial(self._under_mode, found) if hasattr(found, "composed") else found
        pieces = composed(overload)
        if pieces is not None:
            return partial(self._under_mode, pieces)
        if self.strict:
            raise baracuda.UnsupportedError(
                f"{overload}: no function of baracuda computes it; expected an op that is served, or strict=False"
            )
        row = self._by_pytorch[overload] = ByPyTorch(str(overload))
        return timed(overload, row)

    def _under_mode(self, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        """A function whose own ops come to this mode in turn."""
        with _Again(self):
            return function(*args, **keywords)

    def report(self) -> Report:
        """Who computed what so far, and what may be promised of it."""
        rows = tuple(sorted((r for r in self._by_pytorch.values() if r.calls), key=lambda r: -r.seconds))
        names = tuple(sorted(str(o) for o in self._computes if o not in self._by_pytorch))
        arithmetic = self.arithmetic or "reproducible"
        return Report(rows, names, arithmetic, promise(arithmetic, rows))


class _Again(_Mode):
    """The mode again, for the pieces of an op that it takes apart."""

    def __init__(self, mode: Reproducible) -> None:
        super().__init__()
        self.mode = mode

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.mode.__torch_dispatch__(func, types, args, kwargs)
