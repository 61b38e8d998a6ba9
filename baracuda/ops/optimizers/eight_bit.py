"""Adam with moments in 8 bits: blocks with a scale each and codes of bitsandbytes' dynamic map; conventions as in
`baracuda.ops.optimizers.optimizers`."""

from __future__ import annotations

from math import prod
from typing import Annotated, Any

import numpy as np

from baracuda.core.bounds import AtLeast, Below
from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorRef
from baracuda.core.views import reshaped, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, const, lookup, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Decay, NonNegative, Own, Stored, stored_like
from baracuda.ops.declaration.words import Eps, Positive
from baracuda.ops.indexing.moves import move
from baracuda.ops.optimizers.factored import Least
from baracuda.ops.optimizers.optimizers import bias_correction, decayed, descent
from baracuda.ops.quantization.blockwise import nearest_code
from baracuda.ops.quantization.codebooks import dynamic_map

_F32, _S32, _U8 = ElementKind.F32, ElementKind.S32, ElementKind.U8


def _bits(table: np.ndarray[Any, np.dtype[np.float32]]) -> tuple[int, ...]:
    return tuple(table.view(np.uint32).tolist())


def _decoded(codes: Expr, absmax: Expr, *, signed: bool) -> Expr:
    return lookup(codes, _bits(dynamic_map(signed)), _F32) * cast(absmax, _F32)


def _coded(value: Expr, *, signed: bool) -> tuple[Stored, Stored]:
    """Codes of the nearest values of the map, and the largest magnitude of the block that they count against."""
    absmax = f.max_(abs(value))
    share = value / select(f.equal(absmax, 0.0), 1.0, absmax)
    found = nearest_code(share, signed)
    if signed:  # what is below 0 stays so
        zero = const(int(np.argmin(np.abs(dynamic_map(signed)))), _S32)
        found = select((value < 0.0) & f.equal(found, zero), zero - 1, found)
    return Stored(found, _U8), Stored(absmax, _F32)


def _step(
    param: Own, grad: Expr, exp_avg: Own, exp_avg_sq: Own, absmax: Own, absmax_sq: Own, lr: Own, step: Own, *,
    beta1: Decay = 0.9, beta2: Decay = 0.999, eps: NonNegative = 1e-8, weight_decay: NonNegative | None = None,
    maximize: bool = False,
) -> dict[str, Stored]:  # fmt: skip
    p, g = descent(param, cast(grad, _F32), None, maximize=maximize)
    rate, t = cast(lr, _F32), cast(step, _F32)
    m = decayed(_decoded(exp_avg, absmax, signed=True), g, beta1)
    v = decayed(_decoded(exp_avg_sq, absmax_sq, signed=False), g * g, beta2)
    p = p if weight_decay is None else p * (1.0 - rate * weight_decay)
    denominator = f.sqrt(v) / f.sqrt(bias_correction(beta2, t)) + eps
    codes, largest = _coded(m, signed=True)
    codes_sq, largest_sq = _coded(v, signed=False)
    return {
        "new_param": stored_like(p - rate / bias_correction(beta1, t) * (m / denominator), param),
        "new_exp_avg": codes,
        "new_exp_avg_sq": codes_sq,
        "new_absmax": largest,
        "new_absmax_sq": largest_sq,
    }


_RESULTS = ("new_param", "new_exp_avg", "new_exp_avg_sq", "new_absmax", "new_absmax_sq")
adam_of_blocks = Op(
    _step, Rule.COMMON, name="adam_of_blocks", family="optimizer", takes="float", differentiable=False, rows=True, axis=-1,
    keepdims=True, results=_RESULTS,
)  # fmt: skip


def _blocks(tensor: TensorRef, first: int, count: int, size: int) -> Any:
    """Some elements of a row as blocks."""
    (step,) = tensor.strides
    return view(tensor, first * step, (count, size), (size * step, step))


