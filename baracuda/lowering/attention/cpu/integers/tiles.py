"""The tiles of keys and values as integers: each made once, where several blocks of queries meet it."""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.attention.cpu.integers.operands import Form, Kept, Operands
from baracuda.lowering.attention.cpu.integers.products import IntegerProducts
from baracuda.lowering.attention.cpu.integers.quantizer import Quantizer
from baracuda.lowering.attention.cpu.integers.ways import products_of
from baracuda.lowering.attention.cpu.tiles import Matrix
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.attention.problem import KEYS, QUERIES, Attention
from baracuda.lowering.matmul.cpu.plan import aligned_workspace
from baracuda.lowering.nest.cpu.kernel import Words
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Launch

#: Parts of the work for each thread.
_PARTS = 8


def packed_area(work: AttentionKernel) -> Matrix:
    """Scratch memory for rows as f32, whatever they are of."""
    return work.area(max(work.depth, work.value_depth), QUERIES)


def tiles_of(a: Attention) -> int:
    return -(-a.keys // KEYS)


def made_once(a: Attention) -> bool:
    """Whether several blocks of queries meet a tile."""
    return a.queries > QUERIES or a.heads > a.key_heads


class KeyTiles:
    """Operands of tiles, in the workspace from its start on where they are made once, else in scratch memory."""

    def __init__(
        self, work: AttentionKernel, products: IntegerProducts, quantizer: Quantizer, packed: Matrix, forms: Sequence[Form]
    ) -> None:
        self.work, self.a = work, work.a
        self.operands = Operands(work, products, quantizer, packed, *forms)
        self.once = made_once(self.a)
        nbytes = self.operands.nbytes
        self.place = None if self.once else work.scratch.take(nbytes)
        if self.once:
            work.before_scratch = self.a.batch * self.a.key_heads * tiles_of(self.a) * nbytes

    def at(self, batch: Value, key_head: Value, first_key: Value, keys: Value) -> Kept:
        """A tile, which is made now unless it was before."""
        w, b = self.work, self.work.b
        if self.place is not None:
            kept = self.operands.at(b.at(w.base, self.place))
            self.make(batch, key_head, first_key, keys, kept)
            return kept
        return self.kept(batch, key_head, b.div(first_key, KEYS))

    def kept(self, batch: Value, key_head: Value, tile: Value) -> Kept:
        """Where a tile is in the workspace."""
        w, b = self.work, self.work.b
        key_heads, tiles = w.kernel.integers([self.a.key_heads, tiles_of(self.a)])
        number = b.add(b.mul(b.add(b.mul(batch, key_heads), key_head), tiles), tile)
        return self.operands.at(b.at(aligned_workspace(w.kernel), b.mul(number, self.operands.nbytes)))

    def make(self, batch: Value, key_head: Value, first_key: Value, keys: Value, to: Kept) -> None:
        for form in self.operands.forms:
            self.operands.make(form, self.work.at(form.name, batch, key_head, first_key), keys, to)

    def before(self, own: tuple[tuple[Launch, ...], int], words: Words, target: CpuTarget) -> tuple[tuple[Launch, ...], int]:
        """Steps with the workspace that they take, and the step before them that makes every tile, where it is needed."""
        if not self.once:
            return own
        first, nbytes = self._step(words, target)
        return (first, *own[0]), max(own[1], nbytes)

    def _step(self, words: Words, target: CpuTarget) -> tuple[Launch, int]:
        a = self.a
        w = AttentionKernel(a, words, target, a.batch * a.key_heads * tiles_of(a), _PARTS)
        forms = self.operands.forms
        tiles = KeyTiles(w, products_of(w, target, a.bits), Quantizer(w, a.bits), packed_area(w), forms)
        b, (workspace, nbytes), count, key_heads = w.b, w.workspace(), *w.kernel.integers([tiles_of(a), a.key_heads])
        with b.loop(w.kernel.begin, w.kernel.end) as part:
            w.begin_part(part, workspace, nbytes)
            first, last = w.range_of_units(part)
            with b.loop(first, last) as unit:
                rest, number = b.div(unit, count), b.rem(unit, count)
                batch, key_head, first_key = b.div(rest, key_heads), b.rem(rest, key_heads), b.mul(number, KEYS)
                keys = w.count(first_key, w.lengths(batch)[1], KEYS)
                tiles.make(batch, key_head, first_key, keys, tiles.kept(batch, key_head, number))
        cost = w.units * KEYS * len(forms) * max(a.depth, a.value_depth) * 0.1 / w.parts + 1000
        return w.kernel.step(w.parts, cost), w.workspace_bytes
