"""What an implicit product needs beforehand: the weights in lines of one term each, and where each term is in x."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.layout import round_up
from baracuda.lowering.convolution.cuda.gather import GATHER
from baracuda.lowering.convolution.problem import ConvolutionProblem, W
from baracuda.lowering.matmul.cuda.prelude import PRODUCTS
from baracuda.lowering.nest.cuda.kernel import Words, translation_unit, unravel
from baracuda.runtime.program import KernelSource, Launch

_THREADS, _ALIGNMENT = 256, 256
#: Terms behind the last one that the table has room for.
_MORE = 64


@dataclass(frozen=True)
class Prepared:
    """Where in the workspace the weights (g, k, n) and the table of terms begin, and its size."""

    weights: int
    table: int
    nbytes: int


def table_bytes(p: ConvolutionProblem) -> int:
    """The size of the table of terms."""
    each = 8 + round_up(4 * p.rank, 8)
    return round_up((p.terms + _MORE) * each, _ALIGNMENT)


def prepared(p: ConvolutionProblem) -> Prepared:
    """The parts of the workspace."""
    weights = round_up(p.groups * p.terms * p.columns * p.accumulator.itemsize, _ALIGNMENT)
    return Prepared(0, weights, weights + table_bytes(p))


def prepare(p: ConvolutionProblem, at: Prepared, words: Words) -> Launch:
    """One launch that writes both."""
    strides = p.w_strides()
    type_, storage, scratch = COMPUTE_TYPE[p.accumulator], STORAGE_TYPE[p.w.kind], f"W.w[{words.operands}]"
    # (g, taps, c, n), or with taps fastest where the weights have them so
    channels_last = 0 < abs(strides["c"]) < min([abs(strides[f"t{a}"]) for a in p.spatial if p.taps[a] > 1], default=1 << 62)
    taps = [f"t{a}" for a in p.spatial]
    inner = ["n"] if abs(strides["n"]) == 1 else [*taps, "c"] if channels_last else ["c", *taps]
    order = ["g", *(name for name in ("n", *taps, "c") if name not in inner), *inner]
    extents = {"g": p.groups, "n": p.columns, "c": p.channels, **dict(zip(taps, p.taps, strict=True))}
    count = prod(extents.values())
    lines = unravel("e", [extents[name] for name in order], words, "e", wide=count >= 1 << 31)
    coordinate = {name: f"(i64)e{i}" for i, name in enumerate(order)}
    tap = "0"
    for a, name in enumerate(taps):
        tap = f"({tap} * {words.signed(p.taps[a])} + {coordinate[name]})"
    source = " + ".join(f"{coordinate[name]} * {words.signed(strides[name])}" for name in order)
    terms, columns, depth = words.signed(p.terms), words.signed(p.columns), words.signed(p.channels)
    target = f"({coordinate['g']} * {terms} + ({tap} * {depth} + {coordinate['c']})) * {columns} + {coordinate['n']}"
    index = "u64" if count >= 1 << 31 else "unsigned"
    table = _table(p, at, words, p.channels)
    body = [
        f"const i64 number = (i64)blockIdx.x * {_THREADS} + threadIdx.x;",
        f"if (number < {words.signed(count)}) {{",
        f"const {index} e = ({index})number;",
        *lines,
        f"const {storage} weight = ((const {storage}*)W.w[{W}])[{source}];",
        f"(({type_}*)({scratch} + {words.signed(at.weights)}))[{target}] = ({type_})widen(weight);",
        "}",
        f"if (number < {words.signed(p.terms + _MORE)}) {{",
        *table,
        "}",
    ]
    text = translation_unit(words, body, _THREADS, PRODUCTS + GATHER)
    blocks = -(-max(count, p.terms + _MORE) // _THREADS)
    return Launch(KernelSource(text), (blocks, 1, 1), _THREADS)


def _table(p: ConvolutionProblem, at: Prepared, words: Words, channels: int) -> list[str]:
    """The statements that write the place of a term, number; of each tap only so many channels are there."""
    x, terms, depth = p.x_strides(), words.signed(p.terms), words.signed(p.channels)
    missing = f" || number - number / {depth} * {depth} >= {words.signed(channels)}" if channels != p.channels else ""
    return [
        f"Place<{p.rank}>* const table = (Place<{p.rank}>*)(W.w[{words.operands}] + {words.signed(at.table)});",
        f"Place<{p.rank}> place;",
        f"i64 rest = number / {depth};",
        f"place.offset = (number - rest * {depth}) * {words.signed(x['c'])};",
        *[
            line
            for a in reversed(p.spatial)
            for line in (
                f"{{ const i64 n = {words.signed(p.taps[a])}, t = rest % n; rest /= n;",
                f"place.at[{a}] = (int)(t * {words.signed(p.dilation[a])});",
                f"place.offset += place.at[{a}] * {words.signed(x[f'i{a}'])}; }}",
            )
        ],
        f"if (number >= {terms}{missing}) {{ place.offset = 0; for (int a = 0; a < {p.rank}; ++a) place.at[a] = -(1 << 30); }}",
        "table[number] = place;",
    ]


def place_terms(p: ConvolutionProblem, at: Prepared, words: Words, channels: int) -> Launch:
    """One launch that writes the table alone."""
    body = [
        f"const i64 number = (i64)blockIdx.x * {_THREADS} + threadIdx.x;",
        f"if (number >= {words.signed(p.terms + _MORE)}) return;",
        *_table(p, at, words, channels),
    ]
    text = translation_unit(words, body, _THREADS, PRODUCTS + GATHER)
    return Launch(KernelSource(text), (-(-(p.terms + _MORE) // _THREADS), 1, 1), _THREADS)
