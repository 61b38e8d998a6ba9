"""The plans of one direction of one layer of a recurrent network, given the sums of its inputs at all steps."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

from baracuda.core.descriptor import Args
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Found
from baracuda.core.plan import A, Plan
from baracuda.core.sku import MathPrecision, OpCategory
from baracuda.core.spec import TensorSpec
from baracuda.formula.integer_products import bits_of
from baracuda.lowering.backend import candidates
from baracuda.lowering.recurrence.pipeline import Pipeline, PipelineImplementation
from baracuda.ops.rnn.descriptor import RecurrentDescriptor
from baracuda.ops.rnn.stages import backward, forward

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


def precisions(d: RecurrentDescriptor) -> tuple[MathPrecision | None, ...]:
    """What the products of the hidden state are computed in, the default first; None for chains."""
    return (None, MathPrecision.INT23, MathPrecision.INT15) if d.compute is ElementKind.F32 else (None,)


def fastest(device: Device, d: RecurrentDescriptor) -> tuple[MathPrecision | None, ...]:
    """The same, the fastest first: on a GPU's tensor cores the fewest digits that hold what elements are rounded to."""
    if device.kind is DeviceKind.CPU or d.compute is not ElementKind.F32:
        return precisions(d)
    best = MathPrecision.INT15 if d.element.bits < 32 else MathPrecision.INT23
    return (best, *(m for m in precisions(d) if m is not best))


class _LayerPlan(Plan[RecurrentDescriptor, A]):
    """What both directions share: the arithmetics to choose from."""

    category, has_tiers = OpCategory.RNN, True

    @classmethod
    @abstractmethod
    def pipeline(cls, descriptor: RecurrentDescriptor, bits: int) -> Pipeline:
        """The steps of a layer, whose products are integers of so many bits."""

    @classmethod
    def implementations(cls, device: Device, descriptor: RecurrentDescriptor) -> Found:
        return cls._candidates(device, descriptor, precisions(descriptor))

    @classmethod
    def fastest_first(cls, device: Device, descriptor: RecurrentDescriptor) -> Found:
        return cls._candidates(device, descriptor, fastest(device, descriptor))

    @classmethod
    def _candidates(cls, device: Device, d: RecurrentDescriptor, order: tuple[MathPrecision | None, ...]) -> Found:
        def made(math: MathPrecision | None) -> PipelineImplementation:
            return PipelineImplementation(device, cls.pipeline(d, bits_of(math)), cls.tensors, d, math)

        return tuple(c for math in order for c in candidates(device, partial(made, math)))


class RecurrentPlan(_LayerPlan[RecurrentArgs]):
    """A layer in one direction: at each step the state that the cell computes from x, the products w_hh h and the state before
    it.

    Each product is a chain of fused multiply-adds in rising k, from +0; with `math` INT23 or INT15 it is an integer product of 23
    or 15 bits instead, which a GPU's tensor cores take; on a GPU `fastest` says so, 15 bits for 16-bit elements. Then the biases,
    b_ih to x and b_hh to the product, and then the two are added. States are kept in the kind computed in. y is 0 at steps beyond
    a row's length. All four promises hold.
    """

    op, args = "recurrent", RecurrentArgs
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
    def pipeline(cls, descriptor: RecurrentDescriptor, bits: int) -> Pipeline:
        return forward(descriptor, bits)


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


class RecurrentBackwardPlan(_LayerPlan[RecurrentBackwardArgs]):
    """The gradients of a layer in one direction, through time.

    At each step, from a row's last one to its first, the formula's gradients by the gates are what dh is made of for the step
    before: for each gate a chain of fused multiply-adds with w_hh in rising number of the unit, from +0, or with `math` INT23 or
    INT15 an integer product, and these added in the order of the gates. dx and what stands beside it are rounded to the element
    when they are stored. All four promises hold.
    """

    op, args = "recurrent_backward", RecurrentBackwardArgs
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
    def pipeline(cls, descriptor: RecurrentDescriptor, bits: int) -> Pipeline:
        return backward(descriptor, bits)
