"""Products of vectors, matrices and batches of them.

Each function takes tensors of NumPy, PyTorch, CuPy or JAX, or any DLPack producer, of one float, integer or complex element and
any strides, and gives a new tensor of the caller's library, or writes `out`. A sum is one chain of fused multiply-adds in
rising k, in f32 for 16-bit floats and wrapping for integers, so that its bits are the same on every device and do not depend
on the batch; `preference=PlanPreference(fastest=True)` takes a library's plan instead. Shapes that do not contract and
elements that differ raise `InvalidProblemError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.frontends.product_function import MatmulBackward, MatmulFunction, Request
from baracuda.ops.matmul.descriptor import labelled

_BATCH = "BCDEFGHI"
Ref = TensorRef


def one_element(name: str, **tensors: Ref | None) -> None:
    """Raise unless all tensors store one element."""
    kinds = {n: t.kind for n, t in tensors.items() if t is not None}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{n} {k}" for n, k in kinds.items())
        raise InvalidProblemError(f"{name}: elements {listed}; expected one element, cast the others")


def of_rank(name: str, expected: str, **tensors: Ref) -> None:
    """Raise unless each tensor has as many axes as `expected`, its shape in words, has words between commas."""
    for (n, t), words in zip(tensors.items(), expected.split(" @ "), strict=True):
        if len(t.shape) != words.count(",") + 1:
            raise InvalidProblemError(f"{name}: {n} has shape {t.shape}; expected {words}")


def leading(a: Ref, b: Ref, a_last: int, b_last: int) -> tuple[str, str, str]:
    """Labels of the batch axes of a and b, in front of the last few of each, and of the result's."""
    ranks = max(len(a.shape) - a_last, 0), max(len(b.shape) - b_last, 0)
    if max(ranks) > len(_BATCH):
        raise InvalidProblemError(f"shapes {a.shape} and {b.shape} have more than {len(_BATCH)} batch axes")
    left, right = (_BATCH[len(_BATCH) - n :] for n in ranks)
    return left, right, max(left, right, key=len)


def _product(name: str, a: Ref, b: Ref, a_axes: str, b_axes: str, y_axes: str, **fields: Any) -> Request:
    one_element(name, a=a, b=b)
    return Request(labelled(a, b, a_axes, b_axes, y_axes, **fields), {"a": 0, "b": 1})


@MatmulFunction
def matmul(a: Ref, b: Ref) -> Request:
    """a @ b: the sum over the last axis of a and the last but one of b, the axes before them broadcast.

    A vector is a row on the left and a column on the right, and the result then lacks that axis.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.matmul(np.float32([[1, 2], [3, 4]]), np.float32([1, 1])).tolist()
    [3.0, 7.0]
    """
    if not a.shape or not b.shape:
        raise InvalidProblemError(f"matmul: shapes {a.shape} and {b.shape}; expected at least one axis each")
    left, right, batch = leading(a, b, 2, 2)
    m, n = "m" if len(a.shape) > 1 else "", "n" if len(b.shape) > 1 else ""
    return _product("matmul", a, b, f"{left}{m}k", f"{right}k{n}", f"{batch}{m}{n}")


@MatmulFunction
def mm(a: Ref, b: Ref) -> Request:
    """The product of two matrices, (m, k) and (k, n)."""
    of_rank("mm", "(m, k) @ (k, n)", a=a, b=b)
    return _product("mm", a, b, "mk", "kn", "mn")


@MatmulFunction
def bmm(a: Ref, b: Ref) -> Request:
    """The products of matrices of two batches of one size, (b, m, k) and (b, k, n)."""
    of_rank("bmm", "(b, m, k) @ (b, k, n)", a=a, b=b)
    if a.shape[0] != b.shape[0]:
        raise InvalidProblemError(f"bmm: shapes {a.shape} and {b.shape}; expected batches of one size")
    return _product("bmm", a, b, "Bmk", "Bkn", "Bmn")


