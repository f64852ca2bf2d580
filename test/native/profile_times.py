"""A program that asks of every kind of command, small and large, when it was queued, submitted, started and ended; one
line for each that is not told in that order.
"""

import ctypes
import sys

from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

cl = ctypes.CDLL("libOpenCL.so.1")
PROFILING, READ_WRITE, MAP_READ, MAP_WRITE, QUEUED = 2, 1, 1, 2, 0x1280
ROUNDS = 3
SIZES = [4, 4096, 65536, 131072, 1 << 20, 8 << 20]
wrong = 0


def made(function, *arguments):
    """What a clCreate... or clEnqueueMap... gives."""
    status = c_int()
    function.restype = c_void_p
    found = function(*arguments, byref(status))
    if status.value:
        sys.exit(f"{function.__name__}: {status.value}")
    return c_void_p(found)


def look(what, size, function, *arguments):
    """Enqueues, waits and asks."""
    event = c_void_p()
    if function.restype is c_void_p:
        given = made(function, *arguments, 0, None, byref(event))
    else:
        given, status = None, function(*arguments, 0, None, byref(event))
        if status:
            sys.exit(f"{what} of {size}: {status}")
    cl.clWaitForEvents(1, byref(event))
    times = [c_uint64() for _ in range(4)]
    statuses = [
        cl.clGetEventProfilingInfo(event, QUEUED + index, c_size_t(8), byref(time), None)
        for index, time in enumerate(times)
    ]
    values = [time.value for time in times]
    if any(statuses) or values[0] == 0 or values != sorted(values):
        global wrong
        wrong += 1
        print(f"{what} of {size}: {statuses} {values}")
    cl.clReleaseEvent(event)
    return given


platform, device = c_void_p(), c_void_p()
cl.clGetPlatformIDs(1, byref(platform), None)
cl.clGetDeviceIDs(platform, c_uint64(0xFFFFFFFF), 1, byref(device), None)
context = made(cl.clCreateContext, None, 1, byref(device), None, None)
queue = made(cl.clCreateCommandQueue, context, device, c_uint64(PROFILING))
source = c_char_p(b"kernel void more(global int *a) { a[get_global_id(0)] += 1; }")
program = made(cl.clCreateProgramWithSource, context, 1, byref(source), None)
if cl.clBuildProgram(program, 1, byref(device), None, None, None):
    sys.exit("the kernel cannot be built")
kernel = made(cl.clCreateKernel, program, c_char_p(b"more"))
host = ctypes.create_string_buffer(max(SIZES))
cl.clEnqueueMapBuffer.restype = c_void_p
origin, region = (c_size_t * 3)(0, 0, 0), c_size_t * 3
for size in SIZES * ROUNDS:
    one, other = (made(cl.clCreateBuffer, context, c_uint64(READ_WRITE), c_size_t(size), None) for _ in range(2))
    from_zero, whole, box = c_size_t(0), c_size_t(size), region(size // 4, 4, 1)
    rows = [c_size_t(0)] * 4
    for blocking in (0, 1):
        way = "blocking " if blocking else ""
        look(f"{way}write", size, cl.clEnqueueWriteBuffer, queue, one, blocking, from_zero, whole, host)
        look(f"{way}read", size, cl.clEnqueueReadBuffer, queue, one, blocking, from_zero, whole, host)
        look(
            f"{way}write of a box",
            size,
            cl.clEnqueueWriteBufferRect,
            queue,
            one,
            blocking,
            origin,
            origin,
            box,
            *rows,
            host,
        )
        look(
            f"{way}read of a box",
            size,
            cl.clEnqueueReadBufferRect,
            queue,
            one,
            blocking,
            origin,
            origin,
            box,
            *rows,
            host,
        )
        mapped = look(
            f"{way}map",
            size,
            cl.clEnqueueMapBuffer,
            queue,
            one,
            blocking,
            c_uint64(MAP_READ | MAP_WRITE),
            from_zero,
            whole,
        )
        look("unmap", size, cl.clEnqueueUnmapMemObject, queue, one, mapped)
    look("fill", size, cl.clEnqueueFillBuffer, queue, one, byref(c_uint(5)), c_size_t(4), from_zero, whole)
    look("copy", size, cl.clEnqueueCopyBuffer, queue, one, other, from_zero, from_zero, whole)
    look("migration", size, cl.clEnqueueMigrateMemObjects, queue, 1, byref(one), c_uint64(0))
    cl.clSetKernelArg(kernel, 0, c_size_t(8), byref(one))
    look("kernel", size, cl.clEnqueueNDRangeKernel, queue, kernel, 1, None, byref(c_size_t(size // 4)), None)
    for name in ("Marker", "Barrier"):
        look(name, size, getattr(cl, f"clEnqueue{name}WithWaitList"), queue)
    for memory in (one, other):
        cl.clReleaseMemObject(memory)
print(f"{wrong} of {len(SIZES) * ROUNDS * 18} commands were told wrongly")
