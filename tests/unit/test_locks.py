"""Forks: a child can use the library whatever other threads were doing, and no lock of the library is one that it could not."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import baracuda
from baracuda.core import locks
from baracuda.core.lazy import cached_property
from baracuda.runtime import cache, memory

PACKAGE = Path(baracuda.__file__).parent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def in_fork(check: Callable[[], bool], seconds: float = 10.0) -> str:
    """What became of a child: "true", "false", or what went wrong."""
    pid = os.fork()
    if not pid:
        status = 2
        try:
            status = 0 if check() else 1
        finally:
            os._exit(status)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return {0: "true", 1: "false"}.get(os.waitstatus_to_exitcode(status), f"status {status}")
        time.sleep(0.005)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "hung"


class Holder:
    """A thread that is inside `guard` while the `with` statement lasts."""

    def __init__(self, guard: object) -> None:
        self.guard, self.inside, self.leave = guard, threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.hold)

    def hold(self) -> None:
        with self.guard:
            self.inside.set()
            self.leave.wait()

    def __enter__(self) -> Holder:
        self.thread.start()
        self.inside.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave.set()
        self.thread.join()


@pytest.mark.parametrize("make", [locks.lock, locks.reentrant_lock])
def test_another_threads_lock_is_free_in_a_child(make):
    guard = make()

    def usable() -> bool:
        with guard:
            return True

    with Holder(guard):
        assert in_fork(usable) == "true"
        assert not guard.acquire(blocking=False)  # the parent's is as it was


def test_a_forking_threads_own_reentrant_lock_stays_its_own():
    guard = locks.reentrant_lock()

    def leave() -> bool:
        guard.release()  # raises where it were free
        return True

    with guard:
        assert in_fork(leave) == "true"


def test_a_fork_waits_for_a_guard_that_another_thread_is_inside(monkeypatch):
    guard, stages = threading.RLock(), []
    monkeypatch.setattr(locks, "_held", [*locks._held, guard])
    with Holder(guard) as holder:
        later = threading.Timer(0.1, lambda: (stages.append("left"), holder.leave.set()))
        later.start()
        assert in_fork(lambda: stages == ["left"] and guard.acquire(blocking=False)) == "true"
    assert guard.acquire(blocking=False)  # left in the parent too
    guard.release()


def test_a_fork_waits_for_a_module_that_another_thread_imports(tmp_path, monkeypatch):
    (tmp_path / "slowly_imported.py").write_text("import time\ntime.sleep(0.2)\ndone = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(locks, "_IMPORTED", ("slowly_imported",))
    thread = threading.Thread(target=__import__, args=("slowly_imported",))
    thread.start()
    while "slowly_imported" not in sys.modules:
        time.sleep(0.001)

    def whole() -> bool:
        import slowly_imported

        return slowly_imported.done

    assert in_fork(whole) == "true"
    thread.join()


def test_a_forking_thread_that_imports_does_not_wait_for_itself(tmp_path, monkeypatch):
    (tmp_path / "forks_on_import.py").write_text(
        "import os\npid = os.fork()\nif not pid:\n    os._exit(0)\nstatus = os.waitpid(pid, 0)[1]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(locks, "_IMPORTED", ("forks_on_import",))
    assert __import__("forks_on_import").status == 0


def test_a_childs_pool_knows_how_much_it_holds(monkeypatch):
    pool = memory.Pool(1 << 30)
    pool.give_back(pool.take(1 << 20))
    held = pool.cached_bytes
    monkeypatch.setattr(locks, "_mended", [*locks._mended, pool.recount])
    with pool._lock:
        pool._cached += 12345  # as in the middle of a change
    assert in_fork(lambda: pool.cached_bytes == held) == "true"


def test_another_threads_turn_ends_in_a_child(tmp_path, monkeypatch):
    monkeypatch.setenv("BARACUDA_CACHE_DIR", str(tmp_path))
    building, release = threading.Event(), threading.Event()

    def slow() -> bytes:
        building.set()
        release.wait()
        return b"slow"

    thread = threading.Thread(target=cache.cached, args=("test", "key", slow))
    thread.start()
    building.wait()
    assert in_fork(lambda: cache.cached("test", "key", lambda: b"own") == b"own") == "true"
    release.set()
    thread.join()


def test_an_attribute_is_worked_out_once_and_no_thread_waits_for_another():
    class Slow:
        def __init__(self) -> None:
            self.asked = 0

        @cached_property
        def value(self) -> list[int]:
            """What it says."""
            self.asked += 1
            if threading.current_thread() is not threading.main_thread():
                reached.set()
                release.wait()
            return [self.asked]

    reached, release = threading.Event(), threading.Event()
    one, other = Slow(), Slow()
    thread = threading.Thread(target=lambda: one.value)
    thread.start()
    reached.wait()
    assert other.value == [1]  # functools' of 3.11 would wait for ever
    assert other.value is other.value
    first = one.value
    release.set()
    thread.join()
    assert one.value is first
    assert Slow.value.__doc__ == "What it says."


#: Threads compile from the first moment on, and the main thread forks: each child computes what nobody has compiled yet.
PROGRAM = """
import faulthandler, itertools, os, sys, threading, time
import numpy as np
import baracuda

