"""Fourier transforms on CUDA: a launch a pass. A block transforms some rows in shared memory, each by some threads, whose numbers
are in registers from one exchange to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from math import prod

from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import round_up
from baracuda.formula.butterflies import butterfly, product, radices
from baracuda.lowering.fft.access import Access, Number
from baracuda.lowering.fft.cuda.machine import DEFINITIONS, Constants, CudaMachine
from baracuda.lowering.fft.passes import Form, Pass, passes
from baracuda.lowering.fft.problem import OPERANDS, Fourier
from baracuda.lowering.fft.tables import stage_offsets
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, offset, translation_unit, unravel
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Threads that a block should have, and bytes of shared memory that it may take where it could do with less.
_THREADS, _SHARED = 256, 96 * 1024
#: Threads of a row from which on neighbours of a row are read side by side, and rows that are where they are not.
_TOGETHER, _SIDE = 4, 8


def ways(problem: Fourier, target: Target) -> Iterator[Lowered]:
    """The launches of a normalised problem."""
    yield lower(problem)


@lru_cache(maxsize=1024)
def lower(problem: Fourier) -> Lowered:
    """The launches of a normalised problem, the same for every target."""
    words = Words(OPERANDS, ())
    made, sizes = passes(problem)
    size = 2 * problem.kind.itemsize
    starts = [0, round_up(problem.count * sizes[0] * size, 256)]
    workspace = starts[1] + problem.count * sizes[1] * size
    constants = Constants(words)
    buffers = tuple(f"W.w[{OPERANDS}] + {words.word(start)}" for start in starts)
    launches = [_Kernel(problem, p, words, constants, (buffers[0], buffers[1])).launch() for p in made]
    names = " ".join(p.name for p in made)
    return Lowered(tuple(launches), tuple(words.values), workspace, f"fft {names}", constants.all)


class _Kernel:
    def __init__(self, problem: Fourier, pass_: Pass, words: Words, constants: Constants, buffers: tuple[str, str]) -> None:
        self.problem, self.pass_, self.words = problem, pass_, words
        self.m = CudaMachine(problem, pass_, words, constants, buffers)
        self.access = Access(problem, pass_, self.m)
        self.extents = (*problem.outer, *(a.extent for a in pass_.axes))
        self.rows = prod(self.extents)
        self.split = False  # whether real and imaginary parts take turns in shared memory
        self.imaginary: list[str] = []
        if self.rows >= INDEX_LIMIT:
            raise UnsupportedError(f"{self.rows} rows; expected fewer than {INDEX_LIMIT}")

    def launch(self) -> Launch:
        return self._transform() if self.pass_.length else self._unpack()

    # --- where rows are -----------------------------------------------------------------------------------------------

    def _decode(self) -> list[str]:
        """Statements that make `found` the row of number `id`."""
        p, words, outer = self.problem, self.words, len(self.problem.outer)
        lines = unravel("id", self.extents, words, "c", wide=False)

        def at(strides: tuple[int, ...], size: int) -> str:
            return offset([None if s == 0 and not p.general else words.signed(s * size) for s in strides], "c")

        def steps(values: list[int]) -> str:
            return " + ".join(f"(int)c{outer + i} * {v}" for i, v in enumerate(values)) or "0"

        inner = prod(a.extent for a in self.pass_.axes)
        batch = f"divide(id, {words.divisor(inner)})" if inner > 1 else "id"
        column = f"(int)c{len(self.extents) - 1}" if self.pass_.axes else "0"
        source, target = steps([a.source for a in self.pass_.axes]), steps([a.target for a in self.pass_.axes])
        lines.append(f"found.x = (const char*)W.w[0] + ({at(p.x.outer, p.x.kind.itemsize)});")
        lines.append(f"found.y = (char*)W.w[1] + ({at(p.y.outer, p.y.kind.itemsize)});")
        lines.append(f"found.batch = {batch}; found.from = {source}; found.to = {target}; found.column = {column};")
        return lines

    def _side(self, *, reading: bool) -> bool:
        """Whether neighbouring rows lie closer together than the numbers of one."""
        p, q = self.problem, self.pass_
        form = q.source.form if reading else q.target.form
        own, beside = (q.step, [a.source for a in q.axes]) if reading else (q.to_step, [a.target for a in q.axes])
        along = 1
        if form is not Form.BUFFER:
            if p.general:
                return bool(q.axes) and beside[-1] < own
            tensor = p.x if reading else p.y
            along, outer = abs(tensor.along), [abs(s) for s in tensor.outer]
            if not beside:
                return self.extents[-1] > 1 and outer[-1] < own * along
        return bool(beside) and beside[-1] * along < own * along

    # --- kernels ------------------------------------------------------------------------------------------------------

    def _unit(self, body: list[str], threads: int) -> KernelSource:
        wide = self.problem.kind.itemsize == 8
        definitions = DEFINITIONS.format(type="double" if wide else "float")
        held = max(radices(self.pass_.length) or (1,)) if self.pass_.length else 1
        blocks = max(1, (1024 if held > 10 else 1536) // (2 * threads if wide else threads))  # as registers allow
        return KernelSource(translation_unit(self.words, body, threads, definitions, blocks=blocks))

    def _taken(self) -> list[str]:
        lines, self.m.lines = self.m.lines, []
        return lines

    def _unpack(self) -> Launch:
        """Results of real rows from transforms in a buffer: one a thread."""
        m, half = self.m, self.problem.length
        total = self.rows * (half + 1)
        if total >= INDEX_LIMIT * 256:
            raise UnsupportedError(f"{total} elements; expected fewer than {INDEX_LIMIT * 256}")
        wrapped = m.new(f"k == {half} ? 0 : k", "int"), m.new(f"k == 0 ? 0 : {half} - k", "int")
        a, b = (m.load_buffer(self.pass_.source, i) for i in wrapped)
        self.access.unpack("k", a, b)
        count = self.words.signed(half + 1)
        body = [
            "const i64 number = (i64)blockIdx.x * 256 + threadIdx.x;",
            f"if (number >= {self.words.signed(total)}) return;",
            f"const unsigned id = (unsigned)(number / {count});",
            f"const int k = (int)(number - (i64)id * {count});",
            "Row found;",
            *self._decode(),
            "const Row my = found;",
            *m.head,
            *self._taken(),
        ]
        return Launch(self._unit(body, 256), (max(-(-total // 256), 1), 1, 1), 256)

    def _transform(self) -> Launch:
        q, m = self.pass_, self.m
        n, size = q.length, self.problem.kind.itemsize
        factors = radices(n) or (1,)
        team = n // max(factors)
        pitch = (n + n // 32) | 1
        side_in, side_out = self._side(reading=True), self._side(reading=False)
        shared_in = not side_in and team < _TOGETHER and n > 1
        unpacked = q.target.unpacked
        shared_out = unpacked or side_out != side_in or (not side_out and team < _TOGETHER and n > 1)
        rows, self.split = max(1, _THREADS // team), False
        if side_in or side_out:
            rows = max(rows, 2 * _SIDE // (size // 2))
            self.split = not shared_in and not unpacked and rows * 2 * pitch * size > _SHARED and len(factors) > 1
        parts = 1 if self.split else 2
        rows = max(1, min(rows, 1024 // team, _SHARED // (parts * pitch * size)))
        if side_in or side_out:  # neighbours in shared memory are rows, of which a warp has so many
            pitch += (32 // min(rows, 32) - pitch) % 32
        threads = rows * team
        uses_shared = shared_in or shared_out or len(factors) > 1
        first = (
            f"const int row = threadIdx.x % {rows}, t = threadIdx.x / {rows};"
            if side_in
            else f"const int row = threadIdx.x / {team}, t = threadIdx.x % {team};"
        )
        body = [
            f"__shared__ Row rows[{rows}];",
            *(["extern __shared__ __align__(16) unsigned char memory[];"] if uses_shared else []),
            f"R* const re = (R*)memory; R* const im = re + {0 if self.split else rows * pitch};" if uses_shared else "",
            f"const unsigned count = {self.words.unsigned(self.rows)};",
            f"if (threadIdx.x < {rows}) {{",
            f"  unsigned id = blockIdx.x * {rows}u + threadIdx.x;",
            "  if (id >= count) id = count - 1;",
            "  Row found;",
            *(f"  {line}" for line in self._decode()),
            "  rows[threadIdx.x] = found;",
            "}",
            "__syncthreads();",
            first,
            "const Row my = rows[row];",
            f"const bool there = blockIdx.x * {rows}u + row < count;",
            f"const int base = row * {pitch};",
        ]
        main: list[str] = []
        if shared_in:
            main += self._every(rows, n, threads, side_in, pitch, self._loaded())
        main += self._stages(factors, team, shared_in, shared_out)
        if shared_out and self.split:
            main += self._split_out(rows, n, threads, side_out, pitch)
        elif shared_out:
            every = q.length + 1 if unpacked else n
            main += self._every(rows, every, threads, side_out, pitch, self._stored(unpacked), sync=False, guard=True)
        nbytes = parts * rows * pitch * size if uses_shared else 0
        grid = (-(-self.rows // rows), 1, 1)
        return Launch(self._unit([*body, *m.head, *main], threads), grid, threads, nbytes)

    def _every(
        self, rows: int, n: int, threads: int, side: bool, pitch: int, lines: list[str], *, sync: bool = True, guard: bool = False
    ) -> list[str]:
        """Statements for each number of each row of a block, neighbours by neighbouring threads."""
        places = f"e % {rows}, j = e / {rows}" if side else f"e / {n}, j = e % {n}"
        return [
            f"for (int e = threadIdx.x; e < {rows * n}; e += {threads}) {{",
            f"  const int row = {places};",
            f"  const int base = row * {pitch};",
            "  const Row my = rows[row];",
            *([f"  if (blockIdx.x * {rows}u + row >= count) continue;"] if guard else []),
            *(f"  {line}" for line in lines),
            "}",
            *(["__syncthreads();"] if sync else []),
        ]

    def _loaded(self) -> list[str]:
        m = self.m
        re, im = self.access.read(m.new(f"my.from + j * {self.pass_.step}", "int"))
        m.lines.append(f"re[base + j + (j >> 5)] = {re}; im[base + j + (j >> 5)] = {im};")
        return self._taken()

    def _held(self, place: str) -> Number:
        at = self.m.new(f"base + {place} + ({place} >> 5)", "int")
        return self.m.new(f"re[{at}]"), self.m.new(f"im[{at}]")

    def _stored(self, unpacked: bool) -> list[str]:
        m, n = self.m, self.pass_.length
        if unpacked:
            a = self._held(m.new(f"j == {n} ? 0 : j", "int"))
            b = self._held(m.new(f"j == 0 ? 0 : {n} - j", "int"))
            self.access.unpack("j", a, b)
        else:
            self._finish("j", self._held("j"))
        return self._taken()

    def _finish(self, k: str, z: Number) -> None:
        """Result k of a row, to where it belongs."""
        m, q = self.m, self.pass_
        if q.roots:
            z = product(m, z, m.turn(q, k, "my.column"))
        self.access.write(m.new(f"my.to + {k} * {q.to_step}", "int"), z)

    def _split_out(self, rows: int, n: int, threads: int, side: bool, pitch: int) -> list[str]:
        """The results, of which the real parts are in shared memory and then the imaginary ones, to where they belong."""
        places = f"e % {rows}, j = e / {rows}" if side else f"e / {n}, j = e % {n}"
        each = -(-rows * n // threads)
        head = [
            "#pragma unroll",
            f"for (int u = 0; u < {each}; ++u) {{",
            f"  const int e = threadIdx.x + u * {threads};",
            f"  if (e >= {rows * n}) break;",
            f"  const int row = {places};",
            f"  const int at = row * {pitch} + j + (j >> 5);",
        ]
        self._finish("j", ("held[u]", "re[at]"))
        return [
            f"R held[{each}];",
            *head,
            "  held[u] = re[at];",
            "}",
            "__syncthreads();",
            *self.imaginary,
            "__syncthreads();",
            *head,
            "  const Row my = rows[row];",
            f"  if (blockIdx.x * {rows}u + row >= count) continue;",
            *(f"  {line}" for line in self._taken()),
            "}",
        ]

    def _stages(self, factors: tuple[int, ...], team: int, shared_in: bool, shared_out: bool) -> list[str]:
        """Statements from the numbers of rows to their transforms; values go from one radix to the next by shared memory."""
        m, n = self.m, self.pass_.length
        lines: list[str] = []
        before, offsets = 1, stage_offsets(n)
        for number, r in enumerate(factors):
            is_last = number == len(factors) - 1
            work, step = n // r, n // before // r
            times = -(-work // team)
            to_memory = is_last and not shared_out
            if number == 0:
                lines.append(f"R x0r[{times * r}], x0i[{times * r}];")
                lines += self._each(work, team, partial(self._first, r, work, shared_in))
                if shared_in:
                    lines.append("__syncthreads();")
            name = f"x{number}"

            def computed(
                u: int, r: int = r, before: int = before, step: int = step, name: str = name, number: int = number
            ) -> None:
                is_last = number == len(factors) - 1
                p = f"(p{u} / {before})" if before > 1 else f"p{u}"
                q = f"(p{u} % {before})" if before > 1 else "0"
                found = butterfly(m, [(f"{name}r[{u * r + i}]", f"{name}i[{u * r + i}]") for i in range(r)])
                for k, z in enumerate(found):
                    if k and not is_last:
                        z = product(m, z, m.table(("stages", n), f"{offsets[number] + (k - 1) * step} + {p}"))
                    if is_last and not shared_out:
                        self._finish(m.new(f"({q} + {before} * ({r} * {p} + {k}))", "int"), z)
                    else:
                        m.lines.append(f"{name}r[{u * r + k}] = {z[0]}; {name}i[{u * r + k}] = {z[1]};")

            lines += self._each(work, team, computed, also=" && there" if to_memory else "")
            if not to_memory:
                following = None if is_last else factors[number + 1]
                lines += self._exchanged(name, r, before, work, team, following, f"x{number + 1}")
            before *= r
        return lines

    def _each(self, work: int, team: int, write: Callable[[int], None], also: str = "") -> list[str]:
        """Statements for each butterfly that a thread has."""
        lines: list[str] = []
        for u in range(-(-work // team)):
            write(u)
            condition = f"t + {u * team} < {work}" if (u + 1) * team > work else "true"
            lines += [f"if ({condition}{also}) {{", f"const int p{u} = t + {u * team};", *self._taken(), "}"]
        return lines

    def _first(self, r: int, work: int, shared_in: bool, u: int) -> None:
        """The numbers of a thread's first butterfly."""
        m = self.m
        for i in range(r):
            place = f"(p{u} + {i * work})"
            z = self._held(place) if shared_in else self.access.read(m.new(f"my.from + {place} * {self.pass_.step}", "int"))
            m.lines.append(f"x0r[{u * r + i}] = {z[0]}; x0i[{u * r + i}] = {z[1]};")

    def _exchanged(self, name: str, r: int, before: int, work: int, team: int, following: int | None, into: str) -> list[str]:
        """What butterflies gave to the threads that take it next; to shared memory alone where nothing follows."""
        m, n = self.m, self.pass_.length

        def out(parts: str) -> list[str]:
            def write(u: int) -> None:
                p = f"(p{u} / {before})" if before > 1 else f"p{u}"
                q = f"(p{u} % {before})" if before > 1 else "0"
                for k in range(r):
                    place = m.new(f"({q} + {before} * ({r} * {p} + {k}))", "int")
                    at = m.new(f"base + {place} + ({place} >> 5)", "int")
                    for part in parts:
                        m.lines.append(f"{'re' if part == 'r' else 'im'}[{at}] = {name}{part}[{u * r + k}];")

            return self._each(work, team, write)

        if following is None:
            self.imaginary = out("i") if self.split else []
            return [*out("r" if self.split else "ri"), "__syncthreads();"]
        count = n // following

        def back(parts: str) -> list[str]:
            def read(u: int) -> None:
                for i in range(following):
                    place = f"(p{u} + {i * count})"
                    at = m.new(f"base + {place} + ({place} >> 5)", "int")
                    for part in parts:
                        m.lines.append(f"{into}{part}[{u * following + i}] = {'re' if part == 'r' else 'im'}[{at}];")

            return self._each(count, team, read)

        size = -(-count // team) * following
        lines = [f"R {into}r[{size}], {into}i[{size}];"]
        for parts in ("r", "i") if self.split else ("ri",):
            lines += [*out(parts), "__syncthreads();", *back(parts), "__syncthreads();"]
        return lines
