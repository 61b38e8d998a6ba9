"""Tokens drawn from logits: filters against float64, draws by chi-square, and that a row knows nothing of its neighbours."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.stats as st

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import to_device, to_host

F32 = np.float32
#: One filter of each function, and several at once.
FILTERS: list[tuple[str, dict[str, float]]] = [
    ("sample_top_k", {"k": 7}),
    ("sample_top_k", {"k": 0}),
    ("sample_top_p", {"p": 0.7}),
    ("sample_top_p", {"p": 1.0}),
    ("sample_min_p", {"min_p": 0.1}),
    ("sample_typical", {"p": 0.6}),
    ("sample_top_nsigma", {"nsigma": 1.5}),
    ("sample_top_k", {"k": 20, "p": 0.8, "temperature": 0.7}),
    ("sample_top_p", {"k": 20, "p": 0.8, "joint": True, "temperature": 1.7}),
    ("sample_top_p", {"k": 50, "p": 0.95, "min_p": 0.02, "nsigma": 2.0, "temperature": 1.3}),
    ("sample_typical", {"p": 0.9, "k": 30, "temperature": 0.5}),
]


def a_key(device: str, seed: int = 7) -> Any:
    return to_device(np.array([seed >> 32, seed & 0xFFFFFFFF], np.uint32), device)


def drawn(name: str, device: str, logits: Any, key: Any = None, **options: Any) -> Any:
    tensors = {n: to_device(v, device) if isinstance(v, np.ndarray) else v for n, v in options.items()}
    first = {"sample_top_k": "k", "sample_top_p": "p", "sample_typical": "p", "sample_min_p": "min_p"}.get(name, "nsigma")
    key = a_key(device) if key is None else key
    found = getattr(baracuda, name)(key, to_device(logits, device), tensors.pop(first), **tensors)
    return tuple(map(to_host, found)) if isinstance(found, tuple) else to_host(found)


def reference(
    name: str, logits: Any, temperature: float = 1.0, k: int = 0, p: float = 1.0, min_p: float = 0.0, nsigma: float | None = None,
    joint: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """What filters leave of one row and the probabilities of that, in float64; it sorts."""
    x = np.asarray(logits, np.float64)
    left = x > -np.inf
    if nsigma is not None:
        left &= x >= x[left].max() - nsigma * np.std(x[left], ddof=min(1, left.sum() - 1))
    x = x / temperature
    e = np.where(np.isnan(x), 0, np.exp(x - x[left].max()))
    left &= e >= min_p
    every = left.copy()
    if 0 < k < left.sum():
        left &= x >= np.sort(x[left])[-k]
    if p < 1:
        of = np.where(every if joint else left, e, 0) / e[every if joint else left].sum()
        score = -x
        if name == "sample_typical":
            with np.errstate(divide="ignore"):
                information = -np.log(of)
            score = np.abs(information - (of[of > 0] * information[of > 0]).sum())
            score[~left] = np.inf
        order = np.argsort(score, kind="stable")
        last = order[np.searchsorted(np.cumsum(of[order]), p)]
        left &= score <= score[last]
    weights = np.where(left, e, 0)
    return left, weights / weights.sum()


@pytest.mark.one_of(2)
@pytest.mark.parametrize("dtype", [F32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize(("name", "options"), FILTERS)
def test_filters(device: str, name: str, options: dict[str, Any], dtype: Any) -> None:
    """Marks are those of float64 but where its sums lie at a bound; the token is where the row's word says."""
    rng = np.random.default_rng(3)
    for rows, vocabulary, spread in ((1, 1, 1.0), (3, 17, 2.0), (4, 3001, 3.0)):
        logits = (rng.standard_normal((rows, vocabulary)) * spread).astype(dtype)
        token, logprob, mask = drawn(name, device, logits, return_logprobs=True, return_mask=True, **options)
        assert token.dtype == np.int64
        assert mask.dtype == bool
        for r in range(rows):
            left, _ = reference(name, logits[r].astype(F32), **options)
            if dtype is F32:
                assert np.array_equal(mask[r], left)
            else:  # elements that are equal are many
                assert abs(int(mask[r].sum()) - int(left.sum())) <= 0.05 * vocabulary
            x = logits[r].astype(np.float64) / options.get("temperature", 1.0)
            e = np.where(mask[r], np.exp(x - x[mask[r]].max()), 0)
            word = int(to_host(baracuda.rng_bits(baracuda.rng_fold_in(a_key(device), r), 1, "u64"))[0])
            ends = np.cumsum(e) / e.sum()
            at = token[r]
            assert mask[r, at]
            assert (ends[at - 1] if at else 0) - 1e-6 <= word / 2**64 <= ends[at] + 1e-6
            assert abs(logprob[r] - np.log(e[at] / e.sum())) < 1e-5


