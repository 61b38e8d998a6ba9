"""What a repeated call of a function comes down to: the plan, which tensors it reads, and the results to allocate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from baracuda.core.descriptor import Args, Descriptor, variable
from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.identity import identity
from baracuda.core.plan import Plan
from baracuda.core.probe import probe
from baracuda.core.workspace import Workspace
from baracuda.frontends.array import Array
from baracuda.frontends.arrays import allocator, current_stream, finish, writable
from baracuda.ops.op_descriptor import check_whole, parts_of
from baracuda.runtime.streams import own_stream

NUMBERS = (bool, int, float, complex)


#: Bytes of workspace up to which a thread keeps its own for calls on the CPU.
_KEPT = 16 << 20
_own = threading.local()


class Recipe:
    """How to make one call again, with arguments that the key of the recipe tells alike.

    Parameters
    ----------
    plan
        Selected for the layouts of these arguments.
    args
        The class of its args: what is read, then what is written.
    read
        For each tensor that is read, which argument it is; None for one that is left out.
    results
        For each one that is written its shape and element; None for one that is left out.
    like
        The argument whose library and stream are used.
    arguments
        Those of the call that the recipe is made from.
    descriptor
        That of the call that the recipe is made from: other calls may differ from it in their numbers.
    whole
        The numbers that an integer kind must hold, with that kind.
    """

    def __init__(
        self,
        plan: Plan[Any, Any],
        args: type[Args],
        read: Sequence[int | None],
        results: Sequence[tuple[Sequence[int], ElementKind] | None],
        like: int,
        arguments: Sequence[Any],
        descriptor: Descriptor,
        whole: Sequence[tuple[str, ElementKind]] = (),
    ) -> None:
        self.plan, self.args, self.read, self.like = plan, args, tuple(read), like
        self._scalars = None if plan.fixes_numbers or not descriptor.parameters else dict(descriptor.parameters)
        self._whole = tuple(whole)
        example = arguments[like]
        self._allocate = [None if r is None else allocator(example, *r) for r in results]
        self._workspace = _workspaces(plan, example)
        #: Whether the results are of a library that needs no asking: NumPy, or our own.
        self._plain = isinstance(example, np.ndarray | Array)

    def follow(
        self, arguments: Sequence[Any], out: Sequence[Any] = (), numbers: Mapping[str, Any] | None = None
    ) -> tuple[Any, ...]:
        """Allocate and run with the call's numbers; the results, the first of which are those of `out` that are given."""
        scalars = self._scalars
        if numbers and scalars is not None:
            for name, kind in self._whole:
                if name in numbers:
                    check_whole(name, numbers[name], kind)
            scalars = {**scalars, **parts_of(numbers)}
        like, plan, given = arguments[self.like], self.plan, iter(out)
        made: list[Any] = []
        written: list[Any] = []
        for allocate in self._allocate:
            if allocate is None:
                written.append(None)
                continue
            result = next(given, None)
            if result is None:
                result = allocate(like)
                written.append(result if self._plain else writable(result))
            else:
                written.append(result)
            made.append(result)
        args = self.args(*(None if i is None else arguments[i] for i in self.read), *written)
        stream = own_stream(plan.device) if self._plain else current_stream(like, plan.device)
        plan.run(stream, self._workspace(like) if self._workspace else None, args, scalars)
        if not self._plain:
            finish(like, stream)
        return tuple(made)


def _workspaces(plan: Plan[Any, Any], example: Any) -> Callable[[Any], Workspace] | None:
    """What makes the workspace of a call, given a tensor of its library: memory of that library, but on the CPU, where a call has
    ended when it returns, the thread's own."""
    nbytes = plan.workspace_size()
    if not nbytes:
        return None
    if plan.device.kind is DeviceKind.CPU and nbytes <= _KEPT:
        return lambda like: _kept(nbytes)
    allocate = allocator(example, (nbytes,), ElementKind.U8)
    return lambda like: Workspace(allocate(like))


def _kept(nbytes: int) -> Workspace:
    """The thread's own workspace."""
    kept: Workspace | None = getattr(_own, "workspace", None)
    if kept is None or kept.nbytes < nbytes:
        kept = _own.workspace = Workspace.allocate(nbytes)
    return kept


#: For some numbers of a function, the values that have code of their own.
Special = Mapping[str, Sequence[complex]]


def recipe_key(
    arguments: Sequence[Any], rest: Iterable[Any], numbers: Mapping[str, Any] | None = None, special: Special | None = None
) -> Any:
    """What the recipe of a call depends on: the layouts of tensors and the types of numbers among the arguments, and anything
    else that hashes; None where that takes the long way to find out.

    `numbers` are those of the call, with the names of arguments that are numbers among them: of these only the type counts, but
    for the values of `special`, so that a call with another number follows the same recipe.
    """
    key: list[Any] = []
    for value in arguments:
        if isinstance(value, NUMBERS):
            key.append(type(value))
            continue
        probed = probe(value)
        if probed is None:
            return None
        key.append((probed[0], min(probed[1] & -probed[1], 16)))
    try:
        key += map(identity, rest)
        if numbers:
            named = special or {}
            key += ((name, identity(variable(value, named.get(name, ())))) for name, value in numbers.items())
    except TypeError:
        return None
    return tuple(key)
