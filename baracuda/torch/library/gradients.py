"""Derivatives of operators: `NAME_backward`, which is one itself, called with what the call of NAME took and gave.

What it takes follows from the names of its parameters: those of the function itself, `dy` and its like for the gradients of results,
`y` and its like for results. Where a function can hand out what its gradient reads beside its result (`saved=True`), that is what a
call of it that needs a gradient runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch._library.autograd import supports_tensorlist
from torch.autograd import forward_ad

from baracuda.core.errors import UnsupportedError
from baracuda.torch.library import functions, schemas
from baracuda.torch.library.exceptions import LEFT_OUT
from baracuda.torch.library.schemas import Overload
from baracuda.torch.library.second import SECOND


@dataclass(frozen=True)
class Gradient:
    """What computes the gradients of a function.

    Attributes
    ----------
    backward
        Its name.
    cotangents
        Its parameters that are gradients of results: the result of each, by its place.
    results
        Its parameters that are results, with the place of each.
    saving
        The overload, by name, that gives results which the backward reads beside those of the call; "" for the call's own.
    chooses
        Whether `wrt` says which gradients are wanted.
    tensors
        The parameters that have a gradient, in the order of the backward's results.
    """

    backward: str
    cotangents: Mapping[str, int]
    results: Mapping[str, int]
    saving: str
    chooses: bool
    tensors: tuple[str, ...]


def exists(name: str) -> bool:
    """Whether there is an operator of this name."""
    if name in LEFT_OUT:
        return False
    try:
        functions.function(name)
    except KeyError:
        return False
    return True


@cache
def gradient(name: str) -> Gradient | None:
    """What computes the gradients of a function; None where nothing does."""
    again = name.endswith("_backward")
    backward = f"{name.removesuffix('_backward')}_double_backward" if again else f"{name}_backward"
    if name.endswith("_double_backward") or not exists(backward):
        return None
    own, taken = functions.parameters(name), functions.parameters(backward)
    known = {p.name for p in own}
    op = getattr(functions.function(name), "op", None)
    without = op.constants if op is not None else frozenset[str]()
    tensors = tuple(p.name for p in own if p.tensor and p.name not in without)
    if again and op is not None and op.unread:
        return None  # the tensors that it takes are those that the backward did not read
    if again:
        cotangents = {p.name: -1 for p in taken if p.tensor and p.name not in known and p.name.startswith("dd")}
        return Gradient(backward, cotangents, {}, "", True, tensors)
    others = [p.name for p in taken if p.tensor and p.name not in known]
    slopes = [n for n in others if n.startswith("d")]
    counts = schemas.results(name)
    named = list(op.results or ("y",)) if op is not None else _result_names(name, slopes)
    plain = [n for n in named if op is None or n not in op.extra]
    saving = next((o for o in ("saved", "return_indices") if o in counts), "")
    if op is not None:
        named = list(op.results or ("y",)) if saving == "saved" else plain
    places = {n: i for i, n in enumerate(named)}
    cotangents = {n: places.get(n[1:], i) for i, n in enumerate(slopes)}
    read = {n: places[n] for n in others if n in places}
    own_count = len(plain) if op is not None else counts[""] or len(named)
    needs_more = any(place >= own_count for place in read.values())
    chooses = any(a.name == "wrt" and a.type.startswith("str") for a in schemas.overloads(backward)[0].arguments)
    return Gradient(backward, cotangents, read, saving if needs_more else "", chooses, tensors)


def _result_names(name: str, slopes: Sequence[str]) -> list[str]:
    """The names of the results of a function that is written out, those that it hands out if asked behind the others."""
    from baracuda.torch.library.exceptions import RESULT_NAMES

    return RESULT_NAMES.get(name, [n[1:] for n in slopes])


class _Function(torch.autograd.Function):
    """A function of autograd that is applied where the dispatcher has come to autograd: a transform of functorch that is going on
    has seen to its level before."""

    @classmethod
    def apply(cls, *arguments: Any) -> Any:
        if torch._C._are_functorch_transforms_active():
            with enable_single_level_autograd_function():
                return super(torch.autograd.Function, cls).apply(*arguments)
        return super().apply(*arguments)


def kernel(overload: Overload) -> Any:
    """What PyTorch calls at autograd's level: the operator, remembered where a tensor of it needs a gradient."""
    if overload.results == 0:
        return None
    op = _handle(overload.function, overload.name)
    found = gradient(overload.function)
    saving = op if found is None or not found.saving else _handle(overload.function, found.saving)
    count = overload.results

    def forward(ctx: Any, *arguments: Any) -> Any:
        *values, keywords = arguments
        with torch._C._AutoDispatchBelowAutograd():
            results = saving(*values, **keywords)
        made = [results] if isinstance(results, torch.Tensor) else list(results)
        ctx.set_materialize_grads(False)
        _Saved(overload, found, values, keywords, made).keep(ctx)
        beyond = made[count:] if count is not None else []
        whole = [t for t in made if not (t.is_floating_point() or t.is_complex())]
        ctx.mark_non_differentiable(*{id(t): t for t in (*beyond, *whole)}.values())
        return results

    def backward(ctx: Any, *slopes: Any) -> Any:
        second = SECOND.get(overload.function)
        if second is not None:
            (slope,), values = slopes[0], _Saved.kept(ctx).values
            made = second(slope, values) if slope is not None else {}
            positions = overload.by_position[: len(ctx.needs_input_grad) - 1]
            return (*(made.get(n) for n in positions), None)
        if found is None:
            raise UnsupportedError(
                f"baracuda::{overload.full_name} has no gradient; expected a function with one, or detached tensors"
            )
        needed = ctx.needs_input_grad[:-1]
        return (*_Saved.kept(ctx).gradients(slopes, needed), None)

    made: Any = type(f"BackwardOf_{overload.full_name}", (_Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(backward)
    })  # fmt: skip
    if any("[]" in a.type and a.is_tensor for a in overload.arguments) or count is None or saving is not op:
        made = supports_tensorlist(made)
    below = torch._C._AutoDispatchBelowAutograd
    needs_gradient, enabled = torch._C._any_requires_grad, torch.is_grad_enabled

    def call(*arguments: Any, **keywords: Any) -> Any:
        if forward_ad._current_level >= 0 and any(map(_has_tangent, (*arguments, *keywords.values()))):
            raise UnsupportedError(f"baracuda::{overload.full_name} has no derivative in forward mode; expected reverse mode")
        if not (enabled() and needs_gradient(*arguments)):
            with below():
                return op(*arguments, **keywords)
        results = made.apply(*arguments, keywords)
        if saving is op:
            return results
        return results[0] if count == 1 else results[:count]

    return call


