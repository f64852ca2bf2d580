"""Two clients on one device, each with its share: which part of the device's time did each get, over ten seconds.
Prints one JSON object of percents. A client enqueues kernels without a pause, some always under way; its time is how
many it got done times what one takes alone.

shares.py opencl|cuda [SECONDS]     PoCL, or the GPU in software
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / "test" / "native"))
os.environ.setdefault("FLEXRACK_NATIVE_BUILD", str(here.parent / "build" / "release"))
from environments import environment  # noqa: E402
from servers import Attached, Daemon  # noqa: E402

sys.path.insert(0, str(here.parent / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

SECONDS = 10
LONG, TINY = 400_000, 400  # rounds of the kernel's loop: some milliseconds, some microseconds
LOOP = """
end = time.perf_counter() + float(sys.argv[3])
done = 0
while time.perf_counter() < end:
    some(each)
    done += each
print(json.dumps(done), flush=True)
"""
OPENCL = (
    """
import sys, time, json
import numpy as np, pyopencl as cl
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
kernel = cl.Kernel(cl.Program(context, "kernel void spin(global float* a, int n) { size_t i = get_global_id(0); float v = a[i]; for (int r = 0; r < n; r++) v = v * 1.0001f + 0.5f; a[i] = v; }").build(), "spin")
memory = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * 64)
kernel.set_args(memory, np.int32(int(sys.argv[1])))
def some(count):
    for _ in range(count): cl.enqueue_nd_range_kernel(queue, kernel, (64,), (8,))
    queue.finish()
each = int(sys.argv[2])
some(each)
print("ready", flush=True)
sys.stdin.readline()
"""
    + LOOP
)
# The GPU in software runs an instruction of 32 threads where PoCL has run many: fewer rounds take as long.
SLOWER = 20
CUDA = (
    """
import ctypes, json, sys, time
PTX = b'''.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u32 rounds) {
  .reg .pred %p;
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, %r1;
  @%p bra again;
  ret;
}
'''
driver = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status: raise RuntimeError(f"{name}: {status}")
context, module, kernel, rounds = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint(int(sys.argv[1]))
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), PTX)
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"spin")
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(rounds))
def some(count):
    for _ in range(count): call("cuLaunchKernel", kernel, 8, 1, 1, 32, 1, 1, 0, None, parameters, None)
    call("cuCtxSynchronize")
each = int(sys.argv[2])
some(each)
print("ready", flush=True)
sys.stdin.readline()
"""
    + LOOP
)


class Client:
    def __init__(self, api, daemon, interpreter, rounds, share, seconds):
        is_cuda = api == "cuda"
        self.attached = (GpuAttached if is_cuda else Attached)([daemon], "tls", share=share)
        words = [
            interpreter,
            "-c",
            CUDA if is_cuda else OPENCL,
            str(rounds // SLOWER if is_cuda else rounds),
            str(8 if rounds == LONG else 256),
            str(seconds),
        ]
        env = {**self.attached.env, "PYOPENCL_CTX": "0", "PYOPENCL_NO_CACHE": "1"}
        self.process = subprocess.Popen(
            [str(word) for word in words], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "ready\n"

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def done(self):
        count = json.loads(self.process.stdout.readline())
        self.process.wait()
        self.attached.close()
        return count


def kernels(api, daemon, interpreter, seconds, clients):
    """How many each got done; `clients` are (rounds, share) each."""
    started = [Client(api, daemon, interpreter, rounds, share, seconds) for rounds, share in clients]
    time.sleep(0.5)
    for client in started:
        client.go()
    return [client.done() for client in started]


def main(api, seconds=SECONDS):
    interpreter = sys.executable if api == "cuda" else environment("shares", ["pyopencl", "numpy"]) / "bin" / "python"
    with GpuDaemon("sim") if api == "cuda" else Daemon(devices=1) as daemon:

        def count(*clients):
            return kernels(api, daemon, interpreter, seconds, clients)

        (whole,) = count((LONG, {}))
        (tiny_whole,) = count((TINY, {}))
        half, quarter, most = {"fraction": 0.5}, {"fraction": 0.25}, {"fraction": 0.75}
        percent = lambda done, alone: round(100 * done / alone, 1)  # noqa: E731
        answer = {}
        a, b = count((LONG, half), (LONG, half))
        answer["half and half"] = [percent(a, a + b), percent(b, a + b)]
        a, b = count((LONG, quarter), (LONG, most))
        answer["a quarter and three quarters"] = [percent(a, a + b), percent(b, a + b)]
        answer["alone with a half"] = [percent(count((LONG, half))[0], whole)]
        answer["alone with a quarter, capped"] = [percent(count((LONG, {**quarter, "cap": True}))[0], whole)]
        tiny, long = count((TINY, half), (LONG, half))
        answer["a flood of tiny kernels beside long ones, half each"] = [
            percent(tiny, tiny_whole),
            percent(long, whole),
        ]
    print(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:]))
