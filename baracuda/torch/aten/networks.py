"""Recurrent networks: each layer in one function, on every device, for every element and with or without packed sequences."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import torch

import baracuda
from baracuda.torch.registry import chooses, serves
from baracuda.torch.write import write

aten = torch.ops.aten


class Kind(NamedTuple):
    """What one of cuDNN's modes is called here, and how many rows a direction's saved tensors have."""

    name: str
    saved: tuple[int, ...]
    own: dict[str, Any]

    def forward(self) -> Any:
        return getattr(baracuda, self.name)

    def backward(self) -> Any:
        return getattr(baracuda, f"{self.name}_backward")


LSTM, GRU = 2, 3
KINDS = (
    Kind("rnn", (1,), {"nonlinearity": "relu"}),
    Kind("rnn", (1,), {"nonlinearity": "tanh"}),
    Kind("lstm", (4, 1), {}),
    Kind("gru", (4,), {}),
)


def network(
    mode: int,
    x: Any,
    states: list[Any],
    params: Any,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: list[int],
) -> tuple[Any, ...]:
    """y and the last states, layer by layer; dropout between layers is PyTorch's own op."""
    kind = x.device.type
    if torch.is_autocast_enabled(kind):
        element = torch.get_autocast_dtype(kind)
        x, states, params = x.to(element), [s.to(element) for s in states], [p.to(element) for p in params]
    projected = mode == LSTM and states[0].shape[2] != states[1].shape[2]
    hidden, projection = states[-1].shape[2], states[0].shape[2] if projected else 0
    each, directions = (4 if has_biases else 2) + projected, 2 if bidirectional else 1
    saved = torch.is_grad_enabled() and any(t.requires_grad for t in (x, *states, *params))
    last: list[tuple[Any, ...]] = []
    for layer in range(num_layers):
        h, c = (*(s[layer * directions : (layer + 1) * directions] for s in states), None)[:2]
        weights = params[layer * directions * each : (layer + 1) * directions * each]
        if layer and dropout and train:
            x = torch.dropout(x, dropout, True)
        x, *now = aten._cudnn_rnn(
            x, weights, each, None, h, c, mode, hidden, projection, 1, False, 0.0, saved, bidirectional, batch_sizes, None
        )[: 1 + len(states)]
        last.append(tuple(now))
    return x, *(of[0] if num_layers == 1 else torch.cat(of) for of in zip(*last, strict=True))


