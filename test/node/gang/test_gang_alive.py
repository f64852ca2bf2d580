"""A run that goes on: from its newest whole checkpoint, and without the nodes that are lost."""

import json
import os
import random
import signal
import time
import unittest

from flexrack_node.gang.membership import CERTAIN_SECONDS
from flexrack_node.run import rules
from flexrack_node.run.cause import first_cause
from gang_support import CHECKPOINT, SAVING, GangCase, end_node
from run_support import supervisor_pid
from waiting import until


class AliveTest(GangCase):
    def test_the_next_attempt_begins_with_the_newest_whole_checkpoint_on_every_node(self):
        rack = self.rack_of(2)
        rack.script(
            SAVING
            + """
if RANK == 0 and K == 1: save("one"); time.sleep(0.02); save("two"); (Path(os.environ["FLEXRACK_OUTPUTS"]) / "checkpoints" / "newer.txt.partial").write_text("half")
if K == 1: time.sleep(0.3); sys.exit(3 if RANK == 0 else 0)
"""
        )
        run = rack.start(restarts=1, checkpoint=CHECKPOINT)
        state = rack.finish(run)
        self.assertEqual(state["status"], "finished")
        for rank, node in enumerate(rack.nodes):
            self.assertEqual(rack.log(run, rank, node, 2), f"attempt 2 rank {rank} of 2 from two\n")
        attempts = state["result"]["attempts"]
        self.assertEqual(
            [attempt["checkpoint"] and attempt["checkpoint"]["name"] for attempt in attempts],
            [None, "checkpoints/last.txt"],
        )
        self.assertIn("fetched", [event["event"] for event in rack.events_of(run, "node-2")])

    def test_no_rank_starts_where_the_checkpoint_could_not_be_brought(self):
        rack = self.rack_of(2)
        rack.script(
            SAVING
            + """
if RANK == 0: save("one"); Path("saved").touch()
while not Path("saved").exists(): time.sleep(0.01)  # else it may be ended before it has
if RANK == 1: (Path(os.environ["FLEXRACK_OUTPUTS"]) / "checkpoints").write_text("no folder")
sys.exit(RANK)
"""
        )
        run = rack.start(restarts=1, checkpoint=CHECKPOINT)
        state = rack.finish(run)
        self.assertEqual((state["status"], len(state["result"]["attempts"])), ("failed", 2))
        self.assertIn("checkpoints/last.txt of node-1 could not be copied to node-2", state["cause"]["message"])
        self.assertEqual(list(state["records"]), ["1"])

    def test_attempts_that_end_at_the_same_place_are_not_repeated_for_ever(self):
        rack = self.rack_of(2)
        rack.script(
            SAVING
            + """
if RANK == 0 and K == 1: save("one"); Path("saved").touch()
while not Path("saved").exists(): time.sleep(0.01)
if RANK == 1: print("bad batch"); sys.exit(5)
up()
"""
        )
        state = rack.finish(rack.start(restarts=50, checkpoint=CHECKPOINT))
        self.assertEqual((state["status"], len(state["result"]["attempts"])), ("failed", 3))
        self.assertEqual(
            state["cause"]["message"],
            "3 attempts ended at the same place (checkpoint checkpoints/last.txt): rank 1 on node-2: bad batch",
        )
        self.assertEqual((state["cause"]["rank"], state["cause"]["exit"]), (1, 5))

    def test_attempts_that_come_further_are_only_limited_by_restarts(self):
        rack = self.rack_of(1)
        rack.script(SAVING + "\nsave(str(K)); sys.exit(0 if K == 6 else 1)")
        state = rack.finish(rack.start(restarts=9, checkpoint=CHECKPOINT))
        self.assertEqual((state["status"], len(state["result"]["attempts"])), ("finished", 6))

    def test_a_lost_node_is_replaced_by_the_spare_which_gets_the_checkpoint(self):
        rack = self.rack_of(4)
        rack.script(SAVING + "\nif RANK == 0 and K == 1: save('one')\nif K == 1: up()")
        run = rack.start(restarts=0, checkpoint=CHECKPOINT, size={"min": 3, "max": 3}, gang={"lost": 10})
        self.up(rack, 1, "node-1", "node-2", "node-3")
        lost_after = time.time()
        end_node(rack, run, "node-2")
        state = rack.finish(run)
        self.assertEqual(state["status"], "finished", state)
        first, second = state["result"]["attempts"]
        self.assertEqual(
            (first["nodes"], second["nodes"]), (["node-1", "node-2", "node-3"], ["node-1", "node-3", "node-4"])
        )
        self.assertEqual(second["why"], "node-4 takes the place of node-2")
        self.assertEqual(first["cause"]["node"], "node-2")
        self.assertIn(
            "node-2 lost its supervisor: the machine answers node-1, node-3 and node-4", first["cause"]["message"]
        )
        self.assertEqual(rack.log(run, 2, "node-4", 2), "attempt 2 rank 2 of 3 from one\n")
        # the lost node has ended its ranks by then, whatever it was
        self.assertGreaterEqual(second["started"] - lost_after, 10 + CERTAIN_SECONDS)
        self.assertEqual(rack.alive(run), set())

    def test_a_node_that_wakes_up_after_it_was_replaced_ends_its_ranks_itself(self):
        rack = self.rack_of(3)
        rack.script(
            SAVING
            + """
if K == 1: up()
Path("again-" + NODE).touch()
while not Path("go").exists(): time.sleep(0.05)
"""
        )
        run = rack.start(restarts=0, size={"min": 2, "max": 2}, gang={"lost": 10})
        self.up(rack, 1, "node-1", "node-2")
        asleep = supervisor_pid(rack, run, "node-2")
        os.kill(asleep, signal.SIGSTOP)  # silent, but its ranks are there
        try:
            until(lambda: all((rack.folder / "code" / f"again-{node}").exists() for node in ("node-1", "node-3")))
            self.assertTrue(rack.pids_of(run, 1))
        finally:
            os.kill(asleep, signal.SIGCONT)
        woken = rack.finish(run, "node-2")
        self.assertEqual(
            (woken["status"], woken["result"]["partial"], rack.pids_of(run, 1)), ("failed", True, set()), woken
        )
        # the leader says so, or who is asked for a vote
        self.assertRegex(woken["cause"]["message"], "node-1 has put this node out|which node-1 has put out")
        (rack.folder / "code" / "go").touch()
        state = rack.finish(run)  # the others were not disturbed
        self.assertEqual(
            (state["status"], [attempt["nodes"] for attempt in state["result"]["attempts"]]),
            ("finished", [["node-1", "node-2"], ["node-1", "node-3"]]),
        )
        self.assertEqual(rack.alive(run), set())

    def test_a_member_that_hears_nothing_of_its_leader_ends_its_ranks_although_the_leader_listens(self):
        rack = self.rack_of(2)
        rack.script(SAVING + "\nup()")
        run = rack.start(gang={"lost": 10})
        self.up(rack, 1, "node-1", "node-2")
        asleep = supervisor_pid(rack, run, "node-1")
        os.kill(asleep, signal.SIGSTOP)
        try:
            state = rack.finish(run, "node-2")
            self.assertEqual((state["status"], rack.pids_of(run, 1)), ("failed", set()))
            self.assertIn("no connection to the leader on node-1 for 10 s", state["cause"]["message"])
        finally:
            os.kill(asleep, signal.SIGCONT)
        self.assertEqual(rack.finish(run, "node-1")["status"], "failed")
        self.assertEqual(rack.alive(run), set())

    def test_without_a_spare_the_run_shrinks_to_what_the_manifest_allows_and_then_ends(self):
        rack = self.rack_of(3)
        rack.script(SAVING + "\nup()")
        run = rack.start(restarts=0, size={"min": 2, "max": 3})
        self.up(rack, 1, *rack.nodes)
        os.kill(supervisor_pid(rack, run, "node-3"), signal.SIGKILL)  # its reaper tells: nothing is waited for
        self.up(rack, 2, "node-1", "node-2")
        os.kill(supervisor_pid(rack, run, "node-2"), signal.SIGKILL)
        state = rack.finish(run)
        _first, second = state["result"]["attempts"]
        self.assertEqual(
            (state["status"], second["nodes"], second["why"]),
            ("failed", ["node-1", "node-2"], "goes on without node-3, 2 nodes instead of 3"),
        )
        self.assertIn("1 of 3 nodes are left, and 2 are needed", state["cause"]["message"])
        self.assertEqual(rack.alive(run), set())

    def test_a_run_starts_with_the_nodes_that_came_and_grows_at_a_restart(self):
        rack = self.rack_of(3)
        rack.script(SAVING + "\nif K == 1: up()")
        call, late = rack.call, []
        rack.call = lambda node, verb, value=None: (
            late.append(value) or {} if (node, verb) == ("node-3", "run.start") else call(node, verb, value)
        )
        run = rack.start(restarts=1, size={"min": 2, "max": 3}, gang={"timeout": 10})
        rack.call = call
        self.up(rack, 1, "node-1", "node-2")
        rack.call(
            "node-3",
            "run.start",
            {**late[0], "gang": json.loads((rack.folder / "node-2" / "runs" / run / "spec.json").read_text())["gang"]},
        )
        until(lambda: "node-3" in [event.get("member") for event in rack.events_of(run, "node-1")])
        os.kill(rack.call("node-2", "run.state", {"run": run})["records"]["1"]["1"]["pid"], signal.SIGKILL)
        state = rack.finish(run)
        first, second = state["result"]["attempts"]
        self.assertEqual(
            (state["status"], first["nodes"], second["nodes"]), ("finished", ["node-1", "node-2"], rack.nodes)
        )
        self.assertEqual(
            (first["why"], second["why"]),
            ("start with 2 of 3 nodes", "a rank failed, node-3 joins, 3 nodes instead of 2"),
        )
        self.assertEqual(rack.log(run, 2, "node-3", 2), "attempt 2 rank 2 of 3 from None\n")


