"""Recurrent networks have the CPU's bits however their rows, lanes and k are divided: several rows a thread, several chunks of k,
weights that do not fit into shared memory, rows with numbers that are not finite."""

from __future__ import annotations

from typing import Any

import pytest

import baracuda
from baracuda.core.sku import MathPrecision

GATES = {"rnn": 1, "gru": 3, "lstm": 4}


def flat(results: Any) -> list[Any]:
    return [t for r in results for t in flat(r)] if isinstance(results, (tuple, list)) else [results]


@pytest.mark.parametrize("math", [MathPrecision.INT23, MathPrecision.INT15, MathPrecision.F32], ids=str)
@pytest.mark.parametrize(
    ("kind", "units", "batch", "dtype"),
    [
        ("lstm", 1024, 64, "float32"),
        ("lstm", 64, 2100, "float32"),
        ("lstm", 300, 40, "float16"),
        ("gru", 2100, 20, "bfloat16"),
        ("rnn", 600, 17, "float32"),
    ],
)
def test_bits(kind: str, units: int, batch: int, dtype: str, math: MathPrecision, torch: Any) -> None:
    generator = torch.Generator().manual_seed(units)
    element, gates, steps = getattr(torch, dtype), GATES[kind], 3

    def drawn(*shape: int) -> Any:
        return (torch.randn(shape, generator=generator) * 0.1).to(element)

    x, params = drawn(steps, batch, 9), [drawn(gates * units, 9), drawn(gates * units, units)]
    hx = [drawn(1, batch, units) * 10 for _ in range(2 if kind == "lstm" else 1)]
    hx[0][0, 1, 3], hx[0][0, 2, 40] = torch.inf, torch.nan
    lengths = torch.randint(0, steps + 1, (batch,), generator=generator)
    dy = drawn(steps, batch, units)
    function, derived = getattr(baracuda, kind), getattr(baracuda, f"{kind}_backward")
    found = []
    for device in ("cpu", "cuda"):
        given = [t.to(device) for t in hx]
        start = given if kind == "lstm" else given[0]
        weights, own = [p.to(device) for p in params], x.to(device)
        words = {"has_biases": False, "lengths": lengths.to(device)}
        with baracuda.preferring(baracuda.PlanPreference(math=math)):
            results = flat(function(own, start, weights, **words)) + flat(derived(dy.to(device), own, start, weights, **words))
        found.append([t.cpu() for t in results])
    bits = torch.int16 if element.itemsize == 2 else torch.int32
    for a, b in zip(*found, strict=True):
        assert torch.equal(a.isnan(), b.isnan())
        assert torch.equal(a.nan_to_num().view(bits), b.nan_to_num().view(bits))
