"""Multi-head attention with its projections: matrix products around `scaled_dot_product_attention`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import Instance
from baracuda.frontends.attention import scaled_dot_product_attention, scaled_dot_product_attention_backward
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.linear import linear, linear_backward
from baracuda.ops.declaration.composition import chosen
from baracuda.ops.declaration.words import Positive, Wrt

_INPUTS, _PROJECTED = ("q", "k", "v"), ("q", "k", "v", "out")


class SavedHeads(NamedTuple):
    """What the backward of `multi_head_attention` reads: the projected q, k and v, (batch, heads, sequence, depth) each, the
    attention's result and its log-sum-exp."""

    q: Any
    k: Any
    v: Any
    y: Any
    lse: Any


def _split(x: Any, heads: int, name: str) -> Any:
    """(batch, sequence, heads * depth) as (batch, heads, sequence, depth), a view."""
    shape = describe(x, name).shape
    if shape[-1] % heads:
        raise InvalidProblemError(f"{name}_weight: {shape[-1]} rows for {heads} heads; expected a multiple")
    return x.reshape(*shape[:2], heads, shape[-1] // heads).swapaxes(1, 2)


def _joined(x: Any) -> Any:
    """(batch, heads, sequence, depth) as (batch, sequence, heads * depth)."""
    batch, heads, sequence, depth = x.shape
    return x.swapaxes(1, 2).reshape(batch, sequence, heads * depth)


Saved = Annotated[SavedHeads, Instance(SavedHeads, "what the forward returned")]
_TENSORS: dict[str, str] = {
    "q": "batch queries width : T float",
    "k": "batch keys key_width : T",
    "v": "batch keys value_width : T",
    "q_weight": "q_rows width : T",
    "k_weight": "k_rows key_width : T",
    "v_weight": "v_rows value_width : T",
    "out_weight": "out_width joined_width : T",
    "q_bias": "q_rows : T",
    "k_bias": "k_rows : T",
    "v_bias": "v_rows : T",
    "out_bias": "out_width : T",
}


@declared(scaled_dot_product_attention, "out", **_TENSORS)
def multi_head_attention(
    q: Any,
    k: Any,
    v: Any,
    q_weight: Any,
    k_weight: Any,
    v_weight: Any,
    out_weight: Any,
    q_bias: Any = None,
    k_bias: Any = None,
    v_bias: Any = None,
    out_bias: Any = None,
    *,
    heads: Positive,
    key_heads: Positive | None = None,
    saved: bool = False,
    **options: Any,
) -> Any:
    """Attention between projections: out_weight @ attention of (q_weight @ q, k_weight @ k, v_weight @ v), for `heads` heads.

    q is (batch, queries, width), k and v (batch, keys, width of their own); weights are (rows, width) as in `linear`, those of k
    and v having `key_heads` times the depth of a head as rows (default: heads). With saved=True, returns (y, what the backward
    reads). The options are those of `scaled_dot_product_attention` (Vaswani et al., 2017).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, w = np.ones((1, 3, 8), np.float32), np.eye(8, dtype=np.float32)
    >>> baracuda.multi_head_attention(x, x, x, w, w, w, w, heads=2).shape
    (1, 3, 8)
    """
    counts = (heads, key_heads or heads, key_heads or heads)
    projections = ((q, q_weight, q_bias), (k, k_weight, k_bias), (v, v_weight, v_bias))
    q_heads, k_heads, v_heads = (_split(linear(*xs), n, name) for xs, n, name in zip(projections, counts, _INPUTS, strict=True))
    attended = scaled_dot_product_attention(q_heads, k_heads, v_heads, saved=saved, **options)
    y, lse = attended if saved else (attended, None)
    result = linear(_joined(y), out_weight, out_bias)
    return (result, SavedHeads(q_heads, k_heads, v_heads, y, lse)) if saved else result


@declared(scaled_dot_product_attention_backward, "out", "y", "lse", **_TENSORS, dy="batch queries out_width : T")
def multi_head_attention_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    q_weight: Any,
    k_weight: Any,
    v_weight: Any,
    out_weight: Any,
    q_bias: Any = None,
    k_bias: Any = None,
    v_bias: Any = None,
    out_bias: Any = None,
    *,
    saved: Saved,
    wrt: Wrt = None,
    **options: Any,
) -> dict[str, Any]:
    """The gradients of `multi_head_attention`'s tensors by their names; `wrt` names those wanted, by default all that are given,
    and may name one of the options bias and slopes.

    saved is what the forward returned; the options are the forward's, without heads and key_heads.
    """
    inputs = dict(zip(_INPUTS, (q, k, v), strict=True))
    weights = dict(zip(_PROJECTED, (q_weight, k_weight, v_weight, out_weight), strict=True))
    biases = dict(zip(_PROJECTED, (q_bias, k_bias, v_bias, out_bias), strict=True))
    known = [*inputs, *(f"{n}_weight" for n in weights), *(f"{n}_bias" for n, b in biases.items() if b is not None)]
    scores = [n for n in ("bias", "slopes") if options.get(n) is not None]
    wanted = chosen(known if wrt is None else wrt, [*known, *scores])
    inner = [n for n in _INPUTS if {n, f"{n}_weight", f"{n}_bias"} & {*wanted}] + [n for n in scores if n in wanted]
    gradients = _through(dy, "out", _joined(saved.y), weights, biases, wanted, needed=bool(inner))
    if inner:
        shape = tuple(saved.y.shape)
        dheads = gradients.pop("out").reshape(shape[0], shape[2], shape[1], shape[3]).swapaxes(1, 2)
        inner_gradients = scaled_dot_product_attention_backward(dheads, *saved, wrt=inner, **options)
        for name, gradient in zip(inner, inner_gradients if len(inner) > 1 else (inner_gradients,), strict=True):
            if name in inputs:
                gradients |= _through(_joined(gradient), name, inputs[name], weights, biases, wanted, needed=name in wanted)
            else:
                gradients[name] = gradient
    return {n: gradients[n] for n in wanted}


def _through(
    dy: Any, name: str, x: Any, weights: Mapping[str, Any], biases: Mapping[str, Any], wanted: Sequence[str], *, needed: bool
) -> dict[str, Any]:
    """The gradients of one projection: of what it is applied to, by its name, where that is needed, of its weight and bias."""
    names = {"x": name, "weight": f"{name}_weight", "bias": f"{name}_bias"}
    asked_names = [own for own, full in names.items() if (needed if own == "x" else full in wanted)]
    if not asked_names:
        return {}
    gradients = linear_backward(dy, x, weights[name], biases[name], wrt=asked_names)
    return {names[own]: g for own, g in zip(asked_names, gradients if len(asked_names) > 1 else (gradients,), strict=True)}
