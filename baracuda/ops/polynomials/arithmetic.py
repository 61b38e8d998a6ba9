"""Sums, products, derivatives and integrals of polynomials given by their coefficients, highest power first.

Coefficients are a tensor of one axis, of a float or complex element; none stand for the polynomial 0. Leading zeros stay, because
shapes do not depend on values (as in jax.numpy; NumPy takes them off some results). 16-bit floats compute in f32 and are rounded
once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import expanded_dims, slab, view, windows
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op, map_parts
from baracuda.ops.declaration.promotion import Rule, common, promote
from baracuda.ops.declaration.traced import Scalar, Shape, Space, Value
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.elementwise import conversions
from baracuda.ops.elementwise.binary_ops import add, sub
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.elementwise.unary import neg
from baracuda.ops.reductions.reductions import sum_

_ELEMENTS = "float complex"
_BOTH: dict[str, Any] = {"a": f"m : {_ELEMENTS}", "b": f"n : {_ELEMENTS}"}
_SUM: dict[str, Any] = {**_BOTH, "dy": (lambda m, n: (max(m, n),), _ELEMENTS)}
_PRODUCT: dict[str, Any] = {**_BOTH, "dy": (lambda m, n: (_length(m, n),), _ELEMENTS)}
_POLYNOMIAL = f"n : {_ELEMENTS}"
_CONSTANTS = f"m or 1 or number or numbers : {_ELEMENTS}"

#: How often a polynomial is derived or integrated: the kernel has one step for each.
Order = Annotated[int, AtLeast(0), AtMost(256)]


def _product_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"a": (1,), "b": (None,)}, {0: shapes["a"][0] + shapes["b"][0] - 1})


def _product(a: Value, b: Table) -> Value:
    """The sum over k of a[k] * b[t - k], of what there is of b."""
    at = coord(0) - coord(1)
    in_range = (at >= 0) & (at < table_extent(b, 0, at.kind))
    terms = a * take(b, at)
    return map_parts(lambda part: f.sum_(select(in_range, part, const(-0.0, part.kind))), terms)


def _correlation(a: Value, b: Value) -> Value:
    """The sum of a * conj(b), one window of which is a row of a."""
    return map_parts(f.sum_, a * (b.conjugate() if isinstance(b, Complex) else b))


def _by_degree(c: Value, degree: Scalar, step: Callable[[Expr, Expr], Expr], order: int) -> Value:
    """Coefficients changed `order` times, given each one's degree, which is `degree` for the first."""

    def changed(part: Expr) -> Expr:
        own = degree - cast(coord(0), part.kind)
        for k in range(order):
            part = step(part, own + float(k))
        return part

    return map_parts(changed, c)


def _derivative(c: Value, *, degree: Scalar = 0.0, order: int = 1) -> Value:
    """c * (d + 1) * ... * (d + order), with d the degree in the derivative."""
    return _by_degree(c, degree, lambda part, d: part * (d + 1.0), order)


def _integral(c: Value, *, degree: Scalar = 0.0, order: int = 1) -> Value:
    """c / (d + 1) / ... / (d + order), with d the degree before; a constant that only a later integration brings in has a
    negative one, and is divided from then on."""
    return _by_degree(c, degree, lambda part, d: part / f.maximum(d + 1.0, 1.0), order)


_SPECIAL: dict[str, Any] = {"family": "special", "takes": "float,complex"}
_convolution = Op(_product, Rule.COMMON, name="polymul", rows=True, axis=1, keepdims=False, space=_product_space, **_SPECIAL)
_correlations = Op(_correlation, Rule.COMMON, name="polymul_backward", rows=True, keepdims=False, **_SPECIAL)
_derivatives = Op(_derivative, Rule.COMMON, name="polyder", **_SPECIAL)
_integrals = Op(_integral, Rule.COMMON, name="polyint", **_SPECIAL)


# --- sums -------------------------------------------------------------------------------------------------------------


def _combined(do: Steps, op: Op, a: TensorRef, b: TensorRef) -> TensorRef:
    """The sum or difference of polynomials; coefficients that one lacks count as 0."""
    kind = promote(a.kind, b.kind)
    short, size = sorted((a.shape[0], b.shape[0]))
    y = do.new((size,), kind)
    wide = {"a": in_element(do, a, kind), "b": in_element(do, b, kind)}
    for low, high in ((0, size - short), (size - short, size)):
        parts = {n: _slice(r, size, low, high) if r.shape[0] >= size - low else 0.0 for n, r in wide.items()}
        if high > low:
            do.run(op, parts, slab(y, 0, low, high))
    return y


def _slice(tensor: TensorRef, size: int, low: int, high: int) -> Any:
    """Of coefficients that end where a row of `size` ends, those from `low` to before `high` of the row."""
    ahead = size - tensor.shape[0]
    return slab(tensor, 0, low - ahead, high - ahead)


