"""Arrays without values: functions find out of them what their results are, and launch nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda.core.call_recorder import Launcher
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.frontends.array.described import NoValuesError, described, is_described

F32, S64 = ElementKind.F32, ElementKind.S64


def array(*shape: int, kind: ElementKind = F32, order: tuple[int, ...] | None = None) -> Any:
    return described(shape, kind, Device.cpu(), order)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: baracuda.gelu(x),
        lambda x: baracuda.softmax(x, axis=0),
        lambda x: baracuda.matmul(x, x.T),
        lambda x: baracuda.concat([x, x], axis=1),
        lambda x: baracuda.sort(x, return_indices=True)[1],
        lambda x: baracuda.permute(x, (1, 0)),
        lambda x: baracuda.fft(x),
        lambda x: baracuda.sum(x, axis=0, dtype="f64"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_results_are_those_of_arrays_with_values(call: Any, order: tuple[int, ...]) -> None:
    values = baracuda.to_device(np.zeros(tuple((3, 4)[a] for a in order), np.float32), Device.cpu()).transpose(*order)
    found, expected = call(array(3, 4, order=order)), call(values)
    assert is_described(found)
    assert (found.shape, found.strides, found.kind) == (expected.shape, expected.strides, expected.kind)


def test_nothing_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    def launched(*_: Any) -> None:
        raise AssertionError("a launch")

    for kind in Launcher.__subclasses__():
        monkeypatch.setattr(kind, "launch", launched)
    assert baracuda.clip_grad_norm([array(3, 4), array(5)], 1.0)[0].shape == ()
    assert baracuda.embedding(array(2, 3, kind=S64), array(9, 4)).shape == (2, 3, 4)


def test_values_are_refused() -> None:
    for read in (lambda x: x.numpy(), np.asarray, float, baracuda.nonzero, lambda x: x.item()):
        with pytest.raises(NoValuesError, match="expected a question about shape or element alone"):
            read(array(1))


def test_memory_of_two_does_not_overlap() -> None:
    x, y = array(1 << 20), array(1 << 20)
    assert abs(x.pointer - y.pointer) >= x.nbytes
    assert x[3:].pointer == x.pointer + 12
