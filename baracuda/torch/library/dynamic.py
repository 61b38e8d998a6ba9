"""Operators that look at values on the host: what is known of their results without them.

Where an extent follows from values, it is a new one that PyTorch's compiler knows nothing of. Each rule is given the arguments by
name, tensors without values among them, and what makes such an extent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Values = Mapping[str, Any]
Size = Callable[[], Any]
Rule = Callable[[Values, Size], list[torch.Tensor]]

#: The rule of an operator by its name.
DYNAMIC: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        DYNAMIC.update(dict.fromkeys(names, rule))
        return rule

    return declare


def _new(like: torch.Tensor, shape: Sequence[Any], dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.empty(tuple(shape), dtype=dtype or like.dtype, device=like.device)


def _replaced(shape: Sequence[Any], axis: int, extent: Any) -> list[Any]:
    extents = list(shape)
    extents[axis] = extent
    return extents


@_rule("argwhere")
def _argwhere(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["x"], (size(), v["x"].dim()), torch.int64)]


@_rule("nonzero")
def _nonzero(v: Values, size: Size) -> list[torch.Tensor]:
    if v["as_tuple"] is False:
        return _argwhere(v, size)
    n = size()
    return [_new(v["x"], (n,), torch.int64) for _ in range(v["x"].dim())]


@_rule("flatnonzero")
def _flatnonzero(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["x"], (size(),), torch.int64)]


@_rule("nms", "batched_nms")
def _nms(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["boxes"], (size(),), torch.int64)]


@_rule("masked_select")
def _masked_select(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["x"], (size(),))]


@_rule("compress")
def _compress(v: Values, size: Size) -> list[torch.Tensor]:
    x = v["x"]
    return [_new(x, (size(),) if v["axis"] is None else _replaced(x.shape, v["axis"], size()))]


@_rule("bincount")
def _bincount(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["x"], (size(),), torch.int64 if v["weights"] is None else v["weights"].dtype)]


@_rule("intersect1d")
def _intersect1d(v: Values, size: Size) -> list[torch.Tensor]:
    n = size()
    places = [_new(v["a"], (n,), torch.int64) for _ in range(2 if v.get("return_indices") else 0)]
    return [_new(v["a"], (n,), torch.promote_types(v["a"].dtype, v["b"].dtype)), *places]


@_rule("setdiff1d", "setxor1d", "union1d")
def _set(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["a"], (size(),), torch.promote_types(v["a"].dtype, v["b"].dtype))]


@_rule("unique", "unique_consecutive")
def _unique(v: Values, size: Size) -> list[torch.Tensor]:
    x, axis, n = v["x"], v["axis"], size()
    known = (n,) if axis is None else _replaced(x.shape, axis, n)
    whole = x.shape if axis is None else (x.shape[axis],)
    shapes = {"return_index": (n,), "return_inverse": whole, "return_counts": (n,)}
    return [_new(x, known), *(_new(x, shape, torch.int64) for name, shape in shapes.items() if v.get(name))]


@_rule("repeat_interleave", "delete", "insert")
def _repeat_interleave(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["x"], (size(),) if v["axis"] is None else _replaced(v["x"].shape, v["axis"], size()))]


@_rule("jagged_index_select")
def _jagged_index_select(v: Values, size: Size) -> list[torch.Tensor]:
    ends = v["offsets"] if v["lengths"] is None else v["lengths"]
    return [_new(v["x"], (size(), *v["x"].shape[1:])), _new(v["x"], v["index"].shape, ends.dtype)]


@_rule("nested_to_padded")
def _nested_to_padded(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["x"], (v["offsets"].shape[0] - 1, size(), *v["x"].shape[1:]))]


@_rule("padded_to_nested")
def _padded_to_nested(v: Values, size: Size) -> list[torch.Tensor]:
    return [_new(v["x"], (size(), *v["x"].shape[2:]))]


@_rule("pack_padded_sequence")
def _pack_padded_sequence(v: Values, size: Size) -> list[torch.Tensor]:
    lengths = v["lengths"]
    order = [] if v["enforce_sorted"] in (None, True) else [_new(lengths, lengths.shape, torch.int64) for _ in range(2)]
    return [_new(v["x"], (size(), *v["x"].shape[2:])), _new(lengths, (size(),), torch.int64), *order]


@_rule("pad_packed_sequence")
def _pad_packed_sequence(v: Values, size: Size) -> list[torch.Tensor]:
    steps = v["batch_sizes"].shape[0] if v["total_length"] is None else v["total_length"]
    n, rest = size(), v["x"].shape[1:]
    return [_new(v["x"], (n, steps, *rest) if v["batch_first"] else (steps, n, *rest)), _new(v["batch_sizes"], (n,), torch.int64)]


@_rule("trim_zeros")
def _trim_zeros(v: Values, size: Size) -> list[torch.Tensor]:
    x = v["x"]
    axes = range(x.dim()) if v["axis"] is None else [a % x.dim() for a in v["axis"]]
    return [_new(x, [size() if a in axes else n for a, n in enumerate(x.shape)])]


# --- shapes that are known, of functions that read bounds on the host ----------------------------------------------------


@_rule("kv_cache_append")
def _kv_cache_append(v: Values, size: Size) -> list[torch.Tensor]:
    return []


@_rule("grouped_mm")
def _grouped_mm(v: Values, size: Size) -> list[torch.Tensor]:
    a, b = v["a"], v["b"]
    groups = [v["offs"].shape[0]] if a.dim() == b.dim() == 2 else []
    return [_new(a, (*groups, a.shape[-2], b.shape[-1]))]


@_rule("scaled_grouped_mm")
def _scaled_grouped_mm(v: Values, size: Size) -> list[torch.Tensor]:
    (product,) = _grouped_mm(v, size)
    whole = not v["a"].is_floating_point()
    return [_new(product, product.shape, v["dtype"] or (torch.float32 if whole else torch.bfloat16))]


@_rule("scaled_grouped_mm_backward")
def _scaled_grouped_mm_backward(v: Values, size: Size) -> list[torch.Tensor]:
    names = v["wrt"] or [n for n in ("a", "b", "scale_a", "scale_b", "bias") if v[n] is not None]
    dtypes = {n: torch.float32 if n.startswith("scale") else v["dy"].dtype for n in names}
    return [_new(v[n], v[n].shape, dtypes[n]) for n in names]


@_rule("varlen_attention")
def _varlen_attention(v: Values, size: Size) -> list[torch.Tensor]:
    q = v["q"]
    result = _new(q, (*q.shape[:-1], v["v"].shape[-1]))
    wide = torch.float64 if q.dtype is torch.float64 else torch.float32
    return [result, _new(q, (q.shape[1], q.shape[0]), wide)]


@_rule("roi_pool", "ps_roi_pool")
def _roi_pool(v: Values, size: Size) -> list[torch.Tensor]:
    x, extents = v["x"], list(v["output_size"])
    height, width = extents * 2 if len(extents) == 1 else extents
    channels = x.shape[1] if v["of"] == "roi_pool" else x.shape[1] // (height * width)
    return [_new(x, (v["boxes"].shape[0], channels, height, width))]


def _like(*names: str) -> Rule:
    """Results of the shape of arguments."""
    return lambda v, size: [_new(v[n], v[n].shape) for n in names]


DYNAMIC |= {
    "grouped_mm_backward": _like("a", "b"),
    "pack_padded_sequence_backward": _like("x"),
    "ps_roi_pool_backward": _like("x"),
    "roi_pool_backward": _like("x"),
    "trim_zeros_backward": _like("x"),
    "varlen_attention_backward": _like("q", "k", "v"),
}
