"""Who has no key, at a live daemon: whatever bytes they send, it serves on."""

import random
import socket
import struct
import subprocess
import unittest

from servers import BUILD, Attached, Daemon, run, wait_until

STREAMS = 1000


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(devices=1)
        cls.addClassCleanup(cls.daemon.stop)

    def say(self, data, close=True, unix=False):
        """Sends, and reads what comes for a moment. The daemon may close whenever it likes."""
        link = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        link.settimeout(0.02)
        try:
            link.connect(
                self.daemon.address["unix"] if unix else (self.daemon.address["address"], self.daemon.address["port"])
            )
            link.sendall(data)
            if close:
                link.shutdown(socket.SHUT_WR)
            link.recv(4096)
        except OSError:
            pass
        if close:
            link.close()
        return link

    def serves(self):
        with Attached([self.daemon], "tls") as attached:
            code, out, err = run([BUILD / "fault" / "load", 2, 65536], attached.env)
            self.assertEqual((code, out.splitlines()[-1:]), (0, ["rounds 2"]), err[-3000:] + self.daemon.said()[-3000:])

    def test_a_thousand_random_streams(self):
        generator = random.Random(1)
        with Attached([self.daemon], "tls") as attached:
            known = bytes.fromhex(attached.leases[0]["lease"])
            for number in range(STREAMS):
                noise = generator.randbytes(generator.choice([0, 1, 15, 63, 64, 65, 200, 5000, 70000]))
                # Half of them begin right: the magic, versions, a kind; a lease there is or is not.
                start = struct.pack(
                    "<8sHHBBH",
                    b"FLEXRACK",
                    1,
                    1,
                    generator.randrange(6),
                    generator.randrange(5),
                    generator.randrange(4),
                )
                begin = (
                    b""
                    if number % 2
                    else start
                    + generator.randbytes(8)
                    + (known if number % 4 else generator.randbytes(16))
                    + generator.randbytes(24)
                )
                self.say(begin + noise, unix=number % 5 == 0)
        self.serves()

    def test_connections_that_say_nothing_do_not_keep_others_out(self):
        silent = [self.say(b"FLEX" if number % 2 else b"", close=False) for number in range(100)]
        self.addCleanup(lambda: [link.close() for link in silent])
        self.serves()

    def test_nobody_without_the_lease_gets_in(self):
        def other_key(server):
            return {**server, "key": "00" * 32}

        def other_lease(server):
            return {**server, "lease": "ab" * 16}

        for spoil in (other_key, other_lease):
            for transport in ("tls", "shm"):
                with self.subTest(spoil=spoil.__name__, transport=transport):
                    with Attached([self.daemon], transport) as attached:
                        text = attached.file.read_text()
                        lease = attached.leases[0]
                        server = spoil({"lease": lease["lease"], "key": lease["key"]})
                        attached.file.write_text(
                            text.replace(lease["key"], server["key"]).replace(lease["lease"], server["lease"])
                        )
                        code, out, _ = run([BUILD / "fault" / "load", 1, 4096], attached.env, 60)
                        self.assertNotEqual(code, 0, out)
                        attached.file.write_text(text)
        refused = self.daemon.ask("status")["refused"]
        self.assertGreater(sum(refused.values()), 0, refused)
        self.serves()

    def test_a_lease_that_is_over_lets_nobody_in(self):
        with Attached([self.daemon], "tls") as attached:
            self.daemon.ask("release", lease=attached.leases[0]["lease"])
            code, out, _ = run([BUILD / "fault" / "load", 1, 4096], attached.env, 60)
            self.assertNotEqual(code, 0, out)
        self.serves()

    def test_secrets_are_in_no_log_and_no_command_line(self):
        with Attached([self.daemon], "tls") as attached:
            client = subprocess.Popen(
                [str(BUILD / "fault" / "load"), "0", "4096"],
                env=attached.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self.addCleanup(client.communicate)
            client.stdout.readline()
            key = attached.leases[0]["key"]
            wait_until(self.daemon.workers, 60, "a worker")
            shown = subprocess.run(["ps", "axww", "-o", "args="], capture_output=True, text=True).stdout
            self.assertNotIn(key, shown)
            self.assertNotIn(key, self.daemon.said())
            for pid in [self.daemon.process.pid, *self.daemon.workers()]:
                with open(f"/proc/{pid}/environ", errors="replace") as environ:
                    self.assertNotIn(key, environ.read())
