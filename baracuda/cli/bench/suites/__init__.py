"""The suites: which there are, and their problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from baracuda.cli.bench.benchmark import Benchmark
from baracuda.cli.bench.suites.request import Request
from baracuda.core.errors import InvalidProblemError

#: Name, module and function of each suite, and what it measures.
SUITES = {
    "seeds": ("seeds", "problems", "softmax, RMS norm, ALiBi, lerp and per-token quantization, on every shape and layout"),
    "families": ("families", "problems", "every declared op, forward and backward, on large tensors"),
    "large": ("families", "large", "reductions, scans and rows on extreme shapes"),
    "gemm": ("gemm", "problems", "matrix products: square, tall, decode, batched, those of a sentence encoder"),
    "attention": ("attention", "problems", "scaled dot product attention, forward and backward"),
    "launch": ("launch", "problems", "what a call costs the host"),
    "demo": ("demo", "problems", "a layer of a sentence encoder"),
}


def problems(suite: str, request: Request) -> list[Benchmark]:
    """The problems of a suite.

    Raises `InvalidProblemError` for a suite or an element that there is none of, `UnsupportedError` for a shape that is none of
    this suite's.
    """
    if suite not in SUITES:
        raise InvalidProblemError(f"suite {suite!r}; expected some of {', '.join(SUITES)}")
    module, name, _ = SUITES[suite]
    make: Callable[[Request], Iterable[Benchmark]] = getattr(import_module(f"baracuda.cli.bench.suites.{module}"), name)
    return list(make(request))
