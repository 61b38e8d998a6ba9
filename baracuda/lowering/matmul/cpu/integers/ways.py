"""Which tile takes the exact sums of a block, by instruction set."""

from __future__ import annotations

from baracuda.lowering.matmul.cpu.integers.digits import DigitTile
from baracuda.lowering.matmul.cpu.integers.halves import HalfTile
from baracuda.lowering.matmul.cpu.integers.tile import FloatTile, IntegerTile
from baracuda.runtime.jit import CpuTarget


def has_matrix_registers(target: CpuTarget) -> bool:
    """Whether it has those that multiply bytes (AMX), and vectors to go with them."""
    return {"+amx-tile", "+amx-int8"} <= set(target.features.split(",")) and target.vector_bits == 512


def half_tile(target: CpuTarget, bits: int) -> HalfTile | None:
    """The tile of 16-bit halves, where a target has instructions for it (VNNI)."""
    features = target.features.split(",")
    if target.vector_bits == 512 and "+avx512vnni" in features:
        return HalfTile(bits, 8, 3, 512)
    return HalfTile(bits, 4, 3, 256) if target.vector_bits == 256 and "+avxvnni" in features else None


def tile_of(target: CpuTarget, bits: int, rows: int, depth: int, flipped: bool) -> IntegerTile:
    """The fastest tile of a target for so many rows and steps of k. `flipped`: more elements lie as a tile wants them if the
    right factor gives the rows."""
    if has_matrix_registers(target):
        return DigitTile(bits, depth, rows, flipped)
    halves = half_tile(target, bits)
    if halves is not None:
        return halves
    many = target.vector_bits == 512 or target.triple.startswith(("aarch64", "arm64"))
    return FloatTile(bits, 8 if many else 4, 3, target.vector_bits)
