"""What the kernels of attention by tensor cores share: the frame of a kernel, products of a tile, and how results are written."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.lowering.attention.cuda.integers.prelude import FRAGMENTS
from baracuda.lowering.attention.cuda.integers.score import TURN
from baracuda.lowering.attention.cuda.prelude import ATTENTION
from baracuda.lowering.attention.cuda.tensor_cores.prelude import TENSOR_CORES, WARP_LINKS
from baracuda.lowering.attention.cuda.tensor_cores.rings import GROUP, WIDEST, Factor, Ring, TileRings
from baracuda.lowering.attention.cuda.tensor_cores.score import TensorCoreScore
from baracuda.lowering.attention.cuda.tensor_cores.warpgroups import GROUP_LINKS
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.matmul.cuda.integers.prelude import COMBINE, SCALE, WARP_INSTRUCTIONS, WARPGROUPS
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, translation_unit
from baracuda.runtime.program import KernelSource, Launch


class TensorCoreKernel(TileRings):
    """Writes one kernel, whose rows are keys (`by_keys`) or queries.

    Names in the generated code, beside those of `TileRings`: first and row the warp's and the thread's first row.
    """

    def __init__(self, a: Attention, words: Words, *, by_keys: bool) -> None:
        super().__init__(a, words, by_keys=by_keys)
        self.score = TensorCoreScore(a, words, self.operands, by_keys=by_keys)
        #: The rows that registers hold.
        self.held: set[str] = set()

    def __str__(self) -> str:
        slots = "+".join(str(r.slots) for r in self.rings)
        name = f"warpgroups{self.groups}" if self.groups else "warps"
        return f"{name} slots{slots}{' persistent' * bool(self.persistent)}{' streamed' * self.streamed}"

    # --- where --------------------------------------------------------------------------------------------------------

    def where(self) -> list[str]:
        """The block's place in the problem, and the warp's and the thread's; what brings tiles; the block's rows."""
        shared = f"extern __shared__ __align__({1024 if self.groups else 128}) unsigned char shared[];"
        lane = ["const int lane = threadIdx.x % 32;"]
        row = ["const int first = first_row + threadIdx.x / 32 % 4 * 16, row = first + lane / 4;"]
        if not self.groups:
            bounds = "const int begin = start, end = stop;"
            return [shared, *self._place("blockIdx.x"), *lane, *row, bounds, *self._rows(), *self._feed()]
        last = self.groups - 1
        own = f"const int own = {f'least((int)threadIdx.x / {GROUP}, {last})' if last else '0'};"
        reading = [f"int read_{r.name} = 0; unsigned phase_{r.name} = 0;" for r in self.rings]
        if self.persistent:
            item = [
                "unsigned parity = 0;",
                "#pragma unroll 1",
                "for (;; parity ^= 1) {",
                "await_phase(full_rows, parity);",
                "const unsigned taken = *(volatile unsigned*)next;",
                f"if (taken >= {self.words.unsigned(self.count)}) break;",
            ]
            return [shared, own, *lane, *self._barriers(), *self._producer(), *reading, *item, *self._place("taken"), *row,
                    *self._bounds_of_groups("taken"), *self._own_rows()]  # fmt: skip
        place = [*self._place("blockIdx.x"), *self._bounds_of_groups("blockIdx.x")]
        return [shared, own, *lane, *place, *row, *self._barriers(), *self._producer(), *self._rows(), *reading]

    def finished(self) -> list[str]:
        """Ends what `where` began."""
        return ["}"] if self.persistent else []

    # --- products -----------------------------------------------------------------------------------------------------

    def hold(self, r: Ring) -> list[str]:
        """Keeps the rows that a ring's tiles are multiplied with in registers."""
        f = r.left
        assert f is not None
        self.held.add(f.name)
        return [f"unsigned {f.name}_held[{f.width // 16}][4];", f"hold_rows({f.name}_held, {f.name}_rows);"]

    def keep(self) -> list[str]:
        """Ends what `hold` began, behind the tiles; the test is never true, which the compiler cannot know."""
        return [f"keep_rows({name}_held, {name}_rows, columns < 0);" for name in sorted(self.held)]

    def dots(self, r: Ring, into: str) -> list[str]:
        """Declares the dot products of a tile; its slot is given back afterwards where it is one of several."""
        f, left = r.factor, r.left
        assert left is not None
        several = f.chunks > 1
        rows = f"{left.name}_rows" + (f" + chunk * {f.nbytes}" if several else "")
        columns = f"shared_address(slot_{r.name})"
        if left.name in self.held:
            rows = f"{left.name}_held"
        elif r.streamed:
            rows = f"{columns} + {r.left_start}"
        loop = ["#pragma unroll 1", f"for (int chunk = 0; chunk < {f.chunks}; ++chunk) {{"] if several else []
        end = [*self.release(r), "}"] if several else []
        if self.groups:
            add = "chunk != 0" if several else "0"
            start = f"start_dots<{f.width // 16}>({into}, {rows}, {columns}, {add});"
            wait = [f"await_links<0>({into});"] if several else []
            return [f"float {into}[8][4];", *loop, *self.acquire(r), start, *wait, *end]
        return [
            f"float {into}[8][4] = {{}};",
            *loop,
            *self.acquire(r),
            f"add_dots_of<{f.width // 16}>({into}, {rows}, {columns});",
            *end,
        ]

    def after_dots(self, r: Ring, into: str, under_way: int = 0) -> list[str]:
        """Waits for dot products, beside which so many groups of links may go on."""
        return [f"await_links<{under_way}>({into});"] if self.groups and r.factor.chunks == 1 else []

    def sums_width(self, f: Factor) -> int:
        """Columns of sums: those of whole instructions."""
        return f.width if not self.groups else 64 if f.width <= 64 else 128

    def sums(self, name: str, f: Factor) -> list[str]:
        """Declares the sums of a factor's lines."""
        return [f"float {name}[{self.sums_width(f) // 8}][4] = {{}};"]

    def add_lines(self, r: Ring, weights: str, into: str) -> str:
        """`into` goes on with weights times the lines of a ring's tile; warpgroups only begin."""
        slot = f"shared_address(slot_{r.name})"
        return f"{'start_lines' if self.groups else 'add_lines_of'}({into}, {weights}, {slot});"

    # --- results ------------------------------------------------------------------------------------------------------

    def write(self, name: str, f: Factor, head: str, value: str) -> list[str]:
        """Writes the thread's part of a result; `value` is that of element i = 2 * h + e of its columns n."""
        return self.write_rows(name, f.depth, f.width, f"part * {WIDEST} + " if f.chunks > 1 else "", head, value)

    def launch(self, body: Sequence[str], functions: str) -> Launch:
        links = WARPGROUPS + TENSOR_CORES + GROUP_LINKS if self.groups else TENSOR_CORES + WARP_LINKS
        common = PRODUCTS + ATTENTION + COMBINE + SCALE + WARP_INSTRUCTIONS + functions + FRAGMENTS
        tables = common + links.replace("ELEMENT", str(self.a.math)) + TURN + self.score.definitions()
        source = translation_unit(self.words, body, self.threads, tables, blocks=1)
        blocks = min(self.count, self.persistent) if self.persistent else self.count
        return Launch(KernelSource(source), (blocks, 1, 1), self.threads, self.shared)
