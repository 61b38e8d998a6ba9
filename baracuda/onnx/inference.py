"""What is known of a model's values before it runs: elements and shapes, declared and inferred by ONNX's own rules."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper, shape_inference

from baracuda.core.errors import InvalidProblemError

#: Tensors of more elements say nothing of shapes, and are left out of what is inferred with.
_LARGEST_READ = 1024
#: A graph of more bytes without its tensors is not inferred.
_LARGEST_GRAPH = 1 << 28


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


def value(proto: onnx.ValueInfoProto) -> Value:
    """What a declaration says. Raises `InvalidProblemError` for an element that ONNX lacks."""
    return _value(proto.name, proto.type, "")


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


def inferred(model: onnx.ModelProto, constants: Mapping[str, Any]) -> dict[str, Value]:
    """All values of the main graph of which something is known, constants but inputs left out.

    Raises
    ------
    InvalidProblemError
        What the model declares, or what an operator takes, contradicts what follows from the values before.
    """
    skeleton = _without_tensors(model, constants)
    if skeleton.ByteSize() > _LARGEST_GRAPH:
        return _declared(model.graph)
    try:
        found = shape_inference.infer_shapes(skeleton, strict_mode=True, data_prop=True, check_type=True)
    except (shape_inference.InferenceError, RuntimeError, ValueError) as e:
        if not _of_a_body(str(e)):
            raise InvalidProblemError(f"shapes and elements do not fit: {_said(str(e))}") from None
        try:
            found = shape_inference.infer_shapes(skeleton, data_prop=True)
        except (shape_inference.InferenceError, RuntimeError, ValueError):
            return _declared(model.graph)
    return _declared(found.graph)


def _declared(graph: onnx.GraphProto) -> dict[str, Value]:
    return {v.name: value(v) for v in (*graph.input, *graph.value_info, *graph.output)}


def _of_a_body(message: str) -> bool:
    """Whether the operator at fault is one that ONNX infers by its own body of other operators: no fault of the model's."""
    named = re.search(r"op_type:\s*(\w+)", message)
    try:
        schema = defs.get_schema(named[1]) if named else None
    except defs.SchemaError:
        return False
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def _said(message: str) -> str:
    words = " ".join(message.replace("[ShapeInferenceError]", "").replace("[TypeInferenceError]", "").split())
    return words if len(words) <= 400 else words[:400] + " ..."


def _without_tensors(model: onnx.ModelProto, constants: Mapping[str, Any]) -> onnx.ModelProto:
    """The model with large tensors as inputs of their shape."""
    made = onnx.ModelProto(ir_version=max(model.ir_version, 4))
    made.opset_import.extend(model.opset_import)
    made.functions.extend(model.functions)
    graph, old = made.graph, model.graph
    graph.name = old.name
    graph.input.extend(old.input)
    graph.output.extend(old.output)
    graph.value_info.extend(old.value_info)
    there = {i.name for i in old.input}

    def stands_for(name: str, tensor: onnx.TensorProto) -> None:
        if name not in there:
            graph.input.append(helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims)))

    for t in old.initializer:
        if _large(t):
            stands_for(t.name, t)
        else:
            graph.initializer.append(t)
    for s in old.sparse_initializer:
        stands_for(s.values.name, onnx.TensorProto(data_type=s.values.data_type, dims=s.dims))
    for n in old.node:
        tensors = [a.t for a in n.attribute if a.name == "value" and a.type == onnx.AttributeProto.TENSOR]
        if n.op_type == "Constant" and not n.domain and tensors and len(n.output) == 1 and _large(tensors[0]):
            stands_for(n.output[0], tensors[0])
        else:
            graph.node.append(n)
    return made


def _large(tensor: onnx.TensorProto) -> bool:
    return tensor.data_location == onnx.TensorProto.EXTERNAL or math.prod(tensor.dims) > _LARGEST_READ
