"""Calls of declared ops: tensors by position and by keyword, on the first call and on those that follow its recipe."""

from __future__ import annotations

import pytest
import torch

import baracuda


def test_tensors_by_keyword() -> None:
    x, weight = torch.randn(4, 8), torch.randn(8)
    expected = baracuda.layer_norm(x, weight)
    for _ in range(3):
        assert torch.equal(baracuda.layer_norm(x, weight=weight), expected)
        assert torch.equal(baracuda.layer_norm(x=x, weight=weight), expected)
        assert (baracuda.layer_norm(x.numpy(), weight=weight.numpy()) == expected.numpy()).all()


def test_more_outputs_than_results_are_refused() -> None:
    x = torch.randn(3)
    y = torch.full_like(x, 7.0)
    with pytest.raises(baracuda.InvalidProblemError, match="out: 2 tensors; expected at most 1: y"):
        baracuda.exp(x, out=(y, torch.empty(3)))
    assert bool((y == 7.0).all())
