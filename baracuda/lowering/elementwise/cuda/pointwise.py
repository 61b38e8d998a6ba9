"""Pointwise schedules: each thread computes runs of V neighbouring elements of the innermost axis.

Bytes: each operand once. A run is loaded in pieces of at most 16 bytes; several runs a thread keep enough loads in flight.
A block whose runs are all whole takes code without tests; only the last one, or rows that are no multiple of V, take the
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from baracuda.codegen.cuda.emit import Emitter, rare_values, table_definitions, whole_products
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import READS, Expr
from baracuda.formula.gathers import gathers
from baracuda.formula.graph import Graph
from baracuda.lowering.nest.blocks import shared_by_blocks
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame, fitting_width, offset, piece, unravel
from baracuda.lowering.nest.indexed_reads import moving_axes
from baracuda.runtime.program import KernelSource, Launch, Lowered


def with_one_element(frame: Frame) -> None:
    """Give the nest of a single element an axis, so that every pointwise nest has one."""
    if not frame.nest.outer:
        frame.nest = replace(frame.nest, outer=(1,), operands=tuple(replace(o, strides=(0,)) for o in frame.nest.operands))
        frame.operands = frame.nest.operands


#: Bytes that a thread writes in a kernel that reads nothing.
_WRITTEN = 64
#: From how many nodes of the common path on the code stands once in a kernel: a thread computes one element at a time, in a loop
#: of so many, under every tuning. Several copies leave the instruction cache and take as many times as long to compile (H200,
#: 2026-11-22, 4096 x 2048 f32: betainc of 1,369 nodes 1,220 us and 0.4 s to compile, with nine copies 1,961 us and 4.0 s; the
#: gradient of beta, 1,142 nodes, 818 and 498 us).
_LONG, _LONG_TURNS, _LONG_THREADS = 1200, 4, 128


def _common(graph: Graph) -> int:
    """How many nodes every element needs: without those that only rare ones do, whose code stands apart."""
    reached: set[Expr] = set()
    ahead = [e for _, e in graph.outputs]
    while ahead:
        n = ahead.pop()
        if n not in reached:
            reached.add(n)
            ahead += (n.args[0], n.args[2]) if n.op == "rare" else n.args
    return len(reached)


class PointwiseKernel:
    """Writes the parts of a pointwise kernel. Names in the generated code: c0, c1, ... the coordinates (that of the last
    axis counts runs), `at` the run's first element on the last axis, `left` how many elements exist from there on."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.last = len(frame.nest.outer) - 1
        moving, number = moving_axes(frame.nest), frame.input_index
        offsets = {number[n.attr.name]: n.args[0] for n in gathers(frame.nest.graph)}
        #: The operands read at indices: those with an address for each element, and the offset of those with one a run.
        self.scattered = [i for i, offset in offsets.items() if self.last in moving[offset]]
        self.followed = {i: offset for i, offset in offsets.items() if i not in self.scattered}
        sizes = [o.kind.itemsize for o in frame.operands if o.steps(self.last) != 0]
        #: By the imaginary part of a complex operand whose parts are neighbours in memory: the real part. They move together.
        self.real = {j: i for j in range(len(frame.ports)) if (i := self._real_part(j)) is not None}
        widest = max(sizes, default=4)
        self.width = min(8, max(2, 16 // widest))
        if self.last > 0:
            self.width = fitting_width(self.width, frame.nest.outer[self.last], widest)
        if self.real:  # both parts of a run in one access: neighbouring threads then fill whole sectors
            self.width = max(1, 8 // max(sizes))
        #: Elements of a run would wait for one another's turns, and code of a loop is long.
        self.has_loops = any(n.op == "loop" for n in frame.nest.graph.nodes)
        self.is_long = self.has_loops or _common(frame.nest.graph) > _LONG
        if self.is_long:
            self.width = 1
        #: The constant tables that the kernel reads.
        self.tables: dict[Expr, str] = {}
        #: What the names of the functions that it calls begin with.
        self.prefix = ""

    def _real_part(self, j: int) -> int | None:
        ports, operands = self.frame.ports, self.frame.operands
        name, dot, part = ports[j].name.rpartition(".")
        side = range(self.frame.inputs) if j < self.frame.inputs else range(self.frame.inputs, len(ports))
        i = next((i for i in side if i < j and ports[i].name == f"{name}.re"), None) if dot and part == "im" else None
        if i is None or operands[i].strides != operands[j].strides or operands[i].gathered or operands[j].gathered:
            return None
        return i if operands[j].steps(self.last) == 2 else None

    def leaf(self, n: Expr, transposed: Mapping[int, str]) -> str | None:
        """The C++ expression of a node that is known for element v of a run; None for one to be computed."""
        if n.op == "param":
            return self.frame.words.param(n)
        if n.op == "coord":
            return "(int)(at + v)" if n.attr == self.last else f"(int)c{n.attr}"
        if n.op in READS:
            i = self.frame.input_index[n.attr[0]]
            if i in self.scattered:
                return None
            if i in transposed:
                return f"widen({transposed[i]})"
            return f"widen(in{i}.v[{'0' if self.frame.operands[i].steps(self.last) == 0 else 'v'}])"
        return None

    def compute(self, transposed: Mapping[int, str], bound: str, *, aligned: bool = False) -> tuple[list[str], str]:
        """The statements that make out{i} of in{i}, and the functions they call. `transposed` gives the C++ expression of
        element v of an input that is not in registers; `bound` is the condition under which element v exists. A run that is
        `aligned` begins at a multiple of its width."""
        frame, graph = self.frame, self.frame.nest.graph
        block, shared = shared_by_blocks(graph, self.last, self.width, self._steps) if aligned else (self.width, [])
        first = Emitter(lambda n: "(int)(at + b)" if n.op == "coord" and n.attr == self.last else self.leaf(n, transposed))
        first.tables, first.products = self.tables, whole_products(graph.nodes)
        first.names = {n: first.value(n) for n in shared}  # not what they are made of, which an element has its own of

        def element(rare: Mapping[Expr, str]) -> Emitter:
            emitter = Emitter(
                lambda n: rare.get(n) or self.leaf(n, transposed),
                first if shared else None,
                lambda n, at: f"widen(p{(i := frame.input_index[n.attr.name])}[o{i} + {at}])",
            )
            emitter.tables, emitter.products = first.tables, first.products
            return emitter

        outputs = graph.outputs
        each = f"for (int v = {'b' if shared else 0}; v < {f'b + {block}' if shared else self.width}; ++v)"
        roots = [] if self.has_loops else [e for _, e in outputs]  # a loop before a rare node would be gone through again
        rare = rare_values(roots, element, self.width, self.prefix, (), bound, each)
        emitter = element(rare.names)
        narrowed = []
        for k, (_, expr) in enumerate(outputs):
            i = frame.inputs + k
            value = emitter.value(expr)
            narrowed.append(f"out{i}.v[v] = Narrow<{frame.storage(i)}, {COMPUTE_TYPE[expr.kind]}>::to({value});")
        lines = [*rare.lines, "#pragma unroll", f"{each} {bound}{{", *emitter.lines, *narrowed, "}"]
        if shared:
            lines = ["#pragma unroll", f"for (int b = 0; b < {self.width}; b += {block}) {{", *first.lines, *lines, "}"]
        return lines, rare.functions

    def _steps(self, n: Expr) -> bool:
        """Whether an input has an element of its own for each element of a run."""
        return self.frame.operands[self.frame.input_index[n.attr[0]]].steps(self.last) != 0

    def definitions(self, functions: str) -> str:
        """What stands before a kernel with functions that `compute` gave."""
        return table_definitions(self.tables) + functions

    def place(self, i: int) -> str:
        """Declares o{i}: the operand's offset of the run."""
        strides = self.frame.strides(i, range(self.last))
        own = self.frame.operands[i]
        along = "" if own.steps(self.last) == 0 else f" + at * {self.frame.words.signed(own.strides[self.last])}"
        if i not in self.followed:
            return f"const i64 o{i} = {offset(strides, 'c')}{along};"
        lines, picked = self._offset(self.followed[i])
        return f"i64 o{i} = {offset(strides, 'c')}{along}; {{ {' '.join(lines)} o{i} += {picked}; }}"

    def _offset(self, expr: Expr) -> tuple[list[str], str]:
        """The statements that compute what is the same for a run of elements from memory, and its name."""
        frame = self.frame

        def address(n: Expr) -> str:
            i = frame.input_index[n.attr[0]]
            return f"p{i}[{offset(frame.strides(i, range(self.last)), 'c')}"

        def leaf(n: Expr) -> str | None:
            if n.op == "param":
                return frame.words.param(n)
            if n.op == "coord":
                return f"(int)c{n.attr}"
            return f"widen({address(n)}])" if n.op == "input" else None

        emitter = Emitter(leaf, read=lambda n, at: f"widen({address(n)} + {at}])")
        emitter.tables = self.tables
        picked = emitter.value(expr)
        return emitter.lines, picked

    def move(self, i: int, *, whole: bool) -> list[str]:
        """Loads in{i} or stores out{i}; `whole` says that the run is known to be so."""
        if i in self.real.values():
            return []  # it moves with the imaginary part
        if i in self.real:
            return self._move_both(self.real[i], i, whole=whole)
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

    def _move_both(self, real: int, imaginary: int, *, whole: bool) -> list[str]:
        """Loads or stores both parts of a complex operand, which take turns in memory."""
        frame, width, loading = self.frame, self.width, imaginary < self.frame.inputs
        operand = frame.operands[real]
        side, base = "in" if loading else "out", f"(p{real} + o{real})"
        together = replace(operand, strides=(*operand.strides[: self.last], 1))
        p = piece(together, 2 * width, self.last, frame.nest.outer)
        pieces = (f"{side}{real}.v[v]", f"{side}{imaginary}.v[v]")
        held = (f"both{imaginary}.v[2 * v]", f"both{imaginary}.v[2 * v + 1]")
        interleaved = (f"{base}[2 * v]", f"{base}[2 * v + 1]")

        def each(bound: str, left: tuple[str, str], right: tuple[str, str]) -> list[str]:
            moves = " ".join(f"{a} = {b};" for a, b in zip(left, right, strict=True))
            return ["#pragma unroll", f"for (int v = 0; v < {width}; ++v) {bound}{{ {moves} }}"]

        both = f"Vec<{frame.storage(real)}, {2 * width}> both{imaginary};"
        if loading:
            by_piece = [both, f"load<{p}>(both{imaginary}, {base});", *each("", pieces, held)]
        else:
            by_piece = [both, *each("", held, pieces), f"store<{p}>({base}, both{imaginary});"]
        if whole:
            return ["{", *by_piece, "}"]
        by_element = each("if (v < left) ", *((pieces, interleaved) if loading else (interleaved, pieces)))
        return [f"if (left >= {width}) {{", *by_piece, "} else {", *by_element, "}"]

    def declare(self, i: int) -> str:
        return f"Vec<{self.frame.storage(i)}, {self.width}> {'in' if i < self.frame.inputs else 'out'}{i};"


@dataclass(frozen=True)
class Body:
    """The statements of a kernel over runs, given `block`, the number of the block's share; how many shares there are; the
    definitions that stand before the kernel; and how many elements a share has."""

    lines: list[str]
    blocks: int
    definitions: str
    share: int


def runs_body(kernel: PointwiseKernel, threads: int, plain: PointwiseKernel | None = None, length: str = "") -> Body:
    """The code that loads, computes and stores the runs of one block.

    `length`, if given, is the C++ expression of the extent of the only axis. `plain`, if there, computes the runs that are not
    whole, and those for which the kernel's statements set a variable `odd`. It is a function of its own: its values would take
    registers from the others.
    """
    frame, words, extents = kernel.frame, kernel.frame.words, kernel.frame.nest.outer
    width, last = kernel.width, kernel.last
    shape = (*extents[:last], -(-extents[last] // width))
    runs = prod(shape)
    inputs = [i for i in range(frame.inputs) if i not in kernel.scattered]
    outputs = range(frame.inputs, len(frame.ports))
    moved_bytes = sum(o.kind.itemsize * width for o in frame.operands[: frame.inputs] if o.steps(last) != 0)
    # What reads nothing has no loads to wait for: 256 MiB of a constant take an H200 63 us by eight runs of 16 bytes, 61 by two.
    written_bytes = sum(o.kind.itemsize * width for o in frame.operands[frame.inputs :])
    unroll = (
        _LONG_TURNS
        if kernel.is_long
        else max(2, min(8, frame.tuning.run_bytes // moved_bytes if moved_bytes else _WRITTEN // written_bytes))
    )
    wide = runs + unroll * threads >= INDEX_LIMIT
    index = "i64" if wide else "unsigned"
    count = f"(({length} + {width - 1}) / {width})" if length else words.signed(runs) if wide else words.unsigned(runs)
    where = [*unravel("i", shape, words, "c", wide=wide), f"const i64 at = (i64)c{last} * {width};"]
    declaration = f"const i64 left = {length or words.signed(extents[last])} - at;"
    compute, functions = kernel.compute({}, "", aligned=True)
    checked, checked_functions = (plain or kernel).compute({}, "if (v < left) ", aligned=True)
    # Runs of which only the very last may be partial: blocks before it need no test at all.
    uniform = last == 0 or extents[last] % width == 0
    whole_runs = prod(extents) // width if uniform else 0
    full = f"({length} / {width})" if length else words.signed(whole_runs) if wide else words.unsigned(whole_runs)
    each = f"for (int u = 0; u < {unroll}; ++u) {{ const {index} i = first + u * {threads};"
    first = f"const {index} first = ({index})block * {unroll * threads} + threadIdx.x;"
    stores = [line for i in outputs for line in kernel.move(i, whole=True)]
    lines = [
        f"if (({index})(block + 1) * {unroll * threads} <= {full}) {{",
        *(["todo = 0;"] if plain else []),
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
        *[kernel.place(i) for i in kernel.scattered],
        *[line for i in outputs for line in (kernel.place(i), kernel.declare(i))],
        *compute,
        *(["if (odd) todo |= 1u << u;", "else {", *stores, "}"] if plain else stores),
        "}}",
    ]

    def empty(i: int) -> str:
        """Declares a run of which parts may never get a value: compilers hold registers for such parts all through a loop."""
        return kernel.declare(i).replace(";", " = {};")

    rest = [
        "#pragma unroll 1",
        each,
        f"if ({'(todo >> u & 1) && ' if plain else ''}i < {count}) {{",
        *where,
        declaration,
        *[line for i in inputs for line in (kernel.place(i), empty(i), *kernel.move(i, whole=False))],
        *[kernel.place(i) for i in kernel.scattered],
        *[line for i in outputs for line in (kernel.place(i), empty(i))],
        *checked,
        *[line for i in outputs for line in kernel.move(i, whole=False)],
        "}}",
    ]
    if kernel.is_long and plain is None:
        lines = [first, *rest]
    elif plain is None:
        lines = [first, *lines, "else {", *rest, "}"]
    else:
        body = "\n".join(f"  {line}" for line in (*frame.pointers(), first, *rest))
        head = "__device__ __noinline__ void compute_runs(const Words& W, unsigned block, unsigned todo)"
        functions += f"{checked_functions}{head} {{\n{body}\n}}\n"
        lines = [first, "unsigned todo = ~0u;", *lines, "if (todo) compute_runs(W, block, todo);"]
    return Body(lines, -(-runs // (unroll * threads)), kernel.definitions(functions), unroll * threads * width)


def lower_runs(frame: Frame) -> Lowered:
    """Lower a nest without reductions, along its last axis."""
    with_one_element(frame)
    kernel = PointwiseKernel(frame)
    threads = _LONG_THREADS if kernel.is_long else frame.tuning.run_threads
    body = runs_body(kernel, threads)
    source = frame.kernel([*frame.pointers(), "const unsigned block = blockIdx.x;", *body.lines], threads, body.definitions)
    launch = Launch(KernelSource(source), (body.blocks, 1, 1), threads)
    return Lowered((launch,), tuple(frame.words.values), 0, f"pointwise v{kernel.width}")
