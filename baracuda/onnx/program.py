"""Running a graph: steps in order, each a function of ours with its attributes bound, values freed after their last use."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from baracuda.core.device import Device
from baracuda.core.errors import Error, InvalidProblemError
from baracuda.onnx import functions
from baracuda.onnx.coded import Coded, coded
from baracuda.onnx.node import Graph, Node, Subgraph
from baracuda.onnx.operators import registry
from baracuda.onnx.placement import beside, placed
from baracuda.onnx.rewrites import REWRITES, Call, rewritten

#: Folding makes no more bytes than this of constants that are not in the file.
_LARGEST_FOLDED = 1 << 31
#: What makes much of little: folded only where the inputs say how much, and else where the graph runs.
_GROWING = {"Tile", "Range", "Pad", "Resize", "Upsample", "OneHot", "EyeLike", "CenterCropPad", "Einsum", "MatMul", "Gemm",
            "Col2Im", "AffineGrid", "MaxUnpool", "ConvTranspose", "GridSample", "RoiAlign", "HannWindow", "HammingWindow",
            "BlackmanWindow", "MelWeightMatrix", "DFT", "STFT", "Conv", "ConvInteger", "QLinearConv", "DeformConv", "MaxPool",
            "AveragePool", "LpPool", "MaxRoiPool", "MatMulInteger", "QLinearMatMul", "GatherND", "RNN", "GRU",
            "LSTM"}  # fmt: skip
_NOT_FOLDED = {"If", "Loop", "Scan", "RandomUniform", "RandomNormal", "RandomUniformLike", "RandomNormalLike", "Bernoulli",
               "Multinomial", "Dropout"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Step:
    """One node with what computes it: a function, whose values go after it, and the program that this runs, if it runs one."""

    node: Node
    call: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    captures: bool
    last: tuple[str, ...]
    body: Program | None = None


class Program:
    """A graph that can be run: called with the values of its inputs, and those of the graphs around it that it reads."""

    def __init__(self, graph: Graph, library: functions.Library, *, fold: bool = True) -> None:
        self.graph = graph
        self.constants = {n: coded(v) for n, v in graph.constants.items()}
        calls = [Call(n, *_serve(n, library)) for n in graph.nodes]
        self._left = _LARGEST_FOLDED
        if fold:
            calls = rewritten([c for c in calls if not self._folded(*c)], self.constants, REWRITES)
        self.steps = self._steps(calls)
        self._place(library.device)

    def _folded(self, node: Node, call: Callable[..., Any], captures: bool) -> bool:
        if captures or node.operator in _NOT_FOLDED or not all(n in self.constants for n in node.inputs if n):
            return False
        if (size := _size_asked(node, self.constants)) is None or size > self._left:
            return False
        try:
            found = _tuple(call(*(self.constants[n] if n else None for n in node.inputs)))
        except (Error, ValueError, TypeError, IndexError, AttributeError, ArithmeticError):
            return False  # what is wrong is said where the graph runs, if it ever does
        if len(found) < sum(map(bool, node.outputs)) or any(not isinstance(v, (np.ndarray, Coded)) for v in found):
            return False
        self._left -= sum(v.nbytes for v in found)
        self.constants.update({n: v for n, v in zip(node.outputs, found, strict=False) if n})
        return True

    def _place(self, device: Device | None) -> None:
        """Put constants on the device, but those that an operator reads on the host."""
        if device is None:
            return
        read = {n for s in self.steps for i, n in enumerate(s.inputs) if _hosted(s.node)(i)}
        read |= {c for s in self.steps for c in _captured(s.node)}
        self.constants = {n: v if n in read else placed(v, device) for n, v in self.constants.items()}

    def _steps(self, calls: Sequence[Call]) -> tuple[Step, ...]:
        kept = {*self.graph.outputs, *self.constants}
        steps: list[Step] = []
        for node, call, captures in reversed(calls):
            used = {n for n in (*node.inputs, *_captured(node), *node.outputs) if n and n not in kept}
            kept |= used
            body = getattr(call, "body", None)
            steps.append(Step(node, call, node.inputs, node.outputs, captures, tuple(sorted(used)), body))
        return tuple(reversed(steps))

    def __call__(self, values: Sequence[Any], outer: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """The outputs, of inputs in the graph's order; `outer` has the values that the graph captures."""
        if len(values) != len(self.graph.inputs):
            raise InvalidProblemError(f"graph {self.graph.name!r}: {len(values)} inputs; expected {len(self.graph.inputs)}")
        known = {**(outer or {}), **self.constants}
        known.update(zip(self.graph.inputs, values, strict=True))
        for step in self.steps:
            take(step, known)
        return self.outputs(known)

    def outputs(self, known: Mapping[str, Any]) -> tuple[Any, ...]:
        """The outputs among the values that there are."""
        try:
            return tuple(known[n] if n else None for n in self.graph.outputs)
        except KeyError as e:
            raise InvalidProblemError(f"graph {self.graph.name!r}: nothing makes output {e.args[0]!r}") from None


