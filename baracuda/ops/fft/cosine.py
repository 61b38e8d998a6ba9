"""Discrete cosine transforms of types 1 to 4 by Fourier transforms, and their inverses and gradients, which are ones again.

    1: y_k = x_0 + (-1)**k x_(n-1) + 2 sum over 0 < j < n - 1 of x_j cos(pi j k / (n - 1))
    2: y_k = 2 sum over j of x_j cos(pi k (2j + 1) / (2n))
    3: y_k = x_0 + 2 sum over j > 0 of x_j cos(pi j (2k + 1) / (2n))
    4: y_k = 2 sum over j of x_j cos(pi (2j + 1) (2k + 1) / (4n))

*Order.* Type 1 is the real transform of x and its mirror image, of 2 (n - 1). Type 2 is the real transform v of x_0, x_2, ...,
x_3, x_1, whose number k times t_k = 2 exp(-pi i k / (2n)) has y_k for its real part and -y_(n-k) for its imaginary one. Type 3
goes the other way: (x_j - i x_(n-j)) exp(pi i j / (2n)) are the numbers of a half row. Type 4 is the complex transform of 2n of
x_j exp(-pi i j / (2n)), whose numbers times 2 exp(-pi i (2k + 1) / (4n)) have y_k for their real parts. Scales are part of the
factors, which are computed in float64 and rounded once.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, flipped, permuted, slab, view
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule, whole
from baracuda.ops.declaration.traced import Value
from baracuda.ops.elementwise.binary_ops import mul
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.fft.lines import Norm
from baracuda.ops.fft.plan import FourierDescriptor, FourierPlan
from baracuda.ops.fft.tables import INTERNAL, ends, turns
from baracuda.ops.fft.transforms import Length

Type = Literal[1, 2, 3, 4]
_HALF = sqrt(0.5)


def _real_part(z: Value, w: Value) -> Expr:
    """The real part of z w."""
    if isinstance(z, Complex) and isinstance(w, Complex):
        return z.re * w.re - z.im * w.im
    assert isinstance(z, Complex)
    assert isinstance(w, Expr)
    return z.re * w


def _other_part(z: Value, w: Value) -> Expr:
    """The imaginary part of z w, negated."""
    assert isinstance(z, Complex)
    assert isinstance(w, Complex)
    return -(z.re * w.im + z.im * w.re)


def _raised(a: Expr, w: Value, b: Expr | None = None) -> Complex:
    """(a - i b) w."""
    assert isinstance(w, Complex)
    if b is None:
        return Complex(a * w.re, a * w.im)
    return Complex(a * w.re + b * w.im, a * w.im - b * w.re)


_real_op = Op(_real_part, Rule.EACH, name="real_part_of_product", **INTERNAL)
_other_op = Op(_other_part, Rule.EACH, name="imaginary_part_of_product", **INTERNAL)
_raised_op = Op(_raised, Rule.EACH, name="turned_pair", **INTERNAL)


def _rows(do: Steps, x: TensorRef, mode: Any, n: int, y_element: ElementKind, *, inverse: bool = False) -> Any:
    d = FourierDescriptor(x.shape, len(x.shape) - 1, n, x.kind, y_element, mode, inverse)
    return do.plan(FourierPlan, d, {"x": x})


def cosine(do: Steps, x: TensorRef, kind: int, y: Any, scale: float, before: float, after: float) -> None:
    """The transform of the rows along the last axis into y, times `scale`; the first element (of type 1 the last, too) is
    multiplied by `before`, the first result (of type 1 the last, too) by `after`."""
    n, element = x.shape[-1], x.kind
    numbers = whole(element)
    if kind == 1:
        row = do.rows((*x.shape[:-1], 2 * (n - 1)), element)
        front = slab(row, len(x.shape) - 1, 0, n)
        if before == 1:
            do.copy(x, front)
        else:
            do.run(mul, {"a": x, "b": ends(do, n, element, 1.0, before, before)}, front)
        last = len(x.shape) - 1
        do.copy(flipped(slab(front, last, 1, n - 1), (last,)), slab(row, last, n, 2 * (n - 1)))
        v = _rows(do, row, "real", 2 * (n - 1), numbers)
        do.run(_real_op, {"z": v, "w": ends(do, n, element, scale, after, after)}, y)
    elif kind == 2:
        v = _rows(do, _folded(do, x), "real", n, numbers)
        w = turns(do, n // 2 + 1, numbers, -2 * n, scale=2 * scale, first=after)
        _split(do, v, w, y)
    elif kind == 3:
        w = turns(do, n // 2 + 1, numbers, 2 * n, scale=scale, first=before)
        v = do.rows((*x.shape[:-1], n // 2 + 1), numbers)
        axis = len(x.shape) - 1
        do.run(_raised_op, {"a": slab(x, axis, 0, 1), "w": slab(w, 0, 0, 1)}, slab(v, axis, 0, 1))
        if n > 1:
            mirrored = flipped(slab(x, axis, n - n // 2, n), (axis,))
            rest = {"a": slab(x, axis, 1, n // 2 + 1), "w": slab(w, 0, 1, n // 2 + 1), "b": mirrored}
            do.run(_raised_op, rest, slab(v, axis, 1, n // 2 + 1))
        row = _rows(do, v, "half", n, element, inverse=True)
        do.move(_folds(row, y))
    else:
        w = turns(do, n, numbers, -2 * n)
        z = do.run(_raised_op, {"a": x, "w": w})
        v = slab(_rows(do, z, "complex", 2 * n, numbers), len(x.shape) - 1, 0, n)
        do.run(_real_op, {"z": v, "w": turns(do, n, numbers, -2 * n, start=0.5, scale=2 * scale)}, y)


def _split(do: Steps, v: TensorRef, w: TensorRef, y: Any) -> None:
    """y_k and y_(n-k) from number k of a row and its factor."""
    axis, n = len(y.shape) - 1, y.shape[-1]
    do.run(_real_op, {"z": v, "w": w}, slab(y, axis, 0, n // 2 + 1))
    count = (n - 1) // 2
    if count:
        inner = {"z": slab(v, axis, 1, count + 1), "w": slab(w, 0, 1, count + 1)}
        do.run(_other_op, inner, flipped(slab(y, axis, n - count, n), (axis,)))


def _folds(row: Any, x: Any) -> list[tuple[Any, Any]]:
    """The parts of a row, and the elements of x that belong there: those of even places, then the others in reverse."""
    n, axis = x.shape[-1], len(x.shape) - 1
    step, half = x.strides[-1], -(-n // 2)
    strides = (*x.strides[:-1], 2 * step)
    even = view(x, 0, (*x.shape[:-1], half), strides)
    if n == 1:
        return [(row, even)]
    odd = view(x, step, (*x.shape[:-1], n - half), strides)
    return [(slab(row, axis, 0, half), even), (slab(row, axis, half, n), flipped(odd, (axis,)))]


def _folded(do: Steps, x: TensorRef) -> Any:
    row = do.rows(x.shape, x.kind)
    do.move([(source, target) for target, source in _folds(row, x)])
    return row


# --- functions --------------------------------------------------------------------------------------------------------

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def _factors(kind: int, n: int, norm: Norm, *, inverse: bool) -> tuple[int, float, float, float]:
    """The type, the scale and what the ends are multiplied by before and after."""
    kind = _INVERSE[kind] if inverse else kind
    terms = 2 * (n - 1) if kind == 1 else 2 * n
    if norm == "ortho":
        before, after = {1: (sqrt(2), _HALF), 2: (1.0, _HALF), 3: (sqrt(2), 1.0), 4: (1.0, 1.0)}[kind]
        return kind, 1 / sqrt(terms), before, after
    return kind, 1.0 / terms if (norm == "forward") != inverse else 1.0, 1.0, 1.0


def _transposed(factors: tuple[int, float, float, float]) -> tuple[int, float, float, float]:
    """The factors of the transform's gradient."""
    kind, scale, before, after = factors
    if kind == 1:
        return 1, scale, 2 * after, before / 2
    if kind == 2:
        return 3, scale, 2 * after, before
    return (2, scale, after, before / 2) if kind == 3 else (4, scale, after, before)


