import os
import signal
import subprocess
import unittest

from run_support import Rack, Relay, supervisor_pid
from waiting import until

FOREVER = """
import os, time, subprocess
subprocess.Popen(["setsid", "sleep", "600"])   # a child that leaves: it must be found all the same
open("up-" + os.environ["RANK"], "w").close()
print("up", flush=True)
while True: time.sleep(0.05)
"""


class GangTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(2)
        self.addCleanup(self.rack.close)

    def up(self, *ranks):
        for rank in ranks:
            until((self.rack.folder / "code" / f"up-{rank}").exists)

    def test_every_rank_gets_its_place_and_the_run_succeeds_when_all_records_say_zero(self):
        self.rack.script(
            "import os; print(' '.join(os.environ[k] for k in ('RANK','WORLD_SIZE','LOCAL_RANK','MASTER_ADDR','FLEXRACK_NODE','FLEXRACK_ATTEMPT')), os.environ['MASTER_PORT'].isdigit())"
        )
        run = self.rack.start()
        for node, rank in (("node-1", 0), ("node-2", 1)):
            state = self.rack.finish(run, node)
            self.assertEqual((state["status"], state["exit"]), ("finished", 0))
            self.assertEqual(self.rack.log(run, rank, node), f"{rank} 2 0 127.0.0.1 {node} 1 True\n")
        self.assertEqual(self.rack.alive(run), set())

    def test_what_supervisors_say_is_held_against_the_protocol(self):
        self.rack.script("print('up')")
        self.rack.finish(self.rack.start())
        self.rack.recording.check()
        self.assertLessEqual({"GangDesired", "GangObserved"}, self.rack.recording.seen)
        hook = self.rack.recording.messages
        with open(hook, "a") as file:
            file.write('["M", {"phase": "idle", "attemps": 1}]\n')
        with self.assertRaisesRegex(AssertionError, "attemps has no place"):
            self.rack.recording.check()

    def test_a_rank_that_fails_ends_the_run_everywhere_and_is_named_as_the_first_cause(self):
        self.rack.script(
            FOREVER.replace(
                "while True",
                "import sys\nif os.environ['RANK'] == '1': print('no such digit'); sys.exit(17)\nwhile True",
            )
        )
        run = self.rack.start()
        state = self.rack.finish(run)
        cause = state["cause"]
        self.assertEqual((state["status"], state["exit"]), ("failed", 1))
        self.assertEqual((cause["kind"], cause["rank"], cause["node"], cause["exit"]), ("rank", 1, "node-2", 17))
        self.assertEqual(cause["lines"][-1], "no such digit")
        self.assertEqual(self.rack.alive(run), set())

    def test_a_killed_rank_is_recorded_with_its_signal(self):
        self.rack.script(FOREVER)
        run = self.rack.start()
        self.up(0, 1)
        pid = until(lambda: self.rack.call("node-1", "run.state", {"run": run})["records"]["1"].get("0", {}).get("pid"))
        os.kill(pid, signal.SIGKILL)
        cause = self.rack.finish(run)["cause"]
        self.assertEqual((cause["rank"], cause["signal"], cause["exit"]), (0, "KILL", 137))
        self.assertEqual(self.rack.alive(run), set())

    def test_a_rank_that_is_killed_together_with_its_wrapper_is_a_failure_too(self):
        self.rack.script(FOREVER)
        run = self.rack.start()
        self.up(0, 1)
        record = until(lambda: self.rack.call("node-2", "run.state", {"run": run})["records"]["1"].get("1"))
        os.kill(record["wrapper"], signal.SIGKILL)
        state = self.rack.finish(run)
        self.assertEqual(state["status"], "failed")
        self.assertEqual(state["cause"]["node"], "node-2")
        self.assertEqual(self.rack.alive(run), set())

    def test_the_whole_gang_starts_again_as_a_new_attempt(self):
        self.rack.script(
            "import os, sys; k = int(os.environ['FLEXRACK_ATTEMPT']); print('attempt', k); sys.exit(3 if k < 3 and os.environ['RANK'] == '1' else 0)"
        )
        run = self.rack.start(restarts=2)
        state = self.rack.finish(run)
        self.assertEqual(state["status"], "finished")
        self.assertEqual(
            [attempt["status"] for attempt in state["result"]["attempts"]], ["failed", "failed", "finished"]
        )
        self.assertEqual(self.rack.log(run, 0, "node-1", 3), "attempt 3\n")

    def test_restarts_are_used_up_and_then_it_has_failed(self):
        self.rack.script("import sys; sys.exit(4)")
        state = self.rack.finish(self.rack.start(restarts=1))
        self.assertEqual((state["status"], len(state["result"]["attempts"])), ("failed", 2))

    def test_a_stop_from_any_node_lets_the_ranks_save_and_leaves_no_process(self):
        self.rack.script(
            "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(0)))\n"
            + FOREVER
        )
        run = self.rack.start()
        self.up(0, 1)
        answer = self.rack.call("node-2", "run.stop", {"run": run})
        self.assertEqual(answer["left"], [])
        state = self.rack.finish(run)
        self.assertEqual(state["status"], "stopped")  # although every rank said 0: it did not come to its end
        self.assertEqual(self.rack.alive(run), set())
        for node, rank in (("node-1", 0), ("node-2", 1)):
            self.assertIn("saved", self.rack.log(run, rank, node))

    def test_a_kill_does_not_wait_for_a_rank_that_ignores_sigterm(self):
        self.rack.script("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + FOREVER)
        run = self.rack.start(grace=600)
        self.up(0, 1)
        self.assertEqual(self.rack.call("node-1", "run.stop", {"run": run, "kill": True})["left"], [])
        self.assertEqual(self.rack.finish(run)["status"], "stopped")
        self.assertEqual(self.rack.alive(run), set())

    def test_a_gang_that_does_not_come_together_starts_nothing_and_says_who_is_missing(self):
        self.rack.script("print('must not run')")
        parts = {"nodes": ["node-1", "node-9"], "gang": {"timeout": 1}}
        rack_call = self.rack.call
        self.rack.call = lambda node, verb, value=None: {} if node == "node-9" else rack_call(node, verb, value)
        run = self.rack.start(**parts)
        self.rack.call = rack_call
        state = self.rack.finish(run)
        self.assertIn("node-9 did not join", state["cause"]["message"])
        self.assertEqual(state["records"], {})

    def test_ranks_do_not_outlive_a_killed_supervisor(self):
        self.rack.script(FOREVER)
        for victim in ("node-1", "node-2"):
            with self.subTest(victim=victim):
                for rank in (0, 1):
                    (self.rack.folder / "code" / f"up-{rank}").unlink(missing_ok=True)
                run = self.rack.start()
                self.up(0, 1)
                os.kill(supervisor_pid(self.rack, run, victim), signal.SIGKILL)
                # Its own ranks at once; the other node's when the gang is given up, or somebody asks.
                until(lambda: not [e for e in [self.rack.call(victim, "run.state", {"run": run})] if e["alive"]])
                state = self.rack.finish(run, victim)
                self.assertEqual(state["status"], "failed")
                self.assertIn("supervisor was killed", state["cause"]["message"])
                other = "node-2" if victim == "node-1" else "node-1"
                self.rack.call(other, "run.stop", {"run": run, "kill": True})
                until(lambda: not self.rack.alive(run))

    def test_nothing_is_started_again_with_a_node_whose_supervisor_was_killed(self):
        self.rack.script(FOREVER)
        run = self.rack.start(restarts=3)
        self.up(0, 1)
        os.kill(supervisor_pid(self.rack, run, "node-2"), signal.SIGKILL)
        state = self.rack.finish(run, "node-1")
        self.assertEqual(len(state["result"]["attempts"]), 1)
        self.assertIn("supervisor was killed", state["cause"]["message"])
        self.assertEqual(self.rack.alive(run), set())

    def test_members_end_their_ranks_when_the_leader_is_dead(self):
        self.rack.script(FOREVER)
        run = self.rack.start()
        self.up(0, 1)
        os.kill(supervisor_pid(self.rack, run, "node-1"), signal.SIGKILL)
        state = self.rack.finish(run, "node-2")
        self.assertIn("leader on node-1 is gone", state["cause"]["message"])
        self.assertEqual(self.rack.alive(run), set())

    def test_two_runs_at_once_on_the_same_nodes_do_not_meet(self):
        self.rack.script("import os, time; time.sleep(0.5); print(os.environ['FLEXRACK_RUN'])")
        runs = [self.rack.start(), self.rack.start()]
        for run in runs:
            self.assertEqual(self.rack.finish(run)["status"], "finished")
            self.assertEqual(self.rack.log(run, 1, "node-2"), f"{run}\n")

    def test_a_script_that_is_not_there_is_told_by_the_rank(self):
        run = self.rack.start(command=["./missing.sh"])
        cause = self.rack.finish(run)["cause"]
        self.assertEqual(cause["exit"], 127)
        self.assertIn("missing.sh", cause["message"])

    def test_a_launcher_that_cannot_start_is_told_with_what_it_said(self):
        run = self.rack.start(launcher="torchrun", processes=2)
        cause = self.rack.finish(run)["cause"]
        self.assertEqual((cause["kind"], cause["rank"]), ("launcher", None))
        self.assertIn("No module named", cause["message"])

    def test_a_cut_between_the_supervisors_is_mended_and_the_run_does_not_notice(self):
        go = self.rack.folder / "go"
        self.rack.script(
            f"import os, time\nopen('up-' + os.environ['RANK'], 'w').close()\nwhile not os.path.exists({str(go)!r}): time.sleep(0.02)\nprint('done')"
        )
        with Relay() as relay:
            run = self.rack.start(through=relay.to)
            self.up(0, 1)
            for times in (1, 2, 3):
                relay.cut()
                until(lambda: sum(e["event"] == "joined" for e in self.rack.events_of(run, "node-1")) == times + 1)
            go.touch()
            for node in self.rack.nodes:
                self.assertEqual(self.rack.finish(run, node)["status"], "finished")

    def test_starting_the_same_run_twice_starts_it_once(self):
        self.rack.script("print('once')")
        run = self.rack.start(nodes=["node-1"])
        spec = self.rack.folder / "node-1" / "runs" / run / "spec.json"
        import json

        kept = json.loads(spec.read_text())
        self.rack.call(
            "node-1", "run.start", {key: value for key, value in kept.items() if key not in ("schema", "root")}
        )
        self.rack.finish(run)
        self.assertEqual(self.rack.log(run, 0, "node-1"), "once\n")

    def test_what_holds_the_secret_is_not_readable_by_others_and_never_in_a_command_line(self):
        self.rack.script(FOREVER)
        run = self.rack.start()
        self.up(0, 1)
        import json

        spec = self.rack.folder / "node-1" / "runs" / run / "spec.json"
        self.assertEqual(spec.stat().st_mode & 0o077, 0)
        self.assertEqual(spec.parent.stat().st_mode & 0o077, 0)
        lines = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True).stdout
        self.assertNotIn(json.loads(spec.read_text())["gang"]["secret"], lines)


class OutputTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(1)
        self.addCleanup(self.rack.close)

    def test_outputs_of_this_run_are_kept_in_its_folder_and_older_ones_are_not(self):
        (self.rack.folder / "code" / "old.onnx").write_text("old")
        os.utime(self.rack.folder / "code" / "old.onnx", (1, 1))
        self.rack.script(
            "import os; os.makedirs('checkpoints'); open('checkpoints/1.pt','w').write('c'); open('model.onnx','w').write('m'); open(os.environ['FLEXRACK_OUTPUTS'] + '/extra.txt','w').write('e')"
        )
        run = self.rack.start(outputs=["model.onnx", "checkpoints/", "old.onnx", "../*", "missing"])
        state = self.rack.finish(run)
        folder = self.rack.folder / "node-1" / "runs" / run / "outputs"
        self.assertEqual(
            sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()),
            ["checkpoints/1.pt", "extra.txt", "model.onnx"],
        )
        self.assertEqual(state["result"]["outputs"], ["checkpoints/1.pt", "model.onnx"])

    def test_what_is_in_the_runs_own_outputs_folder_wins_over_the_workspace(self):
        self.rack.script(
            "import os; open('model.onnx','w').write('shared'); open(os.environ['FLEXRACK_OUTPUTS'] + '/model.onnx','w').write('own')"
        )
        run = self.rack.start(outputs=["model.onnx"])
        self.rack.finish(run)
        self.assertEqual((self.rack.folder / "node-1" / "runs" / run / "outputs" / "model.onnx").read_text(), "own")
