"""What one direction of one layer of a recurrent network is."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.core.descriptor import Descriptor
from baracuda.core.elements import ElementKind
from baracuda.core.spec import check_element, check_shape
from baracuda.ops.declaration.formula_plan import FLOATS
from baracuda.ops.rnn.cells import Cell

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
