"""Nodes that are others with the same bits, once constants are known: one file a rewrite.

What a rewrite may not change is a rounding: every number that the nodes as they are written round is rounded so by those that
take their place. What follows from constants alone it computes once, by the library's own functions, in the order of those that
would compute it in each call.
"""

from baracuda.onnx.rewrites.batch_norm import with_rstd
from baracuda.onnx.rewrites.rewriting import Call, Rewrite, rewritten

#: The rewrites, in the order in which they are tried.
REWRITES: tuple[Rewrite, ...] = (with_rstd,)

__all__ = ["REWRITES", "Call", "Rewrite", "rewritten"]
