"""Tokens that a small model guessed, verified by a large one: a token comes out as likely as the large model says, whatever was
guessed.

What is left of a distribution once guesses were refused is drawn from by `baracuda.lowering.sampling`, of probabilities. A
probability of which nothing is left counts 2**-64 of itself, so that it is drawn only where nothing is left of any, which no
exact arithmetic would lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import reshaped, slab, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, reduce, select
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Space, Stored, WholeScalar
from baracuda.ops.declaration.words import Dtype
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.writes import scatter
from baracuda.ops.random.draws import F32, S64, Bits
from baracuda.ops.random.sampling import KEYS, draw_of_row, key_rows, keys_of_rows, row_key
from baracuda.ops.random.sampling_plan import SamplingDescriptor, SamplingPlan

#: A tensor that keeps its own element, read at indices.
OwnTable = Table

_S32 = ElementKind.S32
_NEVER = 1 << 62
#: What is left of a probability of which nothing is.
_NOTHING = 2.0**-64
_INTERNAL: dict[str, Any] = {"family": "random", "takes": "any", "differentiable": False}
_ROWS: dict[str, Any] = {**_INTERNAL, "rows": True, "axis_option": False, "keepdims": False}
_PROBABILITIES = "f16 bf16 f32"


def _at(table: Table, *index: Expr) -> Expr:
    value = take(table, *index)
    assert isinstance(value, Expr)
    return value


def _whole(x: Expr) -> Expr:
    return cast(x, S64)


def _number(value: Expr | int) -> Expr:
    return as_expr(value, S64)


def _first(holds: Expr, number: Expr) -> Expr:
    """The least number of a row for which something holds, or one that is none."""
    return reduce("min", select(holds, number, const(_NEVER, S64)))


# --- a chain of guesses -----------------------------------------------------------------------------------------------


def _refused(
    draft: Own, key0: Own, key1: Own, target: OwnTable, guess: OwnTable | None = None, *, bits: Bits = "philox",
    folded: bool = False, shape_n: WholeScalar = 0, shape_v: WholeScalar = 0,
) -> Stored:  # fmt: skip
    """The number of the first guess of a row that is refused; of all, where none is."""
    token, number = _whole(draft), _whole(coord(1))
    u = draw_of_row(row_key(key0, key1, coord(0), bits, folded), coord(1), bits).fine_uniform()
    p = cast(_at(target, number, token), F32)
    q = const(1, F32) if guess is None else cast(_at(guess, number, token), F32)
    stays = (token >= 0) & (token < _number(shape_v)) & (u * q < p)
    return Stored(f.minimum(_first(~stays, number), _number(shape_n)), S64)


def _rest(
    at: Own, draft: OwnTable, target: OwnTable, guess: OwnTable | None = None, *, shape_n: WholeScalar = 0,
    shape_v: WholeScalar = 0,
) -> Stored:  # fmt: skip
    """What is left, where a guess was refused, of the probability of each token."""
    own, token = _whole(at), _whole(coord(1))
    p, guessed = cast(_at(target, own, token), F32), _whole(_at(draft, own))
    if guess is None:
        left = select(f.equal(token, guessed), p * _NOTHING, p)
    else:
        more = p - cast(_at(guess, own, token), F32)
        left = select(more > 0.0, more, p * _NOTHING)
    refused = (own < _number(shape_n)) & (guessed >= 0) & (guessed < _number(shape_v))
    return Stored(select(refused, left, p), F32)


def _verified(
    refused: Own, token: Own, draft: OwnTable, bonus: Own | None = None, *, shape_n: WholeScalar = 0, bonus_drawn: bool = True
) -> Stored:
    """Guesses up to the one that was refused, the token in its place, -1."""
    own, number, none = _whole(refused), _whole(coord(1)), const(-1, S64)
    last = _whole(token)
    if not bonus_drawn:
        beyond = none if bonus is None else _whole(bonus)
        last = select(f.equal(own, _number(shape_n)), beyond, last)
    return Stored(select(number < own, _whole(_at(draft, number)), select(f.equal(number, own), last, none)), S64)


def _placed(**axes: tuple[int | None, ...]) -> Any:
    """The space of an op whose tensors lie along these axes."""
    return lambda shapes, options: Space({n: axes[n] for n in shapes})


_refused_op = Op(
    _refused, Rule.EACH, name="guess_refused", axis=(1,),
    space=_placed(draft=(0, 1), key0=(0,), key1=(0,), target=(0, None, None), guess=(0, None, None)), **_ROWS,
)  # fmt: skip


def _over_vocabulary(shapes: Mapping[str, Any], options: Mapping[str, Any]) -> Space:
    axes: dict[str, tuple[int | None, ...]] = {
        "at": (0,),
        "draft": (0, None),
        "target": (0, None, None),
        "guess": (0, None, None),
    }
    return Space({n: axes[n] for n in shapes}, {1: shapes["target"][2]})


def _over_results(shapes: Mapping[str, Any], options: Mapping[str, Any]) -> Space:
    axes: dict[str, tuple[int | None, ...]] = {"refused": (0,), "token": (0,), "draft": (0, None), "bonus": (0,)}
    return Space({n: axes[n] for n in shapes}, {1: shapes["draft"][1] + 1})


_rest_op = Op(_rest, Rule.EACH, name="rest_of_probabilities", space=_over_vocabulary, **_INTERNAL)
_verified_op = Op(_verified, Rule.EACH, name="verified_tokens", space=_over_results, **_INTERNAL)


def _drawn(do: Steps, key: TensorRef, probabilities: TensorRef, bits: Bits) -> TensorRef:
    """A token of each row of probabilities, by words of the key that no guess was verified with."""
    count, vocabulary = probabilities.shape
    keys, single = key_rows(do, key, count)
    descriptor = SamplingDescriptor(
        (count, vocabulary), probabilities.kind, folded=single, bits=bits, stream=1, probabilities=True
    )
    token: TensorRef = do.plan(SamplingPlan, descriptor, {"logits": probabilities, "keys": keys})
    return token


@composed(
    key=KEYS, draft_tokens="*rows n : s32 s64", target_probs=f"*rows n+1 vocabulary or *rows n vocabulary : {_PROBABILITIES}",
    draft_probs=f"*rows n vocabulary : {_PROBABILITIES}", bonus_tokens="*rows : s32 s64",
)  # fmt: skip
def speculative_verify(
    do: Steps, key: TensorRef, draft_tokens: TensorRef, target_probs: TensorRef, draft_probs: Given = None,
    bonus_tokens: Given = None, *, dtype: Dtype = None, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Guessed tokens verified: (tokens, (*rows, n + 1), accepted, (*rows)).

    Guess i, drawn by the probabilities q of draft_probs[i], stays where u q < p, with its probability p of target_probs[i] and a
    uniform draw u, element i of the row's key. In place of the first that does not, a token is drawn by max(p - q, 0), and -1
    stands behind it; where all n stay one more is drawn by target_probs[n], or is that of bonus_tokens (else -1) where
    target_probs has no more than n. Without draft_probs a guess was sure: q is 1, and the token in its place is drawn by p
    without it. accepted is how many stay. A guess that is no token, such as -1, ends a row's guesses: the token in its place is
    drawn by p.

    key is as in `sample_top_k`. Probabilities need not add up to 1 where a token is drawn; NaN is never drawn. Tokens and
    accepted are s64 unless dtype says otherwise.

    Source: Leviathan et al. 2023, Chen et al. 2023; vLLM's rejection sampler.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> sure = np.float32([[[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
    >>> [r.tolist() for r in baracuda.speculative_verify(baracuda.rng_key(7), np.array([[1, 0]]), sure)]
    [[[1, 2, -1]], [1]]
    """
    *lead, n = draft_tokens.shape
    rows, count, vocabulary = tuple(lead), prod(lead), target_probs.shape[-1]
    positions = target_probs.shape[-2]
    if bonus_tokens is not None and positions > n:
        raise InvalidProblemError(
            f"bonus_tokens: given, and target_probs has {positions} positions; expected {n} or no bonus_tokens"
        )
    if not vocabulary:
        raise InvalidProblemError(f"target_probs: shape {target_probs.shape}; expected a token or more")
    if not n:
        token = _drawn(do, key, do.reshaped(target_probs, (count, vocabulary)), bits) if positions else bonus_tokens
        tokens = do.filled((*rows, 1), S64, -1) if token is None else do.reshaped(token, (*rows, 1))
        return in_element(do, tokens, dtype or S64), do.filled(rows, dtype or S64, 0)
    draft, target = do.reshaped(draft_tokens, (count, n)), do.reshaped(target_probs, (count, positions, vocabulary))
    guess = {} if draft_probs is None else {"guess": do.reshaped(draft_probs, (count, n, vocabulary))}
    keys, single = keys_of_rows(do, key, count)
    accepted, tokens = do.rows(rows, S64), do.rows((*rows, n + 1), S64)
    refused = reshaped(accepted, (count,))
    given = {"draft": draft, "target": target, **guess}
    extents = {"shape_n": n, "shape_v": vocabulary}
    do.run(_refused_op, {**given, **keys}, refused, bits=bits, folded=single, **extents)
    rest = do.rows((count, vocabulary), F32)
    do.run(_rest_op, {"at": refused, **given}, rest, **extents)
    token = _drawn(do, key, rest, bits)
    bonus = {} if bonus_tokens is None else {"bonus": do.reshaped(bonus_tokens, (count,))}
    results = {"refused": refused, "token": token, "draft": draft, **bonus}
    do.run(_verified_op, results, reshaped(tokens, (count, n + 1)), shape_n=n, bonus_drawn=positions > n)
    return in_element(do, tokens, dtype or S64), in_element(do, accepted, dtype or S64)


