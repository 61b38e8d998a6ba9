"""Discrete Fourier transforms along one axis, two or any, and their gradients.

y_k = sum over j of x_j exp(-2 pi i j k / n), inverse ones with a positive exponent. What is computed and in which order is the
matter of `baracuda/lowering/fft/problem.py`. Of several axes the last one is transformed first, then those before it; where the
result is real (`irfftn`, `hfftn`) it is the last.
"""

from __future__ import annotations

from typing import Annotated, Any

from baracuda.core.bounds import AtLeast
from baracuda.core.errors import InvalidProblemError
from baracuda.core.tensor import TensorRef
from baracuda.core.views import axes_of, axis_of
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.words import AxesOrAll
from baracuda.ops.fft.lines import Line, Norm, Transform, number_of, run, run_backward

Length = Annotated[int, AtLeast(1)] | None
Lengths = int | tuple[int, ...] | None

_TRANSFORMS = {
    "fft": Transform("complex", False),
    "ifft": Transform("complex", True),
    "rfft": Transform("real", False),
    "irfft": Transform("half", True),
    "hfft": Transform("half", False),
    "ihfft": Transform("real", True),
}
_SAYS = {
    "fft": "The discrete Fourier transform",
    "ifft": "The inverse discrete Fourier transform",
    "rfft": "The first n // 2 + 1 numbers of the discrete Fourier transform of real numbers",
    "irfft": "The real numbers whose `rfft` is x: the inverse transform of a row of which x is the first half",
    "hfft": "The real transform of a row of which x is the first half and whose other half is the conjugate of it",
    "ihfft": "The first half of the inverse transform of real numbers",
}
_EXAMPLES = {
    "fft": ("np.float32([1, 2, 3, 4])", "[(10+0j), (-2+2j), (-2+0j), (-2-2j)]"),
    "ifft": ("np.complex64([4, 0, 0, 0])", "[(1+0j), (1+0j), (1+0j), (1+0j)]"),
    "rfft": ("np.float32([1, 2, 3, 4])", "[(10+0j), (-2+2j), (-2+0j)]"),
    "irfft": ("np.complex64([4, 0, 0])", "[1.0, 1.0, 1.0, 1.0]"),
    "hfft": ("np.complex64([1, 1, 1])", "[4.0, 0.0, 0.0, 0.0]"),
    "ihfft": ("np.float32([4, 0, 0, 0])", "[(1-0j), (1-0j), (1-0j)]"),
}
_NORMS = """`norm` says what is divided by n: with "forward" the forward transform, with "backward", the default, the inverse one;
    with "ortho" both are divided by its root."""
_LENGTH = {
    "complex": "n elements, by default all: more of x are left out, and zeros stand for what it has fewer",
    "real": "n elements, by default all: more of x are left out, and zeros stand for what it has fewer",
    "half": "n results, by default 2 (m - 1) of m elements of x, of which the first n // 2 + 1 count and zeros stand for what\n"
    "    there are fewer; the imaginary parts of the first one, and for even n of the last one, do not count",
}


def _one(name: str, x: TensorRef, n: int | None, axis: int, norm: Norm) -> list[Line]:
    return _TRANSFORMS[name].lines(x.shape, number_of(x.kind), (axis_of(axis, len(x.shape)),), (n,), norm)


def _several(name: str, x: TensorRef, s: Lengths, axis: AxesOrAll, norm: Norm) -> list[Line]:
    rank = len(x.shape)
    lengths = (s,) if isinstance(s, int) else s
    if axis is None and lengths is not None:
        if len(lengths) > rank:
            raise InvalidProblemError(f"s: {lengths}; expected at most {rank} of x of shape {x.shape}")
        axes = tuple(range(rank - len(lengths), rank))
    else:
        axes = axes_of(axis, rank)
    given: tuple[int | None, ...] = (None,) * len(axes)
    if lengths is not None:
        if len(lengths) != len(axes):
            raise InvalidProblemError(f"s, axis: {lengths}, {axis}; expected as many of one as of the other")
        if any(n < 1 and n != -1 for n in lengths):
            raise InvalidProblemError(f"s: {lengths}; expected lengths of 1 or more, or -1 for that of x")
        given = tuple(
            n if n != -1 else None if _TRANSFORMS[name].mode == "half" and a == axes[-1] else x.shape[a]
            for n, a in zip(lengths, axes, strict=True)
        )
    return _TRANSFORMS[name].lines(x.shape, number_of(x.kind), axes, given, norm)


