"""Products of 8-bit floats with scales of rows, of blocks, and of groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from baracuda.core.device import DeviceKind
from baracuda.core.elements import ElementKind
from baracuda.core.errors import InvalidProblemError, UnsupportedError
from baracuda.core.preferred import preferred
from baracuda.core.sku import MathPrecision, PlanPreference
from baracuda.core.tensor import TensorMut, TensorRef
from baracuda.core.views import broadcasted, expanded_dims, permuted, slab, view
from baracuda.formula.expr import cast
from baracuda.ops.declaration.composition import Given, Steps, chosen, composed, one_or_all
from baracuda.ops.declaration.op import Op
from baracuda.ops.declaration.promotion import Rule
from baracuda.ops.declaration.traced import Own, Stored
from baracuda.ops.declaration.words import FloatElement, Wrt
from baracuda.ops.elementwise.binary_ops import mul
from baracuda.ops.elementwise.conversions import in_element
from baracuda.ops.matmul.descriptor import SCALED_BLOCK, Blocks, labelled
from baracuda.ops.matmul.groups import Groups
from baracuda.ops.matmul.plan import MatmulPlan
from baracuda.ops.matmul.scales import check_bias, free_labels, in_math, of_columns, of_rows
from baracuda.ops.reductions.reductions import sum_

_F8, _F32 = "f8e4m3 f8e5m2", ElementKind.F32


def _by_scale(x: Own, scale: Own) -> Stored:
    return Stored(cast(x, _F32) * cast(scale, _F32), _F32)


_scaled = Op(_by_scale, Rule.EACH, name="values_by_scales", family="gemm", takes="float", byte_floats=True, differentiable=False)


def _blocks(extent: int, size: int) -> Iterator[tuple[int, int, int]]:
    """The first block, how many there are, and their elements: of all that are whole, then of the last."""
    whole = extent // size
    if whole:
        yield 0, whole, size
    if extent % size:
        yield whole, 1, extent % size


def _values(do: Steps, x: TensorRef, scale: TensorRef, block_rows: int) -> TensorRef:
    """x (rows, k) times the scales of blocks of so many rows by `SCALED_BLOCK` elements of k, in f32."""
    found = do.rows(x.shape, _F32)
    for row, rows, high in _blocks(x.shape[0], block_rows):
        for at, count, wide in _blocks(x.shape[1], SCALED_BLOCK):
            shape, first = (rows, high, count, wide), (row * block_rows, at * SCALED_BLOCK)

            def blocks(t: TensorRef, shape: tuple[int, ...] = shape, first: tuple[int, int] = first) -> Any:
                down, right = t.strides
                return view(t, first[0] * down + first[1] * right, shape, (block_rows * down, down, SCALED_BLOCK * right, right))

            down, right = scale.strides
            scales = view(scale, row * down + at * right, (rows, 1, count, 1), (down, 0, right, 0))
            do.run(_scaled, {"x": blocks(x), "scale": scales}, blocks(found))
    return found


def _of_blocks(do: Steps, x: TensorRef, scale: TensorRef, name: str) -> TensorRef:
    """x (..., k) times its scales: one number, one for each row or column, or those of blocks."""
    k = x.shape[-1]
    rows, blocks = prod(x.shape[:-1]), -(-k // SCALED_BLOCK)
    flat = do.reshaped(x, (rows, k))
    if prod(scale.shape) == 1:
        found = do.run(_scaled, {"x": flat, "scale": view(scale, 0, (), ())})
    elif scale.shape in (x.shape[:-1], (*x.shape[:-1], 1)):
        found = do.run(_scaled, {"x": flat, "scale": do.reshaped(scale, (rows, 1))})
    elif scale.shape == (*x.shape[:-1], blocks):
        found = _values(do, flat, do.reshaped(scale, (rows, blocks)), 1)
    elif len(x.shape) == 2 and scale.shape == (-(-rows // SCALED_BLOCK), blocks):
        found = _values(do, flat, scale, SCALED_BLOCK)
    else:
        raise InvalidProblemError(
            f"{name}: shape is {scale.shape}; expected (), one for each row, {x.shape[:-1]}, or one for each {SCALED_BLOCK} "
            f"elements of k, {(*x.shape[:-1], blocks)}, of a row or, of a matrix, of {SCALED_BLOCK} rows"
        )
    values: TensorRef = do.reshaped(found, x.shape)
    return values


def _by_library(
    do: Steps, a: TensorRef, b: TensorRef, scale_a: TensorRef, scale_b: TensorRef, bias: Given, labels: tuple[str, str, str],
    element: ElementKind, preference: PlanPreference,
) -> TensorRef:  # fmt: skip
    """The product by a library that takes scales of blocks; raises `UnsupportedError` where none does."""
    blocks = -(-b.shape[1] // SCALED_BLOCK)
    scales: dict[str, TensorMut] = {}
    kinds: dict[str, Blocks] = {}
    for name, x, scale in (("a", a, scale_a), ("b", b, scale_b)):
        rows = prod(x.shape[:-1])
        if scale.shape == (-(-rows // SCALED_BLOCK), blocks) and len(x.shape) == 2 and rows != 1:
            kinds[name], scales[name] = "squares", do.rows((scale.shape[0], -(-blocks // 4) * 4), _F32)
            do.zero(scales[name])
            do.copy(scale, slab(scales[name], 1, 0, blocks))
            continue
        whole = view(scale, 0, (), ()) if prod(scale.shape) == 1 else do.reshaped(scale, (rows, -1))
        kinds[name], scales[name] = "rows", do.rows((blocks, rows), _F32)
        do.copy(permuted(broadcasted(whole, (rows, blocks)), (1, 0)), scales[name])
    d = labelled(
        a, b, *labels, element=element, bias_axis=None if bias is None else -1, a_scale=scales["a"].shape,
        b_scale=scales["b"].shape, a_blocks=kinds["a"], b_blocks=kinds["b"],
    )  # fmt: skip
    tensors = {"a": a, "b": b, "bias": bias, "a_scale": scales["a"], "b_scale": scales["b"]}
    found: TensorRef = do.plan(MatmulPlan, d, tensors, do.out, preference)
    return found


@composed(out=True, a=f"*rows k : {_F8}", b=f"n k : {_F8}", scale_a="? : f32", scale_b="? : f32", bias="n : float")
def fp8_gemm_rowwise(
    do: Steps,
    a: TensorRef,
    b: TensorRef,
    scale_a: TensorRef,
    scale_b: TensorRef,
    bias: Given = None,
    *,
    dtype: FloatElement = None,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """(a * scale_a) @ (b * scale_b).T + bias of 8-bit floats, f8e4m3 or f8e5m2 each: a (..., k), b (n, k).

    A scale, f32, is one number; one for each row of its factor, (rows) or (rows, 1); or one for each block of k of 128: of a row,
    (rows, ceil(k / 128)), or of 128 rows, (ceil(rows / 128), ceil(k / 128)), as DeepSeek-V3 has them.

    With numbers and rows the product is that of the factors as they lie, by default in integers of 23 bits, which hold f8e4m3
    without an error; then, each step rounded to f32, it is multiplied by scale_a, by scale_b, and the bias is added. With blocks
    the factors times their scales are rounded to f32, and their product is taken in integers of 23 bits, whose blocks are the
    same 128, unless the preference says otherwise; with `fastest`, on a GPU, cuBLASLt takes scales of blocks where it can. The
    result is stored as `dtype`, bf16 unless it says otherwise; bias is (n) of that.

    Raises `InvalidProblemError` for shapes and elements that do not fit.

    Source: torch._scaled_mm; DeepSeek-V3 (2024), section 3.3.2.

    Examples
    --------
    >>> import ml_dtypes
    >>> import numpy as np, baracuda
    >>> a, b = (np.array(v, ml_dtypes.float8_e4m3fn) for v in ([[1, 2], [3, -4]], [[5, 6]]))
    >>> baracuda.fp8_gemm_rowwise(a, b, np.float32([0.5, 0.25]), np.float32([2]), dtype="f32").tolist()
    [[17.0], [-4.5]]
    """
    element = dtype or ElementKind.BF16
    check_bias(bias, element)
    rows, free, axis = len(a.shape) - 1, free_labels(len(a.shape)), None if bias is None else -1
    labels = f"{free}k", "nk", f"{free}n"
    row_shapes = [() if prod(s.shape) == 1 else s.shape for s in (scale_a, scale_b)]
    if row_shapes[0] in ((), a.shape[:-1], (*a.shape[:-1], 1)) and row_shapes[1] in ((), b.shape[:1], (*b.shape[:1], 1)):
        scales = {"a_scale": of_rows(scale_a, rows), "b_scale": of_columns(scale_b)}
        shapes = {name: v.shape for name, v in scales.items()}
        d = labelled(a, b, *labels, element=element, bias_axis=axis, **shapes)
        y: TensorRef = do.plan(MatmulPlan, d, {"a": a, "b": b, "bias": bias, **scales}, do.out, preference)
        return y
    wanted = preference or preferred()
    if wanted is not None and wanted.fastest and a.device.kind is DeviceKind.CUDA:
        try:
            return _by_library(do, a, b, scale_a, scale_b, bias, labels, element, wanted)
        except UnsupportedError:
            pass  # the fastest that there is comes next
    wanted = in_math(preference, MathPrecision.INT23)
    left, right = _of_blocks(do, a, scale_a, "scale_a"), _of_blocks(do, b, scale_b, "scale_b")
    d = labelled(left, right, *labels, element=element, bias_axis=axis)
    found: TensorRef = do.plan(MatmulPlan, d, {"a": left, "b": right, "bias": bias}, do.out, wanted)
    return found


# --- groups -----------------------------------------------------------------------------------------------------------

_BYTES = f"{_F8} s8 u8"
_GROUPED: dict[str, Any] = {
    "a": f"... : {_BYTES}", "b": f"... : {_BYTES}", "scale_a": "... : f32", "scale_b": "... : f32",
    "offs": "groups or numbers : int", "bias": "groups n : float",
}  # fmt: skip


def _with_shapes(do: Steps, groups: Groups, tensors: dict[str, Any]) -> dict[str, Any]:
    """The tensors, each of its shape; a scale for each row of each group may be one vector."""
    found = dict(tensors)
    for name, shape in groups.shapes(tensors["a"], tensors["b"]).items():
        t = tensors.get(name)
        if t is None or t.shape == shape:
            continue
        if t.shape != (prod(shape),):
            raise InvalidProblemError(f"{name}: shape is {t.shape}; expected {shape}")
        found[name] = do.reshaped(t, shape)
    return found


def _scales(part: dict[str, Any]) -> dict[str, Any]:
    """The scales of a product as they broadcast to its result."""
    rank = len(part["scale_a"].shape)
    return {
        "a_scale": expanded_dims(part["scale_a"], range(rank), rank + 1),
        "b_scale": expanded_dims(part["scale_b"], (*range(rank - 1), rank), rank + 1),
    }


def _zero_beyond(do: Steps, groups: Groups, tensors: dict[str, Any]) -> None:
    for name, t in tensors.items():
        beyond = groups.beyond(name, t)
        if beyond is not None and 0 not in beyond.shape:
            do.zero(beyond)


@composed(out=True, **_GROUPED)
def scaled_grouped_mm(
    do: Steps,
    a: TensorRef,
    b: TensorRef,
    scale_a: TensorRef,
    scale_b: TensorRef,
    offs: Any = None,
    bias: Given = None,
    *,
    dtype: FloatElement = None,
    preference: PlanPreference | None = None,
) -> TensorRef:
    """`grouped_mm` of 8-bit floats or integers, times a scale for each row of a and each column of b, in each group.

    - a (rows, k), b (groups, k, n), scale_a (rows), scale_b (groups, n): the rows from offs[g - 1] to offs[g] of a by b[g]; the
      result is (rows, n), with zeros for rows after the last group.
    - a (m, rows), b (rows, n), scale_a (groups, m), scale_b (groups, n): the products over each group's rows, (groups, m, n).
    - a (g, m, k), b (g, k, n), scale_a (g, m), scale_b (g, n), without offs.

    Scales of two axes may be one vector of as many. bias is (groups, n), one for each column of each group, of the result's
    element. Each product is that of `scaled_mm`: the sum (of integers exactly), then times scale_a, times scale_b, plus bias,
    each step rounded to f32, and stored as `dtype`, bf16 unless it says otherwise. offs is read on the host; the groups run one
    after another.

    Raises `InvalidProblemError` for shapes and offsets that do not fit.

    Source: torch._scaled_grouped_mm, torch.nn.functional.scaled_grouped_mm.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> a, b, one = np.int8([[1], [2], [3]]), np.int8([[[1]], [[10]]]), np.float32([1, 1, 1])
    >>> baracuda.scaled_grouped_mm(a, b, one, np.float32([[1], [2]]), [1, 3], dtype="f32").tolist()
    [[1.0], [40.0], [60.0]]
    """
    element = dtype or ElementKind.BF16
    check_bias(bias, element)
    groups = Groups.of(do, "scaled_grouped_mm", a, b, offs)
    y = do.result(groups.shapes(a, b)["y"], element)
    tensors = _with_shapes(do, groups, {"a": a, "b": b, "scale_a": scale_a, "scale_b": scale_b, "bias": bias, "y": y})
    _zero_beyond(do, groups, {"y": y})
    for part in groups(tensors):
        _product(do, groups, part, element, part["y"], preference)
    return y


def _product(
    do: Steps, groups: Groups, part: dict[str, Any], element: ElementKind, into: Any, preference: PlanPreference | None
) -> TensorRef:
    """One product with its scales and bias."""
    scales = _scales(part)
    bias = part.get("bias")
    added = None if bias is None else expanded_dims(bias, (*range(len(bias.shape) - 1), len(bias.shape)), len(bias.shape) + 1)
    shapes = {name: v.shape for name, v in scales.items()} | {"c_shape": None if added is None else added.shape}
    d = labelled(part["a"], part["b"], *groups.labels, element=element, **shapes)
    found: TensorRef = do.plan(MatmulPlan, d, {"a": part["a"], "b": part["b"], "c": added, **scales}, into, preference)
    return found


@composed(dy="... : float", **_GROUPED)
def scaled_grouped_mm_backward(
    do: Steps,
    dy: TensorRef,
    a: TensorRef,
    b: TensorRef,
    scale_a: TensorRef,
    scale_b: TensorRef,
    offs: Any = None,
    bias: Given = None,
    *,
    wrt: Wrt = None,
    preference: PlanPreference | None = None,
) -> Any:
    """The gradients of `scaled_grouped_mm`'s tensors, those named in `wrt` or of all that are given, as `scaled_mm_backward`'s.

    Those of a and b are of their values as real numbers, in the element of dy: s @ b.T and a.T @ s in each group, for
    s = dy * scale_a * scale_b, with the products in f32. A scale's is the sum, over the results that it is a factor of, of
    dy * (a @ b) by the other scale, in f32; the bias's that of dy. What belongs to no group has zeros.

    Examples
    --------
    >>> import numpy as np, baracuda
    >>> a, b, half = np.int8([[3], [7]]), np.int8([[[4, 5]]]), np.float32([0.5, 0.5])
    >>> [g.tolist() for g in baracuda.scaled_grouped_mm_backward(np.float32([[1, 2], [1, 1]]), a, b, half, half, [1])]
    [[[3.5], [0.0]], [[[0.75, 1.5]]], [21.0, 0.0], [6.0, 15.0]]
    """
    read = {"a": a, "b": b, "scale_a": scale_a, "scale_b": scale_b} | ({} if bias is None else {"bias": bias})
    names = chosen(wrt, tuple(read))
    groups = Groups.of(do, "scaled_grouped_mm_backward", a, b, offs)
    kinds = {name: _F32 if name.startswith("scale") else dy.kind for name in names}
    made = {name: do.rows(read[name].shape, kinds[name]) for name in names}
    tensors = _with_shapes(do, groups, {**read, "y": dy})
    results = _with_shapes(do, groups, {**read, **made})
    _zero_beyond(do, groups, {n: results[n] for n in names})
    kept = [{n: results[n] for n in names}] if groups.ends is None else [*groups({n: results[n] for n in names})]
    for part, into in zip(groups(tensors), kept, strict=True):
        _gradients(do, groups, part, into, preference)
    return one_or_all([made[n] for n in names])


def _gradients(do: Steps, groups: Groups, part: dict[str, Any], into: dict[str, Any], preference: PlanPreference | None) -> None:
    """Write the gradients of one product's tensors."""
    a, b, dy = (part[n] for n in ("a", "b", "y"))
    left, right, result = groups.labels
    scales = _scales(part)
    if {"a", "b"} & into.keys():
        wide = in_element(do, dy, _F32)
        s = do.run(mul, {"a": do.run(mul, {"a": wide, "b": scales["a_scale"]}), "b": scales["b_scale"]})
        real = {n: in_element(do, part[n], _F32) for n in "ab"}
        for n, (first, second, labels) in {
            "a": (s, real["b"], (result, right, left)),
            "b": (real["a"], s, (left, result, right)),
        }.items():
            if n in into:
                d = labelled(first, second, *labels, element=into[n].kind)
                do.plan(MatmulPlan, d, {"a": first, "b": second}, into[n], preference)
    if {"scale_a", "scale_b"} & into.keys():
        d = labelled(a, b, *groups.labels, element=_F32 if a.kind.is_float else ElementKind.S32)
        sums = in_element(do, do.plan(MatmulPlan, d, {"a": a, "b": b}, None, preference), _F32)
        products = do.run(mul, {"a": in_element(do, dy, _F32), "b": sums})
        for n, other, axis in (("scale_a", "b_scale", -1), ("scale_b", "a_scale", -2)):
            if n in into:
                do.run(sum_, {"x": do.run(mul, {"a": products, "b": scales[other]})}, into[n], axis=axis)
    if "bias" in into:
        do.run(sum_, {"x": dy}, into["bias"], axis=-2)
