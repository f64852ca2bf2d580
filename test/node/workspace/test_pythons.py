import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from flexrack_node.base import interpreter, program_wheel
from flexrack_node.base.errors import NodeError
from flexrack_node.workspace import environment_content, pythons

OWN = {
    "executable": "/usr/bin/python3.10",
    "version": "3.10.4",
    "tag": "cpython-310",
    "platform": "linux-x86_64",
    "libc": "glibc2.31",
    "venv": True,
}


class WhichPythonTest(unittest.TestCase):
    """Of a node whose own Python is 3.10; what else it has are programs that only say who they are."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-pythons-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        self.channel = SimpleNamespace(environments=self.folder / "environments")
        for one in (
            mock.patch.object(interpreter, "facts", lambda: dict(OWN)),
            mock.patch.object(program_wheel, "machine", lambda: "x86_64"),
            mock.patch.dict(os.environ, {"PATH": str(self.folder / "bin")}),
        ):
            one.start()
            self.addCleanup(one.stop)

    def has(self, version, place=None):
        program = (place or self.folder / "bin") / f"python{'.'.join(version.split('.')[:2])}"
        program.parent.mkdir(parents=True, exist_ok=True)
        facts = {**OWN, "executable": str(program), "version": version, "tag": f"cpython-3{version.split('.')[1]}"}
        program.write_text(
            f"#!/bin/sh\ncat <<'E'\n{json.dumps(facts)}\nE\n".replace("cat", shutil.which("cat", path="/usr/bin:/bin"))
        )
        program.chmod(0o755)

    def installed(self, version, platform="x86_64"):
        self.has(
            version, self.channel.environments / ".uv" / "pythons" / f"cpython-{version}-linux-{platform}-gnu" / "bin"
        )

    def found(self, wanted):
        facts = pythons.find(wanted, self.channel)
        return facts["version"], "uv" if facts.get("absent") else "flexrack" if facts.get("managed") else "node"

    def test_the_nodes_own_comes_first_then_the_newest_of_flexracks_then_one_that_is_to_be_installed(self):
        self.assertEqual((self.found(None), self.found("3.12")), (("3.10.4", "node"), ("3.12", "uv")))
        for version in ("3.12.9", "3.12.10", "3.1.2"):
            self.installed(version)
        self.installed("3.12.11", "aarch64")  # of another machine that shares the folder
        self.assertEqual((self.found("3.12"), self.found("3.1")), (("3.12.10", "flexrack"), ("3.1.2", "flexrack")))
        self.has("3.12.3")
        self.assertEqual(self.found("3.12"), ("3.12.3", "node"))

    def test_of_a_range_the_nodes_own_will_do_else_the_newest_that_is_there(self):
        self.assertEqual([self.found(one) for one in (">=3.9", ">=3.10,<3.11")], [("3.10.4", "node")] * 2)
        self.assertEqual([self.found(one) for one in (">=3.11,<3.13", ">=3.11")], [("3.12", "uv"), ("3.13", "uv")])
        self.installed("3.12.9")
        self.assertEqual(self.found(">=3.11,<3.13"), ("3.12.9", "flexrack"))
        self.has("3.11.2")
        self.has("3.13.1")
        self.assertEqual(
            [self.found(one) for one in (">=3.11,<3.13", ">=3.11")], [("3.11.2", "node"), ("3.13.1", "node")]
        )

    def test_an_environment_is_the_same_before_its_python_is_installed_and_after_wherever_that_lies(self):
        def name():
            return environment_content.content_hash("six\n", "", pythons.find("3.12", self.channel))

        before = name()
        self.installed("3.12.9")
        self.assertEqual(name(), before)
        self.channel.environments = self.channel.environments.rename(self.folder / "elsewhere")
        self.assertEqual(name(), before)
        self.has("3.12.9")
        self.assertNotEqual(name(), before)

    def test_where_uv_has_no_program_a_python_that_is_missing_is_told(self):
        with mock.patch.object(program_wheel, "machine", lambda: None), self.assertRaises(NodeError) as caught:
            pythons.find("3.12", self.channel)
        self.assertEqual(
            (caught.exception.code, caught.exception.message),
            ("NODE_UNFIT", "there is no python3.12 on this node, and uv has none for it"),
        )

    def test_those_that_no_environment_is_made_from_are_removed_and_their_links(self):
        for version in ("3.12.9", "3.12.10", "3.11.4"):
            self.installed(version)
        ours = self.channel.environments / ".uv" / "pythons"
        for version, whole in (("3.12", "3.12.10"), ("3.11", "3.11.4")):
            (ours / f"cpython-{version}-linux-x86_64-gnu").symlink_to(f"cpython-{whole}-linux-x86_64-gnu")
        used = self.channel.environments / "0123456789abcdef" / "bin"
        used.mkdir(parents=True)
        (used / "python").symlink_to(ours / "cpython-3.12.10-linux-x86_64-gnu" / "bin" / "python3.12")
        self.assertEqual(
            pythons.remove_unused(self.channel), ["cpython-3.11.4-linux-x86_64-gnu", "cpython-3.12.9-linux-x86_64-gnu"]
        )
        self.assertEqual(
            sorted(one.name for one in ours.iterdir()),
            ["cpython-3.12-linux-x86_64-gnu", "cpython-3.12.10-linux-x86_64-gnu"],
        )
