"""The walk over the DAG: each primitive as a C++ statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr, const, constant_bits, node, topological
from baracuda.formula.loops import Loop, components

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNSIGNED = {ElementKind.S32: "unsigned", ElementKind.S64: "u64", ElementKind.U32: "unsigned", ElementKind.U64: "u64"}
_CALL = {"max": "maximum", "min": "minimum", "rint": "rint", "floor": "floor", "ceil": "ceil", "trunc": "trunc"}
_OVERLOADED = frozenset(["idiv", "irem", "mulhi", "gcd", "popcount", "clz"])
_BITS = {ElementKind.F32: "__uint_as_float({}u)", ElementKind.F64: "__longlong_as_double({}ll)"}
_BITCAST = {
    (ElementKind.F32, ElementKind.S32): "__float_as_int",
    (ElementKind.F32, ElementKind.U32): "__float_as_uint",
    (ElementKind.S32, ElementKind.F32): "__int_as_float",
    (ElementKind.U32, ElementKind.F32): "__uint_as_float",
    (ElementKind.F64, ElementKind.S64): "__double_as_longlong",
    (ElementKind.F64, ElementKind.U64): "(u64)__double_as_longlong",
    (ElementKind.S64, ElementKind.F64): "__longlong_as_double",
    (ElementKind.U64, ElementKind.F64): "__longlong_as_double",
}
_CONVERT_NAME = {
    ElementKind.F32: "float",
    ElementKind.F64: "double",
    ElementKind.S32: "int",
    ElementKind.U32: "uint",
    ElementKind.S64: "ll",
    ElementKind.U64: "ull",
}


def literal(bits: int, kind: ElementKind) -> str:
    """A constant by its bit pattern."""
    if kind in _BITS:
        return _BITS[kind].format(hex(bits))
    if kind is ElementKind.BOOL:
        return "true" if bits else "false"
    return f"({COMPUTE_TYPE[kind]}){hex(bits)}{'u' if kind.bits == 32 else 'ull'}"


def number(value: float, kind: ElementKind) -> str:
    """A constant by its value."""
    return literal(const(value, kind).attr, kind)


def _cast(x: str, source: ElementKind, target: ElementKind) -> str:
    if target is ElementKind.BOOL:
        return f"({x} != 0)"
    if source is ElementKind.BOOL or not (source.is_float or target.is_float):
        return f"({COMPUTE_TYPE[target]}){x}"
    name = f"__{_CONVERT_NAME[source]}2{_CONVERT_NAME[target]}"
    if source.is_float and target.is_float:
        return f"(double){x}" if target is ElementKind.F64 else f"{name}_rn({x})"
    if target.is_float:
        exact = target is ElementKind.F64 and source.bits == 32
        return f"{name}_rn({x})" if not exact else f"(double){x}"
    return f"({x} != {x} ? 0 : {name}_rz({x}))"  # the instruction saturates; only some forms send NaN to 0


def statement(n: Expr, args: list[str]) -> str:
    """The C++ expression of one primitive over its operands' names."""
    op, kind = n.op, n.kind
    a = args[0] if args else ""
    if op in _INFIX:
        if kind is ElementKind.BOOL:
            return f"(bool)({a} {_INFIX[op]} {args[1]})"
        if kind.category is Category.SIGNED:  # wrapping is defined only on unsigned types
            return f"({COMPUTE_TYPE[kind]})(({_UNSIGNED[kind]}){a} {_INFIX[op]} ({_UNSIGNED[kind]}){args[1]})"
        return f"{a} {_INFIX[op]} {args[1]}"
    if op in _COMPARE:
        return f"{a} {_COMPARE[op]} {args[1]}"
    if op == "shl":
        return f"({COMPUTE_TYPE[kind]})(({_UNSIGNED[kind]}){a} << {args[1]})"
    if op == "shr":
        return f"{a} >> {args[1]}"
    if op == "not":
        return f"!{a}" if kind is ElementKind.BOOL else f"~{a}"
    if op == "neg":
        return f"-{a}" if kind.is_float else f"({COMPUTE_TYPE[kind]})(0 - ({_UNSIGNED[kind]}){a})"
    if op == "abs":
        wide = "fabs" if kind is ElementKind.F64 else "fabsf"
        return f"{wide}({a})" if kind.is_float else f"({a} < 0 ? ({COMPUTE_TYPE[kind]})(0 - ({_UNSIGNED[kind]}){a}) : {a})"
    if op == "sqrt" and n.attr == "ordinary" and kind is ElementKind.F32:
        return f"sqrt_of_ordinary({a})"
    if op == "sqrt":
        return f"__dsqrt_rn({a})" if kind is ElementKind.F64 else f"__fsqrt_rn({a})"
    if op == "fma":
        return f"{'__fma_rn' if kind is ElementKind.F64 else '__fmaf_rn'}({', '.join(args)})"
    if op == "max" and kind is ElementKind.S32:
        for x, other in zip(args, reversed(n.args), strict=True):
            if other.op == "const" and other.attr == 0:  # docs/dependencies.md, NVRTC, says what a comparison becomes
                return f"({x} & ~({x} >> 31))"
    if op in _CALL:
        suffix = "f" if kind is ElementKind.F32 and op not in ("max", "min") else ""
        return f"{_CALL[op]}{suffix}({', '.join(args)})"
    if op in _OVERLOADED:
        return f"{op}({', '.join(args)})"
    if op.startswith("code_"):
        return f"{op}({a})"
    if op.startswith("stored_"):
        return f"widen(Narrow<{op.removeprefix('stored_').upper()}, float>::to({a}))"
    if op == "select":
        return f"{a} ? {args[1]} : {args[2]}"
    if op == "cast":
        return _cast(a, n.args[0].kind, kind)
    if op == "bitcast":
        convert = _BITCAST.get((n.args[0].kind, kind), f"({COMPUTE_TYPE[kind]})")
        return f"{convert}({a})"
    raise UnsupportedError(f"{op} cannot be lowered to CUDA on {kind}")


