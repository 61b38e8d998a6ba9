"""What a call launches, seen while it runs, so that the next call like it can launch the same without finding out again.

A *launcher* is compiled code with all its words but the addresses and numbers in place: a CPU or CUDA program, or a library's
function. Every launch of one tells the recorder of its thread, if there is one, the addresses it is made with. Addresses are
traced back to the tensors of the call and to memory that was allocated for it; a call that uses any other memory, or reads
values on the host, is *refused*: it cannot be repeated from what was seen.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from baracuda.core.tensor import tensor_ref

if TYPE_CHECKING:
    from baracuda.core.elements import ElementKind
    from baracuda.core.implementation import Implementation, Scalars
    from baracuda.core.spec import TensorSpec
    from baracuda.core.tensor import TensorRef

#: Recorders at work, in whichever thread: where there are none, a launch looks no further.
AT_WORK: list[CallRecorder] = []
_local = threading.local()
#: Addresses from here on are those of tensors without values, which no process has. Those that fused programs have on paper lie
#: below, and are seen.
NOWHERE = 1 << 56


class AddressSource(NamedTuple):
    """Where an address points: a byte of a source. Source 0 is no memory, its offset an address itself; then come the tensors of
    the call, then what was allocated."""

    source: int
    offset: int


class Allocated(NamedTuple):
    """Memory made for a call: a tensor, of the library of another."""

    tensor: Any
    pointer: int
    nbytes: int
    like: Any


@dataclass(frozen=True)
class RecordedLaunch:
    """One launch: its launcher, the places of its operands and of its workspace, and the numbers it was given."""

    launcher: Launcher
    places: tuple[AddressSource, ...]
    scalars: Scalars


@dataclass(frozen=True)
class PlanCall:
    """One run of a plan: what it computed, of which tensors, and which of the recorder's steps are its launches, from `first` to
    before `last`.

    `tensors` are those of the plan, in the order of `specs`, None for one that is left out, and `places` where these were;
    `scalars` are the numbers of this run.
    """

    op: str
    implementation: Implementation
    specs: Sequence[TensorSpec]
    descriptor: Any
    tensors: Sequence[TensorRef | None]
    places: Sequence[AddressSource | None]
    scalars: Scalars
    first: int
    last: int


@dataclass(frozen=True)
class DeviceCheck:
    """Bytes that must be as they are for the call to go on, read after the launches before them: a boolean that is true where
    something is wrong, or, where `decides`, a value that what follows depends on."""

    place: AddressSource
    expected: bytes = b"\0"
    decides: bool = False


class CallRecorder:
    """Sees one call of one thread.

    Parameters
    ----------
    extents
        For each tensor of the call the address of its first element, and where its memory begins and ends.
    plans
        Whether to note which plan each launch belongs to, for whoever looks for launches that are one.

    Attributes
    ----------
    whole
        Numbers that an integer kind must hold, with that kind.
    holds
        Whether launches are only noted: nothing runs.
    """

    holds = False

    def __init__(self, extents: Sequence[tuple[int, int, int]], *, plans: bool = False) -> None:
        self.extents = list(extents)
        self._first: dict[int, int] = {}
        for i, (first, _, _) in enumerate(self.extents):
            self._first.setdefault(first, i)
        self.allocated: list[Allocated] = []
        self.steps: list[RecordedLaunch | DeviceCheck] = []
        self.refused: str | None = None
        self.streams: set[int] = set()
        self.written: set[int] = set()
        self.whole: list[tuple[str, ElementKind]] = []
        self.notes_plans = plans
        self.plans: list[PlanCall] = []

    def refuse(self, reason: str) -> None:
        """Say why the call cannot be repeated from what is seen."""
        self.refused = self.refused or reason

    def place(self, pointer: int) -> AddressSource | None:
        """Where an address points; None where that is not known."""
        if not pointer:
            return AddressSource(0, 0)
        known = self._first.get(pointer)
        if known is not None:
            return AddressSource(known + 1, 0)
        inside = [i for i, (_, low, high) in enumerate(self.extents) if low <= pointer < high]
        if not inside:  # where memory ends there is room for nothing, which some launches are given
            inside = [i for i, (_, _, high) in enumerate(self.extents) if pointer == high][:1]
        if not inside:
            return None
        i = inside[0]  # of tensors that overlap any will do: how far they are apart is the same in the next call
        return AddressSource(i + 1, pointer - self.extents[i][0])

    def allocate(self, allocation: Allocated) -> None:
        """Memory that was made for the call; it is held until the recorder goes, so that no address is used twice."""
        self.allocated.append(allocation)
        self._first.setdefault(allocation.pointer, len(self.extents))
        self.extents.append((allocation.pointer, allocation.pointer, allocation.pointer + allocation.nbytes))

    def writes(self, pointers: Iterable[int]) -> None:
        """A plan is about to write to these addresses."""
        for pointer in pointers:
            place = self.place(pointer)
            if place is not None:
                self.written.add(place.source)

    def launched(self, launcher: Launcher, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        """A launch is about to be made."""
        places = [self.place(p) for p in (*pointers, workspace)]
        known = [p for p in places if p is not None]
        if len(known) < len(places):
            self.refuse("it uses memory of neither its tensors nor its results")
        self.streams.add(stream)
        self.whole += launcher.whole_numbers()
        self.steps.append(RecordedLaunch(launcher, tuple(known), scalars))

    def is_made(self, tensor: Any) -> bool:
        """Whether `hold` was told of a tensor."""
        return False

    def hold(self, tensor: Any) -> None:
        """Memory with values that the call was made with and whose like would be made again: of no matter here."""

    def expect_false(self, pointer: int) -> None:
        """The call reads a boolean on the host, and only goes on like this where it is false."""
        place = self.place(pointer)
        if place is None:
            self.refuse("it reads values on the host")
        else:
            self.steps.append(DeviceCheck(place))

    def expect_value(self, pointer: int, value: bytes) -> None:
        """The call reads a value on the host, and only goes on like this where it is this one."""
        self.refuse("it reads values on the host")


class Launcher(ABC):
    """Compiled code that only lacks addresses and numbers."""

    def call(self, pointers: Sequence[int], workspace: int = 0, stream: int = 0, scalars: Scalars = None) -> None:
        """Launch with these addresses and numbers; nothing where an address is one of no memory."""
        if pointers and max(pointers) >= NOWHERE:
            return
        if AT_WORK and note(self, pointers, workspace, stream, scalars):
            return
        self.launch(pointers, workspace, stream, scalars)

    @abstractmethod
    def launch(self, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> None:
        """Launch, seen by nobody."""

    def native(self, scalars: Scalars) -> tuple[Any, ...]:
        """What `baracuda.native.calls` launches it by, with these numbers in place."""
        return ("python",)

    def prepared(self, pointers: Sequence[int], constant: Callable[[int], bool]) -> Launcher:
        """The launcher for operands at these addresses, of which those that `constant` says never change: what it makes of one
        of them alone, as packed weights are, is made now and left out of its launches."""
        return self

    def whole_numbers(self) -> Iterable[tuple[str, ElementKind]]:
        """The numbers of a call that an integer kind must hold, with that kind."""
        return ()

    def named_parameters(self) -> Sequence[tuple[int, str, ElementKind]] | None:
        """The parameters of a launch that follow from numbers of a call: which it is, the number's name, and the element that it
        is given in. None where what becomes of numbers is not known."""
        return None

    def parameters(self, scalars: Scalars) -> bytes:
        """The words of the parameters of a launch with these numbers."""
        return b""


def note(launcher: Launcher, pointers: Sequence[int], workspace: int, stream: int, scalars: Scalars) -> bool:
    """Tell this thread's recorder, if there is one, of a launch; whether it is only to be noted."""
    recorder = current()
    if recorder is None:
        return False
    recorder.launched(launcher, pointers, workspace, stream, scalars)
    return recorder.holds


