"""Two formula steps as one: what the second reads of the first becomes part of its formula.

No bit changes. A value that the first stored in fewer bits than it was computed in is rounded as the store would have rounded it,
every reduction keeps its elements and their order, and each function keeps its definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.layout import may_share
from baracuda.formula.conversions import cast_to
from baracuda.formula.elementary.softened import softened
from baracuda.formula.expand import definition
from baracuda.formula.expr import PRIMITIVES, READS, Axes, Expr, input_, node, rebuild, topological
from baracuda.formula.graph import Graph
from baracuda.formula.pooling import pools
from baracuda.formula.small_floats import FORMATS
from baracuda.frontends.fusing.formula_step import FormulaStep, Operand, coalesced, moves_bits, ports_of, retyped
from baracuda.frontends.fusing.refusal import Refusal
from baracuda.frontends.fusing.spaces import Digits, matched, over_digits
from baracuda.lowering.convolution.problem import ConvolutionProblem

#: Operands of a merged step, nodes of its graph, and elementary functions among them, at most: beyond these there are more values
#: than registers, and compilers take their time.
MOST_OPERANDS, MOST_NODES, MOST_FUNCTIONS = 20, 400, 16
#: Elements of a product's result up to which whatever follows is best done to its sums.
SMALL_ON_GPU, SMALL_ON_CPU = 1 << 19, 1 << 16
#: Elements of a row up to which a schedule holds it, so that what it reads is read once.
LONG_ROW = 16384
#: Functions that cost more than a few operations: they are not computed again for each element of a broadcast.
_CHEAP = frozenset(
    [
        *("add", "sub", "mul", "neg", "abs", "fma", "max", "min", "cast", "bitcast", "select", "stored_bf16", "stored_f16"),
        *(
            "and",
            "or",
            "xor",
            "not",
            "shl",
            "shr",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
            "const",
            "param",
            "input",
            "coord",
            "gather",
        ),
    ]
)
#: Nodes of an expression that is computed again for each element of a broadcast, at most.
MOST_AGAIN = 12


def merged(first: FormulaStep, second: FormulaStep, needed: frozenset[str]) -> FormulaStep | Refusal:
    """The step that does what `first` and then `second` do. `needed` names the outputs of both that anybody reads besides the two
    steps."""
    if second.product is not None:
        return Refusal("a product reads each element of its factors many times")
    if len(first.operands) + len(second.operands) > 2 * MOST_OPERANDS:
        return Refusal("together they have too many operands")
    first, second = _alike(first, second, needed)
    refusal = Refusal("they have no memory in common")
    tried: set[Digits] = set()
    for a, b in _meetings(first, second):
        digits = matched(first, a, second, b)
        if isinstance(digits, Refusal):
            refusal = digits
            continue
        if digits in tried:
            continue
        tried.add(digits)
        result = _composed(first, second, digits, needed)
        if isinstance(result, FormulaStep):
            return result
        refusal = result
    return refusal


def _alike(first: FormulaStep, second: FormulaStep, needed: frozenset[str]) -> tuple[FormulaStep, FormulaStep]:
    """The steps where one copies the other's elements as bits, as elements of the other's kind. A number that is none may lose
    its bits where one of 16 is loaded and stored, which nobody sees where it has been stored before or is not stored any more."""
    for out in first.outputs:
        for o in second.inputs:
            if out.pointer == o.pointer and out.kind is not o.kind and out.kind.bits == o.kind.bits:
                if moves_bits(second):
                    return first, retyped(second, out.kind)
                if moves_bits(first) and (out.kind.bits >= 32 or out.name not in needed):
                    return retyped(first, o.kind), second
    return first, second


def _meetings(first: FormulaStep, second: FormulaStep) -> Iterator[tuple[Operand, Operand]]:
    """Pairs of operands that begin at the same element, those that tell most of the spaces first."""
    pairs = [(a, b) for a in first.operands for b in second.operands if a.same_start(b)]
    yield from sorted(pairs, key=lambda pair: _told(first, second, *pair), reverse=True)


def _told(first: FormulaStep, second: FormulaStep, a: Operand, b: Operand) -> int:
    return 2 * (first.covers(a) and second.covers(b)) + (first.covers(a) or second.covers(b))


def _composed(first: FormulaStep, second: FormulaStep, digits: Digits, needed: frozenset[str]) -> FormulaStep | Refusal:
    arranged = _arranged(first, second, digits, needed)
    if isinstance(arranged, Refusal):
        return arranged
    order, inner, narrow = arranged
    one, two = over_digits(first, digits.first, digits, order), over_digits(second, digits.second, digits, order)
    conflict = _conflict(one, two)
    if conflict is not None:
        return conflict
    return _substituted(one, two, inner, narrow, first, second, needed)


def _arranged(
    first: FormulaStep, second: FormulaStep, digits: Digits, needed: frozenset[str]
) -> tuple[list[int], tuple[bool, ...], tuple[bool, bool]] | Refusal:
    """The order of the digits in the merged space, which of them are inner, and which of the steps has none of the inner ones."""
    if first.product is not None:
        return _after_product(first, second, digits)
    own = [[d for axis in axes for d in axis] for axes in (digits.first, digits.second)]
    rows = [[d for axis, i in zip(axes, s.inner, strict=True) if i for d in axis] for axes, s in _sides(first, second, digits)]
    every = set(range(len(digits.extents)))
    leaders = [i for i in (1, 0) if set(own[i]) == every]
    if not leaders:
        return Refusal("neither's space has all axes of the other's")
    if first.has_rows and second.has_rows:
        if rows[0] != rows[1] or len(leaders) < 2:
            return Refusal("their rows run along different axes")
        if (first.directions | second.directions) & Axes.OUTER and own[0] != own[1]:
            return Refusal("their rows are numbered differently")
    step = (first, second)
    if first.has_rows and second.has_rows and first.pools != second.pools:
        return Refusal("the rows of one are summed by blocks")
    lead = next((i for i in leaders if step[i].has_rows), leaders[0])
    along = set(rows[0] or rows[1]) if first.has_rows or second.has_rows else set()
    if any(s.has_rows for i, s in enumerate(step) if i != lead and set(own[i]) != every):
        return Refusal("a row would be computed again for each element of a broadcast")
    if first.directions & Axes.OUTER:
        return Refusal("sums over rows are complete only after all rows")
    narrow = [False, False]
    for i, s in enumerate(step):
        missing = every - set(own[i])
        if not missing:
            continue
        narrow[i] = missing == along and step[lead].has_rows
        if narrow[i]:
            continue
        if i == 1:
            return Refusal("what the second computes is less than the space of the first")
        if any(o.name in needed for o in s.outputs):
            return Refusal("what is broadcast is read by others, too")
        if not _cheap(s):
            return Refusal("what is broadcast would be computed again for each element")
    order = own[lead]
    return order, tuple(d in along for d in order), (narrow[0], narrow[1])


def _after_product(
    first: FormulaStep, second: FormulaStep, digits: Digits
) -> tuple[list[int], tuple[bool, ...], tuple[bool, bool]] | Refusal:
    """The same where the first is what is done to a product's sums."""
    if second.has_rows:
        return Refusal("no element of a product's result is there before its row is")
    if any(n.op in ("coord", "gather", "loop") for n in second.graph.nodes):
        return Refusal("a product's results are not computed on by index")
    if not _pays(first, second):
        return Refusal("a pass of its own over the product's result takes less time than its epilogue would")
    if any(len(axis) != 1 for axis in digits.first):
        return Refusal("the product's axes would have to be cut")
    order = [d for axis in digits.first for d in axis]
    every = {d for d, n in enumerate(digits.extents) if n != 1}
    if any({d for d in own if digits.extents[d] != 1} != every for own in (order, [d for axis in digits.second for d in axis])):
        return Refusal("they have different elements")
    return order, (False,) * len(order), (False, False)


