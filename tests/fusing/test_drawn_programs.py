"""Programs drawn at random have the bits of their launches one by one once these are fused."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import baracuda as b
from baracuda.core.elements import ElementKind
from tests.fusing.programs import Program
from tests.machine import Machine

SIDE, LONG = 8, 24
KINDS = (ElementKind.F32, ElementKind.BF16, ElementKind.F16, ElementKind.S32, ElementKind.F64)
UNARY = ("neg", "abs", "relu", "square", "tanh", "exp", "sigmoid")
INTEGER_UNARY = ("neg", "abs", "square")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
SHAPES = ((SIDE, SIDE), (SIDE,), (SIDE, 1), (SIDE, LONG), (LONG,), (2, SIDE, SIDE), (SIDE * SIDE,))
#: What a step may do, the more often named the likelier.
STEPS = ("unary", "binary", "binary", "binary", "number", "number", "reduce", "softmax", "cast", "view", "view", "into", "matmul")


class Drawing:
    """A program: what each of its steps does to tensors that are there, by their numbers."""

    def __init__(self, data: st.DataObject) -> None:
        self.data, self.log = data, list[str]()

    def __call__(self, *arguments: Any) -> Any:
        known, self.log = list(arguments), []
        for _ in range(self.data.draw(st.integers(2, 14))):
            made = self.step(self.data.draw(st.sampled_from(STEPS)), known)
            if made is not None:
                known.append(made)
        last = known[len(arguments) :]
        chosen = [t for t in last if self.data.draw(st.booleans())] or last[-1:] or known[:1]
        return tuple(chosen)

    def step(self, what: str, known: list[Any]) -> Any:
        draw = self.data.draw
        x = draw_one(draw, known)
        kind = x.kind
        self.log.append(f"{what} of {tuple(x.shape)} {kind}")
        if what == "unary":
            return getattr(b, draw(st.sampled_from(UNARY if kind.is_float else INTEGER_UNARY)))(x)
        if what == "number":
            return getattr(b, draw(st.sampled_from(BINARY)))(
                x, draw(st.sampled_from([2, 3, 1] if kind.is_integer else [0.5, 1.25]))
            )
        if what in ("binary", "into"):
            others = [t for t in known if t.kind is kind and broadcasts(x, t)]
            y = draw_one(draw, others)
            operation = getattr(b, draw(st.sampled_from(BINARY)))
            if what == "binary":
                return operation(x, y)
            if tuple(np.broadcast_shapes(x.shape, y.shape)) == tuple(x.shape):
                try:
                    operation(x, y, out=x)
                except b.InvalidProblemError:  # it shares memory with y
                    self.log[-1] += " refused"
            return None
        if what == "reduce" and kind.is_float and len(x.shape):
            reduction = getattr(b, draw(st.sampled_from(["sum", "mean", "max", "var"])))
            return reduction(x, axis=draw(st.integers(0, len(x.shape) - 1)), keepdims=draw(st.booleans()))
        if what == "softmax" and kind.is_float and len(x.shape):
            return b.softmax(x, axis=draw(st.integers(0, len(x.shape) - 1)))
        if what == "cast":
            return b.cast(x, dtype=draw(st.sampled_from(KINDS)))
        if what == "matmul" and kind in KINDS[:3]:
            square = [t for t in known if tuple(t.shape) == (SIDE, SIDE) and t.kind is kind]
            return b.matmul(draw_one(draw, square), draw_one(draw, square)) if square else None
        if what == "view":
            return view(draw, x)
        return None


def draw_one(draw: Any, values: list[Any]) -> Any:
    return values[-1 - draw(st.integers(0, len(values) - 1))]


def broadcasts(x: Any, y: Any) -> bool:
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        return False
    return True


def view(draw: Any, x: Any) -> Any:
    way = draw(st.sampled_from(["transpose", "half", "row", "flat", "step"]))
    if way == "transpose":
        return x.T
    if way == "flat":
        return x.reshape(-1) if x.is_contiguous else None
    if not x.shape or x.shape[0] < 2:
        return None
    return {"half": x[: x.shape[0] // 2], "row": x[1] if len(x.shape) > 1 else x[1:2], "step": x[::2]}[way]


@given(st.data())
@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
def test_a_drawn_program_keeps_its_bits(machine: Machine, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 3)))
    arguments = []
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(st.sampled_from(KINDS))
        values = rng.standard_normal(data.draw(st.sampled_from(SHAPES))) * (4 if kind.is_integer else 1)
        arguments.append(values.astype(kind.numpy))
    drawing = Drawing(data)
    program = Program(drawing, arguments, machine.stream.device)
    try:
        program.check()
    except AssertionError as error:
        raise AssertionError(f"{drawing.log}\n{program.fusion}") from error
