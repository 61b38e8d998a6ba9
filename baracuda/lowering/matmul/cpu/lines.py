"""Products whose left factor stays in a cache, its rows' elements side by side: it is read where it lies, in the tiles of a
convolution of one tap, which such a product is."""

from __future__ import annotations

from dataclasses import replace

from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.runtime.jit import CpuTarget
from baracuda.runtime.program import Lowered


def lines(c: MatmulProblem, target: CpuTarget) -> Lowered | None:
    """The program; None where blocks serve better."""
    from baracuda.lowering.convolution.cpu.tiles import in_lines, takes, tiled  # whose tiles are made of this folder's parts
    from baracuda.lowering.convolution.problem import ConvolutionProblem

    if c.bits or c.batch or len(c.a) > 1 or c.k < 1:
        return None
    (a,), (b,) = c.a, c.b
    p = ConvolutionProblem(
        batch=1, groups=1, outputs=(c.m,), inputs=(c.m,), taps=(1,), channels=c.k, columns=c.n, stride=(1,), dilation=(1,),
        low=(0,), x=replace(a, strides=(0, 0, a.strides[0], 0, a.strides[1])),
        w=replace(b, strides=(0, 0, 0, 0, 0, *b.strides)), accumulator=c.accumulator, epilogue=c.epilogue,
        operands=tuple(replace(o, strides=(0, 0, *o.strides)) for o in c.operands),
    )  # fmt: skip
    return tiled(p, target) if takes(p) and in_lines(p) else None
