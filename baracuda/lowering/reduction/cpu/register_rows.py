"""Short rows: several at a time, each wholly in registers from the first load to the last store."""

from __future__ import annotations

from collections.abc import Mapping

from baracuda.codegen.llvm.evaluate import Evaluator, Group
from baracuda.codegen.llvm.ir import Value, constant, i64
from baracuda.codegen.llvm.lanes import first_lanes, load_lanes, store_lanes
from baracuda.codegen.llvm.memory import load, store, store_all, store_bytes
from baracuda.codegen.llvm.primitives import compute_type
from baracuda.codegen.llvm.tree import fold_rows, identity, join
from baracuda.formula.expr import Expr
from baracuda.formula.order import LANES
from baracuda.lowering.nest.cpu.analysis import RowAnalysis
from baracuda.lowering.nest.cpu.kernel import Kernel, element_ns
from baracuda.lowering.nest.cpu.streaming import leaves_cache
from baracuda.lowering.nest.cpu.strided_iterator import StridedIterator
from baracuda.lowering.nest.problem import Nest
from baracuda.runtime.program import Launch

#: Vectors that are worked on side by side.
_TOGETHER = 16


def is_short(nest: Nest, analysis: RowAnalysis, lanes: int) -> bool:
    """Whether rows are contiguous and about as many vectors long as there are registers."""
    if any(n.op == "gather" for n in nest.graph.nodes):
        return False
    if len(nest.inner) > 1 and any(n.op == "coord" and analysis.varying[n] for n in nest.graph.nodes):
        return False  # a coordinate along one of several axes is not the number of the element
    return bool(nest.outer) and 1 < nest.row_length <= _TOGETHER * lanes and "strided" not in analysis.access.values()


class _Rows(Evaluator):
    """Elements of a block of rows, the vectors of one row after those of another; `outer` has a lane for each row."""

    def spread(self, above: Group) -> Group:
        (value,) = above
        if value.lanes == 1:
            return [self.b.splat(value, self.lanes)] * self.count
        each = self.count // value.lanes
        return [self.b.shuffle(value, None, [r] * self.lanes) for r in range(value.lanes) for _ in range(each)]


