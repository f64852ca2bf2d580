import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.errors import NodeError
from flexrack_node.image import limits, prepare, runtime
from flexrack_node.image.enter import enter_words
from flexrack_node.image.plain_yaml import BadYaml, load
from image_support import ImageRoot, LayerTar, as_account, base_layer, spare

# As `nvidia-ctk cdi generate` writes it.
CDI = """---
cdiVersion: 0.5.0
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
  hooks:
  - args:
    - nvidia-ctk
    - hook
    - create-symlinks
    - --link
    - libcuda.so.550.1.2::/usr/lib/libcuda.so.1
    hookName: createContainer
    path: /usr/bin/nvidia-ctk
  mounts:
  - containerPath: /usr/lib/libcuda.so.550.1.2
    hostPath: LIBRARY
    options:
    - ro
    - nosuid
devices:
- containerEdits:
    deviceNodes:
    - hostPath: /dev/zero
      path: /dev/nvidia0
  name: "0"
- containerEdits:
    deviceNodes:
    - hostPath: /dev/full
      path: /dev/nvidia1
  name: GPU-1
kind: nvidia.com/gpu
"""
ESCAPES = Path(__file__).resolve().with_name("escapes.py")


class EnterTest(unittest.TestCase):
    """One entrance into images and sandboxes."""

    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.image = ImageRoot(Path(cls.holder.name) / "root")
        cls.digest = cls.image.add(base_layer(), env={"GREETING": "of the image", "PATH": "/usr/bin:/bin"})
        cls.code = cls.image.root / "workspaces" / "p" / "code"

    @classmethod
    def tearDownClass(cls):
        subprocess.run(["rm", "-r", cls.holder.name], check=True, stdin=subprocess.DEVNULL)
        cls.holder.cleanup = lambda: None
        cls.holder._finalizer.detach()

    def order(self, image=True, **more):
        return {
            **({"image": self.digest} if image else {}),
            "read": [],
            "write": [str(self.code)],
            "gpus": [],
            "cwd": str(self.code),
            "path": [],
            "keep": [],
            **more,
        }

    def words(self, order, *argv):
        return enter_words(self.image.root, self.image.environments, order, list(argv))

    def run_in(self, order, *argv, **more):
        return subprocess.run(
            self.words(order, *argv), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, **more
        )

    def sh(self, script, **more):
        return self.run_in(self.order(**more), "/bin/sh", "-c", script)

    def test_files_are_the_images_and_paths_of_the_code_are_as_outside(self):
        done = self.sh(
            "cat /etc/os-release; pwd; echo $GREETING; id -un; echo x >/gone; echo y >kept; test -c /dev/null && exit 7"
        )
        name = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout
        self.assertEqual(
            (done.returncode, done.stdout, done.stderr),
            (7, f'NAME="Test image"\nID=testimage\n{self.code}\nof the image\n{name}', ""),
        )
        self.assertEqual(self.sh("test ! -e /gone && cat kept").stdout, "y\n")
        self.assertFalse(Path("/gone").exists())
        self.assertNotIn("/images/l/", Path("/proc/mounts").read_text())

    def test_a_signal_is_passed_on_once_and_the_programs_end_is_told(self):
        script = "n=0; trap 'n=$((n+1))' TERM; trap 'echo $n; exit 3' INT; echo up; while :; do sleep 0.05; done"
        for isolate in ({}, {"isolate": {"network": "host"}}):
            for to_group in (False, True):
                with self.subTest(isolate=isolate, to_group=to_group):
                    begun = subprocess.Popen(
                        self.words(self.order(**isolate), "/bin/sh", "-c", script),
                        stdout=subprocess.PIPE,
                        text=True,
                        start_new_session=True,
                    )
                    self.assertEqual(begun.stdout.readline(), "up\n")
                    send = os.killpg if to_group else os.kill
                    send(begun.pid, signal.SIGTERM)
                    time.sleep(0.3)
                    send(begun.pid, signal.SIGINT)
                    self.assertEqual((begun.communicate(timeout=30)[0], begun.returncode), ("1\n", 3))
        self.assertEqual(self.sh("kill -9 $$").returncode, 137)

    def test_whoever_is_killed_takes_everything_along(self):
        for isolate in ({}, {"isolate": {"network": "host"}}):
            with self.subTest(isolate=isolate):
                mark = f"FLEXRACK_TAG=t{os.getpid()}"
                begun = subprocess.Popen(
                    self.words(self.order(**isolate), "/bin/sh", "-c", "sleep 300 & echo up; sleep 300"),
                    stdout=subprocess.PIPE,
                    text=True,
                    env={**os.environ, "FLEXRACK_TAG": f"t{os.getpid()}"},
                    start_new_session=True,
                )
                self.assertEqual(begun.stdout.readline(), "up\n")
                inside = tagged(mark)
                self.assertGreaterEqual(len(inside), 2)
                self.assertNotIn(begun.pid, inside, "the doorkeeper is not what is looked for")
                begun.kill()
                begun.wait()
                begun.stdout.close()
                until = time.monotonic() + 20
                while isolate and tagged(mark) and time.monotonic() < until:
                    time.sleep(0.05)
                # without a sandbox a process in the background lives on, as it does without an image; its tag finds it
                for pid in tagged(mark):
                    os.kill(pid, signal.SIGKILL)

    def test_a_program_that_is_not_there_and_an_image_that_is_gone_are_told(self):
        self.assertIn("/bin/nothing", self.run_in(self.order(), "/bin/nothing").stderr)
        gone = self.run_in({**self.order(), "image": "sha256:" + "0" * 64}, "/bin/sh")
        self.assertEqual(gone.returncode, 125)
        self.assertIn("is not on this node any more", gone.stderr)

    def test_a_hostile_image_does_not_lead_a_mount_anywhere(self):
        victim = Path(self.holder.name, "victim")
        victim.mkdir(exist_ok=True)
        evil = LayerTar().symlink("etc", f"/oldroot{victim}").symlink("tmp", "../../.." + str(victim)).bytes()
        digest = self.image.add(base_layer(), evil)
        self.run_in({**self.order(), "image": digest}, "/bin/sh", "-c", "echo x >/etc/passwd; echo x >/etc/new")
        self.assertEqual(list(victim.iterdir()), [])
        circle = self.image.add(base_layer(), LayerTar().symlink("proc", "sys").bytes())
        self.assertIn("its /proc is a link", self.run_in({**self.order(), "image": circle}, "/bin/sh").stderr)

    def test_programs_do_not_get_out_of_a_sandbox(self):
        home = Path(self.holder.name, "home")
        (home / ".ssh").mkdir(parents=True, exist_ok=True)
        (home / ".ssh" / "id_ed25519").write_text("secret key")
        other = subprocess.Popen(["sleep", "300"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        isolate = {"network": "none", "memory": 300 << 20, "pids": 40}
        with spare() as port:
            given = {
                "home": str(home),
                "other": other.pid,
                "outside": self.holder.name,
                "port": port,
                "code": str(self.code),
                "root": str(self.image.root),
            }
            done = self.run_in(
                self.order(image=False, isolate=isolate),
                "/usr/bin/python3",
                "-c",
                ESCAPES.read_text(),
                json.dumps(given),
                env={**os.environ, "HOME": str(home), "SSH_AUTH_SOCK": "/tmp/agent"},
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual({name: value for name, value in found.items() if value is not True}, {})
        self.assertIsNone(other.poll())
        self.assertEqual((self.code / "made").read_text(), "inside")

    def test_limits_hold(self):
        isolate = {"network": "host", "memory": 200 << 20, "pids": 30}
        forks = "import os,sys,time\nn=0\ntry:\n  while n<200:\n    if os.fork()==0: time.sleep(30); os._exit(0)\n    n+=1\nexcept OSError: pass\nprint(n)"
        done = self.run_in(self.order(image=False, isolate=isolate), "/usr/bin/python3", "-c", forks)
        self.assertLess(int(done.stdout), 31, done.stderr)
        done = self.run_in(
            self.order(image=False, isolate=isolate),
            "/usr/bin/python3",
            "-c",
            "b = bytearray(1 << 30); print(sum(b[::4096]))",
        )
        self.assertNotEqual(done.returncode, 0)

    def test_a_service_manager_is_believed_only_what_a_scope_of_it_has(self):
        place = Path(self.holder.name, "manager")
        run = place / "bin" / "systemd-run"
        (place / "systemd").mkdir(parents=True, exist_ok=True)
        run.parent.mkdir(exist_ok=True)
        # it takes all settings, as one does that was given no controllers
        run.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
        run.chmod(0o755)
        (place / "systemd" / "private").touch()
        own = place / "cgroup"
        (own / limits.cgroups.own().get("", "/").lstrip("/")).mkdir(parents=True, exist_ok=True)
        env = {"PATH": f"{run.parent}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(place)}
        with (
            mock.patch.dict(os.environ, env),
            mock.patch.object(limits.cgroups, "mounts", lambda: [(own, "cgroup2", [])]),
        ):
            self.assertEqual(limits.by_systemd(), [])
            for name, text in (("memory.max", "1073741824"), ("pids.max", "16"), ("cpu.max", "max 100000")):
                (own / limits.cgroups.own().get("", "/").lstrip("/") / name).write_text(f"{text}\n")
            self.assertEqual(limits.by_systemd(), ["memory", "pids"])
            held = limits.Limits({"network": "host", "memory": 1 << 30, "cpus": 1})
            self.assertEqual(held.held, {"memory": "systemd", "cpus": "process"})
            self.assertEqual(
                held.words(["x"])[:9],
                [
                    str(run),
                    "--user",
                    "--scope",
                    "--quiet",
                    "--collect",
                    "-p",
                    "MemoryMax=1073741824",
                    "-p",
                    "MemorySwapMax=0",
                ],
            )

    def test_only_leased_devices_are_seen_and_a_stale_description_is_told(self):
        folder = Path(self.holder.name, "cdi")
        folder.mkdir(exist_ok=True)
        library = folder / "libcuda.so.550.1.2"
        library.write_text("a library")
        folder.joinpath("nvidia.yaml").write_text(CDI.replace("LIBRARY", str(library)))
        version = folder / "version"
        version.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  560.35.03  Fri Aug 16 2024\n")
        code = f"import sys; from flexrack_node.image import gpus, enter; gpus.PLACES = ({str(folder)!r},); gpus.VERSION = {str(version)!r}; sys.exit(enter.main(sys.argv[1:]))"
        for wanted, seen in ((["GPU-1"], "/dev/nvidia1"), (["0"], "/dev/nvidia0"), ([], "")):
            words = self.words(
                self.order(gpus=wanted),
                "/bin/sh",
                "-c",
                "for d in /dev/nvidia*; do test -c $d && echo $d; done; cat /usr/lib/libcuda.so.1 2>/dev/null && echo && echo $NVIDIA_VISIBLE_DEVICES $LD_LIBRARY_PATH",
            )
            done = subprocess.run(
                [sys.executable, "-c", code, *words[4:]],
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": str(Path(prepare.__file__).resolve().parents[2])},
            )
            more = "\na library\nvoid /usr/lib\n" if wanted else ""
            self.assertEqual(done.stdout, seen + more, done.stderr)
            self.assertEqual("of driver 550.1.2, and 560.35.03 runs" in done.stderr, bool(wanted))

    def test_yaml_beyond_what_is_generated_is_refused(self):
        self.assertEqual(load('a:\n- b: "x: y"\n  c: []\n- d\ne: {}\n'), {"a": [{"b": "x: y", "c": []}, "d"], "e": {}})
        for text in ("a: &x 1\n", "a: |\n  text\n", "- a\nb: c\n", "a: [1, 2]\n"):
            with self.assertRaises(BadYaml):
                load(text)

    def test_our_drivers_want_a_libc_that_is_new_enough(self):
        drivers = Path(self.holder.name, "drivers")
        drivers.mkdir(exist_ok=True)
        drivers.joinpath("libcuda.so.1").write_bytes(b"\0GLIBC_2.28\0GLIBC_2.2.5\0")
        done = self.sh("echo $LD_LIBRARY_PATH", drivers=str(drivers))
        self.assertEqual((done.stdout, done.stderr), (f"{drivers}\n", ""))
        drivers.joinpath("libcuda.so.1").write_bytes(b"\0GLIBC_2.99\0")
        done = self.sh("true", drivers=str(drivers))
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r"it has glibc 2\.\d+, and flexrack's GPU drivers need glibc 2\.99 or newer")
        musl = self.image.add(LayerTar().add("lib/ld-musl-x86_64.so.1", "m").bytes())
        with self.assertRaisesRegex(NodeError, "it has musl"):
            prepare.check_drivers(
                [str(self.image.store.layer(one)) for one in self.image.store.need(musl)["layers"]], str(drivers)
            )

    def test_where_user_namespaces_are_forbidden_the_setting_is_named(self):
        order = json.dumps(self.order())
        script = f"echo 0 >/proc/sys/user/max_user_namespaces && exec {sys.executable} -I -S {Path(prepare.__file__).with_name('enter.py')} {self.image.root} {self.image.environments} '{order}' -- /bin/sh -c true"
        done = subprocess.run(
            ["unshare", "-U", "-r", "sh", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("the sysctl user.max_user_namespaces is 0", done.stderr)
        self.assertIn("sudo sysctl user.max_user_namespaces=", done.stderr)

    def test_what_bubblewrap_says_is_what_forbids_it(self):
        for said, why in (
            ("bwrap: Creating new namespace failed: No space left on device", "no user namespace left"),
            ("bwrap: Can't make overlay mount on /: Invalid argument", "no overlayfs in a user namespace"),
            ("bwrap: No permissions to create new namespace: Operation not permitted", "a container, or a chroot"),
        ):
            self.assertIn(why, runtime.reason(said)[0])

    def test_the_same_holds_for_an_ordinary_account(self):
        if os.geteuid() == 0:
            as_account(self, "test_enter", "test_unpack")


def tagged(mark):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if mark.encode() in Path("/proc", name, "environ").read_bytes().split(b"\0"):
                    found.append(int(name))
            except OSError:
                continue
    return found


if __name__ == "__main__":
    unittest.main()
