"""One direction of one layer of a recurrent network, forward and backward, given the sums of its inputs at all steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Implementation, Plan
from baracuda.core.sku import BackendKind, OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_shape
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, param, select
from baracuda.lowering.backend import candidates
from baracuda.lowering.recurrence.pipeline import Pipeline, PipelineImplementation
from baracuda.lowering.recurrence.problem import BATCH, LANE, STEP, Component, Store, read, state
from baracuda.lowering.recurrent.problem import Phase, Recurrent, Trace, chain, fold
from baracuda.ops.declaration.formula_plan import FLOATS
from baracuda.ops.rnn.cells import Cell, backward

Shape = tuple[int, ...]
_S32 = ElementKind.S32
_LENGTHS = (ElementKind.S32, ElementKind.S64)


@dataclass(frozen=True)
class RecurrentDescriptor(Descriptor):
    """A layer of `units` units over `steps` steps of `batch` rows.

    Attributes
    ----------
    cell
        What a step computes.
    projection
        Where it is not 0, the hidden state is projected to so many numbers.
    element
        Of the weights and of what the layer gives.
    reverse
        Whether steps go from a row's last one to its first.
    length_element
        Of the numbers of steps that each row has; None: all have all.
    has_bias, has_start
        Whether sums have biases, and whether the state before the first step is given; else it is 0.
    saves
        Forward: whether what the backward pass reads is stored.
    has_dy, has_dh
        Backward: whether gradients of all hidden states, and of the last state, are given.
    """

    cell: Cell
    steps: int
    batch: int
    units: int
    element: ElementKind
    projection: int = 0
    reverse: bool = False
    length_element: ElementKind | None = None
    has_bias: bool = False
    has_start: bool = False
    saves: bool = False
    has_dy: bool = True
    has_dh: bool = True

    def validate(self) -> None:
        check_element("element", self.element, FLOATS)
        if self.length_element is not None:
            check_element("length_element", self.length_element, _LENGTHS)
        check_shape("x", self.x_shape)

    @property
    def compute(self) -> ElementKind:
        return self.element.compute

    @property
    def hidden(self) -> int:
        """Numbers of the hidden state."""
        return self.projection or self.units

    x_shape = property(lambda d: (d.steps, d.batch, d.cell.gates, d.units))
    y_shape = property(lambda d: (d.steps, d.batch, d.hidden))
    weight_shape = property(lambda d: (d.cell.gates, d.units, d.hidden))
    projection_shape = property(lambda d: (1, d.hidden, d.units))
    bias_shape = property(lambda d: (d.cell.gates, d.units))
    peephole_shape = property(lambda d: (3, d.units))
    hidden_shape = property(lambda d: (d.batch, d.hidden))
    units_shape = property(lambda d: (d.batch, d.units))
    each_units_shape = property(lambda d: (d.steps, d.batch, d.units))
    lengths_shape = property(lambda d: (d.batch,))
    gates_shape = property(lambda d: (d.steps, d.batch, d.cell.saved, d.units))
    states_shape = property(lambda d: (d.steps, d.batch, len(d.cell.further), d.units))
    peepholes_shape = property(lambda d: (d.steps, d.batch, 3, d.units))

    has_lengths = property(lambda d: d.length_element is not None)
    has_projection = property(lambda d: d.projection > 0)
    has_peepholes = property(lambda d: d.cell.peepholes)
    has_c = property(lambda d: "c" in d.cell.further)
    has_nm = property(lambda d: "n" in d.cell.further)
    starts_c = property(lambda d: d.has_start and d.has_c)
    starts_nm = property(lambda d: d.has_start and d.has_nm)
    saves_states = property(lambda d: d.saves and d.has_c)
    ends_c = property(lambda d: d.has_dh and d.has_c)
    ends_nm = property(lambda d: d.has_dh and d.has_nm)
    is_apart = property(lambda d: d.cell.apart)
    is_reset = property(lambda d: d.cell.in_two)


class _Words:
    """The expressions that both directions share."""

    def __init__(self, d: RecurrentDescriptor) -> None:
        self.d, self.cell, self.kind = d, d.cell, d.compute
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


def _forward(d: RecurrentDescriptor) -> Pipeline:
    w, kind, cell = _Words(d), d.compute, d.cell
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
                d.units, "w_hh", d.hidden, 2, folds=(chain(kind),), state=(Component(const(0.0, kind), gates[1]),),
                message=(cell.reset(gates[0], hidden),), traces=tuple(_saved(d, row, gates)),
            )
        )  # fmt: skip
        candidate = x[2] + bias("b_hh", 2, fold(kind, 0, 0))
        y = cell.mixed(held, candidate, hidden)
        phases.append(
            Phase(
                d.units, "w_hh", d.units, 1, 2, folds=(chain(kind),), state=(Component(w.start("h"), y),), message=(y,),
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
            Phase(d.units, "w_hh", d.hidden, cell.gates, folds=(chain(kind),), state=further, message=(after[0],),
                  traces=tuple(traces), lasts=lasts),
            Phase(d.hidden, "w_hr", d.units, 1, folds=(chain(kind),), state=(Component(w.start("h"), y),), message=(y,),
                  traces=(Trace("y", row, y),), lasts=ends[1]),
        ]  # fmt: skip
    else:
        phases = [
            Phase(d.units, "w_hh", d.hidden, cell.gates, folds=(chain(kind),), state=(*further, own), message=(after[0],),
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


def _backward(d: RecurrentDescriptor) -> Pipeline:
    w, kind, cell = _Words(d), d.compute, d.cell
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
        d.hidden, "w_hh", d.units, cell.gates, transposed=True, paired=True, folds=(chain(kind),),
        lasts=(Store("dh0", state(dh_of, kind)),),
    )  # fmt: skip
    products = _added([fold(kind, 0, g) for g in range(cell.gates)])

    def formula(du: Expr) -> dict[str, Expr]:
        count, m = cell.saved, n + 1

        def of(*arguments: Expr) -> list[Expr]:
            return cell.next(arguments[:count], arguments[count : count + m], arguments[count + m :])

        return backward(of, kind, given, [du, *(state(i, kind) for i in range(n))], list(given))

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
                d.units, "w_hr", d.hidden, 1, transposed=True, folds=(chain(kind),),
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
    mixed = backward(
        lambda a, b, c: [cell.mixed(a, b, c)], kind, {"z1": gates[1], "z2": gates[2], "h": h}, [dh], ["z1", "z2", "h"]
    )
    reset = backward(lambda a, b: [cell.reset(a, b)], kind, {"z0": gates[0], "h": h}, [fold(kind)], ["z0", "h"])
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
        d.units, "w_hh", d.units, 1, 2, transposed=True, folds=(chain(kind),), state=(Component(zero, reset["h"]),),
        message=(dz0, state(1, kind)), traces=(Trace("dx", row, dz0, 0),),
    )  # fmt: skip
    total = ((fold(kind, 0, 0) + fold(kind, 0, 1)) + state(2, kind)) + state(0, kind)
    third = Phase(
        d.units, "w_hh", d.units, 2, transposed=True, paired=True, folds=(chain(kind),), state=(Component(end("h"), total),),
        lasts=(Store("dh0", state(3, kind)),),
    )  # fmt: skip
    return w.pipeline(Recurrent(d.batch, d.steps, w.length, (first, second, third), kind, ()))


_X = TensorSpec("x", "sums of the inputs, (steps, batch, gates, units)", shape="x_shape", element="compute")
_WEIGHTS = (
    TensorSpec("w_hh", "weights of the hidden state, (gates, units, hidden)", shape="weight_shape"),
    TensorSpec("w_hr", "weights of the projection, (1, hidden, units)", shape="projection_shape", when="has_projection"),
)
_GIVEN = (
    TensorSpec("peepholes", "weights of the state in the gates i, f and o", shape="peephole_shape", when="has_peepholes"),
    TensorSpec("lengths", "steps of each row", shape="lengths_shape", element="length_element", when="has_lengths"),
    TensorSpec("h0", "the hidden state before the first step", shape="hidden_shape", when="has_start"),
    TensorSpec("c0", "the cell's state before the first step", shape="units_shape", when="starts_c"),
    TensorSpec("n0", "its normaliser", shape="units_shape", when="starts_nm"),
    TensorSpec("m0", "the normaliser's logarithm", shape="units_shape", when="starts_nm"),
)


@dataclass
class RecurrentArgs(Args):
    """x: the sums of the inputs; w_hh, w_hr, b_ih, b_hh, peepholes: weights; lengths: steps of each row; h0 and so on: the state
    before the first step; y: the hidden state at each step; h_n and so on: after the last one; gates, states: what the backward
    pass reads."""

    x: Any
    w_hh: Any
    w_hr: Any = None
    b_ih: Any = None
    b_hh: Any = None
    peepholes: Any = None
    lengths: Any = None
    h0: Any = None
    c0: Any = None
    n0: Any = None
    m0: Any = None
    y: Any = None
    h_n: Any = None
    c_n: Any = None
    n_n: Any = None
    m_n: Any = None
    gates: Any = None
    states: Any = None


_Found = tuple[tuple[BackendKind, Callable[[], Implementation] | str], ...]


class RecurrentPlan(Plan[RecurrentDescriptor, RecurrentArgs]):
    """A layer in one direction: at each step the state that the cell computes from x, the products w_hh h and the state before
    it.

    Each product is a chain of fused multiply-adds in rising k, from +0; then the biases, b_ih to x and b_hh to the product, and
    then the two are added. States are kept in the kind computed in. y is 0 at steps beyond a row's length. All four promises
    hold.
    """

    category, op, args = OpCategory.RNN, "recurrent", RecurrentArgs
    tensors = (
        _X,
        *_WEIGHTS,
        TensorSpec("b_ih", "biases of the inputs", shape="bias_shape", when="has_bias"),
        TensorSpec("b_hh", "biases of the hidden state", shape="bias_shape", when="has_bias"),
        *_GIVEN,
        TensorSpec("y", "hidden states", shape="y_shape", written=True),
        TensorSpec("h_n", "the last hidden state", shape="hidden_shape", written=True),
        TensorSpec("c_n", "the cell's last state", shape="units_shape", written=True, when="has_c"),
        TensorSpec("n_n", "its normaliser", shape="units_shape", written=True, when="has_nm"),
        TensorSpec("m_n", "the normaliser's logarithm", shape="units_shape", written=True, when="has_nm"),
        TensorSpec("gates", "the gates", shape="gates_shape", element="compute", written=True, when="saves"),
        TensorSpec("states", "the cell's states", shape="states_shape", element="compute", written=True, when="saves_states"),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: RecurrentDescriptor) -> _Found:
        return candidates(device, partial(PipelineImplementation, device, _forward(descriptor), cls.tensors, descriptor))


@dataclass
class RecurrentBackwardArgs(Args):
    """dy, dh_n and so on: the gradients given; the tensors of the forward pass and what it saved; dx: the gradient of x; dp:
    that of the products where it is another; h_before: the hidden state before each step; dhidden, unprojected: what the
    projection's weight has its gradient of; reset: the hidden state as a GRU has reset it; dpeepholes: at each step and row; dh0
    and so on."""

    dy: Any
    dh_n: Any
    dc_n: Any
    dn_n: Any
    dm_n: Any
    y: Any
    gates: Any
    states: Any
    w_hh: Any
    w_hr: Any
    peepholes: Any
    lengths: Any
    h0: Any
    c0: Any
    n0: Any
    m0: Any
    dx: Any
    dp: Any
    h_before: Any
    dhidden: Any
    unprojected: Any
    reset: Any
    dpeepholes: Any
    dh0: Any
    dc0: Any
    dn0: Any
    dm0: Any


class RecurrentBackwardPlan(Plan[RecurrentDescriptor, RecurrentBackwardArgs]):
    """The gradients of a layer in one direction, through time.

    At each step, from a row's last one to its first, the formula's gradients by the gates are what dh is made of for the step
    before: for each gate a chain of fused multiply-adds with w_hh in rising number of the unit, from +0, and these added in the
    order of the gates. dx and what stands beside it are rounded to the element when they are stored. All four promises hold.
    """

    category, op, args = OpCategory.RNN, "recurrent_backward", RecurrentBackwardArgs
    tensors = (
        TensorSpec("dy", "the gradient of y", shape="y_shape", when="has_dy"),
        TensorSpec("dh_n", "that of the last hidden state", shape="hidden_shape", when="has_dh"),
        TensorSpec("dc_n", "that of the cell's last state", shape="units_shape", when="ends_c"),
        TensorSpec("dn_n", "that of its normaliser", shape="units_shape", when="ends_nm"),
        TensorSpec("dm_n", "that of the normaliser's logarithm", shape="units_shape", when="ends_nm"),
        TensorSpec("y", "hidden states", shape="y_shape"),
        TensorSpec("gates", "the gates", shape="gates_shape", element="compute"),
        TensorSpec("states", "the cell's states", shape="states_shape", element="compute", when="has_c"),
        *_WEIGHTS,
        *_GIVEN,
        TensorSpec("dx", "the gradient of x", shape="x_shape", written=True),
        TensorSpec("dp", "that of the products", shape="x_shape", written=True, when="is_apart"),
        TensorSpec("h_before", "the hidden state before each step", shape="y_shape", written=True),
        TensorSpec("dhidden", "the gradient of each hidden state", shape="y_shape", written=True, when="has_projection"),
        TensorSpec("unprojected", "hidden states before the projection", shape="each_units_shape", written=True,
                   when="has_projection"),
        TensorSpec("reset", "hidden states, reset", shape="each_units_shape", written=True, when="is_reset"),
        TensorSpec("dpeepholes", "the peepholes' gradients at each step", shape="peepholes_shape", element="compute",
        written=True,
                   when="has_peepholes"),
        TensorSpec("dh0", "the gradient of the hidden state before the first step", shape="hidden_shape", written=True),
        TensorSpec("dc0", "that of the cell's state", shape="units_shape", written=True, when="has_c"),
        TensorSpec("dn0", "that of its normaliser", shape="units_shape", written=True, when="has_nm"),
        TensorSpec("dm0", "that of the normaliser's logarithm", shape="units_shape", written=True, when="has_nm"),
    )  # fmt: skip

    @classmethod
    def implementations(cls, device: Device, descriptor: RecurrentDescriptor) -> _Found:
        return candidates(device, partial(PipelineImplementation, device, _backward(descriptor), cls.tensors, descriptor))
