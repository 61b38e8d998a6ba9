"""What blocks of one launch need to hand each other results, in whatever order the device runs them.

Blocks take items in order from a counter. So whoever has an earlier item runs already, and an item may wait for earlier ones:
the first that is not finished waits for nobody.

What is left for others is cut into words of 32 bits, each of which lies in 64 beside a mark that it is there, and is written
and read at once. So nothing has to be ordered: a fence would wait for all loads and stores that its thread has under way, and
kernels that load ahead always have some.
"""

from __future__ import annotations

from baracuda.core.elements import ElementKind
from baracuda.lowering.nest.cuda.kernel import Frame
from baracuda.runtime.program import KernelSource, Launch

#: Threads of the launch that clears marks.
_THREADS = 256

#: Addresses are numbers; each word takes 8 bytes.
BLOCK_HANDOFF = r"""
// Block hand-off: a word and its mark, past the first-level cache, which does not see what other blocks write.
__device__ __forceinline__ void store_word(u64 at, u64 word) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}
__device__ __forceinline__ u64 load_word(u64 at) {
  u64 word; asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory"); return word;
}
__device__ __forceinline__ void backoff() { __nanosleep(64); }
template <class T> __device__ __forceinline__ void publish(u64 at, T x) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned w[words] = {};
  memcpy(w, &x, sizeof(T));
#pragma unroll
  for (int i = 0; i < words; ++i) store_word(at + 8 * i, (u64)1 << 32 | w[i]);
}
// Whether a value is there, and if so the value.
template <class T> __device__ __forceinline__ bool poll(u64 at, T& x) {
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned w[words];
  bool there = true;
#pragma unroll
  for (int i = 0; i < words; ++i) {
    const u64 word = load_word(at + 8 * i);
    w[i] = (unsigned)word;
    there &= word >> 32 != 0;
  }
  memcpy(&x, w, sizeof(T));
  return there;
}
"""


def published_bytes(kind: ElementKind) -> int:
    """Bytes that a value takes which is left for others."""
    return 16 if kind.itemsize == 8 else 8


def clearing(frame: Frame, nbytes: int) -> Launch:
    """The launch that clears the start of the nest's workspace, a multiple of 8 bytes."""
    words = nbytes // 8
    body = [
        f"const i64 i = (i64)blockIdx.x * {_THREADS} + threadIdx.x;",
        f"if (i < {frame.words.signed(words)}) ((u64*){frame.workspace()})[i] = 0;",
    ]
    return Launch(KernelSource(frame.kernel(body, _THREADS)), (-(-words // _THREADS), 1, 1), _THREADS)
