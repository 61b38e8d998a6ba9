"""What PyTorch carries out itself: memory, and questions about tensors."""

from __future__ import annotations

import torch

from baracuda.torch.registry import passes

aten = torch.ops.aten

passes(
    aten.empty.memory_format,
    aten.empty_strided.default,
    aten.empty_like.default,
    aten.empty_permuted.default,
    aten.new_empty.default,
    aten.new_empty_strided.default,
    aten._unsafe_view.default,
    aten._reshape_alias.default,
    aten.lift.default,
    aten.lift_fresh.default,
    aten.set_.source_Tensor,
    aten.set_.source_Storage_storage_offset,
    aten.resize_.default,
    aten._local_scalar_dense.default,
    aten.is_same_size.default,
    aten.is_pinned.default,
    aten._pin_memory.default,
    aten.record_stream.default,
    aten.sym_size.int,
    aten.sym_stride.int,
    aten.sym_numel.default,
    aten.sym_storage_offset.default,
    aten.equal.default,
)
