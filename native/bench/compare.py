"""Runs the OpenCL micro benchmark and the programs natively, over each transport, and through the peer where it is
given, all in one go and taking turns. Prints one JSON object of medians: {"floor": {...}, "native": {...}, "tcp":
{...}, ...}. The peer (PoCL's remote driver) is built elsewhere: FLEXRACK_BENCH_POCLD is its daemon,
FLEXRACK_BENCH_POCLR_VENDORS the vendors folder of its driver.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / "test" / "native"))
os.environ.setdefault("FLEXRACK_NATIVE_BUILD", str(here.parent / "build" / "release"))
from servers import BUILD, Attached, Daemon, native_env, run, wait_until  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", 5))
PEER = {"daemon": os.environ.get("FLEXRACK_BENCH_POCLD"), "vendors": os.environ.get("FLEXRACK_BENCH_POCLR_VENDORS")}


def measured(words, env):
    """The lines of flexrack-bench as one."""
    code, out, err = run([BUILD / "flexrack-bench", *words], env)
    if code != 0:
        raise SystemExit(f"flexrack-bench {' '.join(words)} ended with {code}: {out}{err}")
    return {name: value for line in out.splitlines() for name, value in json.loads(line).items()}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Peer:
    """PoCL-R on loopback, its daemon over the same PoCL device."""

    def __init__(self, folder):
        self.port = free_port()
        self.log = open(Path(folder) / "pocld.log", "wb")
        self.process = subprocess.Popen(
            [PEER["daemon"], "-a", "127.0.0.1", "-p", str(self.port)],
            env=native_env(1),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        wait_until(self.answers, 20, "the peer's start")
        self.env = {
            **os.environ,
            "OCL_ICD_VENDORS": PEER["vendors"],
            "POCL_DEVICES": "remote",
            "POCL_REMOTE0_PARAMETERS": f"127.0.0.1:{self.port}/0",
        }

    def answers(self):
        ports = {
            line.split()[1].split(":")[1]
            for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
            if line.split()[3] == "0A"
        }
        return f"{self.port:04X}" in ports

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def median(samples):
    names = [name for name, value in samples[0].items() if not isinstance(value, str)]
    return {name: statistics.median(sample[name] for sample in samples) for name in names}


def main():
    with tempfile.TemporaryDirectory(prefix="flexrack-bench-") as folder, ExitStack() as open_ends:
        # A daemon each: every lease is of the whole device, and only one of them works at a time.
        attached = {}
        for transport in ("tcp", "tls", "shm"):
            daemon = open_ends.enter_context(Daemon(devices=1, transport="tcp" if transport == "tcp" else "auto"))
            attached[transport] = open_ends.enter_context(Attached([daemon], transport))
        peer = open_ends.enter_context(closing(Peer(folder))) if all(PEER.values()) else None
        if not peer:
            print(
                "!! the peer is not measured: FLEXRACK_BENCH_POCLD and FLEXRACK_BENCH_POCLR_VENDORS are not both given",
                file=sys.stderr,
            )
        cases = {
            "native": native_env(1),
            **{name: one.env for name, one in attached.items()},
            **({"peer": peer.env} if peer else {}),
        }
        samples = {name: [] for name in [*cases, "floor"]}
        for _ in range(ROUNDS):
            samples["floor"].append(measured(["loopback"], native_env(1)))
            for name, env in cases.items():
                # The same work for everybody.
                samples[name].append(measured(["opencl", "--spin", "400"], env))
    print(json.dumps({name: median(found) for name, found in samples.items()}))


if __name__ == "__main__":
    main()
