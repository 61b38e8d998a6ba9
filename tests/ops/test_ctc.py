"""ctc_loss and rnnt_loss, forward and backward, against PyTorch and against the lattice written out, in f64; then as bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.elements import ElementKind as K
from baracuda.core.errors import InvalidProblemError
from baracuda.core.workspace import Workspace
from baracuda.ops.losses.ctc import CtcLossArgs, CtcLossDescriptor, CtcLossPlan

DTYPES = {torch.float64: 1e-12, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def bits(x: torch.Tensor) -> bytes:
    return x.cpu().contiguous().view(torch.uint8).numpy().tobytes() if x.ndim else bits(x[None])


# --- connectionist temporal classification ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Ctc:
    """A problem, its lengths, and how its targets are made."""

    frames: int
    classes: int
    input_lengths: tuple[int, ...]
    target_lengths: tuple[int, ...]
    blank: int = 0
    repeated: bool = False
    seed: int = 0

    def tensors(self, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        batch, most = len(self.input_lengths), max(self.target_lengths, default=0)
        logits = torch.randn((self.frames, batch, self.classes), generator=generator, dtype=torch.float64)
        log_probs = logits.log_softmax(-1).to(dtype)
        labels = [c for c in range(self.classes) if c != self.blank][: 2 if self.repeated else None]
        picked = torch.randint(0, len(labels), (batch, most), generator=generator)
        targets = torch.tensor(labels)[picked] if labels else torch.zeros((batch, most), dtype=torch.int64)
        return log_probs, targets, torch.tensor(self.input_lengths), torch.tensor(self.target_lengths)


CTC = {
    "plain": Ctc(20, 9, (20, 20, 20), (5, 5, 5)),
    "ragged": Ctc(33, 7, (33, 1, 12, 30), (4, 1, 5, 0)),
    "repeated labels": Ctc(25, 5, (25, 24), (9, 8), repeated=True),
    "no labels at all": Ctc(6, 4, (6, 3, 0), (0, 0, 0)),
    "another blank": Ctc(13, 6, (13, 9), (4, 3), blank=3),
    "last class blank": Ctc(13, 6, (13, 9), (4, 3), blank=5),
    "one class beside blank": Ctc(40, 2, (40, 40), (15, 2)),
    "one of each": Ctc(1, 2, (1,), (1,)),
    "a vector and one more": Ctc(40, 30, (40, 39), (8, 7)),
    "many": Ctc(60, 40, (60,) * 7, (25, 24, 23, 22, 21, 20, 2)),
}


def torch_ctc(x: torch.Tensor, problem: Ctc, rest: tuple[torch.Tensor, ...], **words: Any) -> torch.Tensor:
    targets, input_lengths, target_lengths = (t.cpu() for t in rest)
    return torch.nn.functional.ctc_loss(x, targets, input_lengths, target_lengths, blank=problem.blank, **words)


@pytest.mark.parametrize("name", CTC)
def test_ctc_values_and_gradients(name: str, device: str) -> None:
    problem = CTC[name]
    log_probs, *rest = problem.tensors()
    operands = [t.to(device) for t in (log_probs, *rest)]
    for reduction, concatenated in product(("none", "mean", "sum"), (False, True)):
        x = log_probs.clone().requires_grad_()
        y = torch_ctc(x, problem, tuple(rest), reduction=reduction)
        dy = torch.randn(y.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        y.backward(dy)
        if concatenated:
            labels = [row[:n] for row, n in zip(rest[0], problem.target_lengths, strict=True)]
            operands[1] = torch.cat(labels).to(device)
        words: dict[str, Any] = {"blank": problem.blank, "reduction": reduction}
        loss, nll, alpha = baracuda.ctc_loss(*operands, saved=True, **words)
        torch.testing.assert_close(loss.cpu(), y.detach(), rtol=1e-12, atol=1e-12)
        assert bits(baracuda.ctc_loss(*operands, **words)) == bits(loss)
        dx = baracuda.ctc_loss_backward(dy.to(device), *operands, nll, alpha, **words)
        finite = torch.isfinite(nll).cpu()
        torch.testing.assert_close(dx.cpu()[:, finite], x.grad[:, finite], rtol=1e-10, atol=1e-12)
        again = baracuda.ctc_loss_backward(dy.to(device), *operands, **words)
        assert bits(again) == bits(dx)


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_too_few_frames(zero_infinity: bool, device: str) -> None:
    """Five labels in four frames, and three equal ones, which need five, in four; a third one that fits."""
    x = torch.randn((4, 3, 6), dtype=torch.float64, generator=torch.Generator().manual_seed(2)).log_softmax(-1).requires_grad_()
    targets = torch.tensor([[1, 2, 3, 4, 5], [2, 2, 2, 0, 0], [1, 2, 0, 0, 0]])
    lengths = torch.tensor([4, 4, 4]), torch.tensor([5, 3, 2])
    words: dict[str, Any] = {"reduction": "none", "zero_infinity": zero_infinity}
    y = torch.nn.functional.ctc_loss(x, targets, *lengths, **words)
    y.sum().backward()
    operands = [t.detach().to(device) for t in (x, targets, *lengths)]
    loss = baracuda.ctc_loss(*operands, **words)
    torch.testing.assert_close(loss.cpu(), y.detach(), rtol=1e-12, atol=0.0)
    assert torch.isinf(loss[:2]).all() != zero_infinity
    dx = baracuda.ctc_loss_backward(torch.ones_like(operands[0][0, :, 0]), *operands, **words)
    torch.testing.assert_close(dx.cpu(), x.grad, rtol=1e-10, atol=1e-12, equal_nan=True)
    for reduction in ("mean", "sum"):
        wanted = torch.nn.functional.ctc_loss(x, targets, *lengths, reduction=reduction, zero_infinity=zero_infinity)
        result = baracuda.ctc_loss(*operands, reduction=reduction, zero_infinity=zero_infinity)
        torch.testing.assert_close(result.cpu(), wanted.detach(), rtol=1e-12, atol=0.0)


def test_classes_without_probability(device: str) -> None:
    """-inf among the log-probabilities: the loss is finite as long as some alignment is possible, and so is the gradient."""
    x = torch.randn((9, 2, 4), dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    x[3, 0, 0] = x[5, 1, 2] = -torch.inf
    x = x.log_softmax(-1)
    operands = [t.to(device) for t in (x, torch.tensor([[1, 2], [3, 2]]), torch.tensor([9, 9]), torch.tensor([2, 2]))]
    loss = baracuda.ctc_loss(*operands, reduction="none")
    wanted = torch.nn.functional.ctc_loss(x, *(t.cpu() for t in operands[1:]), reduction="none")
    torch.testing.assert_close(loss.cpu(), wanted, rtol=1e-12, atol=0.0)
    dx = baracuda.ctc_loss_backward(torch.ones_like(loss), *operands, reduction="none").cpu()
    assert torch.isfinite(dx).all()
    assert dx[3, 0, 0] == dx[5, 1, 2] == 0
    torch.testing.assert_close(dx.sum(-1), torch.zeros((9, 2), dtype=torch.float64), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("index", [torch.int32, torch.int64], ids=str)
def test_ctc_elements(dtype: torch.dtype, index: torch.dtype, device: str) -> None:
    problem = replace(CTC["many"], seed=4)
    log_probs, *rest = problem.tensors(dtype)
    x = log_probs.double().requires_grad_()
    y = torch_ctc(x, problem, tuple(rest), reduction="mean")
    y.backward()
    operands = [log_probs.to(device), *(t.to(index).to(device) for t in rest)]
    loss, nll, alpha = baracuda.ctc_loss(*operands, saved=True)
    assert loss.dtype is dtype
    assert nll.dtype is alpha.dtype is (torch.float64 if dtype is torch.float64 else torch.float32)
    torch.testing.assert_close(loss.cpu().double(), y.detach(), rtol=DTYPES[dtype], atol=0.0)
    dx = baracuda.ctc_loss_backward(torch.ones_like(loss), *operands, nll, alpha)
    assert dx.dtype is dtype
    if dtype is torch.float32:  # shares are exponentials of sums near -nll: no more can be had of f32, and PyTorch has no more
        single = log_probs.clone().requires_grad_()
        torch_ctc(single, problem, tuple(rest), reduction="mean").backward()
        assert (dx.cpu().double() - x.grad).abs().max() <= 1.2 * (single.grad.double() - x.grad).abs().max()
    torch.testing.assert_close(dx.cpu().double(), x.grad, rtol=max(DTYPES[dtype], 2e-4), atol=DTYPES[dtype] * 1e-2)


def test_long_labels(device: str) -> None:
    """More lanes than a block has threads, and blanks in chains of a thousand."""
    for most, frames in ((1100, 1300), (2100, 2400)):
        problem = Ctc(frames, 30, (frames,), (most,), seed=5)
        log_probs, *rest = problem.tensors()
        x = log_probs.clone().requires_grad_()
        y = torch_ctc(x, problem, tuple(rest), reduction="none")
        y.sum().backward()
        operands = [t.to(device) for t in (log_probs, *rest)]
        loss = baracuda.ctc_loss(*operands, reduction="none")
        torch.testing.assert_close(loss.cpu(), y.detach(), rtol=1e-12, atol=0.0)
        dx = baracuda.ctc_loss_backward(torch.ones_like(loss), *operands, reduction="none")
        torch.testing.assert_close(dx.cpu(), x.grad, rtol=1e-8, atol=1e-10)


def layouts(x: torch.Tensor) -> Iterator[torch.Tensor]:
    """The same values with other strides."""
    yield x.transpose(0, 1).contiguous().transpose(0, 1)
    yield x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    wide = torch.full((x.shape[0], x.shape[1] + 1, 2 * x.shape[2]), torch.nan, dtype=x.dtype, device=x.device)
    wide[:, 1:, ::2] = x
    yield wide[:, 1:, ::2]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_layouts_and_the_batch_change_no_bit(dtype: torch.dtype, device: str) -> None:
    log_probs, *rest = (t.to(device) for t in CTC["ragged"].tensors(dtype))
    words: dict[str, Any] = {"reduction": "none"}
    loss, nll, alpha = baracuda.ctc_loss(log_probs, *rest, saved=True, **words)
    dx = baracuda.ctc_loss_backward(loss, log_probs, *rest, nll, alpha, **words)
    for other in layouts(log_probs):
        results = baracuda.ctc_loss(other, *rest, saved=True, **words)
        assert [bits(t) for t in results] == [bits(t) for t in (loss, nll, alpha)]
        assert bits(baracuda.ctc_loss_backward(loss, other, *rest, nll, alpha, **words)) == bits(dx)
        assert bits(baracuda.ctc_loss_backward(loss, log_probs, *rest, nll, alpha, out=torch.empty_like(other), **words)) == bits(
            dx
        )
    for i in range(len(loss)):
        alone = [log_probs[:, i : i + 1], *(t[i : i + 1] for t in rest)]
        assert bits(baracuda.ctc_loss(*alone, **words)) == bits(loss[i : i + 1])
        assert bits(baracuda.ctc_loss_backward(loss[i : i + 1], *alone, **words)) == bits(dx[:, i : i + 1])
    before = baracuda.get_num_threads()
    try:
        baracuda.set_num_threads(1)
        assert bits(baracuda.ctc_loss_backward(loss, log_probs, *rest, nll, alpha, **words)) == bits(dx)
    finally:
        baracuda.set_num_threads(before)


def test_without_a_batch(device: str) -> None:
    log_probs, targets, input_lengths, target_lengths = (t.to(device) for t in CTC["plain"].tensors())
    whole = baracuda.ctc_loss(log_probs, targets, input_lengths, target_lengths, reduction="none")
    one = log_probs[:, 1], targets[1], input_lengths[1], target_lengths[1]
    loss = baracuda.ctc_loss(*one, reduction="none")
    assert loss.shape == ()
    assert bits(loss) == bits(whole[1])
    dx = baracuda.ctc_loss_backward(loss, *one, reduction="none")
    assert dx.shape == log_probs[:, 1].shape
    assert bits(dx) == bits(
        baracuda.ctc_loss_backward(whole, log_probs, targets, input_lengths, target_lengths, reduction="none")[:, 1]
    )
    assert baracuda.ctc_loss(*one).shape == ()


@pytest.mark.cpu_only
def test_numbers_and_numpy() -> None:
    log_probs, targets, *_ = (t.numpy() for t in CTC["plain"].tensors())
    loss = baracuda.ctc_loss(log_probs, targets, (20, 20, 20), [5, 5, 5])
    assert isinstance(loss, np.ndarray)
    assert loss.shape == ()
    dx = baracuda.ctc_loss_backward(loss, log_probs, targets, (20, 20, 20), [5, 5, 5])
    assert dx.shape == log_probs.shape


def test_ctc_bad_input(device: str) -> None:
    log_probs, targets, input_lengths, target_lengths = (t.to(device) for t in CTC["plain"].tensors())

    def refused(pattern: str, *tensors: Any, **words: Any) -> None:
        with pytest.raises(InvalidProblemError, match=pattern):
            baracuda.ctc_loss(*tensors, **words)

    far = input_lengths.clone()
    far[1] = 21
    refused(r"input_lengths: 21 at \(1,\); expected 0 to 20", log_probs, targets, far, target_lengths)
    far = target_lengths.clone()
    far[2] = -1
    refused(r"target_lengths: -1 at \(2,\); expected 0 to 5", log_probs, targets, input_lengths, far)
    wrong = targets.clone()
    wrong[1, 3] = 9
    refused(r"targets: 9 at \(1, 3\); expected 0 to 8", log_probs, wrong, input_lengths, target_lengths)
    shorter = target_lengths.clone()
    shorter[1] = 3  # then the wrong one is padding
    assert torch.isfinite(baracuda.ctc_loss(log_probs, wrong, input_lengths, shorter))
    refused(r"targets: 14 of them; expected 15", log_probs, targets.reshape(-1)[:14], input_lengths, target_lengths)
    refused(
        r"max_target_length: 4; expected 5", log_probs, targets.reshape(-1), input_lengths, target_lengths, max_target_length=4
    )
    refused(r"input_lengths: shape is \(2,\); expected \(3,\)", log_probs, targets, input_lengths[:2], target_lengths)
    refused("blank: 9; expected a class from 0 to 8", log_probs, targets, input_lengths, target_lengths, blank=9)
    refused("reduction: 'max'", log_probs, targets, input_lengths, target_lengths, reduction="max")
    refused("bounds: 'no'", log_probs, targets, input_lengths, target_lengths, bounds="no")
    refused("log_probs: shape is", log_probs[None], targets, input_lengths, target_lengths)


def test_out_of_range_is_clamped_where_that_is_asked_for(device: str) -> None:
    log_probs, targets, *_ = (t.to(device) for t in CTC["plain"].tensors())
    wild = torch.tensor([-(1 << 60), 1 << 40, 7], device=device)
    lengths = torch.tensor([1 << 50, -3, 5], device=device)
    wrong = targets.clone()
    wrong[0] = torch.tensor([99, -99, 1 << 33, 2, 1], device=device)
    loss = baracuda.ctc_loss(log_probs, wrong, wild, lengths, reduction="none", bounds="clamp")
    clamped = wrong.clamp(0, 8), wild.clamp(0, 20), lengths.clamp(0, 5)
    assert bits(loss) == bits(baracuda.ctc_loss(log_probs, *clamped, reduction="none"))
    dx = baracuda.ctc_loss_backward(loss, log_probs, wrong, wild, lengths, reduction="none", bounds="clamp")
    assert bits(dx) == bits(baracuda.ctc_loss_backward(loss, log_probs, *clamped, reduction="none"))


@pytest.mark.cpu_only
def test_plan_lifecycle() -> None:
    log_probs, *rest = (t.numpy() for t in CTC["plain"].tensors())
    d = CtcLossDescriptor(20, 3, 9, 5, K.F64)
    plan = CtcLossPlan.select(None, d)
    assert plan.precision_guarantee().bit_stable_across_hardware
    assert "recurrence" in plan.schedule
    assert str(plan.sku()).startswith("loss.ctc_loss:f64")
    loss = np.empty((), np.float64)
    args = CtcLossArgs(log_probs, *rest, loss)
    plan.can_implement(args)
    with pytest.raises(ValueError, match="workspace"):
        plan.run(None, None, args)
    workspace = Workspace(np.empty(plan.workspace_size(), np.uint8))
    launch = plan.bind(None, workspace, args)
    launch()
    assert loss == baracuda.ctc_loss(log_probs, *rest)


# --- transducers ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rnnt:
    frames: int
    labels: int
    classes: int
    logit_lengths: tuple[int, ...]
    target_lengths: tuple[int, ...]
    blank: int = -1

    def tensors(self, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(self.frames)
        batch = len(self.logit_lengths)
        logits = torch.randn((batch, self.frames, self.labels + 1, self.classes), generator=generator, dtype=torch.float64)
        classes = [c for c in range(self.classes) if c != self.blank % self.classes]
        targets = torch.tensor(classes)[torch.randint(0, len(classes), (batch, self.labels), generator=generator)]
        lengths = torch.tensor(self.logit_lengths), torch.tensor(self.target_lengths)
        return logits.to(dtype), targets.int(), lengths[0].int(), lengths[1].int()


RNNT = {
    "plain": Rnnt(7, 3, 5, (7, 7), (3, 3)),
    "ragged": Rnnt(9, 5, 6, (9, 1, 4, 9), (5, 0, 5, 1)),
    "no labels": Rnnt(5, 0, 4, (5, 2), (0, 0)),
    "more labels than frames": Rnnt(3, 21, 4, (3, 2), (21, 20)),
    "another blank": Rnnt(6, 4, 5, (6, 5), (4, 2), blank=0),
    "one of each": Rnnt(1, 1, 2, (1,), (1,)),
    "two vectors": Rnnt(11, 17, 3, (11, 11), (17, 8)),
}


def lattice(x: torch.Tensor, problem: Rnnt, targets: torch.Tensor, log_probs: bool) -> torch.Tensor:
    """The loss of each batch element, cell by cell."""
    losses = []
    blank = problem.blank % problem.classes
    for b, (frames, labels) in enumerate(zip(problem.logit_lengths, problem.target_lengths, strict=True)):
        p = x[b] if log_probs else x[b].log_softmax(-1)
        alpha: dict[tuple[int, int], torch.Tensor] = {}
        for t, u in product(range(frames), range(labels + 1)):
            ways = [alpha[t - 1, u] + p[t - 1, u, blank]] if t else []
            ways += [alpha[t, u - 1] + p[t, u - 1, int(targets[b, u - 1])]] if u else []
            alpha[t, u] = torch.logsumexp(torch.stack(ways), 0) if ways else x.new_zeros(())
        losses.append(-(alpha[frames - 1, labels] + p[frames - 1, labels, blank]))
    return torch.stack(losses)


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", RNNT)
def test_rnnt_values_and_gradients(name: str, fused: bool, device: str) -> None:
    problem = RNNT[name]
    logits, targets, *lengths = problem.tensors()
    logits = logits if fused else logits.log_softmax(-1)
    operands = [t.to(device) for t in (logits, targets, *lengths)]
    for reduction in ("none", "mean", "sum"):
        x = logits.clone().requires_grad_()
        y = lattice(x, problem, targets, not fused)
        y = {"none": y, "mean": y.mean(), "sum": y.sum()}[reduction]
        dy = torch.randn(y.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
        y.backward(dy)
        words: dict[str, Any] = {"blank": problem.blank, "reduction": reduction, "fused_log_softmax": fused}
        loss, *saved = baracuda.rnnt_loss(*operands, saved=True, **words)
        assert len(saved) == 2 + fused
        torch.testing.assert_close(loss.cpu(), y.detach(), rtol=1e-12, atol=1e-12)
        assert bits(baracuda.rnnt_loss(*operands, **words)) == bits(loss)
        dx = baracuda.rnnt_loss_backward(dy.to(device), *operands, *saved, **words)
        torch.testing.assert_close(dx.cpu(), x.grad, rtol=1e-10, atol=1e-12)
        assert bits(baracuda.rnnt_loss_backward(dy.to(device), *operands, **words)) == bits(dx)


def test_rnnt_is_the_sum_over_all_ways(device: str) -> None:
    """Every way through a small lattice, one by one; and the gradient by finite differences."""
    frames, labels, classes = 3, 2, 4
    logits, targets, *lengths = Rnnt(frames, labels, classes, (3,), (2,)).tensors()

    def loss(x: torch.Tensor) -> float:
        p, total = x[0].softmax(-1), 0.0
        for steps in product((0, 1), repeat=frames + labels):
            if sum(steps) != labels or steps[-1]:
                continue
            t = u = 0
            probability = 1.0
            for is_label in steps:
                probability *= float(p[t, u, int(targets[0, u]) if is_label else classes - 1])
                t, u = t + 1 - is_label, u + is_label
            total += probability
        return -float(np.log(total))

    operands = [t.to(device) for t in (logits, targets, *lengths)]
    assert abs(float(baracuda.rnnt_loss(*operands)) - loss(logits)) < 1e-12
    dx = baracuda.rnnt_loss_backward(torch.ones((), dtype=torch.float64, device=device), *operands).cpu()
    for index in product(range(frames), range(labels + 1), range(classes)):
        up, down = logits.clone(), logits.clone()
        up[0][index] += 1e-5
        down[0][index] -= 1e-5
        assert abs((loss(up) - loss(down)) / 2e-5 - float(dx[0][index])) < 1e-8


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rnnt_elements_and_layouts(dtype: torch.dtype, device: str) -> None:
    problem = RNNT["ragged"]
    logits, targets, *lengths = problem.tensors(dtype)
    x = logits.double().requires_grad_()
    y = lattice(x, problem, targets, log_probs=False).mean()
    y.backward()
    rest = [t.to(device) for t in (targets, *lengths)]
    operand = logits.to(device)
    loss = baracuda.rnnt_loss(operand, *rest)
    dx = baracuda.rnnt_loss_backward(torch.ones_like(loss), operand, *rest)
    assert loss.dtype is dx.dtype is dtype
    torch.testing.assert_close(loss.cpu().double(), y.detach(), rtol=DTYPES[dtype], atol=0.0)
    torch.testing.assert_close(dx.cpu().double(), x.grad, rtol=DTYPES[dtype], atol=DTYPES[dtype] * 1e-2)
    for other in (
        operand.transpose(0, 3).contiguous().transpose(0, 3),
        operand.flip(1).flip(1),
        operand.repeat(1, 1, 1, 2)[..., :6],
    ):
        assert bits(baracuda.rnnt_loss(other, *rest)) == bits(loss)
        assert bits(baracuda.rnnt_loss_backward(torch.ones_like(loss), other, *rest)) == bits(dx)


def test_rnnt_ignores_what_is_padded(device: str) -> None:
    """NaN in cells beyond the lengths, and wild targets there."""
    logits, targets, *lengths = (t.to(device) for t in RNNT["ragged"].tensors())
    loss = baracuda.rnnt_loss(logits, targets, *lengths, reduction="none")
    dx = baracuda.rnnt_loss_backward(loss, logits, targets, *lengths, reduction="none")
    padded, wild = logits.clone(), targets.clone()
    for b, (t, u) in enumerate(zip(RNNT["ragged"].logit_lengths, RNNT["ragged"].target_lengths, strict=True)):
        padded[b, t:] = torch.nan
        padded[b, :, u + 1 :] = torch.nan
        wild[b, u:] = 1 << 30
    assert bits(baracuda.rnnt_loss(padded, wild, *lengths, reduction="none")) == bits(loss)
    assert bits(baracuda.rnnt_loss_backward(loss, padded, wild, *lengths, reduction="none")) == bits(dx)
    assert not torch.signbit(dx[dx == 0]).any()


def test_rnnt_clamp(device: str) -> None:
    logits, targets, *lengths = (t.to(device) for t in RNNT["plain"].tensors())
    two = torch.full((), 2.0, dtype=torch.float64, device=device)
    plain = baracuda.rnnt_loss_backward(two / 2, logits, targets, *lengths, reduction="sum")
    clamped = baracuda.rnnt_loss_backward(two, logits, targets, *lengths, reduction="sum", clamp=0.1)
    assert plain.abs().max() > 0.1
    torch.testing.assert_close(clamped, plain.clamp(-0.1, 0.1) * 2, rtol=0.0, atol=0.0)


def test_rnnt_bad_input(device: str) -> None:
    logits, targets, logit_lengths, target_lengths = (t.to(device) for t in RNNT["plain"].tensors())

    def refused(pattern: str, *tensors: Any, **words: Any) -> None:
        with pytest.raises(InvalidProblemError, match=pattern):
            baracuda.rnnt_loss(*tensors, **words)

    refused(r"logit_lengths: 0 at \(0,\); expected 1 to 7", logits, targets, logit_lengths * 0, target_lengths)
    refused(r"target_lengths: 4 at \(0,\); expected 0 to 3", logits, targets, logit_lengths, target_lengths + 1)
    refused(r"targets: -1 at \(0, 0\); expected 0 to 4", logits, targets * 0 - 1, logit_lengths, target_lengths)
    refused(r"targets: shape is \(2, 2\); expected \(2, 3\)", logits, targets[:, :2], logit_lengths, target_lengths)
    refused("blank: 5; expected a class from -5 to 4", logits, targets, logit_lengths, target_lengths, blank=5)
    refused("logits: shape is", logits[0], targets, logit_lengths, target_lengths)
