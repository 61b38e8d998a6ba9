"""What is compiled from C where there is a compiler; everything in here has a counterpart without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: What the modules compiled from this source say of themselves: one that was compiled from another is left alone.
_INTERFACES = {"calls": 7, "launch": 1}


def load(name: str = "calls") -> Any:
    """The module that makes repeated calls, or the one that launches ("launch"); None where it was not compiled."""
    try:
        module = import_module(f"baracuda.native.{name}")
    except ImportError:
        return None
    return module if getattr(module, "INTERFACE", 1) == _INTERFACES[name] else None