def _length(x: TensorRef, kind: int, n: int | None, axis: int) -> int:
    length = x.shape[axis] if n is None else n
    if length < (2 if kind == 1 else 1):
        raise InvalidProblemError(
            f"n: {length} of x of shape {x.shape}; expected {2 if kind == 1 else 1} or more for type {kind}"
        )
    if x.kind.category is Category.COMPLEX:
        raise UnsupportedError(f"x: element is {x.kind}; expected a real one")
    return length


def _last(x: Any, axis: int) -> Any:
    """A tensor with one axis moved to the end."""
    rank = len(x.shape)
    return permuted(x, [*(a for a in range(rank) if a != axis), axis])


def _fitted(do: Steps, x: TensorRef, n: int) -> TensorRef:
    """The first n elements of rows, with zeros for those that there are not."""
    axis, extent = len(x.shape) - 1, x.shape[-1]
    if n <= extent:
        return slab(x, axis, 0, n)  # type: ignore[no-any-return]
    wide = do.rows((*x.shape[:-1], n), x.kind)
    if extent:
        do.copy(x, slab(wide, axis, 0, extent))
    do.zero(slab(wide, axis, extent, n))
    return wide


def _forward(do: Steps, x: TensorRef, kind: int, n: int | None, axis: int, norm: Norm, *, inverse: bool) -> Any:
    axis = axis_of(axis, len(x.shape))
    length = _length(x, kind, n, axis)
    element = x.kind if x.kind.is_float and x.kind.bits >= 16 else ElementKind.F32
    y = do.result((*x.shape[:axis], length, *x.shape[axis + 1 :]), element)
    if 0 in y.shape:
        return y
    _through(do, _last(x, axis), _last(y, axis), length, _factors(kind, length, norm, inverse=inverse))
    return y


