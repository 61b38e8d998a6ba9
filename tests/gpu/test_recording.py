"""Recordings on a GPU: the function's bits, whatever was recorded or launched in between."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda import Array, Device, InvalidProblemError, PlanPreference, UnsupportedError

GPU = Device.cuda(0)


def array(seed: int, *shape: int) -> Array:
    values: Array = baracuda.to_device(np.random.default_rng(seed).standard_normal(shape).astype(np.float32), GPU)
    return values


WEIGHT, BIAS = np.random.default_rng(0).standard_normal((48, 64)).astype(np.float32), np.ones(48, np.float32)


def model(preference: PlanPreference | None = None) -> Any:
    weight, bias = baracuda.to_device(WEIGHT, GPU), baracuda.to_device(BIAS, GPU)

    def run(x: Any) -> dict[str, Any]:
        hidden = baracuda.linear(x, weight, bias, activation="gelu", preference=preference)
        attended = baracuda.scaled_dot_product_attention(hidden, hidden, hidden, preference=preference)
        return {
            "y": baracuda.softmax(attended),
            "turned": attended.transpose(0, 1, 3, 2),
            "sums": [baracuda.sum(hidden, axis=-1)],
        }

    return run


def host(results: dict[str, Any]) -> list[bytes]:
    return [baracuda.to_host(x).tobytes() for x in (results["y"], results["turned"], *results["sums"])]


@pytest.mark.parametrize("fastest", [False, True])
def test_has_the_bits_of_the_function(fastest: bool) -> None:
    run = model(PlanPreference(fastest=True) if fastest else None)
    recorded = baracuda.record(run, array(1, 2, 3, 17, 64))
    for seed in range(2, 6):
        x = array(seed, 2, 3, 17, 64)
        expected = host(run(x))
        baracuda.exp(array(9, 400, 400))  # other work, on memory that the recording must not use
        assert host(recorded(x)) == expected
    assert recorded(x)["turned"].shape == (2, 3, 48, 17)


def test_results_are_new_each_time() -> None:
    recorded = baracuda.record(lambda x: baracuda.mul(x, 2.0), array(1, 5))
    first, second = recorded(array(2, 5)), recorded(array(3, 5))
    assert first.pointer != second.pointer
    np.testing.assert_array_equal(first.numpy(), 2 * array(2, 5).numpy())


def test_arguments_lie_as_they_like() -> None:
    recorded = baracuda.record(baracuda.exp, array(1, 6, 4))
    x = array(2, 4, 6)
    assert recorded(x.T).numpy().tobytes() == baracuda.exp(x.T).numpy().tobytes()
    assert recorded(array(3, 12, 4)[::2]).numpy().tobytes() == baracuda.exp(array(3, 12, 4)[::2]).numpy().tobytes()


def test_two_recordings_share_no_values() -> None:
    runs = [model() for _ in range(2)]
    recorded = [baracuda.record(run, array(i, 1, 2, 9 + i, 64)) for i, run in enumerate(runs)]
    for seed in range(3):
        for i in (0, 1, 0):
            x = array(seed, 1, 2, 9 + i, 64)
            assert host(recorded[i](x)) == host(runs[i](x))


def test_from_several_threads() -> None:
    run = model()
    recorded = baracuda.record(run, array(1, 1, 2, 33, 64))
    inputs = [array(seed, 1, 2, 33, 64) for seed in range(4)]
    expected = [host(run(x)) for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(40):
            if host(recorded(inputs[number])) != expected[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_what_waits_for_the_device_is_refused() -> None:
    x = array(1, 10, 4)
    with pytest.raises(UnsupportedError, match=r"record: .* does what cannot be recorded"):
        baracuda.record(lambda x: baracuda.mul(x, float(baracuda.sum(x))), x)
    assert baracuda.exp(x).shape == (10, 4)  # what failed left nothing behind


def test_indices_are_checked_in_a_recording() -> None:
    table, index = array(1, 10, 4), baracuda.to_device(np.array([1, 2], np.int64), GPU)
    recorded = baracuda.record(lambda index: baracuda.embedding(index, table), index)
    np.testing.assert_array_equal(recorded(index).numpy(), table.numpy()[[1, 2]])
    recorded(baracuda.to_device(np.array([1, 99], np.int64), GPU))
    with pytest.raises(InvalidProblemError, match=r"index: index at \(1,\) is out of range; expected 0 to 9"):
        baracuda.synchronize()
    baracuda.synchronize()  # told once


def test_bad_arguments() -> None:
    recorded = baracuda.record(baracuda.exp, array(1, 6, 4))
    with pytest.raises(InvalidProblemError, match=r"exp: recorded for f32 6x4 on cuda:0; got f32 4x6 on cuda:0"):
        recorded(array(1, 4, 6))
    with pytest.raises(InvalidProblemError, match=r"argument 0 of exp is a builtins.list; expected an Array"):
        baracuda.record(baracuda.exp, [1.0])
    with pytest.raises(InvalidProblemError, match="a result is 3; expected an Array"):
        baracuda.record(lambda x: 3, array(1, 2))
