"""Reading a model: a path, bytes or a ModelProto, checked before anything of it is used."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import external_data_helper, helper, numpy_helper

from baracuda.core.errors import InvalidProblemError

#: A protobuf message is shorter than this; larger models keep their tensors in files of their own.
LARGEST_FILE = 2**31 - 1


def read(model: Any) -> tuple[onnx.ModelProto, Path | None]:
    """The model and the folder that its external data lies in.

    Raises
    ------
    InvalidProblemError
        The file is no ONNX model, or ONNX's checker refuses it; the error quotes why.
    """
    folder: Path | None = None
    if isinstance(model, onnx.ModelProto):
        found = model
    elif isinstance(model, (bytes, bytearray, memoryview)):
        found = _parse(bytes(model), "model of bytes")
    elif isinstance(model, (str, os.PathLike)):
        path = Path(model)
        if not path.is_file():
            raise InvalidProblemError(f"model: {str(path)!r}; expected a file that exists")
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise InvalidProblemError(f"model: {str(path)!r} has {size} bytes; expected at most {LARGEST_FILE}")
        found, folder = _parse(path.read_bytes(), repr(str(path))), path.parent
    else:
        raise InvalidProblemError(f"model: {type(model).__name__}; expected a path, bytes or an onnx.ModelProto")
    _check(found)
    return found, folder


def _parse(data: bytes, where: str) -> onnx.ModelProto:
    found = onnx.ModelProto()
    try:
        found.ParseFromString(data)
    except (DecodeError, RecursionError) as e:
        raise InvalidProblemError(f"{where} is no ONNX model: {e}") from None
    _check_text(found, where)
    if not found.HasField("graph"):
        raise InvalidProblemError(f"{where} is no ONNX model: it has no graph")
    return found


def _check_text(message: Any, where: str) -> None:
    """Names must be UTF-8: protobuf gives bytes where they are not."""
    for field, value in message.ListFields():
        many = value if field.is_repeated else (value,)
        if field.type == field.TYPE_MESSAGE:
            for inner in many:
                _check_text(inner, where)
        elif field.type == field.TYPE_STRING:
            for text in many:
                if not isinstance(text, str):
                    raise InvalidProblemError(f"{where} is no ONNX model: {field.full_name} is {text!r}; expected UTF-8")


def _check(model: onnx.ModelProto) -> None:
    for i in model.opset_import:
        if not 1 <= i.version < 2**31:
            raise InvalidProblemError(f"opset_import: version {i.version} of domain {i.domain!r}; expected 1 or later")
    if not model.opset_import:
        raise InvalidProblemError("the model names no operator set; expected opset_import to have one")


def opsets(imports: Any) -> dict[str, int]:
    """The version of each domain."""
    return {"" if i.domain == "ai.onnx" else i.domain: i.version for i in imports}


def tensor(proto: onnx.TensorProto, folder: Path | None) -> np.ndarray:
    """The tensor as an array.

    Its shape is held against the data that there is before anything of that size is made.
    """
    name = f"tensor {proto.name!r}"
    if any(n < 0 for n in proto.dims):
        raise InvalidProblemError(f"{name}: shape {tuple(proto.dims)}; expected no negative extents")
    try:
        element = np.dtype(helper.tensor_dtype_to_np_dtype(proto.data_type))
    except KeyError:
        raise InvalidProblemError(f"{name}: element {proto.data_type} is none that ONNX has") from None
    count = math.prod(proto.dims)
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        return _external(proto, element, count, folder)
    if proto.HasField("raw_data") and proto.data_type != onnx.TensorProto.STRING:
        needed, got = _bytes(proto.data_type, element, count), len(proto.raw_data)
        if needed != got:
            raise InvalidProblemError(f"{name}: shape {tuple(proto.dims)} of {element} has {needed} bytes; got {got}")
    else:
        lists = (proto.float_data, proto.int32_data, proto.int64_data, proto.double_data, proto.uint64_data, proto.string_data)
        if count > 4 * sum(map(len, lists)):
            raise InvalidProblemError(f"{name}: shape {tuple(proto.dims)} has {count} elements; the file has fewer")
    try:
        return numpy_helper.to_array(proto)
    except (ValueError, TypeError) as e:
        raise InvalidProblemError(f"{name}: {e}") from None


def _bytes(kind: int, element: np.dtype[Any], count: int) -> int:
    four = (onnx.TensorProto.INT4, onnx.TensorProto.UINT4, onnx.TensorProto.FLOAT4E2M1)
    two = (onnx.TensorProto.INT2, onnx.TensorProto.UINT2)
    return -(-count // 2) if kind in four else -(-count // 4) if kind in two else count * element.itemsize


def _external(proto: onnx.TensorProto, element: np.dtype[Any], count: int, folder: Path | None) -> np.ndarray:
    """A tensor that lies in a file beside the model: within the folder, and as long as its shape says."""
    name = f"tensor {proto.name!r}"
    if folder is None:
        raise InvalidProblemError(f"{name} lies in a file of its own: load the model by its path")
    try:
        info = external_data_helper.ExternalDataInfo(proto)
        offset, length = int(info.offset or 0), None if info.length is None else int(info.length)
    except (ValueError, TypeError) as e:
        raise InvalidProblemError(f"{name}: external data: {e}") from None
    path = (folder / info.location).resolve()
    if not path.is_relative_to(folder.resolve()) or not path.is_file():
        raise InvalidProblemError(f"{name}: external data {info.location!r}; expected a file in the model's folder")
    needed = _bytes(proto.data_type, element, count)
    held = path.stat().st_size
    if offset < 0 or (length is not None and length != needed) or offset + needed > held:
        raise InvalidProblemError(
            f"{name}: shape {tuple(proto.dims)} of {element} has {needed} bytes; {info.location!r} has {held}, "
            f"of which {length if length is not None else 'the rest'} from {offset} on"
        )
    inline = onnx.TensorProto(dims=proto.dims, data_type=proto.data_type, name=proto.name)
    with path.open("rb") as file:
        file.seek(offset)
        inline.raw_data = file.read(needed)
    return numpy_helper.to_array(inline)
