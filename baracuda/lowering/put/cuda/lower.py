"""Puts on CUDA: zeros, maxima of numbers, and the writes, a launch each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.codegen.cuda.prelude import STORAGE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.core.errors import UnsupportedError
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, offset, unravel
from baracuda.lowering.put.problem import INDEX, OPERANDS, Put, X, Y
from baracuda.lowering.scatter.cuda.sums import _width
from baracuda.lowering.scatter.problem import Keys, TensorLayout
from baracuda.lowering.sort.cuda.order import UnboundKernel, lines, strides
from baracuda.runtime.program import Lowered

_THREADS = 256
#: Destinations to a position up to which all are set to 0, neighbours together, rather than each by itself.
_ALL = 8


def ways(problem: Put, target: Target) -> Iterator[Lowered]:
    """The launches of a normalised problem."""
    yield lower(problem)


@lru_cache(maxsize=1024)
def lower(problem: Put) -> Lowered:
    """The launches of a normalised problem, the same for every target."""
    if problem.walk.columns >= INDEX_LIMIT:
        raise UnsupportedError(f"{problem.walk.columns} columns of one destination; expected fewer than {INDEX_LIMIT}")
    words = Words(OPERANDS, ())
    code = _Code(problem, words)
    units = [code.writes()] if problem.once else [code.zeros(), code.maxima(), code.writes()]
    schedule = f"{'put' if problem.once else 'maxima, put'} x{code.width}"
    return Lowered(tuple(u.launch(words) for u in units), tuple(words.values), problem.workspace_bytes, schedule)


def key_function(keys: Keys, index: int, words: Words) -> str:
    """The function `key_of(W, p)`: the number of a position's destination; their count for one that goes nowhere."""
    kind = "int" if keys.index.kind is ElementKind.S32 else "i64"
    at = offset(strides(keys.index.outer, words, general=keys.index.general), "c")
    steps = [f" + c{a} * {words.unsigned(s)}" for a, s in enumerate(keys.steps) if s or keys.index.general]
    scale = "" if keys.scale == 1 else f" * {words.unsigned(keys.scale)}"
    body = [
        *unravel("p", keys.shape, words, "c", wide=False),
        f"{'' if keys.wrap else 'const '}i64 value = ((const {kind}*)W.w[{index}])[{at}];",
        f"const i64 last = {words.signed(keys.extent - 1)};",
        *(["if (value < 0) value += last + 1;"] if keys.wrap else []),
        *([f"if (value == {words.signed(keys.skip)}) return {words.unsigned(keys.count)};"] if keys.skip is not None else []),
        f"return (unsigned)(value < 0 ? 0 : value > last ? last : value){scale}{''.join(steps)};",
    ]
    return f"__device__ __forceinline__ unsigned key_of(const Words& W, unsigned p) {{\n{lines(body)}\n}}\n"


