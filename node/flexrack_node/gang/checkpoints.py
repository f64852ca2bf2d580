"""The checkpoint that an attempt begins with: the newest whole one that a node of the gang has, and that all of them get."""

import time
from typing import TYPE_CHECKING, List, Optional, cast

from flexrack_node.gang.membership import Membership
from flexrack_node.rank.local_ranks import TICK
from flexrack_node.run.cause import of_gang
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import CheckpointFound, CheckpointSource, GangDesired
    from flexrack_node.schema.result import Cause, CheckpointReached

# For copying a checkpoint to the nodes that lack it; a node that is lost ends it before.
_BRING_SECONDS = 3600.0


class Checkpoints:
    """Of the leader: `newest()` before an attempt, then `bring()` where there is one."""

    def __init__(self, folder: RunFolder, membership: Membership) -> None:
        self._folder, self._membership = folder, membership
        self._heard: Optional[CheckpointSource] = None  # the newest that was ever heard of

    def bring(self, desired: "GangDesired", name: str) -> "Optional[Cause]":
        """Brings the checkpoint to all nodes of the attempt; returns the cause where that is not to be done."""
        members, number = desired["members"], desired["attempt"]
        self._membership.set_desired(desired)
        deadline = time.monotonic() + _BRING_SECONDS
        while True:
            self._membership.apply()
            observations = self._membership.observations(members)
            waiting = [node for node, observed in observations.items() if observed.get("ready", 0) < number]
            problem = next(
                (
                    one
                    for observed in observations.values()
                    for one in [observed.get("problem")]
                    if one and one["attempt"] == number
                ),
                None,
            )
            lost = [
                node
                for node in waiting
                if node in self._membership.links.lost(self._membership.lost_seconds)
                or self._membership.observed(node).get("gone")
            ]
            if not waiting or self._membership.stop_request() or self._membership.step_down_cause():
                return None
            if problem or lost or time.monotonic() > deadline:
                return of_gang(
                    waiting[0],
                    problem["message"]
                    if problem
                    else f"checkpoint {name} did not come to {', '.join(lost or waiting)}",
                )
            time.sleep(TICK)

    def newest(self, members: List[str]) -> "Optional[CheckpointSource]":
        """The newest whole one that a node of the gang has, and where; what only lost nodes had is said to be lost."""
        usable = self._membership.usable()
        found: List[CheckpointSource] = [
            {**one, "node": node, "place": self._membership.observed(node).get("peer")}
            for node in usable
            for one in [self._membership.observed(node).get("checkpoint")]
            if one
        ]
        newest = max(found, key=lambda one: (one["at"], one["node"] in members)) if found else None
        lost = [(node, self._membership.observed(node)) for node in self._membership.lost]
        known: List[CheckpointSource] = [
            {**one, "node": node, "place": None}
            for node, observed in lost
            for one in [observed.get("checkpoint") or observed.get("saved")]
            if one
        ]
        gone = [
            one
            for one in [*known, *([self._heard] if self._heard else [])]
            if one["at"] > (newest["at"] if newest else 0)
        ]
        if gone:
            self._folder.event(
                "checkpoint lost", checkpoint=gone[0]["name"], had=gone[0]["node"], instead=newest and newest["name"]
            )
        self._heard = newest
        return newest


def reached_of(checkpoint: "Optional[CheckpointFound]") -> "Optional[CheckpointReached]":
    """As an attempt's record has it."""
    return cast("Optional[CheckpointReached]", checkpoint)
