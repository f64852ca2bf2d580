"""Connections to the relay that have not shown the run's token: only so many, so that they use up no file or thread
that the supervisor needs.

Everybody on the machine can connect there. The oldest gives way to a new one; who has shown the token once stays.
"""

import contextlib
import socket
import threading
from http.server import ThreadingHTTPServer
from typing import Any, Dict

MOST = 128


class PendingConnections:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._waiting: Dict[int, socket.socket] = {}  # by file number, the oldest first

    def enter(self, connection: socket.socket) -> None:
        with self._lock:
            if len(self._waiting) >= self._most:
                self._cut_oldest()
            self._waiting[connection.fileno()] = connection

    def leave(self, connection: socket.socket) -> None:
        """It has shown the token, or ends. Call it before the connection is closed: its number is another one's then."""
        with self._lock:
            if self._waiting.get(connection.fileno()) is connection:
                del self._waiting[connection.fileno()]

    def give_way(self) -> None:
        """There are no files left to be opened: one of theirs is closed."""
        with self._lock:
            self._cut_oldest()

    def _cut_oldest(self) -> None:
        """Its own thread closes it, which waits for nothing any more."""
        for number in list(self._waiting)[:1]:
            with contextlib.suppress(OSError):
                self._waiting.pop(number).shutdown(socket.SHUT_RDWR)


class Server(ThreadingHTTPServer):
    """A thread a connection; the handler tells `pending` who has shown the token."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        self.pending = PendingConnections()
        super().__init__(*arguments)

    def get_request(self) -> Any:
        try:
            return super().get_request()
        except OSError:
            self.pending.give_way()
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        self.pending.enter(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.pending.leave(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in mid-call is no news."""
