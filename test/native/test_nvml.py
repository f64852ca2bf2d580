"""NVML for leased devices: pynvml, gpustat and nvitop as they come from PyPI, attached to GPUs in software, say what
CUDA says, to the byte.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from environments import environment
from servers import BUILD, COMMON, run, sanitizer_runtime, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon, native_env  # noqa: E402

PROGRAM = Path(__file__).resolve().parent.parent.parent / "native" / "test" / "programs" / "nvml_and_cuda.py"
PACKAGES = ["nvidia-ml-py==13.580.126", "gpustat==1.1.1", "nvitop==1.7.2", "psutil==7.2.2", "blessed==1.52.0"]
MEMORY = 1 << 30
CONTEXT = 3 << 20
# nvml.h 13.0, nvmlReturn_t
UNINITIALIZED, NOT_SUPPORTED, DRIVER_NOT_LOADED, TIMEOUT, GPU_IS_LOST = 1, 3, 9, 10, 15
XID = 8  # nvmlEventTypeXidCriticalError


def is_busy(said):
    """The percentage where it is at least half of the time; None where it is less, or nobody has measured yet."""
    return said if isinstance(said, int) and said >= 50 else None


class Talk:
    """A program that is spoken with: a line in, a line out."""

    def __init__(self, python, words, env):
        if BUILD.name == "asan":
            env = {**env, "LD_PRELOAD": sanitizer_runtime(), "ASAN_OPTIONS": env["ASAN_OPTIONS"] + ":halt_on_error=0"}
        self.errors = tempfile.TemporaryFile()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.errors}
        self.process = subprocess.Popen([python, PROGRAM, *map(str, words)], env=env, text=True, **pipes)

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            self.errors.seek(0)
            raise RuntimeError(f"it ended: {self.errors.read().decode(errors='replace')[-3000:]}")
        return json.loads(text)

    def ask(self, word=""):
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return self.line()

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
        self.errors.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


class Leased(unittest.TestCase):
    """GPUs in software, and programs of PyPI that see them by NVML."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = environment("nvml", PACKAGES)
        cls.python = cls.folder / "bin" / "python"

    def serve(self, devices=1, **options):
        daemon = GpuDaemon(
            "sim", devices=devices, options=("--sim-memory", str(MEMORY), "--sim-context", str(CONTEXT)), **options
        )
        self.addCleanup(daemon.stop)
        return daemon

    def attach(self, daemons, transport="shm", **options):
        attached = GpuAttached(daemons, transport, **options)
        self.addCleanup(attached.close)
        return attached


