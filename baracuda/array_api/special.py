"""Special functions by SciPy's names: an addition to the standard, where SciPy (`SCIPY_ARRAY_API=1`) and libraries on it look for
them. Without it SciPy computes them by way of NumPy, which arrays on a GPU refuse.

    xp.special.gammaln(x)    is `baracuda.lgamma(x)`

Which function of the library each one is, the catalogue says (`baracuda list --op scipy.special.gammaln`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import baracuda
from baracuda.array_api.operands import Operand
from baracuda.core.op_table import table
from baracuda.frontends.array import Array
from baracuda.frontends.families import modules

#: Names of SciPy's that the catalogue has for no function.
_OTHER = {
    "psi": "digamma", "exp2": "exp2", "cbrt": "cbrt", "sinc": "sinc", "j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0",
    "y1": "bessel_y1", "k0": "modified_bessel_k0", "k1": "modified_bessel_k1", "k0e": "scaled_modified_bessel_k0",
    "k1e": "scaled_modified_bessel_k1",
}  # fmt: skip
#: Functions of SciPy's with parameters or results of another kind than those of the library.
_UNLIKE = frozenset(["bernoulli", "bessel_jn", "comb", "expn", "factorial", "polygamma", "sph_harm_y", "wofz"])


@cache
def _functions() -> dict[str, str]:
    """The library's function of each name."""
    known = {name: row.op for row in table().values() for name in row.scipy_special.split(",") if name not in ("", *_UNLIKE)}
    return {name: op for name, op in (known | _OTHER).items() if op in modules()}


def fdtr(dfn: Operand, dfd: Operand, x: Operand) -> Array:
    """The distribution function of F with dfn and dfd degrees of freedom: betainc(dfn / 2, dfd / 2, dfn x / (dfd + dfn x))."""
    scaled = dfn * x
    return baracuda.betainc(dfn / 2, dfd / 2, scaled / (dfd + scaled))


def fdtrc(dfn: Operand, dfd: Operand, x: Operand) -> Array:
    """1 - `fdtr`: betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn x))."""
    return baracuda.betainc(dfd / 2, dfn / 2, dfd / (dfd + dfn * x))


def __getattr__(name: str) -> Any:
    if name not in _functions():
        raise AttributeError(f"module 'baracuda.array_api.special' has no attribute {name!r}", name=name)
    return getattr(baracuda, _functions()[name])


def __dir__() -> list[str]:
    return sorted([*_functions(), "fdtr", "fdtrc"])
