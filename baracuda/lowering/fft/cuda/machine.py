"""The operations of passes as C++."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from baracuda.codegen.cuda.prelude import STORAGE_TYPE
from baracuda.core.elements import ElementKind
from baracuda.formula.roots import cosine_of, split_bits
from baracuda.lowering.fft.access import Number
from baracuda.lowering.fft.passes import Pass, Source, Target
from baracuda.lowering.fft.problem import EXACT, Fourier, X, Y
from baracuda.lowering.fft.tables import name_of, table
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.runtime.program import Constant

#: The longest transform whose roots between columns and rows are a table of their own: beyond it each is made of two.
TABLED = 1 << 22

#: Bytes of roots that stay in a second cache only where other numbers pass by, at least and at most.
_ROOTS = 1 << 20, 16 << 20

#: What kernels say of complex numbers and of rows.
DEFINITIONS = """
typedef {type} R;
struct alignas(2 * sizeof(R)) C {{ R re, im; }};
struct alignas(16) C128 {{ double re, im; }};
struct Row {{ const char* x; char* y; i64 batch; int from, to, column; }};
// Numbers that are not needed again, which the second cache gives up before others.
__device__ __forceinline__ C load_once(const C* p) {{ const {type}2 v = __ldcs((const {type}2*)p); return C{{v.x, v.y}}; }}
__device__ __forceinline__ void store_once(C* p, C z) {{ __stcs(({type}2*)p, make_{type}2(z.re, z.im)); }}
"""


class Constants:
    """The tables that the kernels of a program read, each once among its words."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.found: dict[tuple[Any, ...], tuple[str, Constant]] = {}

    def address(self, name: tuple[Any, ...]) -> str:
        if name not in self.found:
            text = self.words.word(0)
            self.found[name] = text, Constant(len(self.words.values) - 1, name, table)
        return self.found[name][0]

    @property
    def all(self) -> tuple[Constant, ...]:
        return tuple(constant for _, constant in self.found.values())


