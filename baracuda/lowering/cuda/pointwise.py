"""Pointwise schedules: each thread computes runs of V neighbouring elements of the innermost axis.

Bytes: each operand once. A run is loaded in pieces of at most 16 bytes; several runs a thread keep enough loads in flight.
A block whose runs are all whole takes code without tests; only the last one, or rows that are no multiple of V, take the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from baracuda.formula.expr import Expr
from baracuda.lowering.cuda.emit import Emitter, rare_values, table_definitions
from baracuda.lowering.cuda.kernel import INDEX_LIMIT, Frame, Launch, Lowered, offset, piece, unravel
from baracuda.lowering.cuda.prelude import COMPUTE_TYPE


def with_one_element(frame: Frame) -> None:
    """Give the nest of a single element an axis, so that every pointwise nest has one."""
    if not frame.nest.outer:
        frame.nest = replace(frame.nest, outer=(1,), operands=tuple(replace(o, strides=(0,)) for o in frame.nest.operands))
        frame.operands = frame.nest.operands


class Runs:
    """Writes the parts of a pointwise kernel. Names in the generated code: c0, c1, ... the coordinates (that of the last
    axis counts runs), `at` the run's first element on the last axis, `left` how many elements exist from there on."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.last = len(frame.nest.outer) - 1
        sizes = [o.kind.itemsize for o in frame.operands if o.steps(self.last) != 0]
        self.width = min(8, max(2, 16 // max(sizes, default=4)))

    def compute(self, transposed: Mapping[int, str], bound: str) -> tuple[list[str], str]:
        """The statements that make out{i} of in{i}, and the definitions they need. `transposed` gives the C++ expression of
        element v of an input that is not in registers; `bound` is the condition under which element v exists."""
        frame, last = self.frame, self.last
        tables: dict[Expr, str] = {}

        def element(rare: Mapping[Expr, str]) -> Emitter:
            def leaf(n: Expr) -> str | None:
                if n in rare:
                    return rare[n]
                if n.op == "param":
                    return frame.words.param(n)
                if n.op == "coord":
                    return "(int)(at + v)" if n.attr == last else f"(int)c{n.attr}"
                if n.op == "input":
                    i = frame.input_index[n.attr[0]]
                    if i in transposed:
                        return f"widen({transposed[i]})"
                    return f"widen(in{i}.v[{'0' if frame.operands[i].steps(last) == 0 else 'v'}])"
                return None

            made = Emitter(leaf)
            made.tables = tables
            return made

        outputs = frame.nest.graph.outputs
        rare = rare_values([e for _, e in outputs], element, self.width, "", (), bound)
        emitter = element(rare.names)
        narrowed = []
        for k, (_, expr) in enumerate(outputs):
            i = frame.inputs + k
            value = emitter.value(expr)
            narrowed.append(f"out{i}.v[v] = Narrow<{frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({value});")
        loop = ["#pragma unroll", f"for (int v = 0; v < {self.width}; ++v) {bound}{{", *emitter.lines, *narrowed, "}"]
        return rare.lines + loop, table_definitions(tables) + rare.functions

    def place(self, i: int) -> str:
        """Declares o{i}: the operand's offset of the run."""
        strides = self.frame.strides(i, range(self.last))
        own = self.frame.operands[i]
        along = "" if own.steps(self.last) == 0 else f" + at * {self.frame.words.signed(own.strides[self.last])}"
        return f"const i64 o{i} = {offset(strides, 'c')}{along};"

    def move(self, i: int, *, whole: bool) -> list[str]:
        """Loads in{i} or stores out{i}; `whole` says that the run is known to be so."""
        frame, width, base = self.frame, self.width, f"(p{i} + o{i})"
        operand, stride = frame.operands[i], frame.operands[i].steps(self.last)
        loading = i < frame.inputs
        if loading and stride == 0:
            return [f"in{i}.v[0] = *{base};"]
        step = "" if stride == 1 else f" * {frame.words.signed(operand.strides[self.last])}"
        single = f"in{i}.v[v] = {base}[v{step}];" if loading else f"{base}[v{step}] = out{i}.v[v];"
        bound = "" if whole else "if (v < left) "
        by_element = ["#pragma unroll", f"for (int v = 0; v < {width}; ++v) {bound}{single}"]
        if stride != 1:
            return by_element
        p = piece(operand, width, self.last, frame.nest.outer)
        by_piece = f"load<{p}>(in{i}, {base});" if loading else f"store<{p}>({base}, out{i});"
        return [by_piece] if whole else [f"if (left >= {width}) {by_piece}", "else {", *by_element, "}"]

    def declare(self, i: int) -> str:
        return f"Vec<{self.frame.storage(i)}, {self.width}> {'in' if i < self.frame.inputs else 'out'}{i};"


def lower_runs(frame: Frame) -> Lowered:
    """Lower a nest without reductions, along its last axis."""
    with_one_element(frame)
    kernel, words, extents = Runs(frame), frame.words, frame.nest.outer
    width, last, threads = kernel.width, kernel.last, frame.tuning.run_threads
    shape = (*extents[:last], -(-extents[last] // width))
    runs = prod(shape)
    inputs, outputs = range(frame.inputs), range(frame.inputs, len(frame.ports))
    moved = sum(o.kind.itemsize * width for o in frame.operands[: frame.inputs] if o.steps(last) != 0)
    unroll = max(2, min(8, frame.tuning.run_bytes // max(moved, 1)))
    wide = runs + unroll * threads >= INDEX_LIMIT
    index = "i64" if wide else "unsigned"
    count = words.signed(runs) if wide else words.unsigned(runs)
    where = [*unravel("i", shape, words, "c", wide=wide), f"const i64 at = (i64)c{last} * {width};"]
    left = f"const i64 left = {words.signed(extents[last])} - at;"
    compute, definitions = kernel.compute({}, "")
    checked, checked_definitions = kernel.compute({}, "if (v < left) ")
    assert definitions == checked_definitions
    # Runs of which only the very last may be partial: blocks before it need no test at all.
    uniform = last == 0 or extents[last] % width == 0
    whole_runs = prod(extents) // width if uniform else 0
    full = words.signed(whole_runs) if wide else words.unsigned(whole_runs)
    each = f"for (int u = 0; u < {unroll}; ++u) {{ const {index} i = first + u * {threads};"
    body = [
        *frame.pointers(),
        f"const {index} first = ({index})blockIdx.x * {unroll * threads} + threadIdx.x;",
        f"if (({index})(blockIdx.x + 1) * {unroll * threads} <= {full}) {{",
        *[f"Vec<{frame.storage(i)}, {width}> in{i}_[{unroll}];" for i in inputs],
        "#pragma unroll",
        each,
        *where,
        *[line for i in inputs for line in (kernel.place(i), f"auto& in{i} = in{i}_[u];", *kernel.move(i, whole=True))],
        "}",
        "#pragma unroll",
        each,
        *where,
        *[f"auto& in{i} = in{i}_[u];" for i in inputs],
        *[line for i in outputs for line in (kernel.place(i), kernel.declare(i))],
        *compute,
        *[line for i in outputs for line in kernel.move(i, whole=True)],
        "}",
        "} else {",
        "#pragma unroll 1",
        each,
        f"if (i < {count}) {{",
        *where,
        left,
        *[line for i in inputs for line in (kernel.place(i), kernel.declare(i), *kernel.move(i, whole=False))],
        *[line for i in outputs for line in (kernel.place(i), kernel.declare(i))],
        *checked,
        *[line for i in outputs for line in kernel.move(i, whole=False)],
        "}}}",
    ]
    source = frame.kernel(body, threads, definitions)
    blocks = -(-runs // (unroll * threads))
    return Lowered((Launch(source, (blocks, 1, 1), threads),), tuple(words.values), 0, f"pointwise v{width}")
