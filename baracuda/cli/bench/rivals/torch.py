"""PyTorch, eager and compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from baracuda.cli.bench.benchmark import Invocation, Prepared
from baracuda.cli.bench.place import Place, Tensor
from baracuda.cli.bench.rivals.library import Function, Library, Results, arguments, as_tuple, named
from baracuda.core.elements import ElementKind
from baracuda.core.op_table import table
from baracuda.core.tensor import TensorMut
from baracuda.frontends.arrays import torch_dtype
from baracuda.runtime.cpu import get_num_threads

#: What our keywords are called there.
WORDS = {"axis": "dim", "keepdims": "keepdim"}
#: Elements without a type in NumPy's or CUDA's array interface, and what they are handed over as.
_RAW = {
    ElementKind.BF16: ElementKind.S16,
    ElementKind.F8E4M3: ElementKind.U8,
    ElementKind.F8E5M2: ElementKind.U8,
}


def has_cuda() -> bool:
    """Whether the installed PyTorch computes on GPUs."""
    return bool(import_module("torch").cuda.is_available())


class Torch(Library):
    """Eager calls, or with `compiled` functions that torch.compile has made."""

    def __init__(self, place: Place, *, compiled: bool = False) -> None:
        super().__init__(place)
        self.torch = import_module("torch")
        self.torch.set_num_threads(get_num_threads())
        self.compiled, self.label = compiled, "torch.compile" if compiled else "torch"
        self._made: dict[Any, Function] = {}

    def tensor(self, ours: Tensor) -> Any:
        kind = ours.kind if isinstance(ours, TensorMut) else ElementKind.from_numpy(ours.dtype)
        raw = _RAW.get(kind, kind)
        if isinstance(ours, TensorMut):
            plain = type(ours)(ours.pointer, ours.shape, ours.strides, raw, ours.device, owner=ours)
            wrapped = self.torch.as_tensor(plain, device=f"cuda:{ours.device.index}")
        else:
            wrapped = self.torch.from_numpy(ours.view(raw.numpy))
        return wrapped if raw is kind else wrapped.view(torch_dtype(self.torch, kind))

    def host(self, result: Any, span: tuple[slice, ...]) -> np.ndarray[Any, Any]:
        part = result.detach()[span]
        if part.is_floating_point():
            part = part.double()
        values: np.ndarray[Any, Any] = part.cpu().resolve_conj().numpy()
        return values

    def given_back(self, result: Any, ours: Prepared) -> bool:
        input_pointers = (self.tensor(t).data_ptr() for name, t in ours.tensors.items() if name not in ours.outputs)
        return result.data_ptr() in input_pointers

    def functions(self, op: str) -> Iterator[Function]:
        if op in SPECIAL:
            yield partial(SPECIAL[op], self.torch)
            return
        if op not in table():
            return
        row = table()[op]
        for function in (*named(self.torch, row.torch), *named(self.torch.nn.functional, row.nn_functional)):
            yield self._translated(function)

    def _translated(self, function: Function) -> Function:
        def call(*tensors: Any, **keywords: Any) -> Any:
            return function(*tensors, **{WORDS.get(name, name): value for name, value in keywords.items()})

        return self._made.setdefault(function, call)

    def call(self, function: Function, invocation: Invocation, tensors: Mapping[str, Any]) -> Results:
        if self.compiled:
            function = self._compile(function)
        operands, words = arguments(invocation, tensors), dict(invocation.keywords)
        if not invocation.wrt:
            return lambda: as_tuple(function(*operands, **words))
        leaves = {n: tensors[n].detach().requires_grad_() for n in invocation.wrt}
        operands = [leaves.get(n, t) if n is not None else t for n, t in zip(invocation.tensors, operands, strict=False)]
        every = as_tuple(function(*operands, **words))
        pairs = [(r, tensors[f"d{n}"]) for n, r in zip(invocation.results, every, strict=False) if r.requires_grad]
        results, cotangents = [r for r, _ in pairs], [d.reshape(r.shape) for r, d in pairs]
        gradient: Callable[..., Any] = self.torch.autograd.grad
        sources = list(leaves.values())
        return lambda: gradient(results, sources, cotangents, retain_graph=True, allow_unused=True)

    def _compile(self, function: Function) -> Function:
        """Compiled once for each function; shapes are specialised on."""
        key = (function.func, "compiled") if isinstance(function, partial) else (function, "compiled")
        if key not in self._made:
            self.torch._dynamo.config.cache_size_limit = 256  # every problem is a new set of shapes
            self._made[key] = self.torch.compile(function, dynamic=False)
        return self._made[key]

    def into(self, function: Function, invocation: Invocation, tensors: Mapping[str, Any]) -> Results | None:
        if self.compiled or isinstance(function, partial) or len(invocation.results) != 1:
            return None
        operands, words = arguments(invocation, tensors), dict(invocation.keywords)
        out = tensors[invocation.results[0]]
        return lambda: as_tuple(function(*operands, out=out, **words))


def _softmax(torch: Any, x: Any, axis: int = -1) -> Any:
    return torch.softmax(x, axis)


def _log_softmax(torch: Any, x: Any, axis: int = -1) -> Any:
    return torch.log_softmax(x, axis)


def _layer_norm(torch: Any, x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, axis: int = -1) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[axis:], weight, bias, eps)


def _rms_norm(torch: Any, x: Any, weight: Any = None, eps: float = 1e-6, axis: int = -1) -> Any:
    return torch.nn.functional.rms_norm(x, x.shape[axis:], weight, eps)


def _add_layer_norm(torch: Any, x: Any, residual: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    total = x + residual
    return _layer_norm(torch, total, weight, bias, eps), total


def _linear(torch: Any, x: Any, weight: Any, bias: Any, activation: str = "none") -> Any:
    y = torch.nn.functional.linear(x, weight, bias)
    return torch.nn.functional.gelu(y) if activation == "gelu" else y


def _attention(torch: Any, q: Any, k: Any, v: Any, causal: bool = False, grouped: bool = False) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)


def _minilm_layer(torch: Any, x: Any, *weights: Any, heads: int, eps: float) -> Any:
    from baracuda.cli.bench.suites.demo import WEIGHTS

    w = dict(zip(WEIGHTS, weights, strict=True))
    sentences, tokens, width = x.shape
    q, k, v = (
        _linear(torch, x, w[f"{n}_weight"], w[f"{n}_bias"]).view(sentences, tokens, heads, -1).transpose(1, 2)
        for n in ("query", "key", "value")
    )
    attended = _attention(torch, q, k, v).transpose(1, 2).reshape(sentences, tokens, width)
    joined = _linear(torch, attended, w["joined_weight"], w["joined_bias"])
    middle = _layer_norm(torch, joined + x, w["norm1_weight"], w["norm1_bias"], eps)
    up = _linear(torch, middle, w["up_weight"], w["up_bias"], "gelu")
    down = _linear(torch, up, w["down_weight"], w["down_bias"])
    return _layer_norm(torch, down + middle, w["norm2_weight"], w["norm2_bias"], eps)


#: Where PyTorch's function of the name takes something else than ours: what a user of PyTorch writes.
SPECIAL: Mapping[str, Function] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "fused_add_layer_norm": _add_layer_norm,
    "linear": _linear,
    "scaled_dot_product_attention": _attention,
    "minilm_layer": _minilm_layer,
}
