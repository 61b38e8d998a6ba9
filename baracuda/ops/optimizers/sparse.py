"""Steps of the rows of a table that an index names: embeddings; conventions as in `baracuda.ops.optimizers.optimizers`.

Rows that the index does not name stay as they are, bit for bit, and their state too. Gradients of one row that stand at several
places of the index are added first, in the canonical order over the places, in the kind that they compute in; with unique=True
the caller says that no row is named twice, and nothing is sorted.
"""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, select
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Decay, IndexBound, NonNegative, Own, Stored, WholeScalar
from baracuda.ops.declaration.words import Bounds, Eps
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.indexing.indexing import index_select
from baracuda.ops.indexing.moves import move
from baracuda.ops.indexing.places import Places
from baracuda.ops.indexing.scatter import ScatterDescriptor, ScatterKind, ScatterPlan
from baracuda.ops.optimizers.factored import Least
from baracuda.ops.optimizers.optimizers import bias_correction, decayed, descent, moved, replaced
from baracuda.ops.sorting.rows import in_order
from baracuda.ops.sorting.searches import search


def _counted(index: Expr, *, shape_rows: WholeScalar = 0) -> Stored:
    wide = cast(index, ElementKind.S64)
    return Stored(select(wide < const(0, wide.kind), wide + shape_rows, wide), ElementKind.S64)


def _sparse_adam(
    param: Own, grad: Expr, exp_avg: Own, exp_avg_sq: Own, lr: Own, step: Own, *,
    beta1: Decay = 0.9, beta2: Decay = 0.999, eps: NonNegative = 1e-8, maximize: bool = False,
) -> dict[str, Stored]:  # fmt: skip
    p, g = descent(param, grad, None, maximize=maximize)
    k, t = g.kind, cast(step, g.kind)
    m, v = moved(cast(exp_avg, k), g, beta1), decayed(cast(exp_avg_sq, k), g * g, beta2)
    length = cast(lr, k) * f.sqrt(bias_correction(beta2, t)) / bias_correction(beta1, t)
    updated = {"new_param": p - length * (m / (f.sqrt(v) + eps)), "new_exp_avg": m, "new_exp_avg_sq": v}
    return replaced(updated, param=param, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq)


def _rowwise_adagrad(
    param: Own, grad: Expr, state_sum: Own, lr: Own, *,
    eps: NonNegative = 1e-8, weight_decay: NonNegative | None = None, decoupled: bool = False, maximize: bool = False,
) -> dict[str, Stored]:  # fmt: skip
    p, g = descent(param, grad, None if decoupled else weight_decay, maximize=maximize)
    rate = cast(lr, g.kind)
    if decoupled and weight_decay is not None:
        p = p * (1.0 - rate * weight_decay)
    total = cast(state_sum, g.kind) + f.mean(g * g)
    updated = {"new_param": p - rate / (f.sqrt(total) + eps) * g, "new_state_sum": total}
    return replaced(updated, param=param, state_sum=state_sum)


_OPTIMIZER: dict[str, Any] = {"family": "optimizer", "takes": "float", "differentiable": False}
counted = Op(_counted, Rule.COMMON, name="counted_from_zero", **{**_OPTIMIZER, "takes": "int"})
sparse_adam = Op(
    _sparse_adam, Rule.COMMON, name="sparse_adam_rows", results=("new_param", "new_exp_avg", "new_exp_avg_sq"), **_OPTIMIZER
)
rowwise_adagrad = Op(
    _rowwise_adagrad, Rule.COMMON, name="rowwise_adagrad_rows", results=("new_param", "new_state_sum"), rows=True, keepdims=True,
    **_OPTIMIZER,
)  # fmt: skip


