"""Matrix products for tests of the lowering: contractions over memory laid out on purpose, and their chains in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baracuda.cli.verify.placement import TensorPlacement, placed
from baracuda.core.elements import Category, ElementKind
from baracuda.core.sku import MathPrecision
from baracuda.formula.exact_fma import fma32, fma64
from baracuda.formula.expr import Axes, Expr, cast, compare, const, coord, input_, node, param, select
from baracuda.formula.graph import Graph, Port
from baracuda.formula.integer_products import integer_product
from baracuda.lowering.matmul.problem import PRODUCT, PRODUCT_PARTS, MatmulProblem
from baracuda.lowering.nest.problem import Operand

Array = np.ndarray[Any, Any]
F32, F64, S32 = ElementKind.F32, ElementKind.F64, ElementKind.S32


def chain(a: Array, b: Array, s: Array, kind: ElementKind) -> Array:
    """One link of a sum's chain in the accumulator's kind."""
    if kind in (F32, F64):
        return (fma32 if kind is F32 else fma64)(a, b, s)
    with np.errstate(over="ignore"):
        rounded: Array = a * b + s
    return rounded


def products(a: Sequence[Array], b: Sequence[Array], kind: ElementKind) -> list[Array]:
    """The sums of a contraction: one, or the real and the imaginary one."""
    k = a[0].shape[-1]
    wide_a, wide_b = ([x.astype(kind.numpy) for x in parts] for parts in (a, b))
    shape = (*np.broadcast_shapes(a[0].shape[:-2], b[0].shape[:-2]), a[0].shape[-2], b[0].shape[-1])
    sums = [np.zeros(shape, kind.numpy) for _ in a]
    for i in range(k):
        x, y = ([part[..., :, i, None] for part in wide_a], [part[..., i, None, :] for part in wide_b])
        sums[0] = chain(x[0], y[0], sums[0], kind)
        if len(a) == 2:
            sums[0] = chain(-x[1], y[1], sums[0], kind)
            sums[1] = chain(x[0], y[1], sums[1], kind)
            sums[1] = chain(x[1], y[0], sums[1], kind)
    return sums


@dataclass(frozen=True)
class Epilogue:
    """What is done to the sums: how it is written, and in NumPy. `along` has the axes, of m and n, that each tensor varies
    along; `stored` the elements of the results, None for the case's own."""

    along: tuple[str, ...]
    write: Callable[[list[Expr], list[Expr], ElementKind], list[Expr]]
    compute: Callable[[list[Array], list[Array]], list[Array]]
    params: tuple[float, ...] = ()
    results: int = 1


def _relu(x: Array) -> Array:
    return np.where(x > 0, x, x.dtype.type(0))


def _causal(sums: list[Array], _: list[Array]) -> list[Array]:
    m, n = sums[0].shape[-2:]
    return [np.where(np.arange(n) <= np.arange(m)[:, None], sums[0], np.float32(-1))]


EPILOGUES = {
    "plain": Epilogue((), lambda s, t, k: s, lambda s, t: s),
    "bias": Epilogue(("n",), lambda s, t, k: [s[0] + t[0]], lambda s, t: [s[0] + t[0]]),
    "bias of rows": Epilogue(("m",), lambda s, t, k: [s[0] + t[0]], lambda s, t: [s[0] + t[0]]),
    "alpha, beta": Epilogue(
        ("mn",),
        lambda s, t, k: [s[0] * param("alpha", k) + param("beta", k) * t[0]],
        lambda s, t: [s[0] * np.float32(1.5) + np.float32(-0.75) * t[0]],
        (1.5, -0.75),
    ),
    "two results": Epilogue(
        ("n", "mn"),
        lambda s, t, k: [(x := s[0] + t[0]), select(compare("gt", x, const(0.0, k)), x, const(0.0, k)) + t[1]],
        lambda s, t: [s[0] + t[0], _relu(s[0] + t[0]) + t[1]],
        results=2,
    ),
    "causal": Epilogue((), lambda s, t, k: [select(compare("le", coord(-1), coord(-2)), s[0], const(-1.0, k))], _causal),
    "complex": Epilogue((), lambda s, t, k: s, lambda s, t: s, results=2),
}
#: How a matrix lies: the unit stride along its columns or its rows; no unit stride; rows that are walked backwards; lines with
#: a gap; first elements off alignment; one matrix, or one row, for all.
LAYOUTS = ("rows", "columns", "strided", "backwards", "padded", "misaligned", "shared", "one row")


def _lay(batch: tuple[int, ...], rows: int, columns: int, kind: ElementKind, layout: str) -> TensorPlacement:
    steps = {
        "columns": (1, rows),
        "strided": (2 * columns + 1, 2),
        "backwards": (-columns, 1),
        "padded": (columns + 16, 1),
        "one row": (0, 1),
    }.get(layout, (columns, 1))
    each = max(abs(steps[0]) * rows, abs(steps[1]) * columns)
    outer = []
    for n in reversed(batch):
        outer.append(0 if layout == "shared" else each)
        each *= n
    return placed((*batch, rows, columns), (*reversed(outer), *steps), kind, 1 if layout == "misaligned" else 0)


def _alignment(p: TensorPlacement) -> int:
    return min(p.offset & -p.offset, 64)


