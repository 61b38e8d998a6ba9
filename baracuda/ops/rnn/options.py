"""What functions of recurrent networks share: their words, and how a call becomes a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from baracuda.core.bounds import Above, AtLeast, AtMost, Finite
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Given, Steps, chosen
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.random.draws import KEY
from baracuda.ops.rnn.cells import Activation, Cell, activation
from baracuda.ops.rnn.network import Network

Direction = Literal["forward", "reverse", "bidirectional"]
Dropout = Annotated[float, AtLeast(0), AtMost(1)]
Clip = Annotated[float, Above(0), Finite()] | None
Name = Literal[
    "sigmoid",
    "tanh",
    "relu",
    "affine",
    "leaky_relu",
    "thresholded_relu",
    "scaled_tanh",
    "hard_sigmoid",
    "elu",
    "softsign",
    "softplus",
]
Names = tuple[Name, ...] | None
Numbers = tuple[float, ...] | None
Order = Literal["torch", "onnx"]
DEFAULTS = {"rnn": ("tanh",), "gru": ("sigmoid", "tanh"), "lstm": ("sigmoid", "tanh", "tanh"), "slstm": ()}
TENSORS: dict[str, Any] = {
    "x": "... : T float",
    "params": "list ... : T",
    "lengths": "... : s32 s64",
    "dropout_mask": "...",
    "key": KEY,
}


def activations_of(kind: str, names: Names, alpha: Numbers, beta: Numbers) -> tuple[Activation, ...]:
    """The activations of a cell, each with its numbers."""
    names = DEFAULTS[kind] if names is None else names  # type: ignore[assignment]
    assert names is not None
    if len(names) != len(DEFAULTS[kind]):
        raise InvalidProblemError(f"activations: {len(names)}; expected {len(DEFAULTS[kind])}, as {DEFAULTS[kind]}")
    for word, numbers in (("activation_alpha", alpha), ("activation_beta", beta)):
        if numbers is not None and len(numbers) != len(names):
            raise InvalidProblemError(f"{word}: {len(numbers)} numbers; expected one for each of {len(names)} activations")
    return tuple(
        activation(n, None if alpha is None else alpha[i], None if beta is None else beta[i]) for i, n in enumerate(names)
    )


def network_of(
    do: Steps,
    cell: Cell,
    x: TensorRef,
    hx: Any,
    params: Sequence[TensorRef],
    *,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    lengths: Given,
    dropout_mask: Given,
    key: Given,
    direction: Direction,
    order: Order = "torch",
    peepholes: Any = None,
    heads: int = 1,
) -> Network:
    if train and dropout > 0 and num_layers > 1 and (dropout_mask is None) == (key is None):
        what = "neither" if key is None else "both"
        raise InvalidProblemError(f"dropout: {dropout} with {what} of key and dropout_mask; expected one of them to draw from")
    if dropout_mask is not None and num_layers < 2:
        raise InvalidProblemError("dropout_mask: given with one layer; expected None, as nothing lies between layers")
    both = bidirectional or direction == "bidirectional"
    directions = (False, True) if both else (direction == "reverse",)
    states = None if hx is None else (list(hx) if isinstance(hx, (list, tuple)) else [hx])
    return Network(
        do, cell, x, params, states, has_biases, num_layers, directions, batch_first, lengths,
        dropout if train else 0.0, dropout_mask if train else None, key if train else None, order == "onnx", peepholes, heads,
    )  # fmt: skip


def results_of(network: Network, *, saved: bool) -> Any:
    y, last, reserve = network.forward(saves=saved)
    return (y, *last, *reserve) if saved else (y, *last)


def gradients_of(
    network: Network, dy: Given, dlast: Sequence[Given], saved: Sequence[TensorRef] | None, y: Given, wrt: Wrt
) -> tuple[Any, ...]:
    known = ("x", "hx", "params")
    names = chosen(wrt, known)
    if saved is None or y is None:
        made, _, saved = network.forward(saves=True)
        y = made
    assert y is not None
    given = None if all(t is None for t in dlast) else dlast
    if dy is None and given is None:
        raise InvalidProblemError("dy: None, and no gradient of a last state; expected one of them at least")
    found = network.backward(dy, given, y, saved, names)
    return tuple(t for name in names for t in (found[name] if isinstance(found[name], list) else [found[name]]))
