"""Inputs as a program computes with them, held against what the model says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import tensor_ref
from baracuda.frontends.array import Array, of
from baracuda.onnx import model
from baracuda.onnx.coded import Coded, coded
from baracuda.onnx.placement import on_host, placed
from baracuda.onnx.values import Value


def taken(what: Value, given: Any, device: Device | None) -> Any:
    """An input on the device. Raises `InvalidProblemError` where it is not what the model says."""
    if given is None:
        if not what.optional:
            raise InvalidProblemError(f"input {what.name!r} is None; expected {what}")
        return None
    if "sequence" in what.container:
        if not isinstance(given, (list, tuple)):
            raise InvalidProblemError(f"input {what.name!r}: {type(given).__name__}; expected a list of tensors")
        return [_tensor(what, v, device) for v in given]
    return _tensor(what, given, device)


def _tensor(what: Value, given: Any, device: Device | None) -> Any:
    found = _read(what.name, given)
    if what.element is not None and (element := _element(found)) != what.element and not _both_text(element, what.element):
        raise InvalidProblemError(f"input {what.name!r}: element {element}; expected {what.element}")
    shape = tuple(found.shape)
    if what.shape is not None and (
        len(shape) != len(what.shape) or any(isinstance(e, int) and e != n for e, n in zip(what.shape, shape, strict=True))
    ):
        expected = "(" + ", ".join("?" if e is None else str(e) for e in what.shape) + "," * (len(what.shape) == 1) + ")"
        raise InvalidProblemError(f"input {what.name!r}: shape {shape}; expected {expected}")
    if device is None:
        return coded(on_host(found)) if isinstance(found, Array) else found
    if isinstance(found, Array) and found.device != device:
        found = on_host(found)
    return placed(found, device)


def _read(name: str, given: Any) -> Any:
    """Whatever has values as a NumPy array, codes, or one of our arrays, which lies where it lay."""
    if isinstance(given, onnx.TensorProto):
        given = model.tensor(given, None)
    if isinstance(given, np.ndarray):
        return coded(given)
    if isinstance(given, (Array, Coded)):
        return given
    if hasattr(given, "__dlpack__"):
        return of(tensor_ref(given, name=name))
    try:
        return coded(np.asarray(given))
    except (ValueError, TypeError) as e:
        raise InvalidProblemError(f"input {name!r}: {type(given).__name__} is no tensor: {e}") from None


def _element(found: Any) -> np.dtype[Any]:
    return found.dtype.numpy if isinstance(found.dtype, ElementKind) else np.dtype(found.dtype)


def _both_text(element: np.dtype[Any], expected: np.dtype[Any]) -> bool:
    return expected.kind == "O" and element.kind in "OSUT"
