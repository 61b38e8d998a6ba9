"""What the losses promise beyond one reference: probabilities, bad targets, shards, axes, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import baracuda
from baracuda.formula import functions as f
from tests.cases.trial import to_device, to_host
from tests.machine import waited


def drawn(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def on(device: str, *arrays: np.ndarray | None) -> list[Any]:
    return [to_device(a, device) for a in arrays]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [None, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_of_probabilities(device: str, reduction: str, smoothing: float | None, weighted: bool) -> None:
    x, scores, w = drawn(1, 4, 7, 9), drawn(2, 4, 7, 9), np.abs(drawn(3, 7)) if weighted else None
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    words = {"reduction": reduction, **({} if smoothing is None else {"label_smoothing": smoothing})}
    a, b = torch.from_numpy(x).requires_grad_(), torch.from_numpy(p).requires_grad_()
    want = F.cross_entropy(a, b, None if w is None else torch.from_numpy(w), **words)
    operands = on(device, x, p, w)
    y, *saved = baracuda.cross_entropy(*operands, **words, saved=True)
    np.testing.assert_allclose(to_host(y), want.detach().numpy(), rtol=1e-12)
    dy = drawn(4, *want.shape)
    want.backward(torch.as_tensor(dy))
    gradients = baracuda.cross_entropy_backward(to_device(dy, device), *operands, *saved, **words)
    np.testing.assert_allclose(to_host(gradients[0]), a.grad.numpy(), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(to_host(gradients[1]), b.grad.numpy(), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_targets_of_every_integer_element(device: str, dtype: str) -> None:
    x, t = drawn(1, 6, 9).astype(np.float32), np.array([0, 8, 3, 5, 5, 1])
    targets = to_device(t.astype(dtype), device) if device == "cpu" or dtype not in ("uint16", "uint32", "uint64") else None
    if targets is None:
        pytest.skip("torch has no such tensors on a GPU")
    want = F.cross_entropy(torch.from_numpy(x).double(), torch.from_numpy(t), ignore_index=5).numpy()
    np.testing.assert_allclose(to_host(baracuda.cross_entropy(to_device(x, device), targets, ignore_index=5)), want, rtol=1e-6)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss", "z_loss_cross_entropy", "multi_margin_loss"])
@pytest.mark.parametrize("bad", [-1, 9, -(2**40), 2**32 + 3])
def test_an_index_that_is_no_class_gives_nan(device: str, name: str, bad: int) -> None:
    x, t = on(device, drawn(1, 3, 9), np.array([2, bad, 8]))
    unchecked = getattr(baracuda, name)(x, t, reduction="none", bounds="clamp")
    assert np.isnan(to_host(unchecked)).tolist() == [False, True, False]
    assert np.isnan(to_host(getattr(baracuda, name)(x, t, bounds="clamp")))


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss", "z_loss_cross_entropy", "multi_margin_loss"])
@pytest.mark.parametrize("bad", [-1, 9, -(2**40), 2**32 + 3])
def test_an_index_that_is_no_class_is_refused(device: str, name: str, bad: int) -> None:
    x, t = on(device, drawn(1, 3, 9), np.array([2, bad, 8]))
    with pytest.raises(baracuda.InvalidProblemError, match=rf"target: index ({bad} )?at \(1,\) is out of range; expected 0 to 8"):
        waited(getattr(baracuda, name), x, t)


def test_ignored_targets_of_any_integer_and_probabilities_are_no_bad_classes(device: str) -> None:
    x = drawn(1, 3, 9)
    for dtype, ignored in ((np.int64, -100), (np.int32, 9), (np.int8, -1), (np.uint8, 255), (np.uint8, -100)):
        t = np.array([2, ignored if ignored >= np.iinfo(dtype).min else 3, 8]).astype(dtype)
        want = F.cross_entropy(torch.from_numpy(x), torch.from_numpy(t.astype(np.int64)), ignore_index=ignored).numpy()
        got = to_host(baracuda.cross_entropy(*on(device, x, t), ignore_index=ignored))
        np.testing.assert_allclose(got, want, rtol=1e-5)
    assert to_host(baracuda.cross_entropy(*on(device, x, np.full_like(x, 100.0)))) > 0.0
    (bad,) = on(device, np.array([[3, 0, 4, -1]]))
    with pytest.raises(baracuda.InvalidProblemError, match=r"target: (4|index) at \(0, 2\).*; expected -1 to 3"):
        waited(baracuda.multilabel_margin_loss, *on(device, drawn(1, 1, 4)), bad)


def test_ignored_rows_count_nothing_whatever_they_hold(device: str) -> None:
    x = drawn(1, 4, 9)
    x[1] = np.nan
    t = np.array([2, -100, 8, 0])
    a, b = on(device, x, t)
    y, *saved = baracuda.cross_entropy(a, b, saved=True)
    counted = [0, 2, 3]
    leaf = torch.from_numpy(x[counted]).requires_grad_()
    want = F.cross_entropy(leaf, torch.from_numpy(t[counted]))
    want.backward()
    np.testing.assert_allclose(to_host(y), want.item(), rtol=1e-13)
    one = to_device(np.array(1.0), device)
    gradient = to_host(baracuda.cross_entropy_backward(one, a, b, None, *saved))
    np.testing.assert_allclose(gradient[counted], leaf.grad.numpy(), rtol=1e-12, atol=1e-16)
    assert not gradient[1].any()


def test_nothing_but_ignored_rows_has_no_mean(device: str) -> None:
    x, t = on(device, drawn(1, 2, 9), np.array([-100, -100]))
    assert np.isnan(to_host(baracuda.cross_entropy(x, t)))
    assert to_host(baracuda.cross_entropy(x, t, reduction="sum")) == 0.0


def test_classes_along_the_last_axis(device: str) -> None:
    x, t = drawn(1, 2, 5, 33), np.random.default_rng(2).integers(0, 33, (2, 5))
    want = F.cross_entropy(torch.from_numpy(x).reshape(10, 33), torch.from_numpy(t).reshape(10), reduction="none").reshape(2, 5)
    got = baracuda.cross_entropy(*on(device, x, t), axis=-1, reduction="none")
    np.testing.assert_allclose(to_host(got), want.numpy(), rtol=1e-13)


def test_large_scores_lose_nothing(device: str) -> None:
    x = np.array([[30000.0, 29999.0, -30000.0]], np.float32)
    got = to_host(baracuda.cross_entropy(*on(device, x, np.array([0]))))
    np.testing.assert_allclose(got, np.log1p(np.exp(-1.0)), rtol=3e-7)


def test_a_row_has_the_same_bits_in_every_batch(device: str) -> None:
    x, t = drawn(1, 37, 1030).astype(np.float32), np.random.default_rng(2).integers(0, 1030, 37)
    whole = to_host(baracuda.cross_entropy(*on(device, x, t), reduction="none"))
    for rows in (slice(0, 1), slice(5, 8), slice(36, 37)):
        part = to_host(baracuda.cross_entropy(*on(device, x[rows], t[rows]), reduction="none"))
        np.testing.assert_array_equal(part.view(np.int32), whole[rows].view(np.int32))


def test_shards_of_the_classes_make_the_whole(device: str) -> None:
    x, t, shard = drawn(1, 6, 40), np.array([0, 39, 10, 9, 25, 13]), 10
    leaf = torch.from_numpy(x).requires_grad_()
    want = F.cross_entropy(leaf, torch.from_numpy(t), reduction="none")
    dy = drawn(2, 6)
    want.backward(torch.from_numpy(dy))
    cuts = [(o, np.ascontiguousarray(x[:, o : o + shard])) for o in range(0, 40, shard)]
    pieces = [[to_host(p) for p in baracuda.vocab_parallel_cross_entropy(*on(device, c, t), offset=o)] for o, c in cuts]
    lse = np.logaddexp.reduce([p[0] for p in pieces])
    np.testing.assert_allclose(lse - sum(p[1] for p in pieces), want.detach().numpy(), rtol=1e-13)
    for o, c in cuts:
        got = baracuda.vocab_parallel_cross_entropy_backward(*on(device, dy, -dy, c, t, lse), offset=o)
        np.testing.assert_allclose(to_host(got), leaf.grad.numpy()[:, o : o + shard], rtol=1e-11, atol=1e-15)


def test_a_distance_may_be_a_formula(device: str) -> None:
    arrays = [drawn(i, 5, 9) for i in range(3)]
    tensors = [torch.from_numpy(g) for g in arrays]
    want = F.triplet_margin_with_distance_loss(*tensors, distance_function=lambda a, b: ((a - b) ** 2).mean(-1))
    got = baracuda.triplet_margin_with_distance_loss(*on(device, *arrays), distance_function=_mean_square)
    np.testing.assert_allclose(to_host(got), want.numpy(), rtol=1e-13)


def _mean_square(a: Any, b: Any) -> Any:
    return f.mean((a - b) * (a - b))


def test_log_cosh_keeps_small_differences() -> None:
    d = np.array([1e-3, 1e-5, 1e-12], np.float32)
    got = baracuda.log_cosh_loss(d, np.zeros_like(d), reduction="none")
    np.testing.assert_allclose(got, d.astype(np.float64) ** 2 / 2, rtol=3e-6)


def test_equal_rows_have_finite_gradients() -> None:
    x = np.ones((3, 5))
    for name, tensors in (
        ("pairwise_distance", (x, x)),
        ("triplet_margin_loss", (x, x, x)),
        ("cosine_similarity", (x * 0, x * 0)),
    ):
        y = getattr(baracuda, name)(*tensors, eps=0.0 if name != "cosine_similarity" else 1e-8)
        gradients = getattr(baracuda, f"{name}_backward")(
            np.ones_like(y), *tensors, eps=0.0 if name != "cosine_similarity" else 1e-8
        )
        assert all(np.isfinite(g).all() for g in gradients), name


@pytest.mark.parametrize(
    ("name", "tensors", "words", "said"),
    [
        ("mse_loss", [(3,), (3,)], {"reduction": "average"}, "reduction: 'average'; expected one of 'none', 'mean', 'sum'"),
        ("mse_loss", [(3,), (3,)], {"reduction": "batchmean"}, "batchmean"),
        ("kl_div", [(), ()], {"reduction": "batchmean"}, "axis 0"),
        ("cross_entropy", [(3, 5), (4,)], {}, "target: shape (4,)"),
        ("cross_entropy", [(3, 5), (3,)], {}, "expected probabilities"),
        ("cross_entropy", [(3, 5), (3, 5)], {"axis": (0, 1)}, "expected one axis"),
        ("info_nce_loss", [(3, 4)], {}, "expected a square matrix"),
        ("info_nce_loss", [(3, 3)], {"reduction": "none"}, "symmetric=False"),
        ("info_nce_loss", [(3, 3)], {"method": "cosine"}, "expected 'softmax' or 'sigmoid'"),
        ("iou_loss", [(3, 5), (3, 5)], {}, "boxes of 4"),
        ("iou_loss", [(3, 4), (3, 4)], {"kind": "area"}, "expected one of 'iou', 'giou'"),
        ("dpo_loss", [(3,)] * 4, {"loss_type": "kto"}, "expected one of 'sigmoid'"),
        ("pairwise_distance", [(3, 4), (3, 4)], {"p": float("nan")}, "p: nan; expected a number other than nan"),
        ("triplet_margin_with_distance_loss", [(3, 4)] * 3, {"distance_function": "taxi"}, "'cosine' or a function"),
    ],
)  # fmt: skip
def test_errors_say_what_was_wrong(name: str, tensors: list[tuple[int, ...]], words: dict[str, Any], said: str) -> None:
    with pytest.raises(baracuda.Error) as caught:
        getattr(baracuda, name)(*(np.zeros(s) for s in tensors), **words)
    assert said in str(caught.value)
