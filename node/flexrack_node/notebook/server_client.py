"""Jupyter's REST interface, over its unix socket. Looking is no activity: /api/status never is, and the others are told
so.
"""

import contextlib
import http.client
import json
import socket
import threading
from typing import Any, Optional

_MOST = 4 << 20  # bytes of an answer


class ServerClient:
    """What it answers may be made by whoever can write cells: it is not believed more than that needs."""

    def __init__(self, path: str, token: str) -> None:
        self._path = path
        self._token = token

    def ask(self, path: str, method: str = "GET", seconds: float = 10.0) -> Any:
        """What it answers, as JSON; None for an answer without content. Raises OSError where it does not answer within
        `seconds`, or refuses.
        """
        connection = _Connection(self._path, seconds)
        # A server that sends a byte now and then would never be too late for the socket's own time.
        late = threading.Timer(seconds, connection.end)
        late.start()
        try:
            connection.request(method, path, headers={"Authorization": f"token {self._token}", "Host": "localhost"})
            answer = connection.getresponse()
            text = answer.read(_MOST)
        except http.client.HTTPException as error:
            raise OSError(f"not an answer of HTTP: {error!r}") from error
        finally:
            late.cancel()
            connection.close()
        if answer.status >= 400:
            raise OSError(f"{method} {path}: status {answer.status}")
        try:
            return json.loads(text) if text else None
        except ValueError as error:
            raise OSError(f"{path}: not JSON") from error

    def is_ready(self) -> bool:
        """An answered /api is the only proof: it may say that it runs, and not listen."""
        try:
            return isinstance(self.ask("/api", seconds=2.0), dict)
        except OSError:
            return False


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._socket_path = path
        self.sock: Optional[socket.socket] = None

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._socket_path)

    def end(self) -> None:
        """Whoever waits for it waits no longer; from another thread."""
        link = self.sock
        if link is not None:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
