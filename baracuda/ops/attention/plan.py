"""Scaled dot product attention: the plans, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from baracuda.backends import libraries
from baracuda.core.axes import Axes
from baracuda.core.descriptor import Args
from baracuda.core.device import Device, DeviceKind
from baracuda.core.elements import ElementKind as K
from baracuda.core.implementation import Found
from baracuda.core.plan import Plan
from baracuda.core.sku import BackendKind, KernelSku, MathPrecision, OpCategory
from baracuda.core.spec import TensorSpec
from baracuda.lowering.attention.implementation import AttentionImplementation, AttentionProblem
from baracuda.lowering.backend import candidates
from baracuda.lowering.matmul.problem import TENSOR_CORE_MATH
from baracuda.ops.attention.descriptor import AttentionBackwardDescriptor, AttentionDescriptor
from baracuda.ops.attention.score import score_graph, slope_graph


@dataclass
class AttentionArgs(Args):
    """q, k, v: queries, keys, values; query_lengths, key_lengths: how many there are in each batch element; bias: what is added
    to the scores; mask: which keys are seen; slopes: ALiBi's; first to fourth: tensors of a formula of the caller's own; y: the
    result; lse: the log-sum-exp of each query."""

    q: Any
    k: Any
    v: Any
    query_lengths: Any = None
    key_lengths: Any = None
    bias: Any = None
    mask: Any = None
    slopes: Any = None
    first: Any = None
    second: Any = None
    third: Any = None
    fourth: Any = None
    y: Any = None
    lse: Any = None


@dataclass
class AttentionBackwardArgs(AttentionArgs):
    """What the forward read, and y and lse as it wrote them; dy: the gradient of y; dq, dk, dv: the gradients; dbias: that
    of one tensor of the score, for each pair of a query and a key."""

    dy: Any = None
    dq: Any = None
    dk: Any = None
    dv: Any = None
    dbias: Any = None


def _read(name: str, doc: str, shape: str, element: str = "element", **more: Any) -> TensorSpec:
    return TensorSpec(name, doc, shape, element, varies=Axes.OUTER, **more)


def _of_score(name: str, doc: str, **more: Any) -> TensorSpec:
    return _read(name, doc, f"{name}_shape", f"{name}_element", when=f"has_{name}", **more)


#: What both plans read.
_GIVEN = (
    _read("q", "the queries", "q_shape"),
    _read("k", "the keys", "k_shape"),
    _read("v", "the values", "v_shape"),
    _read("query_lengths", "the number of queries", "lengths_shape", "length_element", when="query_lengths"),
    _read("key_lengths", "the number of keys", "lengths_shape", "length_element", when="key_lengths"),
    _of_score("bias", "what is added to the scores"),
    _of_score("mask", "which keys are seen"),
    _of_score("slopes", "the slope of each head", axes="slopes_axes"),
    *(_of_score(name, "a tensor of the formula") for name in ("first", "second", "third", "fourth")),
)


class AttentionPlan(Plan[AttentionDescriptor, AttentionArgs]):
    """y = softmax(score(q @ k.T)) @ v for each head, without the matrix of scores in memory.

    The formula's plan works tile by tile with an online softmax, in an order that `baracuda.lowering.attention.problem` fixes, in
    f32 for 16-bit floats, whose products are taken in integers of 15 bits: all four promises hold, and neither other batch
    elements nor what pads a sequence beyond its length changes a bit. They hold as well with integers of 23 bits and with chains
    in f32, which a preference asks for by its `math` (INT23, F32). With `math` BF16 or F16 the tensor cores of a GPU take the
    products of such elements in an order of theirs: all promises hold but `bit_stable_across_hardware`. A query that sees no key
    gives +0, and the log-sum-exp -inf. Every tensor may have any strides; y may share memory with none.

    Sources: Vaswani et al., Attention Is All You Need, 2017; Milakov and Gimelshein, Online normalizer calculation for
    softmax, 2018; Dao et al., FlashAttention, 2022.
    """

    category, op, has_tiers = OpCategory.ATTENTION, "scaled_dot_product_attention", True
    tensors = (
        *_GIVEN,
        TensorSpec("y", "the result", "y_shape", written=True),
        TensorSpec("lse", "the log-sum-exp of each query", "lse_shape", "compute", written=True, when="lse"),
    )

    @classmethod
    def problem(cls, descriptor: AttentionDescriptor) -> AttentionProblem:
        """What is lowered."""
        return AttentionProblem(score_graph(descriptor), None, descriptor.parameters)

    @classmethod
    def implementations(cls, device: Device, descriptor: AttentionDescriptor) -> Found:
        return _implementations(cls, device, descriptor)

    @classmethod
    def fastest_first(cls, device: Device, descriptor: AttentionDescriptor) -> Found:
        return _fastest_first(cls, device, descriptor)

    def sku(self) -> KernelSku:
        return replace(super().sku(), epilogue=_options(self.descriptor))


class AttentionBackwardPlan(Plan[AttentionBackwardDescriptor, AttentionBackwardArgs]):
    """The gradients by q, k, v, and by one tensor of the score for each pair of a query and a key.

    The probabilities are computed again from lse; dk and dv of a key head are summed over the query heads that share it. The
    formula's plan sums in an order that `baracuda.lowering.attention.problem` fixes, without atomics: all four promises hold, and
    with `math` BF16 or F16 all but `bit_stable_across_hardware`.
    """

    category, op, has_tiers = OpCategory.ATTENTION, "scaled_dot_product_attention_backward", True
    tensors = (
        *_GIVEN,
        _read("y", "the forward's result", "y_shape"),
        _read("lse", "the log-sum-exp of each query", "lse_shape", "compute"),
        _read("dy", "the gradient of y", "y_shape"),
        TensorSpec("dq", "the gradient of q", "q_shape", written=True, when="wants_dq"),
        TensorSpec("dk", "the gradient of k", "k_shape", written=True, when="wants_dk"),
        TensorSpec("dv", "the gradient of v", "v_shape", written=True, when="wants_dv"),
        TensorSpec("dbias", "a gradient for each pair", "pair_shape", "dbias_element", written=True, when="wants_dbias"),
    )

    @classmethod
    def problem(cls, descriptor: AttentionBackwardDescriptor) -> AttentionProblem:
        """What is lowered."""
        return AttentionProblem(score_graph(descriptor), slope_graph(descriptor), descriptor.parameters)

    @classmethod
    def implementations(cls, device: Device, descriptor: AttentionBackwardDescriptor) -> Found:
        return _implementations(cls, device, descriptor)

    @classmethod
    def fastest_first(cls, device: Device, descriptor: AttentionBackwardDescriptor) -> Found:
        return _fastest_first(cls, device, descriptor)

    def sku(self) -> KernelSku:
        return replace(super().sku(), epilogue=_options(self.descriptor))


def precisions(d: AttentionDescriptor) -> tuple[MathPrecision | None, ...]:
    """What an attention's generated kernels take products in, the default first; None for chains."""
    return (MathPrecision.INT15, None, MathPrecision.INT23) if d.element in (K.F16, K.BF16) else (None,)


