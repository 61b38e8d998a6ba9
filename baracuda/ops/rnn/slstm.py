"""Networks of sLSTM layers, the scalar memory of xLSTM, and their gradients."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Positive, Wrt
from baracuda.ops.rnn.cells import Cell
from baracuda.ops.rnn.options import TENSORS, Direction, gradients_of, network_of, results_of

ForgetGate = Literal["sigmoid", "exp"]


def _options(forget_gate: str, num_heads: int, **words: Any) -> dict[str, Any]:
    cell = Cell("slstm", (), exponential=forget_gate == "exp")
    return {"cell": cell, "heads": num_heads, "dropout": 0.0, "train": False, "dropout_mask": None, "key": None, **words}


@composed(**{k: TENSORS[k] for k in ("x", "params", "lengths")}, hx="list ... or none : T")
def slstm(
    do: Steps,
    x: TensorRef,
    hx: Any,
    params: Any,
    has_biases: bool = True,
    num_layers: Positive = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    num_heads: Positive = 1,
    forget_gate: ForgetGate = "sigmoid",
    lengths: Given = None,
    direction: Direction = "forward",
    saved: bool = False,
) -> Any:
    """A network of sLSTM layers (Beck et al., xLSTM, 2024): (y, h_n, c_n, n_n, m_n).

    At each step, of the gates i, f, g, o = w_ih x + b_ih + w_hh h + b_hh, with F = log(sigmoid(f)), or f where the forget gate
    is "exp",

        M = max(F + m, i);  c = e**(F + m - M) * c + e**(i - M) * tanh(g);  n = e**(F + m - M) * n + e**(i - M);  m = M
        h = sigmoid(o) * c / n

    hx is (h, c, n, m); without it h, c and n are 0 and m is -inf. With heads, the hidden state of each is mixed within it alone:
    w_hh is (4 * units, units / num_heads). All else, shapes too, is as in `lstm`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, w = np.ones((3, 1, 1)), np.ones((4, 1))
    >>> baracuda.slstm(x, None, [w, w], has_biases=False)[0][:, 0, 0].round(3).tolist()
    [0.557, 0.715, 0.763]
    """
    options = _options(
        forget_gate, num_heads, has_biases=has_biases, num_layers=num_layers, bidirectional=bidirectional,
        batch_first=batch_first, lengths=lengths, direction=direction,
    )  # fmt: skip
    return results_of(network_of(do, x=x, hx=hx, params=params, **options), saved=saved)


@composed(
    dy="... or none : T", **{k: TENSORS[k] for k in ("x", "params", "lengths")}, hx="list ... or none : T", dh_n="... : T",
    dc_n="... : T", dn_n="... : T", dm_n="... : T", y="... : T", saved="list ...",
)  # fmt: skip
def slstm_backward(
    do: Steps,
    dy: Given,
    x: TensorRef,
    hx: Any,
    params: Any,
    has_biases: bool = True,
    num_layers: Positive = 1,
    bidirectional: bool = False,
    batch_first: bool = False,
    *,
    num_heads: Positive = 1,
    forget_gate: ForgetGate = "sigmoid",
    dh_n: Given = None,
    dc_n: Given = None,
    dn_n: Given = None,
    dm_n: Given = None,
    y: Given = None,
    saved: Any = None,
    lengths: Given = None,
    direction: Direction = "forward",
    wrt: Wrt = None,
) -> tuple[Any, ...]:
    """The gradients of `slstm`'s x, hx (four) and params, as `lstm_backward` has them."""
    options = _options(
        forget_gate, num_heads, has_biases=has_biases, num_layers=num_layers, bidirectional=bidirectional,
        batch_first=batch_first, lengths=lengths, direction=direction,
    )  # fmt: skip
    network = network_of(do, x=x, hx=hx, params=params, **options)
    return gradients_of(network, dy, (dh_n, dc_n, dn_n, dm_n), saved, y, wrt)
