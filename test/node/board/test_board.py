"""Which event files are whose, who gets through the door, and what another node may call its files. TensorBoard itself:
test/integration/board.test.ts.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import write
from flexrack_node.board import control, events
from flexrack_node.board.door import Door
from flexrack_node.board.folder import BoardFolder
from flexrack_node.process import own_namespaces
from flexrack_node.runs.view import open_view

PROGRAM = Path(own_namespaces.__file__).resolve().parents[2]
AT = 1_800_000_000


class Run:
    """A run on a node, by hand: two attempts of ranks 0 and 1."""

    def __init__(self, root):
        self.root, self.path = root, root / "runs" / "r-1"
        self.code = self.path / "code"
        self.code.mkdir(parents=True)
        (self.path / "outputs").mkdir()
        write(
            "run.spec",
            self.path / "spec.json",
            {
                "run": "r-1",
                "node": "n1",
                "project": "p",
                "nodes": ["n1"],
                "launcher": "plain",
                "cwd": str(self.code),
                "created": AT,
            },
        )
        write("run.state", self.path / "state.json", {"status": "finished"})
        for attempt, begin in ((1, AT), (2, AT + 100)):
            (self.path / "attempts" / str(attempt)).mkdir(parents=True)
            for rank in (0, 1):
                write(
                    "run.rank",
                    self.path / "attempts" / str(attempt) / f"rank-{rank}.json",
                    {
                        "rank": rank,
                        "local_rank": rank,
                        "node": "n1",
                        "started": begin,
                        "ended": begin + 50,
                        "exit": 0,
                        "pid": 100 * attempt + rank,
                    },
                )

    def event(self, path, at, rest):
        file = path / f"events.out.tfevents.{at}.{rest}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"12345")
        return file

    def found(self, rank=None):
        found = events.find(open_view(self.root, "r-1"), rank)
        return sorted(
            (
                one["attempt"],
                -1 if one["rank"] is None else one["rank"],
                one["folder"],
                one["name"].split("tfevents.")[1],
            )
            for one in found.files
        ), found


class FindTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="fx-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.run_ = Run(self.root)

    def test_a_file_is_the_ranks_whose_process_wrote_it_and_those_of_other_times_are_nobodys(self):
        run = self.run_
        run.event(run.code / "logs" / "train", AT + 1, "host.with.12.dots.100.0")
        run.event(run.code / "logs" / "train", AT + 101, "host.201.0.v2")
        run.event(run.path / "outputs", AT + 2, "host.101.3.suffix")
        run.event(run.path / "outputs" / "deep", AT + 103, "host")  # without a process: its attempt by the time
        run.event(run.code / "logs", AT - 1000, "host.100.0")  # of before the run
        run.event(run.code / "logs", AT + 10_000, "host.100.0")  # of after it
        run.event(run.code / ".git", AT + 1, "host.100.0")
        os.mkfifo(run.code / f"events.out.tfevents.{AT + 1}.host.100.9")
        found, whole = run.found()
        self.assertEqual(
            found,
            [
                (1, 0, "logs/train", f"{AT + 1}.host.with.12.dots.100.0"),
                (1, 1, "", f"{AT + 2}.host.101.3.suffix"),
                (2, -1, "deep", f"{AT + 103}.host"),
                (2, 1, "logs/train", f"{AT + 101}.host.201.0.v2"),
            ],
        )
        self.assertEqual(whole.looked, [str(run.path / "outputs"), str(run.code)])
        self.assertTrue(whole.whole)
        self.assertEqual([one[1] for one in run.found(1)[0]], [1, 1])

    def test_links_are_followed_once_and_what_is_too_much_is_told(self):
        run, elsewhere = self.run_, self.root / "elsewhere"
        run.event(elsewhere / "tb", AT + 1, "host.100.0")
        (run.code / "logs").symlink_to(elsewhere)
        (elsewhere / "back").symlink_to(run.code)
        self.assertEqual([one[2] for one in run.found()[0]], ["logs/tb"])
        most, events.MOST_ENTRIES = events.MOST_ENTRIES, 10
        try:
            deep = run.code / "data" / "x" / "y"
            for number in range(20):
                (deep / str(number)).mkdir(parents=True)
            run.event(deep / "5", AT + 1, "host.101.0")
            found, whole = run.found()
        finally:
            events.MOST_ENTRIES = most
        self.assertEqual([[one[2] for one in found], whole.whole], [["logs/tb"], False])

    def test_a_piece_goes_to_the_end_of_its_file_and_nowhere_else(self):
        run = self.run_
        file = run.event(run.code, AT + 1, "host.100.0")
        [one] = run.found()[1].files
        self.assertEqual(one["path"], str(file))
        place = BoardFolder(self.root, "board1")
        channel = Channel(self.root, self.root / "environments", io.BytesIO())
        answer = control.prepare({"id": "board1", "runs": ["r-1"], "idle": 60, "server": "/tb"}, channel)
        self.assertNotIn(place.token.read_text(), " ".join(answer["argv"]))
        self.assertEqual(
            {path.stat().st_mode & 0o777 for path in (place.path, place.logs, place.tmp, place.path.parent)}, {0o700}
        )

        def append(offset, data, **parts):
            channel.body = io.BytesIO(data)
            return control.append(
                {"id": "board1", "pieces": [{"file": {**one, **parts}, "offset": offset, "bytes": len(data)}]}, channel
            )["sizes"]

        self.assertEqual(
            [append(0, b"abc"), append(7, b"xyz"), append(3, b"de"), append(0, b"abc")], [[3], [3], [5], [5]]
        )
        target = place.logs / "r-1" / "attempt-1" / "rank-0" / one["name"]
        self.assertEqual([target.read_bytes(), target.stat().st_mode & 0o777], [b"abcde", 0o600])
        for parts in (
            {"folder": "../.."},
            {"folder": "/etc"},
            {"run": ".."},
            {"name": "passwd"},
            {"name": "events.out.tfevents.1800000000.x/../../y"},
            {"folder": "a//b"},
            {"rank": None, "node": "../x"},
            {"folder": "a\0b"},
        ):
            with self.assertRaises(NodeError) as caught:
                append(0, b"x", **parts)
            self.assertEqual(caught.exception.code, "CONFLICT", parts)
        target.unlink()
        target.symlink_to(self.root / "victim")
        with self.assertRaises(OSError):
            append(0, b"x")
        self.assertFalse((self.root / "victim").exists())
        self.assertEqual(control.remove({"id": "board1"}, channel), {"stopped": False, "removed": True})
        self.assertTrue(file.exists())
        for wrong in ("../x", "A", "", "x" * 40):
            with self.assertRaises(NodeError):
                BoardFolder(self.root, wrong)


class DoorTest(unittest.TestCase):
    def ask(self, **environ):
        door = Door(lambda _environ, start: start("200 OK", []) or [b"in"], "secret", "/b1")
        said = []
        body = b"".join(
            door(
                {"HTTP_HOST": "127.0.0.1:4242", **environ}, lambda status, headers: said.append((status, dict(headers)))
            )
        )
        return int(said[0][0][:3]), body, said[0][1]

    def test_who_has_the_token_gets_a_cookie_for_its_path_and_only_who_has_that_gets_in(self):
        status, _, headers = self.ask(QUERY_STRING="token=secret")
        self.assertEqual(
            [status, headers["Location"], headers["Set-Cookie"]],
            [303, "/b1/", "flexrack_board=secret; Path=/b1/; HttpOnly; SameSite=Strict"],
        )
        self.assertEqual(self.ask(HTTP_COOKIE="other=1; flexrack_board=secret")[:2], (200, b"in"))
        for environ in (
            {},
            {"QUERY_STRING": "token=secre"},
            {"QUERY_STRING": "token=sécret"},
            {"HTTP_COOKIE": "flexrack_board=x"},
            {"HTTP_COOKIE": "\x01=;;;"},
            {"QUERY_STRING": "token=x", "HTTP_COOKIE": "flexrack_board=secret"},
        ):
            self.assertEqual(self.ask(**environ)[0], 401, environ)

    def test_it_answers_to_names_of_this_machine_alone(self):
        for host, status in (
            ("localhost:1", 200),
            ("[::1]:1", 200),
            ("127.0.0.1", 200),
            ("evil.example:1", 403),
            ("127.0.0.1.evil.example:1", 403),
            ("", 403),
            ("127.0.0.1:x", 403),
        ):
            self.assertEqual(self.ask(HTTP_HOST=host, HTTP_COOKIE="flexrack_board=secret")[0], status, host)


class NetworkTest(unittest.TestCase):
    def test_what_listens_in_a_network_of_its_own_is_not_reached_from_outside(self):
        source = (
            f"import sys; sys.path.insert(0, {str(PROGRAM)!r})\nimport json, os, socket\nfrom flexrack_node.process.own_namespaces import enter_own_network\n"
            "alone = enter_own_network(); server = socket.create_server(('127.0.0.1', 0)); own = socket.create_connection(server.getsockname())\n"
            "print(json.dumps([alone, server.getsockname()[1], os.geteuid()]), flush=True); sys.stdin.read()"
        )
        with subprocess.Popen(
            [sys.executable, "-I", "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            alone, port, uid = json.loads(child.stdout.readline())
            try:
                self.assertEqual(uid, os.geteuid())
                listening = [
                    line.split()[1].endswith(f":{port:04X}")
                    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
                    if " 0A " in line
                ]
                self.assertEqual(any(listening), not alone)
            finally:
                child.communicate("")


if __name__ == "__main__":
    unittest.main()
