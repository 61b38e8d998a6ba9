"""How a pass reads and writes its numbers, for every device: written once, over the operations that a device has."""

from __future__ import annotations

from typing import Any, Protocol

from baracuda.formula.butterflies import Arithmetic, conjugate_product, product
from baracuda.lowering.fft.passes import Form, Pass, Source, Target
from baracuda.lowering.fft.problem import Fourier

#: A number: what stands for its real and imaginary parts.
Number = tuple[Any, Any]


class Machine(Arithmetic[Any], Protocol):
    """What a device has beside arithmetic: places in a row, which are whole numbers, and memory."""

    def place(self, i: Any, times: int, plus: int) -> Any:
        """i * times + plus."""

    def from_(self, whole: int, i: Any) -> Any:
        """whole - i."""

    def below(self, i: Any, whole: int) -> Any:
        """Whether i < whole."""

    def equal(self, i: Any, whole: int) -> Any:
        """Whether i is a number."""

    def pick(self, condition: Any, a: Any, b: Any) -> Any:
        """a where a condition holds, b elsewhere; places or floats."""

    def constant(self, value: float) -> Any:
        """A float."""

    def scaled(self, x: Any) -> Any:
        """x times the scale of the pass."""

    def load(self, i: Any, exists: Any) -> Number:
        """Element i of the row of x, 0 where it does not exist; None says that it does. The imaginary part of a real one is
        None."""

    def store(self, i: Any, number: Number, exists: Any) -> None:
        """Set element i of the row of y; the imaginary part is None where y is real."""

    def load_pair(self, i: Any) -> Number:
        """Elements 2 i and 2 i + 1 of a real row of x, which lie side by side."""

    def store_pair(self, i: Any, number: Number, exists: Any) -> None:
        """The same of y."""

    def load_buffer(self, source: Source, i: Any) -> Number: ...

    def store_buffer(self, target: Target, i: Any, number: Number, exists: Any) -> None: ...

    def table(self, name: tuple[Any, ...], i: Any) -> Number:
        """Entry i of a constant table."""

    def root(self, order: int, i: Any) -> Number:
        """w_order(i), by rule 4 of the problem."""


