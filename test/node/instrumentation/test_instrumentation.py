"""What runs inside a rank's own Python: it tells, and never harms. With this Python and every other one (3.9 and newer)
that is on the PATH or of pyenv.
"""

import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from flexrack_node.instrumentation import flexrack_layout as layout
from flexrack_node.process.look import has_handler
from flexrack_node.watch.progress import make_progress, read_progress
from flexrack_node.watch.straggler import paces
from places import NODE
from waiting import LONG, until

INSTRUMENTATION = NODE / "flexrack_node" / "instrumentation"


def pythons():
    found = {}
    for path in [
        sys.executable,
        *(shutil.which(f"python3.{minor}") or "" for minor in range(9, 15)),
        *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python")),
    ]:
        done = (
            subprocess.run([path, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True)
            if path
            else None
        )
        if done and done.returncode == 0 and tuple(map(int, done.stdout.split())) >= (3, 9):
            found.setdefault(done.stdout.strip(), path)
    return found


class InstrumentationTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-instrumentation-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.progress = self.folder / "rank-0.progress"

    def environment(self, **more):
        make_progress(self.progress)
        return {
            **os.environ,
            "PYTHONPATH": str(INSTRUMENTATION),
            "FLEXRACK_PROGRESS": str(self.progress),
            "FLEXRACK_STACKS": str(self.folder / "rank-0.stacks"),
            "FLEXRACK_STACKS_SIGNAL": str(int(signal.SIGRTMIN + 9)),
            **more,
        }

    def python(self, code, python=sys.executable, **more):
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, env=self.environment(**more), timeout=LONG
        )
        return done.returncode, done.stdout, done.stderr

    def test_steps_batches_and_collectives_are_told_by_every_python(self):
        code = """
import os, flexrack_instrumentation as ours
p = ours._progress
for step in range(200):
    since = p.wait_for_batch(); p.batch_came(since, 8, 0, True)
    p.collective_begins(b"all_reduce".ljust(32, b"\\0")); p.collective_begins(b"inner".ljust(32, b"\\0")); p.collective_ends(); p.collective_ends()
    p.step()
p.batch_came(p.wait_for_batch(), 8, 0, False)
p.collective_begins(b"barrier".ljust(32, b"\\0"))
print(os.getpid())
"""
        for version, python in pythons().items():
            with self.subTest(version=version):
                status, out, err = self.python(code, python)
                self.assertEqual((status, err), (0, ""))
                reported = read_progress(self.progress)
                self.assertEqual(
                    [
                        reported[key]
                        for key in (
                            "pid",
                            "steps",
                            "batches",
                            "evaluated",
                            "samples",
                            "collectives",
                            "collectives_done",
                            "collective",
                        )
                    ],
                    [int(out), 200, 201, 1, 1600, 201, 200, "barrier"],
                )
                self.assertGreaterEqual(reported["step_seconds"], reported["own_seconds"])
                self.assertGreater(reported["median_own"], 0)
                self.assertFalse(self.progress.with_name("rank-0.progress.error").exists())

    def test_of_a_step_no_more_is_in_collectives_than_it_took(self):
        code = """
import time, flexrack_instrumentation as ours
p = ours._progress
label = b"all_reduce".ljust(32, b"\\0")
def wait(seconds):
    p.collective_begins(label); time.sleep(seconds); p.collective_ends()
wait(1)  # before the first step
for step in range(12):
    time.sleep(0.01)
    wait(0.5 if step == 6 else 0.005)  # once a long one, as after an evaluation
    p.step()
p.collective_begins(label)  # another thread's: it lasts longer than a step
time.sleep(0.02); p.step(); time.sleep(0.02)
p.collective_ends()
p.step()
"""
        self.assertEqual(self.python(code), (0, "", ""))
        reported = read_progress(self.progress)
        (pace,) = paces(self.folder, {}).values()
        self.assertEqual((pace["steps"], pace["synced"]), (14, True))
        self.assertLessEqual(pace["collectives"] + pace["own"], pace["step"] * 1.5)
        self.assertLess(pace["collectives"], pace["step"])
        # what overlaps a step's end is divided between the two steps
        self.assertGreaterEqual(reported["own_seconds"], 0.11)

    def test_the_users_own_sitecustomize_is_run_and_is_the_module_of_that_name(self):
        (self.folder / "sitecustomize.py").write_text("import builtins; builtins.theirs = __file__")
        status, out, _ = self.python(
            "import sys; print(theirs, sys.modules['sitecustomize'].__file__)",
            PYTHONPATH=os.pathsep.join([str(INSTRUMENTATION), str(self.folder)]),
        )
        self.assertEqual((status, out.split()), (0, [str(self.folder / "sitecustomize.py")] * 2))
        self.assertNotEqual(read_progress(self.progress)["pid"], 0)

    def test_nothing_of_ours_breaks_a_program(self):
        bad = {
            "no such file": {"FLEXRACK_PROGRESS": str(self.folder / "no" / "file")},
            "not ours": {"FLEXRACK_PROGRESS": __file__},
            "no signal": {"FLEXRACK_STACKS_SIGNAL": "sig"},
        }
        for what, more in bad.items():
            with self.subTest(what):
                self.assertEqual(self.python("print('well')", **more), (0, "well\n", ""))

    def test_an_error_of_ours_is_written_down_once_and_ends_the_telling_only(self):
        for name in ("torch", "torch/optim"):
            (self.folder / name).mkdir()
            (self.folder / name / "__init__.py").write_text("")
        (self.folder / "torch" / "optim" / "optimizer.py").write_text("name = 'another torch'")  # has no hooks
        path = os.pathsep.join([str(INSTRUMENTATION), str(self.folder)])
        status, out, err = self.python(
            "import torch.optim.optimizer as one, flexrack_instrumentation as ours; ours._progress.step(); print(one.name)",
            PYTHONPATH=path,
        )
        self.assertEqual((status, out, err), (0, "another torch\n", ""))
        self.assertIn("register_optimizer_step_post_hook", self.progress.with_name("rank-0.progress.error").read_text())
        self.assertEqual(read_progress(self.progress)["steps"], 0)

    def test_a_child_tells_only_where_its_parent_has_nothing_to_tell(self):
        child = "import os, flexrack_instrumentation as ours; ours._progress.step(); print(os.getpid())"
        code = f"import subprocess, sys; import flexrack_instrumentation as ours; MAYBE; sys.stdout.write(subprocess.run([sys.executable, '-c', {child!r}], capture_output=True, text=True).stdout)"
        _, out, _ = self.python(code.replace("MAYBE", "pass"))
        reported = read_progress(self.progress)
        self.assertEqual((reported["pid"], reported["steps"]), (int(out), 1))  # the parent is a launcher
        self.python(code.replace("MAYBE", "[ours._progress.step() for _ in range(3)]"))
        self.assertEqual(read_progress(self.progress)["steps"], 3)
        self.python(
            "import os\nimport flexrack_instrumentation as ours\nours._progress.step()\nif os.fork() == 0: ours._progress.step(); os._exit(0)\nos.wait()"
        )
        self.assertEqual(read_progress(self.progress)["steps"], 1)

    def test_the_signal_writes_the_stacks_of_a_rank_in_a_deadlock_and_it_lives_on(self):
        code = "import threading\nlock = threading.Lock()\ndef stuck():\n    print('now', flush=True)\n    lock.acquire()\nlock.acquire()\nstuck()"
        for version, python in pythons().items():
            with self.subTest(version=version):
                (self.folder / "rank-0.stacks").unlink(missing_ok=True)
                rank = subprocess.Popen([python, "-c", code], stdout=subprocess.PIPE, env=self.environment())
                self.addCleanup(rank.communicate)
                self.addCleanup(rank.kill)
                rank.stdout.readline()
                self.assertTrue(has_handler(rank.pid, signal.SIGRTMIN + 9))

                def reported():  # it may not have come to the lock yet
                    rank.send_signal(signal.SIGRTMIN + 9)
                    return "line 5 in stuck" in (self.folder / "rank-0.stacks").read_text()

                until(reported)
                self.assertIsNone(rank.poll())

    def test_steps_that_are_kept_stand_for_the_whole_run_however_long_it_is(self):
        # Steps of 0, 1, 2, ... ms by a clock of our own: the median of what is kept is that of all.
        code = """
import flexrack_instrumentation as ours
p, clock = ours._progress, [0.0]
ours.monotonic = lambda: clock[0]
for step in range(5001):
    clock[0] += step / 1000
    p.step()
"""
        self.python(code)
        reported = read_progress(self.progress)
        self.assertAlmostEqual(reported["median_step"], 2.5, delta=0.1)
        self.assertLessEqual(layout.OWN * 8 + layout.KEPT * 8, layout.SIZE)

    def test_a_file_of_another_version_or_another_kind_is_not_read(self):
        self.assertIsNone(read_progress(self.progress))
        make_progress(self.progress)
        self.assertEqual(read_progress(self.progress)["steps"], 0)
        data = bytearray(self.progress.read_bytes())
        data[8] = 2
        self.progress.write_bytes(data)
        self.assertIsNone(read_progress(self.progress))
        self.progress.write_bytes(data[:100])
        self.assertIsNone(read_progress(self.progress))

    def test_starting_python_imports_no_module_that_python_would_not(self):
        _, out, _ = self.python("import sys; print(*sorted(sys.modules))")
        without = subprocess.run(
            [sys.executable, "-c", "import sys; print(*sorted(sys.modules))"], capture_output=True, text=True
        ).stdout
        self.assertEqual(
            set(out.split()) - set(without.split()) - {"sitecustomize"},
            {"faulthandler", "flexrack_instrumentation", "flexrack_layout", "mmap"},
        )
