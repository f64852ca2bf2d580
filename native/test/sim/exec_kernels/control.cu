// Recursion, switch, loops that lanes leave at different times, locks, calls through pointers, local arrays.
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

extern "C" __global__ void collatz(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = i + 1;
  int steps = 0;
  while (x != 1) {
    if (x % 2 == 0) {
      x /= 2;
    } else {
      x = 3 * x + 1;
      if (x > 100000) continue;
    }
    ++steps;
    if (steps > 200) break;
  }
  out[i] = steps;
}

extern "C" __global__ void switches(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  switch (v) {
    case 0: v = 17; break;
    case 1: v = out[i] * 3; break;
    case 2: v = clock() != 0 ? 5 : 6;
    case 3: v += 100; break;
    case 4: return;
    case 5: v = -v * v; break;
    case 6: v = __popc(v) << 10; break;
    default: v = -1;
  }
  out[i] = v;
}

extern "C" __global__ void lane_lock(int* lock, int* count, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *(volatile int*)count = *(volatile int*)count + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

extern "C" __global__ void flag_lock(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *(volatile int*)count = *(volatile int*)count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

/// Lanes meet in shuffles although they come along different ways.
extern "C" __global__ void diverged_shuffle(int* out) {
  const int lane = threadIdx.x;
  int v;
  if (lane % 2 == 0) {
    v = __shfl_sync(0x55555555, lane * 10, (lane + 2) % 32);
    __syncwarp();
  } else {
    v = __shfl_sync(0xaaaaaaaa, lane * 100, (lane + 2) % 32);
    __syncwarp();
  }
  const unsigned same = __match_any_sync(0xffffffff, lane / 5);
  out[lane] = v + __popc(same) * 100000;
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ Operation operations[3] = {plus, minus, times};

extern "C" __global__ void pointers(int* out) { out[threadIdx.x] = operations[threadIdx.x % 3](threadIdx.x, 7); }

struct Wide {
  int values[6];
};
__device__ __noinline__ Wide rotate(Wide in, int by) {
  Wide out;
  for (int i = 0; i < 6; ++i) out.values[i] = in.values[(i + by) % 6];
  return out;
}

extern "C" __global__ void local_arrays(int* out) {
  Wide wide;
  for (int i = 0; i < 6; ++i) wide.values[i] = i * 10 + threadIdx.x;
  wide = rotate(wide, threadIdx.x);
  int stack[16];
  for (int i = 0; i < 16; ++i) stack[(i * 7 + threadIdx.x) % 16] = i;
  out[threadIdx.x] = wide.values[threadIdx.x % 6] * 100 + stack[threadIdx.x % 16];
}

/// A barrier that half of the warps reaches by one way and the rest by another, and one between two warps only.
extern "C" __global__ void barriers(int* out) {
  __shared__ int shared[256];
  shared[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 128) {
    __syncthreads();
    out[threadIdx.x] = shared[255 - threadIdx.x];
  } else {
    __syncthreads();
    out[threadIdx.x] = shared[255 - threadIdx.x] + 1000;
  }
  if (threadIdx.x < 64) asm volatile("bar.sync 3, 64;");
  if (threadIdx.x >= 64 && threadIdx.x < 128) asm volatile("bar.arrive 4, 128;");
  if (threadIdx.x >= 128 && threadIdx.x < 192) asm volatile("bar.sync 4, 128;");
  const int count = __syncthreads_count(threadIdx.x % 3 == 0), all = __syncthreads_and(threadIdx.x < 256),
            any = __syncthreads_or(threadIdx.x == 999);
  out[threadIdx.x] += count * 10000 + all * 4000000 + any * 8000000;
}
