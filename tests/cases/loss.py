"""Cases of the losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from tests.cases.case import OpCases, Shapes

Tensor = torch.Tensor
REDUCED: tuple[dict[str, Any], ...] = ({}, {"reduction": "none"}, {"reduction": "sum"})
FLOATS = ("f16", "bf16", "f32", "f64")


def with_words(*more: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Every reduction alone, then some keywords with the mean and without reduction."""
    return (*REDUCED, *more, *({**words, "reduction": "none"} for words in more))


def equal_shapes(count: int, optional: int = 0) -> list[Shapes]:
    """Shapes of tensors and of optional ones: equal, broadcast, single, of rank 0."""
    shapes: list[Shapes] = []
    for tensor_count in {count, count + optional}:
        rest = (None,) * (count + optional - tensor_count)
        shapes += [(s,) * tensor_count + rest for s in ((3, 67), (2, 5, 1030), (1,), ())]
        shapes.append(((4, 1, 33), (5, 1), (33,), (4, 5, 33))[:tensor_count] + rest)
    return shapes


def broadcast(reference: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A reference that takes tensors of one shape."""

    def called(*tensors: Tensor | None, **words: Any) -> Tensor:
        operands = iter(torch.broadcast_tensors(*(t for t in tensors if t is not None)))
        return reference(*(None if t is None else next(operands) for t in tensors), **words)

    return called


def reduced(loss: Callable[..., Tensor], default: str = "mean") -> Callable[..., Tensor]:
    """A reference of the loss of each element or row, with a reduction."""

    def called(*tensors: Tensor | None, reduction: str = default, **words: Any) -> Tensor:
        value = loss(*tensors, **words)
        return {"none": value, "mean": value.mean(), "sum": value.sum()}[reduction]

    return called


def case(reference: Callable[..., Tensor], domains: Sequence[str], shapes: Sequence[Shapes], **more: Any) -> OpCases:
    usual = {"keywords": REDUCED, "elements": FLOATS, "tolerance": 16.0, "absolute": 1.0}
    return OpCases(reference, domains, shapes, **{**usual, **more})


def pointwise(reference: Callable[..., Tensor], *domains: str, count: int = 2, optional: int = 0, **more: Any) -> OpCases:
    return case(broadcast(reference), domains, equal_shapes(count, optional), **more)


# --- of one element ---------------------------------------------------------------------------------------------------


def _weighted(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """torch's weighted means of regressions, with keywords in its order."""
    return lambda x, t, w=None, **words: loss(x, t, weight=w, **words)


def _log_cosh(x: Tensor, t: Tensor) -> Tensor:
    d = (x - t).abs()
    return d + torch.log1p(torch.exp(-2 * d)) - math.log(2)


def _focal(x: Tensor, t: Tensor, alpha: float = 0.25, gamma: float = 2.0) -> Tensor:
    p = torch.sigmoid(x)
    probability = p * t + (1 - p) * (1 - t)
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="none") * (1 - probability) ** gamma
    return (alpha * t + (1 - alpha) * (1 - t)) * loss if alpha >= 0 else loss


def _jsd(x: Tensor, t: Tensor, beta: float = 0.5) -> Tensor:
    p, q = t.exp(), x.exp()
    if beta in (0, 1):
        return p * (t - x) if beta == 0 else q * (x - t)
    middle = (beta * p + (1 - beta) * q).log()
    return beta * p * (t - middle) + (1 - beta) * q * (x - middle)


def _dpo(
    c: Tensor, r: Tensor, rc: Tensor, rr: Tensor, beta: float = 0.1, label_smoothing: float = 0.0, loss_type: str = "sigmoid"
) -> Tensor:
    h = (c - r) - (rc - rr)
    if loss_type == "hinge":
        return (1 - beta * h).relu()
    if loss_type == "ipo":
        return (h - 1 / (2 * beta)) ** 2
    return -(1 - label_smoothing) * F.logsigmoid(beta * h) - label_smoothing * F.logsigmoid(-beta * h)


def _ppo(
    lp: Tensor, old: Tensor, a: Tensor, ref: Tensor | None = None, mask: Tensor | None = None, clip_low: float = 0.2,
    clip_high: float = 0.2, kl_weight: float = 0.04, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    r = (lp - old).exp()
    loss = -torch.minimum(r * a, r.clamp(1 - clip_low, 1 + clip_high) * a)
    if ref is not None:
        loss = loss + kl_weight * ((ref - lp).exp() - (ref - lp) - 1)
    weight = torch.ones_like(loss) if mask is None else mask.to(loss.dtype)
    loss = loss * weight
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / weight.sum()}[reduction]


