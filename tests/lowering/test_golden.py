"""The sources of some kernels are those in tests/golden: what a change of the generator does is seen in its review."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import make_golden

pytestmark = pytest.mark.cpu_only

ROOT = Path(__file__).parents[2]


def test_sources_are_as_they_were() -> None:
    """In a process of its own, where the CPU is taken for another one."""
    command = [sys.executable, "-m", "tools.make_golden", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_differences_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_golden, "GOLDEN", tmp_path)
    (tmp_path / "a.cu").write_text("one\ntwo\n")
    (tmp_path / "b.ll").write_text("gone\n")
    assert make_golden.different({"a.cu": "one\ntwo\n", "b.ll": "gone\n"}) == []
    said = make_golden.different({"a.cu": "one\nthree\n", "c.cu": "new\n"})
    assert said[0] == "b.ll: no longer made"
    assert "-two" in said
    assert "+three" in said
    assert said[-1] == "c.cu: new"


def test_cuda_sources_compile() -> None:
    """They are whole translation units."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.runtime.nvrtc import ptx

    for path in sorted(make_golden.GOLDEN.glob("*.cu"))[::6]:
        assert ".visible .entry kernel" in ptx(path.read_text(encoding="utf-8"), "sm_90"), path.name
