"""Operators as they were before operator set 7, where that says something else than what they are since."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto

import baracuda
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.onnx.operators import elementwise, normalization, products, recurrent, shapes, windows
from baracuda.onnx.operators.elements import to_element
from baracuda.onnx.operators.image import upsample
from baracuda.onnx.operators.registry import Floats, Ints, Strings, Wanted, operator
from baracuda.onnx.operators.values import Tensor, element, scalar

_BINARY = {
    "Add": baracuda.add, "Sub": baracuda.sub, "Mul": baracuda.mul, "Div": elementwise.div, "Pow": elementwise.power,
    "And": baracuda.logical_and, "Or": baracuda.logical_or, "Xor": baracuda.logical_xor, "Equal": baracuda.eq,
    "Less": baracuda.lt, "Greater": baracuda.gt,
}  # fmt: skip


def _of(function: Any) -> Any:
    def run(a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: bool = False) -> Tensor:
        if not broadcast and tuple(a.shape) != tuple(b.shape):
            raise InvalidProblemError(f"shapes {tuple(a.shape)} and {tuple(b.shape)} without broadcast; expected one shape")
        if broadcast and axis is not None:  # b's axes are a's from `axis` on
            behind = len(a.shape) - axis % max(len(a.shape), 1) - len(b.shape)
            b = baracuda.reshape(b, (*b.shape, *(1,) * max(behind, 0)))
        return function(a, b)

    return run


for _name, _function in _BINARY.items():
    operator(_name, since=1)(_of(_function))


@operator("PRelu", since=1)
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """`baracuda.prelu` with a slope for each channel, or one."""
    if len(slope.shape) == 1 and slope.shape[0] > 1 and len(x.shape) > 2:
        slope = baracuda.reshape(slope, (slope.shape[0], *(1,) * (len(x.shape) - 2)))
    return baracuda.prelu(x, slope)


@operator("Gemm", since=1)
def gemm(
    a: Tensor, b: Tensor, c: Tensor, *, alpha: float = 1.0, beta: float = 1.0, broadcast: bool = False, transA: bool = False,
    transB: bool = False,
) -> Tensor:  # fmt: skip
    """As since version 7."""
    return products.gemm(a, b, c, alpha=alpha, beta=beta, transA=transA, transB=transB)


def _only_run(what: str, is_test: int) -> None:
    if not is_test:
        raise UnsupportedError(f"{what} with is_test = 0 is training, which is not served before version 7")


@operator("BatchNormalization", since=1)
def batch_norm(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor, *, epsilon: float = 1e-5, is_test: int = 0,
    momentum: float = 0.9, spatial: int = 1,
) -> Tensor:  # fmt: skip
    """`baracuda.batch_norm`."""
    _only_run("BatchNormalization", is_test)
    return baracuda.batch_norm(x, mean, var, scale, bias, eps=epsilon)


@operator("Dropout", since=1)
def dropout(x: Tensor, *, is_test: int = 0, ratio: float = 0.5, wanted: Wanted) -> Any:
    """x itself."""
    _only_run("Dropout", is_test)
    return normalization.dropout_by_attribute(x, ratio=ratio, wanted=wanted)


@operator("Cast", since=1)
def cast(x: Tensor, *, to: str) -> Tensor:
    """x in an element that is named."""
    if to not in list(TensorProto.DataType.keys()):
        raise InvalidProblemError(f"to: {to!r}; expected the name of an element")
    return to_element(x, element(TensorProto.DataType.Value(to)))


@operator("Concat", since=1)
def concat(*x: Tensor, axis: int = 1) -> Tensor:
    """`baracuda.concat`."""
    return baracuda.concat(x, axis=axis)


@operator("Reshape", since=1)
def reshape(x: Tensor, *, shape: Ints | None = None) -> Tensor:
    """`baracuda.reshape`."""
    return baracuda.reshape(x, shape or (), allowzero=False)


@operator("Pad", since=1)
def pad(x: Tensor, *, mode: str = "constant", paddings: Ints, value: float = 0.0) -> Tensor:
    """`baracuda.pad`."""
    return shapes.pad_by_attributes(x, pads=paddings, mode=mode, value=value)


@operator("Split", since=1)
def split(x: Tensor, *, axis: int = 0, split: Ints | None = None, wanted: Wanted) -> tuple[Tensor, ...]:
    """`baracuda.split`."""
    return shapes.split_by_attribute(x, axis=axis, split=split, wanted=wanted)


@operator("Tile", since=1)
def tile(x: Tensor, tiles: Any, axis: Any) -> Tensor:
    """x as often as is said along one axis."""
    at = int(scalar(axis))
    return baracuda.tile(x, tuple(int(scalar(tiles)) if i == at else 1 for i in range(len(x.shape))))


@operator("Upsample", since=1)
def upsample_of_images(x: Tensor, *, height_scale: float, width_scale: float, mode: str = "nearest") -> Tensor:
    """`baracuda.interpolate` of the last two of four axes."""
    words = {"bilinear": "linear"}
    return upsample(x, np.array([1, 1, height_scale, width_scale], np.float32), mode=words.get(mode, mode))


@operator("LpPool", since=1)
def lp_pool(
    x: Tensor, *, auto_pad: windows.AutoPad = "NOTSET", kernel_shape: Ints, p: float = 2.0, pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:  # fmt: skip
    """As since version 2, where p is an integer."""
    return windows.lp_pool(x, auto_pad=auto_pad, kernel_shape=kernel_shape, p=p, pads=pads, strides=strides)


@operator("GlobalLpPool", since=1)
def global_lp_pool(x: Tensor, *, p: float = 2.0) -> Tensor:
    """`baracuda.global_lp_pool`."""
    return baracuda.global_lp_pool(x, p)


def _recurrent(name: str, function: Any) -> None:
    """`output_sequence` says whether the first output is there, which the node's outputs say too."""

    @operator(name, since=1)
    def run(
        *given: Tensor, activation_alpha: Floats | None = None, activation_beta: Floats | None = None,
        activations: Strings | None = None, clip: float | None = None, direction: recurrent.Direction = "forward",
        hidden_size: int | None = None, input_forget: bool = False, linear_before_reset: bool = False, output_sequence: int = 0,
    ) -> Any:  # fmt: skip
        words: dict[str, Any] = {"LSTM": {"input_forget": input_forget}, "GRU": {"linear_before_reset": linear_before_reset}}
        return function(
            *given, activation_alpha=activation_alpha, activation_beta=activation_beta, activations=activations, clip=clip,
            direction=direction, hidden_size=hidden_size, **words.get(name, {}),
        )  # fmt: skip


for _name, _function in {"RNN": recurrent.rnn, "GRU": recurrent.gru, "LSTM": recurrent.lstm}.items():
    _recurrent(_name, _function)
