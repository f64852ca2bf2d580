"""What becomes of a run's tracking token when the run is over: it ends with the run, at once or, for nodes that are
lost, a little later.
"""

import json
import os
import signal
import unittest

from flexrack_node.run.recorded import LATE_SECONDS
from gang_support import CHECKPOINT, SAVING
from relay_support import TOKEN, Tracking
from run_support import Rack, supervisor_pid
from waiting import until

SELF = "/flexrack/v1/tokens/self"
UPDATE = "/api/2.0/mlflow/runs/update"
GIVEN_BACK = [("DELETE", None, f"Bearer {TOKEN}")]
SHORTENED = [("PATCH", {"ttl_seconds": LATE_SECONDS}, f"Bearer {TOKEN}")]


class TokenTest(unittest.TestCase):
    def setUp(self):
        self.tracking = Tracking()
        self.addCleanup(self.tracking.stop)
        self.rack = Rack(3)
        self.addCleanup(self.rack.close)

    def start(self, **parts):
        tracking = {
            "upstream": f"http://127.0.0.1:{self.tracking.port}",
            "token": TOKEN,
            "own_token": True,
            "authorization": None,
            "run_id": "r",
            "experiment_id": "1",
            "artifact_uri": "mlflow-artifacts:/1/r/artifacts",
        }
        return self.rack.start(
            restarts=0,
            checkpoint=CHECKPOINT,
            size={"min": 2, "max": 2},
            **{**parts, "tracking": {**tracking, **parts.get("tracking", {})}},
        )

    def ends(self):
        """What was asked of the token, in order; and that the record was finished before."""
        calls = [(method, path) for method, path, _, _ in self.tracking.calls]
        requested = [
            (method, json.loads(body) if body else None, token)
            for method, path, body, token in self.tracking.calls
            if path == SELF
        ]
        if requested:
            self.assertLess(calls.index(("POST", UPDATE)), calls.index((requested[0][0], SELF)))
        return requested

    def up(self, *nodes):
        for node in nodes:
            until((self.rack.folder / "code" / f"up-1-{node}").exists)

    def lose(self, run, node):
        os.kill(supervisor_pid(self.rack, run, node), signal.SIGKILL)

    def test_it_is_given_back_at_once_where_every_node_has_brought_what_it_had(self):
        self.rack.script("print('hello')")
        self.assertEqual(self.rack.finish(self.start())["result"]["recorded_everywhere"], True)
        self.assertEqual(self.ends(), GIVEN_BACK)

    def test_it_ends_soon_where_a_member_was_lost(self):
        self.rack.script(SAVING + "\nif K == 1: up()")
        run = self.start()
        self.up("node-1", "node-2")
        self.lose(run, "node-2")
        result = self.rack.finish(run)["result"]
        self.assertEqual(
            (result["status"], result["recorded"], result["recorded_everywhere"]), ("finished", True, False)
        )
        self.assertEqual(self.ends(), SHORTENED)

    def test_it_ends_soon_where_the_leader_was_lost_and_another_one_has_led_to_the_end(self):
        self.rack.script(SAVING + "\nif K == 1: up()")
        run = self.start()
        self.up("node-1", "node-2")
        self.lose(run, "node-1")
        result = self.rack.finish(run, "node-2")["result"]
        self.assertEqual(
            (result["status"], result["leader"], result["recorded"], result["recorded_everywhere"]),
            ("finished", "node-2", True, False),
        )
        self.assertEqual(self.ends(), SHORTENED)

    def test_one_of_another_server_is_the_users_and_left_alone(self):
        self.rack.script("print('hello')")
        self.assertTrue(
            self.rack.finish(self.start(tracking={"own_token": False, "authorization": "Basic eDp5"}))["result"][
                "recorded"
            ]
        )
        self.assertEqual(self.ends(), [])
