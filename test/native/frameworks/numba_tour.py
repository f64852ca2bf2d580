"""numba: kernels that it compiles to PTX and has the driver link, its memory of each kind, streams, its own reduction."""

import math

import numpy as np
from numba import cuda, float32
from stops import Tour

random = np.random.default_rng(1)
tour = Tour()


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def total(a, out):
    partial = cuda.shared.array(128, float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    partial[thread] = a[i] if i < a.size else 0
    cuda.syncthreads()
    half = 64
    while half > 0:
        if thread < half:
            partial[thread] += partial[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, partial[0])


@cuda.jit
def histogram(a, bins):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(bins, a[i], 1)


@cuda.jit
def functions(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = math.sin(a[i]) + math.exp(a[i]) / math.sqrt(a[i] + 1.0)


def vector_add():
    a = random.standard_normal(1000, dtype=np.float32)
    there = cuda.to_device(a)
    out = cuda.device_array_like(a)
    add[8, 128](there, there, out)
    tour.same("vector add", out.copy_to_host(), a + a)


def reduction_in_shared_memory():
    out = cuda.to_device(np.zeros(1, np.float32))
    total[8, 128](cuda.to_device(np.arange(1000, dtype=np.float32)), out)
    tour.same("reduction in shared memory", out.copy_to_host(), [499500])


def atomics():
    values = random.integers(0, 16, 5000).astype(np.int32)
    bins = cuda.to_device(np.zeros(16, np.int32))
    histogram[40, 128](cuda.to_device(values), bins)
    tour.same("histogram by atomics", bins.copy_to_host(), np.bincount(values, minlength=16))


def streams_events_and_pinned_memory():
    stream, event = cuda.stream(), cuda.event()
    pinned = cuda.pinned_array(1000, dtype=np.float32)
    pinned[:] = 3
    there = cuda.to_device(pinned, stream=stream)
    out = cuda.device_array(1000, np.float32, stream=stream)
    add[8, 128, stream](there, there, out)
    event.record(stream)
    event.synchronize()
    back = out.copy_to_host(stream=stream)
    stream.synchronize()
    tour.same("streams, events, pinned memory", back, np.full(1000, 6))


def managed_memory():
    values, out = (cuda.managed_array(1000, dtype=np.float32) for _ in range(2))
    values[:] = 4
    add[8, 128](values, values, out)
    cuda.synchronize()
    tour.same("managed memory", out, np.full(1000, 8))


def mapped_memory():
    values = cuda.mapped_array(1000, dtype=np.float32)
    values[:] = 4
    out = cuda.device_array(1000, np.float32)
    add[8, 128](values, values, out)
    tour.same("mapped memory", out.copy_to_host(), np.full(1000, 8))


def mathematics():
    a = np.linspace(0, 2, 500)
    out = cuda.device_array_like(a)
    functions[4, 128](cuda.to_device(a), out)
    tour.stop(
        "sine, exponential, root in double precision", out.copy_to_host(), np.sin(a) + np.exp(a) / np.sqrt(a + 1), 1e-12
    )


def its_own_reduction():
    tour.same(
        "its own reduction", cuda.reduce(lambda a, b: a + b)(cuda.to_device(np.arange(1000, dtype=np.float64))), 499500
    )


for stop in (
    vector_add,
    reduction_in_shared_memory,
    atomics,
    streams_events_and_pinned_memory,
    managed_memory,
    mapped_memory,
    mathematics,
    its_own_reduction,
):
    stop()
tour.end()
