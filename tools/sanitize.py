"""Every kind of kernel under NVIDIA's compute-sanitizer: out of bounds, races, barriers, memory that nothing wrote.

    python -m tools.sanitize                       all tools over all kinds, one process each; a table of what they found
    python -m tools.sanitize --tool racecheck --kind products
    python -m tools.sanitize --run products        the kernels alone, as the sanitizer sees them

Every operand is a device allocation of exactly its size, so that an access beside it is one outside all memory; every kernel runs
under every tuning that it has. Needs a GPU and compute-sanitizer, which comes with the CUDA toolkit.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

import baracuda
from baracuda.core.device import Device
from baracuda.core.implementation import Layout, OperandLayout
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.core.spec import TensorSpec
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.ops.declaration.op_plan import plan_of
from baracuda.runtime.cuda import CudaCall, architecture
from baracuda.runtime.cuda_toolchain import load_kernel
from baracuda.runtime.device_memory import DeviceMemory, synchronize
from baracuda.runtime.program import Program, Step, Template

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
_SUMMARY = re.compile(r"(ERROR SUMMARY: \d+ errors?|RACECHECK SUMMARY: .*)")
BF16 = ml_dtypes.bfloat16


@dataclass(frozen=True)
class PlanRun:
    """A plan, and values of what it reads."""

    cls: type[Plan[Any, Any]]
    descriptor: Any
    values: dict[str, np.ndarray[Any, Any]]


def _values(*shape: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray[Any, Any]:
    return (np.random.default_rng(seed).standard_normal(shape) * 0.5).astype(dtype)


def op(name: str, *tensors: Any, backward: bool = False, **keywords: Any) -> PlanRun:
    """A declared op, or its backward."""
    descriptor, named, _ = describe_call(ops()[name], tensors, keywords)
    if backward:
        from dataclasses import replace

        from baracuda.frontends.backward import differentiable, groups

        forward = descriptor.forward
        names, axes = groups(forward, differentiable(forward))[0]
        descriptor = replace(forward, axes=axes, wrt=names, given=())
    return PlanRun(plan_of(descriptor), descriptor, {n: np.asarray(t) for n, t in named.items()})


def _matrices(m: int, n: int, k: int, dtype: Any, **fields: Any) -> PlanRun:
    element = baracuda.ElementKind.from_numpy(np.dtype(dtype))
    d = baracuda.MatmulDescriptor.matmul((m, k), (n, k) if fields.get("b_transposed") else (k, n), element, **fields)
    return PlanRun(baracuda.MatmulPlan, d, {})


def _attention(backward: bool, dtype: Any, depth: int, **fields: Any) -> PlanRun:
    element = baracuda.ElementKind.from_numpy(np.dtype(dtype))
    extents = {"batch": 2, "heads": 4, "key_heads": 2, "queries": 150, "keys": 170, "depth": depth, "value_depth": depth}
    if backward:
        return PlanRun(
            baracuda.AttentionBackwardPlan, baracuda.AttentionBackwardDescriptor(**extents, element=element, **fields), {}
        )
    return PlanRun(baracuda.AttentionPlan, baracuda.AttentionDescriptor(**extents, element=element, lse=True, **fields), {})


def _scatter(count: int, rows: int, columns: int) -> PlanRun:
    index = np.random.default_rng(1).integers(0, rows, count)
    kind, kinds = baracuda.ElementKind, baracuda.ScatterKind
    d = baracuda.ScatterDescriptor(kinds.SUM, (rows, columns), 0, (count,), kind.F32, kind.S64)
    return PlanRun(baracuda.ScatterPlan, d, {"index": index})


def _pointwise() -> Iterator[PlanRun]:
    for dtype in (np.float32, BF16, np.float64):
        for shape in ((1000, 77), (5,), (64, 128)):
            x = _values(*shape, dtype=dtype)
            yield op("gelu", x)
            yield op("add", x, x[:1])
            yield op("gelu", x, backward=True)
    yield op("add", _values(130, 70), _values(70, 130).T)
    yield op("tanh", _values(4096, 2048, dtype=BF16))
    yield op("gelu", _values(2048, 4097, dtype=BF16), backward=True)


def _rows() -> Iterator[PlanRun]:
    for dtype in (np.float32, BF16):
        for shape in ((70, 33), (9, 1000), (5, 9001), (4, 70000), (3, 262144 + 4096)):
            x = _values(*shape, dtype=dtype)
            for name in ("softmin", "var", "logsumexp", "normalize", "argmax"):
                yield op(name, x, axis=-1)
            yield op("layer_norm", x, x[0], x[0])
            yield op("layer_norm", x, x[0], x[0], backward=True)


def _columns() -> Iterator[PlanRun]:
    for dtype in (np.float32, BF16):
        for shape in ((33, 70), (1000, 130), (9001, 40), (70000, 16), (6, 900, 65)):
            x = _values(*shape, dtype=dtype)
            for name in ("softmin", "var", "sum", "normalize"):
                yield op(name, x, axis=len(shape) - 2)
    yield op("batch_norm", _values(16, 33, 100), _values(33), _values(33), training=True)


def _scans() -> Iterator[PlanRun]:
    for shape, axis in (((70, 33), 1), ((9, 9000), 1), ((3, 300000), 1), ((900, 65), 0), ((20000, 16), 0)):
        x = _values(*shape)
        for name in ("cumsum", "cummax", "logcumsumexp"):
            yield op(name, x, axis=axis)
        yield op("cumsum", x, backward=True, axis=axis)
    x = _values(5, 5000)
    yield op("linear_recurrence", x, x)


def _reads() -> Iterator[PlanRun]:
    weight, index = _values(100, 48), np.random.default_rng(2).integers(0, 100, (40, 7))
    yield op("embedding", index, weight)
    yield op("embedding_bag", index, weight)
    yield op("gather", _values(30, 50), np.random.default_rng(3).integers(0, 50, (30, 20)))


def _products() -> Iterator[PlanRun]:
    kinds = (np.float32, BF16, np.float64, np.int8, np.complex64)
    for dtype in kinds:
        for m, n, k in ((130, 190, 77), (257, 129, 300), (64, 64, 64)):
            yield _matrices(m, n, k, dtype)
            yield _matrices(m, n, k, dtype, b_transposed=True)
    yield _matrices(70, 130, 50, np.float32, activation="relu", bias_axis=-1, c_shape=(130,))


def _thin_products() -> Iterator[PlanRun]:
    for dtype in (np.float32, BF16, np.float64, np.int8):
        for m in (1, 5, 16):
            yield _matrices(m, 400, 600, dtype)
            yield _matrices(m, 400, 600, dtype, b_transposed=True)


def _attentions() -> Iterator[PlanRun]:
    for dtype in (np.float32, BF16):
        for depth in (32, 64, 128):
            yield _attention(False, dtype, depth, causal=True)
            yield _attention(True, dtype, depth, causal=True)
    yield _attention(False, np.float32, 64, bias_shape=(2, 4, 150, 170), softcap=5.0)


def _scatters() -> Iterator[PlanRun]:
    for count, rows, columns in ((50, 7, 33), (5000, 900, 64), (70000, 40, 3), (3000, 2000, 1)):
        yield _scatter(count, rows, columns)


def _recurrences() -> Iterator[PlanRun]:
    kind = baracuda.ElementKind
    d = baracuda.CtcLossDescriptor(
        frames=60,
        batch_size=5,
        num_classes=20,
        max_target_length=12,
        element=kind.F32,
        target_element=kind.S64,
        length_element=kind.S64,
    )
    targets = np.random.default_rng(4).integers(1, 20, (5, 12))
    lengths = {"input_lengths": np.full(5, 60), "target_lengths": np.array([12, 5, 7, 1, 12])}
    yield PlanRun(baracuda.CtcLossPlan, d, {"targets": targets, **lengths})
    r = baracuda.RnntLossDescriptor(batch_size=3, frames=20, max_target_length=9, num_classes=15, element=kind.F32)
    lengths = {"logit_lengths": np.full(3, 20, np.int32), "target_lengths": np.array([9, 4, 1], np.int32)}
    yield PlanRun(
        baracuda.RnntLossPlan, r, {"targets": np.random.default_rng(5).integers(1, 15, (3, 9)).astype(np.int32), **lengths}
    )


KINDS: dict[str, Callable[[], Iterator[PlanRun]]] = {
    "pointwise": _pointwise,
    "rows": _rows,
    "columns": _columns,
    "scans": _scans,
    "indexed reads": _reads,
    "products": _products,
    "thin products": _thin_products,
    "attention": _attentions,
    "scatter": _scatters,
    "recurrences": _recurrences,
}


# --- running ----------------------------------------------------------------------------------------------------------


def _block(spec: TensorSpec, case: PlanRun, device: Device) -> DeviceMemory:
    """A tensor's memory, exactly as large as it is, with values unless it is written."""
    shape, kind = spec.expected_shape(case.descriptor), spec.expected_kind(case.descriptor)
    nbytes = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    memory = DeviceMemory(nbytes, device)
    if not spec.written and nbytes:
        values = case.values.get(spec.name)
        if values is None or values.shape != tuple(shape):
            drawn = _values(*shape, dtype=np.float64, seed=len(spec.name))
            values = np.ones(shape) if kind.is_integer else drawn
        memory.fill(np.ascontiguousarray(np.asarray(values).astype(kind.numpy)))
    return memory


