"""What a model says of its values: elements and shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from baracuda.core.errors import InvalidProblemError


@dataclass(frozen=True)
class Value:
    """What a model says of one of its values.

    Attributes
    ----------
    name : str
        Its name in the graph.
    element : numpy.dtype | None
        Of a tensor, or of the tensors within; None where it is not known.
    shape : tuple[int | str | None, ...] | None
        Extents: a number, the name of one that is known when the model is called, or None; None for all where not even
        their number is known.
    container : str
        "" for a tensor, else "sequence", "optional", "optional sequence", "map" or "sparse".
    """

    name: str
    element: np.dtype[Any] | None = None
    shape: tuple[int | str | None, ...] | None = None
    container: str = ""

    @property
    def optional(self) -> bool:
        """Whether there may be nothing."""
        return self.container.startswith("optional")

    def __str__(self) -> str:
        shape = "" if self.shape is None else f" ({', '.join('?' if n is None else str(n) for n in self.shape)})"
        element = "?" if self.element is None else "string" if self.element.kind == "O" else str(self.element)
        return f"{self.container} of {element}{shape}" if self.container else f"{element}{shape}"


@dataclass(frozen=True)
class Description:
    """Inputs, outputs and all other values of a model; as a text, a line each."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    values: tuple[Value, ...]

    def __str__(self) -> str:
        parts = (("inputs", self.inputs), ("outputs", self.outputs), ("values", self.values))
        return "\n".join(f"{title}\n" + "".join(f"  {v.name}: {v}\n" for v in of) for title, of in parts if of).rstrip()


def described(name: str, kind: onnx.TypeProto) -> Value:
    """What a type says. Raises `InvalidProblemError` for an element that ONNX lacks."""
    return _value(name, kind, "")


def _value(name: str, kind: onnx.TypeProto, within: str) -> Value:
    match kind.WhichOneof("value"):
        case "tensor_type":
            tensor = kind.tensor_type
            try:
                element = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type)) if tensor.elem_type else None
            except KeyError:
                raise InvalidProblemError(f"{name!r}: element {tensor.elem_type}; expected one that ONNX has") from None
            shape = tuple(map(_extent, tensor.shape.dim)) if tensor.HasField("shape") else None
            return Value(name, element, shape, within)
        case "sequence_type":
            return _value(name, kind.sequence_type.elem_type, f"{within} sequence".strip())
        case "optional_type":
            return _value(name, kind.optional_type.elem_type, "optional")
        case "map_type":
            return Value(name, container="map")
        case "sparse_tensor_type":
            return Value(name, container="sparse")
    return Value(name, container=within)


def _extent(dim: Any) -> int | str | None:
    """An extent; a negative one is not known either, as some exporters have it."""
    if dim.HasField("dim_value"):
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return dim.dim_param or None
