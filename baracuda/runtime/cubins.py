"""What is to be read in a cubin: registers and memory of its kernel, and, by NVIDIA's tools, its instructions."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from baracuda.core.errors import BackendError
from baracuda.core.kernel_info import Resources

_HEADER, _SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
#: Attributes of `.nv.info`: bytes of a function's stack frame, and its registers; and how an entry with a value of its own is
#: marked.
_FRAME_SIZE, _REGISTERS, _SIZED = 0x11, 0x2F, 0x04
#: Shared memory that the system takes of a block that has any, and the section that says so: on every GPU from sm_90 on.
_RESERVED, _RESERVES = 1024, ".nv.shared.reserved.0"


def resources(code: bytes) -> Resources:
    """What the kernel of a cubin takes."""
    headers = dict(_headers(code))
    registers, frame, shared = 0, 0, headers[".nv.shared.kernel"][5] if ".nv.shared.kernel" in headers else 0
    if shared and _RESERVES in headers:
        shared -= _RESERVED
    start, size = headers[".nv.info"][4:6]
    for attribute, value in _attributes(code[start : start + size]):
        if attribute == _REGISTERS:
            registers = max(registers, value)
        elif attribute == _FRAME_SIZE:
            frame = max(frame, value)
    return Resources(registers, shared, frame)


def _package_folders() -> list[str]:
    """Where wheels of NVIDIA put programs."""
    spec = find_spec("nvidia")
    places = spec.submodule_search_locations if spec is not None else None
    return [str(folder) for place in places or () for folder in Path(place).glob("cu*/bin")]


def _headers(code: bytes) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The sections' names and headers."""
    header = _HEADER.unpack_from(code)
    start, size, number, names = header[6], header[11], header[12], header[13]
    headers = [_SECTION.unpack_from(code, start + i * size) for i in range(number)]
    for h in headers:
        at = headers[names][4] + h[0]
        yield code[at : code.index(b"\0", at)].decode(), h


def _attributes(info: bytes) -> Iterator[tuple[int, int]]:
    """The attributes of functions that have a value."""
    at = 0
    while at + 4 <= len(info):
        kind, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if kind == _SIZED:
            if size == 8:
                yield attribute, struct.unpack_from("<II", info, at)[1]
            at += size


def disassembled(code: bytes) -> str | None:
    """The instructions of a cubin; None where neither `nvdisasm` nor `cuobjdump` is on the path or among Python's packages."""
    for tool, options in (("nvdisasm", ["-c"]), ("cuobjdump", ["-sass"])):
        executable = shutil.which(tool) or shutil.which(tool, path=os.pathsep.join(_package_folders()))
        if executable is not None:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "kernel.cubin"
                file.write_bytes(code)
                process = subprocess.run([executable, *options, str(file)], capture_output=True, text=True, check=False)
            if process.returncode:
                raise BackendError(tool, process.returncode, process.stderr.strip())
            return process.stdout
    return None
