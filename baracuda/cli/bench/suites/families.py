"""Every declared op, forward and backward, on large tensors, or on shapes that are extreme.

Ops, keywords and what tensors hold are those that `baracuda verify` tries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import baracuda
from baracuda.cli.bench.benchmark import Invocation, PlanBenchmark, Shape, block_shape, bound
from baracuda.cli.bench.place import Place, Tensor, Values
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.verify import reference
from baracuda.cli.verify import values as data
from baracuda.cli.verify.trials import Trial
from baracuda.core.elements import Category, ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.plan import Plan
from baracuda.frontends.families import ops
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.op_plan import plan_of

Given = tuple["Shape | None", ...]

#: Rows and row length.
EXTENTS = {"cuda": (8192, 8192), "cpu": (2048, 2048), "quick": (64, 512)}
#: A batch of images with 64 channels.
IMAGES = (8192, 64, 10, 10)
#: Ops whose shapes are not rows by row length: the shapes of their tensors, where 8192 stands for the number of rows, and
#: the number of rows that indices are of, for the tensor of this number.
LARGE: Mapping[str, tuple[Given, Mapping[int, int]]] = {
    "embedding": (((8192,), (30000, 1024)), {0: 30000}),
    "vocab_parallel_embedding": (((8192,), (30000, 1024)), {0: 30000}),
    "embedding_renorm": (((8192,), (30000, 1024)), {0: 30000}),
    "embedding_bag": (((8192, 8), (30000, 1024), None), {0: 30000}),
    "position_embedding_add": (((8192, 8, 1024), (16, 1024), None), {}),
    "gather": (((8192, 8192), (8192, 8192)), {1: 8192}),
    "take_flat": (((8192, 8192), (8192, 8192)), {1: 8192}),
    "index_select": (((8192, 8192), (8192,)), {1: 8192}),
    "iou_loss": (((8192, 1024, 4),) * 2, {}),
    "batch_norm": ((IMAGES, *[(64,)] * 4), {}),
    "batch_norm_stats": ((IMAGES,), {}),
    "batch_norm_update_stats": ((IMAGES, (64,), (64,)), {}),
    "batch_norm_elemt": ((IMAGES, *[(64,)] * 4), {}),
    "batch_norm_backward_reduce": ((IMAGES, IMAGES, (64,), (64,)), {}),
    "batch_norm_backward_elemt": ((IMAGES, IMAGES, *[(64,)] * 4, (), (64,)), {}),
    "instance_norm": ((IMAGES, (64,), (64,)), {}),
    "group_norm": (((8192, 8, 8, 10, 10), (8, 8), (8, 8)), {}),
    "group_norm_silu": (((8192, 8, 8, 10, 10), (8, 8), (8, 8)), {}),
    "global_response_norm": (((8192, 7, 7, 128), (128,), (128,)), {}),
    "qk_norm": ((*[(8192, 16, 4, 64)] * 2, (64,), (64,), (16, 1, 64), (16, 1, 64)), {}),
    "masked_softmax": (((8192, 8, 1, 1024), None), {}),
    "softmax_with_sink": (((8192, 8, 1, 1024), (8, 1, 1)), {}),
    "normalize": (((8192, 8192),), {}),
    "cosine_similarity": (((8192, 8, 1024),) * 2, {}),
    "grad_unscale": (((8192, 8, 1024), ()), {}),
}
#: Orders and coefficients by which functions differ, by their keywords: the least, which makes most of them constants, and the
#: one that is measured.
ORDERS: Mapping[str, tuple[Any, Any]] = {"n": (0, 5), "m": (0, 2), "d": (1, 3), "p": ((2.0,), (1.0, -2.0, 0.5, 3.0))}
#: Name of a class of extreme shapes, its shape on a GPU, and the axis that is worked along (None: all of them).
CLASSES: tuple[tuple[str, Shape, int | None], ...] = (
    ("long", (256, 1_000_000), -1),
    ("many", (10_000_000, 16), -1),
    ("huge", (1_000_000_000,), None),
    ("outer", (16384, 16384), 0),
    ("outer, thin", (10_000_000, 16), 0),
    ("middle", (256, 1024, 1024), 1),
)
#: What is run on each class: sums of one kind or another, ops with results along the row, scans.
REDUCTIONS = ("sum", "mean", "max", "prod", "argmax", "logsumexp", "var", "vector_norm", "any", "count_nonzero")
ROWS = ("softmin", "normalize", "cumsum", "cumprod", "cummax", "logcumsumexp")

#: Products of so many factors overflow unless these are next to one.
PRODUCTS = ("prod", "nanprod", "masked_prod", "cumprod", "nancumprod", "masked_cumprod")


@cache
def _trials() -> dict[tuple[str, ElementKind], list[Trial]]:
    groups: dict[tuple[str, ElementKind], list[Trial]] = {}
    for trial in reference.of_ops():
        if not trial.special:
            if trial.name in PRODUCTS:
                trial = replace(trial, domains=("factor", *trial.domains[1:]))
            groups.setdefault((trial.name, trial.element), []).append(trial)
    return groups


@dataclass(frozen=True)
class Declared(PlanBenchmark):
    """One op, forward or backward, in one element. `trial` has its large shapes."""

    trial: Trial
    shape_class: str = "large"
    backward: bool = False
    suite: str = "families"
    variant: str = ""

    @property
    def op(self) -> str:  # type: ignore[override]
        return f"{self.trial.name}_backward" if self.backward else self.trial.name

    @property
    def element(self) -> ElementKind:  # type: ignore[override]
        return self.trial.element

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return next((s for s in self.trial.shapes if s), ())

    @property
    def forward(self) -> OpDescriptor:
        """The forward problem."""
        return _forward(self.trial)

    @property
    def descriptor(self) -> OpDescriptor:
        whole = self.forward
        if not self.backward:
            return whole
        return replace(whole, wrt=self.wrt, given=tuple(self.cotangents))

    @property
    def wrt(self) -> tuple[str, ...]:
        """The tensors whose gradients one kernel gives."""
        d = self.forward
        floats = (n for n, (_, k) in d.tensors.items() if k.is_float and n not in d.op.constants)
        return tuple(n for n in floats if d.exact(n) is not None)

    @property
    def cotangents(self) -> dict[str, tuple[Shape, ElementKind]]:
        """The results that have a gradient, with their shapes and elements."""
        d = self.forward
        rows = {n: row[:2] for n, row in d.results.items() if n not in d.op.extra}
        return {n: row for n, row in rows.items() if row[1].is_float or row[1].category is Category.COMPLEX}

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        return plan_of(self.descriptor)

    def args(self, tensors: Mapping[str, Tensor]) -> Any:
        cls = plan_of(self.descriptor)
        return cls.args(**{s.name: tensors[s.name] for s in cls.tensors if s.presence(self.descriptor)})

    def block(self, name: str, shape: Shape, kind: ElementKind, seed: int) -> Values:
        if name not in self.forward.tensors:  # a cotangent
            return data.rounded(data.normal(f"{self}/{name}/{seed}", block_shape(shape)), kind)
        names = self.trial.op.signature.tensors
        blocks = tuple(None if s is None else block_shape(s) for s in self.trial.shapes)
        some = replace(self.trial, shapes=blocks).tensors[names.index(name)]
        assert some is not None
        return np.roll(some, seed, axis=-1) if some.ndim else some

    def inputs(self, place: Place, seed: int) -> dict[str, Tensor]:
        operands = [row for row in self.described() if not row[3]]
        saved = {n for n, _, _, _ in operands} & set(self.forward.results) - set(self.forward.tensors)
        wanted = {n: (shape, kind) for n, shape, kind, _ in operands if n not in saved}
        wanted |= self.forward.tensors  # a rival reads all of these
        if self.backward:
            wanted |= {f"d{n}": row for n, row in self.cotangents.items()}
        tensors = {n: place.put(self.block(n, shape, kind, seed), shape) for n, (shape, kind) in wanted.items()}
        if saved:
            results = _results(replace(self, backward=False), place, seed, tensors)
            tensors |= {n: results[n] for n in saved}
        return tensors

    def with_extent(self, axis: int, extent: int) -> OpDescriptor:
        """The descriptor with another extent of an axis of the iteration space."""
        d = self.descriptor

        def cut(name: str, shape: Shape | None) -> Shape | None:
            if shape is None or name not in d.tensors:
                return shape
            at = d.placement(name)
            return tuple(extent if a == axis and n == d.space[axis] else n for n, a in zip(shape, at, strict=True))

        shapes = tuple(cut(n, s) for n, s in zip(d.op.signature.tensors, d.shapes, strict=True))
        return replace(d, shapes=shapes, axes=tuple(sorted(d.inner_set)))

    @property
    def invocation(self) -> Invocation:
        op = self.trial.op
        names = tuple(n if s is not None else None for n, s in zip(op.signature.tensors, self.trial.shapes, strict=False))
        words, wanted = dict(self.trial.keywords), [n for n in op.results or ("y",) if n not in op.extra]
        defaults: dict[str, Any] = {}
        if op.rows and (op.axis is None or isinstance(op.axis, int)):
            defaults["axis"] = tuple(range(len(self.shape))) if op.axis is None else op.axis
        if self.backward:
            return Invocation(op.name, names, words, tuple(self.cotangents), self.wrt, defaults)
        return Invocation(op.name, names, words, tuple(wanted), defaults=defaults)

    def fresh(self, tensors: Mapping[str, Tensor]) -> Callable[[], object] | None:
        if self.backward:
            return None
        call, words = getattr(baracuda, self.trial.name), dict(self.trial.keywords)
        operands = [tensors[n] if n is not None else None for n in self.invocation.tensors]
        return lambda: call(*operands, **words)


@cache
def _forward(trial: Trial) -> OpDescriptor:
    """The forward problem, from tensors of the trial's shapes whose elements all lie at one address."""
    from baracuda.frontends.function import describe_call

    small = replace(trial, shapes=tuple(None if s is None else (1,) * len(s) for s in trial.shapes)).tensors
    stand_ins = [
        None if t is None or s is None else np.broadcast_to(np.zeros((), t.dtype), s)
        for t, s in zip(small, trial.shapes, strict=True)
    ]
    return describe_call(trial.op, stand_ins, dict(trial.keywords))[0].forward