@pytest.mark.parametrize("bits", ["philox", "threefry"])
def test_tokens_have_their_probabilities(device: str, bits: str) -> None:
    logits = F32([2.0, 1.0, 0.5, 0.0, -1.0, -3.0, -np.inf, 1.0])
    draws = 20_000
    for name, options in (("sample_top_p", {"p": 0.93}), ("sample_min_p", {"min_p": 0.0}), ("sample_typical", {"p": 0.5})):
        found = drawn(name, device, np.broadcast_to(logits, (draws, 8)), bits=bits, **options)
        _, probability = reference(name, logits, **options)
        counts = np.bincount(found, minlength=8)
        assert not counts[probability == 0].any()
        there = probability > 0
        assert st.chisquare(counts[there], probability[there] * draws).pvalue > 1e-3
    found = to_host(baracuda.sample_gumbel_max(a_key(device), to_device(np.broadcast_to(logits, (draws, 8)), device), bits=bits))
    _, probability = reference("sample_min_p", logits)
    assert st.chisquare(np.bincount(found, minlength=8)[probability > 0], probability[probability > 0] * draws).pvalue > 1e-3


@pytest.mark.parametrize(("name", "options"), FILTERS[::2])
def test_a_row_is_alone(device: str, name: str, options: dict[str, Any]) -> None:
    """With a key for each row, a row has its token alone, elsewhere in a batch, and in any layout."""
    rng = np.random.default_rng(4)
    logits, keys = rng.standard_normal((6, 2, 501)).astype(F32) * 3, rng.integers(0, 2**32, (6, 2, 2), dtype=np.uint32)
    given = {"return_logprobs": True, "return_mask": True, **options}
    whole = drawn(name, device, logits, to_device(keys, device), **given)
    one = drawn(name, device, logits[4, 1:], to_device(keys[4, 1:], device), **given)
    for a, b in zip(whole, drawn(name, device, logits[::-1], to_device(keys[::-1].copy(), device), **given), strict=True):
        assert a.tobytes() == b[::-1].tobytes()
    turned = np.ascontiguousarray(logits.transpose(2, 0, 1)).transpose(1, 2, 0)
    for a, b in zip(whole, drawn(name, device, turned, to_device(keys, device), **given), strict=True):
        assert a.tobytes() == b.tobytes()
    some = drawn(name, device, logits[4], to_device(keys[4], device), **given)
    for a, b, c in zip(whole, some, one, strict=True):
        assert a[4].tobytes() == b.tobytes()
        assert a[4, 1:].tobytes() == c.tobytes()
    assert drawn(name, device, logits[4, 1], **given)[0] == drawn(name, device, logits[4, 1:], **given)[0][0]


