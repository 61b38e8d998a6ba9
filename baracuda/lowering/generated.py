"""What implementations share: executables that are made once for a layout, and the target of generated kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy

from baracuda.core import locks
from baracuda.core.call_recorder import unseen
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Implementation, Layout
from baracuda.core.kernel_info import KernelInfo
from baracuda.core.sku import MathPrecision, PrecisionGuarantee
from baracuda.lowering.backend import backend_of
from baracuda.lowering.executables import generated, load
from baracuda.runtime.program import Launch

#: Layouts whose executables are remembered; beyond it they are made anew, of kernels that stay loaded.
MOST_LAYOUTS = 1024

_MATH = {ElementKind.F32: MathPrecision.F32, ElementKind.F64: MathPrecision.F64}


class CachingImplementation(Implementation):
    """An implementation that remembers the executable of each layout."""

    device: Device

    def __init__(self, device: Device) -> None:
        self.device = device
        self._executables: dict[Layout, Executable] = {}
        self._lock = locks.reentrant_lock()

    @abstractmethod
    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        """Code for a layout, which need not be loaded; None where it would have to be compiled and `compiled_only` is set."""

    def executables(self, layouts: Sequence[Layout], *, autotune: bool = False) -> list[Executable]:
        with self._lock:
            by_layout = [self.unloaded(layout, autotune=autotune) for layout in layouts]
            present = [e for e in by_layout if e is not None]
            _load(present)
            return present

    def executable(self, layout: Layout, *, compiled_only: bool = False, autotune: bool = False) -> Executable | None:
        with self._lock:
            executable = self.unloaded(layout, compiled_only=compiled_only, autotune=autotune)
            if executable is not None:
                _load([executable])
            return executable

    def kernels(self, layout: Layout) -> tuple[KernelInfo, ...]:
        with self._lock:
            executable = self.unloaded(layout)
            programs = () if executable is None else generated(executable)
            return tuple(kernel for program in programs for kernel in program.kernels())

    def unloaded(self, layout: Layout, *, compiled_only: bool = False, autotune: bool = False) -> Executable | None:
        """The executable of a layout, of which some programs may not be loaded."""
        executable = self._executables.get(layout)
        if executable is None:
            with unseen():  # measurements
                executable = self.make(layout, compiled_only, autotune and not is_general(layout))
            if executable is not None:
                if len(self._executables) >= MOST_LAYOUTS:
                    self._executables.clear()
                self._executables[layout] = executable
        return executable


def _load(executables: Sequence[Executable]) -> None:
    with unseen():  # tables that are computed once
        load(executables)


class GeneratedImplementation(CachingImplementation):
    """An implementation by generated kernels, for the CPU or for a CUDA device, with the canonical guarantee. `way` is the number
    of the ways in which its problems are lowered."""

    way = 0

    def __init__(self, device: Device, accumulator: ElementKind) -> None:
        super().__init__(device)
        self.guarantee = PrecisionGuarantee.canonical(_MATH.get(accumulator, MathPrecision.INTEGER), accumulator)
        backend = backend_of(device)
        self.backend, self.arch = backend.kind, backend.arch(device)

    def tunings(self, layout: Layout) -> Iterator[tuple[str, Executable]]:
        known = [self.unloaded(layout)]
        for way in range(1, backend_of(self.device).tried):
            other = copy(self)
            other.way, other._executables = way, {}
            executable = other.unloaded(layout)
            if executable is not None and all(_launches(executable) != _launches(e) for e in known if e is not None):
                known.append(executable)
                _load([executable])
                yield f"tuning {way}", executable


def _launches(executable: Executable) -> list[tuple[Launch, ...]]:
    return [program.lowered.launches for program in generated(executable)]


def is_general(layout: Layout) -> bool:
    """Whether a layout asks for code for any strides."""
    return any(o is not None and o.general for o in layout)
