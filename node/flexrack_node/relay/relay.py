"""An MLflow-speaking relay on the node's loopback, so that training goes on while the tracking server is away.

Every call is passed on. When there is no answer, writes are kept in a journal (relay/journal.py) before they are
acknowledged, and are sent again in order when the server is back; until the journal is empty all writes go through it.
Sending a write again changes nothing on an MLflow server: the same metric value is one row, params and tags are set to
what they are, a file is replaced by itself.
"""

import http.client
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Optional

from flexrack_node.relay.entry import Entry
from flexrack_node.relay.front import Front
from flexrack_node.relay.journal import Journal, SpoolFull, read_rejected
from flexrack_node.relay.merge import merge
from flexrack_node.relay.resending import REPLAY_SECONDS, is_refusal, is_servers_fault, send_again, send_merged
from flexrack_node.run.upstream import Away, Body, Line, Upstream

SPOOL_BYTES = 4 * 1024**3
FORWARD_SECONDS = 4.0
FILE_SECONDS = 15.0
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 3.0
SERVER_ERROR_TRIES = 5
FIRST_ASIDE_SECONDS, LONGEST_ASIDE_SECONDS = 30.0, 600.0  # until what the server failed at is tried again
FULL_DISK_PAUSE_SECONDS = 1.0
MERGED_ENTRIES = 900

Event = Callable[[Dict[str, Any]], None]


