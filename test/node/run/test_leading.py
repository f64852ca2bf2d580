"""Who leads a run, from the files of one node: what it tells, what is written for a dead supervisor, and who finishes
the tracking record.
"""

import json
import tempfile
import unittest
from pathlib import Path

from flexrack_node.relay.journal import Journal
from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import is_committed, leader_known, may_be_led_on
from flexrack_node.run.recorded import LATE_SECONDS
from flexrack_node.runs.plain import PlainRun
from flexrack_node.runs.reconcile import reconcile_run
from flexrack_node.runs.repair import repair
from relay_support import TAG, TOKEN, Tracking

NODES = ["node-1", "node-2", "node-3"]
UPDATE = "/api/2.0/mlflow/runs/update"
ARTIFACTS = "/api/2.0/mlflow-artifacts/artifacts/1/r/artifacts"
FAILED = {
    "status": "failed",
    "exit": 1,
    "cause": None,
    "attempts": [],
    "started": 1.0,
    "ended": 9.0,
    "duration": 8.0,
    "recorded": False,
    "outputs": [],
}


def write(path, value):
    """Without a number, as before files had any."""
    path.write_text(json.dumps(value))


class Node:
    """The folder of a run as a node has it whose supervisor is no more."""

    def __init__(self, test, node, state, result=None, tracking=None):
        root = tempfile.TemporaryDirectory()
        test.addCleanup(root.cleanup)
        self.folder = RunFolder(Path(root.name) / "runs" / "digits-1")
        (self.folder.path / "attempts" / "1").mkdir(parents=True)
        (self.folder.path / "attempts" / "1" / "rank-0.log").write_text("hello\n")
        write(
            self.folder.path / "spec.json",
            {
                "run": "digits-1",
                "root": root.name,
                "node": node,
                "index": NODES.index(node),
                "nodes": NODES,
                "processes": 1,
                "launcher": "plain",
                "command": ["train.py"],
                "cwd": root.name,
                "outputs": [],
                "tracking": tracking,
            },
        )
        write(self.folder.path / "state.json", {"status": "running", "attempt": 1, "pid": 1, "started": 1.0, **state})
        if result:
            write(self.folder.path / "result.json", result)

    def reported(self):
        reported = PlainRun(self.folder).summary()
        return reported["term"], reported["leader"], reported["committed"]


class LeaderTest(unittest.TestCase):
    def test_the_first_node_leads_where_nothing_else_is_known(self):
        self.assertEqual(Node(self, "node-2", {}).reported(), (1, "node-1", False))
        self.assertEqual(Node(self, "node-2", {}, FAILED).reported(), (1, "node-1", True))

    def test_a_member_tells_whom_it_follows_before_there_is_a_result(self):
        self.assertEqual(Node(self, "node-3", {"term": 2, "leader": "node-2"}).reported(), (2, "node-2", False))

    def test_the_result_counts_unless_the_node_has_followed_a_newer_leader_since(self):
        self.assertEqual(
            leader_known({"nodes": NODES}, {"term": 1, "leader": "node-1"}, {"term": 2, "leader": "node-2"}),
            (2, "node-2"),
        )
        self.assertEqual(
            leader_known({"nodes": NODES}, {"term": 3, "leader": "node-3"}, {"term": 2, "leader": "node-2"}),
            (3, "node-3"),
        )
        self.assertEqual(
            leader_known({"nodes": NODES}, {"term": 2, "leader": "node-2"}, {"status": "failed"}), (2, "node-2")
        )
        self.assertEqual(leader_known({"nodes": [], "node": "login"}, {}, None), (1, "login"))

    def test_another_node_can_lead_where_enough_are_left_without_the_leader(self):
        for nodes, least, expected in (
            (3, 2, True),
            (3, 3, False),
            (2, 1, False),
            (5, 3, True),
            (5, 5, False),
            (1, 1, False),
        ):
            spec = {"nodes": [f"node-{number}" for number in range(nodes)], "size": {"min": least, "max": nodes}}
            self.assertEqual(may_be_led_on(spec), expected, (nodes, least))
            self.assertFalse(may_be_led_on({**spec, "scheduler": "slurm"}))
        self.assertFalse(may_be_led_on({"nodes": NODES}))

    def test_only_what_a_leader_ended_is_committed(self):
        self.assertTrue(is_committed(FAILED))
        bare = {key: value for key, value in FAILED.items() if key != "outputs"}
        self.assertTrue(
            is_committed({**bare, "term": 2, "leader": "node-2"}),
            "told by a leader before it had collected the outputs",
        )
        for other in (None, bare, {**FAILED, "partial": True}, {**FAILED, "lost": True}):
            self.assertFalse(is_committed(other), other)

    def test_the_result_for_a_dead_supervisor_says_which_leader_the_node_knew_and_is_not_committed(self):
        for node, known, expected in (
            ("node-1", {}, (1, "node-1")),
            ("node-3", {"term": 2, "leader": "node-2"}, (2, "node-2")),
        ):
            one = Node(self, node, known)
            repair(PlainRun(one.folder))
            result = one.folder.result()
            self.assertEqual(
                (result["term"], result["leader"], result["lost"], result["status"]), (*expected, True, "failed")
            )
            self.assertEqual(one.reported(), (*expected, False))


