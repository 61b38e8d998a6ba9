"""Rows of any length in order on CUDA: radix, least significant digit first, one launch to a digit.

The digits of all elements are counted at once, for all digits. Then, digit by digit, every tile of a row finds the order of its
elements by their digits and says how many it has of each; how many the tiles before it have it sums up from what they said, back
to one that knew its own sum (*decoupled look-back*). It writes each run where it goes; the last digit's runs go to the results.
Tiles are taken in the order of tickets, so that one waits only for such as are under way. Where an element goes follows from
exact counts alone, whatever ran when.
"""

from __future__ import annotations

from baracuda.core.layout import round_up
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.lowering.sort.cuda.keys import digit, elements, rows
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.lowering.sort.cuda.ranking import RANK, SUM_BEFORE
from baracuda.lowering.sort.cuda.short import BITS
from baracuda.lowering.sort.problem import Sort

#: Threads of a block and elements to each, of up to four bytes and of more; how many threads a multiprocessor should hold; tiles
#: that a block counts.
_SMALL, _LARGE, _RESIDENT, _COUNTED = (256, 16), (512, 8), 1024, 4
#: Tiles that are asked at once for their sums.
_ASKED = 4


class LongRows:
    """The launches of a problem. In the workspace are elements twice, twice where in the row each is, the counts of each row's
    digits, tickets, and twice what tiles say: the sums of one digit, and zeros for the next."""

    def __init__(self, sort: Sort, words: Words) -> None:
        self.sort, self.words = sort, words
        self.threads, self.items = _SMALL if sort.kind.itemsize <= 4 else _LARGE
        self.tile = self.threads * self.items
        self.tiles = -(-sort.length // self.tile)
        self.digits = sort.digits(BITS)
        self.radix = 1 << self.digits[0][2]
        self.said = 4 if sort.length < 1 << 30 else 8
        n = sort.rows * sort.length
        self.elements = round_up(n * sort.kind.itemsize, 256)
        self.numbers = round_up(4 * n, 256) if sort.indexed else 0
        self.counts = 2 * (self.elements + self.numbers)
        self.tickets = self.counts + 4 * sort.rows * len(self.digits) * self.radix
        self.sums = round_up(self.tickets + 4 * len(self.digits), 256)
        self.sums_bytes = round_up(self.said * sort.rows * self.tiles * self.radix, 256)
        self.nbytes = self.sums + 2 * self.sums_bytes
        self.text = elements(sort) + rows(sort, words)

    def _scratch(self, at: int) -> str:
        return f"(W.w[{self.words.operands}] + {self.words.signed(at)})"

    def units(self) -> list[UnboundKernel]:
        units = [self._clearing(), self._counting()]
        for i in range(len(self.digits)):
            source, last = (None if i == 0 else (i + 1) % 2), i == len(self.digits) - 1
            units.append(self._moving(i, source, None if last else i % 2))
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

    def _clearing(self) -> UnboundKernel:
        """Zeros for the counts, the tickets and what tiles say of the first digit."""
        count = (self.sums + self.sums_bytes - self.counts) // 16
        body = f"""
  typedef Vec<unsigned, 4> Zeros;
  const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i < {self.words.signed(count)}) ((Zeros*){self._scratch(self.counts)})[i] = Zeros{{{{0, 0, 0, 0}}}};"""
        return UnboundKernel("", body, (-(-count // 256), 1, 1), 256)

    def _counting(self) -> UnboundKernel:
        words, size, passes = self.words, 256 * 16 * _COUNTED, len(self.digits)
        parts = -(-self.sort.length // size)
        counted = "\n      ".join(
            f"atomicAdd(&counts[{number * self.radix}u + ((unsigned)(key_of(own[i], {key}) >> {shift}) & {(1 << bits) - 1}u)], "
            "1u);"
            for number, (key, shift, bits) in enumerate(self.digits)
        )
        body = f"""
  __shared__ unsigned counts[{passes * self.radix}];
  const unsigned n = {words.unsigned(self.sort.length)}, parts = {words.unsigned(parts)}, thread = threadIdx.x;
  const unsigned row = divide(blockIdx.x, {words.divisor(parts)}), first = (blockIdx.x - row * parts) * {size}u + thread;
  const Rows source = row_of(W, row);
  for (unsigned d = thread; d < {passes * self.radix}u; d += 256) counts[d] = 0;
  __syncthreads();
  for (unsigned start = first; start < first + {size}u; start += 256 * 16) {{
    Element own[16];
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if (start + i * 256 < n) own[i] = element_of(W, source, start + i * 256);
#pragma unroll
    for (int i = 0; i < 16; ++i) if (start + i * 256 < n) {{
      {counted}
    }}
  }}
  __syncthreads();
  unsigned* const to = (unsigned*){self._scratch(self.counts)} + (i64)row * {passes * self.radix};
  for (unsigned d = thread; d < {passes * self.radix}u; d += 256)
    if (counts[d]) atomicAdd(to + d, counts[d]);"""
        return UnboundKernel(self.text + self._reading(None), body, (self.sort.rows * parts, 1, 1), 256)

    def _moving(self, number: int, source: int | None, into: int | None) -> UnboundKernel:
        sort, words, radix, passes = self.sort, self.words, self.radix, len(self.digits)
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
        sums = [self._scratch(self.sums + which * self.sums_bytes) for which in (number % 2, 1 - number % 2)]
        clear = "" if into is None else f"\n    ((Said*){sums[1]})[at] = 0;"
        body = f"""
  constexpr int T = {self.threads}, I = {self.items}, RADIX = {radix};
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ unsigned sums[T / 32], ticket;
  const unsigned n = {words.unsigned(sort.length)}, tiles = {words.unsigned(self.tiles)}, thread = threadIdx.x;
  if (thread == 0) ticket = atomicAdd((unsigned*){self._scratch(self.tickets)} + {number}, 1u);
  __syncthreads();
  const unsigned row = divide(ticket, {words.divisor(self.tiles)}), tile = ticket - row * tiles;
  const unsigned start = tile * (T * I), valid = min(n - start, (unsigned)(T * I));
  const Rows source = row_of(W, row);
  Element* const moved = (Element*)memory;
  unsigned* const counts = (unsigned*)(moved + T * I);
  unsigned* const starts = counts + T / 32 * RADIX;
  {"unsigned* const places = starts + RADIX;" if place else ""}
  const unsigned first = thread / 32 * (32 * I) + thread % 32;
  Element own[I];
  unsigned ranks[I]{", lies[I]" if place else ""};
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    const unsigned p = first + i * 32u;
    ranks[i] = RADIX - 1;
    if (p < valid) {{
      own[i] = element_of(W, source, start + p);
      {"lies[i] = place_of(W, source, start + p);" if place else ""}
      ranks[i] = digit_of(own[i]);
    }}
  }}
  const unsigned sum = tally<T, I, RADIX>(ranks, counts);
  // the last digit has been given to those that do not exist
  const unsigned here = thread + 1 == RADIX ? sum - (T * I - valid) : sum;
  const i64 at = ((i64)row * tiles + tile) * RADIX + thread;
  Said* const said = (Said*){sums[0]};
  unsigned before = 0;
  if (tile == 0) {{
    unsigned all;
    const unsigned* const row_counts = (const unsigned*){self._scratch(self.counts)} + ((i64)row * {passes} + {number}) * RADIX;
    before = sum_before<T / 32>(thread < RADIX ? row_counts[thread] : 0, sums, all);
  }}
  if (thread < RADIX) {{
    say(said + at, tile ? OWN | here : SUM | (before + here));{clear}
  }}
  const unsigned begin = rank<T, I, RADIX>(ranks, sum, counts, sums);
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    moved[ranks[i]] = own[i];
    {"places[ranks[i]] = lies[i];" if place else ""}
  }}
  if (thread < RADIX) {{
    if (tile) {{
      before = sum_of_tiles(said + at, tile);
      say(said + at, SUM | (before + here));
    }}
    starts[thread] = before - begin;
  }}
  __syncthreads();
#pragma unroll 4
  for (unsigned j = thread; j < valid; j += T) {{
    const unsigned to = starts[digit_of(moved[j])] + j;
    {newline.join(write)}
  }}"""
        text = self.text + digit(sort, self.digits[number]) + self._reading(source) + SUM_BEFORE + RANK + self._said()
        shared = self.tile * (sort.kind.itemsize + 4 * place) + 4 * (self.threads // 32 + 1) * radix
        return UnboundKernel(text, body, (sort.rows * self.tiles, 1, 1), self.threads, shared, _RESIDENT // self.threads)

    def _said(self) -> str:
        type_, suffix, bits = ("unsigned", "u32", 30) if self.said == 4 else ("u64", "u64", 62)
        letter = "r" if self.said == 4 else "l"
        return f"""
// What a tile says of a digit: nothing, 0, yet; how many it has; how many it and all tiles before it have.
typedef {type_} Said;
constexpr Said OWN = (Said)1 << {bits}, SUM = (Said)2 << {bits};
__device__ __forceinline__ void say(Said* at, Said value) {{
  asm volatile("st.relaxed.gpu.global.{suffix} [%0], %1;" ::"l"(at), "{letter}"(value) : "memory");
}}
__device__ __forceinline__ Said heard(const Said* at) {{
  Said value;
  asm volatile("ld.relaxed.gpu.global.{suffix} %0, [%1];" : "={letter}"(value) : "l"(at) : "memory");
  return value;
}}
// How many all tiles before this one have, which says it at `at`.
__device__ __forceinline__ unsigned sum_of_tiles(const Said* at, unsigned tile) {{
  unsigned sum = 0;
  for (;;) {{
    Said next[{_ASKED}];
#pragma unroll
    for (int i = 0; i < {_ASKED}; ++i) next[i] = i < tile ? heard(at - (i64)(i + 1) * {self.radix}) : SUM;
#pragma unroll
    for (int i = 0; i < {_ASKED}; ++i) {{
      while (next[i] == 0) next[i] = heard(at - (i64)(i + 1) * {self.radix});
      sum += (unsigned)(next[i] & (OWN - 1));
      if (next[i] & SUM) return sum;
    }}
    at -= {_ASKED * self.radix};
    tile -= {_ASKED};
  }}
}}
"""
