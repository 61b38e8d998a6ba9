"""Fourier transforms by cuFFT, through its bindings in nvmath-python.

A plan of cuFFT's transforms rows whose starts lie one distance apart; where rows run along two axes, it is called for each of the
shorter one. cuFFT neither scales nor keeps its input where results are real: a generated kernel does the one, and for the other
copies x into the workspace first.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod
from types import ModuleType
from typing import Any

from baracuda.backends.cublaslt import context
from baracuda.backends.products import UnsupportedLayout
from baracuda.core import locks
from baracuda.core.call_recorder import Launcher
from baracuda.core.device import Device, DeviceKind, Stream
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import BackendError, UnsupportedError
from baracuda.core.implementation import Executable, Layout, Scalars
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.core.sku import ArchSku, BackendKind, MathPrecision, PrecisionGuarantee
from baracuda.formula.expand import expand
from baracuda.formula.expr import input_, param
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.executables import EmptyExecutable, given_parameters
from baracuda.lowering.fft.problem import Fourier, Mode, Rows, normalise
from baracuda.lowering.generated import CachingImplementation, is_general
from baracuda.lowering.nest.build import build
from baracuda.lowering.nest.multi_kernel import MultiKernelExecutable, TensorOffset
from baracuda.lowering.nest.problem import Operand, Problem
from baracuda.lowering.nest.problem import normalise as normalise_nest
from baracuda.runtime.offline import is_offline

#: Calls of the library for one transform at most, and plans that are kept though nothing uses them.
MOST_CALLS, MOST_PLANS = 64, 64

_K = ElementKind
_HALF = {_K.C64: _K.F32, _K.C128: _K.F64}
#: cufftType, and the method that executes it, by the mode and the real kind.
_TYPES = {
    (Mode.COMPLEX, _K.F32): (0x29, "exec_c2c"), (Mode.REAL, _K.F32): (0x2A, "exec_r2c"), (Mode.HALF, _K.F32): (0x2C, "exec_c2r"),
    (Mode.COMPLEX, _K.F64): (0x69, "exec_z2z"), (Mode.REAL, _K.F64): (0x6A, "exec_d2z"), (Mode.HALF, _K.F64): (0x6C, "exec_z2d"),
}  # fmt: skip


@cache
def bindings() -> ModuleType | None:
    """The bindings; None where they or the library are not installed."""
    try:
        from nvmath.bindings import cufft

        cufft.get_version()
    except (ImportError, RuntimeError):  # the library is looked for when it is called first
        return None
    return cufft  # type: ignore[no-any-return]


def refusal(device: Device, d: Any) -> str | None:
    """Why cuFFT does not compute a descriptor's transform on a device; None where it may."""
    if device.kind is DeviceKind.CPU:
        return f"the stream is on {device}"
    if is_offline(device):
        return f"{device} is there for code alone"
    if bindings() is None:
        return "nvmath-python or libcufft is not installed: pip install 'baracuda[vendor]' nvidia-cufft"
    return unlike_library(d) or (
        "a transform of real numbers with a positive exponent, or to real numbers with a negative one"
        if d.mode != "complex" and d.inverse is not (d.mode == "half")
        else "x has fewer elements than the transform has terms"
        if d.shape[d.axis] < (d.n // 2 + 1 if d.mode == "half" else d.n)
        else None
    )


def unlike_library(d: Any) -> str | None:
    """Why no library has a descriptor's transform; None where they may."""
    for name, kind, is_real in (("x", d.element, d.mode == "real"), ("y", d.y_element, d.mode == "half")):
        if (kind.category is not Category.COMPLEX) is not is_real or kind.bits < 32:
            return f"{name}: element {kind} in the mode {d.mode!r}; expected f32, f64 or their complex numbers"
    return "results that count twice" if d.weighted else None


@dataclass(frozen=True)
class Rows1D:
    """Rows for one plan of cuFFT's: elements along a row, from one row to the next, for x and for y, in their own elements."""

    n: int
    x_stride: int
    x_distance: int
    y_stride: int
    y_distance: int
    type: int
    batch: int


class LibraryPlan:
    """A plan of cuFFT's, destroyed when nothing uses it any more."""

    def __init__(self, index: int, rows: Rows1D) -> None:
        library = bindings()
        assert library is not None
        r = rows
        with context(index):
            self.number = int(library.create())
            weakref.finalize(self, _destroy, index, self.number)
            try:
                library.set_auto_allocation(self.number, 0)
                self.workspace_bytes = int(
                    library.make_plan_many64(
                        self.number, 1, [r.n], [r.n], r.x_stride, r.x_distance, [r.n], r.y_stride, r.y_distance, r.type, r.batch
                    )
                )
            except library.cuFFTError as error:
                raise UnsupportedError(f"cuFFT: {error} for {rows}") from error
        self.lock = locks.lock()


def _destroy(index: int, number: int) -> None:
    library = bindings()
    if library is not None:
        with context(index):
            library.destroy(number)


_plans: OrderedDict[tuple[int, Rows1D], LibraryPlan] = OrderedDict()
_captured: list[LibraryPlan] = []
_plans_lock = locks.lock()


def library_plan(index: int, rows: Rows1D) -> LibraryPlan:
    """The plan for some rows, of those that are kept or a new one."""
    with _plans_lock:
        key = index, rows
        if key not in _plans:
            _plans[key] = LibraryPlan(index, rows)
            if len(_plans) > MOST_PLANS:
                _plans.popitem(last=False)
        _plans.move_to_end(key)
        return _plans[key]


class CufftCall(Launcher):
    """A transform; takes the addresses of x and y. `starts` are where each call's rows begin in both, in bytes."""

    def __init__(self, index: int, rows: Rows1D, method: str, inverse: bool, starts: Sequence[tuple[int, int]]) -> None:
        library = bindings()
        assert library is not None
        self.index, self.starts, self.plan = index, tuple(starts), library_plan(index, rows)
        self.workspace_bytes = round_up(self.plan.workspace_bytes, 256)
        self.schedule = f"cufft {method}" + (f" x {len(starts)}" if len(starts) > 1 else "")
        self._library, self._execute = library, getattr(library, method)
        self._direction = ((1 if inverse else -1),) if method in ("exec_c2c", "exec_z2z") else ()

    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        from baracuda.runtime.streams import is_capturing

        plan, library = self.plan, self._library
        if plan not in _captured and is_capturing(Stream(Device.cuda(self.index), stream)):
            _captured.append(plan)  # its tables are part of a graph
        x, y = pointers
        try:
            with context(self.index), plan.lock:  # stream and work area are the plan's: set and launch at once
                library.set_stream(plan.number, stream)
                if self.workspace_bytes:
                    library.set_work_area(plan.number, workspace)
                for from_x, from_y in self.starts:
                    self._execute(plan.number, x + from_x, y + from_y, *self._direction)
        except library.cuFFTError as error:
            raise BackendError("cufftExec", str(error)) from error

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        pointers = tuple(pointers)
        return lambda: self.call(pointers, workspace, stream)


class CufftTransform(CachingImplementation):
    """cuFFT's transform along one axis. The same call has the same bits on one device; those of a row depend on the others."""

    backend = BackendKind.CUFFT

    def __init__(self, device: Device, descriptor: Any) -> None:
        from baracuda.runtime.cuda import architecture

        super().__init__(device)
        self.descriptor = descriptor
        self.arch = ArchSku.cuda(*architecture(device.index)[:2])
        math = MathPrecision.F64 if descriptor.kind is _K.F64 else MathPrecision.F32
        self.guarantee = PrecisionGuarantee(math, descriptor.kind, True, False, True, False)

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        if is_general(layout):
            return UnsupportedLayout("cufft takes no arbitrary strides; expected the layout that the plan was selected for")
        p = normalise(self.descriptor.problem(layout))
        if p.count == 0:
            return EmptyExecutable()
        length = p.n // 2 + 1
        x, y = TensorOffset(0, 0), TensorOffset(1, 0)
        source, scale, nbytes = p.x, p.scale, 0
        steps: list[tuple[Executable | None, list[TensorOffset]]] = []
        if p.mode is Mode.HALF:
            strides = contiguous_strides((*p.outer, length))
            source, x = Rows(p.x.kind, strides[:-1], 1, length, 256), TensorOffset(None, 0)
            nbytes = round_up(prod(p.outer) * length * p.x.kind.itemsize, 256)
            steps.append((self._copy(p, p.x, source, length, scale, compiled_only), [TensorOffset(0, 0), x]))
            scale = 1.0
        steps.append((self._transform(p, source), [x, y]))
        if scale != 1.0:
            extent = length if p.mode is Mode.REAL else p.n
            steps.append((self._copy(p, p.y, p.y, extent, scale, compiled_only), [y, y]))
        made = [(part, places) for part, places in steps if part is not None]
        return MultiKernelExecutable(made, nbytes) if len(made) == len(steps) else None

    def _transform(self, p: Fourier, x: Rows) -> Executable:
        type_, method = _TYPES[p.mode, p.kind]
        number = 2 * p.kind.itemsize  # what each call's addresses are a multiple of
        sides = (x, p.y)
        if any(t.alignment % number for t in sides):
            raise UnsupportedError(f"addresses that are multiples of {x.alignment} and {p.y.alignment}; expected {number}")
        for inner in sorted(range(len(p.outer)), key=lambda a: -p.outer[a]):
            others = [a for a in range(len(p.outer)) if a != inner]
            aligned = not any(t.outer[a] * t.kind.itemsize % number for t in sides for a in others)
            if aligned and prod(p.outer[a] for a in others) <= MOST_CALLS:
                break
        else:
            raise UnsupportedError(f"rows over {p.outer}; expected one axis of them, or at most {MOST_CALLS} beside one, aligned")
        batch = p.outer[inner]
        distances = [(t.outer[inner] if batch > 1 else t.extent * t.along) for t in sides]
        if min(x.along, p.y.along, *distances) < 1:
            raise UnsupportedError(f"strides {(*x.outer, x.along)} of x and {(*p.y.outer, p.y.along)} of y; expected 1 or more")
        rows = Rows1D(p.n, x.along, distances[0], p.y.along, distances[1], type_, batch)
        starts = []
        for at in product(*(range(p.outer[a]) for a in others)):
            first, second = (sum(i * t.outer[a] for i, a in zip(at, others, strict=True)) * t.kind.itemsize for t in sides)
            starts.append((first, second))
        return CufftCall(self.device.index, rows, method, p.inverse, starts)

    def _copy(self, p: Fourier, x: Rows, y: Rows, extent: int, scale: float, compiled_only: bool) -> Executable | None:
        """A kernel that stores so many elements of each row of x, times the scale, as those of y."""
        kind, is_complex = p.kind, x.complex

        def operand(rows: Rows) -> Operand:
            strides = (*rows.outer, rows.along)
            if is_complex:
                strides = (*(2 * s for s in strides), 1)
            return Operand(kind, strides, rows.alignment)

        value = input_("x", kind)
        value = value if scale == 1.0 else value * param("scale", kind)
        graph = expand(Graph((Port("x", kind),), ((Port("y", kind), value),)))
        shape = (*p.outer, extent, 2) if is_complex else (*p.outer, extent)
        nest = normalise_nest(Problem(graph, shape, (False,) * len(shape), (operand(x), operand(y))))
        return build(self.device, nest, given_parameters(nest.graph.params, {"scale": scale}), compiled_only=compiled_only)
