"""Attention with linear biases (ALiBi), forward and backward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args
from baracuda.core.elements import ElementKind
from baracuda.core.lazy import cached_property
from baracuda.core.sku import OpCategory
from baracuda.core.spec import TensorSpec, check_element, check_shape
from baracuda.ops.attention.score_biases import ROW_AXES, alibi
from baracuda.ops.declaration.formula_plan import FLOATS
from baracuda.ops.declaration.op_descriptor import OpDescriptor
from baracuda.ops.declaration.translation import TranslatedDescriptor, TranslatedPlan


@dataclass(frozen=True)
class AlibiBackwardDescriptor(TranslatedDescriptor):
    """The gradients of ALiBi for scores of shape [batch_size, num_heads, query_len, key_len] in f16, bf16, f32 or f64.
    `AlibiDescriptor` does as well."""

    batch_size: int
    num_heads: int
    query_len: int
    key_len: int
    element: ElementKind

    def validate(self) -> None:
        check_shape("(batch_size, num_heads, query_len, key_len)", self.input_shape, least=4, most=4)
        check_element("element", self.element, FLOATS)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return (self.batch_size, self.num_heads, self.query_len, self.key_len)

    @cached_property
    def problem(self) -> OpDescriptor:
        return OpDescriptor(alibi, (self.input_shape, self.heads), (self.element, self.element), ROW_AXES)

    @property
    def heads(self) -> tuple[int, ...]:
        """The shape of the slopes."""
        return (self.num_heads,)

    @property
    def head_axis(self) -> tuple[int, ...]:
        return (1,)


@dataclass(frozen=True)
class AlibiDescriptor(AlibiBackwardDescriptor):
    """Attention scores of shape [batch_size, num_heads, query_len, key_len] in f16, bf16, f32 or f64."""


@dataclass
class AlibiArgs(Args):
    """scores: A; slopes: one for each head; y: the biased scores."""

    scores: Any
    slopes: Any
    y: Any


@dataclass
class AlibiBackwardArgs(Args):
    """dy: the gradient of y; dscores, dslopes: the gradients, either of which may be None and is then not computed."""

    dy: Any
    dscores: Any = None
    dslopes: Any = None


class AlibiPlan(TranslatedPlan[AlibiDescriptor, AlibiArgs]):
    """y[b,h,i,j] = scores[b,h,i,j] + slopes[h] * (j - i), with one rounding.

    Source: Press, Smith and Lewis, Train Short, Test Long, 2022. All four promises hold.
    """

    category, op = OpCategory.ATTENTION, "alibi"
    tensors = (
        TensorSpec("scores", "the attention scores"),
        TensorSpec("slopes", "the slope of each head", shape="heads", axes="head_axis", varies=Axes.OUTER),
        TensorSpec("y", "the biased scores", written=True),
    )


class AlibiBackwardPlan(TranslatedPlan[AlibiBackwardDescriptor, AlibiBackwardArgs]):
    """dscores = dy; dslopes[h] = the sum over b, i and j of dy[b,h,i,j] * (j - i). An output that is None is not computed.

    f16 and bf16 are computed in f32 and rounded once. All four promises hold.

    Beyond the original: dy and dscores that are not contiguous; slopes of scores without elements have the gradient 0, where
    the original leaves dslopes as it is; a workspace where the sum of a head is cut into segments.
    """

    category, op = OpCategory.ATTENTION, "alibi_backward"
    tensors = (
        TensorSpec("dy", "the gradient of y"),
        TensorSpec("dscores", "the gradient of the scores", written=True, optional=True),
        TensorSpec(
            "dslopes",
            "the gradient of the slopes",
            shape="heads",
            axes="head_axis",
            varies=Axes.OUTER,
            written=True,
            optional=True,
        ),
    )
    wrt = ("scores", "slopes")
