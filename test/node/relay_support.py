"""A small tracking server that can be taken away, and a relay in front of it."""

import http.client
import json
import os
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from flexrack_node.relay.relay import Relay
from flexrack_node.run.upstream import Upstream
from waiting import LONG

TOKEN = "the-run's-token"
TAG = "/api/2.0/mlflow/runs/set-tag"
BATCH = "/api/2.0/mlflow/runs/log-batch"
LOG = "/api/2.0/mlflow/runs/log-metric"
PUT = "/api/2.0/mlflow-artifacts/artifacts/1/r/artifacts/"


class Tracking:
    """Records every call; answers 400 to params named `refused`, and what `fails` says, a status or None."""

    def __init__(self, port=0, fails=lambda path, body: None):
        self.calls = []
        self.accepted = []  # bodies, in order
        self.asked = []  # of each runs/create: what the relay says of who asks
        self.fails = fails
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.calls.append((self.command, self.path, body, self.headers.get("Authorization")))
                if self.path.endswith("/runs/create"):
                    outer.asked.append(self.headers.get("Flexrack-Own-Run"))
                status, answer = (
                    (400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "no"})
                    if b"refused" in body
                    else (200, {})
                )
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
