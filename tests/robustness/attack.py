"""One call under attack: made twice next to protected memory over two patterns of bytes, and everything that must hold of it.

no access outside of a tensor           the process would end (`guarded`)
no result of bytes that nobody wrote    two calls whose fresh memory holds different patterns give the same bytes
no write beside a tensor                the bytes around it keep their pattern
inputs keep their bytes                 unless the function writes them
an error has a name                     `baracuda.Error`, and nothing has been written
"""

from __future__ import annotations

import traceback
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import baracuda
from baracuda.core import workspace
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.frontends import call_replay
from baracuda.runtime import memory
from tests.robustness import guarded
from tests.robustness.changes import Alias, changed
from tests.robustness.results import flattened
from tests.robustness.samples import IN_PLACE, Call, Sample

Array = np.ndarray[Any, Any]
#: What fresh memory holds: a NaN of every float and -1 of every integer, and a small number.
PATTERNS = (0xFF, 0x3C)
_PACKAGE = str(Path(baracuda.__file__).parent)


#: Called while an error is handled, to show it.
SHOWN: Callable[[], Any] | None = None


class _Poison:
    """What memory the library allocates holds, and where it lies."""

    low, fill = False, PATTERNS[0]


_allocated, _scratch = memory.empty, workspace.ALLOCATORS[DeviceKind.CPU]


def _empty(shape: tuple[int, ...], kind: ElementKind) -> Array:
    nbytes = kind.itemsize * int(np.prod(shape, dtype=object))
    if not 0 <= nbytes <= guarded.LARGEST:
        return _allocated(shape, kind)
    return guarded.empty(shape, kind.numpy, low=_Poison.low, fill=_Poison.fill)