def run_case(case: PlanRun, device: Device) -> list[str]:
    """Run a case under every tuning; the schedules that ran."""
    cls, d = case.cls, case.descriptor
    layout: Layout = cls.layouts(d)[0]
    general: Layout = tuple(None if o is None else OperandLayout(o.strides, 1, True) for o in layout)
    plan = cls.select_layouts(device, d, PlanPreference(), [layout, general])
    executables = [plan._implementation.executable(lay) for lay in (layout, general)]
    executables += [executable for _, executable in plan.tunings(layout)]
    schedules = []
    for executable in executables:
        if executable is None:
            continue
        blocks = [_block(s, case, device) if o is not None else None for s, o in zip(cls.tensors, layout, strict=True)]
        scratch = DeviceMemory(executable.workspace_bytes, device) if executable.workspace_bytes else None
        print(
            f"CASE {cls.op} {[s.expected_shape(d) for s, b in zip(cls.tensors, blocks, strict=True) if b]} {executable.schedule}"
        )
        executable.call([b.pointer if b else 0 for b in blocks], scratch.pointer if scratch else 0, 0)
        synchronize(device)
        schedules.append(executable.schedule)
    return schedules


#: One warp hands 32 numbers to another through a barrier in shared memory, as thin products do with their stages. By the memory
#: model of PTX each read comes after the write that it sees: `arrive` releases what its thread has seen done, which after
#: `__syncwarp` is what all lanes have done, and a successful `try_wait` acquires it. In thin products one lane arrives for its
#: warp, and racecheck reports them; with every lane arriving it reports nothing of the same kernels (H200, 2026-11-22).
_HAND_OVER = r"""
extern "C" __global__ void kernel(const __grid_constant__ unsigned long long out) {
  __shared__ float numbers[32];
  __shared__ unsigned long long full;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], ARRIVALS;" ::"r"(at) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    numbers[threadIdx.x] = threadIdx.x;
    BEFORE
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(at) : "memory");
  } else {
    unsigned ended;
    do {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(ended) : "r"(at) : "memory");
    } while (!ended);
    ((float*)out)[threadIdx.x - 32] = numbers[63 - threadIdx.x];
  }
}
"""


