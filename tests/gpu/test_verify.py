"""Verification on a GPU without torch: memory, streams, graphs and tunings by the driver alone, and a fault that is found."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from baracuda.cli.verify import bits, plans, reference
from baracuda.cli.verify.certificate import PROMISES
from baracuda.cli.verify.checks import Checker
from baracuda.cli.verify.machine import Cuda
from baracuda.cli.verify.run import Selection, verify
from baracuda.cli.verify.session import Session
from baracuda.core.device import Device
from baracuda.core.errors import InvalidProblemError
from baracuda.runtime.device_memory import DeviceMemory
from baracuda.runtime.streams import CudaStream


def softmax() -> plans.SubjectCase:
    return next(c for c in plans.hashed() if c.subject.label == "softmax" and c.layout == "contiguous" and c.ordinary)


def test_blocks_are_filled_and_read() -> None:
    memory = DeviceMemory(1000, Device.cuda(0))
    memory.fill(np.arange(250, dtype=np.float32))
    assert (memory.read().view(np.float32) == np.arange(250)).all()
    with pytest.raises(InvalidProblemError, match="expected at most 1000 bytes"):
        memory.fill(np.zeros(1001, np.uint8))


def test_a_graph_runs_when_it_is_replayed_and_not_before() -> None:
    session = Session(Cuda(), softmax())
    first = session.run()
    stream = CudaStream(Device.cuda(0))
    session.placed.again(0xA5)
    graph = stream.capture(lambda s: session.plan.run(s, session.workspace, session.placed.args))
    assert session.placed.unchanged()
    graph.replay()
    stream.synchronize()
    assert bits.difference(session.placed.outputs(), first) is None


def test_every_promise_is_tried() -> None:
    case = softmax()
    checks = Checker(Cuda(), case, reference.of_plans()[str(case)]).all(thorough=True)
    assert not [str(c) for c in checks if c.broken]
    assert {c.promise for c in checks} == set(PROMISES) - {"threads"}
    assert len([c for c in checks if c.promise == "tuning"]) == 3  # of the four others one gives the same kernel


def test_contraction_is_found() -> None:
    """The classical way to lose the bits: the compiler fuses multiplications and additions."""
    program = (
        "import sys\nfrom baracuda.runtime import nvrtc\nnvrtc.OPTIONS['--fmad'] = 'true'\n"
        "from baracuda.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = ["verify", "--device", "cuda", "--op", "layer_norm", "--quick", "--jobs", "1"]
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "hash broken: layer_norm: layer_norm f" in done.stdout
    assert "(against the CPU): y[" in done.stdout


def test_a_few_ops_by_several_processes() -> None:
    certificate = verify("cuda", Selection(ops=("gelu", "layer_norm", "cumsum", "argmax", "add"), quick=True), jobs=4)
    assert certificate.kept, "\n".join(map(str, certificate.broken))
    assert certificate.complete
    assert certificate.environment.kind == "cuda"
