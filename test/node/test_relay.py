"""The relay against a small tracking server that can be taken away."""
import contextlib
import errno
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "node"))
from flexrack_node import relay as relay_module  # noqa: E402
from flexrack_node.relay import Relay, drain  # noqa: E402
from flexrack_node.relay_journal import Journal, SpoolFull  # noqa: E402
from waiting import until  # noqa: E402

TOKEN = "the-run's-token"
TAG = "/api/2.0/mlflow/runs/set-tag"
BATCH = "/api/2.0/mlflow/runs/log-batch"
LOG = "/api/2.0/mlflow/runs/log-metric"
PUT = "/api/2.0/mlflow-artifacts/artifacts/1/r/artifacts/"


def can_mount():
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], stderr=subprocess.DEVNULL).returncode != 0:
            return False
        return subprocess.run(["umount", folder]).returncode == 0


class Tracking:
    """Records every call; answers 400 to params named `refused`, and what `fails` says, a status or None."""

    def __init__(self, port=0, fails=lambda path, body: None):
        self.calls = []
        self.accepted = []  # bodies, in order
        self.fails = fails
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.calls.append((self.command, self.path, body, self.headers.get("Authorization")))
                status, answer = (400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "no"}) if b"refused" in body else (200, {})
                status = outer.fails(self.path, body) or status
                if status == 200:
                    outer.accepted.append(body)
                if "/runs/get" in self.path:
                    answer = {"run": {"info": {"run_id": "r", "status": "RUNNING"}, "data": {}}}
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_any

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class RelayTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.spool = Path(self.folder.name) / "spool"
        self.events = []
        self.back = threading.Event()
        self.tracking = Tracking()
        self.port = None

    def relay(self, **options):
        relay = Relay(self.spool, f"http://127.0.0.1:{self.tracking.port}", TOKEN, self.tell, **options)
        self.port = relay.start()
        return relay

    def tell(self, event):
        self.events.append(event)
        if event["event"] == "tracking.back":
            self.back.set()

    def call(self, method, path, body=b"", token=TOKEN, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.addCleanup(connection.close)
        connection.request(method, path, body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

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
        self.call("POST", BATCH, b'{"metrics":[{"key":"system/cpu","value":1,"timestamp":1,"step":4},{"key":"loss","value":1,"timestamp":1,"step":4}]}')
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
        self.assertTrue(self.back.wait(20))
        self.assertEqual([json.loads(call[2])["step"] for call in self.tracking.calls], list(range(50)))
        self.assertEqual(self.events[-1]["replayed"], 50)
        self.call("POST", LOG, b'{"step":50}')
        self.assertEqual(len(self.tracking.calls), 51)
        self.assertEqual(relay.close(5), {"pending": 0, "rejected": 0, "last_rejection": None})

    def test_metrics_of_one_run_that_follow_each_other_go_in_one_call_and_a_refused_one_takes_no_other_with_it(self):
        relay = self.relay()
        self.tracking.stop()
        for number in range(5):
            self.call("POST", LOG, json.dumps({"run_id": "r", "key": "refused" if number == 3 else "loss", "value": "NaN", "step": number}).encode())
        self.call("POST", BATCH, json.dumps({"run_id": "r", "metrics": [{"key": "loss", "value": 1, "step": 5}]}).encode())
        self.call("POST", TAG, b'{"run_id":"r","key":"k"}')
        self.call("POST", LOG, b'{"run_id":"r","key":"loss","step":6}')
        self.call("POST", LOG, b'{"run_id":"another","key":"loss","step":7}')
        self.tracking = Tracking(self.tracking.port)
        self.assertTrue(self.back.wait(20))
        self.assertEqual([call[1] for call in self.tracking.calls], [BATCH] + [LOG] * 5 + [BATCH, TAG, LOG, LOG])
        merged = json.loads(self.tracking.calls[0][2])
        self.assertEqual([metric["step"] for metric in merged["metrics"]], list(range(6)))
        self.assertEqual(relay.close()["rejected"], 1)

    def test_a_large_file_survives_the_relay_itself_being_replaced(self):
        data = bytes(range(256)) * 20_000  # 5 MB: too large for memory
        relay = self.relay()
        self.tracking.stop()
        self.assertEqual(self.call("PUT", PUT + "gro%C3%9F.bin", data, headers={"Content-Type": "application/octet-stream"})[0], 200)
        self.assertEqual(self.call("PUT", PUT + "empty", b"")[0], 200)
        self.assertEqual(relay.close()["pending"], 2)
        self.tracking = Tracking(self.tracking.port)
        left = drain(self.spool, f"http://127.0.0.1:{self.tracking.port}", TOKEN, 20)
        self.assertEqual(left["pending"], 0)
        self.assertEqual([(call[1], call[2]) for call in self.tracking.calls], [(PUT + "gro%C3%9F.bin", data), (PUT + "empty", b"")])
        self.assertEqual(sorted(path.name for path in self.spool.glob("body-*")), [])

    def test_what_the_server_refuses_for_good_is_set_aside_and_told(self):
        relay = self.relay()
        self.tracking.stop()
        self.call("POST", LOG, b'{"key":"refused"}')
        self.call("POST", LOG, b'{"key":"fine"}')
        self.tracking = Tracking(self.tracking.port)
        self.assertTrue(self.back.wait(20))
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
        relay = Relay(self.spool, f"http://127.0.0.1:{self.tracking.port}/prefix", None, self.tell, authorization="Basic YTpi")
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
        status, answer = self.call("PUT", PUT + "big", b"x" * 3_000_000, headers={"Content-Type": "application/octet-stream"})
        self.assertEqual((status, answer["error_code"]), (400, "RESOURCE_EXHAUSTED"))
        self.assertEqual(self.call("POST", LOG, b"{}")[0], 200)
        self.assertEqual([event["event"] for event in self.events], ["tracking.full", "tracking.away"])
        relay.close()

    def test_a_file_that_the_server_fails_at_for_longer_is_still_there_when_it_can_take_it(self):
        data = bytes(range(256)) * 8000
        relay = self.relay()
        self.tracking.stop()
        self.assertEqual(self.call("PUT", PUT + "model.bin", data, headers={"Content-Type": "application/octet-stream"})[0], 200)
        self.call("POST", TAG, b'{"key":"after"}')
        full = [True]
        self.tracking = Tracking(self.tracking.port, lambda path, body: 500 if full[0] and path.startswith(PUT) else None)
        self.assertTrue(self.back.wait(30))
        self.assertEqual(self.tracking.accepted, [b'{"key":"after"}'])  # what comes later is not kept up
        self.assertEqual([event["event"] for event in self.events], ["tracking.away", "tracking.failed", "tracking.back"])
        self.assertGreater(len(self.tracking.calls), 5)
        full[0] = False
        self.assertEqual(relay.close(20), {"pending": 0, "rejected": 0, "last_rejection": None})
        self.assertTrue(self.tracking.accepted[1:] == [data])
        self.assertEqual([path.name for path in self.spool.glob("body-*")], [])

    def test_what_the_server_failed_at_is_sent_again_by_itself(self):
        full = [True]
        with mock.patch.object(relay_module, "FIRST_ASIDE_SECONDS", 0.2):
            relay = self.relay()
        self.tracking.stop()
        self.call("PUT", PUT + "a", b"a")
        self.tracking = Tracking(self.tracking.port, lambda path, body: 507 if full[0] else None)
        until(lambda: "tracking.failed" in [event["event"] for event in self.events], 30)
        full[0] = False
        until(lambda: self.tracking.accepted == [b"a"], 30)
        until(lambda: not relay.is_away, 30)
        self.assertEqual(relay.close()["rejected"], 0)

    def test_a_file_that_was_refused_for_good_stays_and_can_be_sent_again(self):
        data = bytes(range(256)) * 8000
        relay = self.relay()
        self.tracking.stop()
        self.call("PUT", PUT + "model.bin", data, headers={"Content-Type": "application/octet-stream"})
        self.call("POST", LOG, b'{"key":"loss"}')
        self.tracking = Tracking(self.tracking.port, lambda path, body: 403 if path.startswith(PUT) else None)
        self.assertTrue(self.back.wait(20))
        self.assertEqual(relay.close()["rejected"], 1)
        self.tracking.fails = lambda path, body: None
        url = f"http://127.0.0.1:{self.tracking.port}"
        self.assertEqual(drain(self.spool, url, TOKEN, 20)["rejected"], 1)  # nobody asked for it
        self.tracking.accepted.clear()
        self.assertEqual(drain(self.spool, url, TOKEN, 20, refused_too=True), {"pending": 0, "rejected": 0, "last_rejection": None})
        self.assertTrue(self.tracking.accepted == [data])
        self.assertEqual([path.name for path in self.spool.glob("body-*")], [])

    def test_a_disk_that_fails_in_mid_replay_is_waited_for(self):
        relay = self.relay()
        self.tracking.stop()
        self.call("POST", LOG, b'{"key":"refused"}')
        for number in range(3):
            self.call("POST", TAG, b'{"step":%d}' % number)
        broken = [True]
        really = os.fsync
        with mock.patch.object(relay_module, "FULL_DISK_PAUSE_SECONDS", 0.05), \
                mock.patch("flexrack_node.relay_journal.os.fsync", lambda handle: fail(errno.ENOSPC) if broken[0] else really(handle)):
            self.tracking = Tracking(self.tracking.port)
            until(lambda: "tracking.full" in [event["event"] for event in self.events], 30)
            self.assertEqual((relay.journal.pending, relay.is_away), (4, True))
            broken[0] = False
            self.assertTrue(self.back.wait(20))
        self.assertEqual(self.tracking.accepted[-3:], [b'{"step":%d}' % number for number in range(3)])
        self.assertEqual(relay.close()["rejected"], 1)

    @unittest.skipUnless(can_mount(), "a small disk can be mounted by root only")
    def test_on_a_full_disk_a_write_is_refused_or_kept_and_never_lost(self):
        self.spool.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(self.spool)], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.spool)], check=True)
        relay = self.relay()
        self.tracking.stop()
        kept = []
        for number in range(40):
            body = b"%03d" % number + bytes(300_000 if number % 4 else 2_000_000)
            status, answer = self.call("PUT", PUT + str(number), body, headers={"Content-Type": "application/octet-stream"})
            self.assertIn((status, answer.get("error_code")), [(200, None), (400, "RESOURCE_EXHAUSTED")])
            if status == 200:
                kept.append(number)
        self.assertTrue(0 < len(kept) < 40)
        self.tracking = Tracking(self.tracking.port)
        self.assertTrue(self.back.wait(30))
        self.assertEqual([int(body[:3]) for body in self.tracking.accepted], kept)
        self.assertEqual(self.call("POST", LOG, b"{}")[0], 200)
        relay.close()


class JournalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.spool = Path(folder.name)

    def test_a_line_cut_off_by_a_crash_is_dropped_and_the_others_are_kept(self):
        journal = Journal(self.spool, 1_000_000)
        journal.append("POST", "/a", "application/json", b"1")
        journal.append("POST", "/b", "application/json", b"2")
        journal.close()
        with open(self.spool / "journal.jsonl", "ab") as file:
            file.write(b'{"method":"POST","pa')
        (self.spool / "body-7").write_bytes(b"of a write that was never acknowledged")
        journal = Journal(self.spool, 1_000_000)
        self.assertEqual(journal.pending, 2)
        self.assertFalse((self.spool / "body-7").exists())
        first = journal.first()[0]
        self.assertEqual((first.path, first.inline), ("/a", b"1"))
        journal.taken([first])
        journal.close()
        again = Journal(self.spool, 1_000_000)
        self.assertEqual((again.pending, again.first()[0].path), (1, "/b"))
        again.close()

    def test_only_one_process_at_a_time_opens_a_spool(self):
        journal = Journal(self.spool, 1_000_000)
        with self.assertRaises(OSError):
            Journal(self.spool, 1_000_000)
        journal.close()

    def test_refuses_what_goes_over_the_limit(self):
        journal = Journal(self.spool, 1000, reserve=0)
        with self.assertRaises(SpoolFull):
            journal.append("POST", "/a", "application/json", b"x" * 2000)
        self.assertEqual(journal.first(), [])
        journal.close()

    def test_a_position_of_an_emptied_journal_is_put_right_for_good(self):
        for stale in (b"00000000000000000090", b"90", b"garbage", b"7"):
            with self.subTest(stale):
                spool = self.spool / stale.decode()
                Journal(spool, 1_000_000).close()
                (spool / "position").write_bytes(stale)
                journal = Journal(spool, 1_000_000)
                for name in ("/a", "/b", "/c"):
                    journal.append("POST", name, "application/json", b"1")
                journal.close()
                again = Journal(spool, 1_000_000)
                self.assertEqual([entry.path for entry in again.first(9)], ["/a", "/b", "/c"])
                again.close()

    def test_a_line_that_cannot_be_read_takes_no_other_with_it(self):
        journal = Journal(self.spool, 1_000_000)
        journal.append("POST", "/a", "application/json", b"1")
        journal.close()
        with open(self.spool / "journal.jsonl", "ab") as file:
            file.write(b"\0\0\0\n[1]\n{}\n")
        journal = Journal(self.spool, 1_000_000)
        journal.append("POST", "/b", "application/json", b"2")
        self.assertEqual([entry.method for entry in journal.first(9)], ["POST", "", "", "", "POST"])
        journal.close()

    def test_a_body_that_could_not_be_written_leaves_nothing_and_takes_no_room(self):
        journal = Journal(self.spool, 1_000_000)
        with mock.patch("flexrack_node.relay_journal.os.fdatasync", lambda handle: fail(errno.ENOSPC)), self.assertRaises(SpoolFull):
            journal.append("PUT", "/a", "application/json", b"x" * 500_000)
        self.assertEqual([path.name for path in self.spool.glob("body-*")], [])
        for _ in range(2):
            journal.append("PUT", "/a", "application/json", b"x" * 400_000)
        self.assertEqual(len(journal.first(9)), 2)
        journal.close()

    def test_killed_between_any_two_of_its_writes_it_has_what_was_acknowledged(self):
        """Every effect on the disk is a place to be killed at: those before it are done, those after it are not."""
        effects = 0
        while True:
            spool = self.spool / str(effects)
            death = Death(effects)
            acknowledged, delivered = set(), set()
            with death.patched():
                try:
                    play(spool, acknowledged, delivered)
                except Killed:
                    pass
            death.bury()
            journal = Journal(spool, 10_000_000)
            journal.take_back(lambda status: True)
            entries = journal.first(99)
            for entry in entries:
                if not entry.is_taken():
                    delivered.add(entry.path)
                    self.assertEqual(entry.file.read_bytes() if entry.file else entry.inline, body_of(entry.path), entry.path)
            self.assertLessEqual(acknowledged, delivered, f"killed at effect {effects}")
            if entries:
                journal.taken(entries)
            self.assertEqual([path.name for path in spool.glob("body-*")], [], f"killed at effect {effects}")
            journal.close()
            if death.left > 0:
                break
            effects += 1
        self.assertGreater(effects, 60)


