"""One CUDA program on many devices of many daemons, and many programs on one device."""

import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import ExitStack
from pathlib import Path

from cuda_programs import build
from servers import BUILD, run, sanitizer_runtime
from test_cuda_programs import sim_env

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "native" / "test" / "gpu"))
from rack import GpuAttached, GpuDaemon  # noqa: E402

MEMORY = "64MiB"


class CudaMany(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.programs = build(names=["peer", "together", "vector_add"])

    def daemons(self, count, devices):
        """So many, each with so many devices; ended with the test. A daemon of its own machine has devices that no
        other has: hence the seeds.
        """
        with ExitStack() as started:
            all_of_them = [
                started.enter_context(
                    GpuDaemon("sim", devices, options=("--sim-memory", MEMORY), env={"FLEXRACK_SIM_SEED": str(number)})
                )
                for number in range(count)
            ]
            self.addCleanup(started.pop_all().close)
        return all_of_them

    def on_all(self, count, devices, transport, runtime):
        """Each device computes, each copies to others, and what all do is what as many devices of this machine do."""
        daemons = self.daemons(count, devices)
        program = self.programs["peer"][runtime]
        native = run([program], sim_env(devices=count * devices, memory=MEMORY), preload=True)
        with GpuAttached(daemons, transport) as attached:
            remote = run([program], attached.env, preload=True)
        self.assertEqual(
            remote[:2], native[:2], remote[2][-2000:] + "".join(daemon.said()[-500:] for daemon in daemons)
        )
        lines = remote[1].splitlines()
        self.assertEqual((lines[0], lines[-1]), (f"{count * devices} devices", "PASS"))

    def test_8_devices_of_4_daemons(self):
        self.on_all(4, 2, "tls", "static")

    def test_many_devices_of_8_daemons(self):
        """64 of them in the long tests: each copies to each, so that is 16 times as much as with 16."""
        self.on_all(8, 8 if "FLEXRACK_LONG" in os.environ else 2, "tcp", "shared")

    def both_at_once(self, environments):
        """Two processes that only end well where each saw the other compute."""
        program = self.programs["together"]["static"]
        with tempfile.TemporaryDirectory(prefix="flexrack-together-") as folder:
            files = [Path(folder) / name for name in ("one", "other")]
            started = []
            for env, mine, theirs in zip(environments, files, reversed(files)):
                if BUILD.name == "asan":
                    env = {**env, "LD_PRELOAD": sanitizer_runtime()}
                started.append(
                    subprocess.Popen(
                        [program, mine, theirs],
                        env=env,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        text=True,
                    )
                )
            for one in started:
                self.addCleanup(one.kill)
                out, err = one.communicate(timeout=120)
                self.assertEqual((one.returncode, out.splitlines()[-1:]), (0, ["PASS"]), out + err[-2000:])

    def test_two_programs_of_one_lease_share_a_device(self):
        with GpuAttached(self.daemons(1, 1), "shm") as attached:
            self.both_at_once([attached.env] * 2)

    def test_two_leases_of_half_a_device_share_it(self):
        daemons = self.daemons(1, 1)
        share = {"fraction": 0.5}
        with GpuAttached(daemons, "tls", share=share) as one, GpuAttached(daemons, "tls", share=share) as other:
            self.both_at_once([one.env, other.env])
            longest = [
                share["longest_launch"] for one in daemons[0].ask("leases")["leases"] for share in one["devices"]
            ]
            self.assertEqual(len(longest), 2)
            for seconds in longest:
                self.assertGreater(seconds, 0)  # None, where none was timed