# --- a tree of guesses ------------------------------------------------------------------------------------------------


def _shares(token: Own, parent: Own, target: OwnTable, *, shape_v: WholeScalar = 0) -> Stored:
    """The probability of each node's token where its parent stands; 0 of what is no node with a parent."""
    own, above = _whole(token), _whole(parent)
    there = (own >= 0) & (own < _number(shape_v)) & (above >= 0) & (above < _whole(coord(1)))
    return Stored(select(there, cast(_at(target, above, own), F32), const(0, F32)), F32)


def _hit(
    share: Own, parent: Own, other_share: Own, other_parent: Own, key0: Own, key1: Own, *, bits: Bits = "philox",
    folded: bool = False, threshold_single: Scalar = 1.0, threshold_acc: Scalar = 1.0,
) -> Stored:  # fmt: skip
    """Whether the draw of a node's parent lies within the shares of the node's siblings up to itself."""
    before = f.equal(_whole(parent), _whole(other_parent)) & (coord(2) <= coord(1))
    reached = f.sum_(select(before, other_share, const(0, F32)))
    draw = draw_of_row(row_key(key0, key1, coord(0), bits, folded), _whole(parent), bits)
    low, single = as_expr(threshold_acc, F32), as_expr(threshold_single, F32)
    hit = (share > 0.0) & ((draw.fine_uniform() < reached / low) | (share >= single))
    return Stored(cast(hit, _S32), _S32)


