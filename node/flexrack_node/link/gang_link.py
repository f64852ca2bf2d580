"""One line of JSON at a time between the supervisors of a run, every line authenticated by the run's secret.

Both sides prove that they know the secret (HMAC-SHA256 over fresh nonces) before anything else, and every line carries
a MAC over its direction and number, so that nobody on the way can add, change or repeat one. Nothing here is secret by
itself.
"""

import hashlib
import hmac
import json
import os
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Optional, Tuple

from flexrack_node.base.boot import boot_time
from flexrack_node.link.lobby import Lobby, close_listening

if TYPE_CHECKING:
    from flexrack_node.schema.gang import LinkHello, LinkNonce, LinkProof

_MAX_LINE = 4 * 1024 * 1024
BEAT_SECONDS = 3.0
SILENT_SECONDS = 12.0  # of nothing at all from the other side: the link is lost
_SLEEP_TICK = 0.5


class Sleep:
    """Notices that this process, or its machine, has stood still: then what it reads may be old, and what others
    believed of it is over.
    """

    def __init__(self) -> None:
        self.longest = 0.0  # seconds
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        seen = boot_time()
        while not self._closed.wait(_SLEEP_TICK):
            self.longest, seen = max(self.longest, boot_time() - seen - _SLEEP_TICK), boot_time()


class LinkLost(Exception):
    """The connection ended, was silent for too long, or carried something that is not ours."""


class Link:
    """An authenticated connection. `send` may be called from any thread; one thread calls `receive`."""

    def __init__(self, connection: socket.socket, key: bytes, is_leader: bool) -> None:
        self._connection = connection
        self._key = key
        self._out, self._in = (b"L", b"M") if is_leader else (b"M", b"L")
        self._sent = self._received = 0
        self._buffer = b""
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.heard = boot_time()  # when the last line came, a beat or more
        connection.settimeout(SILENT_SECONDS)
        threading.Thread(target=self._beat, daemon=True).start()

    def send(self, value: Any) -> bool:
        """False where the link is lost: the receiving side will find out by itself."""
        body = json.dumps(value, separators=(",", ":")).encode()
        with self._lock:
            line = self._mac(self._out, self._sent, body) + b" " + body + b"\n"
            self._sent += 1
            try:
                self._connection.sendall(line)
                return True
            except OSError:
                self.close()
                return False

    def receive(self) -> Any:
        """The next value; beats are swallowed. Raises LinkLost."""
        while True:
            line = _read_line(self._connection, self)
            mac, _, body = line.partition(b" ")
            if not hmac.compare_digest(mac, self._mac(self._in, self._received, body)):
                self.close()
                raise LinkLost("a line with a wrong authentication code")
            self._received += 1
            self.heard = boot_time()
            value = json.loads(body)
            if value != "beat":
                return value

    def abort(self) -> None:
        """Closes it so that nothing that was sent before can still arrive: after this the other side hears no more of
        us.
        """
        try:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
        self.close()

    def close(self) -> None:
        self._closed.set()
        try:
            self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._connection.close()

    def _mac(self, direction: bytes, number: int, body: bytes) -> bytes:
        return hmac.new(self._key, direction + b"%d " % number + body, hashlib.sha256).hexdigest().encode()

    def _beat(self) -> None:
        while not self._closed.wait(BEAT_SECONDS):
            self.send("beat")


class Listener:
    """The leader's side: accepts members for as long as it is open."""

    def __init__(
        self, address: str, secret: str, on_member: Callable[[str, Link, "LinkHello"], None], port: int = 0
    ) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.create_server((address, port), family=family, backlog=1024)
        self.port: int = self._socket.getsockname()[1]
        self._secret = secret.encode()
        self._on_member = on_member
        self._lobby = Lobby("nonce", self._judge, self._welcome, SILENT_SECONDS)
        self._lobby.open(self._socket)

    def close(self) -> None:
        self._lobby.close()
        close_listening(self._socket)

    def _judge(self, ours: str, hello: "LinkHello") -> "Optional[Tuple[LinkHello, str]]":
        """Who proves that it is a member, with the nonces of both; anybody else is dropped without an answer."""
        nonces = ours + hello["nonce"]
        if not hmac.compare_digest(hello["proof"], _proof(self._secret, "member", nonces, hello["node"])):
            return None
        float(hello["clock"])
        return hello, nonces

    def _welcome(self, connection: socket.socket, verified: "Tuple[LinkHello, str]") -> None:
        hello, nonces = verified
        try:
            proof: LinkProof = {"proof": _proof(self._secret, "leader", nonces, hello["node"])}
            connection.sendall(json.dumps(proof).encode() + b"\n")
            self._on_member(hello["node"], Link(connection, _session_key(self._secret, nonces), True), hello)
        except (OSError, ValueError, KeyError, TypeError, LinkLost):
            connection.close()


def join(address: str, port: int, secret: str, node: str, timeout: float) -> Link:
    """The member's side. Raises LinkLost, or ConnectionRefusedError where nobody listens there."""
    key = secret.encode()
    try:
        connection = socket.create_connection((address, port), timeout=timeout)
    except ConnectionRefusedError:
        raise
    except OSError as error:
        raise LinkLost(str(error)) from None
    try:
        challenge: LinkNonce = json.loads(_read_line(connection, None))
        ours = os.urandom(16).hex()
        nonces = challenge["nonce"] + ours
        hello: LinkHello = {
            "node": node,
            "nonce": ours,
            "clock": time.time(),
            "proof": _proof(key, "member", nonces, node),
        }
        connection.sendall(json.dumps(hello).encode() + b"\n")
        answer: LinkProof = json.loads(_read_line(connection, None))
        if not hmac.compare_digest(answer["proof"], _proof(key, "leader", nonces, node)):
            raise LinkLost("the other side is not this run's leader")
        return Link(connection, _session_key(key, nonces), False)
    except (OSError, ValueError, KeyError, TypeError) as error:
        connection.close()
        raise LinkLost(f"no understanding with the leader: {error!r}") from None
    except LinkLost:
        connection.close()
        raise


def _proof(secret: bytes, side: str, nonces: str, node: str) -> str:
    return hmac.new(secret, f"flexrack gang {side} {nonces} {node}".encode(), hashlib.sha256).hexdigest()


def _session_key(secret: bytes, nonces: str) -> bytes:
    return hmac.new(secret, b"flexrack gang session " + nonces.encode(), hashlib.sha256).digest()


def _read_line(connection: socket.socket, link: Optional[Link]) -> bytes:
    """One line. Before authentication it is read byte by byte, so that nothing of what follows is swallowed."""
    buffer = link._buffer if link else b""
    deadline = time.monotonic() + SILENT_SECONDS
    while b"\n" not in buffer:
        if link is None and time.monotonic() > deadline:  # a byte now and then is not news
            raise LinkLost("an unproved caller that takes too long")
        try:
            chunk = connection.recv(65536 if link else 1)
        except OSError as error:
            raise LinkLost(str(error) or "silence") from None
        if not chunk:
            raise LinkLost("the connection was closed")
        buffer += chunk
        if len(buffer) > (_MAX_LINE if link else 4096):
            raise LinkLost("a line without an end")
    line, _, rest = buffer.partition(b"\n")
    if link:
        link._buffer = rest
    return line
