"""A run that makes room for others where the head says so, and comes back: the leader's side. docs/adr/0077.

The leader of every tracked run tells the head what its nodes gave it, and ends the run where its command had told of less.

A preemptible one asks the head every few seconds. Told to make room, it waits for the next checkpoint, a minute at
most; then the attempt is ended as by `runs stop`, with SIGTERM and the grace. All nodes of the run give back what they
have reserved, and the supervisors stay. When it is its turn again, all take it again or none; the next attempt begins
with the newest checkpoint.
"""

import threading
import time
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.gang.membership import Membership
from flexrack_node.link import checkpoint
from flexrack_node.rank.local_ranks import TICK, LocalRanks
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.run.head_word import Heard
    from flexrack_node.schema.gang import HasHere
    from flexrack_node.schema.runfiles import KeptRunOrder

NOTICE_SECONDS = 60.0  # for the next checkpoint, before the ranks get SIGTERM
_ASK_SECONDS = 3.0  # between two questions to the head
_TELL_SECONDS = 60.0  # between two words of a run that only tells what it has
_GIVE_SECONDS = 20.0  # for all nodes to give back, or to take
_AGAIN_SECONDS = 5.0  # after nodes could not be taken again
_SILENT_SECONDS = 60.0  # of the head: then the nodes' own line decides, as it does without a head
_GATHER_SECONDS = 60.0  # for enough nodes to be there
TOO_FEW = "too few of its nodes are left to come back"