CASES: dict[str, OpCases] = {
    "mse_loss": pointwise(_weighted(F.mse_loss), "any", "any", "positive", optional=1),
    "l1_loss": pointwise(
        _weighted(F.l1_loss), "any", "any", "positive", optional=1, elements=(*FLOATS, "complex64", "complex128")
    ),
    "smooth_l1_loss": pointwise(F.smooth_l1_loss, "any", keywords=with_words({"beta": 0.3}, {"beta": 0.0})),
    "huber_loss": pointwise(_weighted(F.huber_loss), "any", "any", "positive", optional=1, keywords=with_words({"delta": 0.3})),
    "log_cosh_loss": pointwise(reduced(_log_cosh), "any"),
    "binary_cross_entropy": pointwise(
        F.binary_cross_entropy, "probability", "probability", "positive", optional=1, specials=False
    ),
    "binary_cross_entropy_with_logits": OpCases(
        broadcast(
            lambda x, t, w=None, p=None, **words: F.binary_cross_entropy_with_logits(x, t, weight=w, pos_weight=p, **words)
        ),
        ("any", "probability", "positive"),
        [((3, 67), (3, 67), None, None), ((3, 67), (3, 67), (3, 1), None), ((2, 5, 1030),) * 4, ((), (), None, None),
         ((3, 67), (3, 67), None, (67,))],
        REDUCED, FLOATS, 16.0, 1.0,
    ),
    "focal_loss": pointwise(
        reduced(_focal, "none"), "any", "probability", specials=False,
        keywords=({}, {"reduction": "mean"}, {"alpha": -1.0, "gamma": 1.5}),
    ),
    "soft_margin_loss": pointwise(reduced(lambda x, t: F.softplus(-x * t, threshold=1e9)), "any", "sign"),
    "hinge_embedding_loss": pointwise(F.hinge_embedding_loss, "any", "sign", keywords=with_words({"margin": 0.5})),
    "margin_ranking_loss": pointwise(F.margin_ranking_loss, "any", "any", "sign", count=3, keywords=with_words({"margin": 0.5})),
    "kl_div": case(
        F.kl_div, ("any", "probability"), [((3, 67), (3, 67)), ((2, 5, 1030), (2, 5, 1030)), ((1,), (1,))],
        keywords=(*with_words({"log_target": True}), {"reduction": "batchmean"}),
    ),
    "jsd_loss": pointwise(
        reduced(_jsd), "small", keywords=with_words({"beta": 0.2}, {"beta": 0.0}, {"beta": 1.0}), specials=False
    ),
    "poisson_nll_loss": pointwise(
        F.poisson_nll_loss, "positive", "positive", keywords=with_words({"log_input": False}, {"full": True}), specials=False
    ),
    "gaussian_nll_loss": case(
        F.gaussian_nll_loss, ("any", "any", "positive"),
        [((3, 67), (3, 67), (3, 67)), ((3, 67), (3, 67), (3, 1)), ((2, 5, 1030), (2, 5, 1030), (2, 5, 1)), ((1,), (1,), (1,)),
         ((5, 5, 5), (5, 5, 5), (5, 5))],
        keywords=with_words({"full": True}, {"eps": 1.0}), specials=False,
    ),
    "dpo_loss": pointwise(
        reduced(_dpo), "any", count=4,
        keywords=with_words({"label_smoothing": 0.1, "beta": 0.5}, {"loss_type": "hinge"}, {"loss_type": "ipo"}),
    ),
    "ppo_clip_loss": case(
        broadcast(_ppo), ("small", "small", "any", "small", "mask"),
        [((3, 67),) * 3 + (None, None), ((2, 5, 1030),) * 5, ((3, 67),) * 3 + (None, (3, 67)), ((),) * 4 + (None,)],
        keywords=with_words({"clip_low": 0.1, "clip_high": 0.3}), specials=False,
    ),
}  # fmt: skip


# --- of one row -------------------------------------------------------------------------------------------------------

#: Scores, class indices below 5, and weights of the classes.
SCORES: list[Shapes] = [
    ((6, 67), (6,), None), ((3, 1030), (3,), (1030,)), ((4, 5, 2, 9), (4, 2, 9), None), ((4, 5, 33), (4, 33), (5,)),
    ((7,), (), None), ((7,), (), (7,)), ((1, 9), (1,), (9,)),
]  # fmt: skip
SMOOTHED = with_words({"label_smoothing": 0.1}, {"ignore_index": 2}, {"label_smoothing": 0.3, "ignore_index": 2})


