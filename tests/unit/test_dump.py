"""`BARACUDA_DUMP`: sources and machine code in a folder, by digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from baracuda.core.errors import InvalidProblemError
from baracuda.runtime import jit
from baracuda.runtime.nvrtc import cubin

pytestmark = pytest.mark.cpu_only


def _ir(number: int) -> str:
    return f"define i64 @dumped(i64 %x) {{\n  %y = add i64 %x, {number}\n  ret i64 %y\n}}\n"


def test_on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARACUDA_DUMP", str(tmp_path / "made" / "here"))
    for number in (771, 772):
        jit.load(_ir(number), ("dumped",))
    files = sorted((tmp_path / "made" / "here").iterdir())
    assert {p.suffix for p in files} == {".ll", ".s"}
    sources = [p for p in files if p.suffix == ".ll"]
    assert {p.read_text() for p in sources} == {_ir(771), _ir(772)}
    for source in sources:
        digest = hashlib.sha256(f"{jit.host()!r}\n{source.read_text()}".encode()).hexdigest()[:16]
        assert source.name == f"{digest}-dumped.ll"
        assert "dumped:" in source.with_suffix(".s").read_text()


def test_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    monkeypatch.setenv("BARACUDA_DUMP", str(tmp_path))
    source = 'extern "C" __global__ void kernel(float* x) { x[threadIdx.x] = 1; }\n'
    for arch in ("sm_80", "sm_90", "sm_90"):
        cubin(source, arch)
    sources = list(tmp_path.glob("*-kernel.cu"))
    assert [p.read_text() for p in sources] == [source] * 2
    for path in tmp_path.glob("*.sass"):
        assert "EXIT" in path.read_text()


def test_nothing_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BARACUDA_DUMP", raising=False)
    monkeypatch.chdir(tmp_path)
    jit.load(_ir(773), ("dumped",))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BARACUDA_DUMP", str(tmp_path / "file" / "folder"))
    with pytest.raises(InvalidProblemError, match="BARACUDA_DUMP"):
        jit.load(_ir(774), ("dumped",))
