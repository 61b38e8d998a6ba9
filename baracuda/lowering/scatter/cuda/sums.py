"""Segment sums on CUDA over sorted entries.

Three launches: short runs, a thread for some columns of one destination; segments of longer runs, a block each; and the
results of the segments of runs longer than one, a block for each run. A block that has segments finds them itself, from the
sorted entries: of the segments that start in a window of SHORT entries at most two belong to runs longer than SHORT, one of
the run that the window's first entry is in, and the start of the run that its last entry is in.
"""

from __future__ import annotations

from baracuda.codegen.cuda.emit import number
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.elements import Category
from baracuda.formula import order
from baracuda.formula.order import CHAIN, LANES, SEGMENT
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, offset, unravel
from baracuda.lowering.scatter.cpu.runs import identity
from baracuda.lowering.scatter.problem import BASE, ROWS, WEIGHTS, Scatter, TensorLayout, X, Y, unit_inner
from baracuda.lowering.sort.cuda.order import RadixSort, UnboundKernel, lines, strides

#: The longest run that a thread takes alone, and entries that it has in flight.
SHORT, _AHEAD = 32, 4
#: Threads of a block: of short runs, of segments at most, and of the results of segments.
_THREADS, _SEGMENT_THREADS, _JOIN_THREADS = 256, 512, 256


