"""baracuda: every primitive an ML framework needs, forward and backward, with the same bits on every device.

Plans (`SoftmaxPlan.select(stream, descriptor)`, then `run` or `bind`) are the whole surface; one function an op
(`baracuda.softmax(x, axis=-1)`) serves daily use, and `baracuda.fuse` makes plans of the user's own formulas.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from baracuda.core import locks as _locks  # noqa: F401  (a fork waits for what threads import, from the first module on)

__version__ = "0.1.0"

#: Public name to the module that defines it. Modules are loaded when a name is first used.
_EXPORTS = {
    "baracuda.core.device": "Device DeviceKind Stream",
    "baracuda.core.elements": "ElementKind",
    "baracuda.core.errors": (
        "BackendError BufferTooSmallError Error InvalidProblemError MisalignedOperandError OutOfMemoryError OutOfRangeError "
        "UnsupportedError WorkspaceTooSmallError"
    ),
    "baracuda.core.descriptor": "Args Descriptor",
    "baracuda.core.plan": "Plan",
    "baracuda.core.preferred": "preferring",
    "baracuda.core.sku": "ArchSku BackendKind Candidate KernelSku MathPrecision OpCategory PlanPreference PrecisionGuarantee",
    "baracuda.core.tensor": "TensorMut TensorRef",
    "baracuda.core.version": "ARITHMETIC_VERSION",
    "baracuda.core.workspace": "Workspace",
    "baracuda.ops.attention.alibi": (
        "AlibiArgs AlibiBackwardArgs AlibiBackwardDescriptor AlibiBackwardPlan AlibiDescriptor AlibiPlan"
    ),
    "baracuda.ops.attention.plan": "AttentionArgs AttentionBackwardArgs AttentionBackwardPlan AttentionPlan",
    "baracuda.ops.attention.descriptor": "AttentionBackwardDescriptor AttentionDescriptor",
    "baracuda.ops.losses.ctc": "CtcLossArgs CtcLossBackwardArgs CtcLossBackwardPlan CtcLossDescriptor CtcLossPlan",
    "baracuda.ops.losses.rnnt": "RnntLossArgs RnntLossBackwardArgs RnntLossBackwardPlan RnntLossDescriptor RnntLossPlan",
    "baracuda.ops.elementwise.binary": (
        "BinaryKind BinaryParamArgs BinaryParamBackwardArgs BinaryParamBackwardDescriptor BinaryParamBackwardPlan "
        "BinaryParamDescriptor BinaryParamPlan"
    ),
    "baracuda.ops.matmul.descriptor": "MatmulDescriptor",
    "baracuda.ops.matmul.plan": "MatmulArgs MatmulPlan",
    "baracuda.ops.normalization.rms_norm": (
        "RMSNormArgs RMSNormBackwardArgs RMSNormBackwardDescriptor RMSNormBackwardPlan RMSNormDescriptor RMSNormPlan"
    ),
    "baracuda.ops.quantization.per_token": (
        "DequantizePerTokenArgs DequantizePerTokenBackwardArgs DequantizePerTokenBackwardDescriptor "
        "DequantizePerTokenBackwardPlan DequantizePerTokenDescriptor DequantizePerTokenPlan QuantizePerTokenArgs "
        "QuantizePerTokenBackwardArgs QuantizePerTokenBackwardDescriptor QuantizePerTokenBackwardPlan "
        "QuantizePerTokenDescriptor QuantizePerTokenPlan"
    ),
    "baracuda.ops.indexing.scatter": "ScatterArgs ScatterDescriptor ScatterKind ScatterPlan",
    "baracuda.ops.softmax.softmax": (
        "SoftmaxArgs SoftmaxBackwardArgs SoftmaxBackwardDescriptor SoftmaxBackwardPlan SoftmaxDescriptor SoftmaxKind SoftmaxPlan"
    ),
    "baracuda.frontends.array": "Array to_device to_host",
    "baracuda.frontends.alignment": "ctc_loss ctc_loss_backward rnnt_loss rnnt_loss_backward",
    "baracuda.frontends.attention": (
        "flex_attention flex_attention_backward scaled_dot_product_attention scaled_dot_product_attention_backward"
    ),
    "baracuda.frontends.attention_kinds": (
        "alibi_bias alibi_bias_backward attention_alibi attention_alibi_backward attention_sink attention_sink_backward "
        "attention_softcap attention_softcap_backward decode_attention kv_cache_append merge_attention_states "
        "merge_attention_states_backward sliding_window_attention sliding_window_attention_backward varlen_attention "
        "varlen_attention_backward"
    ),
    "baracuda.frontends.catalogue": "catalogue",
    "baracuda.frontends.einsum": (
        "dot_general dot_general_backward einsum einsum_backward kron kron_backward multi_dot multi_dot_backward tensordot "
        "tensordot_backward"
    ),
    "baracuda.frontends.elements_backward": (
        "gather_nd_backward index_get_backward scatter_nd_reduce_backward vocab_parallel_embedding_backward"
    ),
    "baracuda.frontends.fuse": "fuse",
    "baracuda.frontends.generator": "Generator",
    "baracuda.frontends.host_data": "asarray mask_indices",
    "baracuda.frontends.index_expression": "index_put index_put_backward",
    "baracuda.frontends.linear": (
        "bilinear bilinear_backward gemm_epilogue gemm_epilogue_backward grouped_mm grouped_mm_backward int_mm linear "
        "linear_backward scaled_mm"
    ),
    "baracuda.frontends.multi_tensor": "multi_tensor_apply",
    "baracuda.frontends.gradient_clipping": "clip_grad_norm master_weight_cast",
    "baracuda.frontends.multi_head": "multi_head_attention multi_head_attention_backward",
    "baracuda.frontends.products": (
        "addbmm addbmm_backward addmm addmm_backward addmv addmv_backward addr addr_backward baddbmm baddbmm_backward bmm "
        "bmm_backward dot dot_backward inner inner_backward matmul matmul_backward mm mm_backward mv mv_backward outer "
        "outer_backward symmetric_product symmetric_product_backward vdot vdot_backward vecdot vecdot_backward vecmat "
        "vecmat_backward"
    ),
    "baracuda.frontends.profile": "profile",
    "baracuda.frontends.recording": "Recording record",
    "baracuda.frontends.reinterpret": ("bitcast view_as_complex view_as_complex_backward view_as_real view_as_real_backward"),
    "baracuda.frontends.reads_backward": (
        "embedding_backward embedding_bag_backward embedding_grad_dense gather_backward index_select_backward take_flat_backward"
    ),
    "baracuda.frontends.scatter_backward": (
        "index_add_backward index_reduce_backward scatter_add_backward scatter_reduce_backward segment_max_backward "
        "segment_mean_backward segment_min_backward segment_prod_backward segment_sum_backward"
    ),
    "baracuda.frontends.rotary_tables": "rope_scaling_tables",
    "baracuda.frontends.scatter": (
        "bincount index_add index_reduce scatter_add scatter_reduce segment_max segment_mean segment_min segment_prod segment_sum"
    ),
    "baracuda.frontends.selections": (
        "argwhere compress compress_backward flatnonzero masked_select masked_select_backward nonzero"
    ),
    "baracuda.frontends.scaled_backward": "scaled_mm_backward",
    "baracuda.frontends.segments": "jagged_index_select jagged_index_select_backward segment_reduce_backward",
    "baracuda.frontends.synchronised": "sync_batch_norm sync_batch_norm_backward",
    "baracuda.runtime.cache": "cache_info clear_cache",
    "baracuda.runtime.cpu": "get_num_threads set_num_threads",
    "baracuda.runtime.reports": "synchronize",
}
_MODULE = {name: module for module, names in _EXPORTS.items() for name in names.split()}

__all__ = ["__version__", "array_api", *sorted(_MODULE)]


def __getattr__(name: str) -> Any:
    module = _MODULE.get(name)
    if module is not None:
        value = getattr(import_module(module), name)
    elif name == "array_api":
        value = import_module("baracuda.array_api")
    elif name.startswith("_"):
        raise AttributeError(f"module 'baracuda' has no attribute {name!r}")
    else:
        try:
            value = import_module("baracuda.frontends.families").attribute(name)
        except KeyError:
            near = import_module("difflib").get_close_matches(name, __dir__(), 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise AttributeError(f"module 'baracuda' has no attribute {name!r}{hint}", name=name) from None
    if (hasattr(value, "cacheable") or hasattr(value, "declaration")) and not hasattr(value, "of_parts"):
        value = import_module("baracuda.frontends.call_cache").cached(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *import_module("baracuda.frontends.families").names()})
