"""The windows of a convolution as rows of a product: which tap of which row meets which line of x.

A row of the product is an output's position, a line the channels of a position of x, in whatever form a kernel reads them: in
place, or written by a pass beforehand, once for all windows. What produces tiles gathers for each tap the lines that the rows
meet there, zeros where a window lies outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.convolution.problem import ConvolutionProblem
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, unravel
from baracuda.lowering.nest.problem import Operand

#: Positions of x and of windows, those beyond the ends too, are below this; so 32-bit numbers hold their sums.
_FAR = 1 << 29
#: Lines of x, and outputs of a batch element, are at most so many.
MOST = 1 << 31


def _run(axes: tuple[int, ...], extents: dict[int, int], strides: list[dict[int, int]]) -> tuple[list[int], list[int]]:
    """Of axes from the slowest to the fastest, the last ones that all operands walk as one, and the operands' steps along it."""
    found, count, steps = list[int](), 1, [0] * len(strides)
    for axis in reversed(axes):
        n, own = extents[axis], [s[axis] for s in strides]
        if n > 1 and count > 1 and any(s != step * count for s, step in zip(own, steps, strict=True)):
            break
        if n > 1 and count == 1:
            steps = own
        found.insert(0, axis)
        count *= n
    return found, steps


@dataclass(frozen=True)
class Rows:
    """The results of a convolution as those of a product.

    Attributes
    ----------
    product
        Its rows are the outputs along the axes `rows`, its batches the others.
    finished
        The same as its epilogue sees it: with the columns for its rows where results lie along the rows (`turned`), and with the
        first so many axes of the rows, `loose`, among its batches, where operands do not walk all of the rows as one.
    rows, batches
        Axes of y by their numbers in (b, g, *o).
    """

    product: MatmulProblem
    finished: MatmulProblem
    turned: bool
    loose: int
    rows: tuple[int, ...]
    batches: tuple[int, ...]


