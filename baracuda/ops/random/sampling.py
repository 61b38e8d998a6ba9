"""Tokens drawn from logits: the filters that language models are sampled with, each by itself or with the others.

A row's token depends on its own logits and its own key alone. `lowering/sampling/problem.py` says how, step by step; sums of
weights are of whole numbers, so that no order of them matters. Filters keep all elements that equal the last one they keep.
"""

from __future__ import annotations

from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_at, reshaped, view
from baracuda.formula import functions as f
from baracuda.formula import reductions as r
from baracuda.formula.counters import words_of
from baracuda.formula.expr import Expr, cast, const, coord, position, reduce, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Result, Stored
from baracuda.ops.declaration.words import Dtype
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.random.draws import F32, S64, U32, U64, Bits, Draw, Number
from baracuda.ops.random.keys import _FOLDED, _words
from baracuda.ops.random.sampling_plan import SamplingDescriptor, SamplingPlan

#: A key, or one for each row.
KEYS = "2 or *rows 2 : u32"
LOGITS = "*rows vocabulary : f16 bf16 f32"
#: Numbers, or tensors of one for each row.
NUMBER, WHOLE = "*rows or () or number : float", "*rows or () or number : int"
_INTERNAL: dict[str, Any] = {"family": "random", "takes": "any", "differentiable": False}
_OF_A_ROW: dict[str, Any] = {"temperature": NUMBER, "k": WHOLE, "p": NUMBER, "min_p": NUMBER, "nsigma": NUMBER}
_NUMBERS: dict[str, tuple[float, ...]] = dict.fromkeys(_OF_A_ROW, ())


def row_key(key0: Expr, key1: Expr, row: Expr, bits: Bits, folded: bool) -> tuple[Expr, Expr]:
    """The key of a row: its own, or that made of the only one and the row's number."""
    return _words(*words_of(cast(row, U64)), _FOLDED, (key0, key1), bits) if folded else (key0, key1)


def draw_of_row(key: tuple[Expr, Expr], number: Expr, bits: Bits) -> Draw:
    """A draw in f32 of an element of a row."""
    return Draw(Number(const(0, U64), cast(number, U32)), key, bits, F32, F32)


def _log_probability(below: Own, total: Own) -> Result:
    """The logarithm of weight over weights, of an element so far below the largest, whose weight is 2**31."""
    weights = cast(total, F32) * const(2.0**-31, F32)
    return Stored(-below - f.log(weights), F32)


def _noisy_best(
    x: Own, key0: Own, key1: Own, temperature: Own | None = None, *, bits: Bits = "philox", folded: bool = False
) -> Result:
    """The number of the largest x / temperature + g, where g is a draw of the Gumbel distribution for each element."""
    draw = draw_of_row(row_key(key0, key1, coord(0), bits, folded), cast(position(), U32), bits)
    noise = -f.log(draw.minus_log())
    if temperature is None:
        noisy = x + noise
    else:
        t = cast(temperature, F32)
        noisy = select(t > 0.0, x / t + noise, x)
    lowest = const(float("-inf"), F32)
    score = select(x > lowest, noisy, lowest)
    best = reduce("max", score)
    return Stored(select(best > lowest, r.argmax(score), const(-1, S64)), S64)


_noisy_best_op = Op(_noisy_best, Rule.EACH, name="noisy_best", rows=True, axis=-1, axis_option=False, keepdims=False, **_INTERNAL)
_log_probability_op = Op(_log_probability, Rule.EACH, name="log_probability_of_token", **_INTERNAL)


def keys_of_rows(do: Steps, key: TensorRef, count: int) -> tuple[dict[str, TensorRef], bool]:
    """The words of the keys of `key_rows`."""
    keys, single = key_rows(do, key, count)
    return {f"key{i}": axis_at(keys, 1, i) for i in (0, 1)}, single


def key_rows(do: Steps, key: TensorRef, count: int) -> tuple[TensorRef, bool]:
    """A key for each row, and whether all have the only one, into which a row's number is folded."""
    single = len(key.shape) == 1
    flat: TensorRef = view(key, 0, (count, 2), (0, key.strides[0])) if single else do.reshaped(key, (count, 2))
    return flat, single


def of_rows(do: Steps, value: TensorRef, count: int, kind: ElementKind) -> TensorRef:
    """A tensor of one number, or of one for each row, as one for each row."""
    found = in_element(do, value, kind)
    if prod(found.shape) == 1:
        spread: TensorRef = view(found, 0, (count,), (0,))
        return spread
    flat: TensorRef = do.reshaped(found, (count,))
    return flat


