"""The relay's own side: an HTTP server on loopback that the official MLflow client talks to."""

import http.client
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Protocol, Tuple
from urllib.parse import parse_qs, urlsplit

from flexrack_node.relay.claims import Claims, read_token
from flexrack_node.relay.incoming import PIECE_BYTES, TooLarge, body_pieces, read_body
from flexrack_node.relay.journal import Journal, SpoolFull
from flexrack_node.relay.pending_connections import Server
from flexrack_node.run.upstream import Away, Body, Line, Upstream

ANSWER_SECONDS = 60.0
WAIT_SECONDS = 10.0
CACHED_BYTES = 256 * 1024
CACHED_ANSWERS = 200

# Writes whose answer says nothing: they can be kept and acknowledged. runs/update answers with the run's info.
KEPT_POSTS = re.compile(
    r"/api/2\.0/(preview/)?mlflow/runs/(log-batch|log-metric|log-parameter|set-tag|delete-tag|update|log-inputs|outputs)$"
)
KEPT_PUTS = re.compile(r"/api/2\.0/mlflow-artifacts/artifacts/.+")
RUN_UPDATE = re.compile(r"/mlflow/runs/update$")
# Reads that the client makes around logging; the last answer will do while the server is away.
CACHED_GETS = re.compile(
    r"/version$|/api/[23]\.0/mlflow/(runs/get|experiments/get|experiments/get-by-name|server-info|logged-models/[^/]+)$"
)


class Keeper(Protocol):
    """Who is behind the front: relay.relay.Relay."""

    token: Optional[str]
    upstream: Upstream
    journal: Journal
    run_id: Optional[str]

    @property
    def is_away(self) -> bool: ...

    def write(
        self, line: Line, method: str, path: str, kind: str, body: Body
    ) -> Optional[http.client.HTTPResponse]: ...

    def wait_until_back(self, seconds: float) -> bool: ...


