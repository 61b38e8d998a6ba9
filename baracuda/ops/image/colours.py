"""Colours in other spaces, and pictures as networks take them. Channels lie along axis -3 unless said otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axis_of, broadcasted, permuted, view
from baracuda.formula import functions as f
from baracuda.formula.conversions import cast_to
from baracuda.formula.expr import Expr, as_expr, cast, coord, select
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Scalar, Stored
from baracuda.ops.declaration.words import FiniteFloat, FloatElement

Colour = tuple[Expr, Expr, Expr]
_NAMES = ("c0", "c1", "c2")


def planes(x: TensorRef, axis: int, names: Sequence[str] = _NAMES) -> dict[str, Any]:
    """The channels of a picture, each as a tensor."""
    at = axis_of(axis, len(x.shape))
    if x.shape[at] != len(names):
        raise InvalidProblemError(f"x: shape is {x.shape}; expected {len(names)} channels along axis {axis}")
    shape, strides = (*x.shape[:at], *x.shape[at + 1 :]), (*x.strides[:at], *x.strides[at + 1 :])
    return {n: view(x, k * x.strides[at], shape, strides) for k, n in enumerate(names)}


# --- gray -------------------------------------------------------------------------------------------------------------


def _gray(c0: Expr, c1: Expr, c2: Expr, *, element: ElementKind | None = None) -> Stored:
    assert element is not None
    kind = element.compute if element.is_float else ElementKind.F32
    r, g, b = (cast(c, kind) for c in (c0, c1, c2))
    y = 0.2989 * r + 0.587 * g + 0.114 * b
    return Stored(y if element.is_float else cast_to(f.floor(y), element), element)


_gray_op = Op(_gray, Rule.COMMON, name="gray_of_rgb", family="image", takes="float,int", differentiable=False)


@composed(x="... : float u8", out=True)
def rgb_to_gray(do: Steps, x: TensorRef, num_output_channels: Literal[1, 3] = 1, *, axis: int = -3) -> Any:
    """0.2989 R + 0.587 G + 0.114 B along an axis, as one channel or three that are the same; u8 is rounded down, as torchvision
    does it. Source: torchvision.transforms.functional.rgb_to_grayscale.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rgb_to_gray(np.array([[[255]], [[0]], [[128]]], np.uint8)).tolist()
    [[[90]]]
    """
    at = axis_of(axis, len(x.shape))
    channels = planes(x, axis)
    y = do.result((*x.shape[:at], num_output_channels, *x.shape[at + 1 :]), x.kind)
    made = list(planes(y, axis, _NAMES[:num_output_channels]).values())
    do.run(_gray_op, channels, made[0])
    for other in made[1:]:
        do.copy(made[0], other)
    return y


def _gray_slopes(d0: Expr, d1: Expr | None = None, d2: Expr | None = None) -> Colour:
    total = d0 if d1 is None or d2 is None else d0 + d1 + d2
    return 0.2989 * total, 0.587 * total, 0.114 * total


_gray_slopes_op = Op(_gray_slopes, Rule.COMMON, name="slopes_of_gray", family="image", takes="float", results=("y0", "y1", "y2"),
                     differentiable=False)  # fmt: skip


@composed(dy="... : float", out=True)
def rgb_to_gray_backward(do: Steps, dy: TensorRef, num_output_channels: Literal[1, 3] = 1, *, axis: int = -3) -> Any:
    """The gradient of `rgb_to_gray`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.rgb_to_gray_backward(np.ones((1, 1, 1))).ravel().tolist()
    [0.2989, 0.587, 0.114]
    """
    at = axis_of(axis, len(dy.shape))
    slopes = planes(dy, axis, ("d0", "d1", "d2")[:num_output_channels])
    dx = do.result((*dy.shape[:at], 3, *dy.shape[at + 1 :]), dy.kind)
    do.run(_gray_slopes_op, slopes, tuple(planes(dx, axis).values()))
    return dx


# --- other spaces -----------------------------------------------------------------------------------------------------


def _times(rows: Sequence[Sequence[float]], c: Colour) -> Colour:
    first, second, third = (r[0] * c[0] + r[1] * c[1] + r[2] * c[2] for r in rows)
    return first, second, third


def _to_hsv(r: Expr, g: Expr, b: Expr) -> Colour:
    high, low = f.maximum(f.maximum(r, g), b), f.minimum(f.minimum(r, g), b)
    span = high - low
    flat = f.equal(span, 0.0)
    by = select(flat, 1.0, span)
    s = span / select(flat, 1.0, high)
    red, green = f.equal(high, r), f.equal(high, g)
    h = select(red, (g - b) / by, select(green, 2.0 + (b - r) / by, 4.0 + (r - g) / by))
    h = h / 6.0
    return select(h < 0.0, h + 1.0, h), s, high


def _from_hsv(h: Expr, s: Expr, v: Expr) -> Colour:
    six = h * 6.0
    turn = f.detach(f.floor(six))
    t = six - turn
    p, q, u = (f.clamp(c, 0.0, 1.0) for c in (v * (1.0 - s), v * (1.0 - s * t), v * (1.0 - s * (1.0 - t))))
    turn = turn - f.floor(turn / 6.0) * 6.0

    def sector(*values: Expr) -> Expr:
        chosen_ = values[5]
        for k in reversed(range(5)):
            chosen_ = select(turn < k + 0.5, values[k], chosen_)
        return chosen_

    return sector(v, q, p, p, u, v), sector(u, v, v, q, p, p), sector(p, p, u, v, v, q)


def _to_yuv(r: Expr, g: Expr, b: Expr) -> Colour:
    return _times(((0.299, 0.587, 0.114), (-0.147, -0.289, 0.436), (0.615, -0.515, -0.1)), (r, g, b))


def _from_yuv(y: Expr, u: Expr, v: Expr) -> Colour:
    return y + 1.14 * v, y + -0.396 * u - 0.581 * v, y + 2.029 * u


def _to_ycbcr(r: Expr, g: Expr, b: Expr) -> Colour:
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return y, (b - y) * 0.564 + 0.5, (r - y) * 0.713 + 0.5


def _from_ycbcr(y: Expr, cb: Expr, cr: Expr) -> Colour:
    cb, cr = cb - 0.5, cr - 0.5
    return y + 1.403 * cr, y - 0.714 * cr - 0.344 * cb, y + 1.773 * cb


def _to_xyz(r: Expr, g: Expr, b: Expr) -> Colour:
    rows = ((0.412453, 0.35758, 0.180423), (0.212671, 0.71516, 0.072169), (0.019334, 0.119193, 0.950227))
    return _times(rows, (r, g, b))


def _from_xyz(x: Expr, y: Expr, z: Expr) -> Colour:
    rows = (
        (3.2404813432005266, -1.5371515162713185, -0.4985363261688878),
        (-0.9692549499965682, 1.8759900014898907, 0.0415559265582928),
        (0.0556466391351772, -0.2040413383665112, 1.0573110696453443),
    )
    return _times(rows, (x, y, z))


def _linear(c: Expr) -> Expr:
    return select(c > 0.04045, f.pow_((f.maximum(c, 0.04045) + 0.055) / 1.055, 2.4), c / 12.92)


def _encoded(c: Expr) -> Expr:
    return select(c > 0.0031308, 1.055 * f.pow_(f.maximum(c, 0.0031308), 1.0 / 2.4) - 0.055, c * 12.92)


def _to_linear(r: Expr, g: Expr, b: Expr) -> Colour:
    return _linear(r), _linear(g), _linear(b)


def _from_linear(r: Expr, g: Expr, b: Expr) -> Colour:
    return _encoded(r), _encoded(g), _encoded(b)


_WHITE = (0.95047, 1.0, 1.08883)


def _to_lab(r: Expr, g: Expr, b: Expr) -> Colour:
    def root(t: Expr) -> Expr:
        return select(t > 0.008856, f.cbrt(f.maximum(t, 0.008856)), 7.787 * t + 4.0 / 29.0)

    x, y, z = (root(c / w) for c, w in zip(_to_xyz(*_to_linear(r, g, b)), _WHITE, strict=True))
    return 116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)


def _from_lab(lightness: Expr, a: Expr, b: Expr) -> Colour:
    y = (lightness + 16.0) / 116.0
    x, z = a / 500.0 + y, f.maximum(y - b / 200.0, 0.0)

    def cube(t: Expr) -> Expr:
        return select(t > 0.2068966, t * t * t, (t - 4.0 / 29.0) / 7.787)

    xyz = [cube(t) * w for t, w in zip((x, y, z), _WHITE, strict=True)]
    return _from_linear(*_from_xyz(xyz[0], xyz[1], xyz[2]))


def _declare(name: str, formula: Callable[[Expr, Expr, Expr], Colour], text: str, source: str, example: str) -> None:
    """The function of a conversion, and its gradient."""

    def converted(c0: Expr, c1: Expr, c2: Expr) -> Colour:
        return formula(c0, c1, c2)

    def paired(c0: Expr, c1: Expr, c2: Expr, d0: Expr, d1: Expr, d2: Expr) -> Expr:
        """What has the gradient of the conversion: its result times the gradients of the result."""
        y = formula(c0, c1, c2)
        return d0 * y[0] + d1 * y[1] + d2 * y[2]

    whole = Op(converted, Rule.COMMON, name=f"{name}_planes", family="image", takes="float", results=("y0", "y1", "y2"))
    sloped = Op(paired, Rule.COMMON, name=f"{name}_slopes", family="image", takes="float")

    def forward(do: Steps, x: TensorRef, *, axis: int = -3) -> Any:
        channels = planes(x, axis)
        y = do.result(x.shape, x.kind)
        do.run(whole, channels, tuple(planes(y, axis).values()))
        return y

    def backward(do: Steps, dy: TensorRef, x: TensorRef, *, axis: int = -3) -> Any:
        if dy.shape != x.shape:
            raise InvalidProblemError(f"dy: shape is {dy.shape}; expected {x.shape}")
        channels, slopes = planes(x, axis), planes(dy, axis, ("d0", "d1", "d2"))
        dx = do.result_like(x)
        if 0 in x.shape:
            return dx
        one = broadcasted(do.filled((1,), x.kind, 1.0), channels["c0"].shape)
        found = do.gradients(sloped, {**channels, **slopes}, one, _NAMES)
        do.move([(found[n], plane) for n, plane in planes(dx, axis).items()])
        return dx

    forward.__name__, backward.__name__ = name, f"{name}_backward"
    forward.__doc__ = f"""{text}

    Source: {source}.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{name}(np.float64([{example.split(" -> ")[0]}]).reshape(3, 1, 1)).round(4).ravel().tolist()
    [{example.split(" -> ")[1]}]
    """
    backward.__doc__ = f"""The gradient of `{name}`'s x.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.float64([0.25, 0.5, 0.75]).reshape(3, 1, 1)
    >>> baracuda.{name}_backward(np.ones((3, 1, 1)), x).shape
    (3, 1, 1)
    """
    composed(x="... : float", out=True)(forward)
    composed(dy="... : float", x="... : float", out=True)(backward)


#: Conversions: what each is, where it is from, and an example.
_CONVERSIONS = {
    "rgb_to_hsv": (
        _to_hsv,
        "Red, green and blue in 0 ... 1 as hue, saturation and value in 0 ... 1.",
        "torchvision's adjust_hue",
        "0.25, 0.5, 0.75 -> 0.5833, 0.6667, 0.75",
    ),
    "hsv_to_rgb": (
        _from_hsv,
        "Hue, saturation and value in 0 ... 1 as red, green and blue; the way back of `rgb_to_hsv`.",
        "torchvision's adjust_hue",
        "0.5, 0.5, 0.5 -> 0.25, 0.5, 0.5",
    ),
    "rgb_to_yuv": (
        _to_yuv,
        "Red, green and blue in 0 ... 1 as luminance and two differences of colour.",
        "kornia.color.rgb_to_yuv",
        "1.0, 0.5, 0.0 -> 0.5925, -0.2915, 0.3575",
    ),
    "yuv_to_rgb": (
        _from_yuv,
        "The way back of `rgb_to_yuv`.",
        "kornia.color.yuv_to_rgb",
        "0.5, 0.0, 0.0 -> 0.5, 0.5, 0.5",
    ),
    "rgb_to_ycbcr": (
        _to_ycbcr,
        "Red, green and blue in 0 ... 1 as luminance and two chrominances around 0.5.",
        "kornia.color.rgb_to_ycbcr",
        "1.0, 0.5, 0.0 -> 0.5925, 0.1658, 0.7905",
    ),
    "ycbcr_to_rgb": (
        _from_ycbcr,
        "The way back of `rgb_to_ycbcr`.",
        "kornia.color.ycbcr_to_rgb",
        "0.5, 0.5, 0.5 -> 0.5, 0.5, 0.5",
    ),
    "rgb_to_xyz": (
        _to_xyz,
        "Linear red, green and blue as CIE XYZ (D65).",
        "kornia.color.rgb_to_xyz",
        "1.0, 1.0, 1.0 -> 0.9505, 1.0, 1.0888",
    ),
    "xyz_to_rgb": (
        _from_xyz,
        "CIE XYZ (D65) as linear red, green and blue.",
        "kornia.color.xyz_to_rgb",
        "0.9505, 1.0, 1.0888 -> 1.0001, 1.0, 1.0001",
    ),
    "rgb_to_linear_rgb": (
        _to_linear,
        "sRGB without its transfer function.",
        "kornia.color.rgb_to_linear_rgb",
        "0.0, 0.5, 1.0 -> 0.0, 0.214, 1.0",
    ),
    "linear_rgb_to_rgb": (
        _from_linear,
        "Linear red, green and blue with the transfer function of sRGB.",
        "kornia.color.linear_rgb_to_rgb",
        "0.0, 0.214, 1.0 -> 0.0, 0.5, 1.0",
    ),
    "rgb_to_lab": (
        _to_lab,
        "sRGB in 0 ... 1 as CIE L*a*b* (D65).",
        "kornia.color.rgb_to_lab",
        "1.0, 1.0, 1.0 -> 100.0, -0.0025, 0.0047",
    ),
    "lab_to_rgb": (
        _from_lab,
        "CIE L*a*b* (D65) as sRGB in 0 ... 1.",
        "kornia.color.lab_to_rgb",
        "0.0, 0.0, 0.0 -> 0.0, 0.0, 0.0",
    ),
}
for _name, _row in _CONVERSIONS.items():
    _declare(_name, *_row)


# --- pictures for networks --------------------------------------------------------------------------------------------


def _normalized(
    x: Own, mean: Own | None = None, std: Own | None = None, *, scale: Scalar = 1.0, means: bool = False, stds: bool = False,
    mean0: Scalar = 0.0, mean1: Scalar = 0.0, mean2: Scalar = 0.0, mean3: Scalar = 0.0, std0: Scalar = 1.0,
    std1: Scalar = 1.0, std2: Scalar = 1.0, std3: Scalar = 1.0, element: ElementKind | None,
) -> Stored:  # fmt: skip
    assert element is not None
    kind = element.compute

    def of_channel(*numbers: Any) -> Expr:
        *rest, value = (cast(as_expr(n, kind), kind) for n in numbers)
        for k in reversed(range(len(rest))):
            value = select(f.equal(coord(-3), k), rest[k], value)
        return value

    y = cast(x, kind) * cast(as_expr(scale, kind), kind)
    if means:
        y = y - of_channel(mean0, mean1, mean2, mean3)
    elif mean is not None:
        y = y - cast(mean, kind)
    if stds:
        y = y / of_channel(std0, std1, std2, std3)
    elif std is not None:
        y = y / cast(std, kind)
    return Stored(y, element)


_normalize = Op(
    _normalized, Rule.EACH, name="normalized_picture", family="image", takes="any", element_option=True, differentiable=False
)


@composed(x="... : u8 float", mean="channels or numbers : float", std="channels or numbers : float", out=True)
def image_normalize(
    do: Steps, x: TensorRef, mean: Any = None, std: Any = None, *, scale: FiniteFloat | None = None,
    source: Literal["hwc", "chw"] = "hwc", dtype: FloatElement = None,
) -> Any:  # fmt: skip
    """(x * scale - mean) / std of each channel, from pictures (..., H, W, C), u8 as cameras give them, to (..., C, H, W) floats.

    scale is 1 / 255 for u8, else 1; mean and std are a number for each channel, as tensors or lists. With source="chw" x is
    (..., C, H, W) already. The result's element is `dtype`, by default f32 for u8, else that of x; each operation is rounded in
    the kind it computes in. One kernel, whatever the strides.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.image_normalize(np.full((1, 1, 2), 255, np.uint8), [0.5, 0.25], [0.5, 0.25]).ravel().tolist()
    [1.0, 3.0]
    """
    rank = len(x.shape)
    if rank < 3:
        raise InvalidProblemError(f"x: shape is {x.shape}; expected a picture, of three axes or more")
    seen = permuted(x, (*range(rank - 3), rank - 1, rank - 3, rank - 2)) if source == "hwc" else x
    element = dtype or (ElementKind.F32 if x.kind is ElementKind.U8 else x.kind)
    tensors: dict[str, Any] = {"x": seen}
    words: dict[str, Any] = {}
    for name, given in (("mean", mean), ("std", std)):
        if given is None:
            continue
        count = given.shape[0] if isinstance(given, TensorRef) else len(given)
        if count != seen.shape[-3] or (count > 4 and not isinstance(given, TensorRef)):
            raise InvalidProblemError(
                f"{name}: {count} numbers; expected one for each of {seen.shape[-3]} channels, beyond 4 a tensor"
            )
        if isinstance(given, TensorRef):
            tensors[name] = view(given, 0, (count, 1, 1), (given.strides[0], 0, 0))
        else:
            words |= {f"{name}s": True, **{f"{name}{k}": float(v) for k, v in enumerate(given)}}
    y = do.result(seen.shape, element)
    usual = 1 / 255 if x.kind is ElementKind.U8 else 1.0
    do.run(_normalize, tensors, y, dtype=element, scale=usual if scale is None else scale, **words)
    return y
