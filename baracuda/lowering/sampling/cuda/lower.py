"""Sampling on CUDA: a block of threads for each row.

The row is read once for its largest logit. What can be wanted by k and p are most often its nearest few hundred elements: those
not below a bound, which so many threads' largest ones are, are put into shared memory in a second pass, which adds up what the
others weigh where p asks for that; what else there is to do is done there. Where that is not enough, elements are counted, and
their weights summed, by how far below the largest they are, in steps of 1/64; of the step in which the threshold lies elements
are looked at digit by digit. Then a last pass finds the token by the sums of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import param
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words
from baracuda.lowering.sampling import arithmetic as a
from baracuda.lowering.sampling.cuda.machine import BINNED, LISTED, MACHINE, SHARED_BYTES, THREADS
from baracuda.lowering.sampling.cuda.row import LOWEST, row_functions
from baracuda.lowering.sampling.problem import (
    BELOW,
    KEPT,
    KEYS,
    LIMIT,
    LOGITS,
    MIN_P,
    NAMES,
    NSIGMA,
    OPERANDS,
    TEMPERATURE,
    TOKEN,
    TOTAL,
    K,
    P,
    Sampling,
)
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.runtime.program import Lowered

#: How many threads' largest elements are not below the bound: of elements in no order about a thousand are not, then.
_RANK = 640
_INFINITY = "__uint_as_float(0x7f800000u)"


def ways(problem: Sampling, target: Target) -> Iterator[Lowered]:
    """The one way."""
    yield lower(problem)


@lru_cache(maxsize=1024)
def lower(problem: Sampling) -> Lowered:
    """The launch of a problem, the same for every target."""
    if problem.length > LIMIT or problem.rows >= INDEX_LIMIT:
        raise UnsupportedError(f"{problem.rows} rows of {problem.length} elements; expected rows of at most {LIMIT}")
    kernel = _Kernel(problem)
    return Lowered((kernel.unit().launch(kernel.words),), tuple(kernel.words.values), 0, "sampling")


class _Kernel:
    """The body of a kernel, piece by piece."""

    def __init__(self, problem: Sampling) -> None:
        self.p = problem
        kinds = {o: ElementKind.S64 if o == K else ElementKind.F32 for o in problem.numbers}
        self.params = {o: param(NAMES[o], kind) for o, kind in kinds.items()}
        self.words = Words(OPERANDS, tuple(self.params.values()))
        self.steps = {o: self.words.signed(s) for o, s in problem.given}
        self.typical = problem.typical and problem.has(P)

    def unit(self) -> UnboundKernel:
        p = self.p
        pieces = [self._begin(), self._limits()]
        if p.searches:
            pieces += ["bool settled = false;", "unsigned most = 0xffffffffu;" if self.typical else ""]
            pieces += [] if self.typical else [self._listed()]
            pieces += ["if (!settled) {", self._searched(), "}"]
        pieces.append(self._drawn())
        functions = row_functions(p) + MACHINE + BINNED + LISTED
        shared = -(-SHARED_BYTES // 16) * 16
        return UnboundKernel(functions, "\n".join(pieces), (p.rows, 1, 1), THREADS, shared=shared)

    def _of_row(self, operand: int) -> str:
        if operand in self.params:
            return self.words.param(self.params[operand])
        type_ = "i64" if operand == K else "float"
        return f"((const {type_}*)W.w[{operand}])[row * {self.steps[operand]}]"

    def _mark(self, value: str) -> str:
        """A mark of what is left."""
        if self.p.kept is None:
            return ""
        row, along = map(self.words.signed, self.p.kept)
        return f"((unsigned char*)W.w[{KEPT}])[row * {row} + i * {along}] = {value};"

    def _results(self, token: str, below: str, total: str) -> str:
        measured = f"((float*)W.w[{BELOW}])[row] = {below}; ((u64*)W.w[{TOTAL}])[row] = {total};"
        return f"((i64*)W.w[{TOKEN}])[row] = {token}; {measured if self.p.measured else ''}"

    def _begin(self) -> str:
        """The largest logit, and which of those of the threads' this one's is."""
        p, signed = self.p, self.words.signed
        row_step, along, key_step, key_along = (signed(s) for s in (*p.logits, *p.key))
        nothing = f"for (i64 i = thread; i < n; i += T) {self._mark('0')}" if p.kept else ""
        return f"""
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& s = *(Shared*)memory;
  const i64 row = blockIdx.x;
  const int n = (int){signed(p.length)}, thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const i64 along = {along};
  const L* const x = (const L*)W.w[{LOGITS}] + row * {row_step};
  const unsigned* const key = (const unsigned*)W.w[{KEYS}] + row * {key_step};
  const u64 word = word_of(key[0], key[{key_along}], (u64)row);
  Row r;
  r.limit = {_INFINITY};
  r.least = 0;
  r.deepest = {a.OUT - 1:#x}u;
  r.mu = 0.0f;
  r.temperature = {self._of_row(TEMPERATURE) if p.tempered else "1.0f"};
  const bool greedy = {"!(r.temperature > 0.0f)" if p.tempered else "false"};
  float best = {LOWEST};
  each(x, along, n, [&](int, float l) {{ if (!r.out(l)) best = fmaxf(best, l); }});
  float top = best;
#pragma unroll
  for (int w = 16; w; w /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, w));
  float* const tops = (float*)s.parts;
  if (lane == 0) tops[warp] = top;
  __syncthreads();
  for (int w = 0; w < WARPS; ++w) top = fmaxf(top, tops[w]);
  __syncthreads();
  if (top == {LOWEST}) {{
    {nothing}
    if (thread == 0) {{ {self._results("-1", "__uint_as_float(0x7fc00000u)", "0")} }}
    return;
  }}
  r.top = held(top);
  r.m = r.x(r.top);"""

    def _limits(self) -> str:
        """What nsigma, the temperature and min_p say."""
        text = ""
        if self.p.has(NSIGMA):
            text += f"""
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
    r.limit = limit_of(s1, s2, c, {self._of_row(NSIGMA)});
  }}"""
        if self.p.tempered:
            text += "\n  if (greedy) r.limit = 0.0f;"
        if self.p.has(MIN_P):
            text += f"\n  r.least = least_of({self._of_row(MIN_P)});"
        if self.p.has(K):
            text += f"\n  const i64 k = {self._of_row(K)};"
        if self.p.has(P):
            text += f"\n  const float p = {self._of_row(P)};"
        return text

    def _listed(self) -> str:
        """Thresholds, and without marks the token, among the nearest elements; `settled` where these are enough."""
        p = self.p
        by_k, by_p = ("k >= 1" if p.has(K) else "false"), ("p < 1.0f" if p.has(P) else "false")
        whole = f"({by_p}) && ({'true' if p.joint else f'!({by_k})'})"
        known = "<" if p.tempered else "<="  # of a temperature others may come to the bound's x
        draw = f"""
      const u64 total = hand.weight(r.deepest, 0xffffffffu, s.parts);
      const u64 place = {"greedy ? 0 : " if p.tempered else ""}place_of(word, total);
      const unsigned token = least_with(32 - __clz(n), place + 1, [&](unsigned last) {{
        return hand.weight(r.deepest, last, s.parts);
      }});
