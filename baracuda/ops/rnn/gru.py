"""Networks of GRU layers and of Elman's, and their gradients."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Positive, Wrt
from baracuda.ops.rnn.cells import Cell
from baracuda.ops.rnn.options import (
    TENSORS,
    Clip,
    Direction,
    Dropout,
    Names,
    Numbers,
    Order,
    activations_of,
    gradients_of,
    network_of,
    results_of,
)

Nonlinearity = Literal["tanh", "relu"]
_SAVED: dict[str, Any] = {"dh_n": "... : T", "y": "... : T", "saved": "list ..."}


def _gru(names: Names, alpha: Numbers, beta: Numbers, clip: float | None, linear_before_reset: bool) -> Cell:
    return Cell("gru", activations_of("gru", names, alpha, beta), clip, reset_after=linear_before_reset)


def rnn_cell_of(nonlinearity: str, names: Names, alpha: Numbers, beta: Numbers, clip: float | None) -> Cell:
    """Elman's cell with an activation of PyTorch's or of ONNX's."""
    chosen: Any = (nonlinearity,) if names is None else names
    return Cell("rnn", activations_of("rnn", chosen, alpha, beta), clip)


@composed(**TENSORS, hx="... or none : T")
def gru(
    do: Steps,
    x: TensorRef,
    hx: Given,
    params: Any,
    has_biases: bool = True,
    num_layers: Positive = 1,
    dropout: Dropout = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    lengths: Given = None,
    dropout_mask: Given = None,
    key: Given = None,
    direction: Direction = "forward",
    activations: Names = None,
    activation_alpha: Numbers = None,
    activation_beta: Numbers = None,
    clip: Clip = None,
    linear_before_reset: bool = True,
    order: Order = "torch",
    saved: bool = False,
) -> Any:
    """A network of GRU layers: (y, h_n), as `torch.gru` and `torch.nn.GRU` have it.

    At each step, with x_g = w_ih x + b_ih and p_g = w_hh h + b_hh for the gates r, z and n,

        r = sigmoid(x_r + p_r);  z = sigmoid(x_z + p_z);  n = tanh(x_n + r * p_n);  h = (1 - z) * n + z * h

    and with linear_before_reset=False, ONNX's default, p_n = w_hh (r * h) + b_hh and n = tanh(x_n + p_n). activations are two,
    of the gates and of n; order "onnx" has the gates z, r, n. All else, shapes too, is as in `lstm`, but that hx is one tensor.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, w = np.ones((3, 1, 1)), np.ones((3, 1))
    >>> y, h = baracuda.gru(x, None, [w, w], has_biases=False)
    >>> y[:, 0, 0].round(3).tolist()
    [0.205, 0.347, 0.452]
    """
    network = network_of(
        do, _gru(activations, activation_alpha, activation_beta, clip, linear_before_reset), x, hx, params, has_biases=has_biases,
        num_layers=num_layers, dropout=dropout, train=train, bidirectional=bidirectional, batch_first=batch_first,
        lengths=lengths, dropout_mask=dropout_mask, key=key, direction=direction, order=order,
    )  # fmt: skip
    return results_of(network, saved=saved)


@composed(dy="... or none : T", **TENSORS, hx="... or none : T", **_SAVED)
def gru_backward(
    do: Steps,
    dy: Given,
    x: TensorRef,
    hx: Given,
    params: Any,
    has_biases: bool = True,
    num_layers: Positive = 1,
    dropout: Dropout = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    dh_n: Given = None,
    y: Given = None,
    saved: Any = None,
    lengths: Given = None,
    dropout_mask: Given = None,
    key: Given = None,
    direction: Direction = "forward",
    activations: Names = None,
    activation_alpha: Numbers = None,
    activation_beta: Numbers = None,
    clip: Clip = None,
    linear_before_reset: bool = True,
    wrt: Wrt = None,
) -> tuple[Any, ...]:
    """The gradients of `gru`'s x, hx and params, (dx, dh0, *dparams), as `lstm_backward` has them."""
    network = network_of(
        do, _gru(activations, activation_alpha, activation_beta, clip, linear_before_reset), x, hx, params, has_biases=has_biases,
        num_layers=num_layers, dropout=dropout, train=train, bidirectional=bidirectional, batch_first=batch_first,
        lengths=lengths, dropout_mask=dropout_mask, key=key, direction=direction,
    )  # fmt: skip
    return gradients_of(network, dy, (dh_n,), saved, y, wrt)


@composed(**TENSORS, hx="... or none : T")
def rnn(
    do: Steps,
    x: TensorRef,
    hx: Given,
    params: Any,
    has_biases: bool = True,
    num_layers: Positive = 1,
    dropout: Dropout = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    nonlinearity: Nonlinearity = "tanh",
    lengths: Given = None,
    dropout_mask: Given = None,
    key: Given = None,
    direction: Direction = "forward",
    activations: Names = None,
    activation_alpha: Numbers = None,
    activation_beta: Numbers = None,
    clip: Clip = None,
    saved: bool = False,
) -> Any:
    """A network of Elman's layers: (y, h_n), as `torch.rnn_tanh`, `torch.rnn_relu` and `torch.nn.RNN` have it.

    h = tanh(w_ih x + b_ih + w_hh h + b_hh), or relu, or one of ONNX's activations. All else is as in `gru`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, w = np.ones((3, 1, 1)), np.ones((1, 1))
    >>> y, h = baracuda.rnn(x, None, [w, w], has_biases=False)
    >>> y[:, 0, 0].round(3).tolist()
    [0.762, 0.943, 0.96]
    """
    network = network_of(
        do, rnn_cell_of(nonlinearity, activations, activation_alpha, activation_beta, clip), x, hx, params, has_biases=has_biases,
        num_layers=num_layers, dropout=dropout, train=train, bidirectional=bidirectional, batch_first=batch_first,
        lengths=lengths, dropout_mask=dropout_mask, key=key, direction=direction,
    )  # fmt: skip
    return results_of(network, saved=saved)


@composed(dy="... or none : T", **TENSORS, hx="... or none : T", **_SAVED)
def rnn_backward(
    do: Steps,
    dy: Given,
    x: TensorRef,
    hx: Given,
    params: Any,
    has_biases: bool = True,
    num_layers: Positive = 1,
    dropout: Dropout = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    nonlinearity: Nonlinearity = "tanh",
    dh_n: Given = None,
    y: Given = None,
    saved: Any = None,
    lengths: Given = None,
    dropout_mask: Given = None,
    key: Given = None,
    direction: Direction = "forward",
    activations: Names = None,
    activation_alpha: Numbers = None,
    activation_beta: Numbers = None,
    clip: Clip = None,
    wrt: Wrt = None,
) -> tuple[Any, ...]:
    """The gradients of `rnn`'s x, hx and params, (dx, dh0, *dparams), as `lstm_backward` has them."""
    network = network_of(
        do, rnn_cell_of(nonlinearity, activations, activation_alpha, activation_beta, clip), x, hx, params, has_biases=has_biases,
        num_layers=num_layers, dropout=dropout, train=train, bidirectional=bidirectional, batch_first=batch_first,
        lengths=lengths, dropout_mask=dropout_mask, key=key, direction=direction,
    )  # fmt: skip
    return gradients_of(network, dy, (dh_n,), saved, y, wrt)
