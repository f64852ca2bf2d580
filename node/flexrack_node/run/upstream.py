"""The tracking server of a run: where it is, what opens it, whom to trust there; and how the relay talks to it."""

import http.client
import json
import os
import socket
import ssl
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple, Union
from urllib.parse import urlsplit

Body = Union[bytes, Path]

CONNECT_SECONDS = 2.0
HEAD_NAME = "flexrack-head"  # in the certificate of every head: src/lib/head/types.ts
# A server behind the head says 503 while it restarts, 502 and 504 where it went away in mid-answer.
AWAY_STATUSES = frozenset((502, 503, 504))


class Away(Exception):
    """No answer: not reachable, too slow, or not ready. Whether the call was done is unknown."""


class Upstream:
    """Where calls go, the token for it, and the only certificates (PEM) that are trusted there: without `ca` those
    of the system. Makes connections; shared by all threads."""

    def __init__(self, url: str, authorization: Optional[str], ca: Optional[str] = None) -> None:
        parts = urlsplit(url)
        self.url = url.rstrip("/")
        self.authorization = authorization
        self._secure = parts.scheme == "https"
        self._host = parts.hostname or "127.0.0.1"
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self.tls = tls_context(ca) if self._secure else None
        self.secure_connection = http.client.HTTPSConnection if ca is None else HeadConnection

    def connect(self) -> "Line":
        return Line(self)

    def open(self) -> http.client.HTTPConnection:
        connection = (
            self.secure_connection(self._host, self._port, timeout=CONNECT_SECONDS, context=self.tls)
            if self._secure
            else http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        )
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def path(self, path: str) -> str:
        return self._prefix + path

    def headers(self, headers: Dict[str, str]) -> Dict[str, str]:
        return {**headers, **({"Authorization": self.authorization} if self.authorization else {})}


class HeadConnection(http.client.HTTPSConnection):
    """To the head of a rack: its authority also signs for others, each for its own address, and one may have the head's
    some day. The name is the head's only.
    """

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._context.wrap_socket(self.sock, server_hostname=HEAD_NAME)  # type: ignore[attr-defined]


def upstream_of(tracking: Mapping[str, Any], given: Mapping[str, Any] = {}) -> Upstream:
    """The server of a run's spec {upstream, ca?, own_token, token, authorization}, called with the run's own token, or
    with what the user has for a server of theirs; what a later command has `given`, {upstream, token, ca?}, replaces
    both.
    """
    if given.get("upstream"):
        return Upstream(
            given["upstream"],
            f"Bearer {given['token']}" if given.get("token") else own_authorization(tracking),
            given.get("ca"),
        )
    return Upstream(tracking["upstream"], own_authorization(tracking), tracking.get("ca"))


def own_authorization(tracking: Mapping[str, Any]) -> Optional[str]:
    return f"Bearer {tracking['token']}" if tracking.get("own_token") else tracking.get("authorization")


def tls_context(ca: Optional[str]) -> ssl.SSLContext:
    """Verifies the server's certificate and name: with the authorities in `ca` and no others, or with the system's."""
    if ca is None:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # verifies both by default
    context.load_verify_locations(cadata=ca)
    return context


class Line:
    """One kept connection; for one thread."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._connection: Optional[http.client.HTTPConnection] = None

    def send(
        self, method: str, path: str, headers: Dict[str, str], body: Body, seconds: float
    ) -> http.client.HTTPResponse:
        """Sends a call; `seconds` bounds each wait for the other side. Raises Away. The answer must be read to its end."""
        if self._connection is not None and gone(self._connection.sock):
            self.close()
        try:
            return self._send(method, path, headers, body, seconds)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Away(describe(error)) from error

    def ask(self, path: str, question: Any, seconds: float, most: int) -> Tuple[int, bytes]:
        """POSTs JSON; returns the status and the text of the answer: of one with more than `most` bytes, one more. Raises Away."""
        headers = {"Content-Type": "application/json"}
        answer = self.send("POST", path, headers, json.dumps(question).encode(), seconds)
        try:
            text = answer.read(most + 1)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Away(f"it went away in mid-answer ({type(error).__name__})") from error
        if answer.will_close or len(text) > most:
            self.close()
        return answer.status, text

    def _send(
        self, method: str, path: str, headers: Dict[str, str], body: Body, seconds: float
    ) -> http.client.HTTPResponse:
        if self._connection is None:
            self._connection = self._upstream.open()
        self._connection.sock.settimeout(seconds)
        headers = self._upstream.headers(headers)
        if isinstance(body, Path):
            with open(body, "rb") as file:
                self._connection.request(
                    method, self._upstream.path(path), file, {**headers, "Content-Length": str(os.path.getsize(body))}
                )
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
    """True if the other side closed a kept connection: then nothing may be sent on it, as it could not be told what
    became of it.
    """
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
