"""Rows in order on CUDA in one launch: short ones by counting which elements come before each, those that fit a block by radix in
shared memory."""

from __future__ import annotations

from baracuda.lowering.nest.cuda.kernel import Target, Words
from baracuda.lowering.sort.cuda.keys import elements, rows
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.lowering.sort.cuda.ranking import RANK, SUM_BEFORE
from baracuda.lowering.sort.problem import Sort

#: The longest row that is ordered by counting, and threads of a block then.
COUNTED, _COUNTERS = 128, 256
#: Bits of a digit; threads that a multiprocessor should hold.
BITS, _RESIDENT = 8, 1024
#: Threads of a block and elements to each, the fewest first.
_BLOCKS = (
    (64, 4), (128, 4), (128, 8), (256, 8), (256, 12), (256, 16), (512, 12), (512, 16), (1024, 12), (1024, 16),
)  # fmt: skip


def counting(sort: Sort, words: Words) -> UnboundKernel:
    """Rows of up to COUNTED elements: a thread for each element, and several rows to a block."""
    n = sort.length
    shift = (n - 1).bit_length()
    each = _COUNTERS >> shift
    text = elements(sort) + rows(sort, words)
    wanted = ""
    if sort.values is not None:
        wanted += "write_values(W, values_row(W, row), j, moved[at]);"
    if sort.indices is not None:
        wanted += " write_indices(W, indices_row(W, row), j, places[at]);"
    body = f"""
  __shared__ Key keys[KEYS][{_COUNTERS}];
  __shared__ Element moved[{_COUNTERS}];
  __shared__ unsigned short places[{_COUNTERS}];
  const unsigned n = {words.unsigned(n)}, shift = {words.unsigned(shift)}, thread = threadIdx.x;
  const unsigned first = thread >> shift << shift, i = thread - first;
  const unsigned row = blockIdx.x * {words.unsigned(each)} + (thread >> shift);
  const bool exists = i < n && row < {words.unsigned(sort.rows)};
  Element own;
  Key mine[KEYS];
  if (exists) {{
    own = read_x(W, x_row(W, row), i);
#pragma unroll
    for (int k = 0; k < KEYS; ++k) keys[k][thread] = mine[k] = key_of(own, k);
  }}
  __syncthreads();
  if (exists) {{
    unsigned place = 0;
    for (unsigned j = 0; j < n; ++j) {{
      bool before = j < i;  // of equal elements the one that lies first
#pragma unroll
      for (int k = 0; k < KEYS; ++k) {{
        const Key other = keys[k][first + j];
        before = other < mine[k] || (other == mine[k] && before);
      }}
      place += before;
    }}
    moved[first + place] = own;
    places[first + place] = i;
    {"write_ranks(W, ranks_row(W, row), i, place);" if sort.ranks is not None else ""}
  }}
  __syncthreads();
  const unsigned from = {words.unsigned(sort.first)}, to = {words.unsigned(sort.first + sort.count)};
  if (exists && i >= from && i < to) {{
    const unsigned j = i - from, at = thread;
    {wanted}
  }}"""
    return UnboundKernel(text, body, (-(-sort.rows // each), 1, 1), _COUNTERS)


def _shared(sort: Sort, threads: int, items: int) -> int:
    """Bytes of shared memory that a block takes."""
    return threads * items * (sort.kind.itemsize + 2 * sort.indexed) + 4 * (threads // 32) * ((1 << BITS) + 1)


def block_of(sort: Sort, target: Target) -> tuple[int, int] | None:
    """The threads of a block that a row fits, and elements to each; None where it fits none."""
    for threads, items in _BLOCKS:
        registers = items * (sort.kind.itemsize // 4 + 4) * threads
        if threads * items >= sort.length and registers <= 49152:
            return (threads, items) if _shared(sort, threads, items) <= target.shared_bytes else None
    return None


def block(sort: Sort, words: Words, threads: int, items: int) -> UnboundKernel:
    """Rows that fit a block of so many threads with so many elements each: a block for each row."""
    digits = sort.digits(BITS)
    radix = 1 << digits[0][2]
    text = elements(sort) + rows(sort, words) + SUM_BEFORE + RANK
    place = sort.indexed
    passes = []
    for number, (key, shift, bits) in enumerate(digits):
        last = number == len(digits) - 1
        passes.append(f"""
#pragma unroll
  for (int i = 0; i < I; ++i)
    ranks[i] |= first + i * 32u < n ? (unsigned)(key_of(own[i], {key}) >> {shift}) & {(1 << bits) - 1}u : {radix - 1}u;
  rank<T, I, {radix}>(ranks, tally<T, I, {radix}>(ranks, counts), counts, sums);
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    moved[ranks[i] & 0xffffu] = own[i];
    {"places[ranks[i] & 0xffffu] = (unsigned short)(ranks[i] >> 16);" if place else ""}
  }}
  __syncthreads();""")
        if not last:
            passes.append(f"""
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    own[i] = moved[first + i * 32u];
    ranks[i] = {"(unsigned)places[first + i * 32u] << 16" if place else "0"};
  }}""")
    wanted, ranked = [], ""
    if sort.values is not None:
        wanted.append("write_values(W, values, j, moved[from + j]);")
    if sort.indices is not None:
        wanted.append("write_indices(W, indices, j, places[from + j]);")
    bases = [f"const i64 {n} = {n}_row(W, row);" for n in ("values", "indices", "ranks") if getattr(sort, n) is not None]
    if sort.ranks is not None:
        ranked = "for (unsigned j = thread; j < n; j += T) write_ranks(W, ranks_at, places[j], j);"
        bases = [b.replace("i64 ranks", "i64 ranks_at") for b in bases]
    body = f"""
  constexpr int T = {threads}, I = {items};
  extern __shared__ __align__(16) unsigned char memory[];
  Element* const moved = (Element*)memory;
  {"unsigned short* const places = (unsigned short*)(moved + T * I);" if place else ""}
  unsigned* const counts = (unsigned*)(memory + T * I * (sizeof(Element) + {2 * place}));
  unsigned* const sums = counts + T / 32 * {radix};
  const unsigned n = {words.unsigned(sort.length)}, thread = threadIdx.x, row = blockIdx.x;
  const unsigned first = thread / 32 * (32 * I) + thread % 32;
  const i64 x = x_row(W, row);
  Element own[I];
  unsigned ranks[I]{", at[I]" if place else ""};
#pragma unroll
  for (int i = 0; i < I; ++i) {{
    const unsigned p = first + i * 32u;
    if (p < n) own[i] = read_x(W, x, p);
    ranks[i] = p << 16;
  }}
{"".join(passes)}
  const unsigned from = {words.unsigned(sort.first)}, count = {words.unsigned(sort.count)};
  {" ".join(bases)}
  for (unsigned j = thread; j < count; j += T) {{
    {" ".join(wanted)}
  }}
  {ranked}"""
    return UnboundKernel(text, body, (sort.rows, 1, 1), threads, _shared(sort, threads, items), _RESIDENT // threads)
