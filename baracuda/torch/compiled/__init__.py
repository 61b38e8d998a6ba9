"""`torch.compile(model, backend="baracuda")`: graphs of PyTorch's compiler, computed by this library.

Importing this registers the backend. What computes an op is what computes it under `baracuda.torch.reproducible()`, and the bits
are the same: `tracing` says what a graph is made of, `lowering` what becomes of it, `keys` how it draws.
"""

from baracuda.torch.compiled.backend import baracuda_backend
from baracuda.torch.compiled.reports import report

__all__ = ["baracuda_backend", "report"]
