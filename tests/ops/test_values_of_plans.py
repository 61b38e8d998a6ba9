"""Values against the published formulas in float64: every plan, element kind, layout, row length and rank."""

from __future__ import annotations

import numpy as np
import pytest

from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.placement import LAYOUTS
from baracuda.cli.verify.plans import EMPTY, FLOATS, LENGTHS, SUBJECTS, Subject, SubjectCase, subject
from tests.execution import Outcome, execute
from tests.machine import Machine
from tests.ops.references import check, reference

K_IDS = [str(k) for k in FLOATS]


def agree(case: SubjectCase, outcome: Outcome) -> None:
    """Assert that the outputs are what the formula says about the inputs."""
    expected = reference(case.subject.plan, case.descriptor, outcome.inputs)
    for name, got in outcome.outputs.items():
        check(f"{case} ({outcome.plan.schedule}): {name}", got, *expected[name], case.element, case.variant)


def rows_for(n: int, number: int) -> tuple[int, ...]:
    """How many rows to try for a row length: a few, and thousands of short ones."""
    few = 1 + (n + number) % 5
    return (few, 3000 + n) if n <= 8 else (few, 300) if n <= 64 else (few,)


@pytest.mark.one_of(2, 1)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_row_lengths(machine: Machine, tried: Subject, element: object, full: bool) -> None:
    """Every fourth length, and all of them with --full."""
    turn = SUBJECTS.index(tried) + FLOATS.index(element) // 2
    for n in LENGTHS if full else LENGTHS[turn % 4 :: 4]:
        for rows in rows_for(n, SUBJECTS.index(tried)) if n < 70001 or tried.axis != "middle" else (1,):
            case = SubjectCase(tried, tried.shape(rows, n), element)
            agree(case, execute(machine, case))


@pytest.mark.one_of(4, 1)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_layouts(machine: Machine, tried: Subject, element: object, full: bool) -> None:
    """Layouts and ranks, through the kernel for any strides and through the one made for these: both have the same bits."""
    turn = 3 * SUBJECTS.index(tried) + FLOATS.index(element)
    every = [(layout, shape) for layout in LAYOUTS for shape in tried.shapes]
    for layout, shape in every if full else every[turn % 47 :: 47]:
        case = SubjectCase(tried, shape, element, layout)
        general = execute(machine, case)
        agree(case, general)
        special = execute(machine, case, like=True, poison=0xA5)
        for name, got in special.outputs.items():
            same = np.array_equal(canonical_bits(got), canonical_bits(general.outputs[name]))
            assert same, f"{case}: {name}: bits of {special.plan.schedule} differ from those of the general kernel"


@pytest.mark.one_of(4, 2)
@pytest.mark.parametrize("variant", ["extreme", "special"])
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", [s for s in SUBJECTS if s.floating], ids=lambda s: s.label)
def test_extreme_values(machine: Machine, tried: Subject, element: object, variant: str, full: bool) -> None:
    """Zeros of both signs, subnormal, tiny and large values; then NaN and infinities among them."""
    turn = SUBJECTS.index(tried) + FLOATS.index(element)
    for n in (3, 129, 1500) if full else ((3, 129), (129, 1500), (3, 1500))[turn % 3]:
        case = SubjectCase(tried, tried.shape(17, n), element, variant=variant)
        agree(case, execute(machine, case))


@pytest.mark.parametrize("shape", EMPTY, ids=str)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_without_elements(machine: Machine, tried: Subject, shape: tuple[int, ...]) -> None:
    """Sums over no elements are 0, the mean of none is NaN, and outputs without elements are left alone."""
    if tried.rank not in (None, len(shape)):
        pytest.skip("the plan has another rank")
    case = SubjectCase(tried, shape, FLOATS[2])
    for bound in (False, True):
        outcome = execute(machine, case, bound=bound)
        for name, got in outcome.outputs.items():
            expected = np.full(got.shape, np.nan if name == "rms" else 0.0)
            assert np.array_equal(got, expected, equal_nan=True), f"{case}: {name}"


@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
def test_rows_of_infinities(machine: Machine, element: object) -> None:
    """Softmax of a row with +inf, of a row with NaN, and of nothing but -inf is NaN throughout; -inf among numbers gives 0."""
    rows = np.array([[np.inf, 1, 2], [np.nan, 1, 2], [-np.inf] * 3, [-np.inf, 0, 0], [np.inf, -np.inf, np.nan]])
    for label in ("softmax", "log_softmax"):
        case = SubjectCase(subject(label), rows.shape, element)
        (y,) = execute(machine, case, values={"x": rows.astype(element.numpy)}).outputs.values()
        assert np.isnan(y[[0, 1, 2, 4]].astype(np.float64)).all(), label
        expected = [0.0, 0.5, 0.5] if label == "softmax" else [-np.inf, -np.log(2), -np.log(2)]
        assert np.allclose(y[3].astype(np.float64), expected, rtol=1e-2, atol=0), label


def test_saturation_of_codes(machine: Machine) -> None:
    """Quantization rounds halves to even, clamps at both ends, and gives code 0 for NaN; its gradient is 0 outside the clamp."""
    x = np.float32([[0.5, 1.5, -0.5, -2.5, 126.5, 127.5, 1e30, -1e30, np.inf, -np.inf, np.nan, -128.5, -129.0]])
    one = np.float32([1.0])
    forward = SubjectCase(subject("quantize_per_token_s8_symmetric"), x.shape, FLOATS[2])
    codes = execute(machine, forward, values={"x": x, "scale": one}).outputs["q"]
    assert codes.tolist() == [[0, 2, 0, -2, 126, 127, 127, -128, 127, -128, 0, -128, -128]]
    backward = SubjectCase(subject("quantize_per_token_backward_s8_symmetric"), x.shape, FLOATS[2])
    dx = execute(machine, backward, values={"dq": np.ones_like(x), "x": x, "scale": one}).outputs["dx"]
    assert dx.tolist() == [[1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0]]
