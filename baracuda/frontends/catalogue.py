"""`baracuda.catalogue()`: what there is of every op of the field."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from baracuda.core.elements import ElementKind
from baracuda.core.op_table import Row, measured_ulp, table
from baracuda.frontends.families import compositions, function, ops
from baracuda.ops.declaration.op import Op, categories
from baracuda.ops.declaration.op_plan import stem

#: Declared ops with plans that are called otherwise.
_PLANS = {"log_softmax": "Softmax", "rms_norm": "RMSNorm", "lerp": "BinaryParam"}
#: Ops with plans written out by hand: their functions and plans.
_BY_HAND = {
    "ctc_loss": "CtcLoss",
    "scaled_dot_product_attention": "Attention",
    "rnnt_loss": "RnntLoss",
}
#: Functions that run several plans, or take a view: they have no plan class of their own.
_COMPOSED = frozenset([
    "alibi_bias", "argwhere", "asarray", "bitcast", "clip_grad_norm", "compress", "flatnonzero", "index_put",
    "jagged_index_select", "kv_cache_append", "mask_indices", "masked_select", "master_weight_cast",
    "merge_attention_states", "multi_tensor_apply", "nonzero", "rope_scaling_tables", "sync_batch_norm", "view_as_complex",
    "view_as_real",
])  # fmt: skip
#: Functions of combinations by destination, whose plan is `ScatterPlan`.
_SCATTERS = frozenset([
    "bincount", "embedding_grad_dense", "index_add", "index_reduce", "scatter_add", "scatter_reduce", "segment_max",
    "segment_mean", "segment_min", "segment_prod", "segment_sum",
])  # fmt: skip
#: Functions of matrix products, whose plan is `MatmulPlan`.
_PRODUCTS = frozenset([
    "matmul", "mm", "bmm", "mv", "vecmat", "dot", "vdot", "vecdot", "inner", "outer", "linear", "bilinear", "addmm", "addmv",
    "addr", "addbmm", "baddbmm", "dot_general", "einsum", "tensordot", "multi_dot", "kron", "scaled_mm", "grouped_mm", "int_mm",
    "gemm_epilogue", "symmetric_product", "w8a8_gemm", "qlinear_matmul", "fp8_gemm_rowwise", "scaled_grouped_mm", "mxfp8_gemm",
    "mxfp4_gemm", "nvfp4_gemm", "semi_structured_24_gemm", "batched_small_gemm",
])  # fmt: skip
#: Functions of attention, whose plan is `AttentionPlan`.
_ATTENTION = frozenset([
    "flex_attention", "varlen_attention", "sliding_window_attention", "attention_sink", "attention_softcap", "attention_alibi",
    "decode_attention", "multi_head_attention",
])  # fmt: skip
_BYTES = (ElementKind.S8, ElementKind.U8)
_BYTE_FLOATS = (ElementKind.F8E4M3, ElementKind.F8E5M2)
_INDICES = (ElementKind.S32, ElementKind.S64)
_FLOATS = (ElementKind.F16, ElementKind.BF16, ElementKind.F32, ElementKind.F64)
#: Functions of any sort that take other elements than the table says, or than plans written out by hand.
_ELEMENTS = {
    "adam8bit_step": (ElementKind.F16, ElementKind.BF16, ElementKind.F32),
    "view_as_complex": (ElementKind.F32, ElementKind.F64),
    "int_mm": _BYTES,
    "unravel_index": _INDICES,
    "ravel_multi_index": _INDICES,
    **dict.fromkeys(("w8a8_gemm", "qlinear_matmul"), _BYTES),
    **dict.fromkeys(("mxfp4_gemm", "nvfp4_gemm"), (ElementKind.U8,)),
    **dict.fromkeys(("mxfp8_gemm", "fp8_gemm_rowwise"), _BYTE_FLOATS),
    **dict.fromkeys(("scaled_mm", "scaled_grouped_mm"), (*_BYTE_FLOATS, *_BYTES)),
}


#: Families that move elements as they are, 8-bit floats too.
_OF_BYTES = frozenset(["creation", "shape_layout"])
_EVERYWHERE = "same bits on every CPU and GPU"
#: Of ops that have no formula yet, or none for complex numbers.
_BY_SCIPY = "backend scipy: on the CPU only, same bits on the same machine"


@dataclass(frozen=True)
class Entry:
    """One op.

    Attributes
    ----------
    row
        Its line of the table: family, tier, names in other frameworks.
    function, backward
        Names of baracuda's functions; empty where there is none.
    plan
        Its plan class; its backward's is called the same with Backward before Plan. Empty for a function that is composed of
        several plans or takes a view.
    elements
        The elements that it takes.
    guarantee
        What its plans promise on every device.
    ulp
        The largest error measured of the elementary function that it is, by compute kind; empty for another op.
    doc
        The formula, in words.
    """

    row: Row
    function: str = ""
    backward: str = ""
    plan: str = ""
    elements: tuple[ElementKind, ...] = ()
    guarantee: str = ""
    ulp: tuple[tuple[str, float], ...] = ()
    doc: str = ""

    @property
    def present(self) -> bool:
        """Whether baracuda has it."""
        return bool(self.function)

    def names(self) -> tuple[str, ...]:
        """Every name it goes by."""
        r = self.row
        prefixes = {
            "torch": r.torch, "torch.nn.functional": r.nn_functional, "jax.lax": r.lax, "jax.numpy": r.jnp, "jax.nn": r.jax_nn,
            "scipy.special": r.scipy_special, "array_api": r.array_api, "onnx": r.onnx,
        }  # fmt: skip
        public_names = [f"{p}.{n}" for p, listed in prefixes.items() for n in listed.split(",") if n]
        return (r.op, *public_names)


def _declared(row: Row, op: Op) -> Entry:
    ulp = tuple((kind, measured_ulp()[row.op, kind]) for kind in ("f32", "f64") if (row.op, kind) in measured_ulp())
    return Entry(
        row,
        op.name,
        f"{op.name}_backward" if op.differentiable else "",
        f"{_PLANS.get(op.name) or stem(op.name)}Plan",
        tuple(k for k in ElementKind if op.accepts(k) and k.bits >= 8),
        _BY_SCIPY if op.library else _EVERYWHERE,
        ulp,
        inspect.getdoc(function(op.name)) or "",
    )


def _composed(row: Row) -> Entry:
    public = getattr(import_module("baracuda"), row.op)
    moves = row.family in _OF_BYTES or (row.family == "indexing" and row.dtypes == "any")
    least = 8 if moves else 16
    defined = (k for k in ElementKind if k.category in categories(row.dtypes) and k.bits >= (least if k.is_float else 8))
    elements = _ELEMENTS.get(row.op) or tuple(defined)
    backward = f"{row.op}_backward" if hasattr(import_module("baracuda"), f"{row.op}_backward") else ""
    plans = (("MatmulPlan", _PRODUCTS), ("ScatterPlan", _SCATTERS), ("AttentionPlan", _ATTENTION))
    plan = next((plan for plan, names in plans if row.op in names), "")
    return Entry(row, row.op, backward, plan, elements, _EVERYWHERE, (), inspect.getdoc(public) or "")


@cache
def catalogue() -> tuple[Entry, ...]:
    """Every op of the field, in the order of the table; those that baracuda has say how.

    Examples
    --------
    >>> import baracuda
    >>> gelu = next(entry for entry in baracuda.catalogue() if entry.row.op == "gelu")
    >>> gelu.function, gelu.backward, "torch.nn.functional.gelu" in gelu.names()
    ('gelu', 'gelu_backward', True)
    """
    entries = []
    for name, row in table().items():
        if name in ops():
            entries.append(_declared(row, ops()[name]))
        elif name in _BY_HAND:
            doc = inspect.getdoc(getattr(import_module("baracuda"), name)) or ""
            plan = f"{_BY_HAND[name]}Plan"
            elements = _ELEMENTS.get(name, _FLOATS)
            entries.append(Entry(row, name, f"{name}_backward", plan, elements, _EVERYWHERE, (), doc))
        elif name in compositions() or name in _COMPOSED | _PRODUCTS | _SCATTERS | _ATTENTION:
            entries.append(_composed(row))
        else:
            entries.append(Entry(row))
    return tuple(entries)
