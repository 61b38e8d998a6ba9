"""Muon: steps along the orthogonal factor of the momentum; conventions as in `baracuda.ops.optimizers.optimizers`."""

from __future__ import annotations

from math import sqrt
from typing import Annotated, Any, Literal

from baracuda.core.bounds import AtLeast, AtMost, Finite
from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import permuted
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Host, NonNegative, Own, Scalar, Stored, stored_like
from baracuda.ops.declaration.words import Eps, FloatElement
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.optimizers.optimizers import moved
from baracuda.ops.reductions.reductions import norm_of

#: The coefficients of Keller Jordan's quintic iteration.
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
#: Numbers of products, which follow from no number of a call.
OF_PRODUCTS = ("alpha", "alpha.im", "beta", "beta.im")
Coefficients = tuple[float, float, float]
#: Each one is three products.
Iterations = Annotated[int, AtLeast(0), AtMost(100)]
Adjustment = Literal["original", "match_rms_adamw", "none"]


def _unit(x: Expr, *, eps: Scalar = 1e-7) -> Expr:
    return x / f.maximum(norm_of(x, 2), eps)


def _momentum(
    momentum_buffer: Own, grad: Expr, *, momentum: Host = 0.95, nesterov: bool = True, maximize: bool = False
) -> dict[str, Any]:
    """The moving average of the gradient, and what is made orthogonal."""
    g = -grad if maximize else grad
    average = moved(cast(momentum_buffer, g.kind), g, momentum)
    update = moved(average, g, momentum) if nesterov else average
    return {"new_momentum_buffer": stored_like(average, momentum_buffer), "update": update}


def _step(param: Own, update: Expr, lr: Own, *, weight_decay: NonNegative = 0.1, shape_ratio: Scalar = 1.0) -> Stored:
    p, rate = cast(param, update.kind), cast(lr, update.kind)
    return stored_like(p * (1.0 - rate * weight_decay) - rate * shape_ratio * update, param)


_OPTIMIZER: dict[str, Any] = {"family": "optimizer", "takes": "float", "differentiable": False}
unit = Op(_unit, Rule.COMMON, name="unit_matrix", rows=True, axis=(-2, -1), element_option=True, **_OPTIMIZER)
muon_momentum = Op(
    _momentum, Rule.COMMON, name="muon_momentum", results=("new_momentum_buffer", "update"), wide=("update",), **_OPTIMIZER
)
muon_update = Op(_step, Rule.COMMON, name="muon_update", results=("new_param",), **_OPTIMIZER)


def _product(
    do: Steps, a: TensorRef, b: TensorRef, alpha: float, c: TensorRef | None = None, beta: float = 1.0, *, turned: bool = False
) -> Any:
    """alpha * a @ b + beta * c, of b's transpose where it is `turned`."""
    d = MatmulDescriptor.matmul(
        a.shape, b.shape, a.kind, b_transposed=turned, alpha=alpha, beta=beta, c_shape=None if c is None else c.shape
    )
    return do.plan(MatmulPlan, d, {"a": a, "b": b, "c": c})


def orthogonal(do: Steps, x: TensorRef, steps: int, coefficients: Coefficients, eps: float, element: ElementKind) -> Any:
    """The matrices of x after so many steps of the iteration, in this element."""
    first, third, fifth = coefficients
    rank = len(x.shape)
    turned = (*range(rank - 2), rank - 1, rank - 2)
    tall = x.shape[-2] > x.shape[-1]
    y = do.run(unit, {"x": permuted(x, turned) if tall else x}, dtype=element, eps=eps)
    for _ in range(steps if 0 not in x.shape else 0):
        gram = _product(do, y, y, 1.0, turned=True)
        powers = _product(do, gram, gram, fifth, gram, third)
        y = _product(do, powers, y, 1.0, y, first)
    return permuted(y, turned) if tall else y


