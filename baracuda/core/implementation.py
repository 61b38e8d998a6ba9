"""What a plan runs: implementations of a problem, and code for one layout of its tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

from baracuda.core.kernel_info import KernelInfo
from baracuda.core.layout import contiguous_strides
from baracuda.core.sku import ArchSku, BackendKind, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.core.tensor import TensorRef


@dataclass(frozen=True)
class OperandLayout:
    """How one tensor lies in memory: strides in elements over its own shape, and the alignment of its address.

    `general` asks for code that works for any strides, whatever these are.
    """

    strides: tuple[int, ...]
    alignment: int = 64
    general: bool = False


Layout = tuple[OperandLayout | None, ...]
#: Numbers of a call by the names of the parameters that they are; None for those that the plan was selected with.
Scalars: TypeAlias = "Mapping[str, float] | None"


class Executable(Protocol):
    """Compiled code for one layout of the operands."""

    workspace_bytes: int
    schedule: str

    def call(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars = None) -> None:
        """Run with these addresses and numbers."""

    def bind(self, pointers: Sequence[int], workspace: int, stream: int) -> Callable[[], None]:
        """A function of no arguments that runs with these addresses."""


class Implementation(ABC):
    """One backend's way of doing one problem on one device."""

    backend: BackendKind
    arch: ArchSku
    guarantee: PrecisionGuarantee
    #: Whether its code holds the descriptor's numbers, so that a call cannot bring others.
    fixes_numbers: ClassVar[bool] = False

    @abstractmethod
    def executable(self, layout: Layout, *, compiled_only: bool = False, autotune: bool = False) -> Executable | None:
        """Code for a layout; None where `compiled_only` is set and some kernel of it is not compiled yet."""

    def executables(self, layouts: Sequence[Layout], *, autotune: bool = False) -> list[Executable]:
        """Code for several layouts, compiled together."""
        candidates = [self.executable(layout, autotune=autotune) for layout in layouts]
        return [e for e in candidates if e is not None]

    def kernels(self, layout: Layout) -> tuple[KernelInfo, ...]:
        """The generated kernels of the code for a layout; a library's own are not among them."""
        return ()

    def tunings(self, layout: Layout) -> Iterator[tuple[str, Executable]]:
        """Code for a layout under every tuning but the default one, with its name; nothing where there is no choice."""
        return iter(())


#: Backends in some order, each with how to make its implementation or the reason why it cannot serve.
Found: TypeAlias = tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]


def layout_of(tensors: Sequence[TensorRef | None]) -> Layout:
    """How the tensors of a call lie in memory."""
    return tuple(None if t is None else OperandLayout(t.strides, min(t.alignment, 16)) for t in tensors)


def any_strides(layout: Layout) -> Layout:
    """The layout of the kernels that take any strides."""
    return tuple(None if o is None else OperandLayout(o.strides, 1, True) for o in layout)


def layout_name(specs: Sequence[TensorSpec], descriptor: Any, layout: Layout) -> str:
    """The word "contiguous", or the strides of each tensor that is there."""
    if layout == tuple(contiguous(s, descriptor) for s in specs):
        return "contiguous"
    return ",".join("-" if o is None else "x".join(map(str, o.strides)) for o in layout)


def present(spec: TensorSpec, descriptor: Any) -> bool:
    return spec.presence(descriptor) is not False


def contiguous(spec: TensorSpec, descriptor: Any) -> OperandLayout | None:
    return _dense(spec, descriptor, 16, general=False)


def general(spec: TensorSpec, descriptor: Any) -> OperandLayout | None:
    return _dense(spec, descriptor, 1, general=True)


def _dense(spec: TensorSpec, descriptor: Any, alignment: int, *, general: bool) -> OperandLayout | None:
    if not present(spec, descriptor):
        return None
    return OperandLayout(contiguous_strides(spec.expected_shape(descriptor)), alignment, general)
