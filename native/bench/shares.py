"""Two clients on one device, each with its share: which part of the device's time did each get, over ten seconds. Prints one JSON object of percents.
A client enqueues kernels without a pause, some always under way; its time is how many it got done times what one takes alone."""
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

SECONDS = 10
LONG, TINY = 400_000, 400   # rounds of the kernel's loop: some milliseconds, some microseconds
CLIENT = """
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
end = time.perf_counter() + float(sys.argv[3])
done = 0
while time.perf_counter() < end:
    some(each)
    done += each
print(json.dumps(done), flush=True)
"""


class Client:
    def __init__(self, daemon, interpreter, rounds, share):
        self.attached = Attached([daemon], "tls", share=share)
        words = [interpreter, "-c", CLIENT, str(rounds), str(8 if rounds == LONG else 256), str(SECONDS)]
        env = {**self.attached.env, "PYOPENCL_CTX": "0", "PYOPENCL_NO_CACHE": "1"}
        self.process = subprocess.Popen([str(word) for word in words], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def done(self):
        count = json.loads(self.process.stdout.readline())
        self.process.wait()
        self.attached.close()
        return count


def kernels(daemon, interpreter, clients):
    """How many each got done; `clients` are (rounds, share) each."""
    started = [Client(daemon, interpreter, rounds, share) for rounds, share in clients]
    time.sleep(0.5)
    for client in started:
        client.go()
    return [client.done() for client in started]


def main():
    interpreter = environment("shares", ["pyopencl", "numpy"]) / "bin" / "python"
    with Daemon(devices=1) as daemon:
        def count(*clients):
            return kernels(daemon, interpreter, clients)
        whole, = count((LONG, {}))
        tiny_whole, = count((TINY, {}))
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
        answer["a flood of tiny kernels beside long ones, half each"] = [percent(tiny, tiny_whole), percent(long, whole)]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
