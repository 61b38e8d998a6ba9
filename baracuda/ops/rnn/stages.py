"""A layer of a recurrent network as a recurrence over steps, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, param, select
from baracuda.lowering.recurrence.pipeline import Pipeline
from baracuda.lowering.recurrence.problem import BATCH, LANE, STEP, Component, Store, read, state
from baracuda.lowering.recurrent.problem import Phase, Recurrent, Trace, fold, product
from baracuda.ops.rnn.cells import gradients
from baracuda.ops.rnn.descriptor import RecurrentDescriptor

_S32 = ElementKind.S32


class _Words:
    """The expressions that both directions share."""

    def __init__(self, d: RecurrentDescriptor, bits: int) -> None:
        self.d, self.cell, self.kind = d, d.cell, d.compute
        self.folds = (product(d.compute, bits),)
        every = param("steps", _S32)
        self.length = every
        if d.length_element is not None:
            given = read("lengths", d.length_element, BATCH)
            self.length = cast(f.clamp(given, 0, param("steps", given.kind)), _S32)
        self.kinds = ("h", *self.cell.further)

    def number(self, value: int) -> Expr:
        return const(value, _S32)

    def start(self, component: str) -> Expr:
        if not self.d.has_start:
            return const(self.cell.initial(component), self.kind)
        return read(f"{component}0", self.d.element, BATCH, LANE)

    def peepholes(self) -> list[Expr]:
        return [read("peepholes", self.d.element, self.number(i), LANE) for i in range(3)] if self.cell.peepholes else []

    def pipeline(self, stage: Recurrent) -> Pipeline:
        return Pipeline((stage,), self.kind, {}, {**self.cell.numbers(), "steps": self.d.steps})


def forward(d: RecurrentDescriptor, bits: int = 0) -> Pipeline:
    """The steps of a layer. With `bits` its sums are integer products of so many bits, else chains."""
    w, kind, cell = _Words(d, bits), d.compute, d.cell
    row = w.length - 1 - STEP if d.reverse else STEP

    def bias(tensor: str, gate: int, x: Expr) -> Expr:
        return x + read(tensor, d.element, w.number(gate), LANE) if d.has_bias else x

    x = [bias("b_ih", g, read("x", kind, row, BATCH, w.number(g), LANE)) for g in range(cell.gates)]
    before = [state(i, kind) for i in range(len(w.kinds))]
    h_of = len(cell.further)  # the last component: it is that of the projection's phase where there is one
    h_before = state(h_of, kind)
    before = [h_before, *(state(i, kind) for i in range(h_of))]
    phases: list[Phase] = []
    if cell.in_two:
        first = [bias("b_hh", g, fold(kind, 0, g)) for g in range(2)]
        gates = [x[0] + first[0], x[1] + first[1]]
        held = state(0, kind)  # the sum of the update gate
        hidden = state(1, kind)
        phases.append(
            Phase(
                d.units, "w_hh", d.hidden, 2, folds=w.folds, state=(Component(const(0.0, kind), gates[1]),),
                message=(cell.reset(gates[0], hidden),), traces=tuple(_saved(d, row, gates)),
            )
        )  # fmt: skip
        candidate = x[2] + bias("b_hh", 2, fold(kind, 0, 0))
        y = cell.mixed(held, candidate, hidden)
        phases.append(
            Phase(
                d.units, "w_hh", d.units, 1, 2, folds=w.folds, state=(Component(w.start("h"), y),), message=(y,),
                traces=(*_saved(d, row, [candidate], 2), Trace("y", row, y)), lasts=(Store("h_n", hidden),),
            )
        )  # fmt: skip
        return w.pipeline(Recurrent(d.batch, d.steps, w.length, tuple(phases), kind, (w.start("h"),)))
    gates = cell.added(x, [bias("b_hh", g, fold(kind, 0, g)) for g in range(cell.gates)])
    after = cell.next(gates, before, w.peepholes())
    further = tuple(Component(w.start(n), e) for n, e in zip(cell.further, after[1:], strict=True))
    traces = _saved(d, row, gates)
    if d.saves:
        traces += [Trace("states", row, e, i) for i, e in enumerate(after[1:])]
    lasts = tuple(Store(f"{n}_n", state(i, kind)) for i, n in enumerate(cell.further))
    own = Component(w.start("h"), after[0])
    ends = (Trace("y", row, after[0]),), (Store("h_n", h_before),)
    if d.projection:
        y = fold(kind)
        phases = [
            Phase(d.units, "w_hh", d.hidden, cell.gates, folds=w.folds, state=further, message=(after[0],),
                  traces=tuple(traces), lasts=lasts),
            Phase(d.hidden, "w_hr", d.units, 1, folds=w.folds, state=(Component(w.start("h"), y),), message=(y,),
                  traces=(Trace("y", row, y),), lasts=ends[1]),
        ]  # fmt: skip
    else:
        phases = [
            Phase(d.units, "w_hh", d.hidden, cell.gates, folds=w.folds, state=(*further, own), message=(after[0],),
                  traces=(*traces, *ends[0]), lasts=(*lasts, *ends[1])),
        ]  # fmt: skip
    return w.pipeline(Recurrent(d.batch, d.steps, w.length, tuple(phases), kind, (w.start("h"),)))


def _saved(d: RecurrentDescriptor, row: Expr, gates: Sequence[Expr], first: int = 0) -> list[Trace]:
    return [Trace("gates", row, z, first + i) for i, z in enumerate(gates)] if d.saves else []


def _added(terms: Sequence[Expr]) -> Expr:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def backward(d: RecurrentDescriptor, bits: int = 0) -> Pipeline:
    """Its gradients, in the same arithmetic."""
    w, kind, cell = _Words(d, bits), d.compute, d.cell
    row = STEP if d.reverse else w.length - 1 - STEP
    is_first = f.equal(row, w.length - 1 if d.reverse else w.number(0))  # in the order of the forward pass
    earlier = row + 1 if d.reverse else row - 1

    def previous(component: str, value: Expr) -> Expr:
        return select(is_first, w.start(component), value)

    h_before = previous("h", read("y", d.element, earlier, BATCH, LANE))
    before = [previous(n, read("states", kind, earlier, BATCH, w.number(i), LANE)) for i, n in enumerate(cell.further)]
    gates = [read("gates", kind, row, BATCH, w.number(i), LANE) for i in range(cell.saved)]

    def end(component: str) -> Expr:
        return read(f"d{component}_n", d.element, BATCH, LANE) if d.has_dh else const(0.0, kind)

    # The components of the state: gradients of the further components, what reaches h beside its products, and dh, the last one.
    n = len(cell.further)
    beside = n
    dh_of = n + 1 + 2 * cell.in_two
    dh = state(dh_of, kind)
    if d.has_dy:
        dh = dh + read("dy", d.element, row, BATCH, LANE)
    given = {f"z{i}": z for i, z in enumerate(gates)} | {f"s{i}": s for i, s in enumerate([h_before, *before])}
    given |= {f"w{i}": p for i, p in enumerate(w.peepholes())}
    zero = const(0.0, kind)
    starts = [Store(f"d{name}0", state(i, kind)) for i, name in enumerate(cell.further)]
    components = [Component(end(name), zero) for name in cell.further]
    last = Phase(
        d.hidden, "w_hh", d.units, cell.gates, transposed=True, paired=True, folds=w.folds,
        lasts=(Store("dh0", state(dh_of, kind)),),
    )  # fmt: skip
    products = _added([fold(kind, 0, g) for g in range(cell.gates)])

    def formula(du: Expr) -> dict[str, Expr]:
        count, m = cell.saved, n + 1

        def of(*arguments: Expr) -> list[Expr]:
            return cell.next(arguments[:count], arguments[count : count + m], arguments[count + m :])

        return gradients(of, kind, given, [du, *(state(i, kind) for i in range(n))], list(given))

    if cell.in_two:
        return _backward_in_two(d, w, row, gates, h_before, dh, end)
    phases: list[Phase] = []
    if d.projection:
        phases.append(Phase(d.hidden, message=(dh,), traces=(Trace("dhidden", row, dh), Trace("h_before", row, h_before))))
        found = formula(fold(kind))
    else:
        found = formula(dh)
    dz = [found[f"z{i}"] for i in range(cell.saved)]
    dx, dp = cell.sums(dz)
    traces = [Trace("dx", row, e, i) for i, e in enumerate(dx)]
    if cell.apart:
        traces += [Trace("dp", row, e, i) for i, e in enumerate(dp)]
    traces += [Trace("dpeepholes", row, found[f"w{i}"], i) for i in range(3 * cell.peepholes)]
    state_of = tuple(replace(c, next=found[f"s{i + 1}"]) for i, c in enumerate(components))
    if d.projection:
        # The hidden state is seen through its products alone; before its projection it is formed again for that one's gradient.
        u = cell.next(gates, [h_before, *before], w.peepholes())[0]
        phases.append(
            Phase(
                d.units, "w_hr", d.hidden, 1, transposed=True, folds=w.folds,
                state=(*state_of, Component(zero, zero)), message=tuple(dp), traces=(*traces, Trace("unprojected", row, u)),
                lasts=tuple(starts),
            )
        )  # fmt: skip
        phases.append(replace(last, state=(Component(end("h"), products),)))
    else:
        phases.append(
            Phase(
                d.units, state=(*state_of, Component(zero, found["s0"])), message=tuple(dp),
                traces=(*traces, Trace("h_before", row, h_before)), lasts=tuple(starts),
            )
        )  # fmt: skip
        through = products + state(beside, kind) if cell.kind == "gru" else products
        phases.append(replace(last, state=(Component(end("h"), through),)))
    return w.pipeline(Recurrent(d.batch, d.steps, w.length, tuple(phases), kind, ()))


def _backward_in_two(
    d: RecurrentDescriptor, w: _Words, row: Expr, gates: Sequence[Expr], h: Expr, dh: Expr, end: Callable[[str], Expr]
) -> Pipeline:
    """Of a GRU that resets before its product. Components of the state: what reaches h beside its products from the mix, the
    gradient of the update gate, what reaches h from the reset, dh."""
    kind, cell, zero = d.compute, d.cell, const(0.0, d.compute)
    mixed = gradients(
        lambda a, b, c: [cell.mixed(a, b, c)], kind, {"z1": gates[1], "z2": gates[2], "h": h}, [dh], ["z1", "z2", "h"]
    )
    reset = gradients(lambda a, b: [cell.reset(a, b)], kind, {"z0": gates[0], "h": h}, [fold(kind)], ["z0", "h"])
    dz0 = reset["z0"]
    first = Phase(
        d.units,
        state=(Component(zero, mixed["h"]), Component(zero, mixed["z1"])),
        message=(mixed["z2"],),
        traces=(
            Trace("dx", row, mixed["z1"], 1),
            Trace("dx", row, mixed["z2"], 2),
            Trace("h_before", row, h),
            Trace("reset", row, cell.reset(gates[0], h)),
        ),
    )
    second = Phase(
        d.units, "w_hh", d.units, 1, 2, transposed=True, folds=w.folds, state=(Component(zero, reset["h"]),),
        message=(dz0, state(1, kind)), traces=(Trace("dx", row, dz0, 0),),
    )  # fmt: skip
    total = ((fold(kind, 0, 0) + fold(kind, 0, 1)) + state(2, kind)) + state(0, kind)
    third = Phase(
        d.units, "w_hh", d.units, 2, transposed=True, paired=True, folds=w.folds, state=(Component(end("h"), total),),
        lasts=(Store("dh0", state(3, kind)),),
    )  # fmt: skip
    return w.pipeline(Recurrent(d.batch, d.steps, w.length, (first, second, third), kind, ()))
