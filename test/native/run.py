"""Builds the native layer with sanitizers, runs its tests, and prints one JSON line with the counts: {"passed": n, "failed": n, "skipped": n,
"trouble": [what failed or was skipped, and why]}.
Words are parts of test names: only those run, and the tests of parts are left out. With --no-build, what is there is tried."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
os.environ.setdefault("POCL_CACHE_DIR", "/tmp/flexrack-pocl-cache-%d" % os.getuid())
from servers import BUILD, COMMON  # noqa: E402  (after the path)

NATIVE = here.parent.parent / "native"


def build(preset, folder, *options):
    """Raises CalledProcessError with the compiler's words on stderr."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "--preset", preset, "-B", folder, *generator, *options], cwd=NATIVE, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "--parallel"], cwd=NATIVE, check=True, stdout=sys.stderr)


def run_apart(name):
    """How many cases are run by others of that program, in processes of their own: to the program itself they are skipped."""
    words = [str(BUILD / "test" / name), "--count", "--no-skip", "--test-suite=apart"]
    return int(re.search(r"filters: (\d+)", subprocess.run(words, env={**os.environ, **COMMON}, stdout=subprocess.PIPE, text=True, check=True).stdout)[1])


def run_parts():
    """The doctest programs: [passed, failed, skipped], and the programs that failed."""
    counts, trouble = [0, 0, 0], []
    for name in (BUILD / "unit-tests.txt").read_text().split():
        done = subprocess.run([str(BUILD / "test" / name)], env={**os.environ, **COMMON}, stdout=subprocess.PIPE, text=True, errors="replace", timeout=600)
        found = re.search(r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed \|\s*(\d+) skipped", done.stdout)
        passed, failed, skipped = map(int, found.groups()) if found else (0, 1, 0)
        skipped -= run_apart(name) if skipped else 0
        if done.returncode != 0:
            failed = max(failed, 1)
            sys.stderr.write(done.stdout)
            trouble += [f"{name}: {case}" for case in dict.fromkeys(re.findall(r"^TEST CASE:\s+(.*)", done.stdout, re.M))] or [f"{name}: exit status {done.returncode}"]
        print(f"{name}: {passed} passed, {failed} failed", file=sys.stderr)
        counts = [a + b for a, b in zip(counts, (passed, failed, skipped))]
    return counts, trouble


def main():
    words = sys.argv[1:]
    if "FLEXRACK_NATIVE_BUILD" not in os.environ and "--no-build" not in words:
        build("asan", BUILD)
    words = [word for word in words if word != "--no-build"]
    counts, trouble = ([0, 0, 0], []) if words else run_parts()
    suite = unittest.defaultTestLoader.discover(str(here), pattern="test_*.py", top_level_dir=str(here))
    if words:
        suite = unittest.TestSuite(one for one in every(suite) if any(word in one.id() for word in words))
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(suite)
    # A test of many programs fails once, however many of them do.
    failed = len({getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors})
    skipped = len(result.skipped)
    counts = [a + b for a, b in zip(counts, (max(0, result.testsRun - failed - skipped), failed, skipped))]
    trouble += [f"{test.id()}: {text.strip().splitlines()[-1]}" for test, text in result.failures + result.errors] + [f"{test.id()}: skipped, {why}" for test, why in result.skipped]
    print(json.dumps({**dict(zip(("passed", "failed", "skipped"), counts)), "trouble": trouble}))
    return 1 if counts[1] else 0


def every(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from every(one)
        else:
            yield one


if __name__ == "__main__":
    sys.exit(main())
