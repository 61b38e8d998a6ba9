"""Running states of scans in C++: a structure for each scan, and what all scans are put together from."""

from __future__ import annotations

from baracuda.codegen.cuda.emit import Emitter, literal
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE
from baracuda.formula.expr import Expr
from baracuda.formula.order import SCAN_CHUNK, SCAN_SPAN
from baracuda.lowering.scan.problem import ScanGroup

#: J is a scan: its State, `join` of two (earlier left), and `up`, the state of the thread d below in a group of `width`.
SCAN_PRELUDE = rf"""
// A state, or none yet.
template <class J> struct Some {{ typename J::State s; bool is; }};
template <class J> __device__ __forceinline__ Some<J> some(typename J::State s) {{ return Some<J>{{s, true}}; }}
template <class J> __device__ __forceinline__ Some<J> none() {{ Some<J> r = {{}}; return r; }}
template <class J> __device__ __forceinline__ Some<J> then(Some<J> a, Some<J> b) {{
  if (!a.is) return b;
  if (!b.is) return a;
  return some<J>(J::join(a.s, b.s));
}}
// Kogge and Stone's steps over the totals of a block's chunks, one to a thread.
template <class J, int W> __device__ __forceinline__ typename J::State steps(typename J::State s, int lane) {{
#pragma unroll
  for (int d = 1; d < W; d *= 2) {{
    typename J::State earlier = J::up(s, d, W);
    if (lane >= d) s = J::join(earlier, s);
  }}
  return s;
}}
// What is carried from tile to tile of a row.
template <class J> struct Carry {{
  Some<J> spans, tiles, before;
  __device__ __forceinline__ void start() {{ spans = tiles = before = none<J>(); }}
  __device__ __forceinline__ void add(Some<J> total, i64 tile) {{
    tiles = then<J>(tiles, total);
    if ((tile + 1) % {SCAN_SPAN} == 0) {{
      spans = then<J>(spans, tiles);
      tiles = none<J>();
    }}
    before = then<J>(spans, tiles);
  }}
}};
// A chunk on its way from memory, as words: elements of 16 bits would each get a register, and have to be there for that.
template <class T> struct Chunk {{
  static constexpr int words = sizeof(Vec<T, {SCAN_CHUNK}>) / 4;
  unsigned w[words];
  __device__ __forceinline__ void hold() {{
#pragma unroll
    for (int i = 0; i < words; ++i) asm volatile("" : "+r"(w[i]));
  }}
  __device__ __forceinline__ void set(const Vec<T, {SCAN_CHUNK}>& x) {{ memcpy(w, &x, sizeof(x)); hold(); }}
  __device__ __forceinline__ Vec<T, {SCAN_CHUNK}> get() {{ Vec<T, {SCAN_CHUNK}> x; hold(); memcpy(&x, w, sizeof(x)); return x; }}
  // In pieces of P elements.
  template <int P> __device__ __forceinline__ void load(const T* from) {{
    constexpr int N = P * sizeof(T) / 4;
    if constexpr (N == 0) {{
      Vec<T, {SCAN_CHUNK}> x;
      ::load<P>(x, from);
      set(x);
    }} else {{
#pragma unroll
      for (int i = 0; i < words / N; ++i) {{
        const Vec<unsigned, N> piece = reinterpret_cast<const Vec<unsigned, N>*>(from)[i];
#pragma unroll
        for (int j = 0; j < N; ++j) w[i * N + j] = piece.v[j];
      }}
    }}
  }}
}};
// Where pieces lie so that neither those of one thread nor those of neighbours share a bank; of numbers without a bit in common
// it is the exclusive or.
__device__ __forceinline__ constexpr int swizzle(int piece) {{ return piece ^ (piece >> 3 & 7); }}
// Stores the chunks of G neighbouring threads of a warp, which lie one behind the other from `to` on, so that the threads write
// neighbouring pieces of P elements at a time. `place` is this thread's place among them; `staging` has room for the chunks of
// the warp, all of whose threads call it.
template <int P, int G, class T>
__device__ __forceinline__ void store_together(T* to, const Vec<T, {SCAN_CHUNK}>& from, int place, unsigned char* staging) {{
  constexpr int N = {SCAN_CHUNK} / P;
  typedef Vec<T, P> Piece;
  Piece* const pieces = (Piece*)staging;
  const int first = threadIdx.x % 32 / G * G * N, own = swizzle(first + place * N), stored = swizzle(first + place);
#pragma unroll
  for (int i = 0; i < N; ++i) {{
    Piece piece;
#pragma unroll
    for (int j = 0; j < P; ++j) piece.v[j] = from.v[i * P + j];
    pieces[own ^ i] = piece;
  }}
  __syncwarp();
#pragma unroll
  for (int i = 0; i < N; ++i) reinterpret_cast<Piece*>(to)[i * G + place] = pieces[stored ^ swizzle(i * G)];
  __syncwarp();
}}
"""


def _shuffled(kind: str, component: str) -> str:
    if kind == "bool":
        return f"(bool)__shfl_up_sync(0xffffffffu, (int){component}, d, width)"
    return f"__shfl_up_sync(0xffffffffu, {component}, d, width)"


class StateCode:
    """The structure of one scan, `Scan<number>`."""

    def __init__(self, group: ScanGroup, number: int, tables: dict[Expr, str]) -> None:
        self.group = group
        self.number = number
        self.name = f"Scan{number}"
        self.kinds = [COMPUTE_TYPE[kind] for kind in group.kinds]
        emitter = Emitter(lambda n: None)
        emitter.tables = tables
        for side, letter in ((group.combine.left, "l"), (group.combine.right, "r")):
            emitter.names |= {n: f"{letter}.c{c}" for c, n in enumerate(side)}
        results = [emitter.value(n) for n in group.combine.results]
        self.join = [*emitter.lines, f"return State{{{', '.join(results)}}};"]

    @property
    def nbytes(self) -> int:
        """No fewer bytes than a state takes."""
        return 8 * len(self.kinds)

    @property
    def identity(self) -> str:
        values = [literal(i.attr, i.kind) for i in self.group.combine.identity]
        return f"{self.name}::State{{{', '.join(values)}}}"

    def definition(self) -> str:
        members = " ".join(f"{kind} c{c};" for c, kind in enumerate(self.kinds))
        shuffled = ", ".join(_shuffled(kind, f"x.c{c}") for c, kind in enumerate(self.kinds))
        lines = "\n".join(f"    {line}" for line in self.join)
        return (
            f"struct {self.name} {{\n"
            f"  struct State {{ {members} }};\n"
            f"  static __device__ __forceinline__ State join(State l, State r) {{\n{lines}\n  }}\n"
            f"  static __device__ __forceinline__ State up(State x, int d, int width) {{ return State{{{shuffled}}}; }}\n"
            "};\n"
        )
