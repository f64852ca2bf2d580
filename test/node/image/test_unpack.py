import io
import os
import stat
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.image import taking
from flexrack_node.image.store import ImageStore
from image_support import LayerTar, digest, packed


class LayerTest(unittest.TestCase):
    """What a layer becomes, and what a hostile one does not."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.outside = Path(holder.name, "outside")
        self.outside.mkdir()
        self.outside.joinpath("victim").write_text("untouched")
        self.root = Path(holder.name, "root")
        self.store = ImageStore(self.root)

    def take(self, data, encoding="gzip", diff_id=None, body=None, **more):
        channel = Channel(
            self.root,
            self.root / "environments",
            io.BytesIO(body if body is not None else packed(data) if encoding == "gzip" else data),
        )
        return taking.layer({"diff_id": diff_id or digest(data), "encoding": encoding, **more}, channel)

    def refused(self, data, code="CONFLICT", **more):
        with self.assertRaises(NodeError) as caught:
            self.take(data, **more)
        self.assertEqual(caught.exception.code, code, caught.exception.message)
        self.assertEqual([path.name for path in self.store.layers.iterdir() if path.name != ".locks"], [])
        self.assertEqual(self.outside.joinpath("victim").read_text(), "untouched")
        self.assertEqual(sorted(path.name for path in self.outside.iterdir()), ["victim"])
        return caught.exception.message

    def test_everything_that_a_layer_may_have_becomes_what_an_account_can_have(self):
        data = (
            LayerTar()
            .folder("etc")
            .add("etc/conf", "text", mode=0o600)
            .folder("closed", 0o000)
            .add("closed/secret", "s", mode=0o000)
            .add("bin/su", "su", mode=0o4755)
            .symlink("out", "/etc/passwd")
            .symlink("up", "../../../../etc")
            .hardlink("etc/same", "etc/conf")
            .hardlink("early", "late")
            .add("late", "late")
            .add("null", kind=tarfile.CHRTYPE, devmajor=1, devminor=3)
            .add("dev/zero", kind=tarfile.CHRTYPE)
            .add("pipe", kind=tarfile.FIFOTYPE)
            .add(".wh.gone")
            .folder("new")
            .add("new/.wh..wh..opq")
            .add("new/here", "h")
            .add("x" * 200 + "/" + "y" * 200, "long")
            .add("/abs/./name", "a")
            .add(
                "tagged",
                "t",
                pax_headers={
                    "SCHILY.xattr.user.note": "kept",
                    "SCHILY.xattr.security.capability": "no",
                    "SCHILY.xattr.user.overlay.opaque": "y",
                },
            )
            .bytes()
        )
        made = self.take(data)
        self.assertEqual((made["made"], made["devices"]), (True, 2))
        layer = self.store.layer(digest(data))
        self.assertEqual(layer.joinpath("etc/conf").read_text(), "text")
        self.assertEqual(layer.joinpath("closed/secret").read_text(), "s")
        self.assertEqual(stat.S_IMODE(layer.joinpath("bin/su").stat().st_mode), 0o755)
        self.assertEqual((os.readlink(layer / "out"), os.readlink(layer / "up")), ("/etc/passwd", "../../../../etc"))
        self.assertTrue(os.path.samefile(layer / "etc/same", layer / "etc/conf"))
        self.assertTrue(os.path.samefile(layer / "early", layer / "late"))
        self.assertFalse(os.path.lexists(layer / "null") or os.path.lexists(layer / "dev/zero"))
        gone = os.lstat(layer / "gone")
        self.assertEqual((stat.S_IFMT(gone.st_mode), gone.st_rdev), (stat.S_IFCHR, 0))
        self.assertEqual(os.getxattr(layer / "new", "user.overlay.opaque"), b"y")
        self.assertEqual(layer.joinpath("x" * 200, "y" * 200).read_text(), "long")
        self.assertEqual(layer.joinpath("abs/name").read_text(), "a")
        self.assertEqual(os.listxattr(layer / "tagged"), ["user.note"])
        self.assertEqual(int(layer.joinpath("etc/conf").stat().st_mtime), 1_600_000_000)
        self.assertEqual(self.take(data)["made"], False)
        subprocess.run(["rm", "-r", str(layer)], check=True, stdin=subprocess.DEVNULL)

    def test_the_last_entry_of_a_name_counts_whatever_was_there(self):
        data = (
            LayerTar()
            .add("a", "file")
            .folder("a")
            .add("a/b", "1")
            .add("a/b", "2")
            .symlink("c", "a")
            .add("c", "no link any more")
            .folder("d")
            .add("d/e", "x")
            .add("d", "file")
            .bytes()
        )
        self.take(data)
        layer = self.store.layer(digest(data))
        self.assertEqual(
            [layer.joinpath("a/b").read_text(), layer.joinpath("c").read_text(), layer.joinpath("d").read_text()],
            ["2", "no link any more", "file"],
        )

    def test_a_folder_that_is_hidden_and_made_anew_shows_nothing_of_before(self):
        for number, data in enumerate(
            (
                LayerTar().add(".wh.a").folder("a").add("a/n", "n").bytes(),
                LayerTar().folder("a").add("a/n", "n").add(".wh.a").bytes(),
            )
        ):
            with self.subTest(number):
                self.take(data)
                self.assertEqual(os.getxattr(self.store.layer(digest(data)) / "a", "user.overlay.opaque"), b"y")

    def test_links_on_the_way_lead_to_places_in_the_layer_alone(self):
        data = (
            LayerTar()
            .symlink("evil", str(self.outside))
            .add("evil/victim", "overwritten")
            .symlink("rel", "../" * 30 + str(self.outside).lstrip("/"))
            .add("rel/victim", "overwritten")
            .symlink("lib", "usr/lib")
            .folder("usr/lib")
            .add("lib/x", "x")
            .symlink("f", f"{self.outside}/victim")
            .add("f", "replaced")
            .bytes()
        )
        self.take(data)
        layer = self.store.layer(digest(data))
        self.assertEqual(self.outside.joinpath("victim").read_text(), "untouched")
        self.assertEqual(layer.joinpath(str(self.outside).lstrip("/"), "victim").read_text(), "overwritten")
        self.assertEqual((layer.joinpath("usr/lib/x").read_text(), layer.joinpath("f").read_text()), ("x", "replaced"))

    def test_what_can_only_be_meant_as_an_attempt_is_refused_and_leaves_nothing(self):
        outside = str(self.outside)
        for name, layer, said in (
            ("dots", LayerTar().add("../outside/new", "x"), "leaves the image"),
            ("dots inside", LayerTar().add("a/../../outside/new", "x"), "leaves the image"),
            ("dots in a whiteout", LayerTar().add(".wh..."), "leaves the image"),
            ("a whiteout of the folder above", LayerTar().add("a/.wh..", "x"), "leaves the image"),
            ("a hard link out", LayerTar().hardlink("a", "../outside/victim"), "leaves the image"),
            (
                "a hard link by a link",
                LayerTar().symlink("l", outside).hardlink("a", "l/victim"),
                "what is not in its layer",
            ),
            (
                "a hard link to what is elsewhere",
                LayerTar().hardlink("a", f"{outside}/victim"),
                "what is not in its layer",
            ),
            ("a hard link to a folder", LayerTar().folder("d").hardlink("a", "d"), "not a file of its layer"),
            ("links in a circle", LayerTar().symlink("a", "b").symlink("b", "a").add("a/c", "x"), "leaves the image"),
            ("a long name", LayerTar().add("n" * 300, "x"), "too long"),
        ):
            with self.subTest(name):
                data = layer.bytes()
                self.assertIn(said, self.refused(data))

    def test_sizes_have_an_end(self):
        bomb = LayerTar().add("zeros", b"\0" * (4 << 20)).bytes()
        self.assertIn("unpacks to more than 1048576 bytes", self.refused(bomb, most=1 << 20))
        header = tarfile.TarInfo("././@PaxHeader")
        header.type, header.size = tarfile.XHDTYPE, 1 << 40
        self.assertIn(
            "extended header of 1099511627776 bytes", self.refused(header.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024)
        )
        whole = LayerTar().add("a", b"a" * 3000).bytes()
        for name, body in (
            ("cut", packed(whole)[:-40]),
            ("damaged", packed(whole)[:60] + b"\0\0\0\0" + packed(whole)[64:]),
            ("no gzip", b"hello"),
        ):
            with self.subTest(name):
                self.refused(whole, body=body)
        self.assertIn("no whole tar", self.refused(whole, encoding="none", body=whole[:900]))

    def test_a_sparse_file_counts_with_its_length_and_keeps_its_hole(self):
        # A sparse file of GNU's kind: 4 KiB at its beginning, and a hole behind them (tar(5)).
        sparse = tarfile.TarInfo("sparse")
        sparse.type, sparse.size = tarfile.GNUTYPE_SPARSE, 4096
        for size, most in ((1 << 40, 1 << 30), (64 << 20, 1 << 30)):
            block = bytearray(sparse.tobuf(tarfile.GNU_FORMAT))
            block[386:410] = b"%011o\0%011o\0" % (0, 4096)
            block[483:495] = b"\x80" + size.to_bytes(11, "big")
            block[148:156] = b" " * 8
            block[148:156] = b"%06o\0 " % sum(block)
            data = bytes(block) + b"x" * 4096 + b"\0" * 1024
            if size > most:
                self.assertIn(f"it unpacks to more than {most} bytes", self.refused(data, most=most))
            else:
                self.take(data)
                place = self.store.layer(digest(data)) / "sparse"
                self.assertEqual((place.stat().st_size, place.stat().st_blocks * 512 < 4 << 20), (size, True))

    def test_one_that_is_another_is_named(self):
        one, other = LayerTar().add("a", "1").bytes(), LayerTar().add("a", "2").bytes()
        self.assertIn(
            f"{digest(one)} arrived with another content ({digest(other)})", self.refused(one, body=packed(other))
        )


if __name__ == "__main__":
    unittest.main()