def _chosen(hit: Own, parent: Own, other_hit: Own, other_parent: Own) -> Stored:
    """Whether a node is the first of its siblings that is hit."""
    same = f.equal(_whole(parent), _whole(other_parent)) & (coord(2) < coord(1)) & f.not_equal(other_hit, 0)
    earlier = reduce("max", select(same, const(1, _S32), const(0, _S32)))
    return Stored(select(f.equal(earlier, 0), hit, const(0, _S32)), _S32)


def _next(above: Own, chosen: Own, parent: Own) -> Stored:
    """The chosen child of a node; -1 where there is none."""
    holds = f.not_equal(chosen, 0) & (_whole(above) >= 0) & f.equal(_whole(parent), _whole(above))
    child = _first(holds, _whole(coord(1)))
    return Stored(select(f.equal(child, _NEVER), const(-1, S64), child), S64)


def _ends(path: Own) -> tuple[Stored, Stored]:
    """How many nodes of a path were guesses, and the last one."""
    count = reduce("sum", select(path >= 0, const(1, S64), const(0, S64)))
    return Stored(count - 1, S64), Stored(reduce("max", path), S64)


def _row_at(at: Own, target: OwnTable) -> Stored:
    return Stored(cast(_at(target, _whole(at), _whole(coord(1))), F32), F32)


