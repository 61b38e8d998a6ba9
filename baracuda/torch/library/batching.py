"""What `torch.vmap` makes of an operator, by family.

An op of elements takes the batch as an axis in front. So does one that runs along rows, whose axes move by one, and a product of
matrices. For the gradients of these every tensor gets that axis. All others are called once for each member of the batch, and the
results stacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from baracuda.frontends.backward import Backward
from baracuda.frontends.function import Function, describe_bound
from baracuda.torch.library import functions
from baracuda.torch.library.fake import described_like
from baracuda.torch.library.gradients import handle, is_inexact
from baracuda.torch.library.schemas import Overload
from baracuda.torch.library.symbolic import at_hand

#: Products whose leading axes are batches, with how many axes their tensors have at least.
_PRODUCTS = {"matmul": 2, "linear": 0}
#: Ops for which the first axis is one of its own: reduction="batchmean" divides by its extent.
_FIRST_AXIS = frozenset(["kl_div"])


def batched(overload: Overload) -> Any:
    """The rule of an overload."""
    if overload.results == 0:
        return None
    leading = _rule(overload)

    def rule(info: Any, in_dims: Sequence[Any], *arguments: Any, **keywords: Any) -> Any:
        found = leading(info.batch_size, in_dims, arguments, keywords) if leading is not None else None
        if found is None:
            found = _one_by_one(overload, info.batch_size, in_dims, arguments, keywords)
        return found, (0 if isinstance(found, torch.Tensor) else type(found)([0] * len(found)))

    return rule


def _one_by_one(overload: Overload, size: int, in_dims: Sequence[Any], arguments: Sequence[Any], keywords: Any) -> Any:
    """A call for each member."""
    operator = handle(overload.function, overload.name)
    made = [operator(*(_member(a, d, i) for a, d in zip(arguments, in_dims, strict=True)), **keywords) for i in range(size)]
    if isinstance(made[0], torch.Tensor):
        return torch.stack(made)
    return type(made[0])(torch.stack(list(members)) for members in zip(*made, strict=True))


def _member(argument: Any, dim: Any, i: int) -> Any:
    if isinstance(argument, (list, tuple)) and isinstance(dim, (list, tuple)):
        return [_member(a, d, i) for a, d in zip(argument, dim, strict=True)]
    return argument.select(dim, i) if isinstance(argument, torch.Tensor) and dim is not None else argument


def _rule(overload: Overload) -> Any:
    """What takes the batch as an axis in front; None for a family of which nothing is known."""
    public = functions.function(overload.function)
    if overload.function in _PRODUCTS:
        return lambda *call: _product(overload, *call)
    if not isinstance(public, (Function, Backward)):
        return None
    op = public.op
    if op.name in _FIRST_AXIS:
        return None
    if (
        op.check
        or op.places
        or op.space
        or op.bounds
        or op.vectors
        or op.crosswise
        or op.unread
        or (op.rows and not op.axis_option)
    ):
        return None
    return lambda *call: _elements(overload, public, *call)


def _in_front(tensor: torch.Tensor, dim: int | None, size: int, rank: int, whole: bool) -> torch.Tensor:
    """A tensor with its batch in front, then axes of extent 1 up to a rank; one without is repeated if the whole is wanted."""
    if dim is None:
        if not whole:
            return tensor
        tensor = tensor.expand(size, *tensor.shape)
    else:
        tensor = tensor.movedim(dim, 0)
    return tensor.reshape(size, *[1] * (rank - tensor.dim() + 1), *tensor.shape[1:])


def _elements(overload: Overload, public: Any, size: int, in_dims: Sequence[Any], arguments: Sequence[Any], keywords: Any) -> Any:
    """An op of elements or rows, or its gradients."""
    names, op = overload.by_position, public.op
    tensors = {n: (a, d) for n, a, d in zip(names, arguments, in_dims, strict=False) if isinstance(a, torch.Tensor)}
    ranks = {n: t.dim() - (d is not None) for n, (t, d) in tensors.items()}
    rank = max(ranks.values())
    backward = isinstance(public, Backward)
    values = {**dict(zip(names, arguments, strict=False)), **keywords}
    if op.rows:
        if rank == 0 or (backward and len({ranks[n] for n in tensors}) > 1):
            return None
        axis = values.get("axis", op.axis)
        axis = op.axis(rank) if axis is None and callable(op.axis) else axis(rank) if callable(axis) else axis
        axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
        values["axis"] = [a % rank + 1 for a in axes]
    values |= {n: _in_front(t, d, size, rank, backward) for n, (t, d) in tensors.items()}
    if not backward and op.rows and not _leads(op, public, overload, values, size):
        return None
    results = handle(overload.function, overload.name)(**values)
    if not backward:
        return results
    wanted = values.get("wrt") or [
        n for n in op.signature.tensors if n in tensors and n not in op.constants and is_inexact(values[n])
    ]
    if len(wanted) != len(results):
        return None
    return [r.reshape(size, *r.shape[1 + rank - ranks[n] :]) for r, n in zip(results, wanted, strict=True)]


def _leads(op: Any, public: Function, overload: Overload, values: dict[str, Any], size: int) -> bool:
    """Whether every result has the batch in front."""
    given = {n: described_like(v, at_hand) for n, v in values.items() if v is not None}
    _, taken = overload.call((), given)
    descriptor, _, _ = describe_bound(op, public.binding((), taken))
    leads: bool = all(bool(axes) and axes[0] == 0 and shape[0] == size for shape, _, axes in descriptor.results.values())
    return leads


def _product(overload: Overload, size: int, in_dims: Sequence[Any], arguments: Sequence[Any], keywords: Any) -> Any:
    """A product with batches in front."""
    least = _PRODUCTS[overload.function]
    tensors = [(a, d) for a, d in zip(arguments, in_dims, strict=True) if isinstance(a, torch.Tensor)]
    ranks = [t.dim() - (d is not None) for t, d in tensors]
    if not least and any(d is not None for _, d in tensors[1:]):  # of a layer only what goes in
        return None
    if least and min(ranks) < least:
        return None
    rank = max(ranks) if least else ranks[0]
    made = [
        _in_front(a, d, size, rank, False) if isinstance(a, torch.Tensor) else a for a, d in zip(arguments, in_dims, strict=True)
    ]
    return handle(overload.function, overload.name)(*made, **keywords)
