"""Products of any number of tensors over named axes: einsum, and what is a special case of it.

Every pair of tensors is one `MatmulPlan`, in the order that opt_einsum finds cheapest; that order is a function of the
subscripts and the shapes, so the bits are the same on every device. Tensors, results and errors are as for
`baracuda.frontends.products`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference
from baracuda.core.views import view
from baracuda.frontends.arrays import broadcast
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import composition, function
from baracuda.frontends.product_function import MatmulFunction, Request
from baracuda.frontends.products import Ref, one_element
from baracuda.frontends.views import copy, merged, output
from baracuda.ops.declaration.composition import one_or_all
from baracuda.ops.declaration.words import Count
from baracuda.ops.matmul.descriptor import labelled

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@MatmulFunction
def _contract(a: Ref, b: Ref, *, axes: tuple[str, str, str], conjugate: tuple[bool, bool] = (False, False)) -> Request:
    """Two tensors by labels; each label that only one of them has is in the result."""
    one_element("einsum", a=a, b=b)
    d = labelled(a, b, *axes, conjugate_a=conjugate[0], conjugate_b=conjugate[1])
    return Request(d, {"a": 0, "b": 1})


@dataclass(frozen=True)
class _Term:
    """A tensor with a label for each axis; `conjugate` if what is meant is its conjugate."""

    tensor: Any
    labels: str
    conjugate: bool = False


def _parsed(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, with an ellipsis written out."""
    if not isinstance(subscripts, str):
        raise InvalidProblemError(f"einsum: {subscripts!r}; expected subscripts, as in 'ij,jk->ik'")
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise InvalidProblemError(f"einsum: {subscripts!r} names {len(terms)} operands; got {len(ranks)}")
    unused = [c for c in _LETTERS if c not in text]
    widths = [r - len(t.replace("...", "")) if "..." in t else 0 for t, r in zip(terms, ranks, strict=True)]
    if min(widths, default=0) < 0 or max(widths, default=0) > len(unused):
        raise InvalidProblemError(f"einsum: {subscripts!r} does not fit operands of ranks {tuple(ranks)}")
    filler = "".join(unused[: max(widths, default=0)])
    expanded = [t.replace("...", filler[len(filler) - w :]) for t, w in zip(terms, widths, strict=True)]
    if not arrow:
        all_labels = "".join(expanded)
        right = ("..." if "..." in left else "") + "".join(
            sorted(c for c in set(all_labels) - set(filler) if all_labels.count(c) == 1)
        )
    result = right.replace("...", filler)
    for t, r in zip(expanded, ranks, strict=True):
        if len(t) != r or (not t.isalpha() and t):
            raise InvalidProblemError(f"einsum: {subscripts!r} has the term {t!r} for an operand of rank {r}")
    if len(set(result)) != len(result) or set(result) - set("".join(expanded)):
        raise InvalidProblemError(f"einsum: {subscripts!r}; expected different labels of the operands in the result")
    return expanded, result


