"""The pool of host memory: reuse, lifetime, alignment, bounds, threads."""

from __future__ import annotations

import itertools
import multiprocessing
import threading

import numpy as np
import pytest
import torch

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.workspace import Workspace
from baracuda.runtime import memory
from baracuda.runtime.memory import HUGE_PAGE, POOL, SMALLEST_POOLED, Pool, block_size, empty, release_cached

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _empty_pool() -> None:
    release_cached()


@pytest.mark.parametrize("kind", [k for k in ElementKind if k.bits >= 8])
@pytest.mark.parametrize("shape", [(), (0,), (3, 5), (300, 500), (3, 0, 5)])
def test_shape_and_kind(kind: ElementKind, shape: tuple[int, ...]) -> None:
    x = empty(shape, kind)
    assert type(x) is np.ndarray
    assert (x.shape, x.dtype) == (shape, kind.numpy)
    assert x.flags.c_contiguous
    assert x.flags.writeable


def test_packed_kinds_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="packed"):
        empty((4,), ElementKind.S4)


@pytest.mark.parametrize("nbytes", [SMALLEST_POOLED, SMALLEST_POOLED + 1, MIB, HUGE_PAGE, 5 * MIB, 64 * MIB])
def test_alignment_and_extent(nbytes: int) -> None:
    x = empty((nbytes,), ElementKind.U8)
    assert x.ctypes.data % (HUGE_PAGE if nbytes >= HUGE_PAGE else 4096) == 0
    x[:] = 7
    assert (x[0], x[-1]) == (7, 7)


@pytest.mark.parametrize("nbytes", [*range(SMALLEST_POOLED, SMALLEST_POOLED + 50), *(3**k for k in range(11, 21)), 1 << 30])
def test_blocks_waste_at_most_a_quarter_or_a_huge_page(nbytes: int) -> None:
    size = block_size(nbytes)
    assert nbytes <= size < nbytes + max(nbytes // 4 + 1, 4096 if nbytes < HUGE_PAGE else HUGE_PAGE)
    assert block_size(size) == size
    assert size % 4096 == 0


def test_memory_is_reused_once_every_view_is_gone() -> None:
    x = empty((4 * MIB,), ElementKind.U8)
    address = x.ctypes.data
    view = x[100:].reshape(-1, 4).T
    exported = torch.from_numpy(x[5:])
    window = memoryview(x)
    del x
    assert empty((4 * MIB,), ElementKind.U8).ctypes.data != address
    del view
    assert empty((4 * MIB,), ElementKind.U8).ctypes.data != address
    del window
    exported.fill_(3)
    assert empty((4 * MIB,), ElementKind.U8).ctypes.data != address
    cached = POOL.cached_bytes
    del exported
    assert POOL.cached_bytes == cached + 4 * MIB
    assert empty((4 * MIB,), ElementKind.U8).ctypes.data == address


def test_live_arrays_do_not_overlap() -> None:
    arrays = [empty((70_000 + 1000 * i,), ElementKind.U8) for i in range(40)]
    del arrays[::3]
    arrays += [empty((70_000 + 1000 * i,), ElementKind.U8) for i in range(40)]
    spans = sorted((a.ctypes.data, a.ctypes.data + a.nbytes) for a in arrays)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


def test_sizes_of_one_class_share_blocks() -> None:
    address = empty((MIB - 5,), ElementKind.U8).ctypes.data
    assert empty((MIB // 4,), ElementKind.F32).ctypes.data == address
    assert empty((MIB // 2,), ElementKind.U8).ctypes.data != address


def test_small_arrays_are_numpys_own() -> None:
    x = empty((SMALLEST_POOLED - 1,), ElementKind.U8)
    assert x.base is None
    del x
    assert POOL.cached_bytes == 0


def test_release() -> None:
    x = [empty((MIB,), ElementKind.U8) for _ in range(3)]
    assert release_cached() == 0
    x.clear()
    assert POOL.cached_bytes == 3 * MIB
    assert release_cached() == 3 * MIB
    assert POOL.cached_bytes == 0
    assert release_cached() == 0


def test_the_limit_evicts_what_was_used_longest_ago() -> None:
    pool = Pool(limit=8 * MIB)
    small, middle, large = pool.take(2 * MIB), pool.take(3 * MIB), pool.take(4 * MIB)
    addresses = [b.address for b in (small, middle, large)]
    assert [b.size for b in (small, middle, large)] == [2 * MIB, 4 * MIB, 4 * MIB]
    pool.give_back(small)
    pool.give_back(middle)
    assert pool.cached_bytes == 6 * MIB
    pool.give_back(large)  # 10 MiB: the 2 MiB block goes
    assert pool.cached_bytes == 8 * MIB
    assert pool.take(4 * MIB).address == addresses[2]
    assert pool.take(4 * MIB).address == addresses[1]
    assert pool.cached_bytes == 0
    pool.give_back(pool.take(9 * MIB))  # more than the limit by itself
    assert pool.cached_bytes == 0


def test_a_finaliser_inside_the_critical_section_does_not_wait() -> None:
    pool = Pool(limit=8 * MIB)
    block = pool.take(MIB)
    with pool._lock:
        pool.give_back(block)
        assert pool._cached == 0
    assert pool.cached_bytes == MIB


def test_threads() -> None:
    errors: list[str] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        held: list[tuple[np.ndarray, int]] = []
        for step in range(400):
            x = empty((int(rng.integers(SMALLEST_POOLED, 4 * SMALLEST_POOLED)),), ElementKind.U8)
            mark = (seed * 37 + step) % 251
            x[::4096] = mark
            held.append((x, mark))
            if len(held) > 6:
                y, expected = held.pop(int(rng.integers(len(held))))
                if not (y[::4096] == expected).all():
                    errors.append(f"thread {seed}, step {step}: another array was written over")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    in_lists = sum(size * len(blocks) for size, blocks in POOL._free.items())
    assert POOL.cached_bytes == in_lists > 0


def _child(queue: multiprocessing.Queue[bool]) -> None:
    queue.put(empty((MIB,), ElementKind.U8).nbytes == MIB)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_the_lock_is_held() -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with POOL._lock:
        child = context.Process(target=_child, args=(queue,))
        child.start()
    assert queue.get(timeout=20)
    child.join()


def test_workspaces_come_from_the_pool() -> None:
    w = Workspace.allocate(3 * MIB)
    address = w.pointer
    assert address % HUGE_PAGE == 0
    del w
    assert Workspace.allocate(3 * MIB).pointer == address


def test_limit_is_a_share_of_the_machine() -> None:
    assert min(memory._physical_memory() // 4, 8 << 30) == POOL.limit > 0
