"""A stable order by key on CUDA: radix, least significant digit first, three launches to a digit.

Every tile counts its digits; a block for each digit sums them over the tiles; then every tile moves its entries. Within a
tile, warps take neighbouring parts and find the rank of an entry among those of its digit with `match`, so that nothing
depends on the order in which threads run: counts are added up by integer atomics, places never.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent

from baracuda.core.elements import ElementKind
from baracuda.lowering.nest.cuda.kernel import Words, offset, translation_unit, unravel
from baracuda.lowering.scatter.problem import Arrays, Keys, passes
from baracuda.lowering.sort.cuda.ranking import SUM_BEFORE
from baracuda.runtime.program import KernelSource, Launch

#: Bits of a digit at most: the counts of 8 warps are then 32 KiB.
_MOST_BITS = 10
_THREADS = 256
_WARPS = _THREADS // 32
#: Entries to a thread, for few positions and for many.
_ITEMS = (4, 16)
_MANY = 1 << 18


@dataclass(frozen=True)
class UnboundKernel:
    """A kernel before the words of its program are all known."""

    functions: str
    body: str
    grid: tuple[int, int, int]
    block: int
    shared: int = 0
    #: How many a multiprocessor should hold.
    blocks: int = 0

    def launch(self, words: Words) -> Launch:
        body = dedent(self.body).strip("\n").split("\n")
        source = translation_unit(words, body, self.block, self.functions, blocks=self.blocks)
        return Launch(KernelSource(source), self.grid, self.block, self.shared)


def digits(keys: Keys) -> list[tuple[int, int]]:
    """The digits that CUDA sorts by."""
    return passes(keys.bits, _MOST_BITS)


def _items(keys: Keys) -> int:
    return _ITEMS[keys.positions > _MANY]


def tiles(keys: Keys) -> int:
    return -(-keys.positions // (_THREADS * _items(keys)))


def lines(statements: Sequence[str], indent: str = "  ") -> str:
    return "\n".join(indent + s for s in statements)


def strides(values: Sequence[int], words: Words, *, general: bool) -> list[str | None]:
    """The C++ expressions of strides; None for 0 where the code may depend on it."""
    return [None if s == 0 and not general else words.signed(s) for s in values]


class RadixSort:
    """The launches that put the sorted entries and the starts of the runs into the workspace."""

    def __init__(self, keys: Keys, index: int, arrays: Arrays, words: Words) -> None:
        self.keys, self.index, self.arrays, self.words = keys, index, arrays, words
        self.items = _items(keys)

    def scratch(self, at: int) -> str:
        return f"(W.w[{self.words.operands}] + {self.words.signed(at)})"

    def units(self) -> list[UnboundKernel]:
        """Counting, the sums over tiles, and the move, for each digit; then the starts."""
        units: list[UnboundKernel] = []
        places = digits(self.keys)
        if self.keys.positions:
            for i, (shift, bits) in enumerate(places):
                passes_left = len(places) - 1 - i  # so that the last pass ends in the first array
                source = None if i == 0 else self.arrays.entries[(passes_left + 1) % 2]
                reading = self._reading(source, shift, bits)
                target = self.arrays.entries[passes_left % 2]
                units += [self._counting(reading, bits), self._summing(bits), self._moving(reading, target, bits)]
        return [*units, self._starts()]

    def _reading(self, source: int | None, shift: int, bits: int) -> str:
        """The functions `entry_of(W, p)` and `digit_of(W, entry)`."""
        words, keys = self.words, self.keys
        if source is None:
            kind = "int" if keys.index.kind is ElementKind.S32 else "i64"
            at = offset(strides(keys.index.outer, words, general=keys.index.general), "c")
            steps = [f" + c{a} * {words.unsigned(s)}" for a, s in enumerate(keys.steps) if s or keys.index.general]
            scale = "" if keys.scale == 1 else f" * {words.unsigned(keys.scale)}"
            body = [
                *unravel("p", keys.shape, words, "c", wide=False),
                f"{'' if keys.wrap else 'const '}i64 value = ((const {kind}*)W.w[{self.index}])[{at}];",
                f"const i64 last = {words.signed(keys.extent - 1)};",
                *(["if (value < 0) value += last + 1;"] if keys.wrap else []),
                f"unsigned key = (unsigned)(value < 0 ? 0 : value > last ? last : value){scale}{''.join(steps)};",
            ]
            if keys.skip is not None:
                body.append(f"if (value == {words.signed(keys.skip)}) key = {words.unsigned(keys.count)};")
            body.append("return (u64)key << 32 | p;")
        else:
            body = [f"return ((const u64*){self.scratch(source)})[p];"]
        return (
            f"__device__ __forceinline__ u64 entry_of(const Words& W, unsigned p) {{\n{lines(body)}\n}}\n"
            "__device__ __forceinline__ unsigned digit_of(const Words& W, u64 entry) {\n"
            f"  return (unsigned)(entry >> {words.unsigned(32 + shift)}) & {(1 << bits) - 1}u;\n}}\n"
        )

    def _counting(self, reading: str, bits: int) -> UnboundKernel:
        words, radix = self.words, 1 << bits
        body = f"""
  __shared__ unsigned counts[{radix}];
  const unsigned n = {words.unsigned(self.keys.positions)}, first = blockIdx.x * {_THREADS * self.items}u + threadIdx.x;
  for (unsigned i = threadIdx.x; i < {radix}u; i += {_THREADS}u) counts[i] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < {self.items}; ++i) {{
    const unsigned p = first + i * {_THREADS}u;
    if (p < n) atomicAdd(&counts[digit_of(W, entry_of(W, p))], 1u);
  }}
  __syncthreads();
  unsigned* const to = (unsigned*){self.scratch(self.arrays.counts)} + blockIdx.x;
  for (unsigned i = threadIdx.x; i < {radix}u; i += {_THREADS}u) to[(i64)i * gridDim.x] = counts[i];"""
        return UnboundKernel(reading, body, (tiles(self.keys), 1, 1), _THREADS)

    def _summing(self, bits: int) -> UnboundKernel:
        body = f"""
  __shared__ unsigned sums[{_WARPS}];
  const unsigned count = {self.words.unsigned(tiles(self.keys))};
  unsigned* const row = (unsigned*){self.scratch(self.arrays.counts)} + (i64)blockIdx.x * count;
  unsigned carry = 0;
  for (unsigned base = 0; base < count; base += {_THREADS}u) {{
    const unsigned i = base + threadIdx.x;
    const unsigned own = i < count ? row[i] : 0;
    unsigned total;
    const unsigned before = sum_before<{_WARPS}>(own, sums, total);
    if (i < count) row[i] = carry + before;
    carry += total;
  }}
  if (threadIdx.x == 0) ((unsigned*){self.scratch(self.arrays.totals)})[blockIdx.x] = carry;"""
        return UnboundKernel(SUM_BEFORE, body, (1 << bits, 1, 1), _THREADS)

    def _moving(self, reading: str, target: int, bits: int) -> UnboundKernel:
        words, radix, items = self.words, 1 << bits, self.items
        each = max(1, radix // _THREADS)
        body = f"""
  __shared__ unsigned sums[{_WARPS}], places[{radix}], counts[{_WARPS}][{radix}];
  const unsigned n = {words.unsigned(self.keys.positions)}, thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const unsigned* const totals = (const unsigned*){self.scratch(self.arrays.totals)};
  const unsigned* const before = (const unsigned*){self.scratch(self.arrays.counts)} + blockIdx.x;
  for (unsigned i = lane; i < {radix}u; i += 32) counts[warp][i] = 0;
  // where each digit of this tile goes: behind all smaller digits, and behind its own in the tiles before
  unsigned own[{each}], sum = 0, all;
