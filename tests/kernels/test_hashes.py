"""The reference hashes of the plans that are written out by hand are those of this device."""

from __future__ import annotations

import numpy as np
import pytest

from baracuda.cli.verify import bits, plans, reference, written
from baracuda.cli.verify.machine import Machine
from baracuda.cli.verify.plans import FLOATS
from tests.kernels.hashes import hashes

GROUPS = 24


@pytest.mark.parametrize("group", range(GROUPS))
def test_bits_are_the_reference_ones(machine: Machine, group: int, full: bool) -> None:
    """Every problem with --full, one of four without."""
    expected = reference.of_plans()
    chosen = written.hashed()[:: 1 if full else 4][group::GROUPS]
    wrong = [str(c) for c in chosen if hashes(machine, c) != expected.get(str(c))]
    assert not wrong, f"{len(wrong)} of {len(chosen)} problems differ from the reference hashes: {', '.join(wrong)}"


def test_the_list_covers_what_it_should() -> None:
    cases = plans.hashed()
    assert len(cases) >= 600
    assert {str(c) for c in written.hashed()} == set(reference.of_plans())
    assert {c.element for c in cases} == set(FLOATS)
    assert len({c.layout for c in cases}) >= 10
    assert len({len(c.shape) for c in cases}) >= 8


def test_a_hash_ignores_the_payload_of_nan_and_nothing_else() -> None:
    a = np.float32([1.0, np.nan, -0.0])
    b = a.copy()
    b.view(np.uint32)[1] = 0xFFC00001
    assert bits.digest(a) == bits.digest(b)
    assert bits.digest(a) != bits.digest(np.float32([1.0, np.nan, 0.0]))
    assert bits.digest(a) != bits.digest(np.nextafter(a, np.float32(2)))
