"""TensorRef, TensorMut, probes and workspaces, from NumPy and torch."""

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
from numpy.lib.stride_tricks import as_strided

import baracuda
from baracuda.core import layout_key as probes
from baracuda.core.device import Device
from baracuda.core.elements import ElementKind
from baracuda.core.errors import (
    BufferTooSmallError,
    InvalidProblemError,
    MisalignedOperandError,
    UnsupportedError,
    WorkspaceTooSmallError,
)
from baracuda.core.layout_key import layout_key, layout_key_mut
from baracuda.core.tensor import TensorMut, TensorRef, tensor_mut, tensor_ref
from baracuda.core.workspace import ALIGNMENT, Workspace
from tests.unit.fake_dlpack import Bare, FakeTensor

WHOLE = [k for k in ElementKind if k.bits >= 8]


def facts(t: TensorRef) -> tuple[Any, ...]:
    return t.pointer, t.shape, t.strides, t.kind, t.device


NUMPY_VIEWS = {
    "contiguous": lambda x: x,
    "transpose": lambda x: x.transpose(2, 0, 1),
    "slice": lambda x: x[1:, ::2, 1:-1],
    "reversed": lambda x: x[::-1, :, ::-1],
    "broadcast": lambda x: np.broadcast_to(x[:1], (7, *x.shape[1:])),
    "scalar": lambda x: x[1, 2, 3, ...],
    "empty": lambda x: x[:, 2:2],
    "newaxis": lambda x: x[:, None, ..., None],
    "fortran": np.asfortranarray,
}


