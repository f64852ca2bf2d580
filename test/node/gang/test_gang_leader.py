"""A run whose leader is lost: more than half of its nodes choose another one, and never two lead."""

import os
import random
import signal
import socket
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.gang.copies import choose, copies_of
from flexrack_node.gang.election import Election
from flexrack_node.gang.membership import CERTAIN_SECONDS
from flexrack_node.gang.voter_state import VoterState
from flexrack_node.run import rules
from flexrack_node.run.files import RunFolder
from gang_support import CHECKPOINT, SAVING, GangCase, end_node
from run_support import supervisor_pid
from waiting import LONG, until


class LeaderTest(GangCase):
    def kinds(self, rack, run, node):
        there = (rack.folder / node / "runs" / run / "events.jsonl").exists()
        return [event["event"] for event in rack.events_of(run, node)] if there else []

    def test_the_run_goes_on_under_another_leader_from_the_newest_checkpoint(self):
        rack = self.rack_of(3)
        rack.script(SAVING + "\nif RANK == 1 and K == 1: save('one')\nif K == 1: up()")
        run = rack.start(restarts=0, checkpoint=CHECKPOINT, size={"min": 2, "max": 2}, gang={"lost": 3600})
        self.up(rack, 1, "node-1", "node-2")
        # its reaper tells the others: nobody waits that hour until its ranks have surely ended
        os.kill(supervisor_pid(rack, run, "node-1"), signal.SIGKILL)
        state = rack.finish(run, "node-2")
        self.assertEqual((state["status"], state["result"]["leader"]), ("finished", "node-2"), state)
        first, second = state["result"]["attempts"]
        self.assertEqual(
            (first["attempt"], first["nodes"], first["lost"], second["nodes"]),
            (1, ["node-1", "node-2"], ["node-1"], ["node-2", "node-3"]),
        )
        self.assertEqual(second["why"], "node-3 takes the place of node-1")
        self.assertIn("node-1 is lost: its supervisor was killed", first["cause"]["message"])
        self.assertEqual(
            [rack.log(run, rank, node, 2) for rank, node in enumerate(["node-2", "node-3"])],
            [f"attempt 2 rank {rank} of 2 from one\n" for rank in (0, 1)],
        )
        reported = rack.finish(run, "node-3")["result"]
        elected = next(event for event in rack.events_of(run, "node-2") if event["event"] == "elected")
        self.assertEqual((elected["votes"], elected["instead"]), (["node-2", "node-3"], "node-1"))
        self.assertEqual(
            (reported["status"], reported["leader"], reported["term"]), ("finished", "node-2", elected["term"])
        )
        self.assertEqual(rack.alive(run), set())

    def test_what_only_the_lost_node_had_saved_is_not_lost_with_it(self):
        rack = self.rack_of(4)
        rack.script(
            SAVING
            + """
if RANK == 0 and K == 1: save("one"); time.sleep(0.5); save("two"); save("half", "later.txt.partial.txt.tmp")
if RANK == 1 and K == 1: save("older, of another rank", made=time.time() - 60)
if K == 1: up()
"""
        )
        run = rack.start(restarts=0, checkpoint=CHECKPOINT, size={"min": 2, "max": 2})
        self.up(rack, 1, "node-1", "node-2")
        # on the idle one: nobody's network is used that trains
        copy = rack.folder / "node-3" / "runs" / run / "outputs" / "checkpoints" / "last.txt"
        until(lambda: copy.exists() and copy.read_text() == "two")
        until(lambda: "copied" in self.kinds(rack, run, "node-3"))
        self.assertNotIn("copied", self.kinds(rack, run, "node-2"))
        os.kill(supervisor_pid(rack, run, "node-1"), signal.SIGKILL)
        state = rack.finish(run, "node-2")
        second = state["result"]["attempts"][1]
        self.assertEqual(
            (state["status"], second["checkpoint"]["node"], second["nodes"]),
            ("finished", "node-3", ["node-2", "node-3"]),
            state,
        )
        self.assertEqual(rack.log(run, 0, "node-2", 2), "attempt 2 rank 0 of 2 from two\n")

    def test_a_member_keeps_its_copy_where_no_rank_sees_it_until_the_attempt_is_over(self):
        rack = self.rack_of(3)
        rack.script(
            SAVING
            + """
if RANK == 0 and K == 1: save("one", "a.txt"); time.sleep(7); save("two", "b.txt")
if K == 1: up()
print(sorted(os.listdir(os.environ["FLEXRACK_OUTPUTS"])))
"""
        )
        run = rack.start(restarts=0, checkpoint=CHECKPOINT, size={"min": 2, "max": 3})
        beside = [
            rack.folder / node / "runs" / run / "copies" / "checkpoints" / "b.txt" for node in ("node-2", "node-3")
        ]
        until(lambda: any(one.exists() for one in beside))
        kept, other = ("node-2", "node-3") if beside[0].exists() else ("node-3", "node-2")
        until(lambda: self.kinds(rack, run, kept).count("copied") == 2)
        copies = rack.folder / kept / "runs" / run / "copies" / "checkpoints"
        self.assertEqual(os.listdir(copies), ["b.txt"])  # the older copy is gone
        self.assertFalse((rack.folder / kept / "runs" / run / "outputs" / "checkpoints").exists())
        self.assertEqual(self.kinds(rack, run, other).count("copied"), 0)
        os.kill(supervisor_pid(rack, run, "node-1"), signal.SIGKILL)
        state = rack.finish(run, "node-2")
        self.assertEqual(
            (state["status"], state["result"]["attempts"][1]["checkpoint"]["name"]),
            ("finished", "checkpoints/b.txt"),
            state,
        )
        self.assertTrue(rack.log(run, 0, "node-2", 2).startswith("attempt 2 rank 0 of 2 from two\n"))

    def test_a_leader_that_loses_its_power_is_replaced_once_its_ranks_have_surely_ended(self):
        rack = self.rack_of(3)
        rack.script(SAVING + "\nif K == 1: up()")
        run = rack.start(restarts=0, size={"min": 2, "max": 2}, gang={"lost": 6})
        self.up(rack, 1, "node-1", "node-2")
        lost_after = time.time()
        end_node(rack, run, "node-1")
        state = rack.finish(run, "node-2")
        first, second = state["result"]["attempts"]
        # on a busy machine either of the two asks for votes first, and who leads is named first
        self.assertEqual((state["status"], sorted(second["nodes"])), ("finished", ["node-2", "node-3"]), state)
        self.assertIn("node-1 lost its supervisor: the machine answers node-2 and node-3", first["cause"]["message"])
        self.assertGreaterEqual(second["started"] - lost_after, 6 + CERTAIN_SECONDS)

    def test_a_leader_that_was_asleep_ends_its_part_when_it_wakes(self):
        rack = self.rack_of(3)
        rack.script(SAVING + "\nif K == 1: up()")
        run = rack.start(restarts=0, size={"min": 2, "max": 2}, gang={"lost": 5})
        self.up(rack, 1, "node-1", "node-2")
        asleep = supervisor_pid(rack, run, "node-1")
        os.kill(asleep, signal.SIGSTOP)
        try:
            state = rack.finish(run, "node-2")
            self.assertEqual((state["status"], state["result"]["leader"]), ("finished", "node-2"), state)
            self.assertIn(
                "node-1 is lost: node-2 and node-3 do not reach it", state["result"]["attempts"][0]["cause"]["message"]
            )
        finally:
            os.kill(asleep, signal.SIGCONT)
        old = rack.finish(run, "node-1")
        self.assertEqual((old["status"], old["result"]["partial"]), ("failed", True))
        self.assertRegex(
            old["cause"]["message"],
            "node-1, which led the run, stood still for [0-9]+ s; the others may go on without it",
        )
        self.assertEqual(rack.alive(run), set())

    def test_who_leads_in_its_place_may_be_lost_too_as_long_as_more_than_half_are_left(self):
        rack = self.rack_of(5)
        rack.script(SAVING + "\nif K < 4: up()")
        run = rack.start(restarts=0, size={"min": 2, "max": 2}, gang={"lost": 8})
        for attempt, (leader, other) in enumerate([("node-1", "node-2"), ("node-2", "node-3")], 1):
            self.up(rack, attempt, leader, other)
            os.kill(supervisor_pid(rack, run, leader), signal.SIGKILL)
        self.up(rack, 3, "node-3", "node-4")
        os.kill(supervisor_pid(rack, run, "node-3"), signal.SIGKILL)  # two of five are not enough
        for node in ("node-4", "node-5"):
            state = rack.finish(run, node)
            self.assertEqual((state["status"], state["result"]["partial"]), ("failed", True), state)
            self.assertIn("the leader on node-3 is gone", state["cause"]["message"])
        self.assertEqual(rack.alive(run), set())

    def test_what_was_asked_of_the_lost_leader_is_done(self):
        rack = self.rack_of(3)
        rack.script(
            SAVING
            + """
import signal
signal.signal(signal.SIGTERM, lambda *_: None)
up()"""
        )
        run = rack.start(restarts=3, size={"min": 2, "max": 2}, grace=6)
        self.up(rack, 1, "node-1", "node-2")
        pid = supervisor_pid(rack, run, "node-1")
        os.kill(pid, signal.SIGTERM)  # as an administrator would: only its own node knows of it
        until(lambda: "stopping" in self.kinds(rack, run, "node-2"))
        os.kill(pid, signal.SIGKILL)
        state = rack.finish(run, "node-2")
        self.assertEqual((state["status"], len(state["result"]["attempts"])), ("stopped", 1), state)
        self.assertEqual(rack.alive(run), set())

    def test_where_nothing_could_follow_nobody_is_chosen(self):
        rack = self.rack_of(3)
        rack.script(SAVING + "\nup()")
        run = rack.start(restarts=3)
        self.up(rack, 1, *rack.nodes)
        os.kill(supervisor_pid(rack, run, "node-1"), signal.SIGKILL)
        state = rack.finish(run, "node-2")
        self.assertEqual((state["status"], state["cause"]["message"]), ("failed", "the leader on node-1 is gone"))
        self.assertNotIn("not elected", self.kinds(rack, run, "node-2"))


