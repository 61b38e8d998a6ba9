"""`make train-demo` says the hash that its reference is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "vision" / "train.py"


@pytest.mark.slow
def test_the_training_run_ends_in_its_reference(device: str) -> None:
    pytest.importorskip("torch")
    ran = subprocess.run([sys.executable, SCRIPT, "--device", device], capture_output=True, text=True, cwd=SCRIPT.parents[2])
    assert "which is the reference" in ran.stdout, ran.stdout + ran.stderr[-2000:]
    assert ran.returncode == 0
