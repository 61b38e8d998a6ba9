"""Random orthogonal matrices, as likely as each other (Haar measure), by Householder's reflections.

The factor Q, of a QR decomposition of a normal matrix with a positive diagonal of R, is H_1 ... H_k times the signs -s_i, where
H_i = 1 - v_i v_i^T reflects a normal vector x of the elements i and on: v_i = (x + s_i |x| e_i) / sqrt(|x|**2 + |x_i| |x|), s_i
the sign of x_i (Stewart 1980, Mezzadri 2007). The vectors do not depend on one another, so all of them are drawn at once, and
the product is 1 - V^T T V, with T the inverse of the unit triangle above the diagonal of V V^T (Schreiber, Van Loan 1989). T
comes from its diagonal blocks of 1, 2, 4, ... rows: the block between two neighbours A and C is -A B C. Products are those of
rule 6.
"""

from __future__ import annotations

from typing import Any

from baracuda.core.elements import ElementKind
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import permuted, shape_of, slab, view
from baracuda.formula import functions as f
from baracuda.formula.expr import Expr, const, coord, select
from baracuda.formula.functions import equal
from baracuda.ops.declaration.composition import Steps, composed
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Scalar
from baracuda.ops.declaration.words import Count, Extents, FiniteFloat, FloatElement
from baracuda.ops.matmul.descriptor import labelled
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.random.draws import KEY, Bits, drawn
from baracuda.ops.random.uniforms import normal_op

_INTERNAL: dict[str, Any] = {"family": "random", "takes": "float", "differentiable": False}


def _reflector(x: Expr) -> dict[str, Expr]:
    """Of row i of draws the vector v_i, and -s_i."""
    row, column = coord(-2), coord(-1)
    zero, one = const(0, x.kind), const(1, x.kind)
    kept = select(column >= row, x, zero)
    first = f.sum_(select(equal(column, row), x, zero))
    norm = f.sqrt(f.sum_(kept * kept))
    sign = select(first < 0.0, -one, one)
    long = select(equal(column, row), x + sign * norm, kept)
    size = f.sqrt(norm * norm + abs(first) * norm)
    return {"v": long / size, "sign": -sign}


def _above(x: Expr) -> Expr:
    """-x above the diagonal, 0 elsewhere."""
    return select(coord(-1) > coord(-2), -x, const(0, x.kind))


def _unit(x: Expr) -> Expr:
    """1 on the diagonal, 0 elsewhere."""
    return select(equal(coord(-1), coord(-2)), const(1, x.kind), const(0, x.kind))


def _columns(product: Expr, sign: Expr, *, gain: Scalar = 1.0) -> Expr:
    return (_unit(product) - product) * (sign * gain)


_reflector_op = Op(_reflector, Rule.COMMON, name="reflector", rows=True, results=("v", "sign"), **_INTERNAL)
_above_op, _unit_op = (Op(g, Rule.COMMON, name=n, **_INTERNAL) for g, n in ((_above, "above_diagonal"), (_unit, "unit")))
_columns_op = Op(_columns, Rule.COMMON, name="reflected_columns", **_INTERNAL)


def _product(do: Steps, a: TensorRef, b: TensorRef, labels: str, into: TensorMut | None = None) -> TensorMut:
    """A product of matrices of one batch, whose labels are "mk kn"."""
    left, right = labels.split()
    batch = "BC"[: len(a.shape) - 2]
    y = batch + "".join(label for label in "mn" if label in left + right)
    made: TensorMut = do.plan(MatmulPlan, labelled(a, b, batch + left, batch + right, y), {"a": a, "b": b}, into)
    return made


def _inverse(do: Steps, between: TensorMut) -> TensorMut:
    """The inverse of 1 - x for matrices x of 2**m rows that are 0 on the diagonal and below."""
    count, size, _ = between.shape
    inverse = do.rows(between.shape, between.kind)
    do.run(_unit_op, {"x": between}, inverse)
    h = 1
    while h < size:
        shape, strides = (count, size // (2 * h), h, h), (size * size, 2 * h * (size + 1), size, 1)
        first, second = view(inverse, 0, shape, strides), view(inverse, h * (size + 1), shape, strides)
        beside = view(between, h, shape, strides)
        made = _product(do, _product(do, first, beside, "mk kn"), second, "mk kn")
        do.copy(made, view(inverse, h, shape, strides))
        h *= 2
    return inverse


@composed(key=KEY, numbers={"gain": ()})
def orthogonal_sample(
    do: Steps, key: TensorRef, n: Count, shape: Extents = (), dtype: FloatElement = None, m: Count | None = None, *,
    gain: FiniteFloat = 1.0, bits: Bits = "philox",
) -> Any:  # fmt: skip
    """Random orthogonal matrices of n rows and m columns (default: n), uniform over all of them (Haar measure), times `gain`.

    The columns are orthonormal, or the rows where there are fewer. The result has the shape (*shape, n, m); the element is
    `dtype`, by default f32; 16-bit floats are computed in f32.

    Source: torch.nn.init.orthogonal_ and jax.random.orthogonal.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> q = baracuda.orthogonal_sample(baracuda.rng_key(7), 3)
    >>> bool(np.allclose(q.T @ q, np.eye(3), atol=1e-5))
    True
    """
    batch, kind = shape_of(shape), dtype or ElementKind.F32
    m = n if m is None else m
    long, k = max(n, m), min(n, m)
    y = do.rows((*batch, n, m), kind)
    count = 1
    for extent in batch:
        count *= extent
    if not count * k:
        return y
    wide, size = kind.compute, 1 << (k - 1).bit_length()
    x = drawn(do, normal_op, key, (count, k, long), wide, bits)
    v, sign = do.run(_reflector_op, {"x": x}, axis=-1)
    between = do.rows((count, size, size), wide)
    if size > k:
        do.zero(between)
    corner = slab(slab(between, 1, 0, k), 2, 0, k)
    do.run(_above_op, {"x": _product(do, v, v, "mk nk")}, corner)
    inverse = slab(slab(_inverse(do, between), 1, 0, k), 2, 0, k)
    inner = _product(do, inverse, slab(v, 2, 0, k), "mk kn")
    product = _product(do, v, inner, "km kn")
    into: Any = do.reshaped(y, (count, n, m))
    turned = permuted(into, (0, 2, 1)) if m > n else into
    signs = permuted(sign, (0, 2, 1))
    if kind is wide:
        do.run(_columns_op, {"product": product, "sign": signs}, turned, gain=gain)
    else:
        do.copy(do.run(_columns_op, {"product": product, "sign": signs}, gain=gain), turned)
    return y
