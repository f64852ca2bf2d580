"""Runs a framework's tour on a GPU in software: natively, and attached to it over shared memory and over TLS. Every value is beside the CPU's.

    python3 test/native/frameworks/compare.py [NAME...]      a table of what was computed (FLEXRACK_NATIVE_BUILD names another build)

A tour is a program here, NAME_tour.py, and a lock file of what it needs, NAME.txt (npm run locks)."""
import json
import os
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent.parent / "native" / "test" / "gpu")]
from environments import locked_environment  # noqa: E402  (after the path)
from rack import GpuAttached, GpuDaemon, native_env  # noqa: E402
from servers import BUILD, run  # noqa: E402

WAYS = ("natively", "shm", "tls")
SECONDS = 3000
# A stand-in for ptxas, as `flexrack attach` sets it for a GPU in software: PTX goes on as it is.
PASSTHROUGH = str(HERE.parent.parent.parent / "native" / "lease_keeper" / "flexrack-ptx-passthrough.sh")


class Framework:
    """`shown`: the package whose version the table shows. `parts`: arguments of the tour, one run each. `env`: what it is told. `ways`: those in which it can be."""

    def __init__(self, name, shown, parts=((),), env=None, lock=None, profile="blackwell", ways=WAYS):
        self.name, self.shown, self.parts, self.env, self.lock, self.profile, self.ways = name, shown, parts, env or {}, lock or name, profile, ways

    def python(self):
        return locked_environment(f"framework-{self.lock}", HERE / f"{self.lock}.txt") / "bin" / "python"

    def version(self):
        return next(line for line in (HERE / f"{self.lock}.txt").read_text().splitlines() if line.startswith(f"{self.shown}==")).split("==")[1].split(" ")[0]


PTXAS = {"TRITON_PTXAS_PATH": PASSTHROUGH, "TRITON_PTXAS_BLACKWELL_PATH": PASSTHROUGH}
FRAMEWORKS = {one.name: one for one in (
    Framework("onnxruntime", "onnxruntime-gpu"),
    Framework("cupy", "cupy-cuda13x", env={"CUPY_COMPILE_WITH_PTX": "1", "CUPY_ACCELERATORS": ""}),
    Framework("triton", "triton", env=PTXAS),
    Framework("xgboost", "xgboost"),
    Framework("warp", "warp-lang"),
    Framework("taichi", "taichi"),
    # Attached, its kernels would wait for memory of the application that a thread of it writes meanwhile.
    Framework("nccl", "nvidia-nccl-cu13", ways=("natively",)),
    Framework("torch_compile", "torch", parts=(("element-wise", "mlp"), ("transformer",), ("digits",)), env=PTXAS, lock="torch"),
)}


def tour(framework, env, words=()):
    """(exit code, stops, seconds, what went to stderr) of one run."""
    with tempfile.TemporaryDirectory(prefix="flexrack-framework-") as folder:
        caches = {"TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "TRITON_CACHE_DIR": f"{folder}/triton", "CUPY_CACHE_DIR": f"{folder}/cupy", "WARP_CACHE_PATH": f"{folder}/warp"}
        python = framework.python()
        began = time.monotonic()
        code, out, err = run([python, HERE / f"{framework.name}_tour.py", *words], {**env, **caches, **framework.env}, seconds=SECONDS, preload=True)
        seconds = time.monotonic() - began
    stops = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return (code if out.splitlines()[-1:] == ["PASS"] else code or 1), stops, seconds, out[-1500:] + err[-3000:]


def each_way(framework, words=()):
    """Yields (way, exit code, stops, seconds, text) for each way, one daemon for all that are remote."""
    ways = framework.ways
    settings = {"FLEXRACK_SIM_PROFILE": framework.profile}
    if "natively" in ways:
        yield ("natively", *tour(framework, {**native_env("sim"), **settings}, words))
    remote = [way for way in ways if way != "natively"]
    if not remote:
        return
    daemon = GpuDaemon("sim", env=settings)
    try:
        for way in remote:
            with GpuAttached([daemon], way) as attached:
                yield (way, *tour(framework, attached.env, words))
    finally:
        daemon.stop()


def largest(stops):
    return max((stop["difference"] for stop in stops if "difference" in stop), default=0.0)


def main(names):
    print(f"build: {BUILD.name}; processor: {os.cpu_count()} cores\n| framework | version | stops | largest difference | natively | shm | tls |\n|---|---|---|---|---|---|---|")
    for framework in [FRAMEWORKS[name] for name in names] if names else FRAMEWORKS.values():
        for words in framework.parts:
            rows = {way: (code, stops, seconds, text) for way, code, stops, seconds, text in each_way(framework, words=words)}
            for way, (code, _, _, text) in rows.items():
                if code != 0:
                    print(f"{framework.name} {' '.join(words)} {way}: {text}", file=sys.stderr)
            stops = rows["natively"][1]
            times = ["cannot" if way not in rows else f"{rows[way][2]:.1f} s" if rows[way][0] == 0 else "FAILED" for way in WAYS]
            print(f"| {framework.name} {' '.join(words)} | {framework.version()} | {len(stops)} | {largest(stops):.1e} | {' | '.join(times)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
