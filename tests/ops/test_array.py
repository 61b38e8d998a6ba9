"""Arrays of our own as values: operators, indexing, exchange with other libraries, against NumPy, on the device of the tests."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import threading
from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from baracuda import Array, Device, ElementKind
from baracuda.frontends import call_cache
from baracuda.frontends.array import empty
from baracuda.runtime import memory

CPU = Device.cpu()
BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "ge", "gt"]
BITS = ["and_", "or_", "xor", "lshift", "rshift"]
VALUES = np.arange(1, 13, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="module")
def device(request: pytest.FixtureRequest) -> Device:
    return CPU if request.config.getoption("--device") == "cpu" else Device.cuda(0)


def array(values: Any, device: Device) -> Array:
    return baracuda.to_device(np.array(values), device)


def check(ours: Any, theirs: Any, **near: float) -> None:
    assert type(ours) is Array
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert np.dtype(ours.dtype) == theirs.dtype
    np.testing.assert_allclose(ours.numpy(), theirs, **(near or {"rtol": 0}))


# --- operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BINARY)
def test_operators(device: Device, name: str) -> None:
    """Of arrays, of an array and a number, and the other way round; the second call is one that is kept."""
    apply, a, b = getattr(operator, name), VALUES, VALUES[::-1, ::-1].copy()
    x, y = array(a, device), array(b, device)
    for _ in range(3):
        check(apply(x, y), apply(a, b), rtol=1e-6)
        check(apply(x.T, y[0, 0]), apply(a.T, b[0, 0]), rtol=1e-6)
        for number in (2, 2.5):
            check(apply(x, number), apply(a, np.float32(number)), rtol=1e-6)
            check(apply(number, x), apply(np.float32(number), a), rtol=1e-6)
        check(apply(x, np.float64(2.5)), apply(a, np.float32(2.5)), rtol=1e-6)


@pytest.mark.parametrize("name", BITS)
def test_operators_of_integers(device: Device, name: str) -> None:
    apply, a, b = getattr(operator, name), np.arange(6, dtype=np.int32), np.array([1, 2, 3, 0, 1, 2], np.int32)
    x, y = array(a, device), array(b, device)
    for _ in range(3):
        check(apply(x, y), apply(a, b))
        check(apply(x, 3), apply(a, np.int32(3)))
        check(apply(3, x), apply(np.int32(3), a))
    if name in ("and_", "or_", "xor"):
        check(apply(x > 2, y > 1), apply(a > 2, b > 1))


def test_operators_of_one_array(device: Device) -> None:
    x, n = array(VALUES - 6, device), array(np.arange(4, dtype=np.uint8), device)
    for _ in range(2):
        check(-x, 6 - VALUES)
        check(+x, VALUES - 6)
        check(abs(x), abs(VALUES - 6))
        check(~n, ~np.arange(4, dtype=np.uint8))
        check(~(x > 0), ~(VALUES > 6))


def test_products(device: Device) -> None:
    x, y = array(VALUES, device), array(VALUES.T.astype(np.float64), device)
    check(x @ x.T, VALUES @ VALUES.T, rtol=1e-5)
    check(x @ y, VALUES.astype(np.float64) @ VALUES.T)
    square = array(np.eye(4, dtype=np.float32) * 2, device)
    z = x + 0
    pointer = z.pointer
    z @= square
    check(z, VALUES * 2)
    assert z.pointer == pointer
    check(divmod(x, 5)[0], VALUES // 5)


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"])
def test_in_place(device: Device, name: str) -> None:
    a, x = VALUES.copy(), array(VALUES, device)
    view, pointer = x[1:], x.pointer
    for other in (2.0, 3):
        a, x = getattr(operator, name)(a, np.float32(other)), getattr(operator, name)(x, other)
    assert x.pointer == pointer
    check(x, a, rtol=1e-5)
    check(view, a[1:], rtol=1e-5)
    getattr(operator, name)(x[:, 1], x[:, 0])
    with np.errstate(all="ignore"):
        a[:, 1] = getattr(operator, name)(a[:, 1].copy(), a[:, 0])
    check(x, a, rtol=1e-4)


def test_in_place_keeps_shape_and_element(device: Device) -> None:
    x = array(np.arange(3), device)
    for other in (array(np.zeros((2, 3), int), device), 2.5, array(np.zeros(3), device)):
        with pytest.raises(baracuda.Error):
            x += other
    assert x.tolist() == [0, 1, 2]


def test_values_of_views_with_extents_of_1(device: Device) -> None:
    """Whose strides say nothing about the order of elements."""
    x = array(VALUES, device)
    for cut in (lambda a: a[:1].T, lambda a: a[:, :1][2:3], lambda a: a[1:2, 1:2], lambda a: a[None, :, None, 0]):
        check(cut(x), cut(VALUES))
    check(baracuda.einsum("ii->i", x[:3, :3]), np.einsum("ii->i", VALUES[:3, :3]))


def test_in_place_rounds_wider_numbers_to_its_own(device: Device) -> None:
    """As NumPy's do; integers take no floats."""
    for own, wider in ((np.float32, np.float64), (np.int32, np.int64), (np.complex64, np.complex128), (np.float16, np.float32)):
        a, b = np.array([1, 2, 3]).astype(own), np.array([5, 7, 9]).astype(wider)
        b = b / 3 if own is not np.int32 else b
        x, other = array(a, device), array(b, device)
        pointer = x.pointer
        for name in ("iadd", "imul", "isub"):
            with np.errstate(all="ignore"):
                a = getattr(operator, name)(a, b)
            x = getattr(operator, name)(x, other)
            assert (x.pointer, x.dtype) == (pointer, array(a, device).dtype)
            np.testing.assert_allclose(x.numpy(), a, rtol=1e-3 if own is np.float16 else 1e-6)
    x = array(np.int32([1, 2]), device)
    with pytest.raises(baracuda.Error):
        x /= array(np.int64([1, 2]), device)


