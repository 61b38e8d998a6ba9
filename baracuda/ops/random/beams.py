"""One step of a beam search."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import reshaped
from baracuda.formula.expr import as_expr, binary, cast, coord
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Space, Stored, WholeScalar
from baracuda.ops.declaration.words import Count, Dtype
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.random.logits import spread
from baracuda.ops.sorting.orders import topk

#: A tensor that keeps its own element, read at indices.
OwnTable = Table

_F32, _S64 = ElementKind.F32, ElementKind.S64
_INTERNAL: dict[str, Any] = {"family": "random", "takes": "any", "differentiable": False}


def _total(x: Own, score: Own) -> Stored:
    return Stored(cast(x, _F32) + cast(score, _F32), _F32)


def _parts(index: Own, *, shape_v: WholeScalar = 1) -> tuple[Stored, Stored]:
    size = as_expr(shape_v, _S64)
    return Stored(binary("idiv", index, size), _S64), Stored(binary("irem", index, size), _S64)


_total_op = Op(_total, Rule.EACH, name="scores_of_beams", **_INTERNAL)
_parts_op = Op(_parts, Rule.EACH, name="beams_and_tokens", results=("beam", "token"), **_INTERNAL)


def _picked(beam: Own, sequence: OwnTable) -> Any:
    return take(sequence, cast(beam, _S64), cast(coord(2), _S64))


def _over_sequences(shapes: Mapping[str, Any], options: Mapping[str, Any]) -> Space:
    return Space({"beam": (0, 1), "sequence": (0, None, None)}, {2: shapes["sequence"][2]})


_picked_op = Op(_picked, Rule.EACH, name="sequences_of_beams", space=_over_sequences, **_INTERNAL)


@composed(logprobs="*rows beams vocabulary : f16 bf16 f32", scores="*rows beams : f16 bf16 f32", sequences="*rows beams length")
def beam_search_step(
    do: Steps, logprobs: TensorRef, scores: TensorRef, sequences: Given = None, *, count: Count | None = None, dtype: Dtype = None
) -> Any:
    """The best continuations of beams: (scores, beam, token), each (*rows, count), the best first; count is by default twice the
    number of beams, so that as many are left as there are beams whichever of them have ended.

    The score of a continuation is the beam's score + the token's log-probability, in f32; of equal ones the one of the lower beam
    comes first, then that of the lower token, and NaN before all. beam is the number of the beam that it continues, token that
    of its token, in s64 unless dtype says otherwise. With sequences, (*rows, beams, length), a fourth result, (*rows, count,
    length), has those of the beams.

    Source: transformers' beam search; Wu et al. 2016.

    Raises
    ------
    InvalidProblemError
        Where there are fewer continuations than count.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> logprobs = np.float32([[[-1, -2, -9], [-3, -1, -9]]])
    >>> [r.tolist() for r in baracuda.beam_search_step(logprobs, np.float32([[-1, -1.5]]), count=2)]
    [[[-2.0, -2.5]], [[0, 1]], [[0, 1]]]
    """
    *lead, beams, vocabulary = logprobs.shape
    rows, wanted = tuple(lead), 2 * beams if count is None else count
    if wanted > beams * vocabulary:
        raise InvalidProblemError(f"count: {wanted}; expected at most {beams * vocabulary}, tokens of all beams")
    total = do.rows((*rows, beams, vocabulary), _F32)
    do.run(_total_op, {"x": logprobs, "score": spread(scores, logprobs.shape)}, total)
    best, index = topk(do, reshaped(total, (*rows, beams * vocabulary)), wanted)
    beam, token = do.run(_parts_op, {"index": index}, shape_v=max(vocabulary, 1))
    results = [best, in_element(do, beam, dtype or _S64), in_element(do, token, dtype or _S64)]
    if sequences is not None:
        flat = do.reshaped(sequences, (prod(rows), beams, sequences.shape[-1]))
        picked = do.run(_picked_op, {"beam": reshaped(beam, (prod(rows), wanted)), "sequence": flat})
        results.append(do.reshaped(picked, (*rows, wanted, sequences.shape[-1])))
    return tuple(results)
