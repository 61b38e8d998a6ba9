"""The operands of attention as a kernel names them."""

from __future__ import annotations

from baracuda.codegen.cuda.prelude import STORAGE_TYPE
from baracuda.lowering.attention.problem import DOT, Attention
from baracuda.lowering.nest.cuda.kernel import Words
from baracuda.lowering.nest.problem import Operand

_NAMES = ("q", "k", "v", "query_lengths", "key_lengths", "", "y", "lse", "dy", "dq", "dk", "dv", "dbias")


class Operands:
    """Finds operands by name, and writes where they are. In the generated code c0 is the batch element."""

    def __init__(self, a: Attention, words: Words) -> None:
        self.a, self.words = a, words
        #: The operands that are there, in the order of a program's addresses.
        self.names: list[str] = []
        for name in _NAMES:
            if not name:
                self.names += [p.name for p in a.score.inputs if p.name != DOT]
            elif getattr(a, name) is not None:
                self.names.append(name)

    def __getitem__(self, name: str) -> Operand:
        return self.a.operands[self.names.index(name)]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def storage(self, name: str) -> str:
        return STORAGE_TYPE[self[name].kind]

    def pointer(self, name: str) -> str:
        """The C++ expression of the address of an operand's first element."""
        return f"W.w[{self.names.index(name)}]"

    def stride(self, name: str, axis: int) -> str:
        """The C++ expression of a stride: text where code may depend on it."""
        operand = self[name]
        return "(i64)1" if operand.steps(axis) == 1 else self.words.signed(operand.strides[axis])

    def of_head(self, name: str, head: str, *, writable: bool = False) -> str:
        """The C++ expression of a pointer to the first element of a head."""
        element, of_head = (self.words.signed(s) for s in self[name].strides[:2])
        type_ = f"{'' if writable else 'const '}{self.storage(name)}*"
        return f"(({type_}){self.pointer(name)} + (c0 * {element} + {head} * {of_head}))"

    def matrix(self, name: str, head: str) -> str:
        """The C++ expression of the matrix of a head."""
        columns = self.a.value_depth if name in ("v", "dy", "y") else self.a.depth
        fits_s32 = not self[name].general and all(abs(s) < 1 << 31 for s in self[name].strides[2:])
        index = "int" if fits_s32 else "i64"  # a product of two s32 is one instruction
        strides = f"({index}){self.stride(name, 2)}, ({index}){self.stride(name, 3)}"
        return f"Matrix<{self.storage(name)}, {index}>{{{self.of_head(name, head)}, {strides}, {columns}}}"
