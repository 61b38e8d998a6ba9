"""Pointwise nests that read at indices which are the same along an outer axis, the planes of a batch of images, say.

A thread has one element of a plane and goes through several planes: what indices and weights are made of it computes once. The
elements of neighbouring threads are neighbours along the last axis. A few planes are loaded before the first of them is stored.
"""

from __future__ import annotations

from math import prod

from baracuda.codegen.cuda.emit import Emitter, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import Expr, topological
from baracuda.formula.gathers import gathers
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Frame, offset, unravel
from baracuda.lowering.nest.indexed_reads import moving_axes
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Threads of a block, planes that a thread has at most, and blocks that are enough for any device.
_THREADS, _PLANES, _BLOCKS = 128, 32, 4096
#: Blocks that a grid has along its second axis.
_GRID = 65535
#: Planes that are loaded before one is stored, by how many reads an element takes.
_AT_ONCE = ((6, 4), (20, 2))


def lower_planes(frame: Frame, axis: int) -> Lowered:
    """Lower a nest along such an axis."""
    kernel = _Planes(frame, axis)
    lines = [*frame.pointers(), *kernel.lines()]
    source = frame.kernel(lines, _THREADS, table_definitions(kernel.tables))
    launch = Launch(KernelSource(source), (kernel.blocks, kernel.chunks, 1), _THREADS)
    return Lowered((launch,), tuple(frame.words.values), 0, f"planes x{kernel.together}")


class _Planes:
    def __init__(self, frame: Frame, axis: int) -> None:
        self.frame, self.axis = frame, axis
        nest, self.tables = frame.nest, dict[Expr, str]()
        extents = nest.outer
        self.others = [a for a in range(len(extents)) if a != axis]
        self.count, self.planes = prod(extents[a] for a in self.others), extents[axis]
        self.blocks = -(-self.count // _THREADS)
        moving = moving_axes(nest)
        reads = sum(1 for _ in gathers(nest.graph))
        self.together = next((u for most, u in _AT_ONCE if reads <= most), 1)
        each = max(self.together, min(_PLANES, self.planes * self.blocks // _BLOCKS), -(-self.planes // _GRID))
        self.each = -(-each // self.together) * self.together
        self.chunks = -(-self.planes // self.each)
        self.wide = self.count + _THREADS >= INDEX_LIMIT
        operands = range(len(frame.ports))
        #: The operands that have an element for each plane.
        self.stepping = {i for i in operands if frame.operands[i].steps(axis) != 0}
        self.moves = {n: axis in axes for n, axes in moving.items()}
        self.offsets = {frame.input_index[n.attr.name]: n.args[0] for n in gathers(nest.graph)}

    def _leaf(self, n: Expr) -> str | None:
        """What is known of an element, whatever the plane."""
        frame = self.frame
        if n.op == "param":
            return frame.words.param(n)
        if n.op == "coord":
            return f"(int)c{n.attr}"
        if n.op == "input":
            i = frame.input_index[n.attr[0]]
            return f"widen(p{i}[o{i}])"
        return None

    def _read(self, n: Expr, at: str) -> str:
        i = self.frame.input_index[n.attr.name]
        return f"widen(p{i}[o{i} + {at}])"

    def lines(self) -> list[str]:
        """The statements of a thread."""
        frame, words, extents = self.frame, self.frame.words, self.frame.nest.outer
        kind = "i64" if self.wide else "unsigned"
        count = words.signed(self.count) if self.wide else words.unsigned(self.count)
        lines = [f"const {kind} i = ({kind})blockIdx.x * {_THREADS} + threadIdx.x;", f"if (i >= {count}) return;"]
        lines += unravel("i", [extents[a] for a in self.others], words, "r", wide=self.wide)
        lines += [f"const {kind} c{a} = r{k};" for k, a in enumerate(self.others)]
        lines += [
            f"const i64 start = (i64)blockIdx.y * {words.signed(self.each)}, all = {words.signed(self.planes)};",
            f"const int planes = (int)(all - start < {words.signed(self.each)} ? all - start : {words.signed(self.each)});",
        ]
        for i in range(len(frame.ports)):
            strides = frame.strides(i, range(len(extents)))
            strides[self.axis] = None
            lines.append(f"const i64 o{i} = {offset(strides, 'c')};")
        once = Emitter(self._leaf, read=self._read)
        once.tables = self.tables
        outputs = frame.nest.graph.outputs
        for n in self._fixed([e for _, e in outputs]):
            once.value(n)
        lines += once.lines
        for i in sorted(self.stepping):
            stride = words.signed(frame.operands[i].strides[self.axis])
            picked = f" + {once.value(self.offsets[i])}" if i in self.offsets else ""
            lines.append(f"const i64 s{i} = {stride}; auto q{i} = p{i} + o{i}{picked} + start * s{i};")
        lines.append("int k = 0;")
        if self.together > 1:
            lines += self._turn(once, self.together)
        return lines + self._turn(once, 1)

    def _fixed(self, roots: list[Expr]) -> list[Expr]:
        """The largest parts that are the same for all planes, and the offsets."""
        found: dict[Expr, None] = {}
        for n in topological(roots):
            if self.moves[n]:
                found |= {a: None for a in n.args if not self.moves[a] and a.op != "const"}
        found |= {r: None for r in roots if not self.moves[r]}
        return list(found)

    def _turn(self, once: Emitter, turns: int) -> list[str]:
        """A loop over so many planes at a time."""
        frame = self.frame
        first = frame.inputs

        def leaf(n: Expr) -> str | None:
            if n.op == "coord" and n.attr == self.axis:
                return "(int)(start + k + u)"
            if n.op in ("input", "gather") and frame.input_index[n.attr[0]] in self.stepping:
                i = frame.input_index[n.attr[0]]
                return f"widen(q{i}[u * s{i}])"
            return self._leaf(n)

        emitter = once.child(leaf)
        stored = []
        for j, (_, e) in enumerate(frame.nest.graph.outputs):
            i = first + j
            stored.append(f"out{i}[u] = Narrow<{frame.storage(i)}, {COMPUTE_TYPE[e.kind]}>::to({emitter.value(e)});")
        outputs = range(first, len(frame.ports))
        each = ["#pragma unroll", f"for (int u = 0; u < {turns}; ++u) {{"]
        return [
            f"for (; k + {turns} <= planes; k += {turns}) {{",
            *[f"{frame.storage(i)} out{i}[{turns}];" for i in outputs],
            *each,
            *emitter.lines,
            *stored,
            "}",
            *each,
            *[f"q{i}[u * s{i}] = out{i}[u];" for i in outputs],
            "}",
            *[f"q{i} += {turns} * s{i};" for i in sorted(self.stepping)],
            "}",
        ]
