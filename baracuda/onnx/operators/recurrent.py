"""Recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.onnx.operators.registry import Floats, Strings, operator
from baracuda.onnx.operators.values import Tensor

Direction = Literal["forward", "reverse", "bidirectional"]


def _network(
    function: Callable[..., Any],
    states: int,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor,
    lengths: Tensor,
    initial: tuple[Tensor, ...],
    *,
    activation_alpha: Any,
    activation_beta: Any,
    activations: Any,
    clip: Any,
    direction: str,
    layout: int,
    **options: Any,
) -> tuple[Tensor, ...]:
    """ONNX's layout of inputs and results around one of our networks."""
    directions = w.shape[0]
    hidden = r.shape[2]
    if layout:
        x = baracuda.permute(x, (1, 0, 2))
        initial = tuple(None if s is None else baracuda.permute(s, (1, 0, 2)) for s in initial)
    steps, batch = x.shape[:2]
    params = []
    for d in range(directions):
        params += [baracuda.select(w, 0, d), baracuda.select(r, 0, d)]
        if b is not None:
            params += baracuda.split(baracuda.select(b, 0, d), b.shape[1] // 2, 0)
    if any(s is not None for s in initial):
        given = tuple(baracuda.zeros((directions, batch, hidden), np.dtype(x.dtype), like=x) if s is None else s for s in initial)
        hx: Any = given if states > 1 else given[0]
    else:
        hx = None
    if activations is not None:
        options["activations"] = tuple(a.lower() for a in activations)
        options["activation_alpha"] = activation_alpha
        options["activation_beta"] = activation_beta
    y, *last = function(
        x,
        hx,
        params,
        has_biases=b is not None,
        bidirectional=direction == "bidirectional",
        direction="reverse" if direction == "reverse" else "forward",
        lengths=None if lengths is None else baracuda.cast(lengths, dtype=ElementKind.S64),
        clip=clip,
        **options,
    )
    y = baracuda.permute(baracuda.reshape(y, (steps, batch, directions, hidden)), (0, 2, 1, 3))
    if layout:
        y = baracuda.permute(y, (2, 0, 1, 3))
        last = [baracuda.permute(s, (1, 0, 2)) for s in last]
    return (y, *last)


@operator("RNN", since=7)
def rnn(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor = None, lengths: Tensor = None, initial_h: Tensor = None, *,
    activation_alpha: Floats | None = None, activation_beta: Floats | None = None, activations: Strings | None = None,
    clip: float | None = None, direction: Direction = "forward", hidden_size: int | None = None, layout: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`baracuda.rnn`."""
    return _network(
        baracuda.rnn, 1, x, w, r, b, lengths, (initial_h,), activation_alpha=activation_alpha, activation_beta=activation_beta,
        activations=activations, clip=clip, direction=direction, layout=layout,
    )  # fmt: skip


@operator("GRU", since=7)
def gru(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor = None, lengths: Tensor = None, initial_h: Tensor = None, *,
    activation_alpha: Floats | None = None, activation_beta: Floats | None = None, activations: Strings | None = None,
    clip: float | None = None, direction: Direction = "forward", hidden_size: int | None = None, layout: int = 0,
    linear_before_reset: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`baracuda.gru`."""
    return _network(
        baracuda.gru, 1, x, w, r, b, lengths, (initial_h,), activation_alpha=activation_alpha, activation_beta=activation_beta,
        activations=activations, clip=clip, direction=direction, layout=layout,
        linear_before_reset=linear_before_reset, order="onnx",
    )  # fmt: skip


@operator("LSTM", since=7)
def lstm(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor = None, lengths: Tensor = None, initial_h: Tensor = None,
    initial_c: Tensor = None, p: Tensor = None, *,
    activation_alpha: Floats | None = None, activation_beta: Floats | None = None, activations: Strings | None = None,
    clip: float | None = None, direction: Direction = "forward", hidden_size: int | None = None, input_forget: bool = False,
    layout: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`baracuda.lstm`."""
    peepholes = None
    if p is not None:
        peepholes = [baracuda.reshape(baracuda.select(p, 0, d), (3, r.shape[2])) for d in range(p.shape[0])]
    return _network(
        baracuda.lstm, 2, x, w, r, b, lengths, (initial_h, initial_c), activation_alpha=activation_alpha,
        activation_beta=activation_beta, activations=activations, clip=clip, direction=direction, layout=layout,
        input_forget=input_forget, peepholes=peepholes, order="onnx",
    )  # fmt: skip
