"""Every public function with tensors that have no elements: a result or an error with a name."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import baracuda
from tests.robustness.changes import Place, places
from tests.robustness.samples import Call, samples

pytestmark = pytest.mark.cpu_only


def _first_samples() -> list[Call]:
    """One call of each public function."""
    first: dict[str, Call] = {}
    for sample in samples():
        name = sample.name.partition("#")[0]
        if name not in first:
            first[name] = sample.make()
    return list(first.values())


def _tensors(call: Call) -> list[Place]:
    return [p for p in places(call) if isinstance(p.value, np.ndarray)]


def _of_extent(x: Any, axis: int, n: int) -> Any:
    """The first so many elements along an axis that is counted from the end."""
    return np.ascontiguousarray(x[(..., slice(n), *(slice(None),) * (-axis - 1))])


def _emptied(call: Call) -> Iterator[tuple[str, Call]]:
    """The call with a tensor empty along an axis: alone, with all others of that extent, and with those reduced to one element,
    which broadcasts."""
    for number, place in enumerate(_tensors(call)):
        for axis in range(-place.value.ndim, 0):
            n = place.value.shape[axis]
            for others in (n, 0, 1):
                changed = call.copied()
                for i, p in enumerate(_tensors(changed)):
                    if i == number or (others != n and p.value.ndim >= -axis and p.value.shape[axis] == n):
                        p.put(_of_extent(p.value, axis, 0 if i == number else others))
                yield f"{call.name}: {place} empty along {axis}, others of {others}", changed


@pytest.mark.parametrize("share", range(6))
def test_tensors_that_are_empty(share: int, full: bool) -> None:
    """With --full every function; without, one of four of them."""
    failed, results = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in _first_samples()[share :: 6 if full else 24]:
            for what, changed in _emptied(call):
                try:
                    changed.function(*changed.arguments, **changed.keywords)
                    results += 1
                except baracuda.Error:
                    pass
                except Exception as error:
                    failed.append(f"{what}: {error!r}")
    assert not failed, "\n".join(failed)
    assert results > 20
