"""Valid calls of functions whose docstring has no example: by name, functions that make arguments and keywords."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import baracuda

Made = tuple[Sequence[Any], dict[str, Any]]
F32, F64 = np.float32, np.float64


def _drawn(*shape: int, dtype: Any = F32, seed: int = 0) -> Any:
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def _of(*values: Any, **keywords: Any) -> Callable[[], Made]:
    """A call: a tuple of extents stands for a tensor of that shape, drawn anew for each."""

    def make() -> Made:
        tensors = [
            tuple(v)
            if isinstance(v, _Extents)
            else _drawn(*v, seed=i)
            if type(v) is tuple and all(type(n) is int for n in v)
            else v
            for i, v in enumerate(values)
        ]
        words = {k: _drawn(*v.shape) if isinstance(v, _Shape) else v for k, v in keywords.items()}
        return tensors, words

    return make


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(type(n) is int for n in value)


class _Extents(tuple[int, ...]):
    """Whole numbers that are no shape of a tensor to draw."""

    __slots__ = ()

    def __new__(cls, *extents: int) -> _Extents:
        return super().__new__(cls, extents)


class _Shape:
    def __init__(self, *shape: int) -> None:
        self.shape = shape


_Q, _KV, _LSE = (2, 4, 5, 8), (2, 2, 6, 8), (2, 4, 5)
_MERGED = (_Q, _Q, _LSE, _Q, _LSE, _Q, _LSE)
_STARTS = np.array([0, 2, 5])
_NUMBERS = (((1,), (0,)), ((), ()))
_BATCHED = (((2,), (1,)), ((0,), (0,)))
_CLASSES = np.array([0, 2, 1, -100])
_LCE = ((4, 8), (5, 8), _CLASSES)
_LENGTHS = np.array([6, 3], np.int32)
_PLACES = np.array([4, 0, 4, 1, 2])
_PLACES_OF_FOUR = np.array([[0x4E, 0x0D], [0x94, 0x08], [0xE9, 0x04], [0xC4, 0x0E]], np.uint8)


def _score(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
    return score * 0.5


def _products() -> dict[str, list[tuple[Any, ...]]]:
    """The tensors of products, of which the last is the shape of the result."""
    return {
        "addbmm": [((3, 5), (2, 3, 4), (2, 4, 5), (3, 5))],
        "addmm": [((5,), (3, 4), (4, 5), (3, 5)), ((), (3, 4), (4, 5), (3, 5))],
        "addmv": [((3,), (3, 4), (4,), (3,))],
        "addr": [((3, 5), (3,), (5,), (3, 5))],
        "baddbmm": [((2, 3, 5), (2, 3, 4), (2, 4, 5), (2, 3, 5)), ((3, 1), (2, 3, 4), (2, 4, 5), (2, 3, 5))],
        "bilinear": [((6, 3), (6, 4), (5, 3, 4), (6, 5)), ((6, 3), (6, 4), (5, 3, 4), (5,), (6, 5))],
        "bmm": [((2, 3, 4), (2, 4, 5), (2, 3, 5))],
        "dot": [((4,), (4,), ()), ((2, 3, 4), (5, 4, 6), (2, 3, 5, 6))],
        "gemm_epilogue": [((3, 4), (4, 5), (3, 5), (5,), (3, 5))],
        "inner": [((3, 4), (5, 2, 4), (3, 5, 2))],
        "kron": [((2, 3), (3, 2), (6, 6)), ((2,), (2, 3), (2, 6))],
        "linear": [((2, 3, 4), (5, 4), (5,), (2, 3, 5))],
        "matmul": [((3, 4), (4, 5), (3, 5)), ((2, 1, 3, 4), (7, 4, 5), (2, 7, 3, 5)), ((6, 3, 4), (4,), (6, 3))],
        "mm": [((3, 4), (4, 5), (3, 5))],
        "mv": [((3, 4), (4,), (3,))],
        "outer": [((3,), (5,), (3, 5))],
        "symmetric_product": [((3, 4), (3, 3)), ((3, 4), (3, 3), (3, 3))],
        "vdot": [((4,), (4,), ())],
        "vecdot": [((3, 4), (2, 3, 4), (2, 3))],
        "vecmat": [((5, 3), (5, 3, 2), (5, 2))],
    }  # fmt: skip


def _with_result(name: str, tensors: tuple[Any, ...], backward: bool) -> Callable[[], Made]:
    *read, result = tensors
    keywords = {"activation": "relu"} if name == "gemm_epilogue" else {}
    return _of(result, *read, **keywords) if backward else _of(*read, **keywords)


def _attention(*more: Any, keywords: dict[str, Any] | None = None) -> tuple[Callable[[], Made], Callable[[], Made]]:
    words = keywords or {"causal": True}
    return _of(_Q, _KV, _KV, *more, **words), _of(_Q, _Q, _KV, _KV, _Q, _LSE, *more, **words)


def _heads() -> Made:
    rng = np.random.default_rng(0)
    q, weights = rng.standard_normal((2, 5, 8)).astype(F32), [rng.standard_normal((8, 8)).astype(F32) for _ in range(4)]
    saved = baracuda.multi_head_attention(q, q, q, *weights, heads=2, saved=True)[1]
    return (q, q, q, q, *weights), {"saved": saved}


def _quantized(*shape: int) -> Any:
    import ml_dtypes

    return np.random.default_rng(3).standard_normal(shape).astype(ml_dtypes.float8_e4m3fn)


_ALIBI, _ALIBI_BACKWARD = _attention((4,))
_SINK, _SINK_BACKWARD = _attention((4,))
_CAP, _CAP_BACKWARD = _attention(5.0)
_WINDOW, _WINDOW_BACKWARD = _attention(3, keywords={})
_VARLEN = ((5, 4, 8), (5, 2, 8), (5, 2, 8))

CALLS: dict[str, list[Callable[[], Made]]] = {
    "alibi_double_backward": [_of((2, 3, 4, 5), (3,), (2, 3, 4, 5), (2, 3, 4, 5), (3,))],
    "alibi_bias_backward": [_of((4, 5, 6))],
    "attention_alibi": [_ALIBI],
    "attention_alibi_backward": [_ALIBI_BACKWARD],
    "attention_sink": [_SINK],
    "attention_sink_backward": [_SINK_BACKWARD],
    "attention_softcap": [_CAP],
    "attention_softcap_backward": [_CAP_BACKWARD],
    "sliding_window_attention": [_WINDOW],
    "sliding_window_attention_backward": [_WINDOW_BACKWARD],
    "scaled_dot_product_attention": [
        _of(_Q, _KV, _KV, np.ones((2, 1, 5, 6), np.bool_)),
        _of(_Q, _KV, _KV, bias=_Shape(2, 4, 5, 6), key_lengths=_LENGTHS, saved=True),
        _of(_Q, _KV, _KV, slopes=_Shape(4), window=(2, 0), softcap=3.0),
    ],
    "scaled_dot_product_attention_backward": [
        _of(_Q, _Q, _KV, _KV, _Q, _LSE, bias=_Shape(2, 4, 5, 6), wrt=("q", "bias")),
        _of(_Q, _Q, _KV, _KV, _Q, _LSE, query_lengths=np.array([5, 0], np.int32), causal=True),
    ],
    "flex_attention": [_of(_Q, _KV, _KV, score=_score)],
    "flex_attention_backward": [_of(_Q, _Q, _KV, _KV, _Q, _LSE, score=_score)],
    "varlen_attention": [_of(*_VARLEN, _STARTS, saved=True), _of((5, 4, 8), (6, 2, 8), (6, 2, 8), _STARTS, np.array([0, 1, 6]))],
    "varlen_attention_backward": [_of((5, 4, 8), *_VARLEN, (5, 4, 8), (4, 5), _STARTS, causal=True)],
    "decode_attention": [_of((2, 4, 8), _KV, _KV, _LENGTHS), _of((2, 4, 8), _KV, _KV)],
    "kv_cache_append": [_of((2, 2, 6, 8), (2, 2, 2, 8), np.array([0, 4])), _of((2, 2, 6, 8), (2, 2, 2, 8), 3)],
    "merge_attention_states": [_of(_Q, _LSE, _Q, _LSE)],
    "merge_attention_states_backward": [_of(*_MERGED), _of(*_MERGED, dlse=_Shape(*_LSE))],
    "multi_head_attention_backward": [_heads],
    "cdist": [_of((3, 4), (5, 4), p=1.0), _of((2, 3, 4), (2, 5, 4), p=float("inf"))],
    "cdist_backward": [_of((3, 5), (3, 4), (5, 4)), _of((3, 5), (3, 4), (5, 4), (3, 5), p=3.0)],
    "pdist_backward": [_of((3,), (3, 4)), _of((3,), (3, 4), (3,), p=1.0)],
    "chunked_logprobs_backward": [_of((4,), (4, 8), (5, 8), np.array([0, 2, 4, 1]), (5,))],
    "linear_cross_entropy": [_of((4, 8), (5, 8), _CLASSES, (5,), label_smoothing=0.1, reduction="none")],
    "linear_cross_entropy_backward": [_of((), (4, 8), (5, 8), _CLASSES, (5,)), _of((4,), *_LCE, reduction="none")],
    "multilabel_margin_loss_backward": [_of((), (2, 4), np.array([[0, 3, -1, -1], [1, -1, 0, 0]]))],
    "corrcoef_backward": [_of((3, 3), (3, 7))],
    "cov": [_of((3, 7), fweights=np.array([1, 2, 1, 1, 3, 1, 1])), _of((3, 7), correction=0)],
    "cov_backward": [_of((3, 3), (3, 7)), _of((3, 3), (3, 7), aweights=np.arange(1, 8, dtype=F32))],
    "cumulative_trapezoid_backward": [_of((3, 4), (3, 5)), _of((3, 4), (3, 5), (5,))],
    "trapezoid_backward": [_of((3,), (3, 5)), _of((3,), (3, 5), (5,))],
    "gradient_backward": [_of((5,), (5,)), _of((5,), (5,), 0.5)],
    "unwrap_backward": [_of((3, 5))],
    "lerp_double_backward": [_of(*[(3, 4)] * 7)],
    "softmax_double_backward": [_of((3, 4), (3, 4), (3, 4))],
    "log_softmax_double_backward": [_of((3, 4), (3, 4), (3, 4))],
    "rms_norm_double_backward": [_of((3, 4), (4,), (3, 4), (3, 4), (4,))],
    "dequantize_per_token_double_backward": [_of((3, 4), (3, 4), (3,))],
    "quantize_per_token_double_backward": [_of((3, 4), (3, 4), (3, 4), (3,))],
    "trace_backward": [_of((), (3, 4)), _of((2,), (3, 4, 2), offset=1)],
    "rope_backward": [_of((2, 3, 5, 8), (5, 4), (5, 4))],
    "local_response_norm_backward": [_of((2, 5, 3), (2, 5, 3), 3)],
    "polyadd_backward": [_of((4,), (3,), (4,))],
    "polysub_backward": [_of((4,), (3,), (4,))],
    "polymul_backward": [_of((6,), (3,), (4,))],
    "polyder_backward": [_of((3,), (4,)), _of((2,), (4,), m=2)],
    "polyint_backward": [_of((5,), (4,)), _of((6,), (4,), (2,), m=2)],
    "interp_backward": [_of((5,), (5,), np.arange(4, dtype=F32), (4,))],
    "sync_batch_norm": [_of((4, 3, 5), (3,), (3,), (3,), (3,))],
    "sync_batch_norm_backward": [_of((4, 3, 5), (4, 3, 5), (3,), (3,), (3,), np.array(20.0, F32))],
    "group_norm": [_of((2, 6, 5), (6,), (6,), num_groups=3)],
    "group_norm_backward": [_of((2, 6, 5), (2, 6, 5), (6,), (6,), num_groups=3)],
    "group_norm_silu": [_of((2, 6, 5), (6,), (6,), num_groups=3, saved=True)],
    "group_norm_silu_backward": [_of((2, 6, 5), (2, 6, 5), (6,), (6,), num_groups=2)],
    "global_response_norm": [_of((2, 4, 3, 5), (5,), (5,))],
    "global_response_norm_backward": [_of((2, 4, 3, 5), (2, 4, 3, 5), (5,), (5,))],
    "dot_general": [_of((3, 4), (4, 5), _NUMBERS), _of((2, 3, 4), (2, 4, 5), _BATCHED)],
    "dot_general_backward": [_of((3, 5), (3, 4), (4, 5), _NUMBERS), _of((2, 3, 5), (2, 3, 4), (2, 4, 5), _BATCHED)],
    "tensordot": [_of((2, 3, 4), (3, 4, 5)), _of((2, 3, 4), (4, 3, 5), ([1, 2], [1, 0]))],
    "tensordot_backward": [_of((2, 5), (2, 3, 4), (3, 4, 5)), _of((2, 5), (2, 3, 4), (4, 3, 5), ([1, 2], [1, 0]))],
    "einsum": [_of("bij,jk->bik", (2, 3, 4), (4, 5)), _of("ii->i", (3, 3)), _of("...i,i", (2, 3), (3,))],
    "einsum_backward": [_of((2, 3, 5), "bij,jk->bik", (2, 3, 4), (4, 5)), _of((), "ii", (3, 3))],
    "multi_dot": [lambda: (([_drawn(2, 3), _drawn(3, 4), _drawn(4, 5)],), {})],
    "multi_dot_backward": [lambda: ((_drawn(2, 5), [_drawn(2, 3), _drawn(3, 4), _drawn(4, 5)]), {})],
    "grouped_mm": [_of((5, 4), (2, 4, 3), np.array([2, 5], np.int32)), _of((3, 2, 4), (3, 4, 5))],
    "grouped_mm_backward": [_of((5, 3), (5, 4), (2, 4, 3), np.array([2, 5], np.int32))],
    "int_mm": [lambda: ((np.int8(_drawn(3, 4) * 5), np.int8(_drawn(4, 5) * 5)), {})],
    "scaled_mm": [lambda: ((_quantized(3, 4), _quantized(4, 5), np.array(0.5, F32), np.array(2.0, F32)), {"dtype": "f32"})],
    "batched_small_gemm_backward": [
        _of((3, 2, 5), (3, 2, 4), (3, 4, 5)), _of((3, 2, 5), (3, 2, 4), (3, 4, 5), (3, 2, 5), beta=2.0)
    ],
    "lora_sgmv": [_of((3, 5), (3, 4), (2, 4, 2), (2, 2, 5), np.array([1, 0, 1]), scale=0.5)],
    "lora_sgmv_backward": [_of((3, 5), (3, 5), (3, 4), (2, 4, 2), (2, 2, 5), np.array([1, -1]), np.array([0, 2, 3]))],
    "semi_structured_24_gemm": [_of((2, 3, 12), (4, 6), _PLACES_OF_FOUR, (4,))],
    "semi_structured_24_gemm_backward": [_of((3, 4), (3, 12), (4, 6), _PLACES_OF_FOUR, (4,))],
    "choose_backward": [lambda: ((_drawn(5), _PLACES % 3, [_drawn(5), _drawn(5), _drawn(1)]), {})],
    "diagonal_scatter_backward": [_of((3, 4), (3, 4), (3,), offset=1)],
    "dynamic_slice_backward": [_of((2, 3), (3, 4), np.array([1, 1]))],
    "dynamic_update_slice_backward": [_of((3, 4), (3, 4), (2, 3), np.array([1, 1]))],
    "index_copy_backward": [_of((5, 4), (5, 4), _PLACES, (5, 4)), _of((3, 5), (3, 5), _PLACES, (3, 5), axis=1)],
    "index_fill_backward": [_of((5, 4), (5, 4), _PLACES)],
    "masked_scatter_backward": [lambda: ((_drawn(3, 4), _drawn(3, 4), _drawn(3, 4) > 0, _drawn(12)), {})],
    "place_backward": [lambda: ((_drawn(3, 4), _drawn(3, 4), _drawn(3, 4) > 0, _drawn(5)), {})],
    "put_flat_backward": [_of((3, 4), (3, 4), _PLACES, (5,)), _of((3, 4), (3, 4), _PLACES, (5,), accumulate=True)],
    "scatter_backward": [lambda: ((_drawn(5), _drawn(5), _PLACES, _drawn(6)), {})],
    "scatter_nd_backward": [_of((5, 4), (5, 4), _PLACES[:, None], (5, 4))],
    "segment_softmax_backward": [_of((5, 2), (5, 2), _PLACES, 5)],
    "select_cond_backward": [lambda: ((_drawn(5), [_PLACES > 2, _PLACES > 1]), {})],
    "select_scatter_backward": [_of((3, 4), (3, 4), (3,), 1, 2)],
    "slice_scatter_backward": [_of((3, 4), (3, 4), (2, 4), start=1)],
    "to_device": [_of((3, 4), baracuda.Device.cpu())],
    "to_host": [_of((3, 4))],
    "view_as_complex_backward": [lambda: ((_drawn(3, 4).astype(np.complex64),), {})],
    "view_as_real_backward": [_of((3, 2))],
}  # fmt: skip


def _layer(gates: int, *before: tuple[int, ...], states: int, listed: bool = True) -> Callable[[], Made]:
    """Tensors in front, an input of 3 steps, 2 rows and 4 numbers, states, and the weights of 5 units."""

    def make() -> Made:
        hx: Any = [_drawn(1, 2, 5, seed=i) for i in range(states)]
        weights = [_drawn(gates * 5, n, seed=9) for n in (4, 5)] + [_drawn(gates * 5, seed=i) for i in range(2)]
        hx = hx if states > 1 else hx[0]
        if listed:
            return [*(_drawn(*s) for s in before), _drawn(3, 2, 4), hx, weights], {}
        hx = [h[0] for h in hx] if states > 1 else hx[0]
        return [*(_drawn(*s) for s in before), _drawn(2, 4), hx, *weights], {}

    return make


CALLS |= {
    "lstm_backward": [_layer(4, (3, 2, 5), states=2)],
    "gru_backward": [_layer(3, (3, 2, 5), states=1)],
    "rnn_backward": [_layer(1, (3, 2, 5), states=1)],
    "slstm_backward": [_layer(4, (3, 2, 5), states=4)],
    "lstm_cell_backward": [_layer(4, (2, 5), (2, 5), states=2, listed=False)],
    "gru_cell": [_layer(3, states=1, listed=False)],
    "gru_cell_backward": [_layer(3, (2, 5), states=1, listed=False)],
    "rnn_cell": [_layer(1, states=1, listed=False)],
    "rnn_cell_backward": [_layer(1, (2, 5), states=1, listed=False)],
    "crf_forward_backward": [_of((2,), (3, 2, 4), (4, 4), (4,), (4,))],
}

for _name, _cases in _products().items():
    CALLS.setdefault(_name, []).extend(_with_result(_name, tensors, False) for tensors in _cases)
    CALLS.setdefault(f"{_name}_backward", []).extend(_with_result(_name, tensors, True) for tensors in _cases)


def _pooling() -> dict[str, list[Callable[[], Made]]]:
    """Gradients of pooling in one to three axes."""
    calls: dict[str, list[Callable[[], Made]]] = {
        "global_avg_pool_backward": [_of((2, 3, 1, 1), (2, 3, 6, 5))],
        "global_max_pool_backward": [_of((2, 3, 1, 1), (2, 3, 6, 5))],
        "global_lp_pool_backward": [_of((2, 3, 1, 1), (2, 3, 6, 5), 2.0)],
        "reduce_window_backward": [
            _of((3, 4), (3, 6), None, computation, _Extents(1, 3)) for computation in ("add", "max", "min", "mul")
        ],
    }
    for rank in (1, 2, 3):
        x, halved = (2, 3, *(7, 6, 5)[-rank:]), (2, 3, *(3, 3, 2)[-rank:])
        overlapped = (2, 3, *(4, 3, 3)[-rank:])
        places = np.arange(np.prod(halved)).reshape(halved) % min(x[-1], 4)
        calls |= {
            f"avg_pool{rank}d_backward": [_of(halved, x, 2), _of(overlapped, x, 3, 2, 1)],
            f"max_pool{rank}d_backward": [_of(halved, x, 2), _of(overlapped, x, 3, 2, 1)],
            f"lp_pool{rank}d_backward": [_of(halved, x, 2.0, 2), _of(halved, x, 3.0, 2)],
            f"adaptive_avg_pool{rank}d_backward": [_of((2, 3, *(4,) * rank), x, 4)],
            f"adaptive_max_pool{rank}d_backward": [_of((2, 3, *(4,) * rank), x, 4)],
            f"max_unpool{rank}d_backward": [_of((2, 3, *(2 * n for n in halved[2:])), halved, places, 2)],
        }
        if rank > 1:
            samples = np.full((2, 3, rank), 0.5, F32)
            calls[f"fractional_max_pool{rank}d_backward"] = [_of(halved, x, 2, _Extents(*halved[2:]), None, samples)]
    return calls


CALLS |= _pooling()

_KEY = np.array([0, 7], np.uint32)
CALLS |= {
    f"{name}_backward": [_of(x, _KEY, 0.3)]
    for name, x in (
        ("dropout", (2, 3)), ("dropout1d", (2, 3, 4)), ("dropout2d", (2, 3, 4, 4)), ("dropout3d", (2, 3, 2, 2, 2)),
        ("alpha_dropout", (2, 3)), ("feature_alpha_dropout", (2, 3, 4)),
    )
}  # fmt: skip
