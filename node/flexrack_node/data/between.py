"""data.give, .fetch: a version goes from the node that has it to one that lacks it, without the caller's line.

The giver listens for one request that knows the call's secret, sends the contents one after the other, and is done. The
receiver believes nothing of it: each content is held against its SHA-256, as what the caller sends is. Nothing is
encrypted on the way, as nothing is that ranks tell each other.
"""

import http.client
import os
import secrets
import threading
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Tuple, cast

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import is_caller_gone
from flexrack_node.data.store import Store, check_digest
from flexrack_node.data.verbs import check, take_all
from flexrack_node.workspace.package_proxy import PIECE, Handler, Server, StraightAnswer, own_address

if TYPE_CHECKING:
    from flexrack_node.schema.data import DataFetch, DataGive, DataGiven, DataReceived

_PATIENCE_SECONDS = 60
_TELL_SECONDS = 0.5


class Giving:
    """What one request gets: of each content the bytes from a number on."""

    def __init__(self, contents: List[Tuple[Path, int]]) -> None:
        self.secret = secrets.token_urlsafe(24)
        self.contents = contents
        self.ended = threading.Event()
        self.bytes = 0
        self._lock = threading.Lock()
        self._is_begun = False

    def begin(self) -> bool:
        """True for the first who asks."""
        with self._lock:
            first, self._is_begun = not self._is_begun, True
            return first


class ToNode(Handler):
    """GET /contents, once, with the secret."""

    def do_GET(self) -> None:
        giving: Any = self.server.share
        if not self.is_proven("Authorization", f"Bearer {giving.secret}"):
            return
        if self.path != "/contents" or not giving.begin():
            self.answer(404)
            return
        try:
            self._send(giving)
        finally:
            giving.ended.set()

    def _send(self, giving: Giving) -> None:
        self.send_response(200)
        total = sum(path.stat().st_size - before for path, before in giving.contents)
        self.send_header("Content-Length", str(total))
        self.send_header("Connection", "close")
        self.end_headers()
        for path, before in giving.contents:
            with open(path, "rb") as source:
                source.seek(before)
                while True:
                    data = source.read(PIECE)
                    if not data:
                        break
                    self.wfile.write(data)
                    giving.bytes += len(data)


def give(request: "DataGive", channel: Channel) -> "DataGiven":
    """{digest, contents: [[digest, executable, bytes that the other has]], address?}: tells {event: open, address, port, secret}, and ends when
    one node has them, or the caller is gone.
    """
    store = Store(channel.root)
    manifest = store.manifest(check_digest(request["digest"]))
    if not manifest:
        raise NodeError("NOT_FOUND", f"the version {request['digest'][:12]} is not on this node any more")
    files: Any = manifest["files"]
    sizes = {(digest, executable): size for _path, executable, size, digest in files}
    wanted: Any = request["contents"]
    if not all(0 <= before <= sizes.get((digest, executable), -1) for digest, executable, before in wanted):
        raise NodeError("BUG", "another content was asked for than the version has")
    giving = Giving([(store.blob(digest, executable), before) for digest, executable, before in wanted])
    address = request.get("address") or own_address()
    try:
        server = Server(address, ToNode, giving)
    except OSError as error:
        raise NodeError(
            "NODE_UNREACHABLE", f"this node does not have the address {address}: {error.strerror}"
        ) from error
    channel.event("open", address=address, port=server.server_address[1], secret=giving.secret)
    while not giving.ended.is_set() and not is_caller_gone():
        giving.ended.wait(0.1)
    server.shutdown()
    server.server_close()
    return {"bytes": giving.bytes}


def fetch(request: "DataFetch", channel: Channel) -> "DataReceived":
    """{manifest, send, limit?, source: {address, port, secret}}: as data.receive, from another node. Errors:
    NODE_UNREACHABLE where that does not give it.
    """
    check(request["manifest"])
    source, lines = request["source"], cast(Any, request["send"])
    total = sum(size - before for _digest, _executable, size, before in lines)
    host = f"[{source['address']}]" if ":" in source["address"] else source["address"]
    order = urllib.request.Request(
        f"http://{host}:{int(source['port'])}/contents", headers={"Authorization": f"Bearer {source['secret']}"}
    )
    told: Dict[str, float] = {"at": 0.0}

    def tell(done: int) -> None:
        if time.monotonic() - told["at"] > _TELL_SECONDS:
            told["at"] = time.monotonic()
            channel.event("progress", done=done, total=total, unit="bytes")

    try:
        body = urllib.request.build_opener(urllib.request.ProxyHandler({}), StraightAnswer).open(
            order, timeout=_PATIENCE_SECONDS
        )
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NodeError("NODE_UNREACHABLE", f"the other node at {host} does not give it: {error}") from error
    with body:
        if body.headers.get("Content-Length") != str(total):
            raise NodeError("NODE_UNREACHABLE", f"the other node at {host} has something else")
        try:
            return take_all(request, channel, body, tell)
        except (TimeoutError, ConnectionError, http.client.HTTPException) as error:
            raise NodeError(
                "NODE_UNREACHABLE", f"the other node at {host} was lost: {error or os.strerror(104)}"
            ) from error
