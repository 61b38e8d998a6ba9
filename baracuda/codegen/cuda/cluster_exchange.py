"""What blocks of a cluster send one another: each leaves its values in the shared memory of all, and waits for theirs.

A value and its signal travel together, so nobody waits for anything else that is on its way: a barrier of the cluster would
also wait for the copies that are ahead and for what has been stored. A place is used again in the second round after: a block
that is two rounds ahead has heard from all that they are done with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from baracuda.core.layout import round_up

#: What stands before a kernel whose blocks have mbarriers.
CLUSTER_EXCHANGE = r"""
// Exchange: `send` puts a value of 4 or 8 bytes to the place in block `rank` of the cluster that p points to in this block, and
// counts its bytes in that block's mbar.
__device__ __forceinline__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned address_in(const void* p, unsigned rank) {
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(shared_address(p)), "r"(rank));
  return at;
}
#define SEND "st.async.shared::cluster.mbarrier::complete_tx::bytes"
template <class T> __device__ __forceinline__ void send(T* p, T value, u64* mbar, unsigned rank) {
  const unsigned to = address_in(p, rank), remote = address_in(mbar, rank);
  if constexpr (sizeof(T) == 8) {
    u64 bits; memcpy(&bits, &value, 8);
    asm volatile(SEND ".u64 [%0], %1, [%2];" ::"r"(to), "l"(bits), "r"(remote) : "memory");
  } else {
    unsigned bits; memcpy(&bits, &value, 4);
    asm volatile(SEND ".u32 [%0], %1, [%2];" ::"r"(to), "r"(bits), "r"(remote) : "memory");
  }
}
// All threads of all blocks call it before anything is sent.
__device__ __forceinline__ void init_mbars(u64* mbars, int count) {
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(mbars + i)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// Once for each time that a mbar is used: how many bytes will come.
__device__ __forceinline__ void expect_bytes(u64* mbar, int nbytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(mbar)), "r"(nbytes) : "memory");
}
#define ARRIVED "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
// Waits until all that was expected is there; `turn` says how often the mbar was used before.
__device__ __forceinline__ void await_mbar(u64* mbar, unsigned turn) {
  unsigned done;
  do {
    asm volatile("{\n\t.reg .pred p;\n\t" ARRIVED " p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                 : "=r"(done) : "r"(shared_address(mbar)), "r"(turn & 1) : "memory");
  } while (!done);
}
// End of cluster exchange.
"""


class ClusterExchange:
    """The mbars of each phase, for two rounds in turn, from a byte of the shared memory on.

    Parameters
    ----------
    cluster : int
        The blocks that send one another; of a block alone the threads see what they store.
    at : int
        Where they begin, a multiple of 16.
    phases : sequence of sequence of (C++ type, bytes of a value, how many values of all blocks together)
        What is sent in each phase.
    tickets : bool
        Whether a number of 64 bits from the first block comes along in the first phase.
    """

    def __init__(self, cluster: int, at: int, phases: Sequence[Sequence[tuple[str, int, int]]], *, tickets: bool = False) -> None:
        self.cluster, self.at, self.phases, self.tickets = cluster, at, phases, tickets
        #: What must stand before the kernel.
        self.definitions = CLUSTER_EXCHANGE if cluster > 1 else ""
        self.starts: list[list[int]] = []
        end = at + round_up(8 * 2 * len(phases), 16)
        self.tickets_at, end = end, end + 16 * tickets
        for values in phases:
            self.starts.append([])
            for _, size, count in values:
                self.starts[-1].append(end)
                end += 2 * round_up(size * count, 32)
        self.end = end

    def open(self) -> list[str]:
        """Declares the mbars, and sees to it that all blocks are there."""
        lines = [f"i64* const tickets = (i64*)(dynamic + {self.tickets_at});"] if self.tickets else []
        if self.cluster > 1:
            lines.append(f"u64* const mbars = (u64*)(dynamic + {self.at});")
            lines.append(f"init_mbars(mbars, {2 * len(self.phases)});")
        return lines

    def _mbar(self, phase: int) -> str:
        return f"(mbars + {2 * phase} + (round & 1))"

    def values(self, phase: int, r: int) -> str:
        """Where the values of a reduction arrive, in this round."""
        kind, size, count = self.phases[phase][r]
        return f"(({kind}*)(dynamic + {self.starts[phase][r]} + (round & 1) * {round_up(size * count, 32)}))"

    def arrive(self, phase: int) -> list[str]:
        """Waits until the values of all blocks are there."""
        if self.cluster == 1:
            return ["__syncthreads();"]
        nbytes = sum(size * count for _, size, count in self.phases[phase]) + 8 * (self.tickets and not phase)
        return [
            f"if (threadIdx.x == 0) expect_bytes({self._mbar(phase)}, {nbytes});",
            f"await_mbar({self._mbar(phase)}, round >> 1);",
        ]

    def send(self, phase: int, r: int, at: str, value: str, to: str) -> str:
        """The statement by which a thread sends a value of a reduction to a block."""
        place = f"{self.values(phase, r)} + {at}"
        return f"send({place}, {value}, {self._mbar(phase)}, {to});" if self.cluster > 1 else f"*({place}) = {value};"

    def send_ticket(self) -> str:
        """The statement by which one thread of the cluster sends `ticket` to all."""
        if self.cluster == 1:
            return "tickets[round & 1] = ticket;"
        return f"for (int to = 0; to < {self.cluster}; ++to) send(tickets + (round & 1), ticket, {self._mbar(0)}, to);"
