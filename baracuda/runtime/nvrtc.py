"""CUDA C++ to machine code by NVRTC, which needs neither a GPU nor a driver."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from baracuda.core.errors import BackendError, UnsupportedError
from baracuda.runtime.cache import cached
from baracuda.runtime.cubins import disassembled
from baracuda.runtime.dump import dump

#: What may change the bits or the code of a cubin: no contraction, no flushing, IEEE division and square root.
OPTIONS = {
    "--std": "c++17",
    "--fmad": "false",
    "--ftz": "false",
    "--prec-div": "true",
    "--prec-sqrt": "true",
}
#: What does not: textures, surfaces and launches from kernels are left out, which takes a third off an empty kernel's time.
_QUICK = ("--minimal",)


def _nvrtc() -> Any:
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise UnsupportedError("CUDA kernels need the cuda extra: pip install 'baracuda[cuda]'") from error
    return nvrtc


def cubin(source: str, arch: str) -> bytes:
    """The machine code of a CUDA source for one architecture ("sm_90"), from the disk cache or NVRTC.

    Raises
    ------
    BackendError
        The compiler's complaint.
    UnsupportedError
        NVRTC is not installed.
    """
    version = _nvrtc().nvrtcVersion()[1:]
    identity = f"{arch} nvrtc {version} {sorted(OPTIONS.items())}\n{source}"
    code = cached("cuda", identity, lambda: compiled(source, arch))
    dump(source, "kernel", arch, (".cu", ".sass"), lambda: disassembled(code))
    return code


def cubins(sources: Sequence[str], arch: str) -> list[bytes]:
    """The machine code of several sources, compiled side by side."""
    if len(sources) < 2:
        return [cubin(source, arch) for source in sources]
    with ThreadPoolExecutor(min(len(sources), os.cpu_count() or 1)) as pool:
        return list(pool.map(lambda source: cubin(source, arch), sources))


def ptx(source: str, arch: str) -> str:
    """The PTX of a CUDA source for one architecture. Errors as for `cubin`."""
    return compiled(source, arch.replace("sm_", "compute_"), "PTX").rstrip(b"\0").decode()


#: Instructions that only one architecture has, which asks for its name with an a.
_SPECIFIC = {"sm_90": ("wgmma.", "setmaxnreg.")}


def _specific(source: str, arch: str) -> str:
    """The architecture to compile for: the very one, where the source has instructions that no later one has."""
    words = _SPECIFIC.get(arch.replace("compute_", "sm_"), ())
    return f"{arch}a" if any(word in source for word in words) else arch


def compiled(source: str, arch: str, what: str = "CUBIN") -> bytes:
    """What NVRTC makes of a source, "CUBIN" or "PTX", without the cache. Errors as for `cubin`."""
    nvrtc = _nvrtc()

    def check(answer: tuple[Any, ...], call: str) -> Any:
        status, *rest = answer
        if int(status):
            raise BackendError(call, status.name)
        return rest[0] if rest else None

    program = check(nvrtc.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], []), "nvrtcCreateProgram")
    try:
        options = [
            f"--gpu-architecture={_specific(source, arch)}",
            *(f"{name}={value}" for name, value in OPTIONS.items()),
            *_QUICK,
        ]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if int(status):
            log = b" " * check(nvrtc.nvrtcGetProgramLogSize(program), "nvrtcGetProgramLogSize")
            check(nvrtc.nvrtcGetProgramLog(program, log), "nvrtcGetProgramLog")
            raise BackendError("NVRTC", status.name, log.rstrip(b"\0 \n").decode(errors="replace"))
        code: bytes = b" " * check(getattr(nvrtc, f"nvrtcGet{what}Size")(program), f"nvrtcGet{what}Size")
        check(getattr(nvrtc, f"nvrtcGet{what}")(program, code), f"nvrtcGet{what}")
        return code
    finally:
        nvrtc.nvrtcDestroyProgram(program)
