"""Training: pairs of sentences that mean the same, told apart from all others of the batch, with dropout and AdamW.

Henderson et al. 2017: the scores are the products of every embedding of the one side with every one of the other; the loss is
the cross entropy of each row with its own pair.

    python -m baracuda_minilm.train                  ten steps of a small model, drawn from a key, on the CPU
    python -m baracuda_minilm.train --device cuda    the same on a GPU
    python -m baracuda_minilm.train --installed      ten steps of the installed model, all-MiniLM-L6-v2

prints each step's loss and the norm of its gradients, and then a SHA-256 of all weights: it is the same on every device.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

import baracuda as bc
from baracuda_minilm.encoder import batch_of
from baracuda_minilm.model import Batch, MiniLM, Tape, Weights

#: What cosines are multiplied by.
SCALE = 20.0
#: What the gradients of a step have for a norm at most.
MOST = 1.0


def loss_and_gradients(
    model: MiniLM, batch: Batch, device: bc.Device, scale: float = SCALE, key: Any = None
) -> tuple[Any, Weights]:
    """The mean cross entropy of n pairs, and its gradients; with a key there is dropout. Sentences 0 to n-1 of the batch belong
    to n to 2n-1."""
    tape: Tape = []
    y = model(batch, tape, key)
    n = y.shape[0] // 2
    left, right = y[:n], y[n:]
    scores = bc.mul(bc.mm(left, right.T), scale)
    pairs = bc.to_device(np.arange(n), device)
    loss, *saved = bc.cross_entropy(scores, pairs, axis=1, saved=True, bounds="clamp")
    dloss = bc.to_device(np.full(loss.shape, scale, loss.dtype), device)
    dscores = bc.cross_entropy_backward(dloss, scores, pairs, None, *saved, axis=1)
    dy = bc.to_device(np.empty(y.shape, y.dtype), device)
    bc.mm(dscores, right, out=dy[:n])
    bc.mm(dscores.T, left, out=dy[n:])
    return loss, model.backward(dy, batch, tape)


class AdamW:
    """AdamW in place, all weights in one launch; Loshchilov and Hutter 2019. Of a table whose first rows alone have gradients,
    these alone move. With `most`, gradients whose norm is above it are made as short."""

    def __init__(
        self, weights: Weights, device: bc.Device, lr: float = 2e-5, weight_decay: float = 0.01, most: float | None = None
    ) -> None:
        self.weights, self.device, self.lr, self.weight_decay, self.most, self.steps = weights, device, lr, weight_decay, most, 0
        self._moments: dict[str, tuple[Any, Any]] = {}

    def step(self, grads: Weights) -> Any:
        """Move the weights by one step; the norm of all gradients, where they are limited."""
        self.steps += 1
        norm, own = None, list(grads.values())
        if self.most is not None:
            norm, own = bc.clip_grad_norm(own, self.most, in_place=True)
        moving = [[t[: g.shape[0]] for t in (self.weights[n], *self.moments(n))] for n, g in grads.items()]
        params, means, squares = map(list, zip(*moving, strict=True))
        words = {"weight_decay": self.weight_decay, "in_place": True}
        bc.multi_tensor_apply(bc.adamw_step, params, own, means, squares, self.lr, self.steps, **words)
        return norm

    def moments(self, name: str) -> tuple[Any, Any]:
        """The running means of a weight's gradients and of their squares, in f32."""
        if name not in self._moments:
            zeros = np.zeros(self.weights[name].shape, np.float32)
            self._moments[name] = (bc.to_device(zeros, self.device), bc.to_device(zeros.copy(), self.device))
        return self._moments[name]


# --- a run ------------------------------------------------------------------------------------------------------------