class Access:
    """The reads and writes of one pass."""

    def __init__(self, problem: Fourier, pass_: Pass, m: Machine) -> None:
        self.problem, self.pass_, self.m = problem, pass_, m

    # --- reading ------------------------------------------------------------------------------------------------------

    def read(self, i: Any) -> Number:
        """Number i of what is transformed, i counted along the whole row."""
        source, m = self.pass_.source, self.m
        if not source.chirp:
            return self._source(i)
        inside = m.below(i, source.chirp)
        place = m.pick(inside, i, m.place(i, 0, 0))
        z = product(m, self._source(place), m.table(("chirp", source.chirp), place))
        zero = m.constant(0.0)
        return m.pick(inside, z[0], zero), m.pick(inside, z[1], zero)

    def _source(self, i: Any) -> Number:
        source, m = self.pass_.source, self.m
        if source.form is Form.BUFFER:
            return m.load_buffer(source, i)
        if source.form is Form.COMPLEX:
            re, im = self._element(i, self.problem.length)
        elif source.form is Form.PAIRS:
            extent = self.problem.n
            if self.problem.x.extent >= extent and self.problem.x.pairs(general=self.problem.general):
                re, im = m.load_pair(i)
            else:
                re, _ = self._element(m.place(i, 2, 0), extent, real=True)
                im, _ = self._element(m.place(i, 2, 1), extent, real=True)
        else:
            re, im = self._half(i)
        return (im, re) if source.swap else (re, im)

    def _element(self, i: Any, wanted: int, *, real: bool = False) -> Number:
        """Element i of x, where there may be fewer than are wanted."""
        m, extent = self.m, self.problem.x.extent
        exists = None if extent >= wanted else m.below(i, extent)
        re, im = m.load(i, exists)
        return (re, m.constant(0.0) if im is None and not real else im)

    def _half(self, i: Any) -> Number:
        m, n, half = self.m, self.problem.n, self.problem.n // 2
        if not self.pass_.source.even:
            first = m.below(i, half + 1)
            re, im = self._of_half(m.pick(first, i, m.from_(n, i)))
            return re, m.pick(first, im, m.neg(im))
        a, b = self._of_half(i), self._of_half(m.from_(half, i))
        e = m.add(a[0], b[0]), m.sub(a[1], b[1])
        d = m.sub(a[0], b[0]), m.add(a[1], b[1])
        o = conjugate_product(m, d, m.root(n, i))
        return m.sub(e[0], o[1]), m.add(e[1], o[0])

    def _of_half(self, k: Any) -> Number:
        """Element k of the half of a row."""
        m, n, source = self.m, self.problem.n, self.pass_.source
        re, im = self._element(k, n // 2 + 1)
        if source.conjugate:
            im = m.neg(im)
        single, zero = m.equal(k, 0), m.constant(0.0)
        im = m.pick(single, zero, im)
        if n % 2 == 0:
            last = m.equal(k, n // 2)
            im = m.pick(last, zero, im)
        if source.weighted:
            weight = m.pick(single, m.constant(1.0), m.constant(0.5))
            if n % 2 == 0:
                weight = m.pick(last, m.constant(1.0), weight)
            re, im = m.mul(re, weight), m.mul(im, weight)
        return re, im

    # --- writing ------------------------------------------------------------------------------------------------------

    def write(self, k: Any, z: Number) -> None:
        """Result k, counted along the whole row."""
        target, m = self.pass_.target, self.m
        kept, place = None, k
        if target.filter:
            z = product(m, z, m.table(("filter", target.filter), k))
            z = z[1], z[0]
        if target.chirp:
            kept = m.below(k, target.chirp)
            place = m.pick(kept, k, m.place(k, 0, 0))
            z = product(m, (z[1], z[0]), m.table(("chirp", target.chirp), place))
        if target.form is Form.BUFFER:
            m.store_buffer(target, k, z, kept)
            return
        if target.swap:
            z = z[1], z[0]
        if target.form is Form.HALF:
            m.store(k, self._finished(k, z), m.below(k, self.problem.n // 2 + 1))
        elif target.form is Form.PAIRS:
            z = m.scaled(z[0]), m.scaled(z[1])
            if self.problem.y.pairs(general=self.problem.general):
                m.store_pair(k, z, kept)
                return
            m.store(m.place(k, 2, 0), (z[0], None), kept)
            m.store(m.place(k, 2, 1), (z[1], None), kept)
        else:
            re = m.scaled(z[0])
            m.store(k, (re, m.scaled(z[1]) if self.problem.y.complex else None), kept)

    def _finished(self, k: Any, z: Number) -> Number:
        m, n, target = self.m, self.problem.n, self.pass_.target
        re, im = m.scaled(z[0]), m.scaled(z[1])
        if target.weighted:
            weight = m.pick(m.equal(k, 0), m.constant(1.0), m.constant(2.0))
            if n % 2 == 0:
                weight = m.pick(m.equal(k, n // 2), m.constant(1.0), weight)
            re, im = m.mul(re, weight), m.mul(im, weight)
        return re, m.neg(im) if target.conjugate else im

    def unpack(self, k: Any, a: Number, b: Number) -> None:
        """Result k of a real row of even length, from numbers k and n/2 - k of the transform of n/2 (n/2 counts as 0)."""
        m = self.m
        e = m.add(a[0], b[0]), m.sub(a[1], b[1])
        d = m.sub(a[0], b[0]), m.add(a[1], b[1])
        o = product(m, d, m.root(self.problem.n, k))
        z = m.add(e[0], o[1]), m.sub(e[1], o[0])
        m.store(k, self._finished(k, z), None)
