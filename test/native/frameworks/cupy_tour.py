"""CuPy: element-wise and raw kernels, sums, sorts, scans. NVRTC makes PTX of them."""

import cupy as cp
import numpy as np
from stops import Tour

tour = Tour()
random = np.random.default_rng(0)
x = random.standard_normal((40, 50)).astype(np.float32)
gpu = cp.asarray(x)
tour.stop("element-wise", cp.asnumpy(cp.exp(gpu) * 2 + cp.tanh(gpu)), np.exp(x) * 2 + np.tanh(x), 1e-5)
tour.stop("sum", cp.asnumpy(gpu.sum()), x.sum(dtype=np.float64), 1e-5)
tour.stop("sum of rows", cp.asnumpy(gpu.sum(axis=1)), x.sum(axis=1), 1e-5)
tour.stop(
    "largest, and where", cp.asnumpy(cp.stack([gpu.max(), gpu.argmax().astype(cp.float32)])), [x.max(), x.argmax()], 0
)
tour.same("sort", cp.asnumpy(cp.sort(gpu.ravel())), np.sort(x.ravel()))
tour.stop("running sum", cp.asnumpy(cp.cumsum(gpu.ravel())), np.cumsum(x.ravel(), dtype=np.float64), 1e-4)
kernel = cp.RawKernel(
    r'extern "C" __global__ void square(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * x[i]; }',
    "square",
)
out = cp.zeros_like(gpu)
kernel((16,), (128,), (gpu, out, x.size))
tour.same("a raw kernel", cp.asnumpy(out), x * x)
tour.end()
