// Tiled matrix product, reduction by shuffles, scan of a block, histogram: what most kernels are made of.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[16][16], tb[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    ta[threadIdx.y][threadIdx.x] = y < n && t + threadIdx.x < n ? a[y * n + t + threadIdx.x] : 0;
    tb[threadIdx.y][threadIdx.x] = x < n && t + threadIdx.y < n ? b[(t + threadIdx.y) * n + x] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}

extern "C" __global__ void reduce(const int* in, int* out, int n) {
  __shared__ int parts[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

extern "C" __global__ void scan(const int* in, int* out, int n) {
  extern __shared__ int buffer[];
  const int i = threadIdx.x;
  buffer[i] = i < n ? in[i] : 0;
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    const int before = i >= d ? buffer[i - d] : 0;
    __syncthreads();
    buffer[i] += before;
  }
  if (i < n) out[i] = buffer[i];
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void compact(const int* in, int* out, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && in[i] % 3 == 0;
  const unsigned votes = __ballot_sync(0xffffffff, keep);
  const int rank = __popc(votes & ((1u << (threadIdx.x % 32)) - 1));
  if (keep) out[i / 32 * 32 + rank] = in[i];
  if (threadIdx.x % 32 == 0) counts[i / 32] = __popc(votes) * 100 + __clz(votes);
}
