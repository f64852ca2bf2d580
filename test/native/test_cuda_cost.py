"""What CUDA asks of the server while a program waits: the way to the first launch, and questions that a client answers
by itself. The numbers may only go down.
"""

import sys
import tempfile
import unittest
from pathlib import Path

from servers import BUILD, run
from traces import counted

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

# The devices, the context, the module with its kernels, and the wait for the launch.
FIRST_LAUNCH = 4
# As many as a step of a small network asks for around six launches.
LOCAL = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def check(status): assert status == 0, status
check(cuda.cuInit(0))
context, value, text = ctypes.c_void_p(), ctypes.c_int(), ctypes.create_string_buffer(100)
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
print(open(TRACE).read().count(" took "))
for number in range(716): check(cuda.cuDeviceGetAttribute(ctypes.byref(value), 1 + number % 100, 0))
for _ in range(254): check(cuda.cuCtxGetDevice(ctypes.byref(value)))
for _ in range(100):
    check(cuda.cuDeviceGetCount(ctypes.byref(value)))
    check(cuda.cuDeviceGetName(text, 100, 0))
    check(cuda.cuCtxGetCurrent(ctypes.byref(context)))
    check(cuda.cuCtxGetStreamPriorityRange(ctypes.byref(value), ctypes.byref(value)))
    check(cuda.cuDriverGetVersion(ctypes.byref(value)))
print(open(TRACE).read().count(" took "))
"""


class CudaCost(unittest.TestCase):
    def traced(self, command):
        """(what it printed, the questions that it waited for)"""
        with (
            GpuDaemon("sim") as daemon,
            GpuAttached([daemon], "tls") as attached,
            tempfile.TemporaryDirectory(prefix="flexrack-trace-") as folder,
        ):
            trace = Path(folder) / "trace"
            trace.touch()
            words = [word.replace("TRACE", repr(str(trace))) for word in command]
            code, out, err = run(words, {**attached.env, "FLEXRACK_TRACE": str(trace)}, preload=True)
            self.assertEqual(code, 0, out + err[-2000:])
            return out, [name for what, name in counted(trace.read_text()) if what == "call"]

    def test_the_way_to_the_first_launch(self):
        _, calls = self.traced([str(BUILD / "flexrack-bench"), "cuda", "--first-launch"])
        self.assertLessEqual(len(calls), FIRST_LAUNCH, calls)
        self.assertGreater(len(calls), 0, "nothing was traced")

    def test_what_the_client_knows_does_not_travel(self):
        out, calls = self.traced([sys.executable, "-c", LOCAL])
        before, after = map(int, out.split())
        self.assertGreater(before, 0, "nothing was traced")
        self.assertEqual(before, after, calls)
