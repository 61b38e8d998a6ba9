"""A transform as passes over memory, the same on every device: each transforms rows that are short enough, and what lies between
two passes is in the workspace, as complex numbers without gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from baracuda.core.elements import ElementKind
from baracuda.formula.butterflies import radices
from baracuda.lowering.fft.problem import Fourier, Mode, convolution_length, divided, is_direct, most


class Form(Enum):
    """What a pass reads or writes.

    BUFFER: numbers of the workspace.
    COMPLEX: numbers of x or y, complex or real.
    PAIRS: two real numbers for each complex one.
    HALF: of x, the half of a row that stands for the whole, of y, that half.
    """

    BUFFER = "buffer"
    COMPLEX = "complex"
    PAIRS = "pairs"
    HALF = "half"

    __hash__ = object.__hash__


@dataclass(frozen=True)
class Source:
    """Where a pass reads.

    Attributes
    ----------
    buffer, length
        Of BUFFER: which one, and how many numbers a row of it has.
    swap
        Whether real and imaginary parts are exchanged.
    conjugate, weighted
        Of HALF, as in the problem.
    even
        Of HALF: whether n is even, so that a number is made of two of x.
    chirp
        How many numbers are read and multiplied by the chirp of so many; the others are 0. 0: all, without one.
    """

    form: Form
    buffer: int = 0
    length: int = 0
    swap: bool = False
    conjugate: bool = False
    weighted: bool = False
    even: bool = False
    chirp: int = 0


@dataclass(frozen=True)
class Target:
    """Where a pass writes: first the factor, then what the form says.

    Attributes
    ----------
    filter
        Whether it is multiplied by the transform of the conjugated chirp of so many, and its parts exchanged then.
    chirp
        Where not 0: its parts are exchanged, it is multiplied by the chirp of so many, and only so many are kept.
    swap
        Whether the parts are exchanged last.
    unpacked
        Of HALF: whether a result is made of two, as n is even; then in the same pass, or of a buffer.
    """

    form: Form
    buffer: int = 0
    length: int = 0
    filter: int = 0
    chirp: int = 0
    swap: bool = False
    conjugate: bool = False
    weighted: bool = False
    unpacked: bool = False
    scale: float = 1.0


@dataclass(frozen=True)
class Axis:
    """Rows of a pass within one of the problem's: how many, and the steps between them where it reads and writes."""

    extent: int
    source: int
    target: int


@dataclass(frozen=True)
class Pass:
    """Transforms of `length` numbers, `step` apart where they are read and `to_step` where they are written; with `roots` each
    result k is multiplied by the root of unity of this order to the power of k times the place along the last axis. `length` 0
    says that nothing is transformed, only unpacked."""

    length: int
    kind: ElementKind
    axes: tuple[Axis, ...]
    step: int
    to_step: int
    source: Source
    target: Target
    roots: int = 0

    @property
    def name(self) -> str:
        """Its radices, for people."""
        return "x".join(map(str, radices(self.length) or (1,))) if self.length else "unpack"


def passes(problem: Fourier) -> tuple[list[Pass], list[int]]:
    """The passes of a normalised problem, and how many numbers a row of each buffer has."""
    made = _Passes(problem)
    return made.passes, made.buffers


class _Passes:
    def __init__(self, problem: Fourier) -> None:
        self.problem, self.kind = problem, problem.kind
        self.passes: list[Pass] = []
        self.buffers = [0, 0]
        self.last = 1  # the buffer written last
        c = problem.length
        alone = is_direct(c) and c <= most(self.kind)
        target = self._target()
        if target.unpacked and not alone:
            plain = Target(Form.BUFFER, length=c)
            buffer = self._transform(c, self._source(), plain)
            source = Source(Form.BUFFER, buffer, c)
            self.passes.append(Pass(0, self.kind, (), 1, 1, source, target))
        else:
            self._transform(c, self._source(), target)

    def _source(self) -> Source:
        p = self.problem
        if p.mode is Mode.COMPLEX:
            return Source(Form.COMPLEX, swap=p.inverse)
        if p.mode is Mode.REAL:
            return Source(Form.PAIRS if p.packed else Form.COMPLEX)
        return Source(Form.HALF, swap=True, conjugate=not p.inverse, weighted=p.weighted, even=p.packed)

    def _target(self) -> Target:
        p = self.problem
        if p.mode is Mode.COMPLEX:
            return Target(Form.COMPLEX, swap=p.inverse, scale=p.scale)
        if p.mode is Mode.HALF:
            return Target(Form.PAIRS if p.packed else Form.COMPLEX, swap=True, scale=p.scale)
        scale = p.scale / 2 if p.packed else p.scale
        return Target(Form.HALF, conjugate=p.inverse, weighted=p.weighted, unpacked=p.packed, scale=scale)

    def _transform(self, c: int, source: Source, target: Target) -> int:
        """The passes of one complex transform; gives the buffer that the last one wrote."""
        if is_direct(c):
            return self._rows(c, c, (), 1, 1, source, target)
        m = convolution_length(c)
        buffer = self._rows(m, m, (), 1, 1, replace(source, chirp=c), Target(Form.BUFFER, length=m, filter=c))
        return self._rows(m, m, (), 1, 1, Source(Form.BUFFER, buffer, m), replace(target, chirp=c))

    def _rows(self, n: int, whole: int, axes: tuple[Axis, ...], step: int, to: int, source: Source, target: Target) -> int:
        if n <= most(self.kind):
            return self._add(Pass(n, self.kind, axes, step, to, source, target))
        n1, n2 = divided(n, self.kind)
        columns = (*(replace(a, target=a.source) for a in axes), Axis(n2, step, step))
        middle = Target(Form.BUFFER, length=whole)
        buffer = self._add(Pass(n1, self.kind, columns, n2 * step, n2 * step, source, middle, n))
        rows = (*axes, Axis(n1, n2 * step, to))
        return self._rows(n2, whole, rows, step, n1 * to, Source(Form.BUFFER, buffer, whole), target)

    def _add(self, made: Pass) -> int:
        if made.target.form is Form.BUFFER:
            self.last = 1 - self.last
            made = replace(made, target=replace(made.target, buffer=self.last))
            self.buffers[self.last] = max(self.buffers[self.last], made.target.length)
        self.passes.append(made)
        return self.last
