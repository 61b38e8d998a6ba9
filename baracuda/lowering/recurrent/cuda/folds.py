"""The folds of a recurrent network on a GPU, and what all of its kernels share: words, tiles and the workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.layout import round_up
from baracuda.formula.expr import Expr
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.lowering.recurrence.cuda.code import RecurrenceOperands
from baracuda.lowering.recurrence.problem import LANE, ArrayLayout
from baracuda.lowering.recurrent.cuda.tiling import LANES, padded, parts_of, tiles_of, tiling
from baracuda.lowering.recurrent.problem import Phase, Recurrent

#: Registers for what is read ahead.
_HELD = 80
#: Bytes from one counter to the next: lines of the second cache.
_COUNTER = 128

BARRIER = r"""
// Waits until the counter, to which each of some blocks adds one, is `wanted`; what they have written before is there then.
__device__ __forceinline__ void await_blocks(unsigned* counter, unsigned wanted) {
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
    unsigned seen;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    } while ((int)(seen - wanted) < 0);
  }
  __syncthreads();
}

// A piece of 16 bytes from memory, past the first cache, to shared memory, for `wait_pieces`.
__device__ __forceinline__ void copy_piece(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void end_pieces() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_pieces() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
"""


class Operands(RecurrenceOperands):
    def __init__(self, problem: Recurrent, arrays: Mapping[str, ArrayLayout]) -> None:
        super().__init__(problem, arrays)
        self._numbers: dict[object, str] = {}

    def number(self, name: object, value: int) -> str:
        """A number that the code does not depend on, once for each name."""
        if name not in self._numbers:
            self._numbers[name] = self.words.signed(value)
        return self._numbers[name]

    def stride(self, name: str, axis: int) -> str:
        return self.number((name, axis), self.arrays[name].strides[axis])

    def among(self, lanes: int) -> None:
        """Formulas that follow are over so many lanes."""
        self._sure[LANE] = lanes


def braced(head: str, lines: Sequence[str]) -> list[str]:
    return [f"{head} {{", *(f"  {line}" for line in lines), "}"]


class Folds:
    """Where everything is, and the code of folds."""

    held: dict[int, int]
    staged: int
    stage_bytes: int
    #: What the kernel of the steps needs beside the prelude.
    tables = ""

    def __init__(self, problem: Recurrent, arrays: Mapping[str, ArrayLayout], target: Target) -> None:
        self.problem = problem
        self.code = Operands(problem, arrays)
        self.shape = tiling(problem, target)
        self.size = problem.math.itemsize
        self.type = COMPUTE_TYPE[problem.math]
        self.rows = round_up(problem.batch, self.shape.rows)
        self.blocks_of_rows = self.rows // self.shape.rows
        blocks = max(tiles_of(p.lanes) for p in problem.phases) * self.blocks_of_rows
        self.multiprocessors = target.multiprocessors
        self.grid = min(blocks, self.multiprocessors)
        self.nbytes = self._counters()
        self.packed = [self._room(tiles_of(p.lanes) * LANES * p.depth * padded(p.products) * self.size) if p.weight else 0
                       for p in problem.phases]  # fmt: skip
        self.sent = [
            len(p.message or (problem.first if i == len(problem.phases) - 1 else ())) for i, p in enumerate(problem.phases)
        ]
        self.messages = [
            self._room(2 * n * p.lanes * self.rows * self.size) for n, p in zip(self.sent, problem.phases, strict=True)
        ]
        self.states = [self._room(lanes * self.rows * c.kind.itemsize) for lanes, c in problem.components]

    @property
    def peers(self) -> int:
        """How many blocks, which are neighbours, read each other's messages: where all phases have as many tiles, those with the
        same rows."""
        tiles = {self.tiles_of(p) for p in self.problem.phases}
        return tiles.pop() if len(tiles) == 1 and self.grid % next(iter(tiles)) == 0 else self.grid

    def _counters(self) -> int:
        """The bytes of a counter for each of them."""
        return round_up(self.grid // self.peers * _COUNTER, 256)

    def begin_counters(self) -> str:
        """Sets the counters to 0."""
        at = f"((unsigned*){self.workspace('0')})[threadIdx.x * {_COUNTER // 4}]"
        return f"if (blockIdx.x == 0 && threadIdx.x < {self.grid // self.peers}) {at} = 0u;"

    def counter(self) -> list[str]:
        """Declares the counter of a block and those that count at it."""
        return [
            f"const unsigned peers = {self.code.words.unsigned(self.peers)};",
            f"unsigned* const counter = (unsigned*){self.workspace('0')} + blockIdx.x / peers * {_COUNTER // 4};",
            "unsigned wanted = 0;",
        ]

    def tiles_of(self, phase: Phase) -> int:
        """How many tiles a phase's lanes are."""
        return tiles_of(phase.lanes)

    def _room(self, nbytes: int) -> int:
        start = self.nbytes
        self.nbytes += round_up(nbytes, 256)
        return start

    def workspace(self, offset: str) -> str:
        return f"(W.w[{self.code.words.operands}] + {offset})"

    # --- folds --------------------------------------------------------------------------------------------------------

    def folds(self, number: int, phase: Phase) -> list[str]:
        shape, source_ = self.shape, self.problem.source(number)
        products, parts = padded(phase.products), parts_of(phase)
        depth = self.code.number(("depth", number), phase.depth)
        message = STORAGE_TYPE[self.problem.math]
        parity = "(i64)(step + 1 & 1)" if number == 0 else "(i64)(step & 1)"
        piece_rows = shape.rows * self.size // 16
        lines = []
        for f, x in enumerate(phase.folds):
            lines.append(f"{COMPUTE_TYPE[x.initial.kind]} a{f}[{shape.each}][{phase.products}];")
        lines += [
            f"const int chunks = (int)(({depth} + {shape.chunk - 1}) / {shape.chunk});",
            f"const {message}* const sent = m{source_} + {parity} * {self.sent[source_]} * {depth} * all_rows + row0;",
        ]
        weights = f"shared_state + {self.held[number]}" if shape.resident else ""
        fetch = [
            f"unsigned char* const stage = shared_state + {self.staged} + at % {shape.stages} * {self.stage_bytes};",
            f"const int k0 = at * {shape.chunk}, count = min({shape.chunk}, (int){depth} - k0);",
        ]
        for part in range(parts):
            offset = part * shape.chunk * shape.rows * self.size
            fetch += [
                f"for (int i = thread; i < count * {piece_rows}; i += {shape.threads})",
                f"  copy_piece(stage + {offset} + i * 16, "
                f"sent + ({part} * {depth} + k0 + i / {piece_rows}) * all_rows + i % {piece_rows} * {16 // self.size});",
            ]
        at_weights = parts * shape.chunk * shape.rows * self.size
        if not shape.resident:
            row = LANES * products * self.size // 16
            fetch += [
                f"for (int i = thread; i < count * {row}; i += {shape.threads})",
                f"  copy_piece(stage + {at_weights} + i * 16, "
                f"(const unsigned char*)w{number} + ((lane_tile * {depth} + k0) * {row} + i) * 16);",
            ]
        fetch = [*braced("if (at < chunks)", fetch), "end_pieces();"]
        for turn in range(phase.turns):
            now = [f for f, x in enumerate(phase.folds) if x.turn == turn]
            start = self.code.scope({})
            zero = [f"a{f}[r][g] = {start.value(phase.folds[f].initial)};" for f in now]
            lines += braced(
                "",
                [*start.lines, "#pragma unroll", f"for (int r = 0; r < {shape.each}; ++r)", "  #pragma unroll",
                 *braced(f"  for (int g = 0; g < {phase.products}; ++g)", zero)],
            )  # fmt: skip
            lines += ["__syncthreads();"]
            lines += braced(f"for (int at = 0; at < {shape.stages - 1}; ++at)", fetch)
            step = [
                f"wait_pieces<{shape.stages - 2}>();",
                "__syncthreads();",
                *braced("", [f"const int at = c + {shape.stages - 1};", *fetch]),
                f"unsigned char* const stage = shared_state + {self.staged} + c % {shape.stages} * {self.stage_bytes};",
                f"const int k0 = c * {shape.chunk}, count = min({shape.chunk}, (int){depth} - k0);",
                f"const {self.type}* const weights = (const {self.type}*)("
                + (f"{weights}) + k0 * {LANES * products};" if shape.resident else f"stage + {at_weights});"),
                *self._inner(phase, now, products, parts),
            ]
            lines += braced("for (int c = 0; c < chunks; ++c)", step)
            lines.append("wait_pieces<0>();")
        return lines

    def _inner(self, phase: Phase, now: Sequence[int], products: int, parts: int) -> list[str]:
        """The loop over k of a chunk, some k at a time: first all that is read of them, so that loads are not waited for one by
        one."""
        shape = self.shape

        def held(n: Expr) -> str:
            name = n.attr[0]
            if name == "k":
                return "(k0 + kk + u)"
            if name == "weight":
                return "w[u].v[g]"
            if name == "message":
                return f"m[{'g' if phase.paired else '0'}][u].v[r]"
            return f"a{n.attr[1]}[r][g]"

        scope = self.code.scope({}, state=held)
        values = [scope.value(phase.folds[f].next) for f in now]
        inside = [*scope.lines, *(f"a{f}[r][g] = {value};" for f, value in zip(now, values, strict=True))]

        def some(count: int) -> list[str]:
            message = f"((const {self.type}*)stage + (p * {shape.chunk} + kk + u) * {shape.rows} + group * {shape.each})"
            return [
                f"Vec<{self.type}, {products}> w[{count}];",
                f"Vec<{self.type}, {shape.each}> m[{parts}][{count}];",
                "#pragma unroll",
                *braced(
                    f"for (int u = 0; u < {count}; ++u)",
                    [
                        f"w[u] = *(const Vec<{self.type}, {products}>*)(weights + ((kk + u) * {LANES} + l) * {products});",
                        "#pragma unroll",
                        f"for (int p = 0; p < {parts}; ++p) m[p][u] = *(const Vec<{self.type}, {shape.each}>*){message};",
                    ],
                ),
                "#pragma unroll",
                f"for (int u = 0; u < {count}; ++u)", "  #pragma unroll", f"  for (int r = 0; r < {shape.each}; ++r)",
                "    #pragma unroll", *braced(f"    for (int g = 0; g < {phase.products}; ++g)", inside),
            ]  # fmt: skip

        words = (products + parts * shape.each) * self.size // 4
        count = min(shape.chunk, 16, 1 << max(0, (_HELD // words).bit_length() - 1))
        whole = ["#pragma unroll 1", *braced(f"for (int kk = 0; kk < {shape.chunk}; kk += {count})", some(count))]
        rest = ["#pragma unroll 1", *braced("for (int kk = 0; kk < count; ++kk)", some(1))]
        return [*braced(f"if (count == {shape.chunk})", whole), *braced("else", rest)]
