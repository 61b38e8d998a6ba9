"""What PyTorch makes of a function by device: one choice on all of them, and the ops that it asks for on a GPU alone."""

from __future__ import annotations

import copy
import itertools
import threading
from contextlib import nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import baracuda
import baracuda.torch as bt

aten = torch.ops.aten


def assert_close(got: Any, want: Any) -> None:
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def assert_equal(got: Any, want: Any) -> None:
    for a, b in zip(got, want, strict=True):
        assert torch.equal(a, b)


# ---------------------------------------------------------------------------------------------------------- attention


MASK = torch.arange(35).reshape(5, 7) % 3 != 0
ATTENTION: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "mask": {"attn_mask": MASK},
    "bias": {"attn_mask": torch.linspace(0, 1, 70).reshape(2, 1, 5, 7)},
    "bias with a gradient": {"attn_mask": torch.linspace(0, 1, 35).reshape(1, 1, 5, 7).requires_grad_()},
    "groups": {"enable_gqa": True},
    "scale": {"scale": 0.3},
}


def attend(mode: Any, heads: int = 4, **options: Any) -> list[Any]:
    draw = torch.Generator().manual_seed(1)
    q = torch.randn(2, 4, 5, 8, generator=draw, requires_grad=True)
    k = torch.randn(2, heads, 7, 8, generator=draw, requires_grad=True)
    bias = options.get("attn_mask")
    if bias is not None:
        bias.grad = None
    with mode:
        y = F.scaled_dot_product_attention(q, k, k * 2, **options)
        y.square().sum().backward()
    return [y.detach(), q.grad, k.grad, *([bias.grad] if bias is not None and bias.requires_grad else [])]


@pytest.mark.parametrize("name", ATTENTION)
def test_attention_equals_pytorchs_and_lies_as_it_does(name: str) -> None:
    heads = 2 if name == "groups" else 4
    want, got = attend(nullcontext(), heads, **ATTENTION[name]), attend(bt.reproducible(), heads, **ATTENTION[name])
    assert_close(got, want)
    assert got[0].stride() == want[0].stride()


def test_attention_that_gpus_have_is_that_of_cpus() -> None:
    draw = torch.Generator().manual_seed(2)
    q, dy = (torch.randn(2, 4, 5, 8, generator=draw) for _ in range(2))
    k, v = (torch.randn(2, 4, 7, 8, generator=draw) for _ in range(2))
    with bt.reproducible():
        y, lse = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)
        want = aten._scaled_dot_product_flash_attention_for_cpu_backward(dy, q, k, v, y, lse, 0.0, False)
        y, lse, *drawn = aten._scaled_dot_product_efficient_attention(q, k, v, None, True)
        assert lse.shape == (2, 4, 32)
        mask = [True, True, True, False]
        efficient = aten._scaled_dot_product_efficient_attention_backward(dy, q, k, v, None, y, lse, *drawn, 0.0, mask)
        y, lse, *rest = aten._scaled_dot_product_flash_attention(q, k, v)
        flash = aten._scaled_dot_product_flash_attention_backward(dy, q, k, v, y, lse, *rest[:4], 0.0, False, *rest[4:6])
        y, lse, *rest = aten._scaled_dot_product_cudnn_attention(q, k, v, None, True)
        last = (rest[4], rest[5], None, *rest[:4], 0.0, False)
        cudnn = aten._scaled_dot_product_cudnn_attention_backward(dy, q, k, v, y, lse, *last)
        y, lse, *rest = aten._scaled_dot_product_fused_attention_overrideable(q, k, v)
        first = (dy, q, k, v, None, mask, y, lse)
        other = aten._scaled_dot_product_fused_attention_overrideable_backward(*first, *rest[:4], 0.0, False, *rest[4:6])
    for found in (efficient[:3], flash, cudnn, other[:3]):
        assert_equal(found, want)


def test_attention_that_gpus_have_refuses_dropout() -> None:
    q = torch.ones(1, 1, 2, 8)
    with bt.reproducible(), pytest.raises(baracuda.UnsupportedError, match=r"dropout_p=0\.5"):
        aten._scaled_dot_product_efficient_attention(q, q, q, None, True, 0.5)


# -------------------------------------------------------------------------------------------------- recurrent networks


