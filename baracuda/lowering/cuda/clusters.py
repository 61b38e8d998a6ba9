"""Thread block clusters: neighbouring blocks that run at the same time and read each other's shared memory (sm_90 and later)."""

from __future__ import annotations

from baracuda.lowering.cuda.kernel import Target

#: Blocks of a cluster that every device with clusters takes, and that large ones do when asked, if a block has a whole
#: multiprocessor: those whose groups of multiprocessors have so many.
PORTABLE, MOST = 8, 16
_LARGE = 128


def has_clusters(target: Target) -> bool:
    return int(target.arch.removeprefix("sm_").rstrip("af")) >= 90


def most_blocks(target: Target) -> int:
    """The largest cluster of blocks that have a multiprocessor each."""
    return MOST if target.multiprocessors >= _LARGE else PORTABLE


#: What stands before a kernel that runs in clusters.
CLUSTERS = r"""
// Clusters: all threads of all blocks wait for each other, and see what was written before.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The same in two halves, for blocks that only keep abreast: what was written may still be on its way.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
// A value in the shared memory of another block of the cluster, at the place that p points to in this block's.
template <class T> __device__ __forceinline__ T from_block(const T* p, unsigned rank) {
  unsigned at = (unsigned)__cvta_generic_to_shared(p);
  asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(at) : "r"(rank));
  T x;
  if constexpr (sizeof(T) == 8) {
    u64 bits; asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(bits) : "r"(at) : "memory"); memcpy(&x, &bits, 8);
  } else if constexpr (sizeof(T) == 4) {
    unsigned bits; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(bits) : "r"(at) : "memory"); memcpy(&x, &bits, 4);
  } else {
    unsigned bits; asm volatile("ld.shared::cluster.u8 %0, [%1];" : "=r"(bits) : "r"(at) : "memory"); x = (T)bits;
  }
  return x;
}
// End of clusters.
"""

#: Copies that pass no registers, for kernels that load ahead.
STREAMS = r"""
// Clusters: N bytes from global to shared memory without passing registers.
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
// End of clusters.
"""
