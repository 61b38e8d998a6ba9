"""Tensors of GGUF files: blocks of bytes (`block_formats.py`) to values and back."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.formula.conversions import cast_to
from baracuda.formula.expr import Expr, coord
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Stored
from baracuda.ops.declaration.words import FloatElement
from baracuda.ops.quantization.block_formats import FORMATS, BlockFormat, Section
from baracuda.ops.quantization.blocks import few_axes, parts, written

GgufType = Literal[
    "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q8_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "Q8_K", "IQ4_NL", "IQ4_XS",
    "TQ1_0", "TQ2_0", "MXFP4",
]  # fmt: skip
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


class _Columns:
    """The bytes that a section's formula reads: one for all elements of a run, by its place, or one for each."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, bool], Expr | None] = {}

    def __call__(self, at: int, i: Expr | None = None) -> Expr:
        found = self.seen.setdefault((at, i is not None))
        return coord(-1) if found is None else found

    @staticmethod
    def name(at: int, along: bool) -> str:
        return f"{'run' if along else 'byte'}{at}"


@cache
def _columns(section: Section) -> tuple[tuple[int, bool], ...]:
    columns = _Columns()
    for p in range(section.runs):
        section.decode(columns, p, coord(-1))
    return tuple(sorted(columns.seen, key=lambda c: (not c[1], c[0])))


@cache
def _op(format: BlockFormat, number: int) -> Op:
    """The op of a section: of bytes, each a tensor along blocks, or along blocks and the elements of a run; to its runs."""
    section = format.sections[number]
    needed = _columns(section)

    def values(*bytes_: Expr, element: ElementKind | None = None) -> dict[str, Stored]:
        columns, kind = _Columns(), element or ElementKind.F32
        columns.seen.update(zip(needed, bytes_, strict=True))
        runs = (section.decode(columns, p, coord(-1)) for p in range(section.runs))
        return {f"y{p}": Stored(cast_to(value, kind), kind) for p, value in enumerate(runs)}

    values.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *(inspect.Parameter(_Columns.name(*c), _POSITIONAL, annotation=Expr) for c in needed),
            inspect.Parameter("element", inspect.Parameter.KEYWORD_ONLY, annotation=ElementKind),
        ]
    )
    results = tuple(f"y{p}" for p in range(section.runs))
    return Op(
        values, Rule.EACH, name=f"{format.name.lower()}_values_{number}", family="quantization", takes="int", results=results,
        element_option=True, differentiable=False,
    )  # fmt: skip


@composed(x="... bytes : u8", out=True)
def gguf_dequantize(do: Steps, x: TensorRef, type: GgufType, *, dtype: FloatElement = ElementKind.F32) -> Any:
    """The values of a tensor of a GGUF file, in the element `dtype` (f32 by default).

    x is u8, as `gguf.GGUFReader` gives tensors: blocks of bytes one behind the other along the last axis. `type` is GGML's name.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> block = np.r_[np.float16([0.5]).view(np.uint8), np.arange(32, dtype=np.uint8)]
    >>> baracuda.gguf_dequantize(block, "Q8_0")[:4].tolist()
    [0.0, 0.5, 1.0, 1.5]
    """
    format = FORMATS[type]
    bytes_ = x.shape[-1]
    if bytes_ % format.size:
        raise InvalidProblemError(f"x: {bytes_} bytes a row; expected blocks of {format.size} bytes, those of {type}")
    blocks = bytes_ // format.size
    y = do.result((*x.shape[:-1], blocks * format.length), dtype)
    if 0 in y.shape:
        return y
    x = few_axes(do, x)

    def write(y: TensorRef) -> None:
        for number, section in enumerate(format.sections):
            tensors = {
                _Columns.name(at, along): parts(x, blocks, format.size, at, section.width if along else 1)
                for at, along in _columns(section)
            }
            starts = (section.start + p * section.width for p in range(section.runs))
            into = tuple(parts(y, blocks, format.length, start, section.width) for start in starts)
            do.run(_op(format, number), tensors, into, dtype=dtype)

    written(do, [y], write)
    return y