NETWORKS: dict[str, tuple[Any, dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "lstm with a projection": (nn.LSTM, {"proj_size": 3}),
    "gru": (nn.GRU, {}),
    "tanh": (nn.RNN, {}),
    "relu": (nn.RNN, {"nonlinearity": "relu"}),
}


def recur(model: Any, x: Any, packed: bool, mode: Any) -> list[Any]:
    model, x = copy.deepcopy(model), x.clone().requires_grad_()
    with mode:
        given = pack_padded_sequence(x, [7, 5, 2], batch_first=model.batch_first) if packed else x
        y, last = model(given)
        y = pad_packed_sequence(y, batch_first=model.batch_first)[0] if packed else y
        last = last if isinstance(last, tuple) else (last,)
        (y.square().sum() + sum(s.sum() for s in last)).backward()
    return [y.detach(), *(s.detach() for s in last), x.grad, *(p.grad for p in model.parameters())]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_recurrent_networks_equal_pytorchs(name: str, full: bool) -> None:
    kind, options = NETWORKS[name]
    sample = (False, True, False, True), (True, True, True, True), (True, False, False, False)
    for both, bias, first, packed in itertools.product((False, True), repeat=4) if full else sample:
        torch.manual_seed(0)
        model = kind(6, 5, 2, bias=bias, bidirectional=both, batch_first=first, **options)
        x = torch.randn(*((3, 7) if first else (7, 3)), 6)
        assert_close(recur(model, x, packed, bt.reproducible()), recur(model, x, packed, nullcontext()))


def test_a_packed_sequence_has_the_bits_of_its_rows_alone() -> None:
    torch.manual_seed(0)
    model, x = nn.GRU(6, 5, 2, bidirectional=True, batch_first=True), torch.randn(3, 7, 6)
    with bt.reproducible(), torch.no_grad():
        y = pad_packed_sequence(model(pack_padded_sequence(x, [7, 5, 2], batch_first=True))[0], batch_first=True)[0]
        for row, length in enumerate((7, 5, 2)):
            assert torch.equal(y[row, :length], model(x[row : row + 1, :length])[0][0])


CELLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "lstm": (nn.LSTMCell, {}),
    "gru": (nn.GRUCell, {"bias": False}),
    "tanh": (nn.RNNCell, {}),
    "relu": (nn.RNNCell, {"nonlinearity": "relu"}),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_equal_pytorchs(name: str) -> None:
    torch.manual_seed(0)
    kind, options = CELLS[name]
    model, x, results = kind(6, 5, **options), torch.randn(3, 6), []
    for mode in (nullcontext(), bt.reproducible()):
        model.zero_grad()
        with mode:
            state = model(x, model(x))
            y = sum(state) if isinstance(state, tuple) else state
            y.square().sum().backward()
        results.append([y.detach(), *(p.grad.clone() for p in model.parameters())])
    assert_close(results[1], results[0])


def test_the_fused_steps_that_gpus_have() -> None:
    draw = torch.Generator().manual_seed(3)

    def tensors(gates: int) -> list[Any]:
        shapes = (3, 5 * gates), (3, 5 * gates), (3, 5), (5 * gates,), (5 * gates,)
        return [torch.randn(*s, generator=draw, requires_grad=True) for s in shapes]

    lstm, gru = tensors(4), tensors(3)
    x, h, c, *biases = lstm
    i, f, g, o = (h + biases[1] + x + biases[0]).chunk(4, 1)
    cy = f.sigmoid() * c + i.sigmoid() * g.tanh()
    hy = o.sigmoid() * cy.tanh()
    (hy.sum() + cy.square().sum()).backward()
    with bt.reproducible():
        got_h, got_c, saved = aten._thnn_fused_lstm_cell(*(t.detach() for t in lstm))
        ones = torch.ones_like(got_h)
        gates, dc, dbias = aten._thnn_fused_lstm_cell_backward_impl(ones, 2 * got_c, c.detach(), got_c, saved, True)
    assert_close([got_h, got_c, gates, gates, dc, dbias], [hy.detach(), cy.detach(), x.grad, h.grad, c.grad, biases[0].grad])

    x, h, c, *biases = gru
    a, b = (x + biases[0]).chunk(3, 1), (h + biases[1]).chunk(3, 1)
    z = (a[1] + b[1]).sigmoid()
    new = (a[2] + (a[0] + b[0]).sigmoid() * b[2]).tanh()
    y = (1 - z) * new + z * c
    y.sum().backward()
    with bt.reproducible():
        got, saved = aten._thnn_fused_gru_cell(*(t.detach() for t in gru))
        gradients = aten._thnn_fused_gru_cell_backward(torch.ones_like(got), saved, True)
    assert_close([got, *gradients], [y.detach(), *(t.grad for t in gru)])


# -------------------------------------------------------------------------------------------------- whose choice it is


def test_pytorch_chooses_again_when_the_mode_ends_and_in_other_threads() -> None:
    q = torch.ones(1, 1, 2, 8, requires_grad=True)
    bias = torch.zeros(2, 2)
    want = F.scaled_dot_product_attention(q, q, q, bias, 0.0).grad_fn
    found: list[Any] = []
    cudnn = torch.backends.cudnn.enabled
    with bt.reproducible():
        assert not torch.backends.cudnn.enabled
        with bt.reproducible():
            pass
        thread = threading.Thread(target=lambda: found.append(F.scaled_dot_product_attention(q, q, q, bias)))
        thread.start()
        thread.join()
        assert torch._C._dispatch_has_kernel_for_dispatch_key("aten::scaled_dot_product_attention", "AutogradCPU")
    assert type(found[0].grad_fn) is type(want)
    assert torch.backends.cudnn.enabled == cudnn
    assert not torch._C._dispatch_has_kernel_for_dispatch_key("aten::scaled_dot_product_attention", "AutogradCPU")


def test_batch_norm_that_cudnn_has_is_pytorchs_own() -> None:
    x, weight, bias = torch.linspace(-1, 2, 60).reshape(4, 3, 5), torch.linspace(1, 2, 3), torch.ones(3)
    states = [[torch.zeros(3), torch.ones(3)] for _ in range(2)]
    with bt.reproducible():
        y, mean, rstd = aten.native_batch_norm(x, weight, bias, *states[0], True, 0.1, 1e-5)
        got, *saved = aten.cudnn_batch_norm(x, weight, bias, *states[1], True, 0.1, 1e-5)
        want = aten.native_batch_norm_backward(x, x, weight, *states[0], mean, rstd, True, 1e-5, [True] * 3)
        gradients = aten.cudnn_batch_norm_backward(x, x, weight, *states[1], *saved[:2], 1e-5, saved[2])
    assert_equal([got, *states[1], *gradients], [y, *states[0], *want])


# ------------------------------------------------------------------------------------------------ scaling, whole numbers


STEPS: dict[str, Any] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, fused=True),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True, fused=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    "adam, not fused": lambda p: torch.optim.Adam(p, lr=0.1),
}