def test_what_is_no_operand_is_refused(device: Device) -> None:
    x = array(VALUES, device)
    for other in ("a", None, [1, 2], {}):
        for apply in (operator.add, operator.mul, operator.lt):
            with pytest.raises(TypeError):
                apply(x, other)
        with pytest.raises(TypeError):
            other + x
    with pytest.raises(TypeError) if device is not CPU else nullcontext():
        check(x + VALUES, VALUES + VALUES)
        check(VALUES - x, VALUES - VALUES)
    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_operators_are_kept(device: Device) -> None:
    x = array(VALUES, device)
    before = baracuda.add.cached_calls
    for shape in ((5, 1), (5, 2), (5, 3)):
        y = array(np.ones(shape, np.float32), device)
        for _ in range(3):
            y + y
    assert baracuda.add.cached_calls >= before + 3
    assert type(baracuda.exp(x)) is Array


def test_functions_in_python_take_and_give_arrays(device: Device) -> None:
    add = call_cache.python_function(baracuda.add.__wrapped__.cacheable)
    x = array(VALUES, device)
    for _ in range(3):
        check(add(x, x[::-1]), VALUES + VALUES[::-1])
        check(add(x.T, 1.0), VALUES.T + 1)


# --- indexing ---------------------------------------------------------------------------------------------------------