def fresh(number):
    @baracuda.fuse
    def scaled(x):
        return x * float(number) + 0.5
    return scaled

def check(number):
    x = np.arange(200_000, dtype=np.float32)
    if not np.array_equal(fresh(number)(x), x * np.float32(number) + np.float32(0.5)):
        return 1
    return 0 if np.allclose(baracuda.softmax(np.ones((3, 8), np.float32)), 0.125) else 1

def compile_on(start):
    for number in itertools.count(start):
        fresh(number)(np.ones(5, np.float32))

for start in (1000, 2_000_000):
    threading.Thread(target=compile_on, args=(start,), daemon=True).start()
bad = []
for child in range(int(sys.argv[1])):
    pid = os.fork()
    if not pid:
        status = 2
        faulthandler.dump_traceback_later(20)
        try:
            status = check(3 + child)
        finally:
            os._exit(status)
    end = time.monotonic() + 30
    ended = 0
    while not ended and time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.002)
    if not ended:
        os.kill(pid, 9)
        sys.exit(f"child {child} hung")
    if status:
        bad.append((child, status))
print(bad)
sys.stdout.flush()
os._exit(bool(bad))
"""


def test_children_forked_while_threads_compile_compute_what_is_right(tmp_path, full):
    environment = {**os.environ, "BARACUDA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM, "20" if full else "8"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# --- nothing else -----------------------------------------------------------------------------------------------------

#: What holds a lock that a child could wait for for ever.
FORBIDDEN = {
    "threading": {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier"},
    "_thread": {"allocate_lock", "RLock"},
    "functools": {"cached_property"},
    "queue": {"Queue", "LifoQueue", "PriorityQueue", "SimpleQueue"},
    "os": {"register_at_fork"},
    "multiprocessing": {"Lock", "RLock", "Queue"},
}


def uses(tree: ast.AST) -> list[tuple[int, str]]:
    """Lines, and the forbidden names that they use."""
    names = []
    for ast_node in ast.walk(tree):
        if isinstance(ast_node, ast.Attribute) and isinstance(ast_node.value, ast.Name):
            names.append((ast_node.lineno, ast_node.value.id, ast_node.attr))
        elif isinstance(ast_node, ast.ImportFrom):
            names += [(ast_node.lineno, ast_node.module or "", a.name) for a in ast_node.names]
    return [(line, f"{module}.{name}") for line, module, name in names if name in FORBIDDEN.get(module, ())]


def test_every_lock_comes_from_one_module():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "core" / "locks.py"
        for line, name in uses(ast.parse(path.read_text("utf-8")))
    ]
    assert not wrong, f"expected baracuda.core.locks and baracuda.core.lazy; {wrong}"
    assert uses(ast.parse("import threading\nx = threading.Lock()\nfrom functools import cached_property"))
