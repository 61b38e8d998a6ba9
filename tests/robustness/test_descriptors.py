"""Every declared op described with every element, and with numbers, in place of each tensor and of each two: an error has a name.

No kernel is made. The fuzzer draws such calls; here they are all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.frontends.backward import differentiable, groups
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from tests.cases.trial import Trial, cases
from tests.robustness.samples import trials_of_op

_ELEMENTS = [k for k in ElementKind if k.bits >= 8]
_NUMBERS = (2, 0.5, True, 1j, None)


def _described(d: OpDescriptor) -> None:
    """Work out everything that follows from a descriptor and from those of its gradients."""
    _ = d.limits, d.forward.described
    if d.op.differentiable:
        for name in {*differentiable(d), *list(d.tensors)[:1]}:
            for group, axes in groups(d, (name,)):
                _ = replace(d.forward, axes=axes, wrt=group).described


def _with_elements(trial: Trial) -> Iterator[tuple[Any, OpDescriptor]]:
    d = trial.descriptor
    there = [i for i, e in enumerate(d.elements) if e is not None]
    for which in (*itertools.combinations(there, 1), *itertools.combinations(there, 2), tuple(there)):
        for kind in _ELEMENTS:
            elements = tuple(kind if i in which else e for i, e in enumerate(d.elements))
            yield elements, lambda elements=elements: replace(d, elements=elements)  # type: ignore[misc]


def _with_numbers(op: Op, trial: Trial) -> Iterator[tuple[Any, Any]]:
    tensors = trial.tensors
    there = [i for i, t in enumerate(tensors) if t is not None]
    for which in (*itertools.combinations(there, 1), *itertools.combinations(there, 2)):
        for value in _NUMBERS:
            operands = [value if i in which else t for i, t in enumerate(tensors)]
            yield (which, value), lambda operands=operands: describe_call(op, operands, dict(trial.keywords))[0]


@pytest.mark.parametrize("name", sorted(cases()))
def test_elements_and_numbers_in_place_of_tensors(name: str, full: bool) -> None:
    op = ops()[name]
    trial = trials_of_op(op)[0]
    every = [*_with_elements(trial), *_with_numbers(op, trial)]
    for what, described in every if full else every[:: max(len(every) // 4, 1)]:
        try:
            _described(described())
        except baracuda.Error:
            continue
        except Exception as error:
            pytest.fail(f"{what}: {error!r}")
