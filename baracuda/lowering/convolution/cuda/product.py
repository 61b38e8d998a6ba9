"""Convolutions on a CUDA device as implicit products: the kernel of a matrix product, one of whose factors is gathered.

What is not there counts as 0, which changes no sum of finite weights that is not a zero; a sum that came out as a NaN, where some
of its terms may not be there, is computed again without those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from baracuda.core.layout import contiguous_strides
from baracuda.formula.expr import input_
from baracuda.formula.graph import Graph, Port
from baracuda.lowering.convolution.cuda.code import coordinates
from baracuda.lowering.convolution.cuda.direct import FINITE, added, finish, meets_padding, partial_bytes, sums_of
from baracuda.lowering.convolution.cuda.gather import GATHER
from baracuda.lowering.convolution.cuda.prepare import Prepared, prepare, prepared
from baracuda.lowering.convolution.problem import ConvolutionProblem, Matrix, X, matrix, product_of
from baracuda.lowering.matmul.cuda.epilogue import epilogue, epilogue_frame, sums_bytes, sums_pitch
from baracuda.lowering.matmul.cuda.factors import Factor, StagingPath, factor_of, staging_path_of
from baracuda.lowering.matmul.cuda.kernel import ProductKernel
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.matmul.cuda.tiles import Tile, tiles
from baracuda.lowering.matmul.problem import PRODUCT, MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Frame, Target, Words, offset
from baracuda.lowering.nest.problem import Operand
from baracuda.runtime.program import KernelSource, Launch, Lowered

#: Coordinates in the table of terms and of rows stay below this.
_REACH = 1 << 28
#: Terms and columns from which on a product is worth its tiles.
_FEWEST_TERMS, _FEWEST_COLUMNS = 16, 8


def products(p: ConvolutionProblem, target: Target) -> Iterator[Lowered]:
    """The programs, the most promising first; none where the problem is not one for them."""
    reach = [
        abs(low) + o * abs(s) + t * abs(d) + i
        for low, o, s, t, d, i in zip(p.low, p.outputs, p.stride, p.taps, p.dilation, p.inputs, strict=True)
    ]
    if p.bits or not p.is_plain or p.terms < _FEWEST_TERMS or p.columns < _FEWEST_COLUMNS:
        return
    if p.accumulator.itemsize > 8 or max(reach) >= _REACH or p.terms >= _REACH or not p.rank:
        return
    m = matrix(p, groups=False)
    vector = _vector(p)
    c = _product(p, m, vector)
    if p.segments > 1:
        c, m = in_segments(p, c, packed_left=not pixels_are_rows(m)), replace(m, batch=("segment", *m.batch))
    for tile in tiles(c, target.multiprocessors):
        lowered = _lower(p, m, c, tile, vector, target)
        if lowered is not None:
            yield lowered


def _vector(p: ConvolutionProblem) -> int:
    """How many channels an access may move, where they lie side by side; 0 where they do not."""
    if p.x.general or p.x.steps(-1) != 1:
        return 0
    size = p.x.kind.itemsize
    vector = max(1, 16 // size)
    others = [s for s in p.x.strides[:-1] if s]
    while vector > 1 and (p.channels % vector or p.x.alignment % (vector * size) or any(s % vector for s in others)):
        vector //= 2
    return vector


def pixels_are_rows(m: Matrix) -> bool:
    return not ({"n", "g"} & set(m.rows))


def _product(p: ConvolutionProblem, m: Matrix, vector: int) -> MatmulProblem:
    """The matrix product that the tiles are those of: x in lines along k or along its rows, the weights in lines of columns."""
    c = product_of(p, m)
    rank = len(m.batch)
    none = (0,) * rank
    by_group = tuple(p.terms * p.columns if name == "g" else 0 for name in m.batch)
    along_k = vector > 1
    kind = p.accumulator
    if pixels_are_rows(m):
        x = Operand(p.x.kind, (*none, p.terms if along_k else 1, 1 if along_k else c.m))
        return replace(c, a=(x,), b=(Operand(kind, (*by_group, p.columns, 1)),))
    x = Operand(p.x.kind, (*none, 1 if along_k else c.n, p.terms if along_k else 1))
    return replace(c, a=(Operand(kind, (*by_group, 1, p.columns)),), b=(x,))


def in_segments(p: ConvolutionProblem, c: MatmulProblem, *, packed_left: bool) -> MatmulProblem:
    """The product whose results are the chains, a batch for each segment."""
    shape = (p.segments, *c.batch, c.m, c.n)
    kind, terms = p.accumulator, p.segment * p.channels
    weights = terms * p.columns

    def ahead(o: Operand, step: int) -> Operand:
        return replace(o, strides=(step, *o.strides))

    return replace(
        c,
        batch=shape[:-2],
        k=terms,
        a=(ahead(c.a[0], weights if packed_left else 0),),
        b=(ahead(c.b[0], 0 if packed_left else weights),),
        epilogue=Graph((Port(PRODUCT, kind),), ((Port("chain", kind), input_(PRODUCT, kind)),)),
        operands=(Operand(kind, contiguous_strides(shape)),),
    )


def _gathered(p: ConvolutionProblem, c: MatmulProblem, tile: Tile, vector: int, *, left: bool) -> StagingPath:
    """The way of x's tiles."""
    kind, rows = p.accumulator, tile.bm if left else tile.bn
    as_stored = p.x.kind is kind and kind.itemsize in (4, 8)
    if vector > 1 and tile.lines:
        return StagingPath(p.x.kind, kind, rows, tile.bk, min(vector, tile.bk), False, False, as_stored, as_stored)
    if vector > 1:
        width = 1 if as_stored and not tile.staged else min(vector, tile.bk)
        asynchronous = as_stored and width == 1
        return StagingPath(p.x.kind, kind, rows, tile.bk, width, False, True, asynchronous, asynchronous)
    return StagingPath(p.x.kind, kind, rows, tile.bk, 1, True, True, as_stored, as_stored)


