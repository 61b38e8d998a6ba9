"""Measures the elementary functions and writes docs/ulp.md: the largest error in ULP, where, and over how many points.

    python -m tools.measure_ulp [--quick] [--only NAME ...]

f32 functions of one argument are compared with NumPy's and SciPy's f64 at every float of the range where they are neither
constant nor linear, and at every 61st of the others; the worst hundred points of each batch are measured again with mpmath.
f64 functions and those of two arguments are compared with mpmath at structured random points. --quick takes every 61st float
everywhere; --only measures the named functions and leaves the other rows of the page as they are.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.special

from baracuda.core.elements import ElementKind
from baracuda.formula import ulp
from baracuda.formula.expand import expand_node
from baracuda.formula.expr import Expr, input_, node
from baracuda.formula.functions import BINARY_FUNCTIONS, UNARY_FUNCTIONS
from tests.unit.jit import function

TARGET = Path(__file__).resolve().parent.parent / "docs" / "ulp.md"
F32, F64 = ElementKind.F32, ElementKind.F64
BATCH = 1 << 22
STRIDE = 61
POINTS = 60_000

#: Magnitudes between which every float of either sign is taken; sines of large arguments reduce to the same polynomials.
DENSE = {
    "exp": (2.0**-26, 105.0), "exp2": (2.0**-26, 151.0), "expm1": (2.0**-24, 105.0), "log": (0.125, 8.0), "log2": (0.125, 8.0),
    "log1p": (2.0**-24, 16.0), "sin": (2.0**-13, 2.0**12), "cos": (2.0**-13, 2.0**12), "tan": (2.0**-13, 2.0**12),
    "tanh": (2.0**-13, 10.0), "sigmoid": (2.0**-24, 105.0), "erf": (2.0**-13, 4.0), "erfc": (2.0**-25, 10.2),
    "rsqrt": (0.5, 2.0), "exp10": (2.0**-26, 46.0), "log10": (0.125, 8.0), "asin": (2.0**-13, 1.0), "acos": (2.0**-25, 1.0),
    "atan": (2.0**-13, 2.0**13), "sinh": (2.0**-13, 91.0), "cosh": (2.0**-13, 91.0), "asinh": (2.0**-13, 2.0**6),
    "acosh": (1.0, 2.0**13), "atanh": (2.0**-13, 1.0), "cbrt": (0.5, 4.0),
}  # fmt: skip


def _sigmoid(x: np.ndarray) -> np.ndarray:
    e = np.exp(-abs(x))
    return np.where(x < 0, e, 1.0) / (1.0 + e)


REFERENCE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    **{op: getattr(np, op) for op in ("exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "tanh")},
    **{op: getattr(np, op) for op in ("log10", "sinh", "cosh", "cbrt")},
    **{f"a{op}": getattr(np, f"arc{op}") for op in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "exp10": scipy.special.exp10,
    "sigmoid": _sigmoid,
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
}


def batches(op: str, quick: bool) -> Iterator[np.ndarray]:
    """The f32 arguments, in batches."""
    low, high = (int(np.float32(v).view(np.uint32)) for v in DENSE[op])
    for sign in (0, 1 << 31):
        for start, end, step in ((0, low, STRIDE), (low, high, STRIDE if quick else 1), (high, 0x7F800000, STRIDE)):
            for first in range(start, end, BATCH * step):
                bits = np.arange(first, min(first + BATCH * step, end), step, dtype=np.uint64) | np.uint64(sign)
                yield bits.astype(np.uint32).view(np.float32)


def measure_f32(op: str, quick: bool) -> tuple[float, str, int]:
    f, points, worst, where = function(op, F32), 0, 0.0, ""
    for x in batches(op, quick):
        y = f(x)
        with np.errstate(all="ignore"):
            in_ulps = ulp.errors_against_f64(y, REFERENCE[op](x.astype(np.float64)))
        points += len(x)
        if in_ulps.max() > worst - 0.001:
            hundred = np.argpartition(in_ulps, -100)[-100:] if len(in_ulps) > 100 else np.arange(len(in_ulps))
            hundred = hundred[np.isfinite(y[hundred]) & np.isfinite(x[hundred])]
            again = ulp.errors(op, F32, y[hundred], x[hundred])
            if again.size and again.max() > worst:
                worst, where = float(again.max()), repr(float(x[hundred][again.argmax()]))
        if np.isinf(in_ulps).any():
            worst, where = float("inf"), repr(float(x[np.isinf(in_ulps)][0]))
    return worst, where, points


def measure_sampled(op: str, kind: ElementKind) -> tuple[float, str, int]:
    args = ulp.samples(op, kind, POINTS, np.random.default_rng(1))
    in_ulps = ulp.errors(op, kind, function(op, kind, len(args))(*args), *args)
    worst = int(in_ulps.argmax())
    return float(in_ulps[worst]), ", ".join(repr(float(a[worst])) for a in args), len(in_ulps)


def common_path(op: str, kind: ElementKind, arity: int = 1) -> int:
    """How many primitives the common path has: no slow sides of `rare`, no leaves, no reinterpretations."""
    args = tuple(input_(f"x{i}", kind) for i in range(2 if op in BINARY_FUNCTIONS else arity))
    seen: set[Expr] = set()
    todo = [expand_node(node(op, args, kind), args)]
    while todo:
        n = todo.pop()
        if n not in seen:
            seen.add(n)
            todo.extend((n.args[0], n.args[2]) if n.op == "rare" else n.args)
    return sum(bool(n.args) and n.op != "bitcast" for n in seen)


HEAD = """# Errors of the elementary functions

Written by `python -m tools.measure_ulp`. The unit in the last place is that of the exact value (see
`baracuda/formula/ulp.py`); 0.5 would be correct rounding. f32 functions of one argument were evaluated at every float
of the range where they are neither constant nor linear and at every 61st elsewhere; the others at structured random
points. *Primitives* counts the operations of the common path.

| function | kind | largest error, ULP | at | points | primitives |
| --- | --- | --- | --- | --- | --- |
"""


def row(op: str, kind: ElementKind, quick: bool) -> str:
    """A line of the table."""
    exhaustive = kind is F32 and op in UNARY_FUNCTIONS
    error, where, points = measure_f32(op, quick) if exhaustive else measure_sampled(op, kind)
    line = f"| {op} | {kind} | {error:.3f} | {where} | {points:,} | {common_path(op, kind)} |\n"
    print(line, end="", flush=True)
    return line


def main() -> None:
    names = (*UNARY_FUNCTIONS, *BINARY_FUNCTIONS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="every 61st float everywhere")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=names, help="measure these functions only")
    asked = parser.parse_args()
    lines = {(op, str(kind)): row(op, kind, asked.quick) for op in asked.only for kind in (F32, F64)}
    page = TARGET.read_text() if TARGET.exists() else ""
    rows = {(op, kind): line for line, op, kind in re.findall(r"^(\| (\w+) \| (f\d\d) \|.*\n)", page, re.MULTILINE)} | lines
    order = {op: i for i, op in enumerate(names)}
    TARGET.write_text(HEAD + "".join(rows[key] for key in sorted(rows, key=lambda key: order.get(key[0], len(order)))))


if __name__ == "__main__":
    main()
