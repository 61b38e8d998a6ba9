"""What the kernels of integer products share: which tiles run together, where records lie, how sums get to the epilogue."""

from __future__ import annotations

from dataclasses import dataclass

from baracuda.lowering.matmul.cuda.factors import STORAGE
from baracuda.lowering.matmul.cuda.integers.digits import ROWS, DigitFactor
from baracuda.lowering.matmul.problem import MatmulProblem
from baracuda.lowering.nest.cuda.kernel import Words, offset

#: Row tiles that run side by side before the next columns: their digits stay in L2.
GROUP = 8


@dataclass(frozen=True)
class SquareSums:
    """What the epilogue sees of sums that so many threads put into shared memory: as many rows as columns."""

    threads: int
    bm: int = ROWS
    bn: int = ROWS


def records(f: DigitFactor, words: Words, tile: str) -> list[str]:
    """Where a factor's records are, and the number of the first of a row tile."""
    steps = [words.signed(s) if s else None for s in f.record_steps()]
    return [
        f"const unsigned char* const {f.name}_digits = workspace + {words.word(f.start)};",
        f"const float* const {f.name}_scales = (const float*)(workspace + {words.word(f.scales_start)});",
        f"const i64 {f.name}_record = {offset(steps, 'c')} + (i64)({tile}) * blocks;",
    ]


def sum_taken_anew(c: MatmulProblem, a: DigitFactor, b: DigitFactor, words: Words, name: str) -> list[str]:
    """The statements that take the sum of row r and column s anew where it is NaN."""
    rank, addresses = len(c.batch), []
    for f, at in ((a, "m0 + r"), (b, "n0 + s")):
        o = f.operand
        strides = [None if o.steps(i) == 0 else words.signed(o.strides[i]) for i in range(rank)]
        kind = STORAGE[o.kind]
        along = words.signed(o.strides[rank])
        addresses.append(
            f"(const {kind}*)W.w[{f.number}] + ({offset(strides, 'c')} + ({at}) * {along}), {words.signed(o.strides[rank + 1])}"
        )
    return [
        f"if ({name} != {name} && r < rows && s < columns)",
        f"{name} = not_finite({name}, {addresses[0]}, {addresses[1]}, {words.word(c.k)});",
    ]


def sums_to_shared(c: MatmulProblem, a: DigitFactor, b: DigitFactor, words: Words, pitch: int, count: int) -> list[str]:
    """Puts the `count` sums of a thread into shared memory, from `sums0` on, those that are NaN taken anew. They are as tensor
    cores leave them: rows 0 and 8 from `row` on, and columns 0 and 1 from each eighth from `column` on."""
    return [
        "#pragma unroll",
        f"for (int i = 0; i < {count}; i += 2) {{",
        "const int r = row + i / 2 % 2 * 8, s0 = column + i / 4 * 8;",
        "#pragma unroll",
        "for (int e = 0; e < 2; ++e) {",
        "const int s = s0 + e;",
        *sum_taken_anew(c, a, b, words, "sums[i + e]"),
        "}",
        f"*(float2*)(sums0 + r * {pitch} + s0) = make_float2(sums[i], sums[i + 1]);",
        "}",
    ]