def _taken(last: Own, token: Own, parent: Own, share: Own, *, shape_v: WholeScalar = 0) -> tuple[Stored, Stored]:
    """Of children of the last node their tokens, and what is left of their probabilities; of others the first that is none."""
    own = f.equal(_whole(parent), _whole(last)) & (share > 0.0)
    return Stored(select(own, _whole(token), _number(shape_v)), S64), Stored(share * _NOTHING, F32)


def _walked(path: OwnTable, token: OwnTable, accepted: Own, drawn: Own) -> Stored:
    """Tokens of a path, the one that was drawn behind it, -1."""
    number, count = _whole(coord(1)), _whole(accepted)
    guess = _whole(_at(token, _whole(_at(path, number + 1))))
    last = select(f.equal(number, count), _whole(drawn), const(-1, S64))
    return Stored(select(number < count, guess, last), S64)


def _of_target(shapes: Mapping[str, Any], options: Mapping[str, Any]) -> Space:
    return Space({"at": (0,), "target": (0, None, None)}, {1: shapes["target"][2]})


def _of_path(shapes: Mapping[str, Any], options: Mapping[str, Any]) -> Space:
    return Space({"path": (0, None), "token": (0, None), "accepted": (0,), "drawn": (0,)}, {1: shapes["path"][1]})


_NODES: dict[str, Any] = dict.fromkeys(("share", "parent", "hit", "token", "chosen"), (0, 1))
_OTHERS: dict[str, Any] = {"other_share": (0, 2), "other_parent": (0, 2), "other_hit": (0, 2)}
_ONCE: dict[str, Any] = dict.fromkeys(("key0", "key1", "above", "last"), (0,))
_among = _placed(**_NODES, **_OTHERS, **_ONCE, target=(0, None, None), path=(0, 1))
_shares_op = Op(_shares, Rule.EACH, name="shares_of_nodes", space=_among, **_INTERNAL)
_hit_op = Op(_hit, Rule.EACH, name="nodes_hit", space=_among, axis=(2,), **_ROWS)
_chosen_op = Op(_chosen, Rule.EACH, name="nodes_chosen", space=_among, axis=(2,), **_ROWS)
_next_op = Op(_next, Rule.EACH, name="next_node", space=_among, axis=(1,), **_ROWS)
_ends_op = Op(_ends, Rule.EACH, name="ends_of_paths", space=_among, axis=(1,), results=("count", "end"), **_ROWS)
_row_at_op = Op(_row_at, Rule.EACH, name="probabilities_at", space=_of_target, **_INTERNAL)
_taken_op = Op(_taken, Rule.EACH, name="children_taken", space=_among, results=("index", "value"), **_INTERNAL)
_walked_op = Op(_walked, Rule.EACH, name="tokens_of_paths", space=_of_path, **_INTERNAL)


