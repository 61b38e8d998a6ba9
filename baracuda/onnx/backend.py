"""ONNX's standard backend interface, `onnx.backend.base`: `import baracuda.onnx.backend as backend`."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from baracuda.onnx.loaded import Model, load
from baracuda.onnx.placement import to_numpy
from baracuda.runtime.cuda import device_count


class Prepared(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def run(self, inputs: Any, **_: Any) -> tuple[Any, ...]:
        """The outputs, of inputs in the model's order, by name, or of a single one."""
        if isinstance(inputs, dict):
            found = self._model.run((), inputs)
        else:
            found = self._model.run(tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,))
        return namedtupledict("Outputs", list(self._model.outputs))(*to_numpy(found))


class BaracudaBackend(Backend):
    """Models run on the CPU, or on a CUDA device."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = "CPU", **_: Any) -> bool:
        """Whether the model can be loaded."""
        from baracuda.core.errors import Error

        try:
            load(model)
        except Error:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: Any, device: str = "CPU", **_: Any) -> Prepared:
        """The model, loaded."""
        return Prepared(load(model, device=device.lower()))

    @classmethod
    def run_node(cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None, **options: Any) -> tuple[Any, ...]:
        """One node by itself, in the newest version of its operator set."""
        opset = options.pop("opset_version", onnx.defs.onnx_opset_version())
        given = [np.asarray(x) for x in inputs]
        kinds = [
            onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in zip((n for n in node.input if n), given, strict=True)
        ]
        out = [onnx.helper.make_empty_tensor_value_info(n) for n in node.output if n]
        graph = onnx.helper.make_graph([node], "node", kinds, out)
        made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return cls.prepare(made, device).run(given)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run there: "CPU", or "CUDA" and "CUDA:1" where there is such a GPU."""
        name, _, index = device.partition(":")
        if name == "CUDA":
            return (index or "0").isdigit() and int(index or 0) < device_count()
        return device == "CPU"


is_compatible = BaracudaBackend.is_compatible
prepare = BaracudaBackend.prepare
run_model = BaracudaBackend.run_model
run_node = BaracudaBackend.run_node
supports_device = BaracudaBackend.supports_device
