"""Running products, recurrences and sums of exponentials of complex numbers: scans of states of both parts."""

from __future__ import annotations

from baracuda.formula import scan_gradients
from baracuda.formula import scans as s
from baracuda.formula.complex import Complex
from baracuda.formula.complex_functions import FUNCTIONS
from baracuda.formula.expr import Expr, cast, const, fma, position, select
from baracuda.formula.functions import cos, equal, exp, maximum, row_length, sin, sum_
from baracuda.formula.scans import State


def _product(a: State, b: State) -> State:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _affine(a: State, b: State) -> State:
    product = _product(b[:2], a[2:])
    return *_product(b[:2], a[:2]), product[0] + b[2], product[1] + b[3]


def cumprod(x: Complex, *, reverse: bool = False, exclusive: bool = False) -> Complex:
    """The running product (ac - bd) + (ad + bc)i along the row. Exclusive: begins with 1."""
    combine = s.combination(_product, (1.0, 0.0), (x.kind, x.kind))
    components = (s.scan(combine, (x.re, x.im), i, reverse=reverse, exclusive=exclusive) for i in range(2))
    return Complex(*components)


def linear_recurrence(a: Complex, b: Complex, *, reverse: bool = False, exclusive: bool = False) -> Complex:
    """h_i = a_i * h_(i-1) + b_i along the row, where h before the first element is 0. Exclusive: h_(i-1)."""
    combine = s.combination(_affine, (1.0, 0.0, 0.0, 0.0), (a.kind,) * 4)
    operands = (a.re, a.im, b.re, b.im)
    components = (s.scan(combine, operands, i, reverse=reverse, exclusive=exclusive) for i in (2, 3))
    return Complex(*components)


def cumprod_backward(dy: Complex, x: Complex, *, reverse: bool, exclusive: bool) -> Complex:
    """The gradient of `cumprod`: the conjugate of the product before an element, times what reaches it."""
    factor, back = x.conjugate(), not reverse
    if exclusive:
        reaching = linear_recurrence(factor, dy, reverse=back, exclusive=True)
    else:
        reaching = dy + linear_recurrence(factor, factor * dy, reverse=back, exclusive=True)
    return cumprod(factor, reverse=reverse, exclusive=True) * reaching


def prod(x: Complex) -> Complex:
    """The product of the row, the last of its running products; 1 of no element."""
    n = row_length(x.kind)
    last = equal(cast(position(), x.kind) + 1.0, n)
    running = cumprod(x)
    components = (sum_(select(last, part, 0.0)) for part in (running.re, running.im))
    none = equal(n, 0.0)
    return Complex(*(select(none, const(one, x.kind), part) for one, part in zip((1.0, 0.0), components, strict=True)))


def prod_backward(dy: Complex, x: Complex) -> Complex:
    """dy times the conjugate of the product of the others."""
    factor = x.conjugate()
    return dy * (cumprod(factor, exclusive=True) * cumprod(factor, reverse=True, exclusive=True))


def _scaled_sum(a: State, b: State) -> State:
    """(m, re, im) stands for (re + i im) * e**m; m is the larger one's."""
    difference = select(equal(a[0], b[0]), 0.0, a[0] - b[0])  # equal infinities have no difference
    scale = exp(-abs(difference))
    earlier = difference >= 0.0
    sums = (fma(select(earlier, y, x), scale, select(earlier, x, y)) for x, y in zip(a[1:], b[1:], strict=True))
    return maximum(a[0], b[0]), *sums


def _scaled(x: Complex, *, reverse: bool, exclusive: bool) -> tuple[Expr, Complex]:
    combine = s.combination(_scaled_sum, (-float("inf"), 0.0, 0.0), (x.kind,) * 3)
    operands = (x.re, cos(x.im), sin(x.im))
    largest, *sums = (s.scan(combine, operands, i, reverse=reverse, exclusive=exclusive) for i in range(3))
    return largest, Complex(*sums)


def logcumsumexp(x: Complex, *, reverse: bool = False, exclusive: bool = False) -> Complex:
    """log of the running sum of e**x along the row, scaled by the largest real part. Exclusive: begins with -inf."""
    largest, total = _scaled(x, reverse=reverse, exclusive=exclusive)
    log_total: Complex = FUNCTIONS["log"](total)
    return Complex(log_total.re + largest, log_total.im)


def logcumsumexp_backward(dy: Complex, x: Complex, *, reverse: bool, exclusive: bool) -> Complex:
    """dx_j is the sum over later i of dy_i * conj(e**(x_j - y_i)): a recurrence with the ratios of the largest elements."""
    largest, total = _scaled(x, reverse=reverse, exclusive=exclusive)
    own, before = s.sibling(largest, 0), s.sibling(largest, 0, exclusive=True)
    shares = dy / total.conjugate()
    reaching = Complex(*(scan_gradients.reaching(largest, d, scan_gradients.ratio(before, own)) for d in (shares.re, shares.im)))
    size = scan_gradients.ratio(x.re, own)
    return reaching * Complex(size * cos(x.im), -(size * sin(x.im)))
