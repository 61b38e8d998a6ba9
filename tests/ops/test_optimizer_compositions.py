"""Steps that take several plans, over several steps: against torch.optim where it has them, else NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.errors import InvalidProblemError
from baracuda.ops.quantization.codebooks import dynamic_map
from tests.cases.trial import to_device, to_host

Array = np.ndarray[Any, Any]


def _drawn(seed: int, *shape: int) -> Array:
    return np.array(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def _torch_steps(kind: Any, start: Array, grads: list[Any], **words: Any) -> tuple[Array, dict[str, Any]]:
    """A parameter and its state after steps of one of torch's optimizers."""
    p = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimizer = kind([p], **words)
    for g in grads:
        p.grad = g if isinstance(g, torch.Tensor) else torch.from_numpy(g)
        optimizer.step()
    return p.detach().numpy(), dict(optimizer.state[p])


# --- Adafactor --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "words"),
    [((7, 13), {}), ((3, 40, 50), {"weight_decay": 0.1}), ((100,), {"threshold": 1.5}), ((5, 5), {"maximize": True}), ((), {})],
)
def test_adafactor_follows_torch(shape: tuple[int, ...], words: dict[str, Any], device: str) -> None:
    start, grads = _drawn(0, *shape), [_drawn(i, *shape) for i in range(1, 5)]
    theirs = {("d" if n == "threshold" else n): v for n, v in words.items()}
    expected, _ = _torch_steps(torch.optim.Adafactor, start, grads, lr=0.05, **theirs)
    p = to_device(start, device)
    if len(shape) > 1:
        zeros = [np.zeros((*shape[:-1], 1), np.float32), np.zeros((*shape[:-2], 1, shape[-1]), np.float32)]
        names = ("row_var", "col_var")
    else:
        zeros, names = [np.zeros(shape, np.float32)], ("variance",)
    state = dict(zip(names, (to_device(z, device) for z in zeros), strict=True))
    for i, g in enumerate(grads, 1):
        results = baracuda.adafactor_step(p, to_device(g, device), 0.05, i, **state, **words, out=(p, *state.values()))
        assert all(a is b for a, b in zip(results, (p, *state.values()), strict=True))
    np.testing.assert_allclose(to_host(p), expected, rtol=2e-6, atol=2e-6)


def test_adafactor_without_its_limits() -> None:
    """relative=False leaves 1 / sqrt(step) out, scaled=False the parameter's own size."""
    p, g = _drawn(0, 4, 6), _drawn(1, 4, 6)
    row, column = np.zeros((4, 1), np.float32), np.zeros((1, 6), np.float32)
    after = baracuda.adafactor_step(p, g, 0.5, 100, row, column, beta2_decay=0.0, relative=False, scaled=False, threshold=1e9)[0]
    squares = g.astype(np.float64) ** 2
    r, c = squares.mean(1, keepdims=True), squares.mean(0, keepdims=True)
    np.testing.assert_allclose(after, p - 0.5 * g / np.sqrt(r * c / r.mean()), rtol=1e-5)


# --- Muon -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "words"),
    [((7, 13), {}), ((40, 20), {"nesterov": False, "weight_decay": 0.3}), ((33, 64), {"adjust_lr": "match_rms_adamw"})],
)
def test_muon_follows_torch(shape: tuple[int, ...], words: dict[str, Any], device: str) -> None:
    """To what rounding every iterate to bf16 leaves of a step."""
    start, grads = _drawn(0, *shape), [_drawn(i, *shape) for i in range(1, 4)]
    theirs = {("adjust_lr_fn" if n == "adjust_lr" else n): v for n, v in words.items()}
    expected, state = _torch_steps(torch.optim.Muon, start, grads, lr=0.05, **theirs)
    p, b = to_device(start, device), to_device(np.zeros(shape, np.float32), device)
    for g in grads:
        baracuda.muon_step(p, to_device(g, device), b, 0.05, **words, out=(p, b))
    np.testing.assert_allclose(to_host(p), expected, atol=3 * 0.05 * 0.03)
    np.testing.assert_allclose(to_host(b), state["momentum_buffer"].numpy(), rtol=1e-5, atol=1e-6)