@composed(
    out=True,
    numbers=dict.fromkeys(("lr", "step", "beta1", "beta2", "eps", "weight_decay"), ()),
    param="*shape : f16 bf16 f32",
    grad="*shape : f16 bf16 f32",
    exp_avg="*shape : u8",
    exp_avg_sq="*shape : u8",
    absmax=(lambda shape, block_size: (-(-prod(shape) // block_size),), "f32"),
    absmax_sq=(lambda shape, block_size: (-(-prod(shape) // block_size),), "f32"),
    lr="() or number",
    step="() or number",
)
def adam8bit_step(
    do: Steps,
    param: TensorRef,
    grad: TensorRef,
    exp_avg: TensorRef,
    exp_avg_sq: TensorRef,
    absmax: TensorRef,
    absmax_sq: TensorRef,
    lr: Any,
    step: Any,
    *,
    beta1: Annotated[float, AtLeast(0), Below(1)] = 0.9,
    beta2: Annotated[float, AtLeast(0), Below(1)] = 0.999,
    eps: Eps = 1e-8,
    weight_decay: Least | None = None,
    block_size: Positive = 256,
    maximize: bool = False,
) -> Any:
    """Adam with both moments in 8 bits: blocks of `block_size` elements in logical order, each with its largest magnitude in
    absmax or absmax_sq (f32, one element for each block), and for each element a code (u8) of bitsandbytes' dynamic map of 256
    values, the signed one in exp_avg, the unsigned one in exp_avg_sq (`quantize_int8_blockwise`).

        m = beta1 * decoded(exp_avg) + (1 - beta1) * grad        v = beta2 * decoded(exp_avg_sq) + (1 - beta2) * grad**2
        new_param = param * (1 - lr * weight_decay) - lr * m / (1 - beta1**step) / (sqrt(v / (1 - beta2**step)) + eps)

    in f32, and m and v are coded again: divided by the block's new largest magnitude, then the nearest value of the map, the
    lower one of two, and of a negative m never 0. State begins as codes of 0, which are 127 in exp_avg and 0 in exp_avg_sq, and
    absmax 0. Returns new_param, new_exp_avg, new_exp_avg_sq, new_absmax and new_absmax_sq; `out` takes a tensor for each, which
    may be the one that it replaces. lr and step (from 1) are tensors without axes or numbers. One pass over all; the same bits on
    every device. A NaN in a block's gradient makes its parameters' and absmax NaN.

    Source: Dettmers et al. 2022, "8-bit optimizers via block-wise quantization"; bitsandbytes' Adam8bit and AdamW8bit.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> p, g = np.ones(300, np.float32), np.linspace(-1, 1, 300, dtype=np.float32)
    >>> m, v = np.full(300, 127, np.uint8), np.zeros(300, np.uint8)
    >>> largest, largest_sq = np.zeros(2, np.float32), np.zeros(2, np.float32)
    >>> _ = baracuda.adam8bit_step(p, g, m, v, largest, largest_sq, 0.1, 1, out=(p, m, v, largest, largest_sq))
    >>> (10 * p[[0, -1]]).round().tolist(), (100 * largest).round().tolist()
    ([11.0, 9.0], [10.0, 10.0])
    """
    old = [param, exp_avg, exp_avg_sq, absmax, absmax_sq]
    new = do.replacing(old)
    count = prod(param.shape)
    tensors = {"param": param, "grad": grad, "exp_avg": exp_avg, "exp_avg_sq": exp_avg_sq}
    flat = {n: do.reshaped(t, (count,)) for n, t in tensors.items()}
    into = [_row(do, t) for t in new[:3]]
    whole = count // block_size
    largest = [do.rows(absmax.shape, _F32) for _ in range(2)]
    words: dict[str, Any] = {
        "beta1": float(beta1), "beta2": float(beta2), "eps": float(eps), "weight_decay": weight_decay, "maximize": maximize,
    }  # fmt: skip
    for first, rows, size in ((0, whole, block_size), (whole, int(count > whole * block_size), count - whole * block_size)):
        if not rows:
            continue
        tensors = {n: _blocks(t, first * block_size, rows, size) for n, t in flat.items()}
        scales = {n: _blocks(t, first, rows, 1) for n, t in (("absmax", absmax), ("absmax_sq", absmax_sq))}
        targets = [_blocks(t, first * block_size, rows, size) for t in into] + [_blocks(t, first, rows, 1) for t in largest]
        do.run(adam_of_blocks, {**tensors, **scales, "lr": lr, "step": step}, tuple(targets), **words)
    for found, target in zip((*into, *largest), new, strict=True):
        if found.pointer != target.pointer or 0 in target.shape:
            move(do, do.reshaped(found, target.shape), target)
    return tuple(new)


def _row(do: Steps, target: TensorRef) -> Any:
    """A target as a row, or a new row where it is none."""
    found = reshaped(target, (prod(target.shape),))
    return do.rows((prod(target.shape),), target.kind) if found is None else found
