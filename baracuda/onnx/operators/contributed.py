"""What exporters and optimizers write besides ONNX's own operators: onnxruntime's domain `com.microsoft`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula import functions as f
from baracuda.onnx.operators import registry
from baracuda.onnx.operators.elements import to_element
from baracuda.onnx.operators.products import gemm
from baracuda.onnx.operators.quantization import dequantize_linear, dynamic_quantize_linear, quantize_linear
from baracuda.onnx.operators.registry import Ints, operator
from baracuda.onnx.operators.values import Host, Tensor, near, positive
from baracuda.ops.declaration.traced import Scalar

_DOMAIN = "com.microsoft"
_F32 = np.dtype(np.float32)


@baracuda.fuse
def _quick(x: Any, *, alpha: Scalar) -> Any:
    return x * f.sigmoid(alpha * x)


registry.add("Gelu", baracuda.gelu, domain=_DOMAIN, inputs=1)
registry.add("QuantizeLinear", quantize_linear, domain=_DOMAIN)
registry.add("DequantizeLinear", dequantize_linear, domain=_DOMAIN)


@operator("QuickGelu", domain=_DOMAIN)
def quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    """x * sigmoid(alpha * x)."""
    return _quick(x, alpha=alpha)


@operator("BiasGelu", domain=_DOMAIN)
def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """`baracuda.gelu` of a sum."""
    return baracuda.gelu(baracuda.add(x, bias))


@operator("FastGelu", domain=_DOMAIN)
def fast_gelu(x: Tensor, bias: Tensor = None) -> Tensor:
    """`baracuda.gelu` by tanh, of a sum."""
    return baracuda.gelu(x if bias is None else baracuda.add(x, bias), approximate="tanh")


@operator("FusedMatMul", domain=_DOMAIN)
def fused_matmul(
    a: Tensor, b: Tensor, *, alpha: float = 1.0, transA: bool = False, transB: bool = False, transBatchA: bool = False,
    transBatchB: bool = False,
) -> Tensor:  # fmt: skip
    """alpha * a @ b, of matrices turned."""
    if transBatchA or transBatchB:
        raise UnsupportedError("FusedMatMul: transBatchA and transBatchB are not served")
    y = baracuda.matmul(_turned(a) if transA else a, _turned(b) if transB else b)
    return y if alpha == 1.0 else baracuda.mul(y, near(alpha, y))


def _turned(x: Tensor) -> Tensor:
    rank = len(x.shape)
    return x if rank < 2 else baracuda.permute(x, (*range(rank - 2), rank - 1, rank - 2))


@operator("FusedGemm", domain=_DOMAIN)
def fused_gemm(
    a: Tensor, b: Tensor, c: Tensor = None, *, alpha: float = 1.0, beta: float = 1.0, transA: bool = False, transB: bool = False,
    activation: str = "", activation_alpha: float = 0.01,
) -> Tensor:  # fmt: skip
    """Gemm, then an activation."""
    y = gemm(a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)
    if activation == "LeakyRelu":
        return baracuda.leaky_relu(y, negative_slope=activation_alpha)
    functions = {"": lambda t: t, "Relu": baracuda.relu, "Sigmoid": baracuda.sigmoid, "Tanh": baracuda.tanh}
    if activation not in functions:
        raise UnsupportedError(f"FusedGemm: activation {activation!r}; expected one of Relu, LeakyRelu, Sigmoid, Tanh")
    return functions[activation](y)


# --- normalization ----------------------------------------------------------------------------------------------------


@operator("SimplifiedLayerNormalization")
def simplified_layer_norm(x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> Tensor:
    """`baracuda.rms_norm`; onnxruntime has it in ONNX's own domain."""
    over = tuple(range(positive(axis, len(x.shape)), len(x.shape)))
    return baracuda.rms_norm(x, scale, axis=over, eps=epsilon)


def _added(x: Tensor, skip: Tensor, bias: Tensor) -> Tensor:
    total = baracuda.add(x, skip)
    return total if bias is None else baracuda.add(total, bias)


@operator("SkipLayerNormalization", domain=_DOMAIN)
def skip_layer_norm(
    x: Tensor, skip: Tensor, gamma: Tensor, beta: Tensor = None, bias: Tensor = None, *, epsilon: float = 1e-12
) -> tuple[Tensor, ...]:
    """`baracuda.layer_norm` of a sum: the result, mean and reciprocal deviation, and the sum."""
    total = _added(x, skip, bias)
    y, mean, rstd = baracuda.layer_norm(total, gamma, beta, eps=epsilon, saved=True)
    kept = (*total.shape[:-1], 1)
    return y, baracuda.reshape(mean, kept), baracuda.reshape(rstd, kept), total


