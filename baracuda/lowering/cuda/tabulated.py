"""Pointwise schedules with tables: a long function of one bf16 value, of which more is made than a result of 16 bits, is looked
up instead of computed (`looked_up` has the functions that are the whole result).

Of a bf16 value there are 65,536, and 8,194 of them are nearly all that occur: zeros and those from 2^-23 up to 2^9. A function
of these is computed once, by the same code as for any element, and lies in every block's shared memory; a run with another
value in it is computed as ever. So the bits are those of the plain schedule. A lookup costs about ten instructions, where a
copy at full speed leaves time for about thirty an element.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, binary, bitcast, cast, compare, const, node, select, topological
from baracuda.formula.graph import Graph, substitute
from baracuda.lowering.cuda.emit import TABULATED
from baracuda.lowering.cuda.filled import fill, table_bytes, walk
from baracuda.lowering.cuda.kernel import Frame, Lowered, Target
from baracuda.lowering.cuda.pointwise import Runs, runs_body, with_one_element
from baracuda.lowering.phases import cost, usual

#: The lowest magnitude in a table, as the upper half of an f32, and how many there are: 128 to each of 32 exponents.
_LOW, _COUNT = (127 - 23) << 7, 32 << 7
#: Entries to a table: for each sign the magnitudes, then zero.
_HALF = _COUNT + 1
_ENTRIES = 2 * _HALF
#: Additions that a function must cost to be worth a table, and elements that a tensor must have.
_WORTH, _ELEMENTS = 60, 1 << 22
#: Tables to a kernel; threads of a block; blocks of a multiprocessor.
_MOST, _THREADS, _BLOCKS = 2, 512, 2


def _sources(graph: Graph) -> dict[Expr, frozenset[Expr] | None]:
    """The inputs that each node depends on; None for more than these and parameters."""
    found: dict[Expr, frozenset[Expr] | None] = {}
    for n in graph.nodes:
        if n.op == "input":
            found[n] = frozenset([n])
        elif n.op in ("coord", "position", "gather", "reduce", "scan"):
            found[n] = None
        else:
            below = [found[a] for a in n.args]
            found[n] = None if None in below else frozenset[Expr]().union(*(b for b in below if b is not None))
    return found


def _roots(frame: Frame) -> list[tuple[Expr, Expr]]:
    """The functions of one bf16 input worth a table, as large as they come, each with its input."""
    graph, last = frame.nest.graph, len(frame.nest.outer) - 1
    sources = _sources(graph)

    def source(n: Expr) -> Expr | None:
        below = sources[n]
        if below is None or len(below) != 1:
            return None
        (x,) = below
        varies = frame.operands[frame.input_index[x.attr[0]]].steps(last) != 0
        return x if x.attr[1] is ElementKind.BF16 and varies else None

    ends = {e for _, e in graph.outputs}
    for n in graph.nodes:
        if source(n) is None:
            ends.update(n.args)
    found = [(n, x) for n in graph.nodes if n in ends and n.kind is ElementKind.F32 and (x := source(n)) is not None]
    return [(n, x) for n, x in found if cost(n) >= _WORTH]


def _entry(x: Expr) -> tuple[Expr, Expr]:
    """The number of a value's entry, and whether it has none."""
    bits = bitcast(x, ElementKind.U32)
    magnitude = binary("and", binary("shr", bits, 16), 0x7FFF)
    above = magnitude - _LOW
    zero = compare("eq", magnitude, 0)
    bounded = binary("min", above, _COUNT - 1)  # looked up whatever the value is
    place = select(zero, const(_COUNT, ElementKind.U32), bounded) + binary("shr", bits, 31) * const(_HALF, ElementKind.U32)
    return cast(place, ElementKind.S32), compare("ge", above, _COUNT) & compare("ne", magnitude, 0)


def _with_tables(graph: Graph, roots: list[tuple[Expr, Expr]]) -> Graph:
    """The graph with entries of tables in the place of functions."""
    done = {root: node(TABULATED, (_entry(x)[0],), root.kind, j) for j, (root, x) in enumerate(roots)}
    return replace(graph, outputs=tuple((p, substitute(e, done)) for p, e in graph.outputs))


def _usual(graph: Graph, roots: list[tuple[Expr, Expr]]) -> list[tuple[Expr, Expr]]:
    """The functions that are not on the slow side of a rare branch: it is a function of its own, which sees no table."""
    made = _with_tables(graph, roots)
    looked_up = usual(e for _, e in made.outputs)
    for n in made.nodes:
        if n.op == "rare":
            looked_up -= set(topological([n.args[1]])) - set(topological([n.args[0], n.args[2]]))
    numbers = {n.attr for n in looked_up if n.op == TABULATED}
    return [row for j, row in enumerate(roots) if j in numbers]


def lower_tabulated(frame: Frame, target: Target) -> Lowered | None:
    """Lower a nest without reductions; None where no function in it is worth a table."""
    if frame.nest.rows < _ELEMENTS or any(o.general for o in frame.operands):
        return None
    with_one_element(frame)
    roots = _usual(frame.nest.graph, _roots(frame))
    if not 1 <= len(roots) <= _MOST:
        return None
    original = frame.nest
    plain = Runs(copy(frame))
    plain.prefix = "plain_"
    frame.nest = replace(original, graph=_with_tables(original.graph, roots))
    outside = [_entry(x)[1] for _, x in roots]
    kernel = Runs(frame)
    kernel.tables = plain.tables
    entry = [
        f"const int half = number % {_HALF};",
        f"const unsigned magnitude = half == {_COUNT} ? 0u : {_LOW}u + half;",
        f"const float entry = __uint_as_float(magnitude << 16 | (unsigned)(number / {_HALF}) << 31);",
    ]
    first = fill(frame, _ENTRIES, entry, [root for root, _ in roots], "float", 4)
    body = runs_body(kernel, _THREADS, list(dict.fromkeys(outside)), plain)
    each = table_bytes(_ENTRIES, 4)
    names = [f"const float* const tabulated{j} = (const float*)tables + {j * each // 4};" for j in range(len(roots))]
    second = walk(frame, target, body, each * len(roots), threads=_THREADS, held=_BLOCKS, names=names)
    schedule = f"pointwise v{kernel.width} tables {len(roots)}"
    return Lowered((first, second), tuple(frame.words.values), second.shared, schedule)
