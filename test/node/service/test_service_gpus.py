"""A service that leases GPUs while its process lives (serving/with_gpus.py): a GPU daemon's books, a door of another node,
and a program in place of flexrack-lease-keeper that becomes what it is to start.
"""

import io
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.stored import write
from flexrack_node.gpu import passes, taking
from flexrack_node.gpu.door import Door
from flexrack_node.service import control
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ServiceRecord
from lease_support import Daemon, order
from messages import check_stored
from waiting import LONG

KEEPER = '#!/bin/sh\necho "kept $1 $2"\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
# Says what it sees of its leases, and stays.
SERVER = [
    sys.executable,
    "-c",
    "import json, os, sys, time\n"
    "file = json.load(open(os.environ['FLEXRACK_LEASES']))\n"
    "print(json.dumps([[one['node'] for one in file['servers']], os.environ['LD_LIBRARY_PATH'] == sys.argv[1],"
    " 'CUDA_VISIBLE_DEVICES' in os.environ]), flush=True)\n"
    "time.sleep(600)",
    "@FLEXRACK_LEASED_LIBRARIES@",
]


class LeasingServiceTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-service-gpus-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.root = self.folder / "a"
        self.daemon = Daemon(self.root, ["a0", "a1"])
        self.addCleanup(self.daemon.close)
        programs = self.root / "gpu" / "program"
        programs.mkdir()
        (programs / "keeper").write_text(KEEPER)
        (programs / "keeper").chmod(0o700)
        self.channel = Channel(self.root, self.root / "environments", io.BytesIO())
        self.record = ServiceRecord(self.root, "web")
        self.addCleanup(control.stop, {"id": "web", "grace": 1}, self.channel)

    def start(self, **parts):
        drivers = {"keeper": "keeper", "icd": None, "libraries": {"libcuda.so.1": "libflexrack-cuda.so"}}
        gpus = {**order(purpose="model server web on a"), **drivers, **parts}
        env = {"FLEXRACK_NODE": "a", "LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": "7"}
        restart = {"max": 9, "window_seconds": 60}
        given = {"id": "web", "argv": SERVER, "env": env, "grace": 1, "restart": restart, "gpus": gpus, "replace": True}
        control.start(given, self.channel)
        check_stored("service.spec", json.loads(self.spec().read_text()), self.spec())

    def spec(self):
        return self.record.folder / "spec.json"

    def said(self, text, times=1):
        end = time.monotonic() + LONG
        while True:
            log = ServiceLog(self.record.folder).read(0)[1].decode()
            if log.count(text) >= times:
                return log
            if time.monotonic() > end:
                self.fail(f"{text!r} was not said {times} times: {log}")
            time.sleep(0.02)

    def test_each_start_leases_anew_and_the_process_sees_its_lease_alone(self):
        self.start()
        self.said('[["a"], true, false]')
        self.assertIn("kept --stay --end-with-lease", self.said("kept"))
        self.assertEqual([one["purpose"] for one in self.daemon.leases], ["model server web on a"])
        self.daemon.leases.clear()  # as it does when nobody holds them
        os.kill(control.describe(self.record)["pid"], signal.SIGKILL)
        self.said('[["a"], true, false]', 2)
        self.assertEqual(len(self.daemon.leases), 1)

    def test_where_nothing_is_free_it_waits_and_says_why(self):
        self.daemon.taken.update(["a0", "a1"])
        self.start()
        self.assertIn("no GPU for web: 1 GPU: a1 is taken", self.said("starting again in"))
        self.assertEqual(
            control.describe(self.record)["exit"],
            {"code": 75, "signal": None, "text": "there is no GPU for it; its log says why"},
        )
        self.daemon.taken.clear()
        self.said('[["a"], true, false]')

    def test_those_that_were_chosen_come_first(self):
        wish = order(devices=["a1"])
        self.assertEqual(taking.take(wish, 1, "one", self.channel)[0]["devices"][0]["id"], "a1")
        self.daemon.taken.add("a1")
        self.assertEqual(taking.take(wish, 1, "one", self.channel)[0]["devices"][0]["id"], "a0")

    def test_its_passes_end_when_it_is_stopped_for_good_or_gets_others(self):
        kept = passes.Passes(self.folder / "b")
        Daemon(self.folder / "b", ["b0"])
        kept.folder.mkdir(parents=True)
        door = Door(self.folder / "b")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        door.open(["127.0.0.1"], port)
        self.addCleanup(door.close)

        def place(identity):
            write("gpu.pass", kept.file(identity), {**order(), "secret": identity, "until": time.time() + 60})
            known = {"node": "b", "pass": identity, "secret": identity, "addresses": ["127.0.0.1"]}
            return {**known, "port": port, "daemon_port": 9}

        first, second = place("1" * 32), place("2" * 32)
        self.start(places=[first])
        self.said('[["a"], true, false]')
        self.start(places=[second])
        self.said('[["a"], true, false]', 2)
        self.assertEqual([one.stem for one in kept.folder.iterdir()], ["2" * 32])
        control.halt(self.record, 1)  # as the node's agent does where it is not wanted now
        self.assertEqual(kept.count(), 1)
        control.stop({"id": "web", "grace": 1}, self.channel)
        self.assertEqual(kept.count(), 0)
        self.assertEqual(json.loads(self.spec().read_text())["gpus"]["places"], [second])


if __name__ == "__main__":
    unittest.main()
