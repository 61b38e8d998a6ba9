"""Scaled dot product attention, forward and backward, by every plan that there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import prod, sqrt
from typing import Any

import numpy as np

from baracuda.cli.bench.benchmark import Invocation, PlanBenchmark, Prepared, Shape, block_shape, bound, relative_error
from baracuda.cli.bench.place import Place, Tensor, Values
from baracuda.cli.bench.suites.gemm import PREFERENCES, only_a_library
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.verify import values as data
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.lazy import cached_property
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.frontends.array import to_host
from baracuda.ops.attention.descriptor import AttentionBackwardDescriptor, AttentionDescriptor
from baracuda.ops.attention.plan import AttentionArgs, AttentionBackwardArgs, AttentionBackwardPlan, AttentionPlan

#: What a relative error may be; gradients cancel, so that theirs is larger.
ALLOWED = {"bf16": 8e-3, "f16": 2e-3, "f32": 2e-5, "f64": 1e-12}
GRADIENTS = 2.0


@dataclass(frozen=True)
class Size:
    """Extents of an attention; `key_heads` below `heads` is grouped-query attention."""

    label: str
    batch: int
    heads: int
    key_heads: int
    queries: int
    keys: int
    depth: int
    causal: bool = False


SIZES = {
    "cuda": (
        Size("causal", 4, 32, 32, 4096, 4096, 128, True),
        Size("full", 4, 32, 32, 4096, 4096, 64),
        Size("grouped, causal", 4, 32, 8, 4096, 4096, 128, True),
        Size("decode", 32, 32, 8, 1, 8192, 128),
        Size("minilm", 32, 12, 12, 128, 128, 32),
    ),
    "cpu": (
        Size("causal", 1, 8, 8, 1024, 1024, 64, True),
        Size("full", 1, 8, 8, 1024, 1024, 64),
        Size("grouped, causal", 1, 8, 2, 1024, 1024, 64, True),
        Size("decode", 4, 8, 2, 1, 4096, 64),
        Size("minilm", 8, 12, 12, 128, 128, 32),
    ),
    "quick": (Size("causal", 1, 4, 2, 70, 70, 32, True), Size("minilm", 2, 12, 12, 33, 33, 32)),
}


@dataclass(frozen=True)
class Attention(PlanBenchmark):
    """One attention by one plan."""

    size: Size
    element: ElementKind
    variant: str
    backward: bool = False
    suite: str = "attention"
    family: str = "attention"

    @property
    def op(self) -> str:  # type: ignore[override]
        return "scaled_dot_product_attention" + ("_backward" if self.backward else "")

    @property
    def shape_class(self) -> str:  # type: ignore[override]
        return self.size.label

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Batch, heads, key heads, queries, keys, depth."""
        s = self.size
        return (s.batch, s.heads, s.key_heads, s.queries, s.keys, s.depth)

    @property
    def preference(self) -> PlanPreference:  # type: ignore[override]
        return PREFERENCES[self.variant]

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        return AttentionBackwardPlan if self.backward else AttentionPlan

    @cached_property
    def descriptor(self) -> Any:
        return self._described_as(AttentionBackwardDescriptor if self.backward else AttentionDescriptor)

    def _described_as(self, cls: Any, **more: Any) -> Any:
        s = self.size
        return cls(
            s.batch, s.heads, s.key_heads, s.queries, s.keys, s.depth, s.depth, self.element, causal=s.causal, **more
        )  # fmt: skip

    def args(self, tensors: Mapping[str, Tensor]) -> Any:
        cls = AttentionBackwardArgs if self.backward else AttentionArgs
        return cls(**{f.name: tensors.get(f.name) for f in fields(cls)})

    def block(self, name: str, shape: Shape, kind: ElementKind, seed: int) -> Values:
        return data.rounded(data.normal(f"attention/{name}/{seed}", block_shape(shape)), kind)

    def inputs(self, place: Place, seed: int) -> dict[str, Tensor]:
        if not self.backward:
            return super().inputs(place, seed)
        d = self._described_as(AttentionDescriptor, lse=True)
        tensors = {
            name: place.put(self.block(name, shape, kind, seed), shape)
            for name, shape, kind, is_output in self.described()
            if not is_output and name not in ("y", "lse")
        }
        tensors |= {"y": place.empty(d.y_shape, d.element), "lse": place.empty(d.lse_shape, d.compute)}
        args = AttentionArgs(**{f.name: tensors.get(f.name) for f in fields(AttentionArgs)})
        bound(place, AttentionPlan, d, args)[1]()
        place.clock.synchronise()
        return tensors

    @property
    def operations(self) -> float:
        """Two products forward, five backward, over the pairs that are seen."""
        s = self.size
        pairs = s.queries * s.keys / (2 if s.causal else 1)
        return (5 if self.backward else 2) * 2.0 * s.batch * s.heads * pairs * s.depth

    def prepare(self, place: Place, seed: int) -> Prepared:
        return only_a_library(super().prepare(place, seed), self.variant)

    @property
    def invocation(self) -> Invocation:
        words = {"causal": self.size.causal, "grouped": self.size.key_heads != self.size.heads}
        forward = "scaled_dot_product_attention"
        return Invocation(forward, ("q", "k", "v"), words, ("y",), ("q", "k", "v") if self.backward else ())

    def expected(self, place: Place, prepared: Prepared) -> tuple[str, float]:
        """The first key head of the last batch element, in float64."""
        s, group = self.size, self.size.heads // self.size.key_heads
        t = {n: _head(x, group if n in ("q", "y", "dy", "dq") else 1) for n, x in prepared.tensors.items() if n != "lse"}
        scale = 1.0 / sqrt(s.depth)
        score = scale * (t["q"] @ t["k"].swapaxes(-1, -2))
        if s.causal:
            seen = np.arange(s.keys)[None, :] <= np.arange(s.queries)[:, None]
            score = np.where(seen, score, -np.inf)
        weight = np.exp(score - score.max(-1, keepdims=True))
        p = weight / weight.sum(-1, keepdims=True)
        references = {"y": p @ t["v"]}
        if self.backward:
            dp = t["dy"] @ t["v"].swapaxes(-1, -2)
            ds = scale * p * (dp - (p * dp).sum(-1, keepdims=True))
            references = {
                "dq": ds @ t["k"],
                "dk": (ds.swapaxes(-1, -2) @ t["q"]).sum(0, keepdims=True),
                "dv": (p.swapaxes(-1, -2) @ t["dy"]).sum(0, keepdims=True),
            }
        worst = max(relative_error(t[name], value) for name, value in references.items())
        allowed = ALLOWED[self.element.label] * (GRADIENTS if self.backward else 1.0)
        return f"float64, {prod(score.shape)} pairs", worst / allowed


def _head(tensor: Tensor, heads: int) -> Values:
    return np.asarray(to_host(tensor[-1, :heads])).astype(np.float64)


def problems(request: Request) -> Iterator[Attention]:
    """Every size in every element, forward and backward, reproducible and as fast as there is."""
    if request.shape is not None:
        raise UnsupportedError("the suite attention takes no shape of the caller's")
    for element in request.elements(("f32", "bf16")):
        if element.label in ALLOWED:
            for size in SIZES["quick" if request.quick else request.kind]:
                for backward in (False, True):
                    for variant in PREFERENCES:
                        yield Attention(size, element, variant, backward)