class Killed(BaseException):
    """Not an Exception: no code may catch it, as none runs after a SIGKILL."""


class Death:
    """Ends a program at its n-th effect on the disk, before that is done."""

    EFFECTS = ("write", "pwrite", "ftruncate", "fsync", "fdatasync", "replace", "unlink")

    def __init__(self, after):
        self.left = after
        self.open = []

    def patched(self):
        stack = contextlib.ExitStack()
        for name in self.EFFECTS:
            stack.enter_context(mock.patch.object(os, name, self.counted(getattr(os, name))))
        stack.enter_context(mock.patch("builtins.open", self.opened))
        stack.enter_context(mock.patch.object(Journal, "close", lambda journal: None))
        really = Journal.__init__

        def begin(journal, *arguments):
            self.open.append(journal)
            really(journal, *arguments)

        stack.enter_context(mock.patch.object(Journal, "__init__", begin))
        return stack

    def counted(self, really):
        def effect(*arguments, **options):
            if self.left <= 0:
                raise Killed
            self.left -= 1
            return really(*arguments, **options)

        return effect

    def opened(self, *arguments, **options):
        file = open_for_real(*arguments, **options)
        if "b" in file.mode and "r" not in file.mode and "w" in file.mode or "a" in file.mode:
            if self.left <= 0:
                file.close()
                raise Killed
            self.left -= 1
        return file

    def bury(self):
        """The kernel lets go of what a dead process had open."""
        for journal in self.open:
            for name in ("_input", "_guard"):
                if getattr(journal, name, None):
                    getattr(journal, name).close()


def play(spool, acknowledged, delivered):
    """What a relay does with its journal, twice."""
    for number in range(2):
        journal = Journal(spool, 10_000_000)
        journal.take_back(lambda status: status >= 500)
        for name in ("/small", "/large", "/refused", "/refused-large", "/failed-large"):
            path = f"{name}/{number}"
            journal.append("PUT", path, "application/json", body_of(path))
            acknowledged.add(path)
        while journal.first():
            entry = journal.first()[0]
            if "refused" in entry.path or "failed" in entry.path:
                journal.reject(entry, 500 if "failed" in entry.path else 403, "no")
            else:
                delivered.add(entry.path)
                journal.taken([entry])
        journal.append("PUT", f"/last/{number}", "application/json", body_of(f"/last/{number}"))
        acknowledged.add(f"/last/{number}")
        journal._guard.close()


def body_of(path):
    return path.encode() * (40_000 if "large" in path else 1)


def fail(number):
    raise OSError(number, os.strerror(number))


open_for_real = open


if __name__ == "__main__":
    unittest.main()
