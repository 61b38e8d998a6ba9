"""Trials of declared ops: the cases, forward and backward, of one call; and those whose hashes come with the package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from baracuda.cli.verify import values as data
from baracuda.cli.verify.batches import batches
from baracuda.cli.verify.case import Array, Batch, Case
from baracuda.cli.verify.machine import Host
from baracuda.cli.verify.placement import TensorPlacement
from baracuda.cli.verify.session import Session
from baracuda.core.descriptor import Args
from baracuda.core.elements import Category, ElementKind
from baracuda.core.lazy import cached_property
from baracuda.frontends.backward import differentiable, groups
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.op_plan import OpPlan, plan_of

Shapes = tuple["tuple[int, ...] | None", ...]

#: What is mixed into the values of a special trial.
SPECIALS = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, -1e-310, 1.0, -1.0, 65504.0, 3e38)

#: Words that data goes by another name than: what the reference hashes were made of.
_DATA = {
    "hardtanh": {"min": "min_val", "max": "max_val"}, "vector_norm": {"p": "ord"}, "masked_reduce": {"p": "ord"},
    "embedding_renorm": {"p": "norm_type"}, "renorm": {"max_norm": "maxnorm"}, "weight_norm": {"y": "w"},
    **{name: {"y": "value"} for name in ("xlogy", "xlog1py", "rel_entr", "kl_div_elementwise")},
}  # fmt: skip


@dataclass(frozen=True)
class Trial:
    """One call of an op.

    Attributes
    ----------
    name, element, shapes, keywords
        The op, the element of the tensors that promote, the shapes (None leaves a tensor out), and the keywords.
    domains
        What each tensor holds (see `values.DOMAINS`), the last one for all that follow.
    special
        Whether NaN, infinities, zeros of both signs and subnormals are mixed in.
    gradient
        Whether the backward is tried as well, where the element has one.
    """

    name: str
    element: ElementKind
    shapes: Shapes
    keywords: tuple[tuple[str, Any], ...] = ()
    domains: tuple[str, ...] = ("any",)
    special: bool = False
    gradient: bool = True

    def __str__(self) -> str:
        return self._told({})

    @property
    def seed(self) -> str:
        """What the data follows from."""
        return self._told(_DATA.get(self.name, {}))

    def _told(self, names: Mapping[str, str]) -> str:
        shapes = ",".join("x".join(map(str, s)) if s else "scalar" if s is not None else "none" for s in self.shapes)
        words = "".join(f" {names.get(k, k)}={v}" for k, v in self.keywords)
        return f"{self.name} {self.element} {shapes}{words}{' specials' if self.special else ''}"

    @property
    def op(self) -> Op:
        return ops()[self.name]

    @property
    def tensors(self) -> list[Array | None]:
        """The tensors, the same on every machine."""
        names = self.op.signature.tensors
        domains = [*self.domains, *[self.domains[-1]] * (len(names) - len(self.domains))]
        pairs = zip(domains, self.shapes, strict=False)
        among = SPECIALS if self.special else ()
        return [
            None if s is None else data.drawn(d, f"{self.seed}/{i}", s, self.element, among) for i, (d, s) in enumerate(pairs)
        ]

    @property
    def backward_too(self) -> bool:
        """Whether there are gradients to compute."""
        return self.op.differentiable and self.gradient and self.element.is_float and not self.special

    @cached_property
    def descriptor(self) -> OpDescriptor:
        """The forward case, with every result."""
        return describe_call(self.op, self.tensors, dict(self.keywords))[0].forward

    def cases(self) -> Iterator[OpCase]:
        """The forward case, then those of the gradients."""
        given = {n: t for n, t in zip(self.op.signature.tensors, self.tensors, strict=False) if t is not None}
        forward = OpCase(str(self), self.descriptor, given, not self.special)
        yield forward
        if self.backward_too:
            yield from self._backward(forward)

    def _backward(self, forward: OpCase) -> Iterator[OpCase]:
        """One case for each group of gradients; what the forward saves for them is computed on the CPU."""
        op, d = self.op, self.descriptor
        floats = {n: row for n, row in d.results.items() if n not in op.extra and _is_inexact(row[1])}
        known: dict[str, Array] = {f"d{n}": self._cotangent(n, shape, kind) for n, (shape, kind, _) in floats.items()}
        saved = [n for n in op.saves if n in d.results]
        if saved:
            results = Session(Host(), forward).run()
            known |= {n: results[n] for n in saved}
        known |= forward.given
        for group, axes in groups(d, differentiable(d)):
            part = replace(d, axes=axes, wrt=group, given=tuple(floats))
            yield OpCase(f"{self} wrt {','.join(group)}", part, known)

    def _cotangent(self, name: str, shape: tuple[int, ...], kind: ElementKind) -> Array:
        seed = f"{self.seed}/d{_DATA.get(self.name, {}).get(name, name)}"
        values = data.normal(seed, shape)
        if kind.category is Category.COMPLEX:
            return np.asarray(values + 1j * data.normal(f"{seed}/imaginary", shape)).astype(kind.numpy)
        return data.rounded(values, kind)


def _is_inexact(kind: ElementKind) -> bool:
    return kind.is_float or kind.category is Category.COMPLEX


@dataclass(frozen=True, eq=False)
class OpCase(Case):
    """One plan of a trial."""

    label: str
    op_descriptor: OpDescriptor
    given: Mapping[str, Array]
    ordinary: bool = True
    layout: str = "contiguous"
    chosen: Mapping[str, TensorPlacement] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.label if self.layout == "contiguous" else f"{self.label} {self.layout}"

    @property
    def plan(self) -> type[OpPlan]:
        return plan_of(self.op_descriptor)

    @property
    def descriptor(self) -> OpDescriptor:
        return self.op_descriptor

    def args(self, tensors: Mapping[str, Any]) -> Args:
        return self.plan.args(**tensors)

    def laid(self, layout: str) -> OpCase:
        return replace(self, layout=layout)

    def inputs(self) -> dict[str, Array]:
        return {s.name: self.given[s.name] for s in self.tensors() if not s.written}

    def batches(self) -> Iterator[Batch]:
        return batches(self, self._extended)

    def _extended(self, axis: int, times: int) -> OpCase:
        d = self.op_descriptor

        def extended(name: str, shape: tuple[int, ...] | None) -> tuple[int, ...] | None:
            if shape is None or name not in d.tensors:
                return shape
            at = d.placement(name)
            return tuple(n * times if a == axis and n == d.space[axis] else n for n, a in zip(shape, at, strict=True))

        shapes = tuple(extended(n, s) for n, s in zip(d.op.signature.tensors, d.shapes, strict=True))
        axes = tuple(sorted(d.inner_set))
        return replace(self, op_descriptor=replace(d, shapes=shapes, axes=axes), layout="contiguous")


def trial_of(op: str, domains: Sequence[str], gradient: bool, row: Sequence[Any]) -> Trial:
    """The trial of a row of the reference file: element, shapes, keywords, whether it is special."""
    label, shapes, keywords, special = row
    element = next(k for k in ElementKind if k.label == label)
    words = tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in keywords.items())
    return Trial(op, element, tuple(None if s is None else tuple(s) for s in shapes), words, tuple(domains), special, gradient)


def row_of(trial: Trial) -> list[Any]:
    """What `trial_of` makes the trial of."""
    return [trial.element.label, trial.shapes, dict(trial.keywords), trial.special]
