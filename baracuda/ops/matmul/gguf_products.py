"""Linear layers whose weights are a tensor of a GGUF file."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import as_words, view
from baracuda.lowering.packed_product.problem import Coding
from baracuda.ops.declaration.composition import Given, Steps, composed
from baracuda.ops.declaration.words import Dtype
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.packed_weights import PATTERNS, Activation, as_rows, packed_weight_gemm
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.quantization.block_formats import FORMATS
from baracuda.ops.quantization.blocks import parts
from baracuda.ops.quantization.gguf import GgufType, gguf_dequantize

#: The formats whose blocks are an f16 scale and 32 codes, that are multiplied as such.
_CODES = {"Q4_0": Coding.Q4_0, "Q8_0": Coding.Q8_0}


@composed(out=True, x=PATTERNS["x"], weight="n bytes : u8", bias=PATTERNS["bias"])
def gguf_gemm(
    do: Steps,
    x: TensorRef,
    weight: TensorRef,
    type: GgufType,
    bias: Given = None,
    *,
    activation: Activation = "none",
    dtype: Dtype = None,
) -> TensorRef:
    """activation(x @ w.T + bias) with the weights of a tensor of a GGUF file, `type` being GGML's name of its format.

    x is (..., k) of f16, bf16 or f32, weight u8 (n, bytes): the blocks of k weights a row, as `gguf_dequantize` takes them. bias
    is (n), activation as in `linear`; the result has x's element, or `dtype`. Weights of Q4_0 and Q8_0 are multiplied as the
    codes that they are, with the bits of `int4_weight_gemm` and `int8_weight_gemm` with groups of 32; of the other formats as
    those of `linear` with `gguf_dequantize(weight, type, dtype=x's element)`. Errors: `InvalidProblemError` for shapes, elements
    and types.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> block = np.r_[np.float16([0.5]).view(np.uint8), np.arange(32, dtype=np.uint8)]
    >>> baracuda.gguf_gemm(np.ones((1, 32), np.float32), block[None], "Q8_0").tolist()
    [[248.0]]
    """
    *free, k = x.shape
    n, format = weight.shape[0], FORMATS[type]
    expected = k // format.length * format.size
    if k % format.length or weight.shape[1] != expected:
        raise InvalidProblemError(
            f"weight: shape is {weight.shape}; expected (n, bytes), {format.size} bytes for each {format.length} of {k} weights"
        )
    kind = dtype or x.kind
    if type in _CODES and 0 not in (n, k):
        blocks, width = k // format.length, format.size - 2
        bytes_ = parts(weight, blocks, format.size, 0, 2)
        halves = as_words(bytes_, 2)
        if halves is None:  # no f16 lies so
            apart = do.rows((n, blocks, 2), ElementKind.U8)
            do.copy(bytes_, apart)
            halves = as_words(apart, 2)
            assert halves is not None
        scale = replace(view(halves, 0, (n, blocks), halves.strides[:2]), kind=ElementKind.F16)
        codes = parts(weight, blocks, format.size, 2, width)
        y: TensorRef = packed_weight_gemm(do, _CODES[type], x, codes, scale, None, bias, format.length, activation, dtype)
        return y
    by = gguf_dequantize(do, weight, type, dtype=x.kind)
    flat = do.reshaped(x, (prod(free), k))
    d = labelled(flat, by, "mk", "nk", "mn", bias_axis=None if bias is None else -1, activation=activation, element=kind)
    tensors = {"a": flat, "b": by, "bias": bias}
    return as_rows(do, do.result((*free, n), kind), lambda into: do.plan(MatmulPlan, d, tensors, into))
