"""The relay against a small tracking server that can be taken away."""

import json

from flexrack_node.relay.relay import Relay, drain
from flexrack_node.run.upstream import Upstream
from relay_support import BATCH, LOG, PUT, TAG, TOKEN, RelayCase, Tracking
from waiting import LONG


class RelayTest(RelayCase):
    def test_passes_calls_on_with_the_token(self):
        relay = self.relay()
        self.assertEqual(self.call("POST", LOG, b'{"key":"loss"}'), (200, {}))
        self.assertEqual(self.tracking.calls, [("POST", LOG, b'{"key":"loss"}', f"Bearer {TOKEN}")])
        relay.close()

    def test_knows_when_a_metric_with_a_step_came_and_takes_no_system_metric_for_one(self):
        relay = self.relay()
        self.call("POST", TAG, b'{"key":"step","value":"x"}')
        self.call("POST", BATCH, b'{"metrics":[{"key":"system/cpu","value":1,"timestamp":1,"step":4}]}')
        self.assertEqual(relay.metric_at, 0.0)
        self.call(
            "POST",
            BATCH,
            b'{"metrics":[{"key":"system/cpu","value":1,"timestamp":1,"step":4},{"key":"loss","value":1,"timestamp":1,"step":4}]}',
        )
        self.assertGreater(relay.metric_at, 0.0)
        relay.close()

    def test_refuses_a_caller_without_the_token_and_passes_nothing_on(self):
        relay = self.relay()
        status, answer = self.call("POST", LOG, b"{}", token="another")
        self.assertEqual((status, answer["error_code"]), (401, "UNAUTHENTICATED"))
        self.assertEqual(self.tracking.calls, [])
        relay.close()

    def test_keeps_writes_while_the_server_is_away_and_sends_them_in_order_when_it_is_back(self):
        relay = self.relay()
        self.tracking.stop()
        for number in range(50):
            self.assertEqual(self.call("POST", TAG, b'{"step":%d}' % number)[0], 200)
        self.assertEqual([event["event"] for event in self.events], ["tracking.away"])
        self.tracking = Tracking(self.tracking.port)
        self.assertTrue(self.back.wait(LONG))
        self.assertEqual([json.loads(call[2])["step"] for call in self.tracking.calls], list(range(50)))
        self.assertEqual(self.events[-1]["replayed"], 50)
        self.call("POST", LOG, b'{"step":50}')
        self.assertEqual(len(self.tracking.calls), 51)
        self.assertEqual(relay.close(5), {"pending": 0, "rejected": 0, "last_rejection": None})

    def test_metrics_of_one_run_that_follow_each_other_go_in_one_call_and_a_refused_one_takes_no_other_with_it(self):
        relay = self.relay()
        self.tracking.stop()
        for number in range(5):
            self.call(
                "POST",
                LOG,
                json.dumps(
                    {"run_id": "r", "key": "refused" if number == 3 else "loss", "value": "NaN", "step": number}
                ).encode(),
            )
        self.call(
            "POST", BATCH, json.dumps({"run_id": "r", "metrics": [{"key": "loss", "value": 1, "step": 5}]}).encode()
        )
        self.call("POST", TAG, b'{"run_id":"r","key":"k"}')
        self.call("POST", LOG, b'{"run_id":"r","key":"loss","step":6}')
        self.call("POST", LOG, b'{"run_id":"another","key":"loss","step":7}')
        self.tracking = Tracking(self.tracking.port)
        self.assertTrue(self.back.wait(LONG))
        self.assertEqual([call[1] for call in self.tracking.calls], [BATCH] + [LOG] * 5 + [BATCH, TAG, LOG, LOG])
        merged = json.loads(self.tracking.calls[0][2])
        self.assertEqual([metric["step"] for metric in merged["metrics"]], list(range(6)))
        self.assertEqual(relay.close()["rejected"], 1)

    def test_a_large_file_survives_the_relay_itself_being_replaced(self):
        data = bytes(range(256)) * 20_000  # 5 MB: too large for memory
        relay = self.relay()
        self.tracking.stop()
        self.assertEqual(
            self.call("PUT", PUT + "gro%C3%9F.bin", data, headers={"Content-Type": "application/octet-stream"})[0], 200
        )
        self.assertEqual(self.call("PUT", PUT + "empty", b"")[0], 200)
        self.assertEqual(relay.close()["pending"], 2)
        self.tracking = Tracking(self.tracking.port)
        left = drain(self.spool, Upstream(f"http://127.0.0.1:{self.tracking.port}", f"Bearer {TOKEN}"), 20)
        self.assertEqual(left["pending"], 0)
        self.assertEqual(
            [(call[1], call[2]) for call in self.tracking.calls], [(PUT + "gro%C3%9F.bin", data), (PUT + "empty", b"")]
        )
        self.assertEqual(sorted(path.name for path in self.spool.glob("body-*")), [])

    def test_what_the_server_refuses_for_good_is_set_aside_and_told(self):
        relay = self.relay()
        self.tracking.stop()
        self.call("POST", LOG, b'{"key":"refused"}')
        self.call("POST", LOG, b'{"key":"fine"}')
        self.tracking = Tracking(self.tracking.port)
        self.assertTrue(self.back.wait(LONG))
        self.assertIn("tracking.rejected", [event["event"] for event in self.events])
        record = json.loads((self.spool / "rejected.jsonl").read_text())
        self.assertEqual((record["status"], record["body"]), (400, '{"key":"refused"}'))
        self.assertEqual(relay.close()["rejected"], 1)

    def test_the_run_can_be_read_while_the_server_is_away_and_an_update_answers_with_its_info(self):
        relay = self.relay()
        self.call("GET", "/api/2.0/mlflow/runs/get?run_uuid=r&run_id=r")
        self.tracking.stop()
        status, answer = self.call("POST", "/api/2.0/mlflow/runs/update", b'{"run_id":"r","status":"FINISHED"}')
        self.assertEqual((status, answer["run_info"]["status"]), (200, "FINISHED"))
        status, answer = self.call("GET", "/api/2.0/mlflow/runs/get?run_id=r")
        self.assertEqual((status, answer["run"]["info"]["run_id"]), (200, "r"))
        relay.close()

    def test_a_server_that_wants_no_token_or_another_one_gets_just_that(self):
        relay = Relay(
            self.spool, Upstream(f"http://127.0.0.1:{self.tracking.port}/prefix", "Basic YTpi"), None, self.tell
        )
        self.port = relay.start()
        self.assertEqual(self.call("POST", LOG, b"{}", token="whatever")[0], 200)
        self.assertEqual(self.tracking.calls, [("POST", "/prefix" + LOG, b"{}", "Basic YTpi")])
        relay.close()

    def test_a_chunked_body_arrives_whole(self):
        relay = self.relay()
        self.call("PUT", PUT + "chunked", iter([b"one ", b"two"]))
        self.assertEqual(self.tracking.calls[0][2], b"one two")
        relay.close()

    def test_a_full_spool_refuses_instead_of_pretending(self):
        relay = self.relay(limit=2_000_000)
        self.tracking.stop()
        status, answer = self.call(
            "PUT", PUT + "big", b"x" * 3_000_000, headers={"Content-Type": "application/octet-stream"}
        )
        self.assertEqual((status, answer["error_code"]), (400, "RESOURCE_EXHAUSTED"))
        self.assertEqual(self.call("POST", LOG, b"{}")[0], 200)
        self.assertEqual([event["event"] for event in self.events], ["tracking.full", "tracking.away"])
        relay.close()
