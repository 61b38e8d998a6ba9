"""Cells: one step of a layer, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.rnn.cells import Cell
from baracuda.ops.rnn.gru import Nonlinearity, rnn_cell_of
from baracuda.ops.rnn.network import Network
from baracuda.ops.rnn.options import activations_of

_WEIGHTS: dict[str, Any] = {"w_ih": "... : T", "w_hh": "... : T", "b_ih": "... : T", "b_hh": "... : T"}
_STATE: dict[str, Any] = {"x": "... : T float", "hx": "... or none : T", **_WEIGHTS}
_STATES: dict[str, Any] = {"x": "... : T float", "hx": "list ... or none : T", **_WEIGHTS}


def _network(do: Steps, cell: Cell, x: TensorRef, hx: Sequence[TensorRef] | None, *weights: Given) -> Network:
    params = [w for w in weights if w is not None]
    return Network(do, cell, x, params, hx, len(params) == 4, 1, (False,), batch_first=False, one_step=True)


def _gradients(network: Network, dlast: Sequence[Given], wrt: Wrt) -> tuple[Any, ...]:
    weights = ("w_ih", "w_hh", "b_ih", "b_hh")[: len(network.params)]
    names = chosen(wrt, ("x", "hx", *weights))
    y, _, saved = network.forward(saves=True)
    wanted = [n if n in ("x", "hx") else "params" for n in names]
    found = network.backward(None, dlast, y, saved, wanted)
    found |= dict(zip(weights, found["params"], strict=False))
    return tuple(t for n in names for t in (found[n] if isinstance(found[n], list) else [found[n]]))


@composed(**_STATES)
def lstm_cell(
    do: Steps, x: TensorRef, hx: Any, w_ih: TensorRef, w_hh: TensorRef, b_ih: Given = None, b_hh: Given = None
) -> tuple[Any, ...]:
    """One step of an LSTM, (h, c), of x (batch, inputs) and hx = (h, c), each (batch, units); or without the batch.

    Weights and formula are those of `lstm`, and so are the bits. hx None stands for zeros.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> one, w = np.ones((1, 1), np.float32), np.ones((4, 1), np.float32)
    >>> h, c = baracuda.lstm_cell(one, [one, one], w, w)
    >>> round(float(h[0, 0]), 3), round(float(c[0, 0]), 3)
    (0.827, 1.73)
    """
    cell = Cell("lstm", activations_of("lstm", None, None, None))
    return tuple(_network(do, cell, x, hx, w_ih, w_hh, b_ih, b_hh).forward()[1])


@composed(dh="... : T", dc="... or none : T", **_STATES)
def lstm_cell_backward(
    do: Steps, dh: TensorRef, dc: Given, x: TensorRef, hx: Any, w_ih: TensorRef, w_hh: TensorRef, b_ih: Given = None,
    b_hh: Given = None, *, wrt: Wrt = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of `lstm_cell`'s x, hx (two), w_ih, w_hh, b_ih and b_hh, given those of h and c."""
    cell = Cell("lstm", activations_of("lstm", None, None, None))
    return _gradients(_network(do, cell, x, hx, w_ih, w_hh, b_ih, b_hh), (dh, dc), wrt)


@composed(**_STATE)
def gru_cell(do: Steps, x: TensorRef, hx: Given, w_ih: TensorRef, w_hh: TensorRef, b_ih: Given = None, b_hh: Given = None) -> Any:
    """One step of a GRU: h, of x (batch, inputs) and hx (batch, units); or without the batch. As `gru`."""
    cell = Cell("gru", activations_of("gru", None, None, None))
    return _network(do, cell, x, None if hx is None else [hx], w_ih, w_hh, b_ih, b_hh).forward()[1][0]


@composed(dy="... : T", **_STATE)
def gru_cell_backward(
    do: Steps, dy: TensorRef, x: TensorRef, hx: Given, w_ih: TensorRef, w_hh: TensorRef, b_ih: Given = None, b_hh: Given = None,
    *, wrt: Wrt = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of `gru_cell`'s x, hx, w_ih, w_hh, b_ih and b_hh."""
    cell = Cell("gru", activations_of("gru", None, None, None))
    return _gradients(_network(do, cell, x, None if hx is None else [hx], w_ih, w_hh, b_ih, b_hh), (dy,), wrt)


@composed(**_STATE)
def rnn_cell(
    do: Steps, x: TensorRef, hx: Given, w_ih: TensorRef, w_hh: TensorRef, b_ih: Given = None, b_hh: Given = None, *,
    nonlinearity: Nonlinearity = "tanh",
) -> Any:  # fmt: skip
    """One step of Elman's RNN: h, of x (batch, inputs) and hx (batch, units); or without the batch. As `rnn`."""
    cell = rnn_cell_of(nonlinearity, None, None, None, None)
    return _network(do, cell, x, None if hx is None else [hx], w_ih, w_hh, b_ih, b_hh).forward()[1][0]


@composed(dy="... : T", **_STATE)
def rnn_cell_backward(
    do: Steps, dy: TensorRef, x: TensorRef, hx: Given, w_ih: TensorRef, w_hh: TensorRef, b_ih: Given = None, b_hh: Given = None,
    *, nonlinearity: Nonlinearity = "tanh", wrt: Wrt = None,
) -> tuple[Any, ...]:  # fmt: skip
    """The gradients of `rnn_cell`'s x, hx, w_ih, w_hh, b_ih and b_hh."""
    cell = rnn_cell_of(nonlinearity, None, None, None, None)
    return _gradients(_network(do, cell, x, None if hx is None else [hx], w_ih, w_hh, b_ih, b_hh), (dy,), wrt)
