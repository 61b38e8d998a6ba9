"""How an op is tested: an independent reference in float64, what its tensors hold, and the shapes and keywords to try."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

Shapes = Sequence["tuple[int, ...] | None"]
Array = Any

#: Shapes of one, two and three tensors: odd sizes, rows that are no multiple of a vector, broadcasts, size 1, empty.
POINTWISE: dict[int, list[Shapes]] = {
    1: [((3, 67),), ((5, 1, 33),), ((1,),), ((0, 4),), ((),)],
    2: [((3, 67), (3, 67)), ((4, 1, 33), (5, 1)), ((1,), (7,)), ((0, 4), (1, 4)), ((), ())],
    3: [((3, 67), (3, 67), (3, 67)), ((4, 1, 33), (5, 1), (33,)), ((1,), (7,), ()), ((0, 4), (1, 4), (4,))],
    4: [((3, 67), (3, 67), (3, 67), (3, 67)), ((4, 1, 33), (5, 1), (33,), ())],
}
#: Shapes of a tensor with rows along its last axis.
ROWS: list[Shapes] = [((3, 67),), ((2, 5, 1030),), ((4, 1),), ((1,),), ((130,),)]


@dataclass(frozen=True)
class OpCases:
    """How one op is tried: every set of keywords and every entry of shapes, in every element.

    Attributes
    ----------
    reference
        On torch tensors of float64 (complex128; integers and bool as they are), positional in the op's order, with the
        op's keywords; gives one tensor or a tuple, in the order of the function's results.
    domains
        What each tensor holds (see `DOMAINS` in `baracuda/cli/verify/values.py`), the last one for all that follow; "index:5"
        is s64 below 5.
    shapes
        The shapes of the tensors of each trial; None leaves one out.
    keywords
        Keywords of each trial; every one is tried with every entry of `shapes`.
    elements
        Labels of the elements of the tensors that promote, by default every one that the op accepts (for integers and
        complex the reference must do); the others keep what their domain says.
    tolerance
        Allowed error as a multiple of the element's own rounding (2**-8 for bf16, 2**-11 f16, 2**-23 f32, 2**-52 f64) of
        the size of the result (`absolute` of 1 is added to it).
    modulus
        Whether the error of a part of a complex result counts against its modulus, as that of products does.
    gradient
        Whether the backward is compared with autograd of the reference, or tells it by a trial's keywords.
    specials
        Whether NaN, infinities, zeros and subnormals are mixed into the values of a further trial.
    rival
        What the benchmark compares with, by default the reference: what a PyTorch user would write.
    """

    reference: Callable[..., Any]
    domains: Sequence[str] = ("any",)
    shapes: Sequence[Shapes] = ()
    keywords: Sequence[Mapping[str, Any]] = field(default=({},))
    elements: Sequence[str] | None = None
    tolerance: float = 4.0
    absolute: float = 0.0
    modulus: bool = False
    gradient: bool | Callable[[Mapping[str, Any]], bool] = True
    specials: bool = True
    rival: Callable[..., Any] | None = None

    def has_gradient(self, keywords: Mapping[str, Any]) -> bool:
        """Whether the backward is compared in a trial with these keywords."""
        return self.gradient(keywords) if callable(self.gradient) else self.gradient


def torch_of(array: Array) -> torch.Tensor:
    """The float64, complex128, integer or bool tensor of an array."""
    if array.dtype.kind == "V" or (array.dtype.itemsize < 8 and array.dtype.kind == "f") or "float" in array.dtype.name:
        array = array.astype(np.float64)
    if array.dtype.kind == "c":
        array = array.astype(np.complex128)
    if array.dtype.kind == "u" and array.dtype.itemsize > 1:
        array = array.astype(np.int64)
    return torch.from_numpy(np.array(array))
