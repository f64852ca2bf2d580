import json
import os
import resource
import shutil
import subprocess
import sys
import unittest
from unittest import mock

from flexrack_node.base.boot import boot_time
from flexrack_node.base.errors import NodeError
from flexrack_node.reservation.hold import Hold
from flexrack_node.verbs.reservation import confirm, listing, release, renew
from places import PROGRAM, verb_words
from reservation_support import Case
from waiting import LONG


class ProtocolTest(Case):
    def test_runs_that_chose_different_gpus_share_a_node_and_who_asks_is_told_which_are_here(self):
        def wants(*gpus):
            return {"wants": {"gpus": list(gpus), "slots": 1, "exclusive": False}}

        with mock.patch("flexrack_node.gpu.reserving.gpu_ids", lambda: ["GPU-a", "GPU-b", "GPU-c"]):
            with mock.patch.dict(os.environ, FLEXRACK_LOCAL_RACK="r", FLEXRACK_NODE="other"):
                self.assertTrue(self.ask("elsewhere", self.node("other"), **wants("GPU-a"))["granted"])
            self.assertTrue(self.ask("one", **wants("GPU-b"))["granted"])
            self.assertEqual(
                [(one["lease"], one["over"]) for one in self.ask("late", **wants("GPU-b", "GPU-c"))["holders"]],
                [("one", "GPU GPU-b")],
            )
            self.assertTrue(self.ask("two", **wants("GPU-c"))["granted"])
        reported = {
            one["lease"]: (one["here"], one["wants"]["gpus"]) for one in listing(None, self.channel)["reservations"]
        }
        self.assertEqual(
            reported, {"elsewhere": (False, ["GPU-a"]), "one": (True, ["GPU-b"]), "two": (True, ["GPU-c"])}
        )

    def test_a_lease_is_taken_confirmed_renewed_and_given_back_and_leaves_nothing(self):
        first = self.ask("a")
        self.assertEqual((first["granted"], first["shared"], self.held()), (True, True, [("a", "prepared")]))
        lease = {"lease": "a", "fence": first["fence"]}
        confirm(lease, self.channel)
        self.assertEqual(renew(lease, self.channel), {"ttl": 20})
        refused = self.ask("b")
        self.assertEqual(
            [(one["lease"], one["owner"], one["over"], one["state"]) for one in refused["holders"]],
            [("a", "a@here", "the whole node", "confirmed")],
        )
        self.assertFalse(refused["granted"])
        self.assertEqual(len(release({"lease": "a", "own": True}, self.channel)["released"]), 1)
        self.assertEqual(list(self.shared.iterdir()), [])

    def test_runs_that_share_go_side_by_side(self):
        for lease in "abc":
            self.assertTrue(self.ask(lease, exclusive=False)["granted"])
        self.assertEqual([one["lease"] for one in self.ask("d")["holders"]], ["a", "b", "c"])

    def test_one_run_has_two_nodes_of_one_machine(self):
        other = self.node("other")
        self.assertTrue(self.ask("a")["granted"])
        self.assertTrue(self.ask("a", other)["granted"])
        release({"lease": "a", "own": True}, other)
        self.assertEqual(self.held(), [("a", "prepared")])

    def test_the_fencing_number_only_grows_whatever_the_clock_says_and_what_was_removed(self):
        fences = []
        for clock in (2e9, 1.0, 3e9, 2e9):
            with mock.patch("time.time", lambda clock=clock: clock):
                fences.append(self.ask("a")["fence"])
                if clock == 3e9:
                    shutil.rmtree(next(self.shared.iterdir()))
        self.assertEqual(sorted(set(fences)), fences)

    def test_a_jump_of_the_clock_neither_frees_nor_keeps(self):
        self.ask("a")
        for clock in (1.0, 4e9):
            with mock.patch("time.time", lambda clock=clock: clock):
                self.assertFalse(self.ask("b")["granted"])
        self.rewrite("a", heartbeat=boot_time() - 21)
        with mock.patch("time.time", lambda: 1.0):
            self.assertTrue(self.ask("b")["granted"])

    def test_a_superseded_fence_is_refused(self):
        old = self.ask("a")["fence"]
        self.rewrite("a", heartbeat=boot_time() - 21)
        with self.assertRaises(NodeError) as caught:
            confirm({"lease": "a", "fence": old}, self.channel)
        self.assertEqual(
            (caught.exception.code, "not renewed in time" in caught.exception.message), ("RESERVATION_LOST", True)
        )
        new = self.ask("a")["fence"]
        self.assertGreater(new, old)
        confirm({"lease": "a", "fence": new}, self.channel)
        for verb in (confirm, renew):
            with self.assertRaisesRegex(NodeError, "another one has taken its place"):
                verb({"lease": "a", "fence": old}, self.channel)
        lost = []
        with self.assertRaisesRegex(NodeError, "another one"):
            Hold(self.channel.root, {"lease": "a", "fence": old}, lost.append).take_over()

    def test_what_was_not_renewed_in_time_is_still_ours_while_nobody_else_has_it(self):
        """The way to the node was cut while a command made the node ready for its run."""
        lease = {"lease": "a", "fence": self.ask("a")["fence"]}
        self.rewrite("a", heartbeat=boot_time() - 60)
        with self.assertRaisesRegex(NodeError, "not renewed in time"):  # the others of the gang may have given up
            renew(lease, self.channel)
        lease["fence"] = self.ask("a")["fence"]
        confirm(lease, self.channel)
        self.rewrite("a", heartbeat=boot_time() - 60)
        self.assertEqual(self.held(), [])
        self.assertEqual(renew(lease, self.channel), {"ttl": 20})
        self.assertEqual(self.held(), [("a", "confirmed")])
        self.rewrite("a", heartbeat=boot_time() - 60, boot="another")
        with self.assertRaisesRegex(NodeError, "RESERVATION_LOST|not renewed"):
            renew(lease, self.channel)
        confirm({**lease, "fence": self.ask("a")["fence"]}, self.channel)
        other = self.node("other")
        own = self.place.read_own("a", self.channel.root)
        self.rewrite("a", heartbeat=boot_time() - 60)
        with mock.patch("flexrack_node.verbs.reservation.end_own_dead"):  # which removes what is over, of this user
            self.assertTrue(self.ask("b", other)["granted"])
        with self.assertRaisesRegex(NodeError, "not renewed in time"):
            renew({"lease": "a", "fence": own["fence"]}, self.channel)

    def test_a_supervisor_needs_a_confirmed_one(self):
        fence = self.ask("a")["fence"]
        with self.assertRaisesRegex(NodeError, "is prepared, not confirmed"):
            Hold(self.channel.root, {"lease": "a", "fence": fence}, print).take_over()

    def test_who_came_first_is_first_in_line(self):
        self.ask("a")
        for lease, since in (("b", 100), ("c", 50)):
            self.assertFalse(self.ask(lease, wait=True, since=since)["granted"])
        release({"lease": "a", "own": True}, self.channel)
        self.assertEqual([one["lease"] for one in self.ask("d")["holders"]], ["c", "b"])
        self.assertEqual([one["lease"] for one in self.ask("b", wait=True)["holders"]], ["c"])
        self.assertTrue(self.ask("c", wait=True, look=True)["granted"])
        self.assertEqual(self.held(), [("c", "waiting"), ("b", "waiting")])
        self.assertTrue(self.ask("c", wait=True)["granted"])
        # A gang that was refused elsewhere goes back to its place.
        release({"lease": "c", "own": True, "wait": True}, self.channel)
        self.assertEqual(self.held(), [("c", "waiting"), ("b", "waiting")])

    def test_who_stops_waiting_loses_their_place(self):
        self.ask("a")
        self.ask("b", wait=True)
        release({"lease": "a", "own": True}, self.channel)
        self.rewrite("b", heartbeat=boot_time() - 21)
        self.assertTrue(self.ask("c")["granted"])

    def test_what_is_no_record_is_passed_over_and_ones_own_is_removed(self):
        self.ask("a")
        own = next(self.shared.iterdir())
        good = next(own.iterdir())
        record = json.loads(good.read_text())
        bad = {**record, "lease": "x"}
        contents = [
            "",
            "{",
            "[]",
            "null",
            json.dumps({**bad, "ttl": 1e9}),
            json.dumps({**bad, "heartbeat": float("nan")}),
            json.dumps({**bad, "holders": [3]}),
            json.dumps({**bad, "wants": {}}),
            json.dumps({**bad, "lease": "../x"}),
            "[" * 60000,
            "x" * 100_000,
        ]
        for index, text in enumerate(contents):
            (own / f"bad-{index}.json").write_text(text)
        (own / "link.json").symlink_to(good)
        os.mkfifo(own / "fifo.json")
        self.assertEqual(self.held(), [("a", "prepared")])
        self.assertEqual(listing(None, self.channel)["damaged"], len(contents) + 2)
        self.assertFalse(self.ask("b")["granted"])
        self.assertEqual(list(own.iterdir()), [good])

    def test_a_folder_that_others_can_write_to_is_not_believed(self):
        self.ask("a")
        next(self.shared.iterdir()).chmod(0o777)
        self.assertEqual(self.held(), [])

    def test_an_unsafe_shared_folder_is_refused(self):
        self.shared.chmod(0o777)
        with self.assertRaisesRegex(NodeError, "sticky"):
            self.ask("a")

    def test_force_is_needed_for_one_that_runs_and_the_owner_for_that_of_another(self):
        confirm({"lease": "a", "fence": self.ask("a")["fence"]}, self.channel)
        self.assertEqual(release({"lease": "a", "owner": "b@here"}, self.channel)["left"][0]["why"], "owner")
        hold = Hold(
            self.channel.root, {"lease": "a", "fence": self.place.read_own("a", self.channel.root)["fence"]}, print
        )
        hold.take_over()
        self.addCleanup(hold.give_back)
        self.assertEqual(release({"lease": "a", "owner": "a@here"}, self.channel)["left"][0]["why"], "running")
        self.assertEqual(release({"lease": "a", "own": True}, self.channel)["left"][0]["why"], "running")
        self.assertIsNone(hold.lost())
        self.assertEqual(len(release({"lease": "a", "owner": "a@here", "force": True}, self.channel)["released"]), 1)
        self.assertIn("was released", hold.lost())

    def test_a_full_disk_is_told_and_changes_nothing(self):
        self.ask("a", exclusive=False)
        before = {path.name: path.read_bytes() for path in next(self.shared.iterdir()).iterdir()}

        def no_room():
            # every write fails with EFBIG, which needs no file system of its own
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        given = {
            "lease": "b",
            "owner": "b",
            "node": "n",
            "nodes": ["n"],
            "ttl": 20,
            "wants": {"gpus": [], "slots": 1, "exclusive": False},
        }
        done = subprocess.run(
            verb_words("reservation.take", self.channel.root, self.folder),
            input=json.dumps(given).encode() + b"\n",
            capture_output=True,
            preexec_fn=no_room,
            timeout=LONG,
        )
        # Its answer goes to a pipe, which the limit does not concern.
        self.assertIn("error", json.loads(done.stdout.splitlines()[-1]))
        self.assertEqual({path.name: path.read_bytes() for path in next(self.shared.iterdir()).iterdir()}, before)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small file system")
    def test_a_file_system_without_room_is_told_and_changes_nothing(self):
        script = f"mount -t tmpfs -o size=4k,mode=1777 none {self.shared} && exec {sys.executable} {PROGRAM} reservation.take {self.channel.root} {self.folder}"
        given = {
            "lease": "b",
            "owner": "b",
            "node": "n",
            "nodes": ["n"],
            "ttl": 20,
            "project": "x" * 5000,
            "wants": {"gpus": [], "slots": 1, "exclusive": False},
        }
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script],
            input=json.dumps(given).encode() + b"\n",
            capture_output=True,
            timeout=LONG,
        )
        error = json.loads(done.stdout.splitlines()[-1])["error"]
        self.assertEqual((error["code"], "no space" in error["message"].lower()), ("NODE_UNFIT", True), error)
