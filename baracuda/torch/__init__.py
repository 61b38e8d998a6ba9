"""PyTorch programs on this library: the extra `torch`.

    import torch, baracuda.torch
    with baracuda.torch.reproducible():
        loss = F.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()

Every aten op of the model, forward, backward and optimizer, is computed by a function of this library; views and memory stay
PyTorch's.
"""

import sys

from baracuda.torch.library.register import install, register_ops
from baracuda.torch.mode import Reproducible, reproducible
from baracuda.torch.report import ByPyTorch, Report

install()

__all__ = ["ByPyTorch", "Report", "Reproducible", "register_ops", "reproducible"]

if "torch._dynamo" in sys.modules:  # otherwise the compiler finds the backend by its entry point, or imports it with this
    import baracuda.torch.compiled  # noqa: F401
