"""A small tracking server that can be taken away, and a relay in front of it."""

import http.client
import json
import os
import tempfile
import threading
import unittest
from pathlib import Path

from flexrack_node.relay.relay import Relay
from flexrack_node.run.upstream import Upstream
from json_server import JsonServer
from waiting import LONG

TOKEN = "the-run's-token"
TAG = "/api/2.0/mlflow/runs/set-tag"
BATCH = "/api/2.0/mlflow/runs/log-batch"
LOG = "/api/2.0/mlflow/runs/log-metric"
PUT = "/api/2.0/mlflow-artifacts/artifacts/1/r/artifacts/"


class Tracking(JsonServer):
    """Records every call; answers 400 to params named `refused`, and what `fails` says, a status or None."""

    def __init__(self, port=0, fails=lambda path, body: None):
        self.calls = []
        self.accepted = []  # bodies, in order
        self.asked = []  # of each runs/create: what the relay says of who asks
        self.fails = fails
        super().__init__(port)

    def answer(self, call, body):
        self.calls.append((call.command, call.path, body, call.headers.get("Authorization")))
        if call.path.endswith("/runs/create"):
            self.asked.append(call.headers.get("Flexrack-Own-Run"))
        status, answer = (
            (400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "no"}) if b"refused" in body else (200, {})
        )
        status = self.fails(call.path, body) or status
        if status == 200:
            self.accepted.append(body)
        if "/runs/get" in call.path:
            answer = {"run": {"info": {"run_id": "r", "status": "RUNNING"}, "data": {}}}
        return status, answer


class RelayCase(unittest.TestCase):
    """Each test has a spool and a server of its own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.spool = Path(self.folder.name) / "spool"
        self.events = []
        self.back = threading.Event()
        self.tracking = Tracking()
        self.port = None

    def relay(self, **options):
        relay = Relay(
            self.spool,
            Upstream(f"http://127.0.0.1:{self.tracking.port}", f"Bearer {TOKEN}"),
            TOKEN,
            self.tell,
            **options,
        )
        self.port = relay.start()
        return relay

    def tell(self, event):
        self.events.append(event)
        if event["event"] == "tracking.back":
            self.back.set()

    def call(self, method, path, body=b"", token=TOKEN, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG)
        self.addCleanup(connection.close)
        connection.request(
            method,
            path,
            body,
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})},
        )
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")


def fail(number):
    raise OSError(number, os.strerror(number))
