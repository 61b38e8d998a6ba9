"""Compactions on CUDA.

Marks: a block of threads for each block of elements, whose words it writes and counts, and one block that adds the counts up.
Then again a block for each block of elements, which knows from there how many are set before it. A list in shared memory of
what is set makes reads and writes of neighbours those of neighbouring threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.codegen.cuda.prelude import STORAGE_TYPE
from baracuda.core.errors import UnsupportedError
from baracuda.lowering.compaction.problem import (
    BASE,
    BITS,
    BLOCK,
    MARKED,
    MARKS_BITS,
    MARKS_OFFSETS,
    MARKS_OPERANDS,
    OFFSETS,
    OPERANDS,
    Compaction,
    Marks,
    Mode,
    X,
    Y,
    blocks_of,
    words_of,
)
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, offset, unravel
from baracuda.lowering.sort.cuda.order import UnboundKernel, lines
from baracuda.lowering.sort.cuda.ranking import SUM_BEFORE
from baracuda.runtime.program import Lowered

_THREADS = 256
#: Threads of the block that adds counts up, and how many each takes at once.
_ADDERS, _EACH = 1024, 8
#: Words of 32 bits to a block of elements: one for each thread.
_WORDS = BLOCK // 32
assert _WORDS == _THREADS


def ways(problem: Compaction | Marks, target: Target) -> Iterator[Lowered]:
    """The launches of a normalised problem."""
    yield lower_marks(problem) if isinstance(problem, Marks) else lower(problem)


# --- marks ------------------------------------------------------------------------------------------------------------

_ADDED = f"""
// The sum of x over the threads before this one, and over all, of {_ADDERS} threads.
__device__ __forceinline__ i64 sum_before(i64 x, i64 (&sums)[32], i64& total) {{
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  i64 sum = x;
#pragma unroll
  for (int w = 1; w < 32; w *= 2) {{
    const i64 other = __shfl_up_sync(0xffffffffu, sum, w);
    if (lane >= w) sum += other;
  }}
  __syncthreads();
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {{
    i64 all = sums[lane];
#pragma unroll
    for (int w = 1; w < 32; w *= 2) {{
      const i64 other = __shfl_up_sync(0xffffffffu, all, w);
      if (lane >= w) all += other;
    }}
    sums[lane] = all;
  }}
  __syncthreads();
  total = sums[31];
  return (warp ? sums[warp - 1] : 0) + sum - x;
}}
"""


@lru_cache(maxsize=1024)
def lower_marks(problem: Marks) -> Lowered:
    """The two launches of marks."""
    words = Words(MARKS_OPERANDS, ())
    size = problem.kind.itemsize
    each = 16 // size
    piece = max(1, min(each, problem.alignment // size)) if problem.stride is None else 1
    several = 32 // each
    whole = f"0x{problem.significant:x}ull" if size == 8 else f"0x{problem.significant:x}u"
    if size == 1 and piece == each:
        found = f"""Vec<unsigned, 4> v = *(const Vec<unsigned, 4>*)(x + i);
#pragma unroll
      for (int e = 0; e < 4; ++e) {{  // a byte that is not 0 has its highest bit set, and these come together
        const unsigned b = v.v[e] & 0x{problem.significant * 0x01010101:x}u;
        const unsigned high = ((((b & 0x7f7f7f7fu) + 0x7f7f7f7fu) | b) & 0x80808080u) >> 7;
        found |= (high * 0x01020408u >> 24 & 15u) << 4 * e;
      }}"""
    elif problem.stride is not None:
        found = f"""#pragma unroll
      for (int e = 0; e < {each}; ++e) found |= (unsigned)((x[(i + e) * stride] & {whole}) != 0) << e;"""
    else:
        found = f"""Vec<T, {each}> v;
      load<{piece}>(v, x + i);