class RulesTest(unittest.TestCase):
    def test_what_the_stop_was_decided_from_is_the_cause_whatever_the_clocks_say(self):
        def record(rank, ended, **more):
            return {str(rank): {"rank": rank, "exit": 1, "ended": ended, "tail": [f"rank {rank}"], **more}}

        before = {"a": {"records": {}}, "b": {"records": record(1, 10.0, exit=5)}}
        after = {"a": {"records": record(0, 10.6, signal="SIGTERM")}, "b": before["b"]}
        for shift in (-3.0, 0.0, 3.0):  # b's clock is the same; its first word was on its way for that long
            self.assertEqual(first_cause(after, {"b": shift}, 10.5, before)["exit"], 5, shift)

    def test_what_peers_say_tells_a_lost_link_from_a_lost_node(self):
        judge = rules.judge_lost
        self.assertEqual(judge("b", "a", {"a": "silent", "c": "reached"}, 30)["kind"], "link")
        self.assertEqual(judge("b", "a", {"a": "silent", "c": "silent"}, 30)["kind"], "node")
        self.assertEqual(judge("b", "a", {"a": "refused", "c": "silent"}, 30)["kind"], "supervisor")
        self.assertEqual(
            judge("b", "a", {"a": "silent", "c": "reached"}, 30)["message"],
            "the link between a and b is down: c still reaches b (no connection from a for 30 s)",
        )
        self.assertEqual(
            judge("b", "a", {"a": "silent", "c": "silent"}, 30)["message"],
            "b is lost: a and c do not reach it (no connection from a for 30 s)",
        )

    def test_random_racks_never_get_a_partial_gang_and_lose_as_few_nodes_as_their_links_demand(self):
        for seed in range(500):
            draw = random.Random(seed)
            pool = [f"n{index}" for index in range(draw.randint(2, 9))]
            least = draw.randint(1, len(pool))
            most = draw.randint(least, len(pool))
            usable = [node for node in pool if draw.random() < 0.7]
            chosen = rules.next_members(pool, usable, most, least)
            if pool[0] in usable and len(usable) >= least:
                self.assertEqual(chosen, [node for node in pool if node in usable][:most])
            else:
                self.assertIsNone(chosen)
            down = {tuple(sorted(draw.sample(pool, 2))) for _ in range(draw.randint(0, 2))}
            dead = {node for node in pool[1:] if draw.random() < 0.1}
            words = {
                one: {
                    other: "silent" if other in dead or (min(one, other), max(one, other)) in down else "reached"
                    for other in pool
                    if other != one
                }
                for one in pool
                if one not in dead
            }
            pairs = rules.broken_links(words)
            self.assertLessEqual(set(pairs), down, seed)
            out = rules.leave_out(pairs, pool)
            self.assertNotIn(pool[0], out)
            self.assertFalse([pair for pair in pairs if not set(pair) & set(out)])
            self.assertLessEqual(len(out), len(pairs))

    def test_progress_is_a_newer_checkpoint_or_more_steps_from_the_same_one(self):
        start = {"attempt": 1, "checkpoint": None, "reached": {"at": 5, "name": "a"}, "steps": 100}
        same = {"attempt": 2, "checkpoint": {"name": "a"}, "reached": {"at": 5, "name": "a"}, "steps": 10}
        self.assertEqual(
            [rules.stuck(list_of) for list_of in ([start], [start, same], [start, same, {**same, "attempt": 3}])],
            [0, 0, 3],
        )
        self.assertEqual(rules.stuck([start, same, {**same, "attempt": 3, "steps": 11}]), 0)
        self.assertEqual(rules.stuck([start, same, {**same, "attempt": 3, "reached": {"at": 6, "name": "b"}}]), 0)
        self.assertEqual(rules.stuck([start, {**same, "changes": "goes on without b"}, {**same, "attempt": 3}]), 0)
        nothing = {"checkpoint": None, "reached": None, "steps": None}
        self.assertEqual(rules.stuck([{**nothing, "attempt": number} for number in range(1, 9)]), 0)
