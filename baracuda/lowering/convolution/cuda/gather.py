"""The C++ of an implicit product: how the tile of x that some outputs and terms meet comes to shared memory.

A row of the tile is an output, a step of k a tap and a channel. Each has a place: where it is in x, and its part of each
coordinate. Their sum says which element they meet, and whether there is one; what is not there arrives as 0.
"""

from __future__ import annotations

GATHER = r"""
template <int RANK> struct alignas(8) Place { i64 offset; int at[RANK]; };
template <int RANK> struct Extents { int n[RANK]; };

template <class S, class X, int ROWS, int BK, int PITCH, int THREADS, int V, bool ALONG, bool KMAJOR, bool ASYNC, int RANK>
struct Gather : Loader<S, X, ROWS, BK, PITCH, THREADS, V, ALONG, KMAJOR, ASYNC> {
  typedef Loader<S, X, ROWS, BK, PITCH, THREADS, V, ALONG, KMAJOR, ASYNC> Base;
  // Whether every access of a thread is of one row.
  static constexpr bool ONE = ALONG && THREADS % (ROWS / V) == 0;

  const Place<RANK>* rows_at;
  const Place<RANK>* steps;
  Extents<RANK> in;
  Place<RANK> mine;

  __device__ __forceinline__ Gather(
      const S* base, const Place<RANK>* rows_at, const Place<RANK>* steps, Extents<RANK> in, int thread)
      : Base(base, 0, 0, ROWS, thread), rows_at(rows_at), steps(steps), in(in) {
    if (ONE) mine = rows_at[this->row];
  }

  template <bool CHECK> __device__ __forceinline__ void fetch(X* stage, int left) {
#pragma unroll
    for (int i = 0; i < Base::COUNT; ++i) {
      if (Base::TOTAL % THREADS != 0 && this->thread + i * THREADS >= Base::TOTAL) break;
      const int dr = this->row_from(i), dk = this->k_from(i);
      const Place<RANK> step = steps[this->k + dk];  // beyond the last one there are some more, which nobody meets
      const Place<RANK> out = ONE ? mine : rows_at[this->row + dr];
      bool there = !CHECK || this->k + dk < left;
#pragma unroll
      for (int a = 0; a < RANK; ++a) there = there && (unsigned)(out.at[a] + step.at[a]) < (unsigned)in.n[a];
      const S* from = there ? this->base + (out.offset + step.offset) : this->base;
      if constexpr (ASYNC) {
        X* const to = stage + Base::place(this->row, this->k) + Base::place(dr, dk);
        copy_async<V * sizeof(S)>(to, from, there ? V * (int)sizeof(S) : 0);
      } else if (there) {
        this->held[i] = *reinterpret_cast<const Vec<S, V>*>(from);
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) this->held[i].v[v] = S{};
      }
    }
    steps += BK;
  }
};
"""
