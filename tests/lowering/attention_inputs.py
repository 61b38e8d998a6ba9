"""Inputs of attention, as data: shapes, options, and the tensors that go with them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import torch

from baracuda.core.elements import ElementKind as K
from baracuda.ops.attention.descriptor import AttentionBackwardDescriptor, AttentionDescriptor
from tests.machine import torch_dtype

Tensor = torch.Tensor
#: How far a result may be from float64, for results of about 1.
TOLERANCE = {K.F64: 1e-13, K.F32: 4e-6, K.F16: 4e-3, K.BF16: 3e-2}


@dataclass(frozen=True)
class Inputs:
    """(batch, heads, key_heads, queries, keys, depth, value_depth), the element, options, and shapes of tensors of the score.

    query_lengths and key_lengths are their values; slopes an axis count; mask a shape and how many of it are true.
    """

    extents: tuple[int, int, int, int, int, int, int]
    element: K = K.F32
    options: dict[str, Any] = field(default_factory=dict)
    bias: tuple[int, ...] | None = None
    bias_element: K = K.F32
    mask: tuple[int, ...] | None = None
    slopes: int = 0
    query_lengths: tuple[int, ...] | None = None
    key_lengths: tuple[int, ...] | None = None

    def __str__(self) -> str:
        words = "-".join(
            [*self.options, *(n for n in ("bias", "mask", "slopes", "query_lengths", "key_lengths") if getattr(self, n))]
        )
        return f"{'x'.join(map(str, self.extents))}-{self.element}" + (f"-{words}" if words else "")

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        batch, heads, key_heads, queries, keys, depth, value_depth = self.extents
        return {
            "q": (batch, heads, queries, depth),
            "k": (batch, key_heads, keys, depth),
            "v": (batch, key_heads, keys, value_depth),
            "dy": (batch, heads, queries, value_depth),
        }

    def tensors(self) -> dict[str, Tensor]:
        """Everything that the forward reads, and dy, on the CPU."""
        generator = torch.Generator().manual_seed(hash(self.extents) % 1000)
        dtype = torch_dtype(self.element)
        found = {n: torch.randn(shape, generator=generator).to(dtype) for n, shape in self.shapes.items()}
        if self.bias is not None:
            found["bias"] = torch.randn(self.bias, generator=generator).to(torch_dtype(self.bias_element))
        if self.mask is not None:
            found["mask"] = torch.rand(self.mask, generator=generator) > 0.4
        if self.slopes:
            found["slopes"] = torch.rand(self.extents[2 - self.slopes : 2], generator=generator)
        for name, lengths in (("query_lengths", self.query_lengths), ("key_lengths", self.key_lengths)):
            if lengths is not None:
                found[name] = torch.tensor(lengths, dtype=torch.int32)
        return found

    @property
    def descriptor(self) -> AttentionDescriptor:
        fields: dict[str, Any] = dict(self.options)
        if self.bias is not None:
            fields |= {"bias_shape": self.bias, "bias_element": self.bias_element}
        if self.mask is not None:
            fields["mask_shape"] = self.mask
        if self.slopes:
            fields["slopes_shape"] = self.extents[2 - self.slopes : 2]
        lengths = {"query_lengths": self.query_lengths is not None, "key_lengths": self.key_lengths is not None}
        return AttentionDescriptor(*self.extents, element=self.element, **fields, **lengths)

    @property
    def backward_descriptor(self) -> AttentionBackwardDescriptor:
        """That of all gradients, of the bias or the slopes too."""
        given = {f.name: getattr(self.descriptor, f.name) for f in fields(AttentionDescriptor)}
        wrt = ("q", "k", "v", *[n for n in ("bias", "slopes") if getattr(self, n)][:1])
        return AttentionBackwardDescriptor(**given | {"lse": True}, wrt=wrt)


CAUSAL = {"causal": True}
CASES = (
    Inputs((2, 4, 2, 70, 130, 24, 40)),
    Inputs((1, 2, 1, 5, 3, 7, 9), options={"causal": True, "offset": -2}),
    Inputs((2, 4, 4, 65, 64, 64, 64), K.BF16, CAUSAL),
    Inputs((2, 2, 2, 33, 47, 16, 16), K.F16, {"window": (5, 3), "offset": 4}),
    Inputs((2, 2, 1, 130, 200, 17, 5), K.F64, {"causal": True, "window": (30, None), "offset": 70}),
    Inputs((2, 4, 2, 70, 66, 16, 16), options={"softcap": 2.0}, bias=(1, 4, 70, 66), mask=(2, 1, 1, 66)),
    Inputs((2, 4, 2, 70, 66, 16, 16), mask=(2, 4, 70, 66), slopes=1),
    Inputs((2, 4, 2, 20, 66, 16, 16), options={"scale": 1.0}, bias=(1, 1, 20, 1), bias_element=K.BF16),
    Inputs((3, 2, 2, 70, 66, 16, 16), options=CAUSAL, query_lengths=(3, 70, 65), key_lengths=(66, 10, 0)),
    Inputs((2, 8, 2, 1, 100, 16, 16), bias=(2, 8, 1, 100), slopes=2, key_lengths=(66, 10)),
    Inputs((2, 8, 2, 1, 100, 32, 16), K.BF16, {"causal": True, "offset": 99}),
    Inputs((1, 1, 1, 1, 1, 1, 1)),
    Inputs((2, 2, 1, 20, 70, 16, 16), K.F64, bias=(2, 2, 20, 70), bias_element=K.F32),
    Inputs((2, 2, 1, 20, 70, 16, 16), K.F64, bias=(1, 2, 1, 70), bias_element=K.BF16),
    Inputs((2, 3, 1, 129, 129, 33, 31), options=CAUSAL, mask=(1, 1, 129, 129)),
)
