import hashlib
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import uv_program
from environment_support import MadeEnvironments
from flexrack_node.base import interpreter, shared_lock
from flexrack_node.workspace import environment
from flexrack_node.workspace.pip import failing_line, redact
from waiting import LONG, until


class Environments(MadeEnvironments):
    """What holds whoever builds."""

    def test_builds_once_for_one_content_and_again_for_another(self):
        self.wheel("alpha")
        first = self.call("environment.ensure", {"requirements": "alpha==1.0\n"})["result"]
        self.assertTrue(first["built"])
        shown = subprocess.run(
            [f"{first['path']}/bin/python", "-c", "import alpha; print(alpha.version)"], capture_output=True, text=True
        )
        self.assertEqual(shown.stdout, "1.0\n")
        second = self.call("environment.ensure", {"requirements": "# a comment\nalpha==1.0  \n\n"})["result"]
        self.assertEqual((second["hash"], second["built"]), (first["hash"], False))
        self.assertEqual(self.call("environment.plan", {"requirements": "alpha==1.0"})["result"]["ready"], True)
        self.assertEqual(self.call("environment.plan", {"requirements": "alpha"})["result"]["ready"], False)

    def test_a_file_with_another_hash_than_its_lock_says_is_not_installed(self):
        self.wheel("alpha")
        right = hashlib.sha256((self.wheels / "alpha-1.0-py3-none-any.whl").read_bytes()).hexdigest()
        wrong = self.call("environment.ensure", {"requirements": f"alpha==1.0 \\\n    --hash=sha256:{'0' * 64}\n"})[
            "error"
        ]
        self.assertEqual((wrong["code"], wrong["details"]["requirement"]), ("ENVIRONMENT_FAILED", "alpha==1.0"))
        self.assertIn("alpha==1.0 has another content than its lock says", wrong["message"])
        self.assertEqual((self.folders(), self.hidden()), ([], []))
        built = self.call(
            "environment.ensure",
            {"requirements": f"# a lock\nalpha==1.0 \\\n    --hash=sha256:{'0' * 64} \\\n    --hash=sha256:{right}\n"},
        )["result"]
        self.assertTrue(built["built"])
        self.assertEqual(
            [one["requirements"] for one in self.call("environment.list", None)["result"]], [["alpha==1.0"]]
        )

    def test_names_the_line_that_failed_and_leaves_nothing(self):
        self.wheel("alpha")
        error = self.call("environment.ensure", {"requirements": "# ours\nalpha==1.0\n\nbeta==3.0\n"})["error"]
        self.assertEqual(
            (error["code"], error["details"]["line"], error["details"]["requirement"]),
            ("ENVIRONMENT_FAILED", 4, "beta==3.0"),
        )
        self.assertEqual((self.folders(), self.hidden()), ([], []))


class PipEnvironmentTest(Environments, unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "a small disk can be mounted by root only")
    def test_what_does_not_fit_is_told_before_it_is_installed_and_leaves_nothing(self):
        self.wheel("huge", bytes_of_zeros=200_000_000)
        self.environments.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", str(self.environments)], check=True)
        try:
            error = self.call("environment.ensure", {"requirements": "huge\n"})["error"]
            self.assertEqual(error["code"], "NODE_UNFIT")
            self.assertRegex(
                error["message"],
                rf"^this environment needs 200\.\d MB below {self.environments}/[0-9a-f]+, and \d+\.\d MB are free$",
            )
            self.assertGreater(error["details"]["needed_bytes"], 200_000_000)
            self.assertEqual([path.name for path in self.environments.iterdir()], [".locks"])
        finally:
            subprocess.run(["umount", "-l", str(self.environments)], check=True)


