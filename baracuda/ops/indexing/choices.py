"""One of several tensors for each element: by its number, or by the first of some conditions that holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import broadcasted, view
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, as_expr, cast, const, select
from baracuda.formula.integer_functions import remainder
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Own, Value, WholeScalar
from baracuda.ops.indexing.masks import summed_to

#: Tensors that one kernel chooses from.
_MOST = 6


def _either(condition: Expr, a: Value, b: Value) -> Value:
    if isinstance(a, Complex) or isinstance(b, Complex):
        left, right = (v if isinstance(v, Complex) else Complex(v, const(0.0, v.kind)) for v in (a, b))
        return Complex(select(condition, left.re, right.re), select(condition, left.im, right.im))
    return select(condition, a, b)


def _held(x: Expr, count: WholeScalar, wrap: bool) -> Expr:
    """A number of a choice, in s64."""
    wide, most = cast(x, ElementKind.S64), as_expr(count, ElementKind.S64)
    return remainder(wide, most) if wrap else f.maximum(f.minimum(wide, most - 1), 0)


def _chosen(
    x: Own,
    choice0: Value,
    choice1: Value | None = None,
    choice2: Value | None = None,
    choice3: Value | None = None,
    choice4: Value | None = None,
    choice5: Value | None = None,
    others: Value | None = None,
    *,
    wrap: bool = False,
    first: WholeScalar = 0,
    count: WholeScalar = 1,
) -> Value:
    """The choice whose number, from `first` on, x is; else what `others` has."""
    place = _held(x, count, wrap) - as_expr(first, ElementKind.S64)
    choices = [c for c in (choice0, choice1, choice2, choice3, choice4, choice5) if c is not None]
    result: Value = choices[-1] if others is None else others
    for number in range(len(choices) - (2 if others is None else 1), -1, -1):
        result = _either(f.equal(place, number), choices[number], result)
    return result


def _of_choice(dy: Value, x: Own, *, wrap: bool = False, number: WholeScalar = 0, count: WholeScalar = 1) -> Value:
    """What one choice gets of the gradient."""
    own = f.equal(_held(x, count, wrap), as_expr(number, ElementKind.S64))
    return map_parts(lambda part: select(own, part, 0.0), dy)


def _first_of(
    condition0: Own,
    choice0: Value,
    default: Value,
    condition1: Own | None = None,
    choice1: Value | None = None,
    condition2: Own | None = None,
    choice2: Value | None = None,
    condition3: Own | None = None,
    choice3: Value | None = None,
) -> Value:
    """The choice of the first condition that holds."""
    pairs = [(condition0, choice0), (condition1, choice1), (condition2, choice2), (condition3, choice3)]
    result = default
    for condition, choice in reversed(pairs):
        if condition is not None and choice is not None:
            result = _either(condition, choice, result)
    return result


def _where(dy: Value, condition: Own) -> Value:
    """The gradient where a condition holds."""
    return map_parts(lambda part: select(condition, part, 0.0), dy)


def _elsewhere(dy: Value, condition: Own) -> Value:
    """The gradient where a condition does not hold."""
    return map_parts(lambda part: select(condition, 0.0, part), dy)


_OF_CHOICES: dict[str, Any] = {"family": "indexing", "takes": "any", "byte_floats": True, "differentiable": False}
chosen_of = Op(_chosen, Rule.COMMON, name="chosen_of", **_OF_CHOICES)
of_choice = Op(_of_choice, Rule.COMMON, name="gradient_of_choice", **_OF_CHOICES)
first_of = Op(_first_of, Rule.COMMON, name="first_of_conditions", **_OF_CHOICES)
where_holds = Op(_where, Rule.COMMON, name="gradient_where", **_OF_CHOICES)
elsewhere = Op(_elsewhere, Rule.COMMON, name="gradient_elsewhere", **_OF_CHOICES)


def _listed(choices: Any) -> list[Any]:
    """The choices, which may be one tensor that has them along its first axis."""
    if not isinstance(choices, TensorRef):
        return list(choices)
    if not choices.shape:
        raise InvalidProblemError("choices: it is a scalar; expected one axis or more, of the choices")
    shape, strides = choices.shape[1:], choices.strides[1:]
    return [view(choices, k * choices.strides[0], shape, strides) for k in range(choices.shape[0])]


@composed(x="... : s32 s64", choices="... or list ...")
def choose(do: Steps, x: TensorRef, choices: Any, *, mode: Literal["raise", "wrap", "clip"] = "raise") -> TensorRef:
    """For each element the choice whose number x has there: choices[x[i]][i]. x and the choices, a list of tensors or one that
    has them along its first axis, broadcast; the choices promote to a common element.

    A number out of range is an error (on a GPU when values are next read on the host, or by `baracuda.synchronize()`), with
    mode="clip" the nearest one that is not, with mode="wrap" taken modulo the number of choices. Source: numpy.choose.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.choose(np.array([1, 0, 1]), [np.float32([1, 2, 3]), np.float32([4, 5, 6])]).tolist()
    [4.0, 2.0, 6.0]
    """
    listed = _listed(choices)
    if not listed:
        raise InvalidProblemError("choices: none; expected one or more")
    if mode == "raise":
        do.check_indices(x, "x", IndexBound(len(listed)))
    result: TensorRef | None = None
    for first in range(0, len(listed), _MOST):
        group = {f"choice{k}": c for k, c in enumerate(listed[first : first + _MOST])}
        words: dict[str, Any] = {"wrap": mode == "wrap", "first": first, "count": len(listed)}
        result = do.run(chosen_of, {"x": x, **group, "others": result}, **words)
    assert result is not None
    return result


@composed(dy="...", x="... : s32 s64", choices="... or list ...")
def choose_backward(
    do: Steps, dy: TensorRef, x: TensorRef, choices: Any, *, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> Any:
    """The gradients of `choose`'s choices, a tuple of them: dy where the choice was taken, 0 elsewhere, summed over axes along
    which it was repeated. Of choices in one tensor one tensor."""
    listed = _listed(choices)
    if mode == "raise":
        do.check_indices(x, "x", IndexBound(len(listed)))
    found = []
    for number, choice in enumerate(listed):
        broadcasted(choice, dy.shape, f"choices[{number}]")
        words: dict[str, Any] = {"wrap": mode == "wrap", "number": number, "count": len(listed)}
        found.append(summed_to(do, do.run(of_choice, {"dy": dy, "x": x}, **words), choice.shape))
    if not isinstance(choices, TensorRef):
        return tuple(found)
    whole = do.new(choices.shape, dy.kind)
    for one, target in zip(found, _listed(whole), strict=True):
        do.copy(one, target)
    return whole


def _check_pairs(conditions: Sequence[Any], choices: Sequence[Any]) -> None:
    if not conditions or len(conditions) != len(choices):
        raise InvalidProblemError(
            f"conditions, choices: {len(conditions)} and {len(choices)} of them; expected as many, one or more"
        )


@composed(conditions="list ... : bool", choices="list ... or number", default="... or number")
def select_cond(do: Steps, conditions: Any, choices: Any, default: Any = 0) -> TensorRef:
    """For each element the choice of the first condition that holds there, `default` where none does. Conditions are tensors of
    bool; they, the choices and default, which may be numbers, broadcast. Source: numpy.select.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.float32([1, 2, 3])
    >>> baracuda.select_cond([x < 2, x < 3], [x, 10 * x], default=-1.0).tolist()
    [1.0, 20.0, -1.0]
    """
    _check_pairs(conditions, choices)
    result, most = default, 4
    starts = range(0, len(conditions), most)
    for first in reversed(starts):
        group: dict[str, Any] = {"default": result}
        for k, pair in enumerate(zip(conditions[first : first + most], choices[first : first + most], strict=True)):
            group |= {f"condition{k}": pair[0], f"choice{k}": pair[1]}
        result = do.run(first_of, group)
    made: TensorRef = result
    return made


@composed(dy="...", conditions="list ... : bool")
def select_cond_backward(do: Steps, dy: TensorRef, conditions: Any) -> Any:
    """The gradients of `select_cond`'s choices, each of the shape of dy, and of its default, as the last: dy where the choice was
    taken, 0 elsewhere."""
    if not conditions:
        raise InvalidProblemError("conditions: none; expected one or more")
    found: list[Any] = []
    rest: Any = dy  # where none of the conditions before holds
    for condition in conditions:
        found.append(do.run(where_holds, {"dy": rest, "condition": condition}))
        rest = do.run(elsewhere, {"dy": rest, "condition": condition})
    return (*found, rest)
