"""Runs that make room where the head says so, and come back; the head is a stand-in that answers what a test says."""

import json
import os
import unittest
from types import SimpleNamespace
from unittest import mock

from flexrack_node.gang import room as gang_room
from flexrack_node.gang.leader import Leader
from flexrack_node.link import checkpoint
from gang_support import CHECKPOINT, SAVING, end_node, own_tracking
from json_server import JsonServer
from run_support import Rack
from waiting import until

# Ranks are found, and ended, by the name of their run: another checkout's tests have other ones.
GIVES, STAYS = f"gives-{os.getpid()}", f"stays-{os.getpid()}"

# Saves when it is asked to end, as a training does that handles SIGTERM.
SAVES_LAST = (
    SAVING
    + """
import signal
def last(*_):
    if RANK == 0: save("step %d" % K)
    sys.exit(0)
signal.signal(signal.SIGTERM, last)
if RANK == 0: save("first" if K == 1 else "step %d" % (K - 1), made=1000.0 * K)
up()
"""
)


class Head(JsonServer):
    """Says whether a run is to make room, and whether it is its turn."""

    def __init__(self):
        self.room, self.is_turn, self.passes, self.words, self.differs = None, False, [], [], None
        super().__init__()

    def answer(self, call, body):
        if call.path != "/flexrack/v1/claims/self":
            return 200, {}
        word = json.loads(body)
        self.words.append({**word, "shows": call.headers.get("Authorization")})
        if self.differs:
            return 409, {"error": {"code": "CLAIM_DIFFERS", "message": self.differs}}
        is_held = self.is_turn if word["away"] else True
        return 200, {
            "state": "held" if is_held else "waiting",
            "room": None if word["away"] else self.room,
            "passes": self.passes,
            "why": None,
        }

    def tracking(self):
        return own_tracking(self.port)

    def away(self):
        return [word for word in self.words if word["away"]]