class CudaMachine:
    """Writes statements to `lines`; numbers and places are the names of constants."""

    def __init__(self, problem: Fourier, pass_: Pass, words: Words, constants: Constants, buffers: tuple[str, str]) -> None:
        self.problem, self.pass_, self.words, self.constants, self.buffers = problem, pass_, words, constants, buffers
        self.lines: list[str] = []
        self.names = 0
        self.pointers: dict[tuple[Any, ...], str] = {}
        self.head: list[str] = []
        self.strides: dict[int, str] = {}
        self._scale: str | None = None
        #: Whether numbers pass through the second cache, in which the roots between columns and rows shall stay, one for each.
        size = problem.length * 2 * problem.kind.itemsize
        self.passing = pass_.length < problem.length and _ROOTS[0] <= size <= _ROOTS[1] < problem.count * size

    def _loaded(self, at: str) -> str:
        """The complex number at an address."""
        return f"load_once({at})" if self.passing else f"*({at})"

    def _stored(self, at: str, number: Number) -> str:
        """A statement that stores a complex number at an address."""
        value = f"C{{{number[0]}, {number[1]}}}"
        return f"store_once({at}, {value});" if self.passing else f"*({at}) = {value};"

    @property
    def dtype(self) -> Any:
        return np.float64 if self.problem.kind is ElementKind.F64 else np.float32

    def new(self, text: str, type_: str = "R") -> str:
        self.names += 1
        self.lines.append(f"const {type_} v{self.names} = {text};")
        return f"v{self.names}"

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def add(self, a: str, b: str) -> str:
        return self.new(f"{a} + {b}")

    def sub(self, a: str, b: str) -> str:
        return self.new(f"{a} - {b}")

    def mul(self, a: str, b: str) -> str:
        return self.new(f"{a} * {b}")

    @property
    def _fma(self) -> str:
        return "__fma_rn" if self.problem.kind is ElementKind.F64 else "__fmaf_rn"

    def fma(self, a: str, b: str, c: str) -> str:
        return self.new(f"{self._fma}({a}, {b}, {c})")

    def neg_fma(self, a: str, b: str, c: str) -> str:
        return self.new(f"{self._fma}(-{a}, {b}, {c})")

    def neg(self, a: str) -> str:
        return self.new(f"-{a}")

    def constant(self, value: float) -> str:
        return f"(({'double' if self.problem.kind is ElementKind.F64 else 'float'}){value!r})"

    def cosine(self, turns: Fraction) -> str:
        value = cosine_of(turns, self.dtype)
        if self.problem.kind is ElementKind.F64:
            return f"__longlong_as_double(0x{int(value.view(np.uint64)):016x}ll)"
        return f"__uint_as_float(0x{int(value.view(np.uint32)):08x}u)"

    # --- places -------------------------------------------------------------------------------------------------------

    def place(self, i: str, times: int, plus: int) -> str:
        return self.new(f"{i} * {times} + {plus}", "int") if times else str(plus)

    def from_(self, whole: int, i: str) -> str:
        return self.new(f"{whole} - {i}", "int")

    def below(self, i: str, whole: int) -> str:
        return self.new(f"{i} < {whole}", "bool")

    def equal(self, i: str, whole: int) -> str:
        return self.new(f"{i} == {whole}", "bool")

    def pick(self, condition: str, a: str, b: str) -> str:
        return self.new(f"{condition} ? {a} : {b}", "auto")

    def scaled(self, x: str) -> str:
        scale = self.pass_.target.scale
        if scale == 1:
            return x
        if self._scale is None:
            bits = int(np.array(scale, self.dtype).view(np.uint64 if self.dtype is np.float64 else np.uint32))
            word = self.words.word(bits if bits < 1 << 63 else bits - (1 << 64))
            wide = self.problem.kind is ElementKind.F64
            self.head.append(
                f"const R scale = {f'__longlong_as_double((i64){word})' if wide else f'__uint_as_float((unsigned){word})'};"
            )
            self._scale = "scale"
        return self.mul(x, self._scale)

    # --- memory -------------------------------------------------------------------------------------------------------

    def _stride(self, operand: int) -> str:
        if operand not in self.strides:
            rows = self.problem.x if operand == X else self.problem.y
            if rows.along == 1 and not self.problem.general:
                self.strides[operand] = str(rows.kind.itemsize)
            else:
                self.head.append(f"const i64 along{operand} = {self.words.signed(rows.along * rows.kind.itemsize)};")
                self.strides[operand] = f"along{operand}"
        return self.strides[operand]

    def _part(self, kind: ElementKind) -> str:
        return "double" if kind is ElementKind.C128 else "float"

    def load(self, i: str, exists: str | None) -> Number:
        rows, stride = self.problem.x, self._stride(X)
        at = self.new(f"my.x + (i64){i} * {stride}", "char*")
        guard, zero = (f"{exists} ? " if exists else ""), (" : (R)0" if exists else "")
        if not rows.complex:
            type_ = STORAGE_TYPE[rows.kind]
            return self.new(f"{guard}(R)widen(*(const {type_}*){at}){zero}"), None
        part = self._part(rows.kind)
        if rows.alignment % rows.kind.itemsize == 0 and not self.problem.general:
            value = self.new(f"{guard}{self._loaded(f'(const C*){at}')}{' : C{0, 0}' if exists else ''}", "C")
            return f"{value}.re", f"{value}.im"
        return (
            self.new(f"{guard}(R)((const {part}*){at})[0]{zero}"),
            self.new(f"{guard}(R)((const {part}*){at})[1]{zero}"),
        )

    def store(self, i: str, number: Number, exists: str | None) -> None:
        rows, stride = self.problem.y, self._stride(Y)
        at = f"(my.y + (i64){i} * {stride})"
        guard = f"if ({exists}) " if exists else ""
        re, im = number
        if not rows.complex:
            type_ = STORAGE_TYPE[rows.kind]
            self.lines.append(f"{guard}*({type_}*){at} = Narrow<{type_}, R>::to({re});")
        elif rows.alignment % rows.kind.itemsize == 0 and not self.problem.general:
            self.lines.append(guard + self._stored(f"(C*){at}", number))
        else:
            part = self._part(rows.kind)
            self.lines.append(f"{guard}{{ (({part}*){at})[0] = {re}; (({part}*){at})[1] = {im}; }}")

    def load_pair(self, i: str) -> Number:
        value = self.new(self._loaded(f"(const C*)my.x + {i}"), "C")
        return f"{value}.re", f"{value}.im"

    def store_pair(self, i: str, number: Number, exists: str | None) -> None:
        guard = f"if ({exists}) " if exists else ""
        self.lines.append(guard + self._stored(f"(C*)my.y + {i}", number))

    def load_buffer(self, source: Source, i: str) -> Number:
        value = self.new(self._loaded(f"(const C*)({self.buffers[source.buffer]}) + (my.batch * {source.length} + {i})"), "C")
        return f"{value}.re", f"{value}.im"

    def store_buffer(self, target: Target, i: str, number: Number, exists: str | None) -> None:
        guard = f"if ({exists}) " if exists else ""
        at = f"(C*)({self.buffers[target.buffer]}) + (my.batch * {target.length} + {i})"
        self.lines.append(guard + self._stored(at, number))

    def pointer(self, type_: str, *name: Any) -> str:
        """The address of a table."""
        key = name_of(self.problem.kind, *name)
        if key not in self.pointers:
            address = self.constants.address(key)
            self.pointers[key] = f"table{len(self.pointers)}"
            self.head.append(f"const {type_}* const {self.pointers[key]} = (const {type_}*){address};")
        return self.pointers[key]

    def table(self, name: tuple[Any, ...], i: str) -> Number:
        value = self.new(f"{self.pointer('C', *name)}[{i}]", "C")
        return f"{value}.re", f"{value}.im"

    def root(self, order: int, i: str) -> Number:
        if order <= EXACT:
            return self.table(("roots", order), i)
        pointer, bits = self.pointer("C128", "split", order), split_bits(order)
        high = self.new(f"{pointer}[{i} >> {bits}]", "C128")
        low = self.new(f"{pointer}[{-(-order // (1 << bits))} + ({i} & {(1 << bits) - 1})]", "C128")
        re = self.new(f"(R)({high}.re * {low}.re - {high}.im * {low}.im)")
        return re, self.new(f"(R)({high}.re * {low}.im + {high}.im * {low}.re)")

    def turn(self, pass_: Pass, k: str, column: str) -> Number:
        """The root that result k of a column is multiplied by."""
        if pass_.roots <= TABLED:
            columns = pass_.axes[-1].extent
            return self.table(("grid", pass_.roots, pass_.length, columns), f"{k} * {columns} + {column}")
        return self.root(pass_.roots, self.new(f"{k} * {column}", "int"))
