"""The pause between two looks: who is woken looks at once, and who hears nothing looks seldom."""

import threading
import unittest

from flexrack_node.base import adaptive_poll
from waiting import LONG


class AdaptivePollTest(unittest.TestCase):
    def setUp(self):
        self.waited = []
        self.poll = adaptive_poll.AdaptivePoll()
        event = self.poll._woken
        wait = event.wait
        event.wait = lambda seconds: self.waited.append(seconds) or wait(0)

    def test_it_is_short_while_something_changes_and_for_a_while_after_it(self):
        for changed in (False, True, False):
            self.poll.pause(changed)
        self.assertEqual(self.waited, [adaptive_poll.CALM, adaptive_poll.QUICK, adaptive_poll.QUICK])
        self.poll._busy_until = 0.0
        self.poll.pause(False)
        self.assertEqual(self.waited[-1], adaptive_poll.CALM)

    def test_a_word_before_the_pause_ends_it_and_makes_the_next_ones_short(self):
        self.poll.wake()
        self.poll.pause(False)
        self.poll.pause(False)
        self.assertEqual(self.waited, [adaptive_poll.QUICK, adaptive_poll.QUICK])
        self.assertFalse(self.poll._woken.is_set())

    def test_a_word_in_the_pause_ends_it(self):
        waiting = adaptive_poll.AdaptivePoll()
        calm, adaptive_poll.CALM = adaptive_poll.CALM, 60.0
        self.addCleanup(setattr, adaptive_poll, "CALM", calm)
        thread = threading.Thread(target=lambda: waiting.pause(False))
        thread.start()
        waiting.wake()
        thread.join(LONG)
        self.assertFalse(thread.is_alive())
