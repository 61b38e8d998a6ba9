"""No call of a public function, however wrong, touches memory outside of a tensor, returns bytes that nobody wrote, changes what
it only reads, or fails without a name. And: the attack sees each of these where a function does it."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baracuda
from tests.robustness import attack, fuzz, guarded
from tests.robustness.samples import Call, Sample, without_sample

pytestmark = [pytest.mark.cpu_only, pytest.mark.skipif(sys.platform != "linux", reason="protects pages as Linux does")]


def test_every_public_function_has_a_sample() -> None:
    assert without_sample() == []


def test_calls_that_are_wrong_in_one_to_three_ways(tmp_path: Path, full: bool) -> None:
    count = 100_000 if full else 300
    report = fuzz.fuzz(count, unoptimised=str(tmp_path), progress=full)
    assert not report.findings, report.table()
    assert report.calls == count


@pytest.mark.slow
def test_calls_of_optimised_kernels() -> None:
    report = fuzz.fuzz(20_000, seed=1000, progress=True)
    assert not report.findings, report.table()


# --- what the attack sees ---------------------------------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's memory as the attack has it, for one test."""
    monkeypatch.setattr(baracuda.runtime.memory, "empty", attack._empty)


def _wrong(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> list[str]:
    """What the attack finds wrong with a call that nothing is changed in."""
    call = Call("function", function, list(arguments), keywords)
    sample = Sample("function", lambda: call)
    seed = next(s for s in range(1000) if not attack.attack(Sample("function", lambda: Call("f", _nothing, [], {})), s).changes)
    return attack.attack(sample, seed).wrong


def _nothing() -> None:
    pass


X = np.arange(6, dtype=np.float32)


def test_nothing_is_wrong_with_a_function_that_is_right() -> None:
    assert _wrong(lambda x: x + 1, X) == []


def test_bytes_that_nobody_wrote_are_seen(installed: None) -> None:
    def half(x: Any) -> Any:
        y = baracuda.runtime.memory.empty((6,), baracuda.ElementKind.F32)
        y[:5] = x[:5]
        return y

    assert _wrong(half, X) == ["uninitialised"]


def test_an_input_that_changes_is_seen() -> None:
    def changing(x: Any) -> Any:
        x[2] = -1
        return x + 1

    assert set(_wrong(changing, X)) == {"input changed"}


def test_an_output_that_changes_before_an_error_is_seen() -> None:
    def failing(x: Any, out: Any) -> Any:
        out[0] = 5
        raise baracuda.InvalidProblemError("x: it is wrong")

    assert _wrong(failing, X, out=X.copy()) == ["written before an error"]


def test_a_write_beside_a_tensor_is_seen() -> None:
    def writing(x: Any, out: Any) -> Any:
        out[:] = 1
        beside = -8 if out.ctypes.data % 4096 else 8 * 4  # where the page is not protected
        ctypes.memset(out.ctypes.data + beside, 9, 4)
        return out

    assert "written outside" in _wrong(writing, X, out=X.copy())


@pytest.mark.parametrize("error", [TypeError, ValueError, ZeroDivisionError, RuntimeWarning, MemoryError])
def test_an_error_without_a_name_is_seen(error: type[Exception]) -> None:
    def failing(x: Any) -> Any:
        raise error("no name")

    assert _wrong(failing, X) == ["unnamed"]


@pytest.mark.parametrize("low", [False, True])
def test_an_access_outside_of_a_tensor_ends_the_process(low: bool) -> None:
    x, _ = guarded.moved(X, low=low, fill=0)
    pid = os.fork()
    if not pid:
        faulthandler.disable()
        ctypes.string_at(x.ctypes.data + (-1 if low else x.nbytes), 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -11
    assert ctypes.string_at(x.ctypes.data, x.nbytes) == X.tobytes()
