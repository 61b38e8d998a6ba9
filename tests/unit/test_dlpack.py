"""DLPack: what a consumer must ask for, read, and give back."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import torch

from baracuda.core.device import Device, Stream
from baracuda.core.dlpack import FLAG_READ_ONLY, FLAG_SUBBYTE_PADDED, import_dlpack
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.tensor import tensor_mut, tensor_ref
from tests.unit.fake_dlpack import FakeTensor, name_of


@pytest.mark.parametrize("version", [None, (1, 0), (1, 1), (1, 9)])
def test_fields_and_ownership(version: tuple[int, int] | None) -> None:
    fake = FakeTensor(pointer=0x2000, shape=(2, 3, 4), strides=(24, -4, 1), byte_offset=64, device=(2, 3), version=version)
    tensor = import_dlpack(fake)
    assert (tensor.pointer, tensor.shape, tensor.strides) == (0x2040, (2, 3, 4), (24, -4, 1))
    assert (tensor.kind, tensor.device, tensor.readonly) == (ElementKind.F32, Device.cuda(3), False)
    assert name_of(fake.capsule) == (b"used_dltensor" if version is None else b"used_dltensor_versioned")
    assert fake.deleted == []
    owner = tensor.owner
    del tensor
    assert fake.deleted == []
    del owner
    assert fake.deleted == [fake.address]


def test_the_tensor_ref_is_what_keeps_the_memory() -> None:
    fake = FakeTensor()
    ref = tensor_ref(fake)
    mut = tensor_mut(ref)
    del ref
    assert fake.deleted == []
    del mut
    assert fake.deleted == [fake.address]


def test_null_deleter() -> None:
    fake = FakeTensor(has_deleter=False)
    owner = import_dlpack(fake).owner
    del owner
    assert fake.deleted == []


@pytest.mark.parametrize(
    ("handle", "passed"),
    [(0, 1), (1, 1), (2, 2), (0x7F00, 0x7F00)],
)
@pytest.mark.parametrize("version", [None, (1, 1)])
def test_stream_argument_on_cuda(handle: int, passed: int, version: tuple[int, int] | None) -> None:
    fake = FakeTensor(device=(2, 1), version=version)
    import_dlpack(fake, Stream(Device.cuda(1), handle))
    assert fake.calls[0] == {"stream": passed, "max_version": (1, 1)}
    assert fake.calls[1:] == ([] if version else [{"stream": passed}])


def test_no_stream_argument_without_a_stream_or_on_the_cpu() -> None:
    cuda, cpu = FakeTensor(), FakeTensor(device=(1, 0))
    import_dlpack(cuda)
    import_dlpack(cpu, Stream(Device.cuda(0), 5))
    assert cuda.calls == cpu.calls == [{"max_version": (1, 1)}]


def test_stream_of_another_device_is_refused() -> None:
    with pytest.raises(InvalidProblemError, match="x: it is on cuda:1, the stream on cuda:0"):
        import_dlpack(FakeTensor(device=(2, 1)), Stream(Device.cuda(0)), "x")


@pytest.mark.parametrize(
    ("device", "expected"),
    [((1, 0), Device.cpu()), ((2, 5), Device.cuda(5)), ((3, 0), Device.cpu()), ((13, 2), Device.cuda(2))],
)
def test_devices(device: tuple[int, int], expected: Device) -> None:
    assert import_dlpack(FakeTensor(device=device)).device == expected


@pytest.mark.parametrize("device_type", [4, 8, 10, 14])
def test_other_devices_are_refused_before_a_capsule_is_made(device_type: int) -> None:
    fake = FakeTensor(device=(device_type, 0))
    with pytest.raises(UnsupportedError, match=f"x: DLPack device type {device_type}"):
        import_dlpack(fake, name="x")
    assert fake.calls == []


def test_null_strides_mean_contiguous() -> None:
    assert import_dlpack(FakeTensor(shape=(2, 3, 5), strides=None)).strides == (15, 5, 1)
    assert import_dlpack(FakeTensor(shape=(), strides=None)).strides == ()


def test_read_only_flag() -> None:
    assert import_dlpack(FakeTensor(flags=FLAG_READ_ONLY)).readonly
    assert not import_dlpack(FakeTensor(flags=2)).readonly  # IS_COPIED
    with pytest.raises(InvalidProblemError, match="out: it is read-only"):
        tensor_mut(FakeTensor(flags=FLAG_READ_ONLY), name="out")
    assert tensor_ref(FakeTensor(flags=FLAG_READ_ONLY)).readonly


@pytest.mark.parametrize("kind", list(ElementKind))
def test_every_kind_has_its_dlpack_type(kind: ElementKind) -> None:
    code, bits = kind.dlpack
    tensor = import_dlpack(FakeTensor(dtype=(code, bits, 1)))
    assert (tensor.kind, tensor.shape, tensor.strides) == (kind, (2, 3), (3, 1))


@pytest.mark.parametrize("dtype", [(2, 32, 4), (8, 8, 1), (3, 64, 1), (0, 4, 8), (6, 1, 1), (2, 128, 1), (17, 8, 1)])
def test_other_types_are_refused(dtype: tuple[int, int, int]) -> None:
    fake = FakeTensor(dtype=dtype)
    with pytest.raises(UnsupportedError, match=f"type code {dtype[0]}, {dtype[1]} bits, {dtype[2]} lanes"):
        import_dlpack(fake)
    gc.collect()
    assert fake.deleted == [fake.address]


@pytest.mark.parametrize("code", [0, 1, 17])
def test_two_packed_elements_to_an_item(code: int) -> None:
    tensor = import_dlpack(FakeTensor(shape=(2, 3), strides=(8, 1), dtype=(code, 4, 2)))
    assert (tensor.shape, tensor.strides, tensor.kind.bits) == ((2, 6), (16, 1), 4)
    assert import_dlpack(FakeTensor(shape=(2, 1), strides=(8, 8), dtype=(code, 4, 2))).strides == (16, 1)
    with pytest.raises(InvalidProblemError, match="last axis of stride 1"):
        import_dlpack(FakeTensor(shape=(2, 3), strides=(1, 2), dtype=(code, 4, 2)))


def test_padded_elements_are_every_second_one() -> None:
    tensor = import_dlpack(FakeTensor(shape=(2, 3), strides=(3, 1), dtype=(17, 4, 1), flags=FLAG_SUBBYTE_PADDED))
    assert (tensor.shape, tensor.strides) == ((2, 3), (6, 2))


def test_a_newer_major_version_is_deleted_and_refused() -> None:
    fake = FakeTensor(version=(2, 0))
    with pytest.raises(UnsupportedError, match=r"DLPack version 2.0; expected 1.x"):
        import_dlpack(fake)
    gc.collect()
    assert fake.deleted == [fake.address]


@pytest.mark.parametrize("capsule_name", [b"used_dltensor", b"used_dltensor_versioned", b"arrow_array"])
def test_a_used_capsule_is_refused_and_left_alone(capsule_name: bytes) -> None:
    fake = FakeTensor(capsule_name=capsule_name)
    with pytest.raises(InvalidProblemError, match="expected an unused dltensor"):
        import_dlpack(fake)
    gc.collect()
    assert fake.deleted == []
    assert name_of(fake.capsule) == capsule_name


def test_what_the_producer_says_is_passed_on() -> None:
    class Refusing(FakeTensor):
        def __dlpack__(self, **arguments: object) -> object:
            raise BufferError("not today")

    with pytest.raises(InvalidProblemError, match=r"x: .*Refusing\.__dlpack__ refused: not today"):
        import_dlpack(Refusing(), name="x")


def test_numpy_as_a_producer() -> None:
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)[:, ::-1, ::2]
    tensor = import_dlpack(x)
    assert (tensor.pointer, tensor.shape, tensor.strides) == (x.ctypes.data, (2, 3, 2), (12, -4, 2))
    assert (tensor.kind, tensor.device) == (ElementKind.S16, Device.cpu())
    x.flags.writeable = False
    assert import_dlpack(x).readonly


def test_torch_as_a_producer() -> None:
    x = torch.zeros(6, 4, dtype=torch.bfloat16)[1:, ::2].T
    tensor = import_dlpack(x)
    assert (tensor.pointer, tensor.shape, tensor.strides) == (x.data_ptr(), (2, 5), (2, 4))
    assert (tensor.kind, tensor.device) == (ElementKind.BF16, Device.cpu())
    with pytest.raises(InvalidProblemError, match="require gradient"):
        import_dlpack(torch.zeros(3, requires_grad=True))


def test_a_producer_lives_as_long_as_the_import() -> None:
    class Array(np.ndarray):
        pass

    x = np.zeros(1000).view(Array)
    alive = weakref.ref(x)
    tensor = import_dlpack(x)
    del x
    assert alive() is not None
    del tensor
    assert alive() is None
