"""Sampling on the CPU: rows shared by threads, each with memory of its own for the levels and weights of a row.

Levels and weights are computed once, in vectors; thresholds are found in them digit by digit, the upper eleven bits among all
elements and the others among those that have them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from baracuda.codegen.llvm.evaluate import Evaluator
from baracuda.codegen.llvm.ir import Value, Variable, constant, i64, vector
from baracuda.codegen.llvm.lanes import first_lanes, load_lanes, store_lanes
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.layout import round_up
from baracuda.formula.expr import Expr
from baracuda.lowering.sampling import arithmetic as a
from baracuda.lowering.sampling.problem import (
    BELOW,
    KEPT,
    KEYS,
    LIMIT,
    LOGITS,
    MIN_P,
    NSIGMA,
    OPERANDS,
    TEMPERATURE,
    TOKEN,
    TOTAL,
    K,
    P,
    Sampling,
)
from baracuda.lowering.sort.cpu.code import Integers, StepBuilder
from baracuda.runtime.jit import CpuTarget, host
from baracuda.runtime.pool import get_num_threads
from baracuda.runtime.program import Lowered

#: Bins of a digit, elements that are summed at once where the token is looked for.
_BINS, _RUN = 2048, 1024
#: The digits of a level: shift and bits.
_DIGITS = ((21, 11), (10, 11), (0, 10))
_NS = 6.0


def ways(problem: Sampling, target: CpuTarget) -> Iterator[Lowered]:
    """The one way."""
    yield lower(problem, target)


def lower(problem: Sampling, target: CpuTarget | None = None) -> Lowered:
    """One step over shares of the rows."""
    if problem.length > LIMIT:
        raise UnsupportedError(f"rows of {problem.length} elements; expected at most {LIMIT}")
    code = _Code(problem, StepBuilder(Integers(OPERANDS, len(problem.numbers)), target or host()))
    return code.lowered()


class _Code:
    def __init__(self, problem: Sampling, code: StepBuilder) -> None:
        self.p, self.code, self.b = problem, code, code.b
        self.lanes = code.target.vector_bits // 32
        self.shares = min(problem.rows, get_num_threads())
        self.padded = round_up(max(problem.length, 1), _RUN)
        #: Levels, weights, those of the elements of one digit, and v where it is asked for; then counts and sums of a digit.
        self.share_bytes = 4 * self.padded * (5 if problem.typical else 4) + 2 * 8 * _BINS

    def lowered(self) -> Lowered:
        code, b, p = self.code, self.b, self.p
        self.n, self.whole, every = code.integer(p.length), code.integer(self.padded), code.integer(p.rows)
        shares, pitch, start = code.integer(self.shares), code.integer(self.share_bytes), code.scratch(0)
        self.steps = {o: code.integer(s * _size(o)) for o, s in p.given}
        self.logit_steps = [code.integer(s * p.kind.itemsize) for s in p.logits]
        self.kept_steps = None if p.kept is None else [code.integer(s) for s in p.kept]
        self.operands = {o: code.operand(o) for o in (LOGITS, KEYS, TOKEN, BELOW, TOTAL, KEPT, *self.steps)}
        types = {o: "i64" if o == K else "float" for o in p.numbers}
        self.numbers = {o: code.word(types[o], OPERANDS + 1 + i) for i, o in enumerate(p.numbers)}
        self.key_steps = [code.integer(4 * s) for s in p.key]
        with b.loop(code.begin, code.end) as share:
            own = b.at(start, b.mul(share, pitch))
            part = b.mul(self.whole, 4)
            self.levels, rest = own, b.at(own, part)
            self.weights, rest = rest, b.at(rest, part)
            self.found_levels, rest = rest, b.at(rest, part)
            self.found_weights, rest = rest, b.at(rest, part)
            if p.typical:
                self.below, rest = rest, b.at(rest, part)
            self.counts, self.sums = rest, b.at(rest, 8 * _BINS)
            row = b.variable(share)
            with b.while_(lambda: b.less(row.get(), every)):
                self._row(row.get())
                row.set(b.add(row.get(), shares))
        step = code.step("sampling", self.shares, max(1, p.length) * -(-p.rows // self.shares) * _NS)
        return Lowered((step,), tuple(code.integers.values), self.share_bytes * self.shares, "sampling")

    # --- values -------------------------------------------------------------------------------------------------------

    def _value(self, root: Expr, known: Mapping[Expr, Value], lanes: int = 1) -> Value:
        """A formula of values, of which those with one lane are the same for all."""
        b = self.b
        groups = {n: [v if v.lanes == lanes else b.splat(v, lanes)] for n, v in known.items()}
        (value,) = Evaluator(b, lanes, 1, groups.get).value(root)
        return value

    def _of_row(self, operand: int, row: Value, type_: str) -> Value:
        if operand in self.numbers:
            return self.numbers[operand]
        return self.b.load(type_, self.b.at(self.operands[operand], self.b.mul(row, self.steps[operand])), _size(operand))

    def _word(self, row: Value) -> Value:
        b, p = self.b, self.p
        first = b.at(self.operands[KEYS], b.mul(row, self.key_steps[0]))
        words = [b.load("i32", at, 4) for at in (first, b.at(first, self.key_steps[1]))]
        known = {a.KEY0: words[0], a.KEY1: words[1], a.ROW: row}
        return self._value(a.word_of(p.bits, p.stream, folded=p.folded), known)

    def _logits(self, row: Value, body: Callable[[Value, Value, Value], None]) -> None:
        """Vectors of logits: the first one's number, the logits, and which of them are there and not out."""
        b, lanes = self.b, self.lanes
        base = b.at(self.operands[LOGITS], b.mul(row, self.logit_steps[0]))
        stride = None if self.p.unit else self.logit_steps[1]
        step = i64(self.p.kind.itemsize) if stride is None else stride

        def part(first: Value, remaining: Value | None) -> None:
            logits = load_lanes(b, self.p.kind, b.at(base, b.mul(first, step)), lanes, stride, remaining)
            there = self._in(logits)
            if remaining is not None:
                there = b.and_(there, first_lanes(b, lanes, remaining))
            body(first, logits, there)

        full = b.and_(self.n, -lanes)
        with b.loop(0, full, lanes) as first:
            part(first, None)
        with b.if_(b.less(full, self.n)):
            part(full, b.sub(self.n, full))

    def _in(self, logits: Value) -> Value:
        low = 0 if self.p.probabilities else 0xFF800000
        return self.b.compare("fcmp ogt", logits, constant("float", low, logits.lanes))

    def _x(self, held: Value) -> Value:
        """x of logits."""
        if not self.p.tempered:
            return held
        cooled = self._value(a.X_OF, {a.LOGIT: held, a.TEMPERATURE: self.temperature}, held.lanes)
        greedy = self.greedy if held.lanes == 1 else self.b.splat(self.greedy, held.lanes)
        return self.b.select(greedy, held, cooled)

    def _held(self, logits: Value) -> Value:
        return self._value(a.LOGIT_HELD, {a.LOGIT: logits}, logits.lanes)

    def _e(self, held: Value, v: Value) -> Value:
        if self.p.probabilities:
            return self._value(a.SHARE_OF, {a.LOGIT: held, a.TOP: self.top}, held.lanes)
        return self._value(a.E_OF, {a.V: v}, held.lanes)

    def _wide(self, x: Value) -> Value:
        return self.b.convert("zext", x, vector("i64", x.lanes))

    def _sum(self) -> Variable:
        return self.b.variable(Value(vector("i64", self.lanes), "zeroinitializer"))

    def _add(self, total: Variable, x: Value) -> None:
        total.set(self.b.add(total.get(), self._wide(x)))

    def _total(self, total: Variable) -> Value:
        return self.b.call("i64", f"llvm.vector.reduce.add.v{self.lanes}i64", total.get()) if self.lanes > 1 else total.get()

    def _at(self, array: Value, i: Value, lanes: int | None = None) -> Value:
        """Numbers of 32 bits from the i-th on."""
        return self.b.load(vector("i32", lanes or self.lanes), self.b.at(array, self.b.mul(i, 4)), 4)

    def _put(self, array: Value, i: Value, value: Value) -> None:
        self.b.store(value, self.b.at(array, self.b.mul(i, 4)), 4)

    # --- a row --------------------------------------------------------------------------------------------------------

    def _row(self, row: Value) -> None:
        b = self.b
        least = constant("float", 0xFF800000, self.lanes)
        tops = b.variable(least)

        def larger(first: Value, logits: Value, there: Value) -> None:
            known = tops.get()
            tops.set(b.select(b.and_(there, b.compare("fcmp ogt", logits, known)), logits, known))

        self._logits(row, larger)
        top = b.variable(constant("float", 0xFF800000))
        for lane in range(self.lanes):
            one, known = b.extract(tops.get(), lane), top.get()
            top.set(b.select(b.compare("fcmp ogt", one, known), one, known))
        there = b.compare("fcmp une", top.get(), constant("float", 0xFF800000))
        with b.if_(there):
            self._drawn(row, top.get())
        with b.else_(there):
            self._nothing(row)

    def _nothing(self, row: Value) -> None:
        self._results(row, i64(-1), constant("float", 0x7FC00000), i64(0))
        if self.kept_steps is not None:
            self._mark(row, lambda first: Value(vector("i1", self.lanes), "zeroinitializer" if self.lanes > 1 else "false"))

    def _results(self, row: Value, token: Value, below: Value, total: Value) -> None:
        b = self.b
        b.store(token, b.at(self.operands[TOKEN], b.mul(row, 8)), 8)
        if self.p.measured:
            b.store(below, b.at(self.operands[BELOW], b.mul(row, 4)), 4)
            b.store(total, b.at(self.operands[TOTAL], b.mul(row, 8)), 8)

    def _mark(self, row: Value, stays: Callable[[Value], Value]) -> None:
        b = self.b
        assert self.kept_steps is not None
        base = b.at(self.operands[KEPT], b.mul(row, self.kept_steps[0]))
        with b.loop(0, self.n, self.lanes) as first:
            to = b.at(base, b.mul(first, self.kept_steps[1]))
            store_lanes(b, ElementKind.BOOL, stays(first), to, self.kept_steps[1], b.sub(self.n, first))

    def _drawn(self, row: Value, top: Value) -> None:
        b, p = self.b, self.p
        self.top = self._held(top)
        if p.tempered:
            self.temperature = self._of_row(TEMPERATURE, row, "float")
            self.greedy = b.emit("i1", f"xor i1 {b.compare('fcmp ogt', self.temperature, constant('float', 0)).name}, true")
        self.m = self._x(self.top)
        limit = constant("float", 0x7F800000)
        if p.has(NSIGMA):
            limit = self._limit(row)
        if p.tempered:
            limit = b.select(self.greedy, constant("float", 0), limit)
        least = constant("i32", 0)
        if p.has(MIN_P):
            least = self._value(a.LEAST_OF, {a.MIN_P: self._of_row(MIN_P, row, "float")})
        count, weight = self._weigh(row, limit, least)
        deepest = b.variable(constant("i32", a.OUT - 1))
        if p.has(K):
            k, every = self._of_row(K, row, "i64"), weight.get()
            with b.if_(b.and_(b.less(0, k), b.less(k, count))):
                deepest.set(self._threshold(k, weight, counted=True))
            if p.joint and not p.typical:
                weight.set(every)
        if p.has(P):
            share = self._of_row(P, row, "float")
            with b.if_(b.compare("fcmp olt", share, constant("float", 0x3F800000))):
                if p.typical:
                    self._turn(row, deepest)
                target = self._value(a.TARGET_OF, {a.P: share, a.W: weight.get()})
                nearest = self._threshold(target, weight, counted=False)
                known = deepest.get()
                smaller = b.compare("icmp ult", nearest, known)
                deepest.set(nearest if p.typical else b.select(smaller, nearest, known))
        self._draw(row, deepest.get())

    def _limit(self, row: Value) -> Value:
        b = self.b
        s1, s2, c = self._sum(), self._sum(), self._sum()
        ones, nothing = constant("i32", 1, self.lanes), constant("i32", 0, self.lanes)

        def add(first: Value, logits: Value, there: Value) -> None:
            v = b.op("fsub", b.splat(self.top, self.lanes), self._held(logits))
            counts = b.and_(there, b.compare("fcmp ole", v, constant("float", 0x44800000, self.lanes)))
            q = b.select(counts, self._value(a.STEPS_OF, {a.V: v}, self.lanes), nothing)
            self._add(s1, q)
            s2.set(b.add(s2.get(), b.mul(self._wide(q), self._wide(q))))
            self._add(c, b.select(counts, ones, nothing))

        self._logits(row, add)
        known = {a.S1: s1, a.S2: s2, a.COUNT: c}
        nsigma = self._of_row(NSIGMA, row, "float")
        return self._value(a.LIMIT_OF, {n: self._total(v) for n, v in known.items()} | {a.NSIGMA: nsigma})

    def _weigh(self, row: Value, limit: Value, least: Value) -> tuple[Value, Variable]:
        """Write levels and weights of what the first filters leave; how many elements that are, and their weight."""
        b, p, lanes = self.b, self.p, self.lanes
        out, nothing = constant("i32", a.OUT, lanes), constant("i32", 0, lanes)
        with b.loop(b.and_(self.n, -lanes), self.whole, lanes) as i:  # what is behind the row
            self._put(self.levels, i, out)
            self._put(self.weights, i, nothing)
        count, weight = self._sum(), self._sum()

        def look(first: Value, logits: Value, there: Value) -> None:
            held = self._held(logits)
            x = self._x(held)
            v = b.op("fsub", b.splat(self.m, lanes), x)
            level = self._value(a.LEVEL_OF, {a.M: self.m, a.X: x}, lanes)
            w = self._value(a.WEIGHT_OF, {a.E: self._e(held, v)}, lanes)
            stays = there
            if p.has(NSIGMA) or p.tempered:
                below = b.op("fsub", b.splat(self.top, lanes), held)
                stays = b.and_(stays, b.compare("fcmp ole", below, b.splat(limit, lanes)))
            if p.has(MIN_P):
                stays = b.and_(stays, b.compare("icmp uge", w, b.splat(least, lanes)))
            w = b.select(stays, w, nothing)
            self._put(self.levels, first, b.select(stays, level, out))
            self._put(self.weights, first, w)
            if p.typical:
                self._put(self.below, first, b.convert("bitcast", v, vector("i32", lanes)))
            self._add(count, b.convert("zext", stays, vector("i32", lanes)))
            self._add(weight, w)

        self._logits(row, look)
        return self._total(count), b.variable(self._total(weight))

    def _turn(self, row: Value, deepest: Variable) -> None:
        """Levels by |v - mu| in place of those by x."""
        b, lanes = self.b, self.lanes
        out, nothing = constant("i32", a.OUT, lanes), constant("i32", 0, lanes)
        terms, weight, most = self._sum(), self._sum(), deepest.get()

        def kept(i: Value) -> Value:
            return b.compare("icmp ule", self._at(self.levels, i), b.splat(most, lanes))

        def v_of(i: Value) -> Value:
            return b.convert("bitcast", self._at(self.below, i), vector("float", lanes))

        with b.loop(0, self.n, lanes) as i:
            v, stays = v_of(i), kept(i)
            known = {a.E: self._value(a.E_OF, {a.V: v}, lanes), a.V: v}
            self._add(terms, b.select(stays, self._value(a.MEAN_TERM_OF, known, lanes), nothing))
            self._add(weight, b.select(stays, self._at(self.weights, i), nothing))
        mu = self._value(a.MU_OF, {a.R: self._total(terms), a.W: self._total(weight)})
        with b.loop(0, self.n, lanes) as i:
            level = self._value(a.TYPICAL_LEVEL_OF, {a.V: v_of(i), a.MU: mu}, lanes)
            self._put(self.levels, i, b.select(kept(i), level, out))

    # --- thresholds ---------------------------------------------------------------------------------------------------

    def _threshold(self, target: Value, weight: Variable, *, counted: bool) -> Value:
        """The level up to which there are so many elements, or so much weight; what these weigh is put into `weight`."""
        b = self.b
        wanted, before = b.variable(target), b.variable(i64(0))
        length = b.variable(self.whole)
        level = b.variable(constant("i32", 0))
        for number, (shift, bits) in enumerate(_DIGITS):
            levels, weights = (self.found_levels, self.found_weights) if number else (self.levels, self.weights)
            with b.loop(0, 2 * _BINS if counted else _BINS, 8) as i:
                into = self.counts if counted else self.sums
                b.store(Value(vector("i64", 8), "zeroinitializer"), b.at(into, b.mul(i, 8)), 8)
            with b.loop(0, length.get()) as i:
                at = b.mul(self._digit(self._at(levels, i, 1), shift, bits), 8)
                where = b.at(self.sums, at)
                b.store(b.add(b.load("i64", where, 8), self._wide(self._at(weights, i, 1))), where, 8)
                if counted:
                    where = b.at(self.counts, at)
                    b.store(b.add(b.load("i64", where, 8), 1), where, 8)
            digit = b.variable(i64(0))
            bins = self.counts if counted else self.sums

            def own(digit: Variable = digit, bins: Value = bins) -> Value:
                return b.load("i64", b.at(bins, b.mul(digit.get(), 8)), 8)

            with b.while_(lambda: b.compare("icmp ult", own(), wanted.get())):
                wanted.set(b.sub(wanted.get(), own()))
                before.set(b.add(before.get(), b.load("i64", b.at(self.sums, b.mul(digit.get(), 8)), 8)))
                digit.set(b.add(digit.get(), 1))
            found = b.convert("trunc", digit.get(), "i32")
            level.set(b.or_(level.get(), b.shl(found, constant("i32", shift))))
            if shift:
                taken = b.variable(i64(0))
                with b.loop(0, length.get()) as i:
                    u, w = self._at(levels, i, 1), self._at(weights, i, 1)
                    self._put(self.found_levels, taken.get(), u)
                    self._put(self.found_weights, taken.get(), w)
                    same = b.equal(self._digit(u, shift, bits), digit.get())
                    taken.set(b.add(taken.get(), b.convert("zext", same, "i64")))
                length.set(taken.get())
            else:
                last = b.load("i64", b.at(self.sums, b.mul(digit.get(), 8)), 8)
                weight.set(b.add(before.get(), last))
        return level.get()

    def _digit(self, level: Value, shift: int, bits: int) -> Value:
        b = self.b
        digit = b.shr(level, constant("i32", shift)) if shift else level
        return b.convert("zext", b.and_(digit, constant("i32", (1 << bits) - 1)), "i64")

    # --- the token ----------------------------------------------------------------------------------------------------

    def _draw(self, row: Value, deepest: Value) -> None:
        b, lanes = self.b, self.lanes
        nothing = constant("i32", 0, lanes)

        def weights(i: Value, lanes: int = lanes) -> Value:
            stays = b.compare("icmp ule", self._at(self.levels, i, lanes), b.splat(deepest, lanes) if lanes > 1 else deepest)
            return b.select(stays, self._at(self.weights, i, lanes), nothing if lanes > 1 else constant("i32", 0))

        total = self._sum()
        with b.loop(0, self.whole, lanes) as i:
            self._add(total, weights(i))
        weight = self._total(total)
        place = self._value(a.PLACE_OF, {a.WORD: self._word(row), a.W: weight})
        if self.p.tempered:
            place = b.select(self.greedy, i64(0), place)
        start, reached, run = b.variable(i64(0)), b.variable(i64(0)), b.variable(i64(0))

        def summed() -> Value:
            part = self._sum()
            with b.loop(start.get(), b.add(start.get(), _RUN), lanes) as i:
                self._add(part, weights(i))
            run.set(self._total(part))
            return b.compare("icmp ule", b.add(reached.get(), run.get()), place)

        with b.while_(summed):
            reached.set(b.add(reached.get(), run.get()))
            start.set(b.add(start.get(), _RUN))

        def more() -> Value:
            run.set(self._wide(weights(start.get(), 1)))
            return b.compare("icmp ule", b.add(reached.get(), run.get()), place)

        with b.while_(more):
            reached.set(b.add(reached.get(), run.get()))
            start.set(b.add(start.get(), 1))
        token = start.get()
        below = constant("float", 0)
        if self.p.measured:
            at = b.at(self.operands[LOGITS], b.mul(row, self.logit_steps[0]))
            logit = load_lanes(b, self.p.kind, b.at(at, b.mul(token, self.logit_steps[1])), 1, None, None)
            below = b.op("fsub", self.m, self._x(self._held(logit)))
        self._results(row, token, below, weight)
        if self.kept_steps is not None:
            self._mark(row, lambda i: b.compare("icmp ule", self._at(self.levels, i), b.splat(deepest, lanes)))


def _size(operand: int) -> int:
    """Bytes of what there is for each row."""
    return 8 if operand == K else 4
