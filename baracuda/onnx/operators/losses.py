"""Losses over classes."""

from __future__ import annotations

from typing import Any, Literal

import baracuda
from baracuda.onnx.operators.registry import Wanted, operator
from baracuda.onnx.operators.values import Tensor

_Reduction = Literal["none", "sum", "mean"]


def _options(ignore_index: int | None, reduction: str) -> dict[str, Any]:
    return {"axis": 1, "reduction": reduction, "ignore_index": -(2**30) if ignore_index is None else ignore_index}


@operator("NegativeLogLikelihoodLoss", since=12)
def nll_loss(
    x: Tensor, target: Tensor, weight: Tensor = None, *, ignore_index: int | None = None, reduction: _Reduction = "mean"
) -> Tensor:
    """`baracuda.nll_loss`."""
    return baracuda.nll_loss(x, target, weight, **_options(ignore_index, reduction))


@operator("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor = None,
    *,
    ignore_index: int | None = None,
    reduction: _Reduction = "mean",
    wanted: Wanted,
) -> Any:
    """`baracuda.cross_entropy`, and the logarithms of the probabilities."""
    loss = baracuda.cross_entropy(x, target, weight, **_options(ignore_index, reduction))
    return (loss, baracuda.log_softmax(x, axis=1)) if wanted > 1 else loss
