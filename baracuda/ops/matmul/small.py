"""Many small products at once."""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import MathPrecision, PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import FiniteFloat, Wrt
from baracuda.ops.elementwise.binary_ops import mul
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.matmul.scales import in_math

_TENSORS: dict[str, Any] = {
    "a": "*batch m k or list ... : T real", "b": "*batch k n or list ... : T real", "c": "*batch m n or list ... : T real",
}  # fmt: skip
_BATCH = "BCDEFG"
#: A tensor, or a list of matrices.
Tensors = Any


def _product(
    do: Steps, a: TensorRef, b: TensorRef, labels: tuple[str, str, str], c: TensorRef | None, into: Any,
    preference: PlanPreference | None, **numbers: Any,
) -> TensorRef:  # fmt: skip
    """One product, of narrow floats in chains unless the preference says otherwise: libraries have no faster one."""
    batch = _BATCH[: len(a.shape) - 2]
    d = labelled(a, b, *(batch + axes for axes in labels), c_shape=None if c is None else c.shape, **numbers)
    preference = in_math(preference, MathPrecision.F32) if a.kind.compute is ElementKind.F32 else preference
    found: TensorRef = do.plan(MatmulPlan, d, {"a": a, "b": b, "c": c}, into, preference)
    return found


def _members(name: str, a: Tensors, b: Tensors, *others: Any) -> list[tuple[Any, ...]] | None:
    """The tensors of each product of lists; None where there are none."""
    given = [a, b, *(t for t in others if t is not None)]
    lists = [t for t in given if isinstance(t, (list, tuple))]
    if not lists:
        return None
    if len(lists) != len(given) or len({len(t) for t in lists}) != 1:
        counts = ", ".join(str(len(t)) if isinstance(t, (list, tuple)) else "a tensor" for t in given)
        raise InvalidProblemError(f"{name}: {counts} for a, b and the others; expected tensors, or lists of as many matrices")
    found = list(zip(*(t if t is not None else [None] * len(lists[0]) for t in (a, b, *others)), strict=True))
    for i, (x, y, *_) in enumerate(found):
        if len(x.shape) != 2 or len(y.shape) != 2:
            raise InvalidProblemError(f"{name}: shapes {x.shape} and {y.shape} at {i}; expected matrices, (m, k) and (k, n)")
    return found


@composed(out=True, numbers={"alpha": (1,), "beta": (0, 1)}, **_TENSORS)
def batched_small_gemm(
    do: Steps,
    a: Tensors,
    b: Tensors,
    c: Tensors = None,
    *,
    alpha: FiniteFloat = 1.0,
    beta: FiniteFloat = 1.0,
    preference: PlanPreference | None = None,
) -> Any:
    """alpha * (a @ b) + beta * c for many small matrices: a (..., m, k), b (..., k, n), c (..., m, n) of one element.

    Or lists of as many matrices of any shapes, (m, k), (k, n) and (m, n) each, and the result is a tuple. Each sum is one chain
    of fused multiply-adds in rising k, in f32 for 16-bit floats, unless the preference names another arithmetic or a backend:
    libraries have no faster one. With beta = 0 c is not read.

    Raises `InvalidProblemError` for shapes and elements that do not fit, and for lists of different lengths.

    Source: cublasGemmBatched; MAGMA's vbatched routines.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> a = np.float32([[[1, 2]], [[3, 4]]])
    >>> baracuda.batched_small_gemm(a, a.swapaxes(1, 2), alpha=2).tolist()
    [[[10.0]], [[50.0]]]
    >>> [y.shape for y in baracuda.batched_small_gemm([a[0], a[0].T], [a[0].T, a[1]])]
    [(1, 1), (2, 2)]
    """
    numbers = {"alpha": alpha, "beta": beta}
    members = _members("batched_small_gemm", a, b, c)
    if members is None:
        return _product(do, a, b, ("mk", "kn", "mn"), c, do.out, preference, **numbers)
    if do.out is not None:
        raise InvalidProblemError("batched_small_gemm: out; expected none for lists")
    return tuple(_product(do, x, y, ("mk", "kn", "mn"), z, None, preference, **numbers) for x, y, z in members)


@composed(numbers={"alpha": (1,), "beta": (1,)}, dy="*batch m n or list ... : float", **_TENSORS)
def batched_small_gemm_backward(
    do: Steps,
    dy: Tensors,
    a: Tensors,
    b: Tensors,
    c: Tensors = None,
    *,
    alpha: FiniteFloat = 1.0,
    beta: FiniteFloat = 1.0,
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> Any:
    """The gradients of `batched_small_gemm`'s a, b and c, those named in `wrt` or of all that are given; of lists, tuples.

    da = alpha * dy @ b.T, db = alpha * a.T @ dy, dc = beta * dy."""
    names = chosen(wrt, ("a", "b", *(() if c is None else ("c",))))

    def gradients(slope: TensorRef, x: TensorRef, y: TensorRef) -> list[TensorRef]:
        made: dict[str, TensorRef] = {}
        if "a" in names:
            made["a"] = _product(do, slope, y, ("mn", "kn", "mk"), None, None, preference, alpha=alpha)
        if "b" in names:
            made["b"] = _product(do, x, slope, ("mk", "mn", "kn"), None, None, preference, alpha=alpha)
        if "c" in names:
            made["c"] = slope if beta == 1 else do.run(mul, {"a": slope, "b": beta})
        return [made[n] for n in names]

    members = _members("batched_small_gemm_backward", a, b, dy)
    if members is None:
        return one_or_all(gradients(dy, a, b))
    rows = [gradients(slope, x, y) for x, y, slope in members]
    return one_or_all([tuple(row[i] for row in rows) for i in range(len(names))])