@composed(x="... m n : float", out=True)
def muon_newton_schulz(
    do: Steps,
    x: TensorRef,
    *,
    steps: Iterations = 5,
    coefficients: Coefficients = COEFFICIENTS,
    eps: Eps = 1e-7,
    dtype: FloatElement | None = ElementKind.BF16,
) -> TensorRef:
    """Matrices made nearly orthogonal: U V^T of x = U S V^T, with singular values that `steps` iterations bring close to 1.

        X = x / max(norm(x), eps)        A = X X^T        X <- a X + (b A + c A A) X    for coefficients (a, b, c)

    of the matrices (..., m, n) along the last two axes, transposed for the iteration where m > n. Iterates are stored in `dtype`,
    bf16 as published; their products are those of `matmul` of that element, so `preferring` chooses the arithmetic (bf16: exact
    sums of integers of 23 bits, the same bits on every device), and each of the three lines is rounded once. The result has x's
    shape and element. With dtype=None iterates have x's element.

    Source: Jordan et al. 2024, "Muon"; torch.optim.Muon.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = baracuda.muon_newton_schulz(np.float32([[3, 0], [0, 2]]), dtype="f32", steps=12)
    >>> bool(0.6 < x[0, 0] < 1.3 and x[0, 1] == 0)
    True
    """
    y = do.result_like(x)
    do.copy(orthogonal(do, x, steps, coefficients, float(eps), dtype or x.kind), y)
    return y


@composed(
    out=True,
    numbers=dict.fromkeys(("lr", "momentum", "weight_decay", "eps", *OF_PRODUCTS), ()),
    param="*batch m n : float",
    grad="*batch m n : float",
    momentum_buffer="*batch m n : float",
    lr="() or number",
)
def muon_step(
    do: Steps,
    param: TensorRef,
    grad: TensorRef,
    momentum_buffer: TensorRef,
    lr: Any,
    *,
    momentum: Annotated[float, AtLeast(0), AtMost(1)] = 0.95,
    weight_decay: Annotated[float, AtLeast(0), Finite()] = 0.1,
    nesterov: bool = True,
    coefficients: Coefficients = COEFFICIENTS,
    eps: Eps = 1e-7,
    steps: Iterations = 5,
    adjust_lr: Adjustment = "original",
    dtype: FloatElement | None = ElementKind.BF16,
    maximize: bool = False,
) -> Any:
    """Muon: a step along the orthogonal factor of the momentum, for parameters that are matrices (..., m, n).

        b = momentum * momentum_buffer + (1 - momentum) * grad        u = momentum * b + (1 - momentum) * grad, or b without
        nesterov new_param = param * (1 - lr * weight_decay) - lr * r * muon_newton_schulz(u)

    with r = sqrt(max(1, m / n)), 0.2 * sqrt(max(m, n)) with adjust_lr="match_rms_adamw", or 1 with "none". lr is a tensor without
    axes or a number. Returns new_param and the new momentum_buffer b; `out` takes a tensor for each, which may be the one that it
    replaces: then the step is in place. `steps`, `coefficients`, `eps` and `dtype` are those of `muon_newton_schulz`, whose
    guarantee it has. Raises `InvalidProblemError` for fewer than two axes.

    Source: Jordan et al. 2024, "Muon"; torch.optim.Muon.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, g, b = np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), np.zeros((2, 2), np.float32)
    >>> _ = baracuda.muon_step(p, g, b, 0.1, weight_decay=0.0, out=(p, b))
    >>> bool(0.85 < p[0, 0] < 0.95)
    True
    """
    new_param, new_buffer = do.replacing([param, momentum_buffer])
    tensors = {"momentum_buffer": momentum_buffer, "grad": grad}
    _, update = do.run(muon_momentum, tensors, (new_buffer,), momentum=float(momentum), nesterov=nesterov, maximize=maximize)
    m, n = param.shape[-2:]
    ratios = {"original": sqrt(max(1.0, m / max(n, 1))), "match_rms_adamw": 0.2 * sqrt(max(m, n)), "none": 1.0}
    found = orthogonal(do, update, steps, coefficients, float(eps), dtype or param.kind)
    wide = found if param.kind is not ElementKind.F64 else in_element(do, found, param.kind)
    tensors = {"param": param, "update": wide, "lr": lr}
    do.run(muon_update, tensors, new_param, weight_decay=float(weight_decay), shape_ratio=ratios[adjust_lr])
    return new_param, new_buffer
