"""Runs that save checkpoints and lose nodes, for the tests of what becomes of them."""

import json
import os
import signal
import unittest
from pathlib import Path

from run_support import Rack
from waiting import until

SAVING = """
import os, sys, time
from pathlib import Path
RANK, WORLD, K, NODE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(os.environ["FLEXRACK_ATTEMPT"]), os.environ["FLEXRACK_NODE"]
FOUND = os.environ.get("FLEXRACK_CHECKPOINT")
print("attempt", K, "rank", RANK, "of", WORLD, "from", FOUND and Path(FOUND).read_text(), flush=True)
def save(text, name="last.txt", made=None):
    folder = Path(os.environ["FLEXRACK_OUTPUTS"]) / "checkpoints"
    folder.mkdir(exist_ok=True)
    partial = folder / (name + ".partial")
    partial.write_text(text)
    if made: os.utime(partial, (made, made))
    partial.replace(folder / name)
def up():
    (Path("up-%d-%s" % (K, NODE))).touch()
    while True: time.sleep(0.05)
"""
CHECKPOINT = {"path": "checkpoints/"}


def end_node(rack, run, node):
    """As if it had lost its power: nobody of it says a last word."""
    state = json.loads((rack.folder / node / "runs" / run / "state.json").read_text())
    spec = json.loads((rack.folder / node / "runs" / run / "spec.json").read_text())
    reaper = [
        int(pid)
        for pid in os.listdir("/proc")
        if pid.isdigit() and _says(pid, "gang.reaper", str(rack.folder / node / "runs" / run))
    ]
    ranks = rack.pids_of(run, spec["index"])
    for pid in [*reaper, state["pid"], *ranks]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def _says(pid, *words):
    try:
        said = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    return words[-1] in said and any(f"flexrack_node.{words[0]} import" in one for one in said)


class GangCase(unittest.TestCase):
    def rack_of(self, count):
        rack = Rack(count)
        self.addCleanup(rack.close)
        return rack

    def up(self, rack, attempt, *nodes):
        for node in nodes:
            until((rack.folder / "code" / f"up-{attempt}-{node}").exists)


def own_tracking(port):
    """Of a run with its own token, at a stand-in for the head."""
    return {
        "upstream": f"http://127.0.0.1:{port}",
        "token": "run.1.secret",
        "authorization": None,
        "own_token": True,
        "run_id": "r",
        "experiment_id": "1",
        "artifact_uri": "file:///nowhere",
    }
