"""Cases of attention for tests of the lowering: operands laid out in memory on purpose, and what the CPU makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import torch

from baracuda.cli.verify.placement import TensorPlacement, dense_strides, place, placed
from baracuda.core.elements import ElementKind as K
from baracuda.core.sku import MathPrecision
from baracuda.lowering.attention.cpu.lower import lower
from baracuda.lowering.attention.problem import Attention
from baracuda.lowering.nest.problem import Operand
from baracuda.ops.attention.descriptor import AttentionBackwardDescriptor, AttentionDescriptor
from baracuda.ops.attention.score import score_graph, slope_graph
from baracuda.runtime.cpu_toolchain import CpuToolchain
from baracuda.runtime.jit import CpuTarget
from tests.lowering.attention_inputs import Inputs

Array = np.ndarray[Any, Any]
POISON = 0xFF
_VECTORS = ("q", "k", "v", "y", "dy", "dq", "dk", "dv")


def _array(x: torch.Tensor) -> Array:
    return x.view(torch.uint16).numpy().view(K.BF16.numpy) if x.dtype is torch.bfloat16 else x.numpy()


@dataclass(frozen=True)
class AttentionCase:
    """An attention, forward or (with `wrt`) backward. `layouts` says how tensors lie, "all" those that are not named; beside
    those of `place` there is "heads last", (batch, sequence, heads, vector) in memory, as a projection writes it. `math`: what
    products are taken in."""

    case: Inputs
    wrt: tuple[str, ...] = ()
    layouts: Mapping[str, str] = field(default_factory=dict)
    general: bool = False
    lse: bool = True
    math: MathPrecision | None = None

    def __str__(self) -> str:
        words = [str(self.case), "d" + "".join(self.wrt) if self.wrt else "", *(f"{n}:{x}" for n, x in self.layouts.items())]
        return " ".join(w for w in [*words, "general" * self.general, "" if self.lse else "no lse", str(self.math or "")] if w)

    @cached_property
    def descriptor(self) -> AttentionDescriptor:
        d = self.case.descriptor
        given = {f.name: getattr(d, f.name) for f in fields(AttentionDescriptor)} | {"lse": bool(self.wrt) or self.lse}
        return AttentionBackwardDescriptor(**given, wrt=self.wrt) if self.wrt else AttentionDescriptor(**given)

    @property
    def written(self) -> tuple[str, ...]:
        if not self.wrt:
            return ("y", "lse") if self.lse else ("y",)
        return tuple("dbias" if n not in ("q", "k", "v") else f"d{n}" for n in ("q", "k", "v", *self._score) if n in self.wrt)

    @property
    def _score(self) -> tuple[str, ...]:
        return tuple(self.descriptor.score_tensors)

    @property
    def names(self) -> tuple[str, ...]:
        """The operands in the order of a program's addresses."""
        lengths = tuple(n for n in ("query_lengths", "key_lengths") if getattr(self.descriptor, n))
        results = ("y", "lse", "dy", *self.written) if self.wrt else self.written
        return ("q", "k", "v", *lengths, *self._score, *results)

    def _shape(self, name: str) -> tuple[int, ...]:
        d = self.descriptor
        if name in ("q", "k", "v", "y", "lse"):
            shape: tuple[int, ...] = getattr(d, f"{name}_shape")
            return shape
        if name == "dbias":
            return d.pair_shape
        if name.endswith("lengths"):
            return (d.batch,)
        return self._shape(name[1:]) if name.startswith("d") else getattr(d, f"{name}_shape")

    def _kind(self, name: str) -> K:
        d = self.descriptor
        if name in _VECTORS:
            return d.element
        if name == "lse":
            return d.compute
        return K.S32 if name.endswith("lengths") else getattr(d, f"{name}_element")

    @cached_property
    def placements(self) -> dict[str, TensorPlacement]:
        found = {}
        for i, name in enumerate(self.names):
            shape, kind, layout = (
                self._shape(name),
                self._kind(name),
                self.layouts.get(name, self.layouts.get("all", "contiguous")),
            )
            if layout == "heads last":
                order = (0, 2, 1, 3)[: len(shape)]
                found[name] = placed(shape, dense_strides(shape, order) if len(shape) > 1 else (1,), kind)
            else:
                found[name] = place(shape, kind, layout, writable=name in self.written, number=i)
        return found

    def _operand(self, name: str) -> Operand:
        p = self.placements[name]
        strides = tuple(s if n != 1 else 0 for n, s in zip(p.shape, p.strides, strict=True))
        if name == "slopes":
            strides = (*(0,) * (2 - len(strides)), *strides, 0, 0)
        return Operand(p.kind, strides, min(64, p.offset & -p.offset), self.general)

    @cached_property
    def problem(self) -> Attention:
        d = self.descriptor
        o = {name: self._operand(name) for name in self.names}
        return Attention(
            **{n: getattr(d, n) for n in ("batch", "heads", "key_heads", "queries", "keys", "depth", "value_depth", "compute")},
            score=score_graph(d),
            slope=slope_graph(d) if isinstance(d, AttentionBackwardDescriptor) else None,
            band=d.band,
            **{n: o.get(n) for n in ("lse", "query_lengths", "key_lengths", "dy", "dq", "dk", "dv", "dbias")},
            **{n: o[n] for n in ("q", "k", "v", "y")},
            tensors=tuple(o[n] for n in self._score),
            math=self.math,
        )

    @property
    def parameters(self) -> list[tuple[K, float]]:
        return [(n.kind, self.descriptor.parameters[n.attr]) for n in self.problem.params]

    def blocks(self) -> dict[str, Array]:
        """The memory of each operand: the case's values with poison around them, results poisoned."""
        found = {name: p.block(POISON) for name, p in self.placements.items()}
        given: dict[str, Array] = {n: _array(x) for n, x in self.case.tensors().items()}
        if self.wrt:
            forward = AttentionCase(self.case, math=self.math)
            blocks = forward.blocks()
            forward.run_on_cpu(blocks)
            given |= {n: np.ascontiguousarray(forward.placements[n].view(blocks[n])) for n in forward.written}
        for name, block in found.items():
            if name not in self.written:
                self.placements[name].view(block)[...] = given[name]
        return found

    def run_on_cpu(self, blocks: dict[str, Array], target: CpuTarget | None = None) -> None:
        """Writes the results of the CPU's kernels, those for a target where one is given."""
        lowered = lower(self.problem, target)
        call = CpuToolchain(target).load(lowered, len(self.names), self.parameters)
        workspace = np.full(lowered.workspace_bytes + 64, POISON, np.uint8)
        call.call(self.addresses(blocks), workspace.ctypes.data)

    def addresses(self, blocks: dict[str, Array]) -> list[int]:
        return [blocks[n].ctypes.data + self.placements[n].offset for n in self.names]


def different(problem: AttentionCase, actual: Mapping[str, Array], expected: Mapping[str, Array]) -> dict[str, int]:
    """How many elements of each result differ in a bit (two NaN are equal), and how many bytes beside the results."""
    counts = {}
    for name in problem.written:
        p = problem.placements[name]
        a, b = np.array(actual[name]), np.array(expected[name])
        x, y = p.view(a), p.view(b)
        bits = f"u{p.kind.itemsize}"
        nan = (x != x) & (y != y)
        wrong = int(((x.copy().view(bits) != y.copy().view(bits)) & ~nan).sum())
        x[...] = y[...] = 0
        wrong += int((a != b).sum())
        if wrong:
            counts[name] = wrong
    return counts
