"""The walk over the DAG: values of nodes, for several vectors at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from baracuda.codegen.llvm.ir import Builder, Value, Variable, constant
from baracuda.codegen.llvm.memory import narrow, widen
from baracuda.codegen.llvm.primitives import compute_type, primitive
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr
from baracuda.formula.loops import Loop, components

#: The values of a node: one for each vector of a group.
Group = list[Value]


def _reachable(root: Expr, stop: Collection[Expr] = (), *, through_slow: bool = True) -> Collection[Expr]:
    """Nodes that `root` reads, itself included, in an order that every run of Python shares; `stop` nodes are left out with
    what is behind them."""
    reachable: dict[Expr, None] = {}
    stack = [root]
    while stack:
        n = stack.pop()
        if n in reachable or n in stop:
            continue
        reachable[n] = None
        if n.op == "rare" and not through_slow:
            stack += (n.args[0], n.args[2])
        elif n.op != "reduce":
            stack += n.args
    return reachable


#: What a store and a load leave of a value.
_STORED = {f"stored_{kind.label}": kind for kind in (ElementKind.BF16, ElementKind.F16)}


def _value(b: Builder, n: Expr, args: list[Value]) -> Value:
    stored = _STORED.get(n.op)
    return primitive(b, n, args) if stored is None else widen(b, stored, narrow(b, stored, args[0]))


class Evaluator:
    """Emits nodes on demand, each once, `count` vectors of `lanes` lanes side by side.

    leaf gives the values of inputs and coordinates, and of indexed reads where it has them; where it has not, it gives None, and
    `gather` loads them, given the node and its offsets. Nodes that `outer` already holds are the same for all lanes: they are
    taken from it, and repeated where it is an evaluator of scalars. `active`, where given, masks the lanes that count.
    """

    def __init__(
        self,
        b: Builder,
        lanes: int,
        count: int,
        leaf: Callable[[Expr], Group | None],
        outer: Evaluator | None = None,
        active: Group | None = None,
        gather: Callable[[Expr, Group], Group] | None = None,
    ) -> None:
        self.b = b
        self.lanes = lanes
        self.count = count
        self.leaf = leaf
        self.outer = outer
        self.active = active
        self.gather = gather
        self.memo: dict[Expr, Group] = {}
        self.hot: set[Expr] = set()

    def known(self, n: Expr) -> Group | None:
        """The value of a node that needs no code but a constant or a splat."""
        group = self.memo.get(n)
        if group is None and n.op == "const":
            group = [constant(compute_type(n.kind), n.attr, self.lanes)] * self.count
        elif group is None and self.outer is not None:
            above = self.outer.known(n)
            if above is not None:
                group = self.spread(above)
        if group is not None:
            self.memo[n] = group
        return group

    def spread(self, above: Group) -> Group:
        """The values of a node of the outer evaluator, for each vector of this one."""
        assert self.outer is not None
        return above if self.outer.lanes == self.lanes else [self.b.splat(above[0], self.lanes)] * self.count

    def _needs(self, n: Expr) -> list[Expr]:
        """What must be emitted before `n`; for a branch, also what its slow side shares with other code."""
        if n.op != "rare":
            return list(n.args)
        self.hot.update(_reachable(n, through_slow=False))
        cold = _reachable(n.args[1], self.hot)
        shared = {a: None for c in cold for a in c.args if a in self.hot}
        if n.args[1] in self.hot:
            shared[n.args[1]] = None
        return [n.args[0], n.args[2], *shared]

    def value(self, root: Expr) -> Group:
        """The values of `root`, emitted here if they are not there yet."""
        if root not in self.hot:
            self.hot.update(_reachable(root, through_slow=False))
        stack = [root]
        while stack:
            n = stack[-1]
            if self.known(n) is not None:
                stack.pop()
                continue
            leaf = self.leaf(n) if n.op in ("input", "gather", "coord", "position", "param", "reduce") else None
            if leaf is not None:
                self.memo[n] = leaf
                stack.pop()
                continue
            missing = [a for a in self._needs(n) if self.known(a) is None]
            if missing:
                stack += reversed(missing)
                continue
            stack.pop()
            if n.op == "rare":
                self.memo[n] = self._rare(n)
            elif n.op == "loop":
                self._loop(n)
            elif n.op == "gather":
                assert self.gather is not None, f"{n} is read where no offset is known"
                self.memo[n] = self.gather(n, self.memo[n.args[0]])
            else:
                args = [self.memo[a] for a in n.args]
                self.memo[n] = [_value(self.b, n, [a[i] for a in args]) for i in range(self.count)]
        return self.memo[root]

    def values(self, roots: Iterable[Expr]) -> list[Group]:
        return [self.value(r) for r in roots]

    def _rare(self, n: Expr) -> Group:
        b = self.b
        condition, fast = self.memo[n.args[0]], self.memo[n.args[2]]
        if self.active is not None:
            condition = [b.op("and", c, a) for c, a in zip(condition, self.active, strict=True)]
        some = condition[0]
        for c in condition[1:]:
            some = b.op("or", some, c)
        results = [b.variable(f) for f in fast]
        with b.if_(b.any(some), seldom=True):
            memo, self.memo = self.memo, dict(self.memo)
            hot, self.hot = self.hot, self.hot.union(_reachable(n.args[1], through_slow=False))
            slow = self.value(n.args[1])
            for result, c, s, f in zip(results, condition, slow, fast, strict=True):
                result.set(b.select(c, s, f))
            self.memo, self.hot = memo, hot
        return [r.get() for r in results]

    def _loop(self, n: Expr) -> None:
        """A loop for each vector, until none of its lanes goes on; lanes that are done keep their state."""
        x = n.attr.loop
        ends: list[Group] = [[] for _ in x.state]
        for i in range(self.count):
            for end, variable in zip(ends, self._turned(x, [self.memo[a][i] for a in n.args], i), strict=True):
                end.append(variable.get())
        self.memo |= dict(zip(components(n), ends, strict=True))

    def _turned(self, x: Loop, args: list[Value], vector: int) -> list[Variable]:
        """The variables that hold the state of vector number `vector`, after its loop."""
        b = self.b
        held, turn = [b.variable(a) for a in args[: len(x.state)]], b.variable(Value("i32", "0"))
        given = {placeholder: [a] for placeholder, a in zip(x.given, args[len(x.state) :], strict=True)}
        inside, mask = Evaluator(b, self.lanes, 1, lambda n: None), Value("i1", "false")
        inside.memo |= given

        def going() -> Value:
            nonlocal mask
            inside.memo |= {s: [v.get()] for s, v in zip(x.state, held, strict=True)}
            number = turn.get()
            inside.memo[x.turn] = [b.splat(number, self.lanes)]
            inside.active = None if self.active is None else [self.active[vector]]
            (mask,) = inside.value(x.going)
            if self.active is not None:
                mask = b.op("and", mask, self.active[vector])
            return b.op("and", b.any(mask), b.compare("icmp slt", number, x.turns))

        with b.while_(going):
            inside.active = [mask]
            new = inside.values(x.results)
            for s, variable, (value,) in zip(x.state, held, new, strict=True):
                variable.set(b.select(mask, value, inside.memo[s][0]))
            turn.set(b._binary("add", turn.get(), 1))
        return held
