"""`torch.compile(backend="baracuda")`: the bits of the mode in eager, and what graphs add to it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import baracuda
import baracuda.torch as bt
from baracuda.torch.compiled import execution, report
from baracuda.torch.compiled.options import Options
from tests.conformance.test_torch_mode import MODELS

counters = torch._dynamo.utils.counters


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    torch._dynamo.reset()
    counters.clear()
    yield
    torch._dynamo.reset()


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, backend="baracuda", **options)


def train(model: nn.Module, x: Any, compiling: bool) -> list[Any]:
    """Losses of ten steps, the logits after them, all parameters and buffers, and the state of the generator."""
    optimizer, target, losses = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3), torch.arange(len(x)) % 5, []
    program = compiled(model) if compiling else model
    torch.manual_seed(1)
    with bt.reproducible():
        for _ in range(10):
            optimizer.zero_grad()
            loss = F.cross_entropy(program(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        model.eval()
        with torch.no_grad():
            logits = program(x)
    return [torch.stack(losses), logits, *model.state_dict().values(), torch.get_rng_state()]


@pytest.mark.parametrize("name", MODELS)
def test_training_has_the_bits_of_the_mode(name: str, monkeypatch: Any) -> None:
    programs: list[Any] = []

    class Watched(execution.Program):
        def __init__(self, *args: Any, **keywords: Any) -> None:
            super().__init__(*args, **keywords)
            programs.append(self)

    monkeypatch.setattr(execution, "Program", Watched)
    torch.manual_seed(0)
    model, x = MODELS[name](0.2)
    want, got = (train(copy.deepcopy(model), x, compiling) for compiling in (False, True))
    assert all(torch.equal(a, b) for a, b in zip(want, got, strict=True))
    assert programs or name == "recurrent", "PyTorch's compiler leaves recurrent layers to the mode"
    assert [(p.why, p.kept) for p in programs] == [(None, 1)] * len(programs)


def steps(make: Callable[[], Any], compiling: bool, outside: bool = False, **options: Any) -> list[Any]:
    """What three runs of a program give, its gradients, and its parameters and buffers in the end."""
    torch.manual_seed(0)
    module = make()
    program = compiled(module, **options) if compiling else module
    inputs = [torch.randn(3 + i, 6) for i in range(3)]
    torch.manual_seed(1)
    found: list[Any] = []
    with nullcontext() if outside and compiling else bt.reproducible():
        for x in inputs:
            results = program(x)
            results = results if isinstance(results, tuple) else (results,)
            found += [r.detach().clone() for r in results]
            known = [r for r in results if r.requires_grad]
            torch.autograd.backward(known, [torch.ones_like(r) for r in known])
            found += [p.grad.clone() for p in module.parameters()]
            module.zero_grad()
    return [*found, *module.state_dict().values(), torch.get_rng_state()]


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 6)
        self.last.weight = self.first.weight

    def forward(self, x: Any) -> Any:
        return self.last(F.gelu(self.first(x)))


class Counting(nn.Module):
    """Buffers that are written, complex ones, views among the results."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 4)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("seen", torch.zeros(4))
        self.register_buffer("turn", torch.polar(torch.ones(3), torch.arange(3.0)))

    def forward(self, x: Any) -> Any:
        self.calls += 1
        y = self.linear(x)
        self.seen.mul_(0.9).add_(y.detach().mean(0) * 0.1)
        return y * self.calls, torch.view_as_real(torch.view_as_complex(x.view(-1, 3, 2)) * self.turn), y.t()


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.head = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Dropout(0.3)), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return F.dropout(self.head(checkpoint(self.inner, x, use_reentrant=False)), 0.2)


class Mixed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.SiLU(), nn.LayerNorm(8), nn.Dropout(0.5), nn.Linear(8, 3))

    def forward(self, x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.layers(x)


@pytest.mark.parametrize("outside", [False, True], ids=["in the mode", "outside of it"])
@pytest.mark.parametrize("make", [Tied, Counting, Checkpointed, Mixed])
def test_programs_have_the_bits_of_the_mode(make: Callable[[], Any], outside: bool) -> None:
    want = steps(make, False)
    got = steps(make, True, outside, fullgraph=True, dynamic=True)
    assert all(torch.equal(a, b) for a, b in zip(want, got, strict=True))
    assert counters["stats"]["unique_graphs"] == 1, "sizes of a batch are no graphs of their own"


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_layer_that_inference_has_one_op_of(norm_first: bool) -> None:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=norm_first).eval().bfloat16()
    x, padding = torch.randn(3, 5, 32).bfloat16(), torch.arange(5) >= torch.tensor([5, 4, 3])[:, None]
    with torch.no_grad():
        got = compiled(layer, fullgraph=True)(x, src_key_padding_mask=padding)
        with bt.reproducible():
            assert torch.equal(got, layer(x, src_key_padding_mask=padding))


