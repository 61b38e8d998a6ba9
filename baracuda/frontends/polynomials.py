"""Sums, products, derivatives and integrals of polynomials given by their coefficients, highest power first.

Coefficients are a tensor of one axis, of a float or complex element; none stand for the polynomial 0. Leading zeros stay, because
shapes do not depend on values (as in jax.numpy; NumPy takes them off some results). Every function composes ops on views and has
the same bits on every device; 16-bit floats compute in f32 and are rounded once.
"""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import AtLeast, AtMost
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import placed, slab, view, windows
from baracuda.frontends.call import NUMBERS, describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import function
from baracuda.frontends.families import op as declared_op
from baracuda.frontends.reads_backward import in_kind
from baracuda.frontends.views import filled, merged, output, run
from baracuda.ops.declaration.composition import chosen, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.patterns import Declared
from baracuda.ops.declaration.promotion import common, promote
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.polynomials import arithmetic as s

_SEQUENCES = (list, tuple)
_ELEMENTS = "float complex"
_BOTH: dict[str, Declared] = {"a": f"m : {_ELEMENTS}", "b": f"n : {_ELEMENTS}"}
_SUM: dict[str, Declared] = {**_BOTH, "dy": (lambda m, n: (max(m, n),), _ELEMENTS)}
_PRODUCT: dict[str, Declared] = {**_BOTH, "dy": (lambda m, n: (_length(m, n),), _ELEMENTS)}
_POLYNOMIAL = f"n : {_ELEMENTS}"
_CONSTANTS = f"m or 1 or number or numbers : {_ELEMENTS}"

#: How often a polynomial is derived or integrated.
Order = Annotated[int, AtLeast(0), AtMost(s.MOST_ORDER)]


def _converted(source: TensorRef, target: TensorMut, like: Any) -> None:
    """Coefficients in the element of the target; of complex ones for a real target the real parts."""
    run(declared_op("cast"), {"x": source}, like, target, dtype=target.kind)


# --- sums -------------------------------------------------------------------------------------------------------------


def _combined(name: str, a: Any, b: Any) -> Any:
    """The sum or difference of polynomials; coefficients that one lacks count as 0."""
    refs = {"a": describe(a, "a"), "b": describe(b, "b")}
    kind = promote(refs["a"].kind, refs["b"].kind)
    wide = {n: describe(in_kind(v, kind), n) for n, v in (("a", a), ("b", b))}
    short, size = sorted(r.shape[0] for r in refs.values())
    y, target = output(a, (size,), kind)
    for low, high in ((0, size - short), (size - short, size)):
        parts = {n: _slice(r, size, low, high) if r.shape[0] >= size - low else 0.0 for n, r in wide.items()}
        if high > low:
            run(declared_op(name), parts, a, slab(target, 0, low, high))
    return y


def _slice(tensor: TensorRef, size: int, low: int, high: int) -> Any:
    """Of coefficients that end where a row of `size` ends, those from `low` to before `high` of the row."""
    ahead = size - tensor.shape[0]
    return slab(tensor, 0, low - ahead, high - ahead)


def _combined_backward(dy: Any, a: Any, b: Any, wrt: Wrt, *, negative: str = "") -> Any:
    refs = {"a": describe(a, "a"), "b": describe(b, "b")}
    size = max(r.shape[0] for r in refs.values())
    made = []
    for name in chosen(wrt, tuple(refs)):
        given = describe(function("neg")(dy) if name == negative else dy, "dy")
        gradient, target = output(dy, refs[name].shape, refs[name].kind)
        _converted(_slice(given, size, size - refs[name].shape[0], size), target, dy)
        made.append(gradient)
    return one_or_all(made)


@declared(**_BOTH)
def polyadd(a: Any, b: Any) -> Any:
    """The sum of two polynomials: a + b, the shorter one with zeros before it.

    a is (m), b (n), the result (max(m, n)) in their common element. Raises `InvalidProblemError` for more axes than one,
    `UnsupportedError` for other elements than floats and complex numbers. Source: numpy.polyadd.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.polyadd(np.float32([1, 2, 3]), np.float32([10, 20])).tolist()
    [1.0, 12.0, 23.0]
    """
    return _combined("add", a, b)


@declared(**_SUM)
def polyadd_backward(dy: Any, a: Any, b: Any, *, wrt: Wrt = None) -> Any:
    """The gradients of `polyadd`'s a and b, those named in `wrt` or both: the last elements of dy."""
    return _combined_backward(dy, a, b, wrt)


@declared(**_BOTH)
def polysub(a: Any, b: Any) -> Any:
    """The difference of two polynomials: a - b, the shorter one with zeros before it.

    Shapes, elements and errors are those of `polyadd`. Source: numpy.polysub.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.polysub(np.float32([2, 3]), np.float32([1, 1, 1])).tolist()
    [-1.0, 1.0, 2.0]
    """
    return _combined("sub", a, b)


@declared(**_SUM)
def polysub_backward(dy: Any, a: Any, b: Any, *, wrt: Wrt = None) -> Any:
    """The gradients of `polysub`'s a and b, those named in `wrt` or both: the last elements of dy, and of -dy."""
    return _combined_backward(dy, a, b, wrt, negative="b")


# --- products ---------------------------------------------------------------------------------------------------------


def _length(m: int, n: int) -> int:
    """How many coefficients a product has; none stand for one that is 0."""
    return max(m, 1) + max(n, 1) - 1


