"""Guarantees as bits: run to run, in every batch, in every layout, on every stream or thread count, with every tuning."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from baracuda.cli.verify.bits import canonical_bits
from baracuda.cli.verify.placement import LAYOUTS
from baracuda.cli.verify.plans import FLOATS, SUBJECTS, Subject, SubjectCase, subject
from baracuda.cli.verify.values import VARIANTS
from baracuda.core.axes import Axes
from baracuda.core.elements import ElementKind as K
from baracuda.core.sku import PlanPreference
from tests.execution import execute
from tests.machine import Machine

K_IDS = [str(k) for k in FLOATS]
REDUCED = [s for s in SUBJECTS if s.rank != 4 and not s.label.startswith("lerp") and "@8" not in s.label and "@2" not in s.label]


def same(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray], what: str) -> None:
    """Assert that two sets of outputs have the same bits."""
    assert first.keys() == second.keys()
    for name in first:
        a, b = canonical_bits(first[name]), canonical_bits(second[name])
        differ = int((a != b).sum())
        assert not differ, f"{what}: {name}: {differ} of {a.size} elements differ"


def sample(tried: Subject) -> tuple[int, ...]:
    """One shape of a subject, another for each."""
    return tried.shapes[SUBJECTS.index(tried) % len(tried.shapes)]


@pytest.mark.one_of(4)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_twice(machine: Machine, tried: Subject, element: K) -> None:
    """What was in the outputs before has no influence, and neither has running again, bound or not."""
    for shape in (sample(tried), tried.shape(5, 1500)):
        case = SubjectCase(tried, shape, element, variant="special")
        first = execute(machine, case).outputs
        for poison, bound in ((0xA5, False), (0x00, True)):
            same(first, execute(machine, case, poison=poison, bound=bound).outputs, f"{case}, bound={bound}")


@pytest.mark.one_of(7)
@pytest.mark.parametrize("n", [5, 129, 1024, 5000])
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", REDUCED, ids=lambda s: s.label)
def test_a_row_does_not_depend_on_its_batch(machine: Machine, tried: Subject, element: K, n: int) -> None:
    """One row among 1, 7 and 1000 others, at several positions, with neighbours of every sort."""
    one = SubjectCase(tried, tried.shape(1, n), element, seed="the row")
    row = one.inputs()
    alone = execute(machine, one).outputs
    batches = [(7, 0), (7, 3), (300 if n > 1024 else 1000, 290)]
    for number, (rows, position) in enumerate(batches):
        many = SubjectCase(tried, tried.shape(rows, n), element, variant=VARIANTS[number])
        specs = {s.name: s for s in many.tensors()}
        batch = many.inputs()
        axis = 1 if tried.axis == 0 else 2 if tried.axis == "middle" else 0

        def at(name: str, array: np.ndarray, axis: int = axis, position: int = position, specs: object = specs) -> np.ndarray:
            over_rows = specs[name].varies & Axes.OUTER  # type: ignore[index]
            return array[(slice(None),) * axis + (slice(position, position + 1),)] if over_rows else array

        for name, value in batch.items():
            at(name, value)[...] = row[name]
        outputs = execute(machine, many, values=batch).outputs
        in_batch = {name: at(name, value) for name, value in outputs.items() if specs[name].varies is not Axes.INNER}
        expected = {name: value for name, value in alone.items() if name in in_batch}
        same(expected, in_batch, f"{tried.label} {element} row {position} of {rows}")


@pytest.mark.one_of(4)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_layouts(machine: Machine, tried: Subject, element: K, full: bool) -> None:
    """Every layout of the same values gives the bits of the contiguous one ("broadcast" has other values)."""
    shapes = [tried.shape(3, 2049), tried.shape(70, 33), *tried.shapes] if full else [tried.shape(3, 1030), sample(tried)]
    for shape in shapes:
        reference = execute(machine, SubjectCase(tried, shape, element, variant="special")).outputs
        for layout in LAYOUTS if full else LAYOUTS[SUBJECTS.index(tried) // 4 % 2 :: 2]:
            if layout != "broadcast":
                case = SubjectCase(tried, shape, element, layout, variant="special")
                same(reference, execute(machine, case, like=True).outputs, str(case))


@pytest.mark.one_of(4)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_broadcast_inputs_are_like_repeated_ones(machine: Machine, tried: Subject, element: K) -> None:
    for shape in (sample(tried), tried.shape(9, 130)):
        case = SubjectCase(tried, shape, element, "broadcast")
        strided = execute(machine, case)
        same(execute(machine, SubjectCase(tried, shape, element), values=strided.inputs).outputs, strided.outputs, str(case))


@pytest.mark.one_of(4)
@pytest.mark.parametrize("shape", [(40, 50), (3, 2049), (1500, 7), (1025, 3), (129, 130)], ids=str)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("label", ["softmax", "log_softmax", "softmax_backward", "log_softmax_backward"])
def test_the_axis_does_not_matter(machine: Machine, label: str, element: K, shape: tuple[int, int]) -> None:
    """Softmax along axis 0 of x is softmax along the last axis of x.T."""
    last = SubjectCase(subject(label), shape, element)
    first = SubjectCase(subject(f"{label}@0"), shape[::-1], element)
    along_last = execute(machine, last)
    turned = {name: value.T for name, value in along_last.inputs.items()}
    along_first = execute(machine, first, values=turned)
    same(along_last.outputs, {name: value.T for name, value in along_first.outputs.items()}, f"{label} {element} {shape}")


@pytest.mark.one_of(4)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_threads_streams_and_graphs(machine: Machine, tried: Subject, element: K) -> None:
    """Any number of CPU threads; on CUDA another stream and a replayed graph, of `run` and of `bind`."""
    for shape, layout in ((tried.shape(300, 65), "contiguous"), (tried.shape(5, 5000), "transposed")):
        case = SubjectCase(tried, shape, element, layout)
        expected = execute(machine, case).outputs
        for name, around in machine.variations():
            for bound in (False, True):
                same(expected, execute(machine, case, bound=bound, around=around).outputs, f"{case}: {name}, bound={bound}")


@pytest.mark.one_of(4)
@pytest.mark.parametrize("element", FLOATS, ids=K_IDS)
@pytest.mark.parametrize("tried", SUBJECTS, ids=lambda s: s.label)
def test_autotuning(machine: Machine, tried: Subject, element: K) -> None:
    for shape in (tried.shape(64, 1000), tried.shape(2, 3000)):
        case = SubjectCase(tried, shape, element)
        tuned = PlanPreference(autotune=True)
        same(execute(machine, case).outputs, execute(machine, case, preference=tuned).outputs, str(case))


def test_many_python_threads_share_a_plan(machine: Machine) -> None:
    """A plan may be used from several threads at once."""
    from concurrent.futures import ThreadPoolExecutor

    from baracuda.cli.verify.session import PlacedTensors

    case = SubjectCase(subject("softmax"), (37, 1000), K.F32)
    expected = execute(machine, case).outputs
    plan = case.subject.plan.select(machine.stream, case.descriptor)
    places = [PlacedTensors(machine, case) for _ in range(16)]
    workspaces = [machine.workspace(plan.workspace_size()) for _ in places]

    def work(i: int) -> None:
        for _ in range(20):
            plan.run(machine.stream, workspaces[i], places[i].args)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(len(places))))
    machine.synchronize()
    for operands in places:
        same(expected, operands.outputs(), "softmax from four threads")