def _z_loss(
    x: Tensor, t: Tensor, w: Tensor | None = None, z_loss: float = 1e-4, ignore_index: int = -100, **words: Any
) -> Tensor:
    dim = 1 if x.ndim > 1 else 0
    reduction = words.pop("reduction", "mean")
    loss = F.cross_entropy(x, t, w, ignore_index=ignore_index, reduction="none", **words)
    counts = t != ignore_index
    loss = loss + torch.where(counts, z_loss * x.logsumexp(dim) ** 2, 0.0)
    weight = counts * (torch.ones_like(x).select(dim, 0) if w is None else w[t])
    return {"none": loss, "sum": loss.sum(), "mean": loss.sum() / weight.sum()}[reduction]


def _vocab(x: Tensor, t: Tensor, offset: int = 0) -> tuple[Tensor, Tensor]:
    dim = 1 if x.ndim > 1 else 0
    local = t - offset
    inside = (local >= 0) & (local < x.shape[dim])
    picked = x.gather(dim, torch.where(inside, local, 0).unsqueeze(dim)).squeeze(dim)
    return x.logsumexp(dim), torch.where(inside, picked, 0.0)


def _multi_margin(x: Tensor, t: Tensor, w: Tensor | None = None, **words: Any) -> Tensor:
    return F.multi_margin_loss(x, t, weight=w, **words)


def _soft_margin(x: Tensor, t: Tensor, w: Tensor | None = None, **words: Any) -> Tensor:
    return F.multilabel_soft_margin_loss(x, t, w, **words)


def _cosine(a: Tensor, b: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    dim = axis if a.ndim > 1 else 0
    return (a * b).sum(dim) / (a.norm(dim=dim).clamp(min=eps) * b.norm(dim=dim).clamp(min=eps))


def _with_distance(*tensors: Tensor, distance_function: str = "euclidean", **words: Any) -> Tensor:
    distances: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "euclidean": F.pairwise_distance,
        "manhattan": lambda a, b: (a - b).abs().sum(-1),
        "chebyshev": lambda a, b: (a - b).abs().amax(-1),
        "cosine": lambda a, b: 1 - F.cosine_similarity(a, b, dim=-1),
    }
    return F.triplet_margin_with_distance_loss(*tensors, distance_function=distances[distance_function], **words)


def _info_nce(x: Tensor, method: str = "softmax", symmetric: bool = True, reduction: str = "mean") -> Tensor:
    at = torch.arange(len(x), device=x.device)
    if method == "sigmoid":
        loss = -F.logsigmoid(x * (2 * torch.eye(len(x), dtype=x.dtype, device=x.device) - 1)).sum(1)
        return {"none": loss, "sum": loss.sum(), "mean": loss.mean()}[reduction]
    rows = F.cross_entropy(x, at, reduction=reduction)
    return (rows + F.cross_entropy(x.T, at, reduction=reduction)) / 2 if symmetric else rows


def _dice(x: Tensor, t: Tensor, smooth: float = 1.0) -> Tensor:
    over = tuple(range(1, x.ndim)) if x.ndim > 1 else (0,)
    return 1 - (2 * (x * t).sum(over) + smooth) / (x.sum(over) + t.sum(over) + smooth)


