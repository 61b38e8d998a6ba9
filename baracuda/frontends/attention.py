"""Scaled dot product attention as functions of tensors, and what the field calls by names of its own.

Tensors are of NumPy, PyTorch, CuPy or JAX, or any DLPack producer, of f16, bf16, f32 or f64, in any strides: one that lies as
(batch, sequence, heads, depth) is given as a view with its axes exchanged. The bits are the same on every device, and neither
other batch elements nor padding changes them; `preference=PlanPreference(fastest=True)` takes a library's plan instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.formula.expr import Expr
from baracuda.formula.graph import Graph
from baracuda.frontends.call import apply, describe
from baracuda.frontends.declared import at_run_time, declared
from baracuda.frontends.families import function
from baracuda.ops.attention.descriptor import OTHERS, AttentionBackwardDescriptor, AttentionDescriptor
from baracuda.ops.attention.plan import AttentionArgs, AttentionBackwardArgs, AttentionBackwardPlan, AttentionPlan
from baracuda.ops.attention.score import custom
from baracuda.ops.declaration.composition import one_or_all
from baracuda.ops.declaration.words import Eps, FiniteFloat

_READ = tuple(s.name for s in AttentionPlan.tensors if not s.written)
_READ_BACKWARD = tuple(s.name for s in AttentionBackwardPlan.tensors if not s.written)


class _Call:
    """The tensors of a call with four axes each, and its descriptor."""

    def __init__(
        self,
        q: Any,
        k: Any,
        v: Any,
        tensors: Mapping[str, Any],
        options: Mapping[str, Any],
        score: Callable[..., Expr] | None = None,
        others: Sequence[Any] = (),
    ) -> None:
        refs = {n: describe(t, n) for n, t in (("q", q), ("k", k), ("v", v))}
        rank = len(refs["q"].shape)
        if any(len(r.shape) != rank for r in refs.values()) or not 2 <= rank <= 4:
            raise InvalidProblemError(
                f"shapes q {refs['q'].shape}, k {refs['k'].shape}, v {refs['v'].shape}; expected 2 to 4 axes each: "
                "(batch, heads, sequence, depth), of which the first may be left out"
            )
        self.lead = 4 - rank
        self.tensors: dict[str, Any] = {"q": self.widened(q), "k": self.widened(k), "v": self.widened(v)}
        shapes = {n: (1,) * self.lead + r.shape for n, r in refs.items()}
        named = {n: t for n, t in tensors.items() if t is not None}
        others = list(others)
        if len(others) > len(OTHERS):
            raise InvalidProblemError(f"tensors: {len(others)}; expected at most {len(OTHERS)}")
        inputs = {n: describe(t, n) for n, t in (*named.items(), *zip(OTHERS, others, strict=False))}
        self.shapes = {n: r.shape for n, r in inputs.items()}
        described: dict[str, Any] = dict(options)
        for name, tensor in (*named.items(), *zip(OTHERS, others, strict=False)):
            lengths = name in ("query_lengths", "key_lengths")
            self.tensors[name] = tensor if lengths or name == "slopes" else _with_axes(tensor, inputs[name])
            shape = inputs[name].shape if name == "slopes" else (1,) * (4 - len(inputs[name].shape)) + inputs[name].shape
            if lengths:
                described[name] = True
            elif name not in OTHERS:
                described[f"{name}_shape"] = shape
                if name != "mask":
                    described[f"{name}_element"] = inputs[name].kind
        if "mask" in inputs and inputs["mask"].kind is not ElementKind.BOOL:
            raise InvalidProblemError(
                f"mask: element is {inputs['mask'].kind}; expected bool, true where a query sees a key (what is added is `bias`)"
            )
        if score is not None:
            kinds = tuple(inputs[n].kind for n in OTHERS[: len(others)])
            described["formula"] = _traced(score, kinds, refs["q"].kind)
            described["others"] = tuple(
                ((1,) * (4 - len(inputs[n].shape)) + inputs[n].shape, inputs[n].kind) for n in OTHERS[: len(others)]
            )
        (batch, heads, queries, depth), (_, key_heads, keys, value_depth) = shapes["q"], shapes["v"]
        self.descriptor = AttentionDescriptor(
            batch, heads, key_heads, queries, keys, depth, value_depth, refs["q"].kind, **described
        )

    def widened(self, x: Any) -> Any:
        """A tensor with the axes that the call left out."""
        return x if self.lead == 0 else x[(None,) * self.lead]

    def narrowed(self, x: Any) -> Any:
        return x if self.lead == 0 or x is None else x[(0,) * self.lead]


def _with_axes(x: Any, ref: TensorRef) -> Any:
    """A tensor that broadcasts, with all four axes."""
    if len(ref.shape) > 4:
        raise InvalidProblemError(f"shape {ref.shape} of a tensor of the score; expected at most four axes")
    return x if len(ref.shape) == 4 else x[(None,) * (4 - len(ref.shape))]


@lru_cache(maxsize=256)
def _traced(score: Callable[..., Expr], kinds: tuple[ElementKind, ...], element: ElementKind) -> Graph:
    return custom(score, kinds, element)


def _forward(call: _Call, saved: bool, out: Any, preference: PlanPreference | None) -> Any:
    d = replace(call.descriptor, lse=saved)
    outputs = [(d.y_shape, d.element), (d.lse_shape, d.compute) if saved else None]
    results_into = [None if out is None else call.widened(out)]
    values = [call.tensors.get(n) for n in _READ]
    y, lse = apply(AttentionPlan, AttentionArgs, d, call.tensors["q"], values, outputs, results_into, preference)
    y = out if out is not None else call.narrowed(y)
    return (y, call.narrowed(lse)) if saved else y


def _backward(
    call: _Call, dy: Any, y: Any, lse: Any, wrt: Sequence[str], preference: PlanPreference | None, out: Sequence[Any] = ()
) -> Any:
    options = {f.name: getattr(call.descriptor, f.name) for f in fields(call.descriptor)} | {"lse": True}
    d = AttentionBackwardDescriptor(**options, wrt=tuple(wrt))
    tensors = call.tensors = call.tensors | {n: call.widened(t) for n, t in (("dy", dy), ("y", y), ("lse", lse))}
    results_into = [None if x is None else call.widened(x) for x in out]
    wanted = [
        (d.q_shape, d.element) if d.wants_dq else None,
        (d.k_shape, d.element) if d.wants_dk else None,
        (d.v_shape, d.element) if d.wants_dv else None,
        (d.pair_shape, d.dbias_element) if d.wants_dbias else None,
    ]
    values = [tensors.get(n) for n in _READ_BACKWARD]
    gradients = apply(AttentionBackwardPlan, AttentionBackwardArgs, d, tensors["q"], values, wanted, results_into, preference)
    gradients_by_name = dict(zip(("q", "k", "v"), (call.narrowed(x) for x in gradients[:3]), strict=True))
    if d.pair is not None:
        gradients_by_name[d.pair] = _summed(gradients[3], d).reshape(call.shapes[d.pair])
    results = tuple(gradients_by_name[n] for n in wrt)
    return one_or_all(results)


def _summed(pairs: Any, d: AttentionBackwardDescriptor) -> Any:
    """The gradient of a tensor of the score: that of each pair, summed over what the tensor was broadcast along."""
    broadcast_shape = [1] * 4
    for axis, n in zip(d.slopes_axes if d.pair == "slopes" else range(4), getattr(d, f"{d.pair}_shape"), strict=True):
        broadcast_shape[axis] = n
    axes = tuple(a for a, (n, whole) in enumerate(zip(broadcast_shape, d.pair_shape, strict=True)) if n != whole)
    return function("sum")(pairs, axis=axes, dtype=getattr(d, f"{d.pair}_element")) if axes else pairs


_TENSORS: dict[str, str] = {
    "q": "*batch heads queries depth or queries depth : T float",
    "k": "*batch key_heads keys depth or keys depth : T",
    "v": "*batch key_heads keys value_depth or keys value_depth : T",
}
#: The numbers that kernels are given at run time, with the values that have code of their own.
_NUMBERS: dict[str, Any] = dict(AttentionDescriptor.numbers)
_LENGTHS = dict.fromkeys(("query_lengths", "key_lengths"), "elements : s32")
_SCORES = {"mask": "...", "bias": "... : float", "slopes": "heads or *batch heads : float"}
_RESULTS: dict[str, str] = {
    **dict.fromkeys(("y", "dy"), "*batch heads queries value_depth or queries value_depth : T"),
    "lse": "*batch heads queries or queries : f32 f64",
}


@at_run_time(**_NUMBERS)
@declared(**_TENSORS, **_SCORES, **_LENGTHS)
def scaled_dot_product_attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    *,
    bias: Any = None,
    slopes: Any = None,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    offset: int = 0,
    scale: FiniteFloat | None = None,
    softcap: Eps = 0.0,
    query_lengths: Any = None,
    key_lengths: Any = None,
    saved: bool = False,
    out: Any = None,
    preference: PlanPreference | None = None,
) -> Any:
    """softmax(scale * q @ k.T) @ v for each head, the scores changed on the way as the options say.

    Parameters
    ----------
    q, k, v
        (batch, heads, queries, depth), (batch, key_heads, keys, depth) and (batch, key_heads, keys, value_depth) of one element.
        key_heads divides heads: each key head serves a group of neighbouring heads (GQA; MQA for one). Batch and heads may be
        left out of all three.
    mask
        bool that broadcasts to (batch, heads, queries, keys): true where a query may see a key.
    bias
        A float tensor that broadcasts likewise and is added to the scores.
    slopes
        ALiBi: (heads,) or (batch, heads); slopes * (j - i) is added.
    causal, window, offset
        Query i stands at key i + offset; causal: it sees none after it; window = (before, after): only so many on each side, None
        for no bound. offset=keys - queries lets the last query stand at the last key.
    scale
        By default 1 / sqrt(depth).
    softcap
        Scores become softcap * tanh(score / softcap), before bias, slopes and mask; 0: they do not.
    query_lengths, key_lengths
        s32 of (batch,): how many there are in each batch element. What is beyond is not read, and gives rows of +0.
    saved
        Return (y, lse), lse the logarithm of each query's sum of exponentials, of (batch, heads, queries) in f32 or f64.
    out
        Where y is written.

    Raises `InvalidProblemError` for shapes that do not fit, elements that differ, and options out of range.

    Differs from PyTorch: a query that sees no key gives +0, not NaN or the mean of v.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q = k = v = np.ones((1, 2, 3, 4), np.float32)
    >>> baracuda.scaled_dot_product_attention(q, k, v, causal=True).shape
    (1, 2, 3, 4)
    """
    more = {"query_lengths": query_lengths, "key_lengths": key_lengths, "bias": bias, "mask": mask, "slopes": slopes}
    options = {"causal": causal, "window": window, "offset": offset, "scale": scale, "softcap": softcap}
    return _forward(_Call(q, k, v, more, options), saved, out, preference)


@at_run_time(**_NUMBERS)
@declared(**_TENSORS, **_RESULTS, **_SCORES, **_LENGTHS)
def scaled_dot_product_attention_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    y: Any,
    lse: Any,
    mask: Any = None,
    *,
    bias: Any = None,
    slopes: Any = None,
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    offset: int = 0,
    scale: FiniteFloat | None = None,
    softcap: Eps = 0.0,
    query_lengths: Any = None,
    key_lengths: Any = None,
    wrt: Sequence[str] = ("q", "k", "v"),
    out: Sequence[Any] = (),
    preference: PlanPreference | None = None,
) -> Any:
    """The gradients of `scaled_dot_product_attention`, given that of y, and y and lse as it returned them with saved=True.

    `wrt` names whose gradients are wanted, in the order they are returned: some of q, k, v, and at most one of bias and slopes.
    `out` are tensors to write the first gradients to, in the order of q, k, v, None for one to allocate.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q = k = v = dy = np.ones((1, 2, 3, 4), np.float32)
    >>> y, lse = baracuda.scaled_dot_product_attention(q, k, v, saved=True)
    >>> dq, dk, dv = baracuda.scaled_dot_product_attention_backward(dy, q, k, v, y, lse)
    """
    out = () if out is None else out
    if not isinstance(out, (tuple, list)):
        raise InvalidProblemError(f"out: got a {type(out).__name__}; expected a tuple of tensors, None for one to allocate")
    more = {"query_lengths": query_lengths, "key_lengths": key_lengths, "bias": bias, "mask": mask, "slopes": slopes}
    options = {"causal": causal, "window": window, "offset": offset, "scale": scale, "softcap": softcap}
    return _backward(_Call(q, k, v, more, options), dy, y, lse, wrt, preference, out)


@declared(**_TENSORS, **_LENGTHS, tensors="...")
def flex_attention(
    q: Any,
    k: Any,
    v: Any,
    *tensors: Any,
    score: Callable[..., Expr],
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    offset: int = 0,
    scale: FiniteFloat | None = None,
    query_lengths: Any = None,
    key_lengths: Any = None,
    saved: bool = False,
    out: Any = None,
    preference: PlanPreference | None = None,
) -> Any:
    """Attention whose scores a formula of the caller's own makes: score(s, b, h, i, j, *tensors).

    s is the scaled dot product of query i and key j of head h in batch element b; b, h, i and j are s32 expressions; tensors,
    at most four, broadcast to (batch, heads, queries, keys), and the formula is given the value at (b, h, i, j). The words of
    `baracuda.formula.functions` make it; a score of -inf masks. causal and window leave whole tiles out, which a formula cannot.
    The other parameters are those of `scaled_dot_product_attention`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> from baracuda.formula.functions import where
    >>> q = k = v = np.ones((1, 2, 8, 4), np.float32)
    >>> baracuda.flex_attention(q, k, v, score=lambda s, b, h, i, j: where(j - i < 3, s, float("-inf"))).shape
    (1, 2, 8, 4)
    """
    lengths = {"query_lengths": query_lengths, "key_lengths": key_lengths}
    options = {"causal": causal, "window": window, "offset": offset, "scale": scale}
    return _forward(_Call(q, k, v, lengths, options, score, tensors), saved, out, preference)


@declared(**_TENSORS, **_RESULTS, **_LENGTHS, tensors="...")
def flex_attention_backward(
    dy: Any,
    q: Any,
    k: Any,
    v: Any,
    y: Any,
    lse: Any,
    *tensors: Any,
    score: Callable[..., Expr],
    causal: bool = False,
    window: tuple[int | None, int | None] | None = None,
    offset: int = 0,
    scale: FiniteFloat | None = None,
    query_lengths: Any = None,
    key_lengths: Any = None,
    wrt: Sequence[str] = ("q", "k", "v"),
    preference: PlanPreference | None = None,
) -> Any:
    """The gradients of `flex_attention`, the score's by differentiating its formula; its tensors are called first, second, third
    and fourth in `wrt`, which may name one of them."""
    lengths = {"query_lengths": query_lengths, "key_lengths": key_lengths}
    options = {"causal": causal, "window": window, "offset": offset, "scale": scale}
    return _backward(_Call(q, k, v, lengths, options, score, tensors), dy, y, lse, wrt, preference)
