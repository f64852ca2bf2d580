"""Runs a framework's tour on a GPU in software: natively, and attached to it over shared memory and over TLS. Every
value is beside the CPU's.

    python3 test/native/frameworks/compare.py [NAME[:PART]...]    a table of what was computed (FLEXRACK_NATIVE_BUILD names another build)
    python3 test/native/frameworks/compare.py --write [NAME...]   and puts its rows where docs/software-gpu.md has them

A tour is a program here, NAME_tour.py, and a lock file of what it needs, NAME.txt (npm run locks).
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent.parent / "native" / "test" / "gpu")]
from environments import locked_environment  # noqa: E402  (after the path)
from llama_modules import modules  # noqa: E402
from rack import GpuAttached, GpuDaemon, native_env  # noqa: E402
from servers import BUILD, run  # noqa: E402

WAYS = ("natively", "shm", "tls")
SECONDS = 3000
# A stand-in for ptxas, as `flexrack attach` sets it for a GPU in software: PTX goes on as it is.
PASSTHROUGH = str(HERE.parent.parent.parent / "native" / "lease_keeper" / "flexrack-ptx-passthrough.sh")


PAGE = HERE.parent.parent.parent / "docs" / "software-gpu.md"
HEAD = "| framework | version | what | values | largest difference | natively | shm | tls |"


@contextlib.contextmanager
def attached_to_one(framework, way, cache):
    """The environment of a program with one GPU."""
    daemon = GpuDaemon("sim", env={**framework.settings, "FLEXRACK_SIM_CACHE": cache})
    try:
        with GpuAttached([daemon], way) as attached:
            yield attached.env
    finally:
        daemon.stop()


def nccl_library(python):
    """Of the wheel in that environment."""
    return next((python.parent.parent / "lib").glob("python*/site-packages/nvidia/nccl/lib/libnccl.so.2"))


@contextlib.contextmanager
def attached_to_two(framework, way, cache):
    """The same with one at each of two daemons, which carry collectives between them as two machines would."""
    library = nccl_library(framework.python())
    said = {"NCCL_DEBUG": "INFO", "NCCL_IB_DISABLE": "1", "FLEXRACK_SIM_CACHE": cache}
    with contextlib.ExitStack() as stack:
        daemons = []
        for number in range(2):
            own = {"NCCL_HOSTID": f"machine-{number}", "NCCL_DEBUG_FILE": f"{cache}/log-{number}-%p"}
            daemons.append(
                GpuDaemon("sim", options=("--nccl", str(library)), env={**framework.settings, **said, **own})
            )
            stack.callback(daemons[-1].stop)
        attached = stack.enter_context(GpuAttached(daemons, way))
        yield {
            **attached.env,
            "LD_PRELOAD": str(BUILD / "drivers" / "nccl" / "libnccl.so.2"),
            "NCCL_TOUR_LOGS": cache,
        }


class Framework:
    """`shown`: the package whose version the table shows. `what` it computes: (words for the tour, what these are) of
    each run. `env`: what it is told. `ways`: those in which it can be. `program`: what of the system it needs besides.
    `capability`: where it is not that of the profile. `attached`: how it gets its GPUs. `beside`: fetches what pip does
    not have, into the folder of its environment.
    """

    def __init__(
        self,
        name,
        shown,
        what,
        env=None,
        lock=None,
        profile="blackwell",
        ways=WAYS,
        program=None,
        capability=None,
        attached=attached_to_one,
        beside=None,
    ):
        self.settings = {
            "FLEXRACK_SIM_PROFILE": profile,
            **({"FLEXRACK_SIM_CAPABILITY": capability} if capability else {}),
        }
        self.what = {(): what} if isinstance(what, str) else what
        self.name, self.shown, self.env, self.lock, self.ways, self.program, self.attached, self.beside = (
            name,
            shown,
            env or {},
            lock or name,
            ways,
            program,
            attached,
            beside,
        )

    @property
    def parts(self):
        return tuple(self.what)

    def python(self):
        return locked_environment(f"framework-{self.lock}", HERE / f"{self.lock}.txt") / "bin" / "python"

    def lacks(self):
        """What is not there of the system; None where nothing is missing."""
        return self.program if self.program and not shutil.which(self.program) else None

    def version(self):
        return (
            next(
                line
                for line in (HERE / f"{self.lock}.txt").read_text().splitlines()
                if line.startswith(f"{self.shown}==")
            )
            .split("==")[1]
            .split(" ")[0]
        )


PTXAS = {"TRITON_PTXAS_PATH": PASSTHROUGH, "TRITON_PTXAS_BLACKWELL_PATH": PASSTHROUGH}
FRAMEWORKS = {
    one.name: one
    for one in (
        Framework(
            "onnxruntime",
            "onnxruntime-gpu",
            "8 models: element-wise, Softmax, LayerNormalization, ReduceMean, MatMul, Gemm, Conv, a CNN; no fall-back to the CPU",
        ),
        Framework(
            "cupy",
            "cupy-cuda13x",
            "element-wise, sums, sort, scan, a raw kernel",
            env={"CUPY_COMPILE_WITH_PTX": "1", "CUPY_ACCELERATORS": ""},
        ),
        Framework(
            "triton",
            "triton",
            "softmax, scan, atomics, matrix products, tensor cores, by its compiler alone",
            env=PTXAS,
        ),
        Framework("xgboost", "xgboost", "trains trees for classes and for numbers"),
        Framework("warp", "warp-lang", "kernels, atomics, gradients by its tape, scan, radix sort"),
        Framework("taichi", "taichi", "matrix product, atomics, a field"),
        # The oldest device that its compiler, nvvm 13, makes code for.
        Framework(
            "numba", "numba", "kernels, atomics, streams, managed and mapped memory, a reduction", capability="7.5"
        ),
        # It keeps what it compiled in the user's cache, unless told not to.
        Framework(
            "tinygrad",
            "tinygrad",
            "20 operations, a convolution, gradients, a step of training",
            env={"CUDA": "1", "CUDA_PTX": "1", "CACHELEVEL": "0"},
        ),
        Framework(
            "hashcat",
            "nvidia-cuda-nvrtc",
            "finds the words of an MD5 and of a SHA-256, by trying; Debian's 6.2.6, the version is NVRTC's",
            program="hashcat",
        ),
        Framework(
            "catboost", "catboost", "trains trees for numbers and for classes, told to choose splits as on the CPU"
        ),
        Framework("ctranslate2", "ctranslate2", "a transformer goes on writing: words and scores"),
        # On 13.0 cuBLAS takes the PTX that it has.
        Framework(
            "llama",
            "nvidia-cublas",
            "npm's node-llama-cpp 3.22.1: models with random weights in F16, Q8_0, Q4_0, with and without flash attention: 24 greedy tokens equal, and the probabilities of all "
            "words; the version is cuBLAS's; capability 13.0",
            program="npm",
            capability="13.0",
            beside=modules,
        ),
        # Attached, its own API is what travels: its kernels wait for memory that a thread of its process writes.
        Framework(
            "nccl",
            "nvidia-nccl-cu13",
            "two processes over sockets: AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, Send and Recv, CommSplit",
            attached=attached_to_two,
        ),
        Framework(
            "jax",
            "jax",
            "element-wise, sums, softmax, matrix products in single and half precision, sort, scan, scatter, random numbers; an MLP trained for 6 steps",
            env=PTXAS,
        ),
        # On 13.0 cuBLAS takes the PTX that it has.
        Framework(
            "tensorflow",
            "tensorflow",
            "element-wise, sums, softmax, running sum, sort, matrix products in single and half precision, convolutions and their gradients; an MLP trained for 6 steps; cuDNN 9.3; capability 13.0",
            capability="13.0",
        ),
        Framework(
            "torch_products",
            "torch",
            "PyTorch as it is: matrix products, batches of them, Linear, conv2d, by cuBLAS and cuDNN; capability 13.0",
            lock="torch",
            capability="13.0",
        ),
        Framework(
            "torch_resnet",
            "torch",
            "the ResNet-50 of template pytorch-bench trained for 3 steps of 4 images of 64 x 64, convolutions as products",
            env=PTXAS,
            lock="torch",
            # Minutes go into its compilation, which is the same attached.
            ways=("natively",),
        ),
        Framework(
            "torch_compile",
            "torch",
            {
                (
                    "element-wise",
                    "mlp",
                ): "element-wise, sums, softmax, layer norm, half precision; an MLP trained for 6 steps",
                ("transformer",): "a transformer block trained for 4 steps",
                ("digits",): "the digits by a CNN, 16 steps of 64 images",
                (
                    "templates",
                ): "Triton's matrix templates in single precision, TF32, halves and bfloat16: products, batches, addmm, Linear with gelu; an MLP of them trained for 4 steps",
            },
            env=PTXAS,
            lock="torch",
        ),
    )
}


def tour(framework, env, words=()):
    """(exit code, stops, seconds, what went to stderr) of one run."""
    with tempfile.TemporaryDirectory(prefix="flexrack-framework-") as folder:
        caches = {
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
            "TRITON_CACHE_DIR": f"{folder}/triton",
            "CUPY_CACHE_DIR": f"{folder}/cupy",
            "WARP_CACHE_PATH": f"{folder}/warp",
            "FLEXRACK_SIM_CACHE": f"{folder}/sim",
        }
        python = framework.python()
        began = time.monotonic()
        try:
            code, out, err = run(
                [python, HERE / f"{framework.name}_tour.py", *words],
                {**env, **caches, **framework.env},
                seconds=SECONDS,
                preload=True,
            )
        except subprocess.TimeoutExpired as late:
            code, out, err = (
                124,
                (late.stdout or b"").decode(errors="replace"),
                f"did not end within {SECONDS} s: {(late.stderr or b'').decode(errors='replace')}",
            )
        seconds = time.monotonic() - began
    stops = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return (code if out.splitlines()[-1:] == ["PASS"] else code or 1), stops, seconds, out[-1500:] + err[-3000:]


def each_way(framework, words=(), ways=None):
    """Yields (way, exit code, stops, seconds, text) for each way, or for these. All begin with nothing kept, so a daemon
    each.
    """
    for way in ways or framework.ways:
        if way == "natively":
            yield (way, *tour(framework, {**native_env("sim"), **framework.settings}, words))
            continue
        with tempfile.TemporaryDirectory(prefix="flexrack-framework-") as cache:
            with framework.attached(framework, way, cache) as env:
                yield (way, *tour(framework, env, words))


def largest(stops):
    """The largest difference, and where it was."""
    found = max((stop for stop in stops if "difference" in stop), key=lambda stop: stop["difference"], default=None)
    return f"{found['difference']:.0e} ({found['stop']})".replace("e-0", "e-") if found and found["difference"] else "0"


def time_of(row, natively):
    """What the table says of one way: its seconds, or what is wrong with it."""
    if row is None:
        return "cannot"
    code, stops, seconds, _ = row
    if code != 0:
        return "FAILED"
    return f"{seconds:.0f} s" if named(stops) == named(natively) else "OTHER VALUES THAN NATIVELY"


def named(stops):
    return [(stop["stop"], stop.get("values")) for stop in stops]


def row(framework, words):
    """(a line of the table, whether all is well)."""
    rows = {}
    for way, code, stops, seconds, text in each_way(framework, words=words):
        rows[way] = code, stops, seconds, text
        print(
            f"{framework.name} {' '.join(words)} {way}: {seconds:.0f} s" + ("" if code == 0 else f", FAILED: {text}"),
            file=sys.stderr,
            flush=True,
        )
    natively = rows["natively"][1]
    times = [time_of(rows.get(way), natively) for way in WAYS]
    values = sum(stop.get("values", 1) for stop in natively)
    title = " ".join([framework.name, *words])
    # Of all ways: where atomics add, the order is another one each time.
    difference = largest([stop for _, stops, _, _ in rows.values() for stop in stops])
    return (
        f"| {title} | {framework.version()} | {framework.what[words]} | {values} | {difference} | {' | '.join(times)} |",
        all(time[0].isdigit() or time == "cannot" for time in times),
    )


def put(line):
    """A row where the page has one of the same name, or at the end of its table."""
    lines = PAGE.read_text().splitlines()
    first = lines.index(HEAD) + 2
    end = next(number for number in range(first, len(lines)) if not lines[number].startswith("|"))
    title = line.split("|")[1]
    at = next((number for number in range(first, end) if lines[number].split("|")[1] == title), None)
    lines[at if at is not None else end : at + 1 if at is not None else end] = [line]
    PAGE.write_text("\n".join(lines) + "\n")


def main(names):
    is_kept = names[:1] == ["--write"]
    names = names[1:] if is_kept else names
    failed = False
    unknown = [name for name in names if name.split(":")[0] not in FRAMEWORKS]
    if unknown:
        raise SystemExit(f"no framework is named {unknown[0]}; there are {', '.join(FRAMEWORKS)}")
    print(
        f"build: {BUILD.name}; processor: {os.cpu_count()} cores\n{HEAD}\n|---|---|---|---|---|---|---|---|", flush=True
    )
    for name in names or FRAMEWORKS:
        framework, _, only = FRAMEWORKS[name.split(":")[0]], *name.partition(":")[1:]
        if framework.lacks():
            print(f"{framework.name}: {framework.lacks()} is not installed", file=sys.stderr)
            failed = True
            continue
        for words in [words for words in framework.parts if only in ("", *words)]:
            line, is_good = row(framework, words)
            print(line, flush=True)
            failed |= not is_good
            if is_kept and is_good:
                put(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
