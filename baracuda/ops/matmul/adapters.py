"""Low-rank adapters of a linear layer, one for each segment of rows (LoRA: Punica, S-LoRA).

Each sum is in the canonical order, over k and over the rank, with products rounded first; adapters are read where their number
says, so that nothing is read on the host, and a row's bits do not depend on those beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import may_share
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, slab
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, coord, select
from baracuda.formula.gathers import Table, table_extent, take
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Own, Scalar, Shape, Space, Stored
from baracuda.ops.declaration.words import FiniteFloat, Wrt
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan

_S32 = ElementKind.S32
_ADAPTERS: dict[str, Any] = {
    "y": "rows n : T float", "x": "rows k : T", "a": "adapters k rank : T", "b": "adapters rank n : T",
    "index": "count or numbers : s32 s64", "starts": "count+1 or numbers : s32 s64",
}  # fmt: skip


# --- which adapter a row has ------------------------------------------------------------------------------------------


def _segment(starts: Own, *, rows: int = 1) -> Stored:
    """How many starts are at a row or before it."""
    before = cast(starts, _S32) <= cast(coord(0), _S32)
    return Stored(f.sum_(select(before, const(1, _S32), const(0, _S32))), _S32)


def _segment_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"starts": (1,)}, {0: options["rows"]})


def _adapter(segment: Own, index: Table) -> Stored:
    """The adapter of a row in a segment, counted from 1; -1 before the first and from the last start on."""
    inside = (segment > 0) & (segment <= table_extent(index, 0, _S32))
    found = take(index, select(inside, segment - 1, 0))
    assert isinstance(found, Expr)
    return Stored(select(inside, cast(found, _S32), -1), _S32)


def _adapter_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"segment": (0,), "index": (None,)})


_OPTIONS: dict[str, Any] = {"family": "gemm", "differentiable": False}
_ROWS: dict[str, Any] = {"rows": True, "keepdims": False, **_OPTIONS}
_segment_op = Op(_segment, Rule.EACH, name="segment_of_row", takes="int", axis=1, space=_segment_space, **_ROWS)
_adapter_op = Op(_adapter, Rule.EACH, name="adapter_of_row", takes="int", space=_adapter_space, **_OPTIONS)


def _numbers(do: Steps, index: Any, starts: Any, rows: int, adapters: int) -> TensorRef:
    """The adapter of each row, s32, -1 for none."""
    if isinstance(index, TensorRef):
        do.check_indices(index, "index", IndexBound(adapters, classes=True, ignored=-1))
    elif wrong := [i for i in index if not -1 <= i < adapters]:
        raise InvalidProblemError(f"index: {wrong[0]}; expected an adapter, 0 to {adapters - 1}, or -1 for none")
    if starts is None:
        count = index.shape[0] if isinstance(index, TensorRef) else len(index)
        if count != rows:
            raise InvalidProblemError(f"index: {count} numbers without starts; expected {rows}, one for each row")
        return in_element(do, index, _S32) if isinstance(index, TensorRef) else _listed(do, index, range(rows + 1), rows)
    if not isinstance(starts, TensorRef):
        if not all(low <= high for low, high in pairwise([0, *starts])) or starts[-1] > rows:
            raise InvalidProblemError(f"starts: {starts}; expected numbers that rise from 0 on, at most to {rows}")
        if not isinstance(index, TensorRef):
            return _listed(do, index, starts, rows)
        starts = _listed(do, starts, range(len(starts) + 1), len(starts))
    if not isinstance(index, TensorRef):
        index = _listed(do, index, range(len(index) + 1), len(index))
    if 0 in (rows, index.shape[0]):
        return _listed(do, (), (0,), rows)
    segment = do.run(_segment_op, {"starts": starts}, rows=rows)
    found: TensorRef = do.run(_adapter_op, {"segment": segment, "index": index})
    return found


def _listed(do: Steps, numbers: Any, starts: Any, extent: int) -> TensorMut:
    """A vector of s32 with numbers in segments, and -1 elsewhere."""
    made = do.rows((extent,), _S32)
    do.fill(made, -1)
    for (low, high), number in zip(pairwise(starts), numbers, strict=True):
        if high > low and number != -1:
            do.fill(slab(made, 0, low, high), number)
    return made


# --- products ---------------------------------------------------------------------------------------------------------


def _dot(x: Expr, adapter: Expr, table: Table) -> Expr:
    """The sum of x[row, j] * table[adapter, i, j] over j."""
    value = take(table, f.maximum(adapter, 0))
    assert isinstance(value, Expr)
    return f.sum_(x * value)


def _shrunk(x: Own, adapter: Own, table: Table) -> Stored:
    """That sum, 0 without an adapter, in the kind that x computes in."""
    return Stored(select(adapter < 0, const(0, x.kind), _dot(x, adapter, table)), x.kind)


def _spread(x: Own, adapter: Own, table: Table, *, scale: Scalar = 1.0) -> Stored:
    """The same, times scale."""
    return Stored(select(adapter < 0, const(0, x.kind), scale * _dot(x, adapter, table)), x.kind)


def _expanded(before: Expr, x: Own, adapter: Own, table: Table, *, scale: Scalar = 1.0) -> Expr:
    """before + scale * that sum; before without an adapter."""
    return select(adapter < 0, before, before + scale * _dot(x, adapter, table))


def _by_adapter(x: Own, adapter: Own, *, adapters: int = 1, scale: Scalar = 1.0) -> Stored:
    """For each adapter scale * x[row] where the row has it, else 0."""
    return Stored(select(f.equal(adapter, cast(coord(0), _S32)), x * scale, const(0, x.kind)), x.kind)


def _along(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    read = {"before": (0, 1), "x": (0, 2), "adapter": (0,), "table": (None, 1, 2)}
    return Space({name: read[name] for name in shapes})


def _adapters_first(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({"x": (1, 2), "adapter": (1,)}, {0: options["adapters"]})


_DOTS: dict[str, Any] = {"takes": "any", "axis": 2, "space": _along, **_ROWS}
_shrunk_op = Op(_shrunk, Rule.EACH, name="shrunk_by_adapters", **_DOTS)
_spread_op = Op(_spread, Rule.EACH, name="spread_by_adapters", **_DOTS)
_expanded_op = Op(_expanded, Rule.COMMON, name="expanded_by_adapters", **_DOTS)
_by_adapter_op = Op(_by_adapter, Rule.EACH, name="rows_by_adapter", takes="any", space=_adapters_first, **_OPTIONS)


def _turned(table: TensorRef) -> Any:
    return permuted(table, (0, 2, 1))


@composed(out=True, **_ADAPTERS)
def lora_sgmv(
    do: Steps,
    y: TensorRef,
    x: TensorRef,
    a: TensorRef,
    b: TensorRef,
    index: Any,
    starts: Any = None,
    *,
    scale: FiniteFloat = 1.0,
) -> TensorRef:
    """y + scale * (x @ a[i]) @ b[i], with an adapter i of its own for each segment of rows: the shrinking and the expanding
    product of LoRA for requests of several adapters in one batch.

    y is (rows, n), x (rows, k), a (adapters, k, rank), b (adapters, rank, n), of one float element and any strides. Rows from
    starts[s] to starts[s + 1] have adapter index[s]; without starts index has one for each row. -1 stands for none: such rows,
    and those of no segment, are y's. out may be y itself. index and starts are tensors, which are not read on the host, or lists.

    The products x * a are rounded and summed in the canonical order; the sums stay in f32 (f64 of f64). Those with b are summed
    over the rank likewise, the result is multiplied by scale, y is added, each step rounded, and the whole rounded once. So a
    row's bits depend on it and on its adapter alone. It is made for decoding and for small ranks: an adapter is read once for
    each of its rows, from the cache.

    Raises `InvalidProblemError` for shapes that do not fit, an adapter that is not there (of a tensor on a GPU when the host next
    waits for the device), and a list of starts that does not rise.

    Source: Punica (Chen et al. 2023), add_lora_sgmv; vLLM's lora_shrink and lora_expand.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> y, x = np.zeros((3, 1), np.float32), np.float32([[1], [2], [3]])
    >>> a, b = np.float32([[[1]], [[10]]]), np.float32([[[1]], [[2]]])
    >>> baracuda.lora_sgmv(y, x, a, b, [1, 0], [0, 1, 3], scale=0.5).tolist()
    [[10.0], [1.0], [1.5]]
    """
    adapter = _numbers(do, index, starts, x.shape[0], a.shape[0])
    into = do.result_like(y)
    if 0 in (*a.shape, *into.shape):
        do.copy(y, into)
        return into
    shrunk = do.run(_shrunk_op, {"x": x, "adapter": adapter, "table": _turned(a)})
    tensors = {"before": y, "x": shrunk, "adapter": adapter, "table": _turned(b)}
    if may_share(into, y):  # no plan with a reduction works in place
        do.copy(do.run(_expanded_op, tensors, scale=scale), into)
    else:
        do.run(_expanded_op, tensors, into, scale=scale)
    return into


@composed(dy="rows n : T", **_ADAPTERS)
def lora_sgmv_backward(
    do: Steps,
    dy: TensorRef,
    y: TensorRef,
    x: TensorRef,
    a: TensorRef,
    b: TensorRef,
    index: Any,
    starts: Any = None,
    *,
    scale: FiniteFloat = 1.0,
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> Any:
    """The gradients of `lora_sgmv`'s y, x, a and b, those named in `wrt` or of all.

    That of y is dy. With s = dy @ b[i].T, summed as in `lora_sgmv` and kept in f32 (f64 of f64), dx = scale * (s @ a[i].T),
    da[i] = x.T @ (scale * s) and db[i] = (scale * (x @ a[i])).T @ dy; these two are products over all rows, with zeros for rows
    that have another adapter or none."""
    names = chosen(wrt, ("y", "x", "a", "b"))
    adapter = _numbers(do, index, starts, x.shape[0], a.shape[0])
    made: dict[str, Any] = {"y": dy}
    tensors = {"x": x, "a": a, "b": b}
    if 0 in (*a.shape, *dy.shape):
        made |= {n: do.filled(tensors[n].shape, y.kind, 0.0) for n in names if n != "y"}
        return one_or_all([made[n] for n in names])

    def product(wide: TensorRef, other: TensorRef, labels: tuple[str, str, str]) -> TensorRef:
        own = do.run(_by_adapter_op, {"x": wide, "adapter": adapter}, adapters=a.shape[0], scale=scale)
        d = labelled(own, other, *labels, element=y.kind)
        found: TensorRef = do.plan(MatmulPlan, d, {"a": own, "b": other}, None, preference)
        return found

    if {"x", "a"} & {*names}:
        s = do.run(_shrunk_op, {"x": dy, "adapter": adapter, "table": b})
    if "x" in names:
        made["x"] = in_element(do, do.run(_spread_op, {"x": s, "adapter": adapter, "table": a}, scale=scale), x.kind)
    if "a" in names:
        made["a"] = product(s, x, ("Bmr", "mk", "Bkr"))
    if "b" in names:
        made["b"] = product(do.run(_shrunk_op, {"x": x, "adapter": adapter, "table": _turned(a)}), dy, ("Bmr", "mn", "Brn"))
    return one_or_all([made[n] for n in names])
