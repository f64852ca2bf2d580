"""Nodes of a run on this machine, each a root folder of its own, driven through the verbs as a caller would."""

import base64
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from flexrack_node.process.containment import tagged_pids
from messages import check_files, check_lines
from places import verb_words
from recording import recording
from waiting import LONG


class Rack:
    def __init__(self, count):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-gang-"))
        self.nodes = [f"node-{index + 1}" for index in range(count)]
        for node in self.nodes:
            (self.folder / node).mkdir()
        (self.folder / "code").mkdir()
        (self.folder / "reservations").mkdir(mode=0o700)
        self.env = {"FLEXRACK_RESERVATIONS": str(self.folder / "reservations")}
        self.runs = []
        self.recording = recording()

    def script(self, text):
        (self.folder / "code" / "train.py").write_text(text)

    def call(self, node, verb, value=None):
        """The verb's result; a verb's error is raised as RuntimeError(code, message)."""
        done = subprocess.run(
            verb_words(verb, self.folder / node, self.folder / "environments", self.recording.program),
            input=json.dumps(value).encode() + b"\n",
            capture_output=True,
            timeout=LONG * 2,
            env={**os.environ, **self.env},
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        check_lines(verb, value, lines)
        if not lines or "error" in lines[-1]:
            raise RuntimeError(lines[-1]["error"]["code"] if lines else done.stderr.decode(), lines[-1:] or "")
        self.events = lines[:-1]
        return lines[-1]["result"]

    def reserve(self, run, nodes=None, exclusive=True):
        """{node: {lease, fence}} of a run on the nodes, confirmed; AssertionError where one is refused."""
        found = {}
        for node in nodes or self.nodes:
            answer = self.take(node, run, exclusive)
            if not answer["granted"]:
                raise AssertionError(answer)
            found[node] = {"lease": run, "fence": answer["fence"]}
            self.call(node, "reservation.confirm", found[node])
        return found

    def take(self, node, run, exclusive=True, **parts):
        wants = {"gpus": [], "slots": 1, "exclusive": exclusive}
        return self.call(
            node,
            "reservation.take",
            {
                "lease": run,
                "owner": "me@here",
                "project": "test",
                "node": node,
                "nodes": self.nodes,
                "ttl": 20,
                "wants": wants,
                **parts,
            },
        )

    def start(self, nodes=None, through=lambda port: port, run=None, reservations=None, **parts):
        """Starts a run on the nodes, the first one leading; returns its id. `through`: the port members get for the
        leader's.
        """
        nodes = nodes or self.nodes
        run = run or f"test-{secrets.token_hex(4)}"
        self.runs.append(run)
        spec = {
            "run": run,
            "project": "test",
            "nodes": nodes,
            "launcher": "plain",
            "processes": 1,
            "command": ["train.py"],
            "python": sys.executable,
            "cwd": str(self.folder / "code"),
            "env": {},
            "environment": None,
            "commit": None,
            "owner": "me@here",
            "restarts": 0,
            "grace": 5,
            "outputs": [],
            "address": "127.0.0.1",
            "neighbours": len(nodes),
            "tracking": None,
            "created": time.time(),
            **parts,
        }
        gang = {
            "secret": secrets.token_hex(32),
            "address": "127.0.0.1",
            "port": 0,
            "timeout": LONG,
            **parts.get("gang", {}),
        }
        for index, node in enumerate(nodes):
            reservation = {"reservation": reservations[node]} if reservations else {}
            answer = self.call(node, "run.start", {**spec, **reservation, "node": node, "index": index, "gang": gang})
            if index == 0:
                gang["port"] = through(answer["gang"]["port"])
        return run

    def finish(self, run, node="node-1", seconds=LONG):
        """The run's detail on a node, once it is over there."""
        value = self.call(node, "run.state", {"run": run, "wait": seconds})
        if value["live"]:
            raise AssertionError(f"still running: {value}")
        return value

    def log(self, run, rank, node, attempt=1):
        return (self.folder / node / "runs" / run / "attempts" / str(attempt) / f"rank-{rank}.log").read_text()

    def events_of(self, run, node):
        file = self.folder / node / "runs" / run / "events.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []  # it has just begun
        return [json.loads(line) for line in lines]

    def pids_of(self, run, index):
        """The same of one node."""
        return {pid for attempt in range(1, 5) for pid in tagged_pids(f"{run}.{index}.{attempt}")}

    def alive(self, run):
        """Pids of ranks, and of anything they started, on any node: by the tag, straight from /proc."""
        found = set()
        for index in range(len(self.nodes)):
            for attempt in range(1, 5):
                found |= tagged_pids(f"{run}.{index}.{attempt}")
        return {pid for pid in found if _state(pid) not in "ZX"}

    def close(self):
        for run in self.runs:
            for node in self.nodes:
                try:
                    self.call(node, "run.stop", {"run": run, "kill": True})
                    self.finish(run, node)
                except RuntimeError:
                    pass
            if self.alive(run):
                raise AssertionError(f"processes of {run} are left: {self.alive(run)}")
        for node in self.nodes:
            check_files(self.folder / node)
        self.recording.check()
        shutil.rmtree(self.folder, ignore_errors=True)


class Relay:
    """TCP from a port of its own to another one, to cut connections with."""

    def __enter__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self._pairs = []
        self._all = []
        return self

    def to(self, port):
        self._target = port
        threading.Thread(target=self._accept, daemon=True).start()
        return self._server.getsockname()[1]

    def cut(self):
        pairs, self._pairs = self._pairs, []
        for one in pairs:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def __exit__(self, *_):
        self._server.close()
        self.cut()
        for one in self._all:
            one.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            self._pairs += [near, far]
            self._all += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(a, b), daemon=True).start()

    def _pass(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def supervisor_pid(rack, run, node):
    return json.loads((rack.folder / node / "runs" / run / "state.json").read_text())["pid"]


def decode(event):
    return base64.b64decode(event["data"])


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0].decode()
    except OSError:
        return "X"
