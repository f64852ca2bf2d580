"""How two nodes talk about leases: one request and one answer a connection, by the secret of a pass (gpu/passes.py).

    door    {"challenge": HEX}
    caller  {"pass": ID, "nonce": HEX, "ask": ..., "proof": HEX}
    door    {"sealed": HEX, "mac": HEX}

The proof is of the request, with what both sides have made up for it, so it holds for this connection alone. The answer
may have the key of a lease: it is encrypted with a key that is made for it, and its MAC proves the door to the caller.
Neither side says anything of use to who does not know the secret.
"""

import hashlib
import hmac
import json
import os
import socket
import time
from typing import Any, Dict, Mapping

_MOST = 1 << 20  # bytes of an answer
CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 30.0  # the daemon's own


class Refused(Exception):
    """The door says why in words for people."""


def proof(secret: str, challenge: str, nonce: str, ask: Mapping[str, Any]) -> str:
    return _mac(secret.encode(), f"flexrack gpu door 1 {challenge} {nonce} {_text(ask)}".encode())


def sealed(secret: str, challenge: str, nonce: str, answer: Any) -> bytes:
    """A line. The keys are of this request alone, so each stream is used once."""
    stream, check = _keys(secret, challenge, nonce)
    body = _xor(stream, json.dumps(answer).encode())
    return json.dumps({"sealed": body.hex(), "mac": _mac(check, body)}).encode() + b"\n"


def opened(secret: str, challenge: str, nonce: str, line: bytes) -> Any:
    """What was sealed. Raises ValueError for what is not from the door."""
    stream, check = _keys(secret, challenge, nonce)
    try:
        said = json.loads(line)
        body = bytes.fromhex(said["sealed"])
        if hmac.compare_digest(str(said["mac"]), _mac(check, body)):
            return json.loads(_xor(stream, body))
    except (KeyError, TypeError, RecursionError):
        pass
    raise ValueError("not an answer of the door")


def ask(place: Mapping[str, Any], request: Mapping[str, Any], seconds: float = _ANSWER_SECONDS) -> Any:
    """{node, pass, secret, addresses, port}: the answer of the first that proves to be this door, with `address`, where
    that was. Raises Refused, or OSError where there is none.
    """
    problem = "it has no address that this node could reach"
    for address in place["addresses"]:
        try:
            return {**_ask_at(address, place, request, seconds), "address": address}
        except (OSError, ValueError) as error:
            problem = f"{address}: {error}"
    raise OSError(problem)


def _ask_at(address: str, place: Mapping[str, Any], request: Mapping[str, Any], seconds: float) -> Dict[str, Any]:
    secret = place["secret"]
    with socket.create_connection((address, int(place["port"])), min(seconds, CONNECT_SECONDS)) as connection:
        until = time.monotonic() + seconds
        challenge = str(json.loads(_line(connection, until))["challenge"])[:64]
        nonce = os.urandom(16).hex()
        said = {
            "pass": place["pass"],
            "nonce": nonce,
            "ask": request,
            "proof": proof(secret, challenge, nonce, request),
        }
        connection.sendall(json.dumps(said).encode() + b"\n")
        answer = opened(secret, challenge, nonce, _line(connection, until))
    if "error" in answer:
        raise Refused(str(answer["error"]))
    found: Dict[str, Any] = answer
    return found


def _line(connection: socket.socket, until: float) -> bytes:
    """Raises OSError where it does not come in time, ValueError where it has no end."""
    buffer = b""
    while not buffer.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0:
            raise OSError("it does not answer in time")
        connection.settimeout(left)
        piece = connection.recv(65536)
        if not piece:
            raise OSError("it lets this notebook in no more" if buffer == b"" else "it ended in the middle")
        buffer += piece
        if len(buffer) > _MOST:
            raise ValueError("a line without an end")
    return buffer


def _keys(secret: str, challenge: str, nonce: str) -> "tuple[bytes, bytes]":
    made = [
        hmac.new(secret.encode(), f"flexrack gpu door 1 {use} {challenge} {nonce}".encode(), hashlib.sha256).digest()
        for use in ("stream", "check")
    ]
    return made[0], made[1]


def _xor(key: bytes, body: bytes) -> bytes:
    blocks = range((len(body) + 31) // 32)
    stream = b"".join(hmac.new(key, b"%d" % number, hashlib.sha256).digest() for number in blocks)
    return bytes(one ^ other for one, other in zip(body, stream))


def _mac(key: bytes, body: bytes) -> str:
    return hmac.new(key, body, hashlib.sha256).hexdigest()


def _text(ask: Mapping[str, Any]) -> str:
    return json.dumps(ask, sort_keys=True, separators=(",", ":"))
