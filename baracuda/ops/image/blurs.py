"""Images blurred by a Gaussian."""

from __future__ import annotations

from typing import Any

from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, as_expr, cast, coord
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar
from baracuda.ops.declaration.words import PositiveFloat
from baracuda.ops.image.axis_maps import AxisMap
from baracuda.ops.image.resampling import precise_in, resampled
from baracuda.ops.image.taps import F32, F64

Size = int | tuple[int, int]
Sigma = PositiveFloat | tuple[float, float] | None


def _bell(like: Expr, *, sigma: Scalar = 1.0, centre: Scalar = 0.0) -> Expr:
    """The weights of a Gaussian, which are 1 together."""
    t = (cast(coord(1), like.kind) - as_expr(centre, like.kind)) / as_expr(sigma, like.kind)
    weight = f.exp(t * t * -0.5)
    return weight / f.sum_(weight)


_bells = Op(
    _bell, Rule.COMMON, name="gaussian_weights", rows=True, axis=-1, axis_option=False, family="image", takes="float",
    differentiable=False,
)  # fmt: skip


def _blurred(do: Steps, x: TensorRef, into: TensorMut, size: Size, sigma: Any, *, back: bool) -> None:
    sizes = size if isinstance(size, tuple) else (size, size)
    sigmas = sigma if isinstance(sigma, tuple) else (sigma, sigma)
    rank = len(x.shape)
    maps, weights = {}, {}
    precise = precise_in(into.kind)
    for axis, k, s, name in ((rank - 2, sizes[1], sigmas[1], "rows"), (rank - 1, sizes[0], sigmas[0], "columns")):
        if k < 1 or k % 2 == 0:
            raise InvalidProblemError(f"kernel_size: {size}; expected odd numbers above 0")
        if k // 2 >= max(x.shape[axis], 1):
            raise InvalidProblemError(
                f"kernel_size: {k} {name} for x of shape {x.shape}; expected at most {2 * x.shape[axis] - 1}"
            )
        s = k * 0.15 + 0.35 if s is None else s
        if not s > 0:
            raise InvalidProblemError(f"sigma: {sigma}; expected numbers above 0")
        if k == 1:
            continue
        n = x.shape[axis]
        maps[axis] = AxisMap(n, n, "blur", support=float(k // 2), precise=precise)
        weights[axis] = made = do.rows((1, k), F64 if precise else F32)
        do.run(_bells, {"like": made}, made, sigma=float(s), centre=float(k // 2))
    if maps:
        resampled(do, x, maps, into, weights=weights, back=back)
    else:
        do.copy(x, into)


@composed(x="... h w : float u8", out=True)
def gaussian_blur(do: Steps, x: TensorRef, kernel_size: Size, sigma: Sigma = None) -> Any:
    """Images (..., H, W) blurred by a Gaussian of kernel_size taps (one number, or for columns and rows) and standard deviation
    sigma, by default 0.15 * kernel_size + 0.35; images are reflected at their edges.

    Weights and sums are computed in f32 (f64 for f64), the columns inside the rows, each sum in the canonical order. u8 is
    rounded to nearest even. Raises `InvalidProblemError` for a kernel that is even or reaches over an image.

    Source: torchvision.transforms.functional.gaussian_blur.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.gaussian_blur(np.eye(3, dtype="f"), 3, 1.0).round(3).tolist()[1]
    [0.3720000088214874, 0.3540000021457672, 0.3720000088214874]
    """
    y = do.result(x.shape, x.kind)
    if 0 not in x.shape:
        _blurred(do, x, y, kernel_size, sigma, back=False)
    return y


@composed(dy="... h w : float", out=True)
def gaussian_blur_backward(do: Steps, dy: TensorRef, kernel_size: Size, sigma: Sigma = None) -> Any:
    """The gradient of `gaussian_blur`'s x: sums over what reads an element, in rising order, its reflections with it.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> float(baracuda.gaussian_blur_backward(np.ones((4, 4), "f"), 3, 1.0).sum().round(4))
    16.0
    """
    dx = do.result(dy.shape, dy.kind)
    if 0 not in dy.shape:
        _blurred(do, dy, dx, kernel_size, sigma, back=True)
    return dx
