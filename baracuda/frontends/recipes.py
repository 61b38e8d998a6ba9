"""What a repeated call of a function comes down to: the plan, which tensors it reads, and the results to allocate."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Args, Plan
from baracuda.core.probe import probe
from baracuda.core.workspace import Workspace
from baracuda.frontends.array import Array, empty
from baracuda.frontends.arrays import allocator, current_stream, empty_like, finish, writable
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
    """

    def __init__(
        self,
        plan: Plan[Any, Any],
        args: type[Args],
        read: Sequence[int | None],
        results: Sequence[tuple[Sequence[int], ElementKind] | None],
        like: int,
        arguments: Sequence[Any],
    ) -> None:
        self.plan, self.args, self.read, self.like = plan, args, tuple(read), like
        example = arguments[like]
        self._allocate = [None if r is None else allocator(example, *r) for r in results]
        self._scratch = plan.workspace_size()
        self._plain = isinstance(example, np.ndarray)
        self._own = isinstance(example, Array)

    def follow(self, arguments: Sequence[Any], out: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Allocate and run; the results, the first of which are those of `out` that are given."""
        like, plan = arguments[self.like], self.plan
        given = iter(out)
        made = [None if allocate is None else next(given, None) if out else allocate(like) for allocate in self._allocate]
        if out:
            made = [
                allocate(like) if r is None and allocate is not None else r
                for r, allocate in zip(made, self._allocate, strict=True)
            ]
        values = [None if i is None else arguments[i] for i in self.read]
        workspace = scratch(like, plan.device, self._scratch) if self._scratch else None
        if self._plain:
            plan.run(None, workspace, self.args(*values, *made))
        elif self._own:
            plan.run(own_stream(plan.device), workspace, self.args(*values, *made))
        else:
            stream = current_stream(like, plan.device)
            plan.run(
                stream,
                workspace,
                self.args(*values, *(r if r is None or any(r is o for o in out) else writable(r) for r in made)),
            )
            finish(like, stream)
        return tuple(r for r in made if r is not None)


def scratch(like: Any, device: Device, nbytes: int) -> Workspace:
    """A workspace for one call: from the library of `like`, but on the CPU, where a call has ended when it returns, the
    thread's own."""
    if isinstance(like, Array):
        held = empty((nbytes,), ElementKind.U8, device)
        made = Workspace((held.pointer, nbytes, device))
        made.owner = held
        return made
    if device.kind is not DeviceKind.CPU or nbytes > _KEPT:
        return Workspace(empty_like(like, (nbytes,), ElementKind.U8))
    kept: Workspace | None = getattr(_own, "workspace", None)
    if kept is None or kept.nbytes < nbytes:
        kept = _own.workspace = Workspace.allocate(nbytes)
    return kept


def recipe_key(arguments: Sequence[Any], rest: Iterable[Any]) -> Any:
    """What the recipe of a call depends on: numbers and the layouts of tensors among the arguments, and anything else that
    hashes; None where that takes the long way to find out."""
    found: list[Any] = []
    for value in arguments:
        if isinstance(value, NUMBERS):
            found.append((type(value), value))
            continue
        probed = probe(value)
        if probed is None:
            return None
        found.append((probed[0], min(probed[1] & -probed[1], 16)))
    key = (*found, *rest)
    try:
        hash(key)
    except TypeError:
        return None
    return key