def _pays(first: FormulaStep, second: FormulaStep) -> bool:
    """Whether a formula is better an epilogue of a product than a launch of its own.

    An epilogue begins once a tile's sums are there, and nothing else of that tile goes on beside it. That costs less than a pass
    over memory for chains on a CPU; on a GPU, and of integer products, only where the result is small, or next to nothing is done
    (H200, 8192x1024x1024: a residual added to bf16 in 174 us, or apart in 159; 8x1024x4096: in 10 us, or 15).
    """
    assert first.product is not None
    problem, cuda = first.product.problem, first.device.kind is DeviceKind.CUDA
    if moves_bits(second) or prod(first.shape) <= (SMALL_ON_GPU if cuda else SMALL_ON_CPU) or not (cuda or problem.bits):
        return True
    nodes = second.graph.nodes
    functions = any(n.op not in PRIMITIVES for n in nodes)
    alone = len(second.inputs) == 1 and len(nodes) <= 4 and not functions
    if cuda:
        return not problem.bits and (alone or (isinstance(problem, ConvolutionProblem) and not functions))
    return alone


def _sides(first: FormulaStep, second: FormulaStep, digits: Digits) -> list[tuple[tuple[tuple[int, ...], ...], FormulaStep]]:
    return [(digits.first, first), (digits.second, second)]


