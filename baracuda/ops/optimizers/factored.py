"""Adafactor: second moments kept as a row and a column of means; conventions as in `baracuda.ops.optimizers.optimizers`."""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import Above, AtLeast, AtMost, Finite
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Host, NonNegative, Own, Scalar, Stored, stored_like

_EPS = {ElementKind.F16: 2.0**-10, ElementKind.BF16: 2.0**-7, ElementKind.F32: 2.0**-23, ElementKind.F64: 2.0**-52}


def _mean_square(grad: Expr) -> Expr:
    return f.mean(grad * grad)


def _moved_mean(average: Own, mean: Expr, step: Own, *, beta2_decay: Scalar = -0.8) -> Stored:
    """average + step**beta2_decay * (mean - average)."""
    old = cast(average, mean.kind)
    return stored_like(old + (mean - old) * f.pow_(cast(step, mean.kind), beta2_decay), average)


def _row_mean(row_var: Expr) -> Expr:
    return f.mean(row_var)


def _root_mean_square(x: Expr) -> Expr:
    """The root of the mean of the squares of all elements."""
    return f.sqrt(f.mean(x * x))


def _stepped(
    p: Expr, update: Expr, lr: Expr, step: Expr, threshold: Scalar, eps2: Scalar, weight_decay: Scalar | None,
    relative: bool, scaled: bool,
) -> Expr:  # fmt: skip
    """The parameter after a step of the gradient over the root of its second moment."""
    rate, t = cast(lr, p.kind), cast(step, p.kind)
    length = f.minimum(rate, 1.0 / f.sqrt(t)) if relative else rate
    if scaled:
        length = length * f.maximum(_root_mean_square(p), eps2)
    clipped = length / f.maximum(_root_mean_square(update) / threshold, 1.0)
    decayed = p if weight_decay is None else p * (1.0 - rate * weight_decay)
    return decayed - clipped * update


def _factored_step(
    param: Own, grad: Expr, row_var: Own, col_var: Own, row_mean: Own, lr: Own, step: Own, *,
    threshold: Scalar = 1.0, eps1: Host = 1e-7, eps2: NonNegative = 1e-3, weight_decay: NonNegative | None = None,
    relative: bool = True, scaled: bool = True, maximize: bool = False,
) -> Stored:  # fmt: skip
    k = grad.kind
    rows, columns, mean = cast(row_var, k), cast(col_var, k), cast(row_mean, k)
    estimate = rows * columns / f.maximum(mean, eps1)
    update = (-grad if maximize else grad) / f.sqrt(f.maximum(estimate, eps1 * eps1))
    return stored_like(_stepped(cast(param, k), update, lr, step, threshold, eps2, weight_decay, relative, scaled), param)


def _whole_step(
    param: Own, grad: Expr, variance: Own, lr: Own, step: Own, *,
    threshold: Scalar = 1.0, eps1: Host = 1e-7, eps2: NonNegative = 1e-3, weight_decay: NonNegative | None = None,
    beta2_decay: Scalar = -0.8, relative: bool = True, scaled: bool = True, maximize: bool = False,
) -> dict[str, Stored]:  # fmt: skip
    k = grad.kind
    v, t = cast(variance, k), cast(step, k)
    v = v + (grad * grad - v) * f.pow_(t, beta2_decay)
    update = (-grad if maximize else grad) / f.sqrt(f.maximum(v, eps1 * eps1))
    after = _stepped(cast(param, k), update, lr, step, threshold, eps2, weight_decay, relative, scaled)
    return {"new_param": stored_like(after, param), "new_variance": stored_like(v, variance)}


_OPTIMIZER: dict[str, Any] = {"family": "optimizer", "takes": "float", "differentiable": False}
_ALL: dict[str, Any] = {**_OPTIMIZER, "rows": True, "axis": None, "axis_option": False}
mean_square = Op(_mean_square, Rule.COMMON, name="mean_square", rows=True, keepdims=True, wide=("y",), **_OPTIMIZER)
moved_mean = Op(_moved_mean, Rule.COMMON, name="moved_mean", **_OPTIMIZER)
row_mean = Op(_row_mean, Rule.COMMON, name="row_mean", rows=True, keepdims=True, wide=("y",), **_OPTIMIZER)
factored_step = Op(_factored_step, Rule.COMMON, name="factored_step", results=("new_param",), **_ALL)
whole_step = Op(_whole_step, Rule.COMMON, name="whole_step", results=("new_param", "new_variance"), **_ALL)

