"""Derivatives of scans, each a scan in the other direction.

A scan y has elements x_0, x_1, ... in its own order. What reaches the state after element i, G_i, is the adjoint of y_i and
what element i + 1 passes on of G_(i+1). There is no word for "the next element's"; but what element i passes on,
U_i = p_i(dy_i + U_(i+1)), is a scan in the other direction, and G_i = dy_i + U_(i+1) is dy and its exclusive form. Where y is
exclusive itself, dy_i reaches the state after element i - 1, and G is the exclusive form of V_i = dy_i + p_i(V_(i+1)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from baracuda.formula.expr import Expr, compare, const, position, select
from baracuda.formula.functions import exp

if TYPE_CHECKING:
    from baracuda.formula.scans import Scan


def reaching(y: Expr, dy: Expr, passes: Expr) -> Expr:
    """G where element i passes on `passes` times what reaches it."""
    from baracuda.formula.scans import linear_recurrence

    back = not y.attr.reverse
    if y.attr.exclusive:
        return linear_recurrence(passes, dy, reverse=back, exclusive=True)
    return dy + linear_recurrence(passes, passes * dy, reverse=back, exclusive=True)


def sum_(y: Expr, dy: Expr, operand: int) -> Expr:
    """dx_i is the sum of dy_i and all later ones."""
    from baracuda.formula.scans import cumsum

    attr: Scan = y.attr
    return cumsum(dy, reverse=not attr.reverse, exclusive=attr.exclusive)


def prod(y: Expr, dy: Expr, operand: int) -> Expr:
    """dx_i is the product before i, times what reaches it: the sum over later j of dy_j and the factors between."""
    from baracuda.formula.scans import cumprod

    (x,) = y.args
    return cumprod(x, reverse=y.attr.reverse, exclusive=True) * reaching(y, dy, x)


def affine(y: Expr, dy: Expr, operand: int) -> Expr | None:
    """h_i = a_i * h_(i-1) + b_i: what reaches h_i goes to b_i, and times h_(i-1) to a_i."""
    from baracuda.formula.scans import cumprod, sibling

    a, _ = y.args
    if y.attr.component == 0:  # the running product of a
        reverse = y.attr.reverse
        return None if operand else cumprod(a, reverse=reverse, exclusive=True) * reaching(y, dy, a)
    reached = reaching(y, dy, a)
    return reached if operand else reached * sibling(y, 1, exclusive=True)


def scaled_sum(y: Expr, dy: Expr, operand: int) -> Expr | None:
    """Of the sum s_i of e**(x_j - m_i), with m taken as a constant: whoever uses s adds log(s) to m, which does not depend
    on m's choice. dx_j is e**(x_j - m_j) times what reaches it, of which element i passes on e**(m_(i-1) - m_i)."""
    from baracuda.formula.scans import sibling

    if y.attr.component == 0 or operand == 1:
        return None
    (x, _), largest, before = y.args, sibling(y, 0), sibling(y, 0, exclusive=True)
    return reaching(y, dy, ratio(before, largest)) * ratio(x, largest)


def ratio(x: Expr, largest: Expr) -> Expr:
    """e**(x - largest), 1 where both are the same infinity."""
    return exp(select(compare("eq", x, largest), 0.0, x - largest))


def extremum(y: Expr, dy: Expr, operand: int) -> Expr:
    """A running maximum or minimum: as the one with an index."""
    from baracuda.formula.scans import cummax_with_index, cummin_with_index

    word = cummax_with_index if y.attr.combine.name == "max" else cummin_with_index
    value, _ = word(y.args[0], reverse=y.attr.reverse, exclusive=y.attr.exclusive)
    return _to_the_named(value, dy)


def located(y: Expr, dy: Expr, operand: int) -> Expr | None:
    """The value of a running maximum or minimum with its index."""
    return _to_the_named(y, dy) if y.attr.component == 0 and operand == 0 else None


def _to_the_named(y: Expr, dy: Expr) -> Expr:
    """An element gets all dy of the elements that name it: a stretch that begins with the element itself, because a running
    extremum names an element from there on until another takes over."""
    from baracuda.formula.scans import segmented_cumsum, sibling

    begins = compare("eq", sibling(y, 1), position(y.args[1].kind))
    back = not y.attr.reverse
    if y.attr.exclusive:
        reaching = segmented_cumsum(dy, begins, reverse=back, exclusive=True)
    else:
        continued = select(begins, const(0.0, dy.kind), dy)
        reaching = dy + segmented_cumsum(continued, begins, reverse=back, exclusive=True)
    return select(begins, reaching, 0.0)
