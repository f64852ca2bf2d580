import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from flexrack_node.base.errors import NodeError
from flexrack_node.volume import look


class VolumeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = str(Path(self.folder.name) / "set")
        os.mkdir(self.path)

    def seen(self, **more: Any) -> Any:
        return look.look({"volumes": [{"name": "v", "path": self.path, "write": True}], **more}, None)[0]  # type: ignore[arg-type]

    def test_one_that_can_be_used_is_told_of_and_nothing_is_left_of_the_write_test(self) -> None:
        one = self.seen(try_write=True)
        self.assertEqual([one["trouble"], one["writable"]], [None, True])
        self.assertTrue(one["type"] and one["mount"] and 0 < one["free"] <= one["total"])
        self.assertEqual(os.listdir(self.path), [])

    def test_what_is_not_there_or_no_folder_is_an_error_with_a_way_out(self) -> None:
        os.rmdir(self.path)
        self.assertIn("is not there", self.seen()["trouble"])
        Path(self.path).write_text("")
        self.assertIn("is not a folder", self.seen()["trouble"])
        with self.assertRaisesRegex(NodeError, "volume v cannot be used"):
            look.need([{"name": "v", "path": self.path, "write": False}])

    def test_a_place_that_others_may_fill_is_refused(self) -> None:
        parent = os.path.dirname(self.path)
        os.chmod(parent, 0o777)
        self.assertIn("everybody may replace", self.seen()["trouble"])
        os.chmod(parent, 0o1777)
        self.assertIsNone(self.seen()["trouble"])
        if os.getuid() == 0:
            os.chown(self.path, 12345, -1)
            self.assertIn("belongs to another account", self.seen()["trouble"])
        os.chmod(parent, 0o755)
        self.assertIsNone(self.seen()["trouble"])

    def test_a_link_is_judged_by_where_it_leads_too(self) -> None:
        open_to_all = Path(self.folder.name) / "open"
        open_to_all.mkdir()
        os.chmod(open_to_all, 0o777)
        (open_to_all / "set").mkdir()
        os.rmdir(self.path)
        os.symlink(open_to_all / "set", self.path)
        self.assertIn("everybody may replace", self.seen()["trouble"])

    def test_a_mark_is_seen_until_it_is_removed_and_a_link_in_its_place_is_not_followed(self) -> None:
        nonce = "ab" * 16

        def mark(step: Any) -> bool:
            return look.mark({"path": self.path, "nonce": nonce, "step": step}, None)["found"]  # type: ignore[arg-type]

        old = Path(self.path) / f".flexrack-check-{'cd' * 16}"
        old.write_text("")
        os.utime(old, (time.time() - 100_000,) * 2)
        self.assertTrue(mark("write") and mark("read"))
        self.assertEqual(os.listdir(self.path), [f".flexrack-check-{nonce}"])
        self.assertTrue(mark("remove"))
        look._SEEN_SECONDS, before = 0.3, look._SEEN_SECONDS
        self.addCleanup(lambda: setattr(look, "_SEEN_SECONDS", before))
        self.assertFalse(mark("read"))
        os.symlink("/etc/passwd", Path(self.path) / f".flexrack-check-{nonce}")
        for step in ("write", "read"):
            with self.assertRaises(NodeError):
                mark(step)
        with self.assertRaisesRegex(NodeError, "not a nonce"):
            look.mark({"path": self.path, "nonce": "../../etc", "step": "remove"}, None)  # type: ignore[arg-type]

    def test_quotas_are_read_as_quota_prints_them(self) -> None:
        text = "Disk quotas for user root (uid 0): \n     Filesystem  blocks   quota   limit   grace   files   quota   limit   grace\n      /scratch   24000*  20000   30000 1700000000       3       0       0       0\n          /data     100       0       0       0       1       0       0       0\n"
        self.assertEqual(look.read_quota(text, "/scratch"), {"used": 24000 * 1024, "limit": 30000 * 1024})
        self.assertIsNone(look.read_quota(text, "/data"))
        self.assertIsNone(look.read_quota(text, "/"))

    def test_the_mount_is_the_nearest_one_above(self) -> None:
        lines = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:5 / /data rw shared:1 - nfs4 srv:/x rw\n3 1 0:6 / /data\\040set rw - xfs /dev/sdb rw\n"
        self.assertEqual(
            [look.mount_of(path, lines).type for path in ("/data/a", "/data set/b", "/database", "/data")],
            ["nfs4", "xfs", "ext4", "nfs4"],
        )


if __name__ == "__main__":
    unittest.main()