def whole_products(nodes: Iterable[Expr]) -> frozenset[tuple[Expr, ...]]:
    """The operands of products of 32 bits of which some nodes are the lower and the upper half."""
    halves: dict[str, set[tuple[Expr, ...]]] = {"mul": set(), "mulhi": set()}
    for n in nodes:
        if n.op in halves and n.kind is ElementKind.U32:
            halves[n.op].add(n.args)
    return frozenset(halves["mul"] & halves["mulhi"])


class Emitter:
    """Writes the statements that compute expressions, each node once a scope.

    `leaf` gives the C++ expression of a node that the schedule knows (an input, a coordinate, the result of a reduction),
    or None for one to be computed from its operands. `read` gives that of an indexed read, given the node and its offset.
    """

    def __init__(
        self, leaf: Callable[[Expr], str | None], outer: Emitter | None = None, read: Callable[[Expr, str], str] | None = None
    ) -> None:
        self.leaf = leaf
        self.read: Callable[[Expr, str], str] | None = read or (outer.read if outer else None)
        self.lines: list[str] = []
        self.names: dict[Expr, str] = dict(outer.names) if outer else {}
        self._counter: list[int] = outer._counter if outer else [0]
        self.tables: dict[Expr, str] = outer.tables if outer else {}
        #: Operands of 32 bits of which both halves of the product are wanted: one instruction makes both.
        self.products: frozenset[tuple[Expr, ...]] = outer.products if outer else frozenset()

    def child(self, leaf: Callable[[Expr], str | None] | None = None) -> Emitter:
        """An emitter for a nested C++ scope: it sees the names of this one and adds its own."""
        return Emitter(leaf or self.leaf, self)

    def _fresh(self) -> str:
        self._counter[0] += 1
        return f"t{self._counter[0]}"

    def value(self, root: Expr) -> str:
        """The name of the value of `root`, after writing whatever it still needs."""
        stack = [root]
        while stack:
            n = stack[-1]
            if n in self.names:
                stack.pop()
                continue
            known = literal(n.attr, n.kind) if n.op == "const" else self.leaf(n)
            if known is not None:
                self._define(n, known)
                continue
            needed = (n.args[0], n.args[2]) if n.op == "rare" else n.args
            missing = [a for a in needed if a not in self.names]
            if missing:
                stack.extend(missing)
                continue
            self._compute(n)
        return self.names[root]

    def _define(self, n: Expr, text: str) -> None:
        name = self._fresh()
        self.lines.append(f"const {COMPUTE_TYPE[n.kind]} {name} = {text};")
        self.names[n] = name

    def _compute(self, n: Expr) -> None:
        if n.op == "rare":
            name, condition, fast = self._fresh(), self.names[n.args[0]], self.names[n.args[2]]
            inside = self.child()
            slow = inside.value(n.args[1])
            self.lines.append(f"{COMPUTE_TYPE[n.kind]} {name} = {fast};")
            self.lines += [f"if ({condition}) {{", *(f"  {line}" for line in inside.lines), f"  {name} = {slow};", "}"]
            self.names[n] = name
        elif n.op == "loop":
            self._loop(n)
        elif n.op in ("mul", "mulhi") and n.args in self.products:
            self._product(n.args)
        elif n.op == "lookup":
            table = self.tables.setdefault(n, f"table{len(self.tables)}")
            self._define(n, f"{table}[{self.names[n.args[0]]}]")
        elif n.op == "gather":
            assert self.read is not None, f"{n} is read where no offset is known"
            self._define(n, self.read(n, self.names[n.args[0]]))
        else:
            self._define(n, statement(n, [self.names[a] for a in n.args]))

    def _product(self, factors: tuple[Expr, ...]) -> None:
        """Both halves of a product."""
        name = self._fresh()
        self.lines.append(f"const u64 {name} = whole_product({', '.join(self.names[a] for a in factors)});")
        for op, half in (("mul", name), ("mulhi", f"({name} >> 32)")):
            self._define(node(op, factors, ElementKind.U32), f"(unsigned){half}")

    def _loop(self, n: Expr) -> None:
        """A loop as it is written, with a variable for each component of its state."""
        x: Loop = n.attr.loop
        held, turn, inside = [self._fresh() for _ in x.state], self._fresh(), self.child()
        given, inside.products = n.args[len(x.state) :], self.products | whole_products(x.nodes)
        inside.names |= dict(zip(x.state, held, strict=True)) | {x.turn: turn}
        inside.names |= {placeholder: self.names[a] for placeholder, a in zip(x.given, given, strict=True)}
        for s, name, first in zip(x.state, held, n.args, strict=False):
            self.lines.append(f"{COMPUTE_TYPE[s.kind]} {name} = {self.names[first]};")
        going = inside.value(x.going)
        inside.lines.append(f"if (!{going}) break;")
        new = [inside.value(r) for r in x.results]
        kept = [inside._fresh() for _ in new]  # a component may be made of another's last value
        lines = [f"const {COMPUTE_TYPE[s.kind]} {k} = {v};" for s, k, v in zip(x.state, kept, new, strict=True)]
        lines += [f"{name} = {k};" for name, k in zip(held, kept, strict=True)]
        self.lines += ["#pragma unroll 1", f"for (int {turn} = 0; {turn} < {x.turns}; ++{turn}) {{"]
        self.lines += [f"  {line}" for line in (*inside.lines, *lines)] + ["}"]
        self.names |= dict(zip(components(n), held, strict=True))