def small_weights(
    key: Any, device: bc.Device, dtype: str = "f32", *, layers: int = 2, width: int = 64, tokens: int = 500, longest: int = 32
) -> Weights:
    """Weights of a small model by the names of the large one's, drawn from a key: of deviation 0.05; norms begin as 1 and 0."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (tokens, width),
        "embeddings.position_embeddings.weight": (longest, width),
        "embeddings.token_type_embeddings.weight": (2, width),
    }
    norms = ["embeddings.LayerNorm"]
    for i in range(layers):
        name = f"encoder.layer.{i}"
        rows = {"attention.self.query_key_value": 3 * width, "attention.output.dense": width, "intermediate.dense": 4 * width}
        shapes |= {f"{name}.{part}.weight": (n, width) for part, n in rows.items()}
        shapes |= {f"{name}.{part}.bias": (n,) for part, n in rows.items()}
        shapes |= {f"{name}.output.dense.weight": (width, 4 * width), f"{name}.output.dense.bias": (width,)}
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    drawn = [bc.normal(bc.rng_fold_in(key, i), std=0.05, shape=shape, dtype=dtype) for i, shape in enumerate(shapes.values())]
    weights = dict(zip(shapes, drawn, strict=True))
    for name in [n for n in weights if ".query_key_value." in n]:
        for i, part in enumerate(("query", "key", "value")):
            weights[name.replace("query_key_value", part)] = weights[name][i * width : (i + 1) * width]
    for name in norms:
        for part, value in (("weight", 1), ("bias", 0)):
            weights[f"{name}.{part}"] = bc.to_device(np.full(width, value, bc.to_host(drawn[0]).dtype), device)
    return weights


def pairs_of_tokens(tokens: int, longest: int, pairs: int = 8) -> Iterator[Sequence[Sequence[int]]]:
    """Batches without end: random sentences, each with one that has its tokens from the last to the first."""
    key = bc.rng_key(7)
    while True:
        key, of_lengths, of_tokens = bc.rng_split(key, 3)
        lengths = bc.randint(of_lengths, 3, longest, (pairs,)).tolist()
        left = [ids[:n] for ids, n in zip(bc.randint(of_tokens, 0, tokens, (pairs, longest)).tolist(), lengths, strict=True)]
        yield left + [ids[::-1] for ids in left]


def digest(weights: Weights) -> str:
    """A SHA-256 of all weights, in the order of their names."""
    found = sha256()
    for name in sorted(weights):
        found.update(name.encode() + np.ascontiguousarray(bc.to_host(weights[name])).tobytes())
    return found.hexdigest()


def train(
    model: MiniLM, device: bc.Device, batches: Iterator[Sequence[Sequence[int]]], key: Any, steps: int, lr: float
) -> Iterator[tuple[float, float]]:
    """Steps with dropout, gradients limited by their norm, and a rate that rises for three; the loss and the norm of each."""
    optimizer = AdamW(model.weights, device, most=MOST)
    for step in range(steps):
        batch = batch_of(next(batches), device, np.float32)
        loss, grads = loss_and_gradients(model, batch, device, key=bc.rng_fold_in(key, step))
        optimizer.lr = lr * min(1.0, (step + 1) / 3)
        norm = optimizer.step(grads)
        yield float(bc.to_host(loss)), float(bc.to_host(norm))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="baracuda_minilm.train", description="Train for some steps, and print a hash of the weights."
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--installed", action="store_true", help="the installed model in place of a small one")
    options = parser.parse_args(arguments)
    device = bc.Device.cuda(0) if options.device == "cuda" else bc.Device.cpu()
    key = bc.to_device(bc.rng_key(20), device)
    if options.installed:
        from baracuda_minilm.files import read_weights

        model, batches, lr = MiniLM(read_weights(device)), pairs_of_tokens(30_000, 32), 2e-5
    else:
        model, batches, lr = MiniLM(small_weights(key, device), heads=4, layers=2), pairs_of_tokens(500, 24), 1e-3
    for step, (loss, norm) in enumerate(train(model, device, batches, key, options.steps, lr), 1):
        print(f"step {step:3}   loss {loss:.6f}   norm of gradients {norm:.6f}")
    print(digest(model.weights))


if __name__ == "__main__":
    main()
