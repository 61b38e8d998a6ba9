"""Measures the special functions and writes docs/ulp_special.md: the largest error in ULP, where, and over how many points.

    python -m tools.measure_ulp_special
    python -m tools.measure_ulp_special --only exp1 expi

In f32 they are compared with SciPy's f64 at every 499th float, and the worst hundred points of each batch again with mpmath;
in f64 with mpmath at structured random points.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from baracuda.core.elements import ElementKind
from baracuda.formula import ulp
from baracuda.formula.expr import input_, node
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate
from baracuda.formula.special_functions import (
    FURTHER_FUNCTIONS,
    INCOMPLETE_BETA_FUNCTIONS,
    INCOMPLETE_GAMMA_FUNCTIONS,
    SPECIAL_FUNCTIONS,
)
from tests.unit import special_further, special_incomplete
from tests.unit.jit import function
from tests.unit.special_reference import errors, samples
from tools.measure_ulp import common_path

TARGET = Path(__file__).resolve().parent.parent / "docs" / "ulp_special.md"
F32, F64 = ElementKind.F32, ElementKind.F64
BATCH, STRIDE, SAMPLES, FEWER = 1 << 20, 499, 1500, 200
#: Of several arguments.
INCOMPLETE = (*INCOMPLETE_GAMMA_FUNCTIONS, *INCOMPLETE_BETA_FUNCTIONS)

#: SciPy's are not good enough for huge arguments, or slow.
SAMPLED_IN_F32 = ("bessel_j0", "bessel_j1", "trigamma")

HEAD = """# Errors of the special functions

Written by `python -m tools.measure_ulp_special`. The unit in the last place is that of the exact value (see
`baracuda/formula/ulp.py`); 0.5 would be correct rounding. f32 functions were evaluated at every 499th float; f64 functions,
trigamma, and everything from the Bessel functions on, at structured random points. *Primitives* counts the operations of the
common path.

Functions that pass through zero at numbers that are no floats have no bound in units of the value there. For lgamma and digamma
below zero the unit is at least that of 1, for bessel_j0 and bessel_j1 beyond 2, and bessel_y0 and bessel_y1, at least that of
sqrt(2 / (pi |x|)), for airy_ai below -1 of 1 / sqrt(pi sqrt(|x|)), and for cosine_integral beyond 1/4 of 1 / |x|. The positive
zeros of lgamma, digamma and expi need no such exception.

igamma, igammac, betainc and their derivatives by each argument were evaluated for a from 1e-8 to 1e4, or a and b from 0.1 to 1e4,
near the mean and far from it, where the value is a normal number; f32 is computed in f64 and rounded. hyp1f1 has a bound in units
of its value only where the terms of its series have one sign: its documentation states it.

The ops modified_bessel_k0, scaled_modified_bessel_k0, sici and fresnel are bessel_k0, bessel_k0e, sine_integral and
cosine_integral, and fresnel_s and fresnel_c here. What is composed of these functions (comb, poch, zeta, polygamma, expn,
bessel_jn, owens_t, ...) states its bound in its documentation.

