"""all-MiniLM-L6-v2, a sentence encoder of six transformer layers, forward and backward, every tensor operation a baracuda plan.

Wang et al. 2020 (MiniLM), Reimers and Gurevych 2019 (Sentence-BERT), Devlin et al. 2019 (BERT). Tokens are (batch, length)
with each sentence's own length beside them; what stands behind a sentence's end changes no bit of its embedding.

A layer's forward returns its result and what its backward reads. Weights are a dict by the names of the model's file, and so
are gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import baracuda as bc

Tensor = Any
Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Batch:
    """Sentences of up to `length` tokens: the tokens (batch, length) s32, how many each sentence has (batch,) s32, and
    (batch, length) the share of each token in its sentence's mean: one over their number, behind the end 0."""

    tokens: Tensor
    lengths: Tensor
    shares: Tensor


@dataclass(frozen=True)
class MiniLM:
    """The encoder. `preference` says how products and attention are computed: by default reproducibly."""

    weights: Weights
    heads: int = 12
    layers: int = 6
    eps: float = 1e-12
    preference: bc.PlanPreference | None = None

    # --- forward ------------------------------------------------------------------------------------------------------

    def __call__(self, batch: Batch) -> Tensor:
        """The embeddings (batch, 384), of length 1, of sentences."""
        return self.forward(batch)[0]

    def forward(self, batch: Batch) -> tuple[Tensor, list[Any]]:
        """The embeddings, and all that the backward reads."""
        x, saved = self.embed(batch.tokens)
        tape = [saved]
        for i in range(self.layers):
            x, saved = self.layer(x, batch.lengths, f"encoder.layer.{i}")
            tape.append(saved)
        y, saved = self.pool(x, batch.shares)
        return y, [*tape, saved]

    def embed(self, tokens: Tensor) -> tuple[Tensor, Any]:
        """Word, position and type embeddings, added and normalised."""
        w = self.weights
        words = bc.embedding(tokens, w["embeddings.word_embeddings.weight"], bounds="clamp")
        positions = w["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        kinds = w["embeddings.token_type_embeddings.weight"][:1]  # every token is of the first type
        return self.add_norm(words, bc.add(positions, kinds)[None], "embeddings.LayerNorm")

    def layer(self, x: Tensor, lengths: Tensor, name: str) -> tuple[Tensor, Any]:
        """Self-attention, then two linear layers with GELU between them; each added to its input and normalised."""
        attended, saved_attention = self.attention(x, lengths, f"{name}.attention")
        y, saved_norm = self.add_norm(attended, x, f"{name}.attention.output.LayerNorm")
        h, z = self.linear(y, f"{name}.intermediate.dense", activation="gelu", saved=True)
        out = self.linear(h, f"{name}.output.dense")
        result, saved_out = self.add_norm(out, y, f"{name}.output.LayerNorm")
        return result, (saved_attention, saved_norm, y, h, z, saved_out)

    def attention(self, x: Tensor, lengths: Tensor, name: str) -> tuple[Tensor, Any]:
        """softmax(q k' / sqrt(depth)) v for each head, the keys behind a sentence's end left out."""
        q, k, v = (self.split(self.linear(x, f"{name}.self.{part}")) for part in ("query", "key", "value"))
        a, lse = bc.scaled_dot_product_attention(q, k, v, key_lengths=lengths, saved=True, preference=self.preference)
        joined = self.join(a)
        return self.linear(joined, f"{name}.output.dense"), (x, q, k, v, a, lse, joined)

    def pool(self, x: Tensor, shares: Tensor) -> tuple[Tensor, Any]:
        """The mean over a sentence's tokens, divided by its norm."""
        mean = bc.vecmat(shares, x)
        y, norm = bc.normalize(mean, axis=-1, saved=True)
        return y, (mean, norm)

    # --- the same backwards -------------------------------------------------------------------------------------------

    def backward(self, dy: Tensor, batch: Batch, tape: list[Any]) -> Weights:
        """The gradients of the weights, given that of the embeddings."""
        grads: Weights = {}
        mean, norm = tape[-1]
        dmean = bc.normalize_backward(dy, mean, norm, axis=-1)
        dx = bc.mul(batch.shares[:, :, None], dmean[:, None, :])
        for i in reversed(range(self.layers)):
            dx = self.layer_backward(dx, batch.lengths, f"encoder.layer.{i}", tape[i + 1], grads)
        self.embed_backward(dx, batch.tokens, tape[0], grads)
        return grads

    def layer_backward(self, dy: Tensor, lengths: Tensor, name: str, saved: Any, grads: Weights) -> Tensor:
        saved_attention, saved_norm, y, h, z, saved_out = saved
        dout = self.add_norm_backward(dy, f"{name}.output.LayerNorm", saved_out, grads)
        dh = self.linear_backward(dout, h, f"{name}.output.dense", grads)
        dmid = bc.add(dout, self.linear_backward(dh, y, f"{name}.intermediate.dense", grads, activation="gelu", z=z))
        dsum = self.add_norm_backward(dmid, f"{name}.attention.output.LayerNorm", saved_norm, grads)
        return bc.add(dsum, self.attention_backward(dsum, lengths, f"{name}.attention", saved_attention, grads))

    def attention_backward(self, dy: Tensor, lengths: Tensor, name: str, saved: Any, grads: Weights) -> Tensor:
        x, q, k, v, a, lse, joined = saved
        da = self.split(self.linear_backward(dy, joined, f"{name}.output.dense", grads))
        parts = bc.scaled_dot_product_attention_backward(
            da, q, k, v, a, lse, key_lengths=lengths, preference=self.preference
        )
        dq, dk, dv = (
            self.linear_backward(self.join(d), x, f"{name}.self.{part}", grads)
            for d, part in zip(parts, ("query", "key", "value"), strict=True)
        )
        return bc.add(bc.add(dq, dk), dv)

    def embed_backward(self, dy: Tensor, tokens: Tensor, saved: Any, grads: Weights) -> None:
        dx = self.add_norm_backward(dy, "embeddings.LayerNorm", saved, grads)
        names = (f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type"))
        words, positions, kinds = names
        grads[words] = bc.embedding_backward(dx, tokens, self.weights[words], bounds="clamp")
        grads[positions] = bc.sum(dx, axis=0)  # of the positions that there are
        grads[kinds] = bc.sum(dx, axis=(0, 1))[None]  # of the first type

    # --- pieces -------------------------------------------------------------------------------------------------------

    def linear(self, x: Tensor, name: str, **options: Any) -> Any:
        w = self.weights
        return bc.linear(x, w[f"{name}.weight"], w[f"{name}.bias"], preference=self.preference, **options)

    def linear_backward(self, dy: Tensor, x: Tensor, name: str, grads: Weights, **options: Any) -> Tensor:
        weight, bias = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        dx, grads[f"{name}.weight"], grads[f"{name}.bias"] = bc.linear_backward(
            dy, x, weight, bias, preference=self.preference, **options
        )
        return dx

    def add_norm(self, x: Tensor, residual: Tensor, name: str) -> tuple[Tensor, Any]:
        weight, bias = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        y, *saved = bc.fused_add_layer_norm(x, residual, weight, bias, eps=self.eps, saved=True)
        return y, (x, residual, *saved)

    def add_norm_backward(self, dy: Tensor, name: str, saved: Any, grads: Weights) -> Tensor:
        """The gradient of both summands."""
        x, residual, *rest = saved
        weight, bias = (self.weights[f"{name}.{part}"] for part in ("weight", "bias"))
        dx, grads[f"{name}.weight"], grads[f"{name}.bias"] = bc.fused_add_layer_norm_backward(
            dy, None, x, residual, weight, bias, *rest, eps=self.eps, wrt=("x", "weight", "bias")
        )
        return dx

    def split(self, x: Tensor) -> Tensor:
        """(batch, length, heads * depth) as (batch, heads, length, depth), a view."""
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def join(self, x: Tensor) -> Tensor:
        """The view that `split` began with."""
        batch, heads, length, depth = x.shape
        return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * depth)
