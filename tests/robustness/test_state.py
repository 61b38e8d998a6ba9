"""Threads, forks, kills and damaged files: every result keeps its bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from tests.robustness import state

pytestmark = [pytest.mark.cpu_only, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")]

_ROOT = Path(__file__).parents[2]


def test_threads_that_call_different_functions(full: bool) -> None:
    state.expected()
    until = time.monotonic() + (60 if full else 1.5)
    assert state.in_threads(12, lambda k: state.wrong(k, until)) == []


def test_children_forked_while_threads_call(full: bool) -> None:
    state.expected()
    stop = time.monotonic() + (40 if full else 1)
    threads = [threading.Thread(target=state.wrong, args=(k, stop)) for k in range(4)]
    for t in threads:
        t.start()
    answers = [state.child(k, 8) for k in range(60 if full else 3)]
    for t in threads:
        t.join()
    assert set(answers) == {"right"}


# --- processes that share a cache directory ---------------------------------------------------------------------------


def _victim(directory: Path, seed: int, count: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "BARACUDA_CACHE_DIR": str(directory), "PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", "tests.robustness.state", str(seed), str(count)]
    return subprocess.Popen(command, cwd=_ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    for line in text.splitlines():
        value, _, name = line.partition(" ")
        if name and value.isdigit():
            yield name, int(value)


def _right(directory: Path, count: int) -> None:
    """A process that reads the cache computes `count` things, and right."""
    text, _ = (process := _victim(directory, 0, count)).communicate(timeout=300)
    assert process.returncode == 0, text
    results = dict(_lines(text))
    assert len(results) == count
    assert results.items() <= state.expected().items()


def _killed(directory: Path, seeds: Sequence[int], count: int, seconds: float) -> None:
    """Processes that are killed after they have begun, and before they have ended where that can be told. What they had said by
    then is right."""
    victims = [_victim(directory, seed, count) for seed in seeds]
    for victim in victims:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "begun\n"
    time.sleep(seconds)
    for victim in victims:
        victim.send_signal(signal.SIGKILL)
        text, _ = victim.communicate()
        assert dict(_lines(text)).items() <= state.expected().items()


def _cut(file: Path, rng: Random, files: list[Path]) -> None:
    file.write_bytes(file.read_bytes()[: rng.randrange(file.stat().st_size)])


def _flipped(file: Path, rng: Random, files: list[Path]) -> None:
    data = bytearray(file.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)


def _swapped(file: Path, rng: Random, files: list[Path]) -> None:
    other = rng.choice(files)
    one, two = file.read_bytes(), other.read_bytes()
    file.write_bytes(two)
    other.write_bytes(one)


def _longer(file: Path, rng: Random, files: list[Path]) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def _zeros(file: Path, rng: Random, files: list[Path]) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def _of_others(file: Path, rng: Random, files: list[Path]) -> None:
    """Code that another version wrote under another name."""
    file.write_bytes(rng.choice(files).read_bytes())


_DAMAGES: tuple[Callable[[Path, Random, list[Path]], None], ...] = (_cut, _flipped, _swapped, _longer, _zeros, _of_others)


def test_a_cache_directory_whose_processes_are_killed_and_whose_files_are_damaged(tmp_path: Path, full: bool) -> None:
    directory, rng = tmp_path / "cache", Random(5)
    directory.mkdir(mode=0o700)
    count, rounds = (len(state.works()), 20) if full else (4, 1)
    for turn in range(rounds):
        _killed(directory, [3 * turn + k for k in range(3 if full else 2)], count, rng.random() * (2.0 if full else 0.5))
        if turn % 4 == 3 or not full:
            _right(directory, count)
    for _ in range(rounds):
        files = sorted(p for p in directory.rglob("*") if p.is_file() and p.stat().st_size)
        assert files
        for file in files:
            rng.choice(_DAMAGES)(file, rng, files)
        _right(directory, count)
