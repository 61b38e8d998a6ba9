"""Low-rank adapters of a linear layer, one for each segment of rows (LoRA: Punica, S-LoRA)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_at, slab
from baracuda.ops.declaration.composition import Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.words import FiniteFloat, Wrt
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan

_F32 = ElementKind.F32
_ADAPTERS: dict[str, Any] = {
    "y": "rows n : T float", "x": "rows k : T", "a": "adapters k rank : T", "b": "adapters rank n : T",
    "index": "count or numbers : int", "starts": "count+1 or numbers : int",
}  # fmt: skip


def _numbers(do: Steps, values: Any) -> list[int]:
    return [int(v) for v in (do.on_host(values) if isinstance(values, TensorRef) else values)]


def _segments(do: Steps, index: Any, starts: Any, rows: int, adapters: int) -> list[tuple[int, int, int]]:
    """First and last row of each segment that has an adapter, and which; read on the host."""
    of, ends = _numbers(do, index), None if starts is None else _numbers(do, starts)
    wrong = [i for i in of if not -1 <= i < adapters]
    if wrong:
        raise InvalidProblemError(f"index: {wrong[0]}; expected an adapter, 0 to {adapters - 1}, or -1 for none")
    if ends is None:
        if len(of) != rows:
            raise InvalidProblemError(f"index: {len(of)} numbers without starts; expected {rows}, one for each row")
        changes = [i for i in range(1, rows) if of[i] != of[i - 1]]
        ends = [0, *changes, rows]
        of = [of[s] for s in ends[:-1]] if of else []
    rising = all(low <= high for low, high in pairwise([0, *ends]))
    if (len(ends) != len(of) + 1 and (of or len(ends) > 1)) or not rising or (ends and ends[-1] > rows):
        raise InvalidProblemError(f"starts: {ends}; expected {len(of) + 1} numbers that rise from 0 on, at most to {rows}")
    return [(low, high, i) for (low, high), i in zip(pairwise(ends), of, strict=True) if i >= 0 and high > low]


def _between(segments: list[tuple[int, int, int]], rows: int) -> Iterator[tuple[int, int]]:
    """The rows that no segment has."""
    at = 0
    for low, high, _ in segments:
        if low > at:
            yield at, low
        at = high
    if at < rows:
        yield at, rows


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
    preference: PlanPreference | None = None,
) -> TensorRef:
    """y + scale * (x @ a[i]) @ b[i], with an adapter i of its own for each segment of rows: the shrinking and the expanding
    product of LoRA for requests of several adapters in one batch.

    y is (rows, n), x (rows, k), a (adapters, k, rank), b (adapters, rank, n), of one float element and any strides. Rows from
    starts[s] to starts[s + 1] have adapter index[s]; without starts index has one for each row. -1 stands for none: such rows,
    and those of no segment, are y's. out may be y itself. index and starts are read on the host.

    x @ a[i] is kept in f32 (f64 of f64), its product with b[i] is summed in that, multiplied by scale, y is added, each rounded,
    and the result rounded once. Products are those of `matmul` of these elements.

    Raises `InvalidProblemError` for shapes that do not fit, an adapter that is not there, and starts that do not rise.

    Source: Punica (Chen et al. 2023), add_lora_sgmv; vLLM's lora_shrink and lora_expand.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> y, x = np.zeros((3, 1), np.float32), np.float32([[1], [2], [3]])
    >>> a, b = np.float32([[[1]], [[10]]]), np.float32([[[1]], [[2]]])
    >>> baracuda.lora_sgmv(y, x, a, b, [1, 0], [0, 1, 3], scale=0.5).tolist()
    [[10.0], [1.0], [1.5]]
    """
    into = do.result_like(y)
    segments = _segments(do, index, starts, x.shape[0], a.shape[0])
    if into.pointer != y.pointer or into.strides != y.strides:
        for low, high in _between(segments, x.shape[0]):
            do.copy(slab(y, 0, low, high), slab(into, 0, low, high))
    wide = y.kind.compute
    for low, high, i in segments:
        rows, down, up, before = slab(x, 0, low, high), axis_at(a, 0, i), axis_at(b, 0, i), slab(y, 0, low, high)
        shrunk = do.plan(
            MatmulPlan, labelled(rows, down, "mk", "kr", "mr", element=wide), {"a": rows, "b": down}, None, preference
        )
        d = labelled(shrunk, up, "mr", "rn", "mn", element=y.kind, c_shape=before.shape, alpha=scale)
        do.plan(MatmulPlan, d, {"a": shrunk, "b": up, "c": before}, slab(into, 0, low, high), preference)
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

    That of y is dy. In a segment, with s = scale * dy @ b[i].T, in f32 (f64 of f64): dx = s @ a[i].T, da[i] = x.T @ s and
    db[i] = (x @ a[i]).T @ (scale * dy). What segments of one adapter give is added in their order, in f32 (f64), and rounded
    once. Rows and adapters of no segment have zeros."""
    names = chosen(wrt, ("y", "x", "a", "b"))
    segments = _segments(do, index, starts, x.shape[0], a.shape[0])
    wide = y.kind.compute
    made: dict[str, Any] = {"y": dy} if "y" in names else {}
    if "x" in names:
        made["x"] = do.rows(x.shape, x.kind)
        for low, high in _between(segments, x.shape[0]):
            do.zero(slab(made["x"], 0, low, high))
    for name, tensor in (("a", a), ("b", b)):
        if name in names:
            made[name] = do.rows(tensor.shape, wide)
            do.zero(made[name])

    def product(left: TensorRef, right: TensorRef, labels: tuple[str, str, str], into: Any = None, **words: Any) -> TensorRef:
        kind = wide if into is None else into.kind
        before = into if words.pop("adds", False) else None
        d = labelled(left, right, *labels, element=kind, c_shape=None if before is None else before.shape, **words)
        found: TensorRef = do.plan(MatmulPlan, d, {"a": left, "b": right, "c": before}, into, preference)
        return found

    for low, high, i in segments:
        rows, slope, down, up = slab(x, 0, low, high), slab(dy, 0, low, high), axis_at(a, 0, i), axis_at(b, 0, i)
        if {"x", "a"} & {*names}:
            s = product(slope, up, ("mn", "rn", "mr"), alpha=scale)
        if "x" in names:
            product(s, down, ("mr", "kr", "mk"), slab(made["x"], 0, low, high))
        if "a" in names:
            product(rows, s, ("mk", "mr", "kr"), axis_at(made["a"], 0, i), adds=True)
        if "b" in names:
            product(
                product(rows, down, ("mk", "kr", "mr")),
                slope,
                ("mr", "mn", "rn"),
                axis_at(made["b"], 0, i),
                adds=True,
                alpha=scale,
            )
    return one_or_all([in_element(do, made[n], y.kind) for n in names])