def _combined_backward(do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, wrt: Wrt, *, negative: str = "") -> Any:
    tensors, size = {"a": a, "b": b}, dy.shape[0]
    gradients = []
    for name in chosen(wrt, ("a", "b")):
        tensor = tensors[name]
        cotangent = do.run(neg, {"x": dy}) if name == negative else dy
        gradients.append(gradient := do.new_like(tensor))
        do.run(conversions.cast, {"x": _slice(cotangent, size, size - tensor.shape[0], size)}, gradient, dtype=tensor.kind)
    return one_or_all(gradients)


@composed(**_BOTH)
def polyadd(do: Steps, a: TensorRef, b: TensorRef) -> TensorRef:
    """The sum of two polynomials: a + b, the shorter one with zeros before it.

    a is (m), b (n), the result (max(m, n)) in their common element. Raises `InvalidProblemError` for more axes than one,
    `UnsupportedError` for other elements than floats and complex numbers. Source: numpy.polyadd.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.polyadd(np.float32([1, 2, 3]), np.float32([10, 20])).tolist()
    [1.0, 12.0, 23.0]
    """
    return _combined(do, add, a, b)


@composed(**_SUM)
def polyadd_backward(do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, *, wrt: Wrt = None) -> Any:
    """The gradients of `polyadd`'s a and b, those named in `wrt` or both: the last elements of dy."""
    return _combined_backward(do, dy, a, b, wrt)


@composed(**_BOTH)
def polysub(do: Steps, a: TensorRef, b: TensorRef) -> TensorRef:
    """The difference of two polynomials: a - b, the shorter one with zeros before it.

    Shapes, elements and errors are those of `polyadd`. Source: numpy.polysub.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.polysub(np.float32([2, 3]), np.float32([1, 1, 1])).tolist()
    [-1.0, 1.0, 2.0]
    """
    return _combined(do, sub, a, b)


@composed(**_SUM)
def polysub_backward(do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, *, wrt: Wrt = None) -> Any:
    """The gradients of `polysub`'s a and b, those named in `wrt` or both: the last elements of dy, and of -dy."""
    return _combined_backward(do, dy, a, b, wrt, negative="b")


# --- products ---------------------------------------------------------------------------------------------------------


def _length(m: int, n: int) -> int:
    """How many coefficients a product has; none stand for one that is 0."""
    return max(m, 1) + max(n, 1) - 1


@composed(**_BOTH)
def polymul(do: Steps, a: TensorRef, b: TensorRef) -> Any:
    """The product of two polynomials, which is the whole convolution of their coefficients: y[t] = sum_k a[k] * b[t - k].

    a is (m), b (n), the result (m + n - 1) in their common element; without coefficients one counts as a single 0. A sum runs
    over the coefficients of the shorter polynomial (of a, if both have as many) in the canonical order, and only over terms that
    there are, so that an infinity or a NaN stays with its own. Raises `InvalidProblemError` for more axes than one,
    `UnsupportedError` for other elements than floats and complex numbers. Source: jax.numpy.polymul; numpy.polymul takes leading
    zeros off first.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.polymul(np.float32([1, 2]), np.float32([1, 0, -3])).tolist()
    [1.0, 2.0, -3.0, -6.0]
    """
    short, long = sorted((a, b), key=lambda r: r.shape[0])
    if not short.shape[0]:
        return do.filled((_length(0, long.shape[0]),), promote(short.kind, long.kind), 0.0)
    return do.run(_convolution, {"a": short, "b": long})


@composed(**_PRODUCT)
def polymul_backward(do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, *, wrt: Wrt = None) -> Any:
    """The gradients of `polymul`'s a and b, those named in `wrt` or both: da[k] = sum_j dy[k + j] * conj(b[j]), in the canonical
    order over j, and db likewise; of a real a the real part."""
    factors: dict[str, Any] = {"a": (a, b), "b": (b, a)}
    gradients: list[TensorRef] = []
    for name in chosen(wrt, tuple(factors)):
        own, other = factors[name]
        if not (own.shape[0] and other.shape[0]):
            gradients.append(do.filled(own.shape, own.kind, 0.0))
            continue
        rows = windows(dy, 0, 0, own.shape[0], other.shape[0])
        gradients.append(in_element(do, do.run(_correlations, {"a": rows, "b": expanded_dims(other, (1,), 2)}), own.kind))
    return one_or_all(gradients)


# --- derivatives and integrals ----------------------------------------------------------------------------------------


def _scaled(do: Steps, op: Op, coefficients: TensorRef, target: TensorMut, degree: int, order: int) -> None:
    do.run(op, {"c": coefficients}, target, degree=float(degree), order=order)


