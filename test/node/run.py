"""Runs the tests of the node program, some modules at a time, and prints one JSON line with the counts:
{"passed": n, "failed": n, "skipped": n, "trouble": [what failed or was skipped, and why], "flaky": [what passed at the second try], "slow": [[what, seconds]]}.

    run.py                    every test
    run.py test_X test_Y ...  these modules, in whatever folder they lie
    run.py --fast             those that take no time and need no program of others

The folders are the program's packages. Support that several of them use lies here.

    run.py test_X    one module, in whatever folder it lies

The folders are the program's packages. Support that several of them use lies here.

Most of these tests wait for real processes; a module has a process of its own. A second try is allowed, as in the suites with real servers, and is told.
"""
import importlib
import json
import os
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
AT_ONCE = 3
# The longest first, so that none of them is the last one that everything waits for.
SLOW = ("test_environment", "test_gang_leader", "test_gang_alive", "test_hang", "test_hardware", "test_gang", "test_mpi", "test_follow", "test_token",
        "test_reservation_run", "test_relay_kept", "test_usage", "test_binding", "test_front", "test_service", "test_instrumentation",
        "test_preflight_mend", "test_hostile", "test_slurm_stacks", "test_slurm_board", "test_relay")


def modules():
    """Every test module by its name, which no other one has."""
    found = {}
    for path in HERE.rglob("test_*.py"):
        if found.setdefault(path.stem, path) != path:
            raise SystemExit(f"{path} has the name of {found[path.stem]}")
    return found


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


def run(suite):
    return unittest.TextTestRunner(stream=sys.stderr, verbosity=2, resultclass=Timed).run(suite)


def run_module(name):
    """Counts of one module, in this process."""
    sys.path[:0] = [str(modules()[name].parent), str(HERE), str(HERE.parent.parent / "node")]
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    if os.environ.get("FLEXRACK_MESSAGES") == "strict":
        importlib.import_module("messages").hold()
    result = run(suite)
    trouble, flaky = [], []
    failed = len(result.unexpectedSuccesses)
    for test, text in result.failures + result.errors:
        why = text.strip().splitlines()[-1]
        again = unittest.defaultTestLoader.loadTestsFromName(test.id()) if isinstance(test, unittest.TestCase) and not test.id().startswith("unittest.") else None
        if again and run(again).wasSuccessful():
            flaky.append(f"{test.id()}: {why}")
        else:
            failed += 1
            trouble.append(f"{test.id()}: {why}")
    trouble += [f"{test.id()}: skipped, {why}" for test, why in result.skipped]
    ran, skipped = max(result.testsRun, failed), len(result.skipped)
    return {"passed": ran - failed - skipped, "failed": failed, "skipped": skipped, "trouble": trouble, "flaky": flaky, "slow": result.slow}


def run_apart(name):
    """The same in a process of its own: (counts, what was printed)."""
    warnings = [word for option in sys.warnoptions for word in ("-W", option)]
    done = subprocess.run([sys.executable, *warnings, __file__, "--module", name], capture_output=True, text=True)
    try:
        return json.loads(done.stdout.splitlines()[-1]), done.stderr
    except (ValueError, IndexError):
        why = f"{name}: ended with {done.returncode} before it had counted"
        return {"passed": 0, "failed": 1, "skipped": 0, "trouble": [why], "flaky": [], "slow": []}, done.stdout + done.stderr


def chosen(words):
    """Raises SystemExit for a module that is not there."""
    found = sorted(modules())
    if words == ["--fast"]:
        return [name for name in found if name not in SLOW]
    unknown = [word for word in words if word not in found]
    if unknown:
        raise SystemExit(f"no module {', '.join(unknown)} in {HERE}")
    return [name for name in SLOW if name in (words or found)] + [name for name in words or found if name not in SLOW]


def main(words):
    if words[:1] == ["--module"]:
        print(json.dumps(run_module(words[1])))
        return 0
    names = chosen(words)
    total = {"passed": 0, "failed": 0, "skipped": 0, "trouble": [], "flaky": [], "slow": []}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for counts, text in pool.map(run_apart, names):
            print(text, file=sys.stderr, flush=True)
            for key, value in counts.items():
                total[key] += value
    total["slow"] = sorted(total["slow"], key=lambda one: -one[1])[:20]
    print(json.dumps(total))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
