"""Layers that PyTorch has one op of in inference alone, in the form that they have in training, whose bits they are to have."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

aten = torch.ops.aten


def attention_layer(
    query: Any,
    key: Any,
    value: Any,
    embed_dim: int,
    num_head: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    mask: Any = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> Any:
    """`torch.nn.MultiheadAttention` with the batch first; the mask is of pairs (0), of keys (1), or of both and each head (2)."""
    if mask is not None and mask_type == 2:
        mask = mask.reshape(-1, *mask.shape[-2:])
    same = query is key and key is value
    q = query.transpose(1, 0)
    k, v = (q, q) if same else (key.transpose(1, 0), value.transpose(1, 0))
    y, weights = F.multi_head_attention_forward(
        *(q, k, v, embed_dim, num_head, qkv_weight, qkv_bias, None, None, False, 0.0, proj_weight, proj_bias),
        training=False,
        key_padding_mask=mask if mask_type == 1 else None,
        need_weights=need_weights,
        attn_mask=None if mask_type == 1 else mask,
        average_attn_weights=average_attn_weights,
    )
    return y.transpose(1, 0), weights if need_weights else query.new_empty(0)


def encoder_layer(
    src: Any,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Any,
    norm_bias_1: Any,
    norm_weight_2: Any,
    norm_bias_2: Any,
    ffn_weight_1: Any,
    ffn_bias_1: Any,
    ffn_weight_2: Any,
    ffn_bias_2: Any,
    mask: Any = None,
    mask_type: int | None = None,
) -> Any:
    """`torch.nn.TransformerEncoderLayer`."""

    def attended(x: Any) -> Any:
        weights = qkv_weight, qkv_bias, proj_weight, proj_bias
        return attention_layer(x, x, x, embed_dim, num_heads, *weights, mask, False, True, mask_type)[0]

    def fed(x: Any) -> Any:
        y = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(y) if use_gelu else F.relu(y), ffn_weight_2, ffn_bias_2)

    def first(x: Any) -> Any:
        return F.layer_norm(x, (embed_dim,), norm_weight_1, norm_bias_1, eps)

    def second(x: Any) -> Any:
        return F.layer_norm(x, (embed_dim,), norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = src + attended(first(src))
        return x + fed(second(x))
    x = first(src + attended(src))
    return second(x + fed(x))


LAYERS = {
    aten._transformer_encoder_layer_fwd.default: encoder_layer,
    aten._native_multi_head_attention.default: attention_layer,
}
