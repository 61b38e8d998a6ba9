"""The formulas of plans that are written out by hand, declared once more as ops: what second derivatives are made of."""

from __future__ import annotations

from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, as_expr, cast
from baracuda.ops.attention.alibi import AlibiDescriptor, AlibiPlan
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import NonNegative, Own
from baracuda.ops.elementwise.binary import BinaryKind, BinaryParamDescriptor, BinaryParamPlan
from baracuda.ops.normalization.rms_norm import RMSNormDescriptor, RMSNormPlan
from baracuda.ops.quantization.per_token import (
    DequantizePerTokenBackwardDescriptor,
    DequantizePerTokenBackwardPlan,
    QuantizePerTokenBackwardDescriptor,
    QuantizePerTokenBackwardPlan,
)
from baracuda.ops.softmax.softmax import (
    SoftmaxBackwardDescriptor,
    SoftmaxBackwardPlan,
    SoftmaxDescriptor,
    SoftmaxKind,
    SoftmaxPlan,
)

# Formulas look at what the op is in their descriptors, never at the shape or the element: one of each will do.
_F32 = ElementKind.F32


def _softmax_like(kind: SoftmaxKind) -> Op:
    """softmax or log_softmax along a row."""
    forward, backward = SoftmaxDescriptor(kind, (1,), 0, _F32), SoftmaxBackwardDescriptor(kind, (1,), 0, _F32)

    def formula(x: Expr) -> Expr:
        return SoftmaxPlan.formula(forward, x)["y"]

    def slopes(dy: Expr, y: Expr) -> dict[str, Expr]:
        return dict(SoftmaxBackwardPlan.formula(backward, dy, y))

    made = Op(formula, Rule.COMMON, name=kind.value, rows=True, saves=("y",))
    made.backward(slopes)
    return made


softmax, log_softmax = _softmax_like(SoftmaxKind.SOFTMAX), _softmax_like(SoftmaxKind.LOG_SOFTMAX)


def _rms_norm(x: Expr, gamma: Own | None = None, *, eps: NonNegative = 1e-6) -> Expr:
    weight = None if gamma is None else cast(gamma, x.kind)
    return RMSNormPlan.formula(RMSNormDescriptor((1,), 1, gamma is not None, _F32), x, as_expr(eps, x.kind), weight)["y"]


rms_norm = Op(_rms_norm, Rule.COMMON, name="rms_norm", rows=True)


def _alibi(scores: Expr, slopes: Expr) -> Expr:
    return AlibiPlan.formula(AlibiDescriptor(1, 1, 1, 1, _F32), scores, slopes)["y"]


alibi = Op(_alibi, Rule.COMMON, name="alibi", places={"slopes": lambda rank, axes: (1,)})


def _lerp(a: Expr, b: Expr, weight: Expr) -> Expr:
    return BinaryParamPlan.formula(BinaryParamDescriptor(BinaryKind.LERP, (), _F32, 0.0), a, b, weight)["y"]


lerp = Op(_lerp, Rule.COMMON, name="lerp", takes="float")


# --- backward formulas, which are linear in the gradient ----------------------------------------------------------------


def _quantize_slopes(
    dq: Expr, x: Expr, scale: Own, zero_point: Own | None = None, *, quantized: Literal["s8", "u8"] = "s8"
) -> dict[str, Expr]:
    """What `quantize_per_token_backward` gives, slope = dq / scale[n] inside the clamp. Its gradients are those of dq and scale:
    dslope / scale[n] there, and the sum of -dslope * dq / scale[n]**2. By x it has none: rounding is passed straight through."""
    d = QuantizePerTokenBackwardDescriptor(1, 1, _F32, _CODES[quantized], zero_point is not None)
    return {"slope": QuantizePerTokenBackwardPlan.formula(d, dq, x, cast(scale, x.kind), zero_point)["dx"]}


def _dequantize_slopes(dy: Expr, scale: Own) -> dict[str, Expr]:
    """What `dequantize_per_token_backward` gives, dq = dy * scale[n], whose gradients are ddq * scale[n] and the sum of
    ddq * dy."""
    d = DequantizePerTokenBackwardDescriptor(1, 1)
    return {"dq": DequantizePerTokenBackwardPlan.formula(d, dy, cast(scale, dy.kind))["d_input"]}


_CODES = {k.label: k for k in (ElementKind.S8, ElementKind.U8)}
_PER_TOKEN: dict[str, Any] = {"family": "quantization", "takes": "float"}


def _tokens(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return (0,)


quantize_slopes = Op(
    _quantize_slopes,
    Rule.COMMON,
    name="quantize_per_token_double",
    results=("slope",),
    constants=("x",),
    places={"scale": _tokens, "zero_point": _tokens},
    **_PER_TOKEN,
)
dequantize_slopes = Op(
    _dequantize_slopes, Rule.COMMON, name="dequantize_per_token_double", results=("dq",), places={"scale": _tokens}, **_PER_TOKEN
)
