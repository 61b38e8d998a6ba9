"""PyTorch programs under `baracuda.torch.reproducible`: values and training against PyTorch's own, and what the mode promises."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import baracuda
import baracuda.torch as bt
from baracuda.torch.registry import SERVED
from baracuda.torch.resolution import composed, of_each, served


class Encoder(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=dropout, activation="gelu", batch_first=True)
        self.head = nn.Linear(32, 5)

    def forward(self, x: Any) -> Any:
        return self.head(self.layer(x).mean(1))


class Recurrent(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.rows = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 24, 2, batch_first=True, dropout=dropout, bidirectional=True)
        self.head = nn.Linear(48, 5)

    def forward(self, x: Any) -> Any:
        return self.head(self.lstm(self.rows(x))[0][:, -1])


def perceptron(dropout: float) -> tuple[nn.Module, Any]:
    layers = nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Dropout(dropout), nn.Linear(32, 5)
    return nn.Sequential(*layers), torch.randn(16, 20)


def convolutional(dropout: float) -> tuple[nn.Module, Any]:
    layers = (
        *(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 16, 3, stride=2, groups=2, bias=False), nn.BatchNorm2d(16), nn.SiLU(), nn.AvgPool2d(2)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout), nn.Linear(16, 5)),
    )
    return nn.Sequential(*layers), torch.randn(4, 3, 16, 16)


MODELS: dict[str, Callable[[float], tuple[nn.Module, Any]]] = {
    "perceptron": perceptron,
    "convolutional": convolutional,
    "encoder": lambda dropout: (Encoder(dropout), torch.randn(4, 10, 32)),
    "recurrent": lambda dropout: (Recurrent(dropout), torch.randint(0, 50, (4, 7))),
}
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3, eps=1e-3),
    "adamw_foreach": lambda p: torch.optim.AdamW(p, lr=1e-3, eps=1e-3, foreach=True),
    "adamw_fused": lambda p: torch.optim.AdamW(p, lr=1e-3, eps=1e-3, fused=True),
}


def train(model: nn.Module, x: Any, optimizer: str, mode: Any) -> list[Any]:
    """Losses of ten steps, the logits after them, and all parameters and buffers."""
    target, update, losses = torch.arange(len(x)) % 5, OPTIMIZERS[optimizer](model.parameters()), []
    with mode:
        for _ in range(10):
            update.zero_grad()
            loss = F.cross_entropy(model(x), target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            update.step()
            losses.append(loss.detach())
        model.eval()
        with torch.no_grad():
            logits = model(x)
    return [torch.stack(losses), logits, *model.state_dict().values()]


@pytest.mark.parametrize(
    ("name", "optimizer"), [*((name, "sgd") for name in MODELS), *(("encoder", o) for o in OPTIMIZERS if o != "sgd")]
)
def test_training_equals_pytorch(name: str, optimizer: str) -> None:
    torch.manual_seed(0)
    model, x = MODELS[name](0.0)
    twin = copy.deepcopy(model)
    for want, got in zip(train(model, x, optimizer, nullcontext()), train(twin, x, optimizer, bt.reproducible()), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", MODELS)
def test_training_with_dropout_has_its_bits_of_the_seed(name: str) -> None:
    torch.manual_seed(0)
    model, x = MODELS[name](0.2)
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(train(copy.deepcopy(model), x, "sgd", bt.reproducible()))
    assert all(torch.equal(a, b) for a, b in zip(runs[0], runs[1], strict=True))
    assert not torch.equal(runs[0][0], runs[2][0])


def test_dropout_keeps_its_share_and_its_scale() -> None:
    torch.manual_seed(3)
    x = torch.ones(40_000, requires_grad=True)
    with bt.reproducible():
        y = F.dropout(x, 0.25)
        y.sum().backward()
    assert abs((y != 0).double().mean().item() - 0.75) < 0.01
    assert torch.equal(y.detach(), x.grad)
    assert set(y.tolist()) == {0.0, (torch.ones(()) / 0.75).item()}


rows = torch.linspace(-1, 1, 24).reshape(1, 2, 3, 4)
x32, i64, mask = torch.linspace(-3, 3, 24).reshape(4, 6), torch.arange(24).reshape(4, 6), torch.arange(24).reshape(4, 6) % 3 == 0
CALLS: dict[str, Callable[[], Any]] = {
    "promotion": lambda: x32 + torch.tensor(2.0, dtype=torch.float64),
    "promotion of integers": lambda: (i64 + 1.5, i64 / 2, i64 // 5, torch.sqrt(i64), i64.sum(), mask.sum(), mask * 2.5),
    "in place": lambda: x32.clone().add_(2).mul_(x32).clamp_(min=0.1).sqrt_().sub_(i64),
    "in place, another element": lambda: i64.clone().add_(mask),
    "out": lambda: torch.add(x32, 1, out=torch.empty(0)),
    "out of two": lambda: torch.max(x32, 1, out=(torch.empty(0), torch.empty(0, dtype=torch.int64))),
    "a view that is written": lambda: x32.clone().t()[1:3].copy_(torch.ones(4)),
    "index": lambda: (x32[mask], x32[:, [1, 0, 3]], x32[[0, 1], [2, 3]], x32[[0, 1], :4][:, None]),
    "index put": lambda: x32.clone().index_put_((torch.tensor([0, 0, 3]),), torch.ones(3, 6), accumulate=True),
    "mask": lambda: (x32.masked_fill(mask, -1.0), torch.where(mask, x32, 0.0), mask.any(1), mask.all()),
    "joins": lambda: (torch.cat([x32, i64, torch.empty(0)]), torch.stack([x32, x32], 1), x32.repeat(2, 1), x32.flip(0)),
    "reductions": lambda: (x32.mean(0), x32.var(1), x32.std(), x32.amax((0, 1)), x32.argmax(1, keepdim=True), x32.norm()),
    "order": lambda: (x32.sort(1, descending=True), x32.topk(3), x32.cumsum(0), i64.cumsum(1)),
    "elements": lambda: (x32.double(), x32.long(), x32.bool(), mask.float(), x32.bfloat16()),
    "creation": lambda: (torch.zeros(2, 3), torch.full((2,), 7), torch.arange(2, 9, 3), torch.ones_like(i64), torch.eye(3)),
    "lists": lambda: torch._foreach_addcmul([x32, x32], [x32, x32], [x32, x32], 0.5),
    "attention": lambda: F.scaled_dot_product_attention(rows, rows, rows, is_causal=True).transpose(1, 2).reshape(1, 3, 8),
    "Fourier": lambda: (torch.fft.rfft2(x32), torch.fft.irfft(torch.fft.rfft(x32), 6), torch.fft.ifft(x32, norm="ortho")),
    "group norm": lambda: F.group_norm(x32.reshape(2, 4, 3), 2),
    "by decomposition": lambda: F.pad(x32.reshape(1, 1, 4, 6), (1, 2, 1, 1), mode="reflect"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_equal_pytorchs(name: str) -> None:
    want = CALLS[name]()
    with bt.reproducible():
        got = CALLS[name]()
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_what_autograd_records_is_written_in_place() -> None:
    def gradient() -> Any:
        x = x32.clone().requires_grad_()
        y = (x * 2).add_(x).mul_(x)
        y[1:3] = x[:2]
        y.sum().backward()
        return x.grad

    want = gradient()
    with bt.reproducible():
        torch.testing.assert_close(gradient(), want)


@pytest.mark.parametrize(
    "options",
    [
        *({"mode": mode} for mode in ("sum", "mean", "max")),
        *({"mode": mode, "padding_idx": 3, "include_last_offset": True} for mode in ("sum", "mean", "max")),
        {"mode": "sum", "per_sample_weights": torch.linspace(0.5, 2, 9), "padding_idx": 5},
    ],
)
def test_bags_of_rows(options: dict[str, Any]) -> None:
    """Among them an empty one, and one of padding alone."""
    index, offsets = torch.tensor([1, 3, 3, 9, 0, 2, 5, 5, 1]), torch.tensor([0, 1, 3, 3, 9])

    def gradients() -> list[Any]:
        weight = torch.linspace(-1, 1, 60).reshape(10, 6).clone().requires_grad_()
        own = {n: v.clone().requires_grad_() if isinstance(v, torch.Tensor) else v for n, v in options.items()}
        ends = offsets if options.get("include_last_offset") else offsets[:-1]
        y = F.embedding_bag(index, weight, ends, **own)
        (y * torch.arange(y.numel()).reshape(y.shape)).sum().backward()
        return [y.detach(), weight.grad, *(v.grad for v in own.values() if isinstance(v, torch.Tensor))]

    want = gradients()
    with bt.reproducible():
        torch.testing.assert_close(gradients(), want)


@pytest.mark.parametrize("name", MODELS)
def test_inference_has_the_bits_of_training(name: str) -> None:
    torch.manual_seed(0)
    model, x = MODELS[name](0.0)
    model.eval()
    with bt.reproducible():
        want = model(x).detach()
        with torch.inference_mode():
            assert torch.equal(model(x), want)


def test_an_op_that_is_not_served_raises_by_name() -> None:
    with bt.reproducible(), pytest.raises(baracuda.UnsupportedError, match=r"aten\.linalg_qr\.default"):
        torch.linalg.qr(x32)


def test_what_pytorch_computed_is_reported() -> None:
    with bt.reproducible(strict=False) as mode:
        q, r = torch.linalg.qr(x32)
        torch.testing.assert_close(q @ r, x32)
    report = mode.report()
    assert [(r.overload, r.calls) for r in report.by_pytorch if "qr" in r.overload] == [("aten.linalg_qr.default", 1)]
    assert "no promise" in report.promise
    assert "aten.mm.default" in report.served


def test_what_was_computed_here_alone_is_promised() -> None:
    with bt.reproducible() as mode:
        x32 @ x32.t()
    assert mode.report().by_pytorch == ()
    assert mode.report().promise == "the same bits on every device"


@pytest.mark.parametrize("arithmetic", ["reproducible", "fastest"])
def test_arithmetic_is_what_products_are_asked_for(arithmetic: Any) -> None:
    preference = baracuda.PlanPreference(fastest=True) if arithmetic == "fastest" else None
    with bt.reproducible(arithmetic=arithmetic):
        got = x32 @ x32.t()
    assert torch.equal(got, baracuda.mm(x32, x32.t(), preference=preference))


def test_an_arithmetic_that_there_is_not() -> None:
    with pytest.raises(baracuda.InvalidProblemError, match="'slow'"):
        bt.reproducible(arithmetic="slow")  # type: ignore[arg-type]


def test_the_mode_ends_with_its_statement() -> None:
    fast = torch.backends.mha.get_fastpath_enabled()
    with bt.reproducible():
        assert not torch.backends.mha.get_fastpath_enabled()
    assert torch.backends.mha.get_fastpath_enabled() == fast
    assert torch.linalg.qr(x32)[0].shape == (4, 4)


def a_list(seed: int, kind: Any) -> list[Any]:
    g = torch.Generator().manual_seed(seed)
    return [(torch.rand(s, generator=g) + 0.5).to(kind) for s in ((3, 5), (), (7,), (0, 2), (2, 3, 4))]


of_lists = torch.ops.aten
numbers, one_number = [0.5, 2.0, 3.0, 0.25, 1.5], [0.3] * 5
OF_LISTS: dict[str, Callable[[Any, Any, Any], tuple[Any, ...]]] = {
    **{f"{n}.default": lambda x, y, z: (x,) for n in ("sqrt_", "exp", "round_", "zero_", "sigmoid")},
    **{f"{n}.Scalar": lambda x, y, z: (x, -0.3) for n in ("add_", "mul_", "div", "sub_", "maximum_", "clamp_min_")},
    **{f"{n}.List": lambda x, y, z: (x, y) for n in ("add_", "mul", "div_", "sub_", "minimum_", "clamp_max_", "pow_")},
    **{f"{n}.ScalarList": lambda x, y, z: (x, numbers) for n in ("add_", "mul_", "pow")},
    **{f"{n}.ScalarList": lambda x, y, z: (x, one_number) for n in ("sub_", "div_")},
    **{f"{n}.Tensor": lambda x, y, z: (x, torch.tensor(0.3, dtype=torch.float64)) for n in ("mul_", "div_", "add_")},
    "lerp_.Scalar": lambda x, y, z: (x, y, 0.3),
    "lerp_.List": lambda x, y, z: (x, y, z),
    "addcmul_.Scalar": lambda x, y, z: (x, y, z, -0.3),
    "addcmul.ScalarList": lambda x, y, z: (x, y, z, one_number),
    "addcdiv_.ScalarList": lambda x, y, z: (x, y, z, numbers),
    "addcdiv_.Tensor": lambda x, y, z: (x, y, z, torch.tensor(one_number)),
    "copy_.default": lambda x, y, z: (x, y),
    "norm.Scalar": lambda x, y, z: (x,),
}


@pytest.mark.parametrize("kinds", [(torch.float32, torch.float32), (torch.bfloat16,) * 2, (torch.float32, torch.bfloat16)])
@pytest.mark.parametrize("name", OF_LISTS)
def test_functions_of_lists_have_the_bits_of_those_of_tensors(name: str, kinds: tuple[Any, Any]) -> None:
    packet, _, which = name.partition(".")
    overload = getattr(getattr(of_lists, f"_foreach_{packet}"), which)
    given = [(a_list(0, kinds[0]), a_list(1, kinds[1]), a_list(2, kinds[0])) for _ in range(3)]
    theirs, together, alone = (OF_LISTS[name](*lists) for lists in given)
    try:
        want = overload(*theirs) or theirs[0]
    except RuntimeError:
        pytest.skip("PyTorch does not take these elements")
    with bt.reproducible() as mode:
        got = overload(*together) or together[0]
        single = mode._under_mode(of_each(overload), *alone) or alone[0]
    torch.testing.assert_close(got, want, rtol=2e-2 if torch.bfloat16 in kinds else 1e-5, atol=1e-6)
    assert all(torch.equal(a, b) for a, b in zip(got, single, strict=True))


def test_a_tensor_that_is_in_a_list_twice() -> None:
    x = torch.ones(3)
    with bt.reproducible():
        torch._foreach_add_([x, x], 1.0)
    assert x.tolist() == [3.0, 3.0, 3.0]


#: Of the core list, what neither a function nor a decomposition computes yet.
MISSING: set[str] = set()


def test_the_core_list_is_served() -> None:
    packets = [getattr(torch.ops.aten, n) for n in dir(torch.ops.aten)]
    overloads = [getattr(p, o) for p in packets if hasattr(p, "overloads") for o in p.overloads()]
    core = [o for o in overloads if torch.Tag.core in o.tags]
    assert len(core) > 150
    assert set(SERVED)
    assert {str(o) for o in core if served(o) is None and composed(o) is None} == MISSING


def test_a_question_to_a_library_is_passed_on() -> None:
    library = torch.library.Library("questions_of_a_test", "DEF")
    library.define("version() -> int")
    library.impl("version", lambda: 7, "CompositeExplicitAutograd")
    with bt.reproducible():
        assert torch.ops.questions_of_a_test.version() == 7
