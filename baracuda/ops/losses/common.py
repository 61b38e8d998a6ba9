"""What every loss has in common: how the losses of elements or rows become one number.

`reduction` is "none", "sum", "mean", or "batchmean" where a loss has it: the sum over the extent of the first axis. A loss
with weights returns them beside it (`Weighted`), and its mean is the sum of the losses over the sum of the weights. By position a
loss takes what PyTorch's takes before its size_average, which no loss here has; axis, keepdims and reduction are keywords.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from baracuda.formula import functions as f
from baracuda.formula.expr import Expr
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import IndexBound, Shape

Formula = Callable[..., Any]
Reduction: TypeAlias = Literal["none", "mean", "sum"]
REDUCTIONS: tuple[str, ...] = get_args(Reduction)


@dataclass(frozen=True)
class Weighted:
    """A loss that its weight is already in, and the weight, by whose sum the mean divides."""

    value: Expr
    weight: Expr


def _over_points(x: Expr) -> Expr:
    return f.sum_(x)


def _over_rows(x: Expr) -> Expr:
    return f.sum_rows(x)


def _declare(
    total: Callable[[Expr], Expr],
    count: Callable[[Any], Expr],
    rule: Rule,
    reduction: str,
    modes: tuple[str, ...],
    positions: tuple[str, ...] = (),
    **keywords: Any,
) -> Callable[[Formula], Op]:
    def reduced(loss: Any, mode: str) -> Any:
        if isinstance(loss, dict):
            return {**loss, "y": reduced(loss["y"], mode)}
        value = loss.value if isinstance(loss, Weighted) else loss
        if mode == "none":
            return value
        if mode == "mean":
            return total(value) / (total(loss.weight) if isinstance(loss, Weighted) else count(value.kind))
        return total(value) / f.extent(0, value.kind) if mode == "batchmean" else total(value)

    def declare(formula: Formula) -> Op:
        @functools.wraps(formula)
        def with_reduction(*tensors: Any, reduction: str = reduction, **words: Any) -> Any:
            return reduced(formula(*tensors, **words), reduction)

        signature = inspect.signature(formula)
        word = inspect.Parameter("reduction", inspect.Parameter.KEYWORD_ONLY, default=reduction, annotation=Literal[modes])
        with_reduction.__signature__ = signature.replace(parameters=[*signature.parameters.values(), word])  # type: ignore[attr-defined]
        return op(rule, rows=True, keepdims=False, positions=positions, **keywords)(with_reduction)

    return declare


def pointwise_loss(
    rule: Rule = Rule.COMMON, *, reduction: str = "mean", modes: tuple[str, ...] = REDUCTIONS, **keywords: Any
) -> Callable[[Formula], Op]:
    """Declare a loss by the formula of one element; `axis` says what a reduction runs over (by default everything).

    The formula may return a `Weighted`. The other keywords are those of `op`.
    """
    return _declare(_over_points, f.row_length, rule, reduction, modes, axis=None, rowless=True, **keywords)


def row_loss(
    rule: Rule = Rule.COMMON, *, reduction: str = "mean", modes: tuple[str, ...] = REDUCTIONS, **keywords: Any
) -> Callable[[Formula], Op]:
    """Declare a loss by the formula of one row: a value that does not vary along it. A reduction runs over all rows.

    The formula may return a `Weighted`, or results by name of which "y" is the loss. `axis` is as in `op`.
    """
    return _declare(_over_rows, f.row_count, rule, reduction, modes, **keywords)


def gradient_of_rows(dy: Expr, reduction: str, total: Expr | None = None) -> Expr:
    """The gradient of each row's loss, given that of the result; `total` is the sum of the weights, where there are any."""
    return dy / (f.row_count(dy.kind) if total is None else total) if reduction == "mean" else dy


# --- where the tensors of classification losses lie -------------------------------------------------------------------


def class_axis(rank: int) -> int:
    """The axis of the classes: the second, or the only one."""
    return 1 if rank > 1 else 0


def beside_classes(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of a tensor with one element for each row."""
    return tuple(a for a in range(rank) if a not in axes)


def class_indices(shapes: Mapping[str, Shape], options: Mapping[str, Any]) -> Sequence[tuple[str, IndexBound]]:
    """What a target of class indices must be in."""
    classes = [shapes["x"][a] for a in options["axis"]] or [1]
    return [("target", IndexBound(classes[0], classes=True, ignored=options.get("ignore_index")))]


def along_classes(rank: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of a tensor with one element for each class."""
    return axes
