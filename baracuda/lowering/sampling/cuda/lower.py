"""Sampling on CUDA: a block of threads for each row.

The row is read once for its largest logit and once for the weights of what is left. Where a threshold is wanted, elements are
counted, and their weights summed, by how far below the largest they are, in steps of 1/64; of the step in which the threshold
lies the elements are put into shared memory, or read anew where they are many, and it is found there digit by digit. All that
threads add up are whole numbers, so it does not matter who comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from baracuda.codegen.cuda.emit import Emitter
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Expr
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words
from baracuda.lowering.sampling import arithmetic as a
from baracuda.lowering.sampling.problem import (
    BELOW,
    KEPT,
    LIMIT,
    LOGITS,
    MIN_P,
    NSIGMA,
    OPERANDS,
    TEMPERATURE,
    TOKEN,
    TOTAL,
    WORDS,
    K,
    P,
    Sampling,
)
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.runtime.program import Lowered

_THREADS = 1024


def ways(problem: Sampling, target: Target) -> Iterator[Lowered]:
    """The one way."""
    yield lower(problem)


@lru_cache(maxsize=1024)
def lower(problem: Sampling) -> Lowered:
    """The launch of a problem, the same for every target."""
    if problem.length > LIMIT or problem.rows >= INDEX_LIMIT:
        raise UnsupportedError(f"{problem.rows} rows of {problem.length} elements; expected rows of at most {LIMIT}")
    words = Words(OPERANDS, ())
    kernel = _kernel(problem, words)
    return Lowered((kernel.launch(words),), tuple(words.values), 0, "sampling")


def _function(name: str, result: Expr, parameters: Mapping[Expr, str]) -> str:
    """A formula as a function."""
    emitter = Emitter(parameters.get)
    value = emitter.value(result)
    takes = ", ".join(f"{COMPUTE_TYPE[p.kind]} {text}" for p, text in parameters.items())
    body = "\n".join(f"  {line}" for line in [*emitter.lines, f"return {value};"])
    return f"__device__ __forceinline__ {COMPUTE_TYPE[result.kind]} {name}({takes}) {{\n{body}\n}}\n"


def _functions(problem: Sampling) -> str:
    """What a row is made of, element by element."""
    tempered = problem.tempered
    shared = [
        _function("held", a.LOGIT_HELD, {a.LOGIT: "l"}),
        _function("level_of", a.LEVEL_OF, {a.M: "m", a.X: "x"}),
        _function("typical_level_of", a.TYPICAL_LEVEL_OF, {a.V: "v", a.MU: "mu"}),
        _function("weight_of", a.WEIGHT_OF, {a.E: "e"}),
        _function("mean_term_of", a.MEAN_TERM_OF, {a.E: "e", a.V: "v"}),
        _function("steps_of", a.STEPS_OF, {a.V: "v"}),
        _function("limit_of", a.LIMIT_OF, {a.S1: "s1", a.S2: "s2", a.COUNT: "c", a.NSIGMA: "nsigma"}),
        _function("least_of", a.LEAST_OF, {a.MIN_P: "min_p"}),
        _function("target_of", a.TARGET_OF, {a.P: "p", a.W: "w"}),
        _function("mu_of", a.MU_OF, {a.R: "r", a.W: "w"}),
        _function("place_of", a.PLACE_OF, {a.WORD: "word", a.W: "w"}),
    ]
    if problem.probabilities:
        shared.append(_function("share_of", a.SHARE_OF, {a.LOGIT: "l", a.TOP: "top"}))
    else:
        shared.append(_function("e_of", a.E_OF, {a.V: "v"}))
    if tempered:
        shared.append(_function("x_of", a.X_OF, {a.LOGIT: "l", a.TEMPERATURE: "t"}))
    share = "share_of(l, top)" if problem.probabilities else "e_of(v)"
    x = "temperature > 0.0f ? x_of(l, temperature) : l" if tempered else "l"
    constants = f"""