def note_writes(tensors: Iterable[Any]) -> None:
    """Tell this thread's recorder, if there is one, which tensors a plan is about to write."""
    recorder = current()
    if recorder is not None:
        recorder.writes(tensor_ref(t).pointer for t in tensors)


def noting_plans() -> CallRecorder | None:
    """This thread's recorder, if it notes which plan a launch belongs to."""
    recorder = current()
    return recorder if recorder is not None and recorder.notes_plans else None


def current() -> CallRecorder | None:
    """This thread's recorder."""
    return getattr(_local, "recorder", None) if AT_WORK else None


def refuse(reason: str) -> None:
    """The call that is going on cannot be repeated from its launches."""
    recorder = current()
    if recorder is not None:
        recorder.refuse(reason)


def expect_value(pointer: int, value: bytes) -> None:
    """Tell this thread's recorder, if there is one, of a value that is read on the host."""
    recorder = current()
    if recorder is not None:
        recorder.expect_value(pointer, value)


def hold(tensor: Any) -> None:
    """Tell this thread's recorder, if there is one, of a tensor whose values every such call has, made on the host."""
    recorder = current()
    if recorder is not None:
        recorder.hold(tensor)


@contextmanager
def recording(recorder: CallRecorder) -> Iterator[None]:
    """Have the recorder see what this thread launches."""
    AT_WORK.append(recorder)
    _local.recorder = recorder
    try:
        yield
    finally:
        _local.recorder = None
        AT_WORK.remove(recorder)


@contextmanager
def unseen() -> Iterator[None]:
    """Launches in here are no part of the call: tables that are made once, measurements."""
    recorder = current()
    if recorder is None:
        yield
        return
    _local.recorder = None
    try:
        yield
    finally:
        _local.recorder = recorder