class Front:
    """The listening socket and the answers that are remembered."""

    def __init__(self, relay: Keeper, port: int) -> None:
        self.relay = relay
        self.claims = Claims(relay.run_id)
        self._answers: Dict[str, Tuple[str, bytes]] = {}
        self._server = Server(("127.0.0.1", port), type("BoundHandler", (Handler,), {"front": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="relay-front", daemon=True)

    def start(self) -> int:
        self._thread.start()
        if self.relay.run_id:
            threading.Thread(
                target=self._look_ahead, args=(self.relay.run_id,), name="relay-look-ahead", daemon=True
            ).start()
        return self._server.server_address[1]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def remember(self, path: str, kind: str, body: bytes) -> None:
        if len(self._answers) >= CACHED_ANSWERS:
            self._answers.pop(next(iter(self._answers)))
        self._answers[cache_key(path)] = (kind, body)

    def recall(self, path: str) -> Optional[Tuple[str, bytes]]:
        return self._answers.get(cache_key(path))

    def run_info(self, change: Dict[str, Any]) -> Dict[str, Any]:
        """What runs/update answers, from what is known of the run."""
        run_id = str(change.get("run_id") or change.get("run_uuid") or "")
        known = self.recall(f"/api/2.0/mlflow/runs/get?run_id={run_id}")
        info = json.loads(known[1])["run"]["info"] if known else {"run_id": run_id, "run_uuid": run_id}
        return {**info, **{key: value for key, value in change.items() if key in ("status", "end_time", "run_name")}}

    def _look_ahead(self, run_id: str) -> None:
        """Reads the run once, so that a client that starts while the server is away still gets it."""
        path = f"/api/2.0/mlflow/runs/get?run_id={run_id}"
        line = self.relay.upstream.connect()
        try:
            answer = line.send("GET", path, {}, b"", ANSWER_SECONDS)
            body = answer.read()
            if answer.status == 200:
                self.remember(path, "application/json", body)
        except (Away, OSError):
            pass
        line.close()


class Handler(BaseHTTPRequestHandler):
    front: Front
    server: Server
    rank: Optional[str] = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 600

    def setup(self) -> None:
        super().setup()
        self.line = self.front.relay.upstream.connect()

    def finish(self) -> None:
        self.line.close()
        try:
            super().finish()
        except OSError:
            pass

    def log_message(self, format: str, *args: Any) -> None:
        """Calls are not logged: a training loop makes thousands, and headers carry the token."""

    def handle_any(self) -> None:
        path = urlsplit(self.path).path
        may_pass, self.rank = read_token(self.headers.get("Authorization", ""), self.front.relay.token)
        if not may_pass:
            self._drop_body()
            return self._answer_error(
                401,
                "UNAUTHENTICATED",
                "this run's token is missing or wrong: MLFLOW_TRACKING_TOKEN must be the one the run was given",
            )
        self.server.pending.leave(self.connection)
        try:
            if (self.command == "PUT" and KEPT_PUTS.match(path)) or (self.command == "POST" and KEPT_POSTS.match(path)):
                self._write(path)
            else:
                self._ask(path)
        except TooLarge as error:
            self.close_connection = True
            self._answer_error(413, "INVALID_PARAMETER_VALUE", str(error))
        except SpoolFull as error:
            # A status that the client does not try again: it would stand still for minutes.
            self._answer_error(400, "RESOURCE_EXHAUSTED", str(error))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def _write(self, path: str) -> None:
        relay, kind = self.front.relay, self.headers.get("Content-Type", "application/json")
        body = self._read_body(relay.journal.scratch if self.command == "PUT" else None)
        self.front.claims.wrote(self.rank, body)
        kept = False
        try:
            answer = relay.write(self.line, self.command, self.path, kind, body)
            kept = answer is None
            if answer is not None:
                return self._pass_on(answer)
            info = (
                {"run_info": self.front.run_info(json.loads(body))}
                if isinstance(body, bytes) and RUN_UPDATE.search(path)
                else {}
            )
            self._answer(200, "application/json", json.dumps(info).encode())
        except SpoolFull as error:
            raise SpoolFull(f"the tracking server is away and {error}") from error
        finally:
            if isinstance(body, Path) and not kept:
                body.unlink()

    def _ask(self, path: str) -> None:
        """A call that needs an answer: passed on; while the server is away answered from memory, or after a bounded
        wait.
        """
        relay, is_read = self.front.relay, self.command in ("GET", "HEAD")
        body = self._read_body()
        claim = self.front.claims.headers(self.rank, self.command, path)
        deadline = time.monotonic() + WAIT_SECONDS
        reason = "it is still away"
        remembered = self.front.recall(self.path) if self.command == "GET" and CACHED_GETS.search(path) else None
        while True:
            # What is not a read may build on writes that are still in the journal, so it waits for them.
            if is_read or not relay.is_away or relay.wait_until_back(deadline - time.monotonic()):
                try:
                    headers = {
                        **claim,
                        **{
                            name: self.headers[name]
                            for name in ("Content-Type", "Accept", "Range")
                            if name in self.headers
                        },
                    }
                    seconds = 2.0 if remembered else ANSWER_SECONDS
                    answer = self.line.send(self.command, self.path, headers, body, seconds)
                    if answer.status != 200:
                        self.front.claims.failed(self.rank, claim)
                    return self._pass_on(answer, bool(CACHED_GETS.search(path)))
                except Away as error:
                    reason = str(error)
            if remembered:
                return self._answer(200, remembered[0], remembered[1])
            if time.monotonic() >= deadline:
                self.front.claims.failed(self.rank, claim)
                return self._answer_error(503, "TEMPORARILY_UNAVAILABLE", f"the tracking server is away: {reason}")
            time.sleep(0.2)

    def _pass_on(self, answer: http.client.HTTPResponse, remember: bool = False) -> None:
        kind = answer.getheader("Content-Type", "application/json")
        length = answer.getheader("Content-Length")
        if length is not None and int(length) <= CACHED_BYTES:
            body = answer.read()
            if remember and self.command == "GET" and answer.status == 200:
                self.front.remember(self.path, kind, body)
            return self._answer(answer.status, kind, body)
        self.send_response(answer.status)
        self.send_header("Content-Type", kind)
        for name in ("Content-Disposition", "Content-Encoding", "Content-Range"):
            if answer.getheader(name):
                self.send_header(name, str(answer.getheader(name)))
        self.send_header(*(("Content-Length", length) if length is not None else ("Transfer-Encoding", "chunked")))
        self.end_headers()
        for piece in iter(lambda: answer.read(PIECE_BYTES), b""):
            self.wfile.write(piece if length is not None else b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"" if length is not None else b"0\r\n\r\n")
        self.wfile.flush()

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def _answer_error(self, status: int, code: str, message: str) -> None:
        self._answer(status, "application/json", json.dumps({"error_code": code, "message": message}).encode())

    def _read_body(self, scratch: Optional[Callable[[], Path]] = None) -> Body:
        return read_body(self.rfile, self.headers, scratch)  # type: ignore[arg-type]

    def _drop_body(self) -> None:
        for _ in body_pieces(self.rfile, self.headers):  # type: ignore[arg-type]
            pass


def cache_key(path: str) -> str:
    parts = urlsplit(path)
    query = {("run_id" if key == "run_uuid" else key): value for key, value in parse_qs(parts.query).items()}
    return parts.path + json.dumps(query, sort_keys=True)
