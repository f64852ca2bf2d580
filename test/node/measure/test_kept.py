"""What runs keep on a node, and how the head hears of it; the head is a stand-in that answers what a test says."""

import json
import os
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.measure import kept
from flexrack_node.run.files import RunFolder
from gang_support import own_tracking
from json_server import JsonServer
from run_support import Rack
from waiting import until

MINE = ("me@here", "test")


class Head(JsonServer):
    def __init__(self):
        self.counts, self.words = True, []
        super().__init__()

    def answer(self, call, body):
        if call.path != kept.PATH:
            return 200, {}
        self.words.append({**json.loads(body), "shows": call.headers.get("Authorization")})
        return 200, {"counts": self.counts}

    def sizes(self):
        return [word["bytes"] for word in self.words if word["bytes"] is not None]


def made(runs, name, owner, project, size):
    folder = runs / name
    (folder / "outputs").mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps({"schema": 1, "run": name, "owner": owner, "project": project}))
    (folder / "outputs" / "last.bin").write_bytes(b"x" * size)
    return size + (folder / "spec.json").stat().st_size


class KeptTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="flexrack-kept-")
        self.addCleanup(self.folder.cleanup)
        self.runs = Path(self.folder.name) / "runs"
        self.runs.mkdir()

    def test_runs_of_an_owner_in_a_project_are_added_up_and_links_count_for_their_part(self):
        mine = made(self.runs, "a-1", *MINE, 1000) + made(self.runs, "a-2", *MINE, 2000)
        made(self.runs, "b-1", "you@there", "test", 40_000)
        made(self.runs, "c-1", "me@here", "other", 80_000)
        (self.runs / "torn").mkdir()
        (self.runs / "torn" / "spec.json").write_text("{")
        (self.runs / ".queue.json").write_text("{}")
        self.assertEqual(kept.kept_bytes(self.runs, MINE), mine)
        shared = Path(self.folder.name) / "weights"
        shared.write_bytes(b"x" * 6000)
        os.link(shared, self.runs / "a-1" / "outputs" / "weights")
        os.symlink("/usr", self.runs / "a-2" / "outputs" / "usr")
        self.assertEqual(kept.kept_bytes(self.runs, MINE), mine + 3000)

    def test_a_look_ends_at_its_most_files(self):
        made(self.runs, "a-1", *MINE, 1)
        for number in range(50):
            (self.runs / "a-1" / "outputs" / str(number)).touch()
        with mock.patch.object(kept, "MOST_FILES", 10):
            self.assertLess(kept.kept_bytes(self.runs, MINE), 1000)

    def test_without_a_quota_of_disk_nothing_is_looked_at(self):
        head = Head()
        self.addCleanup(head.stop)
        head.counts = False
        made(self.runs, "a-1", *MINE, 1)
        folder, looked = RunFolder(self.runs / "a-1"), threading.Event()
        with mock.patch.object(kept, "kept_bytes", lambda *_: looked.set() or 0):
            word = kept.KeptWord(folder, {**folder.spec(), "node": "node-1"}, own_tracking(head.port))
            word.begin()
            until(lambda: head.words)
            word.end()
        self.assertFalse(looked.is_set())
        self.assertEqual([one["bytes"] for one in head.words], [None])


class RunTest(unittest.TestCase):
    def setUp(self):
        self.rack, self.head = Rack(2), Head()
        self.addCleanup(self.head.stop)
        self.addCleanup(self.rack.close)

    def test_every_node_of_a_run_tells_what_is_there_and_a_removed_one_what_is_left(self):
        self.rack.script(
            "import os\n"
            "with open(os.path.join(os.environ['FLEXRACK_OUTPUTS'], 'weights'), 'wb') as file: file.write(bytes(10**7))\n"
        )
        names = [f"kept-{os.getpid()}-{number}" for number in (1, 2)]
        for name in names:
            self.rack.start(run=name, reservations=self.rack.reserve(name), tracking=own_tracking(self.head.port))
            self.rack.finish(name)
            for node in self.rack.nodes:
                self.rack.finish(name, node)
        last = {word["node"]: word for word in self.head.words if word["bytes"] is not None}
        self.assertEqual(set(last), set(self.rack.nodes))
        for word in last.values():
            self.assertEqual((word["owner"], word["shows"]), ("me@here", "Bearer run.1.secret"))
            self.assertAlmostEqual(word["bytes"], 2 * 10**7, delta=10**6)
        answer = self.rack.call("node-1", "run.remove", {"run": names[0], "measure": True})
        self.assertEqual((answer["kept"]["owner"], answer["kept"]["project"]), ("me@here", "test"))
        self.assertAlmostEqual(answer["kept"]["bytes"], 10**7, delta=10**6)
        self.assertNotIn("kept", self.rack.call("node-2", "run.remove", {"run": names[0]}))


if __name__ == "__main__":
    unittest.main()
