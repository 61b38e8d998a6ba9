"""Recurrent layers as ONNX, PyTorch and the xLSTM paper define them, step by step and row by row, on tensors of float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Tensor = torch.Tensor

ACTIVATIONS: dict[str, Callable[[Tensor, float, float], Tensor]] = {
    "sigmoid": lambda x, a, b: x.sigmoid(),
    "tanh": lambda x, a, b: x.tanh(),
    "relu": lambda x, a, b: x.relu(),
    "affine": lambda x, a, b: a * x + b,
    "leaky_relu": lambda x, a, b: torch.where(x < 0, a * x, x),
    "thresholded_relu": lambda x, a, b: torch.where(x >= a, x, torch.zeros_like(x)),
    "scaled_tanh": lambda x, a, b: a * torch.tanh(b * x),
    "hard_sigmoid": lambda x, a, b: (a * x + b).clamp(0, 1),
    "elu": lambda x, a, b: torch.where(x < 0, a * (x.exp() - 1), x),
    "softsign": lambda x, a, b: x / (1 + x.abs()),
    "softplus": lambda x, a, b: (1 + x.exp()).log(),
}


def layer(
    kind: str,
    x: Tensor,
    state: Sequence[Tensor],
    w: Mapping[str, Any],
    lengths: Sequence[int],
    *,
    reverse: bool = False,
    activations: Sequence[tuple[str, float, float]] = (),
    clip: float | None = None,
    input_forget: bool = False,
    reset_after: bool = True,
    heads: int = 1,
    exponential: bool = False,
) -> tuple[Tensor, list[Tensor]]:
    """One direction of one layer: x (steps, batch, inputs), and what it gives, y and the last state; gates in PyTorch's order."""

    def act(number: int, z: Tensor, clipped: bool = True) -> Tensor:
        name, alpha, beta = activations[number]
        return ACTIVATIONS[name](z.clamp(-clip, clip) if clip is not None and clipped else z, alpha, beta)

    steps, batch, _ = x.shape
    rows, last = [], []
    for b in range(batch):
        own = [s[b] for s in state]
        ys: dict[int, Tensor] = {}
        for s in range(lengths[b]):
            t = lengths[b] - 1 - s if reverse else s
            h = own[0]
            xs = (w["w_ih"] @ x[t, b] + w["b_ih"]).chunk(w["gates"])
            if heads == 1:
                hs = (w["w_hh"] @ h + w["b_hh"]).chunk(w["gates"])
            else:
                mixed = w["w_hh"].reshape(w["gates"], heads, -1, w["w_hh"].shape[1])
                hs = (torch.einsum("ghuk,hk->ghu", mixed, h.reshape(heads, -1)).reshape(-1) + w["b_hh"]).chunk(w["gates"])
            if kind == "rnn":
                own = [act(0, xs[0] + hs[0])]
            elif kind == "gru":
                r, z = act(0, xs[0] + hs[0]), act(0, xs[1] + hs[1])
                if reset_after:
                    n = act(1, xs[2] + r * hs[2])
                else:
                    units = h.shape[0]
                    n = act(1, xs[2] + w["w_hh"][2 * units :] @ (r * h) + w["b_hh"][2 * units :])
                own = [(1 - z) * n + z * h]
            elif kind == "lstm":
                i, f, g, o = (a + c for a, c in zip(xs, hs, strict=True))
                p = w.get("peepholes")
                c = own[1]
                if p is not None:
                    i, f = i + p[0] * c, f + p[1] * c
                forget = act(0, f)
                take = 1 - forget if input_forget else act(0, i)
                c = forget * c + take * act(1, g)
                if p is not None:
                    o = o + p[2] * c
                u = act(0, o) * act(2, c, clipped=False)
                own = [w["w_hr"] @ u if w.get("w_hr") is not None else u, c]
            else:
                i, f, g, o = (a + c for a, c in zip(xs, hs, strict=True))
                _, c, n, m = own
                log_f = f if exponential else -torch.log1p((-f).exp())
                most = torch.maximum(log_f + m, i)
                keep, take = (log_f + m - most).exp(), (i - most).exp()
                c, n = keep * c + take * g.tanh(), keep * n + take
                own = [o.sigmoid() * c / n, c, n, most]
            ys[t] = own[0]
        nothing = torch.zeros_like(state[0][b])
        rows.append(torch.stack([ys.get(t, nothing) for t in range(steps)]))
        last.append(own)
    return torch.stack(rows, 1), [torch.stack(s) for s in zip(*last, strict=True)]
