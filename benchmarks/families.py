"""Every declared op against PyTorch, eager and compiled: `python -m benchmarks.families --device cuda --out FILE.json`.

Ops, inputs and the PyTorch code are those of the tests (`tests/families`), on large shapes. Forward calls are bound launches
into given outputs on our side and plain calls on PyTorch's; backward is PyTorch's autograd on a graph made in advance. Values
are the tests' subject: here only that both sides' results have the same shape and agree roughly is looked at.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import torch

import baracuda
from baracuda.cli.ceilings import copy_bandwidth
from baracuda.cli.timing import Call, Clock, clock_for, compare, input_sets
from baracuda.cli.verify.values import values
from baracuda.core.elements import ElementKind
from baracuda.core.workspace import Workspace
from baracuda.frontends.call import plan_for
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.ops.op_descriptor import OpDescriptor
from baracuda.ops.op_plan import plan_of
from benchmarks.environment import environment
from benchmarks.seeds import microseconds, stream_of
from benchmarks.table import Results, Row, plain, render
from tests.families.case import Case, Shapes
from tests.families.trial import as_tuple, cases, elements_of, shapes_of, torch_dtype

#: Rows and row length of the large shapes.
EXTENTS = {"cuda": (8192, 8192), "cpu": (2048, 2048), "quick": (64, 512)}
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Problem:
    """One op, forward or backward, in one element."""

    name: str
    element: ElementKind
    backward: bool
    size: str

    def __str__(self) -> str:
        return f"{self.name}{'_backward' if self.backward else ''} {self.element}"

    @property
    def case(self) -> Case:
        return cases()[self.name]

    @property
    def shapes(self) -> Shapes:
        """The case's large shapes, where the GPU's number of rows becomes the device's; or its first shapes, with the longest
        extent as row length and the other as rows."""
        rows, length = EXTENTS[self.size]
        if self.case.large is not None:
            table, given = {EXTENTS["cuda"][0]: rows}, self.case.large
        else:
            given = shapes_of(ops()[self.name], self.case)[0]
            extents = sorted({n for s in given if s for n in s if n > 1}, reverse=True)
            table = dict(zip(extents, (length, rows), strict=False)) if len(extents) <= 2 else {}
        return [None if s is None else tuple(table.get(n, n) for n in s) for s in given]

    def tensors(self, device: str, seed: int) -> list[torch.Tensor | None]:
        """Inputs: a block of the tests' values, repeated."""
        names = ops()[self.name].signature.tensors
        domains = [*self.case.domains, *[self.case.domains[-1]] * len(names)]
        made: list[torch.Tensor | None] = []
        for i, (domain, shape) in enumerate(zip(domains, self.shapes, strict=False)):
            if shape is None:
                made.append(None)
                continue
            last = max([1, *shape[-1:]])
            block = torch.from_numpy(
                values(domain, f"{self.name}/{seed}/{i}", (max(min(_BLOCK, prod(shape)) // last, 1), last))
            ).flatten()
            if block.is_floating_point():
                block = block.to(torch_dtype(self.element))
            count = -(-prod(shape) // max(block.numel(), 1))
            made.append(block.to(device).repeat(count)[: prod(shape)].reshape(shape))
        return made

    @property
    def keywords(self) -> dict[str, Any]:
        along_rows = [k for k in self.case.keywords if k.get("axis") == -1]
        return dict((along_rows or self.case.keywords)[0])


@dataclass
class Prepared:
    """What is timed of one problem on one set of tensors, and the bytes it must move."""

    ours: Call
    eager: Call
    compiled: Call | None
    schedule: str
    nbytes: int


def _bound(descriptor: OpDescriptor, tensors: dict[str, torch.Tensor], device: str) -> tuple[Call, str, int, dict[str, Any]]:
    """A bound launch with outputs of its own."""
    cls = plan_of(descriptor)
    given: dict[str, Any] = {}
    for spec in cls.tensors:
        if spec.presence(descriptor):
            shape, kind, _ = descriptor.described[spec.name]
            given[spec.name] = torch.empty(shape, dtype=torch_dtype(kind), device=device) if spec.written else tensors[spec.name]
    stream = stream_of(device)
    plan = plan_for(cls, descriptor, stream, [given.get(s.name) for s in cls.tensors])
    size = plan.workspace_size()
    workspace = Workspace(torch.empty(size, dtype=torch.uint8, device=device)) if size else None
    launch = plan.bind(stream, workspace, cls.args(**given))
    nbytes = sum(t.numel() * t.element_size() for t in given.values())
    return launch, plan.schedule, nbytes, given


def prepare(problem: Problem, device: str, seed: int, *, compiled: bool) -> Prepared:
    """Contenders on one set of tensors."""
    op, case, keywords = ops()[problem.name], problem.case, problem.keywords
    tensors = problem.tensors(device, seed)
    rival = case.rival or case.reference
    faster: Callable[..., Any] | None = torch.compile(rival, dynamic=False) if compiled else None
    descriptor, named, _ = describe_call(op, tensors, keywords)
    if not problem.backward:
        launch, schedule, nbytes, _ = _bound(descriptor, named, device)
        fast = (lambda: faster(*tensors, **keywords)) if faster is not None else None
        return Prepared(launch, lambda: rival(*tensors, **keywords), fast, schedule, nbytes)
    whole = descriptor.forward
    launch, _, _, results = _bound(whole, named, device)
    launch()
    wrt = tuple(n for n, t in named.items() if t.is_floating_point() and n not in op.constants and whole.exact(n) is not None)
    made = {n: t for n, t in results.items() if n not in named and n not in op.extra}
    dys = {f"d{n}": torch.randn_like(t) for n, t in made.items() if t.is_floating_point() or t.is_complex()}
    backward = replace(whole, wrt=wrt, given=tuple(n[1:] for n in dys))
    launch, schedule, nbytes, _ = _bound(backward, {**named, **results, **dys}, device)

    def autograd(function: Callable[..., Any]) -> Call:
        leaves = [t.detach().requires_grad_(n in wrt) if n in wrt else t for n, t in named.items()]
        by_name = dict(zip(named, leaves, strict=True))
        every = as_tuple(function(*[by_name.get(n) for n in op.signature.tensors[: len(tensors)]], **keywords))
        made = [r for r in every if r.requires_grad]
        given = list(dys.values())[: len(made)]
        sources = [by_name[n] for n in wrt]
        return lambda: torch.autograd.grad(made, sources, given, retain_graph=True, allow_unused=True)

    return Prepared(launch, autograd(rival), autograd(faster) if faster is not None else None, schedule, nbytes)


def _try(prepared: Prepared, which: str) -> Call | None:
    """A contender that runs; compilation happens here."""
    call: Call | None = getattr(prepared, which)
    if call is None:
        return None
    try:
        call()
    except Exception as error:  # what PyTorch cannot do is no reason to stop
        print(f"  {which}: {type(error).__name__}: {str(error)[:120]}", file=sys.stderr)
        return None
    return call


def measure(problem: Problem, clock: Clock, *, compiled: bool) -> Row:
    """Time one problem."""
    first = prepare(problem, clock.device, 0, compiled=compiled)
    sets = [
        first,
        *(prepare(problem, clock.device, s, compiled=False) for s in range(1, min(2, input_sets(clock, first.nbytes)))),
    ]
    contenders: dict[str, Sequence[Call]] = {"ours": [p.ours for p in sets]}
    if _try(first, "eager") is not None:
        contenders["torch"] = [p.eager for p in sets]
    fast = _try(first, "compiled")
    if fast is not None:
        contenders["compiled"] = [fast]
    first.ours()
    clock.synchronise()
    comparison = compare(clock, contenders)
    samples = comparison.samples
    ours = samples["ours"]
    rows, length = EXTENTS[problem.size]
    quick = samples.get("compiled")
    return Row(
        op=f"{problem.name}{'_backward' if problem.backward else ''}",
        element=problem.element.label,
        shape_class="large",
        shape=tuple(next(s for s in problem.shapes if s) or (rows, length)),
        schedule=first.schedule,
        nbytes=first.nbytes,
        error=0.0,
        disturbance=round(comparison.disturbance, 3),
        ours=microseconds(ours),
        torch=microseconds(samples["torch"]) if "torch" in samples else (0.0, 0.0, 0.0),
        ratio=samples["torch"].ratio_to(ours) if "torch" in samples else float("nan"),
        compiled=microseconds(quick) if quick else None,
        ratio_compiled=quick.ratio_to(ours) if quick else None,
    )


def problems(elements: Sequence[str], only: str, size: str) -> list[Problem]:
    """Every op in each of the elements it takes, forward and backward."""
    found = []
    for name, op in ops().items():
        case = cases().get(name)
        if case is None:
            continue
        for element in (k for k in elements_of(op, case) if k.label in elements):
            for backward in (False, True):
                if not backward or (op.differentiable and case.gradient and element.is_float):
                    found.append(Problem(name, element, backward, size))
    return [p for p in found if only in str(p)]


def warm(problem: Problem, device: str, *, compiled: bool) -> None:
    """Fill the compilers' caches on disk."""
    try:
        prepared = prepare(problem, device, 0, compiled=compiled)
        prepared.ours()
        _try(prepared, "compiled")
    except Exception as error:  # measuring will tell
        print(f"{problem}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.families", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    parser.add_argument("--dtype", action="append", choices=("f16", "bf16", "f32", "f64"), help="f32 and bf16 by default")
    parser.add_argument("--only", default="", metavar="TEXT", help="only problems whose name contains this")
    parser.add_argument("--start", type=int, default=0, help="how many problems to leave out, as numbered in progress lines")
    parser.add_argument("--quick", action="store_true", help="small shapes: to see that everything runs, not how fast")
    parser.add_argument("--compiled", action="store_true", help="torch.compile as well")
    parser.add_argument("--jobs", type=int, default=0, help="processes that fill the compilers' caches first")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of either side (default: 2)")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where to write the results")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    baracuda.set_num_threads(options.threads)
    size = "quick" if options.quick else options.device
    chosen = problems(options.dtype or ("f32", "bf16"), options.only, size)[options.start :]
    if options.jobs:
        with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
            waiting = [pool.submit(warm, p, options.device, compiled=options.compiled) for p in chosen]
            for number, done in enumerate(waiting, 1):
                done.exception()
                print(f"\rwarming {number}/{len(waiting)}", end="", file=sys.stderr, flush=True)
    clock = clock_for(options.device)
    results = Results(environment(options.device, options.threads), copy_bandwidth(clock), [], {})
    for number, problem in enumerate(chosen, 1):
        try:
            row = measure(problem, clock, compiled=options.compiled)
        except (baracuda.Error, RuntimeError, MemoryError, KeyError, TypeError, ValueError) as error:
            results.failed[str(problem)] = f"{type(error).__name__}: {str(error)[:300]}"
            told = "FAILED " + results.failed[str(problem)]
        else:
            results.rows.append(row)
            share = 100 * row.bandwidth / results.copy_bandwidth
            fast = f", compiled/ours {row.ratio_compiled:.2f}" if row.ratio_compiled else ""
            told = f"{row.ours[1]:.1f} us, {share:.0f}% of copy, torch/ours {row.ratio:.2f}{fast}  {row.schedule}"
        print(f"[{number}/{len(chosen)}] {problem}: {told}", file=sys.stderr, flush=True)
        gc.collect()
        if options.out is not None and number % 20 == 0:
            results.save(options.out)
    results.copy_bandwidth = max(results.copy_bandwidth, copy_bandwidth(clock))
    if options.out is not None:
        results.save(options.out)
    print(render(results, plain))
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
