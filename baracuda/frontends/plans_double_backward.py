"""Second derivatives of the functions whose plans are written out by hand: those of their formulas, as ops."""

from __future__ import annotations

from baracuda.frontends.backward import Backward
from baracuda.frontends.double_backward import DoubleBackward
from baracuda.ops.declaration import plan_formulas

softmax_double_backward = DoubleBackward(plan_formulas.softmax)
log_softmax_double_backward = DoubleBackward(plan_formulas.log_softmax)
rms_norm_double_backward = DoubleBackward(plan_formulas.rms_norm)
alibi_double_backward = DoubleBackward(plan_formulas.alibi)
lerp_double_backward = DoubleBackward(plan_formulas.lerp)
quantize_per_token_double_backward = Backward(plan_formulas.quantize_slopes)
dequantize_per_token_double_backward = Backward(plan_formulas.dequantize_slopes)
