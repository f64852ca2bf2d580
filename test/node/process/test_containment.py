import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from flexrack_node.process import containment as module
from flexrack_node.process.containment import Containment, is_alive
from flexrack_node.process.detach import detach, python_module
from waiting import LONG, until


class ContainmentTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.tag = f"test-{os.getpid()}-{time.monotonic_ns()}"
        self.children = []

    def tearDown(self):
        contained = Containment(self.tag, self.folder)
        contained.terminate(0)
        for child in self.children:
            child.wait()
        contained.close()

    def start(self, contained, script):
        child = subprocess.Popen(
            ["sh", "-c", script], env={**os.environ, **contained.environment()}, start_new_session=True
        )
        self.children.append(child)
        contained.enter(child.pid)
        return child

    def test_a_process_that_left_its_parent_and_session_is_still_found_and_ended(self):
        contained = Containment(self.tag, self.folder)
        self.start(contained, "setsid sleep 300 & setsid sleep 300 & exit 0").wait()
        until(lambda: len(contained.pids()) == 2)
        self.assertEqual(contained.terminate(5), [])
        self.assertEqual(contained.pids(), [])
        contained.close()

    def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(self):
        contained = Containment(self.tag, self.folder)
        ready = self.folder / "ready"
        child = self.start(contained, f"trap '' TERM; touch {ready}; while :; do sleep 0.1; done")
        until(ready.exists)
        self.assertEqual(contained.terminate(0.3), [])
        self.assertEqual(child.wait(), -9)

    def test_the_tag_alone_is_enough_where_no_cgroup_may_be_made(self):
        parents, module._cgroup_parents = module._cgroup_parents, lambda: iter(())
        try:
            contained = Containment(self.tag, self.folder)
            self.assertIsNone(contained.cgroup)
            self.start(contained, "setsid sleep 300 & exit 0").wait()
            until(lambda: len(contained.pids()) == 1)
            self.assertEqual(contained.terminate(5), [])
        finally:
            module._cgroup_parents = parents

    def test_a_process_that_cleared_its_environment_is_found_by_its_cgroup(self):
        contained = Containment(self.tag, self.folder)
        if contained.cgroup is None:
            self.skipTest("no cgroup may be made here")
        go = self.folder / "go"
        self.start(contained, f"while [ ! -e {go} ]; do sleep 0.02; done; exec env -i sleep 300")
        go.touch()
        until(lambda: module.tagged_pids(self.tag) == set())
        self.assertEqual(len(contained.pids()), 1)
        self.assertEqual(contained.terminate(5), [])

    def test_another_process_opens_the_same_containment_by_its_folder(self):
        first = Containment(self.tag, self.folder)
        self.start(first, "exec sleep 300")
        second = Containment(self.tag, self.folder)
        self.assertEqual(second.cgroup, first.cgroup)
        until(lambda: len(second.pids()) == 1)
        self.assertEqual(second.terminate(5), [])

    def test_a_tag_that_could_leave_its_folder_is_refused(self):
        for bad in ("", "../x", "a b", "a=b"):
            with self.assertRaises(ValueError):
                Containment(bad, self.folder)


class DetachTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def test_a_detached_process_has_a_session_of_its_own_and_no_tie_to_the_starter(self):
        log = self.folder / "log"
        pid = detach(["sh", "-c", "echo started; exec sleep 300"], log, {**os.environ, "MARK": "1"}, self.folder)
        try:
            until(lambda: log.read_text() == "started\n")
            self.assertNotEqual(os.getsid(pid), os.getsid(0))
            self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), str(self.folder))
            self.assertEqual(os.readlink(f"/proc/{pid}/fd/0"), "/dev/null")
            self.assertEqual(log.stat().st_mode & 0o777, 0o600)
            self.assertIn(b"MARK=1", Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
        finally:
            os.kill(pid, 9)
        until(lambda: not is_alive(pid))

    def test_a_program_that_is_not_there_is_an_error_here_and_now(self):
        with self.assertRaises(FileNotFoundError):
            detach(["/nonexistent/program"], self.folder / "log")

    def test_a_pipe_of_the_starter_ends_while_the_detached_process_goes_on(self):
        code = (
            f"import sys; sys.path.insert(0, {str(Path(module.__file__).parents[2])!r})\n"
            "from pathlib import Path; from flexrack_node.process.detach import detach\n"
            f"print(detach(['sleep', '300'], Path({str(self.folder / 'log')!r})))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LONG)
        pid = int(done.stdout)  # run() returned, so nothing holds its stdout open
        self.assertTrue(is_alive(pid))
        os.kill(pid, 9)

    def test_a_module_of_the_program_is_run_isolated(self):
        argv = python_module("process.containment")
        self.assertIn("-I", argv)
