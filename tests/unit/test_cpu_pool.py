"""The thread pool: concurrent calls, forks, the end of the interpreter, and calls whose steps depend on one another."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from baracuda.formula.expr import Axes
from baracuda.formula.functions import sum_
from baracuda.runtime.cpu import CpuCall, get_num_threads, set_num_threads
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.pool import available_cpus
from tests.lowering.cpu_harness import address, bits, canonical, program, trace

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def three_threads() -> Any:
    set_num_threads(3)
    yield
    set_num_threads(available_cpus())


def row_sum(shape: tuple[int, int]) -> tuple[CpuCall, np.ndarray, np.ndarray, np.ndarray]:
    """A call that sums rows, its input, its output and its workspace."""
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    y = np.zeros(shape[0], np.float32)
    graph = trace(sum_, [("x", K.F32, Axes.FULL)], [("y", K.F32, Axes.OUTER)])
    lowered, _ = program(graph, shape, (False, True), [x, y])
    return CpuToolchain().load(lowered, 2, []), x, y, np.zeros(lowered.workspace_bytes + 64, np.uint8)


@pytest.mark.parametrize("shape", [(3, 300000), (500, 3000)])
def test_threads_may_call_at_once(shape: tuple[int, int]) -> None:
    call, x, _, workspace = row_sum(shape)
    expected = bits(canonical(x))
    wrong: list[int] = []

    def work() -> None:
        y = np.zeros(shape[0], np.float32)
        scratch = np.zeros(workspace.nbytes, np.uint8)
        start = -(-address(scratch) // 64) * 64
        bound = call.bind([address(x), address(y)], start)
        for i in range(20):
            y[:] = 0
            if i % 2:
                bound()
            else:
                call.call([address(x), address(y)], start)
            if not np.array_equal(bits(y), expected):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_number_of_threads() -> None:
    assert get_num_threads() == 3
    with pytest.raises(InvalidProblemError, match="number of threads is 0"):
        set_num_threads(0)


SCRIPT = """
import os, sys
sys.path[:0] = [{root!r}, {here!r}]
import numpy as np
from test_cpu_pool import row_sum, address
from baracuda.runtime.cpu import set_num_threads
set_num_threads(3)
call, x, y, scratch = row_sum((500, 3000))
run = call.bind([address(x), address(y)], 0)
run()
expected = y.copy()
{body}
"""


def run_script(body: str) -> subprocess.CompletedProcess[str]:
    text = SCRIPT.format(root=str(ROOT), here=str(Path(__file__).parent), body=body)
    return subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_a_forked_child_makes_its_own_pool() -> None:
    done = run_script(
        """
for _ in range(5):
    child = os.fork()
    if child == 0:
        for again in (run, lambda: call.call([address(x), address(y)], 0)):
            y[:] = 0
            again()
            assert np.array_equal(y, expected)
        os._exit(0)
    run()
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(y, expected)
print("fine")
"""
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_the_interpreter_ends_with_workers_asleep_or_awake() -> None:
    for body in ("print('fine')", "import time; time.sleep(0.2); print('fine')", "import threading\nprint('fine')\nsys.exit(0)"):
        done = run_script(body)
        assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr
