"""Operators at autograd's level: a call that needs a gradient is remembered, and its backward called when it is wanted.

PyTorch's own `register_autograd` would do but for one thing: what runs below is the overload that hands out what the backward
reads, which is not always the one that was called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch._library.autograd import supports_tensorlist
from torch.autograd import forward_ad

from baracuda.core.errors import UnsupportedError
from baracuda.torch.library.gradients import Call, gradient, handle, is_inexact
from baracuda.torch.library.schemas import Overload
from baracuda.torch.library.second import SECOND


class _Function(torch.autograd.Function):  # type: ignore[misc]
    """A function of autograd that is applied where the dispatcher has come to autograd: a transform of functorch that is going on
    has seen to its level before."""

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        if torch._C._are_functorch_transforms_active():
            with enable_single_level_autograd_function():
                return super(torch.autograd.Function, cls).apply(*arguments)
        return super().apply(*arguments)


@dataclass(frozen=True)
class _Tensors:
    """Stands for tensors that autograd keeps: one, or a list of so many."""

    count: int | None


def _keep(ctx: Any, values: dict[str, Any]) -> None:
    """Hand what a backward takes to autograd."""
    tensors: list[Any] = []
    ctx.baracuda = {}
    for name, value in values.items():
        listed = value if isinstance(value, (list, tuple)) else [value]
        held = any(isinstance(v, torch.Tensor) for v in listed)
        tensors += listed if held else []
        ctx.baracuda[name] = _Tensors(None if listed[0] is value else len(listed)) if held else value
    ctx.save_for_backward(*tensors)


def _kept(ctx: Any) -> dict[str, Any]:
    """What a backward takes."""
    tensors = iter(ctx.saved_tensors)
    found = {}
    for name, value in ctx.baracuda.items():
        if isinstance(value, _Tensors):
            value = next(tensors) if value.count is None else [next(tensors) for _ in range(value.count)]
        found[name] = value
    return found


#: Arguments that nothing stands between a call and its kernel for, besides tensors with memory.
_PLAIN = frozenset([int, float, bool, str, type(None), torch.dtype])
_TENSORS = frozenset([torch.Tensor, torch.nn.Parameter])


def _is_at_hand(value: Any) -> bool:
    """Whether an argument is a number or word, or a tensor of PyTorch's own that has memory."""
    kind = type(value)
    return kind in _PLAIN or (kind in _TENSORS and not value.is_meta)


def kernel(overload: Overload, compute: Any) -> Any:
    """What PyTorch calls at autograd's level, given what computes the operator; None for one that writes."""
    if overload.results == 0:
        return None
    operator = handle(overload.function, overload.name)
    count, positions = overload.results, overload.by_position
    found, second = gradient(overload.function), SECOND.get(overload.function)
    hands_out = found is not None and bool(found.saving) and not overload.name
    below = handle(overload.function, found.saving) if found is not None and hands_out else operator

    def forward(ctx: Any, *arguments: Any) -> Any:
        *values, keywords = arguments
        with torch._C._AutoDispatchBelowAutograd():
            results = below(*values, **keywords)
        made = [results] if isinstance(results, torch.Tensor) else list(results)
        ctx.set_materialize_grads(False)
        named = overload.named(tuple(values), keywords)
        if second is not None:
            _keep(ctx, named)
        elif found is not None:
            call = Call.of(overload, found, named, made)
            _keep(ctx, call.values)
            ctx.call = replace(call, values={})
        beyond = made[count:] if count is not None else []
        ctx.mark_non_differentiable(*{id(t): t for t in (*beyond, *(t for t in made if not is_inexact(t)))}.values())
        return results

    def backward(ctx: Any, *slopes: Any) -> Any:
        listed = slopes[0] if len(slopes) == 1 and isinstance(slopes[0], (list, tuple)) else slopes
        needed = dict(zip(positions, ctx.needs_input_grad[:-1], strict=False))  # PyTorch leaves out what is a default
        wanted = [n for n, need in needed.items() if (any(need) if isinstance(need, (list, tuple)) else need)]
        if second is not None:
            made = {} if listed[0] is None else second(listed[0], _kept(ctx))
        elif found is None:
            words = "expected an operator with one, or tensors that need none"
            raise UnsupportedError(f"baracuda::{overload.full_name} has no gradient; {words}")
        else:
            made = replace(ctx.call, values=_kept(ctx)).gradients(listed, wanted)
        return (*(_given(made.get(n) if n in wanted else None, need) for n, need in needed.items()), None)

    words = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    made: Any = type(f"BackwardOf_{overload.full_name}", (_Function,), words)
    if below is not operator or count is None or any("[]" in a.type and a.is_tensor for a in overload.arguments):
        made = supports_tensorlist(made)
    without = torch._C._AutoDispatchBelowAutograd
    needs_gradient, enabled = torch._C._any_requires_grad, torch.is_grad_enabled
    nobody_watches, transformed = torch._C._len_torch_dispatch_stack, torch._C._are_functorch_transforms_active

    def call(*arguments: Any, **keywords: Any) -> Any:
        if forward_ad._current_level >= 0 and any(map(_has_tangent, (*arguments, *keywords.values()))):
            raise UnsupportedError(f"baracuda::{overload.full_name} has no derivative in forward mode; expected reverse mode")
        if not (enabled() and needs_gradient(*arguments)):
            if nobody_watches() == 0 and not transformed() and all(map(_is_at_hand, arguments)):
                return compute(*arguments, **keywords)
            with without():
                return operator(*arguments, **keywords)
        results = made.apply(*arguments, keywords)
        if below is operator:
            return results
        return results[0] if count == 1 else results[:count]

    return call


def _given(gradient: Any, need: Any) -> Any:
    """A gradient as autograd takes it: of a list one for each member."""
    if isinstance(need, (list, tuple)) and gradient is None:
        return [None] * len(need)
    return gradient


def _has_tangent(value: Sequence[Any] | Any) -> bool:
    """Whether forward differentiation goes on in a tensor, or in one of a list."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_tangent, value))
    return isinstance(value, torch.Tensor) and forward_ad.unpack_dual(value).tangent is not None
