"""Builds the native layer with sanitizers, and runs its tests, some programs and modules at a time. The last line is
JSON, what each test came to: [{"place": module or program, "name": test, "status": "passed" | "failed" | "skipped",
"why": text, "seconds": n, "final": whether a second try changes nothing}]. Words are parts of test names: only those
run, and the tests of parts are left out. --no-build tries what is there, --build builds and does nothing else.
--early: those that only compute, one at a time, beside whatever else runs; --late: the others; --alone NAME: this
module or program.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "support")]
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it would let every program compile the packages it imports anew
os.environ.setdefault("POCL_CACHE_DIR", "/tmp/flexrack-pocl-cache-%d" % os.getuid())
os.environ.setdefault("FLEXRACK_SIM_CACHE", "/tmp/flexrack-sim-cache-%d" % os.getuid())
from servers import BUILD, COMMON  # noqa: E402  (after the path)
import own_cpu  # noqa: E402
from unittest_outcomes import Outcomes  # noqa: E402

NATIVE = here.parent.parent / "native"
AT_ONCE = 2
# These take longest, so that none of them is the last one that everything waits for.
SLOW_FIRST = (
    "test_cuda_remote",
    "test_cuda_tinygrad",
    "test_faults",
    "test_cuda_torch",
    "test_conformance",
    "test_cuda_programs",
    "test_cuda_faults",
)
# No test in them looks at a clock, so they may be slow.
EARLY = (
    "test_frameworks",
    "test_cuda_tinygrad",
    "test_cuda_torch",
    "test_cuda_programs",
    "test_fuzz",
    "test_cuda_numba",
    "test_cuda_machine_code",
    "test_codec",
    "test_cuda_facts",
)
# Frameworks as users run them: with sanitizers they take thirty times as long, and these have nothing to find in them
# that our own programs do not show. npm run test:long runs them with sanitizers, too (FLEXRACK_SANITIZED=1).
AS_BUILT = ("test_cuda_numba", "test_cuda_tinygrad", "test_cuda_nccl", "test_frameworks")
RELEASE = NATIVE / "build" / "release"
# For what hangs.
MODULE_SECONDS = 3600
PROGRAM_SECONDS = 1800
# What a sanitizer has found is a fault however seldom it comes, and so is what these find.
REPORTS = re.compile(r"ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ")
FINAL = ("test_fuzz", "test_hostile", "test_threads")


def build(preset, folder, *options, targets=()):
    """Raises CalledProcessError with the compiler's words on stderr."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(
        ["cmake", "--preset", preset, "-B", folder, *generator, *options], cwd=NATIVE, check=True, stdout=sys.stderr
    )
    subprocess.run(
        ["cmake", "--build", folder, "--parallel", *(["--target", *targets] if targets else [])],
        cwd=NATIVE,
        check=True,
        stdout=sys.stderr,
    )