class Rows:
    """The rows of tables that an index names, and their gradients."""

    def __init__(self, do: Steps, table: TensorRef, index: TensorRef, grad: TensorRef, unique: bool, bounds: str) -> None:
        if bounds == "check":
            do.check_indices(index, "index", IndexBound(table.shape[0], wrap=True))
        self.do, count = do, index.shape[0]
        self.index: TensorRef = do.run(counted, {"index": index}, shape_rows=table.shape[0])
        self.grad = grad
        if unique or count < 2:
            return
        wide = in_element(do, grad, grad.kind.compute)
        group = search(do, in_order(do, self.index, 0, "values"), self.index)
        d = ScatterDescriptor(ScatterKind.SUM, grad.shape, 0, index.shape, wide.kind, group.kind)
        sums = do.plan(ScatterPlan, d, {"index": group, "x": wide})
        self.grad = do.run(index_select, {"x": sums, "index": group})

    def of(self, table: TensorRef) -> Any:
        """The named rows of a table."""
        return self.do.run(index_select, {"x": table, "index": self.index})

    def put(self, rows: TensorRef, table: TensorMut) -> None:
        """Rows in the places of the named ones; those of one row are all the same."""
        Places(self.index, (0,), wrap=False).write(self.do, table, rows)


_ROWS: dict[str, Any] = {
    "param": "rows *row : float", "index": "places : s32 s64", "lr": "() or number", "step": "() or number",
}  # fmt: skip


def _carried(do: Steps, old: list[TensorRef], new: list[Any]) -> None:
    """Rows that are not named stay as they are."""
    for a, b in zip(old, new, strict=True):
        move(do, a, b)