class _Code:
    def __init__(self, problem: Put, words: Words) -> None:
        self.problem, self.words = problem, words
        self.width = _width(problem.walk)
        self.vectors = problem.walk.columns // self.width

    def _key(self) -> str:
        return key_function(self.problem.keys, INDEX, self.words)

    @property
    def _numbers(self) -> str:
        return f"unsigned* const numbers = (unsigned*)W.w[{OPERANDS}];"

    def zeros(self) -> UnboundKernel:
        """Of the destinations that keys lead to, or of all where they are not many more."""
        keys, words = self.problem.keys, self.words
        every = keys.count <= _ALL * keys.positions
        n = keys.count if every else keys.positions
        nowhere = f"if (d < {words.unsigned(keys.count)}) " if keys.skip is not None and not every else ""
        body = f"""
  const unsigned p = blockIdx.x * {_THREADS}u + threadIdx.x;
  if (p >= {words.unsigned(n)}) return;
  {self._numbers}
  const unsigned d = {"p" if every else "key_of(W, p)"};
  {nowhere}numbers[d] = 0u;"""
        return UnboundKernel("" if every else self._key(), body, (-(-n // _THREADS), 1, 1), _THREADS)

    def maxima(self) -> UnboundKernel:
        keys, words = self.problem.keys, self.words
        nowhere = f"if (d < {words.unsigned(keys.count)}) " if keys.skip is not None else ""
        body = f"""
  const unsigned p = blockIdx.x * {_THREADS}u + threadIdx.x;
  if (p >= {words.unsigned(keys.positions)}) return;
  {self._numbers}
  const unsigned d = key_of(W, p);
  {nowhere}atomicMax(numbers + d, p + 1u);"""
        return UnboundKernel(self._key(), body, (-(-keys.positions // _THREADS), 1, 1), _THREADS)

    def writes(self) -> UnboundKernel:
        """A thread for some columns of a position."""
        words, problem, s = self.words, self.problem, self.problem.walk
        total = s.keys.positions * self.vectors
        wide = total + _THREADS >= INDEX_LIMIT
        kind = "i64" if wide else "unsigned"
        functions = f"constexpr int V = {self.width};\ntypedef {STORAGE_TYPE[s.y.kind]} T;\n" + self._key()
        functions += self._row("x_row", problem.x, s.keys.shape) + self._row("y_row", s.y, s.destinations)
        functions += self._column("x_column", problem.x) + self._column("y_column", s.y)
        vectors = words.signed(self.vectors) if wide else words.unsigned(self.vectors)
        quotient = f"t / {vectors}" if wide else f"divide(t, {words.divisor(self.vectors)})"
        if self.vectors == 1:
            quotient = "t"
        lines_ = [
            f"const {kind} t = ({kind})blockIdx.x * {_THREADS} + threadIdx.x;",
            f"if (t >= {words.signed(total) if wide else words.unsigned(total)}) return;",
            f"const {kind} q = {quotient};",
            f"const unsigned p = (unsigned)q, e = (unsigned)(t - q * {vectors}) * V, d = key_of(W, p);",
        ]
        conditions = [f"d < {words.unsigned(s.keys.count)}"] if s.keys.skip is not None else []
        if not problem.once:
            lines_.append(self._numbers)
            conditions.append("numbers[d] == p + 1u")
        lines_ += [
            f"const bool last = {' && '.join(conditions) or 'true'};",
            f"T* const x = (T*)W.w[{X}] + x_row(W, p) + x_column(W, e);",
            "Vec<T, V> value;",
        ]
        y = f"(T*)W.w[{Y}] + y_row(W, d) + y_column(W, e)"
        if problem.reading:
            lines_ += ["for (int v = 0; v < V; ++v) value.v[v] = T(0);", f"if (last) load<V>(value, {y});", "store<V>(x, value);"]
        else:
            lines_ += ["if (!last) return;", "load<V>(value, x);", f"store<V>({y}, value);"]
        return UnboundKernel(functions, "\n".join(lines_), (-(-total // _THREADS), 1, 1), _THREADS)

    def _row(self, name: str, tensor: TensorLayout, shape: tuple[int, ...]) -> str:
        body = unravel("p", shape, self.words, "c", wide=False)
        body.append(f"return {offset(strides(tensor.outer, self.words, general=tensor.general), 'c')};")
        return f"__device__ __forceinline__ i64 {name}(const Words& W, unsigned p) {{\n{lines(body)}\n}}\n"

    def _column(self, name: str, tensor: TensorLayout) -> str:
        words, inner = self.words, self.problem.walk.inner
        if tensor.general:
            unit: list[str | None] = [words.signed(i) for i in tensor.inner]
        else:
            unit = ["1" if i == 1 else None if i == 0 else words.signed(i) for i in tensor.inner]
        body = [*unravel("e", inner, words, "c", wide=False), f"return {offset(unit, 'c')};"]
        return f"__device__ __forceinline__ i64 {name}(const Words& W, unsigned e) {{\n{lines(body)}\n}}\n"
