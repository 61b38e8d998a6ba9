"""Numbers in steps. Each value is computed by itself, in float64 or whole numbers, and rounded once to its element.

arange of floats is start + i * ((start + step) - start), linspace i * ((stop - start) / n) + start with n steps, its last value
stop: each operation rounded, as in NumPy. logspace is base ** of that. Of whole numbers, arange counts modulo 2**bits of the
element, and linspace rounds down.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bits, axis_of, broadcast_shape, broadcasted, permuted
from baracuda.formula import complex_functions as cf
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.conversions import cast_to
from baracuda.formula.expr import Expr, as_expr, cast, const, coord, select
from baracuda.ops.creation.fills import kind_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, common, part
from baracuda.ops.declaration.traced import Own, Result, Scalar, Stored, Value, WholeScalar
from baracuda.ops.declaration.words import Count, Dtype
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.shapes.numbering import numbers

_F64, _S64, _C128 = ElementKind.F64, ElementKind.S64, ElementKind.C128
_INTERNAL: dict[str, Any] = {
    "family": "creation",
    "takes": "any",
    "byte_floats": True,
    "element_option": True,
    "differentiable": False,
}


def _real(v: Expr, element: ElementKind) -> Expr:
    """A number of float64 in an element: of whole numbers, rounded down."""
    return cast_to(f.floor(v) if element.is_integer else v, element)


def _stored(v: Value, element: ElementKind) -> Stored:
    if element.category is not Category.COMPLEX:
        return Stored(_real(v.re if isinstance(v, Complex) else v, element), element)
    half = part(element)
    re, im = (v.re, v.im) if isinstance(v, Complex) else (v, const(0.0, _F64))
    return Stored(Complex(cast(re, half), cast(im, half)), half)


def _steps(x: Value, *, start: Scalar = 0.0, step: Scalar = 1.0, element: ElementKind | None) -> Result:
    assert element is not None
    first, by = as_expr(start, _F64), as_expr(step, _F64)
    return _stored(first + cast(coord(0), _F64) * ((first + by) - first), element)


#: From the start to the stop along the first axis, which are float64 (complex128) tensors, and with a base its powers.
def _between(
    x: Value, start: Own, stop: Own, base: Own | None = None, *, steps: WholeScalar = 1, closed: bool = True,
    geometric: bool = False, element: ElementKind | None,
) -> Result:  # fmt: skip
    assert element is not None
    i, n = coord(0), cast(as_expr(steps, _S64), _F64)
    at, last = cast(i, _F64), f.equal(cast(i, _S64), as_expr(steps, _S64))
    if geometric:
        return _stored(_geometric(at / n, f.equal(i, 0), last & closed if closed else None, start, stop), element)

    def along(a: Expr, b: Expr) -> Expr:
        delta = b - a
        by = delta / n
        value = select(f.equal(by, 0.0), (at / n) * delta, at * by) + a
        return select(last, b, value) if closed else value

    if isinstance(start, Complex) and isinstance(stop, Complex):
        exponent: Value = Complex(along(start.re, stop.re), along(start.im, stop.im))
    else:
        exponent = along(start, stop)
    if base is None:
        return _stored(exponent, element)
    if isinstance(base, Complex) or isinstance(exponent, Complex):
        return _stored(cf.pow_(base, exponent), element)
    return _stored(f.pow_(base, exponent), element)


def _geometric(t: Expr, first: Expr, last: Expr | None, start: Value, stop: Value) -> Value:
    """start * (stop / start) ** t, start and stop themselves at the ends."""
    if isinstance(start, Complex) and isinstance(stop, Complex):
        value = start * cf.pow_(stop / start, t)
        re, im = select(first, start.re, value.re), select(first, start.im, value.im)
        return Complex(re, im) if last is None else Complex(select(last, stop.re, re), select(last, stop.im, im))
    assert isinstance(start, Expr)
    assert isinstance(stop, Expr)
    found = select(first, start, start * f.pow_(stop / start, t))
    return found if last is None else select(last, stop, found)


steps_op = Op(_steps, Rule.EACH, name="steps", **_INTERNAL)
between_op = Op(_between, Rule.EACH, name="between", **_INTERNAL)


def _length(start: float, stop: float, step: float) -> int:
    if step == 0:
        raise InvalidProblemError(f"step: {step!r}; expected another number than 0")
    if all(isinstance(v, int) for v in (start, stop, step)):
        return max(-(-(int(stop) - int(start)) // int(step)), 0)
    steps = (stop - start) / step
    if steps != steps or abs(steps) == float("inf"):
        raise InvalidProblemError(f"start, stop, step: {start!r}, {stop!r}, {step!r}; expected a finite number of steps")
    return max(ceil(steps), 0)


@composed(like="?", creates=True)
def arange(do: Steps, like: TensorRef, start: float, stop: float | None = None, step: float = 1, dtype: Dtype = None) -> Any:
    """start, start + step, and so on to before stop; of one number 0, 1, ... to before it.

    Value i of floats is start + i * ((start + step) - start) in float64, rounded once to the element; of integers
    start + i * step. The element is `dtype`, by default s64 of whole numbers and f64 otherwise.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.arange(2, 8, 2).tolist()
    [2, 4, 6]
    """
    first, end = (0, start) if stop is None else (start, stop)
    kind = dtype or (_S64 if all(isinstance(v, int) for v in (first, end, step)) else _F64)
    y = do.rows((_length(first, end, step),), kind)
    if kind.is_integer:
        whole = int(first)
        by = int(first + step) - whole
        numbers(do, y.shape, (signed(by),), signed(whole), y)
    elif kind is ElementKind.BOOL:
        raise UnsupportedError(f"dtype: {kind}; expected a number")
    else:
        do.run(steps_op, {"x": as_bits(y)}, y, dtype=kind, start=float(first), step=float(step))
    return y


def signed(value: int) -> int:
    """A whole number modulo 2**64, as kernels are given it."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _as_tensor(do: Steps, value: Any, kind: ElementKind) -> TensorRef:
    """A number, or a tensor, as a tensor of an element."""
    return in_element(do, value, kind) if isinstance(value, TensorRef) else do.filled((), kind, value)