class ImplicitProduct(ProductKernel):
    """Writes the kernel. Names in the code: `outs` the places of the tile's rows, in shared memory behind the stages."""

    def __init__(
        self, p: ConvolutionProblem, m: Matrix, c: MatmulProblem, a: Factor, b: Factor, tile: Tile, words: Words, at: Prepared
    ) -> None:
        super().__init__(c, [a], [b], tile, words, exchanged=False, link="chain")
        self.p, self.m, self.at = p, m, at
        self.left = pixels_are_rows(m)
        self.direct = False
        self.source = f"W.w[{X}]"
        stages = sum(self.stages * f.staging_path.nbytes for f in (a, b))
        self.places = -(-stages // 16) * 16
        rows = tile.bm if self.left else tile.bn
        each = 8 + -(-4 * p.rank // 8) * 8
        self.shared = max(self.places + rows * each, sums_bytes(c, tile))

    def begin(self) -> str:
        """Where the terms of the block's segment begin, behind the table's."""
        terms = self.words.signed(self.p.segment * self.p.channels) if self.p.segments > 1 else ""
        return f" + c0 * {terms}" if terms else ""

    def depth(self) -> str:
        p, words = self.p, self.words
        if p.segments == 1:
            return super().depth()
        length, total = words.signed(p.segment * p.channels), words.signed(p.terms)
        return f"(int)({total} - c0 * {length} < {length} ? {total} - c0 * {length} : {length})"

    def declare(self, f: Factor) -> list[str]:
        p, words = self.p, self.words
        scratch = f"W.w[{words.operands}]"
        if (f in self.a) is not self.left:
            rank = len(self.c.batch)
            batch = [None if f.operand.strides[i] == 0 else words.signed(f.operand.strides[i]) for i in range(rank)]
            along_rows, along_k = f.stride(f.row_axis, words), f.stride(f.k_axis, words)
            first, extent = ("m0", "rows") if f in self.a else ("n0", "columns")
            weights = f"(const {f.storage}*)({scratch} + {words.signed(self.at.weights)})"
            origin = f"{weights} + ({offset(batch, 'c')} + {first} * {along_rows})"
            type_ = f.staging_path.loader(self.tile.threads)
            loader = f"{type_} {f.name}({origin}, {along_rows}, {along_k}, {extent}, threadIdx.x);"
        else:
            rank = p.rank
            extents = ", ".join(f"(int){words.signed(n)}" for n in p.inputs)
            type_ = f.staging_path.loader(self.tile.threads).replace("Loader<", "Gather<").rpartition(",")[0] + f", {rank}>"
            loader = (
                f"{type_} {f.name}((const {f.storage}*){self.source}, outs, (const Place<{rank}>*)({scratch} + "
                f"{words.signed(self.at.table)}){self.begin()}, Extents<{rank}>{{{{{extents}}}}}, threadIdx.x);"
            )
        return [loader, f"{f.shared}* const stages_{f.name} = ({f.shared}*)(shared + {self.starts[f.name]});"]

    def rows(self) -> list[str]:
        """Writes the places of the tile's rows."""
        p, m, words = self.p, self.m, self.words
        run, first, extent, count = (
            (m.rows, "m0", "rows", self.tile.bm) if self.left else (m.columns, "n0", "columns", self.tile.bn)
        )
        lines, at = coordinates(p, run, f"{first} + r", words, "place")
        at |= {name: f"c{i}" for i, name in enumerate(m.batch)}
        strides = p.x_strides()
        offsets = [f"(i64){at[name]} * {words.signed(strides[name])}" for name in ("b", "g") if name in at]
        body = []
        for a in p.spatial:
            o = at.get(f"o{a}", "0")
            body += [
                f"place.at[{a}] = (int)((i64){o} * {words.signed(p.stride[a])} - {words.signed(p.low[a])});",
                f"place.offset += place.at[{a}] * {words.signed(strides[f'i{a}'])};",
            ]
        return [
            f"Place<{p.rank}>* const outs = (Place<{p.rank}>*)(shared + {self.places});",
            f"for (int r = threadIdx.x; r < {count}; r += {self.tile.threads}) {{",
            f"Place<{p.rank}> place;",
            f"if (r < {extent}) {{",
            *lines,
            f"place.offset = {' + '.join(offsets) or '0'};",
            *body,
            f"}} else {{ place.offset = 0; for (int a = 0; a < {p.rank}; ++a) place.at[a] = -(1 << 30); }}",
            "outs[r] = place;",
            "}",
            "__syncthreads();",
        ]

    def again(self) -> list[str]:
        """Computes sums that are NaN again, without what is not there."""
        if self.p.segments > 1 or not meets_padding(self.p):
            return []
        return self.anew(self.p, sums_pitch(self.c, self.tile))

    def anew(self, p: ConvolutionProblem, pitch: int) -> list[str]:
        """Takes sums that are NaN as the problem says."""
        m, words, tile = self.m, self.words, self.tile
        row_lines, rows = coordinates(p, m.rows, "m0 + r", words, "row")
        column_lines, columns = coordinates(p, m.columns, "n0 + q", words, "column")
        at = {name: f"c{i}" for i, name in enumerate(m.batch)} | rows | columns
        return [
            "#pragma unroll 1",
            f"for (int e = threadIdx.x; e < {tile.bm * tile.bn}; e += {tile.threads}) {{",
            f"const int r = e / {tile.bn}, q = e % {tile.bn};",
            f"if (r < rows && q < columns && sums0[r * {pitch} + q] != sums0[r * {pitch} + q]) {{",
            *sums_of(p, words, ([*row_lines, *column_lines], at)),
            f"sums0[r * {pitch} + q] = s;",
            "}}",
            "__syncthreads();",
        ]


def frame_of(p: ConvolutionProblem, c: MatmulProblem, words: Words, at: Prepared) -> Frame:
    """The epilogue's; chains go to the workspace."""
    frame = epilogue_frame(c, words)
    if p.segments > 1:
        frame.addresses = [*frame.addresses[:-1], f"(W.w[{words.operands}] + {words.signed(at.nbytes)})"]
    return frame


def _lower(p: ConvolutionProblem, m: Matrix, c: MatmulProblem, tile: Tile, vector: int, target: Target) -> Lowered | None:
    left, at = pixels_are_rows(m), prepared(p)
    ways = [
        _gathered(p, c, tile, vector, left=left) if (number == 0) is left else staging_path_of(o, c, tile, left=number == 0)
        for number, o in enumerate((*c.a, *c.b))
    ]
    a, b = (factor_of(c, number, way, exchanged=False) for number, way in enumerate(ways))
    words = Words(len(p.tensors), p.epilogue.params)
    first = prepare(p, at, words)
    kernel = ImplicitProduct(p, m, c, a, b, tile, words, at)
    if kernel.shared > target.shared_bytes:
        return None
    frame = frame_of(p, c, words, at)
    rest, definitions = epilogue(c, frame, tile)
    body = [
        "extern __shared__ __align__(16) unsigned char shared[];",
        *kernel.where(),
        *kernel.rows(),
        *kernel.main(),
        *kernel.sums_to_shared(),
        *kernel.again(),
        *rest,
    ]
    source = frame.kernel(body, tile.threads, PRODUCTS + GATHER + FINITE + definitions, blocks=tile.resident)
    blocks = prod(c.batch) * -(-c.m // tile.bm) * -(-c.n // tile.bn)
    main = Launch(KernelSource(source), (blocks, 1, 1), tile.threads, kernel.shared)
    if p.segments == 1:
        return Lowered((first, main), tuple(words.values), at.nbytes, f"implicit product {tile}")
    plain = replace(m, batch=m.batch[1:])
    last = finish(p, plain, words, added(p, plain, words, at.nbytes, again=meets_padding(p)))
    return Lowered(
        (first, main, last), tuple(words.values), at.nbytes + partial_bytes(p), f"implicit product {tile}, in segments"
    )