def sampled(
    do: Steps, key: TensorRef, logits: TensorRef, bits: Bits, dtype: ElementKind | None, logprobs: bool, mask: bool, *,
    typical: bool = False, joint: bool = False, **filters: Any,
) -> Any:  # fmt: skip
    """Tokens of rows, with what else is asked for."""
    *lead, vocabulary = logits.shape
    rows, count = tuple(lead), prod(lead)
    there = {n: v for n, v in filters.items() if v is not None}
    tensors = {n: of_rows(do, v, count, S64 if n == "k" else F32) for n, v in there.items() if isinstance(v, TensorRef)}
    numbers = {n: v for n, v in there.items() if n not in tensors}
    flat, (keys, single) = do.reshaped(logits, (count, vocabulary)), key_rows(do, key, count)
    descriptor = SamplingDescriptor(
        (count, vocabulary), logits.kind, tuple(tensors), **numbers, folded=single, bits=bits, measured=logprobs, marked=mask,
        typical=typical, joint=joint,
    )  # fmt: skip
    token = do.rows(rows, S64)
    below, total = (do.rows(rows, F32), do.rows(rows, U64)) if logprobs else (None, None)
    kept = do.rows(logits.shape, ElementKind.BOOL) if mask else None
    into = tuple(None if t is None else reshaped(t, (count,)) for t in (token, below, total))
    marks = None if kept is None else reshaped(kept, (count, vocabulary))
    do.plan(SamplingPlan, descriptor, {"logits": flat, "keys": keys, **tensors}, (*into, marks))
    results = [in_element(do, token, dtype or S64)]
    if below is not None:
        results.append(do.run(_log_probability_op, {"below": below, "total": total}))
    if kept is not None:
        results.append(kept)
    return results[0] if len(results) == 1 else tuple(results)


