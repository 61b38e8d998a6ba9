"""Root-mean-square normalization over trailing axes, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.lazy import cached_property
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_flag, check_number, check_shape
from baracuda.ops.declaration.formula_plan import FLOATS
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.translation import TranslatedDescriptor, TranslatedPlan
from baracuda.ops.normalization.layer_norms import rms_norm


@dataclass(frozen=True)
class RMSNormBackwardDescriptor(TranslatedDescriptor):
    """The gradient of RMS norm over the axes whose bits are set in `norm_axes_mask` (bit a for axis a), which must be a
    non-empty suffix of the axes of `input_shape` (rank 1 to 8, shared by dy, x and dx; of a scalar none, 0). `has_gamma` says
    whether there is a weight, and so its gradient. `RMSNormDescriptor` does as well.

    `rms_element` is the element that rms is stored in: `element` itself, in which it is rounded once, or its compute kind, the
    default. With `flat_gamma` gamma and dgamma are vectors of `norm_total_extent()` elements; without, they have the shape of
    the normalised axes.
    """

    input_shape: tuple[int, ...]
    norm_axes_mask: int
    has_gamma: bool
    element: ElementKind
    rms_element: ElementKind | None = field(default=None, kw_only=True)
    flat_gamma: bool = field(default=False, kw_only=True)

    def validate(self) -> None:
        check_shape("input_shape", self.input_shape)
        check_element("element", self.element, FLOATS)
        check_flag("has_gamma", self.has_gamma)
        check_flag("flat_gamma", self.flat_gamma)
        if self.rms_element is not None:
            check_element("rms_element", self.rms_element, (self.element, self.element.compute))
        rank, mask = len(self.input_shape), self.norm_axes_mask
        suffixes = [(1 << rank) - (1 << a) for a in range(rank)] or [0]
        if isinstance(mask, bool) or not isinstance(mask, int) or mask not in suffixes:
            expected = ", ".join(map(bin, suffixes))
            got = bin(mask) if isinstance(mask, int) else repr(mask)
            raise InvalidProblemError(f"norm_axes_mask: {got}; expected a non-empty suffix of {rank} axes, one of {expected}")

    def rms_shape(self) -> tuple[int, ...]:
        """The shape of the saved rms: `input_shape` with extents of 1 along the normalised axes."""
        return tuple(1 if a in self.norm_axes else n for a, n in enumerate(self.input_shape))

    def norm_total_extent(self) -> int:
        """The number of elements that are normalised together: the product of the normalised axes' extents."""
        return prod(self.norm_shape)

    @property
    def norm_shape(self) -> tuple[int, ...]:
        """The extents of the normalised axes."""
        return tuple(self.input_shape[a] for a in self.norm_axes)

    @property
    def gamma_shape(self) -> tuple[int, ...]:
        return (self.norm_total_extent(),) if self.flat_gamma else self.norm_shape

    @property
    def rms_kind(self) -> ElementKind:
        return self.rms_element or self.element.compute

    @property
    def norm_axes(self) -> tuple[int, ...]:
        return tuple(a for a in range(len(self.input_shape)) if self.norm_axes_mask >> a & 1)

    @cached_property
    def problem(self) -> OpDescriptor:
        shapes = (self.input_shape, self.norm_shape if self.has_gamma else None)
        elements = (self.element, self.element if self.has_gamma else None)
        options = (("rms_element", self.rms_kind),)
        return OpDescriptor(rms_norm, shapes, elements, self.norm_axes, scalars=self._scalars, options=options)

    @property
    def _scalars(self) -> tuple[tuple[str, float], ...]:
        return ()


@dataclass(frozen=True)
class RMSNormDescriptor(RMSNormBackwardDescriptor):
    """RMS norm; `eps` is added to the mean square. The other fields are those of `RMSNormBackwardDescriptor`."""

    numbers = (("eps", ()),)

    eps: float = 1e-6

    def validate(self) -> None:
        super().validate()
        check_number("eps", self.eps, least=0)

    @property
    def _scalars(self) -> tuple[tuple[str, float], ...]:
        return (("eps", float(self.eps)),)


@dataclass
class RMSNormArgs(Args):
    """x: the input; gamma: the weight or None; y: the result; rms: the root mean square of each row."""

    x: Any
    gamma: Any
    y: Any
    rms: Any


@dataclass
class RMSNormBackwardArgs(Args):
    """dy: the gradient of y; x, gamma, rms: as in the forward pass; dx, dgamma: the gradients."""

    dy: Any
    x: Any
    gamma: Any
    rms: Any
    dx: Any
    dgamma: Any


_NAMES = {"weight": "gamma", "dweight": "dgamma"}
_GAMMA = TensorSpec("gamma", "the weight", "gamma_shape", varies=Axes.INNER, when="has_gamma", lies_as="norm_shape")
_RMS = TensorSpec("rms", "the root mean square, normalised axes of extent 1", "rms_shape", "rms_kind", varies=Axes.OUTER)


class RMSNormPlan(TranslatedPlan[RMSNormDescriptor, RMSNormArgs]):
    """rms = sqrt(mean(x^2) + eps) over the normalised axes; y = x / rms * gamma.

    rms is saved for the backward pass, in the compute kind (f32 for f16 and bf16) or rounded to the element; y is computed
    with the rms before that rounding. Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019. All four
    promises hold.
    """

    category, op = OpCategory.NORMALIZATION, "rms_norm"
    tensors = (
        TensorSpec("x", "the input"),
        _GAMMA,
        TensorSpec("y", "the result", written=True),
        replace(_RMS, written=True),
    )
    names = _NAMES


class RMSNormBackwardPlan(TranslatedPlan[RMSNormBackwardDescriptor, RMSNormBackwardArgs]):
    """dx = dy*gamma/rms - x * sum(dy*gamma*x) / (rms^3 * M), with M = norm_total_extent(); dgamma = the sum over the rows of
    dy * x / rms.

    Computed as dx = (g - n * mean(g * n)) / rms with g = dy*gamma and n = x/rms, which neither overflows nor underflows where
    rms^3 would. f16 and bf16 are computed in f32 and rounded once. All four promises hold.

    Beyond the original: rank 0, rms in the compute kind (the default), gamma and dgamma in the shape of the normalised axes (the
    default), a norm_total_extent() that does not saturate, a dgamma of 0 where there are no rows, which the original leaves as
    it is, and a workspace for partial sums of dgamma and of long rows.
    """

    category, op = OpCategory.NORMALIZATION, "rms_norm_backward"
    tensors = (
        TensorSpec("dy", "the gradient of y"),
        TensorSpec("x", "the input"),
        _GAMMA,
        _RMS,
        TensorSpec("dx", "the gradient of x", written=True),
        replace(_GAMMA, name="dgamma", doc="the gradient of gamma", written=True),
    )
    wrt, names = ("x", "weight"), _NAMES