def _through(do: Steps, x: TensorRef, y: Any, n: int, factors: tuple[int, float, float, float]) -> None:
    """The transform of n elements of the rows of x into those of y."""
    kind, scale, before, after = factors
    computed = y.kind.compute
    rows = _fitted(do, in_element(do, x, computed), n)
    target = y if y.kind is computed else do.rows(y.shape, computed)
    cosine(do, rows, kind, target, scale, before, after)
    if target is not y:
        do.copy(target, y)


def _backward(do: Steps, dy: TensorRef, x: TensorRef, kind: int, n: int | None, axis: int, norm: Norm, *, inverse: bool) -> Any:
    axis = axis_of(axis, len(x.shape))
    length, extent = _length(x, kind, n, axis), x.shape[axis]
    expected = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    if dy.shape != expected:
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {expected}")
    dx = do.new(x.shape, dy.kind)
    if 0 in dx.shape:
        return dx
    factors = _transposed(_factors(kind, length, norm, inverse=inverse))
    if length == extent:
        _through(do, _last(dy, axis), _last(dx, axis), length, factors)
        return dx
    whole_ = do.rows(expected, dy.kind)
    _through(do, _last(dy, axis), _last(whole_, axis), length, factors)
    kept = min(length, extent)
    do.copy(slab(whole_, axis, 0, kept), slab(dx, axis, 0, kept))
    if kept < extent:
        do.zero(slab(dx, axis, kept, extent))
    return dx


@composed(x="...", out=True)
def dct(do: Steps, x: TensorRef, type: Type = 2, n: Length = None, axis: int = -1, norm: Norm = None) -> Any:
    """The discrete cosine transform of type 1, 2, 3 or 4 along an axis, of n elements, by default all: more of x are left out,
    and zeros stand for what it has fewer. Type 1 needs two.

    With norm="backward", the default, nothing is divided; with "forward" the result is divided by 2n (of type 1 by 2 (n - 1)),
    with "ortho" by the root of that, and the ends are weighted so that the transform is orthogonal. As scipy.fft.dct has it.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> np.abs(baracuda.dct(np.float32([1, 1, 1, 1]))).tolist()
    [8.0, 0.0, 0.0, 0.0]
    """
    return _forward(do, x, type, n, axis, norm, inverse=False)


@composed(dy="... : float", x="...")
def dct_backward(
    do: Steps, dy: TensorRef, x: TensorRef, type: Type = 2, n: Length = None, axis: int = -1, norm: Norm = None
) -> Any:
    """The gradient of `dct`'s x, of which the shape is looked at: a cosine transform of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.dct_backward(np.float32([1, 0, 0, 0]), np.zeros(4, np.float32)).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    return _backward(do, dy, x, type, n, axis, norm, inverse=False)


@composed(x="...", out=True)
def idct(do: Steps, x: TensorRef, type: Type = 2, n: Length = None, axis: int = -1, norm: Norm = None) -> Any:
    """The inverse of the discrete cosine transform of type 1, 2, 3 or 4 along an axis, with the lengths and norms of `dct`: with
    "backward", the default, it is divided by 2n (of type 1 by 2 (n - 1)), with "forward" by nothing.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.idct(np.float32([8, 0, 0, 0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _forward(do, x, type, n, axis, norm, inverse=True)


@composed(dy="... : float", x="...")
def idct_backward(
    do: Steps, dy: TensorRef, x: TensorRef, type: Type = 2, n: Length = None, axis: int = -1, norm: Norm = None
) -> Any:
    """The gradient of `idct`'s x, of which the shape is looked at: a cosine transform of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.idct_backward(np.float32([8, 0, 0, 0]), np.zeros(4, np.float32)).tolist()[0]
    1.0
    """
    return _backward(do, dy, x, type, n, axis, norm, inverse=True)
