"""Suppression on CUDA: a block of threads for each group. One thread goes through 64 candidates, in registers, then all of them
remove what these conflict with, a word each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from baracuda.core.errors import UnsupportedError
from baracuda.lowering.nest.cuda.kernel import INDEX_LIMIT, Target, Words
from baracuda.lowering.sort.cuda.order import UnboundKernel
from baracuda.lowering.suppression.problem import CONFLICTS, KEPT, MOST_WORDS, OPERANDS, WORD, Suppression
from baracuda.runtime.program import Lowered

_THREADS = 512


def ways(problem: Suppression, target: Target) -> Iterator[Lowered]:
    """The one way."""
    yield lower(problem)


@lru_cache(maxsize=1024)
def lower(problem: Suppression) -> Lowered:
    """One launch."""
    if problem.words > MOST_WORDS or problem.groups >= INDEX_LIMIT:
        raise UnsupportedError(f"{problem.count} candidates in {problem.groups} groups; expected up to {MOST_WORDS * WORD}")
    words = Words(OPERANDS, ())
    body = f"""
  __shared__ u64 removed[{MOST_WORDS}], rows[{WORD}], staying;
  const i64 n = {words.signed(problem.count)}, words = {words.signed(problem.words)};
  const u64* const conflicts = (const u64*)W.w[{CONFLICTS}] + (i64)blockIdx.x * n * words;
  unsigned char* const kept = (unsigned char*)W.w[{KEPT}] + (i64)blockIdx.x * n;
  for (i64 w = threadIdx.x; w < words; w += {_THREADS}) removed[w] = 0;
  for (i64 first = 0; first < n; first += {WORD}) {{
    const i64 own = first / {WORD}, i = first + threadIdx.x;
    if (threadIdx.x < {WORD}) rows[threadIdx.x] = i < n ? conflicts[i * words + own] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {{
      u64 gone = removed[own], stay = 0;
      const int count = n - first < {WORD} ? (int)(n - first) : {WORD};
      for (int k = 0; k < count; ++k) {{
        if (gone >> k & 1) continue;
        stay |= (u64)1 << k;
        gone |= rows[k];
      }}
      staying = stay;
    }}
    __syncthreads();
    const u64 stay = staying;
    if (threadIdx.x < {WORD} && i < n) kept[i] = (unsigned char)(stay >> threadIdx.x & 1);
    for (i64 w = own + 1 + threadIdx.x; w < words; w += {_THREADS}) {{
      u64 gone = removed[w];
      for (u64 rest = stay; rest; rest &= rest - 1) gone |= conflicts[(first + __ffsll((i64)rest) - 1) * words + w];
      removed[w] = gone;
    }}
    __syncthreads();
  }}"""
    kernel = UnboundKernel("", body, (problem.groups, 1, 1), _THREADS)
    return Lowered((kernel.launch(words),), tuple(words.values), 0, "suppression")
