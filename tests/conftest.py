"""Options of the whole suite, and the machine that kernels run on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kernels.machine import Machine, machine_of


def pytest_addoption(parser: pytest.Parser) -> None:
    places = "where kernels run: cuda is a GPU with PyTorch's tensors, own a GPU with the library's own arrays"
    parser.addoption("--device", default="cpu", choices=("cpu", "cuda", "own"), help=places)
    parser.addoption("--full", action="store_true", help="run every case instead of a sample, and the slow tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes minutes or tens of gigabytes; runs with --full")
    share = "one_of(n, offset=0): without --full one of n cases runs, the positions of whose parameters add up to a multiple of n"
    config.addinivalue_line("markers", share)
    config.addinivalue_line("markers", "cpu_only: about the CPU's own machinery; skipped with --device cuda")


def _takes_its_turn(item: pytest.Item) -> bool:
    """Whether a case is in the sample: of two parameters every pair with a third one's value, each once in n."""
    marker = item.get_closest_marker("one_of")
    if marker is None:
        return True
    share, *offset = marker.args
    positions: dict[str, int] = item.callspec.indices  # type: ignore[attr-defined]
    return sum((*positions.values(), *offset)) % int(share) == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--full"):
        config.hook.pytest_deselected(items=[item for item in items if not _takes_its_turn(item)])
        items[:] = [item for item in items if _takes_its_turn(item)]
    for item in items:
        if item.get_closest_marker("slow") and not config.getoption("--full"):
            item.add_marker(pytest.mark.skip(reason="runs with --full"))
        if item.get_closest_marker("cpu_only") and config.getoption("--device") != "cpu":
            item.add_marker(pytest.mark.skip(reason="runs with --device cpu"))


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
