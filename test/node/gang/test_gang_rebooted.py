"""What becomes of a gang whose nodes are rebooted, one of them or all. The boots are played on one machine: everything
of a node is killed, its files are given the boot of another day, and boot.resume is called as systemd or cron would.
Real ones are in runs/test_rebooted.py and runs/test_taken_up.py.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from flexrack_node.gang.returning import Follows, Leads, _judge
from flexrack_node.gang.voter_state import VoterState
from gang_support import CHECKPOINT, SAVING, GangCase, end_node
from places import PROGRAM, verb_words
from run_support import supervisor_pid
from waiting import LONG, until

LEADS = {"term": 3, "leader": "b", "address": "127.0.0.1", "port": 9, "anew": False}
# A shutdown in order: systemd says so.
SYSTEMCTL = "#!/bin/sh\n[ -e {0} ] && echo stopping || echo running\n"
UNTIL_THIRD = (
    SAVING
    + """
import signal
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if RANK == 0: save("of attempt %d" % K)
if K < LAST: up()
"""
)


class JudgeTest(unittest.TestCase):
    def test_who_comes_back_leads_only_where_everybody_has_come_back(self):
        pool, known = ["a", "b", "c"], (1, "a")
        self.assertIsNone(_judge({}, "a", pool, known))
        self.assertIsNone(_judge({"b": {"returned": [1, "a"]}}, "a", pool, known))
        # a member of a gang that lives
        self.assertIsNone(_judge({"b": {"returned": [1, "a"]}, "c": {"term": 1}}, "a", pool, known))
        self.assertEqual(_judge({"b": {"returned": [1, "a"]}, "c": {"returned": [1, "a"]}}, "a", pool, known), Leads(2))
        # b led last
        self.assertIsNone(_judge({"b": {"returned": [2, "b"]}, "c": {"returned": [1, "a"]}}, "a", pool, known))
        self.assertEqual(
            _judge({"a": {"returned": [1, "a"]}, "c": {"returned": [1, "a"]}}, "b", pool, (2, "b")), Leads(3)
        )
        self.assertIsNone(
            _judge({"b": {"leads": LEADS, "welcome": False}, "c": {"returned": [1, "a"]}}, "a", pool, known)
        )
        self.assertEqual(
            _judge({"b": {"leads": LEADS, "welcome": True}}, "a", pool, known), Follows(3, "b", ("127.0.0.1", 9), False)
        )

    def test_in_a_gang_that_went_on_it_has_no_vote(self):
        voter = VoterState("a")
        voter.follows(has_vote=False)
        voter.knows({"phase": "wait", "term": 3, "serial": 1}, True)
        self.assertEqual(voter.answer({"vote": {"term": 4, "candidate": "b", "known": [3, 1]}})["granted"], False)

    def test_a_leader_welcomes_each_boot_anew(self):
        voter = VoterState("b")
        question = {"returned": {"node": "a", "boot": "1"}}
        voter.comes_back(2, "b")
        self.assertEqual(voter.answer(question), {"returned": [2, "b"]})
        voter.leads(LEADS)
        self.assertEqual(voter.answer(question), {"leads": LEADS, "welcome": False})
        self.assertEqual(voter.returning(), {"a": "1"})
        voter.welcomes("a", "1")
        self.assertEqual((voter.answer(question), voter.returning()), ({"leads": LEADS, "welcome": True}, {}))
        self.assertFalse(voter.answer({"returned": {"node": "a", "boot": "2"}})["welcome"])


class RebootedGangTest(GangCase):
    def gang(self, count, last, **parts):
        rack = self.rack_of(count)
        path = rack.folder / "bin"
        path.mkdir()
        (path / "systemctl").write_text(SYSTEMCTL.format(rack.folder / "down"))
        (path / "systemctl").chmod(0o755)
        rack.env["PATH"] = f"{path}:{os.environ['PATH']}"
        rack.script(UNTIL_THIRD.replace("LAST", str(last)))
        run = rack.start(restarts=3, checkpoint=CHECKPOINT, after_reboot="checkpoint", gang={"lost": 3600}, **parts)
        return rack, run

    def kinds(self, rack, run, node):
        return [event["event"] for event in rack.events_of(run, node)]

    def folder(self, rack, run, node):
        return rack.folder / node / "runs" / run

    def state(self, rack, run, node):
        return json.loads((self.folder(rack, run, node) / "state.json").read_text())

    def cut(self, rack, run, node):
        """Its power is cut, and with the next boot its files are of another one."""
        end_node(rack, run, node)
        self.is_of_another_boot(rack, run, node)

    def is_of_another_boot(self, rack, run, node):
        path = self.folder(rack, run, node) / "state.json"
        path.write_text(
            json.dumps({**json.loads(path.read_text()), "boot": "of another day", "down": "of another day"})
        )

    def shut_down(self, rack, run, node):
        """In order: its supervisor gets SIGTERM, and systemd says that the machine goes down."""
        (rack.folder / "down").touch()
        pid = supervisor_pid(rack, run, node)
        os.kill(pid, signal.SIGTERM)
        until(lambda: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes())
        (rack.folder / "down").unlink()

    def boot(self, rack, node):
        """Starts what the node starts; it stays for what it has started, and is ended with the test."""
        root = rack.folder / node
        (root / "boot").mkdir(mode=0o700, exist_ok=True)
        program = "import sys; sys.path.insert(0, sys.argv[1]); from flexrack_node.base import home; import json; print(json.dumps(home.facts()))"
        facts = json.loads(
            subprocess.run(
                [sys.executable, "-c", program, str(PROGRAM.parent)], capture_output=True, text=True, check=True
            ).stdout
        )
        (root / "boot" / "settings.json").write_text(
            json.dumps(
                {"schema": 1, "by": "none", "why": None, "lingers_for_us": False, "machine": facts, "environment": {}}
            )
        )
        process = subprocess.Popen(
            verb_words("boot.resume", root, rack.folder / "environments"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **rack.env},
        )
        threading.Thread(target=process.communicate, args=(b"{}\n",), daemon=True).start()

        def end():
            process.kill()
            process.wait()

        self.addCleanup(end)

    def is_back(self, rack, run, *nodes):
        """Who asks earlier, of a machine that began long ago, is told that the run was cut off."""
        for node in nodes:
            until(lambda node=node: self.state(rack, run, node).get("returned"))

    def reported(self, rack, run, node, rank, attempt):
        path = self.folder(rack, run, node) / "attempts" / str(attempt) / f"rank-{rank}.log"
        return path.read_text() if path.exists() else ""

    def test_a_run_whose_nodes_all_were_rebooted_goes_on_from_its_checkpoint(self):
        rack, run = self.gang(2, last=2)
        self.up(rack, 1, "node-1", "node-2")
        for node in rack.nodes:
            self.cut(rack, run, node)
        self.boot(rack, "node-2")
        self.boot(rack, "node-1")
        self.is_back(rack, run, *rack.nodes)
        done = rack.finish(run)
        self.assertEqual(
            (done["status"], done["term"], done["leader"], done["returned"]), ("finished", 2, "node-1", 1), done
        )
        first, second = done["result"]["attempts"]
        self.assertEqual(
            (first["status"], first["cause"]["lost"], first["cause"]["message"]),
            ("failed", "reboot", "node-1 was rebooted while the run was going on"),
        )
        self.assertEqual(
            (second["why"], second["nodes"], second["checkpoint"]["name"]),
            ("node-1 was rebooted", ["node-1", "node-2"], "checkpoints/last.txt"),
        )
        self.assertEqual(self.reported(rack, run, "node-2", 1, 2), "attempt 2 rank 1 of 2 from of attempt 1\n")
        self.assertEqual(rack.finish(run, "node-2")["status"], "finished")

    def test_where_anybody_could_lead_it_is_who_led_last(self):
        rack, run = self.gang(3, last=3, size={"min": 2, "max": 3})
        self.up(rack, 1, *rack.nodes)
        os.kill(supervisor_pid(rack, run, "node-1"), signal.SIGKILL)
        until(
            lambda: (rack.folder / "code" / "up-2-node-3").exists() and (rack.folder / "code" / "up-2-node-2").exists()
        )
        leader = self.state(rack, run, "node-3")["leader"]
        self.assertNotEqual(leader, "node-1")
        for node in ("node-2", "node-3"):
            self.cut(rack, run, node)
        self.is_of_another_boot(rack, run, "node-1")
        for node in rack.nodes:
            self.boot(rack, node)
        self.is_back(rack, run, *rack.nodes)
        done = rack.finish(run, leader)
        self.assertEqual(
            (done["status"], done["leader"], done["term"]),
            ("finished", leader, self.state(rack, run, "node-1")["term"]),
            done,
        )
        self.assertEqual([one["attempt"] for one in done["result"]["attempts"]], [1, 2, 3])
        self.assertEqual(sorted(done["result"]["attempts"][2]["nodes"]), rack.nodes)

    def test_a_node_that_comes_back_is_a_spare_and_a_leader_that_comes_back_follows(self):
        rack, run = self.gang(3, last=4, size={"min": 2, "max": 2})
        self.up(rack, 1, "node-1", "node-2")
        self.shut_down(rack, run, "node-1")
        self.up(rack, 2, "node-2", "node-3")
        leader = self.state(rack, run, "node-3")["leader"]
        self.is_of_another_boot(rack, run, "node-1")
        self.boot(rack, "node-1")
        until(lambda: "came back" in self.kinds(rack, run, leader))
        until(lambda: self.state(rack, run, "node-1").get("leader") == leader)
        other = ({"node-2", "node-3"} - {leader}).pop()
        self.shut_down(rack, run, other)
        self.up(rack, 3, "node-1", leader)
        self.assertEqual(
            [event["lost"] for event in rack.events_of(run, leader) if event["event"] == "put out"],
            ["reboot", "reboot"],
        )
        rank = next(
            int(path.stem.split("-")[1])
            for path in (self.folder(rack, run, leader) / "attempts" / "3").glob("rank-*.json")
            if path.stem.count("-") == 1
        )
        os.kill(
            json.loads((self.folder(rack, run, leader) / "attempts" / "3" / f"rank-{rank}.json").read_text())["pid"],
            signal.SIGKILL,
        )
        done = rack.finish(run, leader)
        self.assertEqual((done["status"], done["leader"]), ("finished", leader), done)
        attempts = done["result"]["attempts"]
        self.assertEqual(
            [one["cause"]["lost"] if one["cause"] and "lost" in one["cause"] else None for one in attempts],
            ["reboot", "reboot", None, None],
        )
        self.assertEqual(
            (sorted(attempts[2]["nodes"]), [bool(one.get("changes")) for one in attempts]),
            (sorted(["node-1", leader]), [True, True, False, False]),
        )
        self.assertNotIn("elected", self.kinds(rack, run, "node-1"))

    def test_a_node_that_is_back_before_it_was_missed_has_lost_its_ranks_all_the_same(self):
        rack, run = self.gang(2, last=2)
        self.up(rack, 1, "node-1", "node-2")
        self.cut(rack, run, "node-2")
        self.boot(rack, "node-2")
        self.is_back(rack, run, "node-2")
        done = rack.finish(run)
        first, second = done["result"]["attempts"]
        self.assertEqual(
            (done["status"], done["term"], first["cause"]["lost"], first["lost"], second["why"]),
            ("finished", 1, "reboot", ["node-2"], "node-2 came back after a reboot"),
            done,
        )

    def test_a_shutdown_in_order_of_a_node_that_is_needed_is_waited_out(self):
        for down in ("node-2", "node-1"):
            with self.subTest(down):
                rack, run = self.gang(2, last=2)
                self.up(rack, 1, "node-1", "node-2")
                self.shut_down(rack, run, down)
                other = "node-1" if down == "node-2" else "node-2"
                until(lambda rack=rack, run=run, other=other: "awaits" in self.kinds(rack, run, other))
                self.is_of_another_boot(rack, run, down)
                self.boot(rack, down)
                self.is_back(rack, run, down)
                done = rack.finish(run)
                self.assertEqual(
                    (done["status"], [one["status"] for one in done["result"]["attempts"]]),
                    ("finished", ["failed", "finished"]),
                    done,
                )
                self.assertEqual(done["result"]["attempts"][0]["cause"]["lost"], "reboot")

    def test_a_stop_meanwhile_wins(self):
        for down in ("node-2", "node-1"):
            with self.subTest(down):
                rack, run = self.gang(2, last=2)
                self.up(rack, 1, "node-1", "node-2")
                self.shut_down(rack, run, down)
                other = "node-1" if down == "node-2" else "node-2"
                until(lambda rack=rack, run=run, other=other: "awaits" in self.kinds(rack, run, other))
                self.assertEqual(rack.call(other, "run.stop", {"run": run})["status"], "stopped")
                self.assertEqual(rack.finish(run, other, LONG)["status"], "stopped")

    def test_a_run_that_may_not_come_back_ends_with_its_node(self):
        rack = self.rack_of(1)
        rack.script(SAVING + "\nsave('one'); up()")
        run = rack.start(restarts=0, checkpoint=CHECKPOINT)
        self.up(rack, 1, "node-1")
        self.cut(rack, run, "node-1")
        done = rack.finish(run)
        self.assertEqual(
            (done["status"], done["cause"]["lost"], len(done["result"]["attempts"])), ("failed", "reboot", 1), done
        )
