"""What the first call of a function costs with nothing cached: each in fresh processes, with an empty cache directory.

    python -m benchmarks.first_calls --device cpu
    python -m benchmarks.first_calls --device cuda --out benchmarks/results/first-calls-h200.json
    python -m benchmarks.first_calls --target sm_90        # what NVRTC takes; no GPU is needed

With a device there are two processes a function: in one the call is the first of all (what it imports and what sets the device up
are counted), in the other it comes after `add`. Modules come from their bytecode, which pip leaves beside them. With a target the
kernels of the call are compiled one after another, and the processor's time is taken, which other work on the machine changes
little: all of them, and the longest, as they are compiled side by side where there are processors enough.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baracuda.cli.environment import environment
from baracuda.cli.inspection import Tensor, inspected, tensor_of
from baracuda.cli.listing import element_of
from baracuda.core.device import Device
from baracuda.core.errors import Error
from baracuda.runtime.nvrtc import compiled

#: Function, shapes as in `baracuda inspect`, element, options as JSON. The first twelve are those that goals were set for.
CASES = """
add                    1024x1024 1024x1024                         f32
gelu                   1024x1024                                   f32
softmax                1024x1024                                   f32
sum                    1024x1024                                   f32   {"axis": -1}
layer_norm             1024x1024 1024 1024                         f32
embedding              300:s64 1000x64                             f32
matmul                 1024x1024 1024x1024                         bf16
scaled_dot_product_attention  2x8x512x64 2x8x512x64 2x8x512x64     bf16
cross_entropy          1024x1024 1024:s64                          f32
matmul                 1024x1024 1024x1024                         f32
betainc                1024x1024 1024x1024 1024x1024               f32
index_add              1024x64 300:s64 300x64                      f32   {"axis": 0}
relu                   1024x1024                                   bf16
exp                    1024x1024                                   f64
tanh                   1024x1024                                   bf16
pow                    1024x1024 1024x1024                         f32
where                  1024x1024:bool 1024x1024 1024x1024          f32
lerp                   1024x1024 1024x1024 1024x1024               f32
sin                    1024x1024                                   f32
lgamma                 1024x1024                                   f32
silu                   1024x1024                                   f32
rms_norm               1024x1024 1024                              bf16
log_softmax            1024x1024                                   bf16
logsumexp              1024x1024                                   f32   {"axis": 0}
var                    1024x1024                                   f32   {"axis": -1}
sum                    1024x1024                                   f32   {"axis": 0}
sum                    3x3000000                                   f32   {"axis": -1}
argmax                 1024x1024                                   f32   {"axis": -1}
normalize              1024x1024                                   f32
cumsum                 1024x1024                                   f32   {"axis": -1}
cumsum                 1024x1024                                   f32   {"axis": 0}
group_norm             8x64x32x32                                  f32   {"num_groups": 8}
gather                 1000x64 300x64:s64                          f32   {"axis": 0}
nll_loss               1024x1024 1024:s64                          f32
mse_loss               1024x1024 1024x1024                         f32
segment_sum            3000x16 3000:s64                            f32   {"num_segments": 50}
bincount               3000:s64                                    f32   {"minlength": 50}
matmul                 4x1024 1024x1024                            bf16
matmul                 1024x1024 1024x1024                         f64
linear                 1024x1024 1024x1024 1024                    f32
int_mm                 512x256 256x512                             s8
ctc_loss               50x4x20 4x10:s64 4:s64 4:s64                f32
gelu_backward          1024x1024 1024x1024                         f32
tanh_backward          1024x1024 1024x1024 1024x1024               f32
softmax_backward       1024x1024 1024x1024                         f32
sum_backward           1024 1024x1024                              f32   {"axis": -1}
layer_norm_backward    1024x1024 1024x1024 1024 1024 1024x1 1024x1 f32
rms_norm_backward      1024x1024 1024x1024 1024 1024x1             bf16
cross_entropy_backward scalar 1024x1024 1024:s64 - 1024 scalar     f32
embedding_backward     300x64 300:s64 1000x64                      f32
cumsum_backward        1024x1024 1024x1024                         f32   {"axis": -1}
matmul_backward        1024x1024 1024x1024 1024x1024               f32
scaled_dot_product_attention_backward  2x8x512x64 2x8x512x64 2x8x512x64 2x8x512x64 2x8x512x64 2x8x512:f32  bf16
"""
#: Compilations of a kernel of which the quickest counts, and processes of a call.
TIMES = 3


@dataclass(frozen=True)
class Case:
    """A call."""

    function: str
    shapes: tuple[str, ...]
    element: str
    options: dict[str, Any]

    def __str__(self) -> str:
        return " ".join((self.function, *self.shapes, self.element))

    @property
    def tensors(self) -> list[Tensor]:
        return [tensor_of(shape, element_of(self.element)) for shape in self.shapes]


def cases(only: str) -> Iterator[Case]:
    """The calls whose text contains a text."""
    for line in CASES.strip().splitlines():
        call, brace, options = line.partition("{")
        function, *shapes, element = call.split()
        case = Case(function, tuple(shapes), element, json.loads(brace + options) if brace else {})
        if only in str(case):
            yield case


def first_calls(case: Case, device: str, bytecode: str) -> dict[str, float]:
    """Milliseconds on a device, the quickest of some processes: `import` of the package, with what sets the device up; `alone`,
    the call as the first of a process, import included; `call`, after `add`; `cpu`, the processor's time of that.
    `bytecode` is where Python keeps that of modules."""
    problem = {
        "function": case.function,
        "tensors": [(t.shape, str(t.kind.numpy)) for t in case.tensors],
        "options": case.options,
        "device": device,
    }

    def run(after: list[str]) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "benchmarks.first_call", json.dumps(problem | {"after": after})]
            own = {"BARACUDA_CACHE_DIR": cache, "CUDA_CACHE_PATH": cache}  # NVRTC and the driver have a cache of their own
            own |= {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
            done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return found

    alone = [run([]) for _ in range(TIMES)]
    after = [run(["add"]) for _ in range(TIMES)]
    return {
        "import": min(r["import"] for r in alone),
        "alone": min(r["import"] + r["call"] for r in alone),
        "call": min(r["call"] for r in after),
        "cpu": min(r["cpu"] for r in after),
    }


def compilations(case: Case, target: str) -> dict[str, float]:
    """Milliseconds of NVRTC: `all` kernels of a call and the `longest`; how many `kernels` there are, and `python` before."""
    before = time.thread_time()
    plans = inspected(case.function, case.tensors, target, options=case.options)
    python = time.thread_time() - before
    sources = dict.fromkeys(kernel.source for plan in plans for kernel in plan.kernels)
    taken = [_least(lambda s=source: compiled(s, target.partition(":")[0])) for source in sources]  # type: ignore[misc]
    return {"kernels": len(taken), "python": 1e3 * python, "longest": 1e3 * max(taken), "all": 1e3 * sum(taken)}


def _least(work: Callable[[], object]) -> float:
    found = []
    for _ in range(TIMES):
        before = time.thread_time()
        work()
        found.append(time.thread_time() - before)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--device", choices=("cpu", "cuda"))
    where.add_argument("--target", help="a GPU's architecture: sm_90, ...")
    parser.add_argument("--only", default="", help="calls whose text contains this")
    parser.add_argument("--out", type=Path, help="where the results go, as JSON")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.target:
        compiled('extern "C" __global__ void kernel() {}', options.target.partition(":")[0])  # loads the compiler
    bytecode = tempfile.TemporaryDirectory()
    for case in cases(options.only):
        try:
            found = compilations(case, options.target) if options.target else first_calls(case, options.device, bytecode.name)
        except (Error, RuntimeError) as error:
            print(f"{case}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
            continue
        if not rows:
            print(*(f"{name:>8}" for name in found), " call")
        print(*(f"{value:8.0f}" for value in found.values()), f" {case}", flush=True)
        rows.append({"case": str(case), **{name: round(value, 1) for name, value in found.items()}})
    if options.out:
        here = environment(Device.cuda(0) if options.device == "cuda" else Device.cpu()).record()
        kind = {"kind": "first calls", "target": options.target or options.device}
        options.out.write_text(json.dumps(kind | {"environment": here, "milliseconds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
