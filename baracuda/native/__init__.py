"""What is compiled from C where there is a compiler; everything in here has a counterpart in Python."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load() -> Any:
    """The module that makes repeated calls; None where it was not compiled."""
    try:
        return import_module("baracuda.native.calls")
    except ImportError:
        return None