@operator("SkipSimplifiedLayerNormalization", domain=_DOMAIN)
def skip_simplified_layer_norm(
    x: Tensor, skip: Tensor, gamma: Tensor, bias: Tensor = None, *, epsilon: float = 1e-12
) -> tuple[Tensor, ...]:
    """`baracuda.rms_norm` of a sum: the result, nothing, reciprocal root mean square, and the sum."""
    total = _added(x, skip, bias)
    y, scale = baracuda.rms_norm(total, gamma, eps=epsilon, saved=True)
    return y, None, baracuda.reshape(scale, (*total.shape[:-1], 1)), total


@operator("EmbedLayerNormalization", domain=_DOMAIN)
def embed_layer_norm(
    ids: Tensor, segments: Tensor, words: Tensor, positions: Tensor, kinds: Tensor = None, gamma: Tensor = None,
    beta: Tensor = None, mask: Tensor = None, places: Tensor = None, *, epsilon: float = 1e-12, mask_index_type: int = 1,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`baracuda.layer_norm` of the sum of embeddings: the result, the number of tokens that the mask leaves, and the sum."""
    batch, length = ids.shape
    at = places
    if at is None:
        at = baracuda.reshape(baracuda.arange(0, length, 1, np.dtype(np.int32), like=ids), (1, length))
    total = baracuda.add(baracuda.embedding(ids, words), baracuda.embedding(at, positions))
    if segments is not None and kinds is not None:
        total = baracuda.add(total, baracuda.embedding(segments, kinds))
    counted = baracuda.zeros((batch,), np.dtype(np.int32), like=ids)
    if mask is not None:
        counted = to_element(baracuda.sum(mask, axis=1), np.dtype(np.int32))
    return baracuda.layer_norm(total, gamma, beta, eps=epsilon), counted, total


# --- attention --------------------------------------------------------------------------------------------------------


def _heads(x: Tensor, heads: int) -> Tensor:
    """(batch, length, heads * width) as (batch, heads, length, width)."""
    if len(x.shape) == 4:
        return x
    batch, length, whole = x.shape
    if heads < 1 or whole % heads:
        raise InvalidProblemError(f"num_heads: {heads}; expected a divisor of {whole}")
    return baracuda.permute(baracuda.reshape(x, (batch, length, heads, whole // heads)), (0, 2, 1, 3))


def _merged(x: Tensor) -> Tensor:
    batch, heads, length, width = x.shape
    return baracuda.reshape(baracuda.permute(x, (0, 2, 1, 3)), (batch, length, heads * width))


def _masked(mask: Tensor, keys: int, filtered: float, kind: np.dtype[Any]) -> Tensor:
    """What is added to scores: a number where a mask of keys is 0. Masks are lengths, (batch, keys) or (batch, queries, keys)."""
    if len(mask.shape) == 1:
        numbers = baracuda.reshape(baracuda.arange(0, keys, 1, np.dtype(np.int32), like=mask), (1, 1, 1, keys))
        there = baracuda.lt(numbers, baracuda.reshape(mask, (mask.shape[0], 1, 1, 1)))
    else:
        batch, *rest = mask.shape
        there = baracuda.ne(baracuda.reshape(mask, (batch, 1, *((1,) * (2 - len(rest))), *rest)), near(0, mask))
    zero = near(0.0, mask, kind)
    return baracuda.where(there, zero, near(filtered, mask, kind))


def _attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, bias: Tensor, *, scale: float | None, causal: bool, filtered: float
) -> Tensor:
    scores = None if mask is None else _masked(mask, k.shape[2], filtered, np.dtype(q.dtype))
    if bias is not None:
        scores = bias if scores is None else baracuda.add(scores, bias)
    if scores is not None:
        scores = baracuda.broadcast_to(scores, (*q.shape[:3], k.shape[2]))
    options = {"offset": k.shape[2] - q.shape[2]} if causal else {}
    return baracuda.scaled_dot_product_attention(q, k, v, bias=scores, causal=causal, scale=scale or None, **options)


@operator("MultiHeadAttention", domain=_DOMAIN)
def multi_head_attention(
    query: Tensor, key: Tensor = None, value: Tensor = None, bias: Tensor = None, key_padding_mask: Tensor = None,
    attention_bias: Tensor = None, past_key: Tensor = None, past_value: Tensor = None, *, num_heads: int,
    mask_filter_value: float = -10000.0, scale: float = 0.0, unidirectional: bool = False,
) -> tuple[Tensor, ...]:  # fmt: skip
    """`baracuda.scaled_dot_product_attention` of separate queries, keys and values: the result, and all keys and values."""
    if key is None or value is None or len(query.shape) != 3:
        raise UnsupportedError("MultiHeadAttention: queries, keys and values packed in one tensor are not served")
    if bias is not None:
        widths = (query.shape[-1], key.shape[-1] if len(key.shape) == 3 else 0, value.shape[-1] if len(value.shape) == 3 else 0)
        parts = baracuda.split(bias, widths if all(widths) else (query.shape[-1],) * 3, 0)
        query = baracuda.add(query, parts[0])
        key, value = (baracuda.add(t, p) if len(t.shape) == 3 else t for t, p in zip((key, value), parts[1:], strict=True))
    q, k, v = (_heads(t, num_heads) for t in (query, key, value))
    if past_key is not None:
        k, v = baracuda.concat((past_key, k), axis=2), baracuda.concat((past_value, v), axis=2)
    y = _attention(q, k, v, key_padding_mask, attention_bias, scale=scale, causal=unidirectional, filtered=mask_filter_value)
    return _merged(y), k, v


@operator("Attention", domain=_DOMAIN)
def attention(
    x: Tensor, weights: Tensor, bias: Tensor = None, mask: Tensor = None, past: Tensor = None, attention_bias: Tensor = None,
    past_sequence_length: Host = None, *, num_heads: int, unidirectional: bool = False, qkv_hidden_sizes: Ints | None = None,
    mask_filter_value: float = -10000.0, scale: float = 0.0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Self-attention from its projection on: the result, and all keys and values stacked."""
    if past_sequence_length is not None:
        raise UnsupportedError("Attention: past and present that share memory are not served")
    whole = baracuda.matmul(x, weights)
    if bias is not None:
        whole = baracuda.add(whole, bias)
    widths = qkv_hidden_sizes or (weights.shape[1] // 3,) * 3
    q, k, v = (_heads(t, num_heads) for t in baracuda.split(whole, tuple(widths), 2))
    if past is not None:
        k, v = (baracuda.concat((baracuda.select(past, 0, i), t), axis=2) for i, t in enumerate((k, v)))
    if mask is not None and (len(mask.shape) > 3 or (len(mask.shape) == 1 and mask.shape[0] != x.shape[0])):
        raise UnsupportedError(f"Attention: mask_index of shape {tuple(mask.shape)} is not served")
    y = _attention(q, k, v, mask, attention_bias, scale=scale, causal=unidirectional, filtered=mask_filter_value)
    return _merged(y), baracuda.stack((k, v), axis=0)


@operator("RotaryEmbedding", domain=_DOMAIN)
def rotary_embedding(
    x: Tensor, places: Tensor, cos: Tensor, sin: Tensor, *, interleaved: bool = False, is_packed_batching: bool = False,
    num_heads: int = 0, rotary_embedding_dim: int = 0, scale: float = 1.0,
) -> Tensor:  # fmt: skip
    """Halves of each head, or its neighbouring elements, turned by angles of their place."""
    if is_packed_batching or scale != 1.0:
        raise UnsupportedError("RotaryEmbedding: packed batches and scales are not served")
    four = len(x.shape) == 4
    turned = x if four else _heads(x, num_heads or x.shape[2] // (2 * cos.shape[1]))
    batch, _, length, width = turned.shape
    part = rotary_embedding_dim or width
    if tuple(places.shape) == (1,):
        steps = baracuda.reshape(baracuda.arange(0, length, 1, np.dtype(np.int64), like=places), (1, length))
        places = baracuda.broadcast_to(baracuda.add(steps, places), (batch, length))
    c, s = (baracuda.unsqueeze(baracuda.embedding(places, t), (1,)) for t in (cos, sin))
    head, rest = baracuda.slice(turned, 0, part, 3), baracuda.slice(turned, part, width, 3)
    if interleaved:
        pairs = baracuda.reshape(head, (*head.shape[:3], part // 2, 2))
        a, b = baracuda.select(pairs, 4, 0), baracuda.select(pairs, 4, 1)
    else:
        a, b = baracuda.split(head, part // 2, 3)
    first = baracuda.sub(baracuda.mul(a, c), baracuda.mul(b, s))
    second = baracuda.add(baracuda.mul(b, c), baracuda.mul(a, s))
    if interleaved:
        made = baracuda.reshape(baracuda.stack((first, second), axis=-1), tuple(head.shape))
    else:
        made = baracuda.concat((first, second), axis=3)
    made = made if part == width else baracuda.concat((made, rest), axis=3)
    return made if four else _merged(made)


# --- codes ------------------------------------------------------------------------------------------------------------


@operator("QLinearAdd", domain=_DOMAIN, function="add")
@operator("QLinearMul", domain=_DOMAIN, function="mul")
def qlinear_binary(
    a: Tensor, a_scale: Tensor, a_zero: Tensor, b: Tensor, b_scale: Tensor, b_zero: Tensor, y_scale: Tensor,
    y_zero: Tensor = None, *, function: str,
) -> Tensor:  # fmt: skip
    """Codes of a sum or product."""
    values = [dequantize_linear(*t, axis=0) for t in ((a, a_scale, a_zero), (b, b_scale, b_zero))]
    zero = near(0, a) if y_zero is None else y_zero
    return quantize_linear(getattr(baracuda, function)(*values), y_scale, zero, axis=0)


@operator("QLinearSigmoid", domain=_DOMAIN)
def qlinear_sigmoid(x: Tensor, x_scale: Tensor, x_zero: Tensor, y_scale: Tensor, y_zero: Tensor = None) -> Tensor:
    """Codes of `baracuda.sigmoid`."""
    y = baracuda.sigmoid(dequantize_linear(x, x_scale, x_zero, axis=0))
    return quantize_linear(y, y_scale, near(0, x) if y_zero is None else y_zero, axis=0)


@operator("QLinearLeakyRelu", domain=_DOMAIN)
def qlinear_leaky_relu(
    x: Tensor, x_scale: Tensor, x_zero: Tensor, y_scale: Tensor, y_zero: Tensor = None, *, alpha: float = 0.01
) -> Tensor:
    """Codes of `baracuda.leaky_relu`."""
    y = baracuda.leaky_relu(dequantize_linear(x, x_scale, x_zero, axis=0), negative_slope=alpha)
    return quantize_linear(y, y_scale, near(0, x) if y_zero is None else y_zero, axis=0)


@operator("MatMulIntegerToFloat", domain=_DOMAIN)
def matmul_integer_to_float(
    a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor, a_zero: Tensor = None, b_zero: Tensor = None, bias: Tensor = None
) -> Tensor:
    """Exact products of codes, times both scales."""
    from baracuda.onnx.operators.products import matmul_integer

    y = to_element(matmul_integer(a, b, a_zero, b_zero), np.dtype(a_scale.dtype))
    y = baracuda.mul(y, baracuda.mul(a_scale, b_scale))
    return y if bias is None else baracuda.add(y, bias)


@operator("DynamicQuantizeMatMul", domain=_DOMAIN)
def dynamic_quantize_matmul(a: Tensor, b: Tensor, b_scale: Tensor, b_zero: Tensor = None, bias: Tensor = None) -> Tensor:
    """`MatMulIntegerToFloat` of codes that are made of a."""
    codes, scale, zero = dynamic_quantize_linear(a)
    return matmul_integer_to_float(codes, b, scale, b_scale, zero, b_zero, bias)


@operator("MatMulNBits", domain=_DOMAIN)
def matmul_nbits(
    a: Tensor, b: Tensor, scales: Tensor, zero_points: Tensor = None, group: Tensor = None, bias: Tensor = None, *,
    K: int, N: int, bits: int = 4, block_size: int, accuracy_level: int = 0, weight_prepacked: int = 0,
) -> Tensor:  # fmt: skip
    """a times the transpose of weights that are packed codes with a scale and a zero point for each block of a row."""
    if group is not None or bits not in (2, 4, 8) or weight_prepacked:
        raise UnsupportedError(f"MatMulNBits: {bits} bits, g_idx or prepacked weights; expected 2, 4 or 8 bits without them")
    blocks = -(-K // block_size)
    if math.prod(b.shape) != N * blocks * block_size * bits // 8:
        raise InvalidProblemError(f"B: shape {tuple(b.shape)}; expected {(N, blocks, block_size * bits // 8)}")
    kind = np.dtype(scales.dtype)
    codes = baracuda.reshape(_unpacked(baracuda.reshape(b, (N, -1)), bits, kind), (N, blocks, block_size))
    if zero_points is None:
        zero: Any = near(1 << (bits - 1), scales)
    elif np.dtype(zero_points.dtype) == np.uint8:
        row = baracuda.reshape(zero_points, (N, -1))
        zero = baracuda.reshape(baracuda.slice(_unpacked(row, bits, kind), 0, blocks, 1), (N, blocks, 1))
    else:
        zero = baracuda.reshape(zero_points, (N, blocks, 1))
    weights = baracuda.mul(baracuda.sub(codes, zero), baracuda.reshape(scales, (N, blocks, 1)))
    weights = baracuda.slice(baracuda.reshape(weights, (N, blocks * block_size)), 0, K, 1)
    y = baracuda.matmul(a, baracuda.permute(weights, (1, 0)))
    return y if bias is None else baracuda.add(y, bias)


def _unpacked(x: Tensor, bits: int, kind: np.dtype[Any]) -> Tensor:
    """Rows of bytes as rows of the codes in them, lowest places first."""
    if bits == 8:
        return to_element(x, kind)
    moved = [baracuda.bitwise_right_shift(x, near(place, x)) for place in range(0, 8, bits)]
    codes = [baracuda.bitwise_and(m, near((1 << bits) - 1, x)) for m in moved]
    return to_element(baracuda.reshape(baracuda.stack(tuple(codes), axis=-1), (x.shape[0], -1)), kind)
