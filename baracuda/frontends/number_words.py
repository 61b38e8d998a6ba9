"""Calls whose numbers change: other words for the parameters of launches.

Where a number goes to kernels as it is, C writes its words itself (`baracuda.native.calls`): it is told within which bounds, and
which words. What takes more than that, a formula of the host, a number that a library's function is given, an element of 16 bits
or a check of several numbers, is left to `NumberUpdate`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from baracuda.core.bounds import Above, AtLeast, AtMost, Below, Finite
from baracuda.core.call_recorder import CallRecorder, DeviceCheck, RecordedLaunch
from baracuda.core.elements import ElementKind
from baracuda.core.host import HostName
from baracuda.core.parameters import Domain, Either, Nothing, Number, Whole
from baracuda.frontends.cacheable import Cacheable
from baracuda.ops.declaration.op_descriptor import check_whole

#: The least and the greatest value of a number, and of each word that holds it the launch, which of its parameters it is, and
#: what it is converted to: -32 and -64 are floats of so many bits, other numbers the bits of integers.
Slot = tuple[float, float, tuple[tuple[int, int, int], ...]]


class NumberUpdate:
    """Other numbers for the launches of a call."""

    def __init__(self, scalars: Callable[..., Mapping[str, float]], recorder: CallRecorder) -> None:
        self.scalars, self.steps, self.whole = scalars, tuple(recorder.steps), tuple(recorder.whole)

    def __call__(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[tuple[bytes, Any]]:
        numbers = self.scalars(arguments, keywords)
        for name, kind in self.whole:
            if name in numbers:
                check_whole(name, numbers[name], kind)
        rows: list[tuple[bytes, Any]] = []
        for step in self.steps:
            if isinstance(step, DeviceCheck) or step.scalars is None:
                rows.append((step.launcher.parameters(None) if isinstance(step, RecordedLaunch) else b"", None))
                continue
            scalars = {n: numbers.get(n, v) for n, v in step.scalars.items()}
            rows.append((step.launcher.parameters(scalars), scalars))
        return rows


def slots_of(
    known: Cacheable, recorder: CallRecorder, arguments: tuple[Any, ...], keywords: Mapping[str, Any]
) -> tuple[Slot | None, ...]:
    """What C does with each number of a call's key, in order; None for one that is not for C."""
    if known.scalars is None or known.domain is None:
        return ()
    numbers = known.scalars(arguments, keywords)
    return tuple(_slot(n, v, known.domain(n), recorder, numbers) for n, v in _numbers_of_key(known, arguments, keywords))


def _numbers_of_key(known: Cacheable, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers that a key tells apart by their types alone, as native/key.h finds them."""
    names = (*known.positions[: len(arguments)], *[None] * (len(arguments) - len(known.positions)))
    named = [*zip(names, arguments, strict=True), *((n if n in known.numbers else None, v) for n, v in keywords.items())]
    for name, value in named:
        if name is not None and type(value) in (int, float) and value not in known.specials.get(name, ()):
            yield name, value


def _slot(name: str, value: float, domain: Domain | None, recorder: CallRecorder, numbers: Mapping[str, float]) -> Slot | None:
    bounds = interval(domain, type(value) is int)
    if bounds is None or type(numbers.get(name)) is not type(value) or numbers[name] != value:
        return None
    low, high = bounds
    for whole, kind in recorder.whole:
        if whole == name:
            if type(value) is not int:
                return None
            low, high = _within(low, high, kind)
    words: list[tuple[int, int, int]] = []
    for i, step in enumerate(recorder.steps):
        if isinstance(step, DeviceCheck) or step.scalars is None or name not in step.scalars:
            continue
        parameters = step.launcher.named_parameters()
        if parameters is None or any(isinstance(n, HostName) and name in n.names for _, n, _ in parameters):
            return None
        for at, kind in ((at, kind) for at, own, kind in parameters if own == name and not isinstance(own, HostName)):
            if kind.is_integer and type(value) is int:
                low, high = _within(low, high, kind)
            elif kind not in (ElementKind.F32, ElementKind.F64):
                return None
            words.append((i, at, kind.bits if kind.is_integer else -kind.bits))
    return low, high, tuple(words)


def _within(low: float, high: float, kind: ElementKind) -> tuple[float, float]:
    """Bounds that an integer holds."""
    limits = np.iinfo(kind.numpy)
    return max(low, float(limits.min)), min(high, float(limits.max))


def interval(domain: Domain | None, whole: bool) -> tuple[float, float] | None:
    """The least and the greatest number of a domain, where all between them are in it; of None, which is any, infinities."""
    if isinstance(domain, Either):
        others = [d for d in domain.domains if not isinstance(d, Nothing)]
        if len(others) != 1:
            return None
        (domain,) = others
    if domain is None:
        return -math.inf, math.inf
    if not isinstance(domain, (Number, Whole)) or (isinstance(domain, Whole) and not whole):
        return None
    low, high = -math.inf, math.inf
    for bound in domain.bounds:
        if isinstance(bound, AtLeast):
            low = max(low, bound.limit)
        elif isinstance(bound, Above):
            low = max(low, math.nextafter(bound.limit, math.inf))
        elif isinstance(bound, AtMost):
            high = min(high, bound.limit)
        elif isinstance(bound, Below):
            high = min(high, math.nextafter(bound.limit, -math.inf))
        elif isinstance(bound, Finite):
            low, high = max(low, -_LARGEST), min(high, _LARGEST)
        else:
            return None
    return low, high


_LARGEST = float(np.finfo(np.float64).max)
