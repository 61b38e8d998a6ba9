"""Rivals of `baracuda bench`: by the catalogue's names, by tables, and none that computes something else, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch

from baracuda.cli.bench.benchmark import Benchmark, Invocation
from baracuda.cli.bench.place import Place
from baracuda.cli.bench.results import FRESH, OURS
from baracuda.cli.bench.rivals import RIVALS, installed, missing
from baracuda.cli.bench.rivals.library import Library, NoRivalError, Results, Tables
from baracuda.cli.bench.rivals.torch import Torch
from baracuda.cli.bench.suites.seeds import Seed
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from tests.unit.bench import Once, declared

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@pytest.fixture
def place() -> Place:
    return Place("cpu", Once())


def test_rivals_that_are_not_there_are_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"torch", "torch.compile"} <= set(installed()) <= set(RIVALS)
    monkeypatch.setattr("baracuda.cli.bench.rivals.find_spec", lambda name: None)
    assert missing(("jax", "torch"), place) == {
        "jax": "jax is not installed: pip install jax",
        "torch": "torch is not installed: pip install torch",
    }
    with pytest.raises(InvalidProblemError, match="rival 'mlx'; expected some of torch"):
        missing(("mlx",), place)


@pytest.mark.parametrize("op", ["exp", "layer_norm", "atan2", "cumsum", "cumprod"])
def test_functions_by_the_names_of_the_catalogue(op: str, place: Place) -> None:
    problem = declared(op)
    prepared = problem.prepare(place, 0)
    contenders = Torch(place).contenders(problem, [prepared])
    assert contenders["torch"].against == FRESH
    assert all(c.against == OURS for label, c in contenders.items() if label != "torch")


@pytest.mark.parametrize("op", ["tanh", "layer_norm", "mul", "softmin"])
def test_gradients_by_autograd(op: str, place: Place) -> None:
    problem = declared(op, backward=True)
    prepared = problem.prepare(place, 0)
    (contender,) = Torch(place).contenders(problem, [prepared]).values()
    assert len(contender.calls[0]()) == len(prepared.outputs)


def test_a_function_with_other_values_is_no_rival(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = declared("exp")
    prepared = problem.prepare(place, 0)
    monkeypatch.setattr(Torch, "functions", lambda self, op: iter([torch.expm1]))
    with pytest.raises(NoRivalError, match="y has other values"):
        Torch(place).contenders(problem, [prepared])
    monkeypatch.setattr(Torch, "functions", lambda self, op: iter([lambda x: x.sum()]))
    with pytest.raises(NoRivalError, match=r"y has shape \(\)"):
        Torch(place).contenders(problem, [prepared])
    monkeypatch.setattr(Torch, "functions", lambda self, op: iter([torch.expm1, torch.exp]))
    assert "torch" in Torch(place).contenders(problem, [prepared])


def test_a_view_of_an_argument_is_no_work(place: Place) -> None:
    problem = declared("positive")
    with pytest.raises(NoRivalError, match="nothing is computed"):
        Torch(place).contenders(problem, [problem.prepare(place, 0)])


def test_tables_come_before_names(place: Place) -> None:
    problem = Seed("alibi", K.F32, "attention", (1, 2, 8, 8))
    prepared = problem.prepare(place, 0)
    library = Torch(place)
    with pytest.raises(NoRivalError, match="no function of a name"):
        library.contenders(problem, [prepared])
    library.tables = Tables(before=[lambda library, problem, tensors: {"torch": lambda: (tensors["y"].clone(),)}])
    assert "torch" in library.contenders(problem, [prepared])


def test_what_takes_several_calls_is_no_rival_where_one_does_it(place: Place) -> None:
    asked = []

    def several(library: Library, problem: Benchmark, tensors: Mapping[str, Any]) -> Mapping[str, Results]:
        asked.append(problem.op)
        return {"torch": lambda: (torch.sigmoid(tensors["a"]) * tensors["a"] * tensors["b"],)}

    library = Torch(place)
    library.tables = Tables(after=[several])
    for problem in (declared("silu"), declared("swiglu")):
        assert "torch" in library.contenders(problem, [problem.prepare(place, 0)])
    view = declared("positive")
    with pytest.raises(NoRivalError, match="nothing is computed"):
        library.contenders(view, [view.prepare(place, 0)])
    assert asked == ["swiglu"]


def test_names_lead_nowhere_without_an_invocation() -> None:
    assert Seed("alibi", K.F32, "attention", (1, 2, 8, 8)).invocation is None
    assert Seed("softmax", K.F32, "square", (2, 3)).invocation == Invocation("softmax", ("x",), {"axis": -1})