@composed(
    out=True,
    numbers=dict.fromkeys(("lr", "step", "beta1", "beta2", "eps"), ()),
    grad="places *row : float",
    exp_avg="rows *row : float",
    exp_avg_sq="rows *row : float",
    **_ROWS,
)
def sparse_adam_step(
    do: Steps,
    param: TensorRef,
    index: TensorRef,
    grad: TensorRef,
    exp_avg: TensorRef,
    exp_avg_sq: TensorRef,
    lr: Any,
    step: Any,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: Eps = 1e-8,
    unique: bool = False,
    maximize: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """Adam of the rows of param that index names, whose gradients are the rows of grad; all other rows and their state stay.

        new_param = param - lr * sqrt(1 - beta2**step) / (1 - beta1**step) * m / (sqrt(v) + eps)

    with m and v the moving averages of the row's gradient and of its square. param, exp_avg and exp_avg_sq are (rows, ...), index
    is (places), of s32 or s64, negative from the end, and grad (places, ...). A row that is named several times has the sum of
    its gradients, in the canonical order over the places, unless unique=True says that there is none. lr and step (from 1) are
    tensors without axes or numbers. Returns new_param, new_exp_avg and new_exp_avg_sq; `out` takes a tensor for each, which may
    be the one that it replaces: then the cost is that of the named rows. An index out of range raises `InvalidProblemError` (on a
    GPU when the host next waits for the device); bounds="clamp" spares the check. The same bits on every device.

    Source: torch.optim.SparseAdam.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, m, v = np.ones((3, 2)), np.zeros((3, 2)), np.zeros((3, 2))
    >>> _ = baracuda.sparse_adam_step(p, np.array([2, 0, 2]), np.ones((3, 2)), m, v, 0.5, 1, out=(p, m, v))
    >>> p.round(3).tolist(), m[:, 0].round(3).tolist()
    ([[0.5, 0.5], [1.0, 1.0], [0.5, 0.5]], [0.1, 0.0, 0.2])
    """
    old = [param, exp_avg, exp_avg_sq]
    new = do.replacing(old)
    if 0 in grad.shape:
        _carried(do, old, new)
        return tuple(new)
    rows = Rows(do, param, index, grad, unique, bounds)
    state = {n: rows.of(t) for n, t in zip(("param", "exp_avg", "exp_avg_sq"), old, strict=True)}
    words: dict[str, Any] = {"beta1": float(beta1), "beta2": float(beta2), "eps": float(eps), "maximize": maximize}
    stepped = do.run(sparse_adam, {**state, "grad": rows.grad, "lr": lr, "step": step}, **words)
    _carried(do, old, new)
    for found, target in zip(stepped, new, strict=True):
        rows.put(found, target)
    return tuple(new)


@composed(
    out=True,
    numbers=dict.fromkeys(("lr", "eps", "weight_decay"), ()),
    grad="count *row : float",
    state_sum="rows : float",
    **{n: p for n, p in _ROWS.items() if n != "step"},
)
def rowwise_adagrad_step(
    do: Steps,
    param: TensorRef,
    grad: TensorRef,
    state_sum: TensorRef,
    lr: Any,
    index: Given = None,
    *,
    eps: Eps = 1e-8,
    weight_decay: Least | None = None,
    decoupled: bool = False,
    unique: bool = False,
    maximize: bool = False,
    bounds: Bounds = "check",
) -> Any:
    """Adagrad with one number of state for each row: of param (rows, ...) with state_sum (rows),

        new_state_sum = state_sum + mean(grad**2) of the row        new_param = param - lr / (sqrt(new_state_sum) + eps) * grad

    weight_decay * param is added to the gradient before, or with decoupled=True param is multiplied by 1 - lr * weight_decay.
    With an index (places), of s32 or s64, negative from the end, grad is (places, ...) and only the rows that it names take the
    step; a row that is named several times has the sum of its gradients, in the canonical order over the places, unless
    unique=True says that there is none. Without one grad has the shape of param. lr is a tensor without axes or a number. Returns
    new_param and new_state_sum; `out` takes a tensor for each, which may be the one that it replaces. An index out of range
    raises `InvalidProblemError` (on a GPU when the host next waits for the device); bounds="clamp" spares the check. The same
    bits on every device.

    Source: FBGEMM's row-wise Adagrad (EXACT_ROWWISE_ADAGRAD).

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, s = np.ones((2, 2)), np.zeros(2)
    >>> _ = baracuda.rowwise_adagrad_step(p, np.array([[3.0, 4.0]]), s, 0.1, np.array([1]), out=(p, s))
    >>> s.tolist(), p[0].tolist(), p[1].round(3).tolist()
    ([0.0, 12.5], [1.0, 1.0], [0.915, 0.887])
    """
    expected = param.shape if index is None else (index.shape[0], *param.shape[1:])
    if grad.shape != expected:
        raise InvalidProblemError(f"grad: shape is {grad.shape}; expected {expected}")
    new_param, new_sum = do.replacing([param, state_sum])
    if 0 in grad.shape:
        _carried(do, [param, state_sum], [new_param, new_sum])
        return new_param, new_sum
    wide_param, wide_sum = (_with_rows(t, len(param.shape)) for t in (param, state_sum))
    words: dict[str, Any] = {"eps": float(eps), "weight_decay": weight_decay, "decoupled": decoupled, "maximize": maximize}
    words["axis"] = tuple(range(1, len(wide_param.shape)))
    if index is None:
        tensors = {"param": wide_param, "grad": _with_rows(grad, len(param.shape)), "state_sum": wide_sum, "lr": lr}
        _, total = do.run(rowwise_adagrad, tensors, (_with_rows(new_param, len(param.shape)),), **words)
        move(do, total, _with_rows(new_sum, len(param.shape)))
        return new_param, new_sum
    rows = Rows(do, param, index, grad, unique, bounds)
    tensors = {"param": rows.of(wide_param), "grad": _with_rows(rows.grad, len(param.shape)), "lr": lr}
    found, total = do.run(rowwise_adagrad, {**tensors, "state_sum": rows.of(wide_sum)}, **words)
    _carried(do, [param, state_sum], [new_param, new_sum])
    rows.put(found, _with_rows(new_param, len(param.shape)))
    rows.put(total, _with_rows(new_sum, len(param.shape)))
    return new_param, new_sum


def _with_rows(tensor: TensorRef, rank: int) -> Any:
    """A tensor with as many axes as a table of this rank has, and one behind its rows at least."""
    more = max(rank, 2) - len(tensor.shape)
    return view(tensor, 0, (*tensor.shape, *(1,) * more), (*tensor.strides, *(0,) * more))
