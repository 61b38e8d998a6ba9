"""Batch norm in inference with constant statistics: the reciprocal standard deviation is one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import baracuda
from baracuda.onnx.rewrites.rewriting import Call


def with_rstd(call: Call, constants: dict[str, Any]) -> Call | None:
    """(x - mean) * rstd * scale + bias, with rstd = 1 / sqrt(var + epsilon) computed once."""
    node = call.node
    if (node.domain, node.operator) != ("", "BatchNormalization") or node.attributes.get("training_mode") or call.captures:
        return None
    x, scale, bias, mean, var = node.inputs
    known = constants.get(var)
    if not isinstance(known, np.ndarray) or known.dtype != np.float32 or len([n for n in node.outputs if n]) > 1:
        return None
    rstd = f"{var} reciprocal deviation of {node.outputs[0]}"
    epsilon = np.float32(node.attributes.get("epsilon", 1e-5))
    constants[rstd] = baracuda.rsqrt(baracuda.add(known, epsilon))

    def run(x: Any, scale: Any, bias: Any, mean: Any, rstd: Any) -> Any:
        return baracuda.batch_norm_elemt(x, mean, rstd, scale, bias)

    return Call(replace(node, inputs=(x, scale, bias, mean, rstd)), run, False)
