"""A loaded model: a callable of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

from baracuda.core.errors import InvalidProblemError
from baracuda.onnx import graph, model
from baracuda.onnx.functions import Library
from baracuda.onnx.operators.values import element
from baracuda.onnx.placement import device_of, placed
from baracuda.onnx.program import Program


class Model:
    """A model that can be called; made by `load`.

    Attributes
    ----------
    inputs, outputs : tuple[str, ...]
        Their names, in the model's order.
    opsets : dict[str, int]
        The version of each domain that the model is written in; "" is ONNX's own.
    """

    def __init__(self, source: Any, device: Any = None) -> None:
        proto, folder = model.read(source)
        self.opsets = model.opsets(proto.opset_import)
        self.device = device_of(device)
        self._graph = graph.read(proto.graph, self.opsets, folder)
        self._program = Program(self._graph, Library(proto.functions, self.opsets, folder, self.device))
        self.inputs = self._graph.inputs
        self.outputs = self._graph.outputs
        self._optional = {n for n in self.inputs if _is_optional(self._graph.kinds.get(n))}

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The outputs, a tuple where there are several, of inputs by position or by name."""
        found = self.run(values, named)
        return found[0] if len(found) == 1 else found

    def run(self, values: Any, named: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """The outputs as a tuple."""
        if len(values) > len(self.inputs):
            raise InvalidProblemError(f"{len(values)} inputs; expected {len(self.inputs)}: {', '.join(self.inputs) or 'none'}")
        given = dict(zip(self.inputs, values, strict=False))
        for name, value in (named or {}).items():
            if name not in self.inputs or name in given:
                expected = ", ".join(n for n in self.inputs if n not in given) or "no more"
                raise InvalidProblemError(f"input {name!r}; expected {expected}")
            given[name] = value
        if missing := [n for n in self.inputs if n not in given and n not in self._optional]:
            raise InvalidProblemError(f"input {missing[0]!r} is missing; expected {', '.join(self.inputs)}")
        taken = [_taken(n, given.get(n), self._graph.kinds.get(n)) for n in self.inputs]
        return tuple(self._program([placed(v, self.device) for v in taken]))


def load(source: Any, *, device: Any = None) -> Model:
    """The model as a callable: `load("model.onnx")(x)`.

    Parameters
    ----------
    source
        A path, bytes, or an `onnx.ModelProto`. External data is read from the model's folder and nowhere else.
    device
        "cpu": inputs and results are NumPy's arrays. "cuda", "cuda:1" or a `Device`: inputs of any kind are put there, results
        are our arrays there.

    Raises
    ------
    InvalidProblemError
        The file is malformed; the error says where.
    UnsupportedError
        An operator is not served; the error says which, of which domain, in which version.
    """
    return Model(source, device)


def _is_optional(kind: Any) -> bool:
    return kind is not None and kind.WhichOneof("value") == "optional_type"


def _taken(name: str, value: Any, kind: Any) -> Any:
    """An input as the program computes with it, held against what the model says of it."""
    if isinstance(value, onnx.TensorProto):
        value = model.tensor(value, None)
    if value is None or isinstance(value, (list, tuple)):
        if kind is not None and kind.WhichOneof("value") == "tensor_type" and value is not None:
            value = np.asarray(value)
        else:
            return None if value is None else [_taken(name, v, None) for v in value]
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        value = np.from_dlpack(value) if hasattr(value, "__dlpack__") else np.asarray(value)
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if kind is not None and kind.WhichOneof("value") == "tensor_type" and kind.tensor_type.elem_type:
        expected = element(kind.tensor_type.elem_type)
        if isinstance(value, np.ndarray) and value.dtype != expected and value.dtype.kind != "O":
            raise InvalidProblemError(f"input {name!r}: element {value.dtype}; expected {np.dtype(expected)}")
        if kind.tensor_type.HasField("shape"):
            extents = [d.dim_value if d.HasField("dim_value") else None for d in kind.tensor_type.shape.dim]
            if len(extents) != len(value.shape) or any(e not in (None, n) for e, n in zip(extents, value.shape, strict=True)):
                raise InvalidProblemError(f"input {name!r}: shape {tuple(value.shape)}; expected {tuple(extents)}")
    return value
