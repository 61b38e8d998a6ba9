"""What is compiled from C where there is a compiler; everything in here has a counterpart without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load(name: str = "calls") -> Any:
    """The module that makes repeated calls, or the one that launches ("launch"); None where it was not compiled."""
    try:
        return import_module(f"baracuda.native.{name}")
    except ImportError:
        return None
