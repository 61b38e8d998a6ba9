"""Convolutions and correlations of signals of one axis or several.

*Order.* With method "direct" a result is a matrix product's sum, one chain of fused multiply-adds over the elements of the
smaller operand in logical order (of the second where both have as many), of 16-bit floats as such products are taken; with "fft"
it is the inverse transform of a product of transforms, each axis padded to an even length of primes up to 5. "auto" takes
"direct" for integers and where the smaller operand has at most `DIRECT` elements, and "fft" otherwise: by sizes and elements
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal

from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import flipped, slab, view
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.promotion import part, promote, whole
from baracuda.ops.declaration.words import Wrt
from baracuda.ops.elementwise.complex_ops import conj
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.fft.lines import Line
from baracuda.ops.fft.long_convolution import fast_length, multiplied
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan

Mode = Literal["full", "same", "valid"]
Method = Literal["auto", "direct", "fft"]
#: Elements of the smaller operand up to which sums are taken directly.
DIRECT = 128
#: The most axes there are: windows have twice as many.
_RANK = 4


def _span(mode: Mode, a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    """Of the full convolution along each axis, where the result begins and how long it is."""
    found = []
    for n, m in zip(a, b, strict=True):
        if mode == "full":
            found.append((0, n + m - 1))
        elif mode == "same":
            found.append(((m - 1) // 2, n))
        else:
            found.append((min(n, m) - 1, abs(n - m) + 1))
    return found


def _is_direct(method: Method, kind: ElementKind, a: Sequence[int], b: Sequence[int]) -> bool:
    floats = kind.category in (Category.FLOAT, Category.COMPLEX)
    if method == "fft" and not floats:
        raise UnsupportedError(f"method: 'fft' of {kind}; expected 'direct' or 'auto'")
    return method == "direct" or (method == "auto" and (not floats or min(prod(a), prod(b)) <= DIRECT))


def _part_of(do: Steps, a: TensorRef, b: TensorRef, span: Sequence[tuple[int, int]], *, direct: bool) -> Any:
    """A part of the full convolution of a and b, of one element: zeros beyond it."""
    y = do.new([length for _, length in span], a.kind)
    if 0 in y.shape:
        return y
    if 0 in a.shape or 0 in b.shape:
        do.zero(y)
        return y
    if prod(a.shape) < prod(b.shape):
        a, b = b, a
    if direct:
        _by_windows(do, a, b, span, y)
    else:
        _by_transforms(do, a, b, span, y)
    return y


def _by_windows(do: Steps, a: TensorRef, b: TensorRef, span: Sequence[tuple[int, int]], y: Any) -> None:
    """Sums over the elements of b."""
    rank = len(a.shape)
    ahead = [max(m - 1 - start, 0) for m, (start, _) in zip(b.shape, span, strict=True)]
    offset = [start - (m - 1) + lead for m, (start, _), lead in zip(b.shape, span, ahead, strict=True)]
    needed = [o + length + m - 1 for o, (_, length), m in zip(offset, span, b.shape, strict=True)]
    wide = a
    if any(ahead) or any(n > e for n, e in zip(needed, a.shape, strict=True)):
        shape = [max(n, lead + e) for n, lead, e in zip(needed, ahead, a.shape, strict=True)]
        wide = do.rows(shape, a.kind)
        do.zero(wide)
        inner: Any = wide
        for axis, (lead, e) in enumerate(zip(ahead, a.shape, strict=True)):
            inner = slab(inner, axis, lead, lead + e)
        do.copy(a, inner)
    start = sum(o * s for o, s in zip(offset, wide.strides, strict=True))
    windows = view(wide, start, (*y.shape, *b.shape), (*wide.strides, *wide.strides))
    places, taps = "abcd"[:rank], "klmn"[:rank]
    d = MatmulDescriptor(windows.shape, b.shape, places + taps, taps, places, a.kind, a.kind, a.kind)
    do.plan(MatmulPlan, d, {"a": windows, "b": flipped(b, range(rank))}, y)


def _by_transforms(do: Steps, a: TensorRef, b: TensorRef, span: Sequence[tuple[int, int]], y: Any) -> None:
    """The product of transforms."""
    rank, kind = len(a.shape), a.kind.compute
    lengths = [fast_length(n + m - 1) for n, m in zip(a.shape, b.shape, strict=True)]
    complex_ = kind.category is Category.COMPLEX
    numbers = kind if complex_ else whole(kind)

    def there(x: TensorRef) -> Any:
        z: Any = in_element(do, x, kind)
        for axis in range(rank - 1, -1, -1):
            mode: Any = "real" if axis == rank - 1 and not complex_ else "complex"
            z = Line(mode, False, axis, lengths[axis], "none", z.shape, z.kind).forward(do, z)
        return z

    z = multiplied(do, there(a), there(b))
    for axis in range(rank):
        mode: Any = "half" if axis == rank - 1 and not complex_ else "complex"
        z = Line(mode, True, axis, lengths[axis], "n", z.shape, numbers).forward(do, z)
    target = y
    for axis, (start, length) in enumerate(span):
        extent = a.shape[axis] + b.shape[axis] - 1
        low, high = max(start, 0), max(min(start + length, extent), max(start, 0))
        z, inner = slab(z, axis, low, high), (max(-start, 0), max(-start, 0) + high - low)
        if inner != (0, target.shape[axis]):
            if target is y:
                do.zero(y)
            target = slab(target, axis, inner[0], inner[1])
    do.copy(z, target)


def _conjugated(do: Steps, x: TensorRef) -> Any:
    return do.run(conj, {"x": x}) if x.kind.category is Category.COMPLEX else x


def _checked(a: TensorRef, b: TensorRef, mode: Mode) -> ElementKind:
    if len(a.shape) != len(b.shape) or not a.shape:
        raise InvalidProblemError(f"a, b: shapes {a.shape}, {b.shape}; expected as many axes of both, one or more")
    if len(a.shape) > _RANK:
        raise UnsupportedError(f"a: shape is {a.shape}; expected at most {_RANK} axes")
    if 0 in a.shape or 0 in b.shape:
        raise InvalidProblemError(f"a, b: shapes {a.shape}, {b.shape}; expected elements")
    if mode == "valid":
        larger = [n >= m for n, m in zip(a.shape, b.shape, strict=True)]
        smaller = [n <= m for n, m in zip(a.shape, b.shape, strict=True)]
        if not (all(larger) or all(smaller)):
            raise InvalidProblemError(
                f"a, b: shapes {a.shape}, {b.shape}; expected one no smaller along any axis for mode='valid'"
            )
    return promote(a.kind, b.kind)


def _through(do: Steps, a: TensorRef, b: TensorRef, mode: Mode, method: Method, *, turned: bool) -> Any:
    """The convolution of a with b, or, where it is `turned`, with the conjugate of b in reverse."""
    kind = _checked(a, b, mode)
    other: Any = in_element(do, b, kind)
    if turned:
        other = flipped(_conjugated(do, other), range(len(b.shape)))
    direct = _is_direct(method, kind, a.shape, b.shape)
    return _part_of(do, in_element(do, a, kind), other, _span(mode, a.shape, b.shape), direct=direct)


def _slopes(do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, mode: Mode, method: Method, wrt: Wrt, *, turned: bool) -> Any:
    kind, names = _checked(a, b, mode), chosen(wrt, ("a", "b"))
    span, axes = _span(mode, a.shape, b.shape), range(len(a.shape))
    if dy.shape != tuple(length for _, length in span):
        raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {tuple(length for _, length in span)}")
    slope, direct = in_element(do, dy, kind), _is_direct(method, kind, a.shape, b.shape)
    found = {}
    for name in names:
        own, other = (a, b) if name == "a" else (b, a)
        factor: Any = in_element(do, other, kind)
        if not (turned and name == "a"):  # of a correlation b is turned already
            factor = flipped(_conjugated(do, factor), axes)
        where = [(m - 1 - start, n) for n, m, (start, _) in zip(own.shape, other.shape, span, strict=True)]
        slope_of = _part_of(do, slope, factor, where, direct=direct)
        if turned and name == "b":
            slope_of = flipped(_conjugated(do, slope_of), axes)
        target = do.new(own.shape, own.kind)
        do.copy(_real(do, slope_of, own.kind), target)
        found[name] = target
    return one_or_all([found[name] for name in names])


def _real(do: Steps, x: TensorRef, kind: ElementKind) -> Any:
    """x in an element, of which a real one takes the real parts."""
    if x.kind.category is Category.COMPLEX and kind.category is not Category.COMPLEX:
        return in_element(do, x, part(x.kind))
    return x


_TWO: dict[str, Any] = {"a": "...", "b": "..."}


@composed(**_TWO)
def convolve(do: Steps, a: TensorRef, b: TensorRef, mode: Mode = "full", method: Method = "auto") -> Any:
    """The convolution of two signals of as many axes, one to four: y_t = sum over s of a_(t-s) b_s.

    "full" has every sum that is not empty, "same" as many elements as a, from the middle of that, "valid" the sums for which
    every element is there. method "auto" takes sums directly or by Fourier transforms, by sizes and elements alone.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.convolve(np.float32([1, 2, 3]), np.float32([0, 1, 0.5])).tolist()
    [0.0, 1.0, 2.5, 4.0, 1.5]
    """
    return _through(do, a, b, mode, method, turned=False)


@composed(dy="...", **_TWO)
def convolve_backward(
    do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, mode: Mode = "full", method: Method = "auto", *, wrt: Wrt = None
) -> Any:
    """The gradients of `convolve`'s a and b, those named in `wrt`, by default both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> a, b = np.float32([1, 2, 3]), np.float32([0, 1, 0.5])
    >>> [g.tolist() for g in baracuda.convolve_backward(np.float32([0, 1, 0, 0, 0]), a, b)]
    [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0]]
    """
    return _slopes(do, dy, a, b, mode, method, wrt, turned=False)


@composed(**_TWO)
def correlate(do: Steps, a: TensorRef, b: TensorRef, mode: Mode = "full", method: Method = "auto") -> Any:
    """The correlation of two signals of as many axes, one to four: the convolution of a with the conjugate of b in reverse, with
    the modes and methods of `convolve`.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.correlate(np.float32([1, 2, 3]), np.float32([0, 1, 0.5])).tolist()
    [0.5, 2.0, 3.5, 3.0, 0.0]
    """
    return _through(do, a, b, mode, method, turned=True)


@composed(dy="...", **_TWO)
def correlate_backward(
    do: Steps, dy: TensorRef, a: TensorRef, b: TensorRef, mode: Mode = "full", method: Method = "auto", *, wrt: Wrt = None
) -> Any:
    """The gradients of `correlate`'s a and b, those named in `wrt`, by default both.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> a, b = np.float32([1, 2, 3]), np.float32([0, 1, 0.5])
    >>> [g.tolist() for g in baracuda.correlate_backward(np.float32([1, 0, 0, 0, 0]), a, b)]
    [[0.5, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return _slopes(do, dy, a, b, mode, method, wrt, turned=True)
