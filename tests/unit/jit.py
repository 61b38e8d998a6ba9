"""A small vector compiler of pointwise DAGs of primitives, for measuring formulas without the library's own lowering.

It shares no code with `baracuda.lowering`: one function a formula, LANES elements at a time, `rare` as a real branch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.formula.expand import expand
from baracuda.formula.expr import Axes, Expr, input_, node
from baracuda.formula.graph import Graph, Port
from baracuda.runtime.jit import dispose

LANES = 16

_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTEGER = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "rint": "roundeven", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
              "max": "maximum", "min": "minimum", "fma": "fma"}  # fmt: skip
_FLOAT_COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}


def _scalar(kind: ElementKind) -> str:
    if kind.is_float:
        return {32: "float", 64: "double"}[kind.bits]
    return "i1" if kind is ElementKind.BOOL else f"i{kind.bits}"


def _vector(kind: ElementKind) -> str:
    return f"<{LANES} x {_scalar(kind)}>"


class _Writer:
    """Emits one vector body; values are memoised in the scope of the block that computes them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.globals: list[str] = []
        self.declared: set[str] = set()
        self.block = "loop"
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%t{self.count}"

    def put(self, text: str) -> str:
        result = self.name()
        self.lines.append(f"  {result} = {text}")
        return result

    def call(
        self, intrinsic: str, kind: ElementKind, args: list[str], suffix: str = "", source: ElementKind | None = None
    ) -> str:
        types = [_vector(source or kind)] * len(args)
        mangled = f"@llvm.{intrinsic}.v{LANES}{_mangled(kind)}" + suffix
        self.declared.add(f"declare {_vector(kind)} {mangled}({', '.join(types)})")
        return self.put(f"call {_vector(kind)} {mangled}({', '.join(f'{t} {a}' for t, a in zip(types, args, strict=True))})")

    def emit(self, x: Expr, scope: dict[Expr, str]) -> str:
        if x not in scope:
            scope[x] = self.rare(x, scope) if x.op == "rare" else self.compute(x, [self.emit(a, scope) for a in x.args])
        return scope[x]

    def rare(self, x: Expr, scope: dict[Expr, str]) -> str:
        condition, slow, fast = x.args
        c, f = self.emit(condition, scope), self.emit(fast, scope)
        bits = self.put(f"bitcast <{LANES} x i1> {c} to i{LANES}")
        some = self.put(f"icmp ne i{LANES} {bits}, 0")
        before, label = self.block, self.name()[1:]
        self.lines.append(f"  br i1 {some}, label %s{label}, label %j{label}\ns{label}:")
        self.block = f"s{label}"
        s = self.emit(slow, dict(scope))
        chosen = self.put(f"select <{LANES} x i1> {c}, {_vector(x.kind)} {s}, {_vector(x.kind)} {f}")
        self.lines.append(f"  br label %j{label}\nj{label}:")
        after, self.block = self.block, f"j{label}"
        return self.put(f"phi {_vector(x.kind)} [ {chosen}, %{after} ], [ {f}, %{before} ]")

    def compute(self, x: Expr, a: list[str]) -> str:
        kind, op = x.kind, x.op
        of = x.args[0].kind if x.args else kind
        v = _vector(of)
        if op == "const":
            return self.constant(x)
        if op in ("eq", "ne", "lt", "le", "gt", "ge"):
            if of.is_float:
                return self.put(f"fcmp {_FLOAT_COMPARE[op]} {v} {a[0]}, {a[1]}")
            sign = "" if op in ("eq", "ne") else "s" if of.category is Category.SIGNED else "u"
            return self.put(f"icmp {sign}{op} {v} {a[0]}, {a[1]}")
        if op == "select":
            return self.put(f"select {v} {a[0]}, {_vector(kind)} {a[1]}, {_vector(kind)} {a[2]}")
        if op == "bitcast":
            return self.put(f"bitcast {v} {a[0]} to {_vector(kind)}")
        if op == "cast":
            return self.cast(x, a[0])
        if op == "lookup":
            return self.lookup(x, a[0])
        if kind.is_float:
            if op in _FLOAT:
                return self.put(f"{_FLOAT[op]} {v} {a[0]}, {a[1]}")
            return self.put(f"fneg {v} {a[0]}") if op == "neg" else self.call(_INTRINSIC[op], kind, a)
        if op in _INTEGER:
            return self.put(f"{_INTEGER[op]} {v} {a[0]}, {a[1]}")
        if op == "shr":
            return self.put(f"{'ashr' if kind.category is Category.SIGNED else 'lshr'} {v} {a[0]}, {a[1]}")
        if op == "neg":
            return self.put(f"sub {v} zeroinitializer, {a[0]}")
        if op == "not":
            return self.put(f"xor {v} {a[0]}, splat ({_scalar(kind)} -1)")
        if op in ("max", "min"):
            return self.call(("s" if kind.category is Category.SIGNED else "u") + op, kind, a)
        raise NotImplementedError(f"{op} on {kind}")

    def constant(self, x: Expr) -> str:
        if x.kind is ElementKind.BOOL:
            return f"splat (i1 {x.attr})"
        return self.put(f"bitcast <{LANES} x i{x.kind.bits}> splat (i{x.kind.bits} {x.attr}) to {_vector(x.kind)}")

    def cast(self, x: Expr, a: str) -> str:
        to, of = x.kind, x.args[0].kind
        if to.is_float and of.is_float:
            word = "fpext" if to.bits > of.bits else "fptrunc"
        elif to.is_float:
            word = "sitofp" if of.category is Category.SIGNED else "uitofp"
        elif of.is_float:
            word = "fptosi.sat" if to.category is Category.SIGNED else "fptoui.sat"
            return self.call(word, to, [a], f".v{LANES}{_mangled(of)}", of)
        elif to.bits > of.bits:
            word = "sext" if of.category is Category.SIGNED else "zext"
        elif to.bits < of.bits:
            word = "trunc"
        else:
            word = "bitcast"
        return self.put(f"{word} {_vector(of)} {a} to {_vector(to)}")

    def lookup(self, x: Expr, index: str) -> str:
        scalar, table = _scalar(x.kind), f"@table{len(self.globals)}"
        entries = ", ".join(f"i{x.kind.bits} {e}" for e in x.attr)
        self.globals.append(f"{table} = private constant [{len(x.attr)} x i{x.kind.bits}] [{entries}]")
        result = "poison"
        for lane in range(LANES):
            i = self.put(f"extractelement <{LANES} x i32> {index}, i32 {lane}")
            pointer = self.put(f"getelementptr {scalar}, ptr {table}, i32 {i}")
            loaded = self.put(f"load {scalar}, ptr {pointer}")
            result = self.put(f"insertelement {_vector(x.kind)} {result}, {scalar} {loaded}, i32 {lane}")
        return result


