"""Plans: select once, run many times. The lifecycle is written here for every op; a family adds data and formulas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

from baracuda.core import call_recorder, locks
from baracuda.core import spec as checks
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device, Stream, as_stream
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.implementation import (
    Executable,
    Found,
    Implementation,
    Layout,
    Scalars,
    any_strides,
    contiguous,
    general,
    layout_name,
    layout_of,
    present,
)
from baracuda.core.kernel_info import KernelInfo
from baracuda.core.layout_key import LAYOUT_KEYS, LAYOUT_KEYS_MUT
from baracuda.core.sku import Candidate, KernelSku, OpCategory, PlanPreference, PrecisionGuarantee
from baracuda.core.spec import TensorSpec
from baracuda.core.tensor import TensorRef, tensor_mut, tensor_ref
from baracuda.core.workspace import Workspace

D = TypeVar("D", bound=Descriptor)
A = TypeVar("A", bound=Args)


class _Entry:
    """What a plan knows of one combination of shapes, strides and types: the executable of each verified set of addresses."""

    __slots__ = ("latest", "verified")

    def __init__(self) -> None:
        self.verified: dict[tuple[int, ...], Executable] = {}
        self.latest: tuple[list[int], Callable[[Sequence[int], int, int, Scalars], None]] | None = None


#: Sets of addresses remembered for one layout; beyond it they are verified anew.
_REMEMBERED = 4096


def _unknown(_: Any) -> None:
    return None


class Plan(ABC, Generic[D, A]):
    """Base of every plan.

    A family sets `category`, `op`, `tensors` (each by the name of a field of its args), and says how a descriptor can be
    implemented. `run` allocates nothing, synchronises nothing and compiles nothing; a plan may be used from several threads
    at once.
    """

    category: ClassVar[OpCategory]
    op: ClassVar[str]
    tensors: ClassVar[tuple[TensorSpec, ...]]
    #: The class of its args, of a plan that compositions run.
    args: ClassVar[type[Args]]
    #: Whether its candidates differ in what they compute, so that `preferring` is about it.
    has_tiers: ClassVar[bool] = False

    descriptor: D
    device: Device
    preference: PlanPreference

    # --- what a family provides ---------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def implementations(cls, device: Device, descriptor: D) -> Found:
        """Each backend in order of preference, with how to make it or the reason why it cannot do this."""

    @classmethod
    def fastest_first(cls, device: Device, descriptor: D) -> Found:
        """The same in the order for a preference that says `fastest`: libraries come first."""
        return tuple(sorted(cls.implementations(device, descriptor), key=lambda pair: not pair[0].is_library))

    @classmethod
    def layouts(cls, descriptor: D, given: Layout | None = None) -> list[Layout]:
        """The layouts to compile when a plan is selected: the one given, or contiguous operands; and any strides."""
        dense = tuple(contiguous(s, descriptor) for s in cls.tensors)
        layouts = [given or dense, tuple(general(s, descriptor) for s in cls.tensors)]
        for i, s in enumerate(cls.tensors):  # an output that the caller may leave out
            if s.optional:
                layouts += [(*layout[:i], None, *layout[i + 1 :]) for layout in layouts if layout[i] is not None]
        outputs = [i for i, s in enumerate(cls.tensors) if s.written]
        return [layout for layout in layouts if any(layout[i] is not None for i in outputs)]

    # --- selection ----------------------------------------------------------------------------------------------------

    @classmethod
    def candidates(cls, stream: Any, descriptor: D, preference: PlanPreference | None = None) -> tuple[Candidate, ...]:
        """Every backend considered, and for each refused one the reason."""
        device = as_stream(stream).device
        considered = cls._consider(device, descriptor, preference or PlanPreference(), cls.layouts(descriptor))
        return tuple(candidate for candidate, _ in considered)

    @classmethod
    def _consider(
        cls, device: Device, descriptor: D, preference: PlanPreference, layouts: Sequence[Layout]
    ) -> Iterator[tuple[Candidate, Implementation | None]]:
        """The candidates in order of preference; each is compiled when it is asked for.

        Where a formula's kernels cannot be made and those of no other candidate in its place comply, that is the error: a library
        does not take its place unsaid.
        """
        if not isinstance(preference, PlanPreference):
            raise InvalidProblemError(f"preference: {preference!r}; expected a PlanPreference or None")
        order = cls.fastest_first if preference.fastest else cls.implementations
        impossible: list[UnsupportedError] = []
        complies = False
        for backend, make in order(device, descriptor):
            if impossible and backend.is_library and not complies:
                raise impossible[0]
            if preference.backend not in (None, backend):
                yield Candidate(backend, reason_refused=f"the preference asks for {preference.backend}"), None
            elif isinstance(make, str):
                yield Candidate(backend, reason_refused=make), None
            else:
                try:
                    implementation = make()
                    objection = preference.objection(backend, implementation.guarantee, 0)
                    if objection is not None:
                        yield Candidate(backend, implementation.guarantee, reason_refused=objection), None
                        continue
                    executables = implementation.executables(layouts, autotune=preference.autotune)
                except UnsupportedError as error:
                    impossible += [] if backend.is_library else [error]
                    yield Candidate(backend, reason_refused=str(error)), None
                    continue
                needed = max(e.workspace_bytes for e in executables)
                objection = preference.objection(backend, implementation.guarantee, needed)
                complies |= objection is None and not backend.is_library
                yield Candidate(backend, implementation.guarantee, needed, objection), implementation
        if impossible and not complies:
            raise impossible[0]

    @classmethod
    def select(cls, stream: Any, descriptor: D, preference: PlanPreference | None = None, *, like: A | None = None) -> Any:
        """Choose and compile.

        Parameters
        ----------
        stream
            Says which device: None for the CPU, a `Stream`, or any object with `__cuda_stream__`.
        descriptor
            What to compute.
        preference
            What to insist on.
        like
            Args whose layouts `run` should be at its best for. Without it those are contiguous operands; other layouts run
            on kernels for general strides, and `bind` makes a kernel for the layout it is given.

        Raises
        ------
        UnsupportedError
            No candidate complies; the message lists each with its reason.
        """
        like_layout = None
        device = as_stream(stream).device
        if like is not None:
            values = attrgetter(*(s.name for s in cls.tensors))(like)
            like_layout = layout_of(cls.checked(descriptor, values, Stream(device)))
        return cls.select_layouts(device, descriptor, preference or PlanPreference(), cls.layouts(descriptor, like_layout))

    @classmethod
    def select_layouts(cls, device: Device, descriptor: D, preference: PlanPreference, layouts: Sequence[Layout]) -> Any:
        """Choose, and compile for these layouts alone, the first of them the primary one."""
        considered: list[Candidate] = []
        for candidate, implementation in cls._consider(device, descriptor, preference, layouts):
            considered.append(candidate)
            if candidate.reason_refused is None and implementation is not None:
                return cls(device, descriptor, preference, implementation, layouts[0], candidate.workspace)
        listed = "; ".join(map(str, considered))
        raise UnsupportedError(f"no candidate for {cls.op} on {device} with {checks.field_summary(descriptor)}: {listed}")

    def __init__(
        self,
        device: Device,
        descriptor: D,
        preference: PlanPreference,
        implementation: Implementation,
        primary: Layout,
        workspace_bytes: int,
    ) -> None:
        self.device, self.descriptor, self.preference = device, descriptor, preference
        self._implementation = implementation
        self._values: Callable[[A], tuple[Any, ...]] = attrgetter(*(s.name for s in self.tensors))
        self._tables = tuple(LAYOUT_KEYS_MUT if s.written else LAYOUT_KEYS for s in self.tensors)
        self._entries: dict[tuple[Any, ...], _Entry] = {}
        self._last: tuple[list[Any], _Entry] = ([], _Entry())
        self._lock = locks.lock()
        self._workspace_bytes = workspace_bytes
        self._numbers = descriptor.parameters.keys()
        self._primary = primary

    # --- questions ----------------------------------------------------------------------------------------------------

    def workspace_size(self) -> int:
        """Bytes of scratch memory that `run` needs, whatever the layout of its operands."""
        return self._workspace_bytes

    @property
    def fixes_numbers(self) -> bool:
        """Whether it computes with the descriptor's numbers alone: `run` then takes no others."""
        return self._implementation.fixes_numbers

    def precision_guarantee(self) -> PrecisionGuarantee:
        """What the path this plan took promises."""
        return self._implementation.guarantee

    def sku(self) -> KernelSku:
        """The identity of the chosen kernel."""
        kinds = [s.expected_kind(self.descriptor) for s in self.tensors if present(s, self.descriptor)]
        element: ElementKind = kinds[0]
        return KernelSku(
            category=self.category,
            op=self.op,
            element=element,
            layout=layout_name(self.tensors, self.descriptor, self._primary),
            arch=self._implementation.arch,
            backend=self._implementation.backend,
            guarantee=self._implementation.guarantee,
            aux_element=next((k for k in kinds if k is not element), None),
        )

    @property
    def schedule(self) -> str:
        """The schedule of the primary layout, for people."""
        executable = self._implementation.executable(self._primary)
        return executable.schedule if executable is not None else ""

    def kernels(self, args: A | None = None) -> tuple[KernelInfo, ...]:
        """The kernels of the primary layout, in the order in which they run: source, schedule, launch geometry, and what
        compilers make of them. A vendor library's own kernels are not among them.

        With `args`, those that `run` would run for these, which are the ones for any strides where there are none of their own.

        Example
        -------
        >>> import baracuda
        >>> d = baracuda.SoftmaxDescriptor(baracuda.SoftmaxKind.SOFTMAX, (64, 1000), 1, baracuda.ElementKind.F32)
        >>> (kernel,) = baracuda.SoftmaxPlan.select(None, d).kernels()
        >>> kernel.units
        64
        """
        if args is None:
            return self._implementation.kernels(self._primary)
        layout = layout_of(self.checked(self.descriptor, self._values(args), Stream(self.device)))
        own = self._implementation.executable(layout, compiled_only=True)
        fits = own is not None and own.workspace_bytes <= self._workspace_bytes
        return self._implementation.kernels(layout if fits else any_strides(layout))

    def tunings(self, layout: Layout) -> Iterator[tuple[str, Executable]]:
        """The chosen kernel under every other tuning, with its name: for whoever wants to see that none changes a bit."""
        return self._implementation.tunings(layout)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({checks.field_summary(self.descriptor)}; {self.sku()}; {self.schedule})"

    def can_implement(self, args: A) -> None:
        """Raise the named error that `run` would raise for these args; None if it would run."""
        self.checked(self.descriptor, self._values(args), Stream(self.device))

    # --- execution ----------------------------------------------------------------------------------------------------

    def run(self, stream: Any, workspace: Any, args: A, scalars: Scalars = None) -> None:
        """Compute. Raises a named error, and writes nothing, where the args are not what the descriptor says.

        The workspace is a `Workspace`, or anything that one is made from, of at least `workspace_size()` bytes.
        `scalars` are the numbers of this call, by their names in `descriptor.parameters`, in place of the descriptor's own.
        """
        if scalars is not None and (self.fixes_numbers or scalars.keys() != self._numbers):
            self._refuse(scalars)
        values = self._values(args)
        if call_recorder.AT_WORK:
            call_recorder.note_writes(v for s, v in zip(self.tensors, values, strict=True) if s.written and v is not None)
            if (recorder := call_recorder.noting_plans()) is not None:
                self._run_noted(recorder, stream, workspace, values, scalars)
                return
        keys: list[Any] = []
        pointers: list[int] = []
        for table, value in zip(self._tables, values):  # noqa: B905  (equal lengths by construction; this is the hot path)
            keyed = table.get(type(value), _unknown)(value)
            if keyed is None:
                break
            keys.append(keyed[0])
            pointers.append(keyed[1])
        else:
            last_keys, entry = self._last
            if keys != last_keys:
                entry = self._entry(keys)
            latest = entry.latest
            if latest is None or latest[0] != pointers:
                executable = entry.verified.get(tuple(pointers))
                if executable is None:
                    self._run_checked(stream, workspace, values, scalars, entry)
                    return
                latest = entry.latest = (pointers, executable.call)
            handle = stream.handle if type(stream) is Stream and stream.device is self.device else self._handle(stream)
            latest[1](pointers, self._scratch(workspace) if self._workspace_bytes else 0, handle, scalars)
            return
        self._run_checked(stream, workspace, values, scalars, None)

    def _refuse(self, scalars: Mapping[str, float]) -> None:
        if self.fixes_numbers:
            raise UnsupportedError(f"scalars: {dict(scalars)}; {self._implementation.backend} computes with the descriptor's")
        expected = ", ".join(sorted(self._numbers)) or "none"
        raise InvalidProblemError(f"scalars: {', '.join(scalars) or 'none'}; expected {expected}")

    def bind(self, stream: Any, workspace: Any, args: A) -> Callable[[], None]:
        """The launch alone, for these very tensors: a function of no arguments, safe to call again and again while they
        live. Unlike `run` it may compile a kernel for the layout of the args."""
        handle = self._handle(stream)
        values = self._values(args)
        tensors = self.checked(self.descriptor, values, Stream(self.device, handle))
        layout = layout_of(tensors)
        executable = self._implementation.executable(layout, autotune=self.preference.autotune)
        if executable is None or executable.workspace_bytes > self._workspace_bytes:
            executable = self._compiled(layout)
        if self._workspace_bytes:
            workspace = Workspace.of(workspace, self._workspace_bytes, self.device)
        scratch = workspace.pointer if self._workspace_bytes else 0
        launch = executable.bind([t.pointer if t is not None else 0 for t in tensors], scratch, handle)
        launch.__dict__["operands"] = (tensors, workspace)  # they live as long as the launch
        return launch

    def _run_checked(self, stream: Any, workspace: Any, values: Sequence[Any], scalars: Scalars, entry: _Entry | None) -> None:
        """The long way round: every check, then the run; what was verified is remembered in `entry`."""
        handle = self._handle(stream)
        tensors = self.checked(self.descriptor, values, Stream(self.device, handle))
        executable = self._compiled(layout_of(tensors))
        pointers = tuple(t.pointer if t is not None else 0 for t in tensors)
        scratch = self._scratch(workspace) if self._workspace_bytes else 0
        if entry is not None:
            if len(entry.verified) >= _REMEMBERED:
                entry.verified.clear()
                entry.latest = None
            entry.verified[pointers] = executable
        executable.call(pointers, scratch, handle, scalars)

    def _run_noted(
        self, recorder: call_recorder.CallRecorder, stream: Any, workspace: Any, values: Sequence[Any], scalars: Scalars
    ) -> None:
        """A run of which the recorder is told whose launches it makes."""
        tensors = self.checked(self.descriptor, values, Stream(self.device, self._handle(stream)))
        places = [None if t is None else recorder.place(t.pointer) for t in tensors]
        first = len(recorder.steps)
        self._run_checked(stream, workspace, values, scalars, None)
        seen = [None if t is None else replace(t, owner=None) for t in tensors]  # the recorder holds no memory
        span = first, len(recorder.steps)
        how = self.op, self._implementation, self.tensors, self.descriptor
        recorder.plans.append(call_recorder.PlanCall(*how, seen, places, scalars, *span))

    def _handle(self, stream: Any) -> int:
        return as_stream(stream, self.device).handle

    def _scratch(self, workspace: Any) -> int:
        return Workspace.of(workspace, self._workspace_bytes, self.device).pointer

    def _entry(self, keys: list[Any]) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(tuple(keys), _Entry())
            self._last = (keys, entry)
            return entry

    @classmethod
    def checked(cls, descriptor: D, values: Sequence[Any], stream: Stream) -> list[TensorRef | None]:
        """The tensors of one call on a stream, after every check there is."""
        checks.check_presence(cls.tensors, descriptor, values)
        tensors: list[TensorRef | None] = []
        for spec, value in zip(cls.tensors, values, strict=True):
            if value is None:
                tensors.append(None)
                continue
            take = tensor_mut if spec.written else tensor_ref
            tensor = take(value, stream=stream, name=spec.name)
            checks.check_tensor(spec, descriptor, tensor, stream.device)
            tensors.append(tensor)
        checks.check_overlap(cls.tensors, descriptor, tensors)
        return tensors

    def _compiled(self, layout: Layout) -> Executable:
        """An executable for a layout out of kernels that are compiled already: its own, or the one for general strides."""
        executable = self._implementation.executable(layout, compiled_only=True)
        if executable is None or executable.workspace_bytes > self._workspace_bytes:
            executable = self._implementation.executable(any_strides(layout))
        assert executable is not None
        return executable
