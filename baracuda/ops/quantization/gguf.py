"""Tensors of GGUF files: blocks of bytes (`block_formats.py`, `block_codes.py`) to values and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_bytes
from baracuda.formula.conversions import cast_to
from baracuda.formula.expr import Expr, cast, coord, input_, position
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Stored
from baracuda.ops.declaration.words import FloatElement
from baracuda.ops.quantization.block_codes import CODES, Fields
from baracuda.ops.quantization.block_formats import FORMATS, Section
from baracuda.ops.quantization.blocks import few_axes, in_words, parts, written

#: Elements that are stored one by one, of which a tensor of bytes is a tensor too.
_ONE_BY_ONE = {"F32": ElementKind.F32, "F16": ElementKind.F16, "BF16": ElementKind.BF16}
GgufType = Literal[
    "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K", "IQ4_NL", "IQ4_XS",
    "TQ1_0", "TQ2_0", "MXFP4", "F32", "F16", "BF16",
]  # fmt: skip
#: Those that are written too.
WrittenType = Literal["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "TQ1_0", "TQ2_0", "MXFP4", "F32", "F16", "BF16"]
_F32, _S32, _U8 = ElementKind.F32, ElementKind.S32, ElementKind.U8
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_INTERNAL: dict[str, Any] = {"family": "quantization", "takes": "any", "differentiable": False}
#: A byte of a block by its place, or the bytes from there on, one for each element of a run.
Column = tuple[int, bool]


def _name(column: Column) -> str:
    at, along = column
    return f"{'run' if along else 'byte'}{at}" if at >= 0 else "number"


def _takes(formula: Callable[..., Any], tensors: Sequence[str], *keywords: str) -> Callable[..., Any]:
    """A formula of any tensors with these names."""
    formula.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *(inspect.Parameter(n, _POSITIONAL, annotation=Expr) for n in tensors),
            *(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, annotation=ElementKind) for n in keywords),
        ]
    )
    return formula


# --- from bytes -------------------------------------------------------------------------------------------------------


class _Bytes:
    """What a section's formula reads."""

    def __init__(self, known: dict[Column, Expr]) -> None:
        self.known = known

    def __call__(self, at: int, i: Expr | None = None) -> Expr:
        column = (at, i is not None)
        if column not in self.known:
            self.known[column] = input_(_name(column), _U8)
        return self.known[column]


@cache
def _columns(section: Section) -> tuple[Column, ...]:
    read = _Bytes({})
    for p in range(section.runs):
        section.decode(read, p, coord(-1))
    return tuple(sorted(read.known, key=lambda c: (not c[1], c[0])))


@cache
def _values_op(type: str, number: int) -> Op:
    """The op of a section: of bytes, each a tensor along blocks, or along blocks and the elements of a run; to its runs."""
    section = FORMATS[type].sections[number]
    needed = _columns(section)

    def values(*bytes_: Expr, element: ElementKind | None = None) -> dict[str, Stored]:
        read, kind = _Bytes(dict(zip(needed, bytes_, strict=True))), element or _F32
        runs = (section.decode(read, p, coord(-1)) for p in range(section.runs))
        return {f"y{p}": Stored(cast_to(value, kind), kind) for p, value in enumerate(runs)}

    formula = _takes(values, [*map(_name, needed)], "element")
    results = tuple(f"y{p}" for p in range(section.runs))
    return Op(formula, Rule.EACH, name=f"{type.lower()}_values_{number}", results=results, element_option=True, **_INTERNAL)


