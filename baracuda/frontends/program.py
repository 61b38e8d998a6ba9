"""Programs: functions of tensors, of any number of calls of this library's, as one kept call for each combination of layouts.

The first call with some layouts runs the function and is seen by a recorder (`baracuda.core.program_recorder`): every launch and
every piece of memory. The next ones allocate the results and one block of scratch memory, planned so that memory that is not used
any more serves again, and make all launches from C. What the function does besides, in Python, happens once for each combination
of layouts.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from baracuda.core import call_recorder
from baracuda.core.call_recorder import RecordedLaunch, recording
from baracuda.core.device import Device, DeviceKind
from baracuda.core.errors import Error, InvalidProblemError, UnsupportedError
from baracuda.core.layout_key import LAYOUT_KEYS, register_torch
from baracuda.core.preferred import preferred
from baracuda.core.program_recorder import ProgramRecorder
from baracuda.core.tensor import TensorRef, tensor_ref
from baracuda.frontends.array.array import Array, layout_of
from baracuda.frontends.arrays import MemoryExtent, current_stream, dense_allocator, extent_of, library_of
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call_cache import native, others_by_address, reports_on, unkept
from baracuda.frontends.call_replay import Call, PythonFunction
from baracuda.frontends.fusing import Fusion, fused
from baracuda.frontends.kept import Step, launched, places_of, planned, prepared, recipe, spans_of
from baracuda.frontends.program_checks import CheckFailed, failing
from baracuda.frontends.program_graphs import use_graphs
from baracuda.frontends.program_memory import is_held, torch_place, undifferentiated, without_pytorch
from baracuda.frontends.program_results import Refusal, Returned

#: Combinations of layouts that one program keeps.
MOST_LAYOUTS = 64
#: How often values that a program reads on the host may be others than they were, before it is no longer kept for half its calls.
_MOST_MISSES = 8


class Program:
    """A function of tensors as one kept call for each combination of layouts: recorded once, memory planned, launched from C.

    It gives what the function gives, with the same bits. Results are new tensors each time, or views of arguments where the
    function's are. The function must compute with this library alone: views of PyTorch and NumPy are fine, values they compute
    are not. It must not read values of NumPy arrays, which is only seen with `twice`, and nothing in it is differentiated.

    A single value that it reads on the host (`x.item()`, `if x.any():`) is read in each call: where it is the same, the call goes
    on like the one before, and where not the function is run.

    Where what the function does cannot be repeated from its launches, it is run each time, and `why` says why: it reads other
    values on the host, or such that change, PyTorch computes in it, it uses memory that is neither an argument's, nor held, nor
    allocated by this library, or it writes to an argument without `writes`.

    Parameters
    ----------
    function
        Of tensors (NumPy, PyTorch or `Array`), numbers, and lists or tuples of them, to tensors, numbers, None, or tuples, lists
        or dicts of these. Numbers count by value, tensors by layout.
    held
        Tensors that it reads besides its arguments. They stay where they are: new values written into them are seen, new memory
        put in their place is not.
    name
        What errors call it.
    writes
        Whether it may write to its arguments, and to what is held.
    fuse
        Whether launches become one where that changes no bit: formulas whose results others read element by element, or by rows.
    constant
        Whether what is held never changes: then what launches make of it alone, as packed weights are, is made once.
    twice
        Whether a call is kept only once two calls like it have made the same launches: for functions of which it is not known
        that they read no values of NumPy arrays.

    Attributes
    ----------
    why
        Why the call with the latest layouts that were new is not kept; None where it is.
    fusion
        What was fused for these layouts, and what was not and why (`print` it), of a program with `fuse`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        held: Iterable[Any] = (),
        name: str | None = None,
        writes: bool = False,
        fuse: bool = False,
        constant: bool = False,
        twice: bool = False,
    ) -> None:
        self.function, self.writes, self.fuse, self.constant = function, writes, fuse, constant
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.held = tuple(held)
        self.why: str | None = None
        self.fusion: Fusion | None = None
        self._before: dict[Any, Any] | None = {} if twice else None
        self._reads, self._may_read, self._missed = False, True, 0
        self._held_by_id = {id(t): t for t in self.held}
        if "torch" in sys.modules:  # a first call is not lost for not knowing its tensors
            register_torch(sys.modules["torch"])
        self._nothing = np.empty(1, np.uint8)  # stands for the tensors of a program that is given none
        if native is None:
            self._call: Any = PythonFunction(Cacheable(self._run), self._record, MOST_LAYOUTS)
        else:
            self._call = native.Function(
                function=self._run, record=self._record, positions=(), numbers=(), specials={}, writes=False, most=MOST_LAYOUTS
            )

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns for these arguments."""
        try:
            return self._call(*arguments or (self._nothing,))
        except CheckFailed:
            return self._failed(arguments)

    def __repr__(self) -> str:
        return f"<program {self.name}>"

    @property
    def kept(self) -> int:
        """For how many combinations of layouts calls are kept."""
        return int(self._call.cached_calls)

    def forget(self) -> None:
        """Forget all kept calls: what is held lies elsewhere now."""
        self._call.forget()

    def _run(self, *arguments: Any) -> Any:
        """The function itself."""
        if self.why is None:
            self.why = _unkeyed(arguments)
            if self.why is None and self._reads and call_recorder.current() is None:
                self._miss()
        with undifferentiated():
            return self.function(*self._given(arguments))

    def _miss(self) -> None:
        """A value on the host is another than it was: the next call is recorded anew, or none is, where that happens often."""
        self._missed += 1
        if self._missed > _MOST_MISSES and 2 * self._missed > self._call.followed:
            self._may_read = False
        self._call.forget()

    def _given(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        return () if len(arguments) == 1 and arguments[0] is self._nothing else arguments

    def _record(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any], tensors: tuple[Any, ...]
    ) -> tuple[Any, Any, Any]:
        """As `call_cache.Recorder`: the result, the kept call or None, and what its key refers to by address."""
        try:
            refs = [tensor_ref(t) for t in tensors]
            held = [extent_of(tensor_ref(t)) for t in self.held]
        except Error as error:
            self.why = str(error)
            return self.function(*self._given(arguments)), None, ()
        recorder = ProgramRecorder([extent_of(r) for r in refs], held, is_held, plans=self.fuse)
        recorder.may_read = self._may_read
        with unkept(), recording(recorder), without_pytorch():
            result = self.function(*self._given(arguments))
        call = None
        try:
            call = _Builder(self, recorder, tensors, refs, result).call()
            self.why = self._differs(recorder, refs)
            call = call if self.why is None else None
            self._reads = self._reads or recorder.reads
        except (Refusal, UnsupportedError) as refusal:  # a result may be of an element that nothing here has
            self.why = str(refusal)
        layouts = [layout_of(t) for t in tensors if type(t) is Array]
        dtypes = [t.dtype for t in tensors if type(t) is np.ndarray]
        made = (tensor for _, _, tensor in recorder.made)
        return result, call, (*made, *others_by_address(arguments), *dtypes, *layouts, preferred())

    def _differs(self, recorder: ProgramRecorder, refs: Sequence[TensorRef]) -> str | None:
        """Why what was launched cannot be relied on; None where the call before made the same launches, or none need to."""
        if self._before is None:
            return None
        if len(self._before) >= MOST_LAYOUTS:
            self._before.clear()
        like = tuple((r.shape, r.strides, r.kind) for r in refs)
        before = self._before.get(like)
        steps = self._before[like] = tuple(recorder.steps)
        if before is None:
            return "it is kept from the second call on"
        return None if before == steps else "what it launches changes from call to call"

    def _failed(self, arguments: tuple[Any, ...]) -> Any:
        """A check of values failed after arguments were written: the function says what is wrong, of copies of them."""
        with undifferentiated():
            self.function(*map(_copied, self._given(arguments)))
        raise InvalidProblemError(f"{self.name}: a check of its values failed after it had written to its arguments")


def _copied(argument: Any) -> Any:
    """An argument with tensors of its own."""
    if isinstance(argument, (tuple, list)):
        return type(argument)(map(_copied, argument))
    if argument is None or type(argument) not in LAYOUT_KEYS:
        return argument
    return argument.clone() if library_of(argument) == "torch" else argument.copy()


def _unkeyed(arguments: Sequence[Any]) -> str | None:
    """Why the layouts of arguments cannot be told apart."""
    for i, a in enumerate(arguments):
        lazy = library_of(a) == "torch" and (a.is_conj() or a.is_neg())
        if hasattr(a, "shape") and (lazy or type(a) not in LAYOUT_KEYS or LAYOUT_KEYS[type(a)](a) is None):
            return f"argument {i} is a {type(a).__module__}.{type(a).__qualname__} whose layout is not known at once"
    return None


class _Builder:
    """Makes a kept call of what was recorded."""

    def __init__(
        self, program: Program, recorder: ProgramRecorder, tensors: Sequence[Any], refs: Sequence[TensorRef], result: Any
    ) -> None:
        self.program, self.recorder, self.tensors, self.refs, self.result = program, recorder, tensors, refs, result

    def call(self) -> Any:
        """The kept call; raises `Refusal` where there can be none."""
        recorder, first = self.recorder, len(self.tensors) + 1
        self._refuse()
        returned = Returned(self.result, recorder, self.tensors, self.program._held_by_id)
        steps = self._steps(frozenset(returned.results))
        if self.program.constant:
            steps = [prepared(s) for s in steps]
        like, device = self._like(steps, returned)
        relocated = {source: (first + i, 0) for i, source in enumerate(returned.results)}
        spans = spans_of(steps, lambda source: source >= first and source not in returned.results)
        offsets, scratch = planned(spans, lambda source: recorder.allocated[source - first].nbytes)
        relocated.update((source, (first + len(returned.results), offset)) for source, offset in offsets.items())
        example = self.tensors[like]
        library = library_of(example)
        launches = [launched(s, relocated, device) for s in steps]
        if self.program.writes and recorder.first_write is not None:
            launches = failing(launches, steps, recorder.first_write, device)
        if device.kind is DeviceKind.CUDA:
            reports_on()
            use_graphs()
        return (Call if native is None else native.Call)(
            launches=tuple(launches),
            results=tuple(recipe(of, device, result, _allocator(of, device, result)) for of, result in returned.results.values()),
            returned=tuple(relocated.get(s, (s, 0))[0] for s in returned.sources),
            like=like,
            scratch=scratch,
            scratch_on=dense_allocator(library, device, (scratch,), (1,), _U8) if scratch else None,
            cuda=device.kind is DeviceKind.CUDA,
            renumber=None,
            rebuild=returned.rebuild,
            program=True,
            held=[tensor for _, _, tensor in recorder.made],
        )

    def _steps(self, results: frozenset[int]) -> Sequence[Step]:
        """What is launched, in order; `results` are the sources whose values somebody else sees."""
        if not self.program.fuse:
            return self.recorder.steps
        fusion = fused(self.recorder, results)
        self.program.fusion, self.recorder.first_write = fusion, fusion.first_write
        return fusion.steps

    def _refuse(self) -> None:
        recorder = self.recorder
        if recorder.refused:
            raise Refusal(recorder.refused)
        written = [w - 1 for w in sorted(recorder.written) if 0 < w <= len(self.tensors)]
        if not self.program.writes and (written or recorder.writes_held):
            what = f"argument {written[0]}" if written else "a tensor that is held"
            raise Refusal(f"it writes to {what}; expected writes=True")

    def _like(self, steps: Sequence[Step], returned: Returned) -> tuple[int, Device]:
        """The argument whose device and stream are those of the launches, and that device."""
        used = {p.source for s in steps for p in places_of(s)}
        devices = {r.device for i, r in enumerate(self.refs) if i + 1 in used} or {r.device for r in self.refs}
        pointers = sorted({p.offset for s in steps for p in places_of(s) if not p.source})
        others = {r.device for r in map(tensor_ref, self.program.held) if _reaches(extent_of(r), pointers)}
        made = {d for i, d in enumerate(self.recorder.devices) if i + 1 + len(self.tensors) in used and d is not None}
        others |= made | returned.devices
        if len(devices | others) != 1:
            raise Refusal(f"it computes on {', '.join(sorted(map(str, devices | others)))}")
        (device,) = devices
        libraries = {library for library, _ in returned.results.values()}
        at = [i for i, r in enumerate(self.refs) if r.device == device]
        like = next((i for i in at if library_of(self.tensors[i]) in libraries), at[0])
        if any(isinstance(s, RecordedLaunch) for s in steps):
            streams = {current_stream(self.tensors[like], device).handle}
            if self.recorder.streams != streams:
                raise Refusal("it launches on a stream that is not the current one of its arguments' library")
        return like, device


def _reaches(extent: MemoryExtent, pointers: Sequence[int]) -> bool:
    """Whether one of some addresses, which are in order, lies in a tensor's memory."""
    at = bisect_left(pointers, extent.low)
    return at < len(pointers) and pointers[at] < extent.high


_U8: Any = tensor_ref(np.empty(1, np.uint8)).kind


def _allocator(library: str, device: Device, result: Any) -> Callable[[Any], Any]:
    """What makes a result, whatever the argument that it is to be like."""
    make = dense_allocator(library, device, *result)
    if library != "torch":
        return make
    place = torch_place(device)
    return lambda like: make(place)
