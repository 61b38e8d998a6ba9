"""The reference hashes of every op and of the plans that are written out by hand are those of this device."""

from __future__ import annotations

import numpy as np
import pytest

from baracuda.cli.verify import bits, plans, reference, written
from baracuda.cli.verify.machine import Machine, machine_of
from baracuda.cli.verify.plans import FLOATS
from tests.cases.trial import sample
from tools import make_hashes

#: How many tests the trials and the problems are shared out among.
TRIALS, PROBLEMS = 48, 24


@pytest.fixture(scope="module")
def bare(request: pytest.FixtureRequest) -> Machine:
    """The device as `baracuda verify` uses it, without torch, which lacks some elements."""
    return machine_of(request.config.getoption("--device"))


@pytest.mark.parametrize("group", range(TRIALS))
def test_bits_of_ops_are_the_reference_ones(bare: Machine, group: int, full: bool) -> None:
    """Every trial with --full, those of the sample without."""
    chosen = [(x, h) for x, h in reference.of_ops().items() if full or str(x) in sample()][group::TRIALS]
    wrong = [str(trial) for trial, expected in chosen if make_hashes.of_trial(bare, trial) != expected]
    assert not wrong, f"{len(wrong)} of {len(chosen)} trials differ from the reference hashes: {', '.join(wrong)}"


def test_the_reference_has_every_trial() -> None:
    assert {str(trial) for trial in reference.of_ops()} == set(make_hashes.hashed())


@pytest.mark.parametrize("group", range(PROBLEMS))
def test_bits_of_plans_are_the_reference_ones(machine: Machine, group: int, full: bool) -> None:
    """Every problem with --full, one of four without."""
    expected = reference.of_plans()
    chosen = written.hashed()[:: 1 if full else 4][group::PROBLEMS]
    wrong = [str(c) for c in chosen if make_hashes.of_problem(machine, c) != expected.get(str(c))]
    assert not wrong, f"{len(wrong)} of {len(chosen)} problems differ from the reference hashes: {', '.join(wrong)}"


def test_the_reference_has_every_problem() -> None:
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