#: How lanes arrive: how many do, and what stands before it.
HAND_OVERS = {"hand-over, each lane": ("32", ""), "hand-over, one lane for all": ("1", "__syncwarp(); if (threadIdx.x == 0)")}


def hand_over(kind: str, device: Device) -> None:
    """The hand-over alone: whether a tool knows such barriers."""
    memory, (major, minor, _) = DeviceMemory(128, device), architecture(device.index)
    arrivals, before = HAND_OVERS[kind]
    source = _HAND_OVER.replace("ARRIVALS", arrivals).replace("BEFORE", before)
    function = load_kernel(source, f"sm_{major}{minor}", device.index, 0)
    program = Program((Step(function=function, block=64),))
    CudaCall(program, Template(program, 0, ()), device.index).call((), memory.pointer, 0)
    synchronize(device)
    print(f"RAN {json.dumps({'cases': 1, 'runs': 1, 'schedules': 1})}", flush=True)


def run(kind: str) -> None:
    """Run a kind's cases; the last line is a count for the table."""
    if kind in HAND_OVERS:
        hand_over(kind, Device.cuda(0))
        return
    device, launches, schedules, cases = Device.cuda(0), 0, set[str](), 0
    for case in KINDS[kind]():
        ran = run_case(case, device)
        launches, cases = launches + len(ran), cases + 1
        schedules |= set(ran)
    print(f"RAN {json.dumps({'cases': cases, 'runs': launches, 'schedules': len(schedules)})}", flush=True)


def sanitized(tool: str, kind: str, timeout: float) -> dict[str, Any]:
    """One kind under one tool."""
    program = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    # Driver calls that fail by design, such as asking for the current context before there is one, are no errors of a kernel.
    options = ["--report-api-errors=no"] if tool == "memcheck" else []
    command = [program, "--tool", tool, *options, sys.executable, "-m", "tools.sanitize", "--run", kind]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        text = done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        text = ((late.stdout or b"") + (late.stderr or b"")).decode(errors="replace") + "\nERROR SUMMARY: timed out"
    ran = re.search(r"RAN (\{.*\})", text)
    summary = _SUMMARY.findall(text)
    outcome = {
        "tool": tool,
        "kind": kind,
        "seconds": round(time.monotonic() - start),
        "summary": summary[-1] if summary else "none",
    }
    if not re.search(r"\b0 (errors|hazards)", outcome["summary"]) or ran is None:
        lines = [line for line in text.splitlines() if not line.startswith("CASE")]
        outcome |= {"last": (re.findall("CASE (.*)", text) or ["none"])[-1], "output": "\n".join(lines)[-6000:]}
    return outcome | (json.loads(ran.group(1)) if ran else {})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tool", choices=TOOLS, action="append")
    parser.add_argument("--kind", choices=[*KINDS, *HAND_OVERS], action="append")
    parser.add_argument("--run", choices=[*KINDS, *HAND_OVERS])
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=500)
    parser.add_argument("--out")
    options = parser.parse_args(arguments)
    if options.run:
        run(options.run)
        return 0
    from concurrent.futures import ThreadPoolExecutor

    pairs = [(tool, kind) for kind in options.kind or (*KINDS, *HAND_OVERS) for tool in options.tool or TOOLS]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda pair: sanitized(*pair, options.timeout), pairs))
    for row in rows:
        print({k: v for k, v in row.items() if k != "output"}, flush=True)
        if "output" in row:
            print(row["output"][-1500:], flush=True)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return int(any("output" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
