"""Chains of tags against all of their paths, and packed sequences against PyTorch's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.ops.test_recurrent import close, flat, same

STEPS, BATCH, TAGS = 5, 6, 3
LENGTHS = [5, 1, 3, 0, 4, 5]
F64 = torch.float64


def scored(scores: list[torch.Tensor], b: int, length: int) -> dict[tuple[int, ...], torch.Tensor]:
    """The score of every path of a row."""
    x, transitions, start, end = scores
    paths = {}
    for path in itertools.product(range(TAGS), repeat=length):
        total = torch.zeros((), dtype=F64)
        if path:
            total = total + start[path[0]] + end[path[-1]]
        for t, tag in enumerate(path):
            total = total + x[t, b, tag]
        for a, c in itertools.pairwise(path):
            total = total + transitions[a, c]
        paths[path] = total
    return paths


def drawn(seed: int) -> list[torch.Tensor]:
    torch.manual_seed(seed)
    shapes = [(STEPS, BATCH, TAGS), (TAGS, TAGS), (TAGS,), (TAGS,)]
    return [torch.randn(s, dtype=F64) for s in shapes]


@pytest.mark.parametrize("batch_first", [False, True])
def test_all_paths(batch_first: bool, device: str) -> None:
    scores = [s.requires_grad_() for s in drawn(1)]
    paths = [scored(scores, b, n) for b, n in enumerate(LENGTHS)]
    want = torch.stack([torch.logsumexp(torch.stack(list(p.values())), 0) for p in paths])
    own = [s.detach().to(device) for s in scores]
    lengths = torch.tensor(LENGTHS).to(device)
    if batch_first:
        own[0] = own[0].transpose(0, 1).contiguous()
    words: dict[str, Any] = {"lengths": lengths, "batch_first": batch_first}
    log_z, alpha, norm = baracuda.crf_forward(*own, saved=True, **words)
    close(log_z, want)
    dy = torch.randn(BATCH, dtype=F64)
    (want * dy).sum().backward()
    found = baracuda.crf_forward_backward(dy.to(device), *own, alpha=alpha, log_z=norm, **words)
    assert all(map(same, found, baracuda.crf_forward_backward(dy.to(device), *own, **words)))
    for gradient, s in zip(found, scores, strict=True):
        assert s.grad is not None
        expected = s.grad.transpose(0, 1) if batch_first and s.grad.dim() == 3 else s.grad
        close(gradient, expected)
    score, path = baracuda.viterbi_decode(*own, **words)
    best = [max(p, key=lambda k, p=p: float(p[k].detach())) for p in paths]
    close(score, torch.stack([p[k] for p, k in zip(paths, best, strict=True)]))
    got = path if batch_first else path.T
    assert got.tolist() == [[*k, *[-1] * (STEPS - len(k))] for k in best]


def test_without_ends_or_batch(device: str) -> None:
    x, transitions, *_ = (s.to(device) for s in drawn(2))
    whole = baracuda.crf_forward(x, transitions)
    assert same(baracuda.crf_forward(x[:, 2].contiguous(), transitions), whole[2])
    dx, _ = baracuda.crf_forward_backward(torch.ones_like(whole), x, transitions)
    close(dx.sum(-1), torch.ones(STEPS, BATCH, dtype=F64))  # every step has one tag
    score, path = baracuda.viterbi_decode(x[:, 2].contiguous(), transitions)
    every = baracuda.viterbi_decode(x, transitions)
    assert same(score, every[0][2])
    assert same(path, every[1][:, 2].contiguous())


def test_forbidden_and_equal(device: str) -> None:
    x = torch.zeros(4, 1, 3, device=device)
    transitions = torch.zeros(3, 3, device=device)
    assert baracuda.viterbi_decode(x, transitions)[1][:, 0].tolist() == [0] * 4  # the lowest of equal ones
    transitions[:, 1] = -torch.inf
    x[:, 0, 2] = -torch.inf
    log_z = baracuda.crf_forward(x, transitions)
    assert float(log_z[0]) == pytest.approx(np.log(2.0))  # the first tag is 0 or 1, all others 0
    dx, dtransitions = baracuda.crf_forward_backward(torch.ones(1, device=device), x, transitions)
    assert not dx.isnan().any()
    assert dx[0, 0].tolist() == [0.5, 0.5, 0.0]
    assert dtransitions[:, 0].tolist() == [2.5, 0.5, 0.0]
    x[1] = -torch.inf  # no path at all
    assert baracuda.crf_forward(x, transitions).tolist() == [-np.inf]
    assert all(not g.isnan().any() for g in baracuda.crf_forward_backward(torch.ones(1, device=device), x, transitions))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_row_has_its_own_bits(dtype: torch.dtype, device: str) -> None:
    torch.manual_seed(4)
    x, transitions = torch.randn(9, 40, 21).to(dtype).to(device), torch.randn(21, 21).to(dtype).to(device)
    lengths = (torch.arange(40) % 9 + 1).to(device)
    for b in range(40):
        x[int(lengths[b]) :, b] = torch.nan
    log_z, score = baracuda.crf_forward(x, transitions, lengths=lengths), baracuda.viterbi_decode(x, transitions, lengths=lengths)
    dx = baracuda.crf_forward_backward(torch.ones_like(log_z), x, transitions, lengths=lengths, wrt=("x",))[0]
    assert not log_z.isnan().any()
    for b in (0, 17, 39):
        n = int(lengths[b])
        one = x[:n, b : b + 1].contiguous()
        assert same(baracuda.crf_forward(one, transitions), log_z[b : b + 1])
        alone = baracuda.viterbi_decode(one, transitions)
        assert same(alone[0], score[0][b : b + 1])
        assert same(alone[1], score[1][:n, b : b + 1])
        assert same(baracuda.crf_forward_backward(torch.ones_like(log_z[:1]), one, transitions, wrt=("x",))[0], dx[:n, b : b + 1])


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_packed(batch_first: bool, is_sorted: bool, device: str) -> None:
    x = torch.randn(7, 5, 3)
    lengths = torch.tensor([7, 7, 3, 2, 1] if is_sorted else [3, 7, 1, 7, 2])
    given = x.transpose(0, 1) if batch_first else x
    want = pack_padded_sequence(given, lengths, batch_first=batch_first, enforce_sorted=is_sorted)
    data, sizes, order, back = baracuda.pack_padded_sequence(
        given.to(device), lengths.to(device), batch_first=batch_first, enforce_sorted=is_sorted
    )
    assert sizes.tolist() == want.batch_sizes.tolist()
    assert (order is None) == is_sorted
    if not is_sorted:
        assert lengths[order.cpu()].tolist() == sorted(lengths.tolist(), reverse=True)
        assert order.cpu()[back.cpu()].tolist() == list(range(5))
    padded, n = baracuda.pad_packed_sequence(
        data, sizes, order, back, batch_first=batch_first, padding_value=-1.0, total_length=9
    )
    expected, _ = pad_packed_sequence(want, batch_first=batch_first, padding_value=-1.0, total_length=9)
    assert same(padded.cpu(), expected.contiguous())
    assert n.tolist() == lengths.tolist()


def test_errors() -> None:
    x = np.zeros((4, 2, 3), np.float32)
    with pytest.raises(InvalidProblemError, match="lengths: 5; expected numbers from 1 to the 4 steps"):
        baracuda.pack_padded_sequence(x, np.array([5, 1]))
    with pytest.raises(InvalidProblemError, match=r"lengths: \[1, 2\]; expected falling ones"):
        baracuda.pack_padded_sequence(x, np.array([1, 2]))
    with pytest.raises(InvalidProblemError, match="total_length: 1; expected 2 or more"):
        baracuda.pad_packed_sequence(x[:, 0], np.array([2, 2]), total_length=1)
    with pytest.raises(InvalidProblemError, match="transitions: shape"):
        baracuda.crf_forward(x, np.zeros((2, 2), np.float32))
    with pytest.raises(InvalidProblemError, match="expected one step or more"):
        baracuda.viterbi_decode(x[:0], np.zeros((3, 3), np.float32))
    assert flat(baracuda.crf_forward(x, np.zeros((3, 3), np.float32)))
