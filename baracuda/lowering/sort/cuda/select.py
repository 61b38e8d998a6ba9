"""The first places of rows on CUDA, without the order of all: radix selection, most significant digit first, in one launch.

A block has a row's keys in registers. Digit by digit it counts the keys that agree with the last wanted one so far, and so finds
that key; what comes before it is taken, and of what equals it as many as are wanted, the first in the row. Threads take places
for these in any order: they are then put in order by counting, by key and by where in the row they lie.
"""

from __future__ import annotations

from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.lowering.sort.cuda.keys import elements, rows
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.lowering.sort.cuda.ranking import SUM_BEFORE
from baracuda.lowering.sort.cuda.short import BITS
from baracuda.lowering.sort.problem import Sort

#: Elements that are selected at most, and what share of a row they may be.
_MOST, _SHARE = 1024, 8


def selects(sort: Sort) -> bool:
    """Whether a problem is a selection of few."""
    wanted = sort.first + sort.count
    return sort.ranks is None and not sort.complex and wanted <= _MOST and wanted * _SHARE <= sort.length


def selection(sort: Sort, words: Words, threads: int, items: int) -> UnboundKernel:
    """Rows that fit a block of so many threads with so many elements each: a block for each row."""
    digits = sort.digits(BITS)
    radix = 1 << digits[0][2]
    wanted = sort.first + sort.count
    room = max(32, 1 << (wanted - 1).bit_length())
    text = elements(sort) + rows(sort, words) + SUM_BEFORE
    passes = [
        f"""
  for (unsigned d = thread; d < {radix}u; d += T) counts[d] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < I; ++i)
    if (first + i * 32u < n && (keys[i] & mask) == last)
      atomicAdd(&counts[(unsigned)(keys[i] >> {shift}) & {(1 << bits) - 1}u], 1u);
  __syncthreads();
  {{
    unsigned own[EACH], sum = 0, all;
#pragma unroll
    for (int j = 0; j < EACH; ++j) {{
      own[j] = thread * EACH + j < {radix}u ? counts[thread * EACH + j] : 0;
      sum += own[j];
    }}
    unsigned before = sum_before<T / 32>(sum, sums, all);
#pragma unroll
    for (int j = 0; j < EACH; ++j) {{
      if (before < rest && rest <= before + own[j]) {{ found[0] = thread * EACH + j; found[1] = rest - before; }}
      before += own[j];
    }}
  }}
  __syncthreads();
  last |= (Key)found[0] << {shift};
  mask |= (Key){(1 << bits) - 1} << {shift};
  rest = found[1];"""
        for _, shift, bits in reversed(digits)
    ]
    write, bases = [], []
    if sort.values is not None:
        bases.append("const i64 values = values_row(W, row);")
        write.append("write_values(W, values, place - from, read_x(W, x, p));")
    if sort.indices is not None:
        bases.append("const i64 indices = indices_row(W, row);")
        write.append("write_indices(W, indices, place - from, p);")
    body = f"""
  constexpr int T = {threads}, I = {items}, EACH = {radix} > T ? {radix} / T : 1;
  __shared__ unsigned counts[{radix}], sums[T / 32], found[2], taken;
  __shared__ Key kept[{room}];
  __shared__ unsigned short where[{room}];
  const unsigned n = {words.unsigned(sort.length)}, wanted = {words.unsigned(wanted)}, from = {words.unsigned(sort.first)};
  const unsigned thread = threadIdx.x, lane = thread % 32, warp = thread / 32, row = blockIdx.x;
  const unsigned first = warp * (32 * I) + lane;
  const i64 x = x_row(W, row);
  {" ".join(bases)}
  Key keys[I], last = 0, mask = 0;
  unsigned rest = wanted;
  if (thread == 0) taken = 0;
#pragma unroll
  for (int i = 0; i < I; ++i) keys[i] = first + i * 32u < n ? key_of(read_x(W, x, first + i * 32u), 0) : 0;
{"".join(passes)}
  // of the keys that equal the last one, those that lie first are taken
  unsigned equal = 0;
#pragma unroll
  for (int i = 0; i < I; ++i) equal += __popc(__ballot_sync(0xffffffffu, first + i * 32u < n && keys[i] == last));
  __syncthreads();
  if (lane == 0) sums[warp] = equal;
  __syncthreads();
  unsigned before = 0;
#pragma unroll
  for (int w = 0; w < T / 32; ++w)
    if (w < warp) before += sums[w];
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    const bool exists = first + i * 32u < n, same = exists && keys[i] == last;
    const unsigned peers = __ballot_sync(0xffffffffu, same);
    if ((exists && keys[i] < last) || (same && before + __popc(peers & ((1u << lane) - 1)) < rest)) {{
      const unsigned to = atomicAdd(&taken, 1u);
      kept[to] = keys[i];
      where[to] = (unsigned short)(first + i * 32u);
    }}
    before += __popc(peers);
  }}
  __syncthreads();
  for (unsigned j = thread; j < wanted; j += T) {{
    const Key own = kept[j];
    const unsigned p = where[j];
    unsigned place = 0;
    for (unsigned m = 0; m < wanted; ++m) place += kept[m] < own || (kept[m] == own && where[m] < p);
    if (place >= from) {{
      {" ".join(write)}
    }}
  }}"""
    return UnboundKernel(text, body, (sort.rows, 1, 1), threads)