_NUMBERS: dict[str, tuple[float, ...]] = dict.fromkeys(
    ("lr", "step", "beta2_decay", "threshold", "eps1", "eps2", "weight_decay"), ()
)
_Power = Annotated[float, AtMost(0), Finite()]
Least = Annotated[float, AtLeast(0), Finite()]


@composed(
    out=True,
    numbers=_NUMBERS,
    param="*shape : float",
    grad="*shape : float",
    lr="() or number",
    step="() or number",
    row_var=(lambda shape: (*shape[:-1], 1), "float"),
    col_var=(lambda shape: (*shape[:-2], 1, *shape[-1:]), "float"),
    variance="*shape : float",
)
def adafactor_step(
    do: Steps,
    param: TensorRef,
    grad: TensorRef,
    lr: Any,
    step: Any,
    row_var: Given = None,
    col_var: Given = None,
    variance: Given = None,
    *,
    beta2_decay: _Power = -0.8,
    threshold: Annotated[float, Above(0), Finite()] = 1.0,
    eps1: Least | None = None,
    eps2: Least = 1e-3,
    weight_decay: Least | None = None,
    relative: bool = True,
    scaled: bool = True,
    maximize: bool = False,
) -> Any:
    """Adafactor: a step of the gradient over the root of a second moment that is kept as a row and a column of means.

    Of a parameter (..., n, m), row_var (..., n, 1) and col_var (..., 1, m) are the moving averages of the means of grad**2 along
    the last axis and along the one before, with the weight step**beta2_decay for the new one, and the second moment of an element
    is row_var * col_var / max(mean of row_var over the rows, eps1). A parameter of one axis or none has variance, of its own
    shape, instead. With u = grad / sqrt(max(second moment, eps1**2)) and rms the root of the mean of squares of all elements,

        new_param = param * (1 - lr * weight_decay) - a * u / max(1, rms(u) / threshold)
        a = min(lr, 1 / sqrt(step)) * max(eps2, rms(param))

    without the limit 1 / sqrt(step) where relative=False, and without the last factor where scaled=False. eps1 is by default
    that of param's element. lr and step (from 1) are tensors without axes or numbers; arithmetic is in the kind that the
    gradient computes in. Returns new_param, new_row_var and new_col_var, or new_param and new_variance; `out` takes a tensor for
    each, which may be the one that it replaces: then the step is in place. Raises `InvalidProblemError` for other shapes and
    where state of the wrong sort is given. The same bits on every device: means and norms are canonical sums.

    Source: Shazeer and Stern 2018; torch.optim.Adafactor (its d is threshold).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, g, row, col = np.ones((2, 3)), np.ones((2, 3)), np.zeros((2, 1)), np.zeros((1, 3))
    >>> _ = baracuda.adafactor_step(p, g, 0.01, 1, row, col, out=(p, row, col))
    >>> p.round(4).tolist(), row.tolist()
    ([[0.99, 0.99, 0.99], [0.99, 0.99, 0.99]], [[1.0], [1.0]])
    """
    factors = len(param.shape) > 1
    expected = ("row_var", "col_var") if factors else ("variance",)
    state = {n: t for n, t in (("row_var", row_var), ("col_var", col_var), ("variance", variance)) if t is not None}
    if tuple(state) != expected:
        raise InvalidProblemError(
            f"{', '.join(state) or 'no state'}: given for a parameter of shape {param.shape}; expected {' and '.join(expected)}"
        )
    targets = do.replacing([param, *state.values()])
    words: dict[str, Any] = {
        "threshold": float(threshold), "eps1": _EPS[param.kind] if eps1 is None else float(eps1), "eps2": float(eps2),
        "weight_decay": weight_decay, "relative": relative, "scaled": scaled, "maximize": maximize,
    }  # fmt: skip
    if 0 in param.shape:
        for new, old in zip(targets, (param, *state.values()), strict=True):
            if new.pointer != old.pointer:
                do.copy(old, new)
        return tuple(targets)
    own = {"param": param, "grad": grad, "lr": lr, "step": step}
    if not factors:
        return do.run(whole_step, {**own, **state}, tuple(targets), beta2_decay=float(beta2_decay), **words)
    for (name, average), new, axis in zip(state.items(), targets[1:], (-1, -2), strict=True):
        mean = do.run(mean_square, {"grad": grad}, axis=axis)
        tensors = {"average": average, "mean": mean, "step": step}
        state[name] = do.run(moved_mean, tensors, new, beta2_decay=float(beta2_decay))
    mean = do.run(row_mean, {"row_var": state["row_var"]}, axis=-2)
    do.run(factored_step, {**own, **state, "row_mean": mean}, targets[0], **words)
    return tuple(targets)
