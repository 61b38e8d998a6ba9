"""Cells of recurrent networks: a step is a layer of one step; and the fused steps that PyTorch's compiler asks a GPU for."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.networks import GRU, LSTM, network
from baracuda.torch.registry import chooses, serves

aten = torch.ops.aten


def _above(mode: int, overload: Any) -> None:
    def cell(x: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        states = [s[None] for s in (hx if mode == LSTM else [hx])]
        params = [w_ih, w_hh] if b_ih is None else [w_ih, w_hh, b_ih, b_hh]
        _, *last = network(mode, x[None], states, params, b_ih is not None, 1, 0.0, False, False, [])
        return tuple(s[0] for s in last) if mode == LSTM else last[0][0]

    chooses(overload)(cell)


for _mode, _overload in enumerate(
    (aten.rnn_relu_cell.default, aten.rnn_tanh_cell.default, aten.lstm_cell.default, aten.gru_cell.default)
):
    _above(_mode, _overload)
assert (_mode, LSTM) == (GRU, 2)


def _with(gates: Any, bias: Any) -> Any:
    return gates if bias is None else baracuda.add(gates, bias)


@serves(aten._thnn_fused_lstm_cell.default)
def fused_lstm(of_x: Any, of_h: Any, c: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    gates = baracuda.add(_with(of_h, b_hh), _with(of_x, b_ih))
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = baracuda.sigmoid(i), baracuda.sigmoid(f), baracuda.tanh(g), baracuda.sigmoid(o)
    c = baracuda.add(baracuda.mul(f, c), baracuda.mul(i, g))
    return baracuda.mul(o, baracuda.tanh(c)), c, baracuda.concat([i, f, g, o], 1)


@serves(aten._thnn_fused_lstm_cell_backward_impl.default)
def fused_lstm_backward(dh: Any, dc: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool) -> Any:
    i, f, g, o = workspace.chunk(4, 1)
    t = baracuda.tanh(cy)
    if dh is not None:
        of_h = _tanh(baracuda.mul(dh, o), t)
        dc, d_o = of_h if dc is None else baracuda.add(dc, of_h), _sigmoid(baracuda.mul(dh, t), o)
    else:
        d_o = baracuda.full(tuple(o.shape), 0, o.dtype, like=o)
    di, dg = _sigmoid(baracuda.mul(dc, g), i), _tanh(baracuda.mul(dc, i), g)
    gates = baracuda.concat([di, _sigmoid(baracuda.mul(dc, cx), f), dg, d_o], 1)
    return gates, baracuda.mul(dc, f), baracuda.sum(gates, 0) if has_bias else None


def _sigmoid(dy: Any, y: Any) -> Any:
    return baracuda.sigmoid_backward(dy, y, y)


def _tanh(dy: Any, y: Any) -> Any:
    return baracuda.tanh_backward(dy, y, y)


@serves(aten._thnn_fused_gru_cell.default)
def fused_gru(of_x: Any, of_h: Any, h: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
    x_r, x_z, x_n = _with(of_x, b_ih).chunk(3, 1)
    h_r, h_z, h_n = _with(of_h, b_hh).chunk(3, 1)
    r, z = baracuda.sigmoid(baracuda.add(h_r, x_r)), baracuda.sigmoid(baracuda.add(h_z, x_z))
    n = baracuda.tanh(baracuda.add(x_n, baracuda.mul(h_n, r)))
    y = baracuda.add(baracuda.mul(baracuda.sub(h, n), z), n)
    return y, baracuda.concat([r, z, n, h, h_n], 1)


@serves(aten._thnn_fused_gru_cell_backward.default)
def fused_gru_backward(dh: Any, workspace: Any, has_bias: bool) -> Any:
    r, z, n, h, h_n = workspace.chunk(5, 1)
    of_h = baracuda.mul(dh, z)
    dn = _tanh(baracuda.sub(dh, of_h), n)
    dr, dz = _sigmoid(baracuda.mul(dn, h_n), r), _sigmoid(baracuda.mul(dh, baracuda.sub(h, n)), z)
    of_gates = baracuda.concat([dr, dz, dn], 1), baracuda.concat([dr, dz, baracuda.mul(dn, r)], 1)
    return *of_gates, of_h, *((baracuda.sum(g, 0) for g in of_gates) if has_bias else (None, None))
