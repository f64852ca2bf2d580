import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from flexrack_node.base import installed
from flexrack_node.image import engines, flat, prepare, taking
from flexrack_node.image.enter import enter_words
from image_support import ImageRoot, LayerTar, as_account, base_layer, digest, packed

# Apptainer is no package of Debian 12: it is tried where a machine has it.
ENGINES = ("ch-run", *(["apptainer"] if shutil.which("apptainer") else []), "proot")


class EnginesTest(unittest.TestCase):
    """Runtimes that take an image as one folder."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.image = ImageRoot(Path(cls.holder.name) / "root")
        cls.code = cls.image.root / "workspaces" / "p" / "code"
        cls.layer = base_layer()
        cls.kept = {}
        for engine in ENGINES:
            more = LayerTar().add(f"etc/{engine}", "made for it").add("srv/deep/kept", "layer").bytes()
            cls.kept[engine] = cls.add(engine, cls.layer, more)

    @classmethod
    def add(cls, engine, *layers):
        name = cls.image.add(*layers, env={"GREETING": "of the image", "PATH": "/usr/bin:/bin"})
        ids = [digest(one) for one in layers]
        cls.image.store.keep(
            name, "made:up", ids, {"env": {"GREETING": "of the image", "PATH": "/usr/bin:/bin"}}, engine
        )
        engines.make_flat(cls.image.store, name, ids)
        return name

    @classmethod
    def tearDownClass(cls):
        flat.remove(str(cls.image.root))
        cls.holder.cleanup()

    def words(self, engine, *argv, **more):
        order = {
            "image": self.kept.get(engine, engine),
            "read": [],
            "write": [str(self.code)],
            "gpus": [],
            "cwd": str(self.code),
            "path": [],
            "keep": [],
            **more,
        }
        return enter_words(self.image.root, self.image.environments, order, list(argv))

    def sh(self, engine, script, env=None, **more):
        return subprocess.run(
            self.words(engine, "/bin/sh", "-c", script, **more),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            env={**os.environ, "HOME": "/home/somebody", **(env or {})},
        )

    def test_files_are_the_images_and_paths_of_the_code_are_as_outside(self):
        name = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout
        for engine in ENGINES:
            with self.subTest(engine=engine):
                done = self.sh(
                    engine,
                    f'cat /etc/os-release /etc/{engine}; echo; pwd; echo "$GREETING $FLEXRACK_TAG"; id -un; echo x >"$HOME/own" && cat "$HOME/own"; echo y >kept; test -c /dev/null && exit 7',
                    {"FLEXRACK_TAG": "t.1"},
                )
                self.assertEqual(
                    (done.returncode, done.stdout, done.stderr),
                    (7, f'NAME="Test image"\nID=testimage\nmade for it\n{self.code}\nof the image t.1\n{name}x\n', ""),
                )
                self.assertEqual(self.sh(engine, 'test ! -e "$HOME/own" && cat kept').stdout, "y\n")
                self.assertEqual(list(self.image.store.scratches.iterdir()), [])

    def test_what_is_written_to_the_image_fails_and_reaches_no_layer(self):
        for engine in ENGINES:
            if engine == "proot" and os.geteuid() == 0:
                continue  # no rights keep root from it: it is a copy, and told
            with self.subTest(engine=engine):
                done = self.sh(
                    engine,
                    "echo x >/srv/deep/kept; echo x >/srv/new; echo x >/etc/passwd; rm -f /srv/deep/kept; cat /srv/deep/kept; test ! -e /srv/new",
                )
                self.assertEqual((done.returncode, done.stdout), (0, "layer"), done.stderr)

    def test_signals_are_passed_on_once_and_the_end_is_told(self):
        script = "n=0; trap 'n=$((n+1))' TERM; trap 'echo $n; exit 3' INT; echo up; while :; do sleep 0.05; done"
        for engine in ENGINES:
            for send in (os.kill, os.killpg):
                with self.subTest(engine=engine, send=send):
                    begun = subprocess.Popen(
                        self.words(engine, "/bin/sh", "-c", script),
                        stdout=subprocess.PIPE,
                        text=True,
                        start_new_session=True,
                    )
                    self.assertEqual(begun.stdout.readline(), "up\n")
                    send(begun.pid, signal.SIGTERM)
                    time.sleep(0.5)
                    send(begun.pid, signal.SIGINT)
                    self.assertEqual((begun.communicate(timeout=30)[0], begun.returncode), ("1\n", 3))
        for engine in ENGINES:
            if engine != "proot":
                self.assertEqual(self.sh(engine, "kill -9 $$").returncode, 137)

    def test_where_the_tracer_is_killed_nothing_goes_on_without_it(self):
        begun = subprocess.Popen(
            self.words("proot", "/bin/sh", "-c", "echo $$; sleep 300"),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        inside = int(begun.stdout.readline())
        tracer = int(Path(f"/proc/{inside}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(tracer, signal.SIGKILL)
        self.assertEqual(begun.wait(timeout=30), 137)
        begun.stdout.close()
        self.assertFalse(Path(f"/proc/{inside}").exists())
        self.assertEqual(list(self.image.store.scratches.iterdir()), [])

    def test_neither_makes_a_sandbox(self):
        for engine in ENGINES:
            done = self.sh(engine, "true", isolate={"network": "host"})
            self.assertEqual(done.returncode, 125)
            self.assertIn(f"this node runs images by {engine}, which separates nothing", done.stderr)

    def test_one_folder_is_what_overlayfs_would_show(self):
        low = (
            LayerTar()
            .folder("a")
            .add("a/low", "1")
            .add("gone", "1")
            .add("twice", "1")
            .hardlink("twice-too", "twice")
            .folder("opaque")
            .add("opaque/low", "1")
            .folder("was-folder")
            .add("was-folder/x", "1")
            .symlink("was-link", "/etc")
            .add("run.sh", "x", mode=0o4755)
            .bytes()
        )
        high = (
            LayerTar()
            .add("a/high", "2")
            .add(".wh.gone")
            .add("opaque/.wh..wh..opq")
            .add("opaque/high", "2")
            .add("was-folder", "2")
            .folder("was-link")
            .add("was-link/passwd", "not the system's")
            .symlink("out", "../../../../etc/passwd")
            .bytes()
        )
        name = self.add("proot", low, high)
        top = self.image.store.flat(name)
        self.assertEqual(
            sorted(str(path.relative_to(top)) for path in top.rglob("*")),
            [
                "a",
                "a/high",
                "a/low",
                "opaque",
                "opaque/high",
                "out",
                "run.sh",
                "twice",
                "twice-too",
                "was-folder",
                "was-link",
                "was-link/passwd",
            ],
        )
        self.assertEqual((top / "twice").stat().st_ino, (top / "twice-too").stat().st_ino)
        self.assertEqual(((top / "was-folder").read_text(), os.readlink(top / "out")), ("2", "../../../../etc/passwd"))
        self.assertEqual(
            [oct(stat.S_IMODE(path.lstat().st_mode)) for path in (top / "run.sh", top / "a")], ["0o555", "0o555"]
        )
        layer = self.image.store.layer(digest(low))
        self.assertNotEqual(
            (top / "twice").stat().st_ino,
            (layer / "twice").stat().st_ino,
            "what is written here is not written to the layer",
        )

    def test_a_hostile_image_leads_nothing_anywhere(self):
        victim = Path(self.holder.name, "victim")
        victim.mkdir(exist_ok=True)
        victim.joinpath("secret").write_text("outside")
        evil = (
            LayerTar()
            .symlink("etc", f"../../../..{victim}")
            .symlink("run", str(victim))
            .symlink("root", f"{victim}/x")
            .bytes()
        )
        loop = LayerTar().symlink("var", "/var").bytes()
        for engine in ENGINES:
            with self.subTest(engine=engine):
                done = self.sh(
                    self.add(engine, self.layer, evil, LayerTar().add(f"x-{engine}").bytes()),
                    "cat /etc/secret; echo x >/etc/passwd; echo x >/etc/new; echo x >/run/new",
                )
                self.assertNotIn("outside", done.stdout)
                self.assertEqual([one.name for one in victim.iterdir()], ["secret"])
                done = self.sh(self.add(engine, self.layer, loop, LayerTar().add(f"y-{engine}").bytes()), "true")
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertIn("is a link without an end", done.stderr)
                done = self.sh(
                    self.add(
                        engine,
                        self.layer,
                        LayerTar().symlink("proc", str(victim)).bytes(),
                        LayerTar().add(f"z-{engine}").bytes(),
                    ),
                    "true",
                )
                self.assertEqual((done.returncode, "its /proc is a link" in done.stderr), (125, True), done.stderr)

    def test_an_image_without_the_kernels_folders_gets_them(self):
        bare = LayerTar().add(".wh.proc").add(".wh.sys").add(".wh.dev").add(".wh.tmp").bytes()
        for engine in ENGINES:
            with self.subTest(engine=engine):
                done = self.sh(
                    self.add(engine, self.layer, bare, LayerTar().add(f"w-{engine}").bytes()),
                    "test -e /proc/self/status && test -c /dev/null && test -d /sys && test -d /tmp && echo all",
                )
                self.assertEqual((done.stdout, done.stderr), ("all\n", ""))

    def test_where_user_namespaces_are_forbidden_images_run_by_proot_and_sandboxes_are_refused(self):
        code = f"""
