"""Real programs, unchanged, natively and through the driver over TLS and shared memory, one after the other. Prints a
JSON list: {"name", "equal": true | false | null (natively it fails), "seconds": {"native", "tls", "shm"}, "note"},
seconds the better of two runs. FLEXRACK_BENCH_PYOPENCL_EXAMPLES is the folder examples/ of pyopencl's sources; without
it those are left out, and that is said.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / "test" / "native"))
os.environ.setdefault("FLEXRACK_NATIVE_BUILD", str(here.parent / "build" / "release"))
from environments import environment  # noqa: E402
from programs import LARGE, SMALL, as_is, measured  # noqa: E402
from servers import Attached, Daemon, native_env, run  # noqa: E402

PACKAGES = ["pyopencl", "numpy", "mako", "scikit-learn", "tinygrad"]
EXAMPLES = os.environ.get("FLEXRACK_BENCH_PYOPENCL_EXAMPLES")
# Those that need no screen and no picture; `measured` where they print times or random numbers.
EXAMPLE_NAMES = {
    "demo.py": as_is,
    "demo_array.py": as_is,
    "demo_elementwise.py": measured,
    "demo_elementwise_complex.py": measured,
    "demo-struct-reduce.py": as_is,
    "demo_meta_template.py": as_is,
    "narray.py": as_is,
    "demo_array_svm.py": as_is,
    "svm.py": measured,
    "pi-monte-carlo.py": measured,
}


def python():
    return environment("native", PACKAGES) / "bin" / "python"


def programs():
    yield from SMALL[:1]
    yield from LARGE
    interpreter = python()
    yield (
        "pyopencl, a tour of its arrays, scans and sorts",
        [interpreter, here.parent / "test" / "programs" / "tour_pyopencl.py"],
        as_is,
    )
    yield (
        "tinygrad learns scikit-learn's digits",
        [interpreter, here.parent / "test" / "programs" / "digits_tinygrad.py", "5"],
        as_is,
    )
    if not EXAMPLES:
        print("!! pyopencl's examples are left out: FLEXRACK_BENCH_PYOPENCL_EXAMPLES is not given", file=sys.stderr)
        return
    for name, compared in EXAMPLE_NAMES.items():
        yield (f"pyopencl's {name}", [interpreter, Path(EXAMPLES) / name], compared)


def timed(command, env):
    best = None
    for _ in range(2):
        start = time.perf_counter()
        code, out, err = run(command, env, 900)
        seconds = time.perf_counter() - start
        best = seconds if best is None else min(best, seconds)
    return code, out, err, best


def main():
    words = sys.argv[1:]
    results = []
    with ExitStack() as open_ends:
        attached = {}
        folders = {
            name: open_ends.enter_context(tempfile.TemporaryDirectory(prefix="flexrack-bench-"))
            for name in ("native", "tls", "shm")
        }
        for transport in ("tls", "shm"):
            # What PoCL compiled is nobody else's: each side pays for it once.
            daemon = open_ends.enter_context(Daemon(devices=1, env={"POCL_CACHE_DIR": folders[transport]}))
            attached[transport] = open_ends.enter_context(Attached([daemon], transport))
        # Programs ask which device to take, and keep what they compiled: not over the runs that are compared.
        choice = {"PYOPENCL_CTX": "0", "PYOPENCL_NO_CACHE": "1", "CACHELEVEL": "0"}
        cases = {
            "native": {**native_env(1), "POCL_CACHE_DIR": folders["native"], **choice},
            **{name: {**one.env, **choice} for name, one in attached.items()},
        }
        for name, command, compared in programs():
            if words and not any(word in name for word in words):
                continue
            found = {case: timed(command, env) for case, env in cases.items()}
            native = found["native"]
            equal = (
                None
                if native[0] != 0
                else all((one[0], compared(one[1])) == (0, compared(native[1])) for one in found.values())
            )
            note = (
                ""
                if equal
                else "; ".join(
                    f"{case} ended with {one[0]}: {one[2].strip()[-300:]}" for case, one in found.items() if one[0] != 0
                )
                or "outputs differ"
            )
            results.append(
                {
                    "name": name,
                    "equal": equal,
                    "seconds": {case: round(one[3], 3) for case, one in found.items()},
                    "note": note,
                }
            )
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
            if equal is False:
                for case, one in found.items():
                    Path(tempfile.gettempdir(), f"flexrack-program-{case}.txt").write_text(one[1])
    print(json.dumps(results))


if __name__ == "__main__":
    main()
