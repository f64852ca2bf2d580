"""Connections between the nodes of a preflight: a listener that talks only to who proves to know the preflight's
secret.

Both sides prove it (HMAC-SHA256 over the listener's fresh challenge), so an unknown caller gets nothing but the
challenge, and a port that is somebody else's is not taken for a node. One JSON line each, then what was asked for:

    listener  WayChallenge     (protocol/preflight_link.json)
    caller    WayHello
    listener  WayProof
    reach     LARGE bytes from the caller, as many back: packets of full size pass both ways
    flood     bytes from the caller until the listener says FloodCount: what came in the later part of the time
"""

import hashlib
import hmac
import json
import select
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Callable, Dict, List, Literal, Optional, Tuple, TypeVar, Union

from flexrack_node.link.lobby import Lobby, close_listening, started

if TYPE_CHECKING:
    from flexrack_node.schema.preflight import FloodAnswer, WayAnswer
    from flexrack_node.schema.preflight_link import FloodCount, WayChallenge, WayHello, WayProof

T = TypeVar("T")

LARGE = 16384  # bytes; more than any packet on a wire (a jumbo frame is 9000)
CONNECT_SECONDS = 3.0  # a lost first packet is repeated after one second
ANSWER_SECONDS = 2.0
_MOST_CONNECTIONS = 512  # at once; more are closed without a word
_LINE = 1024
_PIECE = 1 << 20
_RAMP = 0.3  # share of a flood that is not counted: TCP finds out what the way carries


class Unverified(Exception):
    """The other side does not prove that it belongs to this preflight."""


class Listener:
    """Answers on ports of one address until closed, or until `seconds` have passed, whatever happens to who opened it."""

    def __init__(self, address: str, node: str, secret: str, seconds: float) -> None:
        self._address, self._node, self._secret = address, node, secret
        self._sockets: List[socket.socket] = []
        self._slots = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._lobby = Lobby("challenge", self._judge, self._welcome, ANSWER_SECONDS, is_short=True)
        self._timer = threading.Timer(seconds, self.close)
        self._timer.daemon = True
        self._timer.start()

    def open(self, port: int = 0) -> int:
        """One more port (0: any of those for outgoing connections). Raises OSError."""
        opened = socket.create_server((self._address, port), family=family_of(self._address), backlog=1024)
        found = int(opened.getsockname()[1])
        self._sockets.append(opened)
        self._lobby.open(opened)
        return found

    def close(self) -> None:
        self._timer.cancel()
        self._lobby.close()
        for one in self._sockets:
            close_listening(one)

    def _judge(self, challenge: str, hello: "WayHello") -> Optional[Tuple[str, str, float]]:
        """(our proof, what is asked, seconds), or None for one that proves nothing."""
        if hello["listener"] != self._node or not hmac.compare_digest(
            hello["proof"], _proof(self._secret, "caller", challenge, hello["caller"], hello["listener"])
        ):
            return None
        return (
            _proof(self._secret, "listener", challenge, hello["caller"], hello["listener"]),
            hello["what"],
            float(hello["seconds"]),
        )

    def _welcome(self, connection: socket.socket, verified: Tuple[str, str, float]) -> None:
        proof, what, seconds = verified
        if not self._slots.acquire(blocking=False):
            return connection.close()
        try:
            _send(connection, {"proof": proof})
            if what == "flood":
                _take_flood(connection, min(seconds, 2.0))
            else:
                connection.sendall(_exactly(connection, LARGE))
        except (OSError, ValueError, KeyError, TypeError):
            pass  # the caller has gone: it is the caller that tells
        finally:
            connection.close()
            self._slots.release()


def reach(own: Tuple[str, str], peer: Tuple[str, str, int], secret: str) -> "WayAnswer":
    """Own (node, address), peer's (node, address, port)."""
    began = time.monotonic()
    try:
        connection = _connect(own[1], peer)
    except OSError as error:
        return _failure(error)
    passed = time.monotonic() - began
    with connection:
        try:
            _introduce(connection, own[0], peer[0], secret, "reach")
        except socket.timeout:
            return {"error": "mute", "text": "it accepts the connection and then says nothing"}
        except (OSError, ValueError, KeyError, TypeError, Unverified):
            return {"error": "unverified", "text": "something else answers there"}
        try:
            connection.sendall(bytes(LARGE))
            _exactly(connection, LARGE)
        except OSError:
            return {"error": "large", "text": "short messages pass, long ones do not"}
    return {"ms": round(passed * 1000, 3)}


