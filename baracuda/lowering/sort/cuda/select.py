"""The first places of rows on CUDA without the order of all.

A block has the keys of a row, or of a part of a longer one, in registers. It finds the first key of each of some groups of them,
twice as many groups as elements are wanted or more: the one of these keys that has the wanted number up to it bounds what can be
wanted. Little more than that is left: it is put in order by counting or, if much is wanted, by a network. Where too much is left,
as of equal keys, the last wanted key is found bit by bit, and of what equals it as many are taken as are wanted, the first in the
row. The parts of a long row leave their first elements in the workspace, one after another, which is a row again.
"""

from __future__ import annotations

from baracuda.core.layout import round_up
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.lowering.sort.cuda.keys import elements, rows
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.lowering.sort.cuda.ranking import SUM_BEFORE
from baracuda.lowering.sort.problem import Sort

#: Elements that are selected at most, and what share of a row they may be; how many are put in order by counting.
_MOST, _SHARE, _COUNTED = 512, 8, 128
#: Elements to a thread, threads, how many threads a multiprocessor should hold, and blocks that there should be where parts of
#: rows could be smaller.
_ITEMS, _LEAST_THREADS, _MOST_THREADS, _RESIDENT, _ENOUGH = 16, 64, 1024, 2048, 512


def selects(sort: Sort) -> bool:
    """Whether a problem is a selection of few."""
    wanted = sort.first + sort.count
    return sort.ranks is None and not sort.complex and 0 < wanted <= _MOST and wanted * _SHARE <= sort.length


