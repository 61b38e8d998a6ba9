"""What a call costs the host beside PyTorch's: every declared op that PyTorch has in one function, forward and backward, on
tensors of some 1,024 elements each.

    python -m benchmarks.calls --device cpu --out benchmarks/results/calls-cpu.json

Each function is called as a user calls it, on PyTorch's tensors and on NumPy's arrays (on a GPU: on arrays of our own), in turns
with PyTorch's own function; the least time of many rounds counts. On a GPU nothing waits for the device within a round. The
backward of PyTorch is `torch.autograd.grad` of results whose graph is kept.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import torch

import baracuda
from baracuda.cli.bench.place import Place
from baracuda.cli.bench.rivals.library import named
from baracuda.cli.bench.suites.families import Declared, problems
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.environment import environment
from baracuda.core.device import Device
from baracuda.core.op_table import table

#: Rows and row length.
SHAPE = (8, 128)
WORDS = {"axis": "dim", "keepdims": "keepdim"}
#: Calls of a round, rounds, and calls before the first round.
CALLS, ROUNDS, BEFORE = 40, 25, 5

Thunk = Callable[[], object]


@dataclass
class Cost:
    """Microseconds of the host for one call: PyTorch's, ours on its tensors, ours on arrays; None for what was not measured."""

    name: str
    torch: float
    ours: float | None = None
    arrays: float | None = None
    reason: str = ""


def torch_functions(op: str) -> Iterator[Callable[..., Any]]:
    """PyTorch's own functions of an op."""
    row = table().get(op)
    if row is not None:
        yield from named(torch, row.torch)
        yield from named(torch.nn.functional, row.nn_functional)


def tensors_of(problem: Declared) -> dict[str, np.ndarray[Any, Any]]:
    """Values of what a call reads."""
    place = Place("cpu")
    return {n: np.array(t) for n, t in problem.inputs(place, 0).items()}


def torch_call(problem: Declared, values: dict[str, Any]) -> Thunk | None:
    """PyTorch's call of a problem."""
    invocation = problem.invocation
    words = {WORDS.get(n, n): v for n, v in invocation.keywords.items()}
    more = {**{WORDS.get(n, n): v for n, v in invocation.defaults.items()}, **words}
    for function in torch_functions(problem.trial.name):
        for keywords in (words, more):
            leaves = dict(values)
            if problem.backward:
                leaves |= {n: values[n].detach().requires_grad_() for n in problem.wrt}
            arguments = [leaves[n] if n is not None else None for n in invocation.tensors]
            while arguments and arguments[-1] is None:
                arguments.pop()
            try:
                result = function(*arguments, **keywords)
                if not problem.backward:
                    return lambda f=function, a=arguments, k=keywords: f(*a, **k)
                results = [r for r in (result if isinstance(result, (tuple, list)) else (result,)) if r.requires_grad]
                dys = [values[f"d{n}"].reshape(r.shape) for n, r in zip(problem.cotangents, results, strict=False)]
                sources, gradient = [leaves[n] for n in problem.wrt], torch.autograd.grad
                gradient(results, sources, dys, retain_graph=True, allow_unused=True)
            except (TypeError, RuntimeError, ValueError, KeyError, NotImplementedError, IndexError):
                continue
            return lambda r=results, s=sources, d=dys: gradient(r, s, d, retain_graph=True, allow_unused=True)
    return None


def our_call(problem: Declared, values: dict[str, Any]) -> Thunk:
    """Our call of a problem, with the results that a forward pass saves where it is a backward."""
    op, words = problem.trial.op, dict(problem.trial.keywords)
    tensors = [values[n] if n is not None else None for n in problem.invocation.tensors]
    if not problem.backward:
        function = getattr(baracuda, op.name)
        return lambda: function(*tensors, **words)
    backward = getattr(baracuda, f"{op.name}_backward")
    saved = {n: values[n] for n in op.saves if n in values}
    dys = [values.get(f"d{n}") for n in problem.forward.results if n not in op.extra]
    if len(dys) == 1 and not saved:
        dy = dys[0]
        return lambda: backward(dy, *tensors, **words)
    return lambda: backward(*dys, *tensors, **saved, **words)