typedef {STORAGE_TYPE[problem.kind]} L;
constexpr int T = {_THREADS}, WARPS = T / 32, E = 16 / sizeof(L), BINS = 2048, DIGITS = 256, ROOM = 2048;
constexpr bool UNIT = {str(problem.unit).lower()}, TYPICAL = {str(problem.typical).lower()};
struct Level {{ unsigned level, weight; }};
struct Counts {{ unsigned count, low, high; }};
"""
    row = f"""
// What a row says of its elements; each thread has it all.
struct Row {{
  float top, temperature, m, mu, limit;
  unsigned least, deepest;
  __device__ __forceinline__ bool out(float l) const {{ return !(l > {"0.0f" if problem.probabilities else "-INFINITY_"}); }}
  __device__ __forceinline__ float x(float l) const {{ return {x}; }}
  // Whether an element, held, is left by all but the last threshold.
  __device__ __forceinline__ bool look(float l, float& v, float& e, unsigned& level, unsigned& weight) const {{
    const float own = x(l);
    v = m - own;
    level = level_of(m, own);
    e = {share};
    weight = weight_of(e);
    return top - l <= limit && weight >= least && level <= deepest;
  }}
}};
__device__ __forceinline__ unsigned bin_of(float distance) {{ return (unsigned)fminf(distance * 64.0f, BINS - 1); }}
"""
    return constants + "".join(shared) + row.replace("-INFINITY_", "__uint_as_float(0xff800000u)")


_MACHINE = r"""
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
  const int vectors = (n - lead) / E;
  if (thread < lead) f(thread, widen(x[thread]));
  constexpr int AHEAD = 16 / E;
  for (int j = thread; j < vectors; j += AHEAD * T) {
    Vec<L, E> v[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (j + k * T < vectors) v[k] = body[j + k * T];
#pragma unroll
    for (int k = 0; k < AHEAD; ++k)
      if (j + k * T < vectors) {
#pragma unroll
        for (int e = 0; e < E; ++e) f(lead + (j + k * T) * E + e, widen(v[k].v[e]));
      }
  }
  const int i = lead + vectors * E + thread;
  if (i < n) f(i, widen(x[i]));
}

