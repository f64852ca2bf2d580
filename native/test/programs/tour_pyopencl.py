"""What pyopencl offers above plain OpenCL, each once: prints digests and sums. Nothing is random."""

import hashlib

import numpy as np
import pyopencl as cl
import pyopencl.array as arrays
from pyopencl.algorithm import RadixSort, copy_if
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def main():
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context)
    host = (np.arange(100_003, dtype=np.int64) * 7919 % 10_007).astype(np.int32)
    device = arrays.to_device(queue, host)
    print(
        "arithmetic",
        digest((device * 3 + 1 - device).get()),
        int(arrays.sum(device).get()),
        int(arrays.max(device).get()),
    )
    print("slices", digest(device[10:1000].get()), digest(device.astype(np.float32).get()))
    axpy = ElementwiseKernel(context, "int a, int *x, int *y", "y[i] = a * x[i] + y[i]", "axpy")
    other = arrays.zeros_like(device)
    axpy(np.int32(5), device, other)
    print("elementwise", digest(other.get()))
    squares = ReductionKernel(
        context, np.int64, neutral="0", reduce_expr="a+b", map_expr="(long)x[i]*x[i]", arguments="__global const int *x"
    )
    print("reduction", int(squares(device).get()))
    scan = GenericScanKernel(
        context,
        np.int32,
        arguments="__global int *ary",
        input_expr="ary[i]",
        scan_expr="a+b",
        neutral="0",
        output_statement="ary[i] = item;",
    )
    scanned = device.copy()
    scan(scanned)
    print("scan", digest(scanned.get()), bool((scanned.get() == np.cumsum(host).astype(np.int32)).all()))
    kept, count, _ = copy_if(device, "ary[i] > 5000", queue=queue)
    print("copy_if", int(count.get()), digest(kept.get()[: int(count.get())]))
    sort = RadixSort(context, "int *ary", key_expr="ary[i]", sort_arg_names=["ary"])
    (ordered,), _ = sort(device, queue=queue)
    print("sort", bool((ordered.get() == np.sort(host)).all()))
    matrix = arrays.to_device(queue, np.arange(64 * 48, dtype=np.float32).reshape(64, 48))
    print("transpose", digest(matrix.T.copy().get()))
    image = cl.image_from_array(context, np.arange(32 * 16 * 4, dtype=np.uint8).reshape(16, 32, 4), 4)
    back = np.empty((16, 32, 4), np.uint8)
    cl.enqueue_copy(queue, back, image, origin=(0, 0), region=(32, 16))
    print("image", digest(back))
    mapped, _ = cl.enqueue_map_buffer(queue, device.data, cl.map_flags.READ, 0, (1000,), np.int32)
    print("map", digest(mapped))
    mapped.base.release(queue)
    try:
        cl.Program(context, "kernel void broken(global int* a) { a[0] = nothing; }").build()
    except cl.RuntimeError as error:
        print("build error", "nothing" in str(error))
    try:
        cl.Buffer(context, cl.mem_flags.READ_WRITE, 0)
    except cl.LogicError as error:
        print("error", error.code, error.routine)


if __name__ == "__main__":
    main()
