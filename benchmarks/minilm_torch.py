"""all-MiniLM-L6-v2 in plain PyTorch: what the example is compared with, in value and in speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F

HEADS, LAYERS, EPS = 12, 6, 1e-12
Parameters = Mapping[str, torch.Tensor]


def parameters(stored: Mapping[str, Any], dtype: torch.dtype = torch.float64, device: str = "cpu") -> dict[str, torch.Tensor]:
    """The weights of the model's file that the encoder reads, as leaves that want gradients."""
    floats = {n: v for n, v in stored.items() if v.dtype.kind == "f" and not n.startswith("pooler")}
    return {n: torch.tensor(v).to(device, dtype).requires_grad_() for n, v in floats.items()}


def forward(w: Parameters, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """The embeddings of sentences; tokens are (batch, length)."""

    def linear(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:], w[f"{name}.weight"], w[f"{name}.bias"], EPS)

    batch, length = tokens.shape
    there = torch.arange(length, device=tokens.device)[None] < lengths[:, None]
    words, positions, kinds = (w[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type"))
    x = norm(words[tokens] + positions[:length] + kinds[0], "embeddings.LayerNorm")
    for i in range(LAYERS):
        name = f"encoder.layer.{i}"
        parts = (linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        q, k, v = (part.reshape(batch, length, HEADS, -1).transpose(1, 2) for part in parts)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=there[:, None, None, :])
        joined = attended.transpose(1, 2).reshape(batch, length, -1)
        x = norm(x + linear(joined, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        hidden = F.gelu(linear(x, f"{name}.intermediate.dense"))
        x = norm(x + linear(hidden, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    weights = there[..., None].to(x.dtype)
    return F.normalize((x * weights).sum(1) / weights.sum(1), dim=-1)


def contrastive(y: torch.Tensor, scale: float) -> torch.Tensor:
    """The mean cross entropy of pairs: the first half of the embeddings belongs to the second."""
    n = y.shape[0] // 2
    return F.cross_entropy(scale * y[:n] @ y[n:].T, torch.arange(n, device=y.device))