#pragma unroll
  for (int i = 0; i < {each}; ++i) {{
    const unsigned d = thread * {each}u + i;
    own[i] = d < {radix}u ? totals[d] : 0;
    sum += own[i];
  }}
  unsigned place = sum_before<{_WARPS}>(sum, sums, all);
#pragma unroll
  for (int i = 0; i < {each}; ++i) {{
    const unsigned d = thread * {each}u + i;
    if (d < {radix}u) places[d] = place + before[(i64)d * gridDim.x];
    place += own[i];
  }}
  __syncthreads();
  u64 entries[{items}];
  unsigned ranks[{items}];
  const unsigned first = blockIdx.x * {_THREADS * items}u + warp * {32 * items}u + lane;
#pragma unroll
  for (int i = 0; i < {items}; ++i) {{
    const unsigned p = first + i * 32u;
    if (p < n) entries[i] = entry_of(W, p);
  }}
#pragma unroll
  for (int i = 0; i < {items}; ++i) {{
    const bool exists = first + i * 32u < n;
    const unsigned d = exists ? digit_of(W, entries[i]) : {radix}u;
    const unsigned peers = __match_any_sync(0xffffffffu, d), mine = __popc(peers & ((1u << lane) - 1));
    const unsigned found = exists ? counts[warp][d] : 0;
    __syncwarp();
    if (exists && mine == 0) counts[warp][d] = found + __popc(peers);
    __syncwarp();
    ranks[i] = found + mine;
  }}
  __syncthreads();
  for (unsigned d = thread; d < {radix}u; d += {_THREADS}u) {{
    unsigned at = places[d];
#pragma unroll
    for (int w = 0; w < {_WARPS}; ++w) {{ const unsigned c = counts[w][d]; counts[w][d] = at; at += c; }}
  }}
  __syncthreads();
  u64* const to = (u64*){self.scratch(target)};
#pragma unroll
  for (int i = 0; i < {items}; ++i)
    if (first + i * 32u < n) to[counts[warp][digit_of(W, entries[i])] + ranks[i]] = entries[i];"""
        return UnboundKernel(SUM_BEFORE + reading, body, (tiles(self.keys), 1, 1), _THREADS)

    def _starts(self) -> UnboundKernel:
        """For each key the first place in the sorted entries with that key or a larger one; a block's keys lie together."""
        words, count = self.words, self.keys.count + 1
        body = f"""
  __shared__ unsigned bounds[2];
  const u64* const entries = (const u64*){self.scratch(self.arrays.entries[0])};
  const unsigned n = {words.unsigned(self.keys.positions)}, key = blockIdx.x * {_THREADS}u + threadIdx.x;
  if (threadIdx.x < 2) bounds[threadIdx.x] = first_of(entries, (blockIdx.x + threadIdx.x) * {_THREADS}u, 0, n);
  __syncthreads();
  if (key < {words.unsigned(count)})
    ((unsigned*){self.scratch(self.arrays.starts)})[key] = first_of(entries, key, bounds[0], bounds[1]);"""
        return UnboundKernel(_FIRST_OF, body, (-(-count // _THREADS), 1, 1), _THREADS)


_FIRST_OF = """
// The first place from low to high - 1 whose key is not below `key`; high where there is none.
__device__ __forceinline__ unsigned first_of(const u64* entries, unsigned key, unsigned low, unsigned high) {
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if ((unsigned)(entries[middle] >> 32) < key) low = middle + 1; else high = middle;
  }
  return low;
}
"""
