"""Bound launches of library plans: what a run gives, on any stream, again and again, and recorded by others."""

from __future__ import annotations

from typing import Any

import pytest

from baracuda import (
    AttentionArgs,
    AttentionDescriptor,
    AttentionPlan,
    BackendKind,
    Device,
    ElementKind,
    MatmulArgs,
    MatmulDescriptor,
    MatmulPlan,
    PlanPreference,
    Stream,
    Workspace,
)

GPU = Device.cuda(0)
STREAM = Stream(GPU)


def attention(torch: Any) -> tuple[Any, Any, Any]:
    pytest.importorskip("cudnn")
    descriptor = AttentionDescriptor(2, 4, 4, 128, 128, 32, 32, element=ElementKind.BF16)
    plan = AttentionPlan.select(STREAM, descriptor, PlanPreference(backend=BackendKind.CUDNN))
    q, k, v = (torch.randn(2, 4, 128, 32, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    y = torch.empty_like(q)
    return plan, AttentionArgs(q, k, v, y=y), q


def product(torch: Any) -> tuple[Any, Any, Any]:
    pytest.importorskip("nvmath")
    descriptor = MatmulDescriptor((64, 96), (96, 128), "mk", "kn", "mn", *[ElementKind.BF16] * 3, bias_axis=-1)
    plan = MatmulPlan.select(STREAM, descriptor, PlanPreference(backend=BackendKind.CUBLASLT))
    a, b = (torch.randn(*shape, device="cuda", dtype=torch.bfloat16) for shape in ((64, 96), (96, 128)))
    bias = torch.randn(128, device="cuda", dtype=torch.bfloat16)
    return plan, MatmulArgs(a, b, bias=bias, y=torch.empty(64, 128, device="cuda", dtype=torch.bfloat16)), a


@pytest.mark.parametrize("make", [attention, product])
def test_a_bound_launch_is_the_run(torch: Any, make: Any) -> None:
    plan, args, read = make(torch)
    workspace = Workspace.allocate(plan.workspace_size(), GPU) if plan.workspace_size() else None

    def expected() -> Any:
        plan.run(STREAM, workspace, args)
        torch.cuda.synchronize()
        copy = args.y.clone()
        args.y.fill_(float("nan"))
        return copy

    plan.run(STREAM, workspace, args)
    launch = plan.bind(STREAM, workspace, args)
    for _ in range(3):
        read.normal_()
        wanted = expected()
        launch()
        torch.cuda.synchronize()
        assert torch.equal(args.y, wanted)


@pytest.mark.parametrize("make", [attention, product])
def test_a_bound_launch_is_recorded_by_others(torch: Any, make: Any) -> None:
    plan, args, read = make(torch)
    workspace = Workspace.allocate(plan.workspace_size(), GPU) if plan.workspace_size() else None
    side = torch.cuda.Stream()
    launch = plan.bind(side, workspace, args)
    launch()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        launch()
    read.normal_()
    torch.cuda.synchronize()
    launch()
    side.synchronize()
    wanted = args.y.clone()
    args.y.fill_(float("nan"))
    torch.cuda.synchronize()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(args.y, wanted)
