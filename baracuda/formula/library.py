"""Functions that no formula defines yet and a library computes: one node each, which `baracuda.formula.expand` cannot rewrite.

A graph with such a node has no generated kernel: `baracuda.backends.scipy_special` evaluates it on the CPU. A complex function is
two nodes, for the real and the imaginary part, over both parts of its argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.formula.complex import Complex
from baracuda.formula.derivatives import RULES
from baracuda.formula.expr import Expr, const, node
from baracuda.formula.graph import Graph

#: What the names of these nodes begin with; the function's name in SciPy follows, and for complex ones `.re` or `.im`.
PREFIX = "scipy."

#: From the arguments and the value, the derivative by one argument.
Slope = Callable[..., Expr]
ComplexSlope = Callable[[Complex, Complex], Complex]


def call(name: str, *args: Expr) -> Expr:
    """A real function of `scipy.special`."""
    kinds = {a.kind for a in args}
    if len(kinds) != 1 or not args[0].kind.is_float:
        raise InvalidProblemError(f"{name} is defined on f32 or f64, got {', '.join(str(a.kind) for a in args)}")
    return node(PREFIX + name, args, args[0].kind)


def call_complex(name: str, z: Complex) -> Complex:
    """A complex function of `scipy.special` of one argument."""
    parts = (z.re, z.im)
    return Complex(*(node(f"{PREFIX}{name}.{part}", parts, z.kind) for part in ("re", "im")))


def needs_library(graph: Graph) -> bool:
    """Whether a graph has a node that only a library computes."""
    return any(n.op.startswith(PREFIX) for n in graph.nodes)


def _hyp2f1_by_x(a: Expr, b: Expr, c: Expr, x: Expr, y: Expr) -> Expr:
    return a * b / c * call("hyp2f1", a + 1.0, b + 1.0, c + 1.0, x)


def _wofz(z: Complex, w: Complex) -> Complex:
    """-2 z w + 2i / sqrt(pi)."""
    return z * w * -2.0 + 2j / math.sqrt(math.pi)


def _loggamma(z: Complex, w: Complex) -> Complex:
    return call_complex("psi", z)


#: The derivatives there are: by the number of the argument.
SLOPES: Mapping[str, Mapping[int, Slope]] = {
    "hyp2f1": {3: _hyp2f1_by_x},
}
COMPLEX_SLOPES: Mapping[str, ComplexSlope] = {"wofz": _wofz, "loggamma": _loggamma}


def _register(name: str, slopes: Mapping[int, Slope]) -> None:
    def rule(y: Expr, dy: Expr, operand: int) -> Expr:
        if operand not in slopes:
            raise UnsupportedError(f"{name} has no derivative by argument {operand}; expected one of {sorted(slopes)}")
        return dy * slopes[operand](*y.args, y)

    RULES[PREFIX + name] = rule


def _register_complex(name: str, slope: ComplexSlope) -> None:
    def rule(y: Expr, dy: Expr, operand: int) -> Expr:
        z = Complex(*y.args)
        s = slope(z, call_complex(name, z))
        imaginary = y.op.endswith(".im")
        if imaginary == bool(operand):
            return dy * s.re
        return dy * s.im if imaginary else -(dy * s.im)

    RULES.update({f"{PREFIX}{name}.{part}": rule for part in ("re", "im")})


for _name, _slopes in SLOPES.items():
    _register(_name, _slopes)
for _name, _slope in COMPLEX_SLOPES.items():
    _register_complex(_name, _slope)


def as_complex(x: Expr) -> Complex:
    return Complex(x, const(0.0, x.kind))
