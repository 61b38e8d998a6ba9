"""Attention by the names of its kinds: windows, soft caps, ALiBi, sinks, packed sequences, caches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, Finite
from baracuda.core.call_recorder import refuse
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import tensor_mut
from baracuda.core.views import expanded_dims, slab, view
from baracuda.frontends.arrays import empty_like
from baracuda.frontends.attention import scaled_dot_product_attention as attend
from baracuda.frontends.attention import scaled_dot_product_attention_backward as attend_backward
from baracuda.frontends.backward import gradients
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.views import copy, run
from baracuda.ops.attention import states
from baracuda.ops.attention.score_biases import ROW_AXES, alibi
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.words import Count

Window = Count | tuple[int | None, int | None]
Softcap = Annotated[float, AtLeast(0), Finite()]

_ANY = dict.fromkeys(("q", "k", "v"), "... : T float")
_ANY_BACKWARD = {**_ANY, **dict.fromkeys(("y", "dy"), "... : T"), "lse": "... : f32 f64"}


@declared(attend, **_ANY)
def sliding_window_attention(q: Any, k: Any, v: Any, window: Window, **options: Any) -> Any:
    """Attention in which query i sees the keys from i + offset - before to i + offset + after (Beltagy et al., Longformer, 2020).

    window is (before, after), None for no bound, or one number for both sides; with causal=True none after i + offset is seen.
    Tiles outside the window are not computed. The options are those of `scaled_dot_product_attention`.
    """
    return attend(q, k, v, window=_sides(window), **options)


@declared(attend_backward, **_ANY_BACKWARD)
def sliding_window_attention_backward(dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any, window: Window, **options: Any) -> Any:
    """The gradients of `sliding_window_attention`, as `scaled_dot_product_attention_backward` gives them."""
    return attend_backward(dy, q, k, v, y, lse, window=_sides(window), **options)


def _sides(window: Window) -> tuple[int | None, int | None]:
    return (window, window) if isinstance(window, int) else window


@declared(attend, **_ANY)
def attention_softcap(q: Any, k: Any, v: Any, softcap: Softcap, **options: Any) -> Any:
    """Attention whose scores are softcap * tanh(score / softcap) (Gemma 2, 2024). The options are those of
    `scaled_dot_product_attention`."""
    return attend(q, k, v, softcap=softcap, **options)


@declared(attend_backward, **_ANY_BACKWARD)
def attention_softcap_backward(dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any, softcap: Softcap, **options: Any) -> Any:
    """The gradients of `attention_softcap`, as `scaled_dot_product_attention_backward` gives them."""
    return attend_backward(dy, q, k, v, y, lse, softcap=softcap, **options)


@declared(attend, **_ANY, slopes="... : float")
def attention_alibi(q: Any, k: Any, v: Any, slopes: Any, **options: Any) -> Any:
    """Attention with slopes * (j - i) added to the scores, slopes (heads,) or (batch, heads) (Press et al., 2022), without that
    bias in memory. The options are those of `scaled_dot_product_attention`."""
    return attend(q, k, v, slopes=slopes, **options)


@declared(attend_backward, **_ANY_BACKWARD, slopes="... : float")
def attention_alibi_backward(dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any, slopes: Any, **options: Any) -> Any:
    """The gradients of `attention_alibi`, as `scaled_dot_product_attention_backward` gives them; `wrt` may name slopes."""
    return attend_backward(dy, q, k, v, y, lse, slopes=slopes, **options)


@declared(slopes="heads : float")
def alibi_bias(slopes: Any, queries: Count, keys: Count, *, out: Any = None) -> Any:
    """slopes[h] * (j - i): the bias (heads, queries, keys) of slopes (heads,), in their element.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.alibi_bias(np.ones(1, np.float32), 2, 2)[0].tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    ref = describe(slopes, "slopes")
    repeated = view(ref, 0, (*ref.shape, queries, keys), (*ref.strides, 0, 0))
    (y,) = run(states.bias_of_slopes, {"slopes": repeated}, slopes, out).values()
    return y


