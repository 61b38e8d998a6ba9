"""Results' extents in terms of arguments' extents: what a compiler needs to serve other sizes with the same program.

A call is described with the sizes at hand. Which axis of a result is which axis of an argument is known

- of a declared op from where its tensors' axes lie in its iteration space;
- of a product from the labels of its axes;
- of gradients, each of which has the shape of its tensor;
- of functions that pass axes on as they are (`baracuda.torch.library.passed_on`).

Of everything else it is not, and PyTorch is told that the program holds for these sizes alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import torch

from baracuda.core.layout import contiguous_strides
from baracuda.core.tensor import TensorRef
from baracuda.frontends.backward import Backward
from baracuda.frontends.double_backward import DoubleBackward
from baracuda.frontends.function import Function, describe_bound
from baracuda.frontends.product_function import MatmulBackward, MatmulFunction
from baracuda.torch.library import functions
from baracuda.torch.library.gradients import is_inexact
from baracuda.torch.library.passed_on import RULES

#: A stand-in for an extent that nothing is known of.
_UNKNOWN = 61
Extents = tuple[Any, ...]


def is_symbolic(values: Mapping[str, Any]) -> bool:
    """Whether a tensor among arguments has an extent that is no number."""
    return any(isinstance(n, torch.SymInt) for v in values.values() for t in _tensors(v) for n in (*t.shape, *t.stride()))


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in _tensors(v)]
    return [value] if isinstance(value, torch.Tensor) else []


def at_hand(n: Any) -> int:
    """The number that stands for an extent in this call, without PyTorch being told that it was looked at."""
    if not isinstance(n, torch.SymInt):
        return int(n)
    return int(n.node.hint) if n.node.has_hint() else _UNKNOWN


def is_known(name: str) -> bool:
    """Whether extents of a function's results may be known for all sizes."""
    return name in RULES or name.endswith("_backward") or not isinstance(functions.function(name), FunctionType)


def extents_of_results(
    name: str, taken: Mapping[str, Any], values: Mapping[str, Any], found: Sequence[tuple[int, ...]]
) -> list[Extents] | None:
    """The extents of a function's results, given its arguments at hand, and PyTorch's by name, and the shapes of its results at
    hand; None where they are not known."""
    public, count = functions.function(name), len(found)
    if name in RULES:
        return RULES[name](values, found)
    shapes = {n: tuple(v.shape) for n, v in values.items() if isinstance(v, torch.Tensor)}
    if isinstance(public, Backward):
        shapes |= {n: shapes[c] for n in public.op.unread for c in reversed(public.cotangents) if c in shapes}
    if isinstance(public, (Backward, DoubleBackward, MatmulBackward)):
        names = _gradients(public, taken)
    elif isinstance(public, Function):
        return _of_op(public, taken, shapes)
    elif isinstance(public, MatmulFunction):
        return _of_product(public, taken, shapes, count)
    elif name.endswith("_backward"):
        known = {p.name for p in functions.parameters(name.removesuffix("_backward"))}
        floats = [n for n, v in values.items() if n in known and is_inexact(v)]
        tensors = [t for n in taken.get("wrt") or floats for t in _tensors(values.get(n))]
        return [tuple(t.shape) for t in tensors] if len(tensors) == count else None
    else:
        return None
    return [shapes[n] for n in names] if all(n in shapes for n in names) else None


def _gradients(public: Any, taken: Mapping[str, Any]) -> Sequence[str]:
    """The tensors whose gradients a call gives."""
    if taken.get("wrt") is not None:
        return list(taken["wrt"])
    if isinstance(public, MatmulBackward):
        return [n for n in public.forward.tensors if taken.get(n) is not None]
    op = public.op
    known = {n: v for n, v in taken.items() if n in op.signature.tensors and isinstance(v, TensorRef)}
    floats = [n for n in op.signature.tensors if n in known and n not in op.constants and not known[n].kind.is_integer]
    return floats if isinstance(public, Backward) else [n for n in public.cotangents if taken.get(n) is not None] + floats


def _of_op(public: Function, taken: Mapping[str, Any], shapes: Mapping[str, Extents]) -> list[Extents] | None:
    bounds = {"bounds"} if public.op.bounds is not None else set()
    call = public.binding((), {n: v for n, v in taken.items() if n not in bounds})
    descriptor, _, _ = describe_bound(public.op, call)
    space: list[Any] = [None if n != 1 else 1 for n in descriptor.space]
    for name, shape in shapes.items():
        if name not in descriptor.tensors or len(descriptor.tensors[name][0]) != len(shape):
            return None
        for axis, n in zip(descriptor.placement(name), shape, strict=True):
            if axis is None or descriptor.space[axis] == 1 or at_hand(n) == 1:
                continue
            if space[axis] is None:
                space[axis] = n
            else:
                torch._check(space[axis] == n)
    if any(n is None for n in space):
        return None
    found = []
    for name, (shape, _, placed) in descriptor.results.items():
        if descriptor.wanted and name not in descriptor.wanted:
            continue
        axes = [a for a in placed if a is not None]
        if len(axes) != len(shape):
            return None
        if any(n not in (1, descriptor.space[a]) for a, n in zip(axes, shape, strict=True)):
            return None
        found.append(tuple(1 if n == 1 else space[a] for a, n in zip(axes, shape, strict=True)))
    return found


def _of_product(
    public: MatmulFunction, taken: Mapping[str, Any], shapes: Mapping[str, Extents], count: int
) -> list[Extents] | None:
    options = {n: v for n, v in taken.items() if n != "preference"}
    request = public.request(public.binding((), options))
    if request.shape is not None:
        return None
    d, labelled = request.descriptor, dict[str, Any]()
    for tensor, axes in (("a", d.a_axes), ("b", d.b_axes)):
        shape = shapes.get(public.tensors[request.read[tensor]])
        if shape is None or len(shape) != len(axes):
            return None
        for label, n in zip(axes, shape, strict=True):
            if at_hand(n) == 1:
                labelled.setdefault(label, n)
            elif label in labelled and at_hand(labelled[label]) != 1:
                torch._check(labelled[label] == n)
            else:
                labelled[label] = n
    return [tuple(labelled[x] for x in d.y_axes)] * count


def strides_of(extents: Extents, shape: Sequence[int], strides: Sequence[int]) -> Extents | None:
    """The strides of a dense result, given those that it has with the sizes at hand; None where it is not dense."""
    order = sorted(range(len(shape)), key=lambda a: (-strides[a], -shape[a], a))
    dense = contiguous_strides(tuple(shape[a] for a in order))
    if any(shape[a] != 1 and strides[a] != s for a, s in zip(order, dense, strict=True)):
        return None
    found: list[Any] = [None] * len(shape)
    step: Any = 1
    for a in reversed(order):
        found[a] = step
        step = step * extents[a]
    return tuple(found)
