"""How a factor's tiles reach shared memory, and how a thread reads its share of them."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, input_
from baracuda.formula.small_floats import widen as widened
from baracuda.lowering.contraction import Contraction
from baracuda.lowering.cuda.emit import Emitter
from baracuda.lowering.cuda.kernel import Words, piece
from baracuda.lowering.cuda.prelude import STORAGE_TYPE
from baracuda.lowering.cuda.products_tiles import Tile
from baracuda.lowering.problem import Operand

#: Bytes that an asynchronous copy may move.
_ASYNCHRONOUS = (4, 8, 16)
#: The 8-bit floats, which only products load: elsewhere formulas unpack them.
_SMALL = {ElementKind.F8E4M3: "F8E4M3", ElementKind.F8E5M2: "F8E5M2"}
_STORAGE = STORAGE_TYPE | _SMALL


@dataclass(frozen=True)
class Passage:
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

    def loader(self, threads: int) -> str:
        """The C++ type that moves the tiles."""
        flags = (self.along, self.by_k, self.asynchronous)
        numbers = (self.rows, self.bk, self.pitch, threads, self.vector, *(str(f).lower() for f in flags))
        return f"Loader<{_STORAGE[self.kind]}, {_STORAGE[self.shared_kind]}, {', '.join(map(str, numbers))}>"


@dataclass(frozen=True)
class Factor:
    """An operand of a product: its name in the kernel, its number among the program's addresses, which of its axes are rows
    and k, and its passage."""

    name: str
    number: int
    operand: Operand
    row_axis: int
    k_axis: int
    passage: Passage

    @property
    def storage(self) -> str:
        return _STORAGE[self.operand.kind]

    @property
    def shared(self) -> str:
        return _STORAGE[self.passage.shared_kind]

    def stride(self, axis: int, words: Words) -> str:
        """The C++ expression of a stride: text where code may depend on it."""
        known = self.operand.steps(axis)
        return f"(i64){known}" if known in (0, 1) else words.signed(self.operand.strides[axis])


def passage(operand: Operand, c: Contraction, tile: Tile, *, left: bool) -> Passage | None:
    """How the tiles of a factor travel; None where a thin tile has no way for it."""
    rank = len(c.batch)
    row_axis, k_axis = (rank, rank + 1) if left else (rank + 1, rank)
    extents = (*c.batch, c.m, c.k) if left else (*c.batch, c.k, c.n)
    rows, size = (tile.bm if left else tile.bn), operand.kind.itemsize
    along = operand.steps(row_axis) == 1
    neighbours = along or operand.steps(k_axis) == 1
    vector = 1
    if neighbours:
        vector = min(piece(operand, 16 // size, row_axis if along else k_axis, extents), rows if along else tile.bk)
    if tile.thin and left:  # few elements: any layout will do, and every thread of a warp reads the same ones
        return Passage(operand.kind, c.accumulator, rows, tile.bk, 1, False, False, False, False)
    if tile.thin:
        possible = neighbours and vector * size in _ASYNCHRONOUS
        return Passage(operand.kind, c.accumulator, rows, tile.bk, vector, along, along, True, True) if possible else None
    direct = operand.kind is c.accumulator and size in _ASYNCHRONOUS
    if not neighbours:
        along = not operand.general and abs(operand.strides[row_axis]) < abs(operand.strides[k_axis])
    elif direct and not along:
        direct, vector = not tile.staged, vector if tile.staged else 1
    return Passage(operand.kind, c.accumulator, rows, tile.bk, vector, along, True, direct, direct)


def factors(c: Contraction, tile: Tile, *, exchanged: bool) -> tuple[list[Factor], list[Factor]] | None:
    """The parts of both factors; None where the tile has no way for one of them. `exchanged` says that they have changed
    places: the program's addresses have b's first."""
    rank, parts = len(c.batch), len(c.a)
    found: tuple[list[Factor], list[Factor]] = [], []
    for i, operand in enumerate((*c.a, *c.b)):
        left = i < len(c.a)
        way = passage(operand, c, tile, left=left)
        if way is None:
            return None
        name = f"{'a' if left else 'b'}{i % parts}"
        axes = (rank, rank + 1) if left else (rank + 1, rank)
        found[not left].append(Factor(name, (i + parts * exchanged) % (2 * parts), operand, *axes, way))
    return found


def small_float_definitions(c: Contraction) -> str:
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
