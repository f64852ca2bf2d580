"""What editors have left on a node: found, and removed unless it runs."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.workspace.editors import editors


class EditorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flexrack-editors-")
        self.addCleanup(folder.cleanup)
        self.home = Path(folder.name)
        patched = mock.patch.dict(os.environ, {"HOME": folder.name})
        patched.start()
        self.addCleanup(patched.stop)

    def ask(self, **given):
        return editors(given, None)["editors"]

    def test_folders_of_servers_are_found_with_their_size_and_links_are_left_alone(self):
        self.assertEqual(self.ask(), [])
        (self.home / ".vscode-server" / "bin").mkdir(parents=True)
        (self.home / ".vscode-server" / "bin" / "node").write_bytes(b"x" * 100_000)
        (self.home / "shared").mkdir()
        (self.home / ".zed_server").symlink_to(self.home / "shared")
        (found,) = self.ask(remove=["zed"])
        self.assertEqual(
            (found["editor"], found["path"], found["processes"], found["removed"]),
            ("vscode", str(self.home / ".vscode-server"), [], False),
        )
        self.assertGreaterEqual(found["bytes"], 100_000)
        self.assertTrue((self.home / "shared").is_dir())

    def test_what_runs_is_not_removed_and_what_does_not_is(self):
        for name in (".vscode-server", ".cursor-server"):
            (self.home / name).mkdir()
        script = self.home / ".vscode-server" / "server.py"
        script.write_text("import sys, time\nprint('up', flush=True)\ntime.sleep(600)\n")
        process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
        try:
            process.stdout.readline()
            with self.assertRaises(NodeError) as caught:
                self.ask(remove=["vscode", "cursor"])
            self.assertEqual(
                (caught.exception.code, caught.exception.details["processes"]), ("CONFLICT", [process.pid])
            )
            self.assertTrue((self.home / ".cursor-server").is_dir())
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        self.assertEqual([one["removed"] for one in self.ask(remove=["vscode"])], [True, False])
        self.assertEqual([one["editor"] for one in self.ask()], ["cursor"])


if __name__ == "__main__":
    unittest.main()