@declared(dy="heads queries keys : float")
def alibi_bias_backward(dy: Any) -> Any:
    """The gradient of `alibi_bias`'s slopes: the sum of dy * (j - i) over queries and keys."""
    ref = describe(dy, "dy")
    problem = OpDescriptor(alibi, ((1, *ref.shape), ref.shape[:1]), (ref.kind, ref.kind), ROW_AXES, wrt=("slopes",))
    return gradients(problem, {"dy": dy[None]}, dy)["slopes"]


# --- sinks and partial results ----------------------------------------------------------------------------------------


def _beside(name: str, x: Any, shape: Sequence[int]) -> Any:
    """A tensor of one number for each row, with an axis for the row."""
    return expanded_dims(describe(x, name), range(len(shape) - 1), len(shape))


def _sinks(sink: Any, shape: Sequence[int]) -> Any:
    return expanded_dims(describe(sink, "sink"), (len(shape) - 3,), len(shape))


_HEADS: dict[str, str] = {
    "q": "*batch heads queries depth : T float",
    "k": "*batch key_heads keys depth : T",
    "v": "*batch key_heads keys value_depth : T",
    "sink": "heads : float",
}
_OF_HEADS = {**dict.fromkeys(("y", "dy"), "*batch heads queries value_depth : T"), "lse": "*batch heads queries : f32 f64"}


@declared(attend, **_HEADS)
def attention_sink(q: Any, k: Any, v: Any, sink: Any, *, saved: bool = False, **options: Any) -> Any:
    """Attention with one more key for each head, whose score is sink[h] and whose value is zero (Xiao et al., 2023; gpt-oss,
    2025).

    sink is (heads,). With saved=True, returns (y, lse), the sink counted in lse. Of 16-bit elements y is rounded twice. The
    options are those of `scaled_dot_product_attention`.
    """
    plain, plain_lse = attend(q, k, v, saved=True, **options)
    shape = tuple(plain.shape)
    tensors = {"x": plain, "x_lse": _beside("lse", plain_lse, shape), "sink": _sinks(sink, shape)}
    results = run(states.with_sink, tensors, plain, plain, axis=-1)
    return (results["y"], results["lse"][..., 0]) if saved else results["y"]


@declared(attend_backward, "out", **_HEADS, **_OF_HEADS)
def attention_sink_backward(
    dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any, sink: Any, *, wrt: Sequence[str] = ("q", "k", "v", "sink"), **options: Any
) -> Any:
    """The gradients of `attention_sink`, in the order of `wrt`, with y and lse as it returned them."""
    names = chosen(wrt, ("q", "k", "v", "bias", "slopes", "sink"))
    others = [n for n in names if n != "sink"]
    inner = attend_backward(dy, q, k, v, y, lse, wrt=others, **options) if others else ()
    gradients_by_name = dict(zip(others, inner if len(others) > 1 else (inner,), strict=False))
    if "sink" in names:
        shape = tuple(dy.shape)
        tensors = {"dy": dy, "y": y, "lse": _beside("lse", lse, shape), "sink": _sinks(sink, shape)}
        (rows,) = run(states.sink_slope, tensors, dy, axis=-1).values()
        axes = tuple(a for a in range(len(shape)) if a != len(shape) - 3)
        gradients_by_name["sink"] = function("sum")(rows, axis=axes, dtype=describe(sink, "sink").kind)
    results = tuple(gradients_by_name[n] for n in names)
    return one_or_all(results)


_STATES = {**dict.fromkeys("ab", "*rows depth : T float"), **dict.fromkeys(("a_lse", "b_lse"), "*rows : float")}
_MERGED = {**dict.fromkeys(("y", "dy"), "*rows depth : T"), **dict.fromkeys(("lse", "dlse"), "*rows : float")}