class BlockPasses:
    """Emits all passes over `rows` rows that follow one another along the last outer axis."""

    def __init__(self, kernel: Kernel, analysis: RowAnalysis, rows: int) -> None:
        self.kernel = kernel
        self.b = kernel.b
        self.analysis = analysis
        self.rows = rows
        self.lanes = kernel.lanes
        nest = kernel.nest
        self.each = -(-nest.row_length // self.lanes)
        self.exact = nest.row_length % self.lanes == 0
        self.axis = len(nest.outer) - 1
        self.step = {i: o.steps(self.axis) for i, o in enumerate(nest.operands)}
        self.across = {i: kernel.byte_strides(i, [self.axis])[0] for i in range(len(nest.operands))}
        self.left = kernel.integer(nest.row_length - (self.each - 1) * self.lanes)
        sizes = [nest.operands[i].kind.itemsize for i, _ in analysis.element_outputs]
        self.streamable = self.exact and bool(sizes) and all(self.lanes * s >= 16 for s in sizes)
        self.wanted = kernel.integer(int(leaves_cache(nest)))

    def emit(self, pointers: Mapping[int, Value], indices: list[Value]) -> None:
        """Everything about the rows from this address on."""
        b = self.b
        self.pointers, self.indices = pointers, indices
        mask = None if self.exact else first_lanes(b, self.lanes, self.left)
        all_lanes = Value(f"<{self.lanes} x i1>", "splat (i1 true)")
        self.masks = ([None] * (self.each - 1) + [mask]) * self.rows
        active = None if mask is None else [m or all_lanes for m in self.masks]
        outer = Evaluator(b, self.rows, 1, self._row_leaf)
        inner = _Rows(b, self.lanes, self.each * self.rows, self._leaf, outer, active)
        analysis = self.analysis
        for p in range(analysis.passes):
            self._prepare(outer, analysis.roots(p))
            for n in analysis.reductions[p]:
                neutral = identity(n, self.lanes)
                values = [
                    v if m is None else b.select(m, v, neutral) for v, m in zip(inner.value(n.args[0]), self.masks, strict=True)
                ]
                outer.memo[n] = [fold_rows(b, n, self._chained(n, values), self.rows)]
        self._prepare(outer, analysis.roots(analysis.passes))
        self._write(inner)
        for index, expr in analysis.row_outputs:
            kind = self.kernel.nest.operands[index].kind
            stride = None if self.step[index] == 1 or self.rows == 1 else self.across[index]
            store_lanes(b, kind, outer.value(expr)[0], self.pointers[index], stride, None)

    def _chained(self, n: Expr, values: list[Value]) -> list[Value]:
        """The values of each row with those that belong to the same lanes of the segment combined, in rising order."""
        vectors = LANES // self.lanes
        if self.each <= vectors:
            return values
        (totals, *rest) = [values[start : start + vectors] for start in range(0, self.each, vectors)]
        for part in rest:
            totals = [join(self.b, n, t, v) for t, v in zip(totals, part, strict=False)] + totals[len(part) :]
        return totals

    def _prepare(self, outer: Evaluator, roots: list[Expr]) -> None:
        for n in self.analysis.uniform(roots, set()):
            outer.value(n)

    def _row_leaf(self, n: Expr) -> Group:
        b = self.b
        if n.op == "param":
            return [b.splat(self.kernel.param(n), self.rows)]
        if n.op == "coord":
            start = b.splat(b.convert("trunc", self.indices[n.attr], "i32"), self.rows)
            return [b.op("add", start, b.iota(self.rows)) if n.attr == self.axis and self.rows > 1 else start]
        index = self.kernel.input_index[n.attr[0]]
        kind, pointer = n.attr[1], self.pointers[index]
        if self.rows == 1 or self.step[index] == 0:
            return [b.splat(load(b, kind, pointer, 1), self.rows)]
        return [load_lanes(b, kind, pointer, self.rows, None if self.step[index] == 1 else self.across[index], None)]

    def _leaf(self, n: Expr) -> Group:
        b, lanes = self.b, self.lanes
        if n.op in ("coord", "position"):
            type_ = compute_type(n.kind)
            start = [constant(type_, k * lanes, lanes) for k in range(self.each)]
            return [b.op("add", s, b.iota(lanes, type_)) for s in start] * self.rows
        index = self.kernel.input_index[n.attr[0]]
        same = self.step[index] == 0
        vectors = []
        for r in range(1 if same else self.rows):
            for k in range(self.each):
                at = self._at(index, r, k)
                vectors.append(load(b, n.attr[1], at, lanes, self.masks[k]))
        return vectors * self.rows if same else vectors

    def _at(self, index: int, r: int, k: int) -> Value:
        row = self.pointers[index] if r == 0 else self.b.at(self.pointers[index], self.b.mul(self.across[index], r))
        return self.b.at(row, k * self.lanes * self.kernel.nest.operands[index].kind.itemsize)

    def _write(self, inner: Evaluator) -> None:
        b = self.b
        outputs = [(i, inner.value(e)) for i, e in self.analysis.element_outputs]

        def stores(*, streaming: bool) -> None:
            for index, group in outputs:
                kind = self.kernel.nest.operands[index].kind
                for r in range(self.rows):
                    row = group[r * self.each : (r + 1) * self.each]
                    if self.exact:
                        store_all(b, kind, row, self._at(index, r, 0), streaming=streaming)
                    else:
                        store_all(b, kind, row[:-1], self._at(index, r, 0))
                        store(b, kind, row[-1], self._at(index, r, self.each - 1), self.masks[self.each - 1])

        if not self.streamable:
            stores(streaming=False)
            return
        go = b.compare("icmp ne", self.wanted, 0)
        for index, _ in outputs:
            low = store_bytes(self.kernel.nest.operands[index].kind, self.lanes, self.each) - 1
            address = b.or_(b.emit("i64", f"ptrtoint ptr {self.pointers[index].name} to i64"), self.across[index])
            go = b.op("and", go, b.equal(b.and_(address, low), 0))
        with b.if_(go):
            stores(streaming=True)
        with b.else_(go):
            stores(streaming=False)


def short_rows(kernel: Kernel, analysis: RowAnalysis) -> tuple[Launch, str]:
    """Each unit of work is a few blocks of rows along the last outer axis."""
    nest, b, lanes = kernel.nest, kernel.b, kernel.lanes
    each = -(-nest.row_length // lanes)
    rows = 1
    while 2 * rows * each <= _TOGETHER and 2 * rows <= lanes:
        rows *= 2
    axes = range(len(nest.outer))
    strides = {i: kernel.byte_strides(i, axes) for i in range(len(nest.operands))}
    many, one = BlockPasses(kernel, analysis, rows), BlockPasses(kernel, analysis, 1)
    with b.at_entry():
        wide = {i: b.mul(s[-1], rows) for i, s in strides.items()}
    blocks = -(-nest.outer[-1] // rows)
    iterator = StridedIterator(
        b,
        kernel.integers([*nest.outer[:-1], blocks]),
        {i: [*s[:-1], wide[i]] for i, s in strides.items()},
        {i: kernel.operand(i) for i in strides},
    )
    extent = kernel.integer(nest.outer[-1])
    iterator.start(kernel.begin)
    with b.loop(kernel.begin, kernel.end):
        pointers, indices = iterator.pointers(), iterator.indices()
        first = b.mul(indices[-1], rows)
        remaining = b.sub(extent, first)
        whole = b.compare("icmp sge", remaining, rows)
        with b.if_(whole):
            many.emit(pointers, [*indices[:-1], first])
        if rows > 1:
            with b.else_(whole), b.loop(i64(0), remaining) as row:
                row_pointers = {i: b.at(p, b.mul(row, strides[i][-1])) for i, p in pointers.items()}
                one.emit(row_pointers, [*indices[:-1], b.add(first, row)])
        iterator.advance()
    if many.streamable:
        with b.if_(b.compare("icmp ne", many.wanted, 0)):
            b.line("fence seq_cst")
    units = nest.rows // nest.outer[-1] * blocks
    return kernel.step(units, element_ns(nest, nest.graph.nodes) * nest.row_length * rows + 5), "short rows"