def test_numbers_for_each_row(device: str) -> None:
    rng = np.random.default_rng(5)
    logits, keys = rng.standard_normal((5, 400)).astype(F32) * 2, rng.integers(0, 2**32, (5, 2), dtype=np.uint32)
    each = {
        "k": np.array([1, 0, 500, 7, -1]), "p": F32([0.5, np.nan, 1.5, 0.0, 0.9]), "min_p": F32([0, 0.1, np.nan, 2.0, -1]),
        "nsigma": F32([1, 2, 3, 0, np.inf]), "temperature": F32([0.5, 0, 2, 1, np.inf]),
    }  # fmt: skip
    token, mask = drawn("sample_top_k", device, logits, to_device(keys, device), return_mask=True, **each)
    for r in range(5):
        one = {n: v[r].item() for n, v in each.items()}
        alone, marks = drawn(
            "sample_top_k", device, logits[r : r + 1], to_device(keys[r : r + 1], device), return_mask=True, **one
        )
        assert alone[0] == token[r]
        assert np.array_equal(marks[0], mask[r])
    assert token[1] == logits[1].argmax()  # a temperature of 0
    assert token[3] == logits[3].argmax()
    assert mask.sum(1)[[0, 1, 3]].tolist() == [1, 1, 1]
    again = drawn(
        "sample_top_k", device, logits, to_device(keys, device), return_mask=True, **{**each, "k": each["k"].astype("i4")}
    )
    assert np.array_equal(again[0], token)


def test_rows_with_nothing_or_everything(device: str) -> None:
    inf, nan = np.inf, np.nan
    logits = F32([[-inf] * 4, [nan] * 4, [nan, -inf, 3, nan], [1, inf, 0, inf], [5, 5, 5, 5], [-inf, -3e38, -3.2e38, nan]])
    for name, options in FILTERS[:7]:
        token, logprob, mask = drawn(name, device, logits, return_logprobs=True, return_mask=True, **options)
        assert token[:3].tolist() == [-1, -1, 2]
        assert np.isnan(logprob[:2]).all()
        assert logprob[2] == 0
        assert not mask[:2].any()
        assert mask[2].tolist() == [False, False, True, False]
        assert token[3] in (1, 3)
        assert abs(logprob[3] + np.log(2)) < 1e-6
        assert mask[4].all()
        assert token[5] == 1
        assert drawn(name, device, np.zeros((0, 5), F32), **options).shape == (0,)
        assert drawn(name, device, np.zeros((2, 0), F32), **options).tolist() == [-1, -1]
    ties = drawn("sample_top_k", device, F32([[1, 3, 3, 2, 3]]), k=2, return_mask=True)[1]
    assert ties.tolist() == [[False, True, True, False, True]]
    zero = drawn("sample_top_k", device, F32([[0.0, -0.0, -1]]), k=1, return_mask=True)[1]
    assert zero.tolist() == [[True, True, False]]
    assert drawn("sample_top_k", device, logits, k=1, dtype="s32").dtype == np.int32
    with pytest.raises(InvalidProblemError, match="logits"):
        drawn("sample_top_k", device, logits.astype(np.float64), k=1)
    with pytest.raises(InvalidProblemError, match=r"expected \(1, vocabulary\)"):
        drawn("sample_top_k", device, logits, a_key(device).reshape(1, 2), k=1)


def test_long_rows(device: str) -> None:
    """Thresholds among more equal and more nearly equal elements than a block holds."""
    rng = np.random.default_rng(6)
    n = 40_000
    rows = [
        rng.standard_normal(n) * 3,
        rng.standard_normal(n) * 1e-4,
        np.repeat(rng.standard_normal(n // 1000), 1000),
        np.zeros(n),
    ]
    logits = np.stack(rows).astype(F32)
    for name, options in (("sample_top_k", {"k": 9_000}), ("sample_top_p", {"p": 0.3}), ("sample_typical", {"p": 0.3})):
        mask = drawn(name, device, logits, return_mask=True, **options)[1]
        for r in range(4):
            if r in (0, 2) or name == "sample_top_k":
                assert abs(int(mask[r].sum()) - int(reference(name, logits[r], **options)[0].sum())) <= (
                    0 if "k" in options else 2
                )
        assert mask[3].all()
