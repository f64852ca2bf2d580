"""Which rank has a run by now: what the relay tells the head of who asks for one."""

import threading
import unittest

from flexrack_node.relay.claims import Claims, read_token
from relay_support import BATCH, PUT, TAG, TOKEN, RelayCase

CREATE = "/api/2.0/mlflow/runs/create"
UPDATE = "/api/2.0/mlflow/runs/update"
RUN = "0123456789abcdef0123456789abcdef"


class ClaimsTest(RelayCase):
    def create(self, rank, body=b'{"experiment_id":"1"}'):
        status, _ = self.call("POST", CREATE, body, token=TOKEN + rank)
        return status, self.tracking.asked[-1]

    def test_the_first_run_that_each_rank_of_an_attempt_asks_for_is_the_runs_own(self):
        relay = self.relay(run_id=RUN)
        for rank in (".1.0", ".1.1", ".2.0"):
            self.assertEqual(self.create(rank), (200, "none"))
            self.assertEqual(self.create(rank), (200, None))
        relay.close()

    def test_a_rank_that_has_written_to_the_run_has_one(self):
        for path, body in (
            (UPDATE, b'{"run_id":"%s","status":"RUNNING"}'),
            (BATCH, b'{"metrics":[],"run_id":"%s"}'),
            (TAG, b'{"run_uuid":"%s"}'),
        ):
            with self.subTest(path=path):
                relay = self.relay(run_id=RUN)
                self.call("POST", path, body % RUN.encode(), token=TOKEN + ".1.0")
                self.assertEqual(self.create(".1.0"), (200, None))
                self.assertEqual(self.create(".1.1"), (200, "none"))
                relay.close()

    def test_writes_to_another_run_files_and_reads_are_none(self):
        relay = self.relay(run_id=RUN)
        self.call("POST", BATCH, b'{"run_id":"' + b"f" * 32 + b'"}', token=TOKEN + ".1.0")
        self.call("PUT", PUT + "file", RUN.encode()[:5], token=TOKEN + ".1.0")
        self.call("GET", f"/api/2.0/mlflow/runs/get?run_id={RUN}", token=TOKEN + ".1.0")
        self.assertEqual(self.create(".1.0"), (200, "none"))
        relay.close()

    def test_who_shows_no_rank_gets_no_run_of_its_own_by_this(self):
        relay = self.relay(run_id=RUN)
        self.assertEqual(self.create(""), (200, None))
        relay.close()

    def test_a_client_does_not_say_it_itself(self):
        relay = self.relay(run_id=RUN)
        self.call("POST", CREATE, b"{}", headers={"Flexrack-Own-Run": "none"})
        self.assertEqual(self.tracking.asked, [None])
        relay.close()

    def test_a_run_that_was_refused_or_not_answered_is_none(self):
        relay = self.relay(run_id=RUN)
        self.assertEqual(self.create(".1.0", b'{"tags":"refused"}'), (400, "none"))
        self.assertEqual(self.create(".1.0"), (200, "none"))
        relay.close()

    def test_threads_of_a_rank_that_ask_at_once_get_the_run_once(self):
        claims, got = Claims(RUN), []
        threads = [
            threading.Thread(target=lambda: got.append(claims.headers("1.0", "POST", CREATE))) for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(bool(one) for one in got), 1)


class TokenTest(unittest.TestCase):
    def test_a_rank_is_read_only_behind_the_whole_token(self):
        for given, expected in (
            ("Bearer t.1.0", (True, "1.0")),
            ("Bearer t", (True, None)),
            ("Bearer t.1", (False, None)),
            ("Bearer t.1.0.2.0", (False, None)),
            ("Bearer x.1.0", (False, None)),
            ("Bearer .1.0", (False, None)),
            ("", (False, None)),
            ("Bearer t.1.x", (False, None)),
            ("Bearer t.1.0\n", (False, None)),
            ("Bearer t.\u0661.0", (False, None)),
        ):
            with self.subTest(given=given):
                self.assertEqual(read_token(given, "t"), expected)

    def test_a_token_that_looks_like_one_with_a_rank_is_still_the_token(self):
        self.assertEqual(read_token("Bearer t.1.0", "t.1.0"), (True, None))
        self.assertEqual(read_token("Bearer t.1.0.2.3", "t.1.0"), (True, "2.3"))

    def test_without_a_token_everybody_may(self):
        self.assertEqual(read_token("", None), (True, None))


if __name__ == "__main__":
    unittest.main()
