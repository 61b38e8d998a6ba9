"""Fourier transforms along one axis: descriptor, args and plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, Literal

from baracuda.backends import libraries
from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import Found, Layout, OperandLayout
from baracuda.core.plan import Plan
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_axis, check_element, check_shape
from baracuda.lowering.backend import candidates
from baracuda.lowering.fft.implementation import FourierImplementation
from baracuda.lowering.fft.problem import LIMIT, Fourier, Mode, Rows

_FLOATS = (ElementKind.F16, ElementKind.BF16, ElementKind.F32, ElementKind.F64)
_COMPLEX = (ElementKind.C64, ElementKind.C128)


@dataclass(frozen=True)
class FourierDescriptor(Descriptor):
    """A Fourier transform of n terms along an axis of x.

    Attributes
    ----------
    shape, axis
        The shape of x, and the axis along which it is transformed: its first n elements, zeros where it has fewer.
    n
        How many terms there are.
    element, y_element
        Those of x and of y.
    mode
        "complex": n numbers to n numbers, of which with a real y only the real parts are kept; "real": n real numbers to the
        first n // 2 + 1 results; "half": these back to n real numbers.
    inverse
        Whether the exponent is positive.
    scale
        By what the result is divided: nothing, n, or its root.
    weighted
        "real": the inner results are doubled; "half": the inner elements of x are halved.
    """

    shape: tuple[int, ...]
    axis: int
    n: int
    element: ElementKind
    y_element: ElementKind
    mode: Literal["complex", "real", "half"] = "complex"
    inverse: bool = False
    scale: Literal["none", "n", "root"] = "none"
    weighted: bool = False

    def validate(self) -> None:
        check_shape("shape", self.shape, least=1)
        check_axis("axis", self.axis, len(self.shape))
        object.__setattr__(self, "axis", self.axis % len(self.shape))
        check_element("element", self.element, (*_FLOATS, *_COMPLEX) if self.mode != "real" else _FLOATS)
        check_element("y_element", self.y_element, _FLOATS if self.mode == "half" else (*_FLOATS, *_COMPLEX))
        if self._wide(self.element) != self._wide(self.y_element):
            raise InvalidProblemError(f"y_element: {self.y_element} of {self.element}; expected one computed in the same kind")
        if self.n < 1:
            raise InvalidProblemError(f"n: {self.n}; expected 1 or more")
        if self.n > LIMIT:
            raise UnsupportedError(f"n: {self.n}; expected at most {LIMIT}")
        if self.shape[self.axis] < 1:
            raise InvalidProblemError(f"shape: {self.shape} has nothing along axis {self.axis}; expected one element or more")
        check_shape("y", self.y_shape)

    @staticmethod
    def _wide(kind: ElementKind) -> bool:
        return kind in (ElementKind.F64, ElementKind.C128)

    @property
    def y_shape(self) -> tuple[int, ...]:
        """The shape of y."""
        extent = self.n // 2 + 1 if self.mode == "real" else self.n
        return (*self.shape[: self.axis], extent, *self.shape[self.axis + 1 :])

    @property
    def kind(self) -> ElementKind:
        """What is computed in."""
        return ElementKind.F64 if self._wide(self.y_element) else ElementKind.F32

    def problem(self, layout: Layout) -> Fourier:
        """The problem for a layout of x and y."""
        a = self.axis

        def rows(at: OperandLayout | None, kind: ElementKind, shape: tuple[int, ...]) -> Rows:
            assert at is not None
            outer = at.strides[:a] + at.strides[a + 1 :]
            return Rows(kind, outer, at.strides[a], shape[a], at.alignment)

        x, y = layout
        scale = {"none": 1.0, "n": 1.0 / self.n, "root": 1.0 / sqrt(self.n)}[self.scale]
        return Fourier(
            Mode(self.mode),
            self.inverse,
            self.n,
            scale,
            self.weighted,
            self.shape[:a] + self.shape[a + 1 :],
            rows(x, self.element, self.shape),
            rows(y, self.y_element, self.y_shape),
            general=any(t is not None and t.general for t in layout),
        )

    @property
    def is_complex(self) -> bool:
        """Whether x is complex."""
        return self.element.category is Category.COMPLEX


@dataclass
class FourierArgs(Args):
    """x: what is transformed; y: the result."""

    x: Any
    y: Any = None


class FourierPlan(Plan[FourierDescriptor, FourierArgs]):
    """y_k = scale * sum over j of x_j exp(-2 pi i j k / n), or with a positive exponent, along one axis.

    The order of all operations is a function of n (`baracuda/lowering/fft/problem.py`). Lengths up to 8192 (4096 of f64) without
    a prime above 13 need no workspace; longer ones need 8 bytes (16) for each element, other lengths up to 6 times as much.

    With `fastest` it is cuFFT's on a GPU, where it takes the transform: f32, f64 and their complex numbers, no padding, strides
    of 1 or more. On the CPU SciPy's is taken where the preference names its backend; generated kernels are faster. The bits of a
    library's row depend on the number of rows, and on the device.
    """

    category, op, args, has_tiers = OpCategory.FFT, "fft", FourierArgs, True
    tensors = (
        TensorSpec("x", "what is transformed", "shape", varies=Axes.OUTER),
        TensorSpec("y", "its transform", "y_shape", "y_element", varies=Axes.OUTER, written=True),
    )

    @classmethod
    def implementations(cls, device: Device, descriptor: FourierDescriptor) -> Found:
        fast, slow = libraries.fourier(device, descriptor)
        return (*cls._generated(device, descriptor), *fast, *slow)

    @classmethod
    def fastest_first(cls, device: Device, descriptor: FourierDescriptor) -> Found:
        fast, slow = libraries.fourier(device, descriptor)
        return (*fast, *cls._generated(device, descriptor), *slow)

    @classmethod
    def _generated(cls, device: Device, descriptor: FourierDescriptor) -> Found:
        return candidates(device, partial(FourierImplementation, device, descriptor.problem, descriptor.kind))
