"""Recurrent layers, which PyTorch computes in one function on a CPU: LSTMs of one layer and direction."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten
LSTM = 2


@serves(aten.mkldnn_rnn_layer.default)
def layer(
    x: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    h: Any,
    c: Any,
    reverse: bool,
    batch_sizes: Any,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> Any:
    """x has time first, and goes through one direction; the last result is what the backward reads."""
    if mode != LSTM or batch_sizes:
        raise baracuda.UnsupportedError(
            f"recurrent layer of mode {mode}, batch sizes {batch_sizes}; expected an LSTM, not packed"
        )
    params, direction = _params(w_ih, w_hh, b_ih, b_hh, has_biases), "reverse" if reverse else "forward"
    y, h_n, c_n, *saved = baracuda.lstm(x, _states(h, c), params, has_biases, direction=direction, saved=True)
    return y, h_n.view(h.shape), c_n.view(c.shape), baracuda.concat(saved, 2)


def _states(h: Any, c: Any) -> tuple[Any, Any]:
    """States of one layer and direction, which PyTorch gives with that axis or without."""
    return h.reshape(1, *h.shape[-2:]), c.reshape(1, *c.shape[-2:])


def _params(w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, has_biases: bool) -> list[Any]:
    return [w_ih, w_hh, b_ih, b_hh] if has_biases else [w_ih, w_hh]


@serves(aten.mkldnn_rnn_layer_backward.default)
def layer_backward(
    x: Any,
    w_ih: Any,
    w_hh: Any,
    b_ih: Any,
    b_hh: Any,
    h: Any,
    c: Any,
    y: Any,
    h_n: Any,
    c_n: Any,
    dy: Any,
    dh_n: Any,
    dc_n: Any,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Any,
    batch_first: bool,
    saved: Any,
) -> Any:
    params, direction = _params(w_ih, w_hh, b_ih, b_hh, has_biases), "reverse" if reverse else "forward"
    gates, states = saved[:, :, :4], saved[:, :, 4:]
    if dy is None:
        dy = baracuda.full(tuple(y.shape), 0, y.dtype, like=y)
    dx, dh, dc, *dparams = baracuda.lstm_backward(
        dy,
        x,
        _states(h, c),
        params,
        has_biases,
        direction=direction,
        y=y,
        saved=[gates, states],
        dh_n=None if dh_n is None else dh_n.reshape(1, *h.shape[-2:]),
        dc_n=None if dc_n is None else dc_n.reshape(1, *c.shape[-2:]),
    )
    if has_biases:  # one tensor is the gradient of both biases; autograd may add to either
        dparams[3] = baracuda.positive(dparams[3])
    else:
        dparams += [baracuda.full(tuple(b.shape), 0, b.dtype, like=b) for b in (b_ih, b_hh)]
    return dx, *dparams, dh.view(h.shape), dc.view(c.shape)
