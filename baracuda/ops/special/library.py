"""Special functions that have no formula yet: SciPy computes them, on the CPU only.

Their plans have the one backend `BackendKind.SCIPY` and promise no bits across machines; a stream on a GPU is refused with
`UnsupportedError`. f16 and bf16 are computed in f32.
"""

from __future__ import annotations

from inspect import Parameter, Signature

from baracuda.formula import library
from baracuda.formula import special_functions as s
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, select
from baracuda.formula.library import as_complex, call, call_complex
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Value

#: Real functions: the op, SciPy's name, the tensors, and what it is.
_REAL = (("hyp2f1", "hyp2f1", "a b c x", "Gauss's hypergeometric function 2F1(a, b; c; x)."),)


def _declare(name: str, source: str, tensors: str, doc: str) -> Op:
    def formula(*args: Expr) -> Expr:
        return call(source, *args)

    names = tensors.split()
    formula.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, annotation="Expr") for n in names]
    )
    constants = [n for i, n in enumerate(names) if i not in library.SLOPES[source]]
    formula.__doc__ = f"""{doc} The gradient is that by {", ".join(n for n in names if n not in constants)}.

    {", ".join(names)}: broadcast, float. By `scipy.special.{source}`, on the CPU only; see `baracuda.ops.special.library`.
    """
    return op(Rule.FLOATING, name=name, takes="float", constants=constants, library=True)(formula)


for _row in _REAL:
    _declare(*_row)


@op(Rule.FLOATING, takes="complex", library=True)
def wofz(x: Value) -> Value:
    """Faddeeva's function w(x) = e**(-x**2) erfc(-i x).

    x: any shape, complex. By `scipy.special.wofz`, on the CPU only; see `baracuda.ops.special.library`.
    """
    return call_complex("wofz", x if isinstance(x, Complex) else as_complex(x))


@op(Rule.FLOATING, takes="float,complex", library=True)
def loggamma(x: Value) -> Value:
    """The principal branch of the logarithm of the gamma function, analytic but for x <= 0; NaN for negative real x.

    x: any shape, float or complex. Real numbers by the formula of `lgamma`; complex ones by `scipy.special.loggamma`, on the CPU
    only: see `baracuda.ops.special.library`.
    """
    if isinstance(x, Complex):
        return call_complex("loggamma", x)
    return select(x < 0.0, float("nan"), s.lgamma(x))
