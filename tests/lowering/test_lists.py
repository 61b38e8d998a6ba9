"""Lists of tensors as problems: tables, rooms, and kernels that compile for every architecture without spilling."""

from __future__ import annotations

from math import inf

import pytest

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.frontends.multi_tensor import op_of
from baracuda.lowering.list_sums.cuda import lower as sums_on_cuda
from baracuda.lowering.list_sums.problem import STEP, ListSums, words_of
from baracuda.lowering.lists.cuda import lower as on_cuda
from baracuda.lowering.lists.problem import MOST_WORDS, ListProblem, beginnings, most_items, room_of
from baracuda.lowering.nest.cuda.kernel import Target
from baracuda.ops.optimizers.lists import _nest, form_of
from baracuda.ops.optimizers.norms import _nest as nest_of_sum

pytest.importorskip("cuda.bindings.nvrtc")
cubin = pytest.importorskip("baracuda.runtime.nvrtc").cubin


def problem_of(name: str, kind: K, sizes: tuple[int, ...], alignment: int = 16) -> ListProblem:
    """A step in place of parameters, gradients and state of one element."""
    op = op_of(getattr(baracuda, name))
    scalars = {"lr": 0.1, "step": 1, "mu_product": 0.9, "averaging": 0.1}
    required = [n for n in op.signature.tensors if n not in op.signature.optional]
    tensors = [(n, kind, False, False) for n in required if n not in scalars]
    form = form_of(op, tensors, {n: scalars[n] for n in required if n in scalars}, {})
    assert form is not None
    nest = _nest(form, {n: max(alignment, kind.itemsize) for n in (*(t[0] for t in tensors), *form.results)})
    ports = [p.name for p in (*nest.graph.inputs, *(p for p, _ in nest.graph.outputs))]
    lists = tuple(ports.index(n.removeprefix("new_")) for n in ports)
    return ListProblem(nest, lists, (False,) * len(nest.graph.inputs), sizes)


def test_items_share_the_words_of_a_launch() -> None:
    assert most_items((False,) * 4) >= 1000
    for shared in ((False,), (False,) * 4, (False, True, False, True), (False,) * 9):
        most = most_items(shared)
        assert all(room_of(n, shared) >= n for n in (1, 8, 9, most))
        assert room_of(most, shared) * (len(shared) - sum(shared)) + sum(shared) <= MOST_WORDS
    assert beginnings((5, 0, 17, 8), 8, 6) == [0, 1, 1, 4, 5, 5, 5]
    assert words_of((STEP + 1, 0, 3), (2, 0, 1), 4) == [0, 2, 2, 3, STEP + 1, 0, 3, 0, 2, 0, 1, 0]


@pytest.mark.parametrize(
    ("name", "kind", "items", "alignment", "arch"),
    [
        ("adamw_step", K.F32, 1000, 16, "sm_90"),
        ("adamw_step", K.BF16, 3, 16, "sm_100"),
        ("adamw_step", K.F32, 3, 1, "sm_80"),
        ("radam_step", K.F64, 3, 16, "sm_90"),
        ("sgd_step", K.F16, 3, 16, "sm_80"),
    ],
)
def test_steps_compile(name: str, kind: K, items: int, alignment: int, arch: str) -> None:
    problem = problem_of(name, kind, tuple(range(1, items + 1)), alignment)
    (lowered,) = on_cuda.ways(problem, Target(arch))
    (launch,) = lowered.launches
    assert launch.grid == (items, 1, 1)
    assert bool(lowered.constants) is (items > 256)
    cubin(launch.source, arch)


@pytest.mark.parametrize("kind", [K.F16, K.BF16, K.F32, K.F64], ids=str)
def test_sums_compile(kind: K) -> None:
    for arch, p, alignment in (("sm_80", 2, 16), ("sm_90", inf, kind.itemsize), ("sm_100", 0, 16)):
        problem = ListSums(nest_of_sum(kind, p, alignment), (5, 3 * STEP, 0), (0, 1, 2), 0.0)
        (lowered,) = sums_on_cuda.ways(problem, Target(arch))
        assert [launch.grid for launch in lowered.launches] == [(4, 1, 1), (3, 1, 1)]
        cubin(lowered.launches[0].source, arch)
