"""Tensors as blocks along their last axes: views for formulas that run over the elements of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import as_words, reshaped, view
from baracuda.ops.declaration.composition import Steps
from baracuda.ops.declaration.op import Op

#: Views in blocks have two axes more than the tensor, and no plan takes more than eight.
_MOST_AXES = 6


def parts(tensor: TensorRef, count: int, size: int, start: int, width: int) -> Any:
    """Of each of `count` blocks of `size` elements along the last axis, `width` elements from number `start` on: along a new last
    axis."""
    *lead, step = tensor.strides
    return view(tensor, start * step, (*tensor.shape[:-1], count, width), (*lead, size * step, step))


def runs_of(extent: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Blocks of `size` neighbours, of which the last one may be shorter: where blocks of one length begin, how many they are, and
    their length."""
    whole, left = divmod(extent, size)
    if whole:
        yield 0, whole, size
    if left:
        yield whole * size, 1, left


def tile(tensor: TensorRef, rows: tuple[int, int, int], columns: tuple[int, int, int]) -> Any:
    """Blocks of blocks along the last two axes: a new axis behind each for the elements of a block."""
    *lead, down, along = tensor.strides
    (top, above, height), (left, beside, width) = rows, columns
    return view(
        tensor,
        top * down + left * along,
        (*tensor.shape[:-2], above, height, beside, width),
        (*lead, height * down, down, width * along, along),
    )


def few_axes(do: Steps, tensor: TensorRef, kept: int = 1) -> TensorRef:
    """A tensor to read, its axes before the last `kept` ones as one where they are many."""
    if len(tensor.shape) <= _MOST_AXES:
        return tensor
    found: TensorRef = do.reshaped(tensor, _few(tensor.shape, kept))
    return found


def _few(shape: Sequence[int], kept: int) -> tuple[int, ...]:
    return (prod(shape[:-kept]), *shape[len(shape) - kept :])


def written(do: Steps, tensors: Sequence[TensorRef], write: Callable[..., None], kept: int = 1) -> None:
    """Have `write` write tensors, given them with their axes before the last `kept` ones as one where they are many."""
    targets: list[Any] = []
    copies = []
    for tensor in tensors:
        target: Any = tensor
        if len(tensor.shape) > _MOST_AXES:
            flat = _few(tensor.shape, kept)
            target = reshaped(tensor, flat)
            if target is None:
                target = do.rows(flat, tensor.kind)
                copies.append((view(target, 0, tensor.shape, contiguous_strides(tensor.shape)), tensor))
        targets.append(target)
    write(*targets)
    for source, into in copies:
        do.copy(source, into)  # type: ignore[arg-type]


def in_words(do: Steps, tensor: TensorRef, count: int) -> Any:
    """Each `count` neighbours along the last axis, of which there is a multiple, as one unsigned integer: of a copy where they do
    not lie so."""
    found = as_words(tensor, count)
    if found is None:
        dense = do.rows(tensor.shape, tensor.kind)
        do.copy(tensor, dense)
        found = as_words(dense, count)
    return found


# --- codes and scales -------------------------------------------------------------------------------------------------


def over_blocks(
    do: Steps, op: Op, block: int, unit: int, x: TensorRef, q: TensorMut, scale: TensorMut, more: Any, **options: Any
) -> None:
    """Codes and scales of the blocks of x, of which `unit` neighbours are a word and a byte of q."""
    k = x.shape[-1]
    x = few_axes(do, x)
    x = x if unit == 1 else in_words(do, x, unit)
    name = op.signature.tensors[0]

    def write(q: TensorMut, scale: TensorMut) -> None:
        for start, count, size in runs_of(k // unit, block // unit):
            piece, codes = parts(x, count, size, start, size), parts(q, count, size, start, size)
            own = parts(scale, count, 1, start // (block // unit), 1)
            do.run(op, {name: piece, **more}, (codes, own), **options)

    if 0 not in q.shape:
        written(do, [q, scale], write)


def values_over_blocks(
    do: Steps, op: Op, block: int, unit: int, q: TensorRef, scale: TensorRef, y: TensorMut, more: Any, **options: Any
) -> None:
    """The values of codes in blocks, of which one byte is `unit` neighbours, a word of y."""
    if 0 in y.shape:
        return
    k = q.shape[-1]
    q, scale = few_axes(do, q), few_axes(do, scale)

    def write(y: TensorMut) -> None:
        words = y if unit == 1 else in_words(do, y, unit)
        for start, count, size in runs_of(k, block // unit):
            own = parts(scale, count, 1, start // (block // unit), 1)
            tensors = {"q": parts(q, count, size, start, size), "scale": own, **more}
            do.run(op, tensors, parts(words, count, size, start, size), **options)

    written(do, [y], write)


def scales_of(do: Steps, x: TensorRef, block: int, kind: ElementKind) -> TensorMut:
    return do.rows((*x.shape[:-1], -(-x.shape[-1] // block)), kind)


def packed(do: Steps, x: TensorRef) -> TensorMut:
    """For the codes of x, two a byte."""
    if x.shape[-1] % 2:
        raise InvalidProblemError(f"x: shape {x.shape}; expected an even number of elements along the last axis, two a byte")
    return do.rows((*x.shape[:-1], x.shape[-1] // 2), ElementKind.U8)


def single(do: Steps, scale: TensorRef | float, name: str) -> TensorRef:
    """A scale of a whole tensor, which may be given as a number, of this name, as a tensor without axes."""
    if isinstance(scale, TensorRef):
        found: TensorRef = view(scale, 0, (), ())
        return found
    tensor = do.rows((), ElementKind.F32)
    do.fill(tensor, scale, name)
    return tensor


def blocks_of(extent: int, block: int) -> int:
    return -(-extent // block)
