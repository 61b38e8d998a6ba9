"""Products of matrices."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.registry import serves

aten = torch.ops.aten

serves(aten.mm.default)(lambda a, b: baracuda.mm(a, b))
serves(aten.bmm.default)(lambda a, b: baracuda.bmm(a, b))
serves(aten.mv.default)(lambda a, b: baracuda.mv(a, b))
serves(aten.dot.default)(lambda a, b: baracuda.dot(a, b))


@serves(aten.addmm.default)
def addmm(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return baracuda.addmm(c, a, b, beta=beta, alpha=alpha)


@serves(aten.baddbmm.default)
def baddbmm(c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return baracuda.baddbmm(c, a, b, beta=beta, alpha=alpha)
