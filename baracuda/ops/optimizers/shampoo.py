"""Shampoo: gradients between inverse roots of sums of their outer products; conventions as in
`baracuda.ops.optimizers.optimizers`."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import Above, AtLeast, AtMost, Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Host, NonNegative, Own, Scalar, Stored, stored_like
from baracuda.ops.declaration.words import Positive
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.optimizers.muon import OF_PRODUCTS
from baracuda.ops.reductions.reductions import norm_of


def _gathered(statistic: Own, product: Expr, *, beta2: Host = 1.0, sums: bool = True) -> Stored:
    """A sum of outer products, or their moving average, with one more."""
    old = cast(statistic, product.kind)
    return stored_like(old + product if sums else old * beta2 + product * (1.0 - beta2), statistic)


def _unity(kind: ElementKind) -> Expr:
    return cast(f.equal(f.index(-1), f.index(-2)), kind)


def _started(a: Expr, *, ridge: Scalar = 1e-6, shape_power: Host = 4.0) -> dict[str, Expr]:
    """The matrix M0 = z * (A + ridge * norm(A) * I) and the root X0 = z**(1 / p) * I, z = (1 + p) / (2 * norm of that)."""
    size = norm_of(a, 2)
    identity = _unity(a.kind)
    z = 0.5 * (1.0 + shape_power) / (size + ridge * size)
    z = select(size > 0.0, z, 1.0)
    return {"matrix": (a + ridge * size * identity) * z, "root": f.pow_(z, 1.0 / shape_power) * identity}


def _between(matrix: Expr, *, shape_power: Host = 4.0) -> Expr:
    """((p + 1) * I - M) / p."""
    return (_unity(matrix.kind) * (shape_power + 1.0) - matrix) * (1.0 / shape_power)


def _buffered(update: Expr, momentum_buffer: Own | None, *, momentum: Scalar = 0.0, nesterov: bool = False) -> dict[str, Any]:
    assert momentum_buffer is not None
    moving = momentum * cast(momentum_buffer, update.kind) + update
    direction = update + momentum * moving if nesterov else moving
    return {"direction": direction, "new_momentum_buffer": stored_like(moving, momentum_buffer)}


def _step(param: Own, direction: Expr, lr: Own, *, weight_decay: NonNegative | None = None, maximize: bool = False) -> Stored:
    k = direction.kind
    p, rate = cast(param, k), cast(lr, k)
    p = p if weight_decay is None else p * (1.0 - rate * weight_decay)
    return stored_like(p + rate * direction if maximize else p - rate * direction, param)


_OPTIMIZER: dict[str, Any] = {"family": "optimizer", "takes": "float", "differentiable": False}
_MATRICES: dict[str, Any] = {**_OPTIMIZER, "rows": True, "axis": (-2, -1), "axis_option": False}
gathered = Op(_gathered, Rule.COMMON, name="gathered_products", **_OPTIMIZER)
started = Op(_started, Rule.COMMON, name="newton_start", results=("matrix", "root"), **_MATRICES)
between = Op(_between, Rule.COMMON, name="newton_between", **_OPTIMIZER)
buffered = Op(
    _buffered, Rule.COMMON, name="shampoo_momentum", results=("direction", "new_momentum_buffer"), wide=("direction",),
    **_OPTIMIZER,
)  # fmt: skip
shampoo_update = Op(_step, Rule.COMMON, name="shampoo_update", results=("new_param",), **_OPTIMIZER)


def _product(do: Steps, a: TensorRef, b: TensorRef, element: ElementKind, *, left: bool = False, right: bool = False) -> Any:
    """a @ b, `left` with the transpose of a, `right` with that of b."""
    d = MatmulDescriptor.matmul(
        a.shape, b.shape, element, a_element=a.kind, b_element=b.kind, a_transposed=left, b_transposed=right
    )
    return do.plan(MatmulPlan, d, {"a": a, "b": b})


def inverse_root(do: Steps, a: TensorRef, power: int, ridge: float, iterations: int) -> Any:
    """The matrices (A + ridge * norm(A) * I)**(-1 / power), by a coupled Newton iteration."""
    k = a.kind.compute
    matrix, root = do.run(started, {"a": a}, ridge=ridge, shape_power=float(power))
    for i in range(iterations):
        step = do.run(between, {"matrix": matrix}, shape_power=float(power))
        root = _product(do, root, step, k)
        if i == iterations - 1:
            break
        factor, done = step, 1
        while 2 * done <= power:
            factor, done = _product(do, factor, factor, k), 2 * done
        for _ in range(power - done):
            factor = _product(do, factor, step, k)
        matrix = _product(do, factor, matrix, k)
    return root


_NUMBERS: dict[str, tuple[float, ...]] = dict.fromkeys(("lr", "beta2", "ridge", "momentum", "weight_decay", *OF_PRODUCTS), ()) | {
    "beta2": (1.0,)
}
_SQUARE_LEFT, _SQUARE_RIGHT = "*batch m m : float", "*batch n n : float"


@composed(
    out=True,
    numbers=_NUMBERS,
    param="*batch m n : float",
    grad="*batch m n : float",
    lr="() or number",
    left=_SQUARE_LEFT,
    right=_SQUARE_RIGHT,
    left_root=_SQUARE_LEFT,
    right_root=_SQUARE_RIGHT,
    momentum_buffer="*batch m n : float",
)
def shampoo_step(
    do: Steps,
    param: TensorRef,
    grad: TensorRef,
    lr: Any,
    left: Given = None,
    right: Given = None,
    left_root: Given = None,
    right_root: Given = None,
    momentum_buffer: Given = None,
    *,
    beta2: Annotated[float, Above(0), AtMost(1)] = 1.0,
    ridge: Annotated[float, AtLeast(0), Finite()] = 1e-6,
    momentum: Annotated[float, AtLeast(0), AtMost(1)] = 0.0,
    weight_decay: Annotated[float, AtLeast(0), Finite()] | None = None,
    power: Positive | None = None,
    iterations: Positive = 25,
    update_roots: bool = True,
    nesterov: bool = False,
    maximize: bool = False,
) -> Any:
    """Shampoo: a step of the gradient between the inverse roots of the sums of its outer products, for matrices (..., m, n).

        L = left + G G^T, R = right + G^T G        (with beta2 < 1: moving averages, beta2 * left + (1 - beta2) * G G^T)
        U = L**(-1 / power) G R**(-1 / power)      new_param = param * (1 - lr * weight_decay) - lr * U

    left (..., m, m) and right (..., n, n), of which one may be left out, are the statistics; power is by default twice as many as
    are given (4). left_root and right_root hold the inverse roots: with update_roots=True they are computed anew and, where
    given, returned; with False those that are given serve, so that a caller recomputes them every few steps, or gives
    preconditioners of his own (and no statistics at all). Where a momentum_buffer is given, U is gathered in it as in `sgd_step`.
    Returns new_param and what replaces each of left, right, left_root, right_root and momentum_buffer that is given, in this
    order; `out` takes a tensor for each, which may be the one that it replaces.

    A root is that of A + ridge * norm(A) * I, by `iterations` coupled Newton steps in the kind that the statistics compute in:

        M = z A, X = z**(1 / p) I, z = (1 + p) / (2 norm(A)); then T = ((p + 1) I - M) / p, X <- X T, M <- T**p M

    T**p by squarings and then products by T, all of them products of that element, whose guarantee the step has. Each step
    multiplies small eigenvalues by ((p + 1) / p)**p, about e: 25 reach a ridge of 1e-6. Of statistics
    in 16 bits the ridge has to be above their rounding, or no root is found. Raises `InvalidProblemError` where
    nothing says a preconditioner.

    Source: Gupta, Koren and Singer 2018; the iteration as in Anil et al. 2020.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, g = np.eye(2, dtype=np.float32), np.float32([[3, 0], [0, 2]])
    >>> left, right = np.zeros((2, 2), np.float32), np.zeros((2, 2), np.float32)
    >>> baracuda.shampoo_step(p, g, 0.5, left, right)[0].round(3).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    statistics = {"left": left, "right": right}
    roots = {"left": left_root, "right": right_root}
    given = [n for n in statistics if (statistics[n] if update_roots else roots[n]) is not None]
    if not given:
        what = "left or right" if update_roots else "left_root or right_root, with update_roots=False"
        raise InvalidProblemError(f"shampoo_step: no preconditioner; expected {what}")
    if update_roots and any(roots[n] is not None and n not in given for n in roots):
        raise InvalidProblemError(
            "shampoo_step: a root without its statistic; expected left and right for left_root and right_root"
        )
    replaced = {"param": param, **statistics}
    replaced |= {f"{n}_root": t for n, t in roots.items()} | {"momentum_buffer": momentum_buffer}
    names = [n for n, t in replaced.items() if t is not None]
    targets = dict(zip(names, do.replacing([t for t in replaced.values() if t is not None]), strict=True))
    if 0 in param.shape:
        for n in names:
            _carried(do, replaced[n], targets[n])
        return tuple(targets.values())
    words: dict[str, Any] = {"beta2": float(beta2), "sums": beta2 == 1.0}
    found: dict[str, TensorRef] = {}
    for n, old in statistics.items():
        if old is not None:
            k = old.kind.compute
            product = _product(do, grad, grad, k, left=n == "right", right=n == "left")
            found[n] = do.run(gathered, {"statistic": old, "product": product}, targets[n], **words)
    update: TensorRef = grad
    for n in given:
        root: Any = roots[n]
        if update_roots:
            root = inverse_root(do, found[n], power or 2 * len(given), float(ridge), iterations)
            if roots[n] is not None:
                do.copy(root, targets[f"{n}_root"])
        elif root is not None:
            _carried(do, root, targets[f"{n}_root"])
        k = root.kind.compute
        update = update if update.kind.compute is k else in_element(do, update, k)
        update = _product(do, root, update, k) if n == "left" else _product(do, update, root, k)
    if momentum_buffer is not None:
        buffers = {"update": update, "momentum_buffer": momentum_buffer}
        into = (None, targets["momentum_buffer"])
        update, _ = do.run(buffered, buffers, into, momentum=float(momentum), nesterov=nesterov)
    tensors = {"param": param, "direction": update, "lr": lr}
    do.run(shampoo_update, tensors, targets["param"], weight_decay=weight_decay, maximize=maximize)
    return tuple(targets.values())


def _carried(do: Steps, old: Any, new: TensorMut) -> None:
    """What stays as it is."""
    if new.pointer != old.pointer:
        do.copy(old, new)