def _runs(tensor: TensorRef, length: int, start: int, count: int, width: int) -> list[Any]:
    """Runs of neighbours in blocks of `length` elements."""
    return [parts(tensor, tensor.shape[-1] // length, length, start + p * width, width) for p in range(count)]


def _bytes_of(x: Any, size: int, width: int, columns: Sequence[Column]) -> list[Any]:
    return [parts(x, x.shape[-1] // size, size, at, width if along else 1) for at, along in columns]


@composed(x="... bytes : u8", out=True)
def gguf_dequantize(do: Steps, x: TensorRef, type: GgufType, *, dtype: FloatElement = _F32) -> Any:
    """The values of a tensor of a GGUF file, in the element `dtype` (f32 by default).

    x is u8, as `gguf.GGUFReader` gives tensors: blocks of bytes one behind the other along the last axis. `type` is GGML's name.
    Scales are f16, values are computed in f32 as the package `gguf` does, every operation rounded, and then rounded to `dtype`.

    The types with codebooks, IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S, are not read.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> block = np.r_[np.float16([0.5]).view(np.uint8), np.arange(32, dtype=np.uint8)]
    >>> baracuda.gguf_dequantize(block, "Q8_0")[:4].tolist()
    [0.0, 0.5, 1.0, 1.5]
    """
    bytes_ = x.shape[-1]
    kind = _ONE_BY_ONE.get(type)
    size = FORMATS[type].size if kind is None else kind.itemsize
    if bytes_ % size:
        raise InvalidProblemError(f"x: {bytes_} bytes a row; expected blocks of {size} bytes, those of {type}")
    if kind is not None:
        y = do.result((*x.shape[:-1], bytes_ // size), dtype)
        if 0 not in y.shape:
            do.copy(replace(in_words(do, x, size), kind=kind), y)
        return y
    format = FORMATS[type]
    y = do.result((*x.shape[:-1], bytes_ // format.size * format.length), dtype)
    x = few_axes(do, x)

    def write(y: TensorMut) -> None:
        for number, section in enumerate(format.sections):
            columns = _columns(section)
            tensors = dict(zip(map(_name, columns), _bytes_of(x, format.size, section.width, columns), strict=True))
            into = _runs(y, format.length, section.start, section.runs, section.width)
            do.run(_values_op(type, number), tensors, tuple(into), dtype=dtype)

    if 0 not in y.shape:
        written(do, y, write)
    return y


# --- to bytes ---------------------------------------------------------------------------------------------------------


def _fields(fields: Fields) -> tuple[Column, ...]:
    return tuple(sorted(fields, key=lambda c: (not c[1], c[0])))


def _stored(fields: Fields) -> dict[str, Stored]:
    return {_name(c): Stored(v, _U8 if c[0] >= 0 else _F32) for c, v in fields.items()}


@cache
def _bytes_op(type: str) -> tuple[Op, tuple[Column, ...]]:
    """The op of a format, of a block's runs; and what it writes, in order."""
    code = CODES[type]
    names = [f"x{p}" for p in range(FORMATS[type].length // code.width)]

    def formula(*x: Expr) -> dict[str, Stored]:
        made = code.encode([cast(v, _F32) for v in x], position(_S32))
        return _stored({c: made[c] for c in _fields(made)})

    columns = _fields(code.encode([input_(n, _F32) for n in names], position(_S32)))
    results = [*map(_name, columns)]
    made = Op(_takes(formula, names), Rule.EACH, name=f"{type.lower()}_bytes", rows=True, results=results, **_INTERNAL)
    return made, columns


@cache
def _section_op(type: str, number: int) -> tuple[Op, Column]:
    """The op of a section whose formula is given a number of the block."""
    _, runs, _, encode = CODES[type].sections[number]
    names = [f"x{p}" for p in range(runs)]

    def formula(*given: Expr) -> Stored:
        (made,) = encode([cast(v, _F32) for v in given[:-1]], given[-1]).values()
        return Stored(made, _U8)

    (column,) = encode([input_(n, _F32) for n in names], input_("number", _F32))
    return Op(_takes(formula, [*names, "number"]), Rule.EACH, name=f"{type.lower()}_bytes_{number}", **_INTERNAL), column


@composed(x="... k : f16 bf16 f32", out=True)
def gguf_quantize(do: Steps, x: TensorRef, type: WrittenType) -> Any:
    """A tensor as GGML's blocks of bytes, u8, one behind the other along the last axis, whose length is a multiple of a block's.

    The bytes are those of the package `gguf` (`gguf.quants.quantize`), for x in f32; 16-bit floats are taken as f32. Blocks with
    NaN or infinities have bytes that mean nothing.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> block = baracuda.gguf_quantize(np.arange(32, dtype=np.float32) - 16, "Q8_0")
    >>> block.shape, np.abs(baracuda.gguf_dequantize(block, "Q8_0") - np.arange(32) + 16).max() < 0.07
    ((34,), np.True_)
    """
    kind, k = _ONE_BY_ONE.get(type), x.shape[-1]
    if kind is not None:
        y, dense = do.result((*x.shape[:-1], k * kind.itemsize), _U8), do.rows(x.shape, kind)
        if 0 not in y.shape:
            do.copy(x, dense)
            do.copy(as_bytes(dense), y)
        return y
    format, code = FORMATS[type], CODES[type]
    if k % format.length:
        raise InvalidProblemError(f"x: {k} elements a row; expected blocks of {format.length} elements, those of {type}")
    y = do.result((*x.shape[:-1], k // format.length * format.size), _U8)
    x = few_axes(do, x)
    op, columns = _bytes_op(type)

    def runs_of_x(start: int, count: int, width: int) -> dict[str, Any]:
        return {f"x{p}": run for p, run in enumerate(_runs(x, format.length, start, count, width))}

    def write(y: TensorMut) -> None:
        number = do.rows((*x.shape[:-1], k // format.length, 1), _F32) if code.sections else None
        into = [number if c[0] < 0 else _bytes_of(y, format.size, code.width, [c])[0] for c in columns]
        do.run(op, runs_of_x(0, format.length // code.width, code.width), tuple(into))
        for n, (start, count, width, _) in enumerate(code.sections):
            section, column = _section_op(type, n)
            (target,) = _bytes_of(y, format.size, width, [column])
            do.run(section, {**runs_of_x(start, count, width), "number": number}, target)

    if 0 not in y.shape:
        written(do, y, write)
    return y