def _above(mode: int, of_input: Any, of_data: Any) -> None:
    lstm = mode == LSTM

    def whole(
        x: Any,
        hx: Any,
        params: Any,
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Any:
        states = list(hx) if lstm else [hx]
        x = x.transpose(0, 1) if batch_first else x
        y, *last = network(mode, x, states, params, has_biases, num_layers, dropout, train, bidirectional, [])
        return y.transpose(0, 1) if batch_first else y, *last

    def packed(
        x: Any,
        batch_sizes: Any,
        hx: Any,
        params: Any,
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> Any:
        states, sizes = list(hx) if lstm else [hx], batch_sizes.tolist()
        return network(mode, x, states, params, has_biases, num_layers, dropout, train, bidirectional, sizes)

    chooses(of_input)(whole)
    chooses(of_data)(packed)


_above(0, aten.rnn_relu.input, aten.rnn_relu.data)
_above(1, aten.rnn_tanh.input, aten.rnn_tanh.data)
_above(LSTM, aten.lstm.input, aten.lstm.data)
_above(GRU, aten.gru.input, aten.gru.data)


class _Packed:
    """Rows of sequences of several lengths, step after step of those that are not over, and the same with all steps."""

    def __init__(self, batch_sizes: Any, like: Any) -> None:
        sizes = torch.tensor([int(n) for n in batch_sizes])
        steps, batch = len(sizes), int(sizes[0])
        begins = torch.cumsum(sizes, 0) - sizes
        rows = torch.arange(batch)
        there = rows < sizes[:, None]
        total = int(sizes.sum())
        self.shape = steps, batch
        #: For each step and sequence, which packed row is read: past the sequence's end a row of zeros that follows them.
        self.read = torch.where(there, begins[:, None] + rows, total).reshape(-1).to(like.device)
        self.write = (torch.arange(steps)[:, None] * batch + rows)[there].to(like.device)
        self.lengths = there.sum(0).to(like.device)

    def padded(self, x: Any) -> Any:
        zeros = baracuda.full((1, *x.shape[1:]), 0, x.dtype, like=x)
        return baracuda.index_select(baracuda.concat([x, zeros], 0), self.read, 0).view(*self.shape, *x.shape[1:])

    def packed(self, x: Any) -> Any:
        return baracuda.index_select(x.reshape(-1, x.shape[-1]), self.write, 0)


@serves(aten._pack_padded_sequence.default)
def pack(x: Any, lengths: Any, batch_first: bool) -> Any:
    """Sequences of falling lengths, and how many there are at each step."""
    found = lengths.tolist()
    if any(a < b for a, b in itertools.pairwise(found)) or not found or found[-1] < 1:
        raise baracuda.InvalidProblemError(f"lengths: {found}; expected at least 1, in falling order")
    x = x.transpose(0, 1) if batch_first else x
    sizes = torch.tensor([sum(n > step for n in found) for step in range(found[0])])
    rows = _Packed(sizes, x).write
    return baracuda.index_select(x.reshape(-1, *x.shape[2:]), rows, 0), sizes


@serves(aten._pack_padded_sequence_backward.default)
def pack_backward(dy: Any, sizes: Any, batch_sizes: Any, batch_first: bool) -> Any:
    steps, batch = (sizes[1], sizes[0]) if batch_first else (sizes[0], sizes[1])
    dx = baracuda.full((steps, batch, *sizes[2:]), 0, dy.dtype, like=dy)
    write(dx[: len(batch_sizes)], _Packed(batch_sizes, dy).padded(dy))
    return dx.transpose(0, 1) if batch_first else dx


def _options(
    mode: int, projection: int, stride: int, num_layers: int, batch_first: bool, dropout: float, train: bool, bidirectional: bool
) -> dict[str, Any]:
    if dropout and train and num_layers > 1:
        raise baracuda.UnsupportedError(f"layers in one function: dropout={dropout} between them; expected 0")
    return {
        "has_biases": stride - bool(projection) == 4,
        "num_layers": num_layers,
        "bidirectional": bidirectional,
        "batch_first": batch_first,
        **KINDS[mode].own,
    }


@serves(aten._cudnn_rnn.default)
def layers(
    x: Any,
    weight: Any,
    stride: int,
    buffer: Any,
    hx: Any,
    cx: Any,
    mode: int,
    hidden_size: int,
    proj_size: int,
    num_layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: Any,
    dropout_state: Any,
) -> Any:
    """The fourth result is what the backward reads, in training; the fifth, a buffer of all weights, is empty."""
    options = _options(mode, proj_size, stride, num_layers, batch_first, dropout, train, bidirectional)
    pack = _Packed(batch_sizes, x) if batch_sizes else None
    if pack is not None:
        x, options["lengths"] = pack.padded(x), pack.lengths
    states = (hx, cx) if mode == LSTM else hx
    y, h_n, *rest = KINDS[mode].forward()(x, states, list(weight), **options, saved=train)
    c_n = rest.pop(0) if mode == LSTM else x.new_empty(0)
    reserve = baracuda.concat(rest, 2) if len(rest) > 1 else rest[0] if rest else x.new_empty(0)
    return y if pack is None else pack.packed(y), h_n, c_n, reserve, x.new_empty(0)


@serves(aten._cudnn_rnn_backward.default)
def layers_backward(
    x: Any,
    weight: Any,
    stride: int,
    buffer: Any,
    hx: Any,
    cx: Any,
    y: Any,
    dy: Any,
    dh_n: Any,
    dc_n: Any,
    mode: int,
    hidden_size: int,
    proj_size: int,
    num_layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: Any,
    dropout_state: Any,
    reserve: Any,
    output_mask: Any,
) -> Any:
    options = _options(mode, proj_size, stride, num_layers, batch_first, dropout, train, bidirectional)
    dy = baracuda.full(tuple(y.shape), 0, y.dtype, like=y) if dy is None else dy
    pack = _Packed(batch_sizes, x) if batch_sizes else None
    if pack is not None:
        x, y, dy = pack.padded(x), pack.padded(y), pack.padded(dy)
        options["lengths"] = pack.lengths
    if mode == LSTM:
        states, options["dc_n"], count = (hx, cx), dc_n, 3
    else:
        states, count = hx, 2
    rows = KINDS[mode].saved * (num_layers * (2 if bidirectional else 1))
    saved = [part.contiguous() for part in reserve.split(rows, 2)] if len(rows) > 1 else [reserve]
    found = KINDS[mode].backward()(dy, x, states, list(weight), **options, y=y, saved=saved, dh_n=dh_n)
    dx, dh, dc, params = found[0], found[1], found[2] if mode == LSTM else None, list(found[count:])
    if options["has_biases"]:  # one tensor is the gradient of both biases; autograd may add to either
        params[3::stride] = [baracuda.positive(p) for p in params[3::stride]]
    return dx if pack is None else pack.packed(dx), dh, dc, params