def test_inputs_are_written() -> None:
    def write(x: Any, y: Any) -> Any:
        x.add_(y)
        x[1:3] = y[:2] * 2
        y.copy_(x)
        x.mul_(2)
        return x.t(), x + y, x.view(-1)[3:]

    want = [torch.ones(4, 4), torch.arange(16.0).view(4, 4)]
    got = [w.clone() for w in want]
    program = compiled(write, fullgraph=True)
    for _ in range(2):
        for a, b in zip(write(*want), program(*got), strict=True):
            assert torch.equal(a, b)
            assert a.stride() == b.stride()
    assert all(torch.equal(a, b) for a, b in zip(want, got, strict=True))


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop])
def test_steps_of_optimizers(optimizer: Any) -> None:
    options = {"momentum": 0.9} if optimizer is torch.optim.SGD else {"fused": True} if optimizer is torch.optim.AdamW else {}
    found = []
    for compiling in (False, True):
        parameters = [torch.linspace(-1, 1, 15).view(5, 3).requires_grad_(), torch.linspace(0, 2, 7).requires_grad_()]
        update = optimizer(parameters, lr=0.1, **options)
        step = compiled(update.step) if compiling else update.step
        with bt.reproducible():
            for _ in range(3):
                for p in parameters:
                    p.grad = p.detach().sin()
                step()
        found.append(parameters)
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_rows_do_not_depend_on_the_batch() -> None:
    torch.manual_seed(0)
    model = MODELS["encoder"](0.0)[0].eval()
    program, x = compiled(model, dynamic=True), torch.randn(5, 10, 32)
    with torch.no_grad(), bt.reproducible():
        together = program(x)
        assert torch.equal(torch.cat([program(x[i : i + 2]) for i in range(0, 4, 2)]), together[:4])
    assert counters["stats"]["unique_graphs"] == 1


def test_an_op_that_is_not_served_raises_by_name() -> None:
    with pytest.raises(baracuda.UnsupportedError, match=r"aten\.linalg_qr\.default"):
        compiled(torch.linalg.qr)(torch.eye(3))


def test_what_pytorch_computed_is_reported() -> None:
    program = compiled(lambda x: torch.linalg.qr(x)[1] + 1, options={"strict": False})
    before = {r.overload: r.calls for r in report().by_pytorch}.get("aten.linalg_qr.default", 0)
    for _ in range(2):
        torch.testing.assert_close(program(torch.eye(3)).abs(), torch.linalg.qr(torch.eye(3))[1].add(1).abs())
    assert {r.overload: r.calls for r in report().by_pytorch}["aten.linalg_qr.default"] == before + 2
    assert "no promise" in report().promise


def test_arithmetic_is_what_products_are_asked_for() -> None:
    x = torch.linspace(-3, 3, 24).reshape(4, 6)
    got = compiled(lambda a: a @ a.t(), options={"arithmetic": "fastest"})(x)
    assert torch.equal(got, baracuda.mm(x, x.t(), preference=baracuda.PlanPreference(fastest=True)))


def test_under_the_mode_everything_is_compiled_by_it() -> None:
    x = torch.linspace(-9, 9, 700).view(7, 100)
    with bt.reproducible():
        got = torch.compile(lambda x: x.softmax(-1), backend="inductor")(x)
    assert torch.equal(got, baracuda.softmax(x))
    with bt.reproducible(), pytest.raises(baracuda.UnsupportedError, match="linalg_qr"):
        torch.compile(torch.linalg.qr, backend="inductor")(x)


@pytest.mark.parametrize(
    ("options", "match"), [({"slow": 1}, "'slow'"), ({"arithmetic": "slow"}, "'slow'"), ({"strict": 2}, "2")]
)
def test_options_that_there_are_not(options: Any, match: str) -> None:
    with pytest.raises(Exception, match=match):
        compiled(torch.sin, options=options)(torch.ones(2))


def test_options_have_defaults() -> None:
    assert Options() == Options(arithmetic=None, strict=True)