class CopiesTest(unittest.TestCase):
    def test_who_keeps_a_copy(self):
        old, new = {"name": "a", "at": 1, "bytes": 3}, {"name": "b", "at": 2, "bytes": 3}
        observations = {"a": {"saved": new, "peer": ["x", 1]}, "b": {"saved": old, "peer": ["y", 1]}, "c": {}, "d": {}}

        def nodes(copies, **more):
            chosen = choose(
                {node: {**observed, **more.get(node, {})} for node, observed in observations.items()},
                ["a", "b"],
                copies,
            )
            return chosen and (chosen["node"], chosen["name"], chosen["nodes"])

        self.assertEqual(nodes(1), ("a", "b", ["c"]))
        self.assertEqual(nodes(3), ("a", "b", ["c", "d", "b"]))
        self.assertEqual(nodes(1, d={"kept": old}), ("a", "b", ["d"]))  # copies do not spread
        self.assertEqual(nodes(1, c={"unkept": new}), ("a", "b", ["d"]))
        self.assertIsNone(nodes(1, d={"kept": new}))
        self.assertIsNone(nodes(1, b={"saved": new}))  # a file system that both have, or the same written twice
        self.assertIsNone(choose({"a": {}, "b": {}}, ["a"], 1))

    def test_where_copies_are_made_unasked(self):
        spec = {"nodes": ["a", "b", "c"], "checkpoint": {"path": "x"}, "size": {"min": 2, "max": 2}}
        for change, expected in [
            ({}, 1),
            ({"size": {"min": 3, "max": 3}}, 0),
            ({"checkpoint": {"path": "x", "copies": 7}}, 2),
            ({"checkpoint": None}, 0),
            ({"scheduler": "slurm"}, 0),
        ]:
            self.assertEqual(copies_of({**spec, **change}), expected, change)


