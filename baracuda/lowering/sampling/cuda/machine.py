"""The C++ that the kernels of sampling are made of: rows, sums over a block, thresholds. All that threads add up are whole
numbers, so it does not matter who comes first."""

from __future__ import annotations

#: Threads of a block, and elements that it holds in shared memory.
THREADS, ROOM = 1024, 2048
#: Bytes of the block's `Shared`, or more.
SHARED_BYTES = 12 * (2048 + 256) + 12 * ROOM + 8 * 32 + 64

MACHINE = r"""
// All elements of a row, in any order, as numbers and logits.
template <class F> __device__ __forceinline__ void each(const L* x, i64 along, int n, F f) {
  const int thread = threadIdx.x;
  if (!UNIT) {
    for (int i = thread; i < n; i += T) f(i, widen(x[i * along]));
    return;
  }
  int lead = (int)((16 - ((u64)x & 15)) & 15) / (int)sizeof(L);
  if (lead > n) lead = n;
  const Vec<L, E>* const body = (const Vec<L, E>*)(x + lead);
  const int vectors = (n - lead) / E, loose = n - vectors * E;
  for (int j = thread; j < loose; j += T) {
    const int i = j < lead ? j : j + vectors * E;
    f(i, widen(x[i]));
  }
  constexpr int AHEAD = 8 / E;
  Vec<L, E> now[AHEAD], next[AHEAD];
#pragma unroll
  for (int k = 0; k < AHEAD; ++k)
    if (thread + k * T < vectors) now[k] = body[thread + k * T];
#pragma unroll 1
  for (int j = thread; j < vectors; j += AHEAD * T) {
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (j + (AHEAD + k) * T < vectors) next[k] = body[j + (AHEAD + k) * T];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (j + k * T < vectors) {
#pragma unroll
        for (int e = 0; e < E; ++e) f(lead + (j + k * T) * E + e, widen(now[k].v[e]));
      }
#pragma unroll
    for (int k = 0; k < AHEAD; ++k) now[k] = next[k];
  }
}

// The sum over the block; `parts` may be used again at once.
__device__ __forceinline__ u64 block_sum(u64 x, u64* parts) {
#pragma unroll
  for (int w = 16; w; w /= 2) x += __shfl_xor_sync(0xffffffffu, x, w);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  u64 total = parts[threadIdx.x % 32];
#pragma unroll
  for (int w = 16; w; w /= 2) total += __shfl_xor_sync(0xffffffffu, total, w);
  __syncthreads();
  return total;
}

// The sum over the threads before this one, and over all.
__device__ __forceinline__ u64 sum_before(u64 x, u64* parts, u64& total) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  u64 sum = x;
#pragma unroll
  for (int w = 1; w < 32; w *= 2) {
    const u64 other = __shfl_up_sync(0xffffffffu, sum, w);
    if (lane >= w) sum += other;
  }
  __syncthreads();
  if (lane == 31) parts[warp] = sum;
  __syncthreads();
  u64 before = 0;
  total = 0;
#pragma unroll 8
  for (int w = 0; w < WARPS; ++w) {
    if (w < warp) before += parts[w];
    total += parts[w];
  }
  __syncthreads();
  return before + sum - x;
}

struct Entry { unsigned level, weight, index; };
struct Counts { unsigned count, low, high; };
struct Found { unsigned bin; u64 before, weight; };
struct Shared {
  Counts bins[BINS], digits[DIGITS];
  union { Entry list[ROOM]; u64 runs[T]; };
  u64 parts[WARPS];
  Found found;
  unsigned taken, place;
};
"""

