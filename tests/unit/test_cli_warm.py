"""`baracuda warm`: kernels in the cache before they are called for."""

from __future__ import annotations

from pathlib import Path

import pytest

from baracuda.cli import main
from baracuda.cli.inspection import inspected, tensor_of
from baracuda.cli.warming import known, warm
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from baracuda.frontends.families import ops
from baracuda.runtime import nvrtc
from baracuda.runtime.cache import cache_info


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_what_is_warm_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    tensors = [tensor_of("64x1000", K.F32)]
    done = warm(["softmax", "gelu"], "sm_90", tensors=tensors)
    assert (done.plans, done.kernels, done.refused) == (2, 2, ())
    assert cache_info().entries == 2
    monkeypatch.setattr(nvrtc, "compiled", None)
    for op in ("softmax", "gelu"):
        (plan,) = inspected(op, tensors, "sm_90")
        assert nvrtc.cubin(plan.kernels[0].source, "sm_90")[:4] == b"\x7fELF"
    with pytest.raises(TypeError):
        nvrtc.cubin(plan.kernels[0].source, "sm_80")


def test_a_cache_can_be_carried(cache: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied elsewhere, it serves there."""
    pytest.importorskip("cuda.bindings.nvrtc")
    tensors = [tensor_of("64", K.F32)]
    warm(["relu"], "sm_80", tensors=tensors)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for path in cache.iterdir():
        (elsewhere / path.name).write_bytes(path.read_bytes())
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(elsewhere))
    monkeypatch.setattr(nvrtc, "compiled", None)
    (plan,) = inspected("relu", tensors, "sm_80")
    assert nvrtc.cubin(plan.kernels[0].source, "sm_80")


def test_known_sizes_are_those_of_calls() -> None:
    """What is compiled for known sizes is what a function runs on such tensors."""
    (problem,) = [p for p in known(["gelu"], "cuda", ["bf16"]) if p.op == "gelu"]
    shape = "x".join(map(str, problem.descriptor.shapes[0]))
    (called,) = inspected("gelu", [tensor_of(shape, K.BF16)], "sm_90")
    from baracuda.cli.inspection import device_of
    from baracuda.cli.warming import _selected

    assert [kernel.source for kernel in called.kernels] == list(_selected(problem, device_of("sm_90")))


def test_every_op_is_known() -> None:
    names = {p.op.removesuffix("_backward") for p in known(["all"], "cuda")}
    assert {name for name, op in ops().items() if not op.library} <= names
    with pytest.raises(InvalidProblemError, match="nonsense"):
        known(["gelu", "nonsense"], "cuda")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    call = ["warm", "relu", "--shape", "64x7", "--device", "cpu"]
    assert main(call) == 0
    assert "1 plans, 1 kernels for this CPU" in capsys.readouterr().out
    for wrong in (["warm", "relu"], ["warm", "relu", "--target", "sm_90", "--device", "cpu"]):
        assert main(wrong) == 2
    assert main(["warm", "all", "--target", "sm_90", "--shape", "3"]) == 1
