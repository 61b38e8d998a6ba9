"""Logits prepared, guesses verified, beams, and generators of keys: against NumPy, and distributions by chi-square."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.stats as st

import baracuda
from baracuda.core.errors import InvalidProblemError
from tests.cases.trial import to_device, to_host
from tests.ops.test_token_sampling import a_key

F32 = np.float32
DRAWS = 20_000


def called(name: str, device: str, *arguments: Any, **options: Any) -> Any:
    """A function of arrays on a device, its results on the host."""

    def there(value: Any) -> Any:
        return to_device(value, device) if isinstance(value, np.ndarray) else value

    found = getattr(baracuda, name)(*map(there, arguments), **{n: there(v) for n, v in options.items()})
    return tuple(map(to_host, found)) if isinstance(found, tuple) else to_host(found)


def is_of(tokens: Any, probabilities: Any) -> bool:
    """Whether tokens are as often as their probabilities say."""
    p = np.asarray(probabilities, np.float64)
    counts = np.bincount(tokens, minlength=p.size)
    there = p > 0
    return not counts[~there].any() and st.chisquare(counts[there], p[there] / p.sum() * counts.sum()).pvalue > 1e-3


def test_temperatures(device: str) -> None:
    logits = np.random.default_rng(0).standard_normal((2, 3, 65)).astype(F32)
    each = F32([[0.5, 1, 2], [0, -1, np.nan]])
    divisor = np.where(each > 0, each, 1)[..., None]
    assert np.array_equal(called("logits_temperature", device, logits, each), logits / divisor)
    assert np.array_equal(called("logits_temperature", device, logits, 0.7), logits / F32(0.7))
    assert np.array_equal(called("logits_temperature", device, logits[:, ::-1, ::2], 0.7), logits[:, ::-1, ::2] / F32(0.7))
    half = logits.astype(ml_dtypes.bfloat16)
    assert np.array_equal(called("logits_temperature", device, half, 0.7), (half.astype(F32) / F32(0.7)).astype(half.dtype))
    assert called("logits_temperature", device, logits.astype(np.float64), 0.7).dtype == np.float64
    assert called("logits_temperature", device, logits[:0], 0.7).shape == (0, 3, 65)


def test_penalties(device: str) -> None:
    """Counts, masks and tokens say the same, in the order of operations that vLLM has."""
    rng = np.random.default_rng(1)
    rows, vocabulary = 4, 67
    logits = rng.standard_normal((rows, vocabulary)).astype(F32)
    said, asked = rng.integers(-1, vocabulary + 1, (rows, 90)), rng.integers(-1, vocabulary + 1, (rows, 20))
    counts = np.stack([np.bincount(r[(r >= 0) & (r < vocabulary)], minlength=vocabulary) for r in said]).astype(np.int32)
    prompt = np.stack([np.isin(np.arange(vocabulary), r) for r in asked])
    repetition, presence, frequency = F32([1.3, 1, 2, 0.5]), F32([0.1, 0, -0.3, 1]), F32([0, 0.7, -0.2, 1])
    factor = np.where((counts > 0) | prompt, repetition[:, None], F32(1))
    expected = np.where(logits > 0, logits / factor, logits * factor)
    expected = expected - frequency[:, None] * counts.astype(F32)
    expected = expected - np.where(counts > 0, presence[:, None], F32(0))
    penalties = {"repetition": repetition, "presence": presence, "frequency": frequency}
    assert np.array_equal(called("logits_penalties", device, logits, counts, prompt, **penalties), expected)
    by_tokens = called("logits_penalties", device, logits, tokens=said, prompt_tokens=asked.astype(np.int32), **penalties)
    assert np.array_equal(by_tokens, expected)
    only = called("logits_penalties", device, logits, prompt_tokens=asked, repetition=2.0)
    assert np.array_equal(only, np.where(prompt, np.where(logits > 0, logits / 2, logits * 2), logits))
    many = rng.integers(-1, vocabulary, (rows, 3000))  # more than are compared with one another
    counts = np.stack([np.bincount(r[r >= 0], minlength=vocabulary) for r in many]).astype(np.int32)
    by_counts = called("logits_penalties", device, logits, counts, **penalties)
    assert np.array_equal(called("logits_penalties", device, logits, tokens=many, **penalties), by_counts)
    in_place = to_device(logits.copy(), device)
    baracuda.logits_penalties(in_place, tokens=to_device(said, device), repetition=2.0, presence=1.0, out=in_place)
    assert np.array_equal(
        to_host(in_place), called("logits_penalties", device, logits, tokens=said, repetition=2.0, presence=1.0)
    )
    nothing = called("logits_penalties", device, logits, tokens=said[:, :0], repetition=2.0, presence=1.0)
    assert np.array_equal(nothing, logits)
    with pytest.raises(InvalidProblemError, match="tokens: given beside counts"):
        called("logits_penalties", device, logits, counts, tokens=said)
    with pytest.raises(InvalidProblemError, match="nothing was said"):
        called("logits_penalties", device, logits, repetition=2.0)


@pytest.mark.parametrize("dtype", [F32, np.float16])
@pytest.mark.parametrize("vocabulary", [1, 31, 32, 100, 1024])
def test_bitmasks(device: str, vocabulary: int, dtype: Any) -> None:
    rng = np.random.default_rng(2)
    logits = rng.standard_normal((3, 4, vocabulary)).astype(dtype)
    words = rng.integers(0, 2**32, (3, 4, -(-vocabulary // 32) + 1), dtype=np.uint32)
    bits = np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")[..., :vocabulary].astype(bool)
    expected = np.where(bits, logits, dtype(-np.inf))
    assert np.array_equal(called("logits_bitmask", device, logits, words), expected)
    assert np.array_equal(called("logits_bitmask", device, logits, words.view(np.int32)), expected)
    turned = called("logits_bitmask", device, logits.transpose(1, 0, 2), np.ascontiguousarray(words.transpose(1, 0, 2)))
    assert np.array_equal(turned, expected.transpose(1, 0, 2))
    one = called("logits_bitmask", device, logits, words[0, 0])
    assert np.array_equal(one, np.where(bits[0, 0], logits, dtype(-np.inf)))
    in_place = to_device(logits.copy(), device)
    baracuda.logits_bitmask(in_place, to_device(words, device), out=in_place)
    assert np.array_equal(to_host(in_place), expected)
    with pytest.raises(InvalidProblemError, match="words for"):
        called("logits_bitmask", device, np.zeros((1, 33), F32), np.zeros((1, 1), np.int32))


def test_chains_of_guesses(device: str) -> None:
    """Whatever guesses are drawn by, tokens are drawn by the target's probabilities."""
    rng = np.random.default_rng(3)
    v, n = 7, 2
    p, q = (rng.dirichlet(np.ones(v), m).astype(F32) for m in (n + 1, n))
    p[1, 2] = q[0, 3] = 0
    p, q = (t / t.sum(-1, keepdims=True) for t in (p, q))
    draft = np.stack([rng.choice(v, DRAWS, p=q[i].astype(np.float64) / q[i].sum(dtype=np.float64)) for i in range(n)], 1)
    target, guess = np.broadcast_to(p, (DRAWS, n + 1, v)), np.broadcast_to(q, (DRAWS, n, v))
    tokens, accepted = called("speculative_verify", device, a_key(device), draft, target, guess)
    numbers = np.arange(n + 1)
    assert np.array_equal(tokens >= 0, numbers <= accepted[:, None])
    assert np.array_equal(tokens[:, :n][numbers[:n] < accepted[:, None]], draft[numbers[:n] < accepted[:, None]])
    for i in range(n + 1):
        assert is_of(tokens[tokens[:, i] >= 0, i], p[i])
    stays = [np.minimum(p[i], q[i]).sum() for i in range(n)]
    assert is_of(accepted, [1 - stays[0], stays[0] * (1 - stays[1]), stays[0] * stays[1]])
    # sure guesses; with no position behind the last one there is a token of the caller's, or none
    tokens, accepted = called(
        "speculative_verify", device, a_key(device), np.full((DRAWS, n), 4), target[:, :n], None, np.full(DRAWS, 9)
    )
    assert is_of(tokens[:, 0], p[0])
    assert set(tokens[accepted == n, n].tolist()) == {9}
    without, same = called("speculative_verify", device, a_key(device), np.full((DRAWS, n), 4), target[:, :n], dtype="s32")
    assert np.array_equal(same, accepted)
    assert set(without[:, n].tolist()) == {-1}
    assert without.dtype == np.int32
    # a guess that is none ends a row's guesses
    tokens, accepted = called("speculative_verify", device, a_key(device), np.full((DRAWS, n), -1), target, guess)
    assert not accepted.any()
    assert is_of(tokens[:, 0], p[0])
    tokens, accepted = called("speculative_verify", device, a_key(device), draft[:, :0], target[:, :1])
    assert is_of(tokens[:, 0], p[0])
    with pytest.raises(InvalidProblemError, match="bonus_tokens"):
        called("speculative_verify", device, a_key(device), draft, target, guess, np.full(DRAWS, 9))


