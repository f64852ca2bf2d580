"""Makes one gang of the supervisors of a run: all start together, and one failure ends it everywhere.

The protocol is a state, not a conversation. The leader (the run's first node) tells every member what is wanted, each
member tells the leader how things are on its node; both say it again after every change and every reconnection. So a
lost link needs no memory of what was said before.

    wanted  {phase: run|stop|end, attempt, port, rendezvous, grace, quiet, result, dump: number of the stacks that are to be taken}
    view    LocalRanks.view() and {stop: {grace, kill, by} | null, done: bool, drained: bool}
"""
import threading
import time
from typing import Any, Dict, List, Optional

from flexrack_node.cause import first_cause, is_complete, of_gang, ranks_of
from flexrack_node.gang_link import Link, Listener, LinkLost
from flexrack_node.hang import Hangs
from flexrack_node.launch import free_port
from flexrack_node.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run_files import RunFolder
from flexrack_node.straggler import report

LOST_SECONDS = 30.0  # without a member before the gang is given up
_STOP_LINK_SECONDS = 4.0  # the same while stopping: a member that lives connects again every half second
_STOP_PATIENCE = 15.0  # seconds after the grace in which a node must say that its ranks are gone


class Leader:
    """Runs on the first node. `listen()` first, then `run()`, then `end(result)`."""

    def __init__(self, folder: RunFolder, spec: Dict[str, Any], local: LocalRanks) -> None:
        self._folder, self._spec, self._local = folder, spec, local
        self._own: str = spec["node"]
        self._ranks = ranks_of(spec["nodes"], spec["launcher"], spec["processes"])
        self._lock = threading.Lock()
        self._links: Dict[str, Link] = {}
        self._lost_since: Dict[str, float] = {}
        self._views: Dict[str, Dict[str, Any]] = {}
        self._clocks: Dict[str, float] = {}
        self._wanted: Dict[str, Any] = {"phase": "wait", "attempt": 0}
        self._listener: Optional[Listener] = None
        self._hangs = Hangs(folder, spec)

    def listen(self) -> int:
        """Opens the gang's port on the run's address and returns it; 0 where there are no members. Raises OSError."""
        if len(self._spec["nodes"]) == 1:
            return 0
        gang = self._spec["gang"]
        self._listener = Listener(gang["address"], gang["secret"], self._welcome, gang.get("listen", 0))
        return self._listener.port

    def run(self) -> Dict[str, Any]:
        """All attempts; returns {status: finished|failed|stopped, cause, attempts}."""
        attempts: List[Dict[str, Any]] = []
        missing = self._wait_for_all()
        if self._stop_request():
            return {"status": "stopped", "cause": None, "attempts": attempts}
        if missing:
            seconds = self._spec["gang"].get("timeout", 60)
            message = f"{', '.join(missing)} did not join the gang within {seconds} s"
            return {"status": "failed", "cause": of_gang(missing[0], message), "attempts": attempts}
        while True:
            outcome = self._run_attempt(len(attempts) + 1)
            attempts.append(outcome)
            is_last = len(attempts) > self._spec["restarts"] or (self._hangs.action == "stop" and self._hangs.cause_in(len(attempts)) is not None)
            if outcome["status"] != "failed" or is_last or not outcome["clean"]:
                return {"status": outcome["status"], "cause": outcome["cause"], "attempts": attempts}
            self._folder.event("restarting", attempt=len(attempts) + 1)

    def end(self, result: Dict[str, Any], patience: float) -> bool:
        """Tells everybody the result; True where every member has said that its tracking writes are through."""
        self._want({"phase": "end", "attempt": self._local.attempt, "result": result})
        deadline = time.monotonic() + patience
        members = [node for node in self._spec["nodes"] if node != self._own]
        while time.monotonic() < deadline and not all(self._view(node).get("done") for node in members):
            if all(node not in self._links and not self._view(node).get("done") for node in members):
                break
            time.sleep(TICK)
        if self._listener:
            self._listener.close()
        return all(self._view(node).get("drained") for node in members)

    def _run_attempt(self, number: int) -> Dict[str, Any]:
        try:
            port = free_port(self._spec["gang"]["address"])
        except OSError as error:
            return {"attempt": number, "status": "failed", "clean": False, "survivors": {}, "cause": of_gang(self._own, f"no port to be had: {error}")}
        started = time.time()
        self._local.start(number, port, f"{self._spec['run']}.{number}")
        self._want({"phase": "run", "attempt": number, "port": port, "rendezvous": f"{self._spec['run']}.{number}"})
        self._folder.write("state", {**self._folder.state(), "status": "running", "attempt": number})
        why, lost = self._watch(number)
        stopped_at = time.time()
        finished = is_complete({node: self._view(node) for node in self._spec["nodes"]}, self._ranks)
        if why != "ended":
            request = self._stop_request() or {}
            grace = FAILURE_GRACE if why != "stop" else 0.0 if request.get("kill") else float(request.get("grace", self._spec["grace"]))
            self._folder.write("state", {**self._folder.state(), "status": "stopping"})
            unreached = self._stop_all(number, min(grace, self._spec["grace"]) if why != "stop" else grace)
            lost = sorted(set(lost) | set(unreached))
        views = {node: self._view(node) for node in self._spec["nodes"]}
        # Where a warden speaks for a dead supervisor nothing can be started again.
        lost = sorted(set(lost) | {node for node, view in views.items() if view.get("gone")})
        complete = is_complete(views, self._ranks)
        survivors = {node: view.get("survivors", []) for node, view in views.items() if view.get("survivors")}
        cause = None
        if why != "stop" and not complete:
            cause = self._hangs.cause_in(number) or first_cause(views, self._clocks, stopped_at if why != "ended" else None)
            if lost and (cause is None or why == "lost"):
                cause = of_gang(lost[0], f"the connection to {', '.join(lost)} was lost for more than {LOST_SECONDS:.0f} s")
        return {
            "attempt": number,
            "status": "finished" if complete and (finished or why != "stop") else "stopped" if why == "stop" else "failed",
            "started": started, "ended": time.time(), "cause": cause, "survivors": survivors, "lost": lost,
            "clean": not survivors and not lost,
            "pace": report({node: view.get("paces") or {} for node, view in views.items()}),
            "exits": {rank: record.get("exit") for view in views.values() for rank, record in view.get("records", {}).items()},
        }

    def _watch(self, number: int) -> "tuple[str, List[str]]":
        """Until the attempt is over by itself, or must be ended: (ended|failed|stop|lost, nodes lost)."""
        while True:
            self._local.tick()
            if self._stop_request():
                return "stop", []
            views = {node: self._view(node) for node in self._spec["nodes"]}
            mine = [view for view in views.values() if view.get("attempt") == number]
            if any(view.get("trouble") or any(record.get("exit") for record in view["records"].values()) for view in mine):
                return "failed", []
            if len(mine) == len(views) and all(view["phase"] == "ended" for view in mine):
                return "ended", []
            lost = self._lost()
            if lost:
                return "lost", lost
            if self._hangs.tick(number, dict(zip(views, mine)) if len(mine) == len(views) else {}):
                return "failed", []
            if self._hangs.wanted > self._wanted.get("dump", 0):
                self._want({**self._wanted, "dump": self._hangs.wanted})
                self._local.watch.dump(self._hangs.wanted)
            time.sleep(TICK)

    def _stop_all(self, number: int, grace: float) -> List[str]:
        """Ends the attempt everywhere; returns the nodes that did not say that it is done."""
        self._want({"phase": "stop", "attempt": number, "grace": grace, "quiet": self._local.is_signalled()})
        self._local.stop(number, grace)
        deadline = time.monotonic() + grace + _STOP_PATIENCE
        while time.monotonic() < deadline:
            self._local.tick()
            request = self._stop_request()
            if request and request.get("kill") and self._wanted.get("grace"):
                self._want({**self._wanted, "grace": 0.0})
                self._local.stop(number, 0.0)
            waiting = self._unended(number)
            if not waiting or all(node in self._lost(_STOP_LINK_SECONDS) for node in waiting):
                return waiting
            time.sleep(TICK)
        return self._unended(number)

    def _unended(self, number: int) -> List[str]:
        """Nodes that may still have ranks. One that has not begun yet will not begin after a stop."""
        def is_over(view: Dict[str, Any]) -> bool:
            return view.get("attempt") == number and view.get("phase") == "ended" or view.get("skipped", 0) >= number
        return [node for node in self._spec["nodes"] if not is_over(self._view(node))]

    def _wait_for_all(self) -> List[str]:
        """Returns the nodes that are still missing when the time is over."""
        deadline = time.monotonic() + self._spec["gang"].get("timeout", 60)
        members = [node for node in self._spec["nodes"] if node != self._own]
        while True:
            with self._lock:
                missing = [node for node in members if node not in self._links]
            if not missing or time.monotonic() > deadline or self._stop_request():
                return missing
            time.sleep(TICK)

    def _welcome(self, node: str, link: Link, hello: Dict[str, Any]) -> None:
        """In a thread a connection: a member is there, or there again."""
        if node not in self._spec["nodes"] or node == self._own:
            link.close()
            return
        with self._lock:
            old = self._links.get(node)
            self._links[node] = link
            self._lost_since.pop(node, None)
            self._clocks[node] = time.time() - float(hello["clock"])
            wanted = self._wanted
        if old:
            old.close()
        self._folder.event("joined", member=node)
        link.send(wanted)
        try:
            while True:
                view = link.receive()
                with self._lock:
                    self._views[node] = view
        except LinkLost as lost:
            with self._lock:
                if self._links.get(node) is link:
                    del self._links[node]
                    self._lost_since[node] = time.monotonic()
            if self._wanted["phase"] != "end":
                self._folder.event("link lost", to=node, why=str(lost))

    def _want(self, wanted: Dict[str, Any]) -> None:
        with self._lock:
            self._wanted = wanted
            links = list(self._links.values())
        for link in links:
            link.send(wanted)

    def _view(self, node: str) -> Dict[str, Any]:
        if node == self._own:
            return self._local.view()
        with self._lock:
            return self._views.get(node, {})

    def _lost(self, seconds: float = LOST_SECONDS) -> List[str]:
        with self._lock:
            return [node for node, since in self._lost_since.items() if time.monotonic() - since > seconds]

    def _stop_request(self) -> Optional[Dict[str, Any]]:
        """What somebody asked for on this node, or on a member's."""
        own = self._folder.stop_request()
        if own and own.get("kill"):
            return own
        with self._lock:
            others = [view["stop"] for view in self._views.values() if view.get("stop")]
        return next((other for other in others if other.get("kill")), own or (others[0] if others else None))
