"""Builds the native layer with sanitizers, runs its tests, some programs and modules at a time, and prints one JSON line with the counts:
{"passed": n, "failed": n, "skipped": n, "trouble": [what failed or was skipped, and why], "slow": [[what, seconds]]}.
Words are parts of test names: only those run, and the tests of parts are left out. --no-build tries what is there, --build builds and does nothing else.
--early: those that only compute, one at a time, beside whatever else runs; --late: the others."""
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
sys.path.insert(0, str(here))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it would let every program compile the packages it imports anew
os.environ.setdefault("POCL_CACHE_DIR", "/tmp/flexrack-pocl-cache-%d" % os.getuid())
os.environ.setdefault("FLEXRACK_SIM_CACHE", "/tmp/flexrack-sim-cache-%d" % os.getuid())
from servers import BUILD, COMMON  # noqa: E402  (after the path)

NATIVE = here.parent.parent / "native"
AT_ONCE = 2
# These take longest, so that none of them is the last one that everything waits for.
SLOW_FIRST = ("test_cuda_remote", "test_cuda_tinygrad", "test_faults", "test_cuda_torch", "test_conformance", "test_cuda_programs", "test_cuda_faults")
# No test in them looks at a clock, so they may be slow.
EARLY = ("test_frameworks", "test_cuda_tinygrad", "test_cuda_torch", "test_cuda_programs", "test_fuzz", "test_cuda_numba", "test_cuda_machine_code",
         "test_codec", "test_cuda_facts")
# Frameworks as users run them: with sanitizers they take thirty times as long, and these have nothing to find in them that our own programs do not show. npm run test:long
# runs them with sanitizers, too (FLEXRACK_SANITIZED=1).
AS_BUILT = ("test_cuda_numba", "test_cuda_tinygrad", "test_frameworks")
RELEASE = NATIVE / "build" / "release"
# For what hangs.
MODULE_SECONDS = 3600
PROGRAM_SECONDS = 1800


def build(preset, folder, *options, targets=()):
    """Raises CalledProcessError with the compiler's words on stderr."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "--preset", preset, "-B", folder, *generator, *options], cwd=NATIVE, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "--parallel", *(["--target", *targets] if targets else [])], cwd=NATIVE, check=True, stdout=sys.stderr)


def apart(name):
    """How many cases are run by others of that program, in processes of their own: to the program itself they are skipped."""
    words = [str(BUILD / "test" / name), "--count", "--no-skip", "--test-suite=apart"]
    return int(re.search(r"filters: (\d+)", subprocess.run(words, env={**os.environ, **COMMON}, stdout=subprocess.PIPE, text=True, check=True).stdout)[1])


def run_program(name):
    """A doctest program: (counts, what was printed)."""
    words = [str(BUILD / "test" / name)]
    done = subprocess.run(words, env={**os.environ, **COMMON}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=PROGRAM_SECONDS)
    found = re.search(r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped", done.stdout)
    passed, failed, skipped = map(int, found.groups()) if found else (0, 1, 0)
    skipped -= apart(name) if skipped else 0
    trouble = []
    if done.returncode != 0:
        failed = max(failed, 1)
        cases = dict.fromkeys(re.findall(r"^TEST CASE:\s+(.*)", done.stdout, re.M))
        trouble = [f"{name}: {case}" for case in cases] or [f"{name}: exit status {done.returncode}"]
    counts = {"passed": passed, "failed": failed, "skipped": skipped, "trouble": trouble}
    return counts, f"{name}: {passed} passed, {failed} failed\n" + (done.stdout if failed else "")


def build_of(name):
    """Environment that says which build a module's tests run with."""
    is_released = name in AS_BUILT and "FLEXRACK_SANITIZED" not in os.environ and "FLEXRACK_NATIVE_BUILD" not in os.environ
    if not is_released:
        return os.environ
    if not (RELEASE / "flexrack-gpud").exists():
        print(f"{name} runs with sanitizers, which takes minutes: {RELEASE} is not built", file=sys.stderr)
        return os.environ
    return {**os.environ, "FLEXRACK_NATIVE_BUILD": str(RELEASE)}


