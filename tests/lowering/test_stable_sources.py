"""Two interpreters that hash strings and place objects differently write the same kernels, on the CPU and for CUDA."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from baracuda.core.elements import ElementKind
from baracuda.formula.expr import Expr, const, input_
from baracuda.frontends.families import ops
from baracuda.lowering.nest.cpu import lower as cpu
from baracuda.ops.declaration.op_plan import plan_of
from tests.lowering.test_cuda_compile import TARGETS, Offline, descriptors, lowered

pytestmark = pytest.mark.cpu_only

#: Ops whose kernels hold values between passes, branch around what is rare, sum both ways, scan, or have many operands.
OPS = (
    "normalize", "gated_rms_norm", "dyt", "layer_norm", "group_norm_silu", "var_mean", "gelu", "lgamma", "digamma",
    "logcumsumexp", "logsumexp", "entmax15", "iou_loss", "adamw_step", "gae_advantage",
)  # fmt: skip


def _disturb(seed: int) -> list[object]:
    """Objects that give later ones other addresses than in another process; those of a set decide its order."""
    rng = random.Random(seed)
    garbage: list[object] = []
    for i in range(rng.randrange(5000, 20000)):
        x: Expr = input_(f"disturbance{i}", ElementKind.F32)
        garbage += [x + const(float(i), ElementKind.F32), [i] * rng.randrange(9)]
    rng.shuffle(garbage)
    del garbage[::2]
    return garbage


def _texts(names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The kernels of ops, forward and backward, by name."""
    for name in names:
        for turn, descriptor in zip(("forward", "backward"), descriptors(ops()[name]), strict=False):
            nests = Offline(plan_of(descriptor), descriptor).nests(plan_of(descriptor).layouts(descriptor)[0])
            on_cpu = [cpu.lower(nest) for nest in nests if nest.graph.outputs]
            for device, programs in (("CPU", on_cpu), ("CUDA", lowered(descriptor, TARGETS[0]))):
                yield f"{name} {turn} {device}", [launch.source for part in programs for launch in part.launches]


def _in_another_process(seed: int, names: tuple[str, ...]) -> dict[str, list[str]]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "tests.lowering.test_stable_sources", str(seed), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    texts: dict[str, list[str]] = json.loads(done.stdout)
    return texts


def test_the_same_kernels_in_every_process(full: bool) -> None:
    names = tuple(name for name, op in ops().items() if not op.library) if full else OPS
    first, *others = (_in_another_process(seed, names) for seed in ((1, 2, 3, 4) if full else (1, 2)))
    assert sum(map(len, first.values())) >= 2 * len(names)
    for other in others:
        assert [name for name in first if first[name] != other[name]] == []


if __name__ == "__main__":
    kept = _disturb(int(sys.argv[1]))
    print(json.dumps(dict(_texts(sys.argv[2:]))))
