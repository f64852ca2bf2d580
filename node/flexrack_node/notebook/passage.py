"""A socket file of a sandbox without network that leads to one GPU daemon on another machine, and nowhere else.

Bytes are passed on as they are: TLS and the proof of the lease's key go from the program to the daemon.
"""

import contextlib
import os
import socket
import threading
from pathlib import Path
from typing import List, Set

_MOST = 64  # connections at once; a program has a few
_PIECE = 1 << 18
_CONNECT_SECONDS = 5.0


class Passage:
    def __init__(self, path: Path, address: str, port: int) -> None:
        """Open from now on, until `close`. Raises OSError."""
        self._path, self._to = path, (address, port)
        self._free = threading.Semaphore(_MOST)
        self._lock = threading.Lock()
        self._open: Set[socket.socket] = set()
        self._closed = False
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(path))
        os.chmod(path, 0o600)
        self._listening.listen(_MOST)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Ends what goes through it, too."""
        with self._lock:
            self._closed = True
            ends: List[socket.socket] = [self._listening, *self._open]
        for one in ends:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            if not self._free.acquire(blocking=False):
                near.close()
                continue
            threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        try:
            with near, socket.create_connection(self._to, _CONNECT_SECONDS) as far:
                far.settimeout(None)
                far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    if self._closed:
                        return
                    self._open.update((near, far))
                try:
                    back = threading.Thread(target=_carry, args=(far, near), daemon=True)
                    back.start()
                    _carry(near, far)
                    back.join()
                finally:
                    with self._lock:
                        self._open.difference_update((near, far))
        except OSError:
            pass  # whoever came sees its connection end
        finally:
            self._free.release()


def _carry(one: socket.socket, other: socket.socket) -> None:
    """Until one has said all, which the other then sees."""
    buffer = bytearray(_PIECE)
    view = memoryview(buffer)
    with contextlib.suppress(OSError):
        while True:
            got = one.recv_into(buffer)
            if got == 0:
                break
            other.sendall(view[:got])
        other.shutdown(socket.SHUT_WR)
        return
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
