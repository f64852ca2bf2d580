"""The parts of a run. Each takes the machine and gives lines (results.line)."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from load import HERE, Load
from rack import GpuAttached, GpuDaemon
from results import left_out, line
from servers import run, wait_until
from cuda_programs import NATIVE, Build, build

# Larger than in the tests, so that a GPU has something to do.
SCALES = {
    "vector_add": 64,
    "matmul_tiled": 16,
    "reduction": 64,
    "scan": 64,
    "histogram": 64,
    "transpose": 16,
    "mlp": 4,
    "copies": 16,
    "many_launches": 10,
}
RATES = ("_GBps",)


class Machine:
    """`cases` maps native and each transport to the environment of its programs."""

    def __init__(self, backend, gpu, cases, programs=None, python="python3"):
        self.backend, self.gpu, self.cases, self.given, self.python = backend, gpu, cases, programs, python
        self.code = "ptx" if backend == "sim" else "native"

    def program(self, name, source=None):
        """Where a program of this name is, with the static runtime library."""
        if self.given:
            return self.given / "static" / name
        return Build(self.code).program(source)["static"] if source else build(self.code, [name])[name]["static"]

    def names(self):
        return sorted(path.stem for path in (NATIVE / "test" / "cuda").glob("*.cu"))


def timed(command, env, seconds=600):
    """(exit code, stdout, stderr, seconds), the better of two runs; a run that does not end is one that failed."""
    best = None
    for _ in range(2):
        start = time.perf_counter()
        try:
            code, out, err = run(command, env, seconds)
        except subprocess.TimeoutExpired:
            return -1, "", f"did not end within {seconds} s", seconds
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    return code, out, err, best


def side_by_side(machine, what, command, same=lambda out: out):
    """A program in every case: its time, and whether it says the same."""
    found = {case: timed(command, env) for case, env in machine.cases.items()}
    native = found["native"]
    notes = []
    for case, (code, out, err, _) in found.items():
        if code != 0:
            notes.append(f"{case} ended with {code}: {(out + err).strip()[-200:]}")
        elif same(out) != same(native[1]):
            notes.append(f"{case} says something else")
    values = {case: round(one[3], 4) for case, one in found.items() if one[0] == 0}
    # What fails natively is not ours.
    return line(what, values, "s", note="; ".join(notes), wrong=native[0] == 0 and bool(notes))


def programs(machine):
    if not machine.given:
        build(machine.code)  # all at once
    scales = {} if machine.backend == "sim" else SCALES
    return [
        side_by_side(
            machine,
            name,
            [machine.program(name), *([str(scales[name])] if name in scales else [])],
            without_sizes if name == "memory_cap" else lambda out: out,
        )
        for name in machine.names()
    ]


def without_sizes(out):
    """How much a whole GPU has free is another thing every time."""
    return [text for text in out.splitlines() if text.startswith(("ok", "NOT OK", "PASS", "FAIL"))]


def micro(machine):
    program = machine.program("cuda_micro", NATIVE / "bench" / "cuda_micro.cu")
    found, notes = {}, []
    for case, env in machine.cases.items():
        code, out, err, _ = timed([program], env)
        if code == 0:
            found[case] = json.loads(out)
        else:
            notes.append(f"{case} ended with {code}: {(out + err).strip()[-200:]}")
    if "native" not in found or notes:
        return [line("micro benchmark", {}, "", note="; ".join(notes), wrong=True)]
    lines = []
    for name in found["native"]:
        if name == "correct":
            continue
        unit = next((unit for end, unit in (("_us", "µs"), ("_ms", "ms"), ("_GBps", "GB/s")) if name.endswith(end)), "")
        what = name.rsplit("_", 1)[0].replace("_", " ")
        lines.append(
            line(
                what,
                {case: values[name] for case, values in found.items()},
                unit,
                "higher" if name.endswith(RATES) else "lower",
            )
        )
    return lines


def samples(machine):
    folder = os.environ.get("FLEXRACK_CUDA_SAMPLES")
    if not folder:
        return [left_out("cuda-samples", "FLEXRACK_CUDA_SAMPLES is not given")]
    names = sorted(
        path for path in Path(folder).rglob("*") if path.is_file() and os.access(path, os.X_OK) and not path.suffix
    )
    # They print times and names: that they end well is what is compared.
    return [side_by_side(machine, f"cuda-samples' {path.name}", [path], lambda out: "") for path in names]


def torch(machine):
    python = machine.python
    if machine.backend == "sim":
        return [left_out("PyTorch", "its kernels are machine code, which a GPU in software does not run")]
    if (
        subprocess.run([python, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True).returncode
        != 0
    ):
        return [left_out("PyTorch", f"{python} has no PyTorch that sees a GPU; --torch names one that has")]
    found = {}
    for case, env in machine.cases.items():
        done = subprocess.run([python, HERE / "torch_steps.py"], env=env, capture_output=True, text=True, timeout=1800)
        found[case] = {one["case"]: one for one in map(json.loads, filter(None, done.stdout.splitlines()))}
        if done.returncode != 0:
            print(done.stderr[-2000:], file=sys.stderr)
    lines = []
    for name, native in found["native"].items():
        ends = {
            case: cases.get(name, {"milliseconds": None, "loss": None, "note": "it did not get that far"})
            for case, cases in found.items()
        }
        notes = [f"{case}: {one['note']}" for case, one in ends.items() if one["note"]]
        notes += [
            f"{case} has loss {one['loss']}, native {native['loss']}"
            for case, one in ends.items()
            if one["loss"] is not None
            and native["loss"] is not None
            and abs(one["loss"] - native["loss"]) > 0.02 * abs(native["loss"])
        ]
        lines.append(
            line(
                f"{name}, a step",
                {case: one["milliseconds"] for case, one in ends.items() if one["milliseconds"] is not None},
                "ms",
                note="; ".join(notes),
                wrong=bool(notes) and not native["note"],
            )
        )
    return lines


def shares(machine):
    seconds = 10
    first = Load(machine, machine.cases["native"], seconds)
    alone = first.finish(120)
    with GpuDaemon(machine.backend) as daemon, GpuAttached([daemon], "tls") as whole:
        remote = Load(machine, whole.env, seconds, rounds=first.rounds).finish(120)
    with (
        GpuDaemon(machine.backend) as daemon,
        GpuAttached([daemon], "tls", share={"fraction": 0.5}) as one,
        GpuAttached([daemon], "tls", share={"fraction": 0.5}) as other,
    ):
        loads = [Load(machine, attached.env, seconds, rounds=first.rounds) for attached in (one, other)]
        ends = [load.finish(120) for load in loads]
        caps = [run([machine.program("memory_cap"), "managed"], attached.env, 600) for attached in (one, other)]
        memory = [attached.leases[0]["devices"][0]["memory"] for attached in (one, other)]
    total = sum(end[1] for end in ends)
    is_fair = total > 0 and abs(ends[0][1] / total - 0.5) <= 0.05
    over = lambda rounds: {"native": 1, "tls": round(rounds / alone[1], 4) if alone[1] else None}  # noqa: E731
    lines = [
        line(
            "one client with a whole GPU, its work over one native",
            over(remote[1]),
            "",
            "higher",
            note="" if remote[0] == 0 else remote[2],
            wrong=remote[0] != 0,
        ),
        line(
            "two clients at half a GPU each, work of both over one native",
            over(total),
            "",
            "higher",
            note="" if is_fair else f"one had {ends[0][1]} rounds, the other {ends[1][1]}",
            wrong=not is_fair or any(end[0] for end in ends),
        ),
    ]
    for index, ((code, out, err), bytes_) in enumerate(zip(caps, memory)):
        holds = code == 0 and f"total {bytes_}," in out
        lines.append(
            line(
                f"memory of half a GPU, client {index + 1}",
                {"tls": bytes_ / 2**20},
                "MiB",
                note="" if holds else (out + err).strip()[-300:],
                wrong=not holds,
            )
        )
    return lines


def faults(machine):
    from networks import Network, may_make_networks

    lines = []
    with GpuDaemon(machine.backend) as daemon, GpuAttached([daemon], "tls") as attached:
        load = Load(machine, attached.env, 120)
        for pid in daemon.workers():
            os.kill(pid, 9)
        start = time.monotonic()
        code, _, said = load.finish(60)
        # An error of the API, which the program prints before it ends by itself: no signal, no hanging.
        lines.append(
            line(
                "a killed worker: until its client has its error",
                {"tls": round(time.monotonic() - start, 2)},
                "s",
                note="" if code == 1 else f"ended with {code}: {said}",
                wrong=code != 1,
            )
        )
        again = Load(machine, attached.env, 1).finish(120)
        lines.append(
            line(
                "the next client of that lease computes",
                {"tls": None},
                "",
                note="yes" if again[0] == 0 else again[2],
                wrong=again[0] != 0,
            )
        )
    if not may_make_networks():
        return [*lines, left_out("a link that is down for five seconds", "network namespaces need root")]
    network = Network()
    try:
        with (
            GpuDaemon(machine.backend, address=network.here) as daemon,
            GpuAttached([daemon], "tls", prefix=network.prefix) as attached,
        ):
            load = Load(machine, attached.env, 12, network.prefix)
            network.cut()
            time.sleep(5)  # what is tried is this very length
            network.mend()
            code, _, said = load.finish(120)
            lines.append(
                line(
                    "a link that is down for five seconds costs time only",
                    {"tls": None},
                    "",
                    note="yes" if code == 0 else f"ended with {code}: {said}",
                    wrong=code != 0,
                )
            )
            wait_until(lambda: not daemon.workers(), 30, "the worker's end")
    finally:
        network.close()
    return lines