def flood(own: Tuple[str, str], peer: Tuple[str, str, int], secret: str, seconds: float) -> "FloodAnswer":
    """Sends as fast as the way takes it; what came of it."""
    try:
        connection = _connect(own[1], peer)
    except OSError as error:
        failure = _failure(error)
        return {"error": failure["error"], "text": failure["text"]}
    with connection:
        try:
            _introduce(connection, own[0], peer[0], secret, "flood", seconds)
            answer = _give_flood(connection, time.monotonic() + seconds + 1.5)
            return {"bytes": int(answer["bytes"]), "seconds": float(answer["seconds"])}
        except (OSError, ValueError, KeyError, TypeError, Unverified) as error:
            return {"error": "mute", "text": f"the transfer broke off: {error}"}
        finally:  # what still waits to be sent is of no use to anybody: drop it
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def at_once(jobs: Dict[str, Callable[[], T]]) -> Dict[str, T]:
    """Half of the jobs at a time, 32 at least; all results by name. Their patience begins when they do, so that a crowd
    does not use it up by waiting.
    """
    found: Dict[str, T] = {}
    left = list(jobs.items())

    def work() -> None:
        while True:
            try:
                name, job = left.pop()  # atomic: threads share the list
            except IndexError:
                return
            found[name] = job()

    threads = [
        threading.Thread(target=work, daemon=True) for _ in range(min(len(left), max(32, (len(left) + 1) // 2)) - 1)
    ]
    begun = [thread for thread in threads if started(thread)]  # with fewer there are fewer at a time, and nothing fails
    work()
    for thread in begun:
        thread.join()
    return found


def family_of(address: str) -> int:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def _connect(own: str, peer: Tuple[str, str, int]) -> socket.socket:
    """From the address that the ranks will use. Raises OSError."""
    return socket.create_connection((peer[1], peer[2]), timeout=CONNECT_SECONDS, source_address=(own, 0))


def _introduce(
    connection: socket.socket, node: str, peer: str, secret: str, what: 'Literal["reach", "flood"]', seconds: float = 0
) -> None:
    """Raises Unverified, OSError, or what comes of reading something that is not ours."""
    connection.settimeout(ANSWER_SECONDS)
    greeting: WayChallenge = json.loads(_line(connection))
    challenge = greeting["challenge"]
    _send(
        connection,
        {
            "caller": node,
            "listener": peer,
            "what": what,
            "seconds": seconds,
            "proof": _proof(secret, "caller", challenge, node, peer),
        },
    )
    answer: WayProof = json.loads(_line(connection))
    if not hmac.compare_digest(answer["proof"], _proof(secret, "listener", challenge, node, peer)):
        raise Unverified("wrong proof")


def _give_flood(connection: socket.socket, deadline: float) -> "FloodCount":
    piece = memoryview(bytes(_PIECE))
    connection.setblocking(False)
    poll = select.poll()
    poll.register(connection, select.POLLIN | select.POLLOUT)
    while time.monotonic() < deadline:
        for _, events in poll.poll(100):
            if events & (select.POLLIN | select.POLLERR | select.POLLHUP):
                connection.settimeout(ANSWER_SECONDS)
                found: FloodCount = json.loads(_line(connection))
                return found
            try:
                connection.send(piece)
            except BlockingIOError:
                pass
    raise OSError("no answer")


def _take_flood(connection: socket.socket, seconds: float) -> None:
    """Counts what comes in the later part of `seconds`; goes on swallowing until the caller closes, so that the answer
    arrives.
    """
    buffer = bytearray(_PIECE)
    connection.settimeout(seconds)
    began = time.monotonic()
    counting, end, count = began + seconds * _RAMP, began + seconds, 0
    while True:
        connection.settimeout(max(0.001, end - time.monotonic()))
        try:
            size = connection.recv_into(buffer)
        except socket.timeout:
            break
        now = time.monotonic()
        if not size:
            return
        if now >= counting:
            count += size
        if now >= end:
            break
    passed = time.monotonic() - counting
    connection.settimeout(ANSWER_SECONDS)
    _send(connection, {"bytes": count, "seconds": round(passed, 6)})
    connection.settimeout(0.5)
    try:
        while connection.recv_into(buffer):
            pass
    except OSError:
        pass


def _failure(error: OSError) -> "WayAnswer":
    if isinstance(error, socket.timeout):
        return {"error": "silent", "text": f"no answer within {CONNECT_SECONDS:g} s"}
    if isinstance(error, ConnectionRefusedError):
        return {"error": "refused", "text": "refused"}
    return {"error": "route", "text": error.strerror or str(error)}


def _proof(secret: str, side: str, challenge: str, caller: str, listener: str) -> str:
    return hmac.new(
        secret.encode(), f"flexrack preflight {side} {challenge} {caller} {listener}".encode(), hashlib.sha256
    ).hexdigest()


def _send(connection: socket.socket, value: "Union[WayHello, WayProof, FloodCount]") -> None:
    connection.sendall(json.dumps(value, separators=(",", ":")).encode() + b"\n")


def _line(connection: socket.socket) -> bytes:
    """One short line within ANSWER_SECONDS; what follows it is left there, and a byte now and then does not count as
    talking.
    """
    found, deadline = b"", time.monotonic() + ANSWER_SECONDS
    while not found.endswith(b"\n"):
        ahead = connection.recv(_LINE, socket.MSG_PEEK)
        if not ahead or len(found) > _LINE:
            raise ConnectionError("no line")
        if time.monotonic() > deadline:
            raise socket.timeout("too slow")
        found += connection.recv(ahead.find(b"\n") + 1 or len(ahead))
    return found


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        piece = connection.recv(size - len(found))
        if not piece:
            raise ConnectionError("closed early")
        found += piece
    return bytes(found)