@MatmulFunction
def mv(a: Ref, b: Ref) -> Request:
    """A matrix by a vector, (m, k) and (k)."""
    of_rank("mv", "(m, k) @ (k)", a=a, b=b)
    return _product("mv", a, b, "mk", "k", "m")


@MatmulFunction
def vecmat(a: Ref, b: Ref) -> Request:
    """Vectors by matrices, (..., k) and (..., k, n), of complex vectors the conjugate (`jax.numpy.vecmat`)."""
    if not a.shape or len(b.shape) < 2:
        raise InvalidProblemError(f"vecmat: shapes {a.shape} and {b.shape}; expected (..., k) and (..., k, n)")
    left, right, batch = leading(a, b, 1, 2)
    return _product("vecmat", a, b, f"{left}k", f"{right}kn", f"{batch}n", conjugate_a=_is_complex(a))


def _multiplied(name: str, a: Ref, b: Ref) -> Request:
    """The product of a number and a tensor."""
    axes = "cdefghij"[: len(a.shape) + len(b.shape)]
    return _product(name, a, b, axes[: len(a.shape)], axes[len(a.shape) :], axes)


@MatmulFunction
def dot(a: Ref, b: Ref) -> Request:
    """The sum of a[k] * b[k] of two vectors; of more axes as `jax.numpy.dot` and NumPy: the last axis of a with the last but one
    of b, all others kept; a number multiplies."""
    if not a.shape or not b.shape:
        return _multiplied("dot", a, b)
    free_a, free_b = "mopqrst"[: len(a.shape) - 1], "uvwxyzn"[7 - len(b.shape) + 1 :]
    return _product("dot", a, b, f"{free_a}k", f"{free_b[:-1]}k{free_b[-1:]}" if len(b.shape) > 1 else "k", free_a + free_b)


def _is_complex(a: Ref) -> bool:
    return a.kind.name in ("C64", "C128")


@MatmulFunction
def vdot(a: Ref, b: Ref) -> Request:
    """The sum of conj(a[k]) * b[k] of two vectors."""
    of_rank("vdot", "(k) @ (k)", a=a, b=b)
    return _product("vdot", a, b, "k", "k", "", conjugate_a=_is_complex(a))


@MatmulFunction
def vecdot(a: Ref, b: Ref, *, axis: int = -1) -> Request:
    """The sums of conj(a) * b along an axis, the others broadcast; of tensors of different ranks it is numbered from the end."""
    if len(a.shape) == len(b.shape) and 0 <= axis < len(a.shape):
        axis -= len(a.shape)
    if not -min(len(a.shape), len(b.shape)) <= axis <= -1:
        raise InvalidProblemError(f"vecdot: axis {axis} for shapes {a.shape} and {b.shape}; expected one of both, from the end")
    left, right, batch = leading(a, b, 0, 0)
    label = batch[axis]
    if a.shape[axis] != b.shape[axis]:
        raise InvalidProblemError(f"vecdot: shapes {a.shape} and {b.shape} do not contract along axis {axis}")
    return _product("vecdot", a, b, left, right, batch.replace(label, ""), conjugate_a=_is_complex(a))


@MatmulFunction
def inner(a: Ref, b: Ref) -> Request:
    """The sums over the last axes of both, all others kept: those of a, then those of b; a number multiplies."""
    if not a.shape or not b.shape:
        return _multiplied("inner", a, b)
    free_a, free_b = "mopqrst"[: len(a.shape) - 1], "nuvwxyz"[: len(b.shape) - 1]
    return _product("inner", a, b, f"{free_a}k", f"{free_b}k", free_a + free_b)


@MatmulFunction
def outer(a: Ref, b: Ref) -> Request:
    """a[m] * b[n] of two vectors. A product of -0 is +0, as in every sum that starts from +0."""
    of_rank("outer", "(m) @ (n)", a=a, b=b)
    return _product("outer", a, b, "m", "n", "mn")


