"""Global response normalization, in pieces that each reduce over one set of axes."""

from __future__ import annotations

from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, cast, select
from baracuda.ops.declaration.op import Op, op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import NonNegative, Own, Scalar, Stored


def _shares(lengths: Expr, eps: Scalar) -> tuple[Expr, Expr]:
    """Each channel's length over the channels' mean length, and 1 / that mean."""
    inverse = 1.0 / (f.mean(lengths) + eps)
    return lengths * inverse, inverse


@op(rows=True)
def global_response_norm(
    x: Expr, weight: Own | None = None, bias: Own | None = None, norm: Own | None = None, *, eps: NonNegative = 1e-6
) -> Expr:
    """x + weight * x * n + bias, n = norm / (mean of norm + eps) over the row, which are the channels (Woo et al. 2023).

    norm broadcasts to x: the length of each channel of a sample over its other axes, (samples, 1, 1, channels); without it x
    has no other axes, and it is its absolute values.
    """
    share, _ = _shares(abs(x) if norm is None else cast(norm, x.kind), eps)
    scaled = x * share if weight is None else x * share * cast(weight, x.kind)
    y = x + scaled
    return y if bias is None else y + cast(bias, x.kind)


def _length(x: Expr) -> Stored:
    return Stored(y := f.root(f.sum_(x * x)), y.kind)


def _products(dy: Expr, x: Expr) -> Stored:
    return Stored(y := f.sum_(dy * x), y.kind)


def _input_gradient(dy: Expr, x: Expr, norms: Own, products: Own, weight: Own | None = None, *, eps: Scalar = 1e-6) -> Expr:
    lengths = cast(norms, x.kind)
    share, inverse = _shares(lengths, eps)
    w = 1.0 if weight is None else cast(weight, x.kind)
    along = cast(products, x.kind) * w
    slope = (along - f.mean(along * share)) * inverse
    return dy * (1.0 + share * w) + x * select(f.equal(lengths, 0.0), 0.0, slope / lengths)


def _weight_gradient(products: Expr, norms: Expr, *, eps: Scalar = 1e-6) -> Expr:
    share, _ = _shares(norms, eps)
    return products * share


#: The length of each channel, the sum of dy * x for each, and from both the gradients of x and (still one a sample) weight.
channel_lengths = Op(_length, Rule.COMMON, name="channel_lengths", family="normalization", takes="float", rows=True)
channel_products = Op(_products, Rule.COMMON, name="channel_products", family="normalization", takes="float", rows=True)
input_gradient = Op(_input_gradient, Rule.COMMON, name="response_norm_dx", family="normalization", takes="float", rows=True)
weight_gradient = Op(
    _weight_gradient, Rule.COMMON, name="response_norm_dweight", family="normalization", takes="float", rows=True
)


# --- over neighbouring channels ---------------------------------------------------------------------------------------


def _window_scale(window: Expr, k: Scalar, share: Scalar) -> Expr:
    return k + share * f.sum_(window * window)


def _divided(x: Expr, window: Expr, *, k: Scalar = 1.0, share: Scalar = 1.0, beta: Scalar = 0.75) -> Expr:
    return x / f.pow_(_window_scale(window, k, share), beta)


def _slopes_of_windows(
    dy: Expr, x: Expr, window: Expr, *, k: Scalar = 1.0, share: Scalar = 1.0, beta: Scalar = 0.75
) -> dict[str, Stored]:
    """dy over the scale, and the slope of that by the window's sum of squares."""
    scale = _window_scale(window, k, share)
    kept = dy / f.pow_(scale, beta)
    return {"kept": Stored(kept, kept.kind), "slope": Stored(kept * x / scale, kept.kind)}


def _gathered_slopes(x: Expr, kept: Own, slopes: Own, *, share: Scalar = 1.0, beta: Scalar = 0.75) -> Expr:
    """The gradient of x, from the slopes of every window that it lies in."""
    return cast(kept, x.kind) - x * (2.0 * (share * beta)) * f.sum_(cast(slopes, x.kind))


#: An element over the scale of its window; what its gradient needs of each window; and the gradient from these.
divided_by_window = Op(_divided, Rule.COMMON, name="local_response_norm", family="normalization", takes="float", rows=True)
slopes_of_windows = Op(
    _slopes_of_windows, Rule.COMMON, name="local_response_norm_slopes", family="normalization", takes="float", rows=True,
    results=("kept", "slope"),
)  # fmt: skip
gathered_slopes = Op(
    _gathered_slopes, Rule.COMMON, name="local_response_norm_backward", family="normalization", takes="float", rows=True
)
