"""Matrix products by the arithmetic contract, on NumPy arrays, and one way to run a `MatmulPlan` on any machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from baracuda.cli.verify.placement import TensorPlacement, place
from baracuda.cli.verify.session import select_for
from baracuda.core.elements import Category
from baracuda.core.elements import ElementKind as K
from baracuda.core.sku import PlanPreference
from baracuda.formula.exact_fma import fma32, fma64
from baracuda.formula.integer_products import integer_product
from baracuda.ops.matmul.descriptor import MatmulDescriptor
from baracuda.ops.matmul.plan import MatmulArgs, MatmulPlan
from tests.machine import Machine

POISON = 0xFF


def values(rng: np.random.Generator, shape: tuple[int, ...], kind: K) -> np.ndarray:
    """Elements of a kind, spread over a few binades so that roundings and cancellations occur."""
    if kind.is_integer:
        info = np.iinfo(kind.numpy)
        return rng.integers(info.min, info.max, shape, dtype=kind.numpy, endpoint=True)
    real = rng.standard_normal(shape) * np.exp2(rng.integers(-3, 4, shape))
    if kind.category is Category.COMPLEX:
        real = real + 1j * rng.standard_normal(shape)
    return real.astype(kind.numpy)


def multiply_add(kind: K) -> Any:
    """x, y, s -> x * y + s in an accumulator's kind: fused for floats, wrapping for integers."""
    if kind is K.F32:
        return fma32
    return fma64 if kind is K.F64 else lambda x, y, s: x * y + s


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b of (..., m, k) and (..., k, n), in the accumulator's kind, by the default order: of narrow floats the integer
    product, else for each element one chain in rising k from +0."""
    element = K.from_numpy(a.dtype)
    return integer_product(a, b, 23) if element.is_float and element.bits < 32 else chains(a, b)


def chains(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same, by chains."""
    kind = K.from_numpy(a.dtype).compute
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    with np.errstate(all="ignore"):
        if kind.category is Category.COMPLEX:
            half = K.F32 if kind is K.C64 else K.F64
            fma = multiply_add(half)
            re, im = np.zeros(shape, half.numpy), np.zeros(shape, half.numpy)
            for k in range(a.shape[-1]):
                x, y = a[..., :, k, None], b[..., None, k, :]
                re = fma(-x.imag, y.imag, fma(x.real, y.real, re))
                im = fma(x.imag, y.real, fma(x.real, y.imag, im))
            result = np.empty(shape, kind.numpy)
            result.real, result.imag = re, im
            return result
        fma, dtype = multiply_add(kind), kind.numpy
        total = np.zeros(shape, dtype)
        for k in range(a.shape[-1]):
            total = fma(a[..., :, k, None].astype(dtype), b[..., None, k, :].astype(dtype), total)
        return total


def same_bits(actual: np.ndarray, expected: np.ndarray) -> bool:
    """Whether two arrays have the same bits, any NaN standing for any other."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    parts = [(actual, expected)]
    if np.iscomplexobj(actual):
        parts = [(actual.real, expected.real), (actual.imag, expected.imag)]
    for x, y in parts:
        x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
        word = f"u{x.dtype.itemsize}"
        nan = (x != x) & (y != y)
        if not np.array_equal(np.where(nan, 0, x.view(word)), np.where(nan, 0, y.view(word))):
            return False
    return True


def run(
    machine: Machine,
    d: MatmulDescriptor,
    tensors: Mapping[str, np.ndarray],
    layouts: Mapping[str, str] | str = "contiguous",
    *,
    bind: bool = True,
    preference: PlanPreference | None = None,
) -> dict[str, np.ndarray]:
    """The results of a plan whose tensors lie as `layouts` says, all or by name, inside guards that it must not touch.

    `bind` selects for these layouts; without it the plan is selected for contiguous tensors, and runs on others.
    """
    held, placements, args = {}, {}, {}
    for number, spec in enumerate(MatmulPlan.tensors):
        if spec.presence(d) is False:
            continue
        layout = layouts if isinstance(layouts, str) else layouts.get(spec.name, "contiguous")
        shape, kind = spec.expected_shape(d), spec.expected_kind(d)
        placement = place(shape, kind, layout, writable=spec.written, number=number)
        block = placement.block(POISON)
        if not spec.written:
            view = placement.view(block)
            view[...] = tensors[spec.name]
        held[spec.name], placements[spec.name] = machine.upload(block), placement
        args[spec.name] = held[spec.name].tensor(placement, writable=spec.written)
    matmul_args = MatmulArgs(**{s.name: args.get(s.name) for s in MatmulPlan.tensors})
    if bind:
        plan = select_for(MatmulPlan, machine.stream, d, matmul_args, preference)
    else:
        plan = MatmulPlan.select(machine.stream, d, preference)
    workspace = machine.workspace(plan.workspace_size())
    if bind:
        plan.bind(machine.stream, workspace, matmul_args)()
    else:
        plan.run(machine.stream, workspace, matmul_args)
    machine.synchronize()
    results = {}
    for spec in MatmulPlan.tensors:
        if spec.written and spec.name in held:
            block = held[spec.name].download()
            _check_guards(block, placements[spec.name])
            results[spec.name] = placements[spec.name].view(block).copy()
    return results


def _check_guards(block: np.ndarray, placement: TensorPlacement) -> None:
    """Raise unless every byte around and between the elements is still poison."""
    size, mask = placement.kind.itemsize, placement.block(0)
    steps = tuple(s * size for s in placement.strides)
    elements: np.ndarray = np.ndarray(placement.shape, f"V{size}", mask.data, placement.offset, steps)
    elements[...] = np.void(b"\x01" * size)
    assert (block[mask == 0] == POISON).all()
