"""Short rows, two at a time: each thread of a GPU then waits for two loads at once. The formulas and the bits are those of one.

8192 x 8192 elements in groups of 128 to s8 (H200, 2026-11-23): f32 98 us by one row, 83 by two, bf16 69 and 63.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import view
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Result, Scalar
from baracuda.ops.quantization import pair_formulas, row_formulas
from baracuda.ops.quantization.pair_formulas import PAIRS, Floats
from baracuda.ops.quantization.row_formulas import FLOAT_ROWS, INTERNAL, ROWS, THREE, TWO

#: Elements of a row from which on one has loads enough.
_LONG = 1024
_ROWS: dict[str, Any] = {**INTERNAL, "rows": True, "keepdims": True}


def _both(first: dict[str, Result], second: dict[str, Result]) -> dict[str, Result]:
    return {**first, **{f"{name}_2": value for name, value in second.items()}}


def _symmetric(x: Expr, x_2: Expr, *, low: int, high: int, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    words: dict[str, Any] = {"low": low, "high": high, "eps": eps, "element": element}
    return _both(row_formulas.symmetric_rows(x, **words), row_formulas.symmetric_rows(x_2, **words))


def _affine(x: Expr, x_2: Expr, *, low: int, high: int, eps: Scalar = 0.0, element: ElementKind | None) -> dict[str, Result]:
    words: dict[str, Any] = {"low": low, "high": high, "eps": eps, "element": element}
    return _both(row_formulas.affine_rows(x, **words), row_formulas.affine_rows(x_2, **words))


def _symmetric_words(x: Expr, x_2: Expr, *, low: int, high: int, floats: Floats, eps: Scalar = 0.0) -> dict[str, Result]:
    words: dict[str, Any] = {"low": low, "high": high, "eps": eps, "floats": floats}
    return _both(pair_formulas.symmetric_words(x, **words), pair_formulas.symmetric_words(x_2, **words))


def _affine_words(x: Expr, x_2: Expr, *, low: int, high: int, floats: Floats, eps: Scalar = 0.0) -> dict[str, Result]:
    words: dict[str, Any] = {"low": low, "high": high, "eps": eps, "floats": floats}
    return _both(pair_formulas.affine_words(x, **words), pair_formulas.affine_words(x_2, **words))


def _floats(
    x: Expr, x_2: Expr, *, power_of_two: bool = False, eps: Scalar = 0.0, element: ElementKind | None
) -> dict[str, Result]:
    words: dict[str, Any] = {"power_of_two": power_of_two, "eps": eps, "element": element}
    return _both(row_formulas.float_rows(x, **words), row_formulas.float_rows(x_2, **words))


def _results(names: tuple[str, ...]) -> tuple[str, ...]:
    return (*names, *(f"{n}_2" for n in names))


#: By the op of one row that of two.
_OF_TWO = {
    FLOAT_ROWS: Op(_floats, Rule.EACH, name="two_float_rows", takes="float", results=_results(TWO), element_option=True, **_ROWS),
    ROWS[True]: Op(
        _symmetric, Rule.EACH, name="two_symmetric_rows", takes="float", results=_results(TWO), element_option=True, **_ROWS
    ),
    ROWS[False]: Op(
        _affine, Rule.EACH, name="two_affine_rows", takes="float", results=_results(THREE), element_option=True, **_ROWS
    ),
    PAIRS[True, True]: Op(_symmetric_words, Rule.EACH, name="two_symmetric_words", takes="int", results=_results(TWO), **_ROWS),
    PAIRS[False, True]: Op(_affine_words, Rule.EACH, name="two_affine_words", takes="int", results=_results(THREE), **_ROWS),
}


def _every_other(t: TensorRef, axis: int, first: int) -> Any:
    shape, strides = list(t.shape), list(t.strides)
    shape[axis] //= 2
    strides[axis] *= 2
    return view(t, first * t.strides[axis], shape, strides)


def run_rows(do: Steps, op: Op, tensors: Mapping[str, Any], into: tuple[Any, ...], axis: tuple[int, ...], **words: Any) -> None:
    """The results of rows, which lie along one axis or several behind the one that counts them."""
    x = tensors["x"]
    before = axis[0] - 1
    if op not in _OF_TWO or len(axis) > 1 or x.shape[before] % 2 or x.shape[axis[0]] >= _LONG:
        do.run(op, tensors, into, axis=axis, **words)
        return
    both = {"x": _every_other(x, before, 0), "x_2": _every_other(x, before, 1)}
    do.run(_OF_TWO[op], both, tuple(_every_other(t, before, i) for i in (0, 1) for t in into), axis=axis, **words)
