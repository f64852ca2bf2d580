"""Taichi: fields, atomics, structs of loops; it writes PTX with LLVM and hands it to the driver."""

import sys

import numpy as np
import taichi as ti
from stops import Tour

tour = Tour()
random = np.random.default_rng(0)
a, b = random.standard_normal((24, 32)).astype(np.float32), random.standard_normal((32, 20)).astype(np.float32)
numbers = random.integers(0, 10, 2000).astype(np.int32)


def compute(arch):
    ti.init(arch=arch, offline_cache=False, log_level=ti.ERROR, device_memory_GB=0.2, random_seed=1)
    if arch == ti.cuda and ti.lang.impl.current_cfg().arch != ti.cuda:
        sys.exit("Taichi found no CUDA")

    @ti.kernel
    def product(x: ti.types.ndarray(), y: ti.types.ndarray(), out: ti.types.ndarray()):
        for i, j in ti.ndrange(out.shape[0], out.shape[1]):
            one = 0.0
            for k in range(x.shape[1]):
                one += x[i, k] * y[k, j]
            out[i, j] = one

    @ti.kernel
    def count(x: ti.types.ndarray(), bins: ti.types.ndarray()) -> ti.i32:
        most = 0
        for i in range(x.shape[0]):
            ti.atomic_add(bins[x[i]], 1)
            ti.atomic_max(most, x[i])
        return most

    field = ti.field(ti.f32, shape=(32, 32))

    @ti.kernel
    def fractal():
        for i, j in field:
            z, c = ti.math.vec2(0.0, 0.0), ti.math.vec2(i / 16.0 - 1.5, j / 16.0 - 1.0)
            steps = 0
            while z.norm() < 4 and steps < 30:
                z = ti.math.vec2(z[0] ** 2 - z[1] ** 2, 2 * z[0] * z[1]) + c
                steps += 1
            field[i, j] = steps

    out, bins = np.zeros((24, 20), np.float32), np.zeros(10, np.int32)
    product(a, b, out)
    most = count(numbers, bins)
    fractal()
    return out, bins, most, field.to_numpy()


gpu, cpu = compute(ti.cuda), compute(ti.cpu)
tour.stop("matrix product", gpu[0], cpu[0], 1e-5)
tour.same("histogram by atomics", gpu[1], cpu[1])
tour.same("largest by atomics", gpu[2], cpu[2])
tour.stop("fractal in a field", gpu[3], cpu[3], 0.1)
tour.end()