KEYS: list[Any] = [
    0, -1, slice(1, None), (Ellipsis, 1), (slice(None), None, slice(None, None, -2)), (1, 2), (), Ellipsis, [0, 2],
    [True, False, True],
    (slice(None), [3, 0]), ([0, 1], [2, 3]), np.array([[0, 1], [2, 0]]), (None, [1], slice(1, 3)), (np.int64(1), slice(2)),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_reading_and_writing(device: Device, key: Any) -> None:
    a, x = VALUES.copy(), array(VALUES, device)
    ours = tuple(array(k, device) if isinstance(k, np.ndarray) else k for k in key) if isinstance(key, tuple) else key
    ours = array(key, device) if isinstance(key, np.ndarray) else ours
    check(x[ours], a[key])
    x[ours], a[key] = -1.0, -1.0
    check(x, a)
    values = np.arange(a[key].size, dtype=np.int32).reshape(a[key].shape)
    x[ours], a[key] = array(values, device), values
    check(x, a)


def test_masks(device: Device) -> None:
    a, x = VALUES.copy(), array(VALUES, device)
    check(x[x > 5], a[a > 5])
    x[x > 5] = 0
    a[a > 5] = 0
    check(x, a)
    x[x[:, 0] > 1] = array([9, 8, 7, 6], device)
    a[a[:, 0] > 1] = [9, 8, 7, 6]
    check(x, a)


def test_a_write_may_read_what_it_writes(device: Device) -> None:
    a, x = VALUES.copy(), array(VALUES, device)
    x[1:] = x[:-1]
    a[1:] = a[:-1].copy()
    check(x, a)
    x[:, ::-1] = x
    check(x, a[:, ::-1])


def test_wrong_indices_and_writes(device: Device) -> None:
    x = array(VALUES, device)
    for key in (3, -4, (0, 0, 0), (Ellipsis, Ellipsis)):
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 0
    with pytest.raises(baracuda.Error):
        x[0] = array(np.zeros(3, np.float32), device)
    whole = x[:1].broadcast_to((3, 4))
    for write in (lambda: whole.__setitem__(0, 1.0), lambda: whole.__setitem__(0, array(1.0, device)), lambda: whole.__iadd__(1)):
        with pytest.raises(baracuda.Error, match="read-only"):
            write()
    check(x, VALUES)


def test_iteration_and_membership(device: Device) -> None:
    x = array(VALUES, device)
    assert [row.tolist() for row in x] == VALUES.tolist()
    assert 3 in x
    assert 99.5 not in x
    with pytest.raises(TypeError, match="without axes"):
        iter(x[0, 0])


# --- numbers, text, copies --------------------------------------------------------------------------------------------


def test_numbers(device: Device) -> None:
    x = array(VALUES, device)
    assert (float(x[0, 1]), int(x[0, 1]), complex(x[0, 1]), bool(x[0, 1]), x[0, 1].item()) == (2.0, 2, 2 + 0j, True, 2.0)
    assert [10, 11, 12][array(1, device)] == 11
    assert f"{x[0, 1]:.3f}" == "2.000"
    for wrong in (x, x[0, 0]):
        with pytest.raises(TypeError):
            operator.index(wrong)
    with pytest.raises(TypeError):
        operator.index(array([1], device))
    with pytest.raises(baracuda.Error, match="expected one element"):
        bool(x)
    assert array(np.ones(2, ml_dtypes.bfloat16), device).tolist() == [1, 1]


def test_text_shows_values(device: Device) -> None:
    place = "" if device is CPU else ", device='cuda:0'"
    assert repr(array(np.float32([1, 2]), device)) == f"Array([1., 2.], dtype=float32{place})"
    assert str(array([1, 2], device)) == "[1 2]"
    assert repr(array(np.ones((), ml_dtypes.bfloat16), device)) == f"Array(1, dtype=bfloat16{place})"


def test_copies_and_pickles(device: Device) -> None:
    x = array(VALUES, device)
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        check(made, VALUES)
        assert made.device == device
        made[0] = 0
        check(x, VALUES)
    check(pickle.loads(pickle.dumps(x.T[::2])), VALUES.T[::2])


@pytest.mark.parametrize("kind", [k for k in ElementKind if k.bits >= 8], ids=str)
def test_every_element_is_stored_converted_and_pickled(device: Device, kind: ElementKind) -> None:
    values = np.arange(4).astype(kind.numpy)
    x = array(values, device)
    assert (x.kind, x.itemsize, x.nbytes) == (kind, kind.itemsize, 4 * kind.itemsize)
    assert np.array_equal(x.numpy(), values)
    assert np.array_equal(pickle.loads(pickle.dumps(x)).numpy(), values)
    assert x.astype("float64").tolist() == values.astype(np.complex128).real.tolist()
    assert x.astype(kind, copy=False) is x
    x[1:3] = x[0:2]
    assert x.numpy().tolist() == values[[0, 0, 1, 3]].tolist()


# --- other libraries --------------------------------------------------------------------------------------------------


def test_numpy_reads_an_array_in_place() -> None:
    x = array(VALUES, CPU)
    for seen in (x.numpy(), np.asarray(x), np.from_dlpack(x), np.asarray(x.T).T):
        assert seen.ctypes.data == x.pointer
        assert np.array_equal(seen, VALUES)
    np.asarray(x)[0, 0] = 7
    assert float(x[0, 0]) == 7
    assert np.array(x).ctypes.data != x.pointer
    assert np.asarray(x, np.float64).dtype == np.float64
    assert not x[:1].broadcast_to((3, 4)).numpy().flags.writeable
    with pytest.raises(ValueError, match="takes a copy"):
        x.__array__(np.float64, copy=False)


def test_numpys_view_keeps_the_memory() -> None:
    view = array(np.arange(100_000), CPU).__add__(1).numpy()
    others = [array(np.arange(100_000), CPU) * 0 for _ in range(3)]
    gc.collect()
    assert view[-1] == 100_000
    assert all(o.numpy().ctypes.data != view.ctypes.data for o in others)


def test_dlpack_both_ways(device: Device) -> None:
    x = array(VALUES, device)
    for made in (x, x[1:, ::2], x.T, x[:0]):
        tensor = torch.from_dlpack(made)
        assert np.array_equal(tensor.cpu().numpy(), made.numpy())
        assert tensor.data_ptr() == made.pointer or not made.size
        back = baracuda.array_api.from_dlpack(tensor)
        assert type(back) is Array
        assert np.array_equal(back.numpy(), made.numpy())
    tensor = torch.from_dlpack(x)
    tensor += 1
    check(x, VALUES + 1)


def test_dlpack_options(device: Device) -> None:
    x = array(VALUES, device)
    assert x.__dlpack_device__() == ((1, 0) if device is CPU else (2, 0))
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(x.__dlpack__())
    readonly = x[:1].broadcast_to((3, 4))
    with pytest.raises(BufferError, match="read-only"):
        readonly.__dlpack__()
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(4, 0))
    host = np.from_dlpack(x, device="cpu") if device is CPU else None
    assert host is None or host.ctypes.data == x.pointer
    copied = np.from_dlpack(x, copy=True) if device is CPU else None
    assert copied is None or copied.ctypes.data != x.pointer