@declared(**_BOTH)
def polymul(a: Any, b: Any) -> Any:
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
    short, long = sorted((describe(a, "a"), describe(b, "b")), key=lambda r: r.shape[0])
    if not short.shape[0]:
        return filled(a, (_length(0, long.shape[0]),), promote(short.kind, long.kind), 0.0)
    return run(s.product, {"a": short, "b": long}, a)["y"]


@declared(**_PRODUCT)
def polymul_backward(dy: Any, a: Any, b: Any, *, wrt: Wrt = None) -> Any:
    """The gradients of `polymul`'s a and b, those named in `wrt` or both: da[k] = sum_j dy[k + j] * conj(b[j]), in the canonical
    order over j, and db likewise; of a real a the real part."""
    refs = {"a": describe(a, "a"), "b": describe(b, "b")}
    given, made = describe(dy, "dy"), []
    for name in chosen(wrt, tuple(refs)):
        own, other = refs[name], refs["b" if name == "a" else "a"]
        if not (own.shape[0] and other.shape[0]):
            made.append(filled(dy, own.shape, own.kind, 0.0))
            continue
        rows = windows(given, 0, 0, own.shape[0], other.shape[0])
        made.append(in_kind(run(s.correlation, {"a": rows, "b": placed(other, (1,), 2)}, dy)["y"], own.kind))
    return one_or_all(made)


# --- derivatives and integrals ----------------------------------------------------------------------------------------


def _scaled(op: Op, coefficients: TensorRef, target: TensorMut, like: Any, degree: int, order: int) -> None:
    run(op, {"c": coefficients}, like, target, degree=float(degree), order=order)


@declared(p=_POLYNOMIAL)
def polyder(p: Any, m: Order = 1) -> Any:
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
    ref, order = describe(p, "p"), m
    size = max(ref.shape[0] - order, 0)
    y, target = output(p, (size,), ref.kind)
    _scaled(s.derivative, slab(ref, 0, 0, size), target, p, size - 1, order)
    return y


@declared(p=_POLYNOMIAL, dy=f"n-m : {_ELEMENTS}")
def polyder_backward(dy: Any, p: Any, m: Order = 1) -> Any:
    """The gradient of `polyder`'s p: dy by the same factors, and 0 for what the derivative does without."""
    ref, order = describe(p, "p"), m
    size = max(ref.shape[0] - order, 0)
    given = describe(in_kind(dy, ref.kind), "dy")
    gradient, target = output(p, ref.shape, ref.kind)
    _scaled(s.derivative, given, slab(target, 0, 0, size), p, size - 1, order)
    merged([], 0, slab(target, 0, size, ref.shape[0]), p)
    return gradient


def _constants(k: Any, order: int, kind: ElementKind, like: Any) -> TensorRef:
    """The constants of all integrations, the first one's first, as a tensor."""
    if k is None or isinstance(k, NUMBERS):
        return describe(filled(like, (order,), kind, 0.0 if k is None else k), "k")
    if isinstance(k, _SEQUENCES):
        if len(k) != order:
            raise InvalidProblemError(f"k: {k!r}; expected {order} numbers, one for each integration")
        _, target = output(like, (order,), kind)
        merged([(i, filled(like, (1,), kind, v)) for i, v in enumerate(k)], 0, target, like)
        return target
    ref = describe(in_kind(k, kind), "k")
    found: TensorRef = view(ref, 0, (order,), (ref.strides[0] if ref.shape == (order,) else 0,))
    return found


def _integral_kind(p: TensorRef, k: Any) -> ElementKind:
    if k is None:
        return p.kind
    if isinstance(k, (*_SEQUENCES, *NUMBERS)):
        return common([p.kind], k if isinstance(k, _SEQUENCES) else [k])
    return promote(p.kind, describe(k, "k").kind)


@declared(p=_POLYNOMIAL, k=_CONSTANTS)
def polyint(p: Any, k: Any = None, *, m: Order = 1) -> Any:
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
    ref, order = describe(p, "p"), m
    kind = _integral_kind(ref, k)
    constants, size = _constants(k, order, kind, p), ref.shape[0]
    y, target = output(p, (size + order,), kind)
    _scaled(s.integral, describe(in_kind(p, kind), "p"), slab(target, 0, 0, size), p, size - 1, order)
    _scaled(s.integral, constants, slab(target, 0, size, size + order), p, -1, order)
    return y


@declared(p=_POLYNOMIAL, k=_CONSTANTS, dy=f"n+m : {_ELEMENTS}")
def polyint_backward(dy: Any, p: Any, k: Any = None, *, m: Order = 1, wrt: Wrt = None) -> Any:
    """The gradients of `polyint`'s p and k, those named in `wrt` or of all tensors that are given: dy by the same divisors, for
    one constant of all integrations their sum."""
    refs, order = {"p": describe(p, "p")}, m
    size = refs["p"].shape[0]
    if k is not None and not isinstance(k, (*_SEQUENCES, *NUMBERS)):
        refs["k"] = describe(k, "k")
    given, made = describe(dy, "dy"), []
    for name in chosen(wrt, tuple(refs)):
        low, high, degree = (0, size, size - 1) if name == "p" else (size, size + order, -1)
        found, target = output(dy, (high - low,), given.kind)
        _scaled(s.integral, slab(given, 0, low, high), target, dy, degree, order)
        if name == "k" and refs["k"].shape[0] != order:
            found = function("sum")(found, axis=0, keepdims=True)
        made.append(in_kind(found, refs[name].kind))
    return one_or_all(made)
