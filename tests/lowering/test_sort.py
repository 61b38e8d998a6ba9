"""Rows in order: every schedule of either device against NumPy's order, on every element, by every option, in any layout."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import OperandLayout
from baracuda.core.layout import contiguous_strides
from baracuda.frontends import call
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.sort.cpu.words import suits
from baracuda.lowering.sort.cuda.lower import lower
from baracuda.lowering.sort.problem import normalise
from baracuda.ops.sorting.plan import SortArgs, SortDescriptor, SortPlan
from baracuda.runtime.nvrtc import cubin
from tests.cases.trial import to_device, to_host
from tests.ops.orders import KINDS, mixed, order_of, raw

#: The names of schedules, and the longest row of each that is tried.
SCHEDULES = {
    "cpu": {"count": 96, "rows": 5000, "tiles": 40000, "vectors": 5000, "buckets": 50000},
    "cuda": {"count": 128, "block": 8192, "long": 200000},
}


def ordered(x: Any, device: str, axis: int = -1, **options: Any) -> list[Any]:
    """Values, indices and ranks."""
    n = x.shape[axis]
    d = SortDescriptor(x.shape, axis, K.from_numpy(x.dtype), options.pop("first", 0), options.pop("count", n), **options)
    wanted = [(d.wanted_shape, d.element), (d.wanted_shape, d.index_element), (d.shape, d.index_element)]
    present = (d.has_values, d.has_indices, d.has_ranks)
    outputs = [w if p else None for w, p in zip(wanted, present, strict=True)]
    tensor = to_device(x, device)
    results = call.apply(SortPlan, SortArgs, d, tensor, [tensor], outputs)
    return [None if r is None else to_host(r) for r in results]


def check(x: Any, device: str, axis: int = -1, **options: Any) -> None:
    rows = np.moveaxis(x, axis, -1)
    order = order_of(rows, descending=options.get("descending", False), nan_first=options.get("nan_first", False))
    first = options.get("first", 0)
    wanted = order[..., first : first + options.get("count", x.shape[axis])]
    element = options.get("index_element", K.S64).numpy
    want = [np.take_along_axis(rows, wanted, -1), wanted.astype(element), np.argsort(order, axis=-1).astype(element)]
    for got, expected in zip(ordered(x, device, axis, **options), want, strict=True):
        if got is not None:
            assert got.dtype == expected.dtype
            assert (raw(got) == raw(np.moveaxis(expected, -1, axis))).all()


@pytest.fixture(params=[0, 1, 2, 3, 4])
def schedule(request: pytest.FixtureRequest, device: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, int]:
    """One of the schedules of the device, taken by every plan, and the longest row to try."""
    folder = "cpu" if device == "cpu" else "cuda"
    if request.param >= len(SCHEDULES[folder]):
        pytest.skip("the device has no more schedules")
    name, longest = list(SCHEDULES[folder].items())[request.param]
    module = import_module(f"baracuda.lowering.sort.{folder}.lower")
    monkeypatch.setattr(call, "_plans", {})

    def ways(sort: Any, target: Any) -> Any:
        if name in ("vectors", "buckets") and not suits(sort, target):
            pytest.skip("these elements are no words of it")
        yield module.lower(sort, target, name)

    monkeypatch.setattr(module, "ways", ways)
    return name, longest


@pytest.mark.one_of(3)
@pytest.mark.parametrize("schedule", range(5), indirect=True)
@pytest.mark.parametrize("kind", KINDS)
def test_every_schedule(kind: K, schedule: tuple[str, int], device: str) -> None:
    name, longest = schedule
    for n in {1, 17, 96 if name == "count" else 1000, longest if kind in (K.F32, K.C64, K.S16) else 40}:
        if name == "block" and n * kind.itemsize > 65536:
            continue
        check(mixed((3, n), kind), device, has_indices=False)
        check(mixed((3, n), kind), device, has_ranks=True)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nan_first", [False, True])
def test_both_directions(kind: K, descending: bool, nan_first: bool, device: str) -> None:
    for n in (33, 300):
        for has_indices in (True, False):
            check(mixed((4, n), kind), device, descending=descending, nan_first=nan_first, has_indices=has_indices)


@pytest.mark.parametrize("kind", [K.F32, K.C128, K.U8])
def test_places_that_are_wanted(kind: K, schedule: tuple[str, int], device: str) -> None:
    x = mixed((3, 60), kind)
    check(x, device, first=20, count=7, has_ranks=True)
    check(x, device, first=59, count=1, has_indices=False)
    check(x, device, count=0, has_values=False, has_indices=False, has_ranks=True)
    check(x, device, count=5, has_values=False, index_element=K.S32)


@pytest.mark.one_of(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first", "count"), [(0, 40), (100, 5)])
def test_few_of_many(kind: K, first: int, count: int, device: str) -> None:
    x = mixed((3, 3000), kind)
    check(x, device, first=first, count=count)
    check(x, device, first=first, count=count, descending=True, nan_first=True, has_indices=False)
    check(np.zeros_like(x), device, first=first, count=count)


@pytest.mark.parametrize("kind", [K.F32, K.F64, K.U8, K.BOOL])
@pytest.mark.parametrize(
    ("length", "first", "count"), [(200, 0, 3), (5000, 0, 500), (8192, 0, 64), (9000, 3, 500), (40000, 10, 54), (70000, 0, 1024)]
)
def test_few_of_many_in_parts(kind: K, length: int, first: int, count: int, device: str) -> None:
    """Rows of one and of several blocks, ties and none, and what lies close together: all that is wanted in one thread's part."""
    for x in (mixed((2, length), kind), np.arange(2 * length)[::-1].reshape(2, length).astype(kind.numpy)):
        check(x, device, first=first, count=count)
    x = np.arange(2 * length).reshape(2, length) % 977
    x[:, length // 2 : length // 2 + length // 8] -= 1000
    check(x.astype(kind.numpy), device, first=first, count=count)
    x = np.zeros((2, length), kind.numpy)
    x[:, :: length // 50] = 1
    check(x, device, first=first, count=count, descending=True)


RUNS = [
    np.arange(2e4),
    np.arange(2e4)[::-1],
    np.zeros(20000),
    np.repeat(np.arange(1e2), 200),
    np.repeat(2.0 ** np.arange(-90, 90), 80),
]


@pytest.mark.parametrize("number", range(len(RUNS)))
@pytest.mark.parametrize("has_indices", [True, False])
def test_what_is_in_order_or_equal(number: int, has_indices: bool, schedule: tuple[str, int], device: str) -> None:
    if schedule[0] in ("count", "block"):
        pytest.skip("rows that are too long for it")
    check(np.float64(RUNS[number])[None].astype(np.float32), device, has_indices=has_indices)


@pytest.mark.parametrize("kind", [K.BF16, K.S64])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_layouts(kind: K, axis: int, device: str) -> None:
    x = mixed((5, 6, 70), kind)
    check(x, device, axis)
    if device != "cuda":  # which torch has no negative strides on
        check(x[::-1, :, ::-2], device, axis)
    check(np.broadcast_to(x[:, :1], x.shape), device, axis)
    check(x.transpose(2, 0, 1), device, axis)


def test_nothing(device: str) -> None:
    for shape in ((0, 4), (4, 0), (0,)):
        check(np.zeros(shape, np.float32), device)


def test_what_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="element: s4; expected one of 8 bits or more"):
        SortDescriptor((3,), 0, K.S4, 0, 3)
    with pytest.raises(InvalidProblemError, match="first, count: 2, 2; expected places of a row of 3"):
        SortDescriptor((3,), 0, K.F32, 2, 2)


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
@pytest.mark.parametrize(
    ("kind", "length", "schedule"),
    [(K.F32, 100, "count"), (K.C64, 4000, "block"), (K.F8E5M2, 10**6, "long"), (K.F64, 40000, "select")],
)
def test_cuda_compiles(kind: K, length: int, schedule: str, arch: str) -> None:
    count = 50 if schedule == "select" else length
    d = SortDescriptor((2, length), 1, kind, 0, count, has_ranks=count == length)
    layout = [OperandLayout(contiguous_strides((2, n))) for n in (length, count, count, length)]
    lowered = lower(normalise(d.sort((*layout[:3], layout[3] if d.has_ranks else None))), Target(arch), schedule)
    for launch in lowered.launches:
        assert cubin(launch.source, arch)
