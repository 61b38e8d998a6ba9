"""What a recurrent network is given, checked, and its parts: weights, states, inputs in the form that plans take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import axis_at, expanded_dims, permuted, slab
from baracuda.ops.declaration.composition import Given, Steps
from baracuda.ops.rnn.cells import Cell
from baracuda.ops.rnn.weights import ONNX_ORDER, STATES, Weights


def _expect(name: str, tensor: TensorRef, shape: tuple[int, ...]) -> None:
    if tensor.shape != shape:
        raise InvalidProblemError(f"{name}: shape is {tensor.shape}; expected {shape}")


@dataclass
class NetworkTensors:
    """Layers over an input, in the words of PyTorch's functions."""

    do: Steps
    cell: Cell
    x: TensorRef
    params: Sequence[TensorRef]
    hx: Sequence[TensorRef] | None
    has_biases: bool
    num_layers: int
    directions: tuple[bool, ...]  # whether each is in reverse
    batch_first: bool
    lengths: Given = None
    dropout: float = 0.0
    dropout_mask: Given = None
    key: Given = None
    onnx: bool = False
    peepholes: Sequence[TensorRef] | None = None
    heads: int = 1
    one_step: bool = False  # of a cell: no tensor has an axis of steps, and no state one of layers

    def __post_init__(self) -> None:
        rank = len(self.x.shape) + self.one_step
        if rank not in (2, 3):
            expected = "(batch, inputs) or (inputs,)" if self.one_step else "(steps, batch, inputs) or (steps, inputs)"
            raise InvalidProblemError(f"x: shape is {self.x.shape}; expected {expected}")
        self.whole = rank == 3
        self.kind = self.x.kind
        self.inputs = self.timed(self.x)
        self.steps, self.batch, _ = self.inputs.shape
        self.weights = self._weights()
        first = self.weights[0]
        if len(first.w_hh.shape) != 2:
            raise InvalidProblemError(f"params[1]: w_hh has shape {first.w_hh.shape}; expected (gates * units, hidden)")
        self.units = first.w_hh.shape[0] // self.cell.gates
        self.hidden = first.w_hh.shape[1] * self.heads
        self._check()
        if self.onnx:
            self.weights = [self._ordered(w) for w in self.weights]

    # --- what is given ------------------------------------------------------------------------------------------------

    def timed(self, tensor: TensorRef) -> Any:
        """A tensor of the call as (steps, batch, numbers)."""
        if self.one_step:
            return expanded_dims(tensor, (1, 2) if self.whole else (2,), 3)
        if not self.whole:
            return expanded_dims(tensor, (0, 2), 3)
        return permuted(tensor, (1, 0, 2)) if self.batch_first else tensor

    def new_timed(self, width: int) -> tuple[TensorMut, TensorMut]:
        """A new tensor in the form of the call, and as (steps, batch, numbers)."""
        shape: tuple[int, ...] = (self.steps, self.batch, width) if self.whole else (self.steps, width)
        if self.one_step:
            shape = (self.batch, width) if self.whole else (width,)
        elif self.whole and self.batch_first:
            shape = (self.batch, self.steps, width)
        made = self.do.rows(shape, self.kind)
        return made, self.timed(made)

    def _weights(self) -> list[Weights]:
        """The parameters, layer by layer and direction by direction."""
        cells = self.num_layers * len(self.directions)
        least = 4 if self.has_biases else 2
        each = len(self.params) // cells if cells else 0
        if len(self.params) != cells * each or each not in (least, least + (self.cell.kind == "lstm")):
            raise InvalidProblemError(
                f"params: {len(self.params)} tensors; expected {least} for each of {cells} layers and directions: w_ih, w_hh"
                f"{', b_ih, b_hh' * self.has_biases}{', and w_hr with a projection' * (self.cell.kind == 'lstm')}"
            )
        if self.peepholes is not None and len(self.peepholes) != cells:
            raise InvalidProblemError(
                f"peepholes: {len(self.peepholes)} tensors; expected {cells}, one for each layer and direction"
            )
        found = []
        for i in range(cells):
            given = list(self.params[i * each : (i + 1) * each])
            names = ["w_ih", "w_hh", *(["b_ih", "b_hh"] if self.has_biases else []), *(["w_hr"] if each > least else [])]
            peepholes = None if self.peepholes is None else self.peepholes[i]
            found.append(Weights(**dict(zip(names, given, strict=True)), peepholes=peepholes))
        return found

    def _check(self) -> None:
        """Shapes of the parameters and of the state."""
        gates, n = self.cell.gates, len(self.weights[0].listed())
        width = self.inputs.shape[2]
        if self.units < 1 or self.weights[0].w_hh.shape[0] % gates:
            raise InvalidProblemError(f"params[1]: shape is {self.weights[0].w_hh.shape}; expected ({gates} * units, hidden)")
        if self.units % self.heads:
            raise InvalidProblemError(f"num_heads: {self.heads}; expected a divisor of the {self.units} units")
        for i, w in enumerate(self.weights):
            rows = gates * self.units
            if i // len(self.directions):
                width = self.hidden * len(self.directions)
            wanted = {"w_ih": (rows, width), "w_hh": (rows, self.hidden // self.heads), "b_ih": (rows,), "b_hh": (rows,)}
            wanted["w_hr"] = (self.hidden, self.units)
            for name in Weights.NAMES:
                tensor = getattr(w, name)
                if tensor is not None and tensor.shape != wanted[name]:
                    place = i * n + [m for m in Weights.NAMES if getattr(w, m) is not None].index(name)
                    raise InvalidProblemError(f"params[{place}]: {name} has shape {tensor.shape}; expected {wanted[name]}")
            if w.w_hr is None and self.hidden != self.units:
                raise InvalidProblemError(f"params: no w_hr; expected one with w_hh of shape {w.w_hh.shape}")
            if w.peepholes is not None and w.peepholes.shape != (3, self.units):
                raise InvalidProblemError(f"peepholes[{i}]: shape is {w.peepholes.shape}; expected {(3, self.units)}")
        if self.hx is not None:
            names = STATES[self.cell.kind]
            if len(self.hx) != len(names):
                raise InvalidProblemError(f"hx: {len(self.hx)} tensors; expected {len(names)}: {', '.join(names)}")
            for i, (name, tensor) in enumerate(zip(names, self.hx, strict=True)):
                _expect(f"hx[{i}]", tensor, self.state_shape(name))
        if self.dropout_mask is not None:
            _expect("dropout_mask", self.dropout_mask, (self.num_layers - 1, *self.y_shape))

    def _ordered(self, w: Weights) -> Weights:
        """Weights with ONNX's order of gates in PyTorch's."""
        order = ONNX_ORDER[self.cell.kind]

        def moved(tensor: Any, back: bool = False) -> Any:
            if tensor is None or order == tuple(range(len(order))):
                return tensor
            return self._moved(tensor, order)

        peepholes = w.peepholes
        if peepholes is not None:
            peepholes = self._moved(peepholes, (0, 2, 1))
        return replace(w, w_ih=moved(w.w_ih), w_hh=moved(w.w_hh), b_ih=moved(w.b_ih), b_hh=moved(w.b_hh), peepholes=peepholes)

    def _moved(self, tensor: TensorRef, order: Sequence[int]) -> TensorMut:
        """The blocks of a tensor's first axis in another order."""
        made = self.do.rows(tensor.shape, tensor.kind)
        n = tensor.shape[0] // len(order)
        self.do.move([(slab(tensor, 0, o * n, (o + 1) * n), slab(made, 0, i * n, (i + 1) * n)) for i, o in enumerate(order)])
        return made

    @property
    def y_shape(self) -> tuple[int, ...]:
        """The shape of a layer's hidden states."""
        width = len(self.directions) * self.hidden
        if self.one_step:
            return (self.batch, width) if self.whole else (width,)
        if not self.whole:
            return (self.steps, width)
        return (self.batch, self.steps, width) if self.batch_first else (self.steps, self.batch, width)

    def check_gradients(self, dy: Given, dlast: Sequence[Given], y: TensorRef, reserve: Sequence[TensorRef]) -> None:
        """Raise unless what a backward pass is given is what a forward pass gives."""
        for name, tensor in (("dy", dy), ("y", y)):
            if tensor is not None:
                _expect(name, tensor, self.y_shape)
        for n, tensor in zip(STATES[self.cell.kind], dlast, strict=True):
            if tensor is not None:
                _expect(f"d{n}_n", tensor, self.state_shape(n))
        each = len(self.directions) * (1 + bool(self.cell.further))
        count = each * self.num_layers + self.num_layers - 1
        if len(reserve) != count:
            raise InvalidProblemError(f"saved: {len(reserve)} tensors; expected the {count} that the forward pass gave")
        for i in range(each, len(reserve), each + 1):
            _expect(f"saved[{i}]", reserve[i], self.y_shape)

    def state_shape(self, name: str) -> tuple[int, ...]:
        """The shape of a state of all layers."""
        width = self.hidden if name == "h" else self.units
        cells = () if self.one_step else (self.num_layers * len(self.directions),)
        return (*cells, self.batch, width) if self.whole else (*cells, width)

    def state_of(self, tensor: TensorRef, number: int) -> Any:
        """The state of one direction of one layer, (batch, numbers)."""
        one = tensor if self.one_step else axis_at(tensor, 0, number)
        return one if self.whole else expanded_dims(one, (1,), 2)
