"""What a plan's tensors must look like, as data: checks, error texts, documentation and tests are made from it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from math import inf, prod
from numbers import Real
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.layout import contiguous_strides, has_internal_overlap, may_share, same_view
from baracuda.core.tensor import TensorRef

MAX_RANK = 8
#: Shapes have fewer elements, so that bytes are counted in 64 bits.
MOST_ELEMENTS = 1 << 60


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of a plan's args. The strings name attributes of the descriptor.

    Attributes
    ----------
    name : str
        The field of the args.
    doc : str
        What the tensor is, for documentation.
    shape : str
        The descriptor's attribute that holds the expected shape, or its method that returns it.
    element : str
        The attribute that holds the expected element kind.
    lies_as : str | None
        The attribute that holds the shape that the tensor has in the formula, for one that may also be given as a vector of
        that many elements, the last axis fastest.
    axes : str | None
        The attribute that says along which axes of the iteration space the tensor's axes lie, None for one that is read at an
        index. None in place of the attribute: along all of them, in order (extents of 1 are broadcast).
    varies : Axes
        Whether it has an element for each point of the iteration space (FULL), for each row (OUTER), for each cell of a row
        (INNER) or only one (NONE).
    written : bool
        Whether the plan writes it.
    when : str | None
        The attribute that decides whether the tensor is given: given exactly when it is true.
    optional : bool
        An output that is not computed where the caller passes None.
    """

    name: str
    doc: str
    shape: str = "input_shape"
    element: str = "element"
    axes: str | None = None
    varies: Axes = Axes.FULL
    written: bool = False
    when: str | None = None
    optional: bool = False
    lies_as: str | None = None

    def expected_shape(self, descriptor: Any) -> tuple[int, ...]:
        shape = getattr(descriptor, self.shape)
        return tuple(shape() if callable(shape) else shape)

    def formula_shape(self, descriptor: Any) -> tuple[int, ...]:
        """The shape that it has in the formula."""
        return self.expected_shape(descriptor) if self.lies_as is None else tuple(getattr(descriptor, self.lies_as))

    def expected_kind(self, descriptor: Any) -> ElementKind:
        kind = getattr(descriptor, self.element)
        assert isinstance(kind, ElementKind)
        return kind

    def presence(self, descriptor: Any) -> bool | None:
        """True: must be given; False: must be None; None: either."""
        if self.when is not None:
            return bool(getattr(descriptor, self.when))
        return None if self.optional else True

    def strides_over(self, descriptor: Any, rank: int, shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
        """The tensor's strides over the iteration space: 0 where it does not vary."""
        over = [0] * rank
        if self.lies_as is not None and len(shape) == 1:
            shape = self.formula_shape(descriptor)
            strides = [strides[0] * step for step in contiguous_strides(shape)]
        for axis, extent, stride in zip(self.placement(descriptor, rank, len(shape)), shape, strides, strict=True):
            if axis is not None:
                over[axis] = stride if extent != 1 else 0
        return tuple(over)

    def placement(self, descriptor: Any, rank: int, own: int) -> Sequence[int | None]:
        """The axis of the iteration space that each of the tensor's `own` axes lies along; None for one read at an index."""
        axes: Sequence[int | None] = range(rank - own, rank) if self.axes is None else getattr(descriptor, self.axes)
        return axes

    def covers(self, descriptor: Any) -> bool:
        """Whether it has an element of its own for each point of the iteration space."""
        if self.varies is not Axes.FULL:
            return False
        space: tuple[int, ...] | None = getattr(descriptor, "iteration_shape", None)
        if space is None:
            return True
        shape = self.formula_shape(descriptor)
        placement = self.placement(descriptor, len(space), len(shape))
        over = {axis: extent for axis, extent in zip(placement, shape, strict=True) if axis is not None}
        return all(extent == 1 or over.get(axis) == extent for axis, extent in enumerate(space)) and len(over) == len(shape)


def check_presence(specs: Sequence[TensorSpec], descriptor: Any, values: Sequence[Any]) -> None:
    """Raise unless exactly the tensors that the descriptor asks for are given."""
    for spec, value in zip(specs, values, strict=True):
        presence = spec.presence(descriptor)
        if presence is True and value is None:
            because = f" because {spec.when}={getattr(descriptor, spec.when)}" if spec.when else ""
            raise InvalidProblemError(
                f"{spec.name}: got None; expected a tensor of shape {spec.expected_shape(descriptor)}{because}"
            )
        if presence is False and value is not None:
            raise InvalidProblemError(f"{spec.name}: got a tensor; expected None because {spec.when}=False")
    optional = [s.name for s, v in zip(specs, values, strict=True) if s.optional]
    if optional and all(v is None for s, v in zip(specs, values, strict=True) if s.written):
        raise InvalidProblemError(f"{', '.join(optional)}: all are None; expected at least one output")


def check_tensor(spec: TensorSpec, descriptor: Any, tensor: TensorRef, device: Device) -> None:
    """Raise unless a tensor is what its spec asks for on this device."""
    shape, kind = spec.expected_shape(descriptor), spec.expected_kind(descriptor)
    if tensor.device != device:
        raise InvalidProblemError(f"{spec.name}: it is on {tensor.device}; expected {device}, where the plan's stream is")
    if tensor.kind is not kind:
        raise InvalidProblemError(f"{spec.name}: element is {tensor.kind}; expected {kind}")
    if tensor.shape != shape:
        raise InvalidProblemError(f"{spec.name}: shape is {tensor.shape}; expected {shape}")
    if spec.written and has_internal_overlap(tensor.shape, tensor.strides):
        raise InvalidProblemError(
            f"{spec.name}: strides {tensor.strides} over shape {tensor.shape} visit an address twice; expected an output "
            "with an address for each element"
        )


def check_overlap(specs: Sequence[TensorSpec], descriptor: Any, tensors: Sequence[TensorRef | None]) -> None:
    """Raise where an output shares memory with another tensor.

    An output may be an input's very memory (same address, shape, strides and element) where both have an element for each
    point of the iteration space: the plan then runs in place.
    """
    for i, (spec, out) in enumerate(zip(specs, tensors, strict=True)):
        if not spec.written or out is None:
            continue
        for j, (other_spec, other) in enumerate(zip(specs, tensors, strict=True)):
            if i == j or other is None or (other_spec.written and j > i):
                continue
            if not may_share(out, other):
                continue
            each = spec.covers(descriptor) and other_spec.covers(descriptor)
            if not other_spec.written and each and same_view(out, other):
                continue
            how = "in place needs the same address, shape, strides and element"
            if other_spec.written:
                how = "both are written"
            elif not each:
                how = "in place needs an element for each point of the problem"
            raise InvalidProblemError(
                f"{spec.name}: its memory overlaps that of {other_spec.name}; expected none in common ({how})"
            )


# --- checks that descriptors share ------------------------------------------------------------------------------------


def check_shape(name: str, shape: Sequence[int], least: int = 0, most: int = MAX_RANK) -> None:
    """Raise unless a shape has a rank in range and no negative extent; `UnsupportedError` for a rank that no plan takes."""
    if not isinstance(shape, (tuple, list)) or not all(isinstance(n, int) and not isinstance(n, bool) for n in shape):
        raise InvalidProblemError(f"{name}: {shape!r}; expected a tuple of ints")
    if not least <= len(shape) <= most:
        error = UnsupportedError if len(shape) > MAX_RANK else InvalidProblemError
        raise error(f"{name}: {tuple(shape)} has rank {len(shape)}; expected {least} to {most}")
    if any(n < 0 for n in shape):
        raise InvalidProblemError(f"{name}: {tuple(shape)} has a negative extent; expected 0 or more")
    if max((*shape, prod(shape))) >= MOST_ELEMENTS:  # words of kernels have 64 bits
        raise InvalidProblemError(f"{name}: {tuple(shape)} has {prod(shape)} elements; expected fewer than 2**60")


def check_axis(name: str, axis: int, rank: int) -> None:
    """Raise unless an axis is in -rank ... rank-1; of a tensor without axes, unless it is 0 or -1, as in PyTorch."""
    rank = max(rank, 1)
    if isinstance(axis, bool) or not isinstance(axis, int) or not -rank <= axis < rank:
        raise InvalidProblemError(f"{name}: {axis!r}; expected an axis from {-rank} to {rank - 1}")


def check_axes(name: str, axes: Sequence[int], rank: int) -> None:
    """Raise unless each is an axis and none is named twice."""
    for axis in axes:
        check_axis(name, axis, rank)
    if len({axis % max(rank, 1) for axis in axes}) != len(axes):
        raise InvalidProblemError(f"{name}: {tuple(axes)} names an axis twice; expected different axes")


def counted(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from 0. Those of a tensor without axes are none: its only element is a row of one."""
    return tuple(axis % rank for axis in axes) if rank else ()


def check_element(name: str, element: object, supported: Sequence[ElementKind]) -> None:
    """Raise unless an element kind is one of the supported ones."""
    if element not in supported:
        raise UnsupportedError(f"{name}: {element}; expected one of {', '.join(map(str, supported))}")


def check_number(name: str, value: object, least: float | None = None) -> None:
    """Raise unless a value is a real number, NumPy's among them; with `least` a finite one that is no less."""
    number: float | None = None
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # of an int beyond every float
            number = float(value)
    if number is None or not (least is None or least <= number < inf):
        expected = "a number" if least is None else f"a finite number, {least:g} or above"
        raise InvalidProblemError(f"{name}: {value!r}; expected {expected}")


def check_flag(name: str, value: object) -> None:
    """Raise unless a value is True or False."""
    if not isinstance(value, bool):
        raise InvalidProblemError(f"{name}: {value!r}; expected True or False")


def field_summary(value: Any) -> str:
    """A descriptor's fields, for messages."""
    return ", ".join(f"{f.name}={getattr(value, f.name)!r}" for f in fields(value))
