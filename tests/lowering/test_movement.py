"""Batches of copies into one tensor: bits against NumPy for every size of element, number of axes and of pieces, strides and
alignments; that they are few launches; and that every kernel compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.run_hooks import run_hook
from baracuda.lowering.movement.cuda.lower import lower
from baracuda.lowering.movement.problem import ROOM, Movement, Piece, normalise
from baracuda.ops.shapes.movement import MovementDescriptor, movement_plan
from tests.cases.trial import to_device
from tests.ops.movements import ELEMENTS, drawn, same

#: An element of each size: 1, 2, 4, 8 and 16 bytes.
SIZES = (ElementKind.S8, ElementKind.BF16, ElementKind.F32, ElementKind.C64, ElementKind.C128)


@pytest.mark.parametrize("count", [3, 9, 48, 100])
@pytest.mark.parametrize("kind", SIZES, ids=str)
def test_joined_tensors_have_numpys_bits(kind: ElementKind, count: int, device: str) -> None:
    rows = [drawn((3, i % 5 + 1), kind, i) for i in range(count)]
    dense = [drawn((2, 16), kind, i) for i in range(count)]  # copied 16 bytes at a time
    cubes = [drawn((2, 3, 2, 4), kind, i) for i in range(count)]
    on_device = [[to_device(x, device) for x in xs] for xs in (rows, dense, cubes)]
    for _ in range(2):
        same(baracuda.concat(on_device[0], 1), np.concatenate(rows, 1))
        same(baracuda.concat([x.T for x in on_device[0]]), np.concatenate([x.T for x in rows]))
        same(baracuda.concat(on_device[1]), np.concatenate(dense))
        same(baracuda.concat([x[:, 1:] for x in on_device[1]]), np.concatenate([x[:, 1:] for x in dense]))
        same(baracuda.stack([x[:, ::2] for x in on_device[2]], 2), np.stack([x[:, ::2] for x in cubes], 2))


def test_pieces_in_reverse_and_repeated() -> None:
    rng = np.random.default_rng(5)
    for trial in range(30):
        kind = ELEMENTS[trial % len(ELEMENTS)]
        shape = tuple(rng.integers(1, 5, rng.integers(1, 4)))
        pieces = [drawn(shape, kind, i) for i in range(5)]
        views = [p[tuple(slice(None, None, s) for s in rng.choice([-1, 1], p.ndim))] for p in pieces]
        views[0] = np.broadcast_to(views[0][:1], shape)
        axis = int(rng.integers(0, len(shape) + 1))
        same(baracuda.stack(views, axis), np.stack(views, axis))


def test_many_tensors_are_few_launches() -> None:
    tensors = [np.full(3, i, np.float32) for i in range(1000)]
    runs: list[Any] = []

    def seen(plan: Any, stream: Any, run: Any) -> None:
        runs.append(plan)
        run()

    with run_hook(seen):
        found = baracuda.concat(tensors)
    same(found, np.repeat(np.arange(1000, dtype=np.float32), 3))
    assert len(runs) <= 25


def test_a_plan_says_what_is_wrong() -> None:
    x, y = np.ones(4, np.uint32), np.zeros(8, np.uint32)
    plan_type = movement_plan(1)

    def run(offset: int, stride: int) -> None:
        d = MovementDescriptor(ElementKind.U32, ((4,),), ((stride,),), (offset,), (8,))
        plan = plan_type.select(None, d)
        plan.run(None, None, plan_type.args(x0=x, y=y))

    run(1, 1)
    assert y.tolist() == [0, 1, 1, 1, 1, 0, 0, 0]
    with pytest.raises(InvalidProblemError, match="leaves the target"):
        run(5, 1)
    with pytest.raises(InvalidProblemError, match="a stride for each axis"):
        MovementDescriptor(ElementKind.U32, ((4,),), ((1, 1),), (0,), (8,))


@pytest.mark.cpu_only
@pytest.mark.parametrize("rank", sorted(ROOM))
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_kernels_compile(arch: str, rank: int) -> None:
    nvrtc = pytest.importorskip("baracuda.runtime.nvrtc")
    shape = tuple(range(2, 2 + rank))
    strides = tuple(10 ** (rank - a) for a in range(rank))
    for size in (1, 2, 4, 8, 16):
        for room in ROOM[rank]:
            movement = normalise(Movement(size, (Piece(shape, strides, strides, 0),) * room))
            (launch,) = lower(movement).launches
            assert nvrtc.cubin(launch.source, arch)


def test_neighbours_are_copied_together() -> None:
    piece = Piece((4, 16), (64, 1), (32, 1), 16, 16)
    assert normalise(Movement(1, (piece,), 16)).size == 16
    assert normalise(Movement(1, (piece,), 4)).size == 4
    assert normalise(Movement(4, (Piece((6,), (1,), (1,), 2, 16),), 16)).size == 8
    assert normalise(Movement(4, (Piece((6,), (1,), (1,), 1, 16),), 16)).size == 4
    assert normalise(Movement(2, (Piece((2, 3), (3, 1), (3, 1), 0),))).pieces[0].shape == (1, 6)