def _cheap(step: FormulaStep) -> bool:
    nodes = step.graph.nodes
    return len(nodes) <= MOST_AGAIN and all(n.op in _CHEAP for n in nodes)


def _conflict(one: FormulaStep, two: FormulaStep) -> Refusal | None:
    """Why the steps over one space cannot run element by element, one after the other."""
    for out in one.outputs:
        for o in two.operands:
            if not o.lies_as(out) and may_share(one.memory(out), two.memory(o)):
                return Refusal("the second touches elements of the first's result in another arrangement")
    for out in two.outputs:
        for factor in one.product.factors if one.product is not None else ():
            if may_share(factor, two.memory(out)):
                return Refusal("the second writes to a factor of the product")
        for o in one.inputs:
            if may_share(one.memory(o), two.memory(out)) and (o.gathered or not o.lies_as(out) or not two.covers(out)):
                return Refusal("the second writes what the first reads in another arrangement")
    return None


def stored(x: Expr, kind: ElementKind) -> Expr:
    """What reading back x gives, once it was stored as `kind` by a step that computes it in the compute kind of that."""
    if _is_stored(x, kind):
        return x
    if kind in FORMATS:
        return node(f"{'stored' if kind.bits == 16 else 'round_to'}_{kind.label}", (x,), ElementKind.F32)
    return cast_to(x, kind) if kind.is_integer and kind.bits < 32 else x


def _is_stored(x: Expr, kind: ElementKind) -> bool:
    """Whether a value is one that `kind` has already: read or rounded so, or chosen among such."""
    stack, seen = [x], set[Expr]()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n.op in ("max", "min", "abs", "neg") and kind.is_float:
            stack += n.args
        elif n.op in ("select", "rare"):
            stack += n.args[1:]
        elif n.op == "reduce" and n.attr[0] in ("max", "min"):
            stack += n.args
        elif not ((n.op in READS and n.attr[1] is kind) or n.op in (f"round_to_{kind.label}", f"stored_{kind.label}")):
            return False
    return True