def _mangled(kind: ElementKind) -> str:
    return f"f{kind.bits}" if kind.is_float else f"i{kind.bits}"


def _machine() -> Any:
    """A machine for this host; the engine that is made from it owns it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(opt=2, cpu=llvm.get_host_cpu_name(), features=features)


def function(op: str, kind: ElementKind, arity: int = 1) -> Callable[..., np.ndarray]:
    """The elementary function `op` on `kind`, compiled: takes and returns NumPy arrays."""
    ports = tuple(Port(f"x{i}", kind) for i in range(arity))
    call = node(op, tuple(input_(p.name, kind) for p in ports), kind)
    return compiled(expand(Graph(ports, ((Port("y", kind), call),))))


def compiled(graph: Graph) -> Callable[..., np.ndarray]:
    """A graph of primitives with one output, compiled."""
    writer, (port, result) = _Writer(), graph.outputs[0]
    scope: dict[Expr, str] = {}
    for i, p in enumerate(graph.inputs):
        pointer = writer.put(f"getelementptr {_scalar(p.kind)}, ptr %a{i}, i64 %i")
        loaded = writer.put(f"load {_vector(p.kind)}, ptr {pointer}, align {p.kind.itemsize}")
        scope[input_(p.name, p.kind, Axes.FULL)] = loaded
    value = writer.emit(result, scope)
    params = ", ".join(f"ptr noalias %a{i}" for i in range(len(graph.inputs)))
    text = "\n".join([
        *writer.globals,
        f"define void @f({params}, ptr noalias %out, i64 %n) {{\nentry:\n  br label %loop\nloop:",
        f"  %i = phi i64 [ 0, %entry ], [ %next, %{writer.block} ]",
        *writer.lines,
        f"  %to = getelementptr {_scalar(port.kind)}, ptr %out, i64 %i",
        f"  store {_vector(port.kind)} {value}, ptr %to, align {port.kind.itemsize}",
        f"  %next = add i64 %i, {LANES}\n  %more = icmp slt i64 %next, %n",
        "  br i1 %more, label %loop, label %end\nend:\n  ret void\n}",
        *sorted(writer.declared),
    ])  # fmt: skip
    module = llvm.parse_assembly(text)
    module.verify()
    machine = _machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    dispose(passes)
    assembly = machine.emit_assembly(module)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    native = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(graph.inputs) + 1), ctypes.c_int64)(
        engine.get_function_address("f")
    )

    def run(*arrays: Any) -> np.ndarray:
        dtypes = [p.kind.numpy for p in graph.inputs]
        inputs = np.broadcast_arrays(*(np.asarray(a, dtype=d) for a, d in zip(arrays, dtypes, strict=True)))
        shape, n = inputs[0].shape, inputs[0].size
        padded = -(-n // LANES) * LANES
        if padded != n or not all(a.flags.c_contiguous for a in inputs):
            inputs = [np.concatenate([a.ravel(), np.zeros(padded - n, a.dtype)]) for a in inputs]
        out = np.empty(padded, port.kind.numpy)
        if n:
            native(*(a.ctypes.data for a in inputs), out.ctypes.data, padded)
        return out[:n].reshape(shape)

    run.engine = engine  # type: ignore[attr-defined]  # owns the machine code
    run.assembly = assembly  # type: ignore[attr-defined]
    return run
