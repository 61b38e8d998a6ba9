"""Many strided copies on CUDA: one launch, a block for some elements of one piece."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.movement.problem import Movement, table
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, translation_unit
from baracuda.runtime.program import KernelSource, Launch, Lowered

_THREADS, _EACH = 256, 4
_TYPES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "u64", 16: "Vec<u64, 2>"}


def ways(movement: Movement, target: Target) -> Iterator[Lowered]:
    """The launch of a normalised problem."""
    yield lower(movement)


@lru_cache(maxsize=1024)
def lower(movement: Movement) -> Lowered:
    """The launch of a normalised problem, the same for every target."""
    words, room, rank = Words(movement.room + 1, ()), movement.room, movement.rank
    if any(p.size >= INDEX_LIMIT for p in movement.pieces):
        raise UnsupportedError(f"a piece of {max(p.size for p in movement.pieces)} elements; expected fewer than {INDEX_LIMIT}")
    starts, blocks = [], 0
    for p in movement.pieces:
        starts.append(blocks)
        blocks += -(-p.size // (_THREADS * _EACH))
    first = words.count
    for value in table(movement, starts, blocks):
        words.word(value)
    each = 3 * rank + 1
    body = [
        "unsigned low = 0;",
        *_search(first, room),
        f"const u64* const t = W.w + {first + room} + low * {each};",
        "const char* const from = (const char*)W.w[low];",
        f"char* const to = (char*)W.w[{room}] + (i64)t[{3 * rank}];",
        *(f"const unsigned n{a} = (unsigned)t[{a}];" for a in range(rank)),
        f"const unsigned size = {' * '.join(f'n{a}' for a in range(rank))};",
        f"const unsigned begin = (blockIdx.x - (unsigned)W.w[{first} + low]) * {_THREADS * _EACH}u + threadIdx.x;",
        "#pragma unroll",
        f"for (int k = 0; k < {_EACH}; ++k) {{",
        f"  const unsigned e = begin + k * {_THREADS}u;",
        "  if (e >= size) break;",
        *(f"  {line}" for line in _coordinates(rank)),
        f"  *(T*)(to + {_offset(rank, 2 * rank)}) = *(const T*)(from + {_offset(rank, rank)});",
        "}",
    ]
    source = translation_unit(words, body, _THREADS, f"typedef {_TYPES[movement.size]} T;")
    launch = Launch(KernelSource(source), (max(blocks, 1), 1, 1), _THREADS)
    return Lowered((launch,), tuple(words.values), 0, f"{len(movement.pieces)} copies of {movement.size} bytes")


def _search(first: int, room: int) -> list[str]:
    """The last piece whose work begins at this block or before it."""
    steps, width = [], 1
    while width * 2 < room:
        width *= 2
    while width:
        steps.append(f"if (low + {width} < {room}u && (unsigned)W.w[{first} + low + {width}] <= blockIdx.x) low += {width};")
        width //= 2
    return steps


def _coordinates(rank: int) -> list[str]:
    lines, rest = [], "e"
    for a in range(rank - 1, 0, -1):
        lines.append(f"const unsigned q{a} = {rest} / n{a}, c{a} = {rest} - q{a} * n{a};")
        rest = f"q{a}"
    return [*lines, f"const unsigned c0 = {rest};"]


def _offset(rank: int, at: int) -> str:
    return " + ".join(f"(i64)c{a} * (i64)t[{at + a}]" for a in range(rank))
