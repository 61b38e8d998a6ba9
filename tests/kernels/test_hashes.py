"""The committed hashes are those of this device."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import hashes
from tests.kernels.cases import FLOATS
from tests.kernels.machine import Machine

GROUPS = 24


@pytest.mark.parametrize("group", range(GROUPS))
def test_bits_are_the_committed_ones(machine: Machine, group: int, full: bool) -> None:
    """Every case with --full, a third of them without."""
    expected = hashes.committed()
    chosen = hashes.cases()[group :: GROUPS if full else 3 * GROUPS]
    wrong = [str(c) for c in chosen if hashes.hashes(hashes.outputs(machine, c)) != expected.get(str(c))]
    assert not wrong, f"{len(wrong)} of {len(chosen)} cases differ from the committed hashes: {', '.join(wrong)}"


def test_the_list_covers_what_it_should() -> None:
    cases = hashes.cases()
    assert len(cases) >= 600
    assert {str(c) for c in cases} == set(hashes.committed())
    assert {c.element for c in cases} == set(FLOATS)
    assert len({c.layout for c in cases}) >= 10
    assert len({len(c.shape) for c in cases}) >= 8


def test_a_hash_ignores_the_payload_of_nan_and_nothing_else() -> None:
    a = np.float32([1.0, np.nan, -0.0])
    b = a.copy()
    b.view(np.uint32)[1] = 0xFFC00001
    assert hashes.digest(a) == hashes.digest(b)
    assert hashes.digest(a) != hashes.digest(np.float32([1.0, np.nan, 0.0]))
    assert hashes.digest(a) != hashes.digest(np.nextafter(a, np.float32(2)))