@dataclass(frozen=True)
class Windows(Rows):
    """A convolution as a product. lines: lines of x from one to the next along (b, g, *i)."""

    problem: ConvolutionProblem
    lines: tuple[int, ...]

    @property
    def taps(self) -> int:
        return prod(self.problem.taps)

    @property
    def parts(self) -> int:
        """Parts that sums are taken in, each a tile's own; 0: they are taken as a whole."""
        return self.problem.segments if self.problem.segments > 1 else 0

    @property
    def tiled(self) -> MatmulProblem:
        """The product whose tiles are taken: parts are its last batch."""
        return replace(self.product, batch=(*self.product.batch, self.parts)) if self.parts else self.product

    def taps_of_tile(self, words: Words) -> list[str]:
        """Declares which taps a tile takes."""
        if not self.parts:
            return [f"const unsigned first_tap = 0, last_tap = {words.unsigned(self.taps)};"]
        part, length = f"c{len(self.batches)}", words.unsigned(self.problem.segment)
        return [
            f"const unsigned first_tap = {part} * {length}, taps_left = {words.unsigned(self.taps)} - first_tap;",
            f"const unsigned last_tap = first_tap + (taps_left < {length} ? taps_left : {length});",
        ]

    # --- code ---------------------------------------------------------------------------------------------------------

    def coordinates(self, words: Words, row: str, prefix: str) -> tuple[list[str], dict[int, str]]:
        """Statements that split the number of a row, and the name of the coordinate along each axis of (b, g, *o)."""
        p = self.problem
        extents = (p.batch, p.groups, *p.outputs)
        lines = unravel(row, tuple(extents[a] for a in self.rows), words, prefix, wide=False)
        names = {a: f"{prefix}{i}" for i, a in enumerate(self.rows)} | {a: f"c{i}" for i, a in enumerate(self.batches)}
        return lines, names

    def first_positions(self, words: Words, chunks: int, warps: int) -> list[str]:
        """Declares of a lane's own rows, one of each 32, where their windows begin, and the line `lead` to count from."""
        p, each = self.problem, -(-chunks // warps)
        split, names = self.coordinates(words, "m", "r")
        return [
            f"int {', '.join(f'first{a}[{each}]' for a in p.spatial)}; unsigned lead[{each}];",
            "#pragma unroll",
            f"for (int h = 0; h < {each}; ++h) {{",
            f"const i64 own = (i64)tile_m * {chunks * 32} + (bringing + h * {warps}) * 32 + lane;",
            f"const bool exists = bringing + h * {warps} < {chunks} && own < {words.signed(self.product.m)};",
            "const unsigned m = exists ? (unsigned)own : 0;",
            *split,
            *(f"first{a}[h] = exists ? {self._first(words, a, names)} : {2 * _FAR};" for a in p.spatial),
            f"lead[h] = {names[0]} * {words.unsigned(self.lines[0])} + {names[1]} * {words.unsigned(self.lines[1])};",
            "}",
        ]

    def _first(self, words: Words, axis: int, names: dict[int, str]) -> str:
        """Where a window begins along an axis."""
        stride, low = (words.word(n[axis]) for n in (self.problem.stride, self.problem.low))
        return f"(int){names[2 + axis]} * (int){stride} - (int){low}"

    def each_tap(self, words: Words, chunks: int, warps: int, body: list[str]) -> list[str]:
        """Runs `body` for each tap, whose number is `tap` and of which lane's own rows meet the lines `line`; where sums are
        taken in parts, for those from `first_tap` to `last_tap`."""
        p, each = self.problem, -(-chunks // warps)
        loops = [f"for (int t{a} = 0; t{a} < (int){words.word(p.taps[a])}; ++t{a}) {{" for a in p.spatial]
        at = [f"const int i{a} = first{a}[h] + t{a} * (int){words.word(p.dilation[a])};" for a in p.spatial]
        there = " && ".join(f"(unsigned)i{a} < {words.unsigned(p.inputs[a])}" for a in p.spatial)
        line = " + ".join(["lead[h]", *(f"(unsigned)i{a} * {words.unsigned(self.lines[2 + a])}" for a in p.spatial)])
        before = ["unsigned tap = 0;", *(line for loop in loops for line in ("#pragma unroll 1", loop))]
        after = ["++tap;", *["}"] * p.rank]
        if self.parts:
            before = ["#pragma unroll 1", "for (unsigned tap = first_tap; tap < last_tap; ++tap) {"]
            before += unravel("tap", p.taps, words, "t", wide=False)
            after = ["}"]
        return [
            *before,
            f"int line[{each}];",
            "#pragma unroll",
            f"for (int h = 0; h < {each}; ++h) {{",
            *at,
            f"line[h] = {there} ? (int)({line}) : -1;",
            "}",
            *body,
            *after,
        ]

    def epilogue(self, words: Words, finish: Sequence[str]) -> list[str]:
        """The statements of an epilogue, in terms of its own rows and columns."""
        if self.turned:
            own = "const i64 first_m = m0, first_n = n0; const int across = columns, down = rows;"
            return [own, "{", "const i64 m0 = first_n, n0 = first_m; const int rows = across, columns = down;", *finish, "}"]
        if not self.loose:
            return list(finish)
        first = len(self.batches)
        place = f"const i64 c{first + self.loose} = m0 + r, at = n0 + s;"
        extents = (self.problem.batch, self.problem.groups, *self.problem.outputs)
        own_extents = (*(extents[a] for a in self.rows[: self.loose]), self.finished.m)
        split = unravel("(unsigned)(m0 + r)", own_extents, words, "w", wide=False)
        names = [f"const unsigned c{first + i} = w{i};" for i in range(self.loose)]
        lines = [*split, *names, f"const i64 c{first + self.loose} = w{self.loose}, at = n0 + s;"]
        assert place in finish
        return [own for line in finish for own in (lines if line == place else [line])]


def check_windows(p: ConvolutionProblem) -> None:
    """Raises `UnsupportedError` where a convolution has no terms, weights or inputs that a tap or a place has of its own, or more
    positions than 32-bit numbers count."""
    if not p.is_plain or not p.rank or not p.terms:
        raise UnsupportedError(f"{p.terms} terms over {p.rank} axes; expected a plain convolution")
    ends = [
        abs(o * s) + abs(t * d) + abs(low) for o, s, t, d, low in zip(p.outputs, p.stride, p.taps, p.dilation, p.low, strict=True)
    ]
    if max(*ends, *p.inputs) >= _FAR:
        raise UnsupportedError(f"windows that reach {max(ends)} positions of {p.inputs}; expected fewer than {_FAR}")


def rows_of(p: ConvolutionProblem) -> Rows:
    """The outputs as rows: all axes but the groups'; where results lie along them, those that every operand walks as one."""
    axes = (0, *range(2, 2 + p.rank))
    extents = dict(enumerate((p.batch, p.groups, *p.outputs)))
    strides = [dict(enumerate(o.strides)) for o in p.operands]
    if any(o.general for o in p.operands):
        run, steps = [axes[-1]], [s[axes[-1]] for s in strides]
        turned = False
    else:
        run, steps = _run(axes, extents, strides)
        turned = steps[-1] == 1 != p.operands[-1].strides[-1]
    loose = () if turned else tuple(a for a in axes if a not in run)
    batches = tuple(a for a in extents if a not in (*loose, *run))
    inner, m = prod(extents[a] for a in run), prod(extents[a] for a in (*loose, *run))
    if m >= MOST:
        raise UnsupportedError(f"{m} outputs; expected fewer than {MOST}")

    def operand(o: Operand, step: int) -> Operand:
        last = (o.strides[-1], step) if turned else (step, o.strides[-1])
        return replace(o, strides=(*(o.strides[a] for a in (*batches, *loose)), *last))

    nowhere = (0,) * (len(batches) + 2)
    product = MatmulProblem(
        tuple(extents[a] for a in batches), m, p.columns, p.terms, (Operand(p.x.kind, nowhere),), (Operand(p.w.kind, nowhere),),
        p.accumulator, p.epilogue, (), p.math,
    )  # fmt: skip
    finished = replace(
        product,
        batch=tuple(extents[a] for a in (*batches, *loose)),
        m=p.columns if turned else inner,
        n=inner if turned else p.columns,
        operands=tuple(operand(o, step) for o, step in zip(p.operands, steps, strict=True)),
    )
    return Rows(product, finished, turned, len(loose), (*loose, *run), batches)


@dataclass(frozen=True)
class Positions:
    """The positions of x as rows of matrices.

    Attributes
    ----------
    operand
        x over (*batch, row, channel).
    batch, rows
        Extents: the last axes that lie one behind the other are the rows, or one whose elements lie side by side.
    axes
        Those of the batch, then those of the rows, by their numbers in (b, g, *i); how many are the batch's is len(batch).
    extents
        Of these axes.
    """

    operand: Operand
    batch: tuple[int, ...]
    rows: int
    axes: tuple[int, ...]
    extents: tuple[int, ...]

    def lines(self, each: int) -> tuple[tuple[int, ...], int]:
        """Lines along (b, g, *i) where the rows of a matrix take so many, and lines in all."""
        found, size = dict[int, int](), 1
        for i in reversed(range(len(self.axes))):
            if i + 1 == len(self.batch):
                size = each
            found[self.axes[i]] = size
            size *= self.extents[i]
        if size >= MOST:
            raise UnsupportedError(f"{size} lines; expected fewer than {MOST}")
        return tuple(found[a] for a in range(len(self.axes))), size


def positions(p: ConvolutionProblem) -> Positions:
    """Those of a plain convolution."""
    axes, xs = range(2 + p.rank), p.x.strides
    extents = dict(zip(axes, (p.batch, p.groups, *p.inputs), strict=True))
    rows, steps = ([axes[-1]], [xs[axes[-1]]]) if p.x.general else _run(tuple(axes[2:]), extents, [dict(enumerate(xs))])
    if not p.x.general and 1 not in (xs[-1], *steps):  # along what lies side by side they are read best
        beside = [a for a in axes if xs[a] == 1 and extents[a] > 1]
        rows, steps = (beside[:1], [1]) if beside else (rows, steps)
    lead = tuple(a for a in axes if a not in rows)
    operand = replace(p.x, strides=(*(xs[a] for a in lead), steps[0], xs[-1]))
    order = (*lead, *rows)
    return Positions(
        operand, tuple(extents[a] for a in lead), prod(extents[a] for a in rows), order, tuple(extents[a] for a in order)
    )


def weights(p: ConvolutionProblem) -> tuple[Operand, tuple[int, ...]]:
    """w over (g, *t, n, c), and the extents of (g, *t)."""
    ws = p.w_strides()
    return replace(p.w, strides=(ws["g"], *(ws[f"t{a}"] for a in p.spatial), ws["n"], ws["c"])), (p.groups, *p.taps)
