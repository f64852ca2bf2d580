"""Runs the CUDA driver benchmark natively on a simulated GPU that does no work, and over each transport, beside the
wire alone, all in one go and taking turns. Prints one JSON object of medians: {"floor": {...}, "wire": {transport:
{...}}, "shaped": the same at 10 Gb/s, "native": {...}, "tcp": {...}, ..., "trips": {transport: {...}}}.
"""

import json
import os
import re
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent.parent / "test" / "native"), str(here.parent / "test" / "gpu")]
os.environ.setdefault("FLEXRACK_NATIVE_BUILD", str(here.parent / "build" / "release"))
from compare import measured, median  # noqa: E402
from rack import GpuAttached, GpuDaemon, native_env  # noqa: E402
from servers import BUILD, run  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", 5))
TRANSPORTS = ("shm", "tcp", "tls")


def wire():
    """{transport: what a link alone takes}, "raw tcp" among them."""
    code, out, err = run([BUILD / "flexrack-link-bench", *TRANSPORTS], native_env("sim"))
    if code != 0:
        raise SystemExit(f"flexrack-link-bench ended with {code}: {out}{err}")
    return {one.pop("link"): one for one in map(json.loads, out.splitlines())}


def shaped(gigabits=10):
    """The same over a loopback of that many gigabits a second, in a network namespace that ends with the program;
    nothing where this machine does not allow one.
    """
    script = (
        f"ip link set lo up && tc qdisc add dev lo root tbf rate {gigabits}gbit burst 1mb latency 20ms && "
        f"exec '{BUILD}/flexrack-link-bench' tcp tls"
    )
    code, out, err = run(["unshare", "--net", "sh", "-c", script], native_env("sim"))
    if code != 0:
        print(f"no loopback of {gigabits} Gb/s here: {err.strip()}", file=sys.stderr)
        return None
    return {one.pop("link"): one for one in map(json.loads, out.splitlines())}


def trips(env):
    """Questions that this program waited for, from the start to the end of its first launch; of all of its messages the
    numbers and counts.
    """
    with tempfile.TemporaryDirectory(prefix="flexrack-bench-") as folder:
        trace = Path(folder) / "trace"
        measured(["cuda", "--first-launch"], {**env, "FLEXRACK_TRACE": str(trace)})
        calls = re.findall(r" call (\w+) took", trace.read_text())
        if not calls:
            raise RuntimeError("the client wrote no trace")
    return {"blocking": len(calls), "of": {call: calls.count(call) for call in sorted(set(calls))}}


def main():
    with ExitStack() as open_ends:
        attached = {}
        for transport in TRANSPORTS:
            daemon = open_ends.enter_context(GpuDaemon("sim", transport="tcp" if transport == "tcp" else "auto"))
            attached[transport] = open_ends.enter_context(GpuAttached([daemon], transport))
        cases = {"native": native_env("sim"), **{name: one.env for name, one in attached.items()}}
        samples = {name: [] for name in [*cases, "floor"]}
        wires, slow = [], []
        for _ in range(ROUNDS):
            samples["floor"].append(measured(["loopback"], native_env("sim")))
            wires.append(wire())
            slow.append(shaped())
            for name, env in cases.items():
                samples[name].append(measured(["cuda"], env))
        answer = {name: median(found) for name, found in samples.items()}
        answer["wire"] = {name: median([one[name] for one in wires]) for name in wires[0]}
        if all(slow):
            answer["shaped"] = {name: median([one[name] for one in slow]) for name in slow[0]}
        answer["trips"] = {name: trips(one.env) for name, one in attached.items()}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
