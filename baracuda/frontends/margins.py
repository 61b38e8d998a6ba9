"""The multilabel margin loss, forward and backward: every listed class against every other."""

from __future__ import annotations

from typing import Any

from baracuda.core.tensor import TensorRef
from baracuda.core.views import placed
from baracuda.frontends.call import describe
from baracuda.frontends.declared import declared
from baracuda.frontends.families import op as declared_op
from baracuda.frontends.ranges import check_range, checked
from baracuda.frontends.views import output, run
from baracuda.ops.declaration.words import Bounds, Reduction
from baracuda.ops.losses import multilabel_margins as m

_SCORES: dict[str, str] = {"input": "*shape : float", "target": "*shape : int"}


class _Problem:
    """Scores and targets, and how often each class is listed, as columns and as rows of pairs of classes."""

    def __init__(self, x: Any, target: Any) -> None:
        self.x, listed = describe(x, "input"), describe(target, "target")
        shape = self.x.shape
        if not shape:  # a number is the score of one class
            shape = (1,)
            self.x, listed = (placed(ref, (), 1) for ref in (self.x, listed))
        self.rank = len(shape) + 1
        (found,) = run(m.listed, {"target": listed}, x).values()
        self.listed = found
        columns, rows = self._column(self.x), self._row(self.x)
        (self.counts,) = run(m.counts, {"scores": columns, "listed": self._row(found)}, x).values()
        counted = describe(self.counts, "counts")
        across = placed(counted, (*range(self.rank - 2), self.rank - 1, self.rank - 2), self.rank)
        self.tensors = {"own": columns, "own_count": counted, "other": rows, "other_count": across}
        self.batch = shape[:-1]
        self.scale = 1.0 / shape[-1] if shape[-1] else 0.0

    def _column(self, tensor: Any) -> Any:
        return placed(describe(tensor, "x"), range(self.rank - 1), self.rank)

    def _row(self, tensor: Any) -> Any:
        return placed(describe(tensor, "x"), (*range(self.rank - 2), self.rank - 1), self.rank)


@declared(**_SCORES)
def multilabel_margin_loss(
    input: Any, target: Any, *, reduction: Reduction = "mean", bounds: Bounds = "check", out: Any = None
) -> Any:
    """sum max(0, 1 - input[j] + input[i]) / classes over the classes j that a row's target lists and all i that it does not.

    input is (..., classes), or a number, the score of one class; target, integers of the same shape, lists class indices up to
    the first negative one. A class that is listed twice counts twice, as in torch; a row that lists a class that there is not
    raises `InvalidProblemError` (on a GPU when values are next read on the host, or by `baracuda.synchronize()`), or with
    bounds="clamp", which checks nothing, gives NaN. "none" gives one loss a row; "sum" and "mean" go over the rows. The work is
    classes**2 a row; beside the result, target and how often each class is listed (f32) are held once more.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x, target = np.float32([[0.1, 0.2, 0.4, 0.8]]), np.array([[3, 0, -1, 1]])
    >>> round(float(baracuda.multilabel_margin_loss(x, target)), 4)
    0.85
    """
    problem = _Problem(input, target)
    if checked(bounds):
        check_range(problem.listed, "target", -1, problem.x.shape[-1] - 1, input)
    (rows,) = run(m.losses, problem.tensors, input, scale=problem.scale).values()
    op = declared_op("mean" if reduction == "mean" else "sum")
    axes = () if reduction == "none" else tuple(range(len(problem.batch)))
    (made,) = run(op, {"x": describe(rows, "losses")}, input, out, axis=axes, dtype=problem.x.kind).values()
    return made


def _losses(shape: tuple[int, ...], reduction: str) -> tuple[int, ...]:
    return shape[:-1] if reduction == "none" else ()


@declared(**_SCORES, dy=_losses)
def multilabel_margin_loss_backward(dy: Any, input: Any, target: Any, *, reduction: Reduction = "mean") -> Any:
    """The gradient of `multilabel_margin_loss`'s input."""
    problem = _Problem(input, target)
    given: TensorRef = describe(dy, "dy")
    rows = 1
    for n in problem.batch if reduction == "mean" else ():
        rows *= n
    shape = describe(input, "input").shape
    result, target_view = output(input, shape, problem.x.kind)
    tensors = {**problem.tensors, "dy": placed(given, range(len(given.shape)), problem.rank)}
    into = placed(target_view, range(len(shape)), problem.rank)
    run(m.slopes, tensors, input, into, scale=problem.scale / max(rows, 1))
    return result