#: Thresholds among the elements of a row by steps of 1/64 and digits.
BINNED = r"""
__device__ __forceinline__ void add(Counts* bins, unsigned bin, unsigned weight) {
  atomicAdd(&bins[bin].count, 1u);
  if (weight && atomicAdd(&bins[bin].low, weight) > 0xffffffffu - weight) atomicAdd(&bins[bin].high, 1u);
}
__device__ __forceinline__ u64 sum_of(const Counts& c) { return (u64)c.high << 32 | c.low; }
template <bool COUNTED> __device__ __forceinline__ u64 measure(const Counts& c) { return COUNTED ? c.count : sum_of(c); }
__device__ __forceinline__ unsigned bin_of(float distance) { return (unsigned)fminf(distance * 64.0f, BINS - 1); }

// The first of N bins up to which there are `target`, and what the bins before it measure and weigh.
template <bool COUNTED, int N> __device__ __forceinline__ Found find(const Counts* bins, u64 target, u64* parts, Found* found) {
  constexpr int EACH = N > T ? N / T : 1;
  const int first = threadIdx.x * EACH;
  u64 own = 0, weight = 0, total;
  if (first < N)
#pragma unroll
    for (int k = 0; k < EACH; ++k) {
      own += measure<COUNTED>(bins[first + k]);
      weight += sum_of(bins[first + k]);
    }
  u64 before = sum_before(own, parts, total);
  if (COUNTED) weight = sum_before(weight, parts, total); else weight = before;
  if (before < target && target <= before + own) {
    int k = first;
    while (before + measure<COUNTED>(bins[k]) < target) {
      before += measure<COUNTED>(bins[k]);
      weight += sum_of(bins[k]);
      ++k;
    }
    *found = {(unsigned)k, before, weight};
  }
  __syncthreads();
  const Found result = *found;
  __syncthreads();
  return result;
}

// The level up to which there are `target` of the elements in the bins, and the weight up to it. `look` gives a level, a weight
// and a bin of what counts.
template <bool COUNTED, class Look>
__device__ __forceinline__ unsigned threshold(Shared& s, const L* x, i64 along, int n, u64 target, u64& weight, Look look) {
  const Found bin = find<COUNTED, BINS>(s.bins, target, s.parts, &s.found);
  const unsigned count = s.bins[bin.bin].count;
  target -= bin.before;
  weight = bin.weight;
  const bool listed = count <= ROOM;
  if (threadIdx.x == 0) s.taken = 0;
  __syncthreads();
  if (listed) {
    each(x, along, n, [&](int, float l) {
      unsigned level, w, own;
      if (look(l, level, w, own) && own == bin.bin) s.list[atomicAdd(&s.taken, 1u)] = {level, w, 0};
    });
    __syncthreads();
  }
  unsigned prefix = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int d = threadIdx.x; d < DIGITS; d += T) s.digits[d] = {0, 0, 0};
    __syncthreads();
    const auto take = [&](unsigned level, unsigned w) {
      if (shift == 24 || level >> (shift + 8) == prefix) add(s.digits, level >> shift & (DIGITS - 1), w);
    };
    if (listed) {
      for (int i = threadIdx.x; i < count; i += T) take(s.list[i].level, s.list[i].weight);
    } else {
      for (int i = threadIdx.x; i < n; i += T) {
        unsigned level, w, own;
        if (look(widen(x[UNIT ? i : i * along]), level, w, own) && own == bin.bin) take(level, w);
      }
    }
    __syncthreads();
    const Found digit = find<COUNTED, DIGITS>(s.digits, target, s.parts, &s.found);
    target -= digit.before;
    weight += digit.weight;
    if (shift == 0) weight += sum_of(s.digits[digit.bin]);
    prefix = prefix << 8 | digit.bin;
    __syncthreads();
  }
  return prefix;
}

template <class Look> __device__ __forceinline__ void fill_bins(Shared& s, const L* x, i64 along, int n, Look look) {
  for (int d = threadIdx.x; d < BINS; d += T) s.bins[d] = {0, 0, 0};
  __syncthreads();
  each(x, along, n, [&](int, float l) {
    unsigned level, w, own;
    if (look(l, level, w, own)) add(s.bins, own, w);
  });
  __syncthreads();
}
"""

#: Thresholds among the nearest elements alone, which a block holds.
LISTED = r"""
constexpr int HELD = ROOM / T;
// The R-th largest of a number that each thread has.
__device__ __forceinline__ unsigned ranked(unsigned own, int rank) {
  unsigned at = 0;
  for (int bit = 31; bit >= 0; --bit) {
    const unsigned next = at | 1u << bit;
    if (__syncthreads_count(own >= next) >= rank) at = next;
  }
  return at;
}

// The least of the keys up to which `measure`, a sum over the block, is `target` or more; keys are below 2**bits.
template <class Measure> __device__ __forceinline__ unsigned least_with(int bits, u64 target, Measure measure) {
  unsigned at = 0;
  for (int bit = bits - 1; bit >= 0; --bit)
    if (measure(at | ((1u << bit) - 1u)) < target) at |= 1u << bit;
  return at;
}

// Elements that threads hold.
struct Hand {
  Entry e[HELD];
  __device__ __forceinline__ u64 weight(unsigned deepest, unsigned last, u64* parts) const {
    u64 sum = 0;
#pragma unroll
    for (int k = 0; k < HELD; ++k) if (e[k].level <= deepest && e[k].index <= last) sum += e[k].weight;
    return block_sum(sum, parts);
  }
  __device__ __forceinline__ int count(unsigned deepest) const {
    int sum = 0;
#pragma unroll
    for (int k = 0; k < HELD; ++k) sum += __syncthreads_count(e[k].level <= deepest);
    return sum;
  }
};
"""
