"""What is put right on a node without root, and what is left alone."""

import io
import json
import os
import resource
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.channel import Channel
from flexrack_node.base.stored import stamped
from flexrack_node.preflight import leftovers, mend
from flexrack_node.process.containment import send_signal
from places import PROGRAM
from run_support import Rack
from waiting import LONG, until

OLD = time.time() - 40 * 24 * 3600
HUGE = 1 << 60  # bytes of room that no disk has: it is short


class MendTest(unittest.TestCase):
    def setUp(self) -> None:
        self.rack = Rack(1)
        self.addCleanup(self.rack.close)
        self.root = self.rack.folder / "node-1"

    def mendable(self, room: int = 0, project: str = "test") -> "dict[tuple[str, str], dict]":
        return {
            (one["kind"], one["name"]): one
            for one in self.rack.call("node-1", "preflight.mendable", {"room": room, "project": project})["items"]
        }

    def mend(self, *items: "tuple[str, str]") -> "list[dict]":
        return self.rack.call(
            "node-1", "preflight.mend", {"items": [{"kind": kind, "name": name} for kind, name in items], "grace": 0.5}
        )["done"]

    def stray(self, run: str, *argv: str) -> "subprocess.Popen[bytes]":
        """What a data loader is that outlived its rank: nobody's child in the run's tree, with the run's environment."""
        env = {
            **os.environ,
            "FLEXRACK_TAG": f"{run}.0.1",
            "FLEXRACK_OUTPUTS": str(self.root / "runs" / run / "outputs"),
        }
        process = subprocess.Popen(argv or ("sleep", "600"), env=env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_processes_of_a_run_that_is_over_are_ended_also_those_that_ignore_sigterm(self) -> None:
        self.rack.script("print('x')\n")
        run = self.rack.start()
        self.rack.finish(run)
        stray = self.stray(run)
        deaf = self.stray(
            run,
            sys.executable,
            "-c",
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
        )
        until(lambda: b"SIG_IGN" in Path(f"/proc/{deaf.pid}/cmdline").read_bytes())
        self.assertIn(str(stray.pid), self.mendable()["processes", run]["detail"])
        self.assertEqual(self.mend(("processes", run)), [{"kind": "processes", "name": run, "bytes": 0}])
        self.assertEqual((stray.wait(LONG), deaf.wait(LONG)), (-15, -9))
        self.assertEqual(self.mendable(), {})

    def test_before_a_signal_only_the_process_that_gets_it_is_looked_at(self) -> None:
        self.rack.script("print('x')\n")
        run = self.rack.start()
        self.rack.finish(run)
        strays = [self.stray(run) for _ in range(8)]
        channel = Channel(self.root, self.root / "environments", io.StringIO())
        listed: list[int] = []

        def send(*args: object) -> bool:
            with mock.patch.object(os, "listdir", wraps=os.listdir) as looks:
                sent = send_signal(*args)  # type: ignore[arg-type]
            listed.append(looks.call_count)
            return sent

        with mock.patch.object(mend, "send_signal", send):
            mend.end_processes(run, channel, 0.5)
        self.assertEqual([stray.wait(LONG) for stray in strays], [-15] * 8)
        self.assertGreaterEqual(len(listed), 8)
        self.assertEqual(set(listed), {0})

    def test_one_process_is_known_as_a_run_s_that_is_over(self) -> None:
        stray = self.stray("over")
        self.assertTrue(leftovers.is_leftover(self.root, "over", stray.pid))
        self.assertFalse(leftovers.is_leftover(self.root, "other", stray.pid))
        self.assertFalse(leftovers.is_leftover(self.root, "over", os.getpid()))
        stray.kill()
        stray.wait()
        self.assertFalse(leftovers.is_leftover(self.root, "over", stray.pid))

    def test_a_run_that_goes_on_is_left_alone(self) -> None:
        self.rack.script("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
        run = self.rack.start()
        until(lambda: self.rack.alive(run))
        self.assertEqual(self.mendable(), {})
        self.assertEqual(self.mend(("processes", run))[0]["why"], "it is gone, or in use by now")
        self.assertTrue(self.rack.alive(run))

    def test_processes_of_another_root_are_not_ours(self) -> None:
        self.stray("../../../elsewhere/runs/x")
        env = {**os.environ, "FLEXRACK_TAG": "r.0.1", "FLEXRACK_OUTPUTS": str(self.root) + "-other/runs/r/outputs"}
        process = subprocess.Popen(["sleep", "600"], env=env)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(self.mendable(), {})

    def test_half_written_files_go_when_their_writer_is_gone_and_they_are_old(self) -> None:
        gone = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True, text=True).stdout.strip()
        folder = self.root / "runs" / "r"
        folder.mkdir(parents=True)
        drafts = {
            name: folder / name
            for name in (f".state.json.{gone}", f".spec.json.{os.getpid()}", f".new.json.{gone}", "notes.json")
        }
        for name, path in drafts.items():
            path.write_text("{")
            if "new" not in name:
                os.utime(path, (OLD, OLD))
        self.assertEqual(list(self.mendable()), [("temporary", str(drafts[f".state.json.{gone}"]))])
        self.mend(*[("temporary", str(path)) for path in drafts.values()])
        self.assertEqual(sorted(os.listdir(folder)), sorted(name for name in drafts if name != f".state.json.{gone}"))

    def test_where_the_disk_is_short_what_nothing_uses_goes_and_nothing_else(self) -> None:
        environments = self.rack.folder / "environments"
        used, unused, half = "a" * 16, "b" * 16, "c" * 16
        for name in (used, unused, half):
            (environments / name / "bin").mkdir(parents=True)
            (environments / name / "bin" / "python").symlink_to(sys.executable)
            if name != half:
                (environments / name / ".flexrack-ready.json").write_text("{}")
        (environments / used / ".flexrack-users").mkdir()  # as environment.py notes it
        (environments / used / ".flexrack-users" / "x.json").write_text(json.dumps({"user": "head", "root": "/r"}))
        os.utime(environments / half, (OLD, OLD))
        for project, age in (("test", OLD), ("old", OLD), ("new", time.time())):
            place = self.root / "workspaces" / project
            (place / "code").mkdir(parents=True)
            (place / "sync.json").write_text(json.dumps(stamped("workspace.sync", {})))
            os.utime(place / "sync.json", (age, age))
        for name, age in (("d" * 16, OLD), ("e" * 16, time.time())):
            (self.root / "program" / name).mkdir(parents=True)
            os.utime(self.root / "program" / name, (age, age))
        self.assertEqual(list(self.mendable()), [("temporary", str(environments / half))])
        found = list(self.mendable(HUGE))
        self.assertEqual(
            found,
            [
                ("temporary", str(environments / half)),
                ("environment", unused),
                ("program", "d" * 16),
                ("workspace", "old"),
            ],
        )
        self.assertEqual(
            [one.get("why") for one in self.mend(*found, ("environment", used))],
            [None, None, "it is gone, or in use by now", None, None],
        )
        self.assertEqual(sorted(path.name for path in environments.glob("[a-f]*")), [used])
        self.assertEqual(sorted(os.listdir(self.root / "workspaces")), ["new", "test"])
        self.assertEqual(os.listdir(self.root / "program"), ["e" * 16])


class LimitsTest(unittest.TestCase):
    def test_ranks_may_open_as_many_files_as_the_node_allows(self) -> None:
        code = (
            f"import sys; sys.path.insert(0, {str(PROGRAM.parent)!r}); from flexrack_node.rank.rank import raise_limits; raise_limits(); "
            "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
        )
        hard = min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        shown = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code],
            capture_output=True,
            check=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)),
        )
        self.assertEqual(shown.stdout.split(), [str(hard), str(hard)])
