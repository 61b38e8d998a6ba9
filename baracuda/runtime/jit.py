"""Machine code in this process: LLVM IR text in, function addresses out."""

from __future__ import annotations

import atexit
import ctypes
import platform
import sys
from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import llvmlite
import llvmlite.binding as llvm

from baracuda.core import locks
from baracuda.core.errors import BackendError, UnsupportedError
from baracuda.runtime.cache import cached
from baracuda.runtime.dump import dump


@dataclass(frozen=True)
class CpuTarget:
    """What code is made for: an LLVM triple, a processor, its features, and the vector width that loops are written in."""

    triple: str
    cpu: str
    features: str
    vector_bits: int

    @property
    def attributes(self) -> str:
        """Function attributes; without the first, LLVM would use 256-bit vectors on AVX-512."""
        return f'"prefer-vector-width"="{self.vector_bits}" "min-legal-vector-width"="{self.vector_bits}" nounwind'


def _vector_bits(features: dict[str, bool]) -> int:
    if all(features.get(f, False) for f in ("avx512f", "avx512bw", "avx512dq", "avx512vl")):
        return 512
    return 256 if features.get("avx2", False) else 128


def _grants_matrix_registers() -> bool:
    """Whether this process may use AMX, for which Linux must be asked: its threads then save larger states."""
    if sys.platform != "linux":
        return False
    system_call, arch_prctl, request, tile_data = ctypes.CDLL(None).syscall, 158, 0x1023, 18
    return bool(system_call(arch_prctl, request, tile_data) == 0)


@cache
def host() -> CpuTarget:
    """The processor this runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    if features.get("amx-tile", False) and not _grants_matrix_registers():
        features = llvm.FeatureMap({f: has and not f.startswith("amx-") for f, has in features.items()})
    triple = llvm.get_process_triple()
    if platform.machine().lower() in ("x86_64", "amd64") and not features.get("fma", False):
        raise UnsupportedError("this processor has no fused multiply-add; expected x86-64-v3 (Haswell) or newer")
    return CpuTarget(triple, llvm.get_host_cpu_name(), features.flatten(), _vector_bits(features))


def _machine(target: CpuTarget) -> Any:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, reloc="pic", codemodel="small"
    )


#: What is done to a module before code is made of it. Kernels are unrolled, vectorised and hoisted where they are written: of
#: LLVM's own list for -O2 these are what makes their code as fast (measured over 30 kinds of kernels), in a third of its time.
_PASSES = (
    "sroa", "simplify_cfg", "instruction_combine", "new_gvn", "loop_simplify", "lcssa", "loop_rotate", "simplify_cfg", "sccp",
    "new_gvn", "instruction_combine", "simplify_cfg", "dead_code_elimination",
)  # fmt: skip


def _optimised(ir: str, machine: Any) -> Any:
    try:
        module = llvm.parse_assembly(ir, llvm.create_context())  # one of its own, so that constants go with the module
        module.verify()
    except RuntimeError as error:
        raise BackendError("LLVM", "invalid IR", str(error)) from error
    passes = llvm.create_new_module_pass_manager()
    for name in _PASSES:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, llvm.create_pass_builder(machine, llvm.PipelineTuningOptions(speed_level=2)))
    dispose(passes)
    return module


def dispose(passes: Any) -> None:
    """Give a pass manager's memory back, up to hundreds of KB: llvmlite's own `close` finds an empty method that it inherits."""
    if type(passes)._dispose is llvm.ffi.ObjectRef._dispose:
        llvm.newpassmanagers.NewPassManager._dispose(passes)
    passes.detach()


def object_code(ir: str, target: CpuTarget) -> bytes:
    """The relocatable object that `ir` compiles to."""
    machine = _machine(target)
    code: bytes = machine.emit_object(_optimised(ir, machine))
    return code


def assembly(ir: str, target: CpuTarget) -> str:
    """The assembly that `ir` compiles to, for any target that llvmlite was built with."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = _machine(target)
    text: str = machine.emit_assembly(_optimised(ir, machine))
    return text


#: LLVM's own state cannot be renewed in a forked child, so a fork waits for who is compiling, and for llvmlite's own lock, under
#: which objects that nobody holds any more are given back.
_lock = locks.reentrant_lock()
locks.hold_during_forks(_lock)
locks.hold_during_forks(getattr(llvm.ffi.lib, "_lock", nullcontext()))
_numbers = count()  # of libraries, which need names of their own

#: Libraries that stay loaded although no program uses them; beyond it those that were asked for longest ago are unloaded.
MOST_LIBRARIES = 2048

_Key = tuple[str, CpuTarget]
_recent: OrderedDict[_Key, Any] = OrderedDict()
_loaded: WeakValueDictionary[_Key, Any] = WeakValueDictionary()  # every library that something uses, or that is recent


class Address(int):
    """The address of a function of a library, which stays loaded as long as the address is held."""

    library: Any


@cache
def _linker() -> Any:
    linker = llvm.create_lljit_compiler(_machine(host()), use_jit_link=True)
    _immortalise(linker)
    return linker


def _immortalise(holder: Any) -> None:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(holder))


def _keep_all() -> None:
    """Threads may be inside compiled code when the interpreter goes down, so nothing is unloaded from then on."""
    for library in list(_loaded.values()):
        _immortalise(library)


atexit.register(_keep_all)


def is_loaded(ir: str, target: CpuTarget) -> bool:
    """Whether `load` would return at once."""
    return (ir, target) in _loaded


def load(ir: str, names: tuple[str, ...], target: CpuTarget | None = None) -> dict[str, Address]:
    """The addresses of the functions `names` that the module `ir` defines, compiled at most once while any of them is held."""
    target = target or host()
    with _lock:
        library = _loaded.get((ir, target))
        if library is None:
            identity = "\n".join((llvmlite.__version__, str(llvm.llvm_version_info), str(_PASSES), repr(target), ir))
            code = cached("cpu", identity, lambda: object_code(ir, target))
            dump(ir, names[0], repr(target), (".ll", ".s"), lambda: assembly(ir, target))
            builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            for name in names:
                builder.export_symbol(name)
            library = _loaded[ir, target] = builder.link(_linker(), f"baracuda{next(_numbers)}")
        _recent[ir, target] = library
        _recent.move_to_end((ir, target))
        while len(_recent) > MOST_LIBRARIES:
            _recent.popitem(last=False)
        return {name: _address(library, name) for name in names}


def _address(library: Any, name: str) -> Address:
    address = Address(library[name])
    address.library = library
    return address
