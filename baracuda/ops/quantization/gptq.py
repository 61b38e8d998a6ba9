"""One block of GPTQ's sweep over columns (Frantar et al. 2022)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import slab
from baracuda.formula.expr import Axes, Expr, cast, const, fma
from baracuda.formula.gathers import Table, take
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Result, Shape, Space, Stored
from baracuda.ops.declaration.words import Eps
from baracuda.ops.quantization.groups import groups_of
from baracuda.ops.quantization.ranges import Quantized8, codes_of
from baracuda.ops.quantization.row_formulas import SCALES, code_by

_S32 = ElementKind.S32
#: How many columns one step quantizes.
_WIDTH = 4


def _entry(table: Table, row: int, column: int) -> Expr:
    value = take(table, const(row, _S32), const(column, _S32))
    assert isinstance(value, Expr)
    return value


def _step_space(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Space:
    return Space({n: (None, None) if n == "u" else (0, 1) for n in shapes})


def _stepped(
    columns: tuple[Expr, ...], u: Table, scale: Expr, zero_point: Expr | None, rest: Expr | None, rows: tuple[Expr, ...],
    low: int, high: int, element: ElementKind | None,
) -> dict[str, Result]:  # fmt: skip
    """Some columns one after another, and what is left with their errors taken off."""
    kind = columns[0].kind
    step = cast(scale, kind)
    zero = None if zero_point is None else cast(zero_point, kind)
    values, results = list(columns), dict[str, Result]()
    for i, own in enumerate(values):
        code = code_by(own, scale, zero_point, low, high)
        whole = cast(code, kind)
        y = (whole if zero is None else whole - zero) * step
        error = (own - y) / _entry(u, i, i)
        results |= {
            f"q{i}": Stored(code, element or ElementKind.S8, Axes.OUTER),
            f"y{i}": Stored(y, kind, Axes.OUTER),
            f"e{i}": Stored(error, kind, Axes.OUTER),
        }
        for j in range(i + 1, len(values)):
            values[j] = fma(-error, _entry(u, i, j), values[j])
        if rest is not None:
            rest = fma(-error, rows[i], rest)
    if rest is not None:
        results["left"] = Stored(rest, kind)
    return results


def _last(
    a: Expr, u: Table, scale: Own, b: Expr | None = None, c: Expr | None = None, d: Expr | None = None, zero_point: Own | None =
    None, *, low: int, high: int, element: ElementKind | None,
) -> dict[str, Result]:  # fmt: skip
    columns = tuple(x for x in (a, b, c, d) if x is not None)
    return _stepped(columns, u, scale, zero_point, None, (), low, high, element)


def _step(
    a: Expr, u: Table, scale: Own, rest: Expr, r0: Expr, b: Expr | None = None, c: Expr | None = None, d: Expr | None = None,
    r1: Expr | None = None, r2: Expr | None = None, r3: Expr | None = None, zero_point: Own | None = None,
    *, low: int, high: int, element: ElementKind | None,
) -> dict[str, Result]:  # fmt: skip
    columns = tuple(x for x in (a, b, c, d) if x is not None)
    rows = tuple(r for r in (r0, r1, r2, r3) if r is not None)
    return _stepped(columns, u, scale, zero_point, rest, rows, low, high, element)


@cache
def _step_op(count: int, rest: bool) -> Op:
    names = [f"{what}{i}" for i in range(count) for what in "qye"]
    return Op(
        _step if rest else _last, Rule.EACH, name=f"gptq_step_{count}{'' if rest else '_last'}", family="quantization",
        takes="float", rows=True, axis=1, axis_option=False, results=(*names, *(["left"] if rest else [])), space=_step_space,
        element_option=True, differentiable=False,
    )  # fmt: skip


def _chunks(extent: int, size: int) -> Iterator[tuple[int, int]]:
    """The first column and the number of columns of each step, which lies within a group."""
    for start in range(0, extent, size):
        stop = min(start + size, extent)
        for at in range(start, stop, _WIDTH):
            yield at, min(_WIDTH, stop - at)


@composed(weight="n block : float", hinv="block block : f32 f64", scale="? : float", zero_point="? : real", numbers={"eps": ()})
def gptq_update(
    do: Steps,
    weight: TensorRef,
    hinv: TensorRef,
    scale: Given = None,
    zero_point: Given = None,
    *,
    group_size: int = -1,
    dtype: Quantized8 = ElementKind.S8,
    symmetric: bool = True,
    quant_min: int | None = None,
    quant_max: int | None = None,
    eps: Eps = 0.0,
) -> Any:
    """One block of columns of GPTQ: each is quantized in turn, and its error taken off those after it. (q, y, errors), and
    without a scale (q, y, errors, scale, zero_point).

    weight (n, block) are columns of a weight (outputs, inputs), hinv (block, block) those rows and columns of the upper Cholesky
    factor U of the inverse Hessian. For i = 0, 1, ... with w the columns as they are by then:

        q_i = clamp(rint(w_i / scale) + zero_point, quant_min, quant_max), y_i = (q_i - zero_point) * scale
        errors_i = (w_i - y_i) / U[i, i];  w_j = fma(-errors_i, U[i, j], w_j) for all j > i

    scale and zero_point (or None) are (n, ceil(block / group_size)); -1 is one group. Where scale is not given, those of a
    group are found from its columns as they are when its first one is reached, as `quantize_per_group` finds them. Everything
    is computed in the kind that weight computes in; errors and y are in that kind, q in dtype (s8 or u8). The rest of the
    weight then is rest - errors @ hinv_rest, a product of its own.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> w, u = np.float32([[1.25, 2.125]]), np.float32([[0.5, 0.25], [0, 0.5]])
    >>> q, y, errors = baracuda.gptq_update(w, u, np.ones((1, 1), np.float32))
    >>> q.tolist(), errors.tolist()
    ([[1, 2]], [[0.5, 0.0]])
    """
    n, block = weight.shape
    kind = weight.kind.compute
    codes = codes_of(dtype, quant_min, quant_max, symmetric=symmetric and scale is None)
    groups = groups_of((n, block), group_size, 1)
    found = scale is None
    if scale is None:
        if zero_point is not None:
            raise InvalidProblemError("zero_point: given without a scale; expected both, scale alone, or neither")
        scale = do.rows(groups.counts, kind)
        zero_point = None if symmetric else do.rows(groups.counts, _S32)
        if symmetric and codes.middle:
            zero_point = do.filled(groups.counts, _S32, codes.middle)
    for name, t in (("scale", scale), ("zero_point", zero_point)):
        if t is not None and t.shape != groups.counts:
            raise InvalidProblemError(f"{name}: shape is {t.shape}; expected {groups.counts}, one for each row and group")
    if hinv.kind is not kind:
        raise InvalidProblemError(f"hinv: element is {hinv.kind}; expected {kind}, in which the weight is computed")
    q, y, errors = do.rows((n, block), codes.stored), do.rows((n, block), kind), do.rows((n, block), kind)
    left, other = do.rows((n, block), kind), do.rows((n, block), kind)
    if n and block:
        do.copy(weight, left)
    size = groups.sizes[0][1]
    for at, count in _chunks(block, size) if n else ():
        group = slice(at // size, at // size + 1)
        own = slab(scale, 1, group.start, group.stop)
        zero = None if zero_point is None else slab(zero_point, 1, group.start, group.stop)
        if found and at % size == 0:
            into = (own,) if symmetric else (own, zero)
            columns = slab(left, 1, at, min(at + size, block))
            do.run(SCALES[symmetric], {"x": columns}, into, axis=1, low=codes.low, high=codes.high, eps=eps)
        _sweep(
            do, (left, other), hinv, (at, count), own, zero, (q, y, errors),
            {"low": codes.low, "high": codes.high, "dtype": codes.stored},
        )  # fmt: skip
        left, other = other, left
    return (q, y, errors, scale, zero_point) if found else (q, y, errors)


def _sweep(
    do: Steps, weights: tuple[TensorRef, TensorRef], u: TensorRef, columns: tuple[int, int], scale: TensorRef, zero: Given,
    results: tuple[Any, ...], words: Mapping[str, Any],
) -> None:  # fmt: skip
    """One step: some columns, and those behind them from the first of two tensors into the second."""
    (left, into), (at, count) = weights, columns
    block, stop = left.shape[1], at + count
    tensors: dict[str, Any] = {name: slab(left, 1, at + i, at + i + 1) for i, name in enumerate("abcd"[:count])}
    tensors |= {"u": slab(slab(u, 0, at, stop), 1, at, stop), "scale": scale, "zero_point": zero}
    written = [slab(t, 1, at + i, at + i + 1) for i in range(count) for t in results]
    if stop < block:
        tensors |= {f"r{i}": slab(slab(u, 0, at + i, at + i + 1), 1, stop, block) for i in range(count)}
        tensors["rest"] = slab(left, 1, stop, block)
        written.append(slab(into, 1, stop, block))
    do.run(_step_op(count, stop < block), tensors, tuple(written), **words)