@composed(
    key=KEYS, tokens="*rows nodes : s32 s64", parents="*rows nodes or nodes : s32 s64",
    target_probs=f"*rows nodes vocabulary : {_PROBABILITIES}", numbers={"threshold_single": (), "threshold_acc": ()},
)  # fmt: skip
def speculative_verify_tree(
    do: Steps, key: TensorRef, tokens: TensorRef, parents: TensorRef, target_probs: TensorRef, *, depth: int | None = None,
    threshold_single: float = 1.0, threshold_acc: float = 1.0, dtype: Dtype = None, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """A tree of guessed tokens verified: (tokens, (*rows, depth + 1), accepted, (*rows), path, (*rows, depth + 1)).

    Node 0 is the last token that is known; each other node guesses a token behind its parent, a node of a lower number; -1 for a
    parent or a token fills rows up. target_probs[i] are the probabilities behind node i. From node 0 on, of the children of a
    node, in the order of their numbers, the first one stays up to which their probabilities add up to more than a uniform draw u,
    element i of the row's key: with sum / threshold_acc in place of the sum, or where its own probability is threshold_single or
    more, which take guesses that are less likely. Where none stays, or there is none, a token is drawn by the node's
    probabilities without those of its children. Tokens of one node's children should differ.

    tokens are the guesses that stay, then the one that was drawn, then -1; accepted is how many stay; path has their nodes, from
    node 0 on, and -1. A path has at most `depth` guesses, by default as many as there are nodes but one. key is as in
    `sample_top_k`. Results are s64 unless dtype says otherwise.

    Source: SGLang's tree_speculative_sampling_target_only; EAGLE.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> sure = np.float32([[[0, 1, 0], [0, 0, 1], [1, 0, 0]]])
    >>> found = baracuda.speculative_verify_tree(baracuda.rng_key(7), np.array([[0, 0, 1]]), np.array([-1, 0, 0]), sure)
    >>> [r.tolist() for r in found]
    [[[1, 0, -1]], [1], [[0, 2, -1]]]
    """
    *lead, nodes = tokens.shape
    rows, count, vocabulary = tuple(lead), prod(lead), target_probs.shape[-1]
    if not nodes or not vocabulary:
        raise InvalidProblemError(f"target_probs: shape {target_probs.shape}; expected a node and a token or more")
    longest = nodes - 1 if depth is None else depth
    if longest < 0:
        raise InvalidProblemError(f"depth: {depth}; expected 0 or more")
    token, target = do.reshaped(tokens, (count, nodes)), do.reshaped(target_probs, (count, nodes, vocabulary))
    if parents.shape == tokens.shape:
        parent = do.reshaped(parents, (count, nodes))
    else:
        parent = view(parents, 0, (count, nodes), (0, parents.strides[0]))
    keys, single = keys_of_rows(do, key, count)
    share = do.rows((count, nodes), F32)
    do.run(_shares_op, {"token": token, "parent": parent, "target": target}, share, shape_v=vocabulary)
    own = {"share": share, "parent": parent, "other_share": share, "other_parent": parent, **keys}
    limits = {"threshold_single": threshold_single, "threshold_acc": threshold_acc}
    hit = do.run(_hit_op, own, do.rows((count, nodes), _S32), bits=bits, folded=single, **limits)
    siblings = {"hit": hit, "parent": parent, "other_hit": hit, "other_parent": parent}
    chosen = do.run(_chosen_op, siblings, do.rows((count, nodes), _S32))
    path = do.rows((*rows, longest + 1), S64)
    steps: Any = reshaped(path, (count, longest + 1))
    do.fill(slab(steps, 1, 0, 1), 0, "shape_first")
    for i in range(longest):
        do.run(_next_op, {"above": _column(steps, i), "chosen": chosen, "parent": parent}, _column(steps, i + 1))
    accepted, last = do.rows(rows, S64), do.rows((count,), S64)
    guesses = reshaped(accepted, (count,))
    do.run(_ends_op, {"path": steps}, (guesses, last))
    rest = do.rows((count, vocabulary + 1), F32)
    do.fill(slab(rest, 1, vocabulary, vocabulary + 1), 0, "shape_none")
    do.run(_row_at_op, {"at": last, "target": target}, slab(rest, 1, 0, vocabulary))
    children = {"last": last, "token": token, "parent": parent, "share": share}
    into = (do.rows((count, nodes), S64), do.rows((count, nodes), F32))
    index, value = do.run(_taken_op, children, into, shape_v=vocabulary)
    left = scatter(do, rest, index, value, axis=1, bounds="clamp")
    drawn = _drawn(do, key, slab(left, 1, 0, vocabulary), bits)
    results = do.rows((*rows, longest + 1), S64)
    walked = {"path": steps, "token": token, "accepted": guesses, "drawn": drawn}
    do.run(_walked_op, walked, reshaped(results, (count, longest + 1)))
    return tuple(in_element(do, r, dtype or S64) for r in (results, accepted, path))


def _column(path: TensorRef, number: int) -> TensorMut:
    found: TensorMut = view(path, number * path.strides[1], (path.shape[0],), path.strides[:1])
    return found
