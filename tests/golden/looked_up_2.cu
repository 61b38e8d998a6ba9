typedef unsigned long long u64;
typedef long long i64;
struct BF16 { unsigned short bits; };
template <class T, int N> struct alignas(sizeof(T) * N) Vec { T v[N]; };

// N consecutive elements, moved in pieces of P.
template <int P, class T, int N> __device__ __forceinline__ void load(Vec<T, N>& to, const T* from) {
#pragma unroll
  for (int i = 0; i < N / P; ++i) {
    Vec<T, P> piece = reinterpret_cast<const Vec<T, P>*>(from)[i];
#pragma unroll
    for (int j = 0; j < P; ++j) to.v[i * P + j] = piece.v[j];
  }
}
template <int P, class T, int N> __device__ __forceinline__ void store(T* to, const Vec<T, N>& from) {
#pragma unroll
  for (int i = 0; i < N / P; ++i) {
    Vec<T, P> piece;
#pragma unroll
    for (int j = 0; j < P; ++j) piece.v[j] = from.v[i * P + j];
    reinterpret_cast<Vec<T, P>*>(to)[i] = piece;
  }
}
struct Words { u64 w[12]; };

extern "C" __global__ void __launch_bounds__(1024, 1) kernel(const __grid_constant__ Words W) {
  const BF16* const p0 = (const BF16*)(W.w[0]);
  BF16* const p1 = (BF16*)(W.w[1]);
  extern __shared__ Vec<unsigned, 4> tables[];
  const auto* const filled = (const Vec<unsigned, 4>*)(W.w[3]);
  for (int i = threadIdx.x; i < 8192; i += 1024) tables[i] = filled[i];
  __syncthreads();
  for (unsigned block = blockIdx.x; block < ((unsigned)W.w[11]); block += gridDim.x) {
  const unsigned first = (unsigned)block * 6144 + threadIdx.x;
  if ((unsigned)(block + 1) * 6144 <= ((unsigned)W.w[6])) {
  Vec<BF16, 8> in0_[6];
  #pragma unroll
  for (int u = 0; u < 6; ++u) { const unsigned i = first + u * 1024;
  const unsigned c0 = i;
  const i64 at = (i64)c0 * 8;
  const i64 o0 = (i64)0 + at * ((i64)W.w[7]);
  auto& in0 = in0_[u];
  load<8>(in0, (p0 + o0));
  }
  #pragma unroll
  for (int u = 0; u < 6; ++u) { const unsigned i = first + u * 1024;
  const unsigned c0 = i;
  const i64 at = (i64)c0 * 8;
  auto& in0 = in0_[u];
  const i64 o1 = (i64)0 + at * ((i64)W.w[8]);
  Vec<BF16, 8> out1;
  #pragma unroll
  for (int v = 0; v < 8; ++v) out1.v[v] = ((BF16*)tables)[in0.v[v].bits];
  store<8>((p1 + o1), out1);
  }}
  else {
  #pragma unroll 1
  for (int u = 0; u < 6; ++u) { const unsigned i = first + u * 1024;
  if (i < ((unsigned)W.w[4])) {
  const unsigned c0 = i;
  const i64 at = (i64)c0 * 8;
  const i64 left = ((i64)W.w[5]) - at;
  const i64 o0 = (i64)0 + at * ((i64)W.w[9]);
  Vec<BF16, 8> in0 = {};
  if (left >= 8) load<8>(in0, (p0 + o0));
  else {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) in0.v[v] = (p0 + o0)[v];
  }
  const i64 o1 = (i64)0 + at * ((i64)W.w[10]);
  Vec<BF16, 8> out1 = {};
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) out1.v[v] = ((BF16*)tables)[in0.v[v].bits];
  if (left >= 8) store<8>((p1 + o1), out1);
  else {
  #pragma unroll
  for (int v = 0; v < 8; ++v) if (v < left) (p1 + o1)[v] = out1.v[v];
  }
  }}
  }
  }
}
