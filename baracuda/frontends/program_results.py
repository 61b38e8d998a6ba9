"""What a program returns, as the next call makes it: tensors that are allocated, views of memory, and all else as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.layout import contiguous_strides, is_contiguous, round_up
from baracuda.core.layout_key import LAYOUT_KEYS
from baracuda.core.program_recorder import ProgramRecorder
from baracuda.core.tensor import TensorRef, tensor_ref
from baracuda.frontends.arrays import dense_allocator, extent_of, library_of
from baracuda.frontends.kept import Result
from baracuda.frontends.program_memory import torch_place, undifferentiated
from baracuda.frontends.reinterpret import viewed
from baracuda.frontends.strided import strided

#: What a result may be that is no tensor: the same in each call of the layouts.
_CONSTANTS = (type(None), bool, int, float, complex, str)
#: Memory of results of several elements is a multiple of as many bytes.
_UNIT = 16


class Refusal(Exception):
    """Why what a program returned cannot be made again."""


class Slot:
    """A tensor among results: a source, or a view of one, from a byte of it on."""

    def __init__(self, ref: TensorRef, library: str, source: int, start: int) -> None:
        self.ref, self.library, self.source, self.start = replace(ref, owner=None), library, source, start
        self.whole = self.other_element = False

    def made(self, base: Any) -> Any:
        """The tensor, of the memory of its source."""
        if self.whole:
            return base
        if getattr(base, "requires_grad", False):
            with undifferentiated():
                return self._view(base)
        return self._view(base)

    def _view(self, base: Any) -> Any:
        kind = self.ref.kind
        if self.other_element:
            base = viewed(base, kind)
        return strided(base, self.start // kind.itemsize, self.ref.shape, self.ref.strides)


def _is_read_as(tensor: Any, kind: ElementKind) -> bool:
    """Whether the memory of a tensor can be read as another element."""
    ref = tensor_ref(tensor)
    return ref.kind.itemsize == kind.itemsize or (is_contiguous(ref.shape, ref.strides) and bool(ref.shape))


class _Empty:
    """A tensor without elements."""

    def __init__(self, ref: TensorRef, library: str) -> None:
        place = torch_place(ref.device) if library == "torch" else None
        make = dense_allocator(library, ref.device, ref.shape, contiguous_strides(ref.shape), ref.kind)
        self.made: Callable[[], Any] = lambda: make(place)


class Returned:
    """What a program returned.

    Attributes
    ----------
    sources
        The sources that the answer is made of.
    results
        What is allocated, by source: with the library that it is of.
    devices
        Where it is allocated.
    rebuild
        What makes the answer of the tensors of the sources: None where it is the only one, True where it is their tuple.

    Raises
    ------
    Refusal
        It cannot be made again.
    """

    def __init__(self, value: Any, recorder: ProgramRecorder, tensors: Sequence[Any], held: Mapping[int, Any]) -> None:
        self._recorder, self._tensors, self._held = recorder, tensors, held
        self._own = {id(t): i + 1 for i, t in reversed(list(enumerate(tensors)))}
        self._slots: dict[int, Slot | Any] = {}
        make = self._template(value)
        slots = [s for s in self._slots.values() if isinstance(s, Slot)]
        self.results = self._allocated([s for s in slots if s.source > len(tensors)])
        self.sources = list(dict.fromkeys(s.source for s in slots))
        self.devices = {s.ref.device for s in slots if s.source > len(tensors)}
        self.rebuild: Any = self._rebuild(slots, make)
        flat = value if type(value) is tuple else (value,)
        found = [self._slots.get(id(v)) for v in flat]
        if all(v is None or (isinstance(s, Slot) and s.whole) for v, s in zip(flat, found, strict=True)):
            self.sources = [0 if s is None else s.source for s in found]
            self.rebuild = True if type(value) is tuple else None

    def _template(self, value: Any) -> Callable[[Mapping[int, Any]], Any]:
        """What makes a value of the tensors in it, by their identities here."""
        if isinstance(value, _CONSTANTS) or type(value).__name__ in ("dtype", "device", "Size", "ElementKind"):
            return lambda made: value
        if isinstance(value, (tuple, list)):
            parts = [self._template(v) for v in value]
            make = type(value)._make if hasattr(value, "_make") else type(value)
            return lambda made: make([part(made) for part in parts])
        if isinstance(value, dict):
            named = {n: self._template(v) for n, v in value.items()}
            return lambda made: {n: part(made) for n, part in named.items()}
        known = id(value)
        if known not in self._slots:
            self._slots[known] = self._slot(value)
        constant = self._slots[known]
        if isinstance(constant, _Empty):
            return lambda made: constant.made()
        if not isinstance(constant, Slot):
            return lambda made: constant
        return lambda made: made[known]

    def _slot(self, value: Any) -> Slot | Any:
        if id(value) in self._held:
            return value
        if type(value) not in LAYOUT_KEYS:
            raise Refusal(f"it returns a {type(value).__module__}.{type(value).__qualname__}")
        ref, library = tensor_ref(value), library_of(value)
        if id(value) in self._own:
            slot = Slot(ref, library, self._own[id(value)], 0)
            slot.whole = True
            return slot
        if library == "torch" and (value.is_conj() or value.is_neg()):
            raise Refusal("it returns a tensor that PyTorch conjugates or negates when it is read")
        if 0 in ref.shape:
            return _Empty(ref, library)
        place = self._recorder.place(ref.pointer)
        if place is None:
            raise Refusal("it returns a tensor that no function of this library made")
        if place.source == 0:
            return value
        if place.source <= len(self._tensors):
            base, size = self._tensors[place.source - 1], ref.kind.itemsize
            if library_of(base) != library or place.offset % size or not _is_read_as(base, ref.kind):
                raise Refusal(f"it returns argument {place.source - 1} in another library, or as elements of another size")
        slot = Slot(ref, library, place.source, place.offset)
        if place.source <= len(self._tensors):
            slot.other_element = tensor_ref(self._tensors[place.source - 1]).kind is not ref.kind
        return slot

    def _allocated(self, slots: Sequence[Slot]) -> dict[int, tuple[str, Result]]:
        """What is allocated for tensors, which get to know whether they are all of it."""
        found: dict[int, tuple[str, Result]] = {}
        for source in dict.fromkeys(s.source for s in slots):
            own = [s for s in slots if s.source == source]
            if len({s.library for s in own}) > 1:
                raise Refusal("it returns tensors of several libraries in one piece of memory")
            nbytes = self._recorder.allocated[source - len(self._tensors) - 1].nbytes
            found[source] = own[0].library, self._base(own, nbytes)
        return found

    def _base(self, slots: Sequence[Slot], nbytes: int) -> Result:
        ref = slots[0].ref
        low, high = extent_of(ref)[1:]
        dense = low == ref.pointer and prod(ref.shape) * ref.kind.itemsize == high - low == nbytes and slots[0].start == 0
        if dense and len(slots) == 1:
            slots[0].whole = True
            return Result(ref.shape, ref.strides, ref.kind)
        kind, size = ref.kind, ref.kind.itemsize
        if any(s.ref.kind is not kind or s.start % size for s in slots) or nbytes % size:
            if any(s.start % s.ref.kind.itemsize for s in slots):
                raise Refusal("it returns a tensor that lies at no multiple of its element's size in its memory")
            kind, size = ElementKind.U8, 1
        for s in slots:
            s.other_element = s.ref.kind is not kind
        return Result((round_up(nbytes, _UNIT if size == 1 else size) // size,), (1,), kind)

    def _rebuild(self, slots: Sequence[Slot], make: Callable[[Mapping[int, Any]], Any]) -> Callable[[Sequence[Any]], Any]:
        number = {source: i for i, source in enumerate(self.sources)}
        views = [(known, s, number[s.source]) for known, s in self._slots.items() if isinstance(s, Slot)]
        return lambda bases: make({known: slot.made(bases[i]) for known, slot, i in views})
