"""Everything here needs a CUDA device and PyTorch."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def torch() -> Any:
    """PyTorch, where it has a CUDA device; the test is skipped where not."""
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("no CUDA device")
    found.cuda.synchronize()
    return found
