"""A member of a run's gang: every node but the one that leads. The protocol is described in gang/leader.py."""

import threading
import time
from typing import TYPE_CHECKING, Mapping, Optional, Tuple, Union

from flexrack_node.base.adaptive_poll import AdaptivePoll
from flexrack_node.base.boot import boot_time
from flexrack_node.gang.election import Election, Handover
from flexrack_node.gang.member_agent import MemberAgent
from flexrack_node.gang.membership import LOST_SECONDS
from flexrack_node.gang.returning import PATIENCE_SECONDS, Follows
from flexrack_node.link.gang_link import Link, LinkLost, join
from flexrack_node.rank.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run import rules
from flexrack_node.run.cause import of_gang
from flexrack_node.run.files import RunFolder
from flexrack_node.run.keeper import keeper_of
from flexrack_node.run.leadership import may_be_led_on

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangDesired, GangObserved, LeaderPlace
    from flexrack_node.schema.result import GangOutcome
    from flexrack_node.schema.runfiles import KeptRunOrder, MemberPlace

REFUSED_SECONDS = 5.0  # of nobody listening at the leader's port: the leader is dead, not unreachable


class Member:
    """Does what the leader wants and says how it is. `run()`, then `done(drained)`, unless it leads itself from then
    on.
    """

    def __init__(
        self,
        folder: RunFolder,
        spec: "KeptRunOrder",
        local: LocalRanks,
        agent: Optional[MemberAgent] = None,
        follows: Optional[Follows] = None,
    ) -> None:
        """`agent`, `follows`: of a node that has found its gang after a reboot."""
        self._folder, self._spec, self._local = folder, spec, local
        self._lock = threading.Lock()
        self._poll = AdaptivePoll()
        self.agent = agent or MemberAgent(folder, spec, local)
        self._lost_seconds = float(spec["gang"].get("lost", LOST_SECONDS))
        self._leader: str = spec["nodes"][0]
        # None: there is no leader
        self._place: Optional[Tuple[str, int]] = (spec["gang"]["address"], spec["gang"]["port"])
        self._link: Optional[Link] = None
        self._heard = boot_time()  # the leader's last sign of life
        self._refused_since: Optional[float] = None
        self._refused_seconds = min(REFUSED_SECONDS, self._lost_seconds)
        self._desired: GangDesired = {"phase": "wait", "attempt": 0}
        self._places: Mapping[str, MemberPlace] = {}
        self._limits = (self._lost_seconds, self._refused_seconds)
        self._awaits = False  # the leader's machine, which has gone down
        if follows:
            self._follow(
                {"term": follows.term, "leader": follows.leader, "address": follows.place[0], "port": follows.place[1]}
            )
        self._skipped = 0
        self._last: GangObserved = {}  # what is said once all is put away
        self._is_over = False

    def run(self) -> "Union[GangOutcome, Handover]":
        """Until the leader says the result, or the gang is lost; what it leaves where this node is to lead from now on."""
        threading.Thread(target=self._stay_connected, daemon=True).start()
        try:
            return self._take_part()
        finally:
            self._is_over = True

    def done(self, drained: bool) -> None:
        """The last word to the leader."""
        self._last = {"done": True, "drained": drained}
        with self._lock:
            link = self._link
        if link:
            _tell(link, self._all_observed())
            time.sleep(TICK * 2)  # so that closing does not overtake it
            link.close()
        self.agent.close()

    def _take_part(self) -> "Union[GangOutcome, Handover]":
        reported: Optional[GangObserved] = None
        reported_to: Optional[Link] = None
        while True:
            changed = self._local.tick()
            with self._lock:
                desired, link = self._desired, self._link
            if self._awaits and self._folder.stop_request():
                return {
                    **self._give_up(f"it was stopped while the leader on {self._leader} was away"),
                    "status": "stopped",
                    "cause": None,
                }
            if desired["phase"] == "end":
                result: GangOutcome = desired["result"]
                return result
            if desired["phase"] == "out":
                return self._give_up(f"the leader on {self._leader} has put this node out and goes on without it")
            newer = self.agent.voter.newer(desired.get("term", 1))
            gone = None if newer else self._gone()
            self.agent.voter.knows(desired, gone is not None)
            if newer:
                self._follow(newer)
            elif gone:
                found = self._without_leader(gone, desired)
                if found is not None:
                    return found
            else:
                self._keep_places(desired)
                self._apply(desired)
                observed = self._all_observed()
                changed = changed or observed != reported
                if link and (observed != reported or link is not reported_to) and _tell(link, observed):
                    reported, reported_to = observed, link
                self._poll.pause(changed)

    def _keep_places(self, desired: "GangDesired") -> None:
        """Where the others are asked after a reboot."""
        places = desired.get("places")
        if places and places != self._places and self._spec.get("after_reboot"):
            self._places = places
            self._folder.write("state", {**self._folder.state(), "places": places})

    def _apply(self, desired: "GangDesired") -> None:
        request = self._folder.stop_request()
        if desired["phase"] == "stop" and self._local.attempt < desired["attempt"]:
            self._skipped = desired["attempt"]
        if desired["phase"] not in ("prepare", "run") or not request:
            self.agent.apply(desired)
        if request:
            self._local.stop(
                self._local.attempt, 0.0 if request.get("kill") else float(request.get("grace", self._spec["grace"]))
            )

    def _all_observed(self) -> "GangObserved":
        return {**self.agent.observed(), "stop": self._folder.stop_request(), "skipped": self._skipped, **self._last}

    def _stay_connected(self) -> None:
        """In a thread of its own: connects, listens, and connects again."""
        secret: str = self._spec["gang"]["secret"]
        while not self._is_over:
            link: Optional[Link] = None
            with self._lock:
                place = self._place
            try:
                if place:
                    link = join(place[0], place[1], secret, self._spec["node"], timeout=5.0)
                    self._hear(link, place)
            except ConnectionRefusedError:
                with self._lock:
                    if self._place == place:
                        self._refused_since = self._refused_since or time.monotonic()
            except LinkLost:
                with self._lock:
                    if self._place == place:
                        self._refused_since = None
                        if link and self._link is link:
                            self._link, self._heard = None, link.heard
                if link:
                    link.abort()
            time.sleep(0.5)

    def _hear(self, link: Link, place: Tuple[str, int]) -> None:
        """Raises LinkLost in the end."""
        with self._lock:
            if self._place != place:
                raise LinkLost("another one leads by now")
            self._link, self._refused_since = link, None
            self._awaits, (self._lost_seconds, self._refused_seconds) = False, self._limits
        self._poll.wake()
        while True:
            received = link.receive()
            with self._lock:
                if self._place == place and rules.takes_over(self._desired, received):
                    self._desired = received
            self._poll.wake()

    def _gone(self) -> Optional[str]:
        """Why the leader is given up; None while it is not. Counted from its last word, so that it knows when we have
        done so.
        """
        with self._lock:
            refused = self._refused_since
        if refused is not None and time.monotonic() - refused > self._refused_seconds:
            return f"the leader on {self._leader} is gone"
        if boot_time() - self._last_word() > self._lost_seconds:
            return f"no connection to the leader on {self._leader} for {self._lost_seconds:.0f} s"
        return None

    def _last_word(self) -> float:
        with self._lock:
            return self._link.heard if self._link else self._heard

    def _without_leader(self, gone: str, desired: "GangDesired") -> "Union[GangOutcome, Handover, None]":
        """Ends the ranks, and finds out who leads from now on: None where that is somebody else, who is followed."""
        heard = self._last_word()
        self._follow(None)
        self._folder.event("leader lost", leader=self._leader, why=gone)
        if desired["phase"] == "committed":
            over: GangOutcome = desired["result"]
            return over
        if self._is_expected_back():
            self._await_leader()
            return None
        history = desired.get("history")
        least = (self._spec.get("size") or {"min": len(self._spec["nodes"])})["min"]
        if (
            not history
            or keeper_of(self._spec).ends_the_rest
            or not rules.can_be_replaced(self._spec["nodes"], self._leader, history["lost"], least)
        ):
            return self._give_up(gone)
        outcome = Election(self._folder, self._spec, self._local, self.agent.voter).hold(
            desired, self._leader, heard, self._lost_seconds
        )
        if outcome.handover or outcome.result:
            return outcome.handover or outcome.result
        if not outcome.follow:
            return self._give_up(f"{gone}, and {outcome.why}")
        self._follow(outcome.follow)
        return None

    def _is_expected_back(self) -> bool:
        """Whether the leader said that its machine goes down in order, nobody can take its place, and the run goes on
        after a reboot.
        """
        word = self.agent.voter.gone().get(self._leader, {})
        return bool(
            self._spec.get("after_reboot") and word.get("lost") and not may_be_led_on(self._spec) and not self._awaits
        )

    def _await_leader(self) -> None:
        """It listens at its port of before when it is back, and leads in a later term."""
        self._folder.event("awaits", members=[self._leader], seconds=PATIENCE_SECONDS)
        self._local.stop(self._local.attempt, FAILURE_GRACE)
        gang = self._folder.state().get("gang") or self._spec["gang"]
        with self._lock:
            self._awaits, self._lost_seconds, self._refused_seconds = True, PATIENCE_SECONDS, PATIENCE_SECONDS
            self._place, self._heard = (gang["address"], int(gang["port"])), boot_time()
            self._desired = {**self._desired, "phase": "wait"}

    def _follow(self, announced: "Optional[LeaderPlace]") -> None:
        """From now on another leader is heard, {term, leader, address, port}, or none."""
        with self._lock:
            link, self._link, self._refused_since, self._heard = self._link, None, None, boot_time()
            self._place = (announced["address"], int(announced["port"])) if announced else None
            if announced:
                self._leader = announced["leader"]
                # Whatever the leader before wanted is over; the new one says what is next.
                self._desired = {**self._desired, "phase": "wait", "term": announced["term"], "serial": 0}
        if link:
            link.abort()
        if announced:
            self._folder.event("follows", leader=announced["leader"], term=announced["term"])
            gang = {"address": announced["address"], "port": announced["port"]}
            self._folder.write(
                "state",
                {**self._folder.state(), "term": announced["term"], "leader": announced["leader"], "gang": gang},
            )

    def _give_up(self, why: str) -> "GangOutcome":
        """No gang any more: nothing of it stays alive here."""
        self._folder.event("gang lost", why=why)
        self._local.stop(self._local.attempt, FAILURE_GRACE)
        while self._local.phase == "running":
            self._local.tick()
            time.sleep(TICK)
        self.agent.close()
        return {"status": "failed", "cause": of_gang(self._spec["node"], why), "attempts": [], "partial": True}


def _tell(link: Link, observed: "GangObserved") -> bool:
    return link.send({**observed, "clock": time.time()})
