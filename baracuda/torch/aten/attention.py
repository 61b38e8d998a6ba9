"""Attention in one function."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten


def _options(dropout: float, causal: bool, mask: Any, scale: Any) -> dict[str, Any]:
    if dropout:
        raise baracuda.UnsupportedError(f"attention in one function: dropout_p={dropout}; expected 0")
    own = {} if mask is None else {"mask": mask} if mask.dtype == torch.bool else {"bias": mask}
    return {"causal": causal, "scale": scale, **own}


@serves(aten._scaled_dot_product_flash_attention_for_cpu.default)
def attention(
    q: Any, k: Any, v: Any, dropout: float = 0.0, causal: bool = False, *, attn_mask: Any = None, scale: Any = None
) -> Any:
    b, h, s, _ = q.shape
    y = q.new_empty(b, s, h, v.shape[-1]).transpose(1, 2)  # as PyTorch's function leaves it, for views that follow
    out, lse = baracuda.scaled_dot_product_attention(q, k, v, **_options(dropout, causal, attn_mask, scale), saved=True)
    baracuda.positive(out, out=y)
    return y, lse


@serves(aten._scaled_dot_product_flash_attention_for_cpu_backward.default)
def attention_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    y: Any,
    lse: Any,
    dropout: float,
    causal: bool,
    *,
    attn_mask: Any = None,
    scale: Any = None,
) -> Any:
    options = _options(dropout, causal, attn_mask, scale)
    return baracuda.scaled_dot_product_attention_backward(dy, q, k, v, y, lse, **options)