class VoteTest(unittest.TestCase):
    def test_never_two_leaders_in_an_epoch_and_none_while_most_hear_theirs(self):
        for seed in range(400):
            dice = random.Random(seed)
            count = dice.randint(3, 7)
            nodes = [f"n{number}" for number in range(count)]
            voters = {node: VoterState(node) for node in nodes}
            history = {"history": {"lost": {}}, "phase": "run", "term": 1}
            deaf = set(dice.sample(nodes[1:], dice.randint(0, count - 1)))  # have given their leader up
            known = {node: {**history, "serial": dice.randint(1, 3)} for node in nodes}
            for node in nodes:
                voters[node].knows(known[node], node in deaf)
            leaders = {}
            tries = {node: set() for node in deaf}
            for _ in range(60):
                if not deaf:
                    break
                candidate = dice.choice(sorted(deaf))
                term = voters[candidate].next_term()
                requested = {"vote": {"term": term, "candidate": candidate, "known": [1, known[candidate]["serial"]]}}
                votes = {candidate}
                for other in dice.sample(nodes, dice.randint(0, count)):  # the others are not reached
                    if other != candidate:
                        answer = voters[other].answer(requested)
                        if answer["granted"]:
                            votes.add(other)
                        else:
                            voters[candidate].passes(answer["voted"])
                tries[candidate].add(term)
                if len(votes) >= rules.majority(nodes):
                    self.assertIn(
                        leaders.setdefault(term, candidate), (candidate,), f"seed {seed}: two leaders in term {term}"
                    )
                    self.assertLessEqual(votes, deaf, f"seed {seed}")
                    newest = max(known[node]["serial"] for node in votes)
                    self.assertEqual(known[candidate]["serial"], newest, f"seed {seed}: a word is forgotten")
            if len(deaf) < rules.majority(nodes):
                self.assertEqual(leaders, {}, f"seed {seed}")

    def test_a_node_that_was_put_out_or_hears_less_is_not_voted_for_and_told_why(self):
        voter = VoterState("b")
        voter.knows({"phase": "run", "term": 1, "serial": 5, "history": {"lost": {"c": {}}}}, True)

        def ask(candidate, term, serial):
            answer = voter.answer({"vote": {"term": term, "candidate": candidate, "known": [1, serial]}})
            return answer["granted"], answer["why"], answer["out"]

        self.assertEqual(ask("c", 2, 9), (False, "it was put out", True))
        self.assertEqual(ask("a", 2, 4), (False, "a newer word was heard", False))
        self.assertEqual(ask("a", 1, 9), (False, "a newer leader is followed", False))
        self.assertEqual(ask("a", 2, 5), (True, None, False))
        self.assertEqual(ask("d", 2, 9), (False, "voted already", False))
        self.assertEqual(ask("a", 2, 5), (True, None, False))  # the answer may have been lost on the way
        self.assertEqual(voter.next_term(), 3)

    def test_how_it_ended_is_the_answer_where_it_was_said_already(self):
        voter = VoterState("b")
        voter.knows(
            {"phase": "committed", "term": 1, "serial": 9, "result": {"status": "finished"}, "history": {"lost": {}}},
            True,
        )
        answer = voter.answer({"vote": {"term": 2, "candidate": "a", "known": [1, 8]}})
        self.assertEqual((answer["granted"], answer["result"]), (False, {"status": "finished"}))

    def test_who_is_left_alone_does_not_wait_for_votes(self):
        for pool, out, ended, expected in [
            ("abc", "", "", False),
            ("abc", "", "c", True),
            ("abc", "c", "", False),  # it may vote for us
            ("abc", "c", "c", True),
            ("abcde", "", "cd", False),  # e may lead by now, and tell
            ("abcde", "e", "cd", True),  # e cannot lead, and two of five are not enough
            ("abcde", "de", "c", False),
        ]:
            self.assertEqual(
                rules.is_left_alone(list(pool), "b", "a", list(out), list(ended)), expected, (pool, out, ended)
            )

    def test_a_woken_member_that_finds_the_run_over_everywhere_gives_up_at_once(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))  # and does not listen
            place = deaf.getsockname()
            spec = {"node": "b", "nodes": ["a", "b", "c"], "gang": {"secret": "x"}}
            desired = {"term": 1, "serial": 3, "history": {"lost": {}}, "places": {"a": place, "b": place, "c": place}}
            ranks = mock.Mock(attempt=1)
            election = Election(RunFolder(Path(folder)), spec, ranks, VoterState("b"))
            found = []
            waiting = threading.Thread(
                target=lambda: found.append(election.hold(desired, "a", 0.0, 3600.0)), daemon=True
            )
            waiting.start()
            waiting.join(LONG)  # of an hour
            self.assertEqual(
                [one.why for one in found], ["on all other nodes the run is over: no 2 of 3 can choose another leader"]
            )
            ranks.stop.assert_called()

    def test_a_leader_ends_its_part_as_soon_as_the_others_may_have_chosen_and_not_before(self):
        pool = ["a", "b", "c", "d", "e"]
        for unheard, expected in [
            ({"b": 31, "c": 31}, []),  # they are not more than half
            ({"b": 31, "c": 31, "d": 29}, []),  # one of them still waits for this leader
            ({"b": 31, "c": 31, "d": 31}, ["b", "c", "d"]),
            ({"b": 31, "c": 31, "d": 70}, []),  # one has given up long before the others
            ({"b": 900, "c": 900, "d": 903}, ["b", "c", "d"]),  # they may have while this node was asleep
        ]:
            self.assertEqual(rules.outvoted(pool, unheard, 30, 68), expected)
        self.assertTrue(rules.can_be_replaced(["a", "b", "c"], "a", [], 2))
        self.assertFalse(rules.can_be_replaced(["a", "b", "c"], "a", [], 3))
        self.assertFalse(rules.can_be_replaced(["a", "b", "c"], "a", ["c"], 1))
        self.assertFalse(rules.can_be_replaced(["a", "b"], "a", [], 1))
        self.assertEqual(rules.next_members(pool, ["b", "c", "e"], 2, 2, "c"), ["c", "b"])