def take(step: Step, known: dict[str, Any]) -> None:
    """Make a step's values out of those that there are, and let go those that it is the last to read."""
    given = [known[n] if n else None for n in step.inputs]
    try:
        found = step.call(*given, outer=known) if step.captures else step.call(*given)
    except (Error, ValueError, TypeError, IndexError, AttributeError, ArithmeticError) as e:
        if not isinstance(e, Error):  # what Python or NumPy makes of inputs that no model should give
            raise InvalidProblemError(f"{step.node}: {e}") from e
        if not getattr(e, "__notes__", None):
            e.add_note(f"in {step.node}, with inputs {', '.join(map(_described, given))}")
        raise
    made = _tuple(found)
    if len(made) < len(step.outputs) and any(step.outputs[len(made) :]):
        raise InvalidProblemError(f"{step.node}: {len(step.outputs)} outputs; it has {len(made)}")
    known.update(zip(step.outputs, made, strict=False))
    drop(step, known)


def drop(step: Step, known: dict[str, Any]) -> None:
    """Let go the values that a step is the last to read."""
    for n in step.last:
        known.pop(n, None)


def _size_asked(node: Node, constants: Mapping[str, Any]) -> int | None:
    """How many bytes a node may make of its constants, at most; None where it is not to be folded."""
    given = [constants[n] for n in node.inputs if n]
    if node.operator in ("ConstantOfShape", "Expand"):
        return 16 * math.prod(max(int(n), 1) for n in np.asarray(given[-1]).reshape(-1))
    if node.operator in _GROWING or node.domain:
        return None
    whole = sum(math.prod(x.shape) for x in given)
    if node.operator == "Gather" and len(given) == 2:
        return 16 * math.prod(given[1].shape) * max(whole // max(min(given[0].shape, default=1), 1), 1)
    try:
        return 16 * max(whole, math.prod(np.broadcast_shapes(*(x.shape for x in given))), 1)
    except ValueError:
        return 16 * whole


def _hosted(node: Node) -> Callable[[int], bool]:
    """Which inputs of a node are read on the host."""
    entry = registry.find(node.domain, node.operator, node.version)
    return (lambda i: False) if entry is None else entry.hosted.__contains__


def _captured(node: Node) -> list[str]:
    return [c for a in node.attributes.values() if isinstance(a, Subgraph) for c in a.graph.captured]


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def _described(value: Any) -> str:
    if value is None or isinstance(value, list):
        return "none" if value is None else f"a sequence of {len(value)}"
    return f"{value.dtype}{tuple(value.shape)}"


def _serve(node: Node, library: functions.Library) -> tuple[Callable[..., Any], bool]:
    """What computes a node, and whether it reads values around it."""
    if local := library.local(node):
        return local, False
    if entry := registry.find(node.domain, node.operator, node.version):
        graphs = {k: a for k, a in node.attributes.items() if isinstance(a, Subgraph)}
        call = beside(entry.bind(node, library.draws), entry.hosted.__contains__, library.device)
        if not graphs:
            return call, False
        bodies = {k: Program(a.graph, library) for k, a in graphs.items()}

        def run(*given: Any, outer: Mapping[str, Any]) -> Any:
            return call(*given, **{k: partial(_body, p, outer) for k, p in bodies.items()})

        return run, True
    return library.expanded(node), False


def _body(program: Program, outer: Mapping[str, Any], *values: Any) -> tuple[Any, ...]:
    return program(values, {n: outer[n] for n in program.graph.captured})
