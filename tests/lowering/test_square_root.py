"""The square root of ordinary numbers is correctly rounded, for every significand and both parities of the exponent."""

from __future__ import annotations

import numpy as np

from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.formula.expr import sqrt_of_ordinary
from tests.lowering.graphs import pointwise, run
from tests.machine import Machine


def test_every_significand(machine: Machine, full: bool) -> None:
    step = 1 if full or machine.stream.device.kind is DeviceKind.CUDA else 61
    bits = np.arange(0x3F800000, 0x40800000, step, np.uint32)
    ends = np.array([0, 0x80000000, 0x00800000, 0x7F7FFFFF, 0x33800000, 0x42400000], np.uint32)
    x = np.concatenate([bits, ends]).view(np.float32)[None]
    found = run(machine, pointwise(sqrt_of_ordinary, (ElementKind.F32,), (ElementKind.F32,), 2), {"x0": x})["y0"]
    assert np.array_equal(found.view(np.uint32), np.sqrt(x).view(np.uint32))