@declared(**_STATES)
def merge_attention_states(a: Any, a_lse: Any, b: Any, b_lse: Any) -> tuple[Any, Any]:
    """(y, lse) of the same queries over two disjoint sets of keys together, from the results over each.

    a and b are (..., depth), their log-sum-exps (...). Where both are -inf, y is +0 and lse -inf. A row of keys cut in parts and
    merged need not have the bits of the whole, but has the same ones everywhere.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q, k, v = (np.ones((1, 1, n, 4), np.float32) for n in (2, 6, 6))
    >>> parts = [baracuda.scaled_dot_product_attention(q, k[:, :, s], v[:, :, s], saved=True) for s in (slice(2), slice(2, 6))]
    >>> y, lse = baracuda.merge_attention_states(*parts[0], *parts[1])
    """
    shape = tuple(describe(a, "a").shape)
    tensors = {"a": a, "a_lse": _beside("a_lse", a_lse, shape), "b": b, "b_lse": _beside("b_lse", b_lse, shape)}
    results = run(states.merge, tensors, a, axis=-1)
    return results["y"], results["lse"][..., 0]


@declared(**_STATES, **_MERGED)
def merge_attention_states_backward(
    dy: Any, a: Any, a_lse: Any, b: Any, b_lse: Any, y: Any, lse: Any, *, dlse: Any = None
) -> tuple[Any, Any, Any, Any]:
    """The gradients of a, a_lse, b and b_lse of `merge_attention_states`, given those of y and, where it counts, of lse."""
    shape = tuple(describe(a, "a").shape)
    tensors = {"dy": dy, "a": a, "b": b, "y": y}
    for name, x in (("a_lse", a_lse), ("b_lse", b_lse), ("lse", lse), ("dlse", dlse)):
        if x is not None:
            tensors[name] = _beside(name, x, shape)
    results = run(states.merge_backward, tensors, a, axis=-1)
    return results["da"], results["da_lse"][..., 0], results["db"], results["db_lse"][..., 0]


# --- packed sequences -------------------------------------------------------------------------------------------------


def _pieces(starts: Any, name: str, total: int) -> list[tuple[int, int]]:
    """Where each sequence of a packed tensor begins and ends."""
    refuse("it reads offsets on the host")
    listed = [int(n) for n in (starts.tolist() if hasattr(starts, "tolist") else starts)]
    if not listed or listed[0] != 0 or listed[-1] != total or any(a > b for a, b in pairwise(listed)):
        raise InvalidProblemError(f"{name}: {listed}; expected numbers that rise from 0 to {total}")
    return list(pairwise(listed))


def _packed(q: Any, k: Any, starts: Any, key_starts: Any) -> list[tuple[slice, slice]]:
    q_shape, k_shape = describe(q, "q").shape, describe(k, "k").shape
    rows = _pieces(starts, "starts", q_shape[0])
    if key_starts is None and k_shape[0] != q_shape[0]:
        raise InvalidProblemError(f"key_starts: None with {q_shape[0]} rows of q and {k_shape[0]} of k; expected where k's begin")
    columns = rows if key_starts is None else _pieces(key_starts, "key_starts", k_shape[0])
    return [(slice(*r), slice(*c)) for r, c in zip(rows, columns, strict=True)]


_PACKED: dict[str, str] = {
    "q": "total heads depth : T float",
    "k": "key_total key_heads depth : T",
    "v": "key_total key_heads value_depth : T",
    "starts": "bounds or numbers : int",
    "key_starts": "bounds or numbers : int",
}
_OF_PACKED = {**dict.fromkeys(("y", "dy"), "total heads value_depth : T"), "lse": "heads total : f32 f64"}
_OF_EACH = ("mask", "bias", "query_lengths", "key_lengths", "out")


@declared(attend, *_OF_EACH, **_PACKED)
def varlen_attention(q: Any, k: Any, v: Any, starts: Any, key_starts: Any = None, *, saved: bool = False, **options: Any) -> Any:
    """Attention of packed sequences: q (total, heads, depth), k and v (total, key_heads, depth), sequence n being the rows from
    starts[n] to before starts[n + 1]; key_starts likewise for k and v, by default starts.

    Each sequence is a call on views of the packed tensors, with the bits that it has alone: nothing is padded or copied. starts
    are read on the host. With saved=True, returns (y, lse), lse (heads, total). The options are those of
    `scaled_dot_product_attention` that do not depend on the sequence: causal, window, offset, scale, softcap and slopes.
    """
    d, w = describe(q, "q"), describe(v, "v")
    pieces = _packed(q, k, starts, key_starts)
    y = empty_like(q, (*d.shape[:2], w.shape[-1]), d.kind)
    lse = empty_like(q, (d.shape[1], d.shape[0]), d.kind.compute) if saved else None
    for rows, columns in pieces:
        if rows.start < rows.stop:
            parts = (x[at].swapaxes(0, 1) for x, at in ((q, rows), (k, columns), (v, columns)))
            attended = attend(*parts, saved=saved, out=y[rows].swapaxes(0, 1), **options)
            if lse is not None:
                copy(describe(attended[1], "lse"), tensor_mut(lse[:, rows]), q)
    return y if lse is None else (y, lse)


