"""Which way of taking exact sums an attention has, by instruction set."""

from __future__ import annotations

from baracuda.lowering.attention.cpu.integers.digits import DigitProducts
from baracuda.lowering.attention.cpu.integers.floats import FloatProducts
from baracuda.lowering.attention.cpu.integers.halves import HalfProducts
from baracuda.lowering.attention.cpu.integers.products import IntegerProducts
from baracuda.lowering.attention.cpu.work import AttentionKernel
from baracuda.lowering.matmul.cpu.integers.ways import half_tile, has_matrix_registers
from baracuda.runtime.jit import CpuTarget


def products_of(work: AttentionKernel, target: CpuTarget, bits: int) -> IntegerProducts:
    """The fastest of a target."""
    if has_matrix_registers(target):
        return DigitProducts(work, bits)
    halves = half_tile(target, bits)
    return HalfProducts(work, bits, halves) if halves is not None else FloatProducts(work, bits, target)