def test_newton_schulz_in_f32_is_its_iteration(device: str) -> None:
    x = np.stack([_drawn(i, 9, 5) for i in range(3)])
    found = to_host(baracuda.muon_newton_schulz(to_device(x, device), dtype="f32", steps=4))
    for own, one in zip(found, x.astype(np.float64), strict=True):
        y = one.T / np.linalg.norm(one)
        for _ in range(4):
            gram = y @ y.T
            y = 3.4445 * y + (-4.775 * gram + 2.0315 * gram @ gram) @ y
        np.testing.assert_allclose(own, y.T, rtol=1e-4, atol=1e-5)


def test_newton_schulz_of_a_batch_has_the_bits_of_each(device: str) -> None:
    x = np.stack([_drawn(i, 20, 33) for i in range(3)])
    found = to_host(baracuda.muon_newton_schulz(to_device(x, device)))
    for one, own in zip(x, found, strict=True):
        assert to_host(baracuda.muon_newton_schulz(to_device(one, device))).tobytes() == own.tobytes()
    assert not to_host(baracuda.muon_newton_schulz(to_device(np.zeros((4, 3), np.float32), device))).any()


# --- Shampoo ----------------------------------------------------------------------------------------------------------


def _inverse_root(matrix: Array, power: int) -> Array:
    ridged = matrix + 1e-6 * np.linalg.norm(matrix) * np.eye(len(matrix))
    values, vectors = np.linalg.eigh(ridged)
    found: Array = (vectors * values ** (-1 / power)) @ vectors.T
    return found


@pytest.mark.parametrize(("sides", "beta2"), [("lr", 1.0), ("lr", 0.9), ("l", 1.0), ("r", 1.0)])
def test_shampoo_follows_eigenvalues(sides: str, beta2: float, device: str) -> None:
    m, n = 12, 17
    p, expected = to_device(_drawn(0, m, n), device), _drawn(0, m, n).astype(np.float64)
    left, right = (to_device(np.zeros((k, k), np.float32), device) if s in sides else None for s, k in (("l", m), ("r", n)))
    state = tuple(t for t in (left, right) if t is not None)
    wide, high = np.zeros((m, m)), np.zeros((n, n))
    for i in range(1, 4):
        grad = _drawn(i, m, n)
        baracuda.shampoo_step(p, to_device(grad, device), 0.1, left, right, beta2=beta2, out=(p, *state))
        g = grad.astype(np.float64)
        old, new = (1.0, 1.0) if beta2 == 1.0 else (beta2, 1 - beta2)
        wide, high = old * wide + new * g @ g.T, old * high + new * g.T @ g
        if "l" in sides:
            g = _inverse_root(wide, 2 * len(sides)) @ g
        if "r" in sides:
            g = g @ _inverse_root(high, 2 * len(sides))
        expected -= 0.1 * g
    np.testing.assert_allclose(to_host(p), expected, atol=2e-4)


def test_shampoo_with_given_roots(device: str) -> None:
    p, g, root = _drawn(0, 3, 5), _drawn(1, 3, 5), _drawn(2, 3, 3)
    after, kept = baracuda.shampoo_step(
        *(to_device(x, device) for x in (p, g)), 0.5, left_root=to_device(root, device), update_roots=False
    )
    np.testing.assert_allclose(to_host(after), p - 0.5 * root @ g, rtol=1e-5)
    assert to_host(kept).tobytes() == root.tobytes()
    with pytest.raises(InvalidProblemError, match="no preconditioner"):
        baracuda.shampoo_step(p, g, 0.5)


