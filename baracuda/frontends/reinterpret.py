"""The same memory read as another element: views of arrays of NumPy, CuPy, PyTorch and our own, copies of nothing."""

from __future__ import annotations

import sys
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.frontends.arrays import library_of, torch_dtype
from baracuda.frontends.call import describe, public
from baracuda.frontends.declared import declared
from baracuda.ops.declaration.promotion import part, whole
from baracuda.ops.declaration.words import WholeBytes


def viewed(x: Any, kind: ElementKind) -> Any:
    library = library_of(x)
    if library == "torch":
        return x.view(torch_dtype(sys.modules["torch"], kind))
    if library == "baracuda":
        return x.view(kind)
    if library in ("numpy", "cupy"):
        return x.view(kind.numpy)
    raise UnsupportedError(
        f"no view of {type(x).__module__}.{type(x).__qualname__}; expected an Array, or a NumPy, CuPy or PyTorch tensor"
    )


@declared(x="...")
def bitcast(x: Any, dtype: WholeBytes) -> Any:
    """x's memory read as the element `dtype`: a view, in x's own library, which writes reach.

    To a smaller element the last axis gets longer by the quotient of the sizes, to a larger one shorter; it must then be
    contiguous, and a multiple of the quotient.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> hex(baracuda.bitcast(np.float32([1]), "u32")[0])
    '0x3f800000'
    """
    ref, kind = describe(x, "x"), dtype
    if kind.bits != ref.kind.bits:
        size, last = max(kind.bits // ref.kind.bits, 1), ref.shape[-1] if ref.shape else 0
        if not ref.shape or (ref.strides[-1] != 1 and last > 1) or last % size:
            raise InvalidProblemError(
                f"x: shape {ref.shape} with strides {ref.strides} of {ref.kind}; expected a contiguous last axis of a multiple "
                f"of {size} elements to read as {kind}"
            )
    return viewed(x, kind)


@declared(x="... : complex64 complex128")
def view_as_real(x: Any) -> Any:
    """A complex tensor as a real one with one more axis, of the real and the imaginary part: a view, which writes reach.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.view_as_real(np.complex64([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    return _as_real(x, "x")


def _as_real(x: Any, name: str) -> Any:
    return viewed(x[..., None], part(describe(x, name).kind))


@declared(x="... 2 : f32 f64")
def view_as_complex(x: Any) -> Any:
    """A real tensor whose last axis is real and imaginary part, contiguous, as a complex one without it: a view.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.view_as_complex(np.float32([[1, 2]])).tolist()
    [(1+2j)]
    """
    return _as_complex(x, "x")


def _as_complex(x: Any, name: str) -> Any:
    ref = describe(x, name)
    if ref.strides[-1] != 1 or any(s % 2 for s in ref.strides[:-1]):
        raise InvalidProblemError(f"{name}: shape {ref.shape} with strides {ref.strides}; expected a contiguous last axis of 2")
    return viewed(x, whole(ref.kind))[..., 0]


@declared(dy="... 2 : f32 f64")
def view_as_real_backward(dy: Any) -> Any:
    """The gradient of `view_as_real`'s x: dy as complex numbers, a view where its last axis is contiguous."""
    *outer, last = describe(dy, "dy").strides
    return _as_complex(dy if last == 1 and not any(s % 2 for s in outer) else public("contiguous_copy")(dy), "dy")


@declared(dy="... : complex64 complex128")
def view_as_complex_backward(dy: Any) -> Any:
    """The gradient of `view_as_complex`'s x: dy as real numbers, a view."""
    return _as_real(dy, "dy")
