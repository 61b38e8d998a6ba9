"""Functions recorded once and replayed: all the launches of a model as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from baracuda.core import locks
from baracuda.core.device import DeviceKind
from baracuda.core.errors import BackendError, InvalidProblemError, UnsupportedError
from baracuda.core.preferred import preferred, preferring
from baracuda.core.tensor import tensor_ref
from baracuda.frontends.array import Array, empty
from baracuda.frontends.arrays import library_of
from baracuda.frontends.families import function
from baracuda.frontends.program import Program
from baracuda.runtime.device_memory import copy, synchronize
from baracuda.runtime.device_pool import Pool
from baracuda.runtime.streams import CudaStream, own_stream, using_stream

#: What recorded work reads and writes lies in a pool of its own, which all recordings share: no two of them run at once, because
#: everything that they launch is on one stream, and what one call launches is launched under the lock.
_pool, _lock = Pool(), locks.reentrant_lock()


class Recording:
    """What `record` returns: call it as the function, with tensors of the shapes and elements of the examples.

    Results have the bits that the function gives. On CUDA a call copies its arguments to where the recorded work reads them,
    launches that work as a graph, and copies the results. On the CPU, and for PyTorch's tensors on either device, it is a kept
    call (`baracuda.frontends.program`). Several threads may call.

    Attributes
    ----------
    function
        What was recorded.
    """

    def __init__(self, function_: Callable[..., Any], examples: tuple[Any, ...], held: Iterable[Any]) -> None:
        self.function = function_
        self._name = getattr(function_, "__name__", type(function_).__name__)
        self._expected = [_described(self._name, i, example) for i, example in enumerate(examples)]
        devices = {device for *_, device in self._expected}
        if len(devices) != 1:
            got = ", ".join(sorted(map(str, devices))) or "none"
            raise InvalidProblemError(f"record: the examples of {self._name} are on {got}; expected at least one, on one device")
        (self._device,) = devices
        self._program: Program | None = None
        self._preferring = preferring(preferred())
        own = {isinstance(e, Array) for e in examples} == {True}
        if self._device.kind is DeviceKind.CPU or not own:
            self._program = Program(function_, held=held, name=self._name, twice=any(isinstance(e, np.ndarray) for e in examples))
        else:
            self._record(examples)

    def _record(self, examples: tuple[Array, ...]) -> None:
        stream = CudaStream(self._device)
        with _lock, _pool.serving():
            self._inputs = [empty(e.shape, e.kind, self._device) for e in examples]
            self._fill(examples)
            synchronize(self._device)
            with using_stream(stream.stream):
                self.function(*self._inputs)  # makes the plans, and the memory that the recording will find in the pool
                stream.synchronize()
                results: list[Any] = []
                try:
                    self._graph = stream.capture(lambda _: results.append(self.function(*self._inputs)))
                except BackendError as error:
                    raise UnsupportedError(
                        f"record: {self._name} does what cannot be recorded, such as to wait for the device "
                        f"(bounds='clamp' spares indexed reads that): {error}"
                    ) from error
        self._results = results[0]
        _map(self._results, lambda result: None)  # raises where there is anything but arrays

    def __call__(self, *arguments: Any) -> Any:
        """The function's results for these arguments.

        Raises
        ------
        InvalidProblemError
            Their number, or the shape, element or device of one, is not that of the examples.
        """
        described = [_described(self._name, i, argument) for i, argument in enumerate(arguments)]
        if described != self._expected:
            raise InvalidProblemError(f"{self._name}: recorded for {_summary(self._expected)}; got {_summary(described)}")
        if self._program is not None:
            with self._preferring:
                return self._program(*arguments)
        with _lock:
            self._fill(arguments)
            self._graph.replay(own_stream(self._device))
            return _map(self._results, lambda held: _copied(held, empty(held.shape, held.kind, held.device)))

    def _fill(self, arguments: tuple[Array, ...]) -> None:
        for held, argument in zip(self._inputs, arguments, strict=True):
            _copied(argument, held)


def record(function: Callable[..., Any], *examples: Any, held: Iterable[Any] = ()) -> Recording:
    """Record what a function launches for arguments like these, to launch all of it at once from then on.

    A model is some hundreds of launches, and for small tensors the host takes longer to make them than the device to do them. A
    recorded function costs the host one launch of a CUDA graph, or on the CPU and for PyTorch's tensors one call of C that makes
    all launches. It has the bits of the function itself. The device memory that a graph works in is kept for later recordings.

    Parameters
    ----------
    function
        Of tensors, to a tensor or a tuple, list or dict of tensors. It runs once or twice while it is recorded and not again:
        whatever it does besides calling functions of this library happens then. It must not read values on the host. Tensors
        that it reads besides its arguments, a model's weights, are read where they are at each call.
    examples
        An `Array` for each argument (on the CPU, also a NumPy array; on either device, also a PyTorch tensor), whose shape and
        element the arguments of calls will have.
    held
        The tensors that it reads besides its arguments. A function on the CPU, or of PyTorch's tensors, that reads others is run
        each time.

    Raises
    ------
    InvalidProblemError
        An example or a result is no tensor of these, or the examples are on several devices.
    UnsupportedError
        The function waits for the device, which cannot be recorded.

    Source: CUDA C++ Programming Guide, CUDA Graphs, stream capture.

    Example
    -------
    >>> import numpy as np, baracuda
    >>> x = np.float32([[0, 1, 2]])
    >>> recorded = baracuda.record(lambda x: baracuda.softmax(baracuda.mul(x, 2.0)), x)
    >>> recorded(x).round(3)
    array([[0.016, 0.117, 0.867]], dtype=float32)
    """
    return Recording(function, examples, held)


def _described(name: str, number: int, value: Any) -> tuple[Any, ...]:
    """Shape, element and device of an argument."""
    if isinstance(value, Array):
        return value.shape, value.kind, value.device
    if isinstance(value, np.ndarray) or library_of(value) == "torch":
        ref = tensor_ref(value, name=f"argument {number} of {name}")
        return ref.shape, ref.kind, ref.device
    raise InvalidProblemError(
        f"record: argument {number} of {name} is a {type(value).__module__}.{type(value).__qualname__}; "
        "expected an Array, a PyTorch tensor, or on the CPU a NumPy array"
    )


def _summary(described: list[tuple[Any, ...]]) -> str:
    return ", ".join(f"{kind} {'x'.join(map(str, shape)) or 'scalar'} on {device}" for shape, kind, device in described)


def _map(results: Any, of: Callable[[Array], Any]) -> Any:
    """Something of each array among results."""
    if isinstance(results, Array):
        return of(results)
    if isinstance(results, tuple | list):
        return type(results)(_map(r, of) for r in results)
    if isinstance(results, Mapping):
        return {name: _map(r, of) for name, r in results.items()}
    raise InvalidProblemError(f"record: a result is {results!r}; expected an Array, or a tuple, list or dict of them")


def _copied(source: Array, target: Array) -> Array:
    """`target`, which is contiguous, with the values of `source` put into it."""
    if source.strides != target.strides:
        function("positive")(source, out=target)
    elif nbytes := source.size * source.kind.itemsize:
        copy(target, source, nbytes, own_stream(source.device).handle)
    return target
