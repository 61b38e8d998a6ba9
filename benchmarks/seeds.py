"""The first five op families against PyTorch: `python -m benchmarks.seeds --device cuda --out FILE.json`.

Each case is checked against a float64 reference, with poisoned outputs, before it is timed. The exit status is 1 where a
case failed.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import baracuda
from baracuda.cli.ceilings import copy_bandwidth
from baracuda.cli.timing import Call, Clock, Sample, clock_for, compare, input_sets
from baracuda.core.device import Device, Stream
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Plan
from baracuda.core.workspace import Workspace
from benchmarks.cases import FLOATS, SHAPES, Case, cases
from benchmarks.environment import environment
from benchmarks.rivals import Tensor, Tensors
from benchmarks.table import Results, Row, plain, render

#: The largest relative error of our results, and of PyTorch's eager ones, which round between their steps.
TOLERANCE = {ElementKind.BF16: 4e-3, ElementKind.F16: 1e-3, ElementKind.F32: 1e-5, ElementKind.F64: 1e-12}
RIVAL_TOLERANCE = {ElementKind.BF16: 5e-2, ElementKind.F16: 1e-2, ElementKind.F32: 2e-3, ElementKind.F64: 1e-10}
#: Codes that fall on the other side of a tie or of a clamp in float64 are few, but off by one step or by everything.
STEP = 1e-3


class WrongResultError(Exception):
    """A result is not what the reference says."""


def relative_error(result: Tensor, reference: Tensor) -> float:
    """||result - reference|| / ||reference||."""
    reference = reference.double()
    return float((result.double() - reference).norm() / reference.norm())


def check(case: Case, results: Sequence[Tensor], references: Sequence[Tensor], whose: str, tolerance: float) -> float:
    """The largest relative error; raises if it is too large. A rival may compute fewer outputs than there are references."""
    limit = max(tolerance, STEP) if "quantize" in case.op.name else tolerance
    worst = 0.0
    for name, result, reference in zip(case.op.outputs(case.descriptor), results, references, strict=False):
        error = relative_error(result, reference)
        if not error <= limit:  # NaN is wrong too
            raise WrongResultError(f"{whose} {name}: relative error {error:.3g}; expected at most {limit:g}")
        worst = max(worst, error)
    return worst


def as_numpy(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The same memory as a NumPy array."""
    if tensor.dtype is torch.bfloat16:
        view: np.ndarray[Any, Any] = tensor.view(torch.int16).numpy().view(ElementKind.BF16.numpy)
        return view
    array: np.ndarray[Any, Any] = tensor.numpy()
    return array


def function(case: Case, tensors: Tensors) -> Call:
    """A call of baracuda's function on NumPy arrays."""
    arrays = {name: as_numpy(tensors[name]) for name in case.op.inputs(case.descriptor)}
    keywords = dict(case.op.keywords(case.descriptor))
    call: Callable[..., object] = getattr(baracuda, case.op.name)
    return lambda: call(**arrays, **keywords)


def launches(case: Case, sets: Sequence[Tensors], stream: Stream) -> tuple[Plan[Any, Any], list[Call]]:
    """The plan, and its bound launch on each set of tensors."""
    op, descriptor = case.op, case.descriptor
    args = [op.args(**{s.name: tensors.get(s.name) for s in op.plan.tensors}) for tensors in sets]
    plan: Plan[Any, Any] = op.plan.select(stream, descriptor, like=args[0])
    size = plan.workspace_size()
    device = "cpu" if stream.device == Device.cpu() else "cuda"
    workspace = Workspace(torch.empty(size, dtype=torch.uint8, device=device)) if size else None
    return plan, [plan.bind(stream, workspace, a) for a in args]


