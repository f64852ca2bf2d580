"""What a member ends up with when it is welcomed at the moment in which the leader wants something new."""

import threading
import time
import unittest

from flexrack_node.gang.member_links import MemberLinks
from flexrack_node.link.gang_link import join
from flexrack_node.run.rules import takes_over
from waiting import LONG, until


class Folder:
    """Stands for the run's folder: writing down that a node has joined takes a while, and `meanwhile` happens in it."""

    def __init__(self):
        self.meanwhile = lambda: None
        self.written = threading.Event()

    def event(self, _kind, **_fields):
        self.meanwhile()
        self.written.set()


class RollTest(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.links = MemberLinks(
            self.folder, {"node": "a", "nodes": ["a", "b"], "gang": {"address": "127.0.0.1", "secret": "s"}}
        )
        self.port = self.links.listen()
        self.addCleanup(self.links.close)

    def test_an_earlier_word_that_comes_later_changes_nothing(self):
        self.folder.meanwhile = lambda: self.links.set_desired({"phase": "run", "attempt": 1})
        link = join("127.0.0.1", self.port, "s", "b", LONG)
        self.addCleanup(link.close)
        reported = [link.receive(), link.receive()]
        # else the test does not make what it is about
        self.assertEqual([one["phase"] for one in reported], ["run", "wait"])
        desired = {"phase": "wait", "attempt": 0}
        for one in reported:
            desired = one if takes_over(desired, one) else desired
        self.assertEqual((desired["phase"], desired["attempt"]), ("run", 1))

    def test_what_is_wanted_is_newer_each_time_and_who_is_out_stays_out(self):
        self.links.set_desired({"phase": "run", "attempt": 1})
        first = self.links.desired
        self.links.set_desired({**first, "dump": 1})
        self.assertTrue(takes_over(first, self.links.desired))
        self.assertFalse(takes_over(self.links.desired, first))
        self.assertFalse(takes_over({"phase": "out", "attempt": 1, "serial": 1}, self.links.desired))

    def test_a_clock_is_known_as_well_as_by_the_word_that_took_least(self):
        link = join("127.0.0.1", self.port, "s", "b", LONG)
        self.addCleanup(link.close)
        self.assertTrue(self.folder.written.wait(LONG))
        ahead = 1000.0
        for late in (700.0, 0.0, 300.0):
            link.send({"attempt": int(late), "clock": time.time() + ahead - late})
            until(lambda: self.links.observed("b").get("attempt") == int(late))
        self.assertAlmostEqual(self.links.clocks["b"], -ahead, delta=299.0)
        self.assertNotIn("clock", self.links.observed("b"))
        # It is set back: words of before count no longer.
        for number in range(16):
            link.send({"attempt": number, "clock": time.time() - ahead})
        until(lambda: self.links.observed("b").get("attempt") == 15)
        self.assertAlmostEqual(self.links.clocks["b"], ahead, delta=299.0)
