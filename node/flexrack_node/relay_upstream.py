"""How the relay talks to the tracking server."""
import http.client
import os
import socket
import ssl
from pathlib import Path
from typing import Dict, Optional, Union
from urllib.parse import urlsplit

Body = Union[bytes, Path]

CONNECT_SECONDS = 2.0
# A server behind our door says 503 while it restarts, 502 and 504 where it went away in mid-answer.
AWAY_STATUSES = frozenset((502, 503, 504))


class Away(Exception):
    """No answer: not reachable, too slow, or not ready. Whether the call was done is unknown."""


class Upstream:
    """Where calls go and what opens the door there. Makes connections; shared by all threads."""

    def __init__(self, url: str, authorization: Optional[str]) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or "127.0.0.1"
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._authorization = authorization

    def connect(self) -> "Line":
        return Line(self)

    def open(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=CONNECT_SECONDS)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def path(self, path: str) -> str:
        return self._prefix + path

    def headers(self, headers: Dict[str, str]) -> Dict[str, str]:
        return {**headers, **({"Authorization": self._authorization} if self._authorization else {})}


class Line:
    """One kept connection; for one thread."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._connection: Optional[http.client.HTTPConnection] = None

    def send(self, method: str, path: str, headers: Dict[str, str], body: Body, seconds: float) -> http.client.HTTPResponse:
        """Sends a call; `seconds` bounds each wait for the other side. Raises Away. The answer must be read to its end."""
        if self._connection is not None and gone(self._connection.sock):
            self.close()
        try:
            return self._send(method, path, headers, body, seconds)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Away(describe(error)) from error

    def _send(self, method: str, path: str, headers: Dict[str, str], body: Body, seconds: float) -> http.client.HTTPResponse:
        if self._connection is None:
            self._connection = self._upstream.open()
        self._connection.sock.settimeout(seconds)
        headers = self._upstream.headers(headers)
        if isinstance(body, Path):
            with open(body, "rb") as file:
                self._connection.request(method, self._upstream.path(path), file, {**headers, "Content-Length": str(os.path.getsize(body))})
        else:
            if method not in ("GET", "HEAD"):
                headers["Content-Length"] = str(len(body))
            self._connection.request(method, self._upstream.path(path), body or None, headers)
        answer = self._connection.getresponse()
        if answer.status in AWAY_STATUSES:
            reason = answer.read(2000).decode("utf-8", "replace").strip()
            self.close()
            raise Away(f"HTTP status {answer.status}: {reason[:200]}")
        return answer

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def gone(connection: socket.socket) -> bool:
    """True if the other side closed a kept connection: then nothing may be sent on it, as it could not be told what became of it."""
    try:
        connection.setblocking(False)
        connection.recv(1, socket.MSG_PEEK)
        return True  # closed, or data that nobody asked for
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except (OSError, ValueError):
        return True


def describe(error: Exception) -> str:
    if isinstance(error, socket.timeout):
        return "no answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__
