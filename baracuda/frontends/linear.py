"""Layers made of one product with what follows it: linear, with an epilogue, of quantized factors, of groups of rows.

Tensors, results and errors are as for `baracuda.frontends.products`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from baracuda.core.call_recorder import refuse
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.parameters import element_of
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorMut
from baracuda.core.views import slab
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.product_function import MatmulBackward, MatmulFunction, Request
from baracuda.frontends.products import Ref, bmm, leading, matmul, mm, of_rank, one_element
from baracuda.frontends.views import merged, output
from baracuda.ops.declaration.words import Dtype
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.groups import checked_ends

_FREE = "mopqrst"


def _given(**numbers: int | None) -> dict[str, int]:
    return {name: i for name, i in numbers.items() if i is not None}


@MatmulFunction
def linear(x: Ref, weight: Ref, bias: Ref | None = None, *, activation: str = "none", saved: bool = False) -> Request:
    """activation(x @ weight.T + bias), x (..., k), weight (n, k), bias (n).

    activation is one of `baracuda.ops.matmul.epilogue.ACTIVATIONS`: "none", "relu", "gelu", "gelu_tanh", "silu", ... With
    `saved`, returns (y, z) with z what the activation is applied to, which `linear_backward(dy, x, weight, bias, z=z)` reads.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.linear(np.float32([[1, 2]]), np.float32([[3, 4], [-5, 6]]), np.float32([1, -9]), activation="relu").tolist()
    [[12.0, 0.0]]
    """
    of_rank("linear", "(n, k)", weight=weight)
    if not 1 <= len(x.shape) <= len(_FREE) + 1:
        raise InvalidProblemError(f"linear: x has shape {x.shape}; expected 1 to {len(_FREE) + 1} axes")
    one_element("linear", x=x, weight=weight, bias=bias)
    free = _FREE[: len(x.shape) - 1]
    _check_bias("linear", bias, weight.shape[0])
    axis = None if bias is None else -1
    d = labelled(x, weight, f"{free}k", "nk", f"{free}n", bias_axis=axis, activation=activation, saves=saved)
    return Request(d, _given(a=0, b=1, bias=None if bias is None else 2))


def _check_bias(name: str, bias: Ref | None, extent: int) -> None:
    if bias is not None and bias.shape != (extent,):
        raise InvalidProblemError(f"{name}: bias has shape {bias.shape}; expected ({extent},)")


@MatmulFunction
def gemm_epilogue(
    a: Ref,
    b: Ref,
    c: Ref | None = None,
    bias: Ref | None = None,
    derivative_at: Ref | None = None,
    *,
    activation: str = "none",
    alpha: float = 1,
    beta: float = 1,
    bias_axis: int = -1,
    saved: bool = False,
) -> Request:
    """activation(alpha * (a @ b) + beta * c + bias), the product as in `matmul` of (..., m, k) and (..., k, n).

    bias runs along the result's axis -1, or -2; c broadcasts. With `derivative_at`, a tensor z of the result's shape, the
    companion (alpha * (a @ b) + ...) * activation'(z): the gradient through an activation in one pass. With `saved`, returns
    (y, z) with z what the activation is applied to.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> a, z = np.float32([[1, 2]]), np.float32([[-1, 1]])
    >>> baracuda.gemm_epilogue(a, np.eye(2, dtype=np.float32), derivative_at=z, activation="relu").tolist()
    [[0.0, 2.0]]
    """
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise InvalidProblemError(f"gemm_epilogue: shapes {a.shape} and {b.shape}; expected (..., m, k) and (..., k, n)")
    one_element("gemm_epilogue", a=a, b=b, c=c, bias=bias, derivative_at=derivative_at)
    left, right, batch = leading(a, b, 2, 2)
    if bias_axis not in (-1, -2):
        raise InvalidProblemError(f"bias_axis: {bias_axis}; expected -1 or -2")
    _check_bias("gemm_epilogue", bias, (b.shape[-1], a.shape[-2])[-1 - bias_axis])
    d = labelled(
        a, b, f"{left}mk", f"{right}kn", f"{batch}mn",
        c_shape=None if c is None else c.shape, bias_axis=None if bias is None else bias_axis, activation=activation,
        alpha=alpha, beta=beta, saves=saved, gradient=derivative_at is not None,
    )  # fmt: skip
    if derivative_at is not None and derivative_at.shape != d.y_shape:
        raise InvalidProblemError(f"gemm_epilogue: derivative_at has shape {derivative_at.shape}; expected {d.y_shape}")
    return Request(d, _given(a=0, b=1, c=None if c is None else 2, bias=None if bias is None else 3,
                             z=None if derivative_at is None else 4))  # fmt: skip


@MatmulFunction
def int_mm(a: Ref, b: Ref) -> Request:
    """The product of two matrices of 8-bit integers, s8 or u8 each, in s32, which wraps."""
    of_rank("int_mm", "(m, k) @ (k, n)", a=a, b=b)
    for name, t in (("a", a), ("b", b)):
        if t.kind not in (ElementKind.S8, ElementKind.U8):
            raise InvalidProblemError(f"int_mm: {name} has element {t.kind}; expected s8 or u8")
    return Request(labelled(a, b, "mk", "kn", "mn", element=ElementKind.S32), {"a": 0, "b": 1})


@MatmulFunction
def scaled_mm(a: Ref, b: Ref, scale_a: Ref, scale_b: Ref, bias: Ref | None = None, *, dtype: Dtype = None) -> Request:
    """(a @ b) * scale_a * scale_b + bias of quantized matrices: f8e4m3, f8e5m2 or 8-bit integers.

    The sums are taken in f32 (s32 for integers, exactly), then scaled. A scale is f32: one number, or one for each row of a,
    (m, 1), and each column of b, (1, n). dtype is the result's: by default bf16, of integers f32. bias is (n) in that dtype.
    """
    of_rank("scaled_mm", "(m, k) @ (k, n)", a=a, b=b)
    element = element_of(dtype) or (ElementKind.F32 if a.kind.is_integer else ElementKind.BF16)
    shapes = []
    for name, t in (("scale_a", scale_a), ("scale_b", scale_b)):
        allowed = ((), (1,), (1, 1), (a.shape[0], 1) if name == "scale_a" else (1, b.shape[1]))
        if t.kind is not ElementKind.F32 or t.shape not in allowed:
            raise InvalidProblemError(
                f"scaled_mm: {name} is {t.kind} of shape {t.shape}; expected f32 of shape {allowed[0]} or {allowed[-1]}"
            )
        shapes.append(t.shape)
    if bias is not None and bias.kind is not element:
        raise InvalidProblemError(f"scaled_mm: bias has element {bias.kind}; expected the result's, {element}")
    _check_bias("scaled_mm", bias, b.shape[1])
    axis = None if bias is None else -1
    d = labelled(a, b, "mk", "kn", "mn", element=element, a_scale=shapes[0], b_scale=shapes[1], bias_axis=axis)
    return Request(d, _given(a=0, b=1, a_scale=2, b_scale=3, bias=None if bias is None else 4))


@MatmulFunction
def _batched_dot(a: Ref, b: Ref, bias: Ref | None = None) -> Request:
    """The sums of a[..., o, j] * b[..., j], plus bias[o]."""
    free = _FREE[: len(b.shape) - 1]
    d = labelled(a, b, f"{free}nk", f"{free}k", f"{free}n", bias_axis=None if bias is None else -1)
    return Request(d, _given(a=0, b=1, bias=None if bias is None else 2))


@MatmulFunction
def _by_inputs(a: Ref, b: Ref) -> Request:
    """a[..., i] by weight[o, i, j]: [..., o, j]."""
    free = _FREE[: len(a.shape) - 1]
    return Request(labelled(a, b, f"{free}i", "nik", f"{free}nk"), {"a": 0, "b": 1})


_batched_dot_backward, _by_inputs_backward = MatmulBackward(_batched_dot), MatmulBackward(_by_inputs)


_BILINEAR: dict[str, str] = {"a": "*batch i : T", "b": "*batch j : T", "weight": "o i j : T", "bias": "o : T"}


@declared(**_BILINEAR)
def bilinear(a: Any, b: Any, weight: Any, bias: Any = None, *, preference: PlanPreference | None = None) -> Any:
    """The sums over i and j of a[..., i] * weight[o, i, j] * b[..., j], plus bias[o]: those over i first, rounded, then j."""
    return _batched_dot(_by_inputs(a, weight, preference=preference), b, bias, preference=preference)


@declared(**_BILINEAR, dy="*batch o : T")
def bilinear_backward(
    dy: Any, a: Any, b: Any, weight: Any, bias: Any = None, *, preference: PlanPreference | None = None
) -> tuple[Any, ...]:
    """(da, db, dweight), and dbias where there is a bias, of `bilinear`."""
    by_inputs = _by_inputs(a, weight, preference=preference)
    dmade, db, *dbias = _batched_dot_backward(dy, by_inputs, b, bias, preference=preference)
    da, dweight = _by_inputs_backward(dmade, a, weight, preference=preference)
    return (da, db, dweight, *dbias)


def _ends(offs: Any, groups: int | None, rows: int) -> list[int]:
    """Where each group of rows ends, on the host."""
    refuse("it reads offsets on the host")
    return checked_ends("grouped_mm", offs.tolist() if hasattr(offs, "tolist") else offs, groups, rows)


def _by_rows(left: Ref, right: Ref, offs: Any) -> bool:
    """Whether groups are of rows of a, and not of what is summed over."""
    ranks = len(left.shape), len(right.shape)
    if offs is None or ranks not in ((2, 3), (2, 2)):
        raise InvalidProblemError(
            f"grouped_mm: shapes {left.shape} and {right.shape} with offs={offs!r}; expected (rows, k) and (groups, k, n), or "
            "(m, rows) and (rows, n), with offs, or (b, m, k) and (b, k, n) without"
        )
    return ranks == (2, 3)


_GROUPED = {**dict.fromkeys("ab", "... or list ..."), "offs": "groups or numbers : int"}


@declared(**_GROUPED)
def grouped_mm(a: Any, b: Any, offs: Any = None, *, preference: PlanPreference | None = None) -> Any:
    """Products of groups of rows with a matrix each, as in a mixture of experts (`torch.nn.functional.grouped_mm`).

    - a (rows, k), b (groups, k, n): rows from offs[g - 1] to offs[g] of a by b[g]; the result is (rows, n), with zeros for rows
      after the last group.
    - a (m, rows), b (rows, n): the products over each group's rows; the result is (groups, m, n).
    - a and b of three axes, without offs: `bmm`.
    - lists of matrices, without offs: the list of their products.

    offs is read on the host. The groups run one after another.
    """
    if isinstance(a, (list, tuple)):
        if not isinstance(b, (list, tuple)) or offs is not None:
            raise InvalidProblemError("grouped_mm: a is a list of matrices; expected b to be one as well, and no offs")
        if len(a) != len(b):
            raise InvalidProblemError(f"grouped_mm: {len(a)} and {len(b)} matrices; expected as many")
        return [mm(x, y, preference=preference) for x, y in zip(a, b, strict=True)]
    left, right = describe(a, "a"), describe(b, "b")
    one_element("grouped_mm", a=left, b=right)
    if offs is None and len(left.shape) == len(right.shape) == 3:
        return bmm(a, b, preference=preference)
    rowwise = _by_rows(left, right, offs)
    ends = _ends(offs, right.shape[0] if rowwise else None, left.shape[0] if rowwise else left.shape[1])
    shape = (left.shape[0], right.shape[2]) if rowwise else (len(ends), left.shape[0], right.shape[1])
    y, target = output(a, shape, left.kind)
    if rowwise:
        _zeroed(target, 0, ends, a)
    for g, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
        if rowwise:
            matmul(a[low:high], b[g], out=y[low:high], preference=preference)
        else:
            matmul(a[:, low:high], b[low:high], out=y[g], preference=preference)
    return y


def _zeroed(target: TensorMut, axis: int, ends: list[int], like: Any) -> None:
    """Zeros where no group is."""
    merged([], axis, slab(target, axis, ends[-1] if ends else 0, target.shape[axis]), like)


@declared(**_GROUPED, dy="... or list ...")
def grouped_mm_backward(
    dy: Any, a: Any, b: Any, offs: Any = None, *, preference: PlanPreference | None = None
) -> tuple[Any, Any]:
    """(da, db) of `grouped_mm`; zeros for what belongs to no group."""
    if isinstance(a, (list, tuple)):
        if not isinstance(b, (list, tuple)) or not isinstance(dy, (list, tuple)) or not len(dy) == len(a) == len(b):
            raise InvalidProblemError(
                f"grouped_mm_backward: a is a list of {len(a)} matrices; expected dy and b to be one as well"
            )
        backward = MatmulBackward(mm)
        pairs = [backward(d, x, y, preference=preference) for d, x, y in zip(dy, a, b, strict=True)]
        return [p[0] for p in pairs], [p[1] for p in pairs]
    if offs is None:
        da, db = MatmulBackward(bmm)(dy, a, b, preference=preference)
        return da, db
    cotangent, left, right = describe(dy, "dy"), describe(a, "a"), describe(b, "b")
    rowwise = _by_rows(left, right, offs)
    ends = _ends(offs, right.shape[0] if rowwise else None, left.shape[0 if rowwise else 1])
    expected = (left.shape[0], right.shape[2]) if rowwise else (len(ends), left.shape[0], right.shape[1])
    if cotangent.shape != expected:
        raise InvalidProblemError(f"dy: shape is {cotangent.shape}; expected {expected}")
    if rowwise:
        da = grouped_mm(dy, _turned(b), ends, preference=preference)
        return da, grouped_mm(_turned(a), dy, ends, preference=preference)
    (da, left_target), (db, right_target) = output(a, left.shape, left.kind), output(b, right.shape, right.kind)
    _zeroed(left_target, 1, ends, a)
    _zeroed(right_target, 0, ends, b)
    for g, (low, high) in enumerate(pairwise([0, *ends])):
        matmul(dy[g], _turned(b[low:high]), out=da[:, low:high], preference=preference)
        matmul(_turned(a[:, low:high]), dy[g], out=db[low:high], preference=preference)
    return da, db


def _turned(x: Any) -> Any:
    """A view of a matrix, or of each of a batch, with its axes exchanged."""
    return x.swapaxes(-1, -2)


linear_backward, gemm_epilogue_backward = MatmulBackward(linear), MatmulBackward(gemm_epilogue)
