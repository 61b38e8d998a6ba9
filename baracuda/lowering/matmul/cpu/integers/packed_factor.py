"""A factor that is packed, in the workspace, before it is multiplied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from baracuda.codegen.llvm.ir import Value
from baracuda.lowering.matmul.cpu.plan import OrientedMatmul, aligned, aligned_workspace
from baracuda.lowering.nest.cpu.kernel import Kernel


@dataclass(frozen=True)
class PackedFactor(ABC):
    """The left or the right factor, from byte `start` on, batch by batch: batches that share a factor share what it is packed
    to."""

    product: OrientedMatmul
    right: bool
    start: int

    @property
    @abstractmethod
    def batch_bytes(self) -> int:
        """Bytes of one batch."""

    @property
    def operand(self) -> int:
        (operand,) = self.product.right if self.right else self.product.left
        return operand

    @property
    def extent(self) -> int:
        """Its rows, or columns."""
        return self.product.extent(self.product.columns if self.right else self.product.rows)

    @property
    def varying(self) -> tuple[bool, ...]:
        return self.product.varying((self.operand,))

    @property
    def strides(self) -> list[int]:
        """Bytes along the batch axes."""
        return self._strides_and_size[0]

    @property
    def nbytes(self) -> int:
        return aligned(self._strides_and_size[1])

    @property
    def _strides_and_size(self) -> tuple[list[int], int]:
        strides: list[int] = []
        size = self.batch_bytes
        for axis, varies in reversed(list(zip(self.product.batch, self.varying, strict=True))):
            strides.insert(0, size if varies else 0)
            size *= self.product.extent(axis) if varies else 1
        return strides, size

    def place(self, kernel: Kernel) -> Value:
        """Where the first panel is."""
        return kernel.b.at(aligned_workspace(kernel), kernel.integer(self.start))
