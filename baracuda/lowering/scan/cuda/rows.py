"""Scan schedules: each thread scans a chunk of 8 elements in registers.

Along rows, a warp is a block of 256 elements and its threads' totals meet in shuffles; up to 16 warps are a tile and meet in
shared memory, where the row's first warp combines them; thread blocks walk over the tiles of a row, loading the next one while
they scan one, or take several short rows. Results of more than 16 bytes a chunk are exchanged within a warp before they are
stored: a store of 16 bytes from each chunk would write half of every 32-byte sector, and memory would be written twice.

Where rows are too few to keep the device busy, their tiles go to different thread blocks, and each hands the next what lies
before it (`scan_chain`). Rows side by side are in `scan_columns`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.codegen.cuda.emit import Emitter, rare_values, table_definitions
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import Expr, topological
from baracuda.formula.order import SCAN_BLOCK, SCAN_CHUNK, SCAN_TILE
from baracuda.lowering.nest.cuda.kernel import Frame, offset, piece
from baracuda.lowering.reduction.cuda.rows import RowKernel, RowShape, along_row
from baracuda.lowering.scan.cuda.state import SCAN_PRELUDE, StateCode
from baracuda.lowering.scan.problem import ScanGroup

#: Threads to a warp, blocks to a tile.
WARP, BLOCKS = 32, SCAN_TILE // SCAN_BLOCK
#: Bytes of chunks and states that a thread holds where it has the next tile's as well.
_HELD_BYTES = 128


class ScanKernel(RowKernel):
    """Writes the parts of a kernel that scans. Names in the generated code: `row`, `live` and `e` as in a `RowKernel`;
    `here` whether some of this thread's chunk exists, `full` whether all of it does; x{s}[k] the state of scan s at element
    k of the chunk, in the order of memory."""

    def __init__(self, frame: Frame, groups: Sequence[ScanGroup], threads: int, rows: int) -> None:
        super().__init__(frame, RowShape(SCAN_CHUNK, threads, 1, 1, rows), resident=True)
        self.groups = groups
        self.reverse = groups[0].reverse
        self.states = [StateCode(g, s, self.emitter.tables) for s, g in enumerate(groups)]
        self.nodes = {n for g in groups for n in g.nodes}
        self.operands = list(dict.fromkeys(x for g in groups for x in g.operands))
        self.outputs = [(frame.inputs + k, e) for k, (_, e) in enumerate(self.nest.graph.outputs)]
        self.names: dict[Expr, str] = {}
        for s, g in enumerate(groups):
            for n in g.nodes:
                self.names[n] = f"{'z' if n.attr.exclusive else 'x'}{s}[v].c{n.attr.component}"

    def scan_definitions(self) -> str:
        structures = "".join(state.definition() for state in self.states)
        return table_definitions(self.emitter.tables) + SCAN_PRELUDE + structures + self.functions

    # --- elements -----------------------------------------------------------------------------------------------------

    def _reached(self, roots: Sequence[Expr], *, through: bool) -> list[Expr]:
        """The nodes that the roots need; behind scans only where `through` is set."""
        if through:
            return topological(roots)
        reached: dict[Expr, None] = {}
        stack = list(roots)
        while stack:
            n = stack.pop()
            if n not in reached:
                reached[n] = None
                if n not in self.nodes:
                    stack += n.args
        return list(reached)

    def uniform(self, *, apply: bool) -> list[str]:
        """Computes, once a row, what elements need of it."""
        start = len(self.emitter.lines)
        roots = [*self.operands, *((e for _, e in self.outputs) if apply else ())]
        for n in self._reached(roots, through=True):
            if self.phases.varies(n):
                for a in n.args:
                    if not self.phases.varies(a) and a.op != "const":
                        self.emitter.value(a)
        for r in roots:
            if not self.phases.varies(r) and r.op != "const":
                self.emitter.value(r)
        return self.emitter.lines[start:]

    def _element_emitter(self, rare: Mapping[Expr, str], scanned: Mapping[Expr, str]) -> Emitter:
        def leaf(n: Expr) -> str | None:
            if n in rare:
                return rare[n]
            if n in scanned:
                return scanned[n]
            if n.op in ("position", "coord"):
                return along_row(n, self.nest, runs_whole=self.runs_whole)
            if n.op == "input":
                return f"widen(in{self.frame.input_index[n.attr[0]]}.v[v])"
            return None

        return self.emitter.child(leaf)

    def _each(self, roots: Sequence[Expr], scanned: Mapping[Expr, str], prefix: str, assign: Sequence[str]) -> list[str]:
        """A loop over the elements of the chunk; `assign` are statements with a place for each root's value."""
        reached = self._reached(roots, through=not scanned)
        decoded = len(self.nest.inner) > 1 and any(n.op == "coord" and self.phases.varies(n) for n in reached)
        outside = self._decode("e") if decoded and self.runs_whole else []
        enter = self._decode("(e + v)") if decoded and not self.runs_whole else []
        rare = rare_values(roots, lambda names: self._element_emitter(names, scanned), SCAN_CHUNK, prefix, enter, "")
        self.functions += rare.functions
        emitter = self._element_emitter(rare.names, scanned)
        lines = [template.format(*(emitter.value(r) for r in roots)) for template in assign]
        loop = ["#pragma unroll", f"for (int v = 0; v < {SCAN_CHUNK}; ++v) {{", *enter, *emitter.lines, *lines, "}"]
        return ["{", *outside, *rare.lines, *loop, "}"]

    def _decode(self, at: str) -> list[str]:
        """Inner coordinates of an element, which count for nothing where there is none."""
        return self.decode_run(f"({at} < 0 ? 0 : {at})" if self.reverse else at)

    # --- memory -------------------------------------------------------------------------------------------------------

    def chunk(self, position: str) -> list[str]:
        """Declares e, here and full for the chunk that begins at a position in the scan."""
        e = f"{self.length} - {SCAN_CHUNK} - p" if self.reverse else "p"
        return [
            f"const {self.index} p = {position}, e = {e};",
            f"const bool here = live && p < {self.length}, full = live && p + {SCAN_CHUNK} <= {self.length};",
        ]

    def move(self, i: int, together: int = 1) -> list[str]:
        """Loads raw{i} or stores out{i}. Where so many neighbouring threads are `together` on a row and each would take several
        stores, they store neighbouring pieces at a time."""
        loading, unit = i < self.frame.inputs, self._unit(i)
        base, strides = f"p{i} + o{i}", self.inner_strides[i]
        single = len(self.nest.inner) == 1
        # Where elements are apart, a pointer that moves on takes two additions for each; an offset takes a product of 64 bits.
        walks, step = single and not unit, strides[0] or "0"
        place = "*at" if walks else f"({base} + e)[v]" if single else f"({base})[{offset(strides, 'y')}]"
        one = f"apart.v[v] = {place};" if loading else f"{place} = out{i}.v[v];"
        decode = [] if single else self.decode_run("(e + v)")
        pointer = [f"auto at = {base} + (i64)e * {step};"] if walks else []

        def elements(bound: str) -> list[str]:
            loop = f"for (int v = 0; v < {SCAN_CHUNK}; ++v{f', at += {step}' if walks else ''}) {bound}{{"
            return [*pointer, "#pragma unroll", loop, *decode, one, "}"]

        some = elements(f"if (e + v >= 0 && e + v < {self.length}) ")
        zeros = f"Vec<{self.frame.storage(i)}, {SCAN_CHUNK}> apart = {{}};"
        if not unit:
            either = ["if (full) {", *elements(""), "} else if (here) {", *some, "}"]
            return ["{", zeros, *either, f"raw{i} = apart;", "}"] if loading else either
        if self._goes_through_shared(i, together):
            first = f"({together - 1} - lane)" if self.reverse else "lane"
            at = f"{base} + (e - {first} * {SCAN_CHUNK})"
            stored = f"store_together<{self._piece(i)}, {together}>({at}, out{i}, {first}, staging);"
            return ["if (whole_warp) {", stored, "} else if (here) {", *some, "}"]
        address = f"{base} + e" if single else f"{base} + ({offset(strides, 'y')})"
        whole = f"raw{i}.load<{self._piece(i)}>({address});" if loading else f"store<{self._piece(i)}>({address}, out{i});"
        whole_path = ["if (full) {", *([] if single else self.decode_run()), whole]
        if loading:
            return [*whole_path, "} else {", zeros, "if (here) {", *some, "}", f"raw{i}.set(apart);", "}"]
        return [*whole_path, "} else if (here) {", *some, "}"]

    def _unit(self, i: int) -> bool:
        """Whether the elements of a chunk are neighbours in memory."""
        return self.runs_whole and self.nest.operands[i].steps(self.inner_last) == 1

    def _goes_through_shared(self, i: int, together: int) -> bool:
        """Whether threads exchange what they store of an operand, so that every store fills whole sectors of memory."""
        return together > 1 and self._unit(i) and len(self.nest.inner) == 1 and self._piece(i) < SCAN_CHUNK

    def _piece(self, i: int) -> int:
        """Elements to a load or store."""
        nest = self.nest
        width = piece(nest.operands[i], SCAN_CHUNK, self.inner_last, (*nest.outer, *nest.inner))
        while self.reverse and nest.row_length % width:
            width //= 2
        return width

    def _read_along(self, *, apply: bool) -> list[int]:
        """The inputs that have an element for each of the row's and are needed."""
        roots = [*self.operands, *((e for _, e in self.outputs) if apply else ())]
        read_names = {n.attr[0] for n in topological(roots) if n.op == "input"}
        return [i for i in range(self.frame.inputs) if self.varies(i) and self.frame.ports[i].name in read_names]

    def raw_types(self, *, apply: bool) -> dict[int, str]:
        """For every input that is needed, what holds a chunk of it on its way from memory."""
        kinds = [(i, self.frame.storage(i), self._unit(i)) for i in self._read_along(apply=apply)]
        return {i: f"Chunk<{kind}>" if unit else f"Vec<{kind}, {SCAN_CHUNK}>" for i, kind, unit in kinds}

    def raw(self, *, apply: bool) -> list[str]:
        """Declares raw{i} for every input that is needed: a chunk on its way from memory."""
        return [f"{kind} raw{i};" for i, kind in self.raw_types(apply=apply).items()]

    def load(self, *, apply: bool) -> list[str]:
        """Begins to load this thread's chunk of every input that is needed."""
        return [line for i in self._read_along(apply=apply) for line in self.move(i)]

    def load_at(self, position: str) -> list[str]:
        """Begins to load the chunk at a position in the scan."""
        return ["{", *self.chunk(position), *self.load(apply=True), "}"]

    def take(self, *, apply: bool) -> list[str]:
        """Declares in{i}, the chunk that was loaded."""
        return [
            f"const Vec<{self.frame.storage(i)}, {SCAN_CHUNK}> in{i} = raw{i}{'.get()' if self._unit(i) else ''};"
            for i in self._read_along(apply=apply)
        ]

    # --- states -------------------------------------------------------------------------------------------------------

    def serial(self) -> list[str]:
        """x{s}: the states of the chunk, each from its first element; s{s}: the chunk's total."""
        lines = [f"{state.name}::State x{s}[{SCAN_CHUNK}];" for s, state in enumerate(self.states)]
        position = {x: j for j, x in enumerate(self.operands)}
        assign = []
        for s, (state, g) in enumerate(zip(self.states, self.groups, strict=True)):
            values = ", ".join(f"{{{position[x]}}}" for x in g.operands)
            assign.append(f"x{s}[v] = {state.name}::State{{{{{values}}}}};")
        lines += self._each(self.operands, {}, "before", assign)
        for s, state in enumerate(self.states):
            lines += ["#pragma unroll", self._rising(1), f"x{s}[k] = {state.name}::join(x{s}[{self._previous}], x{s}[k]);"]
            last = 0 if self.reverse else SCAN_CHUNK - 1
            lines.append(f"{state.name}::State s{s} = x{s}[{last}];")
        return lines

    def _rising(self, first: int) -> str:
        """A loop over the elements of the chunk in the order of the scan."""
        if self.reverse:
            return f"for (int k = {SCAN_CHUNK - 1 - first}; k >= 0; --k)"
        return f"for (int k = {first}; k < {SCAN_CHUNK}; ++k)"

    @property
    def _previous(self) -> str:
        return "k + 1" if self.reverse else "k - 1"

    def results(self) -> list[str]:
        """From b{s}, all before the chunk, the states of the scan: x{s} inclusive, z{s} exclusive where that is wanted."""
        lines: list[str] = []
        for s, (state, g) in enumerate(zip(self.states, self.groups, strict=True)):
            combined = f"x{s}[k] = {state.name}::join(b{s}.s, x{s}[k]);"
            lines += [f"if (b{s}.is) {{", "#pragma unroll", f"{self._rising(0)} {combined}", "}"]
            if g.exclusive:
                start = f"b{s}.is ? b{s}.s : {state.identity}"
                first = SCAN_CHUNK - 1 if self.reverse else 0
                lines += [
                    f"{state.name}::State z{s}[{SCAN_CHUNK}];",
                    f"z{s}[{first}] = {start};",
                    "#pragma unroll",
                    f"{self._rising(1)} z{s}[k] = x{s}[{self._previous}];",
                ]
        return lines

    def write(self, together: int = 1) -> list[str]:
        """The outputs at this thread's chunk, stored with those of its neighbours in the row (see `move`)."""
        lines, assign = [], []
        for j, (i, expr) in enumerate(self.outputs):
            storage = self.frame.storage(i)
            lines.append(f"Vec<{storage}, {SCAN_CHUNK}> out{i};")
            assign.append(f"out{i}.v[v] = Narrow<{storage}, {COMPUTE_TYPE[expr.kind]}>::to({{{j}}});")
        lines += self._each([e for _, e in self.outputs], self.names, "after", assign)
        if any(self._goes_through_shared(i, together) for i, _ in self.outputs):
            lines.append("const bool whole_warp = __all_sync(0xffffffffu, full);")
        for i, _ in self.outputs:
            lines += self.move(i, together)
        return lines

    # --- along rows ---------------------------------------------------------------------------------------------------

    @property
    def looks_ahead(self) -> bool:
        """Whether registers suffice to load a tile while the one before is scanned. They hold the next chunk, the states, and
        the elements that outputs read beside scans; with more, a multiprocessor would take a single block of 512 threads."""
        emitted = {n.attr[0] for n in self._reached([e for _, e in self.outputs], through=False) if n.op == "input"}
        inputs = [self.frame.ports[i] for i in self._read_along(apply=True)]
        kinds = [
            *(p.kind for p in inputs),
            *(p.kind for p in inputs if p.name in emitted),
            *(k for g in self.groups for k in g.kinds),
        ]
        return SCAN_CHUNK * sum(kind.itemsize for kind in kinds) <= _HELD_BYTES

    def tile_start(self, tile: str) -> str:
        """Where this thread's chunk of a tile begins, as a position in the scan."""
        return f"({self.index})({tile}) * {SCAN_TILE} + t * {SCAN_CHUNK}"

    def rows_tile(
        self, warps: int, *, ahead: Sequence[str] = (), before: Sequence[str] = (), total: Sequence[str] = ()
    ) -> list[str]:
        """The outputs of a tile of a row, given `tile`, t (this thread's number in the row) and c{s}, what is before the tile.
        Where a row has several warps, its first has n{s}, the tile's total, does what `total` says and is
        the only one that needs c{s}, which `before` may make of n{s}. With `ahead`, what loads the next tile into raw{i}, this
        one is there already."""
        width = min(WARP, self.shape.group)
        lines = self.chunk(self.tile_start("tile"))
        if ahead:
            lines += [*self.take(apply=True), *ahead]
        else:
            lines += [*self.raw(apply=True), *self.load(apply=True), *self.take(apply=True)]
        lines += self.serial()
        for s, state in enumerate(self.states):
            j = state.name
            lines.append(f"s{s} = steps<{j}, {width}>(s{s}, lane);")
            lines.append(f"Some<{j}> b{s} = {{{j}::up(s{s}, 1, {width}), lane > 0}};")
            if warps > 1:
                lines.append(f"if (lane == {WARP - 1}) totals{s}[slot][warp] = s{s};")
        if warps > 1:
            lines += self.join_blocks(warps, "warp == 0", "[slot][{w}]", "slot", before)
            lines += ["if (warp == 0) {", *total, "}"] if total else []
            for s, state in enumerate(self.states):
                j = state.name
                lines.append(f"b{s} = then<{j}>(Some<{j}>{{before{s}[slot][warp], tile > 0 || warp > 0}}, b{s});")
        return [*lines, *self.results(), *self.write(width)]

    def join_blocks(self, blocks: int, condition: str, last: str, slot: str, before: Sequence[str]) -> list[str]:
        """Once all threads have left the totals of some blocks that follow one another in a row, the warp for which `who` holds
        combines them in turn: n{s} is the total of all, c{s} what is before them, which `before` may make of n{s}, and
        before{s}[slot][b] becomes all before block b. Total b is `last`, a place in totals{s} for a `w`."""
        lines = ["__syncthreads();", *(f"Some<{state.name}> n{s} = none<{state.name}>();" for s, state in enumerate(self.states))]
        lines.append(f"if ({condition}) {{")
        for s, state in enumerate(self.states):
            j = state.name
            lines += [
                f"{j}::State r{s} = totals{s}{last.format(w=0)}, w{s} = r{s};",
                "#pragma unroll 4",  # all at once would take more registers than the rest of the kernel
                f"for (int w = 1; w < {blocks}; ++w) {{",
                f"if (w == lane) w{s} = r{s};",
                f"r{s} = {j}::join(r{s}, totals{s}{last.format(w='w')});",
                "}",
                f"n{s} = some<{j}>(r{s});",
            ]
        lines += before
        for s, state in enumerate(self.states):
            j = state.name
            lines.append(f"if (lane < {blocks}) before{s}[{slot}][lane] = then<{j}>(c{s}, Some<{j}>{{w{s}, lane > 0}}).s;")
        return [*lines, "}", "__syncthreads();"]

    def rows_shared(self, rows: int, warps: int) -> list[str]:
        """Declares the arrays in which the totals of a row's warps meet, and where threads exchange what they store."""
        lines = []
        if warps > 1:
            for s, state in enumerate(self.states):
                lines.append(f"__shared__ {state.name}::State totals{s}[{rows}][{warps}], before{s}[{rows}][{warps}];")
        width = min(WARP, self.shape.group)
        sizes = [self.nest.operands[i].kind.itemsize for i, _ in self.outputs if self._goes_through_shared(i, width)]
        if sizes:
            nbytes = SCAN_BLOCK * max(sizes)
            lines += [
                f"__shared__ __align__(16) unsigned char stagings[{-(-rows * self.shape.group // WARP)}][{nbytes}];",
                f"unsigned char* const staging = stagings[threadIdx.x / {WARP}];",
            ]
        return lines