import io, json, sys
from pathlib import Path
from flexrack_node.base.channel import Channel
from flexrack_node.image import taking
from flexrack_node.workspace import images
root, environments = Path({str(self.image.root)!r}), Path({str(self.image.environments)!r})
channel = Channel(root, environments, io.BytesIO(b""))
question = {{"layers": [], "tool": "0.11.0"}}
images.keep({{"project": "p", "digest": {digest(b"forbidden")!r}, "ref": "made:up", "layers": [{digest(self.layer)!r}], "settings": {{"env": {{}}}}}}, channel)
print(json.dumps([taking.inspect({{**question, "image": {digest(b"forbidden")!r}}}, channel), taking.inspect({{**question, "sandbox": True}}, channel)]))
"""
        enter = [
            self.words(digest(b"forbidden"), "/bin/cat", "/etc/os-release"),
            self.words(digest(b"forbidden"), "/bin/true", isolate={"network": "host"}),
        ]
        script = 'echo 0 >/proc/sys/user/max_user_namespaces && "$1" -c "$2" && shift 2 && "$@"'
        env = {**os.environ, "PYTHONPATH": str(Path(prepare.__file__).resolve().parents[2])}
        done = [
            subprocess.run(
                ["unshare", "-U", "-r", "sh", "-c", script, "sh", sys.executable, code, *words],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                env=env,
            )
            for words in enter
        ]
        self.assertEqual((done[0].returncode, done[0].stderr), (0, ""))
        told, *shown = done[0].stdout.splitlines()
        self.assertEqual(shown, ['NAME="Test image"', "ID=testimage"])
        image, sandbox = json.loads(told)
        self.assertEqual(
            (image["runtime"]["engine"], image["remake"], sandbox["runtime"]["engine"]), ("proot", False, None)
        )
        for one in (image, sandbox):
            self.assertIn("the sysctl user.max_user_namespaces is 0", one["runtime"]["why"])
        self.assertIn("nothing is separated there", image["runtime"]["loss"])
        self.assertIn("ch-run, apptainer, proot make no sandboxes", sandbox["runtime"]["why"])
        self.assertEqual(done[1].returncode, 125)
        self.assertEqual([one.name for one in self.image.store.flats.iterdir() if one.name.startswith(".")], [])
        remade = taking.inspect({"layers": [], "tool": "0.11.0", "image": digest(b"forbidden")}, self.image.channel())
        self.assertEqual((remade["runtime"]["engine"], remade["remake"]), ("bubblewrap", True))

    def test_a_half_made_folder_is_none_and_those_of_images_that_are_gone_are_removed(self):
        layer = LayerTar().folder("closed", 0o500).add("closed/file", "x").bytes()
        name = self.add("proot", layer)
        place = self.image.store.flat(name)
        broken = LayerTar().add("other", "y").bytes()
        taking.layer({"diff_id": digest(broken), "encoding": "gzip"}, self.image.channel(packed(broken)))
        shutil.rmtree(self.image.store.layer(digest(broken)))
        with self.assertRaises(OSError):
            engines.make_flat(self.image.store, digest(b"half"), [digest(layer), digest(broken)])
        self.assertEqual(
            [
                one.name
                for one in self.image.store.flats.iterdir()
                if one.name.startswith(".") or one == self.image.store.flat(digest(b"half"))
            ],
            [],
        )
        (self.image.store.images / f"{place.name}.json").unlink()
        self.image.store.forget_flats()
        self.assertFalse(place.exists())
        self.assertTrue(self.image.store.flat(self.kept["proot"]).is_dir())

    def test_uninstalling_takes_away_what_is_closed(self):
        with tempfile.TemporaryDirectory() as temp:
            other = ImageRoot(Path(temp) / "root")
            name = other.add(self.layer)
            engines.make_flat(other.store, name, [digest(self.layer)])
            self.assertTrue(installed.remove(other.root, {"path": "images", "kind": "images"}))
            self.assertFalse(other.store.path.exists())

    def test_a_path_with_a_colon_is_refused(self):
        odd = Path(self.holder.name, "a:b")
        odd.mkdir(exist_ok=True)
        self.assertIn("takes no path with a colon", self.sh("proot", "true", read=[str(odd)]).stderr)

    def test_the_same_holds_for_an_ordinary_account(self):
        if os.geteuid() == 0:
            as_account(self, "test_engines")


if __name__ == "__main__":
    unittest.main()