@lru_cache(maxsize=1024)
def _path(terms: tuple[str, ...], result: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """The pairs to contract, one after another."""
    from opt_einsum import contract_path

    pairs, _ = contract_path(f"{','.join(terms)}->{result}", *shapes, shapes=True, optimize="auto")
    return tuple(tuple(pair) for pair in pairs)


def _sizes(terms: Sequence[tuple[str, Sequence[int]]]) -> dict[str, int]:
    """The extent of each label, given the labels and the shape of each tensor."""
    sizes: dict[str, int] = {}
    for labels, shape in terms:
        own: dict[str, int] = {}
        for label, n in zip(labels, shape, strict=True):
            if own.setdefault(label, n) != n:
                raise InvalidProblemError(f"einsum: label {label!r} has extents {own[label]} and {n} in {labels}{tuple(shape)}")
        for label, n in own.items():
            if sizes.setdefault(label, n) != n and 1 not in (sizes[label], n):
                every = ", ".join(f"{t}{tuple(s)}" for t, s in terms)
                raise InvalidProblemError(f"einsum: label {label!r} has extents {sizes[label]} and {n} in {every}")
            sizes[label] = n if sizes[label] == 1 else sizes[label]
    return sizes


def _diagonal(term: _Term) -> _Term:
    """A view in which each label occurs once."""
    x, labels = term.tensor, term.labels
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            x = composition("diagonal")(x, 0, i, j)
            labels = labels[:i] + labels[i + 1 : j] + labels[j + 1 :] + label
    return _Term(x, labels, term.conjugate)


def _summed(term: _Term, remaining: set[str]) -> _Term:
    """The sum over the labels that nothing else needs."""
    axes = tuple(i for i, label in enumerate(term.labels) if label not in remaining)
    if not axes:
        return term
    x = function("sum")(term.tensor, axis=axes, keepdims=False, dtype=describe(term.tensor, "operand").kind)
    return _Term(x, "".join(label for label in term.labels if label in remaining), term.conjugate)


def _permuted(x: Any, order: Sequence[int]) -> Any:
    if list(order) == list(range(len(order))):
        return x
    return x.permute(*order) if hasattr(x, "permute") else x.transpose(*order)


def evaluate(terms: Sequence[_Term], result: str, preference: PlanPreference | None = None) -> Any:
    """The sum over the labels that `result` lacks of the product of some tensors."""
    sizes = _sizes([(t.labels, tuple(t.tensor.shape)) for t in terms])
    open_terms = [_without_ones(_diagonal(t), sizes) for t in terms]
    if len(open_terms) == 1:
        reduced = _summed(open_terms[0], set(result))
        if reduced.conjugate:
            reduced = _Term(function("conj")(reduced.tensor), reduced.labels)
        return _permuted(reduced.tensor, [reduced.labels.index(label) for label in result])
    every = tuple(tuple(t.tensor.shape) for t in open_terms)
    for pair in _path(tuple(t.labels for t in open_terms), result, every):
        chosen = [open_terms[i] for i in sorted(pair)]
        open_terms = [t for i, t in enumerate(open_terms) if i not in pair]
        needed = set(result).union(*(t.labels for t in open_terms))
        open_terms.append(_folded(chosen, needed, result if not open_terms else None, preference))
    return open_terms[0].tensor


def _without_ones(term: _Term, sizes: dict[str, int]) -> _Term:
    """The tensor without the axes of extent 1 that broadcast."""
    drop = [i for i, (label, n) in enumerate(zip(term.labels, term.tensor.shape, strict=True)) if n == 1 != sizes[label]]
    if not drop:
        return term
    shape = tuple(n for i, n in enumerate(term.tensor.shape) if i not in drop)
    labels = "".join(label for i, label in enumerate(term.labels) if i not in drop)
    return _Term(term.tensor.reshape(shape), labels, term.conjugate)


def _folded(chosen: Sequence[_Term], needed: set[str], result: str | None, preference: PlanPreference | None) -> _Term:
    """The tensors of one step of a path contracted, two at a time."""
    folded = chosen[0]
    for i, other in enumerate(chosen[1:], 1):
        labels_left = needed.union(*(t.labels for t in chosen[i + 1 :]))
        a = _summed(folded, labels_left | set(other.labels))
        b = _summed(other, labels_left | set(a.labels))
        if result is not None and i == len(chosen) - 1:
            labels = result
        else:
            both = dict.fromkeys([x for x in a.labels if x in b.labels] + list(a.labels) + list(b.labels))
            labels = "".join(x for x in both if x in labels_left)
        conjugate = (a.conjugate, b.conjugate)
        x = _contract(a.tensor, b.tensor, axes=(a.labels, b.labels, labels), conjugate=conjugate, preference=preference)
        folded = _Term(x, labels)
    return folded


@declared(operands="...")
def einsum(subscripts: str, *operands: Any, preference: PlanPreference | None = None) -> Any:
    """The sum of products that `subscripts` names, as in NumPy: "ij,jk->ik", "...ij,...jk", "ii->i", "ij->".

    Axes of one label have one extent, or 1, which broadcasts. With one operand and nothing to sum, the result is a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.einsum("ij,kj->ik", np.float32([[1, 2]]), np.float32([[3, 4], [5, 6]])).tolist()
    [[11.0, 17.0]]
    """
    if not operands:
        raise InvalidProblemError(f"einsum: {subscripts!r} without an operand; expected one at least")
    ranks = [len(describe(x, f"operand {i}").shape) for i, x in enumerate(operands)]
    labels, result = _parsed(subscripts, ranks)
    return evaluate([_Term(x, t) for x, t in zip(operands, labels, strict=True)], result, preference)


@declared(dy="...", operands="...")
def einsum_backward(
    dy: Any, subscripts: str, *operands: Any, wrt: Sequence[int] | None = None, preference: PlanPreference | None = None
) -> Any:
    """The gradients of `einsum`'s operands, those numbered in `wrt` or all of them: each is the sum of products of dy and the
    other operands, conjugated where they are complex. Of an operand with a label twice it lies on the diagonal, 0 beside it.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.einsum_backward(np.float32([3, 4]), "ii->i", np.ones((2, 2), np.float32)).tolist()
    [[3.0, 0.0], [0.0, 4.0]]
    """
    refs = [describe(x, f"operand {i}") for i, x in enumerate(operands)]
    labels, result = _parsed(subscripts, [len(r.shape) for r in refs])
    sizes = _sizes([(t, r.shape) for t, r in zip(labels, refs, strict=True)])
    cotangent = describe(dy, "dy")
    if cotangent.shape != tuple(sizes[c] for c in result):
        raise InvalidProblemError(f"dy: shape is {cotangent.shape}; expected {tuple(sizes[c] for c in result)}")
    numbers = tuple(range(len(operands)) if wrt is None else wrt)
    if not numbers or len({*numbers} & {*range(len(operands))}) != len(numbers):
        raise InvalidProblemError(f"wrt: {numbers}; expected some of 0 to {len(operands) - 1}, each once")
    is_complex = not cotangent.kind.is_float
    results = []
    for i in numbers:
        others = [_Term(x, t, is_complex) for j, (x, t) in enumerate(zip(operands, labels, strict=True)) if j != i]
        results.append(_gradient(operands[i], labels[i], [_Term(dy, result), *others], preference))
    return one_or_all(results)


def _gradient(x: Any, labels: str, factors: Sequence[_Term], preference: PlanPreference | None) -> Any:
    """That of one operand, given dy and the other operands: of its diagonal where it has a label twice, repeated along labels
    that none of these has."""
    ref = describe(x, "operand")
    own = "".join(dict.fromkeys(labels))
    shape = tuple(ref.shape[labels.index(c)] for c in own)
    sizes = _sizes([(t.labels, tuple(t.tensor.shape)) for t in factors])
    remaining = "".join(c for c, n in zip(own, shape, strict=True) if n == sizes.get(c))
    gradient = evaluate(factors, remaining, preference)
    gradient = gradient.reshape(tuple(n if c in remaining else 1 for c, n in zip(own, shape, strict=True)))
    if own == labels and tuple(gradient.shape) == shape and len(factors) > 1:  # of one factor it may be dy itself
        return gradient
    result, target = output(x, ref.shape, ref.kind)
    if own != labels:
        merged([], 0, target, x)
    steps = tuple(sum(s for c, s in zip(labels, target.strides, strict=True) if c == label) for label in own)
    copy(broadcast(gradient, shape), view(target, 0, shape, steps), x)
    return result


Axes = Sequence[int]
Numbers = tuple[tuple[Axes, Axes], tuple[Axes, Axes]]
Pairs = Count | tuple[int | Axes, int | Axes]
_FACTORS = dict.fromkeys("ab", "...")


@declared(**_FACTORS)
def tensordot(a: Any, b: Any, axes: Pairs = 2, *, preference: PlanPreference | None = None) -> Any:
    """The sum over pairs of axes of a and b: the last `axes` of a with the first of b, or those that two lists name.

    The result has the other axes of a, then those of b.
    """
    first, second = _pairs(a, b, axes)
    ranks = len(describe(a, "a").shape), len(describe(b, "b").shape)
    return dot_general(a, b, ((_positive(first, ranks[0]), _positive(second, ranks[1])), ((), ())), preference=preference)


@declared(**_FACTORS, dy="...")
def tensordot_backward(dy: Any, a: Any, b: Any, axes: Pairs = 2, *, preference: PlanPreference | None = None) -> Any:
    """(da, db) of `tensordot`."""
    first, second = _pairs(a, b, axes)
    return dot_general_backward(dy, a, b, ((first, second), ((), ())), preference=preference)


def _pairs(a: Any, b: Any, axes: Pairs) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, int):
        rank = len(describe(a, "a").shape)
        if axes > min(rank, len(describe(b, "b").shape)):
            raise InvalidProblemError(f"tensordot: axes {axes} for shapes {tuple(a.shape)} and {tuple(b.shape)}")
        return tuple(range(rank - axes, rank)), tuple(range(axes))
    first, second = ((x,) if isinstance(x, int) else tuple(x) for x in axes)
    return first, second


