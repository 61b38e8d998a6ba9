"""A layer of all-MiniLM-L6-v2: self-attention and two linear layers, each added to its input and normalised, as nine launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from math import prod, sqrt
from typing import Any

import numpy as np
from scipy.special import erf

from baracuda.cli.bench.benchmark import Benchmark, Invocation, Prepared, Shape, block_shape, bound, relative_error
from baracuda.cli.bench.place import Place, Tensor, Values
from baracuda.cli.bench.suites.gemm import PREFERENCES
from baracuda.cli.bench.suites.request import Request
from baracuda.cli.timing import Call
from baracuda.cli.verify import values as data
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.core.lazy import cached_property
from baracuda.core.sku import PlanPreference
from baracuda.frontends.array import to_host
from baracuda.frontends.families import ops
from baracuda.frontends.function import describe_call
from baracuda.ops.attention.descriptor import AttentionDescriptor
from baracuda.ops.attention.plan import AttentionArgs, AttentionPlan
from baracuda.ops.declaration.op_plan import plan_of
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulArgs, MatmulPlan

#: Width, heads, width between the linear layers, and what is added to a variance.
WIDTH, HEADS, WIDE, EPS = 384, 12, 1536, 1e-12
#: Sentences, and tokens of each.
SIZES = {"cuda": ((32, 128), (256, 128)), "cpu": ((8, 128), (32, 128)), "quick": ((2, 16),)}
#: The weights, by the names that the layer's tensors have here.
WEIGHTS: Mapping[str, Shape] = {
    **{f"{name}_weight": (WIDTH, WIDTH) for name in ("query", "key", "value", "joined")},
    **{f"{name}_bias": (WIDTH,) for name in ("query", "key", "value", "joined")},
    "up_weight": (WIDE, WIDTH), "up_bias": (WIDE,), "down_weight": (WIDTH, WIDE), "down_bias": (WIDTH,),
    "norm1_weight": (WIDTH,), "norm1_bias": (WIDTH,), "norm2_weight": (WIDTH,), "norm2_bias": (WIDTH,),
}  # fmt: skip
#: What a relative error may be: that of many roundings.
ALLOWED = {"bf16": 2e-2, "f16": 4e-3, "f32": 2e-5, "f64": 1e-12}


@dataclass(frozen=True)
class Layer(Benchmark):
    """The layer, on sentences of one length."""

    shape: Shape
    element: ElementKind
    variant: str
    suite: str = "demo"
    op: str = "minilm_layer"
    family: str = "model"
    shape_class: str = "sentences, tokens, width"

    @property
    def nbytes(self) -> int:
        """Every weight once, the input and the result."""
        return (2 * prod(self.shape) + sum(map(prod, WEIGHTS.values()))) * self.element.itemsize

    @property
    def operations(self) -> float:
        sentences, tokens, _ = self.shape
        linear = 2.0 * sentences * tokens * (4 * WIDTH * WIDTH + 2 * WIDTH * WIDE)
        return linear + 4.0 * sentences * tokens * tokens * WIDTH

    @property
    def invocation(self) -> Invocation:
        return Invocation("minilm_layer", ("x", *WEIGHTS), {"heads": HEADS, "eps": EPS})

    def prepare(self, place: Place, seed: int) -> Prepared:
        steps = _Steps(place, self, seed)
        launches = steps.launches()
        tensors = {"x": steps.x, **steps.weights, "y": steps.y}

        def launch() -> None:
            for call in launches:
                call()

        words = sorted(steps.backends)
        if self.variant == "fastest" and all(w.startswith("formula") for w in words):
            raise UnsupportedError("no library has a plan for it: the fastest is the reproducible one")
        return Prepared(launch, tensors, ("y",), "+".join(words), "", f"{len(launches)} launches")

    def expected(self, place: Place, prepared: Prepared) -> tuple[str, float]:
        """The last sentence in float64."""
        held = {n: np.asarray(to_host(t)).astype(np.float64) for n, t in prepared.tensors.items() if n not in ("x", "y")}
        x, y = (np.asarray(to_host(prepared.tensors[n][-1])).astype(np.float64) for n in ("x", "y"))
        return "float64, one sentence", relative_error(y, _layer(x, held)) / ALLOWED[self.element.label]


class _Steps:
    """The tensors of a layer and its launches."""

    def __init__(self, place: Place, layer: Layer, seed: int) -> None:
        self.place, self.layer = place, layer
        self.preference: PlanPreference = PREFERENCES[layer.variant]
        self.backends: set[str] = set()
        self.weights = {name: self._put(name, shape, seed) for name, shape in WEIGHTS.items()}
        self.x = self._put("x", layer.shape, seed)
        self.y = self._empty(layer.shape)

    def _put(self, name: str, shape: Shape, seed: int) -> Tensor:
        values = data.normal(f"layer/{name}/{seed}", block_shape(shape))
        if name.endswith("_weight"):
            values = 1.0 + 0.1 * values if name.startswith("norm") else values * shape[-1] ** -0.5
        elif name.endswith("_bias"):
            values = 0.1 * values
        return self.place.put(data.rounded(values, self.layer.element), shape)

    def _empty(self, shape: Shape) -> Tensor:
        return self.place.empty(shape, self.layer.element)

    @cached_property
    def heads(self) -> Shape:
        sentences, tokens, _ = self.layer.shape
        return (sentences, tokens, HEADS, WIDTH // HEADS)

    def launches(self) -> list[Call]:
        """In order."""
        x, shape = self.x, self.layer.shape
        between = {n: self._empty(shape) for n in ("query", "key", "value", "attended", "joined", "middle", "down", "sum")}
        up = self._empty((*shape[:2], WIDE))
        calls = [self._linear(x, n, between[n]) for n in ("query", "key", "value")]
        calls.append(self._attention(*(between[n] for n in ("query", "key", "value", "attended"))))
        calls.append(self._linear(between["attended"], "joined", between["joined"]))
        calls.append(self._norm(between["joined"], x, "norm1", between["middle"], between["sum"]))
        calls.append(self._linear(between["middle"], "up", up, "gelu"))
        calls.append(self._linear(up, "down", between["down"]))
        calls.append(self._norm(between["down"], between["middle"], "norm2", self.y, between["sum"]))
        return calls

    def _bind(self, cls: Any, descriptor: Any, args: Any) -> Call:
        plan, launch = bound(self.place, cls, descriptor, args, self.preference)
        self.backends.add(str(plan.sku().backend))
        return launch

    def _linear(self, x: Tensor, name: str, y: Tensor, activation: str = "none") -> Call:
        weight, bias = (self.weights[f"{name}_{part}"] for part in ("weight", "bias"))
        rows = prod(x.shape[:-1])
        a, out = x.reshape(rows, x.shape[-1]), y.reshape(rows, y.shape[-1])
        descriptor = MatmulDescriptor.matmul(
            tuple(a.shape), tuple(weight.shape), self.layer.element, b_transposed=True, bias_axis=-1, activation=activation
        )
        return self._bind(MatmulPlan, descriptor, MatmulArgs(a=a, b=weight, bias=bias, y=out))

    def _attention(self, *tensors: Tensor) -> Call:
        q, k, v, y = (t.reshape(*self.heads).transpose(0, 2, 1, 3) for t in tensors)
        sentences, tokens, heads, depth = self.heads
        d = AttentionDescriptor(sentences, heads, heads, tokens, tokens, depth, depth, self.layer.element)
        known = {"q": q, "k": k, "v": v, "y": y}
        return self._bind(AttentionPlan, d, AttentionArgs(**{f.name: known.get(f.name) for f in fields(AttentionArgs)}))

    def _norm(self, x: Tensor, residual: Tensor, name: str, y: Tensor, total: Tensor) -> Call:
        tensors = (x, residual, self.weights[f"{name}_weight"], self.weights[f"{name}_bias"])
        descriptor, named, _ = describe_call(ops()["fused_add_layer_norm"], tensors, {"eps": EPS})
        cls = plan_of(descriptor)
        return self._bind(cls, descriptor, cls.args(**{**named, "y": y, "s": total}))


def _layer(x: Values, w: Mapping[str, Values]) -> Values:
    """The layer in NumPy, on one sentence."""

    def linear(x: Values, name: str) -> Values:
        y: Values = x @ w[f"{name}_weight"].T + w[f"{name}_bias"]
        return y

    def norm(x: Values, name: str) -> Values:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
        y: Values = scaled * w[f"{name}_weight"] + w[f"{name}_bias"]
        return y

    q, k, v = (linear(x, n).reshape(len(x), HEADS, -1).swapaxes(0, 1) for n in ("query", "key", "value"))
    score = q @ k.swapaxes(-1, -2) / sqrt(q.shape[-1])
    weight = np.exp(score - score.max(-1, keepdims=True))
    attended = (weight / weight.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(len(x), -1)
    middle = norm(linear(attended, "joined") + x, "norm1")
    wide = linear(middle, "up")
    return norm(linear(0.5 * wide * (1.0 + erf(wide * 0.5**0.5)), "down") + middle, "norm2")


def problems(request: Request) -> Iterator[Layer]:
    """Batches of sentences in every element, reproducible and as fast as there is."""
    sizes = SIZES["quick" if request.quick else request.kind]
    if request.shape is not None:
        if len(request.shape) != 2:
            raise UnsupportedError(f"shape {request.shape} for the suite demo; expected sentences and tokens")
        sizes = ((request.shape[0], request.shape[1]),)
    for element in request.elements(("f32", "bf16")):
        if element.label in ALLOWED:
            for size in sizes:
                for variant in PREFERENCES:
                    yield Layer((*size, WIDTH), element, variant)
