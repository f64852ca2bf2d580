"""The agent of a node, as it runs: a real process that asks a real server of HTTP, and real services."""

import io
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

from flexrack_node import uninstall
from flexrack_node.base.channel import Channel
from flexrack_node.service import control
from flexrack_node.service.record import ServiceRecord
from flexrack_node.serving import control as serving
from messages import check_files
from waiting import LONG

SLEEPER = [sys.executable, "-c", "import time\nwhile True: time.sleep(0.05)"]
CRASHER = [sys.executable, "-c", "raise SystemExit(3)"]


class Head:
    """Stands for the head: says what is to run, and keeps what it was told."""

    def __init__(self) -> None:
        self.places = []
        self.status = 200
        self.ca = None
        self.garbage = None
        self.late = None  # what a report is answered with, as if it had been on its way for long
        self.heard = []
        self.changed = threading.Condition()
        head = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                question = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answer = head.answer(self.path, self.headers["authorization"], question)
                body = head.garbage or json.dumps(answer).encode()
                self.send_response(head.status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_words) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # an agent that was ended while its question was held
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, path, authorization, question):
        with self.changed:
            self.heard.append((path, authorization, question))
            if question["wait"] == 0 and self.late is not None:
                return {"seen": "late", "places": self.late}
            until = time.monotonic() + question["wait"]
            while json.dumps(self.places) == question["seen"] and time.monotonic() < until:
                self.changed.wait(0.1)
            more = {} if self.ca is None else {"ca": self.ca}
            return {"seen": json.dumps(self.places), "places": self.places, **more}

    def want(self, **places) -> None:
        with self.changed:
            self.places = [{"service": name.replace("_", "-"), "on": on} for name, on in places.items()]
            self.changed.notify_all()

    def told(self):
        """What it was told last."""
        return self.heard[-1][2]["services"] if self.heard else {}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class AgentTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="flexrack-agent-"))
        self.channel = Channel(self.root, self.root / "environments", io.BytesIO())
        self.head = Head()
        for name in ("one", "two", "other"):
            self.define(name, on_demand=name != "other")

    def tearDown(self) -> None:
        serving.leave({}, self.channel)
        for one in control.list_all({}, self.channel):
            control.stop({"id": one["id"], "grace": 1}, self.channel)
        self.head.close()
        check_files(self.root)
        shutil.rmtree(self.root)

    def define(self, name, argv=SLEEPER, **more):
        return control.start(
            {"id": name, "argv": argv, "env": {}, "grace": 1, "restart": {"max": 1, "window_seconds": 60}}
            | {"define": True, "replace": True, **more},
            self.channel,
        )

    def join(self, ca=None) -> None:
        serving.join({"url": self.head.url, "node": "a", "token": "node.x.y", "ca": ca}, self.channel)

    def state(self, name):
        return control.describe(ServiceRecord(self.root, name))["state"]

    def until(self, condition, what) -> None:
        end = time.monotonic() + LONG
        while not condition():
            if time.monotonic() > end:
                log = self.root / "services" / serving.SERVICE / "log"
                self.fail(f"did not happen: {what}; {log.read_text() if log.exists() else ''}")
            time.sleep(0.02)

    def test_starts_and_ends_what_the_head_wants_and_reports(self) -> None:
        self.assertEqual(self.state("one"), "stopped")
        self.assertFalse(ServiceRecord(self.root, "one").is_wanted())
        self.head.want(one=True, two=False)
        self.join()
        self.until(lambda: self.head.told().get("one", {}).get("state") == "running", "one runs, and is told so")
        path, authorization, question = self.head.heard[-1]
        self.assertEqual((path, authorization), ("/flexrack/v1/agent", "Bearer node.x.y"))
        self.assertEqual(question["services"]["two"]["state"], "stopped")
        self.assertEqual(
            serving.find({"url": self.head.url, "node": "a"}, self.channel), {"joined": True, "problem": None}
        )
        self.assertFalse(serving.find({"url": self.head.url, "node": "b"}, self.channel)["joined"])
        self.head.want(one=False, two=True)
        self.until(lambda: self.state("one") == "stopped" and self.state("two") == "running", "the other one runs")
        self.until(lambda: self.head.told()["one"]["state"] == "stopped", "it is told so")

    def test_an_order_that_comes_late_with_the_answer_to_a_report_is_not_followed(self) -> None:
        self.head.late = [{"service": "one", "on": False}]
        self.head.want(one=True)
        self.join()
        self.until(
            lambda: any(
                question["wait"] == 0 and question["services"].get("one", {}).get("state") == "running"
                for _, _, question in self.head.heard
            ),
            "one runs, and that was reported",
        )
        pid = control.describe(ServiceRecord(self.root, "one"))["pid"]
        self.head.want(one=True, two=True)
        self.until(lambda: self.state("two") == "running", "two runs, too")
        self.assertEqual(control.describe(ServiceRecord(self.root, "one"))["pid"], pid)

    def test_touches_nothing_that_was_not_prepared_for_it(self) -> None:
        control.start({"id": "other", "argv": SLEEPER, "env": {}, "grace": 1, "replace": True}, self.channel)
        self.define("asleep", on_demand=False)
        self.head.want(other=False, asleep=True, one=True)
        self.join()
        self.until(lambda: self.head.told().get("one", {}).get("state") == "running", "one runs")
        self.assertEqual((self.state("other"), self.state("asleep")), ("running", "stopped"))
        self.assertEqual(set(self.head.told()), {"one"})

    def test_asks_on_whatever_it_was_answered(self) -> None:
        self.head.garbage = b"[" * 200_000
        self.join("the first")
        for garbage in (b'{"seen": "x", "places": [], "ca": 5}', None):
            before = len(self.head.heard)
            self.until(lambda: len(self.head.heard) > before, "it asks again")
            self.head.garbage = garbage
        self.head.want(one=True)
        self.until(lambda: self.state("one") == "running", "it asks on")

    def test_keeps_what_it_trusts_where_it_is_given_no_certificates(self) -> None:
        self.head.ca = "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n"
        self.head.want(one=True)
        self.join("the first")
        self.until(lambda: self.head.told().get("one", {}).get("state") == "running", "one runs")
        kept = json.loads((self.root / "serving" / "settings.json").read_text())
        self.assertEqual(kept["ca"], "the first")

    def test_what_gave_up_is_told_and_not_started_before_it_was_off(self) -> None:
        self.define("one", CRASHER, on_demand=True)
        self.head.want(one=True)
        self.join()
        self.until(lambda: self.head.told().get("one", {}).get("state") == "failed", "it gives up")
        self.assertIn("3", self.head.told()["one"]["exit"])
        self.define("one", on_demand=True)
        self.until(lambda: self.state("one") == "running", "it was prepared anew, and is started")

    def test_while_the_head_is_away_all_stays_and_goes_on_afterwards(self) -> None:
        self.head.want(one=True)
        self.join()
        self.until(lambda: self.state("one") == "running", "one runs")
        pid = control.describe(ServiceRecord(self.root, "one"))["pid"]
        self.head.status = 503
        self.head.want(one=False)
        self.until(
            lambda: serving.find({"url": self.head.url, "node": "a"}, self.channel)["problem"] is not None, "it is told"
        )
        agent = control.describe(ServiceRecord(self.root, serving.SERVICE))["pid"]
        os.kill(agent, signal.SIGKILL)
        self.until(
            lambda: control.describe(ServiceRecord(self.root, serving.SERVICE))["pid"] not in (agent, None),
            "the agent is started again",
        )
        time.sleep(0.5)
        self.assertEqual(control.describe(ServiceRecord(self.root, "one"))["pid"], pid)
        self.head.status = 200
        self.until(lambda: self.state("one") == "stopped", "it goes on")

    def test_a_refused_token_is_told_to_who_deploys_next(self) -> None:
        self.head.status = 401
        self.join()
        asked = {"url": self.head.url, "node": "a"}
        self.until(lambda: serving.find(asked, self.channel)["problem"] == "status 401", "it is told")
        self.assertFalse(serving.find(asked, self.channel)["joined"])
        self.head.status = 200
        self.join()
        self.until(lambda: serving.find(asked, self.channel)["problem"] is None, "it asks again")

    def test_leaving_ends_the_agent_and_no_server(self) -> None:
        self.head.want(one=True)
        self.join()
        self.until(lambda: self.state("one") == "running", "one runs")
        self.assertTrue(serving.leave({}, self.channel)["stopped"])
        self.assertEqual(self.state("one"), "running")
        self.assertFalse((self.root / "serving").exists())
        self.assertEqual(self.state(serving.SERVICE), "absent")

    def test_uninstalling_ends_the_agent_before_its_servers_and_leaves_nothing(self) -> None:
        self.head.want(one=True, two=True)
        self.join()
        self.until(lambda: self.state("one") == "running" and self.state("two") == "running", "both run")
        stopped, real = [], control.stop

        def stop(given, channel):
            stopped.append(given["id"])
            return real(given, channel)

        check_files(self.root)
        with mock.patch.object(control, "stop", stop), mock.patch.object(Channel, "event"):
            answer = uninstall.remove({"force": True, "grace": 5}, self.channel)
        is_gone = not self.root.exists()
        self.root.mkdir(exist_ok=True)
        self.assertLess(stopped.index(serving.SERVICE), stopped.index("one"))
        self.assertEqual((answer["left"], is_gone), ([], True))

    def test_a_killed_server_and_a_killed_supervisor_are_brought_back(self) -> None:
        self.head.want(one=True)
        self.join()
        self.until(lambda: self.state("one") == "running", "one runs")
        record = ServiceRecord(self.root, "one")
        for number in (record.state()["supervisor"]["pid"], record.state()["pid"]):
            os.kill(number, signal.SIGKILL)
        self.until(lambda: self.state("one") == "running" and record.is_supervised(), "it runs again")


if __name__ == "__main__":
    unittest.main()
