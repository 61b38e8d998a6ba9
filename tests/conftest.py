"""Options of the whole suite, and the machine that kernels run on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.machine import Machine, machine_of


def pytest_addoption(parser: pytest.Parser) -> None:
    places = "where kernels run: cuda is a GPU with PyTorch's tensors, own a GPU with the library's own arrays"
    parser.addoption("--device", default="cpu", choices=("cpu", "cuda", "own"), help=places)
    parser.addoption("--full", action="store_true", help="run every case instead of a sample, and the slow tests")


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    config.addinivalue_line("markers", "slow: takes minutes or tens of gigabytes; runs with --full")
    share = "one_of(n, offset=0): without --full one of n cases runs, whose parameters' positions add up to a multiple of n"
    config.addinivalue_line("markers", share)
    config.addinivalue_line("markers", "cpu_only: about the CPU's own machinery; skipped with --device cuda")


_GIVEN_AN_ID = type(pytest.param())


def _position(parametrize: pytest.Mark, chosen: dict[str, Any]) -> int:
    """Which of a parametrization's values a case has."""
    names, values = parametrize.args[:2]
    single = isinstance(names, str)
    names = [names] if single else names
    rows = (row.values if isinstance(row, _GIVEN_AN_ID) else (row,) if single else row for row in values)
    return next(i for i, row in enumerate(rows) if all(v is chosen[n] for n, v in zip(names, row, strict=True)))


def _takes_its_turn(item: pytest.Item) -> bool:
    """Whether a case is in the sample, in which every value of every parameter must be."""
    turns = item.get_closest_marker("one_of")
    if turns is None:
        return True
    share, *offset = turns.args
    parametrized = list(item.iter_markers("parametrize"))
    steps = [len(mark.args[1]) - 1 for mark in parametrized]
    if sum(steps) - max(steps) + 1 < share:
        raise pytest.UsageError(f"{item.nodeid}: one_of({share}) leaves values out, which too few others are combined with")
    chosen: dict[str, Any] = item.callspec.params  # type: ignore[attr-defined]
    return sum((_position(mark, chosen) for mark in parametrized), *offset) % int(share) == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--full"):
        turns = [_takes_its_turn(item) for item in items]
        config.hook.pytest_deselected(items=[item for item, turn in zip(items, turns, strict=True) if not turn])
        items[:] = [item for item, turn in zip(items, turns, strict=True) if turn]
    for item in items:
        if item.get_closest_marker("slow") and not config.getoption("--full"):
            item.add_marker(pytest.mark.skip(reason="runs with --full"))
        if item.get_closest_marker("cpu_only") and config.getoption("--device") != "cpu":
            item.add_marker(pytest.mark.skip(reason="runs with --device cpu"))


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Memory that a file's tests leave in the pool goes back to the system: a worker runs many files."""
    if nextitem is None or nextitem.path != item.path:
        from baracuda.runtime.memory import release_cached

        release_cached()


@pytest.fixture(scope="session")
def machine(request: pytest.FixtureRequest) -> Machine:
    """The machine of `--device`."""
    return machine_of(request.config.getoption("--device"))


@pytest.fixture(scope="session")
def device(machine: Machine, request: pytest.FixtureRequest) -> str:
    """The name of the device of `--device`, which there is."""
    return str(request.config.getoption("--device"))


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """PyTorch computes in the calling thread."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether every case is wanted."""
    return bool(request.config.getoption("--full"))


def pytest_report_header(config: pytest.Config) -> Any:
    return f"kernels run on: {config.getoption('--device')}"