def measure(case: Case, clock: Clock, stream: Stream) -> Row:
    """Check one case and time it."""
    op, descriptor = case.op, case.descriptor
    nbytes = op.minimal_bytes(descriptor)
    sets = [case.tensors(clock.device, seed) for seed in range(input_sets(clock, nbytes))]
    first = sets[0]
    references = case.reference(first)
    plan, ours = launches(case, sets, stream)
    ours[0]()
    clock.synchronise()
    error = check(case, [first[name] for name in op.outputs(descriptor)], references, "our", TOLERANCE[case.element])
    rivals: list[Callable[[], Sequence[Tensor]]] = [op.rival.fresh(tensors, descriptor) for tensors in sets]
    check(case, rivals[0](), references, "torch's", RIVAL_TOLERANCE[case.element])
    contenders: dict[str, Sequence[Call]] = {"ours": ours, "torch": rivals}
    if clock.device == "cpu":
        into = [op.rival.reused(tensors, descriptor) for tensors in sets]
        check(case, into[0](), references, "torch's reused", RIVAL_TOLERANCE[case.element])
        functions = [function(case, tensors) for tensors in sets]
        contenders = {"ours": ours, "torch": into, "ours fresh": functions, "torch fresh": rivals}
    del references
    comparison = compare(clock, contenders)
    samples = comparison.samples
    fresh, torch_fresh = samples.get("ours fresh"), samples.get("torch fresh")
    return Row(
        op=op.name,
        element=case.element.label,
        shape_class=case.shape_class,
        shape=case.extents,
        schedule=plan.schedule,
        nbytes=nbytes,
        error=error,
        disturbance=round(comparison.disturbance, 3),
        ours=microseconds(samples["ours"]),
        torch=microseconds(samples["torch"]),
        ratio=samples["torch"].ratio_to(samples["ours"]),
        fresh=microseconds(fresh) if fresh else None,
        torch_fresh=microseconds(torch_fresh) if torch_fresh else None,
        ratio_fresh=torch_fresh.ratio_to(fresh) if fresh and torch_fresh else None,
    )


def microseconds(sample: Sample) -> tuple[float, float, float]:
    """20th percentile, median, 80th percentile."""
    low, high = sample.spread
    return tuple(round(s * 1e6, 3) for s in (low, sample.median, high))  # type: ignore[return-value]


def stream_of(device: str) -> Stream:
    """The stream that torch works on."""
    if device == "cpu":
        return Stream(Device.cpu())
    return Stream(Device.cuda(torch.cuda.current_device()), torch.cuda.current_stream().cuda_stream)


def run(device: str, chosen: Sequence[Case], threads: int, out: Path | None) -> Results:
    """Measure cases one after the other; what is known so far is written after each."""
    clock, stream = clock_for(device), stream_of(device)
    results = Results(environment(device, threads), copy_bandwidth(clock), [], {})
    for number, case in enumerate(chosen, 1):
        try:
            row = measure(case, clock, stream)
        except (baracuda.Error, WrongResultError, RuntimeError, MemoryError) as error:
            results.failed[str(case)] = f"{type(error).__name__}: {error}"
            told = "FAILED " + results.failed[str(case)]
        else:
            results.rows.append(row)
            share = 100 * row.bandwidth / results.copy_bandwidth
            fresh = "" if row.ratio_fresh is None else f", fresh {row.ratio_fresh:.2f}"
            told = f"{row.ours[1]:.1f} us, {share:.0f}% of copy, torch/ours {row.ratio:.2f}{fresh}"
        print(f"[{number}/{len(chosen)}] {case}: {told}", file=sys.stderr, flush=True)
        gc.collect()
        if out is not None:
            results.save(out)
    results.copy_bandwidth = max(results.copy_bandwidth, copy_bandwidth(clock))
    if out is not None:
        results.save(out)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seeds", description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    parser.add_argument("--dtype", action="append", choices=tuple(FLOATS), help="may be given several times; all by default")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains this, as in progress lines")
    parser.add_argument("--quick", action="store_true", help="small shapes: to see that everything runs, not how fast")
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of either side (default: 2)")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="where to write the results")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    baracuda.set_num_threads(arguments.threads)
    usual = tuple(FLOATS) if arguments.device == "cpu" else ("bf16", "f16", "f32")
    elements = tuple(FLOATS[name] for name in arguments.dtype or usual)
    shapes = SHAPES["quick" if arguments.quick else arguments.device]
    chosen = [case for case in cases(shapes, elements) if arguments.only in str(case)]
    if not chosen:
        parser.error(f"no case's name contains {arguments.only!r}")
    results = run(arguments.device, chosen, arguments.threads, arguments.out)
    print(render(results, plain))
    return 1 if results.failed else 0


if __name__ == "__main__":
    sys.exit(main())