# --- rows of tables ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "row", "count"), [(10, (7,), 25), (200, (33,), 50), (5, (), 9), (6, (2, 3), 1)])
def test_sparse_adam_follows_torch(rows: int, row: tuple[int, ...], count: int, device: str) -> None:
    generator = np.random.default_rng(1)
    start, indices = _drawn(0, rows, *row), [generator.integers(0, rows, count) for _ in range(4)]
    grads = [_drawn(i, count, *row) for i in range(1, 5)]
    sparse = [
        torch.sparse_coo_tensor(torch.from_numpy(i)[None], torch.from_numpy(g), start.shape, check_invariants=True)
        for i, g in zip(indices, grads, strict=True)
    ]
    expected, state = _torch_steps(torch.optim.SparseAdam, start, sparse, lr=0.05)
    p, m, v = (to_device(x, device) for x in (start, np.zeros_like(start), np.zeros_like(start)))
    for step, (index, g) in enumerate(zip(indices, grads, strict=True), 1):
        places = np.where(generator.random(count) < 0.3, index - rows, index)  # negative ones count from the end
        baracuda.sparse_adam_step(p, to_device(places, device), to_device(g, device), m, v, 0.05, step, out=(p, m, v))
    np.testing.assert_allclose(to_host(p), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(to_host(v), state["exp_avg_sq"].numpy(), rtol=1e-5, atol=1e-7)


def test_rows_that_are_not_named_keep_their_bits(device: str) -> None:
    p, m, v = _drawn(0, 6, 4), _drawn(1, 6, 4), np.abs(_drawn(2, 6, 4))
    p[1] = m[1] = np.nan
    index = np.array([4, 2])
    results = baracuda.sparse_adam_step(*(to_device(x, device) for x in (p, index, _drawn(3, 2, 4), m, v)), 0.1, 1, unique=True)
    others = [0, 1, 3, 5]
    for before, after in zip((p, m, v), results, strict=True):
        assert to_host(after)[others].tobytes() == before[others].tobytes()
        assert not np.array_equal(to_host(after)[index], before[index])


@pytest.mark.parametrize(("decay", "decoupled"), [(None, False), (0.1, False), (0.1, True)])
def test_rowwise_adagrad(decay: float | None, decoupled: bool, device: str) -> None:
    p, s = _drawn(0, 10, 7), np.abs(_drawn(1, 10))
    index, g = np.random.default_rng(2).integers(0, 10, 30), _drawn(3, 30, 7)
    expected, sums, total = p.astype(np.float64), s.astype(np.float64), np.zeros((10, 7))
    np.add.at(total, index, g)
    for r in np.unique(index):
        grad = total[r] + (decay * expected[r] if decay and not decoupled else 0)
        sums[r] += np.mean(grad**2)
        kept = expected[r] * (1 - 0.1 * decay) if decay and decoupled else expected[r]
        expected[r] = kept - 0.1 / (np.sqrt(sums[r]) + 1e-8) * grad
    words: dict[str, Any] = {"weight_decay": decay, "decoupled": decoupled}
    after, state = baracuda.rowwise_adagrad_step(
        *(to_device(x, device) for x in (p, g, s)), 0.1, to_device(index, device), **words
    )
    np.testing.assert_allclose(to_host(after), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(to_host(state), sums, rtol=1e-5)
    dense = baracuda.rowwise_adagrad_step(*(to_device(x, device) for x in (p, total.astype(np.float32), s)), 0.1, **words)
    named = np.unique(index)
    np.testing.assert_allclose(to_host(dense[0])[named], expected[named], rtol=1e-5, atol=1e-6)


def test_a_row_out_of_range_is_named() -> None:
    p, s = _drawn(0, 4, 3), np.zeros(4, np.float32)
    with pytest.raises(InvalidProblemError, match=r"index 4 at \(1,\)"):
        baracuda.rowwise_adagrad_step(p, p[:2].copy(), s, 0.1, np.array([0, 4]), out=(p, s))
    assert not s.any()


# --- 8 bits -----------------------------------------------------------------------------------------------------------


def _coded(x: Array, signed: bool, block: int) -> tuple[Array, Array]:
    """bitsandbytes' codes: the nearest value of the map, and of a negative number never 0."""
    table = dynamic_map(signed).astype(np.float64)
    codes, scales = [], []
    for part in np.split(x, range(block, x.size, block)):
        scales.append(np.abs(part).max())
        share = (part / (scales[-1] or 1)).astype(np.float32)
        found = np.abs(share[:, None] - table).argmin(1)
        codes.append(np.where(signed & (part < 0) & (table[found] == 0), found - 1, found))
    return np.concatenate(codes).astype(np.uint8), np.array(scales)


@pytest.mark.parametrize(
    ("size", "block", "words"), [(600, 256, {"weight_decay": 0.1}), (64, 256, {}), (300, 64, {"beta1": 0.5})]
)
def test_adam_in_eight_bits(size: int, block: int, words: dict[str, Any], device: str) -> None:
    p, count = _drawn(0, size), -(-size // block)
    state = [np.full(size, 127, np.uint8), np.zeros(size, np.uint8), np.zeros(count, np.float32), np.zeros(count, np.float32)]
    beta1, decay = words.get("beta1", 0.9), words.get("weight_decay", 0.0)
    for step in range(1, 4):
        g = _drawn(step, size)
        m, v = (
            dynamic_map(signed)[codes].astype(np.float64) * np.repeat(scale, block)[:size]
            for signed, codes, scale in ((True, state[0], state[2]), (False, state[1], state[3]))
        )
        m, v = beta1 * m + (1 - beta1) * g, 0.999 * v + 0.001 * g.astype(np.float64) ** 2
        expected = p * (1 - 0.01 * decay) - 0.01 * m / (1 - beta1**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        tensors = [to_device(x, device) for x in (p, g, *state)]
        baracuda.adam8bit_step(*tensors, 0.01, step, block_size=block, **words, out=(tensors[0], *tensors[2:]))
        p, _, *state = (to_host(t) for t in tensors)
        np.testing.assert_allclose(p, expected, rtol=1e-5, atol=1e-6)
        for codes, scale, (wanted, scales) in (
            (state[0], state[2], _coded(m, True, block)), (state[1], state[3], _coded(v, False, block)),
        ):  # fmt: skip
            np.testing.assert_allclose(scale, scales, rtol=1e-5)
            assert (codes != wanted).sum() <= 2  # close to a middle


# --- what the compositions share --------------------------------------------------------------------------------------


def test_targets_that_are_others_memory_are_refused() -> None:
    p, g, b = _drawn(0, 3, 4), _drawn(1, 3, 4), np.zeros((3, 4), np.float32)
    before = p.copy()
    for out in ((b, p), (p[::-1], b), (p, g), (p, p)):
        with pytest.raises(InvalidProblemError, match="its memory is that of another tensor"):
            baracuda.muon_step(p, g, b, 0.1, out=out)
    with pytest.raises(InvalidProblemError, match="out: 3 tensors; expected at most 2"):
        baracuda.muon_step(p, g, b, 0.1, out=(p, b, g))
    with pytest.raises(InvalidProblemError, match=r"out\[0\]: f32 of shape \(2, 4\)"):
        baracuda.muon_step(p, g, b, 0.1, out=(p[:2],))
    assert p.tobytes() == before.tobytes()


def test_a_model_parameter_is_the_master_rounded(device: str) -> None:
    p, g, m, v = (to_device(_drawn(i, 5, 7), device) for i in (0, 1, 2, 2))
    low = to_device(np.zeros((5, 7), np.float16), device)
    baracuda.adamw_step(p, g, m, baracuda.mul(v, v), 0.1, 2, model_param=low, out=(p, m, None, low))
    assert to_host(low).tobytes() == to_host(p).astype(np.float16).tobytes()


@pytest.mark.parametrize(
    "kinds", [("f32", "bf16", "f32"), ("bf16", "f32", "f16"), ("f64", "f32", "f32"), ("f32", "f64", "bf16")], ids=str
)
def test_elements_are_those_of_what_is_replaced(kinds: tuple[str, ...]) -> None:
    names = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
    param, grad, state = (names[k] for k in kinds)

    def some(kind: torch.dtype, *shape: int) -> torch.Tensor:
        return torch.from_numpy(np.abs(_drawn(0, *shape)) + 0.5).to(kind)

    p, g, s = some(param, 6, 5), some(grad, 6, 5), some(state, 6, 5)
    rows, places = some(grad, 3, 5), torch.tensor([0, 2, 2])
    results = [
        baracuda.adafactor_step(p, g, 0.1, 2, some(state, 6, 1), some(state, 1, 5)),
        baracuda.muon_step(p, g, s, 0.1),
        baracuda.shampoo_step(p, g, 0.1, torch.zeros(6, 6, dtype=state), torch.zeros(5, 5, dtype=state), ridge=0.01),
        baracuda.sparse_adam_step(p, places, rows, s, s.clone(), 0.1, 1),
        baracuda.rowwise_adagrad_step(p, rows, some(state, 6), 0.1, places),
        baracuda.lamb_step(p, g, s, s.clone(), 0.1, 1),
        baracuda.lars_step(p, g, 0.1, s),
    ]
    for new, *rest in results:
        assert new.dtype is param
        assert {t.dtype for t in rest} == {state}
        assert all(bool(t.isfinite().all()) for t in (new, *rest))
        assert not torch.equal(new, p)
