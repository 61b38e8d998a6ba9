"""Derivatives of operators: `NAME_backward`, which is one itself, called with what the call of NAME took and gave.

What it takes follows from the names of its parameters: those of the function itself, `dy` and its like for the gradients of
results, `y` and its like for results. Where a function can hand out what its gradient reads beside its result (`saved=True`),
that is what a call of it that needs a gradient runs (`baracuda.torch.library.autograd`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from baracuda.core.errors import UnsupportedError
from baracuda.torch.library import functions, schemas
from baracuda.torch.library.exceptions import LEFT_OUT, RESULT_NAMES
from baracuda.torch.library.schemas import Overload


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


def _result_names(name: str, slopes: Sequence[str]) -> Sequence[str]:
    """The names of the results of a function that is written out, those that it hands out if asked behind the others."""
    return RESULT_NAMES.get(name, [n[1:] for n in slopes])


def handle(name: str, overload: str) -> Any:
    """PyTorch's operator."""
    return getattr(getattr(torch.ops.baracuda, name), overload or "default")


def is_inexact(value: Any) -> bool:
    """Whether a value is a tensor that may have a gradient, or a list with one."""
    if isinstance(value, (list, tuple)):
        return any(map(is_inexact, value))
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


@dataclass
class Call:
    """What is left of a call for its backward.

    Attributes
    ----------
    overload, found
        What was called, and what computes its gradients.
    values
        What the backward takes of the call's arguments and results, by name.
    lengths
        Of each argument by position how long a list of tensors it is; None for one that is no such list.
    inexact
        The arguments that may have a gradient.
    results
        Shape, element and device of each result.
    wrt
        What the call was told, if it is a backward itself.
    """

    overload: Overload
    found: Gradient
    values: dict[str, Any]
    lengths: dict[str, int | None]
    inexact: list[str]
    results: list[tuple[Any, torch.dtype, torch.device]]
    wrt: Sequence[str] | None

    @classmethod
    def of(cls, overload: Overload, found: Gradient, named: Mapping[str, Any], results: Sequence[torch.Tensor]) -> Call:
        """The call with these arguments by name and these results."""
        wanted = {p.name for p in functions.parameters(found.backward)} - {"wrt"}
        values = {n: v for n, v in named.items() if n in wanted}
        values |= {n: results[i] for n, i in found.results.items() if i < len(results)}
        lengths = {a.name: len(named[a.name] or ()) if "[]" in a.type and a.is_tensor else None for a in overload.arguments}
        inexact = [n for n in found.tensors if is_inexact(named.get(n))]
        described = [(tuple(r.shape), r.dtype, r.device) for r in results]
        return cls(overload, found, values, lengths, inexact, described, named.get("wrt"))

    def gradients(self, slopes: Sequence[Any], needed: Sequence[str]) -> dict[str, Any]:
        """The gradients of the arguments that need one, by name, given those of the results: None where there is none."""
        wanted = [n for n in needed if n in self.found.tensors]
        if not wanted or all(s is None for s in slopes):
            return {}
        taken = {p.name: p for p in functions.parameters(self.found.backward)}
        values = dict(self.values)
        if self.overload.function.endswith("_backward"):
            asked = self.wrt or _unasked(self.found.backward, self.inexact)
            given = {f"dd{n}": s for n, s in zip(asked, slopes, strict=False)}
            values |= {n: s for n, s in given.items() if n in taken}
            if not any(n in taken for n in given):
                raise UnsupportedError(f"baracuda::{self.overload.full_name}: {', '.join(asked)} has no second derivative")
            wanted = [n for n in wanted if n in taken]
        elif len(self.found.cotangents) == 1 and self.overload.results is None:
            (name,) = self.found.cotangents
            made = [self._zeros(i) if s is None else s for i, s in enumerate(slopes)]
            values[name] = made if taken[name].listed else made[0]
        else:
            places = {n: i for n, i in self.found.cotangents.items() if i < len(slopes)}
            values |= {n: slopes[i] for n, i in places.items()}
            values |= {n: self._zeros(i) for n, i in places.items() if slopes[i] is None and not taken[n].optional}
        if self.found.chooses:
            values["wrt"] = wanted
        return self._named(self._backward(values), wanted if self.found.chooses else self.inexact)

    def _zeros(self, i: int) -> torch.Tensor:
        shape, dtype, device = self.results[i]
        return torch.zeros(shape, dtype=dtype, device=device)

    def _backward(self, values: Mapping[str, Any]) -> list[torch.Tensor]:
        """What the backward operator gives, by its overload of the same kind."""
        known = {o.name: o for o in schemas.overloads(self.found.backward)}
        overload = known.get(self.overload.name, known[""])
        arguments = {a.name: a for a in overload.arguments}
        given: dict[str, Any] = {n: None for n, a in arguments.items() if a.default is None and a.type.endswith("?")}
        given |= {n: v for n, v in values.items() if n in arguments and v is not None}
        return list(handle(self.found.backward, overload.name)(**given))

    def _named(self, made: list[torch.Tensor], names: Sequence[str]) -> dict[str, Any]:
        """Gradients by the name of their argument: as many of them in a row as it is long."""
        found: dict[str, Any] = {}
        for name in names:
            length = self.lengths.get(name)
            if made:
                found[name] = made[0] if length is None else made[:length]
                made = made[1 if length is None else length :]
        return found


def _unasked(name: str, given: Sequence[str]) -> list[str]:
    """The tensors whose gradients a backward gives that was not told of which."""
    op = getattr(functions.function(name), "op", None)
    return list(given) if op is None else [n for n in op.signature.tensors if n in given and n not in op.constants]
