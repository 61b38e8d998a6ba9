"""From a GraphProto to a `Graph`: nodes in order, each with its version, subgraphs with what they read from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
from onnx import AttributeProto, helper

from baracuda.core.errors import InvalidProblemError
from baracuda.onnx import model
from baracuda.onnx.node import Graph, Node, Subgraph

_DEEPEST = 64


def read(proto: onnx.GraphProto, opsets: Mapping[str, int], folder: Path | None, depth: int = 0) -> Graph:
    """The graph as data. Raises `InvalidProblemError` where values are read before they are made, or made twice."""
    if depth > _DEEPEST:
        raise InvalidProblemError(f"graph {proto.name!r}: subgraphs are nested more than {_DEEPEST} deep")
    constants = {t.name: model.tensor(t, folder) for t in proto.initializer}
    constants |= {t.values.name: _sparse(t, folder) for t in proto.sparse_initializer}
    inputs = tuple(i.name for i in proto.input)
    nodes = tuple(read_node(n, opsets, folder, depth) for n in proto.node)
    outputs = tuple(o.name for o in proto.output)
    kinds = {v.name: v.type for v in (*proto.input, *proto.output, *proto.value_info)}
    required = tuple(i for i in inputs if i not in constants) if depth == 0 else inputs
    return make(proto.name, required, outputs, nodes, constants, kinds, closed=depth == 0)


def make(
    name: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    nodes: tuple[Node, ...],
    constants: Mapping[str, Any],
    kinds: Mapping[str, Any],
    *,
    closed: bool,
) -> Graph:
    """A graph whose values are made once, before they are read; only one that is not `closed` reads values from outside."""
    known = {*inputs, *constants}
    made_here = {o for n in nodes for o in n.outputs if o}
    captured: set[str] = set()
    for n in nodes:
        read_here = [*n.inputs, *(c for a in n.attributes.values() if isinstance(a, Subgraph) for c in a.graph.captured)]
        for value in read_here:
            if value and value not in known:
                if closed or value in made_here:
                    raise InvalidProblemError(f"graph {name!r}: {n} reads {value!r}, which nothing before it makes")
                captured.add(value)
        for value in n.outputs:
            if value and value in known:
                raise InvalidProblemError(f"graph {name!r}: {n} makes {value!r}, which there is already")
            known.add(value)
    for value in outputs:
        if value and value not in known:
            if closed:
                raise InvalidProblemError(f"graph {name!r}: output {value!r} is made by no node")
            captured.add(value)
    return Graph(name, inputs, outputs, nodes, constants, frozenset(captured), kinds)


def read_node(proto: onnx.NodeProto, opsets: Mapping[str, int], folder: Path | None, depth: int = 0) -> Node:
    """A node with the version of its domain."""
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    words = {}
    for a in proto.attribute:
        if a.name in words:
            raise InvalidProblemError(f"node {proto.name!r} ({proto.op_type}): attribute {a.name} is there twice")
        words[a.name] = _attribute(a, opsets, folder, depth)
    version = opsets.get(domain)
    if version is None:
        raise InvalidProblemError(
            f"node {proto.name!r}: operator {proto.op_type} is of domain {domain!r}, which opset_import lacks"
        )
    return Node(proto.name, domain, proto.op_type, version, tuple(proto.input), tuple(proto.output), words, proto)


def _attribute(proto: AttributeProto, opsets: Mapping[str, int], folder: Path | None, depth: int) -> Any:
    match proto.type:
        case AttributeProto.GRAPH:
            return Subgraph(read(proto.g, opsets, folder, depth + 1))
        case AttributeProto.TENSOR:
            return model.tensor(proto.t, folder)
        case AttributeProto.SPARSE_TENSOR:
            return _sparse(proto.sparse_tensor, folder)
        case AttributeProto.TYPE_PROTO:
            return proto.tp
        case AttributeProto.STRING:
            return proto.s.decode("utf-8", "replace")
        case AttributeProto.STRINGS:
            return tuple(s.decode("utf-8", "replace") for s in proto.strings)
        case AttributeProto.INT | AttributeProto.FLOAT:
            return helper.get_attribute_value(proto)
        case AttributeProto.INTS | AttributeProto.FLOATS:
            return tuple(helper.get_attribute_value(proto))
    raise InvalidProblemError(f"attribute {proto.name!r} is of type {proto.type}; expected one that operators have")


def _sparse(proto: onnx.SparseTensorProto, folder: Path | None) -> Any:
    import numpy as np

    values, places = model.tensor(proto.values, folder), model.tensor(proto.indices, folder)
    shape = tuple(proto.dims)
    if any(n < 0 for n in shape) or int(np.prod(shape, dtype=object)) > 2**28:
        raise InvalidProblemError(f"sparse tensor {proto.values.name!r}: shape {shape}; expected at most {2**28} elements")
    dense = np.zeros(shape, values.dtype)
    try:
        flat = places if places.ndim == 1 else np.ravel_multi_index(tuple(places.T), shape)
        fits = len(flat) == len(values) and (not len(flat) or 0 <= int(flat.min()) <= int(flat.max()) < dense.size)
    except (ValueError, TypeError):
        fits = False
    if not fits:
        raise InvalidProblemError(
            f"sparse tensor {proto.values.name!r}: indices do not fit {len(values)} values of shape {shape}"
        )
    dense.reshape(-1)[flat] = values
    return dense
