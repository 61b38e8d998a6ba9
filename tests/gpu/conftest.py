"""Everything here needs a CUDA device and PyTorch."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def torch() -> Any:
    """PyTorch, where it has a CUDA device; the test is skipped where not."""
    torch_module = pytest.importorskip("torch")
    if not torch_module.cuda.is_available():
        pytest.skip("no CUDA device")
    torch_module.cuda.synchronize()
    return torch_module
