"""`torch.ops.baracuda`: operators that are registered when somebody asks for them.

There are some 1,400 functions. What one needs of PyTorch, schemas, kernels, derivatives, is told it when its name is first looked
up in the namespace, which takes a millisecond; `register_ops` does all at once, for those who ask PyTorch's dispatcher itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import cache
from typing import Any

import torch

import baracuda
from baracuda.core import locks
from baracuda.core.errors import UnsupportedError
from baracuda.torch.library import autograd, batching, fake, gradients, kernel, schemas
from baracuda.torch.library.exceptions import LEFT_OUT
from baracuda.torch.library.schemas import Overload

NAMESPACE = "baracuda"
_library = torch.library.Library(NAMESPACE, "DEF")
_registered: set[str] = set()
_lock = locks.reentrant_lock()


@cache
def names() -> tuple[str, ...]:
    """The names of all operators."""
    found = []
    for name in dir(baracuda):
        if not name.startswith("_") and name not in LEFT_OUT:
            value = getattr(baracuda, name)
            if callable(value) and not inspect.isclass(value):
                found.append(name)
    return tuple(found)


def register(name: str) -> None:
    """Tell PyTorch of one function, once; raises `UnsupportedError` for one that is no operator."""
    with _lock:
        if name in _registered:
            return
        overloads = schemas.overloads(name)
        _registered.add(name)  # PyTorch looks the name up while it is told of it
        computed = [(overload, kernel.kernel(overload)) for overload in overloads]
        for overload, compute in computed:
            _define(overload, compute)
        for overload, compute in computed:
            _derive(overload, compute)


def _define(overload: Overload, compute: Any) -> None:
    """Schema, kernel and what PyTorch may know without computing."""
    full = overload.full_name
    _library.define(str(overload), tags=(torch.Tag.pt2_compliant_tag,))
    _library.impl(full, compute, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{NAMESPACE}::{full}", fake.fake(overload), lib=_library)


def _derive(overload: Overload, compute: Any) -> None:
    """Derivatives, and batches."""
    full = overload.full_name
    derived = autograd.kernel(overload, compute)
    if derived is not None:
        _library.impl(full, derived, "Autograd")
    batched = batching.batched(overload)
    if batched is not None:
        torch.library.register_vmap(f"{NAMESPACE}::{full}", batched, lib=_library)


def register_ops(wanted: Iterable[str] | None = None) -> None:
    """Register operators by name, by default all of them, without waiting for somebody to ask for them."""
    for name in names() if wanted is None else wanted:
        register(name)


class Namespace(torch._ops._OpNamespace):  # type: ignore[misc]
    """`torch.ops.baracuda`."""

    __module__ = "torch._ops"  # by which exported programs call operators

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            try:
                known = gradients.exists(name)
                if known or name in LEFT_OUT:
                    register(name)
            except UnsupportedError as error:
                raise AttributeError(str(error)) from None
        return super().__getattr__(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *names()})


def install() -> None:
    """Have `torch.ops.baracuda` be the namespace."""
    if not isinstance(torch.ops.__dict__.get(NAMESPACE), Namespace):
        setattr(torch.ops, NAMESPACE, Namespace(NAMESPACE))