class Room:
    """Of a leader; nothing happens where its head is not ours to ask, and no room is made where the run is not
    `preemptible`.
    """

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", local: LocalRanks, membership: Membership) -> None:
        self._folder, self._spec, self._local, self._membership = folder, spec, local, membership
        tracking = spec.get("tracking")
        self._tracking = tracking if tracking and tracking.get("own_token") and local.seat is not None else None
        self._is_preemptible = bool(self._tracking and spec.get("preemptible"))
        self._lock = threading.Lock()  # of the next three, which the thread that asks the head uses, too
        self._heard: Optional[Heard] = None
        self._heard_at = time.monotonic()
        self._is_away = False
        self._newest = 0  # when the newest checkpoint was written, nanoseconds since 1970
        self._is_over = threading.Event()
        self._has_ended = False
        self._told_at: Optional[int] = None  # when it was told to make room: as checkpoints are dated
        self._deadline = 0.0
        self._for = "others"  # where another leader was told of it
        self._round = 0

    def begin(self) -> None:
        if self._tracking:
            threading.Thread(target=self._ask, daemon=True).start()

    def close(self) -> None:
        self._is_over.set()

    def must_end(self) -> bool:
        """Whether the attempt that goes on is to be ended now."""
        if not self._is_preemptible:
            return False
        with self._lock:
            heard = self._heard
        if heard is None or heard.room is None:
            self._told_at = None  # whom it was for does not wait any more
            return False
        if self._told_at is None:
            self._told_at, self._deadline, self._for = time.time_ns(), time.monotonic() + NOTICE_SECONDS, heard.room
            self._folder.event("makes room", why=heard.room, seconds=NOTICE_SECONDS)
        self._look_around()
        self._has_ended = self._newest > self._told_at or time.monotonic() > self._deadline
        return self._has_ended

    @property
    def has_ended(self) -> bool:
        """Whether the last attempt was ended by this, and not because somebody wants the run to end."""
        return self._has_ended

    @property
    def made_for(self) -> str:
        """The run that the last attempt has made room for."""
        return self._for

    def is_given(self) -> bool:
        """Whether nodes have given back what they had: also where another leader has had that done."""
        rooms = [self._membership.observed(node).get("room") for node in self._membership.usable()]
        return any(room and not room["has"] for room in rooms)

    def come_back(self) -> Optional[str]:
        """Gives all back, and waits until it is its turn and all is reserved again; or until the run is to end.
        Returns why it does not come back.
        """
        began = time.monotonic()
        seen = [self._membership.observed(node).get("room") for node in self._membership.pool]
        self._round = max([self._round, *(room["round"] for room in seen if room)])
        self._folder.write("state", {**self._folder.state(), "status": "waiting"})
        self._settle(take=False)
        with self._lock:
            self._heard, self._heard_at, self._is_away = None, time.monotonic(), True
        self._folder.event("made room", why=self._for)
        try:
            return self._wait()
        finally:
            with self._lock:
                self._heard, self._is_away = None, False
            self._told_at, self._has_ended = None, False
            self._membership.rested(time.monotonic() - began)

    def _wait(self) -> Optional[str]:
        alone_since: Optional[float] = None
        while True:
            if self._tick():
                return None
            if self._membership.next_members() is None:
                alone_since = alone_since or time.monotonic()
                if time.monotonic() - alone_since > _GATHER_SECONDS:
                    return TOO_FEW
                continue
            alone_since = None
            passes = self._let_in()
            if passes is None:
                continue
            if self._settle(take=True, passes=passes):
                return None
            self._settle(take=False)
            with self._lock:
                self._heard = None
            again = time.monotonic() + _AGAIN_SECONDS
            while time.monotonic() < again and not self._tick():
                pass

    def _let_in(self) -> Optional[List[str]]:
        """Whom it passes, where it is its turn; None where it is not."""
        with self._lock:
            heard, silent = self._heard, time.monotonic() - self._heard_at
        if heard is None:
            return [] if silent > _SILENT_SECONDS else None
        return heard.passes if heard.is_let_in else None

    def _settle(self, take: bool, passes: Optional[List[str]] = None) -> bool:
        """All nodes that can be used are to have it, or to have given it back: whether they have said so."""
        self._round += 1
        self._membership.set_desired(
            {
                "phase": "wait",
                "attempt": self._local.attempt,
                "room": {"round": self._round, "take": take, "passes": passes or []},
            }
        )
        deadline = time.monotonic() + _GIVE_SECONDS
        while time.monotonic() < deadline:
            if self._tick():
                return False
            seen = [self._membership.observed(node).get("room") for node in self._membership.able()]
            done = [room for room in seen if room and room["round"] >= self._round]
            if len(done) == len(seen):
                return all(room["has"] == take for room in done)
            if take and any(room["why"] for room in done):
                return False
        return False

    def _tick(self) -> bool:
        """Keeps the gang going; True where the run is to end."""
        self._membership.apply()
        self._local.tick()
        time.sleep(TICK)
        return bool(self._membership.stop_request() or self._membership.step_down_cause())

    def _look_around(self) -> None:
        """The newest checkpoint that other nodes tell of; this node's is looked at by who asks the head."""
        for node in self._membership.others:
            found = self._membership.observed(node).get("saved")
            if found and found["at"] > self._newest:
                self._newest = found["at"]

    def _ask(self) -> None:
        """In a thread of its own: nothing waits for the head."""
        assert self._tracking is not None
        from flexrack_node.run.head_word import HeadWord  # HTTP and TLS: only where a head is asked

        word, declared = HeadWord(self._tracking), self._spec.get("checkpoint") if self._is_preemptible else None
        while not self._is_over.is_set():
            try:
                found = checkpoint.newest(self._folder.outputs, declared) if declared else None
            except OSError:
                found = None  # it changes under our eyes; the next look is soon
            self._newest = max(self._newest, found["at"] if found else 0)
            saved = max(0.0, time.time() - self._newest / 1e9) if self._newest else None
            with self._lock:
                away = self._is_away
            heard = word.say(saved, away, self._what_it_has())
            with self._lock:
                if heard and away == self._is_away:
                    self._heard, self._heard_at = heard, time.monotonic()
            if heard and heard.ends and not self._folder.stop_request():
                by = f"the head of the rack: {heard.ends}"
                self._folder.write("stop", {"grace": self._spec["grace"], "kill": False, "by": by})
            self._is_over.wait(_ASK_SECONDS if self._is_preemptible else _TELL_SECONDS)
        word.close()

    def _what_it_has(self) -> "List[HasHere]":
        """Of this node as its reservation says, of the others as they said last."""
        own = self._local.seat.has() if self._local.seat else None
        others = [self._membership.links.observed(node).get("has") for node in self._membership.others]
        return [one for one in [own, *others] if one]
