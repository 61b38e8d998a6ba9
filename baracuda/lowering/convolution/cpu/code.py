"""What the CPU's kernels of convolutions share: operands by the names of axes, and the epilogue's nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from baracuda.codegen.llvm.ir import Builder, Value, i64, intrinsic, vector
from baracuda.codegen.llvm.lanes import load_lanes
from baracuda.codegen.llvm.memory import load, stored_type, widen
from baracuda.core.elements import ElementKind
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.nest.cpu.kernel import Kernel
from baracuda.lowering.nest.problem import Nest, Operand


@dataclass(frozen=True)
class Source:
    """A factor in memory: byte strides by the name of an axis, and strides in elements where code may depend on them."""

    kind: ElementKind
    base: Value
    strides: Mapping[str, Value]
    steps: Mapping[str, int | None]

    @staticmethod
    def of(kernel: Kernel, kind: ElementKind, base: Value, strides: Mapping[str, int], *, general: bool = False) -> Source:
        varying = {name: s for name, s in strides.items() if s or general}
        words = {name: kernel.integer(s * kind.itemsize) for name, s in varying.items()}
        return Source(kind, base, words, {name: None if general else s for name, s in strides.items()})

    def at(self, b: Builder, pointer: Value, coordinates: Mapping[str, Value]) -> Value:
        """The address some steps along axes on."""
        for name, index in coordinates.items():
            if name in self.strides:
                pointer = b.at(pointer, b.mul(self.strides[name], index))
        return pointer


def lanes_at(
    b: Builder, kind: ElementKind, pointer: Value, lanes: int, step: int | None, stride: Value | None, mask: Value | None
) -> Value:
    """`lanes` elements a stride apart, `step` elements where that is known; those out of the mask are 0 and are not touched."""
    if lanes == 1:
        return load(b, kind, pointer, 1)
    if step == 0 or stride is None:
        return b.splat(load(b, kind, pointer, 1), lanes)
    if step == 1:
        return load(b, kind, pointer, lanes, mask)
    if mask is None:
        return load_lanes(b, kind, pointer, lanes, stride, None)
    offsets = b.op("mul", b.splat(stride, lanes), b.iota(lanes, "i64"))
    at = b.emit(vector("ptr", lanes), f"getelementptr i8, ptr {pointer.name}, {offsets.type} {offsets.name}")
    many = vector(stored_type(kind), lanes)
    size, nothing = Value("i32", str(kind.itemsize)), Value(many, "zeroinitializer")
    return widen(b, kind, b.call(many, intrinsic("masked.gather", many, at.type), at, size, mask, nothing))


def nest_of(p: ConvolutionProblem, outer: Sequence[str], column: str, row: str | None = None) -> Nest:
    """The epilogue over some axes, then rows (None: one), then columns; x and w lie nowhere in it."""
    extents, place = p.extents(), {name: i for i, name in enumerate(p.extents())}
    nowhere = (0,) * (len(outer) + 2)
    others = tuple(
        replace(
            o,
            strides=(*(o.strides[place[name]] for name in outer), o.strides[place[row]] if row else 0, o.strides[place[column]]),
        )
        for o in p.operands
    )
    shape = (*(extents[name] for name in outer), extents[row] if row else 1, extents[column])
    return Nest(p.epilogue, shape, (), (Operand(p.x.kind, nowhere), Operand(p.w.kind, nowhere), *others))


def unsigned_less(b: Builder, x: Value, limit: Value) -> Value:
    """0 <= x < limit, on each lane."""
    return b.compare("icmp ult", x, limit)


def index_lanes(b: Builder, first: Value, step: Value, lanes: int) -> Value:
    """first, first + step, ..."""
    return b.op("add", b.splat(first, lanes), b.op("mul", b.splat(step, lanes), b.iota(lanes, "i64")))


ZERO = i64(0)
