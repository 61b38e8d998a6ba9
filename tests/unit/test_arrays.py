"""`adopted`: what a function makes of tensors that have nothing but DLPack, and of those that PyTorch conjugates lazily."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import BufferTooSmallError, InvalidProblemError, MisalignedOperandError, UnsupportedError
from baracuda.core.layout_key import layout_key_mut
from baracuda.core.parameters import element_of
from baracuda.core.tensor import TensorMut, TensorRef, tensor_mut, tensor_ref
from baracuda.frontends.array import Array
from baracuda.frontends.arrays import adopted, all_adopted, empty_like
from tests.unit.fake_dlpack import Bare, FakeTensor

VIEWS = {
    "contiguous": lambda x: x,
    "transpose": lambda x: x.transpose(2, 0, 1),
    "slice": lambda x: x[1:, ::2, 1:-1],
    "reversed": lambda x: x[::-1, :, ::-1],
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "scalar": lambda x: x[1, 2, 3, ...],
    "empty": lambda x: x[:, 2:2],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_, np.complex128])
def test_a_bare_producer_becomes_numpys_array_of_its_memory(dtype: Any, view: str) -> None:
    x = VIEWS[view](np.arange(3 * 5 * 6).reshape(3, 5, 6).astype(dtype))
    array = adopted(Bare(x))
    assert type(array) is np.ndarray
    assert (array.dtype, array.shape, array.tolist()) == (x.dtype, x.shape, x.tolist())
    if x.size:
        assert array.__array_interface__["data"][0] == x.__array_interface__["data"][0]
        assert array.strides == x.strides


def test_an_element_that_numpy_has_no_letter_for() -> None:
    x = torch.arange(12.0).to(torch.bfloat16).reshape(3, 4).T
    array = adopted(Bare(x))
    assert array.dtype == ml_dtypes.bfloat16
    assert array.tolist() == x.tolist()
    assert array.ctypes.data == x.data_ptr()


def test_it_keeps_the_memory_alive_and_no_longer() -> None:
    x = np.arange(6.0)
    alive = weakref.ref(x)
    array = adopted(Bare(x))[2:]
    del x
    gc.collect()
    assert alive() is not None
    assert array.tolist() == [2, 3, 4, 5]
    del array
    gc.collect()
    assert alive() is None


def test_writes_go_where_the_producer_lets_them() -> None:
    x = np.zeros(3)
    adopted(Bare(x))[1] = 5
    assert x[1] == 5
    x.flags.writeable = False
    assert not adopted(Bare(x)).flags.writeable


def test_a_producer_on_a_gpu_becomes_our_own_array() -> None:
    fake = FakeTensor(0x1000, (2, 3), (1, 2), (0, 32, 1), device=(2, 1))
    array = adopted(fake)
    assert type(array) is Array
    assert (array.pointer, array.shape, array.strides, array.kind) == (0x1000, (2, 3), (1, 2), ElementKind.S32)
    assert array.device is Device.cuda(1)
    assert array.T.owner is array.owner is not None
    assert not array.readonly


def test_a_read_only_producer_on_a_gpu_stays_so() -> None:
    array = adopted(FakeTensor(0x1000, device=(2, 0), flags=1))
    for one in (array, array.T, array[0], array.reshape(6), array.view(ElementKind.S32)):
        assert one.readonly
        assert one.__cuda_array_interface__["data"][1]
        assert layout_key_mut(one) is None
        with pytest.raises(InvalidProblemError, match=r"^y: it is read-only"):
            tensor_mut(one, name="y")


def test_a_packed_element_stays_packed() -> None:
    ref = adopted(FakeTensor(0x1000, (2, 4), None, (0, 4, 1), device=(1, 0)))
    assert type(ref) is TensorRef
    assert (ref.kind.bits, ref.shape) == (4, (2, 4))


def test_a_bare_reference_becomes_an_array() -> None:
    x = np.arange(6.0).reshape(2, 3)
    ref = tensor_ref(x)
    assert adopted(ref).tolist() == x.tolist()
    assert type(adopted(ref)) is np.ndarray


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"pointer": 0}, InvalidProblemError),
        ({"pointer": 0x1001}, MisalignedOperandError),
        ({"nbytes_available": 47}, BufferTooSmallError),
        ({"nbytes_before": 0, "strides": (-3, 1)}, BufferTooSmallError),
    ],
)
def test_a_reference_beyond_its_memory_is_refused_everywhere(change: dict[str, Any], error: type[Exception]) -> None:
    fields = {"pointer": 0x1000, "shape": (2, 3), "strides": (3, 1), "kind": ElementKind.F64, "device": Device.cpu(), **change}
    for take in (adopted, tensor_ref, tensor_mut):
        with pytest.raises(error, match=r"^x"):
            take(TensorMut(**fields), name="x")


def test_what_needs_nothing_is_returned_as_it_is() -> None:
    numpy, leaf = np.zeros(3), torch.zeros(3, requires_grad=True)
    for value in (None, 1, 2.5, True, "sum", [1, 2], (numpy, leaf), numpy, numpy.view(np.ndarray), leaf, object(), np.float32):
        assert adopted(value) is value
    values = [numpy, None, 3]
    assert all_adopted(values) is values


def test_members_of_a_sequence_are_adopted() -> None:
    x = np.arange(3.0)
    members = adopted((Bare(x), x, 2))
    assert type(members) is tuple
    assert members[0].tolist() == [0, 1, 2]
    assert members[1] is x
    assert type(adopted([Bare(x)])) is list


@pytest.mark.parametrize(
    ("lazy", "values"),
    [
        (lambda z: z.conj(), [1 - 2j, 3 + 4j]),
        (lambda z: torch._neg_view(z), [-1 - 2j, -3 + 4j]),
        (lambda z: torch._neg_view(z.conj()), [-1 + 2j, -3 - 4j]),
        (lambda z: z.conj().imag, [-2.0, 4.0]),
        (lambda z: z.conj().real, [1.0, 3.0]),
    ],
)
def test_lazily_conjugated_or_negated_tensors_hold_their_values(lazy: Any, values: list[Any]) -> None:
    x = lazy(torch.tensor([1 + 2j, 3 - 4j]))
    assert x.is_conj() or x.is_neg() or values == [1.0, 3.0]
    tensor = adopted(x)
    assert not tensor.is_conj()
    assert not tensor.is_neg()
    assert tensor.tolist() == values
    assert tensor_ref(tensor).shape == (2,)


def test_errors_name_the_argument() -> None:
    with pytest.raises(UnsupportedError, match=r"^weight: DLPack device type 10"):
        adopted(FakeTensor(device=(10, 0)), "weight")
    with pytest.raises(UnsupportedError, match=r"^weight: "):
        all_adopted([FakeTensor(dtype=(7, 8, 1), device=(1, 0))], "weight")


def test_no_library_is_imported_for_it() -> None:
    code = (
        "import sys, numpy as np\nfrom baracuda.frontends.arrays import adopted\n"
        "assert adopted(np.ones(2)).sum() == 2\nassert not {'torch', 'jax', 'cupy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.complex64, torch.float8_e4m3fn], ids=str)
def test_large_results_for_pytorch_are_of_memory_from_the_pool(dtype: torch.dtype) -> None:
    """They are aligned to a page, keep the memory order of what they are like, and give their memory back when the last view of
    them is gone."""
    like = torch.zeros(300, 1000).to(dtype).T
    kind = element_of(dtype)
    assert kind is not None
    result = empty_like(like, (1000, 300), kind)
    assert (result.dtype, tuple(result.shape), result.stride()) == (dtype, (1000, 300), (1, 1000))
    address = result.data_ptr()
    assert address % 4096 == 0
    view = result[5:7]
    del result
    other = empty_like(like, (1000, 300), kind)
    assert other.data_ptr() != address
    view.T.view(torch.uint8).fill_(1)
    del view, other
    held = [empty_like(like, (1000, 300), kind) for _ in range(3)]
    assert address in [tensor.data_ptr() for tensor in held]
    assert empty_like(like, (7,), kind).untyped_storage().nbytes() == 7 * kind.itemsize
