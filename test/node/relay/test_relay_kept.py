"""What the relay has acknowledged, where the server fails, refuses, or the node's own disk is full."""

import errno
import os
import subprocess
import tempfile
import unittest
from unittest import mock

from flexrack_node.relay import relay as relay_module
from flexrack_node.relay.relay import drain
from flexrack_node.run.upstream import Upstream
from relay_support import LOG, PUT, TAG, TOKEN, RelayCase, Tracking, fail
from waiting import LONG, until


def can_mount():
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], stderr=subprocess.DEVNULL).returncode != 0:
            return False
        return subprocess.run(["umount", folder]).returncode == 0


class KeptTest(RelayCase):
    def test_a_file_that_the_server_fails_at_for_longer_is_still_there_when_it_can_take_it(self):
        data = bytes(range(256)) * 8000
        relay = self.relay()
        self.tracking.stop()
        self.assertEqual(
            self.call("PUT", PUT + "model.bin", data, headers={"Content-Type": "application/octet-stream"})[0], 200
        )
        self.call("POST", TAG, b'{"key":"after"}')
        full = [True]
        self.tracking = Tracking(
            self.tracking.port, lambda path, body: 500 if full[0] and path.startswith(PUT) else None
        )
        self.assertTrue(self.back.wait(LONG))
        self.assertEqual(self.tracking.accepted, [b'{"key":"after"}'])  # what comes later is not kept up
        self.assertEqual(
            [event["event"] for event in self.events], ["tracking.away", "tracking.failed", "tracking.back"]
        )
        self.assertGreater(len(self.tracking.calls), 5)
        full[0] = False
        self.assertEqual(relay.close(20), {"pending": 0, "rejected": 0, "last_rejection": None})
        self.assertTrue(self.tracking.accepted[1:] == [data])
        self.assertEqual([path.name for path in self.spool.glob("body-*")], [])

    def test_what_the_server_failed_at_is_sent_again_by_itself(self):
        full = [True]
        with mock.patch.object(relay_module, "FIRST_ASIDE_SECONDS", 0.2):
            relay = self.relay()
        self.tracking.stop()
        self.call("PUT", PUT + "a", b"a")
        self.tracking = Tracking(self.tracking.port, lambda path, body: 507 if full[0] else None)
        until(lambda: "tracking.failed" in [event["event"] for event in self.events])
        full[0] = False
        until(lambda: self.tracking.accepted == [b"a"])
        until(lambda: not relay.is_away)
        self.assertEqual(relay.close()["rejected"], 0)

    def test_a_file_that_was_refused_for_good_stays_and_can_be_sent_again(self):
        data = bytes(range(256)) * 8000
        relay = self.relay()
        self.tracking.stop()
        self.call("PUT", PUT + "model.bin", data, headers={"Content-Type": "application/octet-stream"})
        self.call("POST", LOG, b'{"key":"loss"}')
        self.tracking = Tracking(self.tracking.port, lambda path, body: 403 if path.startswith(PUT) else None)
        self.assertTrue(self.back.wait(LONG))
        self.assertEqual(relay.close()["rejected"], 1)
        self.tracking.fails = lambda path, body: None
        url = f"http://127.0.0.1:{self.tracking.port}"
        self.assertEqual(drain(self.spool, Upstream(url, f"Bearer {TOKEN}"), 20)["rejected"], 1)  # nobody asked for it
        self.tracking.accepted.clear()
        self.assertEqual(
            drain(self.spool, Upstream(url, f"Bearer {TOKEN}"), 20, refused_too=True),
            {"pending": 0, "rejected": 0, "last_rejection": None},
        )
        self.assertTrue(self.tracking.accepted == [data])
        self.assertEqual([path.name for path in self.spool.glob("body-*")], [])

    def test_a_disk_that_fails_in_mid_replay_is_waited_for(self):
        relay = self.relay()
        self.tracking.stop()
        self.call("POST", LOG, b'{"key":"refused"}')
        for number in range(3):
            self.call("POST", TAG, b'{"step":%d}' % number)
        broken = [True]
        really = os.fsync
        with (
            mock.patch.object(relay_module, "FULL_DISK_PAUSE_SECONDS", 0.05),
            mock.patch(
                "flexrack_node.relay.journal.os.fsync",
                lambda handle: fail(errno.ENOSPC) if broken[0] else really(handle),
            ),
        ):
            self.tracking = Tracking(self.tracking.port)
            until(lambda: "tracking.full" in [event["event"] for event in self.events])
            self.assertEqual((relay.journal.pending, relay.is_away), (4, True))
            broken[0] = False
            self.assertTrue(self.back.wait(LONG))
        self.assertEqual(self.tracking.accepted[-3:], [b'{"step":%d}' % number for number in range(3)])
        self.assertEqual(relay.close()["rejected"], 1)

    @unittest.skipUnless(can_mount(), "a small disk can be mounted by root only")
    def test_on_a_full_disk_a_write_is_refused_or_kept_and_never_lost(self):
        self.spool.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs", str(self.spool)], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.spool)], check=True)
        relay = self.relay()
        self.tracking.stop()
        kept = []
        for number in range(40):
            body = b"%03d" % number + bytes(300_000 if number % 4 else 2_000_000)
            status, answer = self.call(
                "PUT", PUT + str(number), body, headers={"Content-Type": "application/octet-stream"}
            )
            self.assertIn((status, answer.get("error_code")), [(200, None), (400, "RESOURCE_EXHAUSTED")])
            if status == 200:
                kept.append(number)
        self.assertTrue(0 < len(kept) < 40)
        self.tracking = Tracking(self.tracking.port)
        self.assertTrue(self.back.wait(LONG))
        self.assertEqual([int(body[:3]) for body in self.tracking.accepted], kept)
        self.assertEqual(self.call("POST", LOG, b"{}")[0], 200)
        relay.close()