def least(thunks: dict[str, Thunk], wait: Callable[[], None]) -> dict[str, float]:
    """Microseconds of a call of each, the least of rounds in turns."""
    best = dict.fromkeys(thunks, float("inf"))
    for thunk in thunks.values():
        for _ in range(BEFORE):
            thunk()
    for _ in range(ROUNDS):
        for name, thunk in thunks.items():
            wait()
            start = time.perf_counter()
            for _ in range(CALLS):
                thunk()
            best[name] = min(best[name], (time.perf_counter() - start) / CALLS * 1e6)
    return best


def measure(problem: Declared, device: str) -> Cost | None:
    """What the calls of one problem cost; None where PyTorch has no such function."""
    values = tensors_of(problem)
    theirs = {n: torch.from_numpy(v).to(device) for n, v in values.items()}
    reference = torch_call(problem, theirs)
    if reference is None:
        return None
    cuda = device != "cpu"
    arrays = {n: baracuda.to_device(v, Device.cuda(0)) for n, v in values.items()} if cuda else values
    thunks = {"torch": reference}
    reason = ""
    for who, tensors in (("ours", theirs), ("arrays", arrays)):
        try:
            thunk = our_call(problem, tensors)
            thunk()
            thunks[who] = thunk
        except baracuda.Error as error:
            reason = f"{type(error).__name__}: {str(error)[:200]}"
    costs = least(thunks, torch.cuda.synchronize if cuda else lambda: None)
    return Cost(str(problem.op), **{k: round(v, 3) for k, v in costs.items()}, reason=reason)


def summary(rows: list[Cost], kind_of_tensors: str) -> dict[str, Any]:
    """Ratios to PyTorch's time: their geometric mean, and which are above 1.5."""
    ratios = {r.name: getattr(r, kind_of_tensors) / r.torch for r in rows if getattr(r, kind_of_tensors) is not None}
    mean = exp(sum(map(log, ratios.values())) / len(ratios)) if ratios else 0.0
    above = sorted(((v, n) for n, v in ratios.items() if v > 1.5), reverse=True)
    return {"functions": len(ratios), "geometric mean": round(mean, 3), "above 1.5": {n: round(v, 2) for v, n in above}}


def compiled(device: str, only: str, part: int, parts: int) -> None:
    """Make every so many-th call once, so that the disk cache has its kernels."""
    for problem in chosen(device, only)[part::parts]:
        values = tensors_of(problem)
        tensors = {n: baracuda.to_device(v, Device.cuda(0)) for n, v in values.items()} if device != "cpu" else values
        with suppress(baracuda.Error):
            our_call(problem, tensors)()


def chosen(device: str, only: str) -> list[Declared]:
    """The problems whose function's name contains a text."""
    return [p for p in problems(Request("cpu" if device == "cpu" else "cuda", ("f32",), SHAPE)) if only in str(p.op)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--only", default="", help="functions whose name contains this")
    parser.add_argument("--jobs", type=int, default=1, help="processes that compile ahead")
    parser.add_argument("--out", type=Path, help="where the results go, as JSON")
    options = parser.parse_args()
    device = "cuda:0" if options.device == "cuda" else "cpu"
    rows: list[Cost] = []
    chosen_problems = chosen(device, options.only)
    if options.jobs > 1:
        with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
            wait([pool.submit(compiled, device, options.only, i, options.jobs) for i in range(options.jobs)])
    gc.disable()
    for i, problem in enumerate(chosen_problems):
        if sys.stderr.isatty():
            print(f"\r{i} of {len(chosen_problems)} {problem.op:40}", end="", file=sys.stderr)
        try:
            row = measure(problem, device)
        except (baracuda.Error, RuntimeError, KeyError, TypeError) as error:
            print(f"{problem.op}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
            continue
        if row is not None:
            rows.append(row)
        gc.collect()
    record = {
        "kind": "calls",
        "shape": list(SHAPE),
        "environment": environment(Device.cpu() if device == "cpu" else Device.cuda(0)).record(),
        "tensors of PyTorch": summary(rows, "ours"),
        "arrays": summary(rows, "arrays"),
        "microseconds": [asdict(r) for r in rows],
    }
    for who in ("tensors of PyTorch", "arrays"):
        print(f"{who}: {json.dumps(record[who])}")
    if options.out:
        options.out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
