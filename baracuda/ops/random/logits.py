"""What is done to logits before a token is drawn: the temperature, penalties of what was said before, the mask of a grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import reshaped, slab, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, bitcast, cast, const, coord, reduce, select
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Space, Stored, WholeScalar, stored_like
from baracuda.ops.indexing.moves import copied
from baracuda.ops.indexing.places import Places
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.random.sampling import NUMBER

_S32, _U32, _S64 = ElementKind.S32, ElementKind.U32, ElementKind.S64
_INTERNAL: dict[str, Any] = {"family": "random", "takes": "any", "differentiable": False}
_LOGITS = "*rows vocabulary : float"
_IDS = "*rows {} : s32 s64"
#: A tensor that keeps its own element, read at indices.
OwnTable = Table
#: Tokens of a row that are compared with one another at most; of more there are counts of the whole vocabulary.
_COMPARED = 2048
#: Bits of a word of a mask.
_WORD = 32


def _own(x: Expr, number: Expr | float) -> Expr:
    """A number in the kind that x computes in."""
    return cast(as_expr(number, x.kind), x.kind)


def _cooled(x: Own, temperature: Own) -> Stored:
    t = _own(x, temperature)
    return stored_like(select(t > 0.0, x / t, x), x)


def _penalised(
    x: Own, repetition: Own, presence: Own, frequency: Own, counts: Own | None = None, before: Own | None = None
) -> Stored:
    said = None if counts is None else f.not_equal(counts, 0)
    seen = None if before is None else f.not_equal(before, 0)
    either = said if seen is None else seen if said is None else said | seen
    assert either is not None
    factor = _own(x, repetition)
    y = select(either, select(x > 0.0, x / factor, x * factor), x)
    if counts is not None and said is not None:
        y = y - _own(x, frequency) * cast(counts, x.kind)
        y = y - select(said, _own(x, presence), const(0, x.kind))
    return stored_like(y, x)


def _occurrences(index: Own, other: Own) -> Stored:
    """How often each token of a row is among them."""
    return Stored(reduce("sum", cast(f.equal(index, other), _S32)), _S32)


def _picked(index: Own, x: OwnTable) -> Stored:
    value = take(x, index)
    assert isinstance(value, Expr)
    return Stored(value, x.parts[0][1])


def _allowed(x: Own, mask: Own) -> Stored:
    """Over words, and along the last axis the bits of each."""
    word = bitcast(mask, _U32) if mask.kind is _S32 else mask
    bit = word >> cast(coord(-1), _U32) & 1
    return stored_like(select(f.equal(bit, 1), x, const(float("-inf"), x.kind)), x)


def _in_vocabulary(index: Own, *, shape_size: WholeScalar = 0, shape_else: WholeScalar = 0) -> Stored:
    """An index, or another number for one that is none of the vocabulary."""
    own, most = cast(index, _S64), as_expr(shape_size, _S64)
    return Stored(select((own >= 0) & (own < most), own, as_expr(shape_else, _S64)), _S64)


_cooled_op, _penalised_op, _allowed_op, _in_vocabulary_op = (
    Op(formula, Rule.EACH, name=name, **_INTERNAL)
    for formula, name in (
        (_cooled, "cooled_logits"), (_penalised, "penalised_logits"), (_allowed, "allowed_logits"),
        (_in_vocabulary, "indices_in_vocabulary"),
    )
)  # fmt: skip


_occurrences_op = Op(
    _occurrences, Rule.EACH, name="occurrences_of_tokens", rows=True, axis=(2,), axis_option=False, keepdims=False,
    space=lambda shapes, options: Space({"index": (0, 1), "other": (0, 2)}), **_INTERNAL,
)  # fmt: skip
_picked_op = Op(
    _picked, Rule.EACH, name="logits_of_tokens", space=lambda shapes, options: Space({"index": (0, 1), "x": (0, None)}),
    **_INTERNAL,
)  # fmt: skip


def spread(value: Any, shape: Sequence[int]) -> Any:
    """A tensor of one number for each row over their elements; a number, or a tensor of one, as it is."""
    if not isinstance(value, TensorRef):
        return value
    rows = tuple(shape[:-1])
    steps = value.strides if value.shape == rows else (0,) * len(rows)
    return view(value, 0, tuple(shape), (*steps, 0))


@composed(logits=_LOGITS, temperature=NUMBER, numbers={"temperature": ()}, out=True)
def logits_temperature(do: Steps, logits: TensorRef, temperature: Any) -> Any:
    """logits / temperature, a number or a tensor of one for each row, read at run time; where it is not above 0 the logits stay
    as they are, whose largest is the token then.

    Source: vLLM, transformers' TemperatureLogitsWarper.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.logits_temperature(np.float32([[1, 2], [3, 4]]), np.float32([0.5, 2])).tolist()
    [[2.0, 4.0], [1.5, 2.0]]
    """
    y = do.result_like(logits)
    return do.run(_cooled_op, {"x": logits, "temperature": spread(temperature, logits.shape)}, y)


def _indices(do: Steps, tokens: TensorRef, vocabulary: int, other: int) -> TensorRef:
    index = do.rows(tokens.shape, _S64)
    found: TensorRef = do.run(_in_vocabulary_op, {"index": tokens}, index, shape_size=vocabulary, shape_else=other)
    return found


def _counts(do: Steps, tokens: TensorRef, vocabulary: int) -> TensorRef:
    """How often each token of the vocabulary is in each row."""
    rows = tokens.shape[:-1]
    index = _indices(do, tokens, vocabulary, vocabulary)
    ones = _repeated(do, 1, tokens.shape) if 0 not in tokens.shape else do.rows(tokens.shape, _S32)
    counted = (*rows, vocabulary + 1)
    d = ScatterDescriptor(ScatterKind.SUM, counted, len(rows), tokens.shape, _S32, _S64, aligned=True)
    found: TensorRef = slab(do.plan(ScatterPlan, d, {"index": index, "x": ones}), len(rows), 0, vocabulary)
    return found


def _put(do: Steps, logits: TensorRef, tokens: Given, prompt: Given, numbers: Mapping[str, Any]) -> TensorMut:
    """Logits of which those of some tokens are lowered."""
    *lead, vocabulary = logits.shape
    x = do.reshaped(logits, (prod(lead), vocabulary))
    writes = []
    for name, listed in (("before", prompt), ("counts", tokens)):
        if listed is None or 0 in listed.shape:
            continue
        index = _indices(do, listed, vocabulary, -1)
        flat = do.reshaped(index, (prod(lead), listed.shape[-1]))
        own = do.rows(index.shape, logits.kind)
        do.run(_picked_op, {"index": flat, "x": x}, reshaped(own, flat.shape))
        if name == "before":
            often = _repeated(do, 1, index.shape)
        else:
            often = do.rows(index.shape, _S32)
            do.run(_occurrences_op, {"index": flat, "other": flat}, reshaped(often, flat.shape))
        spreads = {n: spread(v, index.shape) for n, v in numbers.items()}
        writes.append((index, do.run(_penalised_op, {"x": own, **spreads, name: often}, do.rows(index.shape, logits.kind))))
    y = copied(do, logits)
    for index, values in writes:  # what was said and asked has the value of what was said
        places = Places(index, range(len(logits.shape)), wrap=False, aligned=len(lead), once=True, skip=-1)
        places.write(do, y, values, None)
    return y


def _repeated(do: Steps, value: int, shape: tuple[int, ...]) -> TensorRef:
    """One number everywhere."""
    one = do.rows((1,), _S32)
    do.fill(one, value, "shape_one")
    found: TensorRef = view(one, 0, shape, (0,) * len(shape))
    return found


@composed(
    logits=_LOGITS, counts="*rows vocabulary : int", prompt="*rows vocabulary : int bool", tokens=_IDS.format("said"),
    prompt_tokens=_IDS.format("asked"), repetition=NUMBER, presence=NUMBER, frequency=NUMBER,
    numbers={"repetition": (), "presence": (), "frequency": ()}, out=True,
)  # fmt: skip
def logits_penalties(
    do: Steps, logits: TensorRef, counts: Given = None, prompt: Given = None, *, tokens: Given = None,
    prompt_tokens: Given = None, repetition: Any = 1.0, presence: Any = 0.0, frequency: Any = 0.0,
) -> Any:  # fmt: skip
    """Logits less likely where a token was said before.

    With c the number of times that a token is in what was said, in this order, each operation rounded in the kind that logits
    compute in: a logit above 0 is divided by repetition and another one multiplied by it, where the token was said or is in the
    prompt; then frequency * c is subtracted, and presence where c > 0. What was said is given as counts, one for each token of
    the vocabulary, or as tokens, the numbers of those of each row; the prompt as a mask that is not 0 where a token is in it, or
    as prompt_tokens. Numbers that are no token's, such as -1, fill rows up. Penalties are numbers or tensors of one for each
    row, read at run time.

    Source: vLLM, transformers' RepetitionPenaltyLogitsProcessor, OpenAI's frequency and presence penalties.

    Raises
    ------
    InvalidProblemError
        Where one thing is given in both ways, or nothing is given.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logits = np.float32([[4, 4, -4]])
    >>> baracuda.logits_penalties(logits, tokens=np.array([[0, 0, 2]]), repetition=2.0, frequency=0.5, presence=0.25).tolist()
    [[0.75, 4.0, -8.75]]
    """
    for name, one, second, other in (("counts", counts, "tokens", tokens), ("prompt", prompt, "prompt_tokens", prompt_tokens)):
        if one is not None and other is not None:
            raise InvalidProblemError(f"{second}: given beside {name}; expected one of the two")
    if counts is None and prompt is None and tokens is None and prompt_tokens is None:
        raise InvalidProblemError("logits_penalties: nothing was said; expected counts, tokens, prompt or prompt_tokens")
    vocabulary = logits.shape[-1]
    if counts is None and prompt is None and 0 not in logits.shape and (tokens is None or tokens.shape[-1] <= _COMPARED):
        return _put(do, logits, tokens, prompt_tokens, {"repetition": repetition, "presence": presence, "frequency": frequency})
    if tokens is not None:
        counts = _counts(do, tokens, vocabulary)
    if prompt_tokens is not None:
        prompt = _counts(do, prompt_tokens, vocabulary)
    tensors = {"counts": counts, "before": prompt}
    given = {"repetition": repetition, "presence": presence, "frequency": frequency}
    numbers = {n: spread(v, logits.shape) for n, v in given.items()}
    y = do.result_like(logits)
    return do.run(_penalised_op, {"x": logits, **numbers, **{n: t for n, t in tensors.items() if t is not None}}, y)


@composed(logits=_LOGITS, mask="*rows words or words : s32 u32", out=True)
def logits_bitmask(do: Steps, logits: TensorRef, mask: TensorRef) -> Any:
    """Logits where a bit is set, -inf where it is not: token i of a row has bit i % 32, the lowest first, of word i // 32 of the
    row's mask, or of the only one. Words beyond the vocabulary are not read.

    Source: xgrammar.apply_token_bitmask_inplace (with out=logits).

    Raises
    ------
    InvalidProblemError
        Where the mask has fewer bits than there are logits.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.logits_bitmask(np.float32([[1, 2, 3]]), np.int32([[0b101]])).tolist()
    [[1.0, -inf, 3.0]]
    """
    *rows, vocabulary = logits.shape
    if mask.shape[-1] * _WORD < vocabulary:
        expected = -(-vocabulary // _WORD)
        raise InvalidProblemError(f"mask: {mask.shape[-1]} words for {vocabulary} logits; expected {expected} or more")
    y = do.result_like(logits)
    if 0 in logits.shape:
        return y
    own = len(mask.shape) == len(logits.shape)
    words = mask.strides if own else (0,) * len(rows) + mask.strides
    whole = vocabulary // _WORD
    for first, several, bits in ((0, whole, _WORD), (whole, 1, vocabulary % _WORD)):
        if several and bits:
            shape = (*rows, several, bits)
            read = view(mask, first * words[-1], shape, (*words, 0))
            do.run(_allowed_op, {"x": _pieces(logits, first, shape), "mask": read}, _pieces(y, first, shape))
    return y


def _pieces(tensor: TensorRef, word: int, shape: tuple[int, ...]) -> TensorMut:
    """Rows of a tensor in words of bits, from one word on."""
    *rows, along = tensor.strides
    found: TensorMut = view(tensor, word * _WORD * along, shape, (*rows, _WORD * along, along))
    return found
