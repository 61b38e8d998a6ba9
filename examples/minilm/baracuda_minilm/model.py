"""all-MiniLM-L6-v2, a sentence encoder of six transformer layers, forward and backward, every tensor operation a baracuda plan.

Wang et al. 2020 (MiniLM), Reimers and Gurevych 2019 (Sentence-BERT), Devlin et al. 2019 (BERT). Tokens are (batch, length)
with each sentence's own length beside them; what stands behind a sentence's end changes no bit of its embedding.

Weights are a dict by the names of the model's file, and so are gradients. Beside them is `query_key_value`, for each layer: one
tensor, whose rows the weights of query, key and value are, so that the three are one product. What a backward reads, its forward
puts on a tape, if there is one. Dropout has a key for each of its places, folded out of that of the call: no mask is stored, and
the backward draws it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import baracuda as bc

Tensor = Any
Weights = dict[str, Tensor]
Tape = list[tuple[Tensor, ...]]


@dataclass(frozen=True)
class Batch:
    """Sentences of up to `length` tokens: the tokens (batch, length) s32, how many each sentence has (batch,) s32, and
    (batch, length) the share of each token in its sentence's mean: one over their number, behind the end 0."""

    tokens: Tensor
    lengths: Tensor
    shares: Tensor


@dataclass(frozen=True)
class MiniLM:
    """The encoder. `preference` says how products and attention are computed: by default reproducibly. `dropout` is the share of
    elements that a call with a key leaves out of the embeddings and of what each layer adds."""

    weights: Weights
    heads: int = 12
    layers: int = 6
    eps: float = 1e-12
    preference: bc.PlanPreference | None = None
    dropout: float = 0.1

    # --- forward ------------------------------------------------------------------------------------------------------

    def __call__(self, batch: Batch, tape: Tape | None = None, key: Tensor | None = None) -> Tensor:
        """The embeddings (batch, 384), of length 1, of sentences; with a tape, `backward` can follow, with a key there is
        dropout."""
        keys = [None] * (1 + 2 * self.layers) if key is None else [bc.rng_fold_in(key, i) for i in range(1 + 2 * self.layers)]
        x = self.dropped(self.embed(batch.tokens, tape), keys[0], tape)
        for i in range(self.layers):
            x = self.layer(x, batch.lengths, f"encoder.layer.{i}", tape, keys[2 * i + 1 : 2 * i + 3])
        return self.pool(x, batch.shares, tape)

    def embed(self, tokens: Tensor, tape: Tape | None) -> Tensor:
        """Word, position and type embeddings, added and normalised."""
        w, length = self.weights, tokens.shape[1]
        words = bc.embedding(tokens, w["embeddings.word_embeddings.weight"], bounds="clamp")
        table = w["embeddings.position_embeddings.weight"]
        if length > table.shape[0]:
            raise bc.InvalidProblemError(f"tokens: sentences of up to {length} tokens; expected at most {table.shape[0]}")
        places = bc.add(table[:length], w["embeddings.token_type_embeddings.weight"][:1])  # every token is of the first type
        return self.add_norm(words, places[None], "embeddings.LayerNorm", tape)

    def layer(self, x: Tensor, lengths: Tensor, name: str, tape: Tape | None, keys: Sequence[Tensor | None]) -> Tensor:
        """Self-attention, then two linear layers with GELU between them; each added to its input and normalised."""
        attended = self.dropped(self.attention(x, lengths, f"{name}.attention", tape), keys[0], tape)
        y = self.add_norm(attended, x, f"{name}.attention.output.LayerNorm", tape)
        hidden = self.linear(y, f"{name}.intermediate.dense", tape, activation="gelu")
        out = self.dropped(self.linear(hidden, f"{name}.output.dense", tape), keys[1], tape)
        return self.add_norm(out, y, f"{name}.output.LayerNorm", tape)

    def attention(self, x: Tensor, lengths: Tensor, name: str, tape: Tape | None) -> Tensor:
        """softmax(q k' / sqrt(depth)) v for each head, the keys behind a sentence's end left out."""
        weight, bias = self.parameters(f"{name}.self.query_key_value")
        q, k, v = self.split(bc.linear(x, weight, bias, preference=self.preference))
        options = {"query_lengths": lengths, "key_lengths": lengths, "preference": self.preference}
        if tape is None:
            y = bc.scaled_dot_product_attention(q, k, v, **options)
        else:
            y, lse = bc.scaled_dot_product_attention(q, k, v, saved=True, **options)
            tape.append((x, q, k, v, y, lse))
        return self.linear(self.join(y), f"{name}.output.dense", tape)

    def pool(self, x: Tensor, shares: Tensor, tape: Tape | None) -> Tensor:
        """The mean over a sentence's tokens, divided by its norm."""
        mean = bc.vecmat(shares, x)
        if tape is None:
            return bc.normalize(mean, axis=-1)
        y, norm = bc.normalize(mean, axis=-1, saved=True)
        tape.append((mean, norm))
        return y

    # --- the same backwards -------------------------------------------------------------------------------------------

    def backward(self, dy: Tensor, batch: Batch, tape: Tape) -> Weights:
        """The gradients of the weights, given that of the embeddings. Uses the tape up."""
        grads: Weights = {}
        dmean = bc.normalize_backward(dy, *tape.pop(), axis=-1)
        dx = bc.mul(batch.shares[:, :, None], dmean[:, None, :])
        for i in reversed(range(self.layers)):
            dx = self.layer_backward(dx, batch.lengths, f"encoder.layer.{i}", tape, grads)
        dx = self.add_norm_backward(self.dropped_backward(dx, tape), "embeddings.LayerNorm", tape, grads)
        words, places, kinds = (f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type"))
        grads[words] = bc.embedding_backward(dx, batch.tokens, self.weights[words], bounds="clamp")
        grads[places] = bc.sum(dx, axis=0)  # of the positions that there are
        grads[kinds] = bc.sum(dx, axis=(0, 1))[None]  # of the first type
        return grads

    def layer_backward(self, dy: Tensor, lengths: Tensor, name: str, tape: Tape, grads: Weights) -> Tensor:
        dout = self.add_norm_backward(dy, f"{name}.output.LayerNorm", tape, grads)
        dhidden = self.linear_backward(self.dropped_backward(dout, tape), f"{name}.output.dense", tape, grads)
        dmiddle = self.linear_backward(dhidden, f"{name}.intermediate.dense", tape, grads, activation="gelu")
        dsum = self.add_norm_backward(bc.add(dout, dmiddle), f"{name}.attention.output.LayerNorm", tape, grads)
        dattended = self.dropped_backward(dsum, tape)
        return bc.add(dsum, self.attention_backward(dattended, lengths, f"{name}.attention", tape, grads))

    def attention_backward(self, dy: Tensor, lengths: Tensor, name: str, tape: Tape, grads: Weights) -> Tensor:
        djoined = self.linear_backward(dy, f"{name}.output.dense", tape, grads)
        x, *saved = tape.pop()
        options = {"query_lengths": lengths, "key_lengths": lengths, "preference": self.preference}
        gradients = bc.scaled_dot_product_attention_backward(self.heads_of(djoined), *saved, **options)
        dq, dk, dv = (
            self.linear_backward(self.join(d), f"{name}.self.{part}", [(x, None)], grads)
            for d, part in zip(gradients, ("query", "key", "value"), strict=True)
        )
        return bc.add(bc.add(dq, dk), dv)

    # --- pieces -------------------------------------------------------------------------------------------------------

    def linear(self, x: Tensor, name: str, tape: Tape | None, activation: str = "none") -> Tensor:
        weight, bias = self.parameters(name)
        options = {"activation": activation, "preference": self.preference}
        if tape is None:
            return bc.linear(x, weight, bias, **options)
        if activation == "none":
            y, z = bc.linear(x, weight, bias, **options), None
        else:
            y, z = bc.linear(x, weight, bias, saved=True, **options)
        tape.append((x, z))
        return y

    def linear_backward(self, dy: Tensor, name: str, tape: Tape, grads: Weights, activation: str = "none") -> Tensor:
        x, z = tape.pop()
        gradients = bc.linear_backward(dy, x, *self.parameters(name), activation=activation, z=z, preference=self.preference)
        dx, grads[f"{name}.weight"], grads[f"{name}.bias"] = gradients
        return dx

    def dropped(self, x: Tensor, key: Tensor | None, tape: Tape | None) -> Tensor:
        if tape is not None:
            tape.append((key,))
        return x if key is None else bc.dropout(x, key, self.dropout)

    def dropped_backward(self, dy: Tensor, tape: Tape) -> Tensor:
        (key,) = tape.pop()
        return dy if key is None else bc.dropout_backward(dy, key, self.dropout)

    def add_norm(self, x: Tensor, residual: Tensor, name: str, tape: Tape | None) -> Tensor:
        weight, bias = self.parameters(name)
        y, *saved = bc.fused_add_layer_norm(x, residual, weight, bias, eps=self.eps, saved=tape is not None)
        if tape is not None:
            tape.append((x, residual, weight, bias, *saved))
        return y

    def add_norm_backward(self, dy: Tensor, name: str, tape: Tape, grads: Weights) -> Tensor:
        """The gradient of both summands."""
        wanted = ("x", "weight", "bias")
        gradients = bc.fused_add_layer_norm_backward(dy, None, *tape.pop(), eps=self.eps, wrt=wanted)
        dx, grads[f"{name}.weight"], grads[f"{name}.bias"] = gradients
        return dx

    def parameters(self, name: str) -> tuple[Tensor, Tensor]:
        return self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]

    def split(self, x: Tensor) -> list[Tensor]:
        """(batch, length, 3 * width) as three of (batch, heads, length, depth), views."""
        width = x.shape[2] // 3
        return [self.heads_of(x[:, :, i * width : (i + 1) * width]) for i in range(3)]

    def heads_of(self, x: Tensor) -> Tensor:
        """(batch, length, heads * depth) as (batch, heads, length, depth), a view."""
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def join(self, x: Tensor) -> Tensor:
        """The view that `heads_of` began with."""
        batch, heads, length, depth = x.shape
        return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * depth)
