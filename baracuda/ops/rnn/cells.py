"""The cells of recurrent networks as formulas: from the sums at a step and the state before it to the state after it.

The sums are those of a step's inputs and of the hidden state, each with its bias: x_g = (w_ih x)_g + b_ih and p_g = (w_hh h)_g +
b_hh. What they are first added to, x_g + p_g, are the cell's *gates*; they are what a backward pass reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, input_, param, select
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.formula.special_functions import softplus

#: The activations of ONNX's recurrent operators, each with its default alpha and beta.
ACTIVATIONS: dict[str, tuple[float, float]] = {
    "sigmoid": (0.0, 0.0),
    "tanh": (0.0, 0.0),
    "relu": (0.0, 0.0),
    "affine": (1.0, 0.0),
    "leaky_relu": (0.01, 0.0),
    "thresholded_relu": (1.0, 0.0),
    "scaled_tanh": (1.0, 1.0),
    "hard_sigmoid": (0.2, 0.5),
    "elu": (1.0, 0.0),
    "softsign": (0.0, 0.0),
    "softplus": (0.0, 0.0),
}


@dataclass(frozen=True)
class Activation:
    """A function of a gate, with its numbers where it has some."""

    name: str
    alpha: float
    beta: float


def activation(name: str, alpha: float | None = None, beta: float | None = None) -> Activation:
    """An activation with ONNX's default numbers where none are given."""
    first, second = ACTIVATIONS[name]
    return Activation(name, first if alpha is None else alpha, second if beta is None else beta)


_FORMULAS: dict[str, Callable[[Expr, Expr, Expr], Expr]] = {
    "sigmoid": lambda x, a, b: f.sigmoid(x),
    "tanh": lambda x, a, b: f.tanh(x),
    "relu": lambda x, a, b: select(x <= 0.0, 0.0, x),
    "affine": lambda x, a, b: a * x + b,
    "leaky_relu": lambda x, a, b: select(x >= 0.0, x, a * x),
    "thresholded_relu": lambda x, a, b: select(x >= a, x, 0.0),
    "scaled_tanh": lambda x, a, b: a * f.tanh(b * x),
    "hard_sigmoid": lambda x, a, b: f.clamp(a * x + b, 0.0, 1.0),
    "elu": lambda x, a, b: select(x >= 0.0, x, a * f.expm1(f.minimum(x, 0.0))),
    "softsign": lambda x, a, b: x / (1.0 + abs(x)),
    "softplus": lambda x, a, b: softplus(x),
}


