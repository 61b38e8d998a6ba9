"""Functions: those of the model itself, and the bodies that ONNX gives operators for which there is no entry of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper

from baracuda.core.device import Device
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx import graph, model
from baracuda.onnx.node import Node
from baracuda.onnx.operators import registry
from baracuda.onnx.operators.registry import Draws

_DEEPEST = 32
#: Nodes of all calls of functions: each call has its own.
_MOST_NODES = 1 << 16


class Library:
    """The functions that a model's nodes may call."""

    def __init__(
        self,
        local: Sequence[onnx.FunctionProto],
        opsets: Mapping[str, int],
        folder: Path | None,
        device: Device | None = None,
        depth: int = 0,
        seed: int | Draws = 0,
        nodes: list[int] | None = None,
    ) -> None:
        self._local = {("" if f.domain == "ai.onnx" else f.domain, f.name, f.overload): f for f in local}
        self._folder = folder
        self._opsets = opsets
        self._depth = depth
        self._nodes = nodes or [0]
        self.device = device
        self.draws = Draws(seed, device) if isinstance(seed, int) else seed

    def _within(self) -> Library:
        if self._depth >= _DEEPEST:
            raise InvalidProblemError(f"functions call one another more than {_DEEPEST} deep")
        local, deeper = tuple(self._local.values()), self._depth + 1
        return Library(local, self._opsets, self._folder, self.device, deeper, self.draws, self._nodes)

    def local(self, node: Node) -> Callable[..., Any] | None:
        """The model's own function of that name; None where it has none."""
        function = self._local.get((node.domain, node.operator, node.proto.overload))
        return None if function is None else self._call(function, node, None)

    def expanded(self, node: Node) -> Callable[..., Any]:
        """ONNX's own body of an operator. Raises `UnsupportedError` where it has none."""
        try:
            schema = defs.get_schema(node.operator, node.version, node.domain)
        except defs.SchemaError:
            raise registry.unsupported(node.domain, node.operator, node.version, ": ONNX has no such operator") from None
        if schema.has_function:
            versions = [v for v in schema.function_opset_versions if v <= node.version]
            function = onnx.FunctionProto()
            if versions:
                function.ParseFromString(schema.get_function_with_opset_version(max(versions)))
            else:
                function.CopyFrom(schema.function_body)
            return self._call(function, node, schema)
        if schema.has_context_dependent_function:
            return self._by_elements(node, schema)
        raise registry.unsupported(node.domain, node.operator, node.version)

    def _by_elements(self, node: Node, schema: Any) -> Callable[..., Any]:
        """A body that depends on the elements of the inputs: made when they are known, once for each."""
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= node.version]
        version = max(versions or schema.context_dependent_function_opset_versions)
        made: dict[Any, Callable[..., Any]] = {}

        def run(*given: Any) -> Any:
            key = tuple(map(_key, given))
            if key not in made:
                types = [_type(x) for x in given]
                try:
                    body = schema.get_context_dependent_function_with_opset_version(
                        version, node.proto.SerializeToString(), [t.SerializeToString() for t in types]
                    )
                except (ValueError, RuntimeError) as e:
                    raise InvalidProblemError(f"{node}: {e}") from e
                function = onnx.FunctionProto()
                function.ParseFromString(body)
                made[key] = self._call(function, node, schema)
            return made[key](*given)

        return run

    def _call(self, function: onnx.FunctionProto, node: Node, schema: Any) -> Callable[..., Any]:
        from baracuda.onnx.program import Program

        given = {a.name: a for a in node.proto.attribute}
        for a in function.attribute_proto:
            given.setdefault(a.name, a)
        if schema is not None:
            for name, a in schema.attributes.items():
                if a.default_value.name:
                    given.setdefault(name, a.default_value)
        opsets = model.opsets(function.opset_import) | ({} if schema is None else {node.domain: node.version})
        opsets.setdefault("", self._opsets.get("", node.version))
        if schema is not None and node.domain:
            opsets[""] = max(opsets[""], self._opsets.get("", 1))
        absent = {*function.input[len(node.inputs) :], *(p for p, n in zip(function.input, node.inputs, strict=False) if not n)}
        self._nodes[0] += len(function.node)
        if self._nodes[0] > _MOST_NODES:
            raise InvalidProblemError(f"{node}: functions have more than {_MOST_NODES} nodes where they are called")
        protos = [_with_attributes(n, given, absent) for n in function.node]
        nodes = tuple(graph.read_node(n, opsets, self._folder) for n in protos)
        outputs = tuple(f if n else "" for f, n in zip(function.output, node.outputs, strict=False))
        made = graph.make(function.name, tuple(function.input), outputs, nodes, {}, {}, closed=True)
        program = Program(made, self._within())
        count = len(function.input)

        def run(*values: Any) -> Any:
            return program((*values, *(None,) * (count - len(values))))

        run.body = program  # type: ignore[attr-defined]
        return run


def _key(x: Any) -> Any:
    if x is None or isinstance(x, list):
        return None if x is None else ("sequence", *map(_key, x[:1]))
    return np.dtype(x.dtype), len(x.shape)


def _type(x: Any) -> onnx.TypeProto:
    if x is None:
        return onnx.TypeProto()
    if isinstance(x, list):
        return helper.make_sequence_type_proto(_type(x[0] if x else np.zeros(0, np.float32)))
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(np.dtype(x.dtype)), tuple(x.shape))


def _with_attributes(proto: onnx.NodeProto, given: Mapping[str, Any], absent: set[str]) -> onnx.NodeProto:
    """The node of a function's body with the caller's attributes for their names, and without inputs that are left out."""
    made = onnx.NodeProto()
    made.CopyFrom(proto)
    del made.attribute[:]
    made.input[:] = ["" if i in absent else i for i in proto.input]
    for a in proto.attribute:
        if a.ref_attr_name:
            if a.ref_attr_name in given:
                made.attribute.add().CopyFrom(given[a.ref_attr_name])
                made.attribute[-1].name = a.name
            continue
        copy = made.attribute.add()
        copy.CopyFrom(a)
        if a.type == onnx.AttributeProto.GRAPH:
            del copy.g.node[:]
            copy.g.node.extend(_with_attributes(n, given, absent) for n in a.g.node)
    return made
