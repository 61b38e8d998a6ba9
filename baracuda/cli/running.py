"""An ONNX model run once and then again: what went in, what came out with its hash, and how long it took."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import baracuda
from baracuda.cli.environment import PACKAGES, Environment, environment
from baracuda.core.device import Device
from baracuda.core.errors import InvalidProblemError, UnsupportedError

if TYPE_CHECKING:
    from baracuda.onnx import Model, Value

#: Random inputs have at most this many bytes each.
_LARGEST_DRAWN = 1 << 32


@dataclass(frozen=True)
class Tensor:
    """An input or an output: name, element, shape, and the SHA-256 of its bytes, little-endian, in the order of its axes."""

    name: str
    element: str
    shape: tuple[int, ...]
    sha256: str

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        return {"name": self.name, "element": self.element, "shape": list(self.shape), "sha256": self.sha256}


@dataclass(frozen=True)
class Run:
    """What a model computed.

    Attributes
    ----------
    drawn : bool
        Whether the inputs are random numbers.
    load, first, later : float, float, tuple[float, ...]
        Seconds that loading took, the first call, and each after it.
    arrays : dict[str, numpy.ndarray]
        The outputs.
    """

    model: str
    environment: Environment
    arithmetic: str
    opsets: dict[str, int]
    drawn: bool
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    load: float
    first: float
    later: tuple[float, ...]
    arrays: dict[str, np.ndarray]

    @property
    def median(self) -> float | None:
        """Of the later calls, in seconds."""
        return float(np.median(self.later)) if self.later else None

    def record(self) -> dict[str, Any]:
        """As it is written to JSON."""
        return {
            "model": self.model,
            "environment": self.environment.record(),
            "arithmetic": self.arithmetic,
            "opsets": self.opsets,
            "drawn": self.drawn,
            "inputs": [t.record() for t in self.inputs],
            "outputs": [t.record() for t in self.outputs],
            "seconds": {"load": self.load, "first": self.first, "later": list(self.later), "median": self.median},
        }


def run(
    path: Path,
    inputs: Path | None,
    device: str = "cpu",
    *,
    arithmetic: str = "reproducible",
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    repeat: int = 5,
) -> Run:
    """Load, draw or read inputs, and call `1 + repeat` times.

    Raises
    ------
    InvalidProblemError
        The file is no model, the inputs are not the model's, or extents of random ones are not known.
    UnsupportedError
        The package onnx is not installed, there is no such device, or an operator is not served.
    """
    try:
        import baracuda.onnx
        from baracuda.onnx.placement import device_of, to_numpy
    except ModuleNotFoundError as error:
        raise UnsupportedError(f"models need the package {error.name}: pip install 'baracuda[onnx]'") from None
    where = device_of(device)
    there = environment(where or Device.cpu(), PACKAGES)
    began = perf_counter()
    model = baracuda.onnx.load(path, device=where, arithmetic=arithmetic, seed=seed)  # type: ignore[arg-type]
    loaded = perf_counter() - began
    given = _read(inputs, model, shapes or {}) if inputs is not None else _drawn(model, shapes or {}, seed)
    seconds = []
    for _ in range(1 + repeat):
        began = perf_counter()
        found = model.run((), given)
        baracuda.synchronize()
        seconds.append(perf_counter() - began)
    arrays = dict(_flat(zip(model.outputs, to_numpy(found), strict=True)))
    return Run(
        str(path), there, arithmetic, model.opsets, inputs is None, tuple(_tensors(_flat(given.items()))),
        tuple(_tensors(arrays.items())), loaded, seconds[0], tuple(seconds[1:]), arrays,
    )  # fmt: skip


def shape_of(text: str) -> tuple[str, tuple[int, ...]]:
    """`x=1,3,224,224` as a name and extents."""
    name, equals, numbers = text.rpartition("=")
    try:
        extents = tuple(int(n) for n in numbers.split(",")) if numbers else ()
    except ValueError:
        extents = (-1,)
    if not equals or not name or any(n < 0 for n in extents):
        raise InvalidProblemError(
            f"--shape {text}; expected a name and extents, such as x=1,3,224,224, or x= for a single number"
        )
    return name, extents


def _read(path: Path, model: Model, shapes: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if shapes:
        raise InvalidProblemError(f"--shape is for random inputs; expected none beside {path}")
    try:
        found = np.load(path, allow_pickle=False)
        if isinstance(found, np.ndarray):
            raise InvalidProblemError(f"{path} holds one array without a name; expected an .npz with one for each input")
        with found as file:
            given = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, InvalidProblemError):
            raise
        raise InvalidProblemError(f"{path}: {error}; expected a file that numpy.savez wrote") from None
    return {name: _known_again(x, model.shapes.get(name)) for name, x in given.items()}


def _known_again(x: np.ndarray, value: Value | None) -> np.ndarray:
    """NumPy's files do not say which of the elements beyond its own an array has; the model does."""
    wanted = None if value is None else value.element
    if wanted is not None and x.dtype.kind == "V" and x.dtype.itemsize == wanted.itemsize:
        return x.view(wanted)
    return x


def _drawn(model: Model, shapes: Mapping[str, Sequence[int]], seed: int) -> dict[str, np.ndarray]:
    if extra := sorted(shapes.keys() - set(model.inputs)):
        raise InvalidProblemError(f"--shape {extra[0]}=...; expected one of the inputs {', '.join(model.inputs) or '(none)'}")
    given = {}
    for number, value in enumerate(model.describe().inputs):
        known = shapes.get(value.name, value.shape)
        extents = [n for n in known or () if isinstance(n, int)]
        if value.container or value.element is None or value.element.kind == "O":
            raise UnsupportedError(f"input {value.name!r} is {value}; expected it in an .npz, it cannot be drawn")
        if known is None or len(extents) < len(known):
            raise InvalidProblemError(
                f"input {value.name!r} is {value}; expected --shape {value.name}=... with all extents, or an .npz"
            )
        if (size := int(np.prod(extents, dtype=object)) * value.element.itemsize) > _LARGEST_DRAWN:
            raise InvalidProblemError(f"input {value.name!r}: {size} bytes; expected at most {_LARGEST_DRAWN}")
        key = baracuda.rng_fold_in(baracuda.rng_key(seed), number)
        given[value.name] = _numbers(key, tuple(extents), value.element)
    return given


def _numbers(key: Any, shape: tuple[int, ...], element: np.dtype[Any]) -> np.ndarray:
    """Floats of the standard normal distribution; of everything else 0 and 1, which are indices of nearly all tensors."""
    if element.kind == "f" or "float" in element.name:
        return np.asarray(baracuda.randn(key, shape, np.dtype(np.float32))).astype(element)
    return np.asarray(baracuda.bernoulli(key, 0.5, shape=shape, dtype=np.dtype(np.float32))).astype(element)


def _flat(values: Any) -> Any:
    """Tensors by name, those of a sequence with their number."""
    for name, value in values:
        if isinstance(value, list):
            yield from _flat((f"{name}.{i}", v) for i, v in enumerate(value))
        elif value is not None:
            yield name, np.asarray(value)


def _tensors(values: Any) -> Any:
    for name, x in values:
        if x.dtype.kind in "OSUT":
            raise UnsupportedError(f"{name!r} holds texts, which have no bytes of their own; expected numbers")
        whole = np.asarray(x, order="C")
        plain = whole.astype(whole.dtype.newbyteorder("<"), copy=False) if whole.dtype.kind in "biufc" else whole
        yield Tensor(name, str(x.dtype), tuple(x.shape), hashlib.sha256(plain.tobytes()).hexdigest())
