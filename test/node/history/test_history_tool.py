"""restic out of a package of Debian."""

import hashlib
import os
import subprocess
import unittest
from pathlib import Path

from flexrack_node.base.errors import NodeError
from flexrack_node.history import restic, tool
from sync_support import SyncCase


class ToolTest(SyncCase):
    def test_only_the_program_leaves_a_package_and_damage_is_named(self):
        package = self.folder / "restic.deb"
        (self.folder / "x/usr/bin").mkdir(parents=True)
        (self.folder / "x/usr/bin/restic").write_text("#!/bin/sh\necho 'restic 0.18.0 compiled'\n")
        (self.folder / "x/usr/bin/restic").chmod(0o755)
        (self.folder / "x/evil").write_text("e")
        subprocess.run(
            ["tar", "-cJf", self.folder / "data.tar.xz", "-C", self.folder / "x", "./usr", "./evil"], check=True
        )
        data = (self.folder / "data.tar.xz").read_bytes()
        parts = [(b"debian-binary", b"2.0\n"), (b"control.tar.xz", b"odd"), (b"data.tar.xz", data)]
        package.write_bytes(
            b"!<arch>\n"
            + b"".join(
                name.ljust(16)
                + b"0".ljust(12)
                + b"0".ljust(6)
                + b"0".ljust(6)
                + b"100644".ljust(8)
                + str(len(body)).encode().ljust(10)
                + b"`\n"
                + body
                + b"\n" * (len(body) % 2)
                for name, body in parts
            )
        )
        given = {"name": "restic.deb", "sha256": hashlib.sha256(package.read_bytes()).hexdigest()}
        placed = tool.place(given, self.channel(package.read_bytes()))
        self.assertEqual(os.listdir(Path(placed["path"]).parent), ["restic"])
        for body, sha in ((package.read_bytes()[:-100], None), (b"no package", None), (package.read_bytes(), "0" * 64)):
            with self.assertRaises(NodeError) as caught:
                tool.place({"name": "r", "sha256": sha or hashlib.sha256(body).hexdigest()}, self.channel(body))
            self.assertEqual(caught.exception.code, "NODE_UNREACHABLE")
        self.assertEqual([len(one) for one in os.listdir(restic.tools(self.root))], [64])


if __name__ == "__main__":
    unittest.main()
