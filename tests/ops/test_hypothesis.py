"""Values over shapes, strides and elements that nobody chose: permuted, stepped, reversed, shifted and repeated axes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baracuda.cli.verify.placement import TensorPlacement, dense_strides, placed
from baracuda.cli.verify.plans import FLOATS, SUBJECTS, SubjectCase
from tests.execution import execute
from tests.machine import Machine
from tests.ops.references import check, reference

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402


@st.composite
def shapes(draw: Any, rank: int | None, most: int = 6000) -> tuple[int, ...]:
    """A shape of at most `most` elements, where one axis may be long."""
    wanted = draw(st.integers(1, 8)) if rank is None else rank
    long = draw(st.integers(0, wanted - 1))
    shape = []
    for axis in range(wanted):
        limit = 2100 if axis == long else 9
        n = draw(st.integers(1, max(1, min(limit, most))))
        shape.append(n)
        most //= n
    return tuple(shape)


@st.composite
def strided(draw: Any, shape: tuple[int, ...], kind: Any, is_output: bool) -> TensorPlacement:
    """Any layout that slicing, transposing, flipping and (for inputs) broadcasting can make."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.integers(1, 3)) for _ in shape]
    gaps = [draw(st.integers(0, 2)) for _ in shape]
    parent = dense_strides([n * s + g for n, s, g in zip(shape, steps, gaps, strict=True)], order)
    signs = [draw(st.sampled_from((1, 1, -1))) for _ in shape]
    strides = [p * s * sign for p, s, sign in zip(parent, steps, signs, strict=True)]
    if not is_output and shape and draw(st.integers(0, 3)) == 0:
        strides[draw(st.integers(0, len(shape) - 1))] = 0
    return placed(shape, strides, kind, shift=draw(st.integers(0, 3)))


@st.composite
def arbitrary(draw: Any) -> tuple[SubjectCase, bool, bool]:
    """A case, whether the plan is selected for its layout, and whether it runs through bind."""
    tried = draw(st.sampled_from(SUBJECTS))
    element = draw(st.sampled_from(FLOATS))
    shape = draw(shapes(tried.rank))
    seed = str(draw(st.integers(0, 999)))
    case = SubjectCase(tried, shape, element, "contiguous", draw(st.sampled_from(("normal", "extreme"))), seed)
    descriptor = case.descriptor
    drawn = {s.name: draw(strided(s.expected_shape(descriptor), s.expected_kind(descriptor), s.written)) for s in case.tensors()}
    return replace(case, layout="arbitrary", chosen=drawn), draw(st.booleans()), draw(st.booleans())


@pytest.mark.parametrize("part", range(4))
def test_any_layout(machine: Machine, full: bool, part: int) -> None:
    @settings(
        max_examples=600 if full else 30,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.seed(part)
    @given(arbitrary())
    def agrees(drawn: tuple[SubjectCase, bool, bool]) -> None:
        case, like, bound = drawn
        outcome = execute(machine, case, like=like, bound=bound)
        expected = reference(case.subject.plan, case.descriptor, outcome.inputs)
        for name, got in outcome.outputs.items():
            check(f"{case} {case.placements()}: {name}", got, *expected[name], case.element, case.variant)

    agrees()
