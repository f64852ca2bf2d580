"""A workspace as a host of SSH: its key, what sshd is told, what is ended with a connection, terminals of ordinary
users. The whole of it with ssh: test/e2e/workspace-ssh-host.test.ts.
"""

import io
import os
import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.workspace import ssh_host, ssh_session, ssh_terminal
from flexrack_node.workspace.folder import WorkspaceFolder
from waiting import until

KEY = "ssh-ed25519 " + "A" * 68
PROGRAM = Path(ssh_terminal.__file__).resolve().parents[2]


class SshHostTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="flexrack ssh %h "))  # what sshd reads in a path
        self.addCleanup(shutil.rmtree, self.root)
        self.place = WorkspaceFolder(self.root, "digits")
        self.place.make(self.root)
        self.channel = Channel(self.root, self.root / "environments", io.BytesIO())

    def ask(self, **request):
        return ssh_host.prepare({"project": "digits", **request}, self.channel)

    def test_the_host_key_is_made_once_and_only_if_it_is_to_be(self):
        self.assertIsNone(self.ask(dry_run=True)["host_key"])
        self.assertFalse(self.place.ssh.exists())
        first = self.ask()["host_key"]
        self.assertRegex(first, "^ssh-ed25519 [A-Za-z0-9+/=]+$")
        self.assertEqual([self.ask()["host_key"], self.ask(dry_run=True)["host_key"]], [first, first])
        self.assertEqual(
            [(self.place.ssh / "host_key").stat().st_mode & 0o777, self.place.ssh.stat().st_mode & 0o777],
            [0o600, 0o700],
        )

    def test_a_making_that_was_cut_short_is_done_again(self):
        self.place.ssh.mkdir()
        (self.place.ssh / "host_key").write_text("half")
        self.assertIsNone(self.ask(dry_run=True)["host_key"])
        self.assertRegex(self.ask()["host_key"], "^ssh-ed25519 ")

    def test_without_a_workspace_there_is_no_host(self):
        with self.assertRaises(NodeError) as caught:
            ssh_host.prepare({"project": "other"}, self.channel)
        self.assertEqual(caught.exception.code, "NOT_FOUND")

    def test_sshd_takes_the_configuration_whatever_the_path_and_the_environment(self):
        self.ask()
        folder = self.place.ssh / "session-1"
        folder.mkdir()
        value = "two\nlines 'and' $(quotes)"
        config = ssh_session.write_files(
            self.place,
            folder,
            {"project": "digits", "key": KEY, "env": {"ODD": value, "NO;T": "x"}, "script": 'printf %s "$ODD"'},
        )
        told = subprocess.run([ssh_host.find_sshd(), "-T", "-f", str(config)], capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn(f"authorizedkeysfile {str(folder / 'authorized_keys').replace('%', '%%')}\n", told.stdout)
        self.assertIn("passwordauthentication no\n", told.stdout)
        command = next(line for line in told.stdout.splitlines() if line.startswith("forcecommand "))[
            len("forcecommand ") :
        ]
        self.assertEqual(
            subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True).stdout, value
        )
        self.assertEqual({file.stat().st_mode & 0o077 for file in folder.iterdir()}, {0})

    def test_an_order_brings_a_key_and_nothing_else_into_authorized_keys(self):
        for key in ("ssh-rsa AAAA", f"{KEY}\n{KEY}", f'command="evil" {KEY}'):
            read, write = os.pipe()
            os.write(
                write,
                f'{{"project": "digits", "env": {{}}, "script": "", "key": {ssh_session.json.dumps(key)}}}\n'.encode(),
            )
            os.close(write)
            with (
                mock.patch("os.read", lambda _descriptor, count, real=os.read: real(read, count)),
                self.assertRaises(NodeError),
            ):
                ssh_session.read_order()
            os.close(read)

    def test_what_a_killed_process_left_is_removed_and_a_living_connection_is_not(self):
        self.ask()
        for name in ("session-dead", "session-alive"):
            (self.place.ssh / name).mkdir()
            (self.place.ssh / name / "lock").touch()
        with open(self.place.ssh / "session-alive" / "lock") as held:
            ssh_session.fcntl.flock(held, ssh_session.fcntl.LOCK_EX)
            ssh_session.tidy(self.place)
            self.assertEqual(sorted(one.name for one in self.place.ssh.glob("session-*")), ["session-alive"])

    def test_ends_what_writes_to_the_connection_also_where_it_does_not_want_to(self):
        env = {**os.environ, ssh_session.TAG: "session-x"}
        for streams in (os.pipe, sockets):  # as sshd gives them
            here, there = streams()
            stubborn = subprocess.Popen(
                ["sh", "-c", "trap '' TERM PIPE; trap : HUP; while :; do sleep 0.1; done"],
                stdin=subprocess.DEVNULL,
                stdout=there,
                stderr=there,
                env=env,
            )
            away = subprocess.Popen(
                ["sleep", "600"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=env,
            )
            piped = subprocess.Popen(
                ["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
            )
            deaf = subprocess.Popen(
                ["nohup", "sleep", "600"], stdin=subprocess.DEVNULL, stdout=there, stderr=there, env=env
            )
            other = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=there, stderr=there)
            self.addCleanup(piped.stdout.close)
            for one in (away, piped, deaf, other):
                self.addCleanup(one.wait)
                self.addCleanup(one.kill)
            for end in (here, there):
                os.close(end)
            until(lambda: ssh_session.ignores_hangup(deaf.pid))
            with mock.patch.multiple(ssh_session, _HUP_SECONDS=0.2, _TERM_SECONDS=0.3):
                ssh_session.end_orphans("session-x")
            self.assertEqual(stubborn.wait(10), -9)
            self.assertEqual([one.poll() for one in (away, piped, deaf, other)], [None] * 4)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can be another user")
    def test_an_ordinary_user_gets_a_terminal_where_devpts_has_no_group(self):
        source = (
            f"import sys; sys.path.insert(0, {str(PROGRAM)!r})\nimport grp, os, pathlib\nfrom flexrack_node.workspace import ssh_terminal\n"
            "before = ssh_terminal.are_refused()\ntry:\n    ssh_terminal.hide_group(pathlib.Path(sys.argv[1]))\n"
            "except OSError as error:\n    print('no namespaces', error); sys.exit()\n"
            "print(before, ssh_terminal.are_refused(), 'tty' in [one.gr_name for one in grp.getgrall()], 'root' in [one.gr_name for one in grp.getgrall()])"
        )
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            done = subprocess.run(
                [
                    "setpriv",
                    "--reuid=65534",
                    "--regid=65534",
                    "--clear-groups",
                    "/usr/bin/python3",
                    "-I",
                    "-c",
                    source,
                    f"{folder}/group",
                ],
                capture_output=True,
                text=True,
            )
        if done.stdout.startswith("no namespaces"):
            self.skipTest(done.stdout)
        self.assertRegex(done.stdout, "^(True|False) False False True\n$", done.stderr)


def sockets():
    pair = socket.socketpair()
    return pair[0].detach(), pair[1].detach()


if __name__ == "__main__":
    unittest.main()
