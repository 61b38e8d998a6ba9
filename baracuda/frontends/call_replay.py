"""Repeated calls of functions in Python, for where `baracuda.native.calls` was not compiled: the same keys, the same launches."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakSet

from baracuda.core.call_recorder import Launcher
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error
from baracuda.core.identity import identity
from baracuda.core.layout_key import LAYOUT_KEYS, ON_TORCH
from baracuda.core.preferred import preferred
from baracuda.core.sku import PlanPreference
from baracuda.core.tensor import tensor_ref
from baracuda.core.workspace import Workspace
from baracuda.frontends.arrays import current_stream, extent_of
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import NUMBERS, device_of

#: Calls that one function keeps, and all together, and how often it tries to make out what one comes down to.
MOST_KEPT, MOST_CALLS, MOST_ATTEMPTS = 512, 4096, 3
#: Bytes of scratch memory up to which a thread keeps its own for calls on the CPU.
_KEPT = 16 << 20
_local = threading.local()
#: Types, besides those of numbers, whose values are told apart by equality and hold nothing: PyTorch's of elements too, once
#: PyTorch is there.
PLAIN = {str, ElementKind, PlanPreference, type, *(type(kind.numpy) for kind in ElementKind)}
ON_TORCH.append(lambda torch: PLAIN.add(torch.dtype))
#: Where the memory of a tensor of some layout begins and ends, from its first element.
_spans: dict[Any, tuple[int, int]] = {}


class Call:
    """What a call comes down to; its parameters are those of `native.calls.Call`; `program` and `numbers` are for speed."""

    def __init__(
        self,
        *,
        launches: Sequence[tuple[Any, tuple[Any, ...], Sequence[tuple[int, int]], Any]],
        results: Sequence[tuple[Any, ...]],
        returned: Sequence[int],
        like: int,
        scratch: int,
        scratch_on: Callable[[Any], Any] | None,
        cuda: bool,
        renumber: Callable[[tuple[Any, ...], dict[str, Any]], list[tuple[bytes, Any]]] | None,
        rebuild: Any,
        program: bool = False,
        numbers: Any = (),
        held: Any = None,
    ) -> None:
        self.held = held
        self.launches, self.results, self.returned, self.like = tuple(launches), tuple(results), tuple(returned), like
        self.scratch, self.scratch_on, self.cuda, self.renumber, self.rebuild = scratch, scratch_on, cuda, renumber, rebuild

    def follow(
        self,
        tensors: Sequence[Any],
        pointers: Sequence[int],
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        numbered: bool,
    ) -> tuple[Any] | None:
        """The results, in a tuple of one; None where the long way has to be taken."""
        rows: Sequence[tuple[bytes, Any]] = ()
        if numbered and self.renumber is not None:
            rows = self.renumber(arguments, keywords)
        like = tensors[self.like]
        results = [r[5](like) for r in self.results]
        addresses = [0, *pointers, *(LAYOUT_KEYS[type(m)](m)[1] for m in results)]  # type: ignore[index]  # new tensors have memory
        scratch = self._scratch(like) if self.scratch else None
        addresses.append(0 if scratch is None else scratch.pointer)
        stream = current_stream(like, device_of(like)).handle if self.cuda else 0
        for i, (launcher, native, places, scalars) in enumerate(self.launches):
            words = [addresses[source] + offset for source, offset in places]
            if isinstance(launcher, Launcher):
                launcher.launch(words[:-1], words[-1], stream, rows[i][1] if rows else scalars)
            elif not (launcher(words[0], stream) if self.cuda else _is_there(words[0], *native[1:])):
                return None
        answer = [
            None if s == 0 else tensors[s - 1] if s <= len(tensors) else results[s - 1 - len(tensors)] for s in self.returned
        ]
        if self.rebuild is None:
            return (answer[0],)
        return (tuple(answer),) if self.rebuild is True else (self.rebuild(answer),)

    def _scratch(self, like: Any) -> Workspace:
        assert self.scratch_on is not None
        if self.cuda or self.scratch > _KEPT:
            return Workspace(self.scratch_on(like))
        scratch: Workspace | None = getattr(_local, "scratch", None)
        if scratch is None or scratch.nbytes < self.scratch:
            scratch = _local.scratch = Workspace.allocate(self.scratch)
        return scratch


def _is_there(pointer: int, value: int, size: int) -> bool:
    """Whether so many bytes at an address are a number."""
    return int.from_bytes(ctypes.string_at(pointer, size), "little") == value


class PythonFunction:
    """A callable around a function: `baracuda.native.calls.Function` in Python."""

    watchers = 0

    def __init__(self, known: Cacheable, record: Callable[..., tuple[Any, Any, Any]], most: int = MOST_KEPT) -> None:
        self.__wrapped__ = known.function
        self.__doc__ = known.function.__doc__
        self.known, self.record, self._most = known, record, most
        self._calls: dict[Any, list[Any]] = {}
        self.followed = 0
        _functions.add(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return f"<function baracuda.{self.__wrapped__.__name__}>"

    def __reduce__(self) -> str:
        return str(self.__wrapped__.__name__)

    @property
    def cached_calls(self) -> int:
        """How many calls are known."""
        return sum(entry[0] is not None for entry in self._calls.values())

    def forget(self) -> None:
        """Forget all calls."""
        self._calls.clear()

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if PythonFunction.watchers or getattr(_local, "watchers", 0):
            return self.__wrapped__(*arguments, **keywords)
        key = _Key(self.known)
        try:
            call_key = key.of(arguments, keywords)
        except (TypeError, Error):  # the function itself says what is wrong, if anything is
            return self.__wrapped__(*arguments, **keywords)
        entry = self._calls.get(call_key)
        if entry is not None and entry[0] is not None:
            answer = entry[0].follow(key.tensors, key.pointers, arguments, keywords, key.numbered)
            self.followed += answer is not None
            return self.__wrapped__(*arguments, **keywords) if answer is None else answer[0]
        if entry is not None and entry[1] >= MOST_ATTEMPTS:
            return self.__wrapped__(*arguments, **keywords)
        result, call, keepalive = self.record(self.__wrapped__, arguments, keywords, tuple(key.tensors))
        if len(self._calls) >= self._most:
            self._calls.clear()
        if sum(len(f._calls) for f in list(_functions)) >= MOST_CALLS:  # calls keep code
            for function in list(_functions):
                function.forget()
        self._calls[call_key] = [call, 1 if entry is None else entry[1] + 1, keepalive]
        return result


#: Every function there is.
_functions: WeakSet[PythonFunction] = WeakSet()


def watch_thread(change: int) -> None:
    """Have functions called by this thread run as they are, until the change is taken back."""
    _local.watchers = getattr(_local, "watchers", 0) + change


class _Key:
    """What a call depends on; raises TypeError where that takes the long way to find out."""

    def __init__(self, known: Cacheable) -> None:
        self.known = known
        self.tensors: list[Any] = []
        self.pointers: list[int] = []
        self.spans: list[tuple[int, int]] = []
        self.numbered = False

    def of(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        names = (*self.known.positions[: len(arguments)], *[None] * (len(arguments) - len(self.known.positions)))
        key = [self.part(v, n, self.known.writes) for v, n in zip(arguments, names, strict=True)]
        for word, value in keywords.items():
            key += (word, self.part(value, word if word in self.known.numbers else None, self.known.writes or word == "out"))
        if not self.tensors:
            raise TypeError
        return len(arguments), preferred(), *key, *self._overlaps()

    def _overlaps(self) -> list[tuple[int, int, int]]:
        """How far tensors that overlap are from one another."""
        found: list[tuple[int, int, int]] = []
        open_: list[int] = []  # of those that begin before, the ones that end behind
        for i in sorted(range(len(self.spans)), key=self.spans.__getitem__):
            low, high = self.spans[i]
            open_ = [j for j in open_ if self.spans[j][1] > low]
            if low < high:
                pairs = ((max(i, j), min(i, j)) for j in open_)
                found += [(a, b, self.pointers[a] - self.pointers[b]) for a, b in pairs]
                open_.append(i)
        return sorted(found)

    def part(self, value: Any, number: str | None, writable: bool) -> Any:
        kind = type(value)
        if value is None:
            return None
        if kind is tuple or kind is list:
            return kind, *(self.part(v, None, writable) for v in value)
        if kind in (float, int) and number is not None and value not in self.known.specials.get(number, ()):
            self.numbered = True
            return kind
        read = LAYOUT_KEYS.get(kind)
        if read is None:
            if kind in NUMBERS or kind in PLAIN or isinstance(value, type):
                return identity(value)
            raise TypeError
        keyed = read(value)
        if keyed is None or (writable and getattr(value, "requires_grad", False) and sys.modules["torch"].is_grad_enabled()):
            raise TypeError
        layout, pointer = keyed
        if (span := _spans.get(layout)) is None:
            extent = extent_of(tensor_ref(value))
            if len(_spans) >= 4096:
                _spans.clear()
            span = _spans[layout] = extent.low - pointer, extent.high - pointer
        self.tensors.append(value)
        self.pointers.append(pointer)
        self.spans.append((pointer + span[0], pointer + span[1]))
        flags = getattr(value, "flags", None)
        return layout, min(pointer & -pointer, 16), flags is None or flags.writeable