class RoomTest(unittest.TestCase):
    def setUp(self):
        self.rack, self.head = Rack(2), Head()
        self.addCleanup(self.head.stop)
        self.addCleanup(self.rack.close)

    def running(self, script=SAVES_LAST, **parts):
        self.rack.script(script)
        run = self.rack.start(
            run=GIVES,
            reservations=self.rack.reserve(GIVES),
            preemptible=True,
            checkpoint=CHECKPOINT,
            tracking=self.head.tracking(),
            **parts,
        )
        self.up(1)
        return run

    def up(self, attempt):
        for node in self.rack.nodes:
            until((self.rack.folder / "code" / f"up-{attempt}-{node}").exists)

    def states(self):
        return {
            (one["lease"], one["state"])
            for node in self.rack.nodes
            for one in self.rack.call(node, "reservation.list")["reservations"]
        }

    def gives_way(self, run):
        """Until it has made room. It has a checkpoint that is newer than the word, so nothing is waited for."""
        self.head.room = "first-1"
        until(lambda: any(event["event"] == "makes room" for event in self.rack.events_of(run, "node-1")))
        saved = self.rack.folder / "node-1" / "runs" / run / "outputs" / "checkpoints" / "last.txt"
        os.utime(saved)
        until(self.head.away)

    def test_it_saves_gives_all_back_waits_in_line_and_goes_on_from_its_checkpoint(self):
        run = self.running()
        until(lambda: self.head.words)
        self.assertEqual(self.head.words[0]["shows"], "Bearer run.1.secret")
        self.gives_way(run)
        until(lambda: self.states() == {(run, "waiting")})
        self.assertEqual(self.rack.alive(run), set())
        self.assertTrue(self.rack.call("node-1", "run.state", {"run": run})["live"])
        # Who comes first has it, and passes whoever stood in line longer; who does not wait gets nothing.
        self.assertFalse(self.rack.take("node-1", "sneaks")["granted"])
        first = self.rack.take("node-1", "first-1", passes=[run], ttl=300)
        self.assertTrue(first["granted"])
        self.head.room, self.head.is_turn = None, True  # too early: a node is not free yet
        until(lambda: len(self.head.away()) > 2)
        self.assertEqual(self.rack.alive(run), set())
        self.rack.call("node-1", "reservation.release", {"lease": "first-1", "own": True})
        self.up(2)
        self.assertEqual(self.states(), {(run, "running")})
        for rank, node in enumerate(self.rack.nodes):
            self.assertEqual(self.rack.log(run, rank, node, 2), f"attempt 2 rank {rank} of 2 from step 1\n")
        self.rack.call("node-1", "run.stop", {"run": run})
        self.rack.finish(run)
        result = json.loads((self.rack.folder / "node-1" / "runs" / run / "result.json").read_text())
        self.assertEqual(
            [(one["status"], one.get("changes"), one["why"]) for one in result["attempts"]],
            [("stopped", "made room for first-1", "start"), ("stopped", None, "its turn again")],
        )

    def test_a_run_that_waits_for_its_turn_can_be_stopped_and_leaves_nothing(self):
        run = self.running()
        self.gives_way(run)
        until(lambda: self.states() == {(run, "waiting")})
        self.rack.call("node-2", "run.stop", {"run": run})
        self.assertEqual(self.rack.finish(run)["status"], "stopped")
        until(lambda: self.states() == set())

    def test_whoever_does_not_wait_any_more_ends_nothing(self):
        run = self.running()
        self.head.room = "first-1"
        until(lambda: any(event["event"] == "makes room" for event in self.rack.events_of(run, "node-1")))
        self.head.room = None
        count = len(self.head.words)
        until(lambda: len(self.head.words) > count + 1)
        os.utime(self.rack.folder / "node-1" / "runs" / run / "outputs" / "checkpoints" / "last.txt")
        until(lambda: len(self.head.words) > count + 3)
        self.assertEqual(self.head.away(), [])
        self.assertNotEqual(self.rack.alive(run), set())

    def test_a_supervisor_that_is_killed_while_it_waits_leaves_the_line(self):
        run = self.running()
        self.gives_way(run)
        until(lambda: self.states() == {(run, "waiting")})
        for node in self.rack.nodes:
            end_node(self.rack, run, node)
        self.assertEqual(self.rack.alive(run), set())
        self.assertTrue(self.rack.take("node-1", "next", passes=[run])["granted"])

    def test_a_checkpoint_that_goes_while_it_is_looked_at_does_not_end_the_asking(self):
        folder = SimpleNamespace(outputs=self.rack.folder)
        local = SimpleNamespace(seat=SimpleNamespace(has=lambda: None))
        spec = {"preemptible": True, "checkpoint": CHECKPOINT, "tracking": self.head.tracking()}
        gone = mock.Mock(side_effect=[FileNotFoundError("rotated"), None, *[FileNotFoundError("rotated")] * 1000])
        with mock.patch.object(checkpoint, "newest", gone), mock.patch.object(gang_room, "_ASK_SECONDS", 0.02):
            room = gang_room.Room(folder, spec, local, SimpleNamespace(others=[]))
            room.begin()
            self.addCleanup(room.close)
            until(lambda: len(self.head.words) > 3)
            room.close()

    def test_a_run_tells_what_its_nodes_gave_it_and_ends_where_its_command_had_told_of_less(self):
        self.head.differs = "its claim says 0 GPUs"
        self.rack.script(SAVES_LAST)
        run = self.rack.start(
            run=STAYS,
            reservations=self.rack.reserve(STAYS),
            checkpoint=CHECKPOINT,
            tracking=self.head.tracking(),
        )
        self.assertEqual(self.rack.finish(run)["status"], "stopped")
        (word,) = self.head.words
        self.assertEqual([(one["gpus"], one["exclusive"], one["leased"]) for one in word["has"]], [([], True, 0)] * 2)
        names = {self.rack.take(node, "next")["identity"] for node in self.rack.nodes}
        self.assertEqual({one["node"] for one in word["has"]}, names, "as everybody calls them")
        self.assertEqual(word["away"], False)
        stop = json.loads((self.rack.folder / "node-1" / "runs" / run / "stop.json").read_text())
        self.assertEqual(stop["by"], "the head of the rack: its claim says 0 GPUs")
        until(lambda: self.states() == set())


class CutOffTest(unittest.TestCase):
    """A leader whose run waits for its turn, as its membership finds it."""

    def outcome(self, step_down):
        leader = object.__new__(Leader)
        leader._spec, leader._folder, leader._hangs = {}, mock.Mock(), mock.Mock()
        leader._handover = SimpleNamespace(attempts=[], open={"nodes": ["node-1", "node-2"], "why": "start"})
        leader._room = mock.Mock(made_for="first-1", come_back=lambda: None)
        leader._membership = mock.Mock(own="node-1", stop_request=lambda: None, next_members=lambda: None)
        leader._membership.step_down_cause.side_effect = [None, step_down]
        ended = {"status": "stopped", "survivors": [], "cause": None}
        with mock.patch.object(Leader, "_inherit", return_value=ended):
            return leader.run()

    def test_one_that_others_have_replaced_leaves_the_end_of_the_run_to_them(self):
        cause = {"node": "node-1", "message": "node-2 leads the run by now"}
        outcome = self.outcome(cause)
        self.assertEqual((outcome["status"], outcome["cause"], outcome.get("partial")), ("failed", cause, True))

    def test_one_whose_nodes_are_lost_says_so(self):
        outcome = self.outcome(None)
        self.assertNotIn("partial", outcome)
        self.assertIn("does not come back: too few of its nodes", outcome["cause"]["message"])


if __name__ == "__main__":
    unittest.main()
