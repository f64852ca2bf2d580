"""A proxy on this node's loopback while environments of several nodes are built: what one node has downloaded, others
get from it.

It passes on to the caller's proxy what it is asked for, and answers itself for the names of workspace/mirror.py. Where
a file comes from is the caller's decision, who knows all nodes: another node that has it, else the index. Files are
kept until the call ends, named by their content, which is looked at whoever they came from. Other nodes ask with this
call's secret at the node's address in the rack; nobody else gets an answer.
"""

import hashlib
import hmac
import http.client
import json
import os
import re
import secrets
import shutil
import socket
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple
from urllib.parse import unquote

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import need_room
from flexrack_node.base.filelock import is_caller_gone
from flexrack_node.workspace import certificates, mirror, uv
from flexrack_node.workspace.child import SignalsRaise
from flexrack_node.workspace.passing import Upstream, relay

if TYPE_CHECKING:
    from flexrack_node.schema.environment import ShareWanted

TRACKER = "http://share.flexrack.invalid/"
MOST_SUMS = 4 << 20  # bytes
MOST = 200  # connections at a time
PATIENCE_SECONDS = 60
PIECE = 1 << 18


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: str, handler: Any, share: Any) -> None:
        """`share`: what the handler answers from."""
        self.share = share
        self.room = threading.BoundedSemaphore(MOST)
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whatever came: it ends this connection and nothing else, and is nobody's news."""


class Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE_SECONDS
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def is_proven(self, name: str, proof: str) -> bool:
        if hmac.compare_digest(self.headers.get(name, "").encode("utf-8", "replace"), proof.encode()):
            return True
        self.answer(407 if name.startswith("Proxy") else 401)
        return False

    def answer(self, status: int, body: bytes = b"", content_type: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def file(self, path: Path) -> None:
        with open(path, "rb") as source:
            self.pass_on(source, str(os.fstat(source.fileno()).st_size))

    def pass_on(self, source: Any, size: Optional[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        if size:
            self.send_header("Content-Length", size)
        self.send_header("Connection", "close")
        self.end_headers()
        shutil.copyfileobj(source, self.wfile, PIECE)


class ToPeers(Handler):
    """GET /<sha256>, with the secret, from other nodes."""

    def do_GET(self) -> None:
        share = self.server.share
        if self.is_proven("Authorization", f"Bearer {share.secret}"):
            path = share.kept(self.path[1:])
            self.file(path) if path else self.answer(404)


class ToInstallers(Handler):
    """The proxy that uv uses here."""

    def do_GET(self) -> None:
        share = self.server.share
        if not self.is_proven("Proxy-Authorization", share.upstream.proof_of(share.secret)):
            return None
        asked = mirror.asked(self.path)
        try:
            if asked is None:
                return relay(self, share.upstream)
            url, sha256 = share.python(*asked)
            if sha256 and not url.endswith(".metadata"):
                return self.file(share.get(sha256, url))
            with share.upstream.open(url, dict(self.headers.items())) as source:
                content_type = source.headers.get("Content-Type", "")
                if not sha256 and ("html" in content_type or "json" in content_type):
                    self.answer(200, mirror.page(source.read(), content_type, url), content_type)
                else:
                    self.pass_on(source, source.headers.get("Content-Length"))
        except urllib.error.HTTPError as error:
            self.answer(error.code)
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.answer(403 if "403" in str(error) else 502)

    def do_HEAD(self) -> None:
        """Whether a part of a file may be asked for: uv then takes it whole, which it needs anyway, and others do."""
        share = self.server.share
        if self.is_proven("Proxy-Authorization", share.upstream.proof_of(share.secret)):
            self.answer(405) if mirror.asked(self.path) else relay(self, share.upstream)

    def do_CONNECT(self) -> None:
        share = self.server.share
        if self.is_proven("Proxy-Authorization", share.upstream.proof_of(share.secret)):
            relay(self, share.upstream)


class StraightAnswer(urllib.request.HTTPRedirectHandler):
    """Another node gives a file, or it does not: it sends nobody elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Share:
    def __init__(self, folder: Path, upstream: Upstream) -> None:
        self.folder, self.upstream = folder, upstream
        self.secret = secrets.token_urlsafe(24)
        self._locks: Dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def kept(self, sha256: str) -> Optional[Path]:
        path = self.folder / sha256
        return path if len(sha256) == 64 and sha256.isalnum() and path.is_file() else None

    def get(self, sha256: str, url: str) -> Path:
        with self._lock:
            lock = self._locks.setdefault(sha256, threading.Lock())
        with lock:
            return self.kept(sha256) or self._fetch(sha256, url)

    def python(self, url: str, sha256: Optional[str]) -> Tuple[str, Optional[str]]:
        """The archive of a Python has a name without a hash, as uv knows it; its release says it, too. Without that
        each node gets it by itself.
        """
        for place, sums in mirror.python(url) if sha256 is None else []:
            try:
                with self.upstream.open(sums, {}) as source:
                    lines = source.read(MOST_SUMS).decode("ascii", "replace").splitlines()
            except urllib.error.HTTPError as error:
                url = place if error.code == 404 else url  # it answers, at least
                continue
            except (OSError, http.client.HTTPException):
                continue
            name = unquote(place.rpartition("/")[2])
            found = next((line.split()[0] for line in lines if line.split()[1:] == [name]), "")
            if re.fullmatch(r"[0-9a-f]{64}", found):
                return place, found
        return url, sha256

    def _fetch(self, sha256: str, url: str) -> Path:
        lost: List[str] = []
        while True:
            peer = self._ask(f"want/{sha256}?{','.join(lost)}")["peer"]
            if peer is None:
                try:
                    path, found = self._take(self.upstream.open(url, {}), sha256)
                except BaseException:
                    self._ask(f"failed/{sha256}")
                    raise
                if not found:  # the installer says so, in its own words
                    self._ask(f"failed/{sha256}")
                    return path
            else:
                try:
                    host = f"[{peer['address']}]" if ":" in peer["address"] else peer["address"]
                    order = urllib.request.Request(
                        f"http://{host}:{int(peer['port'])}/{sha256}",
                        headers={"Authorization": f"Bearer {peer['secret']}"},
                    )
                    source = urllib.request.build_opener(urllib.request.ProxyHandler({}), StraightAnswer).open(
                        order, timeout=PATIENCE_SECONDS
                    )
                    if not source.headers.get("Content-Length"):
                        raise ValueError("an answer without an end")
                    path, found = self._take(source, sha256)
                except (OSError, http.client.HTTPException, ValueError):  # whatever another node says
                    path, found = self.folder, False
                if not found:
                    lost.append(str(peer["id"]))
                    continue
            whole = self.folder / sha256
            os.replace(path, whole)
            self._ask(f"have/{sha256}")
            return whole

    def _take(self, source: Any, sha256: str) -> Tuple[Path, bool]:
        """What comes, as a file, and whether it is what it is to be."""
        digest = hashlib.sha256()
        with source, tempfile.NamedTemporaryFile(dir=self.folder, prefix="part-", delete=False) as target:
            need_room(self.folder, int(source.headers.get("Content-Length") or 0), "a package")
            for piece in iter(lambda: source.read(PIECE), b""):
                digest.update(piece)
                target.write(piece)
        return Path(target.name), digest.hexdigest() == sha256

    def _ask(self, what: str) -> Dict[str, Any]:
        with self.upstream.open(TRACKER + what, {}, timeout=None) as answer:
            found: Dict[str, Any] = json.loads(answer.read() or b"{}")
            return found


def share(request: "ShareWanted", channel: Channel) -> Dict[str, Any]:
    """{download, address?} until the caller ends it; tells {event: open, proxy, secret, address?, port?}."""
    for key in [key for key in os.environ if key.lower() == "no_proxy"]:
        del os.environ[key]
    with tempfile.TemporaryDirectory(prefix=".share-", dir=uv.make_folder(channel)) as folder, SignalsRaise():
        os.environ.update(certificates.trusted(request["download"], os.environ))
        one = Share(Path(folder), Upstream(request["download"]))
        installers = Server("127.0.0.1", ToInstallers, one)
        address = request.get("address") or own_address()
        try:
            peers: Dict[str, Any] = {"address": address, "port": Server(address, ToPeers, one).server_address[1]}
        except OSError:  # it is reached by an address that it does not have: others get nothing from it
            peers = {}
        channel.event(
            "open",
            proxy=f"http://flexrack:{one.secret}@127.0.0.1:{installers.server_address[1]}",
            secret=one.secret,
            **peers,
        )
        while not is_caller_gone():
            time.sleep(0.1)
    return {}


def own_address() -> str:
    """By which the caller has reached this node; loopback where it is the caller's own machine."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    return words[2] if len(words) == 4 else "127.0.0.1"
