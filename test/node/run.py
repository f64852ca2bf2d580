"""Runs the tests of the node program, some modules at a time. The last line is JSON, what each test came to:
[{"place": module, "name": test, "status": "passed" | "failed" | "skipped", "why": text, "seconds": n}].

    run.py                    every test
    run.py test_X test_Y ...  these modules, in whatever folder they lie
    run.py --fast             those that take no time and need no program of others
    run.py --alone test_X     one module after the other

The folders are the program's packages. Support that several of them use lies here.
Most of these tests wait for real processes; a module has a process of its own.
"""

import importlib
import json
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # it would let every rank compile what it imports anew
os.environ["FLEXRACK_REBOOT"] = "stay"  # a test that starts a service changes no crontab of whoever runs it
HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "support"))
import own_cpu  # noqa: E402
from unittest_outcomes import Outcomes  # noqa: E402  (after the path)

AT_ONCE = 3
# The longest first, so that none of them is the last one that everything waits for.
SLOW = (
    "test_environment",
    "test_enter",
    "test_gang_leader",
    "test_gang_alive",
    "test_hang",
    "test_hardware",
    "test_gang",
    "test_mpi",
    "test_follow",
    "test_token",
    "test_reservation_run",
    "test_relay_kept",
    "test_history",
    "test_usage",
    "test_binding",
    "test_front",
    "test_service",
    "test_instrumentation",
    "test_preflight_mend",
    "test_boot",
    "test_rebooted",
    "test_hostile",
    "test_slurm_stacks",
    "test_slurm_board",
    "test_relay",
)


def modules():
    """Every test module by its name, which no other one has."""
    found = {}
    for path in HERE.rglob("test_*.py"):
        if found.setdefault(path.stem, path) != path:
            raise SystemExit(f"{path} has the name of {found[path.stem]}")
    return found


def run_module(name):
    """Outcomes of one module, in this process."""
    own_cpu.join(name)
    sys.path[:0] = [str(modules()[name].parent), str(HERE), str(HERE.parent.parent / "node")]
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    importlib.import_module("messages").hold()
    result = unittest.TextTestRunner(stream=sys.stderr, verbosity=2, resultclass=Outcomes).run(suite)
    return [{"place": name, **one} for one in result.outcomes.values()]


def run_apart(name):
    """The same in a process of its own: (outcomes, what was printed)."""
    warnings = [word for option in sys.warnoptions for word in ("-W", option)]
    done = subprocess.run([sys.executable, *warnings, __file__, "--module", name], capture_output=True, text=True)
    try:
        return json.loads(done.stdout.splitlines()[-1]), done.stderr
    except (ValueError, IndexError):
        why = f"it ended with {done.returncode} before it had counted"
        return [{"place": name, "name": "", "status": "failed", "why": why, "seconds": 0}], done.stdout + done.stderr


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
    names = chosen([word for word in words if word != "--alone"])
    outcomes = []
    with ThreadPoolExecutor(1 if "--alone" in words else AT_ONCE) as pool:
        for found, text in pool.map(run_apart, names):
            print(text, file=sys.stderr, flush=True)
            outcomes += found
    print(json.dumps(outcomes))
    return 1 if any(one["status"] == "failed" for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