def test_guesses_that_are_right(device: str) -> None:
    """Where guesses are drawn by the target itself all stay; a row does not depend on its neighbours."""
    rng = np.random.default_rng(4)
    keys = rng.integers(0, 2**32, (50, 2), dtype=np.uint32)
    p = rng.dirichlet(np.ones(33), (50, 4)).astype(F32)
    draft = p[:, :3].argmax(-1)
    tokens, accepted = called("speculative_verify", device, keys, draft, p, p[:, :3])
    assert (accepted == 3).all()
    some = called("speculative_verify", device, keys[7:9], draft[7:9], p[7:9], p[7:9, :3])
    assert np.array_equal(some[0], tokens[7:9])
    single = called("speculative_verify", device, keys[7:8], draft[7:8], p[7:8])
    assert np.array_equal(single[0], called("speculative_verify", device, keys[5:9], draft[5:9], p[5:9])[0][2:3])


def test_trees_of_guesses(device: str) -> None:
    rng = np.random.default_rng(5)
    v, parents, guesses = 6, np.array([-1, 0, 0, 1, 1, 2, -1]), np.array([0, 2, 4, 1, 3, 5, -1])
    p = rng.dirichlet(np.full(v, 9.0), 7).astype(F32)
    target, tree = np.broadcast_to(p, (DRAWS, 7, v)), np.broadcast_to(guesses, (DRAWS, 7))
    tokens, accepted, path = called("speculative_verify_tree", device, a_key(device), tree, parents, target, depth=2)
    assert tokens.shape == path.shape == (DRAWS, 3)
    assert np.array_equal(accepted, (path >= 0).sum(1) - 1)
    assert is_of(tokens[:, 0], p[0])
    assert np.array_equal(tokens[:, 0] == 2, path[:, 1] == 1)
    for node in (1, 2):
        below = path[:, 1] == node
        assert is_of(tokens[below, 1], p[node])
        assert set(path[below, 2].tolist()) == {-1, *np.flatnonzero(parents == node).tolist()}
    for node in (3, 4, 5):
        there = path[:, 2] == node
        assert there.sum() > 300
        assert is_of(tokens[there, 2], p[node])
    greedy = called("speculative_verify_tree", device, a_key(device), tree[:9], parents, target[:9], threshold_single=1e-3)
    assert set(greedy[2][:, 1].tolist()) == {1}
    assert greedy[0].shape == (9, 7)
    alone = called("speculative_verify_tree", device, a_key(device), tree[:4, :1], parents[:1], target[:4, :1])
    assert alone[1].tolist() == [0] * 4
    assert alone[2].tolist() == [[0]] * 4