def _declare_one(name: str) -> None:
    def forward(do: Steps, x: TensorRef, n: Length = None, axis: int = -1, norm: Norm = None) -> Any:
        return run(do, x, _one(name, x, n, axis, norm), do.out)

    def backward(do: Steps, dy: TensorRef, x: TensorRef, n: Length = None, axis: int = -1, norm: Norm = None) -> Any:
        return run_backward(do, dy, _one(name, x, n, axis, norm))

    given, shown = _EXAMPLES[name]
    forward.__name__, backward.__name__ = name, f"{name}_backward"
    forward.__doc__ = f"""{_SAYS[name]} along an axis.

    {_LENGTH[_TRANSFORMS[name].mode]}. {_NORMS} Real numbers of 16 bits are computed in f32, as integers are.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{name}({given}).tolist()
    {shown}
    """
    backward.__doc__ = f"""The gradient of `{name}`'s x, of which the shape and element are looked at: a transform back of dy.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = {given}
    >>> baracuda.{name}_backward(baracuda.{name}(x), x).shape == x.shape
    True
    """
    composed(x="...", out=True)(forward)
    composed(dy="...", x="...")(backward)


def _declare_several(name: str, function: str) -> None:
    if function.endswith("2"):

        def forward(do: Steps, x: TensorRef, s: Lengths = None, axis: AxesOrAll = (-2, -1), norm: Norm = None) -> Any:
            return run(do, x, _several(name, x, s, axis, norm), do.out)

        def backward(
            do: Steps, dy: TensorRef, x: TensorRef, s: Lengths = None, axis: AxesOrAll = (-2, -1), norm: Norm = None
        ) -> Any:
            return run_backward(do, dy, _several(name, x, s, axis, norm))

    else:

        def forward(do: Steps, x: TensorRef, s: Lengths = None, axis: AxesOrAll = None, norm: Norm = None) -> Any:
            return run(do, x, _several(name, x, s, axis, norm), do.out)

        def backward(do: Steps, dy: TensorRef, x: TensorRef, s: Lengths = None, axis: AxesOrAll = None, norm: Norm = None) -> Any:
            return run_backward(do, dy, _several(name, x, s, axis, norm))

    where = (
        "two axes, by default the last ones" if function.endswith("2") else "some axes, by default all, or the last len(s) ones"
    )
    given, _ = _EXAMPLES[name]
    forward.__name__, backward.__name__ = function, f"{function}_backward"
    forward.__doc__ = f"""{_SAYS[name]} along {where}: `{name}` along the last of them, and of what it gives, or before it
    where the result is real, the complex transform along the others.

    `s` has a length for each axis, as n in `{name}`; -1 stands for that of x. `norm` is that of each.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> baracuda.{function}(np.stack([{given}] * 2)).ndim
    2
    """
    backward.__doc__ = f"""The gradient of `{function}`'s x, of which the shape and element are looked at.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> x = np.stack([{given}] * 2)
    >>> baracuda.{function}_backward(baracuda.{function}(x), x).shape
    {"(2, 3)" if _TRANSFORMS[name].mode == "half" else "(2, 4)"}
    """
    composed(x="...", out=True)(forward)
    composed(dy="...", x="...")(backward)


for _name in _TRANSFORMS:
    _declare_one(_name)
    _declare_several(_name, f"{_name}2")
    _declare_several(_name, f"{_name}n")
