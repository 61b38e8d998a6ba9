"""Folds over windows: every schedule of the CPU against the definition, element by element and in every layout; CUDA compiles."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.workspace import Workspace
from baracuda.formula.expr import Axes, Expr, cast, const, coord, input_, select
from baracuda.formula.graph import Graph, Port
from baracuda.formula.scans import combination, scan
from baracuda.lowering.window.cuda.lower import lower
from baracuda.lowering.window.problem import Axis, Placed, Shared, Strided, normalise
from baracuda.ops.pooling.window import WindowArgs, WindowDescriptor, WindowPlan

pytestmark = pytest.mark.cpu_only

#: Axes of problems: every rule, with and without bases, on the last axis and on others, long and short.
AXES: list[tuple[Axis, ...]] = [
    (Axis(3, 3), Axis(5, 9, Strided(3, 2, 1, 1)), Axis(40, 79, Strided(3, 2, 1, 1))),
    (Axis(3, 3), Axis(9, 5, Strided(3, 1, 1, 1, 2)), Axis(79, 40, Strided(3, 1, 1, 1, 2))),
    (Axis(2, 2), Axis(90, 92, Strided(5, 1, 2, 3)), Axis(6, 6)),
    (Axis(7, 4, Strided(4, 3, 2, 5, 6)), Axis(50, 70, Strided(2, 4, 3, 1, 3))),
    (Axis(5, 7, Shared()), Axis(33, 33), Axis(11, 6, Shared())),
    (Axis(4, 9, Placed(3, "p0")), Axis(2, 2), Axis(6, 40, Placed(7, "p1"))),
    (Axis(150, 150), Axis(3, 3, Strided(2, 1, 1, 1))),
    (Axis(1, 1), Axis(1, 20, Strided(20))),
    (Axis(6, 0, Strided(2, 1, 1, 7)), Axis(3, 3)),
]


def taps(axis: Axis, o: int, start: int) -> list[int]:
    """The elements of a window, by the definition."""
    rule = axis.rule
    if rule is None:
        return [o]
    if isinstance(rule, Shared):
        return [
            i for i in range(axis.source) if i * axis.extent < (o + 1) * axis.source and (i + 1) * axis.extent > o * axis.source
        ]
    if isinstance(rule, Placed):
        first = min(max(start, 0), axis.source - rule.size)
        return list(range(first, first + rule.size))
    at = [o * rule.stride + t * rule.dilation - rule.pad for t in range(rule.size)]
    return [a // rule.base for a in at if a >= 0 and a % rule.base == 0 and a // rule.base < axis.source]


def problem(axes: tuple[Axis, ...], kind: K) -> WindowDescriptor:
    """A fold whose result tells the order of its taps, and what it reads where; a second of two components."""
    x = input_("x0", kind)
    last = len(axes) - 1

    def chained(a: Any, b: Any) -> Any:
        return (a[0] * const(0.5 if kind.is_float else 3, x.kind) + b[0],)

    def first_of_largest(a: Any, b: Any) -> Any:
        wins = (b[0] > a[0]) | (a[1] < 0)
        return select(wins, b[0], a[0]), select(wins, b[1], a[1])

    chain = scan(combination(chained, (1,), (x.kind,)), (x,))
    number = coord(len(axes) + last) * 100 + coord(len(axes))
    low = -1000 if kind is not K.U8 else 0
    largest = scan(combination(first_of_largest, (low, -1), (x.kind, K.S32)), (x, number), 1)
    added: Expr = chain + input_("p2", kind, Axes.OUTER) + cast(coord(last), x.kind)
    ports = [Port("x0", kind), *(Port(r.starts, K.S32, Axes.OUTER) for a in axes if isinstance(r := a.rule, Placed))]
    ports.append(Port("p2", kind, Axes.OUTER))
    return WindowDescriptor(Graph(tuple(ports), ((Port("y0", kind), added), (Port("y1", K.S32), largest))), axes)


def expected(axes: tuple[Axis, ...], x: Any, p: Any, starts: dict[str, Any], kind: K) -> tuple[Any, Any]:
    compute = kind.compute.numpy.type
    y, z = np.zeros(p.shape, kind.numpy), np.zeros(p.shape, np.int32)
    for o in np.ndindex(*p.shape):
        at = [
            taps(a, c, int(starts[a.rule.starts][o]) if isinstance(a.rule, Placed) else 0) for a, c in zip(axes, o, strict=True)
        ]
        state, best, where = compute(1), compute(-1000 if kind is not K.U8 else 0), -1
        for i in product(*at):
            v = compute(x[i])
            state = state * compute(0.5 if kind.is_float else 3) + v
            if v > best or where < 0:
                best, where = v, i[-1] * 100 + i[0]
        y[o], z[o] = (state + compute(p[o]) + compute(o[-1])).astype(kind.numpy), where
    return y, z


def layouts(x: Any) -> list[Any]:
    """The same values in several places."""
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    reverse = tuple(slice(None, None, -2) for _ in x.shape)
    wide[reverse] = x
    return [x, np.asfortranarray(x), wide[reverse]]


@pytest.mark.one_of(4)
@pytest.mark.parametrize("kind", [K.F32, K.F64, K.F16, K.S64, K.U8], ids=str)
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_every_schedule_is_the_definition(axes: tuple[Axis, ...], kind: K) -> None:
    rng, descriptor = np.random.default_rng(1), problem(axes, kind)
    source, shape = descriptor.source_shape, descriptor.result_shape
    x, p = (rng.integers(0, 50, s).astype(kind.numpy) for s in (source, shape))
    starts = {r.starts: rng.integers(-3, 50, shape).astype(np.int32) for a in axes if isinstance(r := a.rule, Placed)}
    with np.errstate(over="ignore"):
        want = expected(axes, x, p, starts, kind)
    stream = Stream(Device.cpu())
    plan = WindowPlan.select(stream, descriptor)
    for x_, p_, y, z in zip(layouts(x), layouts(p), layouts(np.zeros_like(p)), layouts(np.zeros(shape, np.int32)), strict=True):
        args = WindowArgs(x0=x_, p2=p_, y0=y, y1=z, **starts)
        plan.run(stream, _workspace(plan), args)
        assert y.tobytes() == want[0].tobytes()
        assert z.tobytes() == want[1].tobytes()
        y[...], z[...] = 0, 0
        plan.bind(stream, _workspace(plan), args)()
        assert y.tobytes() == want[0].tobytes()
        assert z.tobytes() == want[1].tobytes()


def _workspace(plan: Any) -> Workspace | None:
    size = plan.workspace_size()
    return Workspace(np.full(size, 0xFF, np.uint8)) if size else None


@pytest.mark.parametrize("axis", [a for axes in AXES for a in axes if not isinstance(a.rule, Placed)], ids=str)
def test_the_windows_that_show_an_element_are_a_window_of_it(axis: Axis) -> None:
    shown = {(o, i) for o in range(axis.extent) for i in taps(axis, o, 0)}
    back = {(o, i) for i in range(axis.source) for o in taps(axis.inverse, i, 0)}
    assert shown == back
    assert axis.inverse.inverse == axis


def test_refusals() -> None:
    for axis, error, text in (
        (Axis(3, 4), InvalidProblemError, "axis 0: 3 outputs of 4"),
        (Axis(3, 4, Strided(2, 0)), InvalidProblemError, "a stride, a dilation and a base of 1 or more"),
        (Axis(3, 4, Strided(2, 1 << 30)), UnsupportedError, r"less than 2\*\*31"),
        (Axis(3, 0, Shared()), InvalidProblemError, "3 windows that share an axis of extent 0"),
    ):
        graph = Graph(
            (Port("x0", K.F32),), ((Port("y0", K.F32), scan(combination(_sum, (0,), (K.F32,)), (input_("x0", K.F32),))),)
        )
        with pytest.raises(error, match=text):
            WindowDescriptor(graph, (axis,))
    with pytest.raises(UnsupportedError, match="no inverse"):
        _ = Axis(2, 5, Placed(2, "p0")).inverse


def _sum(a: Any, b: Any) -> Any:
    return (a[0] + b[0],)


@pytest.mark.one_of(4)
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("kind", [K.F32, K.BF16, K.S64], ids=str)
@pytest.mark.parametrize("axes", AXES, ids=str)
def test_cuda_compiles(axes: tuple[Axis, ...], kind: K, arch: str) -> None:
    nvrtc = pytest.importorskip("baracuda.runtime.nvrtc")
    pytest.importorskip("cuda.bindings.nvrtc")
    descriptor = problem(axes, kind)
    for layout in WindowPlan.layouts(descriptor):
        for launch in lower(normalise(descriptor.problem(layout)[0])).launches:
            assert nvrtc.cubin(launch.source, arch)
