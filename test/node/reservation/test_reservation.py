import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.errors import NodeError
from flexrack_node.gpu.ids import gpu_ids
from flexrack_node.reservation import life
from flexrack_node.reservation.life import holder, is_counting
from flexrack_node.reservation.place import Place
from flexrack_node.reservation.rules import conflict, in_the_way


class RulesTest(unittest.TestCase):
    def record(self, lease, state="running", since=1, gpus=(), exclusive=False, domain="d", uid=1):
        return {
            "lease": lease,
            "state": state,
            "since": since,
            "domain": domain,
            "uid": uid,
            "wants": {"gpus": list(gpus), "slots": 1, "exclusive": exclusive},
        }

    def test_runs_share_a_node_and_nothing_else(self):
        a, b = self.record("a"), self.record("b")
        self.assertIsNone(conflict(a, b))
        self.assertEqual(conflict(self.record("a", exclusive=True), b), "the whole node")
        self.assertEqual(conflict(a, self.record("b", exclusive=True)), "the whole node")
        self.assertIsNone(conflict(self.record("a", exclusive=True), self.record("b", domain="other", exclusive=True)))
        self.assertEqual(
            conflict(self.record("a", gpus=["x", "y"]), self.record("b", domain="other", gpus=["y"])), "GPU y"
        )
        self.assertIsNone(conflict(self.record("a", gpus=["x"]), self.record("b", gpus=["y"])))

    def test_two_parts_of_one_lease_go_together_but_not_those_of_two_users(self):
        self.assertIsNone(conflict(self.record("a", exclusive=True), self.record("a", exclusive=True)))
        self.assertIsNotNone(conflict(self.record("a", exclusive=True), self.record("a", exclusive=True, uid=2)))

    def test_only_who_came_first_is_in_the_way_while_waiting(self):
        wanted = self.record("b", "waiting", since=5, exclusive=True)
        early, late = (
            self.record("c", "waiting", since=4, exclusive=True),
            self.record("a", "waiting", since=6, exclusive=True),
        )
        same = self.record("a", "waiting", since=5, exclusive=True)
        self.assertEqual([one["lease"] for one in in_the_way(wanted, [early, late])], ["c"])
        self.assertEqual(
            [one["lease"] for one in in_the_way(wanted, [early, {**late, "state": "running"}])], ["a", "c"]
        )
        self.assertEqual(
            in_the_way(wanted, [{**early, "state": "running"}]),
            [{**early, "state": "running", "over": "the whole node"}],
        )
        # The same moment: the name decides, and on every node alike.
        self.assertEqual((len(in_the_way(wanted, [same])), in_the_way(same, [wanted])), (1, []))


class LifeTest(unittest.TestCase):
    def setUp(self):
        self.record = {
            "state": "prepared",
            "heartbeat": 100.0,
            "ttl": 20,
            "boot": "b",
            "pidns": life.pid_namespace(),
            "holders": [],
            "uid": os.geteuid(),
        }

    def test_it_ends_by_itself_when_it_is_not_renewed(self):
        self.assertEqual([is_counting(self.record, at, "b") for at in (100.0, 119.9, 120.1)], [True, True, False])

    def test_another_boot_and_a_heartbeat_of_the_future_count_for_nothing(self):
        self.assertFalse(is_counting(self.record, 101, "other"))
        self.assertFalse(is_counting(self.record, 50, "b"))

    def test_a_run_lives_as_long_as_one_of_its_processes_and_no_longer(self):
        child = subprocess.Popen(["sleep", "600"])
        record = {**self.record, "state": "running", "holders": [{"pid": child.pid, "start": 1}, holder(child.pid)]}
        self.assertTrue(is_counting(record, 99999.0, "b"), "silent, but alive: it is not taken away")
        self.assertFalse(
            is_counting({**record, "holders": record["holders"][:1]}, 101, "b"), "another process with that pid"
        )
        self.assertFalse(
            is_counting({**record, "uid": os.geteuid() + 1}, 101, "b"), "a process of somebody else keeps nothing alive"
        )
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie from here on
        self.assertFalse(is_counting(record, 101, "b"))
        child.wait()
        self.assertFalse(is_counting(record, 101, "b"))

    def test_processes_that_cannot_be_seen_are_believed_as_long_as_they_are_heard(self):
        record = {**self.record, "state": "running", "pidns": "pid:[1]", "holders": [{"pid": 1, "start": 1}]}
        self.assertEqual([is_counting(record, at, "b") for at in (119, 121)], [True, False])


class GpuIdsTest(unittest.TestCase):
    def test_they_are_what_the_driver_says(self):
        with tempfile.TemporaryDirectory() as name:
            for bus, text in (
                (
                    "0000:41:00.0",
                    "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-6a1f2c3d-0000-1111-2222-333344445555\nBus Type: PCIe\n",
                ),
                ("0000:01:00.0", "GPU UUID:  GPU-????????\n"),
            ):
                (Path(name) / bus).mkdir()
                (Path(name) / bus / "information").write_text(text)
            self.assertEqual(gpu_ids(Path(name)), ["pci:0000:01:00.0", "GPU-6a1f2c3d-0000-1111-2222-333344445555"])
            self.assertEqual(gpu_ids(Path(name) / "nothing"), [])


class PlaceTest(unittest.TestCase):
    def test_a_lock_that_somebody_keeps_is_told(self):
        with tempfile.TemporaryDirectory() as name:
            place = Place(Path(name), True)
            with place.locked(), self.assertRaisesRegex(NodeError, "another process has held"), place.locked(0.05):
                pass
