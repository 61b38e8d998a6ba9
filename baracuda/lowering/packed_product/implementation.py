"""The generated backends of products with packed weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.implementation import Executable, Layout
from baracuda.core.sku import MathPrecision
from baracuda.lowering.executables import EmptyExecutable, executable
from baracuda.lowering.generated import GeneratedImplementation
from baracuda.lowering.packed_product.problem import PackedProduct


class PackedProductImplementation(GeneratedImplementation):
    """Kernels of one product on one device; `describe` gives the problem for a layout of the plan's tensors."""

    def __init__(self, device: Device, describe: Callable[[Layout], PackedProduct]) -> None:
        super().__init__(device, ElementKind.F32)
        self.guarantee = replace(self.guarantee, math=MathPrecision.INT15)
        self.describe = describe

    def make(self, layout: Layout, compiled_only: bool, autotune: bool) -> Executable | None:
        problem = self.describe(layout)
        c = problem.product
        if not c.m or not c.n:
            return EmptyExecutable()
        present = [i for i, o in enumerate(layout) if o is not None]
        pick = None if len(present) == len(layout) else (lambda pointers: [pointers[i] for i in present])
        groups = -(-c.k // problem.group) if c.k else 1
        row_bytes, chunk = problem.coding.row_bytes(c.k), problem.coding.chunk
        codes = (row_bytes // chunk, chunk) if chunk else (row_bytes,)
        weights = ((c.n, *codes), (c.n, groups), (c.n, groups))
        shapes: list[tuple[int, ...]] = [(c.m, c.k), *weights[: len(c.b)], *[(c.m, c.n)] * len(c.operands)]
        return executable(
            self.device, problem, [], len(c.tensors), way=self.way, autotune=autotune, pick=pick, compiled_only=compiled_only,
            extents=lambda: list(zip(shapes, c.tensors, strict=True)),
        )  # fmt: skip
