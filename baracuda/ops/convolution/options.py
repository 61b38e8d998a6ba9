"""What the options of convolutions mean: numbers for each spatial axis, padding, the axes of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, view
from baracuda.ops.convolution.relation import Relation
from baracuda.ops.convolution.steps import split

#: One number for every spatial axis, or one for each.
Each = int | tuple[int, ...]
#: That, a pair for each, or a word.
Padding = Literal["same", "valid", "same_lower"] | int | tuple[int | tuple[int, int], ...]
PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]
Activation = Literal[
    "none", "gelu", "gelu_tanh", "sigmoid", "tanh", "relu", "relu6", "relu_squared", "quick_gelu", "silu", "mish", "selu",
    "hardswish", "hardsigmoid", "softsign", "logsigmoid",
]  # fmt: skip


def each(name: str, value: Each, rank: int, least: int | None = 1) -> tuple[int, ...]:
    """A number for each spatial axis."""
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(found) == 1:
        found *= rank
    if len(found) != rank or (least is not None and any(n < least for n in found)):
        of = "" if least is None else f" of {least} or more"
        raise InvalidProblemError(f"{name}: {value}; expected a whole number{of}, or {rank} of them")
    return found


def pairs(
    padding: Padding, inputs: Sequence[int], taps: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """What is added before and after each spatial axis."""
    rank = len(inputs)
    if isinstance(padding, str):
        if padding == "valid":
            return ((0, 0),) * rank
        found = []
        for n, k, s, d in zip(inputs, taps, stride, dilation, strict=True):
            total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0) if n else 0
            less, more = total // 2, total - total // 2
            found.append((more, less) if padding == "same_lower" else (less, more))
        return tuple(found)
    if isinstance(padding, int):
        return ((padding, padding),) * rank
    each_one = tuple(p if isinstance(p, tuple) else (p, p) for p in padding)
    if len(each_one) == 1:
        each_one *= rank
    if len(each_one) != rank or any(len(p) != 2 for p in each_one):
        raise InvalidProblemError(f"padding: {padding}; expected a number, {rank} numbers, {rank} pairs, 'same' or 'valid'")
    return each_one


def span(taps: int, dilation: int) -> int:
    """How many elements a window reaches over."""
    return (taps - 1) * dilation + 1


def relation_of(name: str, inputs: int, taps: int, stride: int, dilation: int, pad: tuple[int, int], base: int = 1) -> Relation:
    """That of a convolution along an axis; as many outputs as whole windows fit."""
    width = ((inputs - 1) * base + 1 if inputs else 0) + sum(pad)
    reach = span(taps, dilation) if taps else 0
    if taps < 1:
        raise InvalidProblemError(f"weight: no tap along axis {name}; expected one or more")
    if width < 0:
        raise InvalidProblemError(f"padding: {pad} of {inputs} elements along axis {name}; expected to leave 0 or more")
    outputs = (width - reach) // stride + 1 if width >= reach else 0
    return Relation(inputs, outputs, taps, stride, dilation, pad[0], base)


def relations_of(
    inputs: Sequence[int],
    taps: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base: Sequence[int] | None = None,
) -> list[Relation]:
    """Those of all spatial axes."""
    bases = base or (1,) * len(inputs)
    rows = zip(inputs, taps, stride, dilation, padding, bases, strict=True)
    return [relation_of(str(a), *row) for a, row in enumerate(rows)]


@dataclass(frozen=True)
class Axes:
    """Which axis of a tensor is which: that of batches (or of what a weight yields), of channels, and the spatial ones."""

    first: int
    channels: int
    spatial: tuple[int, ...]


def grouped_input(x: Any, axes: Axes, groups: int, batch_groups: int = 1) -> Any:
    """x as (b, g, *i, c)."""
    turned = permuted(x, (axes.first, axes.channels, *axes.spatial))
    if batch_groups > 1:
        cut = split(turned, 0, batch_groups)  # (g, b, c, *i)
        return permuted(cut, (1, 0, *range(3, len(cut.shape)), 2))
    cut = split(turned, 1, groups)  # (b, g, c, *i)
    return permuted(cut, (0, 1, *range(3, len(cut.shape)), 2))


def grouped_weight(w: Any, axes: Axes, groups: int) -> Any:
    """w, whose first axis yields the groups' columns, as (g, *t, c, n)."""
    cut = split(permuted(w, (axes.first, axes.channels, *axes.spatial)), 0, groups)  # (g, n, c, *t)
    return permuted(cut, (0, *range(3, len(cut.shape)), 2, 1))


def grouped_transposed(w: Any, groups: int) -> Any:
    """The weight of a transposed convolution, (groups * c, n, *t), as (g, *t, c, n)."""
    cut = split(w, 0, groups)  # (g, c, n, *t)
    return permuted(cut, (0, *range(3, len(cut.shape)), 1, 2))


def grouped_vector(v: TensorRef | None, groups: int) -> Any:
    """A vector over columns as (g, n)."""
    return None if v is None else split(v, 0, groups)


def batched(x: Any, rank: int) -> Any:
    """x with an axis of batches."""
    return x if len(x.shape) == rank + 2 else view(x, 0, (1, *x.shape), (0, *x.strides))


def unbatched(y: Any, x: TensorRef, rank: int) -> Any:
    """The shape of the result: without batches where x has none."""
    return y if len(x.shape) == rank + 2 else y[1:]


def common(rank: int) -> Axes:
    """(batch, channels, spatial axes), as PyTorch has them."""
    return Axes(0, 1, tuple(range(2, 2 + rank)))


def check_groups(x: int, weight: int, inner: int, groups: int) -> None:
    """Whether the channels of x and of the weight fit so many groups."""
    if x != inner * groups:
        raise InvalidProblemError(f"x: {x} channels; expected {inner * groups}, {groups} groups of the weight's {inner}")
    if weight % groups:
        raise InvalidProblemError(f"groups: {groups}; expected a divisor of the weight's {weight} output channels")


def check_vector(name: str, v: TensorRef | None, n: int) -> None:
    if v is not None and v.shape != (n,):
        raise InvalidProblemError(f"{name}: shape is {v.shape}; expected ({n},)")


Target = TensorMut
