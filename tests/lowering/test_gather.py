"""Indexed reads on any device: values against NumPy's indexing, whatever the element, the layout and the index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import baracuda
from baracuda.core.axes import Axes
from baracuda.core.device import Device
from baracuda.core.implementation import Layout
from baracuda.core.tensor import TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, coord, input_
from baracuda.formula.gathers import GatherSource, Table, at_row, gather, separated, take
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port
from baracuda.formula.oracle import evaluate
from baracuda.formula.scans import cumsum
from baracuda.frontends.function import Function, describe_call
from baracuda.lowering.nest.cuda.lower import Target, lower
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_plan import plan_of
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Space
from tests.cases.trial import to_device, to_host
from tests.machine import waited

K = baracuda.ElementKind
DTYPES = (
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.int64, np.uint64, np.bool_,
    np.complex64, np.complex128,
)  # fmt: skip


def table(shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
    drawn = np.random.default_rng(1).standard_normal(tuple(shape)) * 50
    return np.asarray((drawn + 1j * drawn[::-1]) if np.dtype(dtype).kind == "c" else drawn).astype(dtype)


def numbers(low: int, high: int, shape: Sequence[int], dtype: Any = np.int64) -> np.ndarray:
    return np.random.default_rng(2).integers(low, high, tuple(shape)).astype(dtype)


def placed(array: np.ndarray, device: str) -> Any:
    """An array on the device, with its own strides there; as a `TensorRef` where torch has no such strides."""
    if device == "cpu" or array.flags.c_contiguous:
        return to_device(array, device)
    whole = array
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    assert whole.dtype == array.dtype
    memory, offset = to_device(whole, device), array.ctypes.data - whole.ctypes.data
    strides = tuple(s // array.itemsize for s in array.strides)
    if min(strides) < 0:
        pointer, kind = memory.data_ptr() + offset, K.from_numpy(array.dtype)
        return TensorRef(pointer, array.shape, strides, kind, Device.cuda(0), owner=memory)
    return torch.as_strided(memory, array.shape, strides, offset // array.itemsize)


def called(function: Callable[..., Any], device: str, *tensors: np.ndarray, **keywords: Any) -> np.ndarray:
    return to_host(function(*(placed(t, device) for t in tensors), **keywords))


def same_bits(got: np.ndarray, want: np.ndarray) -> None:
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.tobytes() == np.ascontiguousarray(want).tobytes()


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [1, 3, 64, 67, 1030])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_rows_of_every_element(dtype: Any, columns: int, device: str) -> None:
    w, i = table((9, columns), dtype), numbers(0, 9, (5, 7), np.int32)
    if np.dtype(dtype).kind in "fV":
        same_bits(called(baracuda.embedding, device, i, w), w[i])
    same_bits(called(baracuda.index_select, device, w, i.reshape(-1)), w[i.reshape(-1)])


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_8_bit_floats_are_copied(name: str, device: str) -> None:
    w, i = np.arange(256, dtype=np.uint8).reshape(32, 8).view(getattr(ml_dtypes, name)), numbers(0, 32, (40,))
    got = called(baracuda.index_select, device, w, i)
    assert np.array_equal(got.view(np.uint8), w.view(np.uint8)[i])


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "sliced": lambda x: np.repeat(np.repeat(x, 2, 0), 3, -1)[::2, ..., ::3],
    "negative": lambda x: np.ascontiguousarray(x[::-1, ..., ::-1])[::-1, ..., ::-1],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}


@pytest.mark.parametrize("of_index", VIEWS)
@pytest.mark.parametrize("of_table", VIEWS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_layouts(axis: int, of_table: str, of_index: str, device: str) -> None:
    x = VIEWS[of_table](table((6, 20, 33)))
    i = VIEWS[of_index](numbers(-x.shape[axis], x.shape[axis], (6, 20, 33)))
    same_bits(called(baracuda.gather, device, x, i, axis=axis), np.take_along_axis(x, i, axis))
    row = np.ascontiguousarray(i[:, 0, 0])
    same_bits(called(baracuda.index_select, device, x, row, axis=axis), np.take(x, row, axis))


@pytest.mark.parametrize("of_table", ["transposed", "sliced", "contiguous"])
def test_kernels_for_any_strides(of_table: str, device: str) -> None:
    """`run` of a plan that was selected without layouts: the kernels for general strides."""
    w, i = VIEWS[of_table](table((12, 67))), numbers(0, 12, (4, 6))[:, ::2]
    held = placed(w, device), placed(i, device)
    descriptor = describe_call(ops("embedding"), (held[1], held[0]), {})[0]
    plan = plan_of(descriptor).select(stream(device), descriptor)
    y = to_device(np.zeros((4, 3, 67), np.float32), device)
    plan.run(stream(device), None, plan_of(descriptor).args(held[1], held[0], y))
    if device != "cpu":
        torch.cuda.synchronize()
    same_bits(to_host(y), w[i])


def ops(name: str) -> Op:
    from baracuda.frontends.families import ops as all_ops

    return all_ops()[name]


def stream(device: str) -> Any:
    return None if device == "cpu" else torch.cuda.current_stream()


@pytest.mark.parametrize("rank", range(1, 9))
def test_rank(rank: int, device: str) -> None:
    shape = (3, 2, 4, 1, 2, 3, 2, 5)[-rank:]
    x = table(shape)
    for axis in range(rank):
        i = numbers(-shape[axis], shape[axis], shape)
        same_bits(called(baracuda.gather, device, x, i, axis=axis), np.take_along_axis(x, i, axis))
    i = numbers(-x.size, x.size, (7,))
    same_bits(called(baracuda.take_flat, device, x, i), x.reshape(-1)[i])
    indices = [numbers(-n, n, (4,)) for n in shape]
    same_bits(called(baracuda.index_get, device, x, *indices), x[tuple(indices)])


@pytest.mark.parametrize("view", VIEWS)
def test_elements_by_number(view: str, device: str) -> None:
    x, i = VIEWS[view](table((7, 5, 6))), numbers(-210, 210, (9, 4))
    same_bits(called(baracuda.take_flat, device, x, i), x.reshape(-1)[i])


# --- indices ----------------------------------------------------------------------------------------------------------

EXTREMES = (-1, -9, -10, 8, 9, 10**6, 2**31 - 1, -(2**31), 2**62, -(2**63))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_clamped(dtype: Any, device: str) -> None:
    i = np.array([e for e in EXTREMES if np.iinfo(dtype).min <= e <= np.iinfo(dtype).max] * 5, dtype)
    w = table((9, 67))
    same_bits(called(baracuda.embedding, device, i, w, bounds="clamp"), w[i.clip(0, 8)])
    wide = i.astype(object)
    wrapped = np.array([min(max(e + 9 if e < 0 else e, 0), 8) for e in wide])
    same_bits(called(baracuda.index_select, device, w, i, bounds="clamp"), w[wrapped])
    x = table((len(i), 9))
    clamped = called(baracuda.gather, device, x, i[:, None], bounds="clamp")
    same_bits(clamped, np.take_along_axis(x, wrapped[:, None], 1))


@pytest.mark.parametrize("bad", EXTREMES[:1] + EXTREMES[4:])
def test_out_of_range_is_an_error(bad: int, device: str) -> None:
    i, w = numbers(0, 9, (300, 5)), to_device(table((9, 4)), device)
    i[250, 3] = i[299, 0] = bad
    with pytest.raises(
        baracuda.InvalidProblemError, match=rf"index: index ({bad} )?at \(250, 3\).*expected 0 to 8 .*extent of 9"
    ):
        waited(baracuda.embedding, to_device(i, device), w)
    if bad != -1:
        with pytest.raises(baracuda.InvalidProblemError, match=rf"index: index ({bad} )?at \(1253,\).*expected -9 to 8"):
            waited(baracuda.index_select, w, to_device(i.reshape(-1), device))


def test_bad_input(device: str) -> None:
    w, i = to_device(table((9, 4)), device), to_device(numbers(0, 9, (3,)), device)
    with pytest.raises(baracuda.InvalidProblemError, match="index: element is f32; expected indices in s32 or s64"):
        baracuda.embedding(to_device(table((3,)), device), w)
    with pytest.raises(baracuda.InvalidProblemError, match="bounds: 'no'; expected check or clamp"):
        baracuda.embedding(i, w, bounds="no")
    with pytest.raises(baracuda.InvalidProblemError, match="axis: 2; expected an axis from -2 to 1"):
        baracuda.index_select(w, i, axis=2)
    with pytest.raises(baracuda.InvalidProblemError, match=r"index: shape is \(3,\); expected the rank of x"):
        baracuda.gather(w, i)
    square = to_device(table((3, 4)), device)
    with pytest.raises(baracuda.InvalidProblemError, match="its memory overlaps that of x"):
        baracuda.index_select(square, i % 3, out=square)


def test_nothing_to_read(device: str) -> None:
    w, i = table((0, 4)), numbers(0, 9, (3,))
    for bounds, what in (("check", "expected an extent of 1 or more"), ("clamp", "empty axis")):
        with pytest.raises(baracuda.InvalidProblemError, match=what):
            called(baracuda.embedding, device, i, w, bounds=bounds)
    assert called(baracuda.embedding, device, i[:0], w).shape == (0, 4)
    assert called(baracuda.embedding, device, i, table((9, 0))).shape == (3, 0)
    assert called(baracuda.embedding_bag, device, i.reshape(3, 1)[:, :0], table((9, 4)), mode="sum").tolist() == [[0.0] * 4] * 3


# --- in formulas ------------------------------------------------------------------------------------------------------


def declared(formula: Callable[..., Any], **keywords: Any) -> Function:
    words: dict[str, Any] = {"family": "fused", "takes": "any", "differentiable": False, "name": formula.__name__, **keywords}
    return Function(Op(formula, Rule.COMMON, **words))


def bags(shapes: Any, options: Any) -> Space:
    return Space({"indices": (0, 1), "weight": (None, 2)})


def bag_total(weight: Table, indices: Own) -> Any:
    return f.sum_(take(weight, indices))


def running(weight: Table, indices: Own) -> Any:
    return cumsum(take(weight, indices))


def grand_total(weight: Table, indices: Own) -> Any:
    return f.sum_rows(f.sum_(take(weight, indices)))


def nearest(x: Expr, weight: Table, indices: Own, *, scale: Scalar = 2.0) -> Any:
    d = x - scale * take(weight, indices)
    return f.sum_(d * d)


def centred_at(x: Expr, target: Own) -> Any:
    return at_row(x - f.max_(x), target)


BAG_TOTAL = declared(bag_total, space=bags, rows=True, axis=1, keepdims=False)
RUNNING = declared(running, space=bags, rows=True, axis=1)
GRAND_TOTAL = declared(grand_total, space=bags, rows=True, axis=1, keepdims=False)
NEAREST = declared(
    nearest, space=lambda shapes, options: Space({"x": (0, 1), "indices": (0,), "weight": (None, 1)}), rows=True, keepdims=False
)
CENTRED = declared(centred_at, rows=True, keepdims=False, places={"target": lambda rank, axes: (0,)})


@pytest.mark.parametrize(("bag", "columns"), [(9, 67), (1, 8), (300, 33), (2500, 16), (40, 1), (40, 3), (4, 300)])
@pytest.mark.parametrize("view", ["contiguous", "transposed"])
def test_sums_over_gathered_rows_have_the_bits_of_sums_over_copies(bag: int, columns: int, view: str, device: str) -> None:
    w, i = VIEWS[view](table((100, columns))), numbers(0, 100, (6, bag))
    want = to_host(baracuda.sum(to_device(np.ascontiguousarray(w[i]), device), axis=1))
    same_bits(called(BAG_TOTAL, device, w, i), want)
    same_bits(called(baracuda.embedding_bag, device, i, w, mode="sum"), want)


def test_scans_and_reductions_of_reductions(device: str) -> None:
    w, i = table((100, 33), np.float64), numbers(0, 100, (6, 300))
    np.testing.assert_allclose(called(RUNNING, device, w, i), w[i].cumsum(1), rtol=1e-10, atol=1e-8)
    want = w[i].sum()
    np.testing.assert_allclose(called(GRAND_TOTAL, device, w, i).sum(), want, rtol=1e-10)


@pytest.mark.parametrize("length", [5, 67, 1030, 20000])
def test_one_row_of_a_table_for_each_row(length: int, device: str) -> None:
    x, w, i = table((7, length), np.float64), table((9, length), np.float64)[::-1], numbers(0, 9, (7,))
    w = np.ascontiguousarray(w)
    np.testing.assert_allclose(called(NEAREST, device, x, w, i), ((x - 2 * w[i]) ** 2).sum(1), rtol=1e-12)
    turned = np.ascontiguousarray(w.T).T
    same_bits(called(NEAREST, device, x, turned, i), called(NEAREST, device, x, w, i))


@pytest.mark.parametrize("length", [1, 5, 67, 1030, 70000])
def test_one_element_of_each_row(length: int, device: str) -> None:
    x, t = table((7, length)), numbers(0, length, (7,))
    want = np.take_along_axis(x - x.max(1, keepdims=True), t[:, None], 1)[:, 0]
    same_bits(called(CENTRED, device, x, t), want)


# --- meaning ----------------------------------------------------------------------------------------------------------


def test_oracle() -> None:
    index = input_("i", K.S64)
    source = GatherSource("w", K.F32, Axes.OUTER, (0, 1), wrap=True)
    y = gather(source, [index, coord(1)])
    flat = gather(source._replace(flat=True), [index])
    outputs = ((Port("y", K.F32), y), (Port("flat", K.F32), flat))
    graph = Graph((Port("i", K.S64), Port("w", K.F32, Axes.OUTER)), outputs, (False, False))
    w, i = table((4, 1, 6, 5)), numbers(-9, 9, (4, 3))
    evaluated = evaluate(graph, {"w": w, "i": i}, (4, 3), (False, False))
    for a in range(4):
        for b in range(3):
            e = int(i[a, b])
            assert evaluated["y"][a, b] == w[a, 0, min(max(e + 6 if e < 0 else e, 0), 5), b]
            assert evaluated["flat"][a, b] == w[a, 0].reshape(-1)[e]


def test_each_read_has_a_port() -> None:
    source = GatherSource("w", K.F32, Axes.NONE, (0,))
    i, x = input_("i", K.S64), input_("w", K.F32, Axes.NONE)
    total = gather(source, [i]) + gather(source, [i + 1]) * gather(source, [i]) + x
    graph = separated(Graph((Port("w", K.F32, Axes.NONE), Port("i", K.S64)), ((Port("y", K.F32), total),)))
    assert [p.name for p in graph.inputs] == ["w", "i", "w@0", "w@1"]


def test_the_gradient_by_a_table_is_refused() -> None:
    source = GatherSource("w", K.F32, Axes.NONE, (0,))
    graph = Graph(
        (Port("w", K.F32, Axes.NONE), Port("i", K.S64)), ((Port("y", K.F32), gather(source, [input_("i", K.S64)])),), (False,)
    )
    with pytest.raises(baracuda.UnsupportedError, match="scatter_sum"):
        gradient(graph, ["w"])


def test_the_other_gradients(device: str) -> None:
    w, i, p = table((9, 5)), numbers(0, 9, (4, 6)), table((4, 6))
    weights = torch.tensor(p, requires_grad=True)
    y = torch.nn.functional.embedding_bag(torch.tensor(i), torch.tensor(w), per_sample_weights=weights, mode="sum")
    dy = table((4, 5))
    y.backward(torch.tensor(dy))
    got = called(baracuda.embedding_bag_backward, device, dy, i, w, p, mode="sum", wrt=("per_sample_weights",))
    np.testing.assert_allclose(got, weights.grad, rtol=1e-5, atol=1e-2)


@pytest.mark.cpu_only
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_kernels_compile(arch: str, full: bool) -> None:
    """All problems for all architectures with --full; otherwise they take turns."""
    pytest.importorskip("cuda.bindings.nvrtc")
    from baracuda.runtime.nvrtc import cubin
    from tests.lowering.test_cuda_compile import Offline

    w, i, x = table((100, 67)), numbers(0, 9, (7, 9)), table((7, 67))
    problems: list[tuple[Function, tuple[np.ndarray, ...]]] = [
        (BAG_TOTAL, (w, i)), (RUNNING, (w, i)), (GRAND_TOTAL, (w, i)), (NEAREST, (x, w, i[:, 0])), (CENTRED, (x, i[:, 0])),
    ]  # fmt: skip
    turn = ("sm_80", "sm_90", "sm_100").index(arch)
    for function, tensors in problems if full else problems[turn::3]:
        descriptor = describe_call(function.op, tensors, {})[0]
        layouts: list[Layout] = plan_of(descriptor).layouts(descriptor)
        for layout in layouts:
            for nest in Offline(plan_of(descriptor), descriptor).nests(layout):
                for launch in lower(nest, Target(arch, 132)).launches:
                    assert cubin(launch.source, arch)
