"""Algebraic clean-up that changes no bit of any result (of a NaN neither payload nor sign is part of the contract).

Each rewriting is exact in IEEE arithmetic for all operands, zeros of both signs, subnormals and infinities included; the
reason stands beside it. What looks tempting but is not exact is not done: x + 0 (loses -0), x - x and 0*x (infinities),
-(a - b) = b - a and -a - b = -(a + b) (the sign of a zero result), anything that regroups.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baracuda.core.elements import Category
from baracuda.formula.expr import COMPARISONS, Expr, binary, cast, compare, const, fma, rebuild, select, unary
from baracuda.formula.graph import Graph

_COMMUTATIVE = frozenset(["add", "mul", "max", "min", "and", "or", "xor", "eq", "ne", "mulhi", "gcd"])


def simplify(graph: Graph) -> Graph:
    """The graph with constants folded, signs moved together and equal sums and products shared; every bit stays."""
    position: dict[Expr, int] = {}

    def rewrite(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op in _COMMUTATIVE:  # a+b and b+a become one node: the operand that comes first in the graph goes first
            args = tuple(sorted(args, key=lambda a: position.get(a, len(position))))
        result = _simplified(n, args)
        position.setdefault(result, len(position))
        return result

    return graph.map(rewrite)


def _simplified(n: Expr, args: tuple[Expr, ...]) -> Expr:
    if args and all(a.op == "const" for a in args):
        folded = _fold(n, args)
        if folded is not None:
            return folded
    rule = _RULES.get(n.op)
    return rule(n, args) if rule else rebuild(n, args)


# --- constants --------------------------------------------------------------------------------------------------------

#: NumPy rounds these to nearest even in the kind of the operands, as every backend does.
_FLOAT_FOLDS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "rint": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}
#: These wrap.
_INTEGER_FOLDS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
#: These round towards zero.
_DIVISION_FOLDS: dict[str, Callable[[int, int], int]] = {
    "idiv": lambda a, b: 0 if b == 0 else abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1),
    "irem": lambda a, b: 0 if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1),
}
_COMPARE_FOLDS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _fold(n: Expr, args: tuple[Expr, ...]) -> Expr | None:
    """The constant that an operation on constants gives, where NumPy computes it as the contract says."""
    if n.op == "cast":  # to a float: rounded to nearest even
        return const(args[0].value, n.kind) if n.kind.is_float else None
    kind = args[0].kind
    if n.op in _DIVISION_FOLDS:
        return const(_DIVISION_FOLDS[n.op](*(int(a.value) for a in args)), kind)
    table = _COMPARE_FOLDS if n.op in COMPARISONS else _FLOAT_FOLDS if kind.is_float else _INTEGER_FOLDS
    operation = table.get(n.op)
    if operation is None or kind.category is Category.BOOL:
        return None
    with np.errstate(all="ignore"):
        return const(operation(*(a.value for a in args)), n.kind)


# --- rules ------------------------------------------------------------------------------------------------------------


def _is_float_neg(x: Expr) -> bool:
    return x.op == "neg" and x.kind.is_float


def _add(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """a + -b = a - b, by the definition of subtraction."""
    a, b = args
    if _is_float_neg(b):
        return binary("sub", a, b.args[0])
    return binary("sub", b, a.args[0]) if _is_float_neg(a) else binary("add", a, b)


def _sub(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """a - -b = a + b, likewise."""
    a, b = args
    return _add(n, (a, b.args[0])) if _is_float_neg(b) else binary("sub", a, b)


def _quotient(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """Products and quotients: the sign of the result is the exclusive or of the signs, and rounding does not see it.

    A quotient by a power of two is a product if the reciprocal is representable: both round the same real number.
    """
    a, b = args
    if _is_float_neg(a) and _is_float_neg(b):
        return _quotient(n, (a.args[0], b.args[0]))
    for i, signed in ((0, a), (1, b)):
        other = args[1 - i]
        if _is_float_neg(signed):
            if other.op == "const":
                other, outer = unary("neg", other), False
            else:
                outer = True
            inner = _quotient(n, (signed.args[0], other) if i == 0 else (other, signed.args[0]))
            return unary("neg", inner) if outer else inner
    reciprocal = _exact_reciprocal(b) if n.op == "div" else None
    if reciprocal is not None:
        return binary("mul", a, reciprocal)
    return binary(n.op, a, b)


def _exact_reciprocal(x: Expr) -> Expr | None:
    """1/x, where x is a constant power of two and 1/x does not overflow."""
    if x.op != "const" or abs(math.frexp(x.value)[0]) != 0.5:
        return None
    with np.errstate(over="ignore"):
        reciprocal = 1 / x.value
    return const(reciprocal, x.kind) if math.isfinite(reciprocal) else None


def _fma(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """(-a) * (-b) + c = a * b + c: the product is the same real number, or the same zero."""
    a, b, c = args
    if _is_float_neg(a) and _is_float_neg(b):
        a, b = a.args[0], b.args[0]
    return fma(a, b, c)


def _neg(n: Expr, args: tuple[Expr, ...]) -> Expr:
    return unary("neg", args[0])  # drops a double negation, which flips the sign bit twice


def _abs(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """The sign bit is cleared, whatever it was."""
    (x,) = args
    if x.op == "abs":
        return x
    return unary("abs", x.args[0] if _is_float_neg(x) else x)


def _extremum(n: Expr, args: tuple[Expr, ...]) -> Expr:
    return args[0] if args[0] is args[1] else binary(n.op, *args)


_OPPOSITE = {"eq": "ne", "ne": "eq"}
_OPPOSITE_OF_INTEGERS = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}  # a NaN would make both false


def _not(n: Expr, args: tuple[Expr, ...]) -> Expr:
    (x,) = args
    if x.op in COMPARISONS:
        opposite = _OPPOSITE.get(x.op) or (None if x.args[0].kind.is_float else _OPPOSITE_OF_INTEGERS[x.op])
        if opposite:
            return compare(opposite, *x.args)
    return unary("not", x)


def _select(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """A branch that asks again what is already decided takes the decided side."""
    condition, a, b = args
    if condition.op == "not" and n.op == "select":
        return _select(n, (condition.args[0], b, a))
    if a.op in ("select", "rare") and a.args[0] is condition:
        a = a.args[1]
    if b.op in ("select", "rare") and b.args[0] is condition:
        b = b.args[2]
    return select(condition, a, b, op=n.op)


def _integer_quotient(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """x / 1 is x, and leaves nothing."""
    x, divisor = args
    if divisor is const(1, n.kind):
        return x if n.op == "idiv" else const(0, n.kind)
    return rebuild(n, args)


_RULES: dict[str, Callable[[Expr, tuple[Expr, ...]], Expr]] = {
    "add": _add,
    "sub": _sub,
    "mul": _quotient,
    "div": _quotient,
    "idiv": _integer_quotient,
    "irem": _integer_quotient,
    "fma": _fma,
    "neg": _neg,
    "abs": _abs,
    "max": _extremum,
    "min": _extremum,
    "not": _not,
    "select": _select,
    "rare": _select,
    "cast": lambda n, args: cast(args[0], n.kind),
}