def test_beams(device: str) -> None:
    rng = np.random.default_rng(6)
    logprobs, scores = np.log(rng.dirichlet(np.ones(13), (2, 3))).astype(F32), rng.standard_normal((2, 3)).astype(F32)
    sequences = rng.integers(0, 99, (2, 3, 5))
    total = (logprobs + scores[..., None]).reshape(2, -1)
    order = np.argsort(-total, axis=1, kind="stable")
    for count in (None, 1, 39):
        best, beam, token, picked = called("beam_search_step", device, logprobs, scores, sequences, count=count)
        first = order[:, : count or 6]
        assert np.array_equal(best, np.take_along_axis(total, first, 1))
        assert np.array_equal(beam, first // 13)
        assert np.array_equal(token, first % 13)
        assert np.array_equal(picked, np.take_along_axis(sequences, beam[..., None], 1))
    assert called("beam_search_step", device, logprobs[0], scores[0], count=2)[1].shape == (2,)
    with pytest.raises(InvalidProblemError, match="count"):
        called("beam_search_step", device, logprobs, scores, count=40)


def test_generators(device: str) -> None:
    like = to_device(np.zeros(3, F32), device)
    generator = baracuda.Generator(7, like=like)
    logits = to_device(np.random.default_rng(7).standard_normal((4, 50)).astype(F32), device)
    drawn = [to_host(baracuda.sample_top_k(generator, logits, 20)).tolist() for _ in range(3)]
    assert generator.offset == 3
    assert drawn[0] != drawn[1] != drawn[2]
    for i, tokens in enumerate(drawn):
        key = baracuda.rng_fold_in(baracuda.rng_key(7, like=like), i)
        assert to_host(baracuda.sample_top_k(key, logits, 20)).tolist() == tokens
    state = generator.state()
    then = to_host(baracuda.randn(generator, 5)).tolist()
    twins = [copy.deepcopy(generator), pickle.loads(pickle.dumps(generator)), baracuda.Generator()]
    for twin in twins:
        twin.set_state(state)
        assert twin.state() == state
        assert to_host(baracuda.rng_bits(twin.key(like=like), 2)).tolist() != then[:2]
        twin.set_state(state)
        assert to_host(baracuda.randn(twin.key(like=like), 5)).tolist() == then
    dropped = to_host(baracuda.dropout(logits, p=0.5, key=generator))
    assert (dropped == 0).any()
    first, second = generator.split()
    assert first.seed != second.seed
    assert generator.offset == 6
    with pytest.raises(InvalidProblemError, match="seed and offset"):
        generator.set_state({"seed": 1})


def test_nothing_at_all(device: str) -> None:
    """Empty batches, empty vocabularies, and probabilities that say nothing."""
    zeros, whole = (lambda *shape: np.zeros(shape, F32)), (lambda *shape: np.zeros(shape, np.int64))
    key = a_key(device)
    assert [r.shape for r in called("speculative_verify", device, key, whole(0, 2), zeros(0, 3, 5))] == [(0, 3), (0,)]
    found = called("speculative_verify_tree", device, key, whole(0, 2), np.array([-1, 0]), zeros(0, 2, 5))
    assert [r.shape for r in found] == [(0, 2), (0,), (0, 2)]
    for target in (zeros(2, 3, 5), np.full((2, 3, 5), np.nan, F32)):
        tokens, accepted = called("speculative_verify", device, key, whole(2, 2), target)
        assert (tokens == -1).all()
        assert not accepted.any()
    assert [r.shape for r in called("beam_search_step", device, zeros(0, 2, 5), zeros(0, 2))] == [(0, 4)] * 3
    assert called("logits_penalties", device, zeros(0, 5), tokens=whole(0, 3)).shape == (0, 5)
    assert called("logits_penalties", device, zeros(2, 0), tokens=whole(2, 3)).shape == (2, 0)
    assert called("logits_bitmask", device, zeros(2, 0), np.zeros((2, 0), np.int32)).shape == (2, 0)
    assert called("sample_gumbel_max", device, key, zeros(0, 5)).shape == (0,)
    for empty in (zeros(2, 0), np.full((2, 3), -np.inf, F32), np.full((2, 3), np.nan, F32)):
        assert called("sample_gumbel_max", device, key, empty).tolist() == [-1, -1]
    with pytest.raises(InvalidProblemError, match="a token or more"):
        called("speculative_verify", device, key, whole(2, 2), zeros(2, 3, 0))
    with pytest.raises(InvalidProblemError, match="depth"):
        called("speculative_verify_tree", device, key, whole(1, 2), np.array([-1, 0]), zeros(1, 2, 5), depth=-1)
