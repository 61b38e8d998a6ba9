"""Elements in memory: loads that widen to the compute kind, stores that round once."""

from __future__ import annotations

from baracuda.codegen.llvm.ir import Builder, Value, constant, intrinsic, vector
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError

_STORED = {ElementKind.F32: "float", ElementKind.F64: "double"}


def stored_type(kind: ElementKind) -> str:
    """LLVM's type of one element in memory; 16-bit floats are moved as integers."""
    compute_type(kind.compute)
    if kind.is_float and kind.bits < 16:
        raise UnsupportedError(f"{kind} has no CPU load and store; expected a float of 16 bits or more")
    return _STORED.get(kind, f"i{kind.bits}")


def widen(b: Builder, kind: ElementKind, raw: Value) -> Value:
    """Stored bits to a value of the compute kind, which is exact."""
    lanes = raw.lanes
    if kind is ElementKind.F16:
        return b.convert("fpext", b.convert("bitcast", raw, vector("half", lanes)), vector("float", lanes))
    if kind is ElementKind.BF16:
        wide = b.convert("zext", raw, vector("i32", lanes))
        return b.convert("bitcast", b.shl(wide, constant("i32", 16, lanes)), vector("float", lanes))
    if kind is ElementKind.BOOL:
        return b.compare("icmp ne", raw, constant("i8", 0, lanes))
    type_ = vector(compute_type(kind.compute), lanes)
    return b.convert("sext" if kind.category is Category.SIGNED else "zext", raw, type_)


def _round_bf16(b: Builder, x: Value) -> Value:
    """The bit pattern of bf16, in the upper half of 32 bits; the lower half is left over."""
    lanes = x.lanes

    def number(value: int) -> Value:
        return constant("i32", value, lanes)

    bits = b.convert("bitcast", x, vector("i32", lanes))
    odd = b.and_(b.shr(bits, number(16)), number(1))
    rounded = b.add(bits, b.add(odd, number(0x7FFF)))
    return b.select(b.compare("fcmp uno", x, x), b.or_(bits, number(0x400000)), rounded)


def narrow(b: Builder, kind: ElementKind, value: Value) -> Value:
    """A value of the compute kind to stored bits: nearest even for floats, wrapped for integers."""
    lanes = value.lanes
    if kind is ElementKind.F16:
        return b.convert("bitcast", b.convert("fptrunc", value, vector("half", lanes)), vector("i16", lanes))
    if kind is ElementKind.BF16:
        upper = b.shr(_round_bf16(b, value), constant("i32", 16, lanes))
        return b.convert("trunc", upper, vector("i16", lanes))
    if kind is ElementKind.BOOL:
        return b.convert("zext", value, vector("i8", lanes))
    type_ = vector(stored_type(kind), lanes)
    return b.convert("trunc", value, type_)


def narrow_all(b: Builder, kind: ElementKind, values: list[Value]) -> list[Value]:
    """Values of neighbouring vectors to stored bits, in fewer and wider vectors where that is cheaper."""
    if not values or store_bytes(kind, values[0].lanes, len(values)) == kind.itemsize * values[0].lanes:
        return [narrow(b, kind, v) for v in values]
    lanes = values[0].lanes
    halves = [b.convert("bitcast", _round_bf16(b, v), vector("i16", 2 * lanes)) for v in values]
    upper = range(1, 4 * lanes, 2)
    return [b.shuffle(halves[i], halves[i + 1], upper) for i in range(0, len(halves), 2)]


def store_bytes(kind: ElementKind, lanes: int, count: int) -> int:
    """The size of each store that `store_all` makes for `count` vectors."""
    return kind.itemsize * lanes * (2 if kind is ElementKind.BF16 and count % 2 == 0 else 1)


def store_all(b: Builder, kind: ElementKind, values: list[Value], pointer: Value, *, streaming: bool = False) -> None:
    """Neighbouring vectors; `streaming` promises addresses aligned to each of the stores."""
    offset = 0
    for raw in narrow_all(b, kind, values):
        size = kind.itemsize * raw.lanes
        b.store(raw, b.at(pointer, offset), size if streaming else kind.itemsize, streaming=streaming)
        offset += size


def load(b: Builder, kind: ElementKind, pointer: Value, lanes: int, mask: Value | None = None) -> Value:
    """`lanes` neighbours; under a mask, the lanes left out are read as zero bits and never touched."""
    type_ = vector(stored_type(kind), lanes)
    if mask is None:
        return widen(b, kind, b.load(type_, pointer, kind.itemsize))
    nothing = Value(type_, "zeroinitializer")
    name = intrinsic("masked.load", type_, "ptr")
    return widen(b, kind, b.call(type_, name, pointer, Value("i32", str(kind.itemsize)), mask, nothing))


def store(
    b: Builder, kind: ElementKind, value: Value, pointer: Value, mask: Value | None = None, *, streaming: bool = False
) -> None:
    """Neighbours, all or those in the mask; `streaming` promises an address aligned to the vector."""
    raw = narrow(b, kind, value)
    if mask is not None:
        name = intrinsic("masked.store", raw.type, "ptr")
        b.call("void", name, raw, pointer, Value("i32", str(kind.itemsize)), mask)
    else:
        b.store(raw, pointer, kind.itemsize * raw.lanes if streaming else kind.itemsize, streaming=streaming)
