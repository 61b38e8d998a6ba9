"""Root-mean-square normalization over trailing axes, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.plan import Args
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_shape
from baracuda.formula.expr import Expr
from baracuda.formula.functions import mean, sqrt, sum_rows
from baracuda.ops.formula_plan import FLOATS, FormulaDescriptor, FormulaPlan


@dataclass(frozen=True)
class RMSNormBackwardDescriptor(FormulaDescriptor):
    """The gradient of RMS norm over the axes whose bits are set in `norm_axes_mask` (bit a for axis a), which must be a
    non-empty suffix of the axes of `input_shape` (of a scalar none, 0); `has_gamma` says whether there is a weight."""

    input_shape: tuple[int, ...]
    norm_axes_mask: int
    has_gamma: bool
    element: ElementKind

    def validate(self) -> None:
        check_shape("input_shape", self.input_shape)
        check_element("element", self.element, FLOATS)
        rank = len(self.input_shape)
        suffixes = [(1 << rank) - (1 << a) for a in range(rank)] or [0]
        if isinstance(self.norm_axes_mask, bool) or self.norm_axes_mask not in suffixes:
            expected = ", ".join(map(bin, suffixes))
            got = bin(self.norm_axes_mask) if isinstance(self.norm_axes_mask, int) else repr(self.norm_axes_mask)
            raise InvalidProblemError(f"norm_axes_mask: {got}; expected a non-empty suffix of {rank} axes, one of {expected}")

    @property
    def iteration_shape(self) -> tuple[int, ...]:
        return self.input_shape

    @property
    def inner_axes(self) -> tuple[bool, ...]:
        return tuple(bool(self.norm_axes_mask >> a & 1) for a in range(len(self.input_shape)))

    @property
    def gamma_shape(self) -> tuple[int, ...]:
        return tuple(n for n, inner in zip(self.input_shape, self.inner_axes, strict=True) if inner)

    @property
    def rms_shape(self) -> tuple[int, ...]:
        return tuple(1 if inner else n for n, inner in zip(self.input_shape, self.inner_axes, strict=True))

    @property
    def compute(self) -> ElementKind:
        return self.element.compute


@dataclass(frozen=True)
class RMSNormDescriptor(RMSNormBackwardDescriptor):
    """RMS norm; `eps` is added to the mean square. The other fields are those of `RMSNormBackwardDescriptor`."""

    eps: float = 1e-6

    def validate(self) -> None:
        super().validate()
        if not isinstance(self.eps, (int, float)) or not 0 <= self.eps < float("inf"):
            raise InvalidProblemError(f"eps: {self.eps!r}; expected a finite number, 0 or above")

    @property
    def parameters(self) -> Mapping[str, float]:
        return {"eps": float(self.eps)}


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


_GAMMA = TensorSpec("gamma", "the weight", shape="gamma_shape", varies=Axes.INNER, when="has_gamma")
_RMS = TensorSpec("rms", "the root mean square, normalised axes of extent 1", "rms_shape", "compute", varies=Axes.OUTER)


def _rms_norm(descriptor: RMSNormDescriptor, x: Expr, eps: Expr, gamma: Expr | None = None) -> dict[str, Expr]:
    rms = sqrt(mean(x * x) + eps)
    y = x * (1.0 / rms)
    return {"y": y if gamma is None else y * gamma, "rms": rms}


def _rms_norm_backward(
    descriptor: RMSNormBackwardDescriptor, dy: Expr, x: Expr, rms: Expr, gamma: Expr | None = None
) -> dict[str, Expr]:
    inverse = 1.0 / rms
    g = dy if gamma is None else dy * gamma
    normal = x * inverse
    gradients = {"dx": inverse * (g - normal * mean(g * normal))}
    if gamma is not None:
        gradients["dgamma"] = sum_rows(dy * normal)
    return gradients


class RMSNormPlan(FormulaPlan[RMSNormDescriptor, RMSNormArgs]):
    """rms = sqrt(mean(x^2) + eps) over the normalised axes; y = x / rms * gamma.

    rms is saved in the compute kind (f32 for f16 and bf16) for the backward pass. Source: Zhang and Sennrich, Root Mean
    Square Layer Normalization, 2019. All four promises hold.
    """

    category, op = OpCategory.NORMALIZATION, "rms_norm"
    tensors = (
        TensorSpec("x", "the input"),
        _GAMMA,
        TensorSpec("y", "the result", written=True),
        TensorSpec(_RMS.name, _RMS.doc, _RMS.shape, _RMS.element, varies=_RMS.varies, written=True),
    )
    formula = _rms_norm


class RMSNormBackwardPlan(FormulaPlan[RMSNormBackwardDescriptor, RMSNormBackwardArgs]):
    """dx = dy*gamma/rms - x * sum(dy*gamma*x) / (rms^3 * M), with M the number of normalised cells; dgamma = the sum over
    the rows of dy * x / rms. Computed as dx = (g - n * mean(g * n)) / rms with g = dy*gamma and n = x/rms, which neither
    overflows nor underflows where rms^3 would."""

    category, op = OpCategory.NORMALIZATION, "rms_norm_backward"
    tensors = (
        TensorSpec("dy", "the gradient of y"),
        TensorSpec("x", "the input"),
        _GAMMA,
        _RMS,
        TensorSpec("dx", "the gradient of x", written=True),
        TensorSpec("dgamma", "the gradient of gamma", "gamma_shape", varies=Axes.INNER, when="has_gamma", written=True),
    )
    formula = _rms_norm_backward
