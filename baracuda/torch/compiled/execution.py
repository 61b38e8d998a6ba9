"""Running a compiled graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import baracuda
from baracuda.frontends.program import Program
from baracuda.torch.aten.random import new_keys
from baracuda.torch.compiled.lowering import Lowered


def running(graph: Lowered, preference: baracuda.PlanPreference | None) -> Callable[[list[Any]], tuple[Any, ...]]:
    """What PyTorch's runtime calls with a list of inputs, which is emptied."""

    program = Program(graph.function, held=graph.constants, name="graph", writes=graph.writes, fuse=True)

    def run(given: list[Any]) -> tuple[Any, ...]:
        arguments = [*given, *new_keys(graph.keys)] if graph.keys else list(given)
        given.clear()
        if preference is None:
            return program(*arguments)  # type: ignore[no-any-return]
        with baracuda.preferring(preference):
            return program(*arguments)  # type: ignore[no-any-return]

    run._boxed_call = True  # type: ignore[attr-defined]
    return run
