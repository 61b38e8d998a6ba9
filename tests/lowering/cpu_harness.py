"""Building, lowering and running small graphs on the CPU, and a plain reference for the canonical order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr, input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.nest.cpu.lower import lower
from baracuda.lowering.nest.problem import Operand, Problem, normalise
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Lowered

Spec = tuple[str, ElementKind, Axes]
GUARD = 96


def canonical(values: np.ndarray, op: str = "sum") -> np.ndarray:
    """The reduction of the last axis in the order of `baracuda.formula.order`, spelled out with NumPy."""
    combine = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[op]

    def pairs(items: list[np.ndarray]) -> np.ndarray:
        while len(items) > 1:
            items = [combine(items[i], items[i + 1]) if i + 1 < len(items) else items[i] for i in range(0, len(items), 2)]
        return items[0]

    results = []
    for start in range(0, values.shape[-1], 1024):
        part = values[..., start : start + 1024]
        lanes = []
        for lane in range(min(128, part.shape[-1])):
            total = part[..., lane]
            for j in range(lane + 128, part.shape[-1], 128):
                total = combine(total, part[..., j])
            lanes.append(total)
        results.append(pairs(lanes))
    return pairs(results)


def trace(f: Callable[..., Any], inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Graph:
    """The graph of f, in primitives."""
    results = f(*(input_(*spec) for spec in inputs))
    results = results if isinstance(results, tuple) else (results,)
    assert all(isinstance(r, Expr) for r in results)
    ports = tuple((Port(*spec), e) for spec, e in zip(outputs, results, strict=True))
    return Graph(tuple(Port(*spec) for spec in inputs), ports)


def address(a: np.ndarray) -> int:
    pointer: int = a.__array_interface__["data"][0]
    return pointer


def guarded(shape: Sequence[int], dtype: Any, order: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A poisoned array inside a larger one, with its axes laid out in `order`; returns it and the larger one."""
    order = list(order) if order is not None else list(range(len(shape)))
    count = int(np.prod(shape, dtype=np.int64))
    whole = np.empty(count + 2 * GUARD, dtype)
    whole.view(np.uint8)[:] = 0xA5
    inside = whole[GUARD : GUARD + count].reshape([shape[a] for a in order])
    return inside.transpose(np.argsort(order)), whole


def guards_intact(whole: np.ndarray) -> bool:
    raw = whole.view(np.uint8)
    edge = GUARD * whole.itemsize
    return bool((raw[:edge] == 0xA5).all() and (raw[-edge:] == 0xA5).all())


def _strides(a: np.ndarray, axes: Axes, shape: Sequence[int], inner: Sequence[bool]) -> tuple[int, ...]:
    own = iter(zip(a.shape, a.strides, strict=True))
    strides = []
    for n, i in zip(shape, inner, strict=True):
        if axes & (Axes.INNER if i else Axes.OUTER):
            extent, stride = next(own)
            strides.append(0 if extent == 1 and n != 1 else stride // a.itemsize)
        else:
            strides.append(0)
    return tuple(strides)


def program(
    graph: Graph,
    shape: Sequence[int],
    inner: Sequence[bool],
    arrays: Sequence[np.ndarray],
    target: CpuTarget | None = None,
    *,
    general: bool = False,
) -> tuple[Lowered, Any]:
    """The lowered graph over these arrays, of which nothing is compiled, and the nest it was made from."""
    ports = [*graph.inputs, *(p for p, _ in graph.outputs)]
    operands = []
    for port, a in zip(ports, arrays, strict=True):
        at = address(a)
        operands.append(Operand(port.kind, _strides(a, port.axes, shape, inner), min(64, at & -at) if at else 64, general))
    nest = normalise(Problem(Graph(graph.inputs, graph.outputs, tuple(inner)), tuple(shape), tuple(inner), tuple(operands)))
    return lower(nest, target), nest


def run(
    f: Callable[..., Any],
    shape: Sequence[int],
    inner: Sequence[bool],
    inputs: Sequence[tuple[Spec, np.ndarray]],
    outputs: Sequence[tuple[Spec, np.ndarray]],
    params: dict[str, float] | None = None,
    target: CpuTarget | None = None,
    *,
    general: bool = False,
) -> Lowered:
    """Trace, lower and run f on arrays, which vary along the axes that their spec says; returns what was lowered."""
    graph = expand(trace(f, [s for s, _ in inputs], [s for s, _ in outputs]))
    arrays = [a for _, a in (*inputs, *outputs)]
    lowered, nest = program(graph, shape, inner, arrays, target, general=general)
    parameters = [(n.kind, (params or {})[n.attr]) for n in nest.graph.params]
    by_name = {spec[0]: a for spec, a in (*inputs, *outputs)}
    arrays = [by_name[p.name] for p in (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))]
    workspace = np.full(lowered.workspace_bytes + 64, 0x5A, np.uint8)
    call = CpuToolchain(target).load(lowered, len(arrays), parameters)
    start = -(-address(workspace) // 64) * 64
    call.call([address(a) for a in arrays], start)
    return lowered


def bits(a: np.ndarray) -> np.ndarray:
    """The bit patterns of an array."""
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")