@dataclass
class RareValues:
    """The `rare` nodes of a run of elements, worked out before the rest of it.

    A branch for each element would keep the compiler from interleaving the elements of a run. So the fast side is computed
    for the whole run, and one branch goes to the elements that need the slow one, which is a function of its own.
    """

    lines: list[str]
    names: dict[Expr, str]
    functions: str


def rare_values(
    roots: Sequence[Expr],
    element: Callable[[Mapping[Expr, str]], Emitter],
    width: int,
    prefix: str,
    enter: Sequence[str],
    bound: str,
    each: str = "",
) -> RareValues:
    """Writes the loops that fill an array for each rare node that the roots need.

    `element(names)` gives an emitter for element v of the run that knows the names given; `enter` are the statements at the
    start of a loop over v, and `bound` the condition under which element v exists. `each`, if given, is the head of a loop over
    some elements of the run only.
    """
    result = RareValues([], {}, "")
    for j, n in enumerate(_rare_nodes(roots, element({}).leaf)):
        array, any_, function, type_ = f"rare{j}", f"any{j}", f"{prefix}rarely{j}", COMPUTE_TYPE[n.kind]
        condition, slow, fast = n.args
        first = element(result.names)
        c, f = first.value(condition), first.value(fast)
        shared = set(topological([condition, fast]))
        arguments, body = _outlined(slow, shared | set(result.names), first)
        second = element(result.names)
        c2 = second.value(condition)
        values = ", ".join(second.value(a) for a in arguments)
        loop = ["#pragma unroll", f"{each or f'for (int v = 0; v < {width}; ++v)'} {bound}{{", *enter]
        result.lines += [f"{type_} {array}[{width}]; bool {any_} = false;"]
        result.lines += [*loop, *first.lines, f"{array}[v] = {f}; {any_} |= {c};", "}"]
        result.lines += [f"if ({any_}) {{", *loop, *second.lines, f"if ({c2}) {array}[v] = {function}({values});", "}", "}"]
        parameters = ", ".join(f"{COMPUTE_TYPE[a.kind]} a{i}" for i, a in enumerate(arguments))
        lines = "\n".join(f"  {line}" for line in body)
        result.functions += f"__device__ __noinline__ {type_} {function}({parameters}) {{\n{lines}\n}}\n"
        result.names[n] = f"{array}[v]"
    return result


