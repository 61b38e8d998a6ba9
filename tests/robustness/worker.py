"""The process that is attacked: makes calls one after another and says on stdout, line by line, what became of them.

start 17        call 17 begins, so that it is known which one ended the process
{...}           a finding
{"done": ...}   how many calls had which outcome
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import sys
import time
from collections import Counter
from dataclasses import asdict
from functools import cache

import llvmlite.binding as llvm

from baracuda import native

native.load = lambda: None  # all memory that a call uses comes from where it can be guarded

from baracuda.runtime import jit  # noqa: E402
from baracuda.runtime.jit import CpuTarget  # noqa: E402
from tests.robustness import attack  # noqa: E402
from tests.robustness.samples import Sample, samples  # noqa: E402

#: Address space of a worker: what is asked for beyond it is memory that there is not.
_MOST_MEMORY = 8 << 30


#: Calls of one process: what it compiles stays loaded, so that another goes on after these.
_MOST_CALLS = 12_000
#: A prime: samples are taken in steps of it, so that the first calls of a run are of all families.
_STEP = 7919


def number(i: int, part: int, parts: int, only: str = "") -> tuple[Sample, int]:
    """The sample and the seed of call `i` of a part of all samples."""
    own = part_of(part, parts, only)
    turn, at = divmod(i, len(own))
    return own[at * _STEP % len(own)], turn


@cache
def part_of(part: int, parts: int, only: str) -> tuple[Sample, ...]:
    """Every so many-th of the samples whose name contains `only`."""
    return tuple(s for s in samples() if only in s.name)[part::parts]


def _as_written(ir: str, target: CpuTarget) -> bytes:
    """The object that `ir` compiles to without any optimisation, in a fifth of the time. It reads and writes the same: the
    library vectorises kernels itself and lets LLVM widen nothing."""
    module = llvm.parse_assembly(ir)
    module.verify()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=0, reloc="pic", codemodel="small"
    )
    return bytes(machine.emit_object(module))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", type=int, required=True)
    parser.add_argument("--parts", type=int, required=True)
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--unoptimised", default="")
    options = parser.parse_args()
    if options.unoptimised:
        os.environ["BARACUDA_CACHE_DIR"] = options.unoptimised
        jit.object_code = _as_written
    faulthandler.enable()
    import torch

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    attack.install()
    outcomes: Counter[str] = Counter()
    changes: Counter[str] = Counter()
    stated = time.monotonic()
    last = min(options.calls, options.first + _MOST_CALLS)
    for i in range(options.first, last):
        sample, turn = number(i, options.part, options.parts, options.only)
        print(f"start {i}", flush=True)
        outcome = attack.attack(sample, options.seed + turn)
        outcomes[outcome.outcome] += 1
        changes.update(c.partition(":")[0] for c in outcome.changes)
        if outcome.wrong:
            print(json.dumps(asdict(outcome), default=str), flush=True)
        if time.monotonic() - stated > 2 or i + 1 == last:
            print(json.dumps({"done": i + 1, "outcomes": outcomes, "changes": changes}), flush=True)
            outcomes.clear()
            changes.clear()
            stated = time.monotonic()
    sys.stdout.flush()


if __name__ == "__main__":
    main()