class Nvml(Leased):
    def lines(self, words, env):
        status, out, errors = run([self.python, PROGRAM, *words], env, preload=True)
        self.assertEqual(status, 0, errors[-3000:])
        return [json.loads(line) for line in out.splitlines()]

    def tool(self, name, *words, env):
        status, out, errors = run([self.folder / "bin" / name, *words], env, preload=True)
        self.assertEqual(status, 0, out[-2000:] + errors[-2000:])
        return out

    def compare(self, daemons, transport, share=None):
        attached = self.attach(daemons, transport, share=share)
        said, *looks, after = self.lines(["compare"], attached.env)
        self.assertEqual(after, {"error": UNINITIALIZED})
        self.assertEqual(said["cuda"], 13000)
        self.assertEqual(len(looks), 3)
        for number, look in enumerate(looks):
            self.assertEqual(len(look), said["count"])
            for index, one in enumerate(look):
                nvml, cuda = one["nvml"], one["cuda"]
                self.assertEqual({key: nvml[key] for key in cuda}, cuda, f"look {number}, device {index}")
                self.assertEqual(nvml["same"], [index] * 3)
                self.assertEqual(nvml["bus_id"].lower(), f"0000{cuda['pci']}")
                self.assertEqual(nvml["processes"], [[said["pid"], cuda["used"]]])
                self.assertEqual(nvml["graphics"], 0)
                # What nobody knows of a GPU in software is not made up.
                self.assertEqual(
                    [nvml[key] for key in ("temperature", "power", "serial")], [{"error": NOT_SUPPORTED}] * 3
                )
        # A context has its memory of the device before anything is asked for, and the rest is back in the end. With
        # several servers it comes in pages of 2 MiB.
        self.assertEqual(
            [looks[0][0]["nvml"]["used"], looks[1][0]["nvml"]["used"]],
            [CONTEXT, CONTEXT + (12345 + (1 << 20) if len(daemons) == 1 else 2 << 20)],
        )
        self.assertEqual(looks[2][0]["nvml"]["used"], CONTEXT)
        return looks

    def test_a_whole_device_is_what_cuda_says_it_is(self):
        for look in self.compare([self.serve()], "shm"):
            self.assertEqual(look[0]["nvml"]["total"], MEMORY)

    def test_a_share_is_what_cuda_says_it_is(self):
        for look in self.compare([self.serve()], "tls", share={"memory": 300 << 20, "compute": 0.5}):
            self.assertEqual(look[0]["nvml"]["total"], 300 << 20)

    def test_devices_of_several_daemons_are_one_list_in_cudas_order(self):
        look = self.compare([self.serve(devices=2), self.serve()], "tcp")[0]
        self.assertEqual(len(look), 3)
        self.assertEqual(len({one["nvml"]["uuid"] for one in look}), 3)
        self.assertEqual(len({one["nvml"]["bus_id"] for one in look}), 3)

    @staticmethod
    def same_moment(daemon, watcher):
        """What gpu smi is told before and after NVML was asked, where that is the same, and what NVML said."""

        def shown():
            return daemon.ask("leases")["leases"][-1]["devices"][0]["utilization"]

        time.sleep(0.1)  # NVML asks no more often than each 50 ms
        before, busy, after = shown(), watcher.ask()[0]["busy"], shown()
        return (before, busy) if before == after and is_busy(busy) else None

    def test_a_watcher_sees_the_others_of_its_lease_and_is_not_among_them(self):
        daemon = self.serve()
        for share in (None, {"memory": 512 << 20, "compute": 0.5}):
            with (
                self.subTest(share=share),
                GpuAttached([daemon], "shm", share=share) as attached,
                Talk(self.python, ["look"], attached.env) as watcher,
                Talk(self.python, ["work", 100 << 20], attached.env) as worker,
            ):
                working = worker.line()
                seen = watcher.ask()[0]
                self.assertEqual(seen["processes"], [[working["pid"], working["used"]]])
                self.assertEqual(
                    (seen["total"], seen["used"], seen["free"]), (working["total"], working["used"], working["free"])
                )
                self.assertGreater(working["used"], (100 << 20) + CONTEXT)  # and the code
                self.assertEqual(daemon.ask("leases")["leases"][-1]["devices"][0]["used"], working["used"])
                # Kernels without a pause: a second later it is nearly all of the time, and gpu smi has the same number.
                wait_until(lambda: is_busy(watcher.ask()[0]["busy"]), 60, "being busy")
                shown, busy = wait_until(
                    lambda: self.same_moment(daemon, watcher), 60, "asking twice between two looks of the daemon"
                )
                self.assertAlmostEqual(busy, shown * 100, delta=0.51)
                table = json.loads(self.tool("gpustat", "--json", env=attached.env))["gpus"][0]
                self.assertEqual(table["name"], "Flexrack Simulated GPU")
                self.assertEqual(
                    (table["memory.total"], table["memory.used"]), (working["total"] >> 20, working["used"] >> 20)
                )
                self.assertEqual([one["pid"] for one in table["processes"]], [working["pid"]])
                self.assertEqual((table["uuid"], table["temperature.gpu"]), (working["uuid"], None))
                # "100MiB / 1024MiB", or "100.0MiB / 1024MiB"
                told = re.search(
                    r"([\d.]+)MiB / ([\d.]+)MiB", self.tool("nvitop", "--once", "--ascii", env=attached.env)
                )
                self.assertIsNotNone(told)
                self.assertAlmostEqual(float(told[1]), working["used"] / 2**20, delta=1)
                self.assertEqual(float(told[2]), working["total"] / 2**20)
                self.assertEqual(worker.end(), 0)
                wait_until(lambda: watcher.ask()[0]["processes"] == [], 60, "the worker's end")
                self.assertEqual(watcher.ask()[0]["used"], 0)
                wait_until(lambda: watcher.ask()[0]["busy"] == 0, 60, "being idle")
                self.assertEqual(watcher.end(), 0)

    def test_a_share_has_room_for_its_context_or_none_at_all(self):
        daemon = self.serve()
        for memory, is_enough in ((CONTEXT - 1, False), (CONTEXT, True)):
            with (
                self.subTest(memory=memory),
                GpuAttached([daemon], "shm", share={"memory": memory, "compute": 0.5}) as attached,
            ):
                status, out, errors = run([self.python, PROGRAM, "compare"], attached.env, preload=True)
                self.assertNotEqual(status, 0)  # at the latest when it takes memory
                self.assertIn("cuMemAlloc_v2: 2" if is_enough else "cuDevicePrimaryCtxRetain: 2", errors)
                if is_enough:
                    self.assertEqual(json.loads(out.splitlines()[1])[0]["nvml"]["free"], 0)
                self.assertEqual(
                    wait_until(
                        lambda: [one["used"] for one in daemon.ask("leases")["leases"][-1]["devices"]] == [0],
                        60,
                        "giving back",
                    ),
                    True,
                )

    def test_leases_do_not_see_each_other(self):
        daemon = self.serve()
        one, other = (self.attach([daemon], share={"memory": 256 << 20, "compute": 0.5}) for _ in range(2))
        with (
            Talk(self.python, ["work", 64 << 20], one.env) as worker,
            Talk(self.python, ["look"], other.env) as watcher,
        ):
            worker.line()
            time.sleep(1.5)
            seen = watcher.ask()[0]
            self.assertEqual((seen["processes"], seen["used"], seen["busy"]), ([], 0, 0))

    def test_a_child_looks_for_itself(self):
        self.assertEqual(
            self.lines(["fork"], self.attach([self.serve()]).env), [["Flexrack Simulated GPU", MEMORY]] * 2
        )

    def test_without_a_lease_there_is_no_driver(self):
        env = {**os.environ, **COMMON, "LD_LIBRARY_PATH": str(BUILD / "drivers" / "cuda")}
        for leases in (None, "/nowhere/leases.json"):
            env.pop("FLEXRACK_LEASES", None)
            status, out, _ = run(
                [
                    self.python,
                    "-c",
                    "import pynvml\ntry: pynvml.nvmlInit()\nexcept pynvml.NVMLError as error: print(error.value)",
                ],
                env | ({"FLEXRACK_LEASES": leases} if leases else {}),
                preload=True,
            )
            self.assertEqual((status, out), (0, f"{DRIVER_NOT_LOADED}\n"))

    def test_a_lost_server_is_said_soon(self):
        daemon = self.serve()
        attached = self.attach([daemon], "tcp")
        with Talk(self.python, ["look"], attached.env) as watcher:
            self.assertEqual(watcher.ask()[0]["total"], MEMORY)
            workers = daemon.workers()
            self.assertEqual(len(workers), 1)
            daemon.process.kill()
            os.kill(workers[0], signal.SIGKILL)
            began = time.monotonic()
            self.assertEqual(watcher.ask(), [{"error": GPU_IS_LOST}])
            self.assertLess(time.monotonic() - began, 25)
            began = time.monotonic()
            self.assertEqual(watcher.ask(), [{"error": GPU_IS_LOST}])
            self.assertLess(time.monotonic() - began, 5)
            self.assertEqual(watcher.end(), 0)

    def test_a_lost_server_is_an_event_once(self):
        daemon = self.serve()
        attached = self.attach([daemon], "tcp")
        with Talk(self.python, ["events"], attached.env) as watcher:
            told = watcher.line()
            self.assertEqual(told, {"types": XID, "others": {"error": NOT_SUPPORTED}, "registered": None})
            self.assertEqual(watcher.ask(50), {"error": TIMEOUT})
            workers = daemon.workers()
            daemon.process.kill()
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
            self.assertEqual(watcher.ask(60000), {"type": XID, "data": 79, "first": True})
            self.assertEqual(watcher.ask(50), {"error": TIMEOUT})
            self.assertEqual(watcher.end(), 0)

    def test_a_server_that_is_silent_is_lost_too(self):
        daemon = self.serve()
        attached = self.attach([daemon], "tls")
        # CUDA in the same process would wait for half a minute.
        for words, sessions in ((["look"], 1), (["look", "cuda"], 2)):
            with self.subTest(words=words), Talk(self.python, words, attached.env) as watcher:
                self.assertEqual(watcher.ask()[0]["total"], MEMORY)
                workers = daemon.workers()
                self.assertEqual(len(workers), sessions)
                for worker in workers:
                    os.kill(worker, signal.SIGSTOP)
                began = time.monotonic()
                self.assertEqual(watcher.ask(), [{"error": GPU_IS_LOST}])
                self.assertLess(time.monotonic() - began, 25)
                for worker in workers:
                    os.kill(worker, signal.SIGKILL)
                wait_until(lambda: daemon.workers() == [], 60, "the workers' end")

    def test_a_lost_session_is_opened_again_by_the_next_beginning(self):
        daemon = self.serve()
        attached = self.attach([daemon])
        with Talk(self.python, ["look"], attached.env) as watcher:
            before = watcher.ask()
            os.kill(daemon.workers()[0], signal.SIGKILL)
            wait_until(lambda: daemon.workers() == [], 60, "the worker's end")
            self.assertEqual(watcher.ask(), [{"error": GPU_IS_LOST}])
            again = watcher.ask("again")
            self.assertEqual((again[0]["uuid"], again[0]["total"]), (before[0]["uuid"], before[0]["total"]))
            self.assertEqual(watcher.end(), 0)

    def test_names_that_the_application_has_as_well_are_the_applications_own(self):
        # TensorFlow's library has stubs of both drivers' functions, in front of everything that is opened later.
        names = "nvmlInit_v2 nvmlInit nvmlDeviceGetCount_v2 cuInit cuDeviceGetCount cuGetExportTable cuMemAlloc_v2"
        with tempfile.TemporaryDirectory() as folder:
            stubs = Path(folder) / "stubs.c"
            stubs.write_text("".join(f"int {name}(void) {{ return 99; }}\n" for name in names.split()))
            subprocess.run(["cc", "-shared", "-fPIC", "-o", f"{folder}/libstubs.so", stubs], check=True)
            asks = (
                "import ctypes, sys\n"
                "ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)\n"
                "nvml, cuda = ctypes.CDLL('libnvidia-ml.so.1'), ctypes.CDLL('libcuda.so.1')\n"
                "count, devices = ctypes.c_uint(), ctypes.c_int()\n"
                "print(nvml.nvmlInit(), nvml.nvmlDeviceGetCount(ctypes.byref(count)), count.value)\n"
                "print(cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(devices)), devices.value)\n"
            )
            command = [sys.executable, "-c", asks, f"{folder}/libstubs.so"]
            natively = run(command, native_env("sim", 2), preload=True)
            self.assertEqual(natively[:2], (0, "0 0 2\n0 0 2\n"), natively[2])
            daemon = GpuDaemon("sim")
            try:
                with GpuAttached([daemon], "shm") as attached:
                    remotely = run(command, attached.env, preload=True)
            finally:
                daemon.stop()
            self.assertEqual(remotely[:2], (0, "0 0 1\n0 0 1\n"), remotely[2])

    def test_every_name_is_there_or_said_not_to_be(self):
        """What pynvml looks up is in the library, or of a later NVML as docs/nvml-coverage.md says."""
        asked = set(
            re.findall(
                r'_nvmlGetFunctionPointer\("(nvml\w+)"',
                next(self.folder.glob("lib/python*/site-packages/pynvml.py")).read_text(),
            )
        )
        library = BUILD / "drivers" / "cuda" / "libnvidia-ml.so.1"
        symbols = subprocess.run(
            ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
        ).stdout
        there = set(re.findall(r" T (nvml\w+)", symbols))
        coverage = (Path(__file__).resolve().parent.parent.parent / "docs" / "nvml-coverage.md").read_text()
        absent = set(re.findall(r"^\| `(nvml\w+)` \|", coverage.split("## Not found")[1], re.MULTILINE))
        self.assertGreater(len(asked), 250)
        self.assertEqual(asked - there - absent, set())