@dataclass(frozen=True)
class Product:
    """A product, its layouts and its epilogue."""

    m: int
    n: int
    k: int
    kind: ElementKind = F32
    accumulator: ElementKind = F32
    a: str = "rows"
    b: str = "rows"
    y: str = "rows"
    batch: tuple[int, ...] = ()
    epilogue: str = "plain"
    stored: ElementKind | None = None
    general: bool = False
    math: MathPrecision | None = None
    kind_b: ElementKind | None = None

    def __str__(self) -> str:
        extents = "x".join(map(str, (*self.batch, self.m, self.n, self.k)))
        words = [extents, str(self.kind), str(self.kind_b or ""), self.a, self.b, self.y, self.epilogue, str(self.stored or "")]
        words += ["general" * self.general, str(self.math or "")]
        return " ".join(w for w in words if w)

    @property
    def parts(self) -> int:
        return 2 if self.epilogue == "complex" else 1

    @property
    def placements(self) -> list[TensorPlacement]:
        """Where the tensors lie: the parts of a, those of b, the epilogue's tensors, the results."""
        a = _lay(self.batch, self.m, self.k, self.kind, self.a)
        b = _lay(self.batch, self.k, self.n, self.kind_b or self.kind, self.b)
        e, out = EPILOGUES[self.epilogue], self.stored or self.accumulator
        tensors = []
        for along in e.along:
            p = _lay((), 1, self.n, out, "rows") if along == "n" else _lay((), self.m, 1, out, "rows")
            p = _lay(self.batch, self.m, self.n, out, "rows") if along == "mn" else p
            steps = (*[0] * len(self.batch), *(s * (n > 1) for s, n in zip(p.strides, p.shape, strict=True)))
            tensors.append(p if along == "mn" else TensorPlacement((*self.batch, self.m, self.n), steps, out, p.offset, p.nbytes))
        results = [_lay(self.batch, self.m, self.n, out, self.y)] * e.results
        return [a] * self.parts + [b] * self.parts + tensors + results

    @property
    def matmul_problem(self) -> MatmulProblem:
        e, out, kind = EPILOGUES[self.epilogue], self.stored or self.accumulator, self.accumulator
        names = PRODUCT_PARTS if self.parts == 2 else (PRODUCT,)
        ports = [Port(n, kind, Axes.OUTER) for n in names] + [Port(f"t{i}", out, Axes.OUTER) for i in range(len(e.along))]
        inputs = [input_(p.name, p.kind, p.axes) for p in ports]
        values = e.write(inputs[: self.parts], inputs[self.parts :], kind)
        stored = [v if out.compute is v.kind else cast(v, out.compute) for v in values]
        outputs = tuple((Port(f"y{i}", out, Axes.OUTER), v) for i, v in enumerate(stored))
        rank = len(self.batch) + 2
        graph = Graph(tuple(ports), outputs, (False,) * rank).map(
            lambda n, args: node("coord", (), S32, n.attr % rank) if n.op == "coord" else (node(n.op, args, n.kind, n.attr))
        )
        operands = [Operand(p.kind, p.strides, _alignment(p), self.general) for p in self.placements]
        split, after = self.parts, 2 * self.parts
        return MatmulProblem(
            self.batch,
            self.m,
            self.n,
            self.k,
            tuple(operands[:split]),
            tuple(operands[split:after]),
            kind,
            graph,
            tuple(operands[after:]),
            self.math,
        )

    @property
    def parameters(self) -> list[tuple[ElementKind, float]]:
        values = dict(zip(("alpha", "beta"), EPILOGUES[self.epilogue].params, strict=False))
        return [(p.kind, values[p.attr]) for p in self.matmul_problem.epilogue.params]

    @property
    def written(self) -> int:
        """How many of the tensors, the last ones, are results."""
        return EPILOGUES[self.epilogue].results

    def blocks(self) -> list[Array]:
        """The bytes of each tensor: random elements with gaps of NaN; results poisoned."""
        rng = np.random.default_rng(self.m * 7919 + self.n * 31 + self.k)
        blocks = []
        for i, p in enumerate(self.placements):
            block = p.block(0xFF)
            if i < len(self.placements) - self.written:
                view = p.view(block)
                if p.kind.category is Category.FLOAT:
                    values = rng.standard_normal(p.shape).astype(np.float32)
                    view[...] = values.astype(p.kind.numpy)
                else:
                    info = np.iinfo(p.kind.numpy)
                    view[...] = rng.integers(info.min, info.max, p.shape, p.kind.numpy, endpoint=True)
            blocks.append(block)
        return blocks

    def expected(self, blocks: list[Array]) -> list[Array]:
        """The blocks of the results, by NumPy."""
        views = [p.view(block) for p, block in zip(self.placements, blocks, strict=True)]
        a, b = views[: self.parts], views[self.parts : 2 * self.parts]
        others = [v.astype(self.accumulator.numpy) for v in views[2 * self.parts : len(views) - self.written]]
        bits = self.matmul_problem.bits
        sums = [integer_product(a[0], b[0], bits)] if bits else products(a, b, self.accumulator)
        values = EPILOGUES[self.epilogue].compute(sums, others)
        results = []
        for p, value in zip(self.placements[-self.written :], values, strict=True):
            block = p.block(0xFF)
            with np.errstate(over="ignore"):
                p.view(block)[...] = value.astype(p.kind.numpy)
            results.append(block)
        return results
