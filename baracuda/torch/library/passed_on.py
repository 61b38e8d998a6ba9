"""Extents that results have from arguments, of functions that are written out: the axes that a function passes on as they are.

A rule is given the arguments by name and the shapes of the results with the sizes at hand, and gives their extents. Every other
extent of an argument is made a number, which tells PyTorch that the program holds for it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Extents = tuple[Any, ...]
Rule = Callable[[Mapping[str, Any], Sequence[tuple[int, ...]]], list[Extents]]


def _batch(v: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> list[Extents]:
    """Of x the first axis, which is the first of each result."""
    _fixed({n: t for n, t in v.items() if n != "x"})
    first, *rest = v["x"].shape
    _numbers(rest)
    return [(first, *shape[1:]) for shape in shapes]


def _attention(v: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> list[Extents]:
    """Of q all axes but the last, which is that of v."""
    q = v["q"].shape
    return [(*q[:-1], v["v"].shape[-1]), tuple(q[:-1])][: len(shapes)]


def _along(v: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> list[Extents]:
    """Of x all axes but the one that is worked along."""
    _fixed({n: t for n, t in v.items() if n != "x"})
    x, axis = v["x"].shape, v.get("axis")
    along = (0 if axis is None else axis) % len(x)
    _numbers([x[along]])
    return [tuple(n if a == along else x[a] for a, n in enumerate(shape)) for shape in shapes]


def _concat(v: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> list[Extents]:
    """Of the first array all axes but the one along which all extents add up."""
    (shape,) = shapes
    along = (v["axis"] or 0) % len(shape)
    extents = [t.shape for t in v["arrays"]]
    for other in extents[1:]:
        for a, n in enumerate(other):
            if a != along:
                torch._check(n == extents[0][a])
    return [tuple(sum(e[a] for e in extents) if a == along else extents[0][a] for a in range(len(shape)))]


def _fixed(values: Mapping[str, Any]) -> None:
    for value in values.values():
        for t in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(t, torch.Tensor):
                _numbers(t.shape)


def _numbers(extents: Sequence[Any]) -> None:
    for n in extents:
        int(n)


_RANKS = (1, 2, 3)
RULES: dict[str, Rule] = {
    **dict.fromkeys((f"{name}{rank}d" for name in ("conv", "conv_transpose") for rank in _RANKS), _batch),
    **dict.fromkeys((f"{kind}_pool{rank}d" for kind in ("avg", "max", "lp") for rank in _RANKS), _batch),
    **dict.fromkeys((f"adaptive_{kind}_pool{rank}d" for kind in ("avg", "max") for rank in _RANKS), _batch),
    **dict.fromkeys(
        (
            "global_avg_pool", "global_lp_pool", "global_max_pool", "group_norm", "group_norm_silu", "interpolate",
            "local_response_norm", "pixel_shuffle", "pixel_unshuffle", "rope",
        ),
        _batch,
    ),
    **dict.fromkeys(
        ("attention_alibi", "attention_sink", "attention_softcap", "scaled_dot_product_attention", "sliding_window_attention"),
        _attention,
    ),
    **dict.fromkeys(("chunk", "split", "tensor_split"), _along),
    "concat": _concat,
}  # fmt: skip