def _rare_nodes(roots: Sequence[Expr], leaf: Callable[[Expr], str | None]) -> list[Expr]:
    """The rare nodes that the roots need outside the slow side of another, operands first."""
    rare: list[Expr] = []
    seen: set[Expr] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        n, expanded = stack.pop()
        if expanded:
            if n.op == "rare":
                rare.append(n)
            continue
        if n in seen or n.op == "const" or n.op == "reduce" or leaf(n) is not None:
            continue
        seen.add(n)
        stack.append((n, True))
        stack += [(a, False) for i, a in enumerate(n.args) if not (n.op == "rare" and i == 1)]
    return rare


def _outlined(slow: Expr, shared: set[Expr], like: Emitter) -> tuple[list[Expr], list[str]]:
    """The parameters and the body of a function that computes `slow` from values that are there already."""
    arguments: list[Expr] = []
    inside = Emitter(lambda n: None)
    inside.tables = like.tables
    stack, seen = [slow], set()
    while stack:
        n = stack.pop()
        if n in seen or n.op == "const":
            continue
        seen.add(n)
        if n in shared or n in like.names or n.op in ("input", "gather", "param", "coord", "position", "reduce", "scan"):
            inside.names[n] = f"a{len(arguments)}"
            arguments.append(n)
        else:
            stack.extend(n.args)
    result = inside.value(slow)
    return arguments, [*inside.lines, f"return {result};"]


def table_definitions(tables: dict[Expr, str]) -> str:
    """The constant tables that `lookup` nodes read."""
    return "".join(
        f"__device__ const {COMPUTE_TYPE[n.kind]} {name}[] = {{{', '.join(_constant(b, n.kind) for b in n.attr)}}};\n"
        for n, name in tables.items()
    )


def _constant(bits: int, kind: ElementKind) -> str:
    """A constant that may initialise a global: a hexadecimal floating literal where `literal` would call a function."""
    if kind.is_float:
        return float(constant_bits(bits, kind).value).hex() + ("f" if kind is ElementKind.F32 else "")
    return literal(bits, kind)
