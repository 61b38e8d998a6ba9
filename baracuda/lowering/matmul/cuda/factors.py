"""How a factor's tiles reach shared memory, and how a thread reads its share of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from baracuda.codegen.cuda.emit import Emitter
from baracuda.codegen.cuda.prelude import STORAGE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, input_
from baracuda.formula.small_floats import widen as widened
from baracuda.lowering.matmul.cuda.tiles import BlockTile, ThinTile, Tile
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, piece
from baracuda.lowering.nest.problem import Operand

#: Bytes that an asynchronous copy may move.
_ASYNCHRONOUS = (4, 8, 16)
#: The 8-bit floats, which only products load: elsewhere formulas unpack them.
_SMALL = {ElementKind.F8E4M3: "F8E4M3", ElementKind.F8E5M2: "F8E5M2"}
#: How an element is written in C++.
STORAGE = STORAGE_TYPE | _SMALL


@dataclass(frozen=True)
class StagingPath:
    """The way of a factor's tiles of `rows` (of m or n) by `bk`.

    Attributes
    ----------
    vector : int
        Elements of one access.
    along : bool
        Whether an access runs along the rows, rather than along k.
    by_k : bool
        Whether a line of shared memory has the rows of one k, rather than one row's elements along k.
    raw : bool
        Whether the elements lie there as stored, rather than widened.
    asynchronous : bool
        Whether they get there without passing registers.
    """

    kind: ElementKind
    accumulator: ElementKind
    rows: int
    bk: int
    vector: int
    along: bool
    by_k: bool
    raw: bool
    asynchronous: bool

    @property
    def shared_kind(self) -> ElementKind:
        return self.kind if self.raw else self.accumulator

    @property
    def pitch(self) -> int:
        """Elements from line to line. Where neighbours go to different lines, these begin in different banks; so they do where
        the threads of a warp read from different lines."""
        line, pad = (self.rows if self.by_k else self.bk), 16 // self.shared_kind.itemsize
        return line if self.along and self.by_k else line + pad

    @property
    def elements(self) -> int:
        """Elements of a tile in shared memory."""
        return self.pitch * (self.bk if self.by_k else self.rows)

    @property
    def nbytes(self) -> int:
        return self.elements * self.shared_kind.itemsize

    def loader(self, threads: int, every: int = 1) -> str:
        """The C++ type by which some threads move every tile, or every few ones."""
        flags = (self.along, self.by_k, self.asynchronous)
        numbers = (self.rows, self.bk, self.pitch, threads, self.vector, *(str(f).lower() for f in flags), every)
        return f"Loader<{STORAGE[self.kind]}, {STORAGE[self.shared_kind]}, {', '.join(map(str, numbers))}>"


class MatrixPath(StagingPath):
    """The way of a factor whose tiles `ldmatrix` reads: lines begin in different banks, however they lie."""

    @property
    def pitch(self) -> int:
        return (self.rows if self.by_k else self.bk) + 16 // self.kind.itemsize


@dataclass(frozen=True)
class Factor:
    """An operand of a product: its name in the kernel, its number among the program's addresses, which of its axes are rows
    and k, and its passage."""

    name: str
    number: int
    operand: Operand
    row_axis: int
    k_axis: int
    staging_path: StagingPath

    @property
    def storage(self) -> str:
        return STORAGE[self.operand.kind]

    @property
    def shared(self) -> str:
        return STORAGE[self.staging_path.shared_kind]

    def stride(self, axis: int, words: Words) -> str:
        """The C++ expression of a stride: text where code may depend on it."""
        known = self.operand.steps(axis)
        return f"(i64){known}" if known in (0, 1) else words.signed(self.operand.strides[axis])


@dataclass(frozen=True)
class _FactorLayout:
    """How an operand lies for a tile of `rows`: its axes, whether neighbours lie along the rows or along k, and how many of
    them an access may move."""

    row_axis: int
    k_axis: int
    rows: int
    along: bool
    neighbours: bool
    vector: int


def _factor_layout(operand: Operand, c: MatmulProblem, tile: BlockTile, *, left: bool) -> _FactorLayout:
    rank, size = len(c.batch), operand.kind.itemsize
    row_axis, k_axis = (rank, rank + 1) if left else (rank + 1, rank)
    extents = (*c.batch, c.m, c.k) if left else (*c.batch, c.k, c.n)
    rows = tile.bm if left else tile.bn
    along = operand.steps(row_axis) == 1
    neighbours = along or operand.steps(k_axis) == 1
    vector = 1
    if neighbours:
        vector = min(piece(operand, 16 // size, row_axis if along else k_axis, extents), rows & -rows if along else tile.bk)
    return _FactorLayout(row_axis, k_axis, rows, along, neighbours, vector)


def staging_path_of(operand: Operand, c: MatmulProblem, tile: Tile, *, left: bool) -> StagingPath:
    """How the tiles of a factor travel."""
    placement, kind = _factor_layout(operand, c, tile, left=left), c.accumulator
    along, vector = placement.along, placement.vector
    direct = operand.kind is kind and operand.kind.itemsize in _ASYNCHRONOUS
    by_k = True
    if not placement.neighbours:
        along = not operand.general and abs(operand.strides[placement.row_axis]) < abs(operand.strides[placement.k_axis])
    elif not along and tile.lines:
        by_k = False
    elif direct and not along:
        direct, vector = not tile.staged, vector if tile.staged else 1
    return StagingPath(operand.kind, kind, placement.rows, tile.bk, vector, along, by_k, direct, direct)


def factor_of(c: MatmulProblem, number: int, way: StagingPath, *, exchanged: bool) -> Factor:
    """Part `number` of those of both factors."""
    rank, parts = len(c.batch), len(c.a)
    left = number < parts
    operand = (*c.a, *c.b)[number]
    axes = (rank, rank + 1) if left else (rank + 1, rank)
    name = f"{'a' if left else 'b'}{number % parts}"
    return Factor(name, (number + parts * exchanged) % (2 * parts), operand, *axes, way)


def factors(c: MatmulProblem, tile: Tile, *, exchanged: bool) -> tuple[list[Factor], list[Factor]] | None:
    """The parts of both factors; None where the parts of one lie so differently that one tile does not fit both. `exchanged`
    says that the factors have changed places: the program's addresses have b's first."""
    parts = len(c.a)
    ways = [staging_path_of(o, c, tile, left=i < parts) for i, o in enumerate((*c.a, *c.b))]
    if any(w.by_k is not of[0].by_k for of in (ways[:parts], ways[parts:]) for w in of):
        return None
    all_factors = [factor_of(c, i, way, exchanged=exchanged) for i, way in enumerate(ways)]
    return all_factors[:parts], all_factors[parts:]


def thin_factors(c: MatmulProblem, tile: ThinTile, *, exchanged: bool) -> tuple[Factor, Factor] | None:
    """The factors of a thin product: a, every layout of which will do, passes registers and is widened; b stays as it is
    stored. None where b has no neighbours that an asynchronous copy could move."""
    (a,), (b,) = c.a, c.b
    lies_a, lies_b = _factor_layout(a, c, tile, left=True), _factor_layout(b, c, tile, left=False)
    if not lies_b.neighbours or lies_b.vector * b.kind.itemsize not in _ASYNCHRONOUS:
        return None
    kind = c.accumulator
    thin = StagingPath(a.kind, kind, tile.bm, tile.bk, lies_a.vector, lies_a.along, False, False, False)
    wide = StagingPath(b.kind, kind, tile.bn, tile.bk, lies_b.vector, lies_b.along, lies_b.along, True, True)
    return factor_of(c, 0, thin, exchanged=exchanged), factor_of(c, 1, wide, exchanged=exchanged)


def matrix_factors(c: MatmulProblem, tile: BlockTile, *, exchanged: bool) -> list[Factor]:
    """The factors of a product by tensor cores: 16 bits that nobody looks at on the way, in lines along k or along the rows,
    whichever way they lie."""
    found = []
    for number, (operand, left) in enumerate(((c.a[0], True), (c.b[0], False))):
        bits = replace(operand, kind=ElementKind.U16)
        lies, along = _factor_layout(bits, c, tile, left=left), False
        if lies.neighbours:
            along = lies.along
        elif not operand.general:
            along = abs(operand.strides[lies.row_axis]) < abs(operand.strides[lies.k_axis])
        asynchronous = lies.vector * bits.kind.itemsize in _ASYNCHRONOUS
        path = MatrixPath(bits.kind, bits.kind, lies.rows, tile.bk, lies.vector, along, along, True, asynchronous)
        found.append(replace(factor_of(c, number, path, exchanged=exchanged), operand=bits))
    return found


def lines_along_k(c: MatmulProblem, *, left: bool) -> tuple[Operand, tuple[int, ...]]:
    """A real factor over (*batch, row, k), and the extents of its batch axes, 1 where it does not vary."""
    rank, operand = len(c.batch), (c.a if left else c.b)[0]
    strides = operand.strides if left else (*operand.strides[:rank], operand.strides[rank + 1], operand.strides[rank])
    turned = Operand(operand.kind, strides, operand.alignment, operand.general)
    return turned, tuple(n if turned.steps(i) != 0 else 1 for i, n in enumerate(c.batch))


def small_float_definitions(c: MatmulProblem) -> str:
    """The 8-bit floats that the factors have, and their widening: the very formula that every other kernel has."""
    text = ""
    for kind in sorted({o.kind for o in (*c.a, *c.b)} & set(_SMALL), key=str):
        code = input_("code", ElementKind.S32)

        def leaf(n: Expr, code: Expr = code) -> str | None:
            return "(int)x.byte" if n is code else None

        emitter = Emitter(leaf)
        value = emitter.value(widened(code, kind))
        body = "\n".join(f"  {line}" for line in emitter.lines)
        name = _SMALL[kind]
        text += f"struct {name} {{ unsigned char byte; }};\n"
        text += f"__device__ __forceinline__ float widen({name} x) {{\n{body}\n  return {value};\n}}\n"
    return text
