"""Which part of a joint graph is forward and which backward: PyTorch's own choice, in which draws are kept and never repeated."""

from __future__ import annotations

from typing import Any

import torch
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx import GraphModule
from torch.utils.checkpoint import CheckpointPolicy

from baracuda.torch.compiled.keys import KEY

aten = torch.ops.aten


def partition(joint: GraphModule, inputs: Any, **options: Any) -> tuple[GraphModule, GraphModule]:
    """Forward and backward; what is drawn may be made again from its key, as any other value of a few operations."""
    for node in joint.graph.nodes:
        if node.target is KEY and "recompute" in node.meta:
            node.meta["recompute"] = CheckpointPolicy.MUST_SAVE
    forward, backward = min_cut_rematerialization_partition(joint, inputs, **options)
    _save_as_it_was(forward, options["num_fwd_outputs"])
    return forward, backward


def _save_as_it_was(forward: GraphModule, outputs: int) -> None:
    """What the backward reads of an input that the forward writes to is its value before."""
    graph = forward.graph
    written = {n.args[0] for n in graph.nodes if n.target is aten.copy_.default}
    output = next(n for n in graph.nodes if n.op == "output")
    first = next((n for n in graph.nodes if n.op not in ("placeholder", "get_attr")), output)
    results, copies = list(output.args[0]), dict[Any, Any]()
    for i, saved in enumerate(results[outputs:], outputs):
        if saved in written and saved.op == "placeholder":
            if saved not in copies:
                with graph.inserting_before(first):
                    copies[saved] = graph.call_function(aten.clone.default, (saved,))
                copies[saved].meta = dict(saved.meta)
            results[i] = copies[saved]
    if copies:
        output.args = (tuple(results),)
        forward.recompile()
