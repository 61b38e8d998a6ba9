"""The one path of every public function: what a repeated call comes down to.

A function does the same for two calls that differ in the addresses of their tensors alone, or in numbers that kernels are given
when they run. So the first call of its kind is seen by a recorder (`baracuda.core.call_recorder`), and the next ones allocate
results and scratch memory and make the same launches. That is what `baracuda.native.calls` does, in C, with the key of a call:

- the layout of each tensor: library, element, shape, strides, alignment, device, and whether it may be written;
- where tensors overlap, how far they are from one another;
- the type of each number that is a parameter of kernels, or that stands in a tensor's place, and its value where that has code
  of its own;
- the value of everything else, names of keywords included;
- what `preferring` says.

A call whose key cannot be told (another library's tensor, a function as an argument, a lazily conjugated tensor) runs as it is,
and so does one that reads values on the host, uses memory that is neither an argument's nor a result's, or writes to an argument
that is not `out`. Where the C module was not compiled, `PythonFunction` does the same more slowly.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from baracuda.core import layout_key, run_hooks
from baracuda.core.call_recorder import CallRecorder, RecordedLaunch, recording
from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error
from baracuda.core.preferred import PREFERRED, preferred
from baracuda.core.tensor import TensorRef, tensor_ref
from baracuda.frontends.array.array import Array, layout_of
from baracuda.frontends.arrays import current_stream, dense_allocator, extent_of, library_of
from baracuda.frontends.cacheable import Cacheable
from baracuda.frontends.call import device_of
from baracuda.frontends.call_replay import PLAIN, Call, PythonFunction, watch_thread
from baracuda.frontends.creating import CreatingFunction
from baracuda.frontends.kept import Result, launched, planned, recipe, spans_of
from baracuda.frontends.number_words import NumberUpdate, slots_of
from baracuda.frontends.view_function import ViewFunction
from baracuda.native import load
from baracuda.runtime import pool
from baracuda.runtime.streams import own_stream

native = load()
#: Launches of a call that is kept; native/call.h has room for as many.
MOST_LAUNCHES = 256
#: Numbers of checks of ranges: where a call has none of the same name, they follow from its shapes.
OF_SHAPES = frozenset({"low", "last", "ignore_index"})
#: What the names of other numbers begin with that follow from shapes alone.
FROM_SHAPES = "shape_"


def cached(function: Callable[..., Any]) -> Any:
    """A public function whose repeated calls take the short way."""
    return call_cached(getattr(function, "cacheable", None) or Cacheable(function))


def call_cached(known: Cacheable) -> Any:
    """A function of which this is known, its repeated calls by the short way."""
    if known.creates:
        return CreatingFunction(call_cached(known._replace(creates=False)))
    if known.views:
        return ViewFunction(call_cached(known._replace(views=False)))
    if native is None:
        return python_function(known)
    return native.Function(
        function=known.function,
        record=Recorder(known, native=True),
        positions=known.positions,
        numbers=known.numbers,
        specials=dict(known.specials),
        writes=known.writes,
    )


def python_function(known: Cacheable) -> PythonFunction:
    """The same in Python, whether or not the C module is there."""
    return PythonFunction(known, Recorder(known, native=False))


class Recorder:
    """Makes calls of one function that nobody made before, and what the next one like it comes down to."""

    def __init__(self, known: Cacheable, *, native: bool) -> None:
        self.known, self.native = known, native

    def __call__(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any], tensors: tuple[Any, ...]
    ) -> tuple[Any, Any, Any]:
        """The result; what the next such call comes down to, or None; and what its key refers to by address."""
        try:
            refs = [tensor_ref(t) for t in tensors]
        except Error:  # the function itself says what is wrong
            return function(*arguments, **keywords), None, ()
        recorder = CallRecorder([extent_of(r) for r in refs])
        within = native.watch_thread if self.native else watch_thread
        within(1)
        try:
            with recording(recorder):
                result = function(*arguments, **keywords)
        finally:
            within(-1)
        layouts = [layout_of(t) for t in tensors if type(t) is Array]
        dtypes = [t.dtype for t in tensors if type(t) is np.ndarray]
        keepalive = (*keywords, *others_by_address((*arguments, *keywords.values())), *dtypes, *layouts, preferred())
        outputs = tensors if self.known.writes else _flat(keywords.get("out"))
        if self.known.scalars is not None and not self._reached(recorder, arguments, keywords):
            recorder.refuse("a number does not reach a kernel as it is")
        given = arguments, keywords
        call = _RecordedCall(self.known, recorder, given, tensors, refs, result, outputs, self.native).call()
        return result, call, keepalive

    def _reached(self, recorder: CallRecorder, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether launches were given each number of a call by its name, and nothing that may follow from one by another name.

        Of a declared op the first holds by construction."""
        assert self.known.scalars is not None
        numbers = self.known.scalars(arguments, keywords)
        variable = {n: v for n, v in numbers.items() if v not in self.known.specials.get(n, ())}
        rows = [s.scalars for s in recorder.steps if isinstance(s, RecordedLaunch) and s.scalars is not None]
        own = {*numbers, *self.known.numbers, *OF_SHAPES}
        if variable and any(name not in own and not name.startswith(FROM_SHAPES) for row in rows for name in row):
            return False
        for name, value in variable.items() if self.known.every else ():
            reached = [row[name] for row in rows if name in row]
            if not reached or any(v != value for v in reached):
                return False
        return True