def _results(problem: Declared, place: Place, seed: int, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What the forward pass computes of the same inputs."""
    results: dict[str, Tensor] = {}
    for name, shape, kind, is_output in problem.described():
        if is_output:
            results[name] = place.empty(shape, kind)
        else:
            results[name] = tensors[name] if name in tensors else place.put(problem.block(name, shape, kind, seed), shape)
    bound(place, problem.plan, problem.descriptor, problem.args(results))[1]()
    place.clock.synchronise()
    return results


def _scaled(op: Op, trial: Trial, extents: tuple[int, int]) -> Trial:
    """The trial on large shapes: the longest extent becomes the row length, the other the number of rows."""
    rows, length = extents
    if op.name in LARGE:
        shapes, limits = LARGE[op.name]
        scaled_shapes = tuple(None if s is None else tuple(rows if n == 8192 else n for n in s) for s in shapes)
        names = [*trial.domains, *[trial.domains[-1]] * len(scaled_shapes)][: len(scaled_shapes)]
        for i, limit in limits.items():
            names[i] = f"index:{rows if limit == 8192 else limit}"
        return replace(trial, shapes=scaled_shapes, domains=tuple(names))
    largest_first = sorted({n for s in trial.shapes if s for n in s if n > 1}, reverse=True)
    table = dict(zip(largest_first, (length, rows), strict=False)) if len(largest_first) <= 2 else {}
    return replace(trial, shapes=tuple(None if s is None else tuple(table.get(n, n) for n in s) for s in trial.shapes))


def _along_rows(trials: list[Trial]) -> Trial:
    """The first trial along the last of several axes, or the first."""
    return next((t for t in trials if dict(t.keywords).get("axis") == -1 and len(t.shapes[0] or ()) > 1), trials[0])


def _typical(trial: Trial) -> Trial:
    """The trial with an order in place of the least one."""
    words = dict(trial.keywords)
    if not any(words.get(name) == least for name, (least, _) in ORDERS.items()):
        return trial
    return replace(trial, keywords=tuple((name, ORDERS[name][1] if name in ORDERS else v) for name, v in words.items()))


def problems(request: Request) -> Iterator[Declared]:
    """Every op in each element that it takes, forward and backward."""
    extents = EXTENTS["quick" if request.quick else request.kind]
    if request.shape is not None:
        if len(request.shape) != 2:
            raise UnsupportedError(f"shape {request.shape} for the suite families; expected rows and row length")
        extents = request.shape[0], request.shape[1]
    for element in request.elements(("f32", "bf16")):
        for name, op in ops().items():
            trials = _trials().get((name, element))
            if trials:
                trial = _scaled(op, _typical(_along_rows(trials)), extents)
                yield Declared(trial)
                if op.differentiable and trial.gradient and element.is_float:
                    yield Declared(trial, backward=True)


def large(request: Request) -> Iterator[Declared]:
    """Reductions, scans and rows where shapes are extreme; on the CPU with a sixteenth of the first extent."""
    for label, shape, axis in CLASSES:
        large_shape = (shape[0] // {"cpu": 16}.get(request.kind, 1), *shape[1:])
        if request.quick:
            large_shape = tuple(max(n // 64, 1) if n > 64 else n for n in large_shape)
        for element in request.elements(("f32",)):
            for name in (*REDUCTIONS, *(() if axis is None else ROWS)):
                trials = _trials().get((name, element))
                if trials:
                    trial = trials[0]
                    words = {**dict(_along_rows(trials).keywords), "axis": axis}
                    shapes = (large_shape, *[None] * (len(trial.shapes) - 1))
                    chosen = replace(trial, shapes=shapes, keywords=tuple(words.items()))
                    yield Declared(chosen, label, suite="large")