def _width(scatter: Scatter) -> int:
    """Columns that a thread takes together: up to 16 bytes, as far as every row of every tensor is aligned to them."""
    if not unit_inner(scatter):
        return 1
    tensors = [t for t in (scatter.x, scatter.base, scatter.y) if t is not None]
    width = min(8, 16 // scatter.y.kind.itemsize)

    def fits(t: TensorLayout) -> bool:
        return t.alignment % (width * t.kind.itemsize) == 0 and not any(s % width for s in (*t.outer, *t.inner[:-1]))

    while width > 1 and (scatter.inner[-1] % width or not all(map(fits, tensors))):
        width //= 2
    return width


class Sums:
    def __init__(self, scatter: Scatter, ordering: RadixSort) -> None:
        self.scatter, self.order, self.words = scatter, ordering, ordering.words
        self.width = _width(scatter)
        self.vectors = scatter.columns // self.width
        self.compute, self.storage = COMPUTE_TYPE[scatter.compute], STORAGE_TYPE[scatter.y.kind]
        self.op = scatter.op.capitalize()
        self.neutral = number(order.identity(scatter.op, scatter.compute), scatter.compute)
        self.functions = self._text()

    # --- functions that the kernels share -----------------------------------------------------------------------------

    def _function(self, result: str, name: str, parameters: str, body: list[str]) -> str:
        return f"__device__ __forceinline__ {result} {name}(const Words& W, {parameters}) {{\n{lines(body)}\n}}\n"

    def _text(self) -> str:
        s, words, C, T = self.scatter, self.words, self.compute, self.storage
        tensors = [("y", Y, s.y), ("base", BASE, s.base), ("x", X, s.x)]
        text = f"constexpr int V = {self.width};\ntypedef {C} C;\ntypedef {T} T;\ntypedef {self.op} Op;\n"
        for name, _, tensor_layout in tensors:
            if tensor_layout is not None:
                unit: list[str | None] = [words.signed(i) for i in tensor_layout.inner] if s.general else []
                unit = unit or ["1" if i == 1 else None if i == 0 else words.signed(i) for i in tensor_layout.inner]
                body = [*unravel("e", s.inner, words, "c", wide=False), f"return {offset(unit, 'c')};"]
                text += self._function("i64", f"{name}_column", "unsigned e", body)
            if tensor_layout is not None and name != "x":
                body = unravel("d", s.destinations, words, "c", wide=False)
                body.append(f"return {offset(strides(tensor_layout.outer, words, general=s.general), 'c')};")
                text += self._function("i64", f"{name}_row", "unsigned d", body)
        if s.x is not None:
            text += self._element(s.x)
        return text + self._finish()

    def _element(self, x: TensorLayout) -> str:
        """`load_source`: the columns that a position brings, and its factor."""
        s, words = self.scatter, self.words
        body = unravel("p", s.keys.shape, words, "c", wide=False)

        def at(tensor_layout: TensorLayout) -> str:
            return offset(strides(tensor_layout.outer, words, general=s.general), "c")

        if s.rows is None:
            body.append(f"const i64 row = {at(x)};")
        else:
            kind = COMPUTE_TYPE[s.rows.kind]
            body += [
                f"const i64 from = ((const {kind}*)W.w[{ROWS}])[{at(s.rows)}], last = {words.signed(s.sources - 1)};",
                f"const i64 row = (from < 0 ? 0 : from > last ? last : from) * {words.signed(x.outer[0])};",
            ]
        body.append(f"load<V>(to, (const T*)W.w[{X}] + row + column);")
        factor = "1" if s.weights is None else f"((const C*)W.w[{WEIGHTS}])[{at(s.weights)}]"
        body.append(f"return {factor};")
        text = self._function("C", "load_source", "unsigned p, i64 column, Vec<T, V>& to", body)
        value = "widen(x)" if s.weights is None else "Prod::of((C)widen(x), factor)"
        return text + f"__device__ __forceinline__ C element(T x, C factor) {{ return {value}; }}\n"

    def _finish(self) -> str:
        """`finish`: from a combination of `count` elements to what is stored; `nothing`: what is where there are none."""
        s, words, kind = self.scatter, self.words, self.scatter.compute
        has_base = s.combined_base is not None
        body = []
        if s.scaled:
            body.append(f"v = Prod::of(v, {words.param(words.params[0])});")
        if has_base:
            body.append(f"v = Op::of((C)widen(((const T*)W.w[{BASE}])[base]), v);")
        if s.mean:
            body.append(f"const unsigned n = count + {int(has_base)}u;")
            if kind.is_float:
                body.append(f"v = v / {'__uint2float_rn' if self.compute == 'float' else '(double)'}(n);")
            else:
                body.append("C q = v / (C)n;")
                if kind.category is Category.SIGNED:
                    body.append("if (v - q * (C)n < 0) q -= 1;")
                body.append("v = q;")
        body.append("return Narrow<T, C>::to(v);")
        text = self._function("T", "finish", "C v, unsigned count, i64 base", body)
        empty = f"((const T*)W.w[{BASE}])[base]" if s.base is not None else f"Narrow<T, C>::to({number(identity(s), kind)})"
        return text + self._function("T", "nothing", "i64 base", [f"return {empty};"])

    def _base(self, d: str, e: str) -> str:
        return "0" if self.scatter.base is None else f"base_row(W, {d}) + base_column(W, {e})"

    @property
    def _arrays(self) -> str:
        scratch, places = self.order.scratch, self.order.arrays
        return (
            f"  const u64* const entries = (const u64*){scratch(places.entries[0])};\n"
            f"  const unsigned* const starts = (const unsigned*){scratch(places.starts)};"
        )

    @property
    def _run(self) -> str:
        words, keys = self.words, self.scatter.keys
        return f"const unsigned n = {words.unsigned(keys.positions)}, nowhere = {words.unsigned(keys.count)}"

    # --- kernels ------------------------------------------------------------------------------------------------------

    def destinations(self) -> UnboundKernel:
        """Runs that one thread combines, and destinations that nothing goes to."""
        words, s = self.words, self.scatter
        total = s.keys.count * self.vectors
        wide = total + _THREADS >= INDEX_LIMIT
        vectors = words.signed(self.vectors) if wide else words.unsigned(self.vectors)
        quotient = f"t / {vectors}" if wide else f"divide(t, {words.divisor(self.vectors)})"
        kind = "i64" if wide else "unsigned"
        body = f"""
  const {kind} t = ({kind})blockIdx.x * {_THREADS} + threadIdx.x;
  if (t >= {words.signed(total) if wide else words.unsigned(total)}) return;
{self._arrays}
  const {kind} q = {quotient};
  const unsigned d = (unsigned)q, e = (unsigned)(t - q * {vectors}) * V;
  const unsigned start = starts[d], count = starts[d + 1] - start;
  Vec<T, V> result;
  const i64 base = {self._base("d", "e")};
{self._alone() if s.x is not None else "  for (int v = 0; v < V; ++v) result.v[v] = Narrow<T, C>::to((C)count);"}
  store<V>((T*)W.w[{Y}] + y_row(W, d) + y_column(W, e), result);"""
        return UnboundKernel(self.functions, body, (-(-total // _THREADS), 1, 1), _THREADS)

    def _alone(self) -> str:
        levels = (SHORT // _AHEAD).bit_length()
        return f"""  if (count > {SHORT}u) return;
  if (count == 0) {{
#pragma unroll
    for (int v = 0; v < V; ++v) result.v[v] = nothing(W, base + v);
  }} else {{
    const i64 column = x_column(W, e);
    C waiting[{levels}][V], sum[V];
    for (unsigned j = 0; j < count; j += {_AHEAD}) {{
      Vec<T, V> rows[{_AHEAD}];
      C factors[{_AHEAD}];
#pragma unroll
      for (int i = 0; i < {_AHEAD}; ++i)
        if (j + i < count) factors[i] = load_source(W, (unsigned)entries[start + j + i], column, rows[i]);
#pragma unroll
      for (int v = 0; v < V; ++v) {{
        C lanes[{_AHEAD}];
#pragma unroll
        for (int i = 0; i < {_AHEAD}; ++i) lanes[i] = j + i < count ? element(rows[i].v[v], factors[i]) : {self.neutral};
        sum[v] = pairs<Op, {_AHEAD}>(lanes);
      }}
      const unsigned block = j / {_AHEAD};
      bool placed = false;
#pragma unroll
      for (int l = 0; l < {levels}; ++l) {{
        if (placed) continue;
        placed = !(block >> l & 1);
#pragma unroll
        for (int v = 0; v < V; ++v)
          if (placed) waiting[l][v] = sum[v]; else sum[v] = Op::of(waiting[l][v], sum[v]);
      }}
    }}
    const unsigned blocks = (count + {_AHEAD - 1}) / {_AHEAD};
    bool some = false;
#pragma unroll
    for (int l = 0; l < {levels}; ++l) {{
      if (!(blocks >> l & 1)) continue;
#pragma unroll
      for (int v = 0; v < V; ++v) sum[v] = some ? Op::of(waiting[l][v], sum[v]) : waiting[l][v];
      some = true;
    }}
#pragma unroll
    for (int v = 0; v < V; ++v) result.v[v] = finish(W, sum[v], count, base + v);
  }}"""

    def segments(self) -> UnboundKernel:
        """Segments of runs longer than `SHORT`: teams of threads take neighbouring lanes, and are combined in pairs."""
        across = min(32, 1 << (self.vectors - 1).bit_length())
        teams = min(LANES, _SEGMENT_THREADS // across)
        lanes, columns, threads = LANES // teams, across * self.width, across * teams
        windows = SEGMENT // SHORT
        partials = f"(C*){self.order.scratch(self.order.arrays.partials)}"
        body = f"""
  __shared__ C shared[{teams * columns + teams * columns // 2}];
{self._arrays}
  {self._run}, width = {self.words.unsigned(self.scatter.columns)};
  const unsigned thread = threadIdx.x, x = thread % {across}u, team = thread / {across}u;
  const unsigned own = (blockIdx.y * {across}u + x) * V;
  const i64 column = x_column(W, own < width ? own : 0);
  for (int second = 0; second < 2; ++second) {{
    unsigned mask;
    {{
      const unsigned window = blockIdx.x * {SEGMENT}u + thread % {windows}u * {SHORT}u;
      unsigned d, start, end, first;
      const bool starting = thread % 32u < {windows}u && find(entries, starts, n, nowhere, window, second, d, start, end, first);
      mask = __ballot_sync(0xffffffffu, starting);
    }}
    for (; mask; mask &= mask - 1) {{
      unsigned d, start, end, first;
      find(entries, starts, n, nowhere, blockIdx.x * {SEGMENT}u + (__ffs(mask) - 1) * {SHORT}u, second, d, start, end, first);
      const unsigned count = min(end - first, {SEGMENT}u);
      C sums[{lanes}][V];
#pragma unroll
      for (int q = 0; q < {lanes}; ++q)
#pragma unroll
        for (int v = 0; v < V; ++v) sums[q][v] = {self.neutral};
      for (unsigned k = 0; k < {CHAIN}u; ++k) {{
        const unsigned j = k * {LANES}u + team * {lanes}u;
        if (j >= count) break;
        Vec<T, V> rows[{lanes}];
        C factors[{lanes}];
        // an element that does not exist is the team's first one again, and left out
#pragma unroll
        for (int q = 0; q < {lanes}; ++q)
          factors[q] = load_source(W, (unsigned)entries[first + (j + q < count ? j + q : j)], column, rows[q]);
#pragma unroll
        for (int q = 0; q < {lanes}; ++q)
#pragma unroll
          for (int v = 0; v < V; ++v)
            if (j + q < count) sums[q][v] = Op::of(sums[q][v], element(rows[q].v[v], factors[q]));
      }}
#pragma unroll
      for (int v = 0; v < V; ++v) {{
        C values[{lanes}];
#pragma unroll
        for (int q = 0; q < {lanes}; ++q) values[q] = sums[q][v];
        shared[team * {columns} + x * V + v] = pairs<Op, {lanes}>(values);
      }}
      C* const total = teams_joined<{teams}, {columns}, {threads}>(shared);
      for (unsigned c = thread; c < {columns}u; c += {threads}u) {{
        const unsigned e = blockIdx.y * {columns}u + c;
        if (e >= width) continue;
        if (end - start > {SEGMENT}u)
          ({partials})[(i64)(start / {SEGMENT // 2}u + (first - start) / {SEGMENT}u) * width + e] = total[c];
        else
          ((T*)W.w[{Y}])[y_row(W, d) + y_column(W, e)] = finish(W, total[c], count, {self._base("d", "e")});
      }}
      __syncthreads();
    }}
  }}"""
        grid = (-(-self.scatter.keys.positions // SEGMENT), -(-self.vectors // across), 1)
        return UnboundKernel(self.functions + _FIND + _TEAMS, body, grid, threads)

    def joined(self) -> UnboundKernel:
        """Runs longer than a segment: the results of their segments, in adjacent pairs."""
        across = min(32, 1 << (self.scatter.columns - 1).bit_length())
        teams = _JOIN_THREADS // across
        body = f"""
  __shared__ C shared[{teams * across + teams * across // 2}];
{self._arrays}
  {self._run}, width = {self.words.unsigned(self.scatter.columns)};
  // of a run that starts here and goes beyond this window, the last entry of the window is one
  const unsigned window = blockIdx.x * {SEGMENT}u, d = (unsigned)(entries[min(window + {SEGMENT}u, n) - 1] >> 32);
  if (d >= nowhere) return;
  const unsigned start = starts[d], count = starts[d + 1] - start;
  if (start < window || count <= {SEGMENT}u) return;
  const unsigned segments = (count + {SEGMENT - 1}u) / {SEGMENT}u;
  const unsigned x = threadIdx.x % {across}u, team = threadIdx.x / {across}u, e = blockIdx.y * {across}u + x;
  const C* const partials = (const C*){self.order.scratch(self.order.arrays.partials)} + (i64)(start / {SEGMENT // 2}u) * width;
  unsigned each = 8;
  while (each * {teams}u < segments) each *= 2;
  C sum = {self.neutral};
  if (e < width && team * each < segments)
    sum = column_tree<Op>(partials + e, width, team * each, each, segments, sum);
  shared[threadIdx.x] = sum;
  C* const total = teams_joined<{teams}, {across}, {_JOIN_THREADS}>(shared);
  if (team == 0 && e < width)
    ((T*)W.w[{Y}])[y_row(W, d) + y_column(W, e)] = finish(W, total[x], count, {self._base("d", "e")});"""
        grid = (-(-self.scatter.keys.positions // SEGMENT), -(-self.scatter.columns // across), 1)
        return UnboundKernel(self.functions + _TEAMS, body, grid, _JOIN_THREADS)


_FIND = f"""
// Whether a segment of a run longer than {SHORT} starts in the window of {SHORT} entries, and which: of the run that the first
// entry is in, or, where `second` is set, of a run that starts behind it. Entries first ... are the segment's.
__device__ __forceinline__ bool find(const u64* entries, const unsigned* starts, unsigned n, unsigned nowhere, unsigned window,
                                     int second, unsigned& d, unsigned& start, unsigned& end, unsigned& first) {{
  if (window >= n) return false;
  const unsigned next = min(window + {SHORT}u, n);
  d = (unsigned)(entries[second ? next - 1 : window] >> 32);
  if (d >= nowhere) return false;
  start = starts[d];
  end = starts[d + 1];
  const bool inside = start > window;
  first = inside ? start : start + (window - start + {SEGMENT - 1}u) / {SEGMENT}u * {SEGMENT}u;
  return inside == (second != 0) && end - start > {SHORT}u && first < min(end, window + {SHORT}u);
}}
"""

_TEAMS = """
// Adjacent pairs over the teams' values of each column, shared[team * COLUMNS + column]; where the results are then.
template <int TEAMS, int COLUMNS, int THREADS, class U> __device__ __forceinline__ U* teams_joined(U* shared) {
  U *from = shared, *to = shared + TEAMS * COLUMNS;
#pragma unroll
  for (int m = TEAMS; m > 1; m /= 2) {
    __syncthreads();
    for (int i = threadIdx.x; i < m / 2 * COLUMNS; i += THREADS) {
      const int team = i / COLUMNS, c = i % COLUMNS;
      to[i] = Op::of(from[2 * team * COLUMNS + c], from[(2 * team + 1) * COLUMNS + c]);
    }
    U* const other = from;
    from = to;
    to = other;
  }
  __syncthreads();
  return from;
}
"""