def _with_addend(name: str, c: Ref, a: Ref, b: Ref, axes: Sequence[str], beta: complex, alpha: complex, **fields: Any) -> Request:
    one_element(name, c=c, a=a, b=b)
    d = labelled(a, b, *axes, c_shape=c.shape, alpha=alpha, beta=beta, **fields)
    return Request(d, {"c": 0, "a": 1, "b": 2})


@MatmulFunction
def addmm(c: Ref, a: Ref, b: Ref, *, beta: complex = 1, alpha: complex = 1) -> Request:
    """beta * c + alpha * (a @ b) of matrices; c broadcasts. With beta = 0, c is not read."""
    of_rank("addmm", "(m, k) @ (k, n)", a=a, b=b)
    return _with_addend("addmm", c, a, b, ("mk", "kn", "mn"), beta, alpha)


@MatmulFunction
def addmv(c: Ref, a: Ref, b: Ref, *, beta: complex = 1, alpha: complex = 1) -> Request:
    """beta * c + alpha * (a @ b) of a matrix and a vector; c broadcasts."""
    of_rank("addmv", "(m, k) @ (k)", a=a, b=b)
    return _with_addend("addmv", c, a, b, ("mk", "k", "m"), beta, alpha)


@MatmulFunction
def addr(c: Ref, a: Ref, b: Ref, *, beta: complex = 1, alpha: complex = 1) -> Request:
    """beta * c + alpha * outer(a, b) of vectors; c broadcasts."""
    of_rank("addr", "(m) @ (n)", a=a, b=b)
    return _with_addend("addr", c, a, b, ("m", "n", "mn"), beta, alpha)


@MatmulFunction
def addbmm(c: Ref, a: Ref, b: Ref, *, beta: complex = 1, alpha: complex = 1) -> Request:
    """beta * c + alpha * the sum over the batch of (b, m, k) @ (b, k, n): one sum over both, the batch outermost."""
    of_rank("addbmm", "(b, m, k) @ (b, k, n)", a=a, b=b)
    return _with_addend("addbmm", c, a, b, ("Bmk", "Bkn", "mn"), beta, alpha)


@MatmulFunction
def baddbmm(c: Ref, a: Ref, b: Ref, *, beta: complex = 1, alpha: complex = 1) -> Request:
    """beta * c + alpha * (a @ b) of batches, (b, m, k) and (b, k, n); c broadcasts."""
    of_rank("baddbmm", "(b, m, k) @ (b, k, n)", a=a, b=b)
    return _with_addend("baddbmm", c, a, b, ("Bmk", "Bkn", "Bmn"), beta, alpha)


@MatmulFunction
def symmetric_product(a: Ref, c: Ref | None = None, *, alpha: complex = 1, beta: complex = 1) -> Request:
    """alpha * a @ a.T + beta * c over the last two axes (`jax.lax.linalg.symmetric_product`): every element is computed, and
    without c the result is symmetric to the bit."""
    if len(a.shape) < 2:
        raise InvalidProblemError(f"symmetric_product: shape {a.shape}; expected (..., n, k)")
    one_element("symmetric_product", a=a, c=c)
    batch, _, _ = leading(a, a, 2, 2)
    shape = None if c is None else c.shape
    d = labelled(a, a, f"{batch}mk", f"{batch}nk", f"{batch}mn", c_shape=shape, alpha=alpha, beta=beta)
    return Request(d, {"a": 0, "b": 0} | ({} if c is None else {"c": 1}))


matmul_backward, mm_backward, bmm_backward, mv_backward = map(MatmulBackward, (matmul, mm, bmm, mv))
vecmat_backward, dot_backward, vdot_backward, vecdot_backward = map(MatmulBackward, (vecmat, dot, vdot, vecdot))
inner_backward, outer_backward, addmm_backward, addmv_backward = map(MatmulBackward, (inner, outer, addmm, addmv))
addr_backward, addbmm_backward, baddbmm_backward = map(MatmulBackward, (addr, addbmm, baddbmm))
symmetric_product_backward = MatmulBackward(symmetric_product)
