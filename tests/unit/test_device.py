"""Devices, streams and what counts as a stream."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from baracuda.core.device import Device, DeviceKind, Stream, as_stream
from baracuda.core.errors import InvalidProblemError


def test_devices_are_values() -> None:
    assert str(Device.cpu()) == "cpu"
    assert str(Device.cuda(3)) == "cuda:3"
    assert Device.cuda(1) is Device.cuda(1)
    assert Device.cuda(1) == Device(DeviceKind.CUDA, 1)
    assert len({Device.cpu(), Device(DeviceKind.CPU), Device.cuda(), Device.cuda(0), Device.cuda(1)}) == 3


@pytest.mark.parametrize(("kind", "index"), [(DeviceKind.CPU, 1), (DeviceKind.CUDA, -1)])
def test_impossible_device_is_refused(kind: DeviceKind, index: int) -> None:
    with pytest.raises(InvalidProblemError, match=f"device index {index}"):
        Device(kind, index)


class Method:
    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, 0xABC)


class Property:
    __cuda_stream__ = (0, 0xABC)


@pytest.mark.parametrize(
    ("obj", "device", "handle"),
    [
        (None, Device.cpu(), 0),
        (Stream(Device.cuda(2), 7), Device.cuda(2), 7),
        (Method(), Device.cuda(0), 0xABC),
        (Property(), Device.cuda(0), 0xABC),
        (SimpleNamespace(cuda_stream=0x10, device=SimpleNamespace(type="cuda", index=3)), Device.cuda(3), 0x10),  # torch
        (SimpleNamespace(__cuda_stream__=(0, 0x20), device=SimpleNamespace(device_id=2)), Device.cuda(2), 0x20),  # cuda.core
        (SimpleNamespace(ptr=0x30, device_id=1), Device.cuda(1), 0x30),  # cupy
        (SimpleNamespace(ptr=0, device_id=-1), Device.cuda(0), 0),  # cupy's null stream
        (0x40, Device.cuda(0), 0x40),
        (0, Device.cuda(0), 0),
        (2, Device.cuda(0), 2),
    ],
)
def test_as_stream(obj: object, device: Device, handle: int) -> None:
    stream = as_stream(obj)
    assert stream == Stream(device, handle)
    assert hash(stream) == hash(Stream(device, handle))


def test_hint_decides_only_what_the_object_leaves_open() -> None:
    assert as_stream(5, Device.cuda(4)).device == Device.cuda(4)
    assert as_stream(Method(), Device.cuda(4)).device == Device.cuda(4)
    assert as_stream(None, Device.cuda(4)) == Stream(Device.cuda(4), 0)
    with pytest.raises(InvalidProblemError, match="is on cuda:1; expected one on cuda:0"):
        as_stream(SimpleNamespace(ptr=3, device_id=1), Device.cuda(0))
    with pytest.raises(InvalidProblemError, match="is on cpu; expected one on cuda:0"):
        as_stream(Stream(Device.cpu()), Device.cuda(0))


def test_both_names_of_the_legacy_default_stream_are_one() -> None:
    assert as_stream(1) == as_stream(0)
    assert as_stream(2) != as_stream(0)


@pytest.mark.parametrize("obj", ["cuda", 3.0, True, -1, [], object(), SimpleNamespace(ptr=5), SimpleNamespace(cuda_stream="x")])
def test_other_objects_are_refused_and_quoted(obj: object) -> None:
    with pytest.raises(InvalidProblemError) as info:
        as_stream(obj)
    assert repr(obj) in str(info.value)


@pytest.mark.parametrize("answer", [(1, 5), 5, (0,), [0, 5]])
def test_unknown_protocol_versions_are_refused(answer: object) -> None:
    with pytest.raises(InvalidProblemError, match="expected a tuple"):
        as_stream(SimpleNamespace(__cuda_stream__=lambda: answer))


def test_the_cpu_has_one_stream() -> None:
    with pytest.raises(InvalidProblemError, match="stream handle 9 on cpu"):
        Stream(Device.cpu(), 9)


def test_str_names_device_and_handle() -> None:
    assert str(Stream(Device.cuda(1), 255)) == "cuda:1 stream 0xff"
    assert str(as_stream(None)) == "cpu"
