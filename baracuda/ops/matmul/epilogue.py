"""What is done to a matrix product's sums before they are stored, as a formula."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from baracuda.core.elements import Category, ElementKind
from baracuda.formula import functions as f
from baracuda.formula.complex import Complex
from baracuda.formula.expr import Expr, cast, input_, param
from baracuda.formula.gradient import gradient
from baracuda.formula.graph import Graph, Port, substitute
from baracuda.lowering.matmul.problem import PRODUCT, PRODUCT_PARTS
from baracuda.ops.declaration.promotion import part
from baracuda.ops.elementwise import activations

if TYPE_CHECKING:
    from baracuda.ops.matmul.descriptor import MatmulDescriptor

#: Activations of an epilogue, by the formulas of the ops of the same names.
ACTIVATIONS: dict[str, Callable[[Expr], Expr]] = {
    "none": lambda x: x,
    "gelu": lambda x: activations.gelu_of(x, "none"),
    "gelu_tanh": lambda x: activations.gelu_of(x, "tanh"),
    "sigmoid": f.sigmoid,
    "tanh": f.tanh,
} | {
    name: getattr(activations, name)
    for name in (
        "relu", "relu6", "relu_squared", "quick_gelu", "silu", "mish", "selu", "hardswish", "hardsigmoid", "softsign",
        "logsigmoid",
    )
}  # fmt: skip
Value = Expr | Complex


def derivative(activation: str, kind: ElementKind) -> Callable[[Expr, Expr], Expr]:
    """(dy, z) -> dy * activation'(z), by differentiating the activation's formula."""
    z, dy = input_("z", kind), input_("dy", kind)
    ports = Port("z", kind), Port("y", kind)
    slope = gradient(Graph(ports[:1], ((ports[1], ACTIVATIONS[activation](z)),)), ["z"], {"y": "dy"})
    ((_, expr),) = slope.outputs
    return lambda cotangent, at: substitute(expr, {dy: cotangent, z: at})


@cache
def epilogue_graph(d: MatmulDescriptor) -> Graph:
    """From the product and the tensors of a descriptor to its results. Every port varies along all axes."""
    work = d.accumulator if d.conjugates else ElementKind.F32 if d.y_scale is not None else d.element.compute
    inputs: list[Port] = []

    def read(name: str, kind: ElementKind) -> Value:
        if kind.category is not Category.COMPLEX:
            inputs.append(Port(name, kind))
            return cast(input_(name, kind), work)
        halves = [Port(f"{name}.{p}", part(kind)) for p in ("re", "im")]
        inputs.extend(halves)
        return Complex(*(input_(p.name, p.kind) for p in halves))

    def whole(name: str) -> Expr:
        inputs.append(Port(name, d.zero_element))
        return input_(name, d.zero_element)

    value = _product(d)
    for zero, total in (("a_zero", "b_sum"), ("b_zero", "a_sum")):
        if getattr(d, zero) is not None:
            value = value - whole(zero) * whole(total)
    value = cast(value, work) if isinstance(value, Expr) else value
    for name in ("a_scale", "b_scale"):
        if getattr(d, name) is not None and not d.of_blocks:
            value = value * read(name, d.scale_element)
    value = _scaled(value, d.alpha, "alpha", work)
    if d.has_c and d.beta != 0:
        value = value + _scaled(read("c", d.element), d.beta, "beta", work)
    if d.has_bias:
        value = value + read("bias", d.element)
    results: dict[str, Value] = {}
    if d.gradient:
        z = read("z", d.element)
        assert isinstance(value, Expr)
        assert isinstance(z, Expr)
        results["y"] = derivative(d.activation, work)(value, z)
    else:
        results["y"] = ACTIVATIONS[d.activation](value) if isinstance(value, Expr) else value
        if d.y_scale is not None:
            assert isinstance(value, Expr)
            scale = read("y_scale", d.scale_element)
            assert isinstance(scale, Expr)
            code = f.rint(value / scale)
            code = code if d.y_zero is None else code + cast(whole("y_zero"), work)
            limits = np.iinfo(d.element.numpy)
            results["y"] = cast(f.clamp(code, float(limits.min), float(limits.max)), d.element.compute)
        if d.saves:
            results["z_saved"] = value
    outputs = [pair for name, result in results.items() for pair in _written(name, result, d.element)]
    product_ports = [Port(n, d.accumulator) for n in (PRODUCT_PARTS if isinstance(value, Complex) else (PRODUCT,))]
    return Graph((*product_ports, *inputs), tuple(outputs))


def _product(d: MatmulDescriptor) -> Value:
    """The accumulators."""
    if d.a_element.category is not Category.COMPLEX:
        return input_(PRODUCT, d.accumulator)
    re, im = (input_(name, d.accumulator) for name in PRODUCT_PARTS)
    if d.conjugate_a and d.conjugate_b:
        return Complex(re, -im)
    if d.conjugate_a or d.conjugate_b:  # the conjugated factor is read with its parts exchanged, which is i times it
        return Complex(im, -re)
    return Complex(re, im)


def _scaled(value: Value, factor: complex, name: str, work: ElementKind) -> Value:
    """The value by a factor that is given at run time, but for 1."""
    if factor == 1:
        return value
    re = param(name, work)
    if isinstance(factor, complex) and factor.imag != 0:
        assert isinstance(value, Complex)
        return value * Complex(re, param(f"{name}.im", work))
    return value * re


def _written(name: str, value: Value, kind: ElementKind) -> list[tuple[Port, Expr]]:
    if isinstance(value, Complex):
        return [(Port(f"{name}.{p}", part(kind)), e) for p, e in (("re", value.re), ("im", value.im))]
    return [(Port(name, kind), value)]