class Selection:
    """The launches of a problem. In the workspace are, for each pass but the last, elements and where in the row they are."""

    def __init__(self, sort: Sort, words: Words) -> None:
        self.sort, self.words = sort, words
        self.wanted = sort.first + sort.count
        self.text = elements(sort) + rows(sort, words) + SUM_BEFORE + _BOUND
        longest = _MOST_THREADS * _ITEMS // (2 if sort.kind.itemsize > 4 else 1)
        #: The length of a row in each pass, its parts, and the bytes at which what it leaves begins: elements, then numbers.
        self.passes: list[tuple[int, int, int, int]] = []
        self.nbytes, length = 0, sort.length
        while length > longest:
            part = longest // 2
            if sort.rows * length < _ENOUGH * part and self.wanted * 2 * _SHARE <= part:
                part //= 2
            parts = length // part
            left = sort.rows * parts * self.wanted
            numbers = self.nbytes + round_up(left * sort.kind.itemsize, 256)
            self.passes.append((length, parts, self.nbytes, numbers))
            self.nbytes, length = numbers + round_up(4 * left, 256), parts * self.wanted
        self.passes.append((length, 1, 0, 0))

    def units(self) -> list[UnboundKernel]:
        return [self._unit(i) for i in range(len(self.passes))]

    def _scratch(self, at: int) -> str:
        return f"(W.w[{self.words.operands}] + {self.words.signed(at)})"

    def _unit(self, number: int) -> UnboundKernel:
        sort, words, wanted = self.sort, self.words, self.wanted
        length, parts, *into = self.passes[number]
        longest = -(-length // parts)
        threads = max(_LEAST_THREADS, 1 << (-(-longest // _ITEMS) - 1).bit_length())
        counted = wanted <= _COUNTED
        if not counted:
            threads = min(_MOST_THREADS, max(threads, 1 << (2 * wanted - 1).bit_length()))
        groups = max(_LEAST_THREADS, 1 << (2 * wanted - 1).bit_length())
        bests = max(1, groups // threads)
        items = round_up(-(-longest // threads), bests)
        room = 4 * wanted + 64 if counted else groups
        if number:
            _, _, *at = self.passes[number - 1]
            elements_at, numbers_at = (f"{self._scratch(n)} + row * {words.signed(length)} + start" for n in at)
            source = f"""const Element* const x = (const Element*){elements_at};
  const unsigned* const numbers = (const unsigned*){numbers_at};"""
            element, place = "x[{}]", "numbers[{}]"
        else:
            source = "const i64 x = x_row(W, row);"
            element, place = "read_x(W, x, start + {})", "start + {}"
        write = []
        if number < len(self.passes) - 1:
            first, bases = 0, f"const i64 to = (i64)unit * {words.signed(wanted)};"
            write.append(f"((Element*){self._scratch(into[0])})[to + place] = {element.format('p')};")
            write.append(f"((unsigned*){self._scratch(into[1])})[to + place] = {place.format('p')};")
        else:
            first, bases = sort.first, ""
            for name, value in (("values", element), ("indices", place)):
                if getattr(sort, name) is not None:
                    bases += f"const i64 {name} = {name}_row(W, row);\n  "
                    write.append(f"write_{name}(W, {name}, place - from, {value.format('p')});")
        shape = {"T": threads, "I": items, "M": bests, "GROUPS": groups, "ROOM": room, "BITS": sort.key_bits}
        functions = f"""
constexpr int {", ".join(f"{n} = {v}" for n, v in shape.items())};
constexpr Key WORST = {(1 << sort.key_bits) - 1:#x}{"ull" if sort.part_bits == 64 else "u"};
"""
        body = f"""
  __shared__ unsigned counts[I * T / 32 > BITS ? I * T / 32 : BITS], sums[T / 32], taken;
  __shared__ Key kept[ROOM], bests[GROUPS], last;
  __shared__ unsigned short where[ROOM];
  const unsigned unit = blockIdx.x, wanted = {words.unsigned(wanted)}, from = {words.unsigned(first)};
  const unsigned row = divide(unit, {words.divisor(parts)}), part = unit - row * {words.unsigned(parts)}, thread = threadIdx.x;
  const unsigned longer = {words.unsigned(length % parts)};  // parts, the first, that have one element more
  const unsigned least = {words.unsigned(length // parts)}, start = part * least + (part < longer ? part : longer);
  const unsigned n = least + (part < longer);
  {source}
  Key keys[I], best[M];
  if (thread == 0) taken = 0;
#pragma unroll
  for (int i = 0; i < I; ++i) keys[i] = i * T + thread < n ? key_of({element.format("(i * T + thread)")}, 0) : (Key)WORST;
#pragma unroll
  for (int m = 0; m < M; ++m) {{
    best[m] = keys[m];
#pragma unroll
    for (int i = m + M; i < I; i += M) best[m] = keys[i] < best[m] ? keys[i] : best[m];
  }}
  {"bound_of_groups(best, wanted, bests, &last);" if counted else "last = bound<T, BITS>(best, wanted, counts);"}
  __syncthreads();
  const Key most = last;
#pragma unroll
  for (int i = 0; i < I; ++i)
    if (keys[i] <= most && i * T + thread < n) {{
      const unsigned to = atomicAdd(&taken, 1u);
      if (to < ROOM) {{ kept[to] = keys[i]; where[to] = (unsigned short)(i * T + thread); }}
    }}
  __syncthreads();
  unsigned found = taken;
  if (found > ROOM) {{
    found = wanted;
    take(keys, most, n, wanted, counts, sums, &taken, kept, where);
  }}
  {bases}
{self._counted(write) if counted else self._network(write)}"""
        text = self.text + functions + (_GROUPS if counted else "") + _TAKE
        blocks = _RESIDENT // threads if sort.kind.itemsize <= 4 else 0
        return UnboundKernel(text, body, (sort.rows * parts, 1, 1), threads, blocks=blocks)

    def _counted(self, write: list[str]) -> str:
        return f"""
  for (unsigned j = thread / 4; j < (found + T / 4 - 1) / (T / 4) * (T / 4); j += T / 4) {{
    const Key own = j < found ? kept[j] : 0;
    const unsigned p = j < found ? where[j] : 0;
    unsigned place = 0;
    for (unsigned m = thread % 4; m < found; m += 4) {{
      const Key other = kept[m];
      place += other < own || (other == own && where[m] < p);
    }}
    place += __shfl_xor_sync(0xffffffffu, place, 1);
    place += __shfl_xor_sync(0xffffffffu, place, 2);
    if (thread % 4 == 0 && j < found && place < wanted && place >= from) {{
      {" ".join(write)}
    }}
  }}"""

    def _network(self, write: list[str]) -> str:
        return f"""
  for (unsigned j = found + thread; j < ROOM; j += T) {{ kept[j] = (Key)WORST; where[j] = 0xffff; }}
  for (unsigned run = 2; run <= ROOM; run *= 2)
    for (unsigned step = run / 2; step; step /= 2) {{
      __syncthreads();
      for (unsigned pair = thread; pair < ROOM / 2; pair += T) {{
        const unsigned a = pair / step * step * 2 + pair % step, b = step == run / 2 ? (a ^ (run - 1)) : a + step;
        const Key x = kept[a], y = kept[b];
        const unsigned short p = where[a], q = where[b];
        if (y < x || (y == x && q < p)) {{ kept[a] = y; kept[b] = x; where[a] = q; where[b] = p; }}
      }}
    }}
  __syncthreads();
  for (unsigned place = from + thread; place < wanted; place += T) {{
    const unsigned p = where[place];
    {" ".join(write)}
  }}"""


_BOUND = """
// A key up to which, of the block's T * N keys, there are `wanted` or more: the one with so many up to it, or, where exactly so
// many are up to it, a larger one. There may be more keys equal to it only where it is the last that is wanted.
template <int T, int BITS, int N> __device__ __forceinline__ Key bound(const Key (&keys)[N], unsigned wanted, unsigned* counts) {
  if (N > 1) {
    for (unsigned d = threadIdx.x; d < BITS; d += T) counts[d] = 0;
    __syncthreads();
  }
  Key at = 0;
  for (int bit = BITS - 1; bit >= 0; --bit) {
    const Key next = at | (Key)1 << bit;
    unsigned before;
    if (N == 1) before = __syncthreads_count(keys[0] < next);
    else {
      before = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) before += keys[i] < next;
#pragma unroll
      for (int w = 1; w < 32; w *= 2) before += __shfl_xor_sync(0xffffffffu, before, w);
      if (threadIdx.x % 32 == 0) atomicAdd(&counts[bit], before);
      __syncthreads();
      before = counts[bit];
    }
    if (before == wanted) return next - 1;
    if (before < wanted) at = next;
  }
  return at;
}
"""

_GROUPS = """
// Of the first keys of GROUPS groups of elements the one with `wanted` up to it, equal ones counted as they follow one another.
__device__ __forceinline__ void bound_of_groups(const Key (&best)[M], unsigned wanted, Key* bests, Key* last) {
  constexpr unsigned SHARING = T > GROUPS ? T / GROUPS : 1;  // threads of a group
  const unsigned thread = threadIdx.x, part = thread % SHARING;
#pragma unroll
  for (int m = 0; m < M; ++m) {
    Key first = best[m];
#pragma unroll
    for (int w = 1; w < SHARING; w *= 2) {
      const Key other = __shfl_xor_sync(0xffffffffu, first, w);
      first = other < first ? other : first;
    }
    if (part == 0) bests[m * T + thread / SHARING] = first;
  }
  __syncthreads();
#pragma unroll
  for (int m = 0; m < M; ++m) {
    const unsigned group = m * T + thread / SHARING;
    const Key own = bests[group];
    unsigned before = 0;
#pragma unroll 8
    for (unsigned g = part; g < GROUPS; g += SHARING) {
      const Key other = bests[g];
      before += other < own || (other == own && g < group);
    }
#pragma unroll
    for (int w = 1; w < SHARING; w *= 2) before += __shfl_xor_sync(0xffffffffu, before, w);
    if (before == wanted - 1) *last = own;
  }
}
"""

_TAKE = """
// Takes exactly the wanted keys, by what is the last of them and how many equal it: `last` is if fewer are smaller.
__device__ __forceinline__ void take(const Key (&keys)[I], Key last, unsigned n, unsigned wanted, unsigned* counts,
                                     unsigned* sums, unsigned* taken, Key* kept, unsigned short* where) {
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  unsigned all = wanted + 1;
  for (int known = 1; all > wanted; --known) {
    if (!known) last = bound<T, BITS>(keys, wanted, counts);
    unsigned better = 0;
#pragma unroll
    for (int i = 0; i < I; ++i) better += keys[i] < last && i * T + thread < n;
    sum_before<T / 32>(better, sums, all);
  }
  const unsigned rest = wanted - all;
#pragma unroll
  for (int i = 0; i < I; ++i) {
    const unsigned same = __ballot_sync(0xffffffffu, keys[i] == last && i * T + thread < n);
    if (lane == 0) counts[i * (T / 32) + warp] = __popc(same);
  }
  if (thread == 0) *taken = 0;
  __syncthreads();
  const unsigned own = thread < I * (T / 32) ? counts[thread] : 0;
  const unsigned before = sum_before<T / 32>(own, sums, all);
  if (thread < I * (T / 32)) counts[thread] = before;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < I; ++i) {
    const bool exists = i * T + thread < n, same = exists && keys[i] == last;
    const unsigned peers = __ballot_sync(0xffffffffu, same);
    const unsigned number = counts[i * (T / 32) + warp] + __popc(peers & ((1u << lane) - 1));
    if ((exists && keys[i] < last) || (same && number < rest)) {
      const unsigned to = atomicAdd(taken, 1u);
      kept[to] = keys[i];
      where[to] = (unsigned short)(i * T + thread);
    }
  }
  __syncthreads();
}
"""