class ReconcileTest(unittest.TestCase):
    def setUp(self):
        self.tracking = Tracking()
        self.addCleanup(self.tracking.stop)
        self.upstream = f"http://127.0.0.1:{self.tracking.port}"

    def node(self, node, **result):
        """One whose last tracking write is still in its spool, and whose outputs are a model."""
        one = Node(
            self,
            node,
            {},
            {**FAILED, "outputs": ["model.onnx"], **result},
            {
                "upstream": self.upstream,
                "token": TOKEN,
                "own_token": True,
                "run_id": "r",
                "experiment_id": "1",
                "artifact_uri": "mlflow-artifacts:/1/r/artifacts",
            },
        )
        (one.folder.path / "outputs").mkdir()
        (one.folder.path / "outputs" / "model.onnx").write_text("model")
        journal = Journal(one.folder.spool, 1024 * 1024)
        journal.append("POST", TAG, "application/json", b'{"key":"last","value":"write"}')
        journal.close()
        return one.folder

    def reconcile(self, folder, leads):
        self.tracking.calls.clear()
        answer = reconcile_run(folder, {"leads": leads, "seconds": 10})
        return answer, [(method, path.replace(ARTIFACTS, "")) for method, path, _, _ in self.tracking.calls]

    def bodies(self, path):
        return [json.loads(body) for _, called, body, _ in self.tracking.calls if called == path]

    def test_who_led_to_the_end_finishes_the_record_with_status_outputs_and_the_end_of_the_token(self):
        folder = self.node("node-2", status="finished", exit=0, term=2, leader="node-2")
        answer, calls = self.reconcile(folder, True)
        self.assertEqual(answer, {"recorded": True})
        self.assertEqual(self.bodies(UPDATE)[0]["status"], "FINISHED")
        self.assertEqual(self.bodies(TAG)[0], {"key": "last", "value": "write"})
        self.assertLessEqual(
            {("PUT", "/logs/attempt-1/rank-0.log"), ("PUT", "/model.onnx"), ("DELETE", "/flexrack/v1/tokens/self")},
            set(calls),
        )
        self.assertEqual(self.reconcile(folder, True), ({"recorded": True}, []))

    def test_an_old_leader_brings_its_writes_and_logs_and_leaves_status_outputs_and_token_to_the_new_one(self):
        folder = self.node("node-1", term=1, leader="node-1")
        answer, calls = self.reconcile(folder, False)
        self.assertEqual(answer, {"recorded": True})
        self.assertEqual(sorted(calls), [("POST", TAG), ("PUT", "/logs/attempt-1/rank-0.log")])
        self.assertEqual((folder.result()["recorded"], PlainRun(folder).summary()["status"]), (True, "failed"))

    def test_a_member_with_the_committed_result_of_a_leader_that_is_dead_tells_it_but_leaves_outputs_alone_and_time_for_them(
        self,
    ):
        for recorded in (False, True):
            answer, calls = self.reconcile(
                self.node("node-3", status="finished", exit=0, term=2, leader="node-2", recorded=recorded), True
            )
            self.assertEqual((answer, self.bodies(UPDATE)[0]["status"]), ({"recorded": True}, "FINISHED"))
            logs = [] if recorded else [("PUT", "/logs/attempt-1/rank-0.log")]
            self.assertEqual(
                [call for call in calls if call[0] != "POST"], [*logs, ("PATCH", "/flexrack/v1/tokens/self")]
            )
            self.assertEqual(self.bodies("/flexrack/v1/tokens/self"), [{"ttl_seconds": LATE_SECONDS}])

    def test_a_leader_that_was_cut_off_finishes_where_nobody_has_led_the_run_on(self):
        for result in ({"term": 1, "leader": "node-1", "partial": True}, {"lost": True}):
            self.reconcile(self.node("node-1", **result), True)
            self.assertEqual(self.bodies(UPDATE)[0]["status"], "FAILED")

    def test_while_the_server_is_away_nothing_is_said_to_be_recorded(self):
        folder = self.node("node-1")
        self.tracking.stop()
        self.assertFalse(reconcile_run(folder, {"leads": False, "seconds": 0.5})["recorded"])
        self.assertFalse(folder.result()["recorded"])
        self.tracking = Tracking(self.tracking.port)


class OlderFilesTest(unittest.TestCase):
    """Before, a leader's term was called its epoch, in the state and in the result of a run."""

    def test_who_led_a_run_of_an_older_version_is_known(self):
        node = Node(self, "node-3", {"epoch": 2, "leader": "node-2"}, {**FAILED, "epoch": 3, "leader": "node-3"})
        self.assertEqual((node.folder.state()["term"], node.folder.result()["term"]), (2, 3))
        self.assertEqual(node.reported(), (3, "node-3", True))

    def test_a_file_that_has_both_is_read_by_todays_name(self):
        self.assertEqual(Node(self, "node-3", {"epoch": 2, "term": 4, "leader": "node-2"}).folder.state()["term"], 4)