class Relay:
    """`token` is what clients must show. `on_event` is told of every change as a dict: tracking.away, tracking.back,
    tracking.rejected, tracking.refused, tracking.full, each with a `message` for people. Nothing that was acknowledged
    is given up: what the server refuses (4xx), or fails at (500) while it answers otherwise, is set aside so that the
    rest goes on; the latter is tried again by itself, the former by `resend`.
    """

    def __init__(
        self,
        spool: Path,
        upstream: Upstream,
        token: Optional[str],
        on_event: Event = lambda event: None,
        run_id: Optional[str] = None,
        limit: int = SPOOL_BYTES,
    ) -> None:
        self.token = token
        self.upstream = upstream
        self.journal = Journal(Path(spool), limit)
        self.run_id = run_id
        self.metric_at = 0.0  # when a metric with a step came last: a sign that the training goes on
        self._tell = on_event
        self._state = threading.Condition(threading.RLock())
        self._away_since: Optional[float] = None
        self._replayed = 0
        self._away_reported = self._full_reported = False
        self._again_at: Optional[float] = None  # when what the server failed at is tried again
        self._aside_seconds = FIRST_ASIDE_SECONDS
        self._failure_reported = False
        self._closing = False
        self._front: Optional[Front] = None
        self._replayer = threading.Thread(target=self._replay, name="relay-replay", daemon=True)

    def start(self, port: int = 0) -> int:
        """Listens on 127.0.0.1 (0 chooses a port) and gives the port."""
        if self.journal.pending:  # left by a relay that was killed
            self._away_since = time.time()
        self._front = Front(self, port)
        self._replayer.start()
        return self._front.start()

    def close(self, drain_seconds: float = 0) -> Dict[str, Any]:
        """Waits until the journal is empty or the time is up, and ends. Gives {pending, rejected, last_rejection}."""
        deadline = time.monotonic() + drain_seconds
        if drain_seconds > 0:
            self.resend(is_servers_fault)
        with self._state:
            self._state.wait_for(lambda: not self.is_away, max(0.0, deadline - time.monotonic()))
            self._closing = True
            self._state.notify_all()
        if self._front:
            self._front.stop()
        if self._replayer.is_alive():
            self._replayer.join(REPLAY_SECONDS)
        records = read_rejected(self.journal.folder)
        # not refused: they wait, like those in the journal
        failed = sum(is_servers_fault(record["status"]) for record in records)
        pending = self.journal.pending + failed
        self.journal.close()
        return {
            "pending": pending,
            "rejected": len(records) - failed,
            "last_rejection": records[-1]["answer"] if records else None,
        }

    @property
    def is_away(self) -> bool:
        """True while writes go to the journal."""
        return self._away_since is not None

    def resend(self, is_wanted: Callable[[int], bool]) -> int:
        """Sends what was set aside with a status that is wanted once more; says how much that is."""
        try:
            count = self.journal.take_back(is_wanted)
        except OSError:  # no room to do so: it stays where it is
            return 0
        with self._state:
            self._again_at = None
            if count and self._away_since is None:
                self._away_since = time.time()
                self._replayed = 0
            self._state.notify_all()
        return count

    def write(self, line: Line, method: str, path: str, kind: str, body: Body) -> Optional[http.client.HTTPResponse]:
        """Sends a write, or keeps it: then None. Raises SpoolFull."""
        if (
            path.endswith(("/runs/log-metric", "/runs/log-batch"))
            and isinstance(body, bytes)
            and body.count(b'"step"') > body.count(b'"system/')
        ):
            # MLflow's own system/ metrics come from a thread that goes on in a rank that hangs
            self.metric_at = time.time()
        # the switch back to direct calls takes this lock too, so nothing is left behind in the journal
        with self._state:
            if self.is_away:
                self._keep(method, path, kind, body, "")
                return None
        try:
            seconds = FORWARD_SECONDS if isinstance(body, bytes) else FILE_SECONDS
            return line.send(method, path, {"Content-Type": kind}, body, seconds)
        except Away as error:
            with self._state:
                self._keep(method, path, kind, body, str(error))
                return None

    def wait_until_back(self, seconds: float) -> bool:
        """For calls that need an answer: true once the journal is empty."""
        with self._state:
            return self._state.wait_for(lambda: self._closing or not self.is_away, seconds) and not self._closing

    def _keep(self, method: str, path: str, kind: str, body: Body, reason: str) -> None:
        """Keeps a write in the journal; the caller holds the lock."""
        try:
            self.journal.append(method, path, kind, body)
        except SpoolFull as error:
            self._tell_full(f"logging is refused: {error}")
            raise
        if self._away_since is None:
            self._away_since = time.time()
            self._replayed = 0
            self._away_reported = True
            self._tell(
                {
                    "event": "tracking.away",
                    "message": f"the tracking server is away ({reason}); logging is kept on this node",
                }
            )
        self._state.notify_all()

    def _replay(self) -> None:
        """Ends with the relay only: a disk that is full, or fails, is waited for like a server that is away."""
        line = self.upstream.connect()
        while not self._closing:
            try:
                self._send_all(line)
            except OSError as error:
                self._tell_full(f"what is kept cannot be put in order: {error.strerror or error}")
                with self._state:
                    self._state.wait_for(lambda: self._closing, FULL_DISK_PAUSE_SECONDS)
        line.close()

    def _send_all(self, line: Line) -> None:
        """Until the relay closes. Raises OSError where the journal cannot be kept; everything is still in it then."""
        pause, tries, refused_reported, alone = FIRST_PAUSE_SECONDS, 0, False, 0
        while True:
            with self._state:
                patience = None if self._again_at is None else max(0.0, self._again_at - time.monotonic())
                if not self._state.wait_for(lambda: self._closing or self.is_away, patience):
                    self._again_at = None
            if self._closing:
                return
            if not self.is_away:
                self.resend(is_servers_fault)
                continue
            entries = self.journal.first(1 if alone else MERGED_ENTRIES)
            if not entries:
                self._finish()
                continue
            entry = entries[0]
            if entry.is_taken():
                self.journal.taken([entry])
                continue
            if not entry.method:
                self._set_aside(entry, 0, "this line of the journal cannot be read")
                continue
            taken, path, body = merge(entries)
            alone = max(0, alone - 1)
            status, answer = send_again(line, entry) if path is None else send_merged(line, path, body)
            if 200 <= status < 300:
                self.journal.taken(entries[:taken])
                self._replayed += taken
                pause, tries, refused_reported = FIRST_PAUSE_SECONDS, 0, False
                continue
            if path is not None and is_refusal(status):
                alone = taken  # one of them is refused: find out which
                continue
            # the token ran out: keep everything, somebody with another token can go on
            if status == 401 and not refused_reported:
                refused_reported = True
                self._tell(
                    {
                        "event": "tracking.refused",
                        "message": f"the tracking server refuses this run's token: {answer[:200]}",
                    }
                )
            tries += is_servers_fault(status)
            if is_refusal(status) or tries >= SERVER_ERROR_TRIES:
                self._set_aside(entry, status, answer)
                tries = 0
                continue
            with self._state:
                self._state.wait_for(lambda: self._closing, pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def _set_aside(self, entry: Entry, status: int, answer: str) -> None:
        """The rest goes on without it; its body stays."""
        self.journal.reject(entry, status, answer)
        name = entry.path.rsplit("/", 1)[-1]
        if is_servers_fault(status):
            if self._again_at is None:
                self._again_at = time.monotonic() + self._aside_seconds
                self._aside_seconds = min(self._aside_seconds * 2, LONGEST_ASIDE_SECONDS)
            if not self._failure_reported:
                self._failure_reported = True
                self._tell(
                    {
                        "event": "tracking.failed",
                        "message": f"the tracking server fails at {name} (HTTP status {status}: {answer[:200]}); it is kept on this node and sent again later",
                    }
                )
        else:
            self._tell(
                {
                    "event": "tracking.rejected",
                    "message": f"the tracking server refused a kept {name}: {answer[:200]}; it stays on this node, and `flexrack runs repair` sends it again",
                }
            )

    def _tell_full(self, message: str) -> None:
        if not self._full_reported:
            self._full_reported = True
            self._tell({"event": "tracking.full", "message": message})

    def _finish(self) -> None:
        with self._state:
            if self.journal.first():
                return
            since, self._away_since = self._away_since, None
            reported, self._away_reported, self._full_reported = self._away_reported, False, False
            if self._replayed or reported:
                self._tell(
                    {
                        "event": "tracking.back",
                        "replayed": self._replayed,
                        "seconds": round(time.time() - (since or 0), 1),
                        "message": f"the tracking server is back; {self._replayed} kept calls were sent",
                    }
                )
            self._state.notify_all()


def drain(
    spool: Path, upstream: Upstream, seconds: float, on_event: Event = lambda event: None, refused_too: bool = False
) -> Dict[str, Any]:
    """Sends what an ended relay left in its spool, with `refused_too` also what the server has refused. Gives {pending,
    rejected, last_rejection}; pending 0 means that all was taken or refused.
    """
    if not (Path(spool) / "journal.jsonl").exists():
        return {"pending": 0, "rejected": 0, "last_rejection": None}
    relay = Relay(Path(spool), upstream, None, on_event)
    if relay.journal.pending:
        relay._away_since = time.time()
    if refused_too:
        relay.resend(lambda status: True)
    relay._replayer.start()
    return relay.close(seconds)
