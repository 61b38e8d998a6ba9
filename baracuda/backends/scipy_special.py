"""SciPy's special functions on the CPU, for what has no formula yet.

A graph is evaluated node by node by NumPy's and SciPy's ufuncs, each into its place in the workspace; of NumPy only operations
that are correctly rounded are used, so that an element's bits do not depend on its neighbours. SciPy's own functions are scalar
code, whose bits may change with SciPy's version, the C library and the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from math import prod
from typing import Any, TypeAlias

import numpy as np

from baracuda.core.axes import Axes
from baracuda.core.call_recorder import Launcher
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.host import value_of
from baracuda.core.implementation import Found, Implementation, Layout, Scalars
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.core.sku import ArchSku, BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.formula.expr import Expr
from baracuda.formula.library import PREFIX
from baracuda.lowering.nest.implementation import FormulaProblem

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: NumPy's functions that are correctly rounded.
_EXACT: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "neg": np.negative, "abs": np.fabs,
    "sqrt": np.sqrt, "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.logical_not,
}  # fmt: skip
_ALIGNMENT = 64


def implementations(device: Device, problem: FormulaProblem, specs: Sequence[TensorSpec], descriptor: Any) -> Found:
    """The only way there is, or why it does not work on a device."""
    if device.kind is not DeviceKind.CPU:
        reason = (
            f"it has no formula yet and SciPy computes on the CPU only, the stream is on {device}: copy the tensors to the CPU"
        )
        return ((BackendKind.SCIPY, reason),)
    return ((BackendKind.SCIPY, partial(ScipyImplementation, problem, specs, descriptor)),)


class ScipyImplementation(Implementation):
    """A graph with functions of SciPy's, on the CPU."""

    def __init__(self, problem: FormulaProblem, specs: Sequence[TensorSpec], descriptor: Any) -> None:
        self.problem, self.specs, self.descriptor = problem, specs, descriptor
        self.backend, self.arch = BackendKind.SCIPY, ArchSku.host()
        nodes = problem.graph.nodes
        kind = next(n.kind for n in nodes if n.op.startswith(PREFIX))
        sums = any(n.op == "reduce" for n in nodes)  # NumPy's sums are pairwise along what is contiguous
        math = MathPrecision.F64 if kind is ElementKind.F64 else MathPrecision.F32
        self.guarantee = PrecisionGuarantee(
            math, kind, deterministic=True, batch_invariant=not sums, bit_stable_on_same_hardware=True,
            bit_stable_across_hardware=False,
        )  # fmt: skip

    def executable(
        self, layout: Layout, *, compiled_only: bool = False, autotune: bool = False
    ) -> ScipyExecutable:  # nothing is compiled or tuned
        return ScipyExecutable(self.problem, self.specs, self.descriptor, layout)


