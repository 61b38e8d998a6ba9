"""Running the kernels of a test's product on a CUDA device."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from baracuda.core.device import Device
from baracuda.runtime.device_memory import download, upload
from baracuda.runtime.program import Lowered
from baracuda.runtime.toolchain import toolchain_of
from tests.lowering.product_cases import Array, Product


def run(product: Product, blocks: list[Array], lowered: Lowered) -> list[Array]:
    """The blocks of the results after a kernel, whose workspace is poisoned."""
    device = Device.cuda(0)
    held = [upload(block, device) for block in blocks]
    workspace = upload(np.full(max(lowered.workspace_bytes, 1), 0xFF, np.uint8), device)
    call = toolchain_of(device).load(lowered, len(held), product.parameters)  # type: ignore[arg-type]
    addresses = [h.pointer + p.offset for h, p in zip(held, product.placements, strict=True)]
    call.call(addresses, workspace.pointer, 0)
    return [download(block) for block in held[-product.written :]]


def check_bits(product: Product, kernels: Iterable[Lowered]) -> None:
    """Every kernel gives the bits of the contract, writes nothing else, and reads nothing (NaN) that is not there."""
    blocks = product.blocks()
    wanted = product.expected(blocks)
    for lowered in kernels:
        for got, want in zip(run(product, blocks, lowered), wanted, strict=True):
            different = np.flatnonzero(got != want)
            assert not different.size, f"{lowered.schedule}: {different.size} bytes, the first at {different[0]}"
