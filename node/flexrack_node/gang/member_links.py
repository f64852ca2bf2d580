"""Who of a gang is connected to its leader, since when not, and what each has said last."""

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Deque, Dict, List, Optional, Set

from flexrack_node.base.adaptive_poll import AdaptivePoll
from flexrack_node.base.boot import boot_time
from flexrack_node.link.gang_link import Link, LinkLost, Listener
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangDesired, GangObserved, LinkHello
    from flexrack_node.schema.runfiles import KeptRunOrder, StopRequest

_OFFSETS = 16  # of a node's clock, in its latest words


class MemberLinks:
    """The leader's links. Everything may be called from the leader's thread while links come and go in theirs."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", term: int = 1) -> None:
        self._folder, self._spec = folder, spec
        self._own: str = spec["node"]
        self.address: str = spec.get("address") or spec["gang"]["address"]  # where this node is for the others
        self._lock = threading.Lock()
        self._links: Dict[str, Link] = {}
        self._lost_since: Dict[str, float] = {}
        self._heard: Dict[str, float] = {}  # of those that are away, when their last word came
        self._observations: Dict[str, GangObserved] = {}
        self._out: Set[str] = set()
        self._listener: Optional[Listener] = None
        self.poll = AdaptivePoll()  # of the leader's thread: woken by every word
        self.clocks: Dict[str, float] = {}  # seconds to add to a node's time to get ours
        self._offsets: Dict[str, Deque[float]] = {}
        self.desired: GangDesired = {"phase": "wait", "attempt": 0, "term": term, "serial": 0}

    def listen(self) -> int:
        """Opens the gang's port on the run's address and returns it; 0 where there are no members. Raises OSError."""
        if len(self._spec["nodes"]) == 1:
            return 0
        gang = self._spec["gang"]
        self._listener = Listener(self.address, gang["secret"], self._welcome, gang.get("listen", 0))
        return self._listener.port

    def close(self) -> None:
        """Nobody is welcomed any more."""
        if self._listener:
            self._listener.close()

    def drop(self) -> None:
        """Nobody who is connected is kept either."""
        with self._lock:
            links = list(self._links.values())
        for link in links:
            link.close()

    def set_desired(self, desired: "GangDesired") -> None:
        """Tells everybody, and whoever comes later; `serial` says what is newer (run.rules.takes_over)."""
        with self._lock:
            self.desired = desired = {**desired, "serial": self.desired["serial"] + 1}
            links = list(self._links.values())
        for link in links:
            link.send(desired)

    def observed(self, node: str) -> "GangObserved":
        """What a member has said last; empty before."""
        with self._lock:
            return self._observations.get(node, {})

    def here(self) -> Set[str]:
        """Nodes with a connection."""
        with self._lock:
            return set(self._links)

    def lost_for(self, node: str) -> Optional[float]:
        """Seconds without the connection that there was; None where there is one, or there never was."""
        with self._lock:
            since = self._lost_since.get(node)
        return None if since is None else time.monotonic() - since

    def unheard(self) -> Dict[str, float]:
        """Of nodes without a connection that there was: seconds since their last word. Those that were put out are
        among them.
        """
        with self._lock:
            return {node: boot_time() - heard for node, heard in self._heard.items()}

    def expect(self, node: str, heard: float, observed: "GangObserved") -> None:
        """It was heard of by the leader before, the last time at `heard` (boot_time), and is away until it connects."""
        with self._lock:
            if node not in self._links:
                self._heard[node], self._lost_since[node] = heard, time.monotonic() - (boot_time() - heard)
                self._observations.setdefault(node, observed)

    def says(self, node: str, observed: "GangObserved") -> None:
        """Somebody speaks for it."""
        with self._lock:
            self._observations[node] = observed

    def lost(self, seconds: float) -> List[str]:
        """Nodes that have been away for longer."""
        with self._lock:
            return sorted(
                node
                for node, since in self._lost_since.items()
                if node not in self._out and time.monotonic() - since > seconds
            )

    def put_out(self, node: str) -> None:
        """From now on it is no part of the gang, whatever it thinks: should it come back, it is told so."""
        with self._lock:
            self._out.add(node)
            link = self._links.pop(node, None)
        if link:
            link.send(self._farewell())

    def readmit(self, node: str) -> None:
        """It was rebooted, and begins anew: nothing that it was or said counts any more."""
        with self._lock:
            self._out.discard(node)
            link = self._links.pop(node, None)
            for known in (self._lost_since, self._heard, self._observations):
                known.pop(node, None)
        if link:
            link.abort()

    def out(self) -> Set[str]:
        with self._lock:
            return set(self._out)

    def stop_requests(self) -> "List[StopRequest]":
        """What was asked for on members' nodes."""
        with self._lock:
            return [stop for observed in self._observations.values() for stop in [observed.get("stop")] if stop]

    def _farewell(self) -> "GangDesired":
        return {
            "phase": "out",
            "attempt": self.desired["attempt"],
            "term": self.desired["term"],
            "serial": self.desired["serial"],
        }

    def _welcome(self, node: str, link: Link, hello: "LinkHello") -> None:
        """In a thread a connection: a member is there, or there again."""
        if node not in self._spec["nodes"] or node == self._own:
            link.close()
            return
        with self._lock:
            is_out = node in self._out
            old = None if is_out else self._links.get(node)
            if not is_out:
                self._links[node] = link
                self._lost_since.pop(node, None)
                self._heard.pop(node, None)
                self._offsets[node] = deque(maxlen=_OFFSETS)
                self._compare_clocks(node, hello["clock"])
            desired = self._farewell() if is_out else self.desired
        self.poll.wake()
        if old:
            old.abort()
        self._folder.event("put out came back" if is_out else "joined", member=node)
        link.send(desired)
        self._listen_to(node, link)

    def _compare_clocks(self, node: str, clock: float) -> None:
        """What a word took on its way is part of what it tells of the clocks: the one that took least tells most, among
        the latest, as clocks are set now and then.
        """
        self._offsets[node].append(time.time() - float(clock))
        self.clocks[node] = min(self._offsets[node])

    def _listen_to(self, node: str, link: Link) -> None:
        try:
            while True:
                observed: GangObserved = link.receive()
                with self._lock:
                    if "clock" in observed:
                        self._compare_clocks(node, observed.pop("clock"))
                    self._observations[node] = observed
                self.poll.wake()
        except LinkLost as lost:
            link.abort()  # it must not hear us any more: its own time until it gives up has begun
            with self._lock:
                is_lost = self._links.get(node) is link
                if is_lost:
                    del self._links[node]
                    self._lost_since[node] = time.monotonic()
                    self._heard[node] = link.heard
            self.poll.wake()
            if is_lost and self.desired["phase"] != "end":
                self._folder.event("link lost", to=node, why=str(lost))
