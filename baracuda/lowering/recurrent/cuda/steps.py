"""Recurrent networks on a GPU: one launch whose blocks stay for all steps and wait for each other between phases.

A block has tiles of rows of the batch and of `LANES` lanes, whose weights it keeps in shared memory for all steps where they fit.
Messages go through the workspace, k by k with the rows side by side, and from there through shared memory in chunks of k that are
under way while the chunk before is worked on. Each thread has one lane of some neighbouring rows, and the running values of all
products of these. A block counts itself in at an integer in the workspace and waits until all have; there are no more blocks than
multiprocessors, and the driver begins none unless all can be there at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.core.layout import round_up
from baracuda.formula.expr import Expr, topological
from baracuda.lowering.recurrence.cuda.code import source
from baracuda.lowering.recurrence.problem import BATCH, LANE, STEP, Varies
from baracuda.lowering.recurrent.cuda.folds import BARRIER, Folds, braced
from baracuda.lowering.recurrent.cuda.tiling import LANES, padded, parts_of, tiles_of
from baracuda.lowering.recurrent.problem import Phase, Trace
from baracuda.runtime.program import KernelSource, Launch, Lowered

_PACKERS = 256


class Steps(Folds):
    """Writes the kernels. Names in the generated code: thread, group and lane those of the tile; row0 its first row; b, step and
    lane the numbers; s0, s1, ... the components of the state; a0[r][g], ... the running values of folds."""

    def lowered(self) -> Lowered:
        launches = [self._packing(i, p) for i, p in enumerate(self.problem.phases) if p.weight]
        launches.append(self._steps())
        return Lowered(tuple(launches), tuple(self.code.words.values), self.nbytes, self.name)

    @property
    def name(self) -> str:
        """The schedule, for people."""
        shape = self.shape
        return f"recurrent {self.grid} blocks of {shape.rows}x{LANES}{' resident' if shape.resident else ''}"

    # --- packing ------------------------------------------------------------------------------------------------------

    def _packing(self, number: int, phase: Phase) -> Launch:
        """Tiles of lanes, in each k by k the lanes side by side with all their products; the rest is 0."""
        code, products = self.code, padded(phase.products)
        tensor = phase.weight
        assert tensor is not None
        down, along = (2, 1) if phase.transposed else (1, 2)
        count = tiles_of(phase.lanes) * LANES * phase.depth * products
        index = (
            f"(i64)(g + {phase.at}) * {code.stride(tensor, 0)} + lane * {code.stride(tensor, down)} + "
            f"k * {code.stride(tensor, along)}"
        )
        body = [
            *code.pointers(),
            self.begin_counters(),
            f"const i64 depth = {code.number(('depth', number), phase.depth)}, count = {code.words.signed(count)};",
            f"const i64 lanes = {code.number(('lanes', number), phase.lanes)};",
            f"{self.type}* const to = ({self.type}*){self.workspace(code.words.signed(self.packed[number]))};",
            *braced(
                f"for (i64 i = (i64)blockIdx.x * {_PACKERS} + threadIdx.x; i < count; i += (i64)gridDim.x * {_PACKERS})",
                [
                    f"const int g = (int)(i % {products}), l = (int)(i / {products} % {LANES});",
                    f"const i64 rest = i / {products * LANES}, k = rest % depth, lane = rest / depth * {LANES} + l;",
                    f"const bool real = g < {phase.products} && lane < lanes;",
                    f"to[i] = real ? widen({code.pointer(tensor)}[{index}]) : ({self.type})0;",
                ],
            ),
        ]
        blocks = min(-(-count // _PACKERS), 4 * self.multiprocessors)
        return Launch(KernelSource(source(code, body, _PACKERS)), (blocks, 1, 1), _PACKERS)

    # --- steps --------------------------------------------------------------------------------------------------------

    def _steps(self) -> Launch:
        code, problem = self.code, self.problem
        shared = self._lay_out_shared()
        waits = [self._waits(i) for i in range(len(problem.phases))]
        body = [
            *code.pointers(),
            "const int thread = threadIdx.x;",
            *self._places(),
            f"const int batch = (int){code.number('batch', problem.batch)}, blocks_of_rows = "
            f"(int){code.words.signed(self.blocks_of_rows)};",
            f"const i64 all_rows = {code.words.signed(self.rows)};",
            f"const int every_step = (int){code.number('steps', problem.steps)};",
            *self.counter(),
            *self._storage(),
            *self._keep(),
        ]
        for i, p in enumerate(problem.phases):
            body += self._begin(i, p)
        steps: list[str] = []
        for i, p in enumerate(problem.phases):
            if waits[i]:
                steps.append("await_blocks(counter, wanted += peers);")
            steps += self._phase(i, p)
        body += braced("for (int step = 0; step < every_step; ++step)", steps)
        for i, p in enumerate(problem.phases):
            body += self._finish(i, p)
        body += self._end()
        # Blocks fill a multiprocessor each; where that is not said, the compiler saves registers, and loads wait for each other.
        text = source(code, body, self.threads, BARRIER + self.tables, shared=shared > 0, blocks=1, cluster=self.cluster)
        return Launch(KernelSource(text), (self.grid, 1, 1), self.threads, shared, self.cluster, together=True)

    @property
    def cluster(self) -> int:
        """Blocks of a cluster."""
        return 1

    @property
    def threads(self) -> int:
        """Those of a block."""
        return self.shape.threads

    def _end(self) -> list[str]:
        """What comes last."""
        return []

    def _places(self) -> list[str]:
        """Which row and lane of a tile are a thread's first ones."""
        return [
            "// A neighbour reads the same weights, the next but one the same rows: shared memory serves half a warp at once.",
            "const int group = thread / 32 * 4 + thread / 16 % 2 * 2 + thread % 2, l = thread / 2 % 8;",
        ]

    def _lay_out_shared(self) -> int:
        """Where everything is in shared memory, and its size."""
        problem, shape = self.problem, self.shape
        shared = 0
        self.held = {}
        folded = [(i, p) for i, p in enumerate(problem.phases) if p.weight]
        if shape.resident:
            for i, p in folded:
                self.held[i] = shared
                shared += round_up(p.depth * LANES * padded(p.products) * self.size, 128)
        per_k = max(
            (parts_of(p) * shape.rows + (0 if shape.resident else LANES * padded(p.products))) * self.size for _, p in folded
        ) if folded else 0  # fmt: skip
        self.staged, self.stage_bytes = shared, round_up(per_k * shape.chunk, 128)
        shared += shape.stages * self.stage_bytes
        return shared

    def _waits(self, number: int) -> bool:
        """Whether a phase reads what other blocks have written."""
        return bool(self.problem.phases[number].weight)

    def _storage(self) -> list[str]:
        lines = []
        for i, n in enumerate(self.sent):
            if n:
                at = self.workspace(self.code.words.signed(self.messages[i]))
                lines.append(f"{self.type}* const m{i} = ({self.type}*){at};")
        for c, (_, component) in enumerate(self.problem.components):
            type_ = COMPUTE_TYPE[component.kind]
            lines.append(f"{type_}* const s{c} = ({type_}*){self.workspace(self.code.words.signed(self.states[c]))};")
        for i, p in enumerate(self.problem.phases):
            if p.weight:
                at = self.workspace(self.code.words.signed(self.packed[i]))
                lines.append(f"const {self.type}* const w{i} = (const {self.type}*){at};")
        return lines

    def _lanes_of(self, number: int) -> str:
        return f"(int){self.code.number(('lanes', number), self.problem.phases[number].lanes)}"

    def _keep(self) -> list[str]:
        """The weights of the block's tiles to shared memory."""
        lines = []
        for i, start in self.held.items():
            p = self.problem.phases[i]
            row = LANES * padded(p.products) * self.size
            lines += braced(
                "",
                [
                    f"const int tiles = (int){self.code.words.signed(self.tiles_of(p))};",
                    f"const i64 pieces = {self.code.number(('depth', i), p.depth)} * {row // 16};",
                    f"const unsigned char* const from = (const unsigned char*)w{i} + (i64)(blockIdx.x % tiles) * pieces * 16;",
                    f"for (i64 i = thread; i < pieces; i += {self.shape.threads})",
                    f"  copy_piece(shared_state + {start} + i * 16, from + i * 16);",
                    "end_pieces();",
                ],
            )
        return lines

    def _over_tiles(self, number: int, lines: Sequence[str]) -> list[str]:
        """A loop over the block's tiles of a phase."""
        p = self.problem.phases[number]
        head = f"for (int tile = blockIdx.x; tile < tiles{number} * blocks_of_rows; tile += gridDim.x)"
        inside = [
            f"const int lanes = {self._lanes_of(number)};",
            *self._place_in_tile(number),
            *lines,
        ]
        declared = f"const int tiles{number} = (int){self.code.words.signed(self.tiles_of(p))};"
        return braced("", [declared, *braced(head, inside)])

    def _place_in_tile(self, number: int) -> list[str]:
        """The first row of the tile, and a thread's lane and first row."""
        return [
            f"const int lane_tile = tile % tiles{number}, lane = lane_tile * {LANES} + l;",
            f"const int row0 = tile / tiles{number} * {self.shape.rows}, first = row0 + group * {self.shape.each};",
        ]

    def _each_row(self, lines: Sequence[str]) -> list[str]:
        """A loop over the rows of a thread that exist, at a lane that exists."""
        inside = ["const int b = first + r;", *braced("if (b < batch && lane < lanes)", lines)]
        return ["#pragma unroll", *braced(f"for (int r = 0; r < {self.shape.each}; ++r)", inside)]

    def _state(self, n: Expr) -> str:
        if isinstance(n.attr[0], int):
            return self._kept(n.attr[0], "lane")
        assert n.attr[0] == "fold", n.attr
        return f"a{n.attr[1]}[r][{n.attr[2]}]"

    def _kept(self, component: int, lane: str) -> str:
        """Where a component of the state is."""
        return f"s{component}[(i64){lane} * all_rows + b]"

    def _message(self, number: int, component: int, parity: str) -> str:
        p = self.problem.phases[number]
        depth = self.code.number(("lanes", number), p.lanes)
        return f"m{number}[(({parity} * {self.sent[number]} + {component}) * {depth} + lane) * all_rows + b]"

    def _begin(self, number: int, phase: Phase) -> list[str]:
        """The initial state, and the message before the first step."""
        problem = self.problem
        self.code.among(phase.lanes)
        first = problem.first if number == len(problem.phases) - 1 else ()
        if not phase.state and not first:
            return []
        scope = self.code.scope({BATCH: "b", LANE: "lane", STEP: "0"})
        values = [scope.value(c.initial) for c in phase.state]
        sent = [scope.value(e) for e in first]
        at = problem.components_at(number)
        lines = [*scope.lines]
        lines += [f"{self._kept(at + c, 'lane')} = {value};" for c, value in enumerate(values)]
        lines += [f"{self._message(number, m, '(i64)1')} = {value};" for m, value in enumerate(sent)]
        return self._over_tiles(number, self._each_row(lines))

    def _phase(self, number: int, phase: Phase) -> list[str]:
        self.code.among(phase.lanes)
        ahead, known = self._ahead(phase)
        lines = self.folds(number, phase) if phase.weight else []
        return self._over_tiles(number, [*ahead, *lines, *self._formulas(number, phase, known)])

    def _active(self) -> tuple[list[str], str]:
        """How many steps of row b count."""
        scope = self.code.scope({BATCH: "b"})
        count = self.code.count(scope, self.problem.active_steps, self.problem.steps)
        return scope.lines, count

    def _ahead(self, phase: Phase) -> tuple[list[str], dict[Expr, str]]:
        """Loads what the formulas read before the folds, whose time hides that of memory; of rows and lanes that do not exist
        what is read of the last ones. And where each value is."""
        code, facts = self.code, self.code.facts
        roots = [*phase.roots, self.problem.active_steps, *(t.row for t in phase.traces)]
        known: dict[Expr, str] = {}
        declared, lines = [], []
        of_thread = code.scope({LANE: "at_lane", STEP: "step"})
        of_row = code.scope({BATCH: "b"}, of_thread)
        of_thread.given = of_row.given = known
        for j, n in enumerate(topological(roots)):
            is_state = n.op == "state" and isinstance(n.attr[0], int)
            if not is_state and (n.op != "gather" or facts.varies[n] & Varies.STATE):
                continue
            by_row = is_state or self._by_row(n)
            scope = of_row if by_row else of_thread
            value = self._kept(n.attr[0], "at_lane") if is_state else scope.element(n)
            type_ = COMPUTE_TYPE[n.kind] if is_state else code.storage(n)
            written = scope.lines[:]
            scope.lines.clear()
            if by_row:
                declared.append(f"{type_} f{j}[{self.shape.each}];")
                lines += [*written, f"f{j}[r] = {value};"]
                known[n] = f"f{j}[r]" if is_state else f"widen(f{j}[r])"
            else:
                declared += [*written, f"const {type_} f{j} = {value};"]
                known[n] = f"widen(f{j})"
        head = ["#pragma unroll", f"for (int r = 0; r < {self.shape.each}; ++r)"]
        clamped = ["const int at_lane = min(lane, lanes - 1);"]
        body = ["const int b = min(first + r, batch - 1);", *lines]
        return [*clamped, *declared, head[0], *braced(head[1], body)], known

    def _by_row(self, n: Expr) -> bool:
        """Whether a value is another one in another row."""
        return BATCH in topological([n])

    def _formulas(self, number: int, phase: Phase, known: Mapping[Expr, str]) -> list[str]:
        """What all rows of a thread compute, then what those write that exist and are in a step that counts."""
        code, problem = self.code, self.problem
        scope = code.scope({BATCH: "b", LANE: "at_lane", STEP: "step"}, known_values=known, state=self._state)
        values = [scope.value(e) for e in phase.roots]
        rows = [code.bounded(scope.value(t.row), t.row, problem.steps) for t in phase.traces]
        count = code.count(scope, problem.active_steps, problem.steps)
        each = self.shape.each
        declared = [f"{COMPUTE_TYPE[e.kind]} v{i}[{each}];" for i, e in enumerate(phase.roots)]
        declared += [f"i64 to{i}[{each}];" for i in range(len(rows))]
        declared.append(f"bool counts[{each}];")
        body = ["const int b = min(first + r, batch - 1);", *scope.lines]
        body += [f"v{i}[r] = {value};" for i, value in enumerate(values)]
        body += [f"to{i}[r] = {row};" for i, row in enumerate(rows)]
        body.append(f"counts[r] = first + r < batch && lane < lanes && step < {count};")
        at, states = problem.components_at(number), len(phase.state)
        stores = [f"{self._kept(at + c, 'lane')} = v{c}[r];" for c in range(states)]
        stores += [f"{self._message(number, m, '(i64)(step & 1)')} = v{states + m}[r];" for m in range(len(phase.message))]
        first = states + len(phase.message)
        stores += [self._trace(t, f"to{i}[r]", f"v{first + i}[r]") for i, t in enumerate(phase.traces)]
        loop = f"for (int r = 0; r < {each}; ++r)"
        return [
            *declared, "#pragma unroll", *braced(loop, body), "#pragma unroll",
            *braced(loop, ["const int b = first + r;", *braced("if (counts[r])", stores)]),
        ]  # fmt: skip

    def _trace(self, t: Trace, row: str, value: str) -> str:
        code = self.code
        offset = f"{row} * {code.stride(t.tensor, 0)} + (i64)b * {code.stride(t.tensor, 1)}"
        axis = 2
        if t.channel is not None:
            offset += f" + {t.channel} * {code.stride(t.tensor, 2)}"
            axis = 3
        return f"{code.pointer(t.tensor)}[{offset} + (i64)lane * {code.stride(t.tensor, axis)}] = " + (
            f"{code.narrow(t.tensor, t.value, value)};"
        )

    def _finish(self, number: int, phase: Phase) -> list[str]:
        """Rows of steps that do not count, and the state after the last one."""
        code = self.code
        code.among(phase.lanes)
        lines: list[str] = []
        if phase.traces:
            active, count = self._active()
            scope = code.scope({})
            fills = [self._trace(t, "(i64)step", scope.value(t.filled)) for t in phase.traces]
            lines += [*active, *braced(f"for (int step = {count}; step < every_step; ++step)", [*scope.lines, *fills])]
        if phase.lasts:
            scope = code.scope({BATCH: "b", LANE: "lane", STEP: "0"}, state=self._state)
            stores = []
            for s in phase.lasts:
                value = code.narrow(s.tensor, s.value, scope.value(s.value))
                offset = f"(i64)b * {code.stride(s.tensor, 0)} + (i64)lane * {code.stride(s.tensor, 1)}"
                stores.append(f"{code.pointer(s.tensor)}[{offset}] = {value};")
            lines += [*braced("", [*scope.lines, *stores])]
        return self._over_tiles(number, self._each_row(lines)) if lines else []
