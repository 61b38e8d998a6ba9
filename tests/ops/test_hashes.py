"""The reference hashes of every op, every other function and the plans written out by hand are those of this device."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from baracuda.cli.verify import bits, plans, reference, written
from baracuda.cli.verify.machine import Machine, machine_of
from baracuda.cli.verify.plans import FLOATS
from baracuda.core.elements import ElementKind
from baracuda.frontends.families import compositions
from tests.cases.trial import sample
from tests.ops import function_cases
from tools import make_hashes

#: How many tests the trials, the calls and the problems are shared out among.
TRIALS, CALLS, PROBLEMS = 48, 24, 24


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


@pytest.mark.parametrize("group", range(CALLS))
def test_bits_of_functions_are_the_reference_ones(bare: Machine, group: int, full: bool) -> None:
    """Every call with --full; without, one of each function or of its backward, in turn."""
    every = reference.of_functions()
    in_turn = {case.op: case for case in sorted(every, key=lambda c: crc32(str(c).encode()))}
    chosen = [(c, h) for c, h in every.items() if full or in_turn[c.op] is c][group::CALLS]
    wrong = [str(case) for case, expected in chosen if make_hashes.of_function(bare, case) != expected]
    assert not wrong, f"{len(wrong)} of {len(chosen)} calls differ from the reference hashes: {', '.join(wrong)}"


def test_the_reference_has_every_function() -> None:
    """`python -m tools.make_hashes --new` adds those that it lacks."""
    cases = reference.of_functions()
    assert {case.call for case in cases} == set(function_cases.hashed())
    assert set(compositions()) - {case.name for case in cases} == {"empty", "empty_like"}
    assert {case.element for case in cases} == {kind for kind in ElementKind if kind.bits >= 8}
    assert len(cases) > 2000


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
