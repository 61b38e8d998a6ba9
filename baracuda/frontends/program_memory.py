"""Who owns the memory of a tensor, and what PyTorch does of its own while a program is recorded."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np

from baracuda.core import call_recorder
from baracuda.core.device import Device, DeviceKind
from baracuda.frontends.array import Array
from baracuda.frontends.arrays import allocated


def is_held(tensor: Any) -> Callable[[], bool] | None:
    """What says whether the memory of a tensor is still somebody's; None where nothing can."""
    if isinstance(tensor, np.ndarray):
        owner: Any = tensor
        while (below := getattr(owner, "base", None)) is not None:
            owner = below
        return _alive(owner)
    if isinstance(tensor, Array):
        return _alive(tensor.owner)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        storage = torch.multiprocessing.reductions.StorageWeakRef(tensor.untyped_storage())
        return lambda: not storage.expired()
    return None


def _alive(owner: Any) -> Callable[[], bool] | None:
    try:
        known = weakref.ref(owner)
    except TypeError:
        return None
    return lambda: known() is not None


@contextmanager
def without_pytorch() -> Iterator[None]:
    """While a program is recorded, what PyTorch computes by itself refuses it: it would not be computed in the next call. Views
    and new memory are no computation. Nothing is differentiated."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    dispatch = torch.utils._python_dispatch
    with torch.no_grad(), dispatch._disable_current_modes() as modes, _watcher()(), _reader()():
        for mode in reversed(modes):
            dispatch._push_mode(mode)
        try:
            yield
        finally:
            for _ in modes:
                dispatch._pop_mode()


def torch_place(device: Device) -> Any:
    """A tensor of PyTorch's on a device."""
    return sys.modules["torch"].empty(0, device="cpu" if device.kind is DeviceKind.CPU else f"cuda:{device.index}")


def undifferentiated() -> Any:
    """A `with` statement in which PyTorch keeps no record for gradients."""
    torch = sys.modules.get("torch")
    return nullcontext() if torch is None else torch.no_grad()


@cache
def _watcher() -> Any:
    """The class of modes that see what PyTorch does."""
    torch = sys.modules["torch"]

    class Watcher(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            name = func._schema.name
            if name in _NEW:
                allocated(result, result)
            elif name in _GIVEN and result.numel() * result.element_size() <= _FEW_BYTES:
                call_recorder.hold(result)
            elif name in _VALUES:
                x = args[0].detach()
                call_recorder.expect_value(x.data_ptr(), x.cpu().reshape(1).view(torch.uint8).numpy().tobytes())
            elif name in _LAYOUTS:
                pass
            elif func._schema.is_mutable or not _is_view(result, (args, kwargs)):
                call_recorder.refuse(f"PyTorch computes {func}")
            return result

    def _is_view(result: Any, given: Any) -> bool:
        if not isinstance(result, (torch.Tensor, tuple, list)):
            return False
        leaves = torch.utils._pytree.tree_leaves
        known = {t.untyped_storage()._cdata for t in leaves(given) if isinstance(t, torch.Tensor)}
        made = [t for t in leaves(result) if isinstance(t, torch.Tensor)]
        return all(t.untyped_storage()._cdata in known or not t.numel() for t in made)

    return Watcher


@cache
def _reader() -> Any:
    """The class of modes that see values leave PyTorch without an op."""
    torch = sys.modules["torch"]
    ways = {torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__}

    class Reader(torch.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func in ways:
                call_recorder.refuse("it reads values on the host")
            return func(*args, **(kwargs or {}))

    return Reader


_NEW = frozenset(f"aten::{name}" for name in ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"))
#: What `torch.tensor` is below, numbers of the function's own; and how many bytes of them are taken for such.
_GIVEN, _FEW_BYTES = frozenset(["aten::lift_fresh"]), 4096
#: What reads no values.
_LAYOUTS = frozenset(
    f"aten::{n}" for n in ("is_pinned", "is_same_size", "sym_size", "sym_stride", "sym_numel", "sym_storage_offset")
)
_VALUES = frozenset(["aten::_local_scalar_dense"])
