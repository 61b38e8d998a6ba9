"""Thread block clusters: neighbouring blocks that run at the same time and read each other's shared memory (sm_90 and later)."""

from __future__ import annotations

from baracuda.lowering.cuda.kernel import Target

#: Blocks of a cluster that every device with clusters takes.
PORTABLE = 8


def has_clusters(target: Target) -> bool:
    return int(target.arch.removeprefix("sm_").rstrip("af")) >= 90


#: What stands before a kernel that runs in clusters.
CLUSTERS = r"""
// Clusters: all threads of all blocks wait for each other, and see what was written before.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
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
