"""The committed hashes of every op are those of this device."""

from __future__ import annotations

import pytest

from tests.families import hashes

GROUPS = 48


@pytest.mark.parametrize("group", range(GROUPS))
def test_bits_are_the_committed_ones(request: pytest.FixtureRequest, group: int, full: bool) -> None:
    """Every trial with --full, a third of them without."""
    device, expected = str(request.config.getoption("--device")), hashes.committed()
    names = list(hashes.hashed())[group :: GROUPS if full else 3 * GROUPS]
    wrong = [n for n in names if hashes.hashes(hashes.outputs(hashes.hashed()[n], device)) != expected.get(n)]
    assert not wrong, f"{len(wrong)} of {len(names)} trials differ from the committed hashes: {', '.join(wrong)}"


def test_every_trial_is_committed() -> None:
    assert set(hashes.hashed()) == set(hashes.committed())
