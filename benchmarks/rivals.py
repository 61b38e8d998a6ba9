"""What a PyTorch user would write for each op: eager calls, with fresh results and into given ones.

Each function takes the tensors of a case by name and its descriptor, prepares what does not belong to the call (a distance
table, an autograd graph, scratch memory), and returns the call. Results come in the order of the plan's outputs. `_into`
functions write to the outputs among the tensors, with scratch memory made in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from baracuda.core.elements import ElementKind

Tensor = Any
Tensors = dict[str, Tensor]
Results = Callable[[], Sequence[Tensor]]
Maker = Callable[[Tensors, Any], Results]

TORCH = {
    ElementKind.F16: torch.float16,
    ElementKind.BF16: torch.bfloat16,
    ElementKind.F32: torch.float32,
    ElementKind.F64: torch.float64,
    ElementKind.S8: torch.int8,
    ElementKind.S32: torch.int32,
}
LOW, HIGH = -128.0, 127.0
aten = torch.ops.aten


def _widened(x: Tensor, like: Tensor) -> tuple[Callable[[], Tensor], Tensor]:
    """How to have x in the dtype of `like`, and memory of that dtype and x's shape to work in. On the CPU, torch is several
    times slower where a call mixes dtypes than with a conversion before it."""
    work = torch.empty_like(x, dtype=like.dtype)
    return (lambda: x) if x.dtype == like.dtype else (lambda: work.copy_(x)), work


def _narrowed(work: Tensor, out: Tensor) -> tuple[Tensor, Callable[[], Tensor]]:
    """Where the last step writes, `out` itself if it has the dtype of `work`, and how the result then gets into `out`."""
    return (out, lambda: out) if out.dtype == work.dtype else (work, lambda: out.copy_(work))


@dataclass(frozen=True)
class Rival:
    """The PyTorch side of an op.

    `reference` computes more outputs than `fresh` where PyTorch has no eager call for all of them.
    """

    fresh: Maker
    reused: Maker
    reference: Maker | None = None


def _softmax(t: Tensors, d: Any) -> Results:
    x = t["x"]
    return lambda: (torch.softmax(x, -1),)


def _dense(out: Tensor) -> Tensor:
    """Where torch's softmax kernels write: on the CPU they take any output for a contiguous one and give wrong values (torch
    2.13), so a transposed output stays unused."""
    return out if out.is_contiguous() else torch.empty(out.shape, dtype=out.dtype, device=out.device)


def _softmax_into(t: Tensors, d: Any) -> Results:
    x, y = t["x"], _dense(t["y"])
    return lambda: (aten._softmax.out(x, -1, False, out=y),)


def _log_softmax(t: Tensors, d: Any) -> Results:
    x = t["x"]
    return lambda: (torch.log_softmax(x, -1),)


def _log_softmax_into(t: Tensors, d: Any) -> Results:
    x, y = t["x"], _dense(t["y"])
    return lambda: (aten._log_softmax.out(x, -1, False, out=y),)


def _softmax_backward(t: Tensors, d: Any) -> Results:
    dy, y = t["dy"], t["y"]
    return lambda: (aten._softmax_backward_data(dy, y, -1, y.dtype),)


def _softmax_backward_into(t: Tensors, d: Any) -> Results:
    dy, y, dx = t["dy"], t["y"], _dense(t["dx"])
    return lambda: (aten._softmax_backward_data.out(dy, y, -1, y.dtype, grad_input=dx),)


def _log_softmax_backward(t: Tensors, d: Any) -> Results:
    dy, y = t["dy"], t["y"]
    return lambda: (aten._log_softmax_backward_data(dy, y, -1, y.dtype),)


def _log_softmax_backward_into(t: Tensors, d: Any) -> Results:
    dy, y, dx = t["dy"], t["y"], _dense(t["dx"])
    return lambda: (aten._log_softmax_backward_data.out(dy, y, -1, y.dtype, out=dx),)


def _rms_norm(t: Tensors, d: Any) -> Results:
    x, gamma, eps = t["x"], t["gamma"], d.eps
    shape = tuple(gamma.shape)
    return lambda: (F.rms_norm(x, shape, gamma, eps),)


def _rms_norm_and_rms(t: Tensors, d: Any) -> Results:
    x, gamma = t["x"], t["gamma"]
    return lambda: (F.rms_norm(x, tuple(gamma.shape), gamma, d.eps), (x.square().mean(-1, keepdim=True) + d.eps).sqrt())


def _rms_norm_into(t: Tensors, d: Any) -> Results:
    x, gamma, rms = t["x"], t["gamma"].to(t["rms"].dtype), t["rms"]
    share = 1.0 / x.shape[-1]
    wide, work = _widened(x, rms)
    last, result = _narrowed(work, t["y"])

    def call() -> Sequence[Tensor]:
        source = wide()
        torch.linalg.vector_norm(source, dim=-1, keepdim=True, out=rms)
        rms.square_().mul_(share).add_(d.eps).sqrt_()
        torch.div(source, rms, out=last)
        last.mul_(gamma)
        return result(), rms

    return call


def _rms_norm_backward(t: Tensors, d: Any) -> Results:
    x, gamma, dy = t["x"].detach().requires_grad_(), t["gamma"].detach().requires_grad_(), t["dy"]
    y = F.rms_norm(x, tuple(gamma.shape), gamma, 0.0)
    return lambda: torch.autograd.grad(y, (x, gamma), dy, retain_graph=True)


def _rms_norm_backward_into(t: Tensors, d: Any) -> Results:
    rms, gamma = t["rms"], t["gamma"].to(t["rms"].dtype)
    wide, normal = _widened(t["x"], rms)
    wide_gradient, work = _widened(t["dy"], rms)
    last, dx = _narrowed(work, t["dx"])
    column, dgamma = _narrowed(torch.empty_like(gamma), t["dgamma"])
    product, share = torch.empty_like(normal), torch.empty_like(rms)

    def call() -> Sequence[Tensor]:
        torch.div(wide(), rms, out=normal)
        gradient = wide_gradient()
        torch.mul(gradient, normal, out=product)
        torch.sum(product, 0, out=column)
        product.mul_(gamma)
        torch.mean(product, -1, keepdim=True, out=share)
        torch.mul(gradient, gamma, out=last)
        last.addcmul_(normal, share, value=-1.0).div_(rms)
        return dx(), dgamma()

    return call


def _distance(like: Tensor) -> Tensor:
    """j - i for queries i and keys j."""
    queries, keys = like.shape[-2:]
    i, j = torch.arange(queries, device=like.device), torch.arange(keys, device=like.device)
    return (j[None] - i[:, None]).to(like.dtype)


def _alibi(t: Tensors, d: Any) -> Results:
    scores, slopes = t["scores"], t["slopes"][None, :, None, None]
    distance = _distance(scores)
    return lambda: (scores + slopes * distance,)


def _alibi_into(t: Tensors, d: Any) -> Results:
    scores, slopes, y = t["scores"], t["slopes"][None, :, None, None], t["y"]
    distance = _distance(scores)
    bias = torch.empty_like(slopes * distance)

    def call() -> Sequence[Tensor]:
        torch.mul(slopes, distance, out=bias)
        return (torch.add(scores, bias, out=y),)

    return call


def _alibi_backward(t: Tensors, d: Any) -> Results:
    dy = t["dy"]
    distance = _distance(dy)
    return lambda: (dy.clone(), (dy * distance).sum((0, 2, 3)))


def _alibi_backward_into(t: Tensors, d: Any) -> Results:
    dy, dscores, dslopes = t["dy"], t["dscores"], t["dslopes"]
    distance, product = _distance(dy), torch.empty_like(dy)

    def call() -> Sequence[Tensor]:
        dscores.copy_(dy)
        torch.mul(dy, distance, out=product)
        return dscores, torch.sum(product, (0, 2, 3), out=dslopes)

    return call


def _lerp(t: Tensors, d: Any) -> Results:
    a, b, w = t["a"], t["b"], d.param
    return lambda: (torch.lerp(a, b, w),)


def _lerp_into(t: Tensors, d: Any) -> Results:
    a, b, y, w = t["a"], t["b"], t["y"], d.param
    return lambda: (torch.lerp(a, b, w, out=y),)


def _lerp_backward(t: Tensors, d: Any) -> Results:
    dy, w = t["dy"], d.param
    return lambda: ((1 - w) * dy, w * dy)


def _lerp_backward_into(t: Tensors, d: Any) -> Results:
    dy, da, db, w = t["dy"], t["da"], t["db"], d.param
    return lambda: (torch.mul(dy, 1 - w, out=da), torch.mul(dy, w, out=db))


def _per_token(t: Tensors) -> tuple[Tensor, Tensor]:
    """Scales and zero points as columns of one dtype."""
    scale = t["scale"][:, None]
    return scale, t["zero_point"][:, None].to(scale.dtype)


def _quantize(t: Tensors, d: Any) -> Results:
    x, (scale, zero) = t["x"], _per_token(t)
    return lambda: (torch.clamp(torch.round(x / scale) + zero, LOW, HIGH).to(torch.int8),)


def _quantize_into(t: Tensors, d: Any) -> Results:
    q, (scale, zero) = t["q"], _per_token(t)
    wide, code = _widened(t["x"], scale)

    def call() -> Sequence[Tensor]:
        torch.div(wide(), scale, out=code)
        code.round_().add_(zero).clamp_(LOW, HIGH)
        return (q.copy_(code),)

    return call


def _quantize_backward(t: Tensors, d: Any) -> Results:
    dq, x, (scale, zero) = t["dq"], t["x"], _per_token(t)

    def call() -> Sequence[Tensor]:
        code = torch.round(x / scale) + zero
        return (torch.where((code >= LOW) & (code <= HIGH), dq / scale, 0.0).to(x.dtype),)

    return call


def _quantize_backward_into(t: Tensors, d: Any) -> Results:
    scale, zero = _per_token(t)
    wide, code = _widened(t["x"], scale)
    wide_gradient, work = _widened(t["dq"], scale)
    last, dx = _narrowed(work, t["dx"])
    below, above = torch.empty_like(code, dtype=torch.bool), torch.empty_like(code, dtype=torch.bool)

    def call() -> Sequence[Tensor]:
        torch.div(wide(), scale, out=code)
        code.round_().add_(zero)
        torch.lt(code, LOW, out=below)
        torch.gt(code, HIGH, out=above)
        below.logical_or_(above)
        torch.div(wide_gradient(), scale, out=last)
        last.masked_fill_(below, 0.0)
        return (dx(),)

    return call


def _dequantize(t: Tensors, d: Any) -> Results:
    q, dtype, (scale, zero) = t["q"], TORCH[d.element], _per_token(t)
    return lambda: (((q.to(scale.dtype) - zero) * scale).to(dtype),)


def _dequantize_into(t: Tensors, d: Any) -> Results:
    q, (scale, zero) = t["q"], _per_token(t)
    last, y = _narrowed(torch.empty_like(q, dtype=scale.dtype), t["y"])

    def call() -> Sequence[Tensor]:
        last.copy_(q).sub_(zero).mul_(scale)
        return (y(),)

    return call


def _dequantize_backward(t: Tensors, d: Any) -> Results:
    dy, scale = t["d_output"], t["scale"]
    return lambda: (dy * scale.to(dy.dtype)[:, None],)


def _dequantize_backward_into(t: Tensors, d: Any) -> Results:
    dy, scale, dq = t["d_output"], t["scale"], t["d_input"]
    return lambda: (torch.mul(dy, scale.to(dy.dtype)[:, None], out=dq),)


#: The rival of each op, by the name of baracuda's function.
RIVALS = {
    "softmax": Rival(_softmax, _softmax_into),
    "softmax_backward": Rival(_softmax_backward, _softmax_backward_into),
    "log_softmax": Rival(_log_softmax, _log_softmax_into),
    "log_softmax_backward": Rival(_log_softmax_backward, _log_softmax_backward_into),
    "rms_norm": Rival(_rms_norm, _rms_norm_into, _rms_norm_and_rms),
    "rms_norm_backward": Rival(_rms_norm_backward, _rms_norm_backward_into),
    "alibi": Rival(_alibi, _alibi_into),
    "alibi_backward": Rival(_alibi_backward, _alibi_backward_into),
    "lerp": Rival(_lerp, _lerp_into),
    "lerp_backward": Rival(_lerp_backward, _lerp_backward_into),
    "quantize_per_token": Rival(_quantize, _quantize_into),
    "quantize_per_token_backward": Rival(_quantize_backward, _quantize_backward_into),
    "dequantize_per_token": Rival(_dequantize, _dequantize_into),
    "dequantize_per_token_backward": Rival(_dequantize_backward, _dequantize_backward_into),
}
