"""Rows of q, k, v and dy made integers, a block or a tile of them at a time."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.attention.cpu.integers.products import IntegerProducts
from baracuda.lowering.attention.cpu.integers.quantizer import Quantizer, Reading
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.cpu.work import AttentionKernel, Scratch
from baracuda.lowering.attention.problem import KEYS, QUERIES


@dataclass(frozen=True)
class Form:
    """A matrix that some rows of an operand are kept as.

    Attributes
    ----------
    name
        The operand.
    right
        Whether it is a right matrix.
    across
        Whether its columns are the operand's rows.
    """

    name: str
    right: bool
    across: bool


@dataclass(frozen=True)
class Kept:
    """Where the matrices and scales of a block are, by what they are, from `base` on."""

    base: Value
    work: AttentionKernel
    places: dict[Form | str, int]

    def matrix(self, form: Form) -> Value:
        return self.work.b.at(self.base, self.places[form])

    def scales(self, name: str) -> Matrix:
        return Matrix(self.work.b.at(self.base, self.places[name]), QUERIES * 4, 4)


class Operands:
    """Makes 64 rows of some operands integers in some forms; `packed` is scratch memory for them as f32."""

    def __init__(self, work: AttentionKernel, products: IntegerProducts, quantizer: Quantizer, packed: Matrix, *forms: Form):
        self.work, self.products, self.quantizer, self.packed, self.forms = work, products, quantizer, packed, forms
        layout = Scratch()
        self.places: dict[Form | str, int] = {name: layout.take(QUERIES * 4) for name in dict.fromkeys(f.name for f in forms)}
        for form in forms:
            # one side of a matrix is the block's rows, the other what a row has
            depth = self._depth(form.name)
            rows, k = (KEYS, depth) if form.across == form.right else (work.padded(depth), KEYS)
            self.places[form] = layout.take(products.nbytes(rows, k))
        self.nbytes = layout.nbytes

    def _depth(self, name: str) -> int:
        return self.work.a.depth if name in ("q", "k") else self.work.a.value_depth

    def at(self, base: Value) -> Kept:
        """What is kept from an address on."""
        return Kept(base, self.work, self.places)

    def make(self, form: Form, at: Value, count: Value, to: Kept) -> Matrix:
        """Make one form of `count` rows from an address on; gives where they are as f32, rows or columns."""
        w, depth = self.work, self._depth(form.name)
        columns = QUERIES if form.across else w.padded(depth)
        packed = Matrix(w.in_scratch(self.packed).pointer, columns * w.size, w.size)
        read: Reading = lambda row, column: w.load(packed.at(w.b, row, column))  # noqa: E731
        scales, matrix, many = to.scales(form.name), to.matrix(form), w.whole_vectors(count)
        if form.across:
            w.pack_columns(form.name, at, count, packed, depth)
            reading = self.quantizer.of_columns(read, depth, many, scales)
        else:
            w.pack_rows(form.name, at, count, packed, depth)
            reading = self.quantizer.of_rows(read, count, w.padded(depth), scales)
        if form.right and form.across:
            self.products.keep_right(reading, depth, many, matrix)
        elif form.right:
            self.products.keep_right(reading, KEYS, w.padded(depth), matrix)
        elif form.across:
            self.products.keep_left(reading, w.padded(depth), KEYS, matrix)
        else:
            self.products.keep_left(reading, count, depth, matrix)
        return packed