def _by_tier(cls: Any, device: Device, descriptor: AttentionDescriptor) -> tuple[Found, Found, Found]:
    """What has the same bits everywhere; what has them on one architecture, in every company; all else."""
    make = partial(AttentionImplementation, device, cls.problem(descriptor), cls.tensors, descriptor)
    reproducible = tuple(c for math in precisions(descriptor) for c in candidates(device, partial(make, math=math)))
    math = TENSOR_CORE_MATH.get(descriptor.element)
    pinned: Found = ()
    if math is not None:
        on_gpu = device.kind is DeviceKind.CUDA
        ours = partial(make, math=math) if on_gpu else f"{math} is of tensor cores, the stream is on {device}"
        pinned = ((BackendKind.FORMULA_CUDA, ours),)
    return reproducible, pinned, libraries.attention(device, cls.tensors, descriptor)


def _implementations(cls: Any, device: Device, descriptor: AttentionDescriptor) -> Found:
    reproducible, pinned, free = _by_tier(cls, device, descriptor)
    return (*reproducible, *pinned, *free)


def _fastest_first(cls: Any, device: Device, descriptor: AttentionDescriptor) -> Found:
    reproducible, pinned, free = _by_tier(cls, device, descriptor)
    return (*free, *pinned, *reproducible)


def _options(d: AttentionDescriptor) -> str | None:
    """What is done to the scores, in a word."""
    words = ["causal"] * d.causal + ["window"] * (d.window is not None) + ["softcap"] * bool(d.softcap)
    words += [name for name in d.score_tensors if d.formula is None] + ["formula"] * (d.formula is not None)
    words += ["lengths"] * (d.query_lengths or d.key_lengths)
    return "+".join(words) or None
