"""baracuda: every primitive an ML framework needs, forward and backward, with the same bits on every device.

Plans (`SoftmaxPlan.select(stream, descriptor)`, then `run` or `bind`) are the whole surface; one function an op
(`baracuda.softmax(x, axis=-1)`) serves daily use, and `baracuda.fuse` makes plans of the user's own formulas.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Public name to the module that defines it. Modules are loaded when a name is first used.
_EXPORTS = {
    "baracuda.core.device": "Device DeviceKind Stream",
    "baracuda.core.elements": "ElementKind",
    "baracuda.core.errors": (
        "BackendError BufferTooSmallError Error InvalidProblemError MisalignedOperandError UnsupportedError "
        "WorkspaceTooSmallError"
    ),
    "baracuda.core.plan": "Args Descriptor Plan",
    "baracuda.core.sku": "ArchSku BackendKind Candidate KernelSku MathPrecision OpCategory PlanPreference PrecisionGuarantee",
    "baracuda.core.tensor": "TensorMut TensorRef",
    "baracuda.core.version": "ARITHMETIC_VERSION",
    "baracuda.core.workspace": "Workspace",
    "baracuda.ops.alibi": "AlibiArgs AlibiBackwardArgs AlibiBackwardPlan AlibiDescriptor AlibiPlan",
    "baracuda.ops.binary": (
        "BinaryKind BinaryParamArgs BinaryParamBackwardArgs BinaryParamBackwardPlan BinaryParamDescriptor BinaryParamPlan"
    ),
    "baracuda.ops.normalization": (
        "RMSNormArgs RMSNormBackwardArgs RMSNormBackwardDescriptor RMSNormBackwardPlan RMSNormDescriptor RMSNormPlan"
    ),
    "baracuda.ops.quantization": (
        "DequantizePerTokenArgs DequantizePerTokenBackwardArgs DequantizePerTokenBackwardDescriptor "
        "DequantizePerTokenBackwardPlan DequantizePerTokenDescriptor DequantizePerTokenPlan QuantizePerTokenArgs "
        "QuantizePerTokenBackwardArgs QuantizePerTokenBackwardDescriptor QuantizePerTokenBackwardPlan "
        "QuantizePerTokenDescriptor QuantizePerTokenPlan"
    ),
    "baracuda.ops.softmax": "SoftmaxArgs SoftmaxBackwardArgs SoftmaxBackwardPlan SoftmaxDescriptor SoftmaxKind SoftmaxPlan",
    "baracuda.frontends.functional": (
        "alibi alibi_backward dequantize_per_token dequantize_per_token_backward lerp lerp_backward log_softmax "
        "log_softmax_backward quantize_per_token quantize_per_token_backward rms_norm rms_norm_backward softmax softmax_backward"
    ),
    "baracuda.frontends.catalogue": "catalogue",
    "baracuda.frontends.fuse": "fuse",
    "baracuda.frontends.normalization": "group_norm group_norm_backward group_norm_silu group_norm_silu_backward",
    "baracuda.frontends.response_norm": "global_response_norm global_response_norm_backward",
    "baracuda.runtime.cache": "cache_info clear_cache",
    "baracuda.runtime.cpu": "get_num_threads set_num_threads",
}
_MODULE = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = ["__version__", *sorted(_MODULE)]


def __getattr__(name: str) -> Any:
    module = _MODULE.get(name)
    if module is not None:
        value = getattr(import_module(module), name)
    elif name.startswith("_"):
        raise AttributeError(f"module 'baracuda' has no attribute {name!r}")
    else:
        try:
            value = import_module("baracuda.frontends.families").attribute(name)
        except KeyError:
            raise AttributeError(f"module 'baracuda' has no attribute {name!r}") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *import_module("baracuda.frontends.families").names()})
