"""A reduction for each of many tensors on CUDA: blocks of segments, then the blocks of each item."""

from __future__ import annotations

from collections.abc import Iterator

from baracuda.codegen.cuda.emit import Emitter, number
from baracuda.codegen.cuda.prelude import COMPUTE_TYPE, STORAGE_TYPE
from baracuda.core.errors import UnsupportedError
from baracuda.formula.expr import Axes, Expr
from baracuda.lowering.list_sums.problem import SEGMENTS, STEP, ListSums, words_of
from baracuda.lowering.lists.cuda.lower import placed, search
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words, translation_unit
from baracuda.lowering.nest.problem import reduces
from baracuda.lowering.reduction.cuda.rows import OPERATION, identity
from baracuda.runtime.program import KernelSource, Launch, Lowered

_WARPS = 8
_THREADS = 32 * _WARPS
_EACH = SEGMENTS // _WARPS  # segments of a warp


def ways(problem: ListSums, target: Target) -> Iterator[Lowered]:
    """The launches of a problem; its last address is that of the result."""
    nest, room = problem.nest, problem.room
    if problem.blocks >= INDEX_LIMIT:
        raise UnsupportedError(f"{sum(problem.sizes)} elements; expected fewer blocks of {STEP} than {INDEX_LIMIT}")
    (n,) = reduces(nest.graph, Axes.INNER)
    words = Words(room + 1, nest.graph.params)
    where, constants = placed(words, words_of(problem.sizes, problem.slots, room), room)
    head = [
        f"const u64* const starts = {where};",
        f"T* const partials = (T*)W.w[{room + 1}];",
    ]
    source = translation_unit(words, [*head, *search(room), *_part(problem, n)], _THREADS, _definitions(problem, n))
    whole = translation_unit(words, [*head, *_whole(problem, n)], _THREADS, _definitions(problem, n))
    first = [Launch(KernelSource(source), (problem.blocks, 1, 1), _THREADS)] if problem.blocks else []
    launches = (*first, Launch(KernelSource(whole), (len(problem.sizes), 1, 1), _THREADS))
    nbytes = max(problem.blocks, 1) * n.kind.itemsize
    yield Lowered(launches, tuple(words.values), nbytes, f"{len(problem.sizes)} items", constants)


def _definitions(problem: ListSums, n: Expr) -> str:
    kind = problem.nest.graph.inputs[0].kind
    return f"typedef {COMPUTE_TYPE[n.kind]} T;\ntypedef {STORAGE_TYPE[kind]} S;\ntypedef {OPERATION[n.attr[0]]} Op;\n"


def _part(problem: ListSums, n: Expr) -> list[str]:
    """One block of segments: a warp takes eight neighbouring ones, a thread four neighbouring lanes of each."""
    operand = problem.nest.operands[0]
    size = operand.kind.itemsize
    p = max(1, min(4, 16 // size, operand.alignment // size))
    emitter = Emitter(lambda node: "x" if node.op == "input" else None)
    value = emitter.value(n.args[0])
    nothing = identity(n)
    return [
        f"const i64 done = ((i64)blockIdx.x - (i64)starts[low]) * {STEP};",
        f"const i64 left = (i64)starts[{problem.room} + low] - done;",
        "const S* const from = (const S*)W.w[low] + done;",
        "const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;",
        f"__shared__ T shared[{SEGMENTS}];",
        "#pragma unroll 1",
        f"for (int s = 0; s < {_EACH}; ++s) {{",
        f"  const i64 begin = (i64)(warp * {_EACH} + s) * 1024;",
        f"  T chain[4] = {{{nothing}, {nothing}, {nothing}, {nothing}}};",
        "  if (begin + 1024 <= left) {",
        "    Vec<S, 4> in[8];",
        "    #pragma unroll",
        f"    for (int k = 0; k < 8; ++k) load<{p}>(in[k], from + begin + k * 128 + lane * 4);",
        "    #pragma unroll",
        "    for (int k = 0; k < 8; ++k)",
        "    #pragma unroll",
        "    for (int v = 0; v < 4; ++v) {",
        "      const auto x = widen(in[k].v[v]);",
        *(f"      {line}" for line in emitter.lines),
        f"      chain[v] = k ? Op::of(chain[v], {value}) : {value};",
        "    }",
        "  } else if (begin < left) {",
        "    #pragma unroll 1",
        "    for (int k = 0; k < 8; ++k)",
        "    #pragma unroll",
        "    for (int v = 0; v < 4; ++v) {",
        "      const i64 at = begin + k * 128 + lane * 4 + v;",
        "      if (at < left) {",
        "        const auto x = widen(from[at]);",
        *(f"        {line}" for line in emitter.lines),
        f"        chain[v] = Op::of(chain[v], {value});",
        "      }",
        "    }",
        "  }",
        "  const T result = across<Op, 32>(pairs<Op, 4>(chain));",
        f"  if (lane == 0) shared[warp * {_EACH} + s] = result;",
        "}",
        "__syncthreads();",
        "if (warp == 0) {",
        "  const T total = across<Op, 32>(Op::of(shared[2 * lane], shared[2 * lane + 1]));",
        "  if (lane == 0) partials[blockIdx.x] = total;",
        "}",
    ]


def _whole(problem: ListSums, n: Expr) -> list[str]:
    """The blocks of one item, in adjacent pairs, level by level."""
    room = problem.room
    return [
        f"const i64 size = (i64)starts[{room} + blockIdx.x];",
        f"T* const result = (T*)W.w[{room}] + starts[{2 * room} + blockIdx.x];",
        f"i64 count = (size + {STEP - 1}) / {STEP};",
        "T* const own = partials + starts[blockIdx.x];",
        "while (count > 1) {",
        "  const i64 half = count / 2;",
        f"  for (i64 first = 0; first < half; first += {_THREADS}) {{",
        "    const i64 i = first + threadIdx.x;",
        "    T both = {};",
        "    if (i < half) both = Op::of(own[2 * i], own[2 * i + 1]);",
        "    __syncthreads();",
        "    if (i < half) own[i] = both;",
        "    __syncthreads();",
        "  }",
        "  if (count % 2 && threadIdx.x == 0) own[half] = own[count - 1];",
        "  __syncthreads();",
        "  count = half + count % 2;",
        "}",
        f"if (threadIdx.x == 0) *result = count ? own[0] : {number(problem.nothing, n.kind)};",
    ]
