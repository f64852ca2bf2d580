import hashlib
import json
import subprocess
import unittest

from places import verb_words
from run_support import Rack, decode
from waiting import LONG

NOISY = """
import sys
out = sys.stdout.buffer
for i in range(20000):
    out.write(b"line %d \\xff\\x00 gr\\xc3\\xb6\\xc3\\x9fer\\r\\n" % i)
out.flush()
"""


class FollowTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(1)
        self.addCleanup(self.rack.close)

    def chunks(self):
        return [event for event in self.rack.events if event["event"] == "chunk" and event["file"] == "rank-0.log"]

    def test_reading_from_any_offset_gives_exactly_the_rest(self):
        self.rack.script(NOISY)
        run = self.rack.start()
        self.rack.finish(run)
        whole = (self.rack.folder / "node-1" / "runs" / run / "attempts" / "1" / "rank-0.log").read_bytes()
        for offset in (0, 1, 131072, len(whole) - 3, len(whole)):
            self.rack.call("node-1", "run.follow", {"run": run, "offsets": {"1/rank-0.log": offset}})
            self.assertEqual(b"".join(map(decode, self.chunks())), whole[offset:])

    def test_a_follower_that_is_killed_again_and_again_misses_and_repeats_nothing(self):
        self.rack.script(
            NOISY.replace("out.flush()", "out.flush()")
            .replace("for i", "import time\nfor i")
            .replace("    out.write", "    if i % 2000 == 0: out.flush(); time.sleep(0.1)\n    out.write")
        )
        run = self.rack.start()
        argv = verb_words("run.follow", self.rack.folder / "node-1", self.rack.folder / "e")
        got, ended, rounds = b"", False, 0
        while not ended:
            rounds += 1
            child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            child.stdin.write(
                json.dumps({"run": run, "follow": True, "offsets": {"1/rank-0.log": len(got)}}).encode() + b"\n"
            )
            child.stdin.close()
            seen = 0
            for line in child.stdout:
                event = json.loads(line)
                ended = ended or "result" in event
                if event.get("event") == "chunk" and event["file"] == "rank-0.log":
                    self.assertEqual(event["offset"], len(got))
                    got += decode(event)
                    seen += 1
                    if seen == 2 and rounds < 4:
                        break
            child.kill()
            child.wait()
            child.stdout.close()
        whole = (self.rack.folder / "node-1" / "runs" / run / "attempts" / "1" / "rank-0.log").read_bytes()
        self.assertGreater(rounds, 2)
        self.assertEqual(hashlib.sha256(got).hexdigest(), hashlib.sha256(whole).hexdigest())

    def test_following_ends_with_the_run_and_tells_its_result(self):
        self.rack.script("import time; print('a', flush=True); time.sleep(0.5); print('b')")
        run = self.rack.start()
        state = self.rack.call("node-1", "run.follow", {"run": run, "follow": True})
        self.assertEqual(b"".join(map(decode, self.chunks())), b"a\nb\n")
        self.assertEqual(state["status"], "finished")

    def test_a_run_that_is_not_here_is_not_found(self):
        with self.assertRaises(RuntimeError) as caught:
            self.rack.call("node-1", "run.follow", {"run": "nothing-here"})
        self.assertEqual(caught.exception.args[0], "NOT_FOUND")

    def test_a_follower_whose_caller_is_gone_ends_by_itself(self):
        self.rack.script("import time; time.sleep(600)")
        run = self.rack.start()
        argv = verb_words("run.follow", self.rack.folder / "node-1", self.rack.folder / "e")
        child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdin.write(json.dumps({"run": run, "follow": True}).encode() + b"\n")
        child.stdin.close()
        child.stdout.readline()
        child.stdout.close()
        self.assertEqual(child.wait(LONG), 1)


class RunVerbsTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(1)
        self.addCleanup(self.rack.close)

    def test_a_running_run_is_not_removed_and_an_ended_one_is(self):
        self.rack.script("import time; time.sleep(600)")
        run = self.rack.start()
        with self.assertRaises(RuntimeError) as caught:
            self.rack.call("node-1", "run.remove", {"run": run})
        self.assertEqual(caught.exception.args[0], "CONFLICT")
        self.rack.call("node-1", "run.stop", {"run": run, "kill": True})
        self.rack.finish(run)
        self.rack.call("node-1", "run.remove", {"run": run})
        self.assertEqual(self.rack.call("node-1", "run.list"), [])

    def test_the_list_and_the_state_hold_no_secret(self):
        self.rack.script("pass")
        run = self.rack.start(
            tracking={
                "upstream": "http://127.0.0.1:9",
                "token": "very-secret",
                "authorization": None,
                "own_token": False,
                "run_id": "r",
                "experiment_id": "0",
                "artifact_uri": "",
            },
            env={},
        )
        self.rack.finish(run)
        text = json.dumps([self.rack.call("node-1", "run.list"), self.rack.call("node-1", "run.state", {"run": run})])
        self.assertNotIn("very-secret", text)
        self.assertNotIn(
            json.loads((self.rack.folder / "node-1" / "runs" / run / "spec.json").read_text())["gang"]["secret"], text
        )

    def test_a_run_id_cannot_point_outside_the_folder_of_runs(self):
        for bad in ("../x", "", "/etc", "a/b"):
            with self.assertRaises(RuntimeError) as caught:
                self.rack.call("node-1", "run.state", {"run": bad})
            self.assertEqual(caught.exception.args[0], "USAGE")

    def test_the_route_of_a_node_names_its_interfaces(self):
        answer = self.rack.call("node-1", "run.route", {"to": "127.0.0.1"})
        self.assertEqual(answer["source"], "127.0.0.1")
        self.assertIn("127.0.0.1", [one["address"] for one in answer["interfaces"]])
