"""torchvision beside a PyTorch that its compiled extension was not made for, such as PyTorch's builds for CPUs alone."""

from __future__ import annotations

import importlib.metadata
import re
from typing import Any

import torch

_library: Any = None


def models() -> Any:
    """`torchvision.models`; where the extension does not load, its operators, which none of them calls, are defined by name."""
    try:
        import torchvision.models as found
    except RuntimeError:
        _define()
        import torchvision.models as found
    return found


def _define() -> None:
    global _library
    if _library is None:
        files = importlib.metadata.files("torchvision") or []
        text = next(f for f in files if f.name == "_meta_registrations.py").read_text()
        _library = torch.library.Library("torchvision", "FRAGMENT")
        for name in sorted(set(re.findall(r'register_(?:fake|meta)\("(?:torchvision::)?(\w+)"', text))):
            _library.define(f"{name}(Tensor a) -> Tensor")