@composed(p=_POLYNOMIAL)
def polyder(do: Steps, p: TensorRef, m: Order = 1) -> TensorRef:
    """The derivative of order m of a polynomial: p[t] * d * (d - 1) * ... * (d - m + 1) with d = N - 1 - t, the degree, the
    smallest factor first.

    p is (N), the result (N - m), empty where m is N or more. m is a constant of the kernel, at most 256. Raises
    `InvalidProblemError` for more axes than one and another m, `UnsupportedError` for other elements than floats and complex
    numbers. Source: numpy.polyder.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.polyder(np.float32([1, 1, 1, 1])).tolist()
    [3.0, 2.0, 1.0]
    """
    size = max(p.shape[0] - m, 0)
    y = do.new((size,), p.kind)
    _scaled(do, _derivatives, slab(p, 0, 0, size), y, size - 1, m)
    return y


@composed(p=_POLYNOMIAL, dy=f"n-m : {_ELEMENTS}")
def polyder_backward(do: Steps, dy: TensorRef, p: TensorRef, m: Order = 1) -> TensorRef:
    """The gradient of `polyder`'s p: dy by the same factors, and 0 for what the derivative does without."""
    size = max(p.shape[0] - m, 0)
    gradient = do.new_like(p)
    _scaled(do, _derivatives, in_element(do, dy, p.kind), slab(gradient, 0, 0, size), size - 1, m)
    do.zero(slab(gradient, 0, size, p.shape[0]))
    return gradient


def _constants(do: Steps, k: Any, order: int, kind: ElementKind) -> TensorRef:
    """The constants of all integrations, the first one's first, as a tensor."""
    if isinstance(k, TensorRef):
        ref = in_element(do, k, kind)
        constants: TensorRef = view(ref, 0, (order,), (ref.strides[0] if ref.shape == (order,) else 0,))
        return constants
    if isinstance(k, (list, tuple)):
        if len(k) != order:
            raise InvalidProblemError(f"k: {k!r}; expected {order} numbers, one for each integration")
        made = do.new((order,), kind)
        do.merge([(i, do.filled((1,), kind, v)) for i, v in enumerate(k)], 0, made)
        return made
    return do.filled((order,), kind, 0.0 if k is None else k)


def _integral_kind(p: TensorRef, k: Any) -> ElementKind:
    if isinstance(k, TensorRef):
        return promote(p.kind, k.kind)
    return p.kind if k is None else common([p.kind], k if isinstance(k, (list, tuple)) else [k])


@composed(p=_POLYNOMIAL, k=_CONSTANTS)
def polyint(do: Steps, p: TensorRef, k: Any = None, *, m: Order = 1) -> TensorRef:
    """The integral of order m of a polynomial: p[t] / (d + 1) / ... / (d + m) with d = N - 1 - t, the degree, and then the
    constants of integration, of which the j-th is divided by (m - 1 - j)! for the integrations that follow its own.

    p is (N), the result (N + m). k is the constants, the first integration's first: a tensor of m elements, or of one for all; a
    number for all; or a sequence of m numbers; 0 where it is not given. p and k promote to the result's element. m is a constant
    of the kernel, at most 256. Raises `InvalidProblemError` for more axes than one, another m and another number of constants,
    `UnsupportedError` for other elements than floats and complex numbers. Source: numpy.polyint.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.polyint(np.float32([3, 2]), 7.0).tolist()
    [1.5, 2.0, 7.0]
    """
    kind, size = _integral_kind(p, k), p.shape[0]
    constants = _constants(do, k, m, kind)
    y = do.new((size + m,), kind)
    _scaled(do, _integrals, in_element(do, p, kind), slab(y, 0, 0, size), size - 1, m)
    _scaled(do, _integrals, constants, slab(y, 0, size, size + m), -1, m)
    return y


@composed(p=_POLYNOMIAL, k=_CONSTANTS, dy=f"n+m : {_ELEMENTS}")
def polyint_backward(do: Steps, dy: TensorRef, p: TensorRef, k: Any = None, *, m: Order = 1, wrt: Wrt = None) -> Any:
    """The gradients of `polyint`'s p and k, those named in `wrt` or of all tensors that are given: dy by the same divisors, for
    one constant of all integrations their sum."""
    tensors, size, gradients = {"p": p} | ({"k": k} if isinstance(k, TensorRef) else {}), p.shape[0], []
    for name in chosen(wrt, tuple(tensors)):
        low, high, degree = (0, size, size - 1) if name == "p" else (size, size + m, -1)
        written = do.new((high - low,), dy.kind)
        _scaled(do, _integrals, slab(dy, 0, low, high), written, degree, m)
        gradient: TensorRef = written
        if name == "k" and k.shape[0] != m:
            gradient = do.run(sum_, {"x": gradient}, axis=0, keepdims=True)
        gradients.append(in_element(do, gradient, tensors[name].kind))
    return one_or_all(gradients)
