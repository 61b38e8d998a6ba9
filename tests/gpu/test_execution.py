"""Streams, captured graphs and bound launches on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import baracuda
from baracuda import (
    AlibiArgs,
    AlibiDescriptor,
    AlibiPlan,
    Device,
    ElementKind,
    InvalidProblemError,
    RMSNormBackwardArgs,
    RMSNormBackwardDescriptor,
    RMSNormBackwardPlan,
    SoftmaxArgs,
    SoftmaxDescriptor,
    SoftmaxKind,
    SoftmaxPlan,
    Stream,
    Workspace,
)
from baracuda.frontends import call_cache

F32 = ElementKind.F32


def softmax_plan(shape: tuple[int, ...]) -> SoftmaxPlan:
    return SoftmaxPlan.select(Stream(Device.cuda(0)), SoftmaxDescriptor(SoftmaxKind.SOFTMAX, shape, -1, F32))


def backward(torch: Any, rows: int, n: int) -> tuple[Any, Workspace | None, RMSNormBackwardArgs]:
    """A plan of several launches, with its tensors."""
    make = lambda *shape: torch.randn(*shape, device="cuda")  # noqa: E731
    args = RMSNormBackwardArgs(make(rows, n), make(rows, n), make(n), make(rows, 1).abs() + 0.5, make(rows, n), make(n))
    descriptor = RMSNormBackwardDescriptor((rows, n), 2, True, F32)
    plan = RMSNormBackwardPlan.select(Stream(Device.cuda(0)), descriptor)
    size = plan.workspace_size()
    return plan, Workspace(torch.empty(size, dtype=torch.uint8, device="cuda")) if size else None, args


def streams(torch: Any) -> list[tuple[str, Any, Any]]:
    """Every sort of stream that a caller may pass, with the torch stream to wait for."""
    core = pytest.importorskip("cuda.core")
    side = torch.cuda.Stream()
    own = core.Device(0)
    own.set_current()
    stream = own.create_stream()
    assert isinstance(stream, core.Stream)
    return [
        ("torch", side, side),
        ("handle", side.cuda_stream, side),
        ("ours", Stream(Device.cuda(0), side.cuda_stream), side),
        ("cuda.core", stream, torch.cuda.ExternalStream(int(stream.handle))),
        ("default", torch.cuda.default_stream(), torch.cuda.default_stream()),
        ("legacy", Stream(Device.cuda(0)), torch.cuda.default_stream()),
        ("per thread", 2, torch.cuda.ExternalStream(2)),
    ]


def test_streams_of_every_sort(torch: Any) -> None:
    x = torch.randn(64, 1000, device="cuda")
    expected = torch.softmax(x, -1)
    plan = softmax_plan((64, 1000))
    for name, stream, waits in streams(torch):
        y = torch.full_like(x, float("nan"))
        torch.cuda.synchronize()
        plan.run(stream, None, SoftmaxArgs(x, y))
        waits.synchronize()
        assert torch.allclose(y, expected, atol=1e-6), name


def test_work_is_ordered_on_its_stream(torch: Any) -> None:
    """A kernel sees what earlier work on its stream wrote, however long that took."""
    side = torch.cuda.Stream()
    x = torch.zeros(64, 1000, device="cuda")
    y = torch.empty_like(x)
    plan = softmax_plan((64, 1000))
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        x[:, 7] = 100.0
        plan.run(side, None, SoftmaxArgs(x, y))
        total = y[:, 7].sum()
    side.synchronize()
    assert total.item() == 64.0


def test_functions_use_the_current_stream(torch: Any) -> None:
    side = torch.cuda.Stream()
    x = torch.zeros(64, 1000, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        x[:, 7] = 100.0
        y = baracuda.softmax(x)
    side.synchronize()
    assert y[:, 7].sum().item() == 64.0


def _run(plan: Any, stream: Any, workspace: Workspace | None, args: Any) -> None:
    plan.run(stream, workspace, args)


def _bind(plan: Any, stream: Any, workspace: Workspace | None, args: Any) -> None:
    plan.bind(stream, workspace, args)()


@pytest.mark.parametrize("start", [_run, _bind], ids=["run", "bind"])
def test_graphs_are_captured_and_replayed(torch: Any, start: Callable[..., None]) -> None:
    """A graph computes again from what its tensors hold when it is replayed."""
    plan, workspace, args = backward(torch, 3000, 1024)
    start(plan, Stream(Device.cuda(0)), workspace, args)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        start(plan, torch.cuda.current_stream(), workspace, args)
    for _ in range(3):
        args.dy.normal_()
        graph.replay()
        torch.cuda.synchronize()
        replayed = args.dx.clone(), args.dgamma.clone()
        args.dx.zero_()
        args.dgamma.zero_()
        start(plan, Stream(Device.cuda(0)), workspace, args)
        torch.cuda.synchronize()
        assert torch.equal(args.dx, replayed[0])
        assert torch.equal(args.dgamma, replayed[1])


def test_a_captured_run_launches_nothing(torch: Any) -> None:
    x, y = torch.randn(64, 1000, device="cuda"), torch.full((64, 1000), 5.0, device="cuda")
    plan = softmax_plan((64, 1000))
    plan.run(Stream(Device.cuda(0)), None, SoftmaxArgs(x, torch.empty_like(x)))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        plan.run(torch.cuda.current_stream(), None, SoftmaxArgs(x, y))
    torch.cuda.synchronize()
    assert (y == 5.0).all()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.allclose(y, torch.softmax(x, -1), atol=1e-6)


def test_a_bound_launch_sees_updated_tensors(torch: Any) -> None:
    x, y = torch.randn(64, 1000, device="cuda"), torch.empty(64, 1000, device="cuda")
    launch = softmax_plan((64, 1000)).bind(torch.cuda.current_stream(), None, SoftmaxArgs(x, y))
    for _ in range(3):
        x.normal_()
        launch()
        assert torch.allclose(y, torch.softmax(x, -1), atol=1e-6)


def test_a_bound_launch_keeps_its_tensors(torch: Any) -> None:
    """Dropping every other reference frees nothing that the launch uses."""
    x = torch.randn(1 << 20, device="cuda").view(1024, 1024)
    y = torch.empty_like(x)
    launch = softmax_plan((1024, 1024)).bind(torch.cuda.current_stream(), None, SoftmaxArgs(x, y))
    address = y.data_ptr()
    del x, y
    others = [torch.empty(1 << 20, device="cuda") for _ in range(8)]
    assert address not in [t.data_ptr() for t in others]
    launch()
    torch.cuda.synchronize()


def test_bits_do_not_depend_on_the_stream(torch: Any) -> None:
    plan, workspace, args = backward(torch, 5000, 300)
    plan.run(Stream(Device.cuda(0)), workspace, args)
    torch.cuda.synchronize()
    expected = args.dx.clone(), args.dgamma.clone()
    for name, stream, waits in streams(torch):
        args.dx.zero_()
        args.dgamma.zero_()
        torch.cuda.synchronize()
        plan.run(stream, workspace, args)
        waits.synchronize()
        assert torch.equal(args.dx, expected[0]), name
        assert torch.equal(args.dgamma, expected[1]), name


def test_tensors_of_the_host_are_refused(torch: Any) -> None:
    plan = softmax_plan((4, 8))
    on_gpu, on_cpu = torch.zeros(4, 8, device="cuda"), torch.zeros(4, 8)
    for args in (SoftmaxArgs(on_cpu, on_gpu), SoftmaxArgs(on_gpu, on_cpu), SoftmaxArgs(on_gpu, on_cpu.numpy())):
        with pytest.raises(InvalidProblemError, match="it is on cpu; expected cuda:0"):
            plan.run(None, None, args)


def test_strides_of_every_sort(torch: Any) -> None:
    """A plan that was selected for contiguous tensors runs on any others."""
    plan = AlibiPlan.select(Stream(Device.cuda(0)), AlibiDescriptor(2, 3, 40, 50, F32))
    slopes = torch.rand(3, device="cuda")
    i, j = torch.arange(40, device="cuda")[:, None], torch.arange(50, device="cuda")
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3), (1, 0, 3, 2)):
        scores = torch.randn(*[(2, 3, 40, 50)[a] for a in order], device="cuda").permute(*[order.index(a) for a in range(4)])
        y = torch.full_like(scores, float("nan"))
        plan.run(None, None, AlibiArgs(scores, slopes, y))
        torch.cuda.synchronize()
        assert torch.allclose(y, scores + slopes[:, None, None] * (j - i), atol=1e-5), order


def test_more_layouts_of_arrays_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_cache, "MOST_LAYOUTS", 4)
    baracuda.exp.forget()
    values = [np.linspace(-1, 1, n, dtype=np.float32) for n in range(1, 40)]
    for _ in range(3):
        for x in values:
            y = baracuda.to_host(baracuda.exp(baracuda.to_device(x, Device.cuda(0))))
            assert y.tobytes() == baracuda.exp(x).tobytes()
    assert baracuda.exp.cached_calls >= len(values)