def others_by_address(values: Sequence[Any]) -> list[Any]:
    """Arguments that a key tells apart by their address."""
    others: list[Any] = []
    for v in values:
        if isinstance(v, (tuple, list)):
            others += others_by_address(v)
        elif type(v) in PLAIN or isinstance(v, type):
            others.append(v)
    return others


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [found for v in value for found in _flat(v)]
    return [] if value is None else [value]


@contextmanager
def unkept() -> Iterator[None]:
    """While this lasts, this thread's calls run the long way."""
    ways = [watch_thread] if native is None else [watch_thread, native.watch_thread]
    for way in ways:
        way(1)
    try:
        yield
    finally:
        for way in ways:
            way(-1)


def reports_on(in_c: bool = native is not None) -> bool:
    """Have C look, before each call on a GPU, whether a device has reported that something is wrong."""
    reports = sys.modules.get("baracuda.runtime.reports")
    if reports is not None and in_c:
        native.use_reports(reports.flag(), reports.raise_pending)
    return True


class _RecordedCall:
    """A call that was recorded, to be made again."""

    def __init__(
        self,
        known: Cacheable,
        recorder: CallRecorder,
        given: tuple[tuple[Any, ...], dict[str, Any]],
        tensors: tuple[Any, ...],
        refs: Sequence[TensorRef],
        result: Any,
        outputs: Sequence[Any],
        native: bool,
    ) -> None:
        self.native, self.given = native, given
        self.known, self.recorder, self.tensors, self.refs, self.result = known, recorder, tensors, refs, result
        written = {id(w) for w in outputs}
        places = {r.pointer for t, r in zip(tensors, refs, strict=True) if id(t) in written}  # of whichever tensor is there
        self.written = {i + 1 for i, r in enumerate(refs) if r.pointer in places}

    def call(self) -> Any:
        """What the next call comes down to; None where it has to be found out anew."""
        recorder, tensors = self.recorder, self.tensors
        launches = [s for s in recorder.steps if isinstance(s, RecordedLaunch)]
        nothing = not launches and not recorder.allocated
        if recorder.refused or not tensors or nothing or len(launches) > MOST_LAUNCHES:
            return None
        devices = {r.device for r in self.refs}
        like = self._like()
        if len(devices) != 1 or like is None:
            return None
        (device,) = devices
        example = tensors[like]
        if launches and recorder.streams != {current_stream(example, device).handle}:
            return None
        if any(w not in self.written for w in recorder.written if 0 < w <= len(tensors)):
            return None
        returned = self._returned()
        if returned is None:
            return None
        sources, results, rebuild = returned
        relocated, scratch = self._moved(results)
        library = library_of(example)
        recipes = tuple(recipe(library, device, result) for result in results.values())
        steps = tuple(launched(s, relocated, self.refs[0].device) for s in recorder.steps)
        numbers = self.known.scalars
        on_device = dense_allocator(library, device, (scratch,), (1,), ElementKind.U8) if scratch else None
        return (native.Call if self.native else Call)(
            launches=steps,
            results=recipes,
            returned=tuple(relocated.get(s, (s, 0))[0] for s in sources),
            like=like,
            scratch=scratch,
            scratch_on=on_device,
            cuda=device.kind is DeviceKind.CUDA and reports_on(self.native),
            renumber=None if numbers is None else NumberUpdate(numbers, recorder),
            numbers=slots_of(self.known, recorder, *self.given),
            rebuild=rebuild,
        )

    def _like(self) -> int | None:
        """The tensor whose library and device the results are of."""
        wanted = {type(a.like) for a in self.recorder.allocated} or {type(t) for t in self.tensors}
        libraries = {library_of(a.like) for a in self.recorder.allocated}
        for i, t in enumerate(self.tensors):
            if type(t) in wanted or library_of(t) in libraries:
                return i if len(libraries) <= 1 else None
        return None

    def _returned(self) -> tuple[list[int], dict[int, Result], Any] | None:
        """The source of each returned tensor, the allocations among them, and what makes the answer of several."""
        result = self.result
        rebuild: Any = None
        several = isinstance(result, tuple)
        if several:
            rebuild = True if type(result) is tuple else type(result)._make
        sources: list[int] = []
        results: dict[int, Result] = {}
        own_sources = {id(t): i + 1 for i, t in reversed(list(enumerate(self.tensors)))}
        memory = {a.pointer: i for i, a in enumerate(self.recorder.allocated) if a.nbytes}
        for value in result if several else (result,):
            if value is None:
                sources.append(0)
                continue
            own = own_sources.get(id(value))
            if own is not None:
                sources.append(own)
                continue
            if layout_key.LAYOUT_KEYS.get(type(value)) is None:
                return None
            ref = tensor_ref(value)
            extent = extent_of(ref)
            i = memory.get(extent.pointer, -1)
            if i < 0:
                return None
            a = self.recorder.allocated[i]
            if extent.low != extent.pointer or extent.high - extent.low != a.nbytes:
                return None
            source = len(self.tensors) + 1 + i
            dense = prod(ref.shape) * ref.kind.itemsize == a.nbytes
            if source in results or not dense or library_of(value) != library_of(a.like):
                return None
            results[source] = Result(ref.shape, ref.strides, ref.kind)
            sources.append(source)
        return sources, results, rebuild

    def _moved(self, results: Mapping[int, Result]) -> tuple[dict[int, tuple[int, int]], int]:
        """Where each allocation lies in the next call: a result, or a byte of the scratch memory, and how much of that there is.
        Memory that is not used any more serves again."""
        first = len(self.tensors) + 1
        relocated = {source: (first + i, 0) for i, source in enumerate(results)}
        spans = spans_of(self.recorder.steps, lambda source: source >= first and source not in results)
        offsets, total = planned(spans, lambda source: self.recorder.allocated[source - first].nbytes)
        relocated.update((source, (first + len(results), offset)) for source, offset in offsets.items())
        return relocated, total


# --- layouts, streams and watchers --------------------------------------------------------------------------------------


def _stream_of(tensor: Any) -> int:
    return own_stream(tensor.device).handle if type(tensor) is Array else current_stream(tensor, device_of(tensor)).handle


def _watch(change: int) -> None:
    if native is not None:
        native.watch(change)
    else:
        PythonFunction.watchers += change


def _use_torch(torch: Any) -> None:
    """Read PyTorch's tensors in C, where its version hands out what that takes."""
    if native is None:
        return
    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is not None:
        of_tensors = torch.Tensor.is_neg, torch.Tensor.is_conj, torch.is_grad_enabled
        native.use_torch(capsule, torch.Tensor, torch.nn.Parameter, *of_tensors)


if native is not None:
    native.configure(plain=PLAIN, start_threads=pool.start, stream_of=_stream_of, preferred=PREFERRED)
    layout_key.ON_TORCH.append(_use_torch)
    if "torch" in sys.modules:
        layout_key.register_torch(sys.modules["torch"])
run_hooks.on_change(_watch)
