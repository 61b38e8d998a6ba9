"""The models that `benchmarks.onnx_models` times: those that the package `onnx` ships, with weights as trained ones are, and
transformers exported by PyTorch."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import nn

Values = dict[str, np.ndarray[Any, Any]]


def light() -> dict[str, Path]:
    """The light models of the package `onnx`: graphs of well-known networks whose weights are constants of one value."""
    folder = Path(onnx.__file__).parent / "backend/test/data/light"
    return {f.stem.removeprefix("light_"): f for f in sorted(folder.glob("light_*.onnx"))}


def with_weights(path: Path, seed: int = 0) -> tuple[onnx.ModelProto, Values]:
    """A light model with random weights that keep values of its own size, and an input: zeros and denormals are not timed."""
    model = onnx.load(path)
    graph, generator = model.graph, np.random.default_rng(seed)
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    users: dict[str, tuple[str, int]] = {}
    for node in graph.node:
        users.update({name: (node.op_type, i) for i, name in enumerate(node.input)})
    kept, weights = [], []
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = tuple(int(n) for n in shapes[node.input[0]])
        weights.append(numpy_helper.from_array(_weight(generator, shape, *users[node.output[0]]), node.output[0]))
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(weights)
    known = {t.name for t in graph.initializer}
    inputs = {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in graph.input if i.name not in known}
    return model, {name: generator.standard_normal(shape, np.float32) for name, shape in inputs.items()}


def _weight(generator: np.random.Generator, shape: tuple[int, ...], operator: str, position: int) -> np.ndarray[Any, Any]:
    if len(shape) > 1:
        return generator.standard_normal(shape, np.float32) * np.float32((2 / np.prod(shape[1:])) ** 0.5)
    if operator in ("Conv", "Gemm") or (operator == "BatchNormalization" and position in (2, 3)):
        return generator.standard_normal(shape, np.float32) * np.float32(0.1)
    return generator.uniform(0.5, 1.5, shape).astype(np.float32)


class Block(nn.Module):
    """A layer of a transformer, its norms behind (BERT) or before (GPT-2)."""

    def __init__(self, width: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.parts = nn.Linear(width, 3 * width)
        self.joined, self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def attended(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.parts(x).split(width, -1)
        q, k, v = (p.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2) for p in parts)
        if self.causal:
            scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
            seen = torch.ones(length, length, dtype=torch.bool).tril()
            y = torch.softmax(torch.where(seen, scores, torch.finfo(scores.dtype).min), -1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v)
        return self.joined(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.causal:
            x = x + self.attended(self.first(x))
            return x + self.outer(F.gelu(self.inner(self.second(x)), approximate="tanh"))
        x = self.first(x + self.attended(x))
        return self.second(x + self.outer(F.gelu(self.inner(x))))


class Transformer(nn.Module):
    """Embeddings and layers; the sentence encoder of `examples/minilm` is one of 6 layers of 384."""

    def __init__(self, layers: int, width: int, heads: int, *, causal: bool, words: int = 2000, pooled: bool = False) -> None:
        super().__init__()
        self.words, self.places, self.pooled = nn.Embedding(words, width), nn.Embedding(512, width), pooled
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(Block(width, heads, causal=causal) for _ in range(layers))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.words(tokens) + self.places(torch.arange(tokens.shape[1])))
        for layer in self.layers:
            x = layer(x)
        return F.normalize(x.mean(1), dim=-1) if self.pooled else x


def exported(make: Callable[[], nn.Module], batch: int, length: int) -> tuple[onnx.ModelProto, Values]:
    """A transformer as PyTorch exports it, with weights of a fixed seed."""
    torch.manual_seed(0)
    tokens = torch.randint(0, 2000, (batch, length))
    into = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {"input_names": ["tokens"], "output_names": ["y"], "dynamic_axes": {"tokens": {0: "batch"}}}
        torch.onnx.export(make().eval(), (tokens,), into, dynamo=False, opset_version=17, **names)
    return onnx.load_from_string(into.getvalue()), {"tokens": tokens.numpy()}


TRANSFORMERS: dict[str, Callable[[], tuple[onnx.ModelProto, Values]]] = {
    "bert (2 of 12 layers)": lambda: exported(lambda: Transformer(2, 768, 12, causal=False), 1, 128),
    "gpt2 (2 of 12 layers)": lambda: exported(lambda: Transformer(2, 768, 12, causal=True), 1, 128),
    "minilm": lambda: exported(lambda: Transformer(6, 384, 12, causal=False, pooled=True), 8, 32),
}


def models(only: str = "") -> dict[str, Callable[[], tuple[onnx.ModelProto, Values]]]:
    """How each model whose name contains a word is made."""
    made = {name: (lambda path=path: with_weights(path)) for name, path in light().items()}
    return {name: make for name, make in (made | TRANSFORMERS).items() if only in name}
