"""Ops over lists of tensors: the bits of each item alone, in place and not, in few launches; norms over lists and clipping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.call_recorder import RecordedLaunch
from baracuda.core.elements import ElementKind
from baracuda.core.errors import Error, InvalidProblemError
from baracuda.frontends import call_cache
from tests.cases.trial import to_device, to_host

Array = np.ndarray[Any, Any]
INF = float("inf")
#: Odd sizes, none, one element, no axes, several blocks of work.
SHAPES = [(7,), (3, 5), (), (100, 331), (0, 3), (65536,), (65537,), (1, 1, 1), (1023,)] * 2


def _lists(count: int, element: Any = np.float32, shapes: Any = SHAPES) -> list[list[Array]]:
    """Lists of tensors, the last one of numbers above 0."""
    generator = np.random.default_rng(count)
    lists = [[np.array(generator.standard_normal(s)).astype(element) for s in shapes] for _ in range(count)]
    lists[-1] = [np.array(abs(x)) for x in lists[-1]]
    return lists


def _on(lists: Any, device: str) -> Any:
    return [[to_device(x.copy(), device) for x in one] for one in lists]


def _bytes(tensors: Any) -> list[bytes]:
    return [to_host(t).tobytes() for t in tensors]


STEPS: list[tuple[str, int, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("adamw_step", 4, (0.1, 3), {"weight_decay": 0.1}, (0, 2, 3)),
    ("adam_step", 4, (0.1, 3), {}, (0, 2, 3)),
    ("sgd_step", 2, (0.1,), {}, (0,)),
    ("lion_step", 3, (0.1,), {"maximize": True}, (0, 2)),
    ("adagrad_step", 3, (0.1, 2), {}, (0, 2)),
    ("ema_update", 2, (), {"decay": 0.5}, (0,)),
]


@pytest.mark.parametrize(("name", "count", "rest", "words", "written"), STEPS, ids=[s[0] for s in STEPS])
def test_items_have_the_bits_of_calls_of_their_own(
    name: str, count: int, rest: tuple[Any, ...], words: dict[str, Any], written: tuple[int, ...], device: str
) -> None:
    function, lists = getattr(baracuda, name), _lists(count)
    one_by_one = [function(*(to_device(x, device) for x in item), *rest, **words) for item in zip(*lists, strict=True)]
    single = len(written) == 1
    expected = [_bytes([r if single else r[k] for r in one_by_one]) for k in range(len(written))]
    apply = baracuda.multi_tensor_apply
    new = apply(function, *_on(lists, device), *rest, **words)
    assert [_bytes(r) for r in ([new] if single else new)] == expected
    for _ in range(2):  # the second time by its launches alone
        tensors = _on(lists, device)
        results = apply(function, *tensors, *rest, **words, in_place=True)
        assert all(a is tensors[k] for a, k in zip([results] if single else results, written, strict=True))
        assert [_bytes(tensors[k]) for k in written] == expected
        tensors = _on(lists, device)
        apply(function, *tensors, *rest, **words, out=tuple(tensors[k] for k in written))
        assert [_bytes(tensors[k]) for k in written] == expected


@pytest.mark.parametrize("element", [ElementKind.F16, ElementKind.BF16, ElementKind.F64], ids=str)
def test_elements_may_differ_from_list_to_list_and_item_to_item(element: ElementKind, device: str) -> None:
    kind, lists = element.numpy, _lists(4)
    lists[1] = [x.astype(kind) for x in lists[1]]
    lists[0] = [x.astype(kind) if i % 2 else x for i, x in enumerate(lists[0])]
    expected = [baracuda.adamw_step(*(to_device(x, device) for x in item), 0.1, 3)[0] for item in zip(*lists, strict=True)]
    found = baracuda.multi_tensor_apply(baracuda.adamw_step, *_on(lists, device), 0.1, 3)[0]
    assert _bytes(found) == _bytes(expected)


def test_numbers_may_be_tensors_of_all_or_of_each(device: str) -> None:
    lists, count = _lists(4), len(SHAPES)
    expected = _bytes(baracuda.multi_tensor_apply(baracuda.adamw_step, *_on(lists, device), 0.125, 3)[0])
    rate, step = np.array(0.125), np.array(3)
    of_all = (to_device(rate, device), to_device(step, device))
    of_each = ([to_device(rate, device) for _ in range(count)], [to_device(step, device) for _ in range(count)])
    for numbers in (of_all, of_each):
        assert _bytes(baracuda.multi_tensor_apply(baracuda.adamw_step, *_on(lists, device), *numbers)[0]) == expected
    named = baracuda.multi_tensor_apply(baracuda.adamw_step, *_on(lists, device), step=3, lr=0.125)
    assert _bytes(named[0]) == expected


def test_layouts_that_do_not_go_together_are_calls_of_their_own(device: str) -> None:
    a = [np.asfortranarray(x) if i % 3 else x[::-1] for i, x in enumerate(_lists(1, shapes=[(4, 6)] * 6)[0])]
    b = _lists(2, shapes=[(4, 6)] * 6)[0]
    found = baracuda.multi_tensor_apply(baracuda.add, [to_device(x, device) for x in a], [to_device(x, device) for x in b])
    assert _bytes(found) == [(x + y).tobytes() for x, y in zip(a, b, strict=True)]


def test_other_functions(device: str) -> None:
    x = _lists(1)[0]
    (values,) = _on([x], device)
    products = [np.asarray(t * np.float32(2.5)) for t in x]
    assert _bytes(baracuda.multi_tensor_apply(baracuda.mul, values, 2.5)) == [t.tobytes() for t in products]
    assert _bytes(baracuda.multi_tensor_apply(baracuda.sqrt, values, in_place=True)) == [np.sqrt(t).tobytes() for t in x]
    assert _bytes(values) == [np.sqrt(t).tobytes() for t in x]
    items = _lists(4, shapes=[(7,), (3, 5)])
    rows = baracuda.multi_tensor_apply(baracuda.lamb_step, *_on(items, device), 0.1, 1)
    given = _on(items, device)
    baracuda.multi_tensor_apply(baracuda.lamb_step, *given, 0.1, 1, in_place=True)
    assert [_bytes(given[k]) for k in (0, 2, 3)] == [_bytes(r) for r in rows]
    assert [float(t) for t in baracuda.multi_tensor_apply(baracuda.sum, [P, P])] == [3.0, 3.0]
    for k, item in enumerate(zip(*items, strict=True)):
        own = baracuda.lamb_step(*(to_device(t, device) for t in item), 0.1, 1)
        assert [_bytes(r)[k] for r in rows] == _bytes(own)


def test_empty_lists() -> None:
    assert baracuda.multi_tensor_apply(baracuda.mul, [], 2.0) == []
    assert baracuda.multi_tensor_apply(baracuda.adamw_step, [], [], [], [], 0.1, 1) == ([], [], [])
    nothing = [np.zeros((0, 3), np.float32)]
    assert [x.shape for x in baracuda.multi_tensor_apply(baracuda.mul, nothing, 2.0)] == [(0, 3)]
    with pytest.raises(InvalidProblemError, match=r"grads: \[\]; expected one tensor or more"):
        baracuda.grad_norm([])


def test_a_thousand_tensors_are_one_launch_that_is_made_again(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    launches = []
    recorded = call_cache._RecordedCall.call

    def call(self: Any) -> Any:
        found = recorded(self)
        launches.append((found is not None, sum(isinstance(s, RecordedLaunch) for s in self.recorder.steps)))
        return found

    monkeypatch.setattr(call_cache._RecordedCall, "call", call)
    lists = _on(_lists(4, shapes=[(1 + i % 40,) for i in range(1000)]), device)
    for step in range(1, 4):
        baracuda.multi_tensor_apply(baracuda.adamw_step, *lists, 0.1 / step, step, in_place=True)
        baracuda.grad_norm(lists[1])
    assert launches[:2] == [(True, 1), (True, 2)]  # programs: the sums, and their norm
    assert len(launches) < 6  # where all functions' calls became too many in between, some are recorded again


def test_parameters_of_torch_where_it_records_nothing() -> None:
    params, grads = [torch.nn.Parameter(torch.ones(3)) for _ in range(3)], [torch.ones(3)] * 3
    for step in (1, 2, 3):
        with pytest.raises(InvalidProblemError, match="it requires grad"):
            baracuda.multi_tensor_apply(baracuda.sgd_step, params, grads, 0.125, in_place=True)
        with torch.no_grad():
            baracuda.multi_tensor_apply(baracuda.sgd_step, params, grads, 0.125, in_place=True)
        assert [p.tolist() for p in params] == [[1 - step / 8] * 3] * 3


def test_overlaps_are_seen_in_calls_like_earlier_ones() -> None:
    memory, grads = np.zeros(20_000, np.float32), [np.ones(16, np.float32) for _ in range(60)]
    generator = np.random.default_rng(0)
    for trial in range(20):
        starts = 16 * generator.permutation(1000)[:60]
        if trial % 2:
            starts[generator.integers(30)] = starts[30 + generator.integers(30)] + 4 * generator.integers(4)
        memory[:] = 0
        views = [memory[s : s + 16] for s in starts]
        if trial % 2:
            with pytest.raises(InvalidProblemError, match="its memory overlaps that of"):
                baracuda.multi_tensor_apply(baracuda.sgd_step, views, grads, 1.0, in_place=True)
        else:
            baracuda.multi_tensor_apply(baracuda.sgd_step, views, grads, 1.0, in_place=True)
        assert (memory != 0).sum() == (0 if trial % 2 else 960)


P, G = np.ones(3, np.float32), np.ones(3, np.float32)
BAD: list[tuple[Any, str]] = [
    (lambda a: a(baracuda.adamw_step, [P], [G, G], [G], [G], 0.1, 1), "grad: 2 tensors; expected 1, as many as param"),
    (lambda a: a(baracuda.sgd_step, [P, P], [G, G], 0.1, in_place=True), r"param\[\d\]: its memory overlaps that of param\[\d\]"),
    (lambda a: a(baracuda.sgd_step, [P], [P[::-1]], 0.1, in_place=True), r"param\[0\]: its memory overlaps that of grad\[0\]"),
    (lambda a: a(baracuda.add, [P], [G], out=[G[:2]]), r"out for y\[0\]: f32 of shape \(2,\); expected f32 of \(3,\)"),
    (lambda a: a(baracuda.add, [P], [G], out=[G, P]), "out: 2 tensors for y; expected a list of 1"),
    (lambda a: a(baracuda.sgd_step, P, G, 0.1), "no list among param, grad"),
    (lambda a: a(baracuda.sgd_step, [P], [G], np.ones(3)), r"lr: shape is \(3,\); expected a list, or one element"),
    (lambda a: a(baracuda.sgd_step, [P], [2.0], 0.1), r"grad\[0\]: got a builtins.float"),
    (lambda a: a(baracuda.sgd_step, [P], [np.ones(4)], 0.1), r"shape \(4,\)"),
    (lambda a: a(baracuda.sgd_step, [P], [G], 0.1, speed=3), "speed: sgd_step has no such parameter"),
    (lambda a: a(baracuda.adamw_step, [P], [G], [G], [G], 0.1, 1, beta1=2.0), "beta1: 2.0; expected a number"),
    (lambda a: a(len, [P]), "expected a function of this library"),
    (lambda a: a(baracuda.lamb_step, [P], [G, G], [G], [G], 0.1, 1), "grad: 2 tensors; expected 1, as many as param"),
    (lambda a: a(baracuda.softmax, [P], in_place=True), "no result takes the place of a list"),
    (lambda a: a(baracuda.lamb_step, [P], [G], [G], [G], 0.1, 1, out=(P,)), r"out\[0\]: ndarray; expected a list of 1"),
    (lambda a: a(baracuda.add, [P], [G], out=[G], in_place=True), "out: given beside in_place=True"),
    (lambda a: a(baracuda.sgd_step, [P], [G], 0.1, out=([np.broadcast_to(G, (3,))],)), "read-only"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_what_does_not_fit_is_named_and_nothing_written(call: Any, message: str) -> None:
    with pytest.raises(Error, match=message):
        call(baracuda.multi_tensor_apply)
    assert P.tolist() == G.tolist() == [1, 1, 1]


# --- norms ------------------------------------------------------------------------------------------------------------


def _canonical_sum(x: Array) -> Any:
    """docs/arithmetic.md, its example."""
    if not x.size:
        return x.dtype.type(0)
    segments = -(-x.size // 1024)
    padded = np.full(segments * 1024, -0.0, x.dtype)
    padded[: x.size] = x
    elements = padded.reshape(segments, 8, 128)
    lanes = elements[:, 0]
    for k in range(1, 8):
        lanes = lanes + elements[:, k]
    while lanes.shape[1] > 1:
        lanes = lanes[:, 0::2] + lanes[:, 1::2]
    results = list(lanes[:, 0])
    while len(results) > 1:
        results = [a + b for a, b in zip(results[0::2], results[1::2], strict=False)] + results[2 * (len(results) // 2) :]
    return results[0]


@pytest.mark.parametrize("element", [np.float32, np.float64, np.float16])
def test_the_norm_is_that_of_canonical_sums(element: Any, device: str) -> None:
    tensors = _lists(1, element)[0]
    tensors[3] = np.asfortranarray(tensors[3])
    tensors.append(np.ones(200_000, element)[::-1])
    wide = np.float64 if element is np.float64 else np.float32
    sums = np.array([_canonical_sum((x.astype(wide) ** 2).ravel()) for x in tensors])
    found = to_host(baracuda.grad_norm([to_device(x, device) for x in tensors]))
    assert found.tobytes() == np.sqrt(_canonical_sum(sums)).tobytes()
    assert found.dtype == wide


@pytest.mark.parametrize("p", [0, 1, 2, 3, 0.5, INF, -INF])
def test_norms_of_any_order(p: float, device: str) -> None:
    tensors = [x for x in _lists(1)[0] if x.size]
    tensors[0][:3] = 0
    every = np.concatenate([x.ravel() for x in tensors]).astype(np.float64)
    expected = np.linalg.norm(every, p) if p != 0.5 else (abs(every) ** p).sum() ** (1 / p)
    found = float(to_host(baracuda.grad_norm([to_device(x, device) for x in tensors], p=p)))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_norms_of_mixed_elements_and_of_nothing() -> None:
    mixed = [torch.ones(9).bfloat16(), torch.ones(7), torch.ones(3, 3).double()]
    assert float(baracuda.grad_norm(mixed)) == 5.0
    assert baracuda.grad_norm(mixed).dtype is torch.float64
    nothing = np.zeros((0, 4), np.float32)
    assert [float(baracuda.grad_norm([nothing], p=p)) for p in (0, 1, 2, 3, INF)] == [0.0] * 5
    assert np.isnan(baracuda.grad_norm([P, np.full(2, np.nan, np.float32)]))
    with pytest.raises(InvalidProblemError, match="their norm of order 2 is inf"):
        baracuda.grad_norm([P, np.full(2, INF, np.float32)], error_if_nonfinite=True)


@pytest.mark.parametrize("limit", [1.0, 1e9])
def test_clipping_follows_torch(limit: float, device: str) -> None:
    grads = _lists(1)[0]
    theirs = [torch.nn.Parameter(torch.zeros(g.shape)) for g in grads]
    for p, g in zip(theirs, grads, strict=True):
        p.grad = torch.from_numpy(g.copy())
    total = torch.nn.utils.clip_grad_norm_(theirs, limit)
    (own,) = _on([grads], device)
    norm, clipped = baracuda.clip_grad_norm(own, limit, in_place=True)
    assert clipped is own
    np.testing.assert_allclose(to_host(norm), total.numpy(), rtol=1e-6)
    for found, p in zip(own, theirs, strict=True):
        assert p.grad is not None
        np.testing.assert_allclose(to_host(found), p.grad.numpy(), rtol=2e-6, atol=1e-12)
    new = baracuda.clip_grad_norm(_on([grads], device)[0], limit)[1]
    assert _bytes(new) == _bytes(own)
    with pytest.raises(InvalidProblemError, match="max_norm: -1"):
        baracuda.clip_grad_norm(own, -1.0)


def test_clipping_what_is_not_finite_writes_nothing() -> None:
    grads = [P.copy(), np.full(2, np.nan, np.float32)]
    with pytest.raises(InvalidProblemError, match="is nan; expected a finite one"):
        baracuda.clip_grad_norm(grads, 0.1, error_if_nonfinite=True, in_place=True)
    assert grads[0].tolist() == [1, 1, 1]


def test_masters_are_rounded_to_parameters(device: str) -> None:
    masters = _lists(1)[0]
    kinds = [np.float16, ElementKind.BF16.numpy, np.float64]
    params = [to_device(np.zeros(x.shape, kinds[i % 3]), device) for i, x in enumerate(masters)]
    found = baracuda.master_weight_cast(_on([masters], device)[0], out=params)
    assert all(a is b for a, b in zip(found, params, strict=True))
    assert _bytes(params) == [x.astype(kinds[i % 3]).tobytes() for i, x in enumerate(masters)]
    assert [x.dtype for x in baracuda.master_weight_cast(masters, "f16")] == [np.float16] * len(masters)
    with pytest.raises(InvalidProblemError, match="dtype: None"):
        baracuda.master_weight_cast(masters)
