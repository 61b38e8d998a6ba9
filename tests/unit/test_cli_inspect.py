"""`baracuda inspect`: what calls would run, on targets that are not there."""

from __future__ import annotations

import json

import pytest

import baracuda
from baracuda.cli import main
from baracuda.cli.inspection import inspected, tensor_of
from baracuda.core.elements import ElementKind as K

BF16 = "--dtype", "bf16"


def run(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    """Standard output of the command, or standard error where it fails."""
    assert main(["inspect", *arguments]) == status
    said = capsys.readouterr()
    return said.err if status else said.out


@pytest.mark.parametrize(
    ("arguments", "schedules"),
    [
        (("softmax", "--shape", "8192x8192", *BF16), ["rows resident"]),
        (("softmax_backward", "--shape", "64x1000"), ["rows resident"]),
        (("softmax", "--backward", "--shape", "64x1000"), ["rows resident"]),
        (("sum", "--shape", "4096x4096", "--axis", "0"), ["columns"]),
        (("add", "--shape", "100x7"), ["pointwise"]),
        (("matmul", "--shape", "512x256", "--shape", "256x128"), ["product"]),
        (("scaled_dot_product_attention", "--shape", "2x8x512x64", *BF16), ["attention"]),
        (("segment_sum", "--shape", "300x7", "--shape", "300:s64", "--with", "num_segments=5"), ["order"] * 6),
        (("layer_norm", "--shape", "64x1000", "--shape", "1000", "--shape", "-"), ["rows resident"]),
        (("gelu_backward", "--shape", "4096"), ["pointwise"]),
        (("lerp", "--shape", "64x7", "--with", "weight=0.25"), ["pointwise"]),
        (("add", "--shape", "2000x3000", "--shape", "2000x3000.T"), ["pointwise tile"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_schedules(arguments: tuple[str, ...], schedules: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    plans = json.loads(run(capsys, *arguments, "--target", "sm_90", "--json"))
    kernels = [kernel for plan in plans for kernel in plan["kernels"]]
    assert len(kernels) >= len(schedules)
    assert all(kernel["schedule"].startswith(s) for kernel, s in zip(kernels[-len(schedules) :], schedules, strict=True))
    assert all('extern "C" __global__' in kernel["source"] for kernel in kernels)


def test_nothing_runs() -> None:
    """Terabytes take no memory."""
    (plan,) = inspected("exp", [tensor_of("1048576x1048576", K.F32)], "sm_90")
    assert plan.kernels[0].grid is not None
    assert plan.kernels[0].grid[0] > 1 << 20


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    call = "softmax", "--shape", "64x1000"
    assert "rows" in run(capsys, *call)
    assert "define void @k" in run(capsys, *call, "--source")
    assert "; kernel 1 of 1" in run(capsys, *call, "--source")
    assert ".globl" in run(capsys, *call, "--asm")
    pytest.importorskip("cuda.bindings.nvrtc")
    assert "registers" in run(capsys, *call, "--target", "sm_90")
    assert ".target sm_80" in run(capsys, *call, "--target", "sm_80", "--ptx")
    assert "__global__" in run(capsys, *call, "--target", "sm_100", "--source")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("softmaxx", "--shape", "3"), "'softmaxx' is no function of baracuda; near it: softmax"),
        (("SoftmaxPlan", "--shape", "3"), "no function"),
        (("softmax", "--shape", "3xq"), "expected extents"),
        (("softmax", "--shape", "3:f33"), "f33"),
        (("softmax", "--shape", "3", "--target", "sm_9"), "sm_90"),
        (("softmax", "--shape", "3", "--target", "sm_70"), "expected"),
        (("softmax", "--shape", "3", "--target", "sm_70:80"), "8.0 or newer"),
        (("softmax", "--shape", "3", "--axis", "x"), "expected an integer"),
        (("softmax", "--shape", "3", "--with", "axis"), "NAME=VALUE"),
        (("softmax", "--shape", "3", "--with", "axes=1"), "axes"),
        (("matmul", "--shape", "3x4", "--shape", "4x5", "--shape", "5"), "3 shapes"),
        (("layer_norm_backward", "--shape", "3x4", "--shape", "3x4"), "expected"),
        (("softmax", "--shape", "3", "--ptx"), "has none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_errors(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in run(capsys, *arguments, status=1)


def test_functions_work_afterwards() -> None:
    import numpy as np

    x = np.ones((3, 4), np.float32)
    inspected("softmax", [tensor_of("3x4", K.F32)])
    assert np.allclose(baracuda.softmax(x), 0.25)
