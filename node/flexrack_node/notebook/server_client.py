"""Jupyter's REST interface, over its unix socket. Looking is no activity: /api/status never is, and the others are told
so.
"""

import http.client
import json
import socket
from typing import Any, Optional


class ServerClient:
    def __init__(self, path: str, token: str) -> None:
        self._path = path
        self._token = token

    def ask(self, path: str, method: str = "GET") -> Any:
        """What it answers, as JSON; None for an answer without content. Raises OSError where it does not answer, or
        refuses.
        """
        connection = _Connection(self._path)
        try:
            connection.request(method, path, headers={"Authorization": f"token {self._token}", "Host": "localhost"})
            answer = connection.getresponse()
            text = answer.read()
        except http.client.HTTPException as error:
            raise OSError(f"not an answer of HTTP: {error!r}") from error
        finally:
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
            return isinstance(self.ask("/api"), dict)
        except OSError:
            return False


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=10)
        self._socket_path = path
        self.sock: Optional[socket.socket] = None

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._socket_path)