class UvEnvironmentTest(Environments, unittest.TestCase):
    """The same promises where uv builds."""

    def setUp(self):
        super().setUp()
        self.uv = uv_program.order()
        uv_program.put(self.environments)

    def test_constraints_hold_and_count(self):
        self.wheel("alpha", "1.0")
        self.wheel("alpha", "2.0")
        old = self.call("environment.ensure", {"requirements": "alpha\n", "constraints": "alpha<2\n"})["result"]
        shown = subprocess.run(
            [f"{old['path']}/bin/python", "-c", "import alpha; print(alpha.version)"], capture_output=True, text=True
        )
        self.assertEqual(shown.stdout, "1.0\n")
        self.assertNotEqual(old["hash"], self.call("environment.plan", {"requirements": "alpha\n"})["result"]["hash"])

    def test_two_at_once_build_once_and_the_second_says_whom_it_waits_for(self):
        self.wheel("alpha")
        asker = {"command": "k3x9a", "node": "node-1"}
        children = [
            self.start("environment.ensure", {"requirements": "alpha\n", "owner": "ada@desk", "asker": asker})
            for _ in range(2)
        ]
        answers, events = [], []
        for child in children:
            answers.append(self.end(child)["result"])
            events.extend(self.events)
        self.assertEqual(sorted(answer["built"] for answer in answers), [False, True])
        waiting = [event for event in events if event["event"] == "waiting"]
        self.assertTrue(waiting)
        self.assertIn(waiting[0]["holder"]["pid"], [child.pid for child in children])
        self.assertEqual((waiting[0]["holder"]["owner"], waiting[0]["holder"]["asker"]), ("ada@desk", asker))

    def test_a_builder_that_is_told_to_end_leaves_no_process_and_no_environment(self):
        self.slow_source()
        child = self.start("environment.ensure", {"requirements": "slow\n"})
        until((self.folder / "building").exists)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(child)["error"]["code"], "INTERRUPTED")
        self.assertEqual((self.folders(), self.hidden()), ([], []))
        self.assertEqual(self.processes(), [])

    def test_a_builder_ends_when_its_caller_goes_away(self):
        self.slow_source()
        child = self.start("environment.ensure", {"requirements": "slow\n"})
        until((self.folder / "building").exists)
        child.stdout.close()
        child.stdout = None
        child.wait(LONG)
        self.assertEqual((self.folders(), self.hidden()), ([], []))
        self.assertEqual(self.processes(), [])

    def test_what_a_killed_builder_left_is_replaced_by_the_next(self):
        self.slow_source()
        child = self.start("environment.ensure", {"requirements": "slow\n"})
        until((self.folder / "building").exists)
        child.kill()
        child.communicate()
        for pid in self.processes():  # pip's own build, which nobody was there to end
            os.kill(int(pid), signal.SIGKILL)
        left = self.folders()
        self.assertEqual(len(left), 1)
        self.assertEqual([one["ready"] for one in self.call("environment.list", None)["result"]], [False])
        (self.wheels / "slow-1.0.tar.gz").unlink()
        self.wheel("slow")
        answer = self.call("environment.ensure", {"requirements": "slow\n"})["result"]
        self.assertEqual(([answer["hash"]], answer["built"]), (left, True))
        self.assertEqual(self.hidden(), [])

    def test_what_a_killed_builder_left_of_another_environment_goes_with_the_next_build(self):
        self.wheel("alpha")
        half = self.environments / "0123456789abcdef"
        (half / "bin").mkdir(parents=True)
        (self.environments / ".fedcba9876543210-x1").mkdir()
        held = self.environments / "1111111111111111"
        held.mkdir()
        (self.environments / ".locks").mkdir()
        with open(self.environments / ".locks" / held.name, "w") as lock:
            self.assertTrue(shared_lock.take(lock.fileno()))  # somebody builds it right now
            self.call("environment.ensure", {"requirements": "alpha\n"})
        self.assertFalse(half.exists() or (self.environments / ".fedcba9876543210-x1").exists())
        self.assertTrue(held.exists())

    def test_an_environment_whose_python_has_gone_is_built_again(self):
        answer = self.call("environment.ensure", {"requirements": ""})["result"]
        python = Path(answer["path"]) / "bin" / "python"
        python.unlink()
        python.symlink_to("/nowhere/python3")
        self.assertTrue(self.call("environment.ensure", {"requirements": ""})["result"]["built"])

    def test_removes_what_nothing_uses_and_keeps_the_rest(self):
        used = self.call("environment.ensure", {"requirements": "", "constraints": "alpha<2", "user": "head"})["result"]
        unused = self.call("environment.ensure", {"requirements": "", "constraints": "alpha<3"})["result"]
        running = self.call("environment.ensure", {"requirements": ""})["result"]
        child = subprocess.Popen(
            [f"{running['path']}/bin/python", "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL
        )
        self.children.append(child)
        planned = self.call("environment.remove", {"dry_run": True})["result"]
        self.assertEqual(planned["removed"], [unused["hash"]])
        self.assertTrue(Path(unused["path"]).exists())
        done = self.call("environment.remove", {})["result"]
        self.assertEqual(
            (done["removed"], sorted(one["hash"] for one in done["kept"])),
            ([unused["hash"]], sorted([used["hash"], running["hash"]])),
        )
        self.assertEqual(self.folders(), sorted([used["hash"], running["hash"]]))
        self.call("environment.release", {"user": "head"})
        self.assertEqual(self.call("environment.remove", {})["result"]["removed"], [used["hash"]])

    def test_a_workspace_lets_go_of_its_old_environment_when_it_gets_another(self):
        old = self.call(
            "environment.ensure", {"requirements": "", "constraints": "alpha<2", "user": "workspace:digits"}
        )["result"]
        new = self.call("environment.ensure", {"requirements": "", "user": "workspace:digits"})["result"]
        users = {
            one["hash"]: [user["user"] for user in one["users"]]
            for one in self.call("environment.list", None)["result"]
        }
        self.assertEqual(users, {old["hash"]: [], new["hash"]: ["workspace:digits"]})

    def test_a_python_that_is_not_there_or_cannot_make_environments_is_told(self):
        error = self.call("environment.ensure", {"requirements": "", "python": "9.9"})["error"]
        self.assertEqual((error["code"], error["details"]["python"]), ("NODE_UNFIT", "9.9"))
        before, interpreter.facts = interpreter.facts, lambda: {**facts, "venv": False}
        facts = before()
        try:
            with self.assertRaises(environment.NodeError) as caught:
                environment.ensure(
                    {"requirements": ""}, environment.Channel(self.root, self.environments, sys.stdin.buffer)
                )
        finally:
            interpreter.facts = before
        self.assertEqual(caught.exception.code, "NODE_UNFIT")
        self.assertRegex(caught.exception.hint, r"apt-get install -y python3\.\d+-venv")


class FailingLineTest(unittest.TestCase):
    def test_finds_the_line_by_number_by_name_or_by_what_was_tried_last(self):
        requested = ["numpy==2.0", "Scikit_Learn==99", "torch"]
        self.assertEqual(
            failing_line(["ERROR: Invalid requirement: 'a=1' (from line 3 of /x/requirements.txt)"], requested), 3
        )
        self.assertEqual(failing_line(["ERROR: No matching distribution found for scikit-learn==99"], requested), 2)
        self.assertEqual(
            failing_line(
                ["Collecting torch (from -r /x/requirements.txt (line 3))", "ERROR: something else"], requested
            ),
            3,
        )
        self.assertIsNone(failing_line(["ERROR: something else"], requested))

    def test_does_not_show_passwords_of_indexes(self):
        self.assertEqual(
            redact("Looking in indexes: https://ada:secret@example.org/simple"),
            "Looking in indexes: https://[redacted]@example.org/simple",
        )