@pytest.mark.parametrize("name", STEPS)
def test_scaled_losses_train_as_with_pytorch(name: str) -> None:
    results = []
    for mode in (nullcontext(), bt.reproducible()):
        torch.manual_seed(1)
        model, x = nn.Linear(6, 4), torch.randn(3, 6)
        optimizer, scaler = STEPS[name](model.parameters()), torch.amp.GradScaler("cpu", growth_interval=2)
        with mode:
            for step in range(5):
                optimizer.zero_grad()
                loss = model(x).square().sum() * (float("inf") if step == 2 else 1)
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
        results.append([*(p.detach() for p in model.parameters()), torch.tensor(scaler.get_scale())])
    assert_close(results[1], results[0])


@pytest.mark.parametrize("element", [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
def test_whole_numbers_fill_their_range(element: Any) -> None:
    torch.manual_seed(0)
    highest = {torch.float32: 2**24, torch.bfloat16: 256, torch.bool: 1}.get(element) or torch.iinfo(element).max
    with bt.reproducible():
        x = torch.empty(4000, dtype=element).random_().double()
        few = torch.empty(400, dtype=element).random_(0, 2)
    assert 0 <= x.min() < 0.01 * highest + 1
    assert 0.99 * highest < x.max() <= highest
    assert abs(x.mean().item() / highest - 0.5) < 0.03
    assert set(few.tolist()) == {0, 1}


def test_unique_values_and_normed_weights_equal_pytorchs() -> None:
    x, rows = torch.tensor([3, 1, 3, 3, 2.0]), torch.tensor([[1, 2], [0, 1], [1, 2]])

    layer = nn.utils.parametrizations.weight_norm(nn.Linear(5, 4))

    def compute() -> Any:
        layer.zero_grad()
        y = nn.RMSNorm(4)(layer(x))
        y.square().sum().backward()
        values = torch.unique(x, return_inverse=True, return_counts=True), torch.unique(rows, dim=0, return_counts=True)
        return [y.detach(), *(p.grad for p in layer.parameters()), *values, torch.unique_consecutive(x)]

    want = compute()
    with bt.reproducible():
        assert_close(compute(), want)