class _Window:
    """Memory as NumPy takes it."""

    def __init__(self, pointer: int, size: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.__array_interface__: dict[str, Any] = {
            "version": 3, "data": (pointer, False), "shape": shape, "strides": strides, "typestr": f"|V{size}",
        }  # fmt: skip


@dataclass(frozen=True)
class StridedArray:
    """An array: a tensor of the plan by its number, or (-1) a part of the workspace; offset and strides in bytes."""

    tensor: int
    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, pointers: Sequence[int], workspace: int) -> Array:
        """Its elements, without a copy."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        base = workspace if self.tensor < 0 else pointers[self.tensor]
        window = _Window(base + self.offset, self.dtype.itemsize, self.shape, self.strides)
        return np.asarray(window).view(self.dtype)


class ScipyExecutable(Launcher):
    """The steps of a graph for one layout of its tensors."""

    schedule = "ufuncs"

    def __init__(self, problem: FormulaProblem, specs: Sequence[TensorSpec], descriptor: Any, layout: Layout) -> None:
        self.problem = problem
        self.workspace_bytes = 0
        self.tensors: dict[str, StridedArray] = {}
        for i, (spec, operand) in enumerate(zip(specs, layout, strict=True)):
            if operand is not None:
                shape = spec.expected_shape(descriptor)
                kind, axes = spec.expected_kind(descriptor), getattr(descriptor, str(spec.axes))
                self.tensors |= _places(i, spec.name, kind, shape, operand.strides, axes, len(problem.shape))
        self.places: dict[Expr, StridedArray] = {}
        for n in problem.graph.nodes:
            self._place(n)

    def _place(self, n: Expr) -> None:
        """Where a node's value goes: an input of the computing kind stays where it is, the parts of a complex value share one."""
        if n.op in ("const", "param"):
            return
        if n.op == "input" and self.tensors[n.attr[0]].dtype == n.kind.numpy:
            self.places[n] = self.tensors[n.attr[0]]
            return
        shape = self._shape(n)
        half = _half(n)
        dtype = _COMPLEX[n.kind] if half is not None else n.kind.numpy
        twin = next((m for m in self.places if half is not None and _same_value(m, n)), None)
        offset = self.places[twin].offset if twin is not None else self.workspace_bytes
        strides = tuple(s * dtype.itemsize for s in contiguous_strides(shape))
        self.places[n] = StridedArray(-1, offset, dtype, shape, strides)
        if twin is None:
            self.workspace_bytes = round_up(offset + prod(shape) * dtype.itemsize, _ALIGNMENT)

    def _shape(self, n: Expr) -> tuple[int, ...]:
        if n.op == "input":
            return self.tensors[n.attr[0]].shape
        shape = np.broadcast_shapes(*(self.places[a].shape for a in n.args if a in self.places))
        if n.op != "reduce":
            return shape
        return tuple(1 if a in self._axes(n) else extent for a, extent in enumerate(shape))

    def _axes(self, n: Expr) -> tuple[int, ...]:
        over = n.attr[1]
        return tuple(a for a, i in enumerate(self.problem.inner) if over & (Axes.INNER if i else Axes.OUTER))

    # --- execution ----------------------------------------------------------------------------------------------------

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        values: dict[Expr, Any] = {}
        computed: set[int] = set()
        with np.errstate(all="ignore"):
            for n in self.problem.graph.nodes:
                if n.op == "const":
                    values[n] = n.value
                elif n.op == "param":
                    values[n] = n.kind.numpy.type(value_of(n.attr, scalars or self.problem.parameters))
                else:
                    values[n] = self._computed(n, values, pointers, workspace, computed)
            for port, value in self.problem.graph.outputs:
                np.copyto(self.tensors[port.name].at(pointers, workspace), values[value], casting="unsafe")

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        """A function of no arguments that runs with these addresses."""

        def launch() -> None:
            self.call(pointers, workspace, stream)

        return launch

    def _computed(self, n: Expr, values: dict[Expr, Any], pointers: Sequence[int], workspace: int, computed: set[int]) -> Array:
        place = self.places[n]
        out, half = place.at(pointers, workspace), _half(n)
        args = [values[a] for a in n.args]
        if half is not None:
            if place.offset not in computed:
                computed.add(place.offset)
                out.real, out.imag = args
                _function(n)(out, out=out)
            return np.asarray(getattr(out, half))
        if n.op == "input":
            if place.tensor < 0:
                np.copyto(out, self.tensors[n.attr[0]].at(pointers, workspace), casting="unsafe")
        elif n.op in ("cast", "detach"):
            np.copyto(out, args[0], casting="unsafe")
        elif n.op in ("select", "rare"):
            np.copyto(out, args[2])
            np.copyto(out, args[1], where=args[0])
        elif n.op == "reduce":
            np.add.reduce(args[0], axis=self._axes(n), keepdims=True, out=out)
        elif n.op.startswith(PREFIX):
            _function(n)(*args, out=out)
        elif n.op in _EXACT:
            _EXACT[n.op](*args, out=out)
        else:
            raise UnsupportedError(f"{n.op} beside a function of SciPy's; expected one of {', '.join(_EXACT)}")
        return out


_HALVES = {ElementKind.C64: ElementKind.F32, ElementKind.C128: ElementKind.F64}
_COMPLEX = {half: whole.numpy for whole, half in _HALVES.items()}


def _half(n: Expr) -> str | None:
    """Which part of a complex value a node is."""
    part = n.op.rpartition(".")[2]
    return {"re": "real", "im": "imag"}.get(part) if n.op.startswith(PREFIX) else None


def _same_value(m: Expr, n: Expr) -> bool:
    return m.args == n.args and m.op.rpartition(".")[0] == n.op.rpartition(".")[0]


def _function(n: Expr) -> np.ufunc:
    special = import_module("scipy.special")  # not before it is needed: it takes longer to load than baracuda
    ufunc: np.ufunc = getattr(special, n.op.removeprefix(PREFIX).partition(".")[0])
    return ufunc


def _places(
    index: int, name: str, kind: ElementKind, shape: Sequence[int], strides: Sequence[int], axes: Sequence[int], rank: int
) -> dict[str, StridedArray]:
    """A tensor over the iteration space, with extent 1 where it does not vary; a complex one as its two parts."""
    size = kind.itemsize
    extents, steps = [1] * rank, [0] * rank
    for axis, extent, stride in zip(axes, shape, strides, strict=True):
        extents[axis], steps[axis] = extent, stride * size
    if kind in _HALVES:
        half = _HALVES[kind]
        ports = {f"{name}.re": (half, 0), f"{name}.im": (half, half.itemsize)}
    else:
        ports = {name: (kind, 0)}
    return {port: StridedArray(index, offset, k.numpy, tuple(extents), tuple(steps)) for port, (k, offset) in ports.items()}
