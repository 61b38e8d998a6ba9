"""The reference hashes of every op are those of this device."""

from __future__ import annotations

import pytest

from baracuda.cli.verify import reference
from baracuda.cli.verify.machine import Machine, machine_of
from tests.families import hashes
from tests.families.trial import sample

GROUPS = 48


@pytest.fixture(scope="module")
def bare(request: pytest.FixtureRequest) -> Machine:
    """The device as `baracuda verify` uses it, without torch, which lacks some elements."""
    return machine_of(request.config.getoption("--device"))


@pytest.mark.parametrize("group", range(GROUPS))
def test_bits_are_the_reference_ones(bare: Machine, group: int, full: bool) -> None:
    """Every trial with --full, those of the sample without."""
    chosen = [(x, h) for x, h in reference.of_ops().items() if full or str(x) in sample()][group::GROUPS]
    wrong = [str(trial) for trial, expected in chosen if hashes.hashes(bare, trial) != expected]
    assert not wrong, f"{len(wrong)} of {len(chosen)} trials differ from the reference hashes: {', '.join(wrong)}"


def test_the_reference_has_every_trial() -> None:
    assert {str(trial) for trial in reference.of_ops()} == set(hashes.hashed())
