"""Cases of attention, forward and backward: what they hold, and what their values may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from baracuda.cli.verify import values as data
from baracuda.cli.verify.case import Array, Batch, Case
from baracuda.cli.verify.machine import Host
from baracuda.cli.verify.placement import LAYOUTS, TensorPlacement
from baracuda.cli.verify.session import Session
from baracuda.core.elements import ElementKind
from baracuda.core.plan import Plan
from baracuda.core.sku import MathPrecision, PlanPreference
from baracuda.formula.integer_products import bits_of
from baracuda.ops.attention.descriptor import AttentionBackwardDescriptor, AttentionDescriptor
from baracuda.ops.attention.plan import (
    AttentionArgs,
    AttentionBackwardArgs,
    AttentionBackwardPlan,
    AttentionPlan,
    precisions,
)

_K = ElementKind


@dataclass(frozen=True)
class Subject:
    """Extents (batch, heads, key heads, queries, keys, depth, depth of the values), and options; `bias` and `mask` say along
    which of the four axes of the scores those tensors extend."""

    extents: tuple[int, int, int, int, int, int, int]
    options: Mapping[str, Any] = field(default_factory=dict)
    bias: tuple[bool, bool, bool, bool] | None = None
    mask: tuple[bool, bool, bool, bool] | None = None
    slopes: bool = False
    query_lengths: bool = False
    key_lengths: bool = False

    def __str__(self) -> str:
        tensors = (n for n in ("bias", "mask", "slopes", "query_lengths", "key_lengths") if getattr(self, n))
        return "-".join(["x".join(map(str, self.extents)), *self.options, *tensors])


_WHOLE, _CAUSAL = (True, True, True, True), {"causal": True}
#: Single ones, odd ones, blocks and tiles with a rest, depths of more than a block of integers, and every option.
SUBJECTS = (
    Subject((1, 1, 1, 1, 1, 1, 1)),
    Subject((2, 2, 2, 5, 7, 3, 9)),
    Subject((1, 2, 1, 64, 64, 64, 64), _CAUSAL),
    Subject((2, 4, 2, 65, 130, 24, 40)),
    Subject((1, 2, 2, 130, 70, 33, 17), _CAUSAL | {"offset": -3}),
    Subject((1, 2, 1, 70, 200, 128, 128), _CAUSAL | {"offset": 130}),
    Subject((1, 1, 1, 66, 67, 192, 128)),
    Subject((2, 8, 2, 1, 100, 32, 32), _CAUSAL | {"offset": 99}),
    Subject((2, 2, 2, 33, 147, 16, 16), {"window": (5, 3), "offset": 4}),
    Subject((1, 2, 1, 130, 129, 40, 8), {"window": (70, None), "offset": -1}),
    Subject((2, 2, 1, 70, 66, 16, 16), {"softcap": 2.0}),
    Subject((2, 4, 2, 70, 66, 16, 16), bias=(False, True, True, True)),
    Subject((2, 2, 2, 20, 66, 64, 16), {"scale": 0.5}, bias=(True, False, True, False)),
    Subject((2, 4, 2, 70, 66, 16, 16), mask=_WHOLE),
    Subject((2, 3, 1, 17, 129, 48, 48), _CAUSAL | {"offset": 112}, mask=(True, False, False, True), slopes=True),
    Subject((3, 2, 2, 70, 66, 32, 16), _CAUSAL, query_lengths=True, key_lengths=True),
    Subject((3, 2, 1, 3, 300, 80, 80), bias=_WHOLE, key_lengths=True),
    Subject((1, 12, 12, 128, 128, 32, 32), mask=(True, False, False, True)),
)
#: Elements, and what is asked for instead of the default.
ELEMENTS: tuple[tuple[ElementKind, MathPrecision | None], ...] = (
    (_K.F32, None), (_K.F64, None), (_K.F16, None), (_K.BF16, None), (_K.BF16, MathPrecision.INT23), (_K.F16, MathPrecision.F32),
)  # fmt: skip
#: A unit of rounding of the compute kind.
_UNIT = {_K.F32: 2.0**-24, _K.F64: 2.0**-53}
#: By how many of them an exponential, with its argument, or another step is off at most.
_STEP = 16
_GIVEN = ("q", "k", "v", "bias", "mask", "slopes", "query_lengths", "key_lengths")


@dataclass(frozen=True)
class AttentionCase(Case):
    """An attention, or (`gradients`) its backward from what the CPU's forward gives."""

    subject: Subject
    element: ElementKind
    gradients: bool = False
    layout: str = "contiguous"
    math: MathPrecision | None = None
    #: What the values depend on.
    seed: str = field(default="", compare=False)
    chosen: Mapping[str, TensorPlacement] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        asked = "" if self.math is None else f"-{self.math}"
        return f"{self.plan.op}-{self.element}-{self.subject}-{self.layout}{asked}"

    @property
    def group(self) -> str:
        return f"{self.plan.op} {self.element} {self.math or ''}".rstrip()

    @property
    def op(self) -> str:
        return AttentionPlan.op

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        return AttentionBackwardPlan if self.gradients else AttentionPlan

    @property
    def preference(self) -> PlanPreference:
        return PlanPreference(math=self.math)

    def args(self, tensors: Mapping[str, Any]) -> AttentionArgs:
        return AttentionBackwardArgs(**tensors) if self.gradients else AttentionArgs(**tensors)

    def laid(self, layout: str) -> AttentionCase:
        return replace(self, layout=layout)

    @property
    def descriptor(self) -> AttentionDescriptor:
        subject, options = self.subject, dict(self.subject.options)
        batch, heads, _, queries, keys, _, _ = subject.extents
        for name in ("bias", "mask"):
            along = getattr(subject, name)
            if along is not None:
                options[f"{name}_shape"] = tuple(n if a else 1 for n, a in zip((batch, heads, queries, keys), along, strict=True))
        if subject.slopes:
            options["slopes_shape"] = (heads,)
        options |= {"query_lengths": subject.query_lengths, "key_lengths": subject.key_lengths, "lse": True}
        if not self.gradients:
            return AttentionDescriptor(*subject.extents, self.element, **options)
        wrt = ("q", "k", "v", *(["bias"] if subject.bias is not None else []))
        return AttentionBackwardDescriptor(*subject.extents, self.element, **options, wrt=wrt)

    # --- values -------------------------------------------------------------------------------------------------------

    def inputs(self) -> dict[str, Array]:
        d = self.descriptor
        names = (*_GIVEN, *(["dy"] if self.gradients else []))
        specs = {s.name: s for s in self.tensors() if s.name in names}
        found = {n: self._values(n, specs[n].expected_shape(d), specs[n].expected_kind(d)) for n in names if n in specs}
        return self._with_results(found) if self.gradients else found

    def _values(self, name: str, shape: tuple[int, ...], kind: ElementKind) -> Array:
        seed = f"{self.seed or self.subject}-{self.element}/{name}"
        d = self.descriptor
        if name.endswith("lengths"):
            return data.integers(seed, shape, 0, d.queries if name == "query_lengths" else d.keys).astype(kind.numpy)
        if name == "mask":
            return data.uniform(seed, shape) > 0.4
        return data.rounded(data.uniform(seed, shape) if name == "slopes" else data.normal(seed, shape), kind)

    def _with_results(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """With y and lse, as a CPU's forward writes them."""
        forward = replace(self, gradients=False, layout="contiguous")
        given = {n: x for n, x in inputs.items() if n != "dy"}
        return {**inputs, **Session(Host(), forward, values=given).run()}

    def batches(self) -> Iterator[Batch]:
        """Of the tensors that extend along the batch, the larger case has the given block in the middle."""
        batch, heads, key_heads, queries, keys, depth, value_depth = self.subject.extents
        extents = (3 * batch, heads, key_heads, queries, keys, depth, value_depth)
        larger = replace(self, subject=replace(self.subject, extents=extents), layout="contiguous")
        specs = {s.name: s for s in self.tensors()}
        inputs = {}
        for name, x in self.inputs().items():
            extends = specs[name].expected_shape(larger.descriptor) != x.shape
            inputs[name] = np.concatenate([x[::-1], x, x[::-1]]) if extends else x

        def within(name: str, y: Array) -> Array:
            block: Array = y[batch : 2 * batch]
            return block

        yield Batch("3 times as many batch elements, from block 1", larger, inputs, within)

    # --- what the result may be ---------------------------------------------------------------------------------------

    def bounds(self, inputs: Mapping[str, Array]) -> dict[str, list[tuple[Array, Array]]]:
        """From the steps in float64, each with what roundings and integers may make of it, to first order and doubled."""
        reference = _Reference(self, inputs)
        found = reference.backward() if self.gradients else reference.forward()
        return {name: [(exact - 2 * off, exact + 2 * off)] for name, (exact, off) in found.items()}


class _Reference:
    """The steps of an attention in float64, beside a bound of the error of each."""

    def __init__(self, case: AttentionCase, inputs: Mapping[str, Array]) -> None:
        self.d = case.descriptor
        self.bits = bits_of(case.math or precisions(self.d)[0])
        self.unit = _UNIT[self.d.compute]
        self.inputs = inputs
        self.x = {n: self._heads(n, np.asarray(x, np.float64)) for n, x in inputs.items() if not n.endswith("lengths")}
        self.seen = self._seen()

    def _heads(self, name: str, x: Array) -> Array:
        """k and v for each query head."""
        return np.repeat(x, self.d.heads // self.d.key_heads, 1) if name in ("k", "v") else x

    def _seen(self) -> Array:
        d = self.d
        i, j = np.arange(d.queries)[:, None], np.arange(d.keys)
        seen = np.ones(d.pair_shape, bool)
        if d.band.after is not None:
            seen &= j <= i + d.band.offset + d.band.after
        if d.band.before is not None:
            seen &= j >= i + d.band.offset - d.band.before
        for name, at in (("query_lengths", i), ("key_lengths", j)):
            if name in self.inputs:
                seen &= at < self.inputs[name][:, None, None, None]
        return seen & self.inputs.get("mask", True)

    def _product(self, a: Array, b: Array, off: Array | float = 0.0) -> tuple[Array, Array]:
        """a @ b, of which a is off by so much, and how far the sum is off: as a chain, or in integers by rows of a (with the
        scale of b's rows in a, or b by columns, whichever is more)."""
        size, n = abs(a) @ abs(b), a.shape[-1]
        error = abs(np.asarray(off)) @ abs(b) if np.ndim(off) else np.zeros_like(size)
        error = error + (2 * n + 4) * self.unit * size
        if self.bits:
            rounding = 1.01 * 2.0**-self.bits
            along = abs(b).max(-1, keepdims=True, initial=0), abs(b).max(-2, keepdims=True, initial=0)
            most = abs(a).max(-1, keepdims=True, initial=0)
            error = error + rounding * (most * abs(b).sum(-2, keepdims=True) + abs(a).sum(-1, keepdims=True) * along[1])
            error = error + rounding * n * (abs(a) * along[0].swapaxes(-1, -2)).max(-1, keepdims=True, initial=0)
            error = error + rounding * abs(a) @ np.broadcast_to(along[0], b.shape)
        return a @ b, error

    def _scores(self) -> tuple[Array, Array, Array]:
        """The scores, how far they are off, and their slope by the dot product."""
        d = self.d
        dot, off = self._product(self.x["q"], self.x["k"].swapaxes(-1, -2))
        s, off, slope = dot * d.factor, off * abs(d.factor), np.full(dot.shape, d.factor)
        if d.softcap:
            t = np.tanh(s / d.softcap)
            s, slope = d.softcap * t, slope * (1 - t * t)
        if "bias" in self.x:
            s = s + self.x["bias"]
        if "slopes" in self.x:
            s = s + self.x["slopes"][:, None, None] * (np.arange(d.keys) - np.arange(d.queries)[:, None])
        return np.where(self.seen, s, -np.inf), off + _STEP * self.unit * (1 + abs(s)), slope

    def forward(self) -> dict[str, tuple[Array, Array]]:
        s, off, _ = self._scores()
        most = s.max(-1, keepdims=True, initial=-np.inf)
        p = np.where(self.seen, np.exp(s - np.where(most == -np.inf, 0, most)), 0.0)
        total = p.sum(-1, keepdims=True)
        anything = total > 0
        p = p / np.where(anything, total, 1)
        off = np.where(self.seen, off, 0).max(-1, keepdims=True, initial=0) + (_STEP + self.d.keys) * self.unit
        y, error = self._product(p, self.x["v"], 2 * off * p)
        lse = np.where(anything, np.where(anything, most, 0) + np.log(np.where(anything, total, 1)), -np.inf)[..., 0]
        off_lse = off[..., 0] + _STEP * self.unit * abs(np.where(np.isfinite(lse), lse, 0))
        return {"y": (y, error), "lse": (lse, off_lse)}

    def backward(self) -> dict[str, tuple[Array, Array]]:
        d, x = self.d, self.x
        s, off, slope = self._scores()
        lse = x["lse"][..., None]
        p = np.where(self.seen & (lse > -np.inf), np.exp(s - np.where(lse == -np.inf, 0, lse)), 0.0)
        off_p = p * (off + _STEP * self.unit * (1 + abs(np.where(np.isfinite(lse), lse, 0))))
        dp, off_dp = self._product(x["dy"], x["v"].swapaxes(-1, -2))
        delta = (x["dy"] * x["y"]).sum(-1, keepdims=True)
        off_delta = (2 * d.value_depth + 4) * self.unit * abs(x["dy"] * x["y"]).sum(-1, keepdims=True)
        ds = p * (dp - delta)
        off_ds = off_p * abs(dp - delta) + p * (off_dp + off_delta) + 4 * self.unit * abs(ds)
        dt, off_dt = ds * slope, off_ds * abs(slope) + _STEP * self.unit * abs(ds) * abs(d.factor)
        dv = self._product(p.swapaxes(-1, -2), x["dy"], off_p.swapaxes(-1, -2))
        dk = self._product(dt.swapaxes(-1, -2), x["q"], off_dt.swapaxes(-1, -2))
        found = {"dq": self._product(dt, x["k"], off_dt), "dk": self._shared(*dk), "dv": self._shared(*dv)}
        return found | ({"dbias": (ds, off_ds)} if "bias" in x else {})

    def _shared(self, *sums: Array) -> tuple[Array, Array]:
        """The sums over the query heads that share a key head."""
        group = self.d.heads // self.d.key_heads
        value, off = (s.reshape(s.shape[0], -1, group, *s.shape[2:]).sum(2) for s in sums)
        return value, off + group * self.unit * abs(value)


@cache
def hashed() -> tuple[AttentionCase, ...]:
    """The attentions with reference hashes: every subject in every element, forward and backward; layouts take turns."""
    cases = []
    for gradients in (False, True):
        for j, (element, math) in enumerate(ELEMENTS):
            for i, subject in enumerate(SUBJECTS):
                turn = i + 3 * j
                layout = LAYOUTS[turn // 2 % 5] if turn % 2 else "contiguous"
                cases.append(AttentionCase(subject, element, gradients, layout, math))
    return tuple(cases)
