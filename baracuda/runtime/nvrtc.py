"""CUDA C++ to machine code by NVRTC, which needs neither a GPU nor a driver."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from baracuda.core.errors import UnsupportedError
from baracuda.runtime.cache import cached

#: What may change the bits or the code of a cubin: no contraction, no flushing, IEEE division and square root.
OPTIONS: dict[str, Any] = {
    "std": "c++17",
    "fma": False,
    "ftz": False,
    "prec_div": True,
    "prec_sqrt": True,
    "device_as_default_execution_space": False,
}


def cubin(source: str, arch: str) -> bytes:
    """The machine code of a CUDA source for one architecture, from the disk cache or NVRTC."""
    try:
        from cuda.bindings import nvrtc
        from cuda.core import Program as Source
        from cuda.core import ProgramOptions
    except ImportError as error:
        raise UnsupportedError("CUDA kernels need the cuda extra: pip install 'baracuda[cuda]'") from error

    def build() -> bytes:
        program = Source(source, "c++", ProgramOptions(arch=arch, **OPTIONS))
        return bytes(program.compile("cubin").code)

    version = nvrtc.nvrtcVersion()[1:]
    return cached("cuda", f"{arch} nvrtc {version} {sorted(OPTIONS.items())}\n{source}", build)


def cubins(sources: Sequence[str], arch: str) -> list[bytes]:
    """The machine code of several sources, compiled side by side."""
    if len(sources) < 2:
        return [cubin(source, arch) for source in sources]
    with ThreadPoolExecutor(min(len(sources), os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda source: cubin(source, arch), sources))
