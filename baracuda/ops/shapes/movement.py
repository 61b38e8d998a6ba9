"""A batch of copies into one tensor, as a plan: a class for each number of copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, make_dataclass
from functools import cache, partial
from typing import Any, ClassVar

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args, Descriptor
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.implementation import Found, Layout
from baracuda.core.layout import reach
from baracuda.core.plan import Plan
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_shape
from baracuda.lowering.backend import candidates
from baracuda.lowering.movement.implementation import MovementImplementation
from baracuda.lowering.movement.problem import Movement, Piece


@dataclass(frozen=True)
class MovementDescriptor(Descriptor):
    """Copies of tensors into parts of one.

    Attributes
    ----------
    element
        That of all tensors, of whole bytes.
    shapes
        The shape of each source.
    strides, offsets
        Where each goes: strides in elements, from this element of the target on, counted in its memory from its first one. No
        two of these parts may have an element in common.
    target
        The shape of the target.
    """

    element: ElementKind
    shapes: tuple[tuple[int, ...], ...]
    strides: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]
    target: tuple[int, ...]

    def validate(self) -> None:
        check_shape("target", self.target)
        if not self.shapes or not len(self.shapes) == len(self.strides) == len(self.offsets):
            raise InvalidProblemError(f"shapes: {len(self.shapes)}; expected one or more, with strides and an offset each")
        for shape, strides in zip(self.shapes, self.strides, strict=True):
            check_shape("shapes", shape)
            if len(shape) != len(strides) or 0 in shape:
                raise InvalidProblemError(f"shapes: {shape} with strides {strides}; expected elements, a stride for each axis")

    def __getattr__(self, name: str) -> Any:
        """shape0, shape1, ...: the shapes of the sources, for the specs."""
        if name.startswith("shape") and name[5:].isdecimal():
            return self.shapes[int(name[5:])]
        raise AttributeError(name)

    def movement(self, layout: Layout) -> Movement:
        """The problem for a layout of the plan's tensors."""
        *sources, target = layout
        assert target is not None
        pieces = []
        for source, shape, strides, offset in zip(sources, self.shapes, self.strides, self.offsets, strict=True):
            assert source is not None
            pieces.append(Piece(shape, tuple(source.strides), strides, offset, source.alignment))
        general = any(o is not None and o.general for o in layout)
        return Movement(self.element.itemsize, tuple(pieces), target.alignment, general)


class MovementPlan(Plan[MovementDescriptor, Args]):
    """Base of the plans of batches of copies; `args` is the class of their args."""

    category, op = OpCategory.SHAPE_LAYOUT, "movement"
    args: ClassVar[type[Args]]

    @classmethod
    def implementations(cls, device: Device, descriptor: MovementDescriptor) -> Found:
        make: Callable[[], Any] = partial(MovementImplementation, device, descriptor.movement)
        return candidates(device, make)

    @classmethod
    def checked(cls, descriptor: MovementDescriptor, values: Sequence[Any], stream: Any) -> list[Any]:
        """The tensors of one call, after every check there is; that parts lie in the target too."""
        tensors = super().checked(descriptor, values, stream)
        target = tensors[-1]
        assert target is not None
        low, high = reach(target.shape, target.strides)
        for shape, strides, offset in zip(descriptor.shapes, descriptor.strides, descriptor.offsets, strict=True):
            first, last = reach(shape, strides)
            if not low <= first + offset <= last + offset <= high:
                raise InvalidProblemError(f"offsets: {offset} of shape {shape} with strides {strides} leaves the target")
        return tensors


@cache
def movement_plan(count: int) -> type[MovementPlan]:
    """The plan class of so many copies: its tensors are x0, x1, ... and y."""
    names = [f"x{i}" for i in range(count)]
    specs = [TensorSpec(n, "what is copied", f"shape{i}", varies=Axes.NONE) for i, n in enumerate(names)]
    specs.append(TensorSpec("y", "where it goes", "target", written=True))
    fields = [(s.name, Any, field(default=None)) for s in specs]
    args = make_dataclass(f"Movement{count}Args", fields, bases=(Args,), namespace={"__module__": __name__})
    body = {"tensors": tuple(specs), "args": args, "__module__": __name__, "__doc__": f"{count} copies into one tensor."}
    return type(f"Movement{count}Plan", (MovementPlan,), body)
