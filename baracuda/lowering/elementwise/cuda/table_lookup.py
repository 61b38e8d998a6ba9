"""Pointwise schedules with tables: functions of one bf16 value, of which more is made than a result of 16 bits, are looked up
instead of computed (`result_lookup` has the functions that are the whole result).

Of a bf16 value there are 65,536, and those in a range of exponents around 1, with the two zeros, are nearly all that occur. A
function of these is computed once, by the same code as for any element, and lies in every multiprocessor's shared memory; a
run with another value in it is computed as ever. So the bits are those of the plain schedule. One table has room for all
values but non-zeros below 2^-32. An element costs about six instructions to find its place, whatever the number of tables,
and one for each table, where a copy at full speed leaves time for about thirty.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, node
from baracuda.formula.graph import Graph
from baracuda.lowering.elementwise.cuda.pointwise import PointwiseKernel, runs_body, with_one_element
from baracuda.lowering.elementwise.cuda.table_storage import fill, lookup_launch, table_bytes
from baracuda.lowering.elementwise.tables import functions, off_rare_branches, with_lookups
from baracuda.lowering.nest.costs import usual, usual_cost
from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.runtime.program import Lowered

#: An entry of a table: the argument is the value it is for, the attribute the table's number.
_ENTRY = "tabulated"
#: Bytes that tables may have: more take longer to copy than they save.
_BYTES = 163 << 10
#: Exponents that tables must have for nearly all values to be among them, and the most that are of use.
_LEAST, _MOST = 32, 161
#: Tables to a kernel (by four, mish's gradient takes 143 us, computed 138; log1mexp's by three 130 and 179); threads of a block,
#: of which a multiprocessor has one; bytes of input that each has in flight.
_TABLES, _THREADS, _RUN_BYTES = 3, 1024, 96
#: Additions that a function must cost to be looked up; that tables must save an element for each byte that it moves, and in
#: all, as they take some microseconds to make and to copy; and that the rest of an element may cost, which has few registers.
_FUNCTION, _SAVED, _SAVED_IN_ALL, _REST = 10, 4.5, 1 << 29, 65
#: What a division or a square root costs on a GPU beyond its cost in `phases`: instructions that wait for one another, and
#: a branch.
_DIVISION = 20

_PLACES = """
// Where 16-bit halves lie in a table of bf16 values: each of the two signs has, from its end of the table to the middle, zero
// and the magnitudes from LOW up to HIGH; places count from the middle. The result is whether some value has no place: it has
// one nevertheless, within the table.
template <int LOW, int HIGH, int N> __device__ __forceinline__ bool places(int (&to)[N], const Vec<BF16, N>& x) {
  constexpr unsigned both = 0x10001u, up = (0x8000u - HIGH) * both;
  unsigned w[N / 2], small = ~0u, large = ~0u;
  memcpy(w, &x, sizeof(x));
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    const unsigned magnitude = w[i] & 0x7fff7fffu;
    unsigned sign, near = __viaddmax_u16x2(magnitude, up, (0x7fffu - HIGH + LOW) * both);
    asm("prmt.b32 %0, %1, %1, 0xbb99;" : "=r"(sign) : "r"(w[i]));  // of each half, 16 times
    small = __viaddmin_u16x2(magnitude, ~0u, small);  // zero becomes the greatest
    if constexpr (HIGH < 0x8000) {
      near = __vminu2(near, 0x7fff7fffu);
      large = __viaddmax_s16x2(magnitude, ~0u, large);
    }
    asm("lop3.b32 %0, %0, %1, 0x7fff7fff, 0x96;" : "+r"(near) : "r"(sign));  // exclusive or of the three
    to[2 * i] = (short)near;
    to[2 * i + 1] = (int)near >> 16;
  }
  const bool outside = __vminu2(small, (LOW - 1) * both) != (LOW - 1) * both;
  if constexpr (HIGH == 0x8000) return outside;
  return outside || __vmaxs2(large, (HIGH - 2) * both) != (HIGH - 2) * both;
}
"""


@dataclass(frozen=True)
class _Range:
    """The magnitudes that tables have, as the upper halves of f32 values."""

    low: int
    high: int

    @property
    def half(self) -> int:
        """Entries to each sign."""
        return self.high - self.low + 1

    def entry(self) -> list[str]:
        """Declares the value `entry` whose place is `number`, counted from the table's start."""
        return [
            f"const int place = number - {self.half};",
            f"const int magnitude = place < 0 ? {self.high} + place : {self.high - 1} - place;",
            f"const unsigned bits = (magnitude < {self.low} ? 0 : magnitude) | (place < 0) << 15;",
            "const float entry = __uint_as_float(bits << 16);",
        ]


