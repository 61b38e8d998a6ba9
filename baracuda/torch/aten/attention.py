"""Attention in one function: PyTorch has one for CPUs and four for GPUs, with other results beside the first."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.gradients import masked
from baracuda.torch.registry import chooses, serves

aten = torch.ops.aten


@chooses(aten.scaled_dot_product_attention.default)
def attention_above(
    q: Any,
    k: Any,
    v: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Any:
    """In one function where there is one, on every device the same: without dropout, and with no gradient of the mask."""
    ranks = q.ndim == k.ndim == v.ndim == 4 and all((*q.shape, *k.shape, *v.shape))
    heads = ranks and (enable_gqa or q.shape[-3] == k.shape[-3] == v.shape[-3])
    fixed = attn_mask is None or not (attn_mask.requires_grad and torch.is_grad_enabled())
    if heads and fixed and not dropout_p:
        one = aten._scaled_dot_product_flash_attention_for_cpu
        return one(q, k, v, 0.0, is_causal, attn_mask=attn_mask, scale=scale)[0]
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=q.dtype).masked_fill_(attn_mask.logical_not(), float("-inf"))
    return aten._scaled_dot_product_attention_math(
        q, k, v, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
    )[0]


def _options(dropout: float, causal: bool, mask: Any, scale: Any) -> dict[str, Any]:
    if dropout:
        raise baracuda.UnsupportedError(f"attention in one function: dropout_p={dropout}; expected 0")
    own = {} if mask is None else {"mask": mask} if mask.dtype == torch.bool else {"bias": mask}
    return {"causal": causal, "scale": scale, **own}


def _like(q: Any, depth: int) -> Any:
    """Memory for a result that lies as q does, so that a program's views of it are what they are with PyTorch's."""
    if depth == q.shape[-1]:
        return torch.empty_like(q)
    order = sorted(range(4), key=lambda i: -q.stride(i))
    return q.new_empty([(*q.shape[:3], depth)[i] for i in order]).permute([order.index(i) for i in range(4)])


@serves(aten._scaled_dot_product_flash_attention_for_cpu.default)
def attention(
    q: Any, k: Any, v: Any, dropout: float = 0.0, causal: bool = False, *, attn_mask: Any = None, scale: Any = None
) -> Any:
    options = _options(dropout, causal, attn_mask, scale)
    return baracuda.scaled_dot_product_attention(q, k, v, **options, saved=True, out=_like(q, v.shape[-1]))


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
    wrt: tuple[str, ...] = ("q", "k", "v"),
) -> Any:
    options = _options(dropout, causal, attn_mask, scale)
    return baracuda.scaled_dot_product_attention_backward(dy, q, k, v, y, lse, **options, wrt=wrt)


def _nothing(q: Any, *shape: int, element: Any = torch.int64) -> Any:
    """What a function draws or leaves out."""
    return baracuda.full(shape, 0, element, like=q)


@serves(aten._scaled_dot_product_efficient_attention.default)
def efficient(
    q: Any, k: Any, v: Any, bias: Any, compute_lse: bool, dropout: float = 0.0, causal: bool = False, *, scale: Any = None
) -> Any:
    """Its lse has rows of multiples of 32, which end in infinities."""
    y, lse = attention(q, k, v, dropout, causal, attn_mask=bias, scale=scale)
    more = -lse.shape[-1] % 32
    lse = baracuda.pad(lse, pad=(0, more), constant_values=float("inf")) if compute_lse and more else lse
    return y, lse if compute_lse else lse[..., :0], _nothing(q), _nothing(q)


@serves(aten._scaled_dot_product_efficient_attention_backward.default)
def efficient_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    bias: Any,
    y: Any,
    lse: Any,
    seed: Any,
    offset: Any,
    dropout: float,
    mask: Any,
    causal: bool = False,
    *,
    scale: Any = None,
) -> Any:
    def gradients(wrt: tuple[str, ...]) -> Any:
        lse_of_rows = lse[..., : q.shape[2]]
        return attention_backward(dy, q, k, v, y, lse_of_rows, dropout, causal, attn_mask=bias, scale=scale, wrt=wrt)

    return tuple(masked(gradients, ("q", "k", "v", "bias"), mask, (True, True, True, bias is not None)))


@serves(aten._scaled_dot_product_flash_attention.default)
def flash(q: Any, k: Any, v: Any, dropout: float = 0.0, causal: bool = False, debug: bool = False, *, scale: Any = None) -> Any:
    _no_debug(debug)
    y, lse = attention(q, k, v, dropout, causal, scale=scale)
    state, unused = _nothing(q, 2, element=torch.uint64), _nothing(q, element=torch.uint64)
    return y, lse, None, None, q.shape[2], k.shape[2], state, unused, q.new_empty(0)


@serves(aten._scaled_dot_product_flash_attention_backward.default)
def flash_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    y: Any,
    lse: Any,
    cq: Any,
    ck: Any,
    mq: int,
    mk: int,
    dropout: float,
    causal: bool,
    *rest: Any,
    scale: Any = None,
) -> Any:
    return attention_backward(dy, q, k, v, y, lse, dropout, causal, scale=scale)


@serves(aten._scaled_dot_product_cudnn_attention.default)
def cudnn(
    q: Any,
    k: Any,
    v: Any,
    bias: Any,
    compute_lse: bool,
    dropout: float = 0.0,
    causal: bool = False,
    debug: bool = False,
    *,
    scale: Any = None,
) -> Any:
    """Its lse has one more axis."""
    y, lse, *rest = overrideable(q, k, v, bias, dropout, causal, debug, scale=scale)
    return y, lse[..., None], *rest


@serves(aten._scaled_dot_product_cudnn_attention_backward.default)
def cudnn_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    y: Any,
    lse: Any,
    seed: Any,
    offset: Any,
    bias: Any,
    cq: Any,
    ck: Any,
    mq: int,
    mk: int,
    dropout: float,
    causal: bool,
    *,
    scale: Any = None,
) -> Any:
    return attention_backward(dy, q, k, v, y, lse[..., 0], dropout, causal, attn_mask=bias, scale=scale)


@serves(aten._scaled_dot_product_fused_attention_overrideable.default)
def overrideable(
    q: Any,
    k: Any,
    v: Any,
    bias: Any = None,
    dropout: float = 0.0,
    causal: bool = False,
    debug: bool = False,
    *,
    scale: Any = None,
) -> Any:
    _no_debug(debug)
    y, lse = attention(q, k, v, dropout, causal, attn_mask=bias, scale=scale)
    return y, lse, None, None, q.shape[2], k.shape[2], _nothing(q), _nothing(q), None


@serves(aten._scaled_dot_product_fused_attention_overrideable_backward.default)
def overrideable_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    bias: Any,
    mask: Any,
    y: Any,
    lse: Any,
    cq: Any,
    ck: Any,
    mq: int,
    mk: int,
    dropout: float,
    causal: bool,
    seed: Any,
    offset: Any,
    *,
    scale: Any = None,
) -> Any:
    return efficient_backward(dy, q, k, v, bias, y, lse, seed, offset, dropout, mask, causal, scale=scale)


def _no_debug(debug: bool) -> None:
    if debug:
        raise baracuda.UnsupportedError("attention in one function: return_debug_mask=True; expected False")