| function | kind | largest error, ULP | at | points | primitives |
| --- | --- | --- | --- | --- | --- |
"""


def _reference(op: str) -> Callable[[np.ndarray], np.ndarray]:
    x = input_("x", F64)
    graph = Graph((Port("x", F64),), ((Port("y", F64), node(op, (x,), F64)),))
    return lambda values: evaluate(graph, {"x": values}, values.shape, (False,))["y"]


def _batches(sign: int) -> Iterator[np.ndarray]:
    for first in range(sign << 31, (sign << 31) + 0x7F800000, BATCH * STRIDE):
        bits = np.arange(first, min(first + BATCH * STRIDE, (sign << 31) + 0x7F800000), STRIDE, dtype=np.uint64)
        yield bits.astype(np.uint32).view(np.float32)


def _measure_f32(op: str, sign: int) -> tuple[float, float, int]:
    f, reference, points, worst, where = function(op, F32), _reference(op), 0, 0.0, 0.0
    for x in _batches(sign):
        y = f(x)
        with np.errstate(all="ignore"):
            wanted = reference(x.astype(np.float64))
            in_ulps = ulp.errors_against_f64(y, wanted)
            if sign and op in ("lgamma", "digamma"):
                in_ulps = in_ulps * np.minimum(2.0 ** np.floor(np.log2(np.abs(wanted) + 1e-300)), 1.0)
        in_ulps[~np.isfinite(y)] = 0.0  # overflow and NaN have their own tests
        points += len(x)
        hundred = np.argpartition(in_ulps, -100)[-100:]
        hundred = hundred[np.isfinite(y[hundred])]
        again = errors(op, F32, y[hundred], x[hundred])
        if again.size and again.max() > worst:
            worst, where = float(again.max()), float(x[hundred][again.argmax()])
    return worst, where, points


def _measure_sampled(op: str, kind: ElementKind, sign: int) -> tuple[float, float, int]:
    x = samples(op, kind, SAMPLES, np.random.default_rng(1))
    x = x[np.signbit(x) == bool(sign)]
    in_ulps = errors(op, kind, function(op, kind)(x), x)
    return (float(in_ulps.max()), float(x[in_ulps.argmax()]), len(x)) if len(x) else (0.0, 0.0, 0)


def _measure_further(op: str, kind: ElementKind) -> tuple[float, float, int]:
    x = special_further.samples(op, kind, FEWER, np.random.default_rng(1))
    in_ulps = special_further.errors(op, kind, function(op, kind)(x), x)
    return float(in_ulps.max()), float(x[in_ulps.argmax()]), len(x)


def _measure_incomplete(op: str, kind: ElementKind) -> tuple[float, tuple[float, ...], int]:
    of_beta = op in INCOMPLETE_BETA_FUNCTIONS
    exact = (special_incomplete.EXACT_BETA if of_beta else special_incomplete.EXACT_GAMMA)[op]
    sampled = special_incomplete.beta_samples if of_beta else special_incomplete.gamma_samples
    at: tuple[np.ndarray, ...] = sampled(FEWER // 5, kind, np.random.default_rng(1))
    in_ulps = special_incomplete.ulp_errors(exact, function(op, kind, len(at))(*at), kind, *at)
    worst = int(in_ulps.argmax())
    return float(in_ulps[worst]), tuple(float(v[worst]) for v in at), len(in_ulps)


def rows(op: str) -> Iterator[str]:
    """The lines of the table; two for each kind where the sign of x matters."""
    if op in INCOMPLETE:
        for kind in (F32, F64):
            error, places, points = _measure_incomplete(op, kind)
            at = ", ".join(map(repr, places))
            yield f"| {op} | {kind} | {error:.3f} | {at} | {points:,} | {common_path(op, kind, len(places))} |\n"
        return
    if op in FURTHER_FUNCTIONS:
        for kind in (F32, F64):
            error, where, points = _measure_further(op, kind)
            yield f"| {op} | {kind} | {error:.3f} | {where!r} | {points:,} | {common_path(op, kind)} |\n"
        return
    for kind in (F32, F64):
        sampled = kind is F64 or op in SAMPLED_IN_F32
        above, below = (_measure_sampled(op, kind, sign) if sampled else _measure_f32(op, sign) for sign in (0, 1))
        if op in ("lgamma", "digamma"):
            parts = [(f"{op}, x > 0", above), (f"{op}, x < 0", below)]
        else:
            parts = [(op, (*max(above, below)[:2], above[2] + below[2]))]
        for name, (error, where, points) in parts:
            yield f"| {name} | {kind} | {error:.3f} | {where!r} | {points:,} | {common_path(op, kind)} |\n"


def main() -> None:
    names = (*SPECIAL_FUNCTIONS, *FURTHER_FUNCTIONS, *INCOMPLETE)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", default=names, help="measure these functions only")
    asked = parser.parse_args().only
    lines_of_op: dict[str, list[str]] = {}
    for line, op in re.findall(r"^(\| (\w+)[^|]* \| f\d\d \|.*\n)", TARGET.read_text() if TARGET.exists() else "", re.MULTILINE):
        lines_of_op.setdefault(op, []).append(line)
    for op in asked:
        lines_of_op[op] = []
        for line in rows(op):
            print(line, end="", flush=True)
            lines_of_op[op].append(line)
    TARGET.write_text(HEAD + "".join(line for op in names for line in lines_of_op.get(op, ())))


if __name__ == "__main__":
    main()