def test_a_capsule_that_nobody_takes_lets_go() -> None:
    from baracuda.runtime import dlpack_export

    gc.collect()
    before = len(dlpack_export._held)
    capsule = array(VALUES, CPU).__dlpack__()
    assert len(dlpack_export._held) == before + 1
    del capsule
    assert len(dlpack_export._held) == before
    tensor = torch.from_dlpack(array(VALUES, CPU))
    assert tensor.sum() == VALUES.sum()
    del tensor
    gc.collect()
    assert len(dlpack_export._held) == before


# --- memory and threads -----------------------------------------------------------------------------------------------


def test_large_arrays_are_of_memory_from_the_pool() -> None:
    made = empty((1000, 1000), ElementKind.F32, CPU)
    address = made.pointer
    assert address % memory.HUGE_PAGE == 0
    view = made[5:]
    del made
    assert empty((1000, 1000), ElementKind.F32, CPU).pointer != address
    del view
    held = [empty((1000, 1000), ElementKind.F32, CPU) for _ in range(3)]
    assert address in [a.pointer for a in held]


def test_the_fallback_without_c_gives_the_same_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from baracuda.frontends.array import exchange
    from baracuda.frontends.array import memory as array_memory

    monkeypatch.setattr(array_memory, "_small", memory.SmallMemory)
    x = empty((3, 4), ElementKind.BF16, CPU)
    seen = exchange._borrowed(x, x.kind.numpy)
    assert (seen.ctypes.data, seen.shape, seen.dtype) == (x.pointer, (3, 4), ml_dtypes.bfloat16)
    assert x.pointer % 64 == 0


def test_threads_use_arrays_at_once(device: Device) -> None:
    wrong: list[Any] = []

    def work(k: int) -> None:
        x = array(np.full(500, k, np.float32), device)
        for i in range(50):
            x = x * 1.0 + (i - i)
            x[0] = k
        if not (x.numpy() == k).all():
            wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
