"""ONNX models run on this library: `baracuda.onnx.load("model.onnx")` is a callable.

Needs the extra `onnx`. `baracuda.onnx.backend` is ONNX's standard backend interface.
"""

from baracuda.onnx import operators as _operators  # noqa: F401  (fills the table)
from baracuda.onnx.coded import Coded
from baracuda.onnx.loaded import Model, load
from baracuda.onnx.values import Description, Value

__all__ = ["Coded", "Description", "Model", "Value", "load"]