#pragma unroll
      for (int h = 0; h < HELD; ++h)
        if (hand.e[h].index == token && hand.e[h].level <= r.deepest) {{
          const float v = r.m - r.x(held(widen(x[token * along])));
          {self._results("token", "v", "total")}
        }}
      return;"""
        return f"""
  if (({by_k}) || ({by_p})) {{
    // a bound below which no element is looked at: so many threads have one that is not
    const unsigned bits = __float_as_uint(best == 0.0f ? 0.0f : best);
    const unsigned lowest = ranked(bits >> 31 ? ~bits : bits | 0x80000000u, {_RANK});
    const float bound = held(__uint_as_float(lowest >> 31 ? lowest & 0x7fffffffu : ~lowest));
    const bool whole = {whole};
    u64 rest = 0;
    unsigned own_count = 0;
    if (thread == 0) s.taken = 0;
    __syncthreads();
    each(x, along, n, [&](int i, float l) {{
      if (r.out(l)) return;
      l = held(l);
      const bool near = l >= bound;
      if (!near && !whole{" && r.least == 0" if p.has(MIN_P) else ""}) {{ own_count += r.top - l <= r.limit; return; }}
      float v, e;
      unsigned level, w;
      if (!r.look(l, v, e, level, w)) return;
      ++own_count;
      if (!near) rest += w;
      else {{
        const unsigned to = atomicAdd(&s.taken, 1u);
        if (to < ROOM) s.list[to] = {{level, w, (unsigned)i}};
      }}
    }});
    __syncthreads();
    const unsigned taken = s.taken;
    const u64 count = block_sum(own_count, s.parts);
    rest = whole ? block_sum(rest, s.parts) : 0;
    if (taken && taken <= ROOM) {{
      Hand hand;
#pragma unroll
      for (int h = 0; h < HELD; ++h) {{
        const int at = h * T + thread;
        hand.e[h] = {{{a.OUT:#x}u, 0, 0xffffffffu}};
        if (at < taken) hand.e[h] = s.list[at];
      }}
      const unsigned edge = level_of(r.m, r.x(bound));
      const bool every = count == taken;  // of what is left; else all elements nearer than the bound are there
      const int width = 32 - __clz(edge);
      unsigned nearest = {a.OUT - 1:#x}u;
      settled = true;
      const bool counted = {f"{by_k} && (u64)k < count" if p.has(K) else "false"};
      if (counted) {{
        nearest = {a.OUT:#x}u;
        if ({"(u64)k <= taken" if p.has(K) else "false"})
          nearest = least_with(width, {"(u64)k" if p.has(K) else "0"}, [&](unsigned last) {{ return (u64)hand.count(last); }});
        settled = every || nearest {known} edge;
      }}
      if (settled && ({by_p})) {{
        const u64 all = hand.weight({"r.deepest" if p.joint else "nearest"}, 0xffffffffu, s.parts);
        if (!counted && !whole && !every) settled = false;
        else {{
          const u64 target = target_of({"p" if p.has(P) else "1.0f"}, all + rest);
          if (target > all) settled = false;
          else {{
            const unsigned found = least_with(width, target, [&](unsigned last) {{
              return hand.weight(last, 0xffffffffu, s.parts);
            }});
            settled = every || found {known} edge;
            nearest = found < nearest ? found : nearest;
          }}
        }}
      }} else if (!counted && !every) settled = false;
      if (settled) r.deepest = nearest;
    }}
    if (settled) {{{"" if p.kept else self._redrawn(draw)}
    }}
    __syncthreads();
  }} else settled = true;"""

    def _redrawn(self, draw: str) -> str:
        return f"""
      Hand hand;
#pragma unroll
      for (int h = 0; h < HELD; ++h) {{
        const int at = h * T + thread;
        hand.e[h] = {{{a.OUT:#x}u, 0, 0xffffffffu}};
        if (at < taken) hand.e[h] = s.list[at];
      }}{draw}"""

    def _searched(self) -> str:
        """The thresholds of k and p among all elements."""
        p = self.p
        text = """
  const auto by_level = [&](float l, unsigned& level, unsigned& w, unsigned& bin) {
    float v, e;
    if (r.out(l) || !r.look(held(l), v, e, level, w)) return false;
    bin = bin_of(v);
    return true;
  };
  fill_bins(s, x, along, n, by_level);
  u64 weight = 0, count = 0;
  for (int d = thread; d < BINS; d += T) { weight += sum_of(s.bins[d]); count += s.bins[d].count; }
  weight = block_sum(weight, s.parts);
  count = block_sum(count, s.parts);
  unsigned nearest = r.deepest;"""
        if p.has(K):
            text += f"""
  {"const u64 every = weight;" if p.joint else ""}
  if (k >= 1 && (u64)k < count) nearest = threshold<true>(s, x, along, n, (u64)k, weight, by_level);
  {"weight = every;" if p.joint else ""}"""
        if self.typical:
            text += """
  r.deepest = nearest;
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
    most = threshold<false>(s, x, along, n, target_of(p, sum), weight, by_typical);
  }"""
        elif p.has(P):
            text += """
  if (p < 1.0f) {
    const unsigned found = threshold<false>(s, x, along, n, target_of(p, weight), weight, by_level);
    nearest = found < nearest ? found : nearest;
  }"""
        return text + ("" if self.typical else "\n  r.deepest = nearest;")

    def _drawn(self) -> str:
        """The token, among all that is left."""
        p = self.p
        at = "i" if p.unit else "i * along"
        return f"""
  const auto left = [&](float l, float& v, unsigned& w) {{
    if (r.out(l)) return false;
    float e;
    unsigned level;
    if (!r.look(held(l), v, e, level, w)) return false;
    return {"typical_level_of(v, r.mu) <= most" if self.typical else "true"};
  }};
  // the weights of runs, each a warp's at a time, then of all, and the run in which the token is
  constexpr int STEP = 32 * E;
  const i64 run_length = (n + (i64)STEP * T - 1) / ((i64)STEP * T) * STEP;
  const bool whole_vectors = UNIT && (u64)x % 16 == 0;
#pragma unroll 2
  for (int run = warp; run < T; run += WARPS) {{
    u64 sum = 0;
    const i64 from = run * run_length;
    for (i64 first = from; first < from + run_length && first < n; first += STEP) {{
      if (whole_vectors && first + STEP <= n) {{
        const Vec<L, E> several = *(const Vec<L, E>*)(x + first + lane * E);
#pragma unroll
        for (int e = 0; e < E; ++e) {{
          const i64 i = first + lane * E + e;
          float v;
          unsigned w;
          const bool stays = left(widen(several.v[e]), v, w);
          if (stays) sum += w;
          {self._mark("stays")}
        }}
      }} else {{
        for (i64 i = first + lane; i < first + STEP && i < n; i += 32) {{
          float v;
          unsigned w;
          const bool stays = left(widen(x[{at}]), v, w);
          if (stays) sum += w;
          {self._mark("stays")}
        }}
      }}
    }}
#pragma unroll
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, w);
    if (lane == 0) s.runs[run] = sum;
  }}
  __syncthreads();
  u64 total;
  const u64 own = s.runs[thread], before = sum_before(own, s.parts, total);
  const u64 place = {"greedy ? 0 : " if p.tempered else ""}place_of(word, total);
  if (before <= place && place < before + own) {{ s.place = thread; s.found.before = before; }}
  __syncthreads();
  if (warp) return;
  u64 reached = s.found.before;
  for (i64 i = s.place * run_length + lane;; i += 32) {{
    float v = 0.0f;
    unsigned w = 0;
    if (i < n && !left(widen(x[{at}]), v, w)) w = 0;
    u64 sum = w;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {{
      const u64 other = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += other;
    }}
    const unsigned beyond = __ballot_sync(0xffffffffu, reached + sum > place);
    if (beyond) {{
      if (lane == __ffs(beyond) - 1) {{ {self._results("i", "v", "total")} }}
      return;
    }}
    reached += __shfl_sync(0xffffffffu, sum, 31);
  }}"""