@dataclass(frozen=True)
class Cell:
    """What is computed at a step.

    Attributes
    ----------
    kind
        "rnn", "gru", "lstm" or "slstm".
    activations
        As ONNX has them: of an LSTM of its gates, of the candidate and of the state; of a GRU of its gates and of the candidate.
    clip
        The range, -clip ... clip, of what activations are applied to; None: any.
    peepholes, input_forget
        Of an LSTM: whether gates see the state, and whether the input gate is 1 less the forget gate.
    reset_after
        Of a GRU: whether the hidden state is reset after it is multiplied by its weight, as PyTorch has it.
    exponential
        Of an sLSTM: whether the forget gate is an exponential; else it is a sigmoid.
    """

    kind: str
    activations: tuple[Activation, ...]
    clip: float | None = None
    peepholes: bool = False
    input_forget: bool = False
    reset_after: bool = True
    exponential: bool = False

    @property
    def gates(self) -> int:
        """Sums that a step has for each unit: those of its inputs, and as many of the hidden state."""
        return {"rnn": 1, "gru": 3, "lstm": 4, "slstm": 4}[self.kind]

    @property
    def apart(self) -> bool:
        """Whether a sum of the hidden state is not added to one of the inputs."""
        return self.kind == "gru" and self.reset_after

    @property
    def saved(self) -> int:
        """Gates, of which a GRU that resets after its product has the candidate's two sums."""
        return self.gates + self.apart

    @property
    def further(self) -> tuple[str, ...]:
        """The components of the state beside the hidden one."""
        return {"rnn": (), "gru": (), "lstm": ("c",), "slstm": ("c", "n", "m")}[self.kind]

    @property
    def in_two(self) -> bool:
        """Whether a step has two products, one after the other."""
        return self.kind == "gru" and not self.reset_after

    def numbers(self) -> dict[str, float]:
        """The numbers that its formula reads, by name."""
        numbers = {} if self.clip is None else {"clip": self.clip}
        for i, a in enumerate(self.activations):
            numbers |= {f"alpha{i}": a.alpha, f"beta{i}": a.beta}
        return numbers

    def initial(self, component: str) -> float:
        """A component of the state where none is given."""
        return -inf if component == "m" else 0.0

    def _activated(self, number: int, x: Expr) -> Expr:
        if self.clip is not None:
            bound = param("clip", x.kind)
            x = f.clamp(x, -bound, bound)
        return _FORMULAS[self.activations[number].name](x, param(f"alpha{number}", x.kind), param(f"beta{number}", x.kind))

    # --- the formulas -------------------------------------------------------------------------------------------------

    def added(self, x: Sequence[Expr], p: Sequence[Expr]) -> list[Expr]:
        """The gates, given the sums of the inputs and of the hidden state."""
        if self.apart:
            return [x[0] + p[0], x[1] + p[1], x[2], p[2]]
        return [a + b for a, b in zip(x, p, strict=True)]

    def sums(self, gates: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """What belongs to the sums of the inputs and of the hidden state, of what belongs to the gates."""
        if self.apart:
            return [gates[0], gates[1], gates[2]], [gates[0], gates[1], gates[3]]
        return list(gates), list(gates)

    def next(self, z: Sequence[Expr], state: Sequence[Expr], peepholes: Sequence[Expr] = ()) -> list[Expr]:
        """The state after a step: h, and the further components."""
        act = self._activated
        if self.kind == "rnn":
            return [act(0, z[0])]
        if self.kind == "gru":
            return self._gru(z, state[0])
        if self.kind == "slstm":
            return _slstm(z, state, exponential=self.exponential)
        i, forget, g, o = z
        c = state[1]
        if peepholes:
            i, forget = i + peepholes[0] * c, forget + peepholes[1] * c
        forget = act(0, forget)
        i = 1.0 - forget if self.input_forget else act(0, i)
        c = forget * c + i * act(1, g)
        if peepholes:
            o = o + peepholes[2] * c
        return [act(0, o) * self._unclipped(2, c), c]

    def _unclipped(self, number: int, x: Expr) -> Expr:
        return _FORMULAS[self.activations[number].name](x, param(f"alpha{number}", x.kind), param(f"beta{number}", x.kind))

    def _gru(self, z: Sequence[Expr], h: Expr) -> list[Expr]:
        reset, update = self._activated(0, z[0]), self._activated(0, z[1])
        n = self._activated(1, z[2] + reset * z[3])
        return [(1.0 - update) * n + update * h]

    def reset(self, gate: Expr, h: Expr) -> Expr:
        """Of a GRU in two products, what the second one multiplies."""
        return self._activated(0, gate) * h

    def mixed(self, update: Expr, candidate: Expr, h: Expr) -> Expr:
        """Of a GRU in two products, the hidden state after a step."""
        update = self._activated(0, update)
        return (1.0 - update) * self._activated(1, candidate) + update * h


def _slstm(z: Sequence[Expr], state: Sequence[Expr], *, exponential: bool) -> list[Expr]:
    """Exponential gates, whose logarithms are kept below 0 by m (Beck et al. 2024)."""
    i, forget, g, o = z
    _, c, n, m = state
    forget = forget if exponential else -softplus(-forget)
    most = f.maximum(forget + m, i)
    keep, take = f.exp(forget + m - most), f.exp(i - most)
    c = keep * c + take * f.tanh(g)
    n = keep * n + take
    return [f.sigmoid(o) * (c / n), c, n, most]


def gradients(
    formula: Callable[..., Sequence[Expr]], kind: ElementKind, given: Mapping[str, Expr], dy: Sequence[Expr], wrt: Sequence[str]
) -> dict[str, Expr]:
    """The gradients of a formula by some of its arguments, given those of its results."""
    symbols = {name: input_(name, kind) for name in given}
    results = formula(*symbols.values())
    ports = tuple(Port(name, kind) for name in given)
    graph = Graph(ports, tuple((Port(f"y{i}", kind), y) for i, y in enumerate(results)))
    derived = gradient(graph, list(wrt), {f"y{i}": f"cotangent{i}" for i in range(len(results))})
    table = {symbols[name]: e for name, e in given.items()}
    table |= {input_(f"cotangent{i}", kind): e for i, e in enumerate(dy)}
    return {name: substitute(e, table) for name, (_, e) in zip(wrt, derived.outputs, strict=True)}