@pytest.mark.parametrize("view", NUMPY_VIEWS)
@pytest.mark.parametrize("kind", WHOLE)
def test_numpy(kind: ElementKind, view: str) -> None:
    x = NUMPY_VIEWS[view](np.zeros((3, 5, 6), kind.numpy))
    t = tensor_ref(x)
    strides = tuple(s // x.itemsize for s in x.strides)
    assert facts(t) == (x.__array_interface__["data"][0], x.shape, strides, kind, Device.cpu())
    assert t.owner is x
    assert t.readonly == (view == "broadcast")


TORCH_VIEWS = {
    "contiguous": lambda x: x,
    "transpose": lambda x: x.permute(2, 0, 1),
    "slice": lambda x: x[1:, ::2, 1:-1],
    "expand": lambda x: x[:1].expand(7, 5, 6),
    "scalar": lambda x: x[1, 2, 3],
    "empty": lambda x: x[:, 2:2],
}
TORCH_DTYPES = [
    (torch.float16, ElementKind.F16),
    (torch.bfloat16, ElementKind.BF16),
    (torch.float32, ElementKind.F32),
    (torch.float64, ElementKind.F64),
    (torch.int8, ElementKind.S8),
    (torch.uint8, ElementKind.U8),
    (torch.int16, ElementKind.S16),
    (torch.uint16, ElementKind.U16),
    (torch.int32, ElementKind.S32),
    (torch.uint32, ElementKind.U32),
    (torch.int64, ElementKind.S64),
    (torch.uint64, ElementKind.U64),
    (torch.bool, ElementKind.BOOL),
    (torch.complex64, ElementKind.C64),
    (torch.complex128, ElementKind.C128),
    (torch.float8_e4m3fn, ElementKind.F8E4M3),
    (torch.float8_e5m2, ElementKind.F8E5M2),
]


@pytest.mark.parametrize("view", TORCH_VIEWS)
@pytest.mark.parametrize(("dtype", "kind"), TORCH_DTYPES)
def test_torch(dtype: torch.dtype, kind: ElementKind, view: str) -> None:
    x = TORCH_VIEWS[view](torch.empty((3, 5, 6), dtype=dtype))
    t = tensor_ref(x)
    assert facts(t) == (x.data_ptr(), tuple(x.shape), x.stride(), kind, Device.cpu())
    assert t.owner is x
    assert not t.readonly


def test_torch_table_is_whole() -> None:
    assert {k for _, k in TORCH_DTYPES} == set(WHOLE)


@pytest.mark.parametrize(
    ("packed", "kind"),
    [(ml_dtypes.int4, ElementKind.S4), (ml_dtypes.uint4, ElementKind.U4), (ml_dtypes.float4_e2m1fn, ElementKind.F4E2M1)],
)
def test_packed_kinds_in_numpy_lie_a_byte_apart(packed: type, kind: ElementKind) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]]).astype(packed)
    t = tensor_ref(x[:, ::2])
    assert (t.kind, t.shape, t.strides) == (kind, (2, 2), (6, 4))
    codes = x.view(np.uint8)

    def element(offset: int) -> int:
        return int(codes.reshape(-1)[offset // 2]) >> 4 * (offset % 2) & 15

    read = [[element(i * t.strides[0] + j * t.strides[1]) for j in range(2)] for i in range(2)]
    assert read == (codes[:, ::2] & 15).tolist()
    with pytest.raises(InvalidProblemError, match="out: it is read-only"):
        tensor_mut(x, name="out")


def test_packed_torch_dtype_counts_elements() -> None:
    x = torch.zeros((4, 6), dtype=torch.uint8).view(torch.float4_e2m1fn_x2)[1:, 2:]
    t = tensor_ref(x)
    assert facts(t) == (x.data_ptr(), (3, 8), (12, 1), ElementKind.F4E2M1, Device.cpu())


def test_size_of_the_buffer() -> None:
    x = np.zeros((4, 8), np.float32)
    t = tensor_ref(x[::-1, 2:])
    assert (t.nbytes_available, t.nbytes_before) == (24, 3 * 32 + 8)
    y = torch.zeros(4, 8)
    t = tensor_ref(y[1:, 2:])
    assert (t.nbytes_available, t.nbytes_before) == (128 - 40, 40)


def test_leaving_the_buffer_is_refused() -> None:
    x = torch.zeros(4, 8)
    x.untyped_storage().resize_(64)
    with pytest.raises(BufferTooSmallError, match="w: its shape and strides reach 128 bytes, its buffer has 64") as info:
        tensor_ref(x, name="w")
    assert (info.value.needed, info.value.got) == (128, 64)
    x.untyped_storage().resize_(0)
    with pytest.raises(InvalidProblemError, match="w: null pointer"):
        tensor_ref(x, name="w")


def test_stride_tricks_are_taken_at_their_word() -> None:
    windows = as_strided(np.arange(10.0), (8, 3), (8, 8))
    t = tensor_ref(windows)
    assert (t.shape, t.strides) == ((8, 3), (1, 1))


def test_misaligned_pointer_and_stride() -> None:
    raw = np.zeros(20, np.uint8)
    shifted = raw[(1 - raw.ctypes.data) % 4 :][:16].view(np.float32)
    with pytest.raises(MisalignedOperandError, match=r"a: address 0x[0-9a-f]+; expected a multiple of 4"):
        tensor_ref(shifted, name="a")
    record = np.zeros(5, np.dtype([("flag", np.uint16), ("value", np.float32)]))
    with pytest.raises(MisalignedOperandError, match="r: axis 0 steps 6 bytes; expected a multiple of 4"):
        tensor_ref(record["value"], name="r")
    with pytest.raises(MisalignedOperandError):
        tensor_ref(FakeTensor(pointer=0x1002))


def test_strides_of_extent_one_do_not_matter() -> None:
    x = as_strided(np.zeros(4, np.float32), (1, 4), (3, 4))
    assert tensor_ref(x).shape == (1, 4)


def test_mut() -> None:
    x = np.zeros(3, np.float32)
    t = tensor_mut(x)
    assert type(t) is TensorMut
    assert facts(t) == facts(tensor_ref(x))
    assert tensor_mut(t) is t
    assert tensor_ref(t) is t
    x.flags.writeable = False
    with pytest.raises(InvalidProblemError, match="out: it is read-only"):
        tensor_mut(x, name="out")
    with pytest.raises(InvalidProblemError, match="out: it is read-only"):
        tensor_mut(tensor_ref(x), name="out")


def test_writing_where_autograd_would_not_see_it() -> None:
    for x in (torch.zeros(3, requires_grad=True), torch.nn.Parameter(torch.zeros(3)), torch.zeros(3, requires_grad=True) * 2):
        assert tensor_ref(x).shape == (3,)
        with pytest.raises(InvalidProblemError, match="out: it requires grad"):
            tensor_mut(x, name="out")
        assert layout_key_mut(x) is None
        with torch.no_grad():
            assert tensor_mut(x).pointer == x.data_ptr()
            assert layout_key_mut(x) is not None


def test_lazy_bits_are_refused() -> None:
    z = torch.zeros(3, dtype=torch.complex64)
    with pytest.raises(InvalidProblemError, match=r"x: its memory holds the conj of its values; pass \.resolve_conj\(\)"):
        tensor_ref(z.conj(), name="x")
    with pytest.raises(InvalidProblemError, match=r"pass \.resolve_neg\(\)"):
        tensor_ref(z.conj().imag)
    assert tensor_ref(z.conj().resolve_conj()).shape == (3,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: torch.zeros(3, device="meta"), "torch device meta"),
        (lambda: torch.eye(3).to_sparse(), "torch layout torch.sparse_coo"),
        (lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), "torch.qint8 has no element kind"),
        (lambda: np.zeros(2, "M8[s]"), "datetime64"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_unsupported_tensors(make: Any, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        tensor_ref(make())


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(InvalidProblemError, match=r"\.filled"):
        tensor_ref(np.ma.masked_array([1.0, 2.0], [True, False]))


@pytest.mark.parametrize("obj", [None, 3.0, [1.0, 2.0], "x", memoryview(b"abc"), object()])
def test_other_objects_are_refused(obj: object) -> None:
    with pytest.raises(InvalidProblemError, match=rf"bias: got a .*{type(obj).__name__}; expected a NumPy array"):
        tensor_ref(obj, name="bias")


def test_a_functorch_wrapper_is_refused() -> None:
    seen: list[Exception | None] = []

    def f(x: torch.Tensor) -> torch.Tensor:
        seen.append(None if layout_key(x) is None else AssertionError("a wrapper has no address"))
        with pytest.raises(InvalidProblemError, match="has no memory of its own"):
            tensor_ref(x)
        return x

    torch.vmap(f)(torch.zeros(2, 3))
    assert seen == [None]


def test_jax_arrays_are_immutable() -> None:
    fake = type("ArrayImpl", (FakeTensor,), {"__module__": "jaxlib._jax"})
    assert tensor_ref(fake()).readonly
    with pytest.raises(InvalidProblemError, match="read-only"):
        tensor_mut(fake())


def test_a_ref_keeps_its_tensor() -> None:
    x = np.zeros(100).view(type("Array", (np.ndarray,), {}))
    alive = weakref.ref(x)
    t = tensor_mut(x)
    del x
    assert alive() is not None
    del t
    assert alive() is None


@pytest.mark.parametrize("offset", range(10))
def test_alignment(offset: int) -> None:
    t = TensorRef(4096 + offset * 4, (1,), (1,), ElementKind.F32, Device.cpu())
    assert t.alignment == max(p for p in (1, 2, 4, 8, 16, 32, 64) if (4096 + offset * 4) % p == 0)
    assert TensorRef(0, (0,), (1,), ElementKind.F32, Device.cpu()).alignment == 64


def all_layouts() -> list[Any]:
    arrays = [v(np.zeros((3, 5, 6), k.numpy)) for k in (ElementKind.F32, ElementKind.BF16) for v in NUMPY_VIEWS.values()]
    tensors = [v(torch.zeros((3, 5, 6), dtype=d)) for d in (torch.float32, torch.complex64) for v in TORCH_VIEWS.values()]
    return arrays + tensors


def test_probe_agrees_with_tensor_ref() -> None:
    tensor_ref(torch.zeros(1))  # makes torch known
    described: dict[Any, Any] = {}
    for x in all_layouts():
        seen = layout_key(x)
        t = tensor_ref(x)
        if seen is None:
            assert 0 in t.shape
            continue
        key, pointer = seen
        assert pointer == t.pointer
        assert described.setdefault(key, facts(t)[1:]) == facts(t)[1:]
    assert len(described) > 20


def test_probe_tells_apart_what_tensor_ref_does() -> None:
    x = np.zeros((4, 4), np.float32)
    frozen = x[:]
    frozen.flags.writeable = False
    variants = [x, x.T, x[:2], x.view(np.int32), x.astype(np.float64), x.astype(">f4"), x[::-1]]
    assert len({layout_key(v)[0] for v in variants}) == len(variants)  # type: ignore[index]
    assert layout_key(x)[0] == layout_key(x.copy())[0] == layout_key(frozen)[0]  # type: ignore[index]
    assert layout_key_mut(x)[0] != layout_key_mut(frozen)[0]  # type: ignore[index]
    tensor_ref(torch.zeros(1))
    z = torch.zeros(4, 4, dtype=torch.complex64)
    variants = [z, z.T, z[:2], z.conj(), z.real, z.imag[:2], z.conj().imag, z.to(torch.complex128), z.view(torch.int64)]
    assert len({layout_key(v)[0] for v in variants}) == len(variants)  # type: ignore[index]
    one = torch.zeros((), dtype=torch.complex64)
    assert layout_key(one.imag)[0] != layout_key(one.conj().imag)[0]  # type: ignore[index]


def test_probe_does_not_guess() -> None:
    tensor_ref(torch.zeros(1))
    for obj in (3.0, np.ma.masked_array([1.0]), torch.zeros(3, device="meta"), torch.eye(3).to_sparse(), FakeTensor()):
        assert layout_key(obj) is None
        assert layout_key_mut(obj) is None


def test_probe_of_a_tensor_left_out() -> None:
    assert layout_key(None) == layout_key_mut(None) == (None, 0)


def test_numpy_address_without_the_short_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((3, 4))[1:, ::-1]
    frozen = x[:]
    frozen.flags.writeable = False
    with monkeypatch.context() as m:
        m.setattr(probes.ctypes, "sizeof", lambda _: 4)
        slow, slow_mut, pointer = probes._numpy_keys()
    for array in (x, frozen):
        assert slow(array) == layout_key(array)
        assert slow_mut(array) == layout_key_mut(array)
        assert pointer(array) == probes.numpy_pointer(array) == array.ctypes.data


def test_nothing_imports_a_framework() -> None:
    script = (
        "import sys, numpy as np, baracuda.core.tensor as t, baracuda.core.device as d;"
        "t.tensor_ref(np.zeros(3)); d.as_stream(5);"
        "print([m for m in ('torch', 'jax', 'cupy', 'cuda', 'llvmlite') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_workspace_of_buffers() -> None:
    x = np.zeros((4, 8), np.float32)
    w = Workspace(x)
    assert (w.pointer, w.nbytes, w.device, w.owner) == (x.ctypes.data, 128, Device.cpu(), x)
    assert Workspace(x[::-1].T).pointer == x.ctypes.data
    t = torch.zeros(100, dtype=torch.uint8)
    assert (Workspace(t).pointer, Workspace(t).nbytes) == (t.data_ptr(), 100)
    fake = FakeTensor(shape=(64,), dtype=(1, 8, 1), device=(2, 1))
    w = Workspace(fake)
    assert (w.pointer, w.nbytes, w.device) == (0x1000, 64, Device.cuda(1))
    w = Workspace((0x1000, 64, Device.cuda(1)))
    assert (w.pointer, w.nbytes, w.device) == (0x1000, 64, Device.cuda(1))


def test_workspace_refuses() -> None:
    x = np.zeros((4, 8), np.float32)
    with pytest.raises(InvalidProblemError, match="has gaps or overlaps"):
        Workspace(x[:, ::2])
    with pytest.raises(InvalidProblemError, match="has gaps or overlaps"):
        Workspace(torch.zeros(1).expand(8))
    with pytest.raises(InvalidProblemError, match="workspace: it is read-only"):
        Workspace(np.broadcast_to(x, (2, 4, 8)))
    with pytest.raises(InvalidProblemError, match="-1 bytes"):
        Workspace((0, -1, Device.cpu()))
    with pytest.raises(InvalidProblemError, match="it begins at 0x1008; expected a multiple of 16 bytes"):
        Workspace((0x1008, 64, Device.cuda(1)))
    with pytest.raises(InvalidProblemError, match="a null pointer for 64 bytes"):
        Workspace((0, 64, Device.cpu()))
    for wrong in ((0x1000, 64), (0x1000, 64, "cpu"), (0x1000, 64.0, Device.cpu()), (0x1000, True, Device.cpu()), ()):
        with pytest.raises(InvalidProblemError, match="expected a pointer, a number of bytes and a Device"):
            Workspace(wrong)
    with pytest.raises(InvalidProblemError, match="-1 bytes"):
        Workspace.allocate(-1)
    with pytest.raises(WorkspaceTooSmallError, match="the plan needs 129 bytes, got 128"):
        Workspace(x).require(129)
    Workspace(x).require(128)


WORKSPACES = {
    "Workspace": lambda n: Workspace.allocate(n),
    "NumPy": lambda n: np.empty(n, np.uint8),
    "another element and order": lambda n: np.empty((4, -(-n // 8)), np.float32).T,
    "torch": lambda n: torch.empty(n, dtype=torch.uint8),
    "DLPack alone": lambda n: Bare(np.empty(n, np.uint8)),
    "TensorRef": lambda n: tensor_mut(np.empty(n, np.uint8)),
    "pointer": lambda n: (KEPT.ctypes.data, n, Device.cpu()),
}
KEPT = np.empty(1 << 16, np.uint8)


@pytest.fixture(scope="module")
def planned() -> tuple[Any, Any, np.ndarray[Any, Any]]:
    """A plan that needs a workspace, its args, and what it computes."""
    x = np.random.default_rng(3).standard_normal((2, 40_000)).astype(np.float32)
    descriptor = baracuda.logsumexp.describe(x)
    y = np.empty(descriptor.described["y"][0], np.float32)
    plan = baracuda.LogsumexpPlan.select(None, descriptor)
    assert 0 < plan.workspace_size() <= KEPT.nbytes
    return plan, baracuda.LogsumexpArgs(x, y), y


@pytest.mark.parametrize("what", WORKSPACES)
def test_plans_take_what_a_workspace_is_made_from(what: str, planned: Any) -> None:
    plan, args, y = planned
    plan.run(None, Workspace.allocate(plan.workspace_size()), args)
    expected = y.copy()
    y[...] = np.nan
    plan.run(None, WORKSPACES[what](plan.workspace_size()), args)
    assert y.tobytes() == expected.tobytes()
    y[...] = np.nan
    bound = plan.bind(None, WORKSPACES[what](plan.workspace_size()), args)
    gc.collect()
    bound()
    assert y.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda n: None, WorkspaceTooSmallError, "got 0"),
        (lambda n: np.empty(n - 1, np.uint8), WorkspaceTooSmallError, "got"),
        (lambda n: np.broadcast_to(np.empty(1, np.uint8), (n,)), InvalidProblemError, "read-only"),
        (lambda n: np.empty(2 * n, np.uint8)[::2], InvalidProblemError, "has gaps"),
        (lambda n: KEPT[-KEPT.ctypes.data % 16 + 1 :], InvalidProblemError, "multiple of 16"),
        (lambda n: FakeTensor(shape=(n,), dtype=(1, 8, 1), device=(2, 0)), InvalidProblemError, "on cuda:0; expected cpu"),
        (lambda n: Workspace((0x1000, n, Device.cuda(0))), InvalidProblemError, "on cuda:0; expected cpu"),
        (lambda n: n, InvalidProblemError, "workspace: got a builtins.int"),
        (lambda n: b"bytes", InvalidProblemError, "workspace: got a builtins.bytes"),
    ],
)
def test_plans_refuse_what_is_no_workspace_and_write_nothing(make: Any, error: Any, message: str, planned: Any) -> None:
    plan, args, y = planned
    y[...] = 7
    for _ in range(2):  # the second time the tensors are known
        with pytest.raises(error, match=message):
            plan.run(None, make(plan.workspace_size()), args)
        with pytest.raises(error, match=message):
            plan.bind(None, make(plan.workspace_size()), args)
        assert (y == 7).all()
        plan.run(None, Workspace.allocate(plan.workspace_size()), args)
        assert (y != 7).all()
        y[...] = 7


@pytest.mark.parametrize("nbytes", [0, 1, 1000, 1 << 16, (1 << 21) + 5])
def test_workspace_allocation(nbytes: int) -> None:
    w = Workspace.allocate(nbytes)
    assert (w.nbytes, w.device) == (nbytes, Device.cpu())
    assert nbytes == 0 or w.pointer % ALIGNMENT == 0