def names_of(name, *options):
    """Cases of a doctest program, those that are skipped only where `options` say so."""
    words = [str(BUILD / "test" / name), "--list-test-cases", *options]
    lines = subprocess.run(
        words, env={**os.environ, **COMMON}, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.splitlines()
    return [line.strip() for line in lines if not line.startswith(("[doctest]", "==="))]


def run_program(name):
    """A doctest program: (outcomes, what was printed)."""
    words = [str(BUILD / "test" / name), "--duration=true"]
    done = subprocess.run(
        words,
        env={**os.environ, **COMMON},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=PROGRAM_SECONDS,
        preexec_fn=lambda: own_cpu.join(name),
    )
    found = re.search(r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped", done.stdout)
    passed, failed, skipped = map(int, found.groups()) if found else (0, 0, 0)
    outcomes = outcomes_of(names_of(name), done.stdout) if found else []
    bad = sum(one["status"] == "failed" for one in outcomes)
    if (len(outcomes) - bad, bad) != (passed, failed) or (done.returncode != 0) != (failed > 0):
        outcomes.append(
            {
                "name": "",
                "status": "failed",
                "why": f"exit status {done.returncode}, {passed} passed, {failed} failed by its own count{reported(done.stdout)}",
                "seconds": 0,
            }
        )
    if skipped:
        # Some cases are run by others of that program, in processes of their own: to the program itself they are
        # skipped.
        apart = names_of(name, "--no-skip", "--test-suite=apart")
        for case in set(names_of(name, "--no-skip")) - set(names_of(name)) - set(apart):
            outcomes.append({"name": case, "status": "skipped", "why": "", "seconds": 0})
    told = f"{name}: {passed} passed, {failed} failed\n" + (done.stdout if done.returncode != 0 else "")
    return placed(name, outcomes, done.stdout), told


def reported(text):
    """What a sanitizer says in one line, after a colon; nothing where none spoke."""
    found = re.search(r"^SUMMARY: .*|^.*: runtime error: .*", text, re.M)
    return f": {found[0]}" if found else ""


def outcomes_of(names, text):
    """Of these cases, by what doctest tells of them, between its lines of ===: an error, and how long each took."""
    blocks = [part for part in re.split(r"^={20,}$", text, flags=re.M) if re.search(r"\bERROR: ", part)]
    failed = {found[1].strip() for part in blocks if (found := re.search(r"^TEST CASE:(.*)", part, re.M))}
    seconds = {case.strip(): float(number) for number, case in re.findall(r"^([0-9.]+) s: (.*)", text, re.M)}
    return [
        {
            "name": name,
            "status": "failed" if name in failed else "passed",
            "why": "an assertion failed: see above" if name in failed else "",
            "seconds": round(seconds.get(name, 0), 1),
        }
        for name in names
    ]


def placed(name, outcomes, text):
    is_final = name in FINAL or REPORTS.search(text) is not None
    return [{"place": name, **one, "final": is_final} for one in outcomes]


def build_of(name):
    """Environment that says which build a module's tests run with."""
    is_released = (
        name in AS_BUILT and "FLEXRACK_SANITIZED" not in os.environ and "FLEXRACK_NATIVE_BUILD" not in os.environ
    )
    if not is_released:
        return os.environ
    if not (RELEASE / "flexrack-gpud").exists():
        print(f"{name} runs with sanitizers, which takes minutes: {RELEASE} is not built", file=sys.stderr)
        return os.environ
    return {**os.environ, "FLEXRACK_NATIVE_BUILD": str(RELEASE)}


def run_module(name, chosen=()):
    """(outcomes, what was printed) of a module's tests, in a process of its own. `chosen`: only those whose name has
    one of these words.
    """
    words = [sys.executable, __file__, "--module", name, *chosen]
    done = subprocess.run(
        words,
        env=build_of(name),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=MODULE_SECONDS,
    )
    try:
        return placed(name, json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr), done.stderr
    except (ValueError, IndexError):
        why = f"ended with {done.returncode} before it had counted"
        return placed(
            name, [{"name": "", "status": "failed", "why": why, "seconds": 0}], done.stdout + done.stderr
        ), done.stdout + done.stderr


def run_all(is_chosen, at_once):
    programs = [name for name in (BUILD / "unit-tests.txt").read_text().split() if is_chosen(name)]
    found = [name for name in sorted(path.stem for path in here.glob("test_*.py")) if is_chosen(name)]
    modules = [name for name in SLOW_FIRST if name in found] + [name for name in found if name not in SLOW_FIRST]
    total = []
    with ThreadPoolExecutor(at_once) as pool:
        jobs = [pool.submit(timed, run_module, name) for name in modules] + [
            pool.submit(timed, run_program, name) for name in programs
        ]
        for name, job in zip([*modules, *programs], jobs):
            outcomes, text, seconds = job.result()
            print(text, f"{name}: {seconds:.0f} s\n", sep="", file=sys.stderr, flush=True)
            total += outcomes
    return total


def run_chosen(words):
    """The tests whose names have one of the words, module by module; what they print comes as it does."""
    suite = unittest.defaultTestLoader.discover(str(here), pattern="test_*.py", top_level_dir=str(here))
    total = []
    for name in dict.fromkeys(type(one).__module__ for one in every(suite) if any(word in one.id() for word in words)):
        outcomes, text = run_module(name, words)
        print(text, file=sys.stderr, flush=True)
        total += outcomes
    return total


def timed(run, name):
    began = time.monotonic()
    try:
        outcomes, text = run(name)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        outcomes, text = (
            placed(name, [{"name": "", "status": "failed", "why": str(error), "seconds": 0}], ""),
            f"{name}: {error}\n",
        )
    return outcomes, text, time.monotonic() - began


def every(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from every(one)
        else:
            yield one


def main(words):
    if words[:1] == ["--module"]:
        own_cpu.join(words[1])
        found = every(unittest.defaultTestLoader.loadTestsFromName(words[1]))
        suite = unittest.TestSuite(
            one for one in found if len(words) == 2 or any(word in one.id() for word in words[2:])
        )
        result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2, resultclass=Outcomes).run(suite)
        print(json.dumps(list(result.outcomes.values())))
        return 0
    if "FLEXRACK_NATIVE_BUILD" not in os.environ and "--no-build" not in words:
        build("asan", BUILD, f"-DFLEXRACK_SANITIZE_ALL={'ON' if 'FLEXRACK_LONG' in os.environ else 'OFF'}")
    if "--build" in words:
        return 0
    words = [word for word in words if word != "--no-build"]
    if words == ["--early"]:
        total = run_all(lambda name: name in EARLY, 1)
    elif words == ["--late"]:
        total = run_all(lambda name: name not in EARLY, AT_ONCE)
    elif words[:1] == ["--alone"]:
        total = run_all(lambda name: name in words[1:], 1)
    elif words:
        total = run_chosen(words)
    else:
        total = run_all(lambda name: True, AT_ONCE)
    print(json.dumps(total))
    return 1 if any(one["status"] == "failed" for one in total) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
