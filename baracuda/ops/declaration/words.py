"""What parameters of many functions may be, as annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from baracuda.core.bounds import Above, AtLeast, Finite
from baracuda.core.elements import ElementKind
from baracuda.core.parameters import ELEMENT, OneOf

#: What becomes of an index that is out of range.
Bounds = Literal["check", "clamp"]
Reduction = Literal["none", "mean", "sum"]
#: The tensors whose gradients are wanted.
Wrt = Sequence[str] | None

Count = Annotated[int, AtLeast(0)]
Positive = Annotated[int, AtLeast(1)]
#: What is added to a number that something is divided by.
Eps = Annotated[float, AtLeast(0), Finite()]
FiniteFloat = Annotated[float, Finite()]
#: The order of a norm.
Order = Annotated[float, AtLeast(0)]
PositiveFloat = Annotated[float, Above(0), Finite()]

#: An element, or the dtype or name of one, or None.
Dtype = Annotated[Any, ELEMENT]
FloatElement = Annotated[Any, OneOf((ElementKind.F16, ElementKind.BF16, ElementKind.F32, ElementKind.F64))]
Quantized = Annotated[Any, OneOf((ElementKind.S8, ElementKind.U8))]
WholeBytes = Annotated[Any, OneOf(tuple(kind for kind in ElementKind if kind.bits >= 8))]

#: A shape, or the extent of its only axis.
Extents = int | tuple[int, ...]
#: One axis or several, counted from 0 or from the end; None for all.
AxesOrAll = int | tuple[int, ...] | None
AxisOrFlat = int | None