@composed(key=KEYS, logits=LOGITS, **_OF_A_ROW, numbers=_NUMBERS)
def sample_top_k(
    do: Steps, key: TensorRef, logits: TensorRef, k: Any, *,
    temperature: Any = None, p: Any = None, min_p: Any = None, nsigma: Any = None, joint: bool = False,
    dtype: Dtype = None, return_logprobs: bool = False, return_mask: bool = False, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """A token of each row, (*rows), of the k largest logits; of all where k < 1.

    key is one, into which each row's number is folded as by `rng_fold_in`, or one for each row, (*rows, 2): a row's token depends
    on its own logits, its own key and, of one key, on its number, and on nothing else.

    All that filters is a number or a tensor of one for each row, read at run time, and applies together, in this order: the
    temperature, by which logits are divided; nsigma, min_p, k, p. p is a share of the probability that k leaves, or with
    joint=True of that before it. With a temperature of 0 or less the token is the largest logit, the first of several. Elements
    that equal the last one that is kept are kept, too. Numbers in which there is no sense filter nothing (k < 1, p above 1, NaN)
    or leave the largest logit (p and nsigma of 0 or less).

    NaN and -inf are never drawn; of a row with nothing else the token is -1. Probabilities are whole multiples of 2**-31 of the
    largest, so what is less than half of that is not drawn. return_logprobs gives the logarithm of the probability that the
    token was drawn with, in f32 (NaN where there is none), return_mask what the filters leave. Tokens are s64 unless dtype says
    otherwise.

    Source: vLLM, flashinfer (joint is its filter_apply_order), transformers' TopKLogitsWarper.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logits = np.float32([[1, 9, 2], [7, 1, 1]])
    >>> baracuda.sample_top_k(baracuda.rng_key(7), logits, 1).tolist()
    [1, 0]
    """
    return sampled(
        do, key, logits, bits, dtype, return_logprobs, return_mask,
        k=k, temperature=temperature, p=p, min_p=min_p, nsigma=nsigma, joint=joint,
    )  # fmt: skip


@composed(key=KEYS, logits=LOGITS, **_OF_A_ROW, numbers=_NUMBERS)
def sample_top_p(
    do: Steps, key: TensorRef, logits: TensorRef, p: Any, *,
    temperature: Any = None, k: Any = None, min_p: Any = None, nsigma: Any = None, joint: bool = False,
    dtype: Dtype = None, return_logprobs: bool = False, return_mask: bool = False, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """A token of each row, (*rows), of the fewest largest logits whose probabilities add up to p.

    key, the other filters and the results are as of `sample_top_k`.

    Source: Holtzman et al. 2019; vLLM, flashinfer, transformers' TopPLogitsWarper.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logits = np.float32([[1, 9, 2], [7, 1, 1]])
    >>> baracuda.sample_top_p(baracuda.rng_key(7), logits, 0.9).tolist()
    [1, 0]
    """
    return sampled(
        do, key, logits, bits, dtype, return_logprobs, return_mask,
        p=p, temperature=temperature, k=k, min_p=min_p, nsigma=nsigma, joint=joint,
    )  # fmt: skip


@composed(key=KEYS, logits=LOGITS, **_OF_A_ROW, numbers=_NUMBERS)
def sample_min_p(
    do: Steps, key: TensorRef, logits: TensorRef, min_p: Any, *,
    temperature: Any = None, k: Any = None, p: Any = None, nsigma: Any = None, joint: bool = False,
    dtype: Dtype = None, return_logprobs: bool = False, return_mask: bool = False, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """A token of each row, (*rows), of those that are at least min_p times as probable as the largest.

    key, the other filters and the results are as of `sample_top_k`.

    Source: Nguyen et al. 2024; vLLM, transformers' MinPLogitsWarper.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logits = np.float32([[1, 9, 2], [7, 1, 1]])
    >>> baracuda.sample_min_p(baracuda.rng_key(7), logits, 0.5).tolist()
    [1, 0]
    """
    return sampled(
        do, key, logits, bits, dtype, return_logprobs, return_mask,
        min_p=min_p, temperature=temperature, k=k, p=p, nsigma=nsigma, joint=joint,
    )  # fmt: skip


@composed(key=KEYS, logits=LOGITS, **_OF_A_ROW, numbers=_NUMBERS)
def sample_typical(
    do: Steps, key: TensorRef, logits: TensorRef, p: Any, *,
    temperature: Any = None, k: Any = None, min_p: Any = None, nsigma: Any = None,
    dtype: Dtype = None, return_logprobs: bool = False, return_mask: bool = False, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """A token of each row, (*rows), of the fewest whose information is nearest to the entropy and whose probabilities make p.

    key, the other filters and the results are as of `sample_top_k`; entropy and information are of what k leaves.

    Source: Meister et al. 2022; transformers' TypicalLogitsWarper.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logits = np.float32([[1, 9, 2], [7, 1, 1]])
    >>> baracuda.sample_typical(baracuda.rng_key(7), logits, 0.5).tolist()
    [1, 0]
    """
    return sampled(
        do, key, logits, bits, dtype, return_logprobs, return_mask,
        p=p, temperature=temperature, k=k, min_p=min_p, nsigma=nsigma, typical=True,
    )  # fmt: skip


@composed(key=KEYS, logits=LOGITS, **_OF_A_ROW, numbers=_NUMBERS)
def sample_top_nsigma(
    do: Steps, key: TensorRef, logits: TensorRef, nsigma: Any, *,
    temperature: Any = None, k: Any = None, p: Any = None, min_p: Any = None, joint: bool = False,
    dtype: Dtype = None, return_logprobs: bool = False, return_mask: bool = False, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """A token of each row, (*rows), of the logits that are at most nsigma standard deviations below the largest.

    Deviations are those of the logits before the temperature, of n - 1, that lie at most 1024 below the largest. key, the other
    filters and the results are as of `sample_top_k`.

    Source: Tang et al. 2024 (top-n-sigma); llama.cpp.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logits = np.float32([[1, 9, 2], [7, 1, 1]])
    >>> baracuda.sample_top_nsigma(baracuda.rng_key(7), logits, 1.0).tolist()
    [1, 0]
    """
    return sampled(
        do, key, logits, bits, dtype, return_logprobs, return_mask,
        nsigma=nsigma, temperature=temperature, k=k, p=p, min_p=min_p, joint=joint,
    )  # fmt: skip


@composed(key=KEYS, logits=LOGITS, temperature=NUMBER, numbers={"temperature": ()})
def sample_gumbel_max(
    do: Steps, key: TensorRef, logits: TensorRef, temperature: Any = None, *, dtype: Dtype = None, bits: Bits = "philox"
) -> Any:
    """A token of each row, (*rows), as likely as the softmax says: the number of the largest logits / temperature + g, the lowest
    of several, where g is a draw of the Gumbel distribution, that of the element's number by the row's key.

    key is as in `sample_top_k`. Where the temperature is not above 0 there is no noise. NaN and -inf are never drawn; of a row
    with nothing else the token is -1. Tokens are s64 unless dtype says otherwise.

    Source: Gumbel 1954; jax.random.categorical; vLLM's exponential race is the same draw.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.sample_gumbel_max(baracuda.rng_key(7), np.float32([[1, 99, 2], [77, 1, 1]])).tolist()
    [1, 0]
    """
    *lead, vocabulary = logits.shape
    rows, count = tuple(lead), prod(lead)
    token = do.rows(rows, S64)
    if not vocabulary:
        do.fill(token, -1)
        return in_element(do, token, dtype or S64)
    keys, single = keys_of_rows(do, key, count)
    tensors: dict[str, Any] = {n: view(t, 0, (count, 1), (t.strides[0], 0)) for n, t in keys.items()}
    if isinstance(temperature, TensorRef):
        t = of_rows(do, temperature, count, F32)
        tensors["temperature"] = view(t, 0, (count, 1), (t.strides[0], 0))
    elif temperature is not None:
        tensors["temperature"] = temperature
    into = reshaped(token, (count,))
    do.run(_noisy_best_op, {"x": do.reshaped(logits, (count, vocabulary)), **tensors}, into, bits=bits, folded=single)
    return in_element(do, token, dtype or S64)
