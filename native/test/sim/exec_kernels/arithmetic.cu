// Mathematics of the runtime's headers: float, double and half.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float normal_cdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

extern "C" __global__ void black_scholes(const float* price, const float* strike, const float* years, float* call,
                                         float* put, float rate, float volatility, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float root = sqrtf(years[i]);
  const float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
                   (volatility * root),
              d2 = d1 - volatility * root;
  const float discount = expf(-rate * years[i]);
  call[i] = price[i] * normal_cdf(d1) - strike[i] * discount * normal_cdf(d2);
  put[i] = strike[i] * discount * (1.0f - normal_cdf(d2)) - price[i] * (1.0f - normal_cdf(d1));
}

extern "C" __global__ void doubles(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[i];
  double* o = out + 8 * i;
  o[0] = sin(x), o[1] = exp(x / 10), o[2] = log(fabs(x) + 1), o[3] = pow(fabs(x), 1.5), o[4] = sqrt(fabs(x)),
  o[5] = x / 3.0, o[6] = atan2(x, 2.0), o[7] = fmod(x, 1.25);
}

extern "C" __global__ void floats(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  float* o = out + 8 * i;
  o[0] = sinf(x), o[1] = __expf(x / 10), o[2] = log2f(fabsf(x) + 1), o[3] = powf(fabsf(x), 1.5f),
  o[4] = rsqrtf(fabsf(x) + 1), o[5] = x / 3.0f, o[6] = tanhf(x), o[7] = rintf(x) + floorf(x) * 8;
}

extern "C" __global__ void halves(const __half2* a, const __half2* b, __half2* out, const __nv_bfloat16* c,
                                  __nv_bfloat16* out_bf, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[2 * i] = __hfma2(a[i], b[i], __hadd2(a[i], b[i]));
  out[2 * i + 1] = __hmul2(a[i], __hsub2(a[i], b[i]));
  out_bf[i] = __float2bfloat16(__bfloat162float(c[i]) * 1.5f + 0.25f);
}

extern "C" __global__ void integers(const long long* a, const long long* b, long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long x = a[i], y = b[i] == 0 ? 1 : b[i];
  long long* o = out + 8 * i;
  o[0] = x / y, o[1] = x % y, o[2] = __mul64hi(x, y), o[3] = (long long)((unsigned long long)x / (unsigned long long)y),
  o[4] = __popcll(x) * 64 + __clzll(y);
  o[5] = __brevll(x), o[6] = __mulhi((int)x, (int)y),
  o[7] = __byte_perm((unsigned)x, (unsigned)y, 0x3715) + __funnelshift_l((unsigned)x, (unsigned)y, 9);
}
