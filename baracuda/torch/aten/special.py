"""Special functions."""

from __future__ import annotations

from typing import Any

import torch

import baracuda
from baracuda.torch.aten.elements import common, converted
from baracuda.torch.registry import serves

aten = torch.ops.aten

#: PyTorch's name without its namespace, where ours is another one.
_CALLED = {"modified_bessel_i0": "i0", "modified_bessel_i1": "i1"}


def floating(x: Any) -> Any:
    """x in an element that such functions compute in: PyTorch's default for integers and booleans."""
    if not isinstance(x, torch.Tensor) or x.is_floating_point() or x.is_complex():
        return x
    return converted(x, torch.get_default_dtype())


def _of_one(name: str) -> Any:
    compute = getattr(baracuda, _CALLED.get(name, name))
    return lambda x: compute(floating(x))


for _name in ("i0", "angle"):
    serves(getattr(aten, _name).default)(_of_one(_name))
for _name in (
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "erfcx",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "ndtri",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "spherical_bessel_j0",
):
    serves(getattr(aten, f"special_{_name}").default)(_of_one(_name))


def _polynomial(name: str) -> Any:
    compute = getattr(baracuda, name)
    return lambda x, n: compute(floating(x), int(n))


for _name in (
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
):
    serves(getattr(aten, f"special_{_name}").n_scalar)(_polynomial(_name))


def _of_two(name: str) -> Any:
    compute = getattr(baracuda, name)

    return lambda a, b: compute(*common(floating(a), floating(b)))


serves(aten.igamma.default)(_of_two("igamma"))
serves(aten.igammac.default)(_of_two("igammac"))
serves(aten.special_zeta.default, aten.special_zeta.other_scalar, aten.special_zeta.self_scalar)(_of_two("zeta"))


@serves(aten.polygamma.default)
def polygamma(n: int, x: Any) -> Any:
    return baracuda.polygamma(floating(x), n)


@serves(aten.frexp.Tensor)
def frexp(x: Any) -> Any:
    fraction, exponent = baracuda.frexp(x)
    return fraction, converted(exponent, torch.int32)


serves(aten._conj_physical.default)(lambda x: baracuda.conj(x))