// The sum over the block; `parts` may be used again at once.
__device__ __forceinline__ u64 block_sum(u64 x, u64* parts) {
#pragma unroll
  for (int w = 16; w; w /= 2) x += __shfl_xor_sync(0xffffffffu, x, w);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  u64 total = 0;
#pragma unroll 8
  for (int w = 0; w < WARPS; ++w) total += parts[w];
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

__device__ __forceinline__ void add(Counts* bins, unsigned bin, unsigned weight) {
  atomicAdd(&bins[bin].count, 1u);
  if (weight && atomicAdd(&bins[bin].low, weight) > 0xffffffffu - weight) atomicAdd(&bins[bin].high, 1u);
}
__device__ __forceinline__ u64 sum_of(const Counts& c) { return (u64)c.high << 32 | c.low; }
template <bool COUNTED> __device__ __forceinline__ u64 measure(const Counts& c) { return COUNTED ? c.count : sum_of(c); }

struct Found { unsigned bin; u64 before, weight; };
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

struct Shared {
  Counts bins[BINS], digits[DIGITS];
  union { Level list[ROOM]; u64 runs[T]; };
  u64 parts[WARPS];
  Found found;
  unsigned taken, place;
};

// The level up to which there are `target` of the elements in the bins, and the weight up to it. `look` gives a level, a
// distance by which it has its bin, and a weight, of what counts.
template <bool COUNTED, class Look>
__device__ __forceinline__ Level threshold(Shared& s, const L* x, i64 along, int n, u64 target, u64& weight, Look look) {
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
      if (look(l, level, w, own) && own == bin.bin) s.list[atomicAdd(&s.taken, 1u)] = {level, w};
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
  return {prefix, 0};
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


def _kernel(problem: Sampling, words: Words) -> UnboundKernel:
    steps = dict(problem.given)

    def of_row(operand: int, type_: str) -> str:
        return f"((const {type_}*)W.w[{operand}])[row * {words.signed(steps[operand])}]"

    row_step, along = (words.signed(s) for s in problem.logits)
    body = f"""
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& s = *(Shared*)memory;
  const i64 row = blockIdx.x;
  const int n = (int){words.signed(problem.length)}, thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const i64 along = {along};
  const L* const x = (const L*)W.w[{LOGITS}] + row * {row_step};
  Row r;
  r.limit = __uint_as_float(0x7f800000u);
  r.least = 0;
  r.deepest = {a.OUT - 1:#x}u;
  r.mu = 0.0f;
  r.temperature = {of_row(TEMPERATURE, "float") if problem.tempered else "1.0f"};
  const bool greedy = {"!(r.temperature > 0.0f)" if problem.tempered else "false"};

  // the largest logit
  float top = __uint_as_float(0xff800000u);
  each(x, along, n, [&](int, float l) {{ if (!r.out(l)) top = fmaxf(top, l); }});
#pragma unroll
  for (int w = 16; w; w /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, w));
  float* const tops = (float*)s.parts;
  if (lane == 0) tops[warp] = top;
  __syncthreads();
  for (int w = 0; w < WARPS; ++w) top = fmaxf(top, tops[w]);
  __syncthreads();
  {_marks(problem, words, "nothing")}
  r.top = held(top);
  r.m = r.x(r.top);
"""
    if problem.has(NSIGMA):
        body += f"""
  {{
    u64 s1 = 0, s2 = 0, c = 0;
    each(x, along, n, [&](int, float l) {{
      if (r.out(l)) return;
      const float v = r.top - held(l);
      if (!(v <= {a.FARTHEST}f)) return;
      const u64 q = steps_of(v);
      s1 += q; s2 += q * q; ++c;
    }});
    s1 = block_sum(s1, s.parts);
    s2 = block_sum(s2, s.parts);
    c = block_sum(c, s.parts);
    r.limit = limit_of(s1, s2, c, {of_row(NSIGMA, "float")});
  }}"""
    if problem.tempered:
        body += "\n  if (greedy) r.limit = 0.0f;"
    if problem.has(MIN_P):
        body += f"\n  r.least = least_of({of_row(MIN_P, 'float')});"
    if problem.searches:
        body += _search(problem, of_row)
    typical = problem.typical and problem.has(P)
    body += f"""
  const auto left = [&](float l, float& v, unsigned& w) {{
    if (r.out(l)) return false;
    float e;
    unsigned level;
    if (!r.look(held(l), v, e, level, w)) return false;
    return {"typical_level_of(v, r.mu) <= most" if typical else "true"};
  }};
  // the weights of runs, each a warp's at a time, then of all, and the run in which the token is
  const int each_run = (n + 32 * T - 1) / (32 * T) * 32;
  for (int run = warp; run < T; run += WARPS) {{
    u64 sum = 0;
    const i64 from = (i64)run * each_run;
    for (int k = lane; k < each_run; k += 32) {{
      const i64 i = from + k;
      float v;
      unsigned w = 0;
      if (i < n) {{
        const bool stays = left(widen(x[{"i" if problem.unit else "i * along"}]), v, w);
        if (stays) sum += w;
        {_marks(problem, words, "stays")}
      }}
    }}
#pragma unroll
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, w);
    if (lane == 0) s.runs[run] = sum;
  }}
  __syncthreads();
  u64 total;
  const u64 own = s.runs[thread], before = sum_before(own, s.parts, total);
  const u64 place = {"greedy ? 0 : " if problem.tempered else ""}place_of({of_row(WORDS, "u64")}, total);
  if (before <= place && place < before + own) {{ s.place = thread; s.found.before = before; }}
  __syncthreads();
  if (warp) return;
  u64 reached = s.found.before;
  for (i64 i = (i64)s.place * each_run + lane;; i += 32) {{
    float v = 0.0f;
    unsigned w = 0;
    if (i < n && !left(widen(x[{"i" if problem.unit else "i * along"}]), v, w)) w = 0;
    u64 sum = w;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {{
      const u64 other = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += other;
    }}
    const unsigned beyond = __ballot_sync(0xffffffffu, reached + sum > place);
    if (beyond) {{
      if (lane == __ffs(beyond) - 1) {{
        ((i64*)W.w[{TOKEN}])[row] = i;
        {f"((float*)W.w[{BELOW}])[row] = v; ((u64*)W.w[{TOTAL}])[row] = total;" if problem.measured else ""}
      }}
      return;
    }}
    reached += __shfl_sync(0xffffffffu, sum, 31);
  }}"""
    functions = _functions(problem) + _MACHINE
    shared = 12 * (2048 + 256) + 16 * 1024 + 8 * 32 + 24 + 16
    return UnboundKernel(functions, body, (problem.rows, 1, 1), _THREADS, shared=-(-shared // 16) * 16)


def _marks(problem: Sampling, words: Words, what: str) -> str:
    """Marks of what is left; of a row where nothing is, and all else that is said of it."""
    if problem.kept is None:
        marks = ""
    else:
        row, along = map(words.signed, problem.kept)
        marks = f"((unsigned char*)W.w[{KEPT}])[row * {row} + i * {along}]"
    if what == "stays":
        return f"{marks} = stays;" if marks else ""
    measured = f"((float*)W.w[{BELOW}])[row] = __uint_as_float(0x7fc00000u); ((u64*)W.w[{TOTAL}])[row] = 0;"
    return f"""if (top == __uint_as_float(0xff800000u)) {{
    {f"for (i64 i = thread; i < n; i += T) {marks} = 0;" if marks else ""}
    if (thread == 0) {{
      ((i64*)W.w[{TOKEN}])[row] = -1;
      {measured if problem.measured else ""}
    }}
    return;
  }}"""


def _search(problem: Sampling, of_row: object) -> str:
    """The thresholds of k and p."""
    assert callable(of_row)
    by_level = """[&](float l, unsigned& level, unsigned& w, unsigned& bin) {
    float v, e;
    if (r.out(l) || !r.look(held(l), v, e, level, w)) return false;
    bin = bin_of(v);
    return true;
  }"""
    text = f"""
  const auto by_level = {by_level};
  fill_bins(s, x, along, n, by_level);
  u64 weight, count;
  {{
    u64 w = 0, c = 0;
    for (int d = thread; d < BINS; d += T) {{ w += sum_of(s.bins[d]); c += s.bins[d].count; }}
    weight = block_sum(w, s.parts);
    count = block_sum(c, s.parts);
  }}"""
    if problem.has(K):
        joint = "const u64 every = weight;" if problem.joint and problem.has(P) and not problem.typical else ""
        text += f"""
  {joint}
  unsigned nearest = r.deepest;
  const i64 k = {of_row(K, "i64")};
  if (k >= 1 && (u64)k < count) nearest = threshold<true>(s, x, along, n, (u64)k, weight, by_level).level;"""
        if joint:
            text += "\n  weight = every;"
        if not problem.has(P) or problem.typical:
            text += "\n  r.deepest = nearest;"
    if problem.has(P):
        text += f"\n  const float p = {of_row(P, 'float')};"
        if problem.typical:
            text += """
  unsigned most = 0xffffffffu;
  if (p < 1.0f) {
    u64 terms = 0, sum = 0;
    each(x, along, n, [&](int, float l) {
      float v, e;
      unsigned level, w;
      if (r.out(l) || !r.look(held(l), v, e, level, w)) return;
      terms += mean_term_of(e, v);
      sum += w;
    });
    terms = block_sum(terms, s.parts);
    sum = block_sum(sum, s.parts);
    r.mu = mu_of(terms, sum);
    const auto by_typical = [&](float l, unsigned& level, unsigned& w, unsigned& bin) {
      float v, e;
      if (r.out(l) || !r.look(held(l), v, e, level, w)) return false;
      level = typical_level_of(v, r.mu);
      bin = bin_of(__uint_as_float(level));
      return true;
    };
    fill_bins(s, x, along, n, by_typical);
    most = threshold<false>(s, x, along, n, target_of(p, sum), weight, by_typical).level;
  }"""
        else:
            text += """
  if (p < 1.0f) {
    const u64 target = target_of(p, weight);
    const unsigned found = threshold<false>(s, x, along, n, target, weight, by_level).level;
    r.deepest = found < r.deepest ? found : r.deepest;
  }"""
            if problem.has(K):
                text += "\n  r.deepest = nearest < r.deepest ? nearest : r.deepest;"
    return text
