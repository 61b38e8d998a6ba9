"""A transform of several axes as transforms along one, and its gradient as theirs in reverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import slab
from baracuda.ops.declaration.composition import Into, Steps
from baracuda.ops.declaration.promotion import part, whole
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.fft.plan import FourierDescriptor, FourierPlan

Norm = Literal["backward", "ortho", "forward"] | None
Kind = Literal["complex", "real", "half"]
Scale = Literal["none", "n", "root"]


@dataclass(frozen=True)
class Line:
    """A transform along one axis of a tensor whose shape and element are known."""

    mode: Kind
    inverse: bool
    axis: int
    n: int
    scale: Scale
    shape: tuple[int, ...]
    element: ElementKind

    @property
    def result_shape(self) -> tuple[int, ...]:
        extent = self.n // 2 + 1 if self.mode == "real" else self.n
        return (*self.shape[: self.axis], extent, *self.shape[self.axis + 1 :])

    @property
    def result_element(self) -> ElementKind:
        if self.element.category is not Category.COMPLEX:
            return self.element if self.mode == "half" else whole(self.element)
        return part(self.element) if self.mode == "half" else self.element

    def forward(self, do: Steps, x: TensorRef, into: Into = None) -> Any:
        if not x.shape[self.axis]:
            if into is None:
                return do.filled(self.result_shape, self.result_element, 0)
            do.zero(into)  # type: ignore[arg-type]
            return into
        d = FourierDescriptor(x.shape, self.axis, self.n, x.kind, self.result_element, self.mode, self.inverse, self.scale)
        return do.plan(FourierPlan, d, {"x": x}, into)

    def backward(self, do: Steps, dy: TensorRef) -> Any:
        """The gradient of what was transformed."""
        axis, extent = self.axis, self.shape[self.axis]
        element = self.element
        if not extent:
            return do.new(self.shape, element)
        mode: Kind = {"complex": "complex", "real": "half", "half": "real"}[self.mode]  # type: ignore[assignment]
        half = self.n // 2 + 1
        wanted = half if self.mode == "half" else self.n  # elements of x that count
        d = FourierDescriptor(
            dy.shape, axis, self.n, dy.kind, element, mode, not self.inverse, self.scale, self.mode != "complex"
        )
        found = do.plan(FourierPlan, d, {"x": dy})
        if wanted == extent:
            return found
        dx = do.new(self.shape, element)
        kept = min(wanted, extent)
        do.copy(slab(found, axis, 0, kept), slab(dx, axis, 0, kept))
        if kept < extent:
            do.zero(slab(dx, axis, kept, extent))
        return dx


def scale_of(norm: Norm, inverse: bool) -> Scale:
    """By what a transform's result is divided."""
    if norm == "ortho":
        return "root"
    return "n" if (norm == "forward") != inverse else "none"


def in_number(do: Steps, x: TensorRef) -> TensorRef:
    """x itself; in f32 where it is an integer or bool."""
    if x.kind.category is Category.COMPLEX or (x.kind.is_float and x.kind.bits >= 16):
        return x
    return in_element(do, x, ElementKind.F32)


def number_of(kind: ElementKind) -> ElementKind:
    """The element that a tensor is transformed in."""
    return kind if kind.category is Category.COMPLEX or (kind.is_float and kind.bits >= 16) else ElementKind.F32


@dataclass(frozen=True)
class Transform:
    """A kind of transform: of the last of its axes, and of the others.

    `first` says whether the last axis is transformed before the others, or after them.
    """

    mode: Kind
    inverse: bool

    @property
    def first(self) -> bool:
        return self.mode != "half"

    def lines(
        self, shape: tuple[int, ...], element: ElementKind, axes: Sequence[int], lengths: Sequence[int | None], norm: Norm
    ) -> list[Line]:
        """The transforms along single axes, in order: the last axis first, or, where the result is real, last."""
        if self.mode == "real" and element.category is Category.COMPLEX:
            raise UnsupportedError(f"x: element is {element}; expected a real one")
        if not axes:
            raise InvalidProblemError("axis: (); expected one axis or more")
        order = list(zip(axes, lengths, strict=True))
        last = order[-1]
        order = [last, *order[-2::-1]] if self.first else [*order[-2::-1], last]
        found = []
        for axis, given in order:
            special = (axis, given) == last and axis == axes[-1]
            mode: Kind = self.mode if special else "complex"
            n = given if given is not None else 2 * (shape[axis] - 1) if mode == "half" else shape[axis]
            if n < 1:
                raise InvalidProblemError(f"n: {n} along axis {axis} of shape {shape}; expected 1 or more")
            line = Line(mode, self.inverse, axis, n, scale_of(norm, self.inverse), shape, element)
            found.append(line)
            shape, element = line.result_shape, line.result_element
        return found


def run(do: Steps, x: TensorRef, lines: Sequence[Line], into: Any = None) -> Any:
    """The transforms of x, one after another; the last one into what is given."""
    x = in_number(do, x)
    for line in lines[:-1]:
        x = line.forward(do, x)
    last = lines[-1]
    target = do.result(last.result_shape, last.result_element) if into is not None else None
    return last.forward(do, x, target)


def run_backward(do: Steps, dy: TensorRef, lines: Sequence[Line]) -> Any:
    """The gradient of what some transforms were made of."""
    last = lines[-1]
    if dy.shape != last.result_shape:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {last.result_shape}")
    if dy.kind is not last.result_element:
        raise InvalidProblemError(f"dy: element is {dy.kind}; expected {last.result_element}")
    for line in reversed(lines):
        dy = line.backward(do, dy)
    return dy