def _has_tangent(value: Any) -> bool:
    """Whether forward differentiation goes on in a tensor, or in one of a list."""
    if isinstance(value, (list, tuple)):
        return any(map(_has_tangent, value))
    return isinstance(value, torch.Tensor) and forward_ad.unpack_dual(value).tangent is not None


def _handle(name: str, overload: str) -> Any:
    return getattr(getattr(torch.ops.baracuda, name), overload or "default")


class _Saved:
    """What one call leaves for its backward."""

    def __init__(
        self,
        overload: Overload,
        found: Gradient | None,
        arguments: Sequence[Any],
        keywords: Mapping[str, Any],
        results: Sequence[torch.Tensor],
    ) -> None:
        self.overload, self.found = overload, found
        self.values: dict[str, Any] = {}
        if overload.function in SECOND:
            self.values = overload.named(tuple(arguments), keywords)
        if found is None:
            return
        named = overload.named(tuple(arguments), keywords)
        wanted = {p.name for p in functions.parameters(found.backward)}
        self.values = {n: v for n, v in named.items() if n in wanted}
        self.lengths = {n: len(v) if isinstance(v, (list, tuple)) else None for n, v in named.items()}
        self.given = [n for n in found.tensors if _differentiable(named.get(n))]
        self.values |= {n: results[i] for n, i in found.results.items() if i < len(results)}
        self.shapes = [(tuple(r.shape), r.dtype, r.device) for r in results]
        self.wrt = named.get("wrt")

    def keep(self, ctx: Any) -> None:
        """Hand the tensors to autograd."""
        tensors: list[Any] = []
        for name, value in self.values.items():
            listed = value if isinstance(value, (list, tuple)) else [value]
            if any(isinstance(v, torch.Tensor) for v in listed):
                tensors += listed
                self.values[name] = _Tensors(len(listed), isinstance(value, (list, tuple)))
        ctx.save_for_backward(*tensors)
        ctx.baracuda_call = self

    @staticmethod
    def kept(ctx: Any) -> _Saved:
        """The call with its tensors."""
        call: _Saved = ctx.baracuda_call
        tensors = iter(ctx.saved_tensors)
        again = object.__new__(_Saved)
        again.__dict__.update(call.__dict__)
        again.values = {}
        for name, value in call.values.items():
            if isinstance(value, _Tensors):
                found = [next(tensors) for _ in range(value.count)]
                value = found if value.listed else found[0]
            again.values[name] = value
        return again

    def gradients(self, slopes: Sequence[Any], needed: Sequence[Any]) -> list[Any]:
        """The gradients of the arguments by position."""
        positions = self.overload.by_position[: len(needed)]  # PyTorch leaves out what is a default
        nothing = [
            [None] * self.lengths[n] if _is_list_of_tensors(self.lengths[n], x) else None for n, x in zip(positions, needed)
        ]
        listed = list(slopes[0]) if len(slopes) == 1 and isinstance(slopes[0], (list, tuple)) else list(slopes)
        wanted = [n for n, need in zip(positions, needed, strict=False) if n in self.found.tensors and _any(need)]
        if not wanted or all(s is None for s in listed):
            return nothing
        again = self.overload.function.endswith("_backward")
        names = [f"dd{n}" for n in self.wrt or _default_wrt(self.found.backward, self.given)] if again else []
        values = dict(self.values)
        values.pop("wrt", None)
        if again:
            values |= dict(zip(names, listed, strict=False))
            known = {p.name for p in functions.parameters(self.found.backward)}
            values = {n: v for n, v in values.items() if n in known}
            tensors = {n.removeprefix("dd") for n in names} | {p.name for p in functions.parameters(self.found.backward)}
            wanted = [n for n in wanted if n in tensors]
        elif len(self.found.cotangents) == 1 and self.overload.results is None:
            (name,) = self.found.cotangents
            values[name] = self._filled(listed, name)
        else:
            for name, place in self.found.cotangents.items():
                if place < len(listed):
                    values[name] = listed[place] if listed[place] is not None else self._zeros(name, place)
        if self.found.chooses:
            values["wrt"] = wanted
        made = self._call(values)
        order = wanted if self.found.chooses else [n for n in self.found.tensors if n in self.given]
        found: dict[str, Any] = {}
        rest = list(made)
        for name in order:
            length = self.lengths.get(name)
            if not rest:
                break
            if length is None:
                found[name] = rest.pop(0)
            else:
                found[name], rest = rest[:length], rest[length:]
        return [found.get(n, empty) if _any(need) else empty for n, need, empty in zip(positions, needed, nothing, strict=True)]

    def _call(self, values: Mapping[str, Any]) -> list[torch.Tensor]:
        """The backward operator, by the overload of the call's own kind."""
        known = {o.name: o for o in schemas.overloads(self.found.backward)}
        overload = known.get(self.overload.name, known[""])
        given = {n: v for n, v in values.items() if v is not None}
        arguments = {a.name: a for a in overload.arguments}
        given = {n: v for n, v in given.items() if n in arguments}
        results = _handle(self.found.backward, overload.name)(**_positional(overload, given))
        return [results] if isinstance(results, torch.Tensor) else list(results)

    def _zeros(self, name: str, place: int) -> Any:
        """A gradient of zeros where the backward cannot do without."""
        parameter = next(p for p in functions.parameters(self.found.backward) if p.name == name)
        return None if parameter.optional else self._filled([None] * (place + 1), name)[place]

    def _filled(self, slopes: Sequence[Any], name: str) -> Any:
        made = [
            torch.zeros(shape, dtype=dtype, device=device) if s is None else s
            for s, (shape, dtype, device) in zip(slopes, self.shapes, strict=False)
        ]
        parameter = next(p for p in functions.parameters(self.found.backward) if p.name == name)
        return made if parameter.listed else made[0]


@dataclass(frozen=True)
class _Tensors:
    """Stands for tensors that autograd keeps."""

    count: int
    listed: bool


def _positional(overload: Overload, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by name: those by position that have no default are given as None."""
    return {**{a.name: None for a in overload.arguments if a.default is None and a.type.endswith("?")}, **given}


def _default_wrt(name: str, given: Sequence[str]) -> list[str]:
    """The tensors whose gradients a backward gives that was not told of which."""
    op = functions.function(name).op
    return [n for n in op.signature.tensors if n in given and n not in op.constants]


def _any(need: Any) -> bool:
    return any(need) if isinstance(need, (list, tuple)) else bool(need)


def _is_list_of_tensors(length: int | None, need: Any) -> bool:
    return length is not None and isinstance(need, (list, tuple))


def _differentiable(value: Any) -> bool:
    """Whether a value is a tensor that may have a gradient, or a list with one."""
    if isinstance(value, (list, tuple)):
        return any(_differentiable(v) for v in value)
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())
