"""Products of matrices."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten


def _into(a: Any, b: Any) -> dict[str, Any]:
    """Where a product of batches goes, which lies as PyTorch has it whatever a does."""
    return {} if a.is_contiguous() else {"out": a.new_empty(a.shape[0], a.shape[1], b.shape[2])}


serves(aten.mm.default)(lambda a, b: baracuda.mm(a, b))
serves(aten.bmm.default)(lambda a, b: baracuda.bmm(a, b, **_into(a, b)))
serves(aten.mv.default)(lambda a, b: baracuda.mv(a, b))
serves(aten.dot.default)(lambda a, b: baracuda.dot(a, b))


@serves(aten.addmm.default)
def addmm(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return baracuda.addmm(c, a, b, beta=beta, alpha=alpha)


@serves(aten.baddbmm.default)
def baddbmm(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return baracuda.baddbmm(c, a, b, beta=beta, alpha=alpha)


@serves(aten.addbmm.default)
def addbmm(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return baracuda.addbmm(c, a, b, beta=beta, alpha=alpha)


@serves(aten._trilinear.default)
def trilinear(a: Any, b: Any, c: Any, expand1: Any, expand2: Any, expand3: Any, sumdim: Any, unroll_dim: int = 1) -> Any:
    """The sum over some axes of the product of three tensors that are broadcast along others."""
    rank = a.ndim + len(expand1)
    letters = "abcdefghij"[:rank]
    operands = ["".join(n for i, n in enumerate(letters) if i not in e) for e in (expand1, expand2, expand3)]
    kept = "".join(n for i, n in enumerate(letters) if i not in sumdim)
    return baracuda.einsum(f"{','.join(operands)}->{kept}", a, b, c)
