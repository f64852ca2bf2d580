"""What a killed daemon has left outside of its own folder, and what of it is ours to remove."""

import fcntl
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from flexrack_node.gpu import runtime_folder


class RuntimeFolderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-runtime-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.daemon = self.folder / "daemon"
        self.daemon.mkdir()
        (self.daemon / "lock").touch()
        self.runtime = self.folder / f"flexrack-{os.geteuid()}-0123456789ab"
        self.runtime.mkdir(mode=0o700)
        for name in ("admin.sock", "client.sock", "l00ff", "g12", "r12", "wabc"):
            (self.runtime / name).touch()

    def says(self, runtime: Path) -> None:
        about = {"schema": 2, "pid": 1, "started": 1, "boot_id": "b", "address": "127.0.0.1", "port": 1}
        more = {"admin": "a", "unix": "u", "runtime": str(runtime), "backend": "sim", "protocol": 1}
        (self.daemon / "address.json").write_text(json.dumps({**about, **more}))

    def test_all_of_it_goes(self):
        self.says(self.runtime)
        self.assertEqual(runtime_folder.find(self.daemon), self.runtime)
        runtime_folder.remove(self.runtime, self.daemon)
        self.assertFalse(self.runtime.exists())

    def test_what_has_another_name_stays(self):
        (self.runtime / "letters").write_text("somebody's")
        runtime_folder.remove(self.runtime, self.daemon)
        self.assertEqual(os.listdir(self.runtime), ["letters"])

    def test_a_folder_that_others_may_enter_is_not_ours(self):
        self.runtime.chmod(0o755)
        runtime_folder.remove(self.runtime, self.daemon)
        self.assertEqual(len(os.listdir(self.runtime)), 6)

    def test_nothing_is_found_by_a_link(self):
        link = self.folder / f"flexrack-{os.geteuid()}-ba9876543210"
        link.symlink_to(self.runtime)
        runtime_folder.remove(link, self.daemon)
        self.assertEqual(len(os.listdir(self.runtime)), 6)

    def test_a_broker_that_serves_keeps_it(self):
        with (self.daemon / "lock").open("r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            runtime_folder.remove(self.runtime, self.daemon)
        self.assertEqual(len(os.listdir(self.runtime)), 6)

    def test_any_other_folder_is_not_found(self):
        for other in (self.folder, Path("/"), Path("flexrack-0123456789ab"), self.daemon / "run"):
            self.says(other)
            self.assertIsNone(runtime_folder.find(self.daemon), other)


if __name__ == "__main__":
    unittest.main()
