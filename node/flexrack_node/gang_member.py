"""A member of a run's gang: every node but the first. The protocol is described in gang.py."""
import threading
import time
from typing import Any, Dict, Optional

from flexrack_node.cause import of_gang
from flexrack_node.gang_link import Link, LinkLost, boot_time, join
from flexrack_node.gang_rules import takes_over
from flexrack_node.gang_side import Side
from flexrack_node.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run_files import RunFolder

LOST_SECONDS = 30.0  # without the leader before it is given up; the leader counts on it (gang.py, CERTAIN_SECONDS)
REFUSED_SECONDS = 5.0  # of nobody listening at the leader's port: the leader is dead, not unreachable


class Member:
    """Runs on every other node: does what the leader wants and says how it is. `run()`, then `done(drained)`."""

    def __init__(self, folder: RunFolder, spec: Dict[str, Any], local: LocalRanks) -> None:
        self._folder, self._spec, self._local = folder, spec, local
        self._lock = threading.Lock()
        self._side = Side(folder, spec, local)
        self._lost_seconds = float(spec["gang"].get("lost", LOST_SECONDS))
        self._link: Optional[Link] = None
        self._heard = boot_time()  # the leader's last sign of life
        self._refused_since: Optional[float] = None
        self._wanted: Dict[str, Any] = {"phase": "wait", "attempt": 0}
        self._skipped = 0
        self._extra: Dict[str, Any] = {}

    def run(self) -> Dict[str, Any]:
        """Until the leader says the result, or the gang is lost."""
        threading.Thread(target=self._stay_connected, daemon=True).start()
        told: Optional[Dict[str, Any]] = None
        told_to: Optional[Link] = None
        while True:
            self._local.tick()
            with self._lock:
                wanted, link = self._wanted, self._link
            if wanted["phase"] == "end":
                return wanted["result"]
            if wanted["phase"] == "out":
                return self._give_up(f"the leader on {self._spec['nodes'][0]} has put this node out and goes on without it")
            gone = self._gone()
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
        self._side.close()

    def _obey(self, wanted: Dict[str, Any]) -> None:
        request = self._folder.stop_request()
        if wanted["phase"] == "stop" and self._local.attempt < wanted["attempt"]:
            self._skipped = wanted["attempt"]
        if wanted["phase"] not in ("prepare", "run") or not request:
            self._side.obey(wanted)
        if request:
            self._local.stop(self._local.attempt, 0.0 if request.get("kill") else float(request.get("grace", self._spec["grace"])))

    def _full_view(self) -> Dict[str, Any]:
        return {**self._side.view(), "stop": self._folder.stop_request(), "skipped": self._skipped, **self._extra}

    def _stay_connected(self) -> None:
        """In a thread of its own: connects, listens, and connects again."""
        gang = self._spec["gang"]
        while self._wanted["phase"] not in ("end", "out"):
            link: Optional[Link] = None
            try:
                link = join(gang["address"], gang["port"], gang["secret"], self._spec["node"], timeout=5.0)
                with self._lock:
                    self._link, self._refused_since = link, None
                while True:
                    told = link.receive()
                    with self._lock:
                        if takes_over(self._wanted, told):
                            self._wanted = told
            except ConnectionRefusedError:
                self._refused_since = self._refused_since or time.monotonic()
            except LinkLost:
                if link:
                    link.abort()
                    with self._lock:
                        self._link, self._heard = None, link.heard
                self._refused_since = None
            time.sleep(0.5)

    def _gone(self) -> Optional[str]:
        """Why the leader is given up; None while it is not. Counted from its last word, so that it knows when we have done so."""
        with self._lock:
            link, refused = self._link, self._refused_since
            heard = link.heard if link else self._heard
        if refused is not None and time.monotonic() - refused > min(REFUSED_SECONDS, self._lost_seconds):
            return f"the leader on {self._spec['nodes'][0]} is gone"
        if boot_time() - heard > self._lost_seconds:
            return f"no connection to the leader on {self._spec['nodes'][0]} for {self._lost_seconds:.0f} s"
        return None

    def _give_up(self, why: str) -> Dict[str, Any]:
        """No gang any more: nothing of it stays alive here."""
        self._folder.event("gang lost", why=why)
        self._local.stop(self._local.attempt, FAILURE_GRACE)
        while self._local.phase == "running":
            self._local.tick()
            time.sleep(TICK)
        self._side.close()
        return {"status": "failed", "cause": of_gang(self._spec["node"], why), "attempts": [], "partial": True}
