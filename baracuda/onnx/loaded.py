"""A loaded model: a callable of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.preferred import ARITHMETICS, preferring
from baracuda.onnx import graph, model
from baracuda.onnx.functions import Library
from baracuda.onnx.inference import inferred
from baracuda.onnx.inputs import taken
from baracuda.onnx.kept import Kept
from baracuda.onnx.placement import device_of, on_host
from baracuda.onnx.program import Program
from baracuda.onnx.values import Description, Value, described

Arithmetic = Literal["reproducible", "pinned", "fastest"]


class Model:
    """A model that can be called; made by `load`.

    Attributes
    ----------
    inputs, outputs : tuple[str, ...]
        Their names, in the model's order.
    shapes : Mapping[str, Value]
        What is known of each value, inputs first: its element, and its shape with the names of extents that a call decides.
    opsets : dict[str, int]
        The version of each domain that the model is written in; "" is ONNX's own.
    """

    def __init__(self, source: Any, device: Any = None, arithmetic: Arithmetic | None = None, seed: int = 0) -> None:
        if arithmetic is not None and arithmetic not in ARITHMETICS:
            raise InvalidProblemError(f"arithmetic: {arithmetic!r}; expected None or one of {', '.join(ARITHMETICS)}")
        self._preference = None if arithmetic is None else ARITHMETICS[arithmetic]
        proto, folder = model.read(source)
        self.opsets = model.opsets(proto.opset_import)
        self.device = device_of(device)
        self._graph = graph.read(proto.graph, self.opsets, folder)
        with self._preferring():
            self._program = Program(self._graph, Library(proto.functions, self.opsets, folder, self.device, seed=seed))
        self._kept = Kept(self._program)
        self.inputs = self._graph.inputs
        self.outputs = self._graph.outputs
        self._declared = [described(n, self._graph.kinds[n]) for n in self.inputs]
        self.shapes: Mapping[str, Value] = MappingProxyType(inferred(self._graph, self._program.constants))

    def __call__(self, *values: Any, **named: Any) -> Any:
        """The outputs, a tuple where there are several, of inputs by position or by name."""
        found = self.run(values, named)
        return found[0] if len(found) == 1 else found

    def run(self, values: Any, named: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """The outputs as a tuple."""
        if len(values) > len(self.inputs):
            raise InvalidProblemError(f"{len(values)} inputs; expected {len(self.inputs)}: {', '.join(self.inputs) or 'none'}")
        given = dict(zip(self.inputs, values, strict=False))
        for name, one in (named or {}).items():
            if name not in self.inputs or name in given:
                expected = ", ".join(n for n in self.inputs if n not in given) or "no more"
                raise InvalidProblemError(f"input {name!r}; expected {expected}")
            given[name] = one
        if missing := [v.name for v in self._declared if v.name not in given and not v.optional]:
            raise InvalidProblemError(f"input {missing[0]!r} is missing; expected {', '.join(self.inputs)}")
        with self._preferring():
            found = self._kept([taken(v, given.get(v.name), self.device) for v in self._declared])
        return tuple(map(on_host, found)) if self.device is None else tuple(found)

    def _preferring(self) -> AbstractContextManager[None]:
        return nullcontext() if self._preference is None else preferring(self._preference)

    def describe(self) -> Description:
        """Inputs, outputs and the values between, with elements and shapes; `print` shows a line for each."""
        known = {n: self.shapes.get(n, Value(n)) for n in (*self.inputs, *self.outputs)}
        between = [v for n, v in self.shapes.items() if n not in known and n not in self._graph.constants]
        return Description(tuple(known[n] for n in self.inputs), tuple(known[n] for n in self.outputs), tuple(between))


def load(source: Any, *, device: Any = None, arithmetic: Arithmetic | None = None, seed: int = 0) -> Model:
    """The model as a callable: `load("model.onnx")(x)`.

    Parameters
    ----------
    source
        A path, bytes, or an `onnx.ModelProto`. External data is read from the model's folder and nowhere else.
    device
        "cpu": inputs and results are NumPy's arrays. "cuda", "cuda:1" or a `Device`: inputs of any kind are put there, results
        are our arrays there.
    arithmetic
        How products are computed: "reproducible" (None: what the library does by itself, which is this), "pinned" to one
        architecture, or "fastest".
    seed
        What random operators without a seed of their own draw with. Every call draws the same.

    Raises
    ------
    InvalidProblemError
        The file is malformed, or shapes and elements contradict each other; the error says where.
    UnsupportedError
        An operator is not served; the error says which, of which domain, in which version.
    """
    return Model(source, device, arithmetic, seed)