def run_module(name, chosen=()):
    """(counts, what was printed) of a module's tests, in a process of its own. `chosen`: only those whose name has one of these words."""
    words = [sys.executable, __file__, "--module", name, *chosen]
    done = subprocess.run(words, env=build_of(name), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=MODULE_SECONDS)
    try:
        return json.loads(done.stdout.splitlines()[-1]), done.stderr
    except (ValueError, IndexError):
        why = f"{name}: ended with {done.returncode} before it had counted"
        return {"passed": 0, "failed": 1, "skipped": 0, "trouble": [why]}, done.stdout + done.stderr


def counts_of(suite):
    """Runs in this process, and says which tests took longest."""
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2, resultclass=Timed).run(suite)
    bad = result.failures + result.errors
    # A test of many programs fails once, however many of them do.
    failed = len({getattr(test, "test_case", test).id() for test, _ in bad})
    skipped = len(result.skipped)
    trouble = [f"{test.id()}: {text.strip().splitlines()[-1]}" for test, text in bad] + [f"{test.id()}: skipped, {why}" for test, why in result.skipped]
    return {"passed": max(0, result.testsRun - failed - skipped), "failed": failed, "skipped": skipped, "trouble": trouble, "slow": result.slow}


class Timed(unittest.TextTestResult):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.slow, self._began = [], 0.0

    def startTest(self, test):
        self._began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.slow.append([test.id(), round(time.monotonic() - self._began, 1)])


def run_all(is_chosen, at_once):
    programs = [name for name in (BUILD / "unit-tests.txt").read_text().split() if is_chosen(name)]
    found = [name for name in sorted(path.stem for path in here.glob("test_*.py")) if is_chosen(name)]
    modules = [name for name in SLOW_FIRST if name in found] + [name for name in found if name not in SLOW_FIRST]
    total = {"passed": 0, "failed": 0, "skipped": 0, "trouble": [], "slow": []}
    with ThreadPoolExecutor(at_once) as pool:
        jobs = [pool.submit(timed, run_module, name) for name in modules] + [pool.submit(timed, run_program, name) for name in programs]
        for name, job in zip([*modules, *programs], jobs):
            counts, text, seconds = job.result()
            print(text, f"{name}: {seconds:.0f} s\n", sep="", file=sys.stderr, flush=True)
            for key, value in counts.items():
                total[key] += value
            if "slow" not in counts:
                total["slow"].append([name, round(seconds, 1)])
    return total


def run_chosen(words):
    """The tests whose names have one of the words, module by module; what they print comes as it does."""
    suite = unittest.defaultTestLoader.discover(str(here), pattern="test_*.py", top_level_dir=str(here))
    total = {"passed": 0, "failed": 0, "skipped": 0, "trouble": [], "slow": []}
    for name in dict.fromkeys(type(one).__module__ for one in every(suite) if any(word in one.id() for word in words)):
        counts, text = run_module(name, words)
        print(text, file=sys.stderr, flush=True)
        for key, value in counts.items():
            total[key] += value
    return total


def timed(run, name):
    began = time.monotonic()
    try:
        counts, text = run(name)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        counts, text = {"passed": 0, "failed": 1, "skipped": 0, "trouble": [f"{name}: {error}"]}, f"{name}: {error}\n"
    return counts, text, time.monotonic() - began


def every(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from every(one)
        else:
            yield one


def main(words):
    if words[:1] == ["--module"]:
        found = every(unittest.defaultTestLoader.loadTestsFromName(words[1]))
        counts = counts_of(unittest.TestSuite(one for one in found if len(words) == 2 or any(word in one.id() for word in words[2:])))
        print(json.dumps(counts))
        return 1 if counts["failed"] else 0
    if "FLEXRACK_NATIVE_BUILD" not in os.environ and "--no-build" not in words:
        build("asan", BUILD)
    if "--build" in words:
        return 0
    words = [word for word in words if word != "--no-build"]
    if words == ["--early"]:
        total = run_all(lambda name: name in EARLY, 1)
    elif words == ["--late"]:
        total = run_all(lambda name: name not in EARLY, AT_ONCE)
    elif words:
        total = run_chosen(words)
    else:
        total = run_all(lambda name: True, AT_ONCE)
    total["slow"] = sorted(total["slow"], key=lambda one: -one[1])[:20]
    print(json.dumps(total))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
