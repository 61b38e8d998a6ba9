"""Elements and shapes of a graph's values, inferred node by node with ONNX's own rules and held against what the model says.

ONNX's inference of a whole graph takes as much time and memory as a model asks for: shapes of lengths that the file merely names
are written out. Here each node is inferred by itself, and no rule is given a length beyond `_LONGEST`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper, shape_inference
from onnx.checker import ValidationError

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.node import Graph, Node, Subgraph
from baracuda.onnx.values import Value, described

#: Constants of more elements are not read, and the length of a longer vector is kept from the rules.
_LONGEST = 1024


def inferred(graph: Graph, constants: Mapping[str, Any]) -> dict[str, Value]:
    """What is known of each value, inputs first; `constants` has those of the file and what follows from them.

    Raises
    ------
    InvalidProblemError
        What the model says of a value, or what an operator takes, contradicts what follows from the values before.
    """
    types: dict[str, Any] = {n: graph.kinds[n] for n in graph.inputs if n in graph.kinds}
    _infer(graph, types, _Data(constants))
    kinds = {**types, **{n: k for n, k in graph.kinds.items() if n not in types}}
    return {n: described(n, k) for n, k in kinds.items() if n not in graph.constants and n}


class _Data:
    """Small constants as ONNX's rules read them."""

    def __init__(self, constants: Mapping[str, Any]) -> None:
        self.constants = constants
        self._protos: dict[str, Any] = {}

    def get(self, name: str) -> onnx.TensorProto | None:
        """A tensor of few elements of NumPy's own."""
        if name not in self._protos:
            x = self.constants.get(name)
            small = isinstance(x, np.ndarray) and x.size <= _LONGEST and x.dtype.kind in "biuf"
            self._protos[name] = numpy_helper.from_array(np.asarray(x, order="C"), name) if small else None
        return self._protos[name]


def _infer(graph: Graph, types: dict[str, Any], data: _Data) -> None:
    """Enter the types of a graph's values."""
    for name, x in graph.constants.items():
        types[name] = _type_of(x)
    for node in graph.nodes:
        found = {n: _type_of(data.constants[n]) for n in node.outputs if n in data.constants}
        if len(found) < sum(map(bool, node.outputs)):
            found = _of_node(node, types, data)
        for name in node.outputs:
            merged = _merged(node, name, found.get(name), graph.kinds.get(name))
            if name and merged is not None:
                types[name] = merged


def _type_of(x: Any) -> onnx.TypeProto:
    kind = x.dtype.numpy if isinstance(x.dtype, ElementKind) else x.dtype
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(np.dtype(kind)), tuple(x.shape))


def _of_node(node: Node, types: Mapping[str, Any], data: _Data) -> dict[str, Any]:
    """The types of a node's outputs, as far as they follow."""
    if any(isinstance(a, Subgraph) for a in node.attributes.values()):
        return _of_branches(node, types, data) if node.operator == "If" and not node.domain else {}
    try:
        schema = defs.get_schema(node.operator, node.version, node.domain)
    except defs.SchemaError:
        return {}
    if not schema.has_type_and_shape_inference_function or any(n and n not in types for n in node.inputs):
        return {}
    lengths: dict[str, int] = {}
    given = {n: _bounded(types[n], lengths) for n in node.inputs if n}
    known = {n: p for n in node.inputs if n and (p := data.get(n)) is not None}
    imports = [helper.make_opsetid(node.domain, node.version)]
    try:
        found = shape_inference.infer_node_outputs(schema, node.proto, given, known, opset_imports=imports)
    except (shape_inference.InferenceError, ValidationError, RuntimeError, ValueError) as e:
        raise InvalidProblemError(f"{node} does not fit what it is given, {_listed(node, types)}: {_said(e)}") from None
    return {n: _with_lengths(k, lengths) for n, k in found.items() if k.WhichOneof("value")}


def _of_branches(node: Node, types: Mapping[str, Any], data: _Data) -> dict[str, Any]:
    """Outputs of If: what both branches say."""
    made = []
    for a in node.attributes.values():
        if isinstance(a, Subgraph):
            inner = dict(types)
            _infer(a.graph, inner, _Data({**data.constants, **a.graph.constants}))
            made.append([inner.get(n) for n in a.graph.outputs])
    found = {}
    for name, *kinds in zip(node.outputs, *made, strict=False):
        if len(kinds) == 2 and None not in kinds and kinds[0] == kinds[1]:
            found[name] = kinds[0]
    return found


def _bounded(kind: onnx.TypeProto, lengths: dict[str, int]) -> onnx.TypeProto:
    """The type, a long vector as one whose length has a name: rules write out as many extents as a shape has elements."""
    if kind.WhichOneof("value") != "tensor_type":
        return kind
    dims = kind.tensor_type.shape.dim
    if len(dims) == 1 and not 0 <= dims[0].dim_value <= _LONGEST:
        kind = onnx.TypeProto.FromString(kind.SerializeToString())
        name = f"length {dims[0].dim_value}"
        lengths[name] = dims[0].dim_value
        kind.tensor_type.shape.dim[0].dim_param = name
    return kind


def _with_lengths(kind: onnx.TypeProto, lengths: Mapping[str, int]) -> onnx.TypeProto:
    """The type with the lengths that `_bounded` named."""
    if kind.WhichOneof("value") == "tensor_type":
        for d in kind.tensor_type.shape.dim:
            if d.dim_param in lengths:
                d.dim_value = lengths[d.dim_param]
    return kind


def _merged(node: Node, name: str, found: Any, said: Any) -> Any:
    """What was inferred with what the model says. Raises `InvalidProblemError` where they differ."""
    if found is None or not found.WhichOneof("value"):
        return said
    if said is None or not said.WhichOneof("value"):
        return found
    kinds = found.WhichOneof("value"), said.WhichOneof("value")
    agree = kinds[0] == kinds[1]
    if agree and kinds[0] == "tensor_type":
        a, b = found.tensor_type, said.tensor_type
        agree = not (a.elem_type and b.elem_type) or a.elem_type == b.elem_type
        if agree and a.HasField("shape") and b.HasField("shape"):
            extents = [[d.dim_value if d.HasField("dim_value") else -1 for d in t.shape.dim] for t in (a, b)]
            agree = len(extents[0]) == len(extents[1]) and all(m == n or m < 0 or n < 0 for m, n in zip(*extents, strict=True))
            if agree:
                made = onnx.TypeProto.FromString(found.SerializeToString())
                for d, old in zip(made.tensor_type.shape.dim, b.shape.dim, strict=True):
                    if not d.WhichOneof("value"):
                        d.CopyFrom(old)
                return made
        elif agree:
            return found if a.HasField("shape") else said
    if agree:
        return found
    here, there = described(name, found), described(name, said)
    raise InvalidProblemError(f"{node} makes {name!r} {here}; the model says {there}")


def _listed(node: Node, types: Mapping[str, Any]) -> str:
    return ", ".join(f"{n!r} {described(n, types[n])}" for n in node.inputs if n)


def _said(error: Exception) -> str:
    words = " ".join(str(error).replace("[ShapeInferenceError]", "").replace("[TypeInferenceError]", "").split())
    return words if len(words) <= 400 else words[:400] + " ..."
