"""Thread block clusters: neighbouring blocks that run at the same time (sm_90 and later), and copies that are ahead."""

from __future__ import annotations

from baracuda.lowering.nest.cuda.kernel import Frame, Target
from baracuda.runtime.program import KernelSource, Launch

#: Blocks of a cluster that every device with clusters takes, and that large ones do when asked, if a block has a whole
#: multiprocessor: those whose groups of multiprocessors have so many.
PORTABLE, MOST = 8, 16
_LARGE = 128


def has_clusters(target: Target) -> bool:
    return int(target.arch.removeprefix("sm_").rstrip("af")) >= 90


def most_blocks(target: Target) -> int:
    """The largest cluster of blocks that have a multiprocessor each."""
    return MOST if target.multiprocessors >= _LARGE else PORTABLE


def counter(frame: Frame, first: int) -> Launch:
    """The launch that has the counter of rows, at the start of the workspace, begin with a number."""
    return Launch(KernelSource(frame.kernel([f"*(u64*){frame.workspace()} = {first};"], 1)), (1, 1, 1), 1)


def next_ticket(frame: Frame) -> str:
    """The statement by which the thread that is `leader` takes a number from the counter, as `ticket`."""
    return f"i64 ticket = 0; if (leader) ticket = atomicAdd((u64*){frame.workspace()}, 1ull);"


#: What stands before a kernel whose blocks keep abreast.
ABREAST = r"""
// Clusters: all threads of all blocks come to one point before any passes the other. Nothing is seen for it that was not before.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
// End of clusters.
"""

#: Copies that pass no registers, for kernels that load ahead.
STREAMS = r"""
// Streams: N bytes from global to shared memory without passing registers.
template <int N> __device__ __forceinline__ void copy_async(void* to, const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (N >= 16) {
#pragma unroll
    for (int i = 0; i < N; i += 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + i), "l"((const char*)from + i) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(N) : "memory");
  }
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most N of this thread's groups of copies are under way.
template <int N> __device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
// End of streams.
"""