@declared(attend_backward, "wrt", *_OF_EACH, **_PACKED, **_OF_PACKED)
def varlen_attention_backward(
    dy: Any, q: Any, k: Any, v: Any, y: Any, lse: Any, starts: Any, key_starts: Any = None, **options: Any
) -> tuple[Any, Any, Any]:
    """The gradients of q, k and v of `varlen_attention`, packed likewise."""
    pieces = _packed(q, k, starts, key_starts)
    whole = [empty_like(x, describe(x, n).shape, describe(x, n).kind) for n, x in (("q", q), ("k", k), ("v", v))]
    for rows, columns in pieces:
        if rows.start == rows.stop == columns.start == columns.stop:
            continue
        places = (rows, columns, columns)
        dy_, q_, k_, v_, y_ = (x[at].swapaxes(0, 1) for x, at in ((dy, rows), (q, rows), (k, columns), (v, columns), (y, rows)))
        out = [x[at].swapaxes(0, 1) for x, at in zip(whole, places, strict=True)]
        attend_backward(dy_, q_, k_, v_, y_, lse[:, rows], out=out, **options)
    return whole[0], whole[1], whole[2]


# --- caches -----------------------------------------------------------------------------------------------------------


@declared(
    attend, "k", "v", q="batch heads depth or batch heads 1 depth : T float", k_cache="batch key_heads capacity depth : T",
    v_cache="batch key_heads capacity value_depth : T", key_lengths="batch : s32",
)  # fmt: skip
def decode_attention(q: Any, k_cache: Any, v_cache: Any, key_lengths: Any = None, **options: Any) -> Any:
    """Attention of one query for each batch element over a cache: q (batch, heads, depth) or (batch, heads, 1, depth), the caches
    (batch, key_heads, capacity, depth), of which the first key_lengths (batch,) s32 are filled.

    The heads that share a key head read it together. The options are those of `scaled_dot_product_attention`.
    """
    narrow = len(describe(q, "q").shape) == 3
    y = attend(q[:, :, None] if narrow else q, k_cache, v_cache, key_lengths=key_lengths, **options)
    if not narrow:
        return y
    return (y[0][:, :, 0], y[1][:, :, 0]) if options.get("saved") else y[:, :, 0]


_CACHE = {"cache": "batch key_heads capacity depth : T", "new": "batch key_heads steps depth : T"}


@declared(**_CACHE, positions="batch or number or numbers : int")
def kv_cache_append(cache: Any, new: Any, positions: Any) -> Any:
    """Writes new (batch, key_heads, steps, depth) into cache (batch, key_heads, capacity, depth) in place, from a position on:
    one number for all, or one for each batch element, read on the host. Returns cache.

    Raises `InvalidProblemError` where a position leaves no room.
    """
    target, source = tensor_mut(cache, name="cache"), describe(new, "new")
    steps, capacity = source.shape[2], target.shape[2]
    shared = isinstance(positions, int)
    refuse("it reads positions on the host")
    listed = [positions] if shared else [int(p) for p in (positions.tolist() if hasattr(positions, "tolist") else positions)]
    for p in listed:
        if not 0 <= p <= capacity - steps:
            raise InvalidProblemError(f"positions: {p}; expected 0 to {capacity - steps} for {steps} steps in {capacity}")
    for n, p in enumerate(listed):
        to, what = (target, source) if shared else (slab(target, 0, n, n + 1), slab(source, 0, n, n + 1))
        copy(what, slab(to, 2, p, p + steps), new)
    return cache