def _positive(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    return tuple(x % rank if -rank <= x < rank else x for x in axes)


def _subscripts(a: Any, b: Any, dimension_numbers: Numbers) -> tuple[str, str, str]:
    """The labels of a and of b, and of the result: batch, free of a, free of b."""
    shapes = describe(a, "a").shape, describe(b, "b").shape
    rank_a, rank_b = map(len, shapes)
    given_a, given_b = zip(*dimension_numbers, strict=True)
    ca, ba = (_positive(x, rank_a) for x in given_a)
    cb, bb = (_positive(x, rank_b) for x in given_b)
    for x, y in ((ca, cb), (ba, bb)):
        if len(x) != len(y) or not all(0 <= i < rank_a for i in x) or not all(0 <= j < rank_b for j in y):
            raise InvalidProblemError(f"axes {x} and {y} of shapes {shapes[0]} and {shapes[1]}; expected pairs of axes")
        for i, j in zip(x, y, strict=True):
            if shapes[0][i] != shapes[1][j]:
                raise InvalidProblemError(f"shapes {shapes[0]} and {shapes[1]} do not contract along axes {i} and {j}")
    if len({*ca, *ba}) != len(ca) + len(ba) or len({*cb, *bb}) != len(cb) + len(bb):
        raise InvalidProblemError(f"axes {dimension_numbers} name an axis twice; expected different axes")
    first = list(_LETTERS[: len(shapes[0])])
    second = list(_LETTERS[len(shapes[0]) : len(shapes[0]) + len(shapes[1])])
    for i, j in (*zip(ca, cb, strict=True), *zip(ba, bb, strict=True)):
        second[j] = first[i]
    free_a = [c for i, c in enumerate(first) if i not in ca and i not in ba]
    free_b = [c for j, c in enumerate(second) if j not in cb and j not in bb]
    return "".join(first), "".join(second), "".join([first[i] for i in ba] + free_a + free_b)


@declared(**_FACTORS)
def dot_general(a: Any, b: Any, dimension_numbers: Numbers, *, preference: PlanPreference | None = None) -> Any:
    """The sum over some pairs of axes of a and b, with others as batches (`jax.lax.dot_general`).

    dimension_numbers is ((contracted of a, of b), (batch of a, of b)); the result has the batch axes, then the free ones of a,
    then those of b.
    """
    return _contract(a, b, axes=_subscripts(a, b, dimension_numbers), preference=preference)


@declared(**_FACTORS, dy="...")
def dot_general_backward(dy: Any, a: Any, b: Any, dimension_numbers: Numbers, *, preference: PlanPreference | None = None) -> Any:
    """(da, db) of `dot_general`."""
    first, second, result = _subscripts(a, b, dimension_numbers)
    return einsum_backward(dy, f"{first},{second}->{result}", a, b, preference=preference)


@declared(tensors="list ...")
def multi_dot(tensors: Sequence[Any], *, preference: PlanPreference | None = None) -> Any:
    """The product of two or more matrices in the cheapest order; the first and the last may be vectors."""
    return einsum(_chain(tensors), *tensors, preference=preference)


@declared(dy="...", tensors="list ...")
def multi_dot_backward(dy: Any, tensors: Sequence[Any], *, preference: PlanPreference | None = None) -> tuple[Any, ...]:
    """The gradients of `multi_dot`'s tensors."""
    results = einsum_backward(dy, _chain(tensors), *tensors, preference=preference)
    return results if isinstance(results, tuple) else (results,)


def _chain(tensors: Sequence[Any]) -> str:
    shapes = [describe(x, f"tensor {i}").shape for i, x in enumerate(tensors)]
    inside = all(len(s) == 2 for s in shapes[1:-1])
    if len(shapes) < 2 or not inside or any(len(s) not in (1, 2) for s in (shapes[0], shapes[-1])):
        raise InvalidProblemError(
            f"multi_dot: shapes {', '.join(map(str, shapes))}; expected two matrices or more, vectors at the ends"
        )
    for left, right in pairwise(shapes):
        if left[-1] != right[0]:
            raise InvalidProblemError(f"multi_dot: shapes {left} and {right} do not contract")
    terms = [_LETTERS[i : i + 2] for i in range(len(shapes))]
    terms[0] = terms[0][2 - len(shapes[0]) :]
    terms[-1] = terms[-1][: len(shapes[-1])]
    ends = (terms[0][0] if len(shapes[0]) == 2 else "") + (terms[-1][1] if len(shapes[-1]) == 2 else "")
    return f"{','.join(terms)}->{ends}"


@declared(**_FACTORS)
def kron(a: Any, b: Any, *, preference: PlanPreference | None = None) -> Any:
    """The Kronecker product: y[i * p + k, j * q + l] = a[i, j] * b[k, l], over any number of axes, as in NumPy."""
    first, second, labels, shape = _interleaved(a, b)
    return _contract(a, b, axes=(first, second, labels), preference=preference).reshape(shape)


@declared(**_FACTORS, dy="...")
def kron_backward(dy: Any, a: Any, b: Any, *, preference: PlanPreference | None = None) -> tuple[Any, Any]:
    """(da, db) of `kron`."""
    first, second, labels, shape = _interleaved(a, b)
    if describe(dy, "dy").shape != shape:
        raise InvalidProblemError(f"dy: shape is {tuple(dy.shape)}; expected {shape}")
    sizes = dict(zip(first, a.shape, strict=True)) | dict(zip(second, b.shape, strict=True))
    unfolded = dy.reshape(tuple(sizes[c] for c in labels))
    da, db = einsum_backward(unfolded, f"{first},{second}->{labels}", a, b, preference=preference)
    return da, db


def _interleaved(a: Any, b: Any) -> tuple[str, str, str, tuple[int, ...]]:
    left, right = describe(a, "a").shape, describe(b, "b").shape
    first, second = _LETTERS[: len(left)], _LETTERS[len(left) : len(left) + len(right)]
    rank = max(len(left), len(right))
    if len(left) + len(right) > 8:
        raise InvalidProblemError(f"kron: shapes {left} and {right}; expected at most 8 axes together")
    rows = list(zip(first.rjust(rank), second.rjust(rank), strict=True))
    sizes = dict(zip(first, left, strict=True)) | dict(zip(second, right, strict=True)) | {" ": 1}
    labels = "".join(c for pair in rows for c in pair).replace(" ", "")
    return first, second, labels, tuple(sizes[x] * sizes[y] for x, y in rows)
