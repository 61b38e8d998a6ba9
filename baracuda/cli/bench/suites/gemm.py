"""Matrix products by every plan that there is: square, tall, decode and batched shapes, and those of a sentence encoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from scipy.special import erf

from baracuda.cli.bench.benchmark import Invocation, PlanBenchmark, Prepared, Shape, block_shape, relative_error
from baracuda.cli.bench.place import Place, Tensor, Values
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.verify import values as data
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.plan import Plan
from baracuda.core.sku import PlanPreference
from baracuda.formula.integer_products import INTEGER_BITS
from baracuda.frontends.array import to_host
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulArgs, MatmulPlan

#: Which plan is asked for, by the name of the variant.
PREFERENCES = {"reproducible": PlanPreference(), "fastest": PlanPreference(fastest=True)}
#: The same of products of integers, which are reproducible too.
INTEGERS = {f"{bits} bits": PlanPreference(math=math) for math, bits in INTEGER_BITS.items()}
#: What a relative error may be: the stored element's rounding, and for the long sums of f32; and what it may be of integers.
ALLOWED = {"bf16": 4e-3, "f16": 1e-3, "f32": 1e-5, "f64": 1e-12}
ALLOWED_OF_INTEGERS = {"23 bits": 1e-5, "15 bits": 1e-3}
#: Rows and columns of the result that are compared.
COMPARED = 24


@dataclass(frozen=True)
class Size:
    """A product's class, its factors' shapes, and what follows it; `linear`: of x and the transpose of weight, with a bias."""

    label: str
    a: Shape
    b: Shape
    linear: bool = False
    activation: str = "none"


def _encoder(tokens: int) -> tuple[Size, ...]:
    """The products of a layer of MiniLM."""
    return (
        Size("minilm qkv", (tokens, 384), (384, 384), True),
        Size("minilm up", (tokens, 384), (1536, 384), True, "gelu"),
        Size("minilm down", (tokens, 1536), (384, 1536), True),
    )


SIZES = {
    "cuda": (
        Size("square", (4096, 4096), (4096, 4096)),
        Size("square", (8192, 8192), (8192, 8192)),
        Size("tall", (65536, 1024), (1024, 1024)),
        Size("wide", (1024, 8192), (8192, 32768)),
        Size("decode", (1, 8192), (8192, 8192)),
        Size("decode", (16, 8192), (8192, 8192)),
        Size("batched", (64, 1024, 1024), (64, 1024, 1024)),
        *_encoder(32 * 128),
    ),
    "cpu": (
        Size("square", (1024, 1024), (1024, 1024)),
        Size("square", (2048, 2048), (2048, 2048)),
        Size("tall", (16384, 256), (256, 256)),
        Size("decode", (1, 4096), (4096, 4096)),
        Size("decode", (8, 4096), (4096, 4096)),
        Size("batched", (16, 256, 256), (16, 256, 256)),
        *_encoder(8 * 128),
    ),
    "quick": (
        Size("square", (128, 128), (128, 128)),
        Size("decode", (1, 512), (512, 512)),
        Size("batched", (4, 64, 64), (4, 64, 64)),
        *_encoder(64),
    ),
}


@dataclass(frozen=True)
class Product(PlanBenchmark):
    """One product by one plan."""

    size: Size
    element: ElementKind
    variant: str
    suite: str = "gemm"
    family: str = "gemm"

    @property
    def op(self) -> str:  # type: ignore[override]
        return "linear" if self.size.linear else "matmul"

    @property
    def shape_class(self) -> str:  # type: ignore[override]
        return self.size.label

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Batch, rows, columns, length of the sums."""
        y = self.descriptor.y_shape
        return (*y, self.size.a[-1])

    @property
    def preference(self) -> PlanPreference:  # type: ignore[override]
        return (PREFERENCES | INTEGERS)[self.variant]

    @property
    def plan(self) -> type[Plan[Any, Any]]:
        return MatmulPlan

    @property
    def descriptor(self) -> Any:
        s = self.size
        if not s.linear:
            return MatmulDescriptor.matmul(s.a, s.b, self.element)
        return MatmulDescriptor.matmul(s.a, s.b, self.element, b_transposed=True, bias_axis=-1, activation=s.activation)

    def args(self, tensors: Mapping[str, Tensor]) -> Any:
        return MatmulArgs(**{s.name: tensors.get(s.name) for s in self.plan.tensors})

    def block(self, name: str, shape: Shape, kind: ElementKind, seed: int) -> Values:
        size = 1.0 if name != "b" else float(self.size.a[-1]) ** -0.5  # results of size 1, as weights are made
        return data.rounded(size * data.normal(f"gemm/{name}/{seed}", block_shape(shape)), kind)

    @property
    def operations(self) -> float:
        return 2.0 * prod(self.shape)

    def prepare(self, place: Place, seed: int) -> Prepared:
        return only_a_library(super().prepare(place, seed), self.variant)

    @property
    def invocation(self) -> Invocation:
        names = ("a", "b", "bias") if self.size.linear else ("a", "b")
        words = {} if self.size.activation == "none" else {"activation": self.size.activation}
        return Invocation(self.op, names, words)

    def expected(self, place: Place, prepared: Prepared) -> tuple[str, float]:
        """Some rows and columns of the result in float64."""
        t, s = prepared.tensors, self.size
        rows, columns = ((slice(None, None, max(n // COMPARED, 1))) for n in self.descriptor.y_shape[-2:])
        some = (slice(-1, None),) * (len(s.a) - 2)  # the last of a batch
        a = _float64(t["a"][(*some, rows)])
        b = _float64(t["b"][columns]).swapaxes(-1, -2) if s.linear else _float64(t["b"][(*some, slice(None), columns)])
        y = a @ b
        if s.linear:
            y = y + _float64(t["bias"][columns])
        if s.activation == "gelu":
            y = 0.5 * y * (1.0 + erf(y * 0.5**0.5))
        error = relative_error(_float64(t["y"][(*some, rows, columns)]), y)
        return f"float64, {y.size} elements", error / max(ALLOWED[self.element.label], ALLOWED_OF_INTEGERS.get(self.variant, 0.0))


def only_a_library(prepared: Prepared, variant: str) -> Prepared:
    """What was prepared; raises `UnsupportedError` where the fastest plan is the reproducible one, which has a row already."""
    if variant == "fastest" and prepared.backend.startswith("formula"):
        raise UnsupportedError("no library has a plan for it: the fastest is the reproducible one")
    return prepared


def _float64(tensor: Tensor) -> Values:
    return np.asarray(to_host(tensor)).astype(np.float64)


def problems(request: Request) -> Iterator[Product]:
    """Every size in every element, reproducible, as fast as there is, and in integers."""
    if request.shape is not None and len(request.shape) != 3:
        raise UnsupportedError(f"shape {request.shape} for the suite gemm; expected rows, columns, length of the sums")
    sizes = SIZES["quick" if request.quick else request.kind]
    if request.shape is not None:
        m, n, k = request.shape
        sizes = (Size("given", (m, k), (k, n)),)
    for element in request.elements(("f32", "bf16")):
        if element.label in ALLOWED:
            for size in sizes:
                for variant in (*PREFERENCES, *(INTEGERS if element.bits < 64 else ())):
                    yield Product(size, element, variant)
