"""The arithmetics of recurrent networks, and what they promise."""

from __future__ import annotations

import baracuda
from baracuda.core.elements import ElementKind
from baracuda.core.sku import MathPrecision
from baracuda.ops.rnn.cells import Cell, activation
from baracuda.ops.rnn.descriptor import RecurrentDescriptor
from baracuda.ops.rnn.plan import RecurrentBackwardPlan, RecurrentPlan


def test_the_fastest(device: str) -> None:
    on_gpu = device == "cuda"
    stream = baracuda.Stream(baracuda.Device.cuda(0)) if on_gpu else None
    cell = Cell("lstm", tuple(map(activation, ("sigmoid", "tanh", "tanh"))))
    for element, math in ((ElementKind.F16, MathPrecision.INT15), (ElementKind.F32, MathPrecision.INT23)):
        d = RecurrentDescriptor(cell, 3, 4, 9, element)
        for plan in (RecurrentPlan, RecurrentBackwardPlan):
            fastest = plan.select(stream, d, baracuda.PlanPreference(fastest=True)).precision_guarantee()
            assert fastest.math is (math if on_gpu else MathPrecision.F32)
            assert fastest.batch_invariant
            assert fastest.bit_stable_across_hardware
            assert plan.select(stream, d).precision_guarantee().math is MathPrecision.F32
