"""Control flow: graphs within nodes."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.onnx.coded import moving, stack
from baracuda.onnx.operators.registry import Body, Ints, Wanted, operator
from baracuda.onnx.operators.values import Host, Tensor, host, scalar

_select = moving(baracuda.select)


@operator("If")
def if_(condition: Host, *, then_branch: Body, else_branch: Body) -> tuple[Any, ...]:
    """One of two graphs."""
    return then_branch() if scalar(condition) else else_branch()


@operator("Loop")
def loop(trips: Host = None, condition: Host = None, *carried: Any, body: Body, wanted: Wanted) -> tuple[Any, ...]:
    """The graph as often as trips say, or while its first result is true; what it makes beyond what it carries is stacked."""
    state = tuple(carried)
    most = None if trips is None else int(scalar(trips))
    going = condition is None or bool(scalar(condition))
    made: list[tuple[Any, ...]] = []
    for i in count():
        if not going or (most is not None and i >= most):
            break
        go_on, *found = body(np.asarray(i, np.int64), np.asarray(going), *state)
        if condition is not None or trips is None or go_on is not None:
            going = bool(scalar(go_on))
        state = tuple(found[: len(carried)])
        made.append(tuple(found[len(carried) :]))
    columns = zip(*made, strict=True) if made else ((),) * max(wanted - len(carried), 0)
    return (*state, *(_stack(c) for c in columns))


def _stack(values: Any) -> Tensor:
    return stack(tuple(values), axis=0) if values else np.zeros((0,), np.float32)


@operator("Scan", since=8)
def scan_of_batches(
    lengths: Tensor = None, *given: Tensor, body: Body, directions: Ints | None = None, num_scan_inputs: int
) -> tuple[Any, ...]:
    """Scan of version 8: every tensor has samples first, and each sample is scanned by itself."""
    runs = []
    states = len(given) - num_scan_inputs
    for b in range(given[0].shape[0]):
        values = [_select(x, 0, b) for x in given]
        steps = values[states].shape[0]
        if lengths is not None:
            most, steps = steps, int(host(lengths)[b])
            if not 0 < steps <= most:
                raise InvalidProblemError(f"sequence_lens: {steps}; expected 1 to {most}")
            values[states:] = [baracuda.slice(x, 0, steps, 0) for x in values[states:]]
        found = _scan(values, body, num_scan_inputs, directions, None, None, None)
        if lengths is not None:  # what is behind a sample's own steps is 0
            found = (*found[:states], *(baracuda.pad(y, ((0, most - steps),), axes=(0,)) for y in found[states:]))
        runs.append(found)
    return tuple(stack(r, axis=0) for r in zip(*runs, strict=True))


@operator("Scan", since=9)
def scan(
    *given: Tensor,
    body: Body,
    num_scan_inputs: int,
    scan_input_axes: Ints | None = None,
    scan_input_directions: Ints | None = None,
    scan_output_axes: Ints | None = None,
    scan_output_directions: Ints | None = None,
) -> tuple[Any, ...]:
    """The graph for each slice of the scanned inputs, states carried along, what it makes beyond them stacked."""
    return _scan(
        list(given), body, num_scan_inputs, scan_input_directions, scan_input_axes, scan_output_directions, scan_output_axes
    )


def _scan(
    given: list[Tensor], body: Body, scanned: int, directions: Any, axes: Any, out_directions: Any, out_axes: Any
) -> tuple[Any, ...]:
    states = len(given) - scanned
    state, inputs = tuple(given[:states]), given[states:]
    axes, directions = axes or (0,) * scanned, directions or (0,) * scanned
    extents = {x.shape[a] for x, a in zip(inputs, axes, strict=True)}
    if len(extents) != 1:
        raise InvalidProblemError(f"scanned inputs have extents {sorted(extents)}; expected one")
    steps = extents.pop()
    made: list[tuple[Any, ...]] = []
    for i in range(steps):
        slices = [_select(x, a, steps - 1 - i if d else i) for x, a, d in zip(inputs, axes, directions, strict=True)]
        found = body(*state, *slices)
        state = tuple(found[:states])
        made.append(tuple(found[states:]))
    columns = list(zip(*made, strict=True))
    turned = [c[::-1] if out_directions and out_directions[i] else c for i, c in enumerate(columns)]
    return (*state, *(stack(c, axis=out_axes[i] if out_axes else 0) for i, c in enumerate(turned)))