#pragma unroll
      for (int e = 0; e < {each}; ++e) found |= (unsigned)((v.v[e] & {whole}) != 0) << e;"""
    n = problem.count
    stride = "" if problem.stride is None else f"\n  const i64 stride = {words.signed(problem.stride)};"
    step = "" if problem.stride is None else " * stride"
    body = f"""
  __shared__ unsigned sums[{_THREADS // 32}];
  const i64 n = {words.signed(n)}, first = (i64)blockIdx.x * {BLOCK}, words = {words.signed(2 * words_of(n))};
  const T* const x = (const T*)W.w[{MARKED}];{stride}
  unsigned* const bits = (unsigned*)W.w[{MARKS_BITS}];
  const unsigned lane = threadIdx.x % 32;
  unsigned count = 0;
#pragma unroll
  for (int k = 0; k < {BLOCK // (_THREADS * each)}; ++k) {{
    const i64 i = first + (k * {_THREADS} + (int)threadIdx.x) * {each};
    unsigned found = 0;
    if (i + {each} <= n) {{
      {found}
    }} else {{
      for (int e = 0; e < {each}; ++e)
        if (i + e < n) found |= (unsigned)((x[(i + e){step}] & {whole}) != 0) << e;
    }}
    unsigned word = found << {each} * (lane % {several});
#pragma unroll
    for (int m = 1; m < {several}; m *= 2) word |= __shfl_xor_sync(0xffffffffu, word, m);
    if (lane % {several} == 0 && i / 32 < words) {{
      bits[i / 32] = word;
      count += __popc(word);
    }}
  }}
  count = __reduce_add_sync(0xffffffffu, count);
  if (lane == 0) sums[threadIdx.x / 32] = count;
  __syncthreads();
  if (threadIdx.x == 0) {{
    unsigned total = 0;
#pragma unroll
    for (int w = 0; w < {_THREADS // 32}; ++w) total += sums[w];
    ((i64*)W.w[{MARKS_OFFSETS}])[blockIdx.x + 1] = total;
  }}"""
    blocks = blocks_of(n)
    counting = UnboundKernel(f"typedef {STORAGE_TYPE[problem.kind]} T;\n", body, (blocks, 1, 1), _THREADS)
    body = f"""
  __shared__ i64 sums[32];
  const i64 blocks = {words.signed(blocks)};
  i64* const counts = (i64*)W.w[{MARKS_OFFSETS}] + 1;
  if (threadIdx.x == 0) counts[-1] = 0;
  i64 carry = 0;
  for (i64 base = 0; base < blocks; base += {_ADDERS * _EACH}) {{
    const i64 at = base + threadIdx.x * {_EACH};
    i64 own[{_EACH}], sum = 0, total;
#pragma unroll
    for (int k = 0; k < {_EACH}; ++k) sum += own[k] = at + k < blocks ? counts[at + k] : 0;
    i64 before = carry + sum_before(sum, sums, total);
#pragma unroll
    for (int k = 0; k < {_EACH}; ++k) {{
      before += own[k];
      if (at + k < blocks) counts[at + k] = before;
    }}
    carry += total;
  }}"""
    adding = UnboundKernel(_ADDED, body, (1, 1, 1), _ADDERS)
    launches = (counting.launch(words), adding.launch(words))
    return Lowered(launches, tuple(words.values), 0, f"marks x{piece}")


# --- compactions ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def lower(problem: Compaction) -> Lowered:
    """The launch of a compaction."""
    if blocks_of(problem.count) >= INDEX_LIMIT:
        raise UnsupportedError(f"{problem.count} elements; expected fewer than {INDEX_LIMIT * BLOCK}")
    words = Words(OPERANDS, ())
    code = _Code(problem, words)
    unit = code.spread() if problem.mode is Mode.SPREAD else code.listed()
    return Lowered((unit.launch(words),), tuple(words.values), 0, problem.mode.value)


class _Code:
    def __init__(self, problem: Compaction, words: Words) -> None:
        self.problem, self.words = problem, words
        self.wide = problem.count + BLOCK >= INDEX_LIMIT
        # elements of 16 bytes are moved as two of 8
        self.type = "u128" if problem.kind.bits == 128 else STORAGE_TYPE[problem.kind]
        self.functions = f"struct alignas(16) u128 {{ u64 v[2]; }};\ntypedef {self.type} T;\n" + SUM_BEFORE

    def _begin(self) -> str:
        words = self.words
        return f"""
  __shared__ unsigned sums[{_THREADS // 32}];
  const i64 n = {words.signed(self.problem.count)}, first = (i64)blockIdx.x * {BLOCK};
  const i64 start = ((const i64*)W.w[{OFFSETS}])[blockIdx.x];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const i64 own = (i64)blockIdx.x * {_WORDS} + threadIdx.x;
  const unsigned word = own < {words.signed(2 * words_of(self.problem.count))} ? ((const unsigned*)W.w[{BITS}])[own] : 0u;
  unsigned all;
  const unsigned before = sum_before<{_THREADS // 32}>(__popc(word), sums, all), lower = (1u << lane) - 1u;"""

    def _at(self, strides: tuple[int, ...], name: str) -> str:
        """The function `name(W, i)`: the offset of an element."""
        kind, general = "i64" if self.wide else "unsigned", self.problem.general
        body = unravel("i", self.problem.shape, self.words, "c", wide=self.wide)
        steps: list[str | None] = [self.words.signed(s) if general or s not in (0, 1) else "1" if s else None for s in strides]
        body.append(f"return {offset(steps, 'c')};")
        return f"__device__ __forceinline__ i64 {name}(const Words& W, {kind} i) {{\n{lines(body)}\n}}\n"

    @property
    def _kind(self) -> str:
        return "i64" if self.wide else "unsigned"

    def listed(self) -> UnboundKernel:
        """Coordinates, or elements packed."""
        problem, words = self.problem, self.words
        functions = self.functions
        if problem.mode is Mode.PACKED:
            assert problem.x is not None
            functions += self._at(problem.x, "x_at")
            y = "" if problem.y[0] == 1 and not problem.general else f" * {words.signed(problem.y[0])}"
            write = [f"((T*)W.w[{Y}])[r{y}] = ((const T*)W.w[{X}])[x_at(W, i)];"]
        else:
            row, column = (words.signed(s) for s in problem.y)
            write = [f"i64* const to = (i64*)W.w[{Y}] + r * {row};"]
            write += unravel("i", problem.shape, words, "c", wide=self.wide)
            write += [f"to[{a} * {column}] = (i64)c{a};" for a in range(len(problem.shape))]
        body = f"""
  __shared__ unsigned short list[{BLOCK}];{self._begin()}
  if (all == 0) return;
#pragma unroll
  for (int w = 0; w < 32; ++w) {{
    const unsigned other = __shfl_sync(0xffffffffu, word, w), at = __shfl_sync(0xffffffffu, before, w);
    if (other >> lane & 1u) list[at + __popc(other & lower)] = (unsigned short)((warp * 32 + w) * 32 + lane);
  }}
  __syncthreads();
  const i64 size = {words.signed(problem.size)};
  for (unsigned k = threadIdx.x; k < all; k += {_THREADS}u) {{
    const i64 r = start + k;
    if (r >= size) return;
    const {self._kind} i = ({self._kind})(first + list[k]);
{lines(write, "    ")}
  }}"""
        return UnboundKernel(functions, body, (blocks_of(problem.count), 1, 1), _THREADS)

    def spread(self) -> UnboundKernel:
        """Elements from where they are packed back to where they are set."""
        problem, words = self.problem, self.words
        functions = self.functions + self._at(problem.y, "y_at")
        assert problem.x is not None
        size = words.signed(problem.size)
        if problem.cyclic:
            rank = f"r % {size}" if self.wide else f"(i64)((unsigned)r % (unsigned){size})"
        else:
            rank = f"(r < {size} ? r : {size} - 1)"
        base = "T{}"
        if problem.base is not None:
            functions += self._at(problem.base, "base_at")
            base = f"((const T*)W.w[{BASE}])[base_at(W, i)]"
        body = f"""{self._begin()}
#pragma unroll 8
  for (int w = 0; w < 32; ++w) {{
    const unsigned other = __shfl_sync(0xffffffffu, word, w), at = __shfl_sync(0xffffffffu, before, w);
    const i64 place = first + (warp * 32 + w) * 32 + lane;
    if (place >= n) continue;
    const {self._kind} i = ({self._kind})place;
    T value;
    if (other >> lane & 1u) {{
      const i64 r = start + at + __popc(other & lower);
      value = ((const T*)W.w[{X}])[{rank} * {words.signed(problem.x[0])}];
    }} else {{
      value = {base};
    }}
    ((T*)W.w[{Y}])[y_at(W, i)] = value;
  }}"""
        return UnboundKernel(functions, body, (blocks_of(problem.count), 1, 1), _THREADS)
