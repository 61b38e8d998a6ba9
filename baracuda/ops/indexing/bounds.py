"""Whether indices are in range: what the functions of ops that read at indices ask before they run."""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, const, position, select
from baracuda.formula.integer_functions import is_number
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar, WholeScalar

# A number has the name that it has in the functions which ask: by names a call that is made again brings its own.


def _beyond(index: Expr, low: Scalar, last: Scalar, ignore_index: WholeScalar) -> Expr:
    return ((index < low) | (index > last)) & ~is_number(index, ignore_index)


def _any_beyond(index: Expr, *, low: Scalar = 0, last: Scalar = 0, ignore_index: WholeScalar = 0) -> Expr:
    return f.max_(_beyond(index, low, last, ignore_index))


def _first_beyond(index: Expr, *, low: Scalar = 0, last: Scalar = 0, ignore_index: WholeScalar = 0) -> Expr:
    own_position = position(ElementKind.S64)
    return f.min_(select(_beyond(index, low, last, ignore_index), own_position, const((1 << 63) - 1, ElementKind.S64)))


def _at_position(index: Expr, *, place: Scalar = 0) -> Expr:
    own_position = position(ElementKind.S64)
    lowest = const(-(1 << (index.kind.bits - 1)), index.kind)
    return f.max_(select(f.equal(own_position, cast(as_expr(place, index.kind), ElementKind.S64)), index, lowest))


def _declared(formula: object, name: str) -> Op:
    assert callable(formula)
    return Op(
        formula,
        Rule.COMMON,
        name=name,
        family="indexing",
        takes="int",
        rows=True,
        axis=None,
        keepdims=False,
        differentiable=False,
    )


#: Whether some index is out of range; the position of the first one that is; the index at a position.
any_beyond = _declared(_any_beyond, "any_beyond")
first_beyond = _declared(_first_beyond, "first_beyond")
at_position = _declared(_at_position, "at_position")
