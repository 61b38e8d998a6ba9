"""Calls of many kinds with results that are known to the bit, for threads, forks and kills to disturb.

python -m tests.robustness.state SEED COUNT      compute so many in an order of its own, and say each result's checksum
"""

from __future__ import annotations

import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np

import baracuda
from tests.robustness.results import flattened

Work = Callable[[], Any]


def _drawn(*shape: int, dtype: Any = np.float32) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@cache
def works() -> dict[str, Work]:
    """Calls by name: of every kind of kernel, small and large, with a workspace and without."""
    b = baracuda
    x, wide, long, square = _drawn(9, 33), _drawn(40, 3000), _drawn(3, 70_001), _drawn(70, 70)
    index = np.random.default_rng(1).integers(0, 33, (9, 5))
    q = _drawn(1, 2, 40, 16)
    targets = np.random.default_rng(2).integers(0, 33, 9)
    return {
        "gelu": lambda: b.gelu(x),
        "gelu of f64": lambda: b.gelu(x.astype(np.float64)),
        "gelu_backward": lambda: b.gelu_backward(x, x),
        "add": lambda: b.add(wide, wide[:, :1]),
        "add of a transpose": lambda: b.add(square, square.T),
        "softmax": lambda: b.softmax(wide),
        "softmax by column": lambda: b.softmax(wide, axis=0),
        "sum of long rows": lambda: b.sum(long, axis=-1),
        "layer_norm": lambda: b.layer_norm(wide, wide[0], wide[1]),
        "layer_norm_backward": lambda: b.layer_norm_backward(wide, wide, wide[0], wide[1]),
        "cumsum": lambda: b.cumsum(long, axis=-1),
        "cumsum by column": lambda: b.cumsum(wide, axis=0),
        "argmax": lambda: b.argmax(wide, axis=-1),
        "gather": lambda: b.gather(x, index, axis=1),
        "scatter_add": lambda: b.scatter_add(np.zeros_like(x), index, x, axis=1),
        "matmul": lambda: b.matmul(square, square),
        "matmul of f64": lambda: b.matmul(square.astype(np.float64), square.astype(np.float64)),
        "linear_backward": lambda: b.linear_backward(square, square, square),
        "attention": lambda: b.scaled_dot_product_attention(q, q, q, causal=True),
        "cross_entropy": lambda: b.cross_entropy(x, targets),
        "einsum": lambda: b.einsum("ij,kj->ik", x, x),
        "complex product": lambda: b.mul(x.astype(np.complex64), 1j),
        "integers": lambda: b.remainder(index, 7),
        "special": lambda: b.lgamma(np.abs(x)),
        "number": lambda: b.mul(x, 2.5),
        "in place": _in_place,
    }


def _in_place() -> Any:
    y = _drawn(40, 3000)
    baracuda.softmax(y, out=y)
    return y


def checksum(result: Any) -> int:
    """Of a result's bytes."""
    crc = 0
    for value in flattened(result):
        crc = zlib.crc32(np.ascontiguousarray(value).tobytes(), crc)
    return crc


@cache
def expected() -> dict[str, int]:
    """The checksums of all results, computed one after another."""
    return {name: checksum(work()) for name, work in works().items()}


def wrong(seed: int, until: float, count: int = sys.maxsize) -> list[str]:
    """Compute in a random order until a time, or so many; what was not as expected."""
    rng, names, known, failures = Random(seed), list(works()), expected(), []
    while count > 0 and time.monotonic() < until:
        for name in rng.sample(names, len(names)):
            count -= 1
            if count < 0 or time.monotonic() > until:
                break
            try:
                if checksum(works()[name]()) != known[name]:
                    failures.append(f"{name}: other bits")
            except BaseException as error:
                failures.append(f"{name}: {error!r}")
    return failures


def in_threads(count: int, work: Callable[[int], Sequence[str]]) -> list[str]:
    """What threads that work at once, each with its number, say is wrong."""
    failures: list[str] = []
    threads = [threading.Thread(target=lambda k=k: failures.extend(work(k))) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return failures


def child(seed: int, count: int, seconds: float = 60.0) -> str:
    """Fork a child that computes `count` things; "right", "wrong", or what else became of it."""
    pid = os.fork()
    if not pid:
        status = 3
        try:
            status = int(bool(wrong(seed, time.monotonic() + seconds, count)))
        finally:
            os._exit(status)
    end = time.monotonic() + seconds + 10
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return {0: "right", 1: "wrong"}.get(os.waitstatus_to_exitcode(status), f"status {status}")
        time.sleep(0.005)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "hung"


def main() -> None:
    names = list(works())
    Random(sys.argv[1]).shuffle(names)
    print("begun", flush=True)
    for name in names[: int(sys.argv[2])]:
        print(f"{checksum(works()[name]())} {name}", flush=True)


if __name__ == "__main__":
    main()
