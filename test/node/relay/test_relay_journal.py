"""The relay's journal: what a crash, a full disk or a kill between any two of its writes leaves."""

import contextlib
import errno
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.relay.journal import Journal, SpoolFull
from relay_support import fail


class JournalTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.spool = Path(folder.name)

    def test_a_line_cut_off_by_a_crash_is_dropped_and_the_others_are_kept(self):
        journal = Journal(self.spool, 1_000_000)
        journal.append("POST", "/a", "application/json", b"1")
        journal.append("POST", "/b", "application/json", b"2")
        journal.close()
        with open(self.spool / "journal.jsonl", "ab") as file:
            file.write(b'{"method":"POST","pa')
        (self.spool / "body-7").write_bytes(b"of a write that was never acknowledged")
        journal = Journal(self.spool, 1_000_000)
        self.assertEqual(journal.pending, 2)
        self.assertFalse((self.spool / "body-7").exists())
        first = journal.first()[0]
        self.assertEqual((first.path, first.inline), ("/a", b"1"))
        journal.taken([first])
        journal.close()
        again = Journal(self.spool, 1_000_000)
        self.assertEqual((again.pending, again.first()[0].path), (1, "/b"))
        again.close()

    def test_only_one_process_at_a_time_opens_a_spool(self):
        journal = Journal(self.spool, 1_000_000)
        with self.assertRaises(OSError):
            Journal(self.spool, 1_000_000)
        journal.close()

    def test_refuses_what_goes_over_the_limit(self):
        journal = Journal(self.spool, 1000, reserve=0)
        with self.assertRaises(SpoolFull):
            journal.append("POST", "/a", "application/json", b"x" * 2000)
        self.assertEqual(journal.first(), [])
        journal.close()

    def test_a_position_of_an_emptied_journal_is_put_right_for_good(self):
        for stale in (b"00000000000000000090", b"90", b"garbage", b"7"):
            with self.subTest(stale):
                spool = self.spool / stale.decode()
                Journal(spool, 1_000_000).close()
                (spool / "position").write_bytes(stale)
                journal = Journal(spool, 1_000_000)
                for name in ("/a", "/b", "/c"):
                    journal.append("POST", name, "application/json", b"1")
                journal.close()
                again = Journal(spool, 1_000_000)
                self.assertEqual([entry.path for entry in again.first(9)], ["/a", "/b", "/c"])
                again.close()

    def test_a_line_that_cannot_be_read_takes_no_other_with_it(self):
        journal = Journal(self.spool, 1_000_000)
        journal.append("POST", "/a", "application/json", b"1")
        journal.close()
        with open(self.spool / "journal.jsonl", "ab") as file:
            file.write(b"\0\0\0\n[1]\n{}\n")
        journal = Journal(self.spool, 1_000_000)
        journal.append("POST", "/b", "application/json", b"2")
        self.assertEqual([entry.method for entry in journal.first(9)], ["POST", "", "", "", "POST"])
        journal.close()

    def test_a_body_that_could_not_be_written_leaves_nothing_and_takes_no_room(self):
        journal = Journal(self.spool, 1_000_000)
        with (
            mock.patch("flexrack_node.relay.journal.os.fdatasync", lambda handle: fail(errno.ENOSPC)),
            self.assertRaises(SpoolFull),
        ):
            journal.append("PUT", "/a", "application/json", b"x" * 500_000)
        self.assertEqual([path.name for path in self.spool.glob("body-*")], [])
        for _ in range(2):
            journal.append("PUT", "/a", "application/json", b"x" * 400_000)
        self.assertEqual(len(journal.first(9)), 2)
        journal.close()

    def test_killed_between_any_two_of_its_writes_it_has_what_was_acknowledged(self):
        """Every effect on the disk is a place to be killed at: those before it are done, those after it are not."""
        effects = 0
        while True:
            spool = self.spool / str(effects)
            death = Death(effects)
            acknowledged, delivered = set(), set()
            with death.patched():
                try:
                    play(spool, acknowledged, delivered)
                except Killed:
                    pass
            death.bury()
            journal = Journal(spool, 10_000_000)
            journal.take_back(lambda status: True)
            entries = journal.first(99)
            for entry in entries:
                if not entry.is_taken():
                    delivered.add(entry.path)
                    self.assertEqual(
                        entry.file.read_bytes() if entry.file else entry.inline, body_of(entry.path), entry.path
                    )
            self.assertLessEqual(acknowledged, delivered, f"killed at effect {effects}")
            if entries:
                journal.taken(entries)
            self.assertEqual([path.name for path in spool.glob("body-*")], [], f"killed at effect {effects}")
            journal.close()
            if death.left > 0:
                break
            effects += 1
        self.assertGreater(effects, 60)


class Killed(BaseException):
    """Not an Exception: no code may catch it, as none runs after a SIGKILL."""


class Death:
    """Ends a program at its n-th effect on the disk, before that is done."""

    EFFECTS = ("write", "pwrite", "ftruncate", "fsync", "fdatasync", "replace", "unlink")

    def __init__(self, after):
        self.left = after
        self.open = []

    def patched(self):
        stack = contextlib.ExitStack()
        for name in self.EFFECTS:
            stack.enter_context(mock.patch.object(os, name, self.counted(getattr(os, name))))
        stack.enter_context(mock.patch("builtins.open", self.opened))
        stack.enter_context(mock.patch.object(Journal, "close", lambda journal: None))
        really = Journal.__init__

        def begin(journal, *arguments):
            self.open.append(journal)
            really(journal, *arguments)

        stack.enter_context(mock.patch.object(Journal, "__init__", begin))
        return stack

    def counted(self, really):
        def effect(*arguments, **options):
            if self.left <= 0:
                raise Killed
            self.left -= 1
            return really(*arguments, **options)

        return effect

    def opened(self, *arguments, **options):
        file = open_for_real(*arguments, **options)
        if ("b" in file.mode and "r" not in file.mode and "w" in file.mode) or "a" in file.mode:
            if self.left <= 0:
                file.close()
                raise Killed
            self.left -= 1
        return file

    def bury(self):
        """The kernel lets go of what a dead process had open."""
        for journal in self.open:
            for name in ("_input", "_guard"):
                if getattr(journal, name, None):
                    getattr(journal, name).close()


def play(spool, acknowledged, delivered):
    """What a relay does with its journal, twice."""
    for number in range(2):
        journal = Journal(spool, 10_000_000)
        journal.take_back(lambda status: status >= 500)
        for name in ("/small", "/large", "/refused", "/refused-large", "/failed-large"):
            path = f"{name}/{number}"
            journal.append("PUT", path, "application/json", body_of(path))
            acknowledged.add(path)
        while journal.first():
            entry = journal.first()[0]
            if "refused" in entry.path or "failed" in entry.path:
                journal.reject(entry, 500 if "failed" in entry.path else 403, "no")
            else:
                delivered.add(entry.path)
                journal.taken([entry])
        journal.append("PUT", f"/last/{number}", "application/json", body_of(f"/last/{number}"))
        acknowledged.add(f"/last/{number}")
        journal._guard.close()


def body_of(path):
    return path.encode() * (40_000 if "large" in path else 1)


open_for_real = open
