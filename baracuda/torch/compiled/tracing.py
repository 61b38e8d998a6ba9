"""What PyTorch's tracer makes a graph of: the ops that the mode would be asked for, and nothing that it would not.

An op stays whole where something serves it, and is taken apart by PyTorch's own decomposition where nothing does, as the mode
does it. What draws random numbers becomes a key and an op of that key (`keys`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._C import DispatchKey

import baracuda.torch.aten  # noqa: F401  (fills the table)
from baracuda.core.locks import reentrant_lock
from baracuda.torch.compiled.keys import drawing
from baracuda.torch.compiled.layers import LAYERS
from baracuda.torch.registry import CHOSEN, SERVED
from baracuda.torch.resolution import decompositions, served

aten = torch.ops.aten


@cache
def table() -> dict[Any, Callable[..., Any]]:
    """What takes overloads apart while a graph is traced."""
    apart = {
        o: d
        for o, d in decompositions().items()
        if isinstance(o, torch._ops.OpOverload) and not o._can_decompose() and not served(o)
    }
    for name in dir(aten):
        if name.startswith("_foreach_"):
            for overload in _overloads(name):
                each = served(overload)
                if each is not None and hasattr(each, "composed"):
                    apart[overload] = each
    return apart | LAYERS | drawing(o for o in SERVED if torch.Tag.nondeterministic_seeded in o.tags)


def _overloads(name: str) -> Iterator[Any]:
    packet = getattr(aten, name)
    for overload in packet.overloads():
        yield getattr(packet, overload)


#: Overloads that PyTorch, while it traces, takes apart in Python in other ways than it does in eager programs.
_OTHERWISE = tuple(
    o
    for name in (
        *("dropout", "lstm", "gru", "rnn_tanh", "rnn_relu", "hardshrink", "softshrink", "multi_margin_loss"),
        *(n for n in dir(aten) if "upsample_" in n and "backward" not in n),
    )
    for o in _overloads(name)
    if o.py_kernels
)
_KEYS = DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd
_lock = reentrant_lock()


@contextmanager
def as_in_eager() -> Iterator[None]:
    """Ops are taken apart as the mode takes them apart, whose bits the graph is to have."""
    with _lock:
        ours = {o: dict.fromkeys(_KEYS, chosen) for o, chosen in CHOSEN.items()}
        aside = {o: {k: o.py_kernels.pop(k) for k in _KEYS if k in o.py_kernels} for o in {*_OTHERWISE, *ours}}
        cudnn = torch._C._get_cudnn_enabled()
        try:
            torch._C._set_cudnn_enabled(False)
            _put(ours)
            yield
        finally:
            torch._C._set_cudnn_enabled(cudnn)
            for overload in ours:
                overload.py_kernels = {k: f for k, f in overload.py_kernels.items() if k not in _KEYS}
            _put(aside)


def _put(kernels: dict[Any, dict[Any, Any]]) -> None:
    for overload, functions in kernels.items():
        overload.py_kernels.update(functions)
    for overload in {*_OTHERWISE, *kernels}:
        overload._dispatch_cache.clear()
