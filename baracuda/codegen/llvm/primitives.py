"""One primitive on vectors: the instruction, or the few, that give the bits the contract asks for."""

from __future__ import annotations

from baracuda.codegen.llvm.integers import divide, greatest_divisor, high_product, leading_zeros, population
from baracuda.codegen.llvm.ir import Builder, Value, constant, intrinsic, vector
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr

#: LLVM's type of a value of each compute kind.
TYPES = {
    ElementKind.F32: "float",
    ElementKind.F64: "double",
    ElementKind.S32: "i32",
    ElementKind.U32: "i32",
    ElementKind.S64: "i64",
    ElementKind.U64: "i64",
    ElementKind.BOOL: "i1",
}
_FLOAT_OPS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "neg": "fneg"}
_FLOAT_CALLS = {
    "abs": "fabs", "sqrt": "sqrt", "rint": "roundeven", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fma": "fma",
    "max": "maximum", "min": "minimum",
}  # fmt: skip
_INTEGER_OPS = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
_PREDICATES = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}


def compute_type(kind: ElementKind) -> str:
    """LLVM's scalar type of a value of `kind`."""
    type_ = TYPES.get(kind)
    if type_ is None:
        raise UnsupportedError(f"no CPU arithmetic in {kind}; expected one of {', '.join(map(str, TYPES))}")
    return type_


def _call(b: Builder, name: str, *args: Value) -> Value:
    return b.call(args[0].type, intrinsic(name, args[0].type), *args)


def _compare(b: Builder, op: str, kind: ElementKind, x: Value, y: Value) -> Value:
    if kind.is_float:
        return b.compare(f"fcmp {'une' if op == 'ne' else 'o' + _PREDICATES[op]}", x, y)
    sign = "" if op in ("eq", "ne") else "s" if kind.category is Category.SIGNED else "u"
    return b.compare(f"icmp {sign}{_PREDICATES[op]}", x, y)


def _cast(b: Builder, source: ElementKind, target: ElementKind, x: Value) -> Value:
    type_ = vector(compute_type(target), x.lanes)
    if target is ElementKind.BOOL:
        zero = constant(x.element, 0, x.lanes)
        return b.compare("fcmp une" if source.is_float else "icmp ne", x, zero)
    if source.is_float and target.is_float:
        return b.convert("fpext" if target.bits > source.bits else "fptrunc", x, type_)
    signed = source.category is Category.SIGNED
    if target.is_float:
        return b.convert("sitofp" if signed else "uitofp", x, type_)
    if source.is_float:
        return _saturated(b, source, target, x, type_)
    if source.bits == target.bits and source is not ElementKind.BOOL:
        return x
    if target.bits < source.bits:
        return b.convert("trunc", x, type_)
    return b.convert("sext" if signed else "zext", x, type_)


def _saturated(b: Builder, source: ElementKind, target: ElementKind, x: Value, type_: str) -> Value:
    """Float to integer; LLVM's own saturating conversion would be one lane at a time."""
    signed = target.category is Category.SIGNED
    low, high = (-(2.0 ** (target.bits - 1)), 2.0 ** (target.bits - 1)) if signed else (0.0, 2.0**target.bits)

    def number(value: float) -> Value:
        return constant(x.element, int(source.numpy.type(value).view(f"u{source.itemsize}")), x.lanes)

    below, above = b.compare("fcmp oge", x, number(low)), b.compare("fcmp olt", x, number(high))
    inside = b.select(b.op("and", below, above), x, number(0.0))
    converted = b.convert("fptosi" if signed else "fptoui", inside, type_)
    element = compute_type(target)
    converted = b.select(b.compare("fcmp oge", x, number(high)), constant(element, int(high) - 1, x.lanes), converted)
    return b.select(b.compare("fcmp olt", x, number(low)), constant(element, int(low), x.lanes), converted)


def _lookup(b: Builder, n: Expr, index: Value) -> Value:
    element = compute_type(n.kind)
    table = b.module.table(element, n.attr)
    lanes = index.lanes
    wide = b.convert("sext", index, vector("i64", lanes))
    if lanes == 1:
        return b.load(element, b.emit("ptr", f"getelementptr {element}, ptr {table.name}, i64 {wide.name}"), n.kind.itemsize)
    pointers = b.emit(vector("ptr", lanes), f"getelementptr {element}, ptr {table.name}, {wide.type} {wide.name}")
    type_ = vector(element, lanes)
    return b.call(
        type_,
        intrinsic("masked.gather", type_, pointers.type),
        pointers,
        Value("i32", str(n.kind.itemsize)),
        constant("i1", 1, lanes),
        Value(type_, "poison"),
    )


def _integer(b: Builder, op: str, kind: ElementKind, args: list[Value]) -> Value:
    x = args[0]
    signed = kind.category is Category.SIGNED
    if op in _INTEGER_OPS:
        return b.op(_INTEGER_OPS[op], *args)
    if op == "shr":
        return b.op("ashr" if signed else "lshr", *args)
    if op in ("max", "min"):
        return _call(b, f"{'s' if signed else 'u'}{op}", *args)
    if op == "neg":
        return b.op("sub", constant(x.element, 0, x.lanes), x)
    if op == "not":
        return b.op("xor", x, constant(x.element, 2**kind.bits - 1 if kind is not ElementKind.BOOL else 1, x.lanes))
    if op == "mulhi":
        return high_product(b, kind, *args)
    if op == "gcd":
        return greatest_divisor(b, kind, *args)
    if op in ("popcount", "clz"):
        return (population if op == "popcount" else leading_zeros)(b, x)
    assert op == "abs", op
    return b.call(x.type, intrinsic("abs", x.type), x, Value("i1", "false")) if signed else x


def primitive(b: Builder, n: Expr, args: list[Value]) -> Value:
    """`n.op` applied to values of one number of lanes."""
    op, kind = n.op, n.kind
    if op == "select":
        return b.select(*args)
    if op == "cast":
        return _cast(b, n.args[0].kind, kind, args[0])
    if op == "bitcast":
        return b.convert("bitcast", args[0], vector(compute_type(kind), args[0].lanes))
    if op == "lookup":
        return _lookup(b, n, args[0])
    if op in _PREDICATES:
        return _compare(b, op, n.args[0].kind, *args)
    if op in ("idiv", "irem"):
        divisor = n.args[1]
        plain = divisor.op == "const" and divisor.value not in (0, -1)
        return divide(b, kind, *args, remainder=op == "irem", plain=plain)
    return combine(b, op, kind, args)


def combine(b: Builder, op: str, kind: ElementKind, args: list[Value]) -> Value:
    """Arithmetic of `kind`."""
    if not kind.is_float:
        return _integer(b, op, kind, args)
    return b.op(_FLOAT_OPS[op], *args) if op in _FLOAT_OPS else _call(b, _FLOAT_CALLS[op], *args)
