"""Names come from people and other machines: no verb may be led out of flexrack's folder by one."""

import base64
import io
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.verbs import VERBS
from places import verb_words
from waiting import LONG

NAMES: List[Any] = [
    "..",
    ".",
    "",
    "/",
    "../victim",
    "../../victim",
    "a/../../victim",
    "a/b",
    "/tmp/x",
    "%2e%2e%2fvictim",
    "..%2fvictim",
    "..\\victim",
    "~/x",
    "~root",
    "-rf",
    "--help",
    ".hidden",
    "a\0b",
    "a\nb",
    "a\n",
    "\x1b]52;c;x\x07",
    "a b",
    "$(touch victim)",
    "`id`",
    ";id",
    "*",
    "ä",
    "\u202evil",
    "x" * 101,
    "x" * 100_000,
    "\ud800",
    None,
    7,
    True,
    ["a"],
    {"a": 1},
    [".."],
]
# Every field of a verb's input that names a folder or a file.
FIELDS: Dict[str, List[Tuple[str, Dict[str, Any]]]] = {
    "endpoint.check": [("name", {"release": "r1", "files": []}), ("release", {"name": "e", "files": []})],
    "endpoint.code": [
        ("name", {"release": "r1", "workspace": "w"}),
        ("release", {"name": "e", "workspace": "w"}),
        ("workspace", {"name": "e", "release": "r1"}),
    ],
    "endpoint.place": [("name", {"release": "r1", "files": []}), ("release", {"name": "e", "files": []})],
    "endpoint.prune": [("name", {"keep": []})],
    "endpoint.write": [
        ("name", {"release": "r1", "replica": 0, "files": {"f": "x"}}),
        ("release", {"name": "e", "replica": 0, "files": {"f": "x"}}),
        ("replica", {"name": "e", "release": "r1", "files": {}}),
    ],
    "environment.release": [("project", {})],
    "head.place": [("name", {"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})],
    "run.follow": [("run", {})],
    "run.reconcile": [("run", {})],
    "run.remove": [("run", {})],
    "run.start": [("run", {"index": 0, "node": "n", "nodes": ["n"]})],
    "run.state": [("run", {})],
    "run.stop": [("run", {"kill": True})],
    "service.logs": [("id", {})],
    "service.start": [("id", {"argv": ["/bin/true"]})],
    "service.status": [("id", {})],
    "service.stop": [("id", {"remove": True})],
    "sync.apply": [("project", {"tree": "0", "revision": 0, "put": [], "remove": [], "send": []})],
    "sync.compare": [("project", {"tree": "0"})],
    "workspace.inspect": [("project", {"tree": "0"})],
    "workspace.remove": [("project", {})],
    "workspace.stop": [("project", {"grace": 0})],
}


class HostileNames(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        self._temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self._temporary.cleanup)
        self.base = Path(self._temporary.name)
        self.root = self.base / "root"
        for folder in ("runs", "services", "workspaces", "endpoints", "head/program"):
            (self.root / folder).mkdir(parents=True)
        # What an attacker would like to reach: it has everything that a verb looks for.
        for victim in (self.base / "victim", self.root / "victim", self.base):
            victim.mkdir(exist_ok=True)
            for name in ("spec.json", "state.json", "index.json", "environment.json"):
                (victim / name).write_text("{}")
            (victim / "code").mkdir(exist_ok=True)
            (victim / "code" / "kept").write_text("kept")
            (victim / "kept").write_text("kept")
        self.before = sorted(self._outside())

    def _outside(self) -> Iterator[Tuple[str, Any]]:
        for folder, _folders, files in os.walk(self.base):
            inside = any(
                Path(folder) == self.root / top or (self.root / top) in Path(folder).parents
                for top in ("runs", "services", "workspaces", "endpoints", "head")
            )
            if inside or Path(folder) == self.root:
                continue
            yield folder, None
            for file in files:
                yield f"{folder}/{file}", (Path(folder) / file).stat().st_mtime_ns

    def _call(self, verb: str, given: Dict[str, Any]) -> Any:
        module, function = VERBS[verb].split(":")
        channel = Channel(self.root, self.base / "environments", io.BytesIO(b""))
        channel.event = lambda kind, **fields: None  # type: ignore[method-assign]
        return getattr(__import__(f"flexrack_node.{module}", fromlist=[function]), function)(given, channel)

    def test_no_name_leads_a_verb_out_of_its_folder(self) -> None:
        for verb, fields in FIELDS.items():
            for field, rest in fields:
                for name in NAMES:
                    with self.subTest(
                        verb=verb, field=field, name=str(name)[:40].encode("ascii", "backslashreplace").decode()
                    ):
                        try:
                            self._call(verb, {**rest, field: name})
                        except NodeError as error:
                            json.dumps(error.message)
                        except (TypeError, ValueError, AttributeError, KeyError, OSError):
                            pass  # refused all the same; the program tells it as an error
                        self.assertEqual(sorted(self._outside()), self.before)

    def test_paths_inside_a_release_or_a_workspace_do_not_lead_out(self) -> None:
        outside = ["..", "../x", "a/../../x", "/tmp/flexrack-hostile", "../../../victim/kept", "a/../b/../../../x", ""]
        for path in outside:
            with self.subTest(path=path):
                with self.assertRaises(NodeError):
                    self._call("endpoint.write", {"name": "e", "release": "r", "replica": 0, "files": {path: "evil"}})
                with self.assertRaises(NodeError):
                    self._call(
                        "endpoint.place",
                        {
                            "name": "e",
                            "release": "r",
                            "files": [
                                {
                                    "path": path,
                                    "bytes": 0,
                                    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                                }
                            ],
                        },
                    )
                self.assertEqual(sorted(self._outside()), self.before)
        self.assertFalse(Path("/tmp/flexrack-hostile").exists())

    def test_a_list_of_what_is_installed_that_was_tampered_with_removes_nothing_outside(self) -> None:
        (self.root / "link").symlink_to(self.base / "victim")
        lines = ["../victim", str(self.base / "victim"), "runs/../../victim", ".", "", "link/kept", "/", ".."]
        (self.root / "installed.jsonl").write_text(
            "".join(json.dumps({"path": line, "kind": "x", "at": "x"}) + "\n" for line in lines) + "{torn\n[]\n7\n"
        )
        (self.root / "mine").mkdir()
        self._call("node.uninstall", {})
        self.assertEqual((self.base / "victim" / "kept").read_text(), "kept")
        self.assertEqual(sorted(self._outside()), self.before)

    def test_input_that_is_no_order_is_an_error_and_not_a_crash(self) -> None:
        for line in (
            b"",
            b"\n",
            b"{",
            b"[1]\n",
            b'"x"\n',
            b"7\n",
            b"\xff\xfe\n",
            b'{"run": {"a": 1}}\n',
            b"[" * 100_000 + b"\n",
        ):
            reported = subprocess.run(
                verb_words("run.state", self.root, self.base / "environments"),
                input=line,
                capture_output=True,
                timeout=LONG,
            )
            with self.subTest(line=base64.b64encode(line[:20])):
                self.assertEqual(reported.returncode, 1)
                self.assertIn("error", json.loads(reported.stdout))