def _range(tables: int, target: Target) -> _Range | None:
    """The largest range for a number of tables; None where that is too small."""
    exponents = min(_MOST, (min(_BYTES, target.shared_bytes) // (8 * tables) - 3) // 128)
    if exponents < _LEAST:
        return None
    top = 256 if exponents == _MOST else 127 + exponents // 3
    return _Range((top - exponents) << 7, top << 7)


class _TableLookup(PointwiseKernel):
    """Runs that find entries of tables; the variable `odd` says that a value of the run has none."""

    def __init__(self, frame: Frame, entries: _Range) -> None:
        super().__init__(frame)
        self.entries = entries

    def leaf(self, n: Expr, transposed: Mapping[int, str]) -> str | None:
        if n.op == _ENTRY:
            return f"tabulated{n.attr}[place{self.frame.input_index[n.args[0].attr[0]]}[v]]"
        return super().leaf(n, transposed)

    def compute(self, transposed: Mapping[int, str], bound: str, *, aligned: bool = False) -> tuple[list[str], str]:
        lines, functions = super().compute(transposed, bound, aligned=aligned)
        graph, find = self.frame.nest.graph, f"places<{self.entries.low}, {self.entries.high}>"
        arguments = dict.fromkeys(self.frame.input_index[n.args[0].attr[0]] for n in graph.nodes if n.op == _ENTRY)
        places = [f"int {', '.join(f'place{i}[{self.width}]' for i in arguments)};", "bool odd = false;"]
        return [*places, *(f"odd |= {find}(place{i}, in{i});" for i in arguments), *lines], _PLACES + functions


def _issued(graph: Graph) -> int:
    """Roughly how many additions an element's results cost on a GPU, rare branches left out."""
    roots = [e for _, e in graph.outputs]
    return usual_cost(*roots) + _DIVISION * sum(n.op in ("div", "sqrt") for n in usual(roots))


def _entry(number: int, x: Expr) -> Expr:
    return node(_ENTRY, (x,), ElementKind.F32, number)


def lower_table_lookup(frame: Frame, target: Target) -> Lowered | None:
    """Lower a nest without reductions; None where tables would not make it faster."""
    with_one_element(frame)
    original, last = frame.nest, len(frame.nest.outer) - 1
    whole = len(original.graph.inputs) == len(original.graph.outputs) == 1 and frame.operands[1].kind.itemsize == 2
    if whole or original.rows * _issued(original.graph) < _SAVED_IN_ALL or any(o.general for o in frame.operands):
        return None
    roots = off_rare_branches(original.graph, functions(original, (ElementKind.BF16,), last, _FUNCTION), _entry)
    entries = _range(len(roots), target) if 1 <= len(roots) <= _TABLES else None
    rewritten = with_lookups(original.graph, roots, _entry)
    rest = _issued(rewritten)
    saved = _issued(original.graph) - rest
    moved_bytes = sum(o.kind.itemsize for o in frame.operands if o.steps(last) != 0)
    if entries is None or rest > _REST or saved < _SAVED * moved_bytes or saved * original.rows < _SAVED_IN_ALL:
        return None
    frame.tuning = replace(frame.tuning, run_bytes=max(_RUN_BYTES, frame.tuning.run_bytes))
    plain = PointwiseKernel(copy(frame))
    plain.prefix = "plain_"
    frame.nest = replace(original, graph=rewritten)
    kernel = _TableLookup(frame, entries)
    kernel.tables = plain.tables
    count, each = 2 * entries.half, table_bytes(2 * entries.half, 4)
    first = fill(frame, count, entries.entry(), [root for root, _ in roots], "float", 4)
    body = runs_body(kernel, _THREADS, plain)
    middles = [each // 4 * j + entries.half for j in range(len(roots))]
    names = [f"const float* const tabulated{j} = (const float*)tables + {middle};" for j, middle in enumerate(middles)]
    second = lookup_launch(frame, target, body, first.address, each * len(roots), threads=_THREADS, held=1, names=names)
    schedule = f"pointwise v{kernel.width} tables {len(roots)}"
    return Lowered((first.launch, second), tuple(frame.words.values), first.workspace, schedule)
