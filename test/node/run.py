"""Runs every test of the node program, two modules at a time, and prints one JSON line with the counts:
{"passed": n, "failed": n, "skipped": n, "trouble": [what failed, was skipped or needed a second try, and why]}.

    run.py test_X    one module, in whatever folder it lies

The folders are the program's packages. Support that several of them use lies here.

Most of these tests wait for real processes; a module has a process of its own. A second try is allowed, as in the suites with real servers, and is told.
"""
import json
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
AT_ONCE = 2
SLOW_FIRST = ("test_gang_alive", "test_gang_leader", "test_gang", "test_hang", "test_mpi", "test_hardware", "test_instrumentation", "test_slurm", "test_relay_kept", "test_environment")


def modules():
    """Every test module by its name, which no other one has."""
    found = {}
    for path in HERE.rglob("test_*.py"):
        if found.setdefault(path.stem, path) != path:
            raise SystemExit(f"{path} has the name of {found[path.stem]}")
    return found


def run_module(name):
    """Counts of one module, in this process."""
    sys.path[:0] = [str(modules()[name].parent), str(HERE), str(HERE.parent.parent / "node")]
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(unittest.defaultTestLoader.loadTestsFromName(name))
    bad = result.failures + result.errors
    trouble = []
    failed = len(result.unexpectedSuccesses)
    for test, text in bad:
        why = text.strip().splitlines()[-1]
        again = unittest.defaultTestLoader.loadTestsFromName(test.id()) if isinstance(test, unittest.TestCase) and not test.id().startswith("unittest.") else None
        if again and unittest.TextTestRunner(stream=sys.stderr, verbosity=2).run(again).wasSuccessful():
            trouble.append(f"{test.id()}: passed at the second try; at the first: {why}")
        else:
            failed += 1
            trouble.append(f"{test.id()}: {why}")
    trouble += [f"{test.id()}: skipped, {why}" for test, why in result.skipped]
    run, skipped = max(result.testsRun, failed), len(result.skipped)
    return {"passed": run - failed - skipped, "failed": failed, "skipped": skipped, "trouble": trouble}


def run_apart(name):
    """The same in a process of its own: (counts, what was printed)."""
    warnings = [word for option in sys.warnoptions for word in ("-W", option)]
    done = subprocess.run([sys.executable, *warnings, __file__, name], capture_output=True, text=True)
    try:
        return json.loads(done.stdout.splitlines()[-1]), done.stderr
    except (ValueError, IndexError):
        return {"passed": 0, "failed": 1, "skipped": 0, "trouble": [f"{name}: ended with {done.returncode} before it had counted"]}, done.stdout + done.stderr


def main():
    found = sorted(modules())
    names = [name for name in SLOW_FIRST if name in found] + [name for name in found if name not in SLOW_FIRST]
    total = {"passed": 0, "failed": 0, "skipped": 0, "trouble": []}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for counts, text in pool.map(run_apart, names):
            print(text, file=sys.stderr, flush=True)
            for key, value in counts.items():
                total[key] += value
    print(json.dumps(total))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps(run_module(sys.argv[1])))
    else:
        sys.exit(main())