def _scratch_memory(nbytes: int, device: Device) -> Array:
    if nbytes > guarded.LARGEST - workspace.ALIGNMENT:
        return np.asarray(_scratch(nbytes, device))
    size = -(-nbytes // 64) * 64  # workspaces are aligned; what is asked for ends less than a vector before the protected page
    return guarded.empty((size,), np.uint8, low=_Poison.low, fill=_Poison.fill)[:nbytes]


def install() -> None:
    """Give the library guarded memory that holds a pattern, in this process."""
    memory.empty = _empty
    workspace.ALLOCATORS[DeviceKind.CPU] = _scratch_memory
    warnings.simplefilter("error")


@dataclass
class Outcome:
    """What became of a call: "result", or the name of its error; and what is wrong with it."""

    sample: str
    seed: int
    changes: list[str]
    outcome: str
    wrong: list[str] = field(default_factory=list)
    detail: str = ""


@dataclass
class _Held:
    """The block of a tensor, by the name of the argument, and whether the call writes it."""

    name: str
    block: guarded.Block
    written: bool


@dataclass
class _Laid:
    """A call whose tensors lie in guarded memory, and the blocks that they lie in."""

    call: Call
    blocks: list[_Held]

    def contents(self) -> list[bytes]:
        return [held.block.contents() for held in self.blocks]


class _Layer:
    """Moves the tensors of a call into guarded memory, each once."""

    def __init__(self, low: bool, torch: bool) -> None:
        self.low, self.torch = low, torch
        self.known: dict[int, tuple[Array, guarded.Block]] = {}
        self.blocks: list[_Held] = []

    def place(self, value: Any, name: str, writable: bool) -> Any:
        if isinstance(value, Alias):
            return self._alias(value)
        if type(value) in (list, tuple):
            return type(value)(self.place(v, f"{name}[{i}]", writable) for i, v in enumerate(value))
        if type(value) is not np.ndarray or value.dtype.hasobject or value.nbytes > guarded.LARGEST // 2:
            return value
        known = self.known.get(id(value))
        if known is None:
            copy, block = guarded.moved(value, low=self.low, fill=_Poison.fill)
            copy.flags.writeable = value.flags.writeable
            known = self.known[id(value)] = copy, block
            self.blocks.append(_Held(name, block, writable))
        elif writable:
            next(b for b in self.blocks if b.block is known[1]).written = True
        return self._of_torch(known[0]) if self.torch else known[0]

    def _alias(self, alias: Alias) -> Any:
        """The memory of another tensor of the call, or part of it, as something to write."""
        known = self.known.get(id(alias.of))
        if known is None:
            return None
        x, block = known
        next(b for b in self.blocks if b.block is block).written = True
        if alias.shift == 0 or x.size < 2 or not x.flags.c_contiguous:
            return x
        return block.array((x.size - 1,), x.dtype, x.itemsize if alias.shift > 0 else 0)

    @staticmethod
    def _of_torch(x: Array) -> Any:
        import torch

        if x.dtype.kind not in "fiubc" or min(x.strides, default=0) < 0 or not x.flags.writeable or x.dtype.byteorder == ">":
            return x
        try:
            return torch.from_numpy(x)
        except TypeError:
            return x


def _laid(call: Call, *, low: bool, torch: bool) -> _Laid:
    layer = _Layer(low, torch)
    name = call.name.removeprefix("plan of ")
    inner = IN_PLACE.get(name, ())
    arguments = [layer.place(a, str(i), i == 0 and bool(inner)) for i, a in enumerate(call.arguments)]
    keywords = {k: layer.place(v, k, k in call.written or k in inner or k == "out") for k, v in call.keywords.items()}
    return _Laid(replace(call, arguments=arguments, keywords=keywords), layer.blocks)


def _bytes(value: Any) -> tuple[Any, ...]:
    contents: list[Any] = []
    for v in flattened(value):
        if type(v).__module__.partition(".")[0] == "torch":
            import torch

            v = (
                v.detach().resolve_conj().resolve_neg().contiguous().view(-1).view(torch.uint8).numpy()
                if v.numel()
                else v.numpy()
            )
        if isinstance(v, np.ndarray | np.generic):
            contents.append((v.dtype.str, v.shape, v.tobytes()))
        else:
            contents.append(type(v).__name__)
    return tuple(contents)


def _innermost(error: BaseException) -> str:
    """Where in the package an error comes from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(_PACKAGE)]
    if not frames:
        return "the call itself"
    last = frames[-1]
    return f"{last.filename.removeprefix(_PACKAGE)[1:]}:{last.lineno} {last.name}"


#: Functions whose results' elements may be anything.
ANY_VALUES = frozenset(["empty", "empty_like"])


def attack(sample: Sample, seed: int) -> Outcome:
    """Change a sample by a seed, call it, and say what was wrong."""
    rng = Random(f"{sample.name}/{seed}")
    # Which side is protected decides the alignment, and so the kernel: most calls of a sample share one.
    low = (zlib.crc32(sample.name.encode()) % 2 == 0) != (rng.random() < 0.04)
    torch = rng.random() < 0.02
    _Poison.low, _Poison.fill = low, PATTERNS[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = changed(rng, sample.make())
    outcome = Outcome(sample.name, seed, call.changes, "result")
    values: list[Any] = []
    for fill in PATTERNS:
        _Poison.fill = fill
        call_replay._local.__dict__.clear()  # the thread's own workspace, so that each call has one of its very size
        values.append(_once(call, outcome, low=low, torch=torch))
        if outcome.outcome != "result" and len(values) < len(PATTERNS):
            return outcome
    if outcome.outcome != "result":
        outcome.wrong.insert(0, "an error only the second time")
    elif values[0] != values[1] and not torch and call.name not in ANY_VALUES:
        outcome.wrong.append("uninitialised")
        outcome.detail = outcome.detail or f"results differ: {[a == b for a, b in zip(*values, strict=False)]}"
    return outcome


def _once(call: Call, outcome: Outcome, *, low: bool, torch: bool) -> Any:
    laid = _laid(call, low=low, torch=torch)
    before = laid.contents()
    try:
        returned = laid.call.function(*laid.call.arguments, **laid.call.keywords)
        result = (_bytes(returned), *(_bytes(v) for k, v in laid.call.keywords.items() if k in call.written))
    except baracuda.Error as error:
        outcome.outcome, result = type(error).__name__, None
        outcome.detail = f"{outcome.outcome}: {str(error)[:300]} at {_innermost(error)}"
        if SHOWN is not None:
            SHOWN()
    except Exception as error:
        outcome.outcome, result = type(error).__name__, None
        outcome.wrong.append("unnamed")
        if SHOWN is not None:
            SHOWN()
        outcome.detail = f"{type(error).__name__}: {str(error)[:300]} at {_innermost(error)}"
    _check_memory(laid, before, outcome)
    return result


def _check_memory(laid: _Laid, before: list[bytes], outcome: Outcome) -> None:
    failed = outcome.outcome != "result"
    for held, old, new in zip(laid.blocks, before, laid.contents(), strict=True):
        if old == new:
            continue
        what = ""
        if failed or not held.written:
            what = ("written before an error" if held.written else "input changed before an error") if failed else "input changed"
        elif set(held.block.around(new)) - {held.block.fill}:
            what = "written outside"
        if what:
            outcome.wrong.append(what)
            outcome.detail = f"{held.name} {outcome.detail}"
