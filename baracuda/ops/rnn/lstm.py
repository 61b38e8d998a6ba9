"""Networks of LSTM layers, and their gradients."""

from __future__ import annotations

from typing import Any

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


@composed(**TENSORS, hx="list ... or none : T", peepholes="list ... : T")
def lstm(
    do: Steps,
    x: TensorRef,
    hx: Any,
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
    input_forget: bool = False,
    peepholes: Any = None,
    order: Order = "torch",
    saved: bool = False,
) -> Any:
    """A network of LSTM layers: (y, h_n, c_n), as `torch.lstm` and `torch.nn.LSTM` have it.

    At each step, of the gates i, f, g, o = w_ih x + b_ih + w_hh h + b_hh,

        c = sigmoid(f) * c + sigmoid(i) * tanh(g);  h = sigmoid(o) * tanh(c)

    and with w_hr, h is projected: h = w_hr (sigmoid(o) * tanh(c)). y is (steps, batch, directions * hidden); states have the
    shape (layers * directions, batch, numbers).

    Parameters
    ----------
    x
        (steps, batch, inputs), with batch_first (batch, steps, inputs); or (steps, inputs).
    hx
        (h0, c0), or None for zeros.
    params
        For each layer, and in it for each direction, w_ih (4 * units, inputs), w_hh (4 * units, hidden), with has_biases b_ih and
        b_hh (4 * units), with a projection w_hr (hidden, units), as `torch.nn.LSTM` lists them.
    lengths
        How many steps each row has: y is 0 beyond them, and the reverse direction begins at a row's own last one, as with packed
        sequences.
    dropout, train, key, dropout_mask
        In training, what goes from a layer to the next is dropped with this probability, as `dropout` does it with a key (that of
        layer l is rng_fold_in(key, l), and numbers are counted along steps, rows and units); or it is multiplied by a mask
        (layers - 1, steps, batch, numbers) and by 1 / (1 - dropout).
    direction
        "reverse" for one layer from the last step to the first.
    activations, activation_alpha, activation_beta, clip, input_forget, peepholes
        ONNX's: three activations, of the gates, of g and of c; what they are applied to is clipped; i is 1 - f; and for each
        layer and direction weights (3, units) of c in the gates i, f and o.
    order
        Of the gates in the weights: "torch" (i, f, g, o) or "onnx" (i, o, f, g; peepholes i, o, f).
    saved
        Whether y, h_n and c_n are followed by what `lstm_backward` reads.

    f16 and bf16 compute in f32, states between steps too. Raises `InvalidProblemError` for shapes that do not fit, and for
    dropout in training with neither a key nor a mask.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, w = np.ones((3, 1, 1)), np.ones((4, 1))
    >>> y, h, c = baracuda.lstm(x, None, [w, w], has_biases=False)
    >>> y[:, 0, 0].round(3).tolist()
    [0.37, 0.651, 0.789]
    """
    cell = Cell(
        "lstm", activations_of("lstm", activations, activation_alpha, activation_beta), clip, peepholes is not None, input_forget
    )
    network = network_of(
        do, cell, x, hx, params, has_biases=has_biases, num_layers=num_layers, dropout=dropout, train=train,
        bidirectional=bidirectional, batch_first=batch_first, lengths=lengths, dropout_mask=dropout_mask, key=key,
        direction=direction, order=order, peepholes=peepholes,
    )  # fmt: skip
    return results_of(network, saved=saved)


@composed(
    dy="... or none : T", **TENSORS, hx="list ... or none : T", peepholes="list ... : T", dh_n="... : T", dc_n="... : T",
    y="... : T", saved="list ...",
)  # fmt: skip
def lstm_backward(
    do: Steps,
    dy: Given,
    x: TensorRef,
    hx: Any,
    params: Any,
    has_biases: bool = True,
    num_layers: Positive = 1,
    dropout: Dropout = 0.0,
    train: bool = False,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    dh_n: Given = None,
    dc_n: Given = None,
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
    input_forget: bool = False,
    peepholes: Any = None,
    wrt: Wrt = None,
) -> tuple[Any, ...]:
    """The gradients of `lstm`'s x, hx and params, (dx, dh0, dc0, *dparams), given those of its results; `wrt` names some of them.

    y and saved (a list) are what `lstm` gave with saved=True; without them the forward pass is computed again. Where there are
    peepholes, their gradients follow the other params of their layer and direction.
    """
    cell = Cell(
        "lstm", activations_of("lstm", activations, activation_alpha, activation_beta), clip, peepholes is not None, input_forget
    )
    network = network_of(
        do, cell, x, hx, params, has_biases=has_biases, num_layers=num_layers, dropout=dropout, train=train,
        bidirectional=bidirectional, batch_first=batch_first, lengths=lengths, dropout_mask=dropout_mask, key=key,
        direction=direction, peepholes=peepholes,
    )  # fmt: skip
    return gradients_of(network, dy, (dh_n, dc_n), saved, y, wrt)