def _spaced(
    do: Steps, start: Any, stop: Any, num: int, endpoint: bool, dtype: ElementKind | None, axis: int, base: Any = None,
    geometric: bool = False,
) -> tuple[Any, int]:  # fmt: skip
    kinds = [kind_of(v) for v in (start, stop, *([] if base is None else [base]))]
    natural = common([_F64 if not isinstance(v, TensorRef) and k.category is not Category.COMPLEX else k
                      for v, k in zip((start, stop, base), kinds, strict=False)])  # fmt: skip
    natural = natural if natural.is_float or natural.category is Category.COMPLEX else _F64
    wide = _C128 if natural.category is Category.COMPLEX else _F64
    kind = dtype or natural
    if kind is ElementKind.BOOL:
        raise UnsupportedError(f"dtype: {kind}; expected a number")
    a, b = _as_tensor(do, start, wide), _as_tensor(do, stop, wide)
    c = None if base is None else _as_tensor(do, base, wide)
    shape = broadcast_shape([t.shape for t in (a, b, c) if t is not None])
    at = axis_of(axis, len(shape) + 1)
    y = do.rows((*shape[:at], num, *shape[at:]), kind)
    steps = num - 1 if endpoint else num
    if num and 0 not in shape:
        tensors = {"x": _first(as_bits(y), at), "start": broadcasted(a, shape), "stop": broadcasted(b, shape)}
        if c is not None:
            tensors["base"] = broadcasted(c, shape)
        options = {"closed": endpoint and steps > 0, "steps": max(steps, 1), "geometric": geometric}
        do.run(between_op, tensors, _first(y, at), dtype=kind, **options)
    return y, steps


def _first(y: TensorMut, axis: int) -> Any:
    return permuted(y, (axis, *(a for a in range(len(y.shape)) if a != axis)))


_ENDS: dict[str, Any] = {"like": "?", "start": "... or number", "stop": "... or number"}


@composed(**_ENDS, creates=True)
def linspace(
    do: Steps,
    like: TensorRef,
    start: Any,
    stop: Any,
    num: Count = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Dtype = None,
    axis: int = 0,
) -> Any:
    """`num` numbers from start to stop, or without endpoint to before it, in equal steps.

    Value i is i * ((stop - start) / steps) + start in float64, each operation rounded, the last one stop itself; it is rounded
    once to the element, of whole numbers down. start and stop are numbers, or tensors that broadcast, whose values then lie along
    `axis`. The element is `dtype`, by default that of tensors of floats, else f64, or complex128 of complex numbers. With retstep
    also the step, (stop - start) / steps, of numbers.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.linspace(0, 1, 5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    y, steps = _spaced(do, start, stop, num, endpoint, dtype, axis)
    if not retstep:
        return y
    if isinstance(start, TensorRef) or isinstance(stop, TensorRef):
        raise UnsupportedError("retstep: True with tensors; expected numbers")
    return y, (stop - start) / steps if steps > 0 else float("nan")


@composed(**_ENDS, base="... or number", creates=True)
def logspace(
    do: Steps,
    like: TensorRef,
    start: Any,
    stop: Any,
    num: Count = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Dtype = None,
    axis: int = 0,
) -> Any:
    """base ** linspace(start, stop, num), in float64, rounded once to the element; of whole numbers down.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.logspace(0, 3, 4, base=2).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    return _spaced(do, start, stop, num, endpoint, dtype, axis, base)[0]


@composed(**_ENDS, creates=True)
def geomspace(
    do: Steps, like: TensorRef, start: Any, stop: Any, num: Count = 50, endpoint: bool = True, dtype: Dtype = None, axis: int = 0
) -> Any:
    """`num` numbers from start to stop, or without endpoint to before it, in equal ratios: start * (stop / start) ** (i / steps)
    in float64, start and stop themselves at the ends, rounded once to the element.

    Complex numbers turn the shorter way. 0 is an error, and so are real numbers of different signs.

    Examples
    --------
    >>> import baracuda
    >>> baracuda.geomspace(1, 16, 3).tolist()
    [1.0, 4.0, 16.0]
    """
    for name, value in (("start", start), ("stop", stop)):
        if not isinstance(value, TensorRef) and value == 0:
            raise InvalidProblemError(f"{name}: {value!r}; expected another number than 0")
    real = not any(isinstance(v, (TensorRef, complex)) for v in (start, stop))
    if real and (start < 0) != (stop < 0):
        raise InvalidProblemError(f"start, stop: {start!r}, {stop!r}; expected numbers of one sign")
    return _spaced(do, start, stop, num, endpoint, dtype, axis, geometric=True)[0]