def _substituted(
    one: FormulaStep,
    two: FormulaStep,
    inner: tuple[bool, ...],
    narrow: tuple[bool, bool],
    first: FormulaStep,
    second: FormulaStep,
    needed: frozenset[str],
) -> FormulaStep | Refusal:
    named: list[Operand] = []
    renamed: dict[str, str] = {}

    def axes_of(o: Operand, given: FormulaStep) -> Axes:
        """The class of an input: that which its strides tell, and what it was in a step with rows."""
        axes = Axes.NONE
        for s, i in zip(o.strides, inner, strict=True):
            axes |= (Axes.INNER if i else Axes.OUTER) if s else Axes.NONE
        return axes | (o.axes if given.has_rows else Axes.NONE)

    taken: dict[str, Operand] = {}
    for step, given in ((one, first), (two, second)):
        for o in step.inputs:
            source = next((p for p in one.outputs if p.lies_as(o)), None) if step is two else None
            if source is not None:
                taken[o.name] = source
                continue
            known = next((i for i, k in enumerate(named) if k.lies_as(o) and not k.gathered), None)
            if known is None:
                known = len(named)
                named.append(replace(o, axes=axes_of(o, given)))
            else:
                named[known] = replace(named[known], axes=named[known].axes | axes_of(o, given))
            renamed[o.name] = named[known].name
    axes = {o.name: o.axes for o in named}
    sums = {p.name for p in one.sums}
    values: dict[str, Expr] = {}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op == "input" and n.attr[0] in sums:
            return n
        if n.op == "input":
            name = n.attr[0]
            return values[taken[name].name] if name in taken else input_(renamed[name], n.attr[1], axes[renamed[name]])
        if n.op == "gather":
            return node("gather", args, n.kind, n.attr._replace(name=renamed[n.attr.name], axes=axes[renamed[n.attr.name]]))
        result = rebuild(n, args)
        if n.op == "log1p" and softened(result, args[0]) and not softened(n, n.args[0]):
            define = definition(n.op, n.kind)  # the simpler one of an exponential that it now sees has bits of its own
            assert define is not None
            return define(*args)
        return result

    def written(o: Operand, given: FormulaStep, is_narrow: bool) -> Operand:
        if given.has_rows:
            return o
        return replace(o, axes=Axes.OUTER if is_narrow or not any(inner) else Axes.FULL)

    early = one.graph.map(rewrite)
    results: list[tuple[Operand, Expr]] = []
    for o, (port, e) in zip(one.outputs, early.outputs, strict=True):
        if e.kind is not port.kind.compute:
            return Refusal(f"it stores {e.kind} as {port.kind}")
        values[o.name] = stored(e, port.kind)
        if o.name in needed and not any(t.lies_as(o) for t in two.outputs):
            results.append((written(o, first, narrow[0]), e))
    late = two.graph.map(rewrite)
    for o, (_, e) in zip(two.outputs, late.outputs, strict=True):
        if o.name in needed:
            results.append((written(o, second, narrow[1]), e))
    if not results:
        return Refusal("nobody reads what they compute")
    return _finished(one, two, named, results, inner)


def _across(step: FormulaStep, operands: Sequence[Operand], inner: Sequence[bool]) -> bool:
    """Whether the rows of tensors lie side by side in memory."""
    last = max((a for a, i in enumerate(inner) if i), default=0)
    neighbours = [o for o in operands if any(abs(s) == 1 and not i for s, i in zip(o.strides, inner, strict=True))]
    return any(abs(o.strides[last]) != 1 and step.covers(o) for o in neighbours)


def _finished(
    one: FormulaStep, two: FormulaStep, named: Sequence[Operand], results: Sequence[tuple[Operand, Expr]], inner: tuple[bool, ...]
) -> FormulaStep | Refusal:
    read = {n.attr[0] for n in topological(e for _, e in results) if n.op in READS}
    inputs, outputs = tuple(o for o in named if o.name in read), tuple(o for o, _ in results)
    if len(inputs) + len(outputs) > MOST_OPERANDS:
        return Refusal(f"it would have {len(inputs) + len(outputs)} operands")
    graph = Graph((*one.sums, *ports_of(inputs)), tuple(zip(ports_of(outputs), (e for _, e in results), strict=True)), inner)
    if len(graph.nodes) > MOST_NODES:
        return Refusal(f"its formula would have {len(graph.nodes)} nodes")
    functions = sum(n.op not in PRIMITIVES and not n.op.startswith(("stored_", "round_to_")) for n in graph.nodes)
    if functions > MOST_FUNCTIONS:
        return Refusal(f"its formula would have {functions} elementary functions")
    length = prod(n for n, i in zip(one.shape, inner, strict=True) if i)
    at_once = any(inner) and any(p.axes is Axes.FULL and not graph.stages[e] for p, e in graph.outputs)
    if at_once and (length > LONG_ROW or _across(one, outputs, inner)):
        return Refusal("what is written for each element is better not written while columns or long rows are summed")
    if (one.pools or two.pools) and not pools(graph, one.shape, inner):
        return Refusal("a sum that is taken by blocks of its row would no longer be")
    numbers = {**one.numbers, **two.numbers}
    used = {n.attr for n in graph.params}
    numbers = {n: v for n, v in numbers.items() if n in used}
    step = FormulaStep(one.device, graph, one.shape, inner, inputs, outputs, numbers, one.product)
    return coalesced(step) if one.product is None else step
