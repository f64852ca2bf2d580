"""Anybody on the machine can connect to the relay: what they hold open must take nothing from the run."""

import http.client
import socket
import threading

from flexrack_node.relay.pending_connections import MOST
from relay_support import LOG, TOKEN, RelayCase
from waiting import LONG

BEGUN = [
    b"",
    b"POST " + LOG.encode() + b" HTTP/1.1\r\n",
    b"POST " + LOG.encode() + b" HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n{",
]


class PendingConnectionsTest(RelayCase):
    def test_so_many_that_say_nothing_are_kept_and_who_has_shown_the_token_stays(self):
        relay = self.relay()
        known = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG)
        self.addCleanup(known.close)
        self.assertEqual(self.log(known), 200)
        own = known.sock
        before = threading.active_count()
        connections = [self.unproved(BEGUN[number % len(BEGUN)]) for number in range(MOST + 72)]
        cut = sum(1 for one in connections[:72] if self.is_cut(one))
        self.assertEqual(cut, 72)  # the oldest ones
        self.assertLessEqual(threading.active_count() - before, MOST + 5)
        self.assertEqual(self.call("POST", LOG, b'{"key":"loss"}')[0], 200)
        self.assertEqual(self.log(known), 200)
        self.assertIs(known.sock, own)  # it was not connected anew
        relay.close()

    def unproved(self, says):
        line = socket.create_connection(("127.0.0.1", self.port), timeout=LONG)
        self.addCleanup(line.close)
        line.sendall(says)
        return line

    def is_cut(self, line):
        line.settimeout(LONG)
        try:
            return line.recv(100) == b""
        except ConnectionError:
            return True
        except socket.timeout:
            return False

    def log(self, line):
        line.request(
            "POST", LOG, b'{"key":"loss"}', {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        )
        answer = line.getresponse()
        answer.read()
        return answer.status
