"""What kept calls are made of: recipes of results, launches that lack addresses, and a plan of their scratch memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from baracuda.core.call_recorder import AddressSource, DeviceCheck, RecordedLaunch
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.layout import contiguous_strides, round_up
from baracuda.core.workspace import ALIGNMENT
from baracuda.frontends.array.memory import fields_of
from baracuda.frontends.arrays import dense_allocator

Step = RecordedLaunch | DeviceCheck
#: Where a source of a recorded call lies in the next one: another source, and a byte of it.
Relocated = Mapping[int, tuple[int, int]]


class Result(NamedTuple):
    """A tensor to allocate: dense, with these strides in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: ElementKind


def places_of(step: Step) -> Sequence[AddressSource]:
    """The places that a step reads and writes."""
    return step.places if isinstance(step, RecordedLaunch) else (step.place,)


def spans_of(steps: Iterable[Step], sources: Callable[[int], bool]) -> dict[int, tuple[int, int]]:
    """The first and the last step that uses each of some sources."""
    spans: dict[int, tuple[int, int]] = {}
    for at, step in enumerate(steps):
        for place in places_of(step):
            if sources(place.source):
                spans[place.source] = spans.get(place.source, (at, at))[0], at
    return spans


def planned(spans: Mapping[int, tuple[int, int]], nbytes: Callable[[int], int]) -> tuple[dict[int, int], int]:
    """Where in one block of memory each source lies, and how much there is: memory that is not used any more serves again. The
    largest sources are placed first, each where there is room from its first to its last use."""
    sizes = {source: round_up(max(nbytes(source), 1), ALIGNMENT) for source in spans}
    order = sorted(spans, key=lambda source: -sizes[source])
    first, last, begins, ends = np.zeros((4, len(order)), np.int64)
    offsets: dict[int, int] = {}
    for k, source in enumerate(order):
        begin, end = spans[source]
        beside = (first[:k] <= end) & (last[:k] >= begin)
        taken = begins[:k][beside]
        by_begin = np.argsort(taken)
        free_from = np.concatenate(([0], np.maximum.accumulate(ends[:k][beside][by_begin])))
        free_to = np.append(taken[by_begin], np.iinfo(np.int64).max)
        offset = int(free_from[np.argmax(free_from + sizes[source] <= free_to)])
        first[k], last[k], begins[k], ends[k] = begin, end, offset, offset + sizes[source]
        offsets[source] = offset
    return offsets, int(ends.max(initial=0))


def recipe(library: str, device: Device, result: Result, allocate: Callable[[Any], Any] | None = None) -> tuple[Any, ...]:
    """How a kept call makes a result, as `baracuda.native.calls` reads it."""
    shape, strides, kind = result
    nbytes = prod(shape) * kind.itemsize
    way: str = ""
    dtype: Any = None
    if library == "numpy" and strides == contiguous_strides(shape):
        way, dtype = "numpy", kind.numpy
    elif library == "torch" and device.kind is DeviceKind.CPU:
        way, dtype = "torch", kind.dlpack
    elif library == "baracuda":
        way, dtype = "array", fields_of(shape, strides, kind, device)
    return way, shape, strides, nbytes, dtype, allocate or dense_allocator(library, device, shape, strides, kind)


def launched(step: Step, relocated: Relocated, device: Device) -> tuple[Any, ...]:
    """A launch of a kept call, as `baracuda.native.calls` reads it."""

    def place(p: AddressSource) -> tuple[int, int]:
        source, offset = relocated.get(p.source, (p.source, 0))
        return source, offset + p.offset

    if isinstance(step, DeviceCheck):
        return partial(_is_false, device), ("expect",), (place(step.place), (0, 0)), None
    scalars = None if step.scalars is None else dict(step.scalars)
    return step.launcher, step.launcher.native(scalars), tuple(map(place, step.places)), scalars


def prepared(step: Step) -> Step:
    """A launch with what it makes of tensors that never change (source 0, and their addresses) made now."""
    if isinstance(step, DeviceCheck):
        return step
    pointers = [p.offset if p.source == 0 else 0 for p in step.places[:-1]]
    return replace(step, launcher=step.launcher.prepared(pointers, bool))


def _is_false(device: Device, pointer: int, stream: int) -> bool:
    """Whether a boolean on the device is false; waits for it."""
    from baracuda.runtime import device_memory

    return not device_memory.read_byte(pointer, stream, device)
