"""Rows of any length in order on CUDA: radix, least significant digit first, three launches to a digit.

Every tile of a row counts its digits; a block for each digit sums them over the tiles of the row; then every tile puts its
elements in order of their digits in shared memory, and writes each run where it goes. The last digit's run go to the results.
"""

from __future__ import annotations

from baracuda.core.layout import round_up
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.lowering.sort.cuda.keys import digit, elements, rows
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.lowering.sort.cuda.ranking import RANK, SUM_BEFORE
from baracuda.lowering.sort.cuda.short import BITS
from baracuda.lowering.sort.problem import Sort

_THREADS, _WARPS, _ITEMS = 256, 8, 16


class LongRows:
    """The launches of a problem. In the workspace are elements twice, twice where in the row each is, the counts of tiles, and
    the totals of rows."""

    def __init__(self, sort: Sort, words: Words) -> None:
        self.sort, self.words = sort, words
        self.items = _ITEMS if sort.kind.itemsize <= 8 else _ITEMS // 2
        self.tile = _THREADS * self.items
        self.tiles = -(-sort.length // self.tile)
        self.digits = sort.digits(BITS)
        self.radix = 1 << self.digits[0][2]
        n = sort.rows * sort.length
        self.elements = round_up(n * sort.kind.itemsize, 256)
        self.numbers = round_up(4 * n, 256) if sort.indexed else 0
        self.counts = 2 * (self.elements + self.numbers)
        self.totals = self.counts + round_up(4 * sort.rows * self.tiles * self.radix, 256)
        self.nbytes = self.totals + round_up(4 * sort.rows * self.radix, 256)
        self.text = elements(sort) + rows(sort, words)

    def _scratch(self, at: int) -> str:
        return f"(W.w[{self.words.operands}] + {self.words.signed(at)})"

    def units(self) -> list[UnboundKernel]:
        units: list[UnboundKernel] = []
        for i, at in enumerate(self.digits):
            source, last = (None if i == 0 else (i + 1) % 2), i == len(self.digits) - 1
            units += [self._counting(source, at), self._summing(), self._moving(source, None if last else i % 2, at)]
        return units

    def _reading(self, source: int | None) -> str:
        """`element_of(W, row, i)` and `place_of`: the element at a place of a row as the passes before left it, and where in x it
        is."""
        n = self.words.signed(self.sort.length)
        if source is None:
            return (
                "struct Rows { i64 x; };\n"
                "__device__ __forceinline__ Rows row_of(const Words& W, unsigned row) { return {x_row(W, row)}; }\n"
                "__device__ __forceinline__ Element element_of(const Words& W, const Rows& r, unsigned i) "
                "{ return read_x(W, r.x, i); }\n"
                "__device__ __forceinline__ unsigned place_of(const Words& W, const Rows& r, unsigned i) { return i; }\n"
            )
        element, number = (
            self._scratch(source * self.elements),
            self._scratch(2 * self.elements + source * self.numbers if self.numbers else 0),
        )
        return (
            "struct Rows { const Element* elements; const unsigned* places; };\n"
            "__device__ __forceinline__ Rows row_of(const Words& W, unsigned row) {\n"
            f"  const i64 first = row * {n};\n"
            f"  return {{(const Element*){element} + first, (const unsigned*){number} + first}};\n}}\n"
            "__device__ __forceinline__ Element element_of(const Words& W, const Rows& r, unsigned i) { return r.elements[i]; }\n"
            "__device__ __forceinline__ unsigned place_of(const Words& W, const Rows& r, unsigned i) { return r.places[i]; }\n"
        )

    @property
    def _tile(self) -> str:
        words = self.words
        return f"""
  constexpr int T = {_THREADS}, I = {self.items};
  const unsigned n = {words.unsigned(self.sort.length)}, tiles = {words.unsigned(self.tiles)}, thread = threadIdx.x;
  const unsigned row = divide(blockIdx.x, {words.divisor(self.tiles)}), tile = blockIdx.x - row * tiles;
  const unsigned start = tile * (T * I);
  const Rows source = row_of(W, row);"""

    def _counting(self, source: int | None, at: tuple[int, int, int]) -> UnboundKernel:
        body = f"""
  __shared__ unsigned counts[{self.radix}];
{self._tile}
  for (unsigned d = thread; d < {self.radix}u; d += T) counts[d] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    const unsigned p = start + i * T + thread;
    if (p < n) atomicAdd(&counts[digit_of(element_of(W, source, p))], 1u);
  }}
  __syncthreads();
  unsigned* const to = (unsigned*){self._scratch(self.counts)} + (i64)row * {self.radix} * tiles + tile;
  for (unsigned d = thread; d < {self.radix}u; d += T) to[(i64)d * tiles] = counts[d];"""
        text = self.text + digit(self.sort, at) + self._reading(source)
        return UnboundKernel(text, body, (self.sort.rows * self.tiles, 1, 1), _THREADS)

    def _summing(self) -> UnboundKernel:
        body = f"""
  __shared__ unsigned sums[{_WARPS}];
  const unsigned count = {self.words.unsigned(self.tiles)};
  unsigned* const row = (unsigned*){self._scratch(self.counts)} + (i64)blockIdx.x * count;
  unsigned carry = 0;
  for (unsigned base = 0; base < count; base += {_THREADS}u) {{
    const unsigned i = base + threadIdx.x;
    const unsigned own = i < count ? row[i] : 0;
    unsigned total;
    const unsigned before = sum_before<{_WARPS}>(own, sums, total);
    if (i < count) row[i] = carry + before;
    carry += total;
  }}
  if (threadIdx.x == 0) ((unsigned*){self._scratch(self.totals)})[blockIdx.x] = carry;"""
        return UnboundKernel(SUM_BEFORE, body, (self.sort.rows * self.radix, 1, 1), _THREADS)

    def _moving(self, source: int | None, into: int | None, at: tuple[int, int, int]) -> UnboundKernel:
        sort, words, radix = self.sort, self.words, self.radix
        place = sort.indexed
        write = []
        if into is None:
            from_, count = words.unsigned(sort.first), words.unsigned(sort.count)
            wanted = []
            if sort.values is not None:
                wanted.append("write_values(W, values_row(W, row), to - from, moved[j]);")
            if sort.indices is not None:
                wanted.append("write_indices(W, indices_row(W, row), to - from, places[j]);")
            write.append(f"const unsigned from = {from_}; if (to - from < {count}) {{ {' '.join(wanted)} }}")
            if sort.ranks is not None:
                write.append("write_ranks(W, ranks_row(W, row), places[j], to);")
        else:
            n = words.signed(sort.length)
            write.append(f"((Element*){self._scratch(into * self.elements)})[row * {n} + to] = moved[j];")
            if place:
                numbers = self._scratch(2 * self.elements + into * self.numbers)
                write.append(f"((unsigned*){numbers})[row * {n} + to] = places[j];")
        newline = "\n    "
        body = f"""
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ unsigned counts[{_WARPS * radix}], sums[{_WARPS}], starts[{radix}];
{self._tile}
  Element* const moved = (Element*)memory;
  {"unsigned* const places = (unsigned*)(moved + T * I);" if place else ""}
  const unsigned* const totals = (const unsigned*){self._scratch(self.totals)} + (i64)row * {radix};
  const unsigned* const before = (const unsigned*){self._scratch(self.counts)} + (i64)row * {radix} * tiles + tile;
  // where each digit of this tile goes: behind all smaller digits, and behind its own in the tiles before
  unsigned all;
  const unsigned smaller = sum_before<{_WARPS}>(thread < {radix}u ? totals[thread] : 0, sums, all);
  if (thread < {radix}u) starts[thread] = smaller + before[(i64)thread * tiles];
  const unsigned first = start + thread / 32 * (32 * I) + thread % 32;
  Element own[I];
  unsigned digits[I], ranks[I]{", at[I]" if place else ""};
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    const unsigned p = first + i * 32u;
    digits[i] = {radix - 1}u;
    if (p < n) {{
      own[i] = element_of(W, source, p);
      {"at[i] = place_of(W, source, p);" if place else ""}
      digits[i] = digit_of(own[i]);
    }}
  }}
  rank<T, I, {radix}>(digits, ranks, counts, sums);
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    moved[ranks[i]] = own[i];
    {"places[ranks[i]] = at[i];" if place else ""}
  }}
  if (thread < {radix}u) starts[thread] -= counts[thread];
  __syncthreads();
  const unsigned valid = min(n - start, (unsigned)(T * I));
  for (unsigned j = thread; j < valid; j += T) {{
    const unsigned to = starts[digit_of(moved[j])] + j;
    {newline.join(write)}
  }}"""
        text = self.text + digit(sort, at) + self._reading(source) + SUM_BEFORE + RANK
        shared = self.tile * (sort.kind.itemsize + 4 * place)
        return UnboundKernel(text, body, (sort.rows * self.tiles, 1, 1), _THREADS, shared=shared)