def _iou(a: Tensor, b: Tensor, kind: str = "giou", eps: float = 1e-7) -> Tensor:
    def area(lo: Tensor, hi: Tensor) -> Tensor:
        return (hi - lo).clamp(min=0).prod(-1)

    lo, hi = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    common = area(lo, hi)
    union = (a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - common
    iou = common / (union + eps)
    low, high = torch.minimum(a[..., :2], b[..., :2]), torch.maximum(a[..., 2:], b[..., 2:])
    if kind == "giou":
        around = (high - low).prod(-1)
        return 1 - iou + (around - union) / (around + eps)
    centres = ((a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) / 2).square().sum(-1)
    loss = 1 - iou if kind == "iou" else 1 - iou + centres / ((high - low).square().sum(-1) + eps)
    if kind != "ciou":
        return loss
    angles = [torch.atan((x[..., 2] - x[..., 0]) / (x[..., 3] - x[..., 1])) for x in (b, a)]
    v = 4 / math.pi**2 * (angles[0] - angles[1]) ** 2
    return loss + (v / (1 - iou + v + eps)).detach() * v


def _gae(
    r: Tensor, v: Tensor, after: Tensor, done: Tensor | None = None, gamma: float = 0.99, lam: float = 0.95
) -> tuple[Tensor, Tensor]:
    going = torch.ones_like(r) if done is None else 1 - done.to(r.dtype)
    delta = r + gamma * after * going - v
    reversed_steps, last = [], torch.zeros_like(r[..., 0])
    for t in reversed(range(r.shape[-1])):
        last = delta[..., t] + gamma * lam * going[..., t] * last
        reversed_steps.append(last)
    y = torch.stack(reversed_steps[::-1], -1)
    return y, y + v


ROWS_OF: dict[int, list[Shapes]] = {n: [((6, 67),) * n, ((3, 1030),) * n, ((7,),) * n, ((2, 1),) * n] for n in (2, 3)}
_P = ({"p": 1}, {"p": math.inf}, {"p": 3})

CASES |= {
    "cross_entropy": case(F.cross_entropy, ("any", "index:5", "positive"), SCORES, keywords=SMOOTHED),
    "z_loss_cross_entropy": case(_z_loss, ("any", "index:5", "positive"), SCORES, keywords=(*SMOOTHED, {"z_loss": 0.1})),
    "nll_loss": case(F.nll_loss, ("any", "index:5", "positive"), SCORES, keywords=with_words({"ignore_index": 2})),
    "vocab_parallel_cross_entropy": case(
        _vocab, ("any", "index:9"), [((6, 67), (6,)), ((4, 5, 9), (4, 9)), ((3, 1030), (3,)), ((7,), ())],
        keywords=({}, {"offset": 4}), specials=False,
    ),
    "multi_margin_loss": case(
        _multi_margin, ("any", "index:5", "positive"),
        [((6, 67), (6,), None), ((3, 1030), (3,), (1030,)), ((7,), (), None)], keywords=with_words({"p": 2}, {"margin": 0.5}),
        absolute=60.0, specials=False,
    ),
    "multilabel_soft_margin_loss": case(
        _soft_margin, ("any", "probability", "positive"),
        [((6, 67), (6, 67), None), ((3, 1030), (3, 1030), (1030,)), ((7,), (7,), None), ((2, 3, 9), (2, 3, 9), (9,))],
    ),
    "cosine_similarity": case(
        _cosine, ("nonzero",), [((6, 67),) * 2, ((4, 5, 33),) * 2, ((7,),) * 2], keywords=({}, {"axis": -1}, {"eps": 30.0}),
        specials=False,
    ),
    "pairwise_distance": case(
        lambda a, b, p=2, eps=1e-6: torch.linalg.vector_norm(a - b + eps, p, -1), ("any",), ROWS_OF[2],
        keywords=({}, *_P, {"p": 0}, {"eps": 0.5}), tolerance=24.0, elements=(*FLOATS, "complex64", "complex128"), specials=False,
    ),
    "cosine_embedding_loss": case(
        F.cosine_embedding_loss, ("any", "any", "sign"),
        [((6, 67), (6, 67), (6,)), ((3, 1030), (3, 1030), (3,)), ((7,), (7,), ())], specials=False,
        keywords=with_words({"margin": 0.5}, {"margin": -0.5}),
    ),
    "triplet_margin_loss": case(
        F.triplet_margin_loss, ("any",), ROWS_OF[3], keywords=with_words({"swap": True}, {"margin": 3.0}, *_P), tolerance=24.0,
        absolute=60.0, specials=False,
    ),
    "triplet_margin_with_distance_loss": case(
        _with_distance, ("any",), ROWS_OF[3], tolerance=24.0, absolute=60.0, specials=False,
        keywords=with_words({"swap": True}, *({"distance_function": d} for d in ("manhattan", "chebyshev", "cosine"))),
    ),
    "info_nce_loss": case(
        _info_nce, ("any",), [((9, 9),), ((130, 130),), ((1, 1),)],
        keywords=(
            {}, {"reduction": "sum"}, {"symmetric": False}, {"symmetric": False, "reduction": "none"},
            {"method": "sigmoid"}, {"method": "sigmoid", "reduction": "none"},
        ),
    ),
    "dice_loss": case(
        reduced(_dice), ("probability",), [((6, 67),) * 2, ((3, 5, 1030),) * 2, ((7,),) * 2],
        keywords=with_words({"smooth": 0.1}), specials=False,
    ),
    "iou_loss": case(
        reduced(_iou, "none"), ("box",), [((6, 4),) * 2, ((3, 5, 4),) * 2, ((4,),) * 2], specials=False, tolerance=64.0,
        keywords=({}, {"reduction": "mean"}, {"reduction": "sum"}, {"kind": "iou"}, {"kind": "diou"}, {"kind": "ciou"}),
    ),
    "gae_advantage": case(
        _gae, ("any", "any", "any", "mask"), [((3, 67),) * 3 + (None,), ((2, 5, 1030),) * 4, ((7,),) * 4], gradient=False,
        keywords=({}, {"gamma": 0.5, "lam": 0.9}), specials=False,
    ),
}  # fmt: skip
