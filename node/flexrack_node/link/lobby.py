"""Connections that have not proven who they are, apart from those that have: one thread waits for all of them.

Who listens sends a challenge and gets one line with the proof. Anybody may connect as often as they like and say
nothing: only so many are kept. The oldest of the origin that has the most is closed for a new one, so that they take
the places of each other, and who has the proof ready is let in at once.
"""

import errno
import json
import os
import selectors
import socket
import threading
import time
from contextlib import suppress
from typing import Any, Callable, Dict, List, Optional

from flexrack_node.link.origin import origin_of

MOST = 256  # unproven connections at a time, of all origins
_LONGEST_LINE = 4096
_ACCEPTED_AT_ONCE = 64  # before those are looked at again that are here already
_PAUSE_SECONDS = 0.05  # where no file can be opened, and none is ours to close

# (challenge, what the line says) -> what `admit` gets, or None where it proves nothing; may raise what parsing raises.
Judge = Callable[[str, Any], Any]


class _Pending:
    def __init__(self, connection: socket.socket, origin: bytes) -> None:
        self.connection, self.origin = connection, origin
        self.challenge = os.urandom(16).hex()
        self.line = b""
        self.until = 0.0


class Lobby:
    """For sockets that listen. `admit(connection, verified)` runs in a thread of its own, which owns the connection
    from then on.
    """

    def __init__(
        self,
        key: str,
        judge: Judge,
        admit: Callable[[socket.socket, Any], None],
        patience: float,
        most: int = MOST,
        is_short: bool = False,
    ) -> None:
        """`key`: under which the challenge is sent; `patience`: seconds that the proof may take; `is_short`: where
        there is no thread to be had, `admit` runs in this one, instead of waiting for another.
        """
        self._key, self._judge, self._admit, self._patience, self._most, self._is_short = (
            key,
            judge,
            admit,
            patience,
            most,
            is_short,
        )
        self._waiting: Dict[bytes, Dict[int, _Pending]] = {}  # by origin and file number, the oldest first
        self._count = 0
        self._selector = selectors.DefaultSelector()
        self._closed = threading.Event()
        self._rung, self._bell = socket.socketpair()
        self._selector.register(self._rung, selectors.EVENT_READ, None)
        self._later: List[threading.Thread] = []  # let in, while there were no more threads to be had
        self._thread: Optional[threading.Thread] = None

    def open(self, listening: socket.socket) -> None:
        """Accepts there until `close()`. Several sockets share a thread."""
        listening.setblocking(False)
        self._selector.register(listening, selectors.EVENT_READ, listening)
        if not self._thread:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Before what listens is closed by its owner. Who was let in is not touched."""
        self._closed.set()
        with suppress(OSError):
            self._bell.send(b".")

    def _run(self) -> None:
        while not self._closed.is_set():
            ready = self._selector.select(self._next_timeout())
            for key, _ in ready:  # the proven first: a new one may take a place
                if isinstance(key.data, _Pending):
                    self._read(key.data)
            for key, _ in ready:
                if isinstance(key.data, socket.socket):
                    self._accept(key.data)
            self._end_late()
            self._later = [thread for thread in self._later if not started(thread)]
        for one in [one for crowd in self._waiting.values() for one in crowd.values()]:
            self._drop(one)
        self._selector.close()
        self._rung.close()
        self._bell.close()

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                connection, address = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno in (errno.EBADF, errno.EINVAL):
                    self._closed.set()  # the owner has closed it
                elif not self._evict():  # no more files, or no memory
                    self._closed.wait(_PAUSE_SECONDS)
                return
            if self._count >= self._most:
                self._evict()
            self._greet(_Pending(connection, origin_of(str(address[0]))))

    def _greet(self, one: _Pending) -> None:
        one.connection.setblocking(False)
        one.until = time.monotonic() + self._patience
        self._waiting.setdefault(one.origin, {})[one.connection.fileno()] = one
        self._count += 1
        try:
            self._selector.register(one.connection, selectors.EVENT_READ, one)
            one.connection.send(json.dumps({self._key: one.challenge}).encode() + b"\n")
        except OSError:
            self._drop(one)

    def _read(self, one: _Pending) -> None:
        try:
            data = one.connection.recv(_LONGEST_LINE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        one.line += data
        if not data or len(one.line) > _LONGEST_LINE:
            self._drop(one)
        elif b"\n" in one.line:
            self._decide(one)

    def _decide(self, one: _Pending) -> None:
        line, _, rest = one.line.partition(b"\n")
        verified = None
        # whatever anybody may say
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError):
            # an honest one waits for our own proof
            verified = None if rest else self._judge(one.challenge, json.loads(line))
        if verified is None:
            return self._drop(one)
        self._forget(one)
        one.connection.settimeout(self._patience)
        thread = threading.Thread(target=self._admit, args=(one.connection, verified), daemon=True)
        if started(thread):
            return None
        if self._is_short:
            self._admit(one.connection, verified)
        else:
            self._later.append(thread)

    def _evict(self) -> bool:
        """Closes the oldest of the origin with the most; False where nobody waits."""
        crowd = max(self._waiting.values(), key=len, default=None)
        if not crowd:
            return False
        self._drop(next(iter(crowd.values())))
        return True

    def _end_late(self) -> None:
        now = time.monotonic()
        for crowd in list(self._waiting.values()):
            for one in list(crowd.values()):
                if one.until > now:
                    break  # those after it came later
                self._drop(one)

    def _next_timeout(self) -> Optional[float]:
        if self._later:
            return _PAUSE_SECONDS
        firsts = [next(iter(crowd.values())).until for crowd in self._waiting.values()]
        return max(0.0, min(firsts) - time.monotonic()) if firsts else None

    def _drop(self, one: _Pending) -> None:
        self._forget(one)
        one.connection.close()

    def _forget(self, one: _Pending) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(one.connection)
        crowd = self._waiting.get(one.origin, {})
        if crowd.pop(one.connection.fileno(), None):
            self._count -= 1
        if not crowd:
            self._waiting.pop(one.origin, None)


def started(thread: threading.Thread) -> bool:
    """False where the user or the machine may have no more threads."""
    try:
        thread.start()
        return True
    except RuntimeError:
        return False


def close_listening(listening: socket.socket) -> None:
    """Also wakes the thread that waits there, which would keep the port open for one more connection."""
    with suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)
    listening.close()
