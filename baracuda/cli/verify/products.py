"""Cases of matrix products: what they hold, what their values may be, and what their bits must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from baracuda.cli.verify import values as data
from baracuda.cli.verify.case import Array, Batch, Case
from baracuda.cli.verify.placement import LAYOUTS, TensorPlacement
from baracuda.core.elements import Category, ElementKind
from baracuda.core.plan import Plan
from baracuda.core.sku import MathPrecision, PlanPreference
from baracuda.formula.exact_fma import fma32, fma64
from baracuda.formula.integer_products import bits_of, integer_product
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulArgs, MatmulPlan, precisions

_K = ElementKind
#: Batch extents of a and of b, then rows, depth and columns: single ones, odd ones, those of vectors, and tiles with a rest,
#: blocks of integers with one.
SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...], int, int, int], ...] = (
    ((), (), 1, 1, 1), ((), (), 3, 5, 7), ((), (), 1, 300, 33), ((), (), 5, 64, 1), ((), (), 33, 130, 17), ((), (), 64, 64, 64),
    ((), (), 70, 257, 40), ((), (), 130, 31, 65), ((3,), (3,), 4, 33, 9), ((2, 1), (3,), 5, 17, 6), ((), (), 16, 1000, 16),
    ((), (), 2, 128, 128), ((), (), 8, 384, 48), ((), (), 17, 129, 100), ((), (), 31, 127, 3), ((), (), 65, 256, 72),
    ((), (), 129, 513, 130), ((), (), 256, 40, 1), ((), (), 300, 96, 64), ((4,), (4,), 1, 640, 5), ((2,), (1,), 12, 200, 256),
    ((5,), (5,), 40, 24, 40), ((2, 3), (2, 1), 9, 70, 11), ((), (), 4, 2500, 7),
)  # fmt: skip
#: Elements of the factors and of the result, and what is asked for instead of the default.
ELEMENTS: tuple[tuple[ElementKind, ElementKind, MathPrecision | None], ...] = (
    (_K.F32, _K.F32, None), (_K.F64, _K.F64, None), (_K.F16, _K.F16, None), (_K.BF16, _K.BF16, None), (_K.BF16, _K.F32, None),
    (_K.S8, _K.S32, None), (_K.S32, _K.S32, None), (_K.C64, _K.C64, None), (_K.C128, _K.C128, None),
    (_K.F32, _K.F32, MathPrecision.INT23), (_K.BF16, _K.BF16, MathPrecision.INT15), (_K.BF16, _K.BF16, MathPrecision.F32),
    (_K.F8E4M3, _K.F32, None),
)  # fmt: skip
_UNIT = {ElementKind.F32: 2.0**-24, ElementKind.F64: 2.0**-53}
#: How many times as many rows a larger case has, and which of its blocks is the given one.
_LARGER = ((2, 1), (17, 14))


@dataclass(frozen=True)
class ProductCase(Case):
    """The product of two tensors' last two axes; a transposed factor has those two exchanged."""

    a_batch: tuple[int, ...]
    b_batch: tuple[int, ...]
    rows: int
    depth: int
    columns: int
    factor: ElementKind
    result: ElementKind
    a_transposed: bool = False
    b_transposed: bool = False
    layout: str = "contiguous"
    math: MathPrecision | None = None
    chosen: Mapping[str, TensorPlacement] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        marks = ("T" if self.a_transposed else "") + "," + ("T" if self.b_transposed else "")
        sizes = "x".join(map(str, (*self.a_batch, self.rows, self.depth, self.columns)))
        batch = "" if self.a_batch == self.b_batch else f"/{'x'.join(map(str, self.b_batch))}"
        asked = "" if self.math is None else f"-{self.math}"
        return f"matmul-{self.factor}-{self.result}-{sizes}{batch}-{marks}-{self.layout}{asked}"

    @property
    def group(self) -> str:
        return f"matmul {self.factor} {self.result} {self.math or ''}".rstrip()

    @property
    def op(self) -> str:
        return "matmul"

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        return MatmulPlan

    @property
    def preference(self) -> PlanPreference:
        return PlanPreference(math=self.math)

    @property
    def bits(self) -> int:
        """The bits of the integers that its factors are taken as; 0: they are not."""
        return bits_of(self.math or precisions(self.descriptor)[0])

    @property
    def descriptor(self) -> MatmulDescriptor:
        a, b = (self.rows, self.depth), (self.depth, self.columns)
        return MatmulDescriptor.matmul(
            (*self.a_batch, *(a[::-1] if self.a_transposed else a)),
            (*self.b_batch, *(b[::-1] if self.b_transposed else b)),
            self.result,
            a_transposed=self.a_transposed,
            b_transposed=self.b_transposed,
            a_element=self.factor,
            b_element=self.factor,
        )

    def args(self, tensors: Mapping[str, Any]) -> MatmulArgs:
        return MatmulArgs(**tensors)

    def laid(self, layout: str) -> ProductCase:
        return replace(self, layout=layout)

    def inputs(self) -> dict[str, Array]:
        seed = str(replace(self, layout="contiguous"))
        return {
            s.name: self._values(f"{seed}/{s.name}", s.expected_shape(self.descriptor)) for s in self.tensors() if not s.written
        }

    def _values(self, seed: str, shape: tuple[int, ...]) -> Array:
        kind = self.factor
        if kind.is_integer:
            return data.integers(seed, shape, -100, 100).astype(kind.numpy)
        if kind.category is Category.COMPLEX:
            return np.asarray(data.normal(seed, shape) + 1j * data.normal(f"{seed}/imaginary", shape)).astype(kind.numpy)
        return data.rounded(data.normal(seed, shape), kind)

    def batches(self) -> Iterator[Batch]:
        inputs = self.inputs()
        axis = -1 if self.a_transposed else -2
        for times, position in _LARGER:
            larger = replace(self, rows=times * self.rows, layout="contiguous")
            a = np.concatenate([inputs["a"] if i == position else np.flip(inputs["a"], axis) for i in range(times)], axis)
            rows_of_block = slice(position * self.rows, (position + 1) * self.rows)

            def within(name: str, y: Array, block_rows: slice = rows_of_block) -> Array:
                rows: Array = y[..., block_rows, :]
                return rows

            yield Batch(f"{times} times as many rows, from block {position}", larger, {**inputs, "a": a}, within)

    # --- what the result must be --------------------------------------------------------------------------------------

    def _factors(self, inputs: Mapping[str, Array]) -> tuple[Array, Array]:
        a, b = inputs["a"], inputs["b"]
        return (a.swapaxes(-1, -2) if self.a_transposed else a), (b.swapaxes(-1, -2) if self.b_transposed else b)

    def bounds(self, inputs: Mapping[str, Array]) -> dict[str, list[tuple[Array, Array]]]:
        """From the sums in a wider kind: a chain of n roundings is off by at most n units times the sum of magnitudes, integers
        by what their elements are rounded."""
        a, b = self._factors(inputs)
        if self.factor.is_integer:
            whole = np.matmul(a.astype(np.int64), b.astype(np.int64)).astype(self.result.numpy)
            return {"y": [(whole, whole)]}
        wide = np.clongdouble if self.factor.category is Category.COMPLEX else np.longdouble
        exact, size = (
            np.matmul(a.astype(wide), b.astype(wide)),
            np.matmul(abs(a).astype(np.longdouble), abs(b).astype(np.longdouble)),
        )
        off = (2 * self.depth + 4) * _UNIT[self.descriptor.accumulator] * size
        if self.bits:
            most = (abs(x).astype(np.longdouble).max(i, keepdims=True, initial=0) for x, i in ((a, -1), (b, -2)))
            sums = (abs(x).astype(np.longdouble).sum(i, keepdims=True) for x, i in ((a, -1), (b, -2)))
            (most_a, most_b), (sum_a, sum_b) = most, sums
            off = off + 2.0**-self.bits * 1.01 * (most_a * sum_b + most_b * sum_a + self.depth * most_a * most_b)
        halves = [exact.real, exact.imag] if np.iscomplexobj(exact) else [exact]
        return {"y": [((half - off).astype(np.float64), (half + off).astype(np.float64)) for half in halves]}

    def canonical_outputs(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """One chain of fused multiply-adds in rising k for each element, from +0; or the integer product."""
        a, b = self._factors(inputs)
        if self.bits:
            return {"y": data.rounded(integer_product(a, b, self.bits), self.result)}
        pairs = [(a[..., :, k, None], b[..., None, k, :]) for k in range(self.depth)]
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), self.rows, self.columns)
        if self.factor.is_integer:
            return {"y": sum((x.astype(np.int32) * y.astype(np.int32) for x, y in pairs), np.zeros(shape, np.int32))}
        accumulator = self.descriptor.accumulator
        fma, kind = (fma32 if accumulator is ElementKind.F32 else fma64), accumulator.numpy
        re = im = np.zeros(shape, kind)
        if self.factor.category is not Category.COMPLEX:
            for x, y in pairs:
                re = fma(x.astype(kind), y.astype(kind), re)
            return {"y": data.rounded(re, self.result)}
        for x, y in pairs:
            re = fma(-x.imag, y.imag, fma(x.real, y.real, re))
            im = fma(x.imag, y.real, fma(x.real, y.imag, im))
        product = np.empty(shape, self.result.numpy)
        product.real, product.imag = re, im
        return {"y": product}


@cache
def hashed() -> tuple[ProductCase, ...]:
    """The products with reference hashes: every shape in every element; transposes and layouts take turns."""
    cases = []
    for j, (factor, result, math) in enumerate(ELEMENTS):
        for i, (a_batch, b_batch, rows, depth, columns) in enumerate(SHAPES):
            turn = i + 3 * j
            layout = LAYOUTS[turn // 2 % 5] if turn % 2 else "contiguous"
            turned = turn % 4 > 1, turn % 3 > 1
            cases.append(ProductCase(a_batch, b_batch, rows, depth, columns, factor, result, *turned, layout, math))
    return tuple(cases)
