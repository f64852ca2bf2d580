"""A member of a run's gang: every node but the first. The protocol is described in gang.py."""
import threading
import time
from typing import Any, Dict, Optional

from flexrack_node.cause import of_gang
from flexrack_node.gang_link import Link, LinkLost, join
from flexrack_node.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run_files import RunFolder

LOST_SECONDS = 30.0  # without the leader before it is given up
REFUSED_SECONDS = 5.0  # of nobody listening at the leader's port: the leader is dead, not unreachable


class Member:
    """Runs on every other node: does what the leader wants and says how it is. `run()`, then `done(drained)`."""

    def __init__(self, folder: RunFolder, spec: Dict[str, Any], local: LocalRanks) -> None:
        self._folder, self._spec, self._local = folder, spec, local
        self._lock = threading.Lock()
        self._link: Optional[Link] = None
        self._wanted: Dict[str, Any] = {"phase": "wait", "attempt": 0}
        self._skipped = 0
        self._gone: Optional[str] = None  # why the leader is given up
        self._extra: Dict[str, Any] = {}

    def run(self) -> Dict[str, Any]:
        """Until the leader says the result, or the gang is lost."""
        threading.Thread(target=self._stay_connected, daemon=True).start()
        told: Optional[Dict[str, Any]] = None
        told_to: Optional[Link] = None
        while True:
            self._local.tick()
            with self._lock:
                wanted, link, gone = self._wanted, self._link, self._gone
            if wanted["phase"] == "end":
                return wanted["result"]
            if gone:
                return self._give_up(gone)
            self._obey(wanted)
            view = self._full_view()
            if link and (view != told or link is not told_to) and link.send(view):
                told, told_to = view, link
            time.sleep(TICK)

    def done(self, drained: bool) -> None:
        """The last word to the leader."""
        self._extra = {"done": True, "drained": drained}
        with self._lock:
            link = self._link
        if link:
            link.send(self._full_view())
            time.sleep(TICK * 2)  # so that closing does not overtake it
            link.close()

    def _obey(self, wanted: Dict[str, Any]) -> None:
        request = self._folder.stop_request()
        if wanted["phase"] == "run" and not request:
            self._local.start(wanted["attempt"], wanted["port"], wanted["rendezvous"])
            if self._folder.state().get("attempt") != wanted["attempt"]:
                self._folder.write("state", {**self._folder.state(), "status": "running", "attempt": wanted["attempt"]})
            self._local.watch.dump(wanted.get("dump", 0))
        elif wanted["phase"] == "stop":
            if self._local.attempt < wanted["attempt"]:
                self._skipped = wanted["attempt"]
            self._local.stop(wanted["attempt"], wanted["grace"], wanted.get("quiet", False))
        if request:
            self._local.stop(self._local.attempt, 0.0 if request.get("kill") else float(request.get("grace", self._spec["grace"])))

    def _full_view(self) -> Dict[str, Any]:
        return {**self._local.view(), "stop": self._folder.stop_request(), "skipped": self._skipped, **self._extra}

    def _stay_connected(self) -> None:
        """In a thread of its own: connects, listens, and connects again, until it has been hopeless for too long."""
        gang = self._spec["gang"]
        without_since = refused_since = time.monotonic()
        while True:
            try:
                link = join(gang["address"], gang["port"], gang["secret"], self._spec["node"], timeout=5.0)
                with self._lock:
                    self._link = link
                while True:
                    wanted = link.receive()
                    with self._lock:
                        self._wanted = wanted
            except ConnectionRefusedError:
                pass
            except LinkLost:
                with self._lock:
                    had, self._link = self._link, None
                if had:
                    without_since = time.monotonic()
                refused_since = time.monotonic()
            if self._wanted["phase"] == "end":
                return
            now = time.monotonic()
            if now - refused_since > REFUSED_SECONDS or now - without_since > LOST_SECONDS:
                with self._lock:
                    self._gone = f"the leader on {self._spec['nodes'][0]} is gone" if now - without_since <= LOST_SECONDS else \
                        f"no connection to the leader on {self._spec['nodes'][0]} for {LOST_SECONDS:.0f} s"
                return
            time.sleep(0.5)

    def _give_up(self, why: str) -> Dict[str, Any]:
        """No gang any more: nothing of it stays alive here."""
        self._folder.event("gang lost", why=why)
        self._local.stop(self._local.attempt, FAILURE_GRACE)
        while self._local.phase == "running":
            self._local.tick()
            time.sleep(TICK)
        return {"status": "failed", "cause": of_gang(self._spec["node"], why), "attempts": [], "partial": True}
