"""What a leader does after an attempt that has failed: finds out who is lost, and decides with whom, and whether, there
is another one. The rules are in run/rules.py.
"""

import time
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional

from flexrack_node.gang.evidence import explain
from flexrack_node.gang.membership import Membership
from flexrack_node.gang.returning import PATIENCE_SECONDS
from flexrack_node.rank.local_ranks import TICK, LocalRanks
from flexrack_node.run import rules
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import NodeLoss
    from flexrack_node.schema.result import RunAttempt
    from flexrack_node.schema.runfiles import KeptRunOrder


class Next(NamedTuple):
    """The attempt that follows: with whom, and why."""

    members: List[str]
    why: str


class Aftermath:
    """`decide()` after each failed attempt."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", membership: Membership, local: LocalRanks) -> None:
        self._folder, self._spec, self._membership, self._local = folder, spec, membership, local

    def decide(self, attempts: "List[RunAttempt]", members: List[str]) -> Optional[Next]:
        """What comes next, or None, and then the last attempt's `cause` says why it is over."""
        last, membership = attempts[-1], self._membership
        has_restarts = sum(not one.get("changes") for one in attempts) <= self._spec["restarts"]
        out = self._settle(last, members, has_restarts)
        if out:
            explain(last, out)
        if membership.stop_request():
            last.update({"status": "stopped", "cause": None} if has_restarts or out else {})
            return None
        next_members = membership.next_members()
        if last["survivors"]:
            return None
        if (
            not next_members
            and has_restarts
            and self._spec.get("after_reboot")
            and any(one["kind"] == "reboot" for one in out.values())
        ):
            next_members = self._await_return(out)
            if membership.stop_request():
                last.update({"status": "stopped", "cause": None})
                return None
        if not next_members:
            left = len(membership.pool) - len(membership.lost)
            if last["cause"]:
                last["cause"]["message"] = (
                    f"{last['cause']['message']}; {left} of {len(membership.pool)} nodes are left, and {membership.size['min']} are needed"
                )
            return None
        if out:
            changes = rules.describe_change(members, next_members)
            if changes:
                last["changes"] = changes
            return (
                Next(next_members, changes or f"{', '.join(out)} came back after a reboot")
                if changes or has_restarts
                else None
            )
        count = rules.stuck(attempts, int(self._spec.get("without_progress", rules.WITHOUT_PROGRESS)))
        if count and has_restarts and last["cause"]:
            last["cause"].update({"message": rules.describe_stuck(count, attempts, last["cause"]), "stuck": count})
            return None
        change = rules.describe_change(members, next_members)
        return Next(next_members, f"a rank failed{', ' + change if change else ''}") if has_restarts else None

    def _await_return(self, out: "Dict[str, NodeLoss]") -> Optional[List[str]]:
        """A node that goes down in order, or that is there again already, is most likely to come back: with whom the
        run goes on then, None where it does not.
        """
        self._folder.event("awaits", members=sorted(out), seconds=PATIENCE_SECONDS)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (
            time.monotonic() < deadline
            and not self._membership.stop_request()
            and not self._membership.step_down_cause()
        ):
            self._membership.apply()
            self._local.tick()
            found = self._membership.next_members()
            if found:
                return found
            time.sleep(TICK)
        return None

    def _settle(self, last: "RunAttempt", members: List[str], has_restarts: bool) -> "Dict[str, NodeLoss]":
        """Until every node of the attempt is ready again, or surely has no rank any more; returns those that are put
        out, and why.
        """
        out: Dict[str, NodeLoss] = {}
        membership, number = self._membership, last["attempt"]
        # Where nothing could go on, only so long that the others can say what they know.
        can_go_on = has_restarts or membership.next_members(but=last["lost"]) is not None
        begun = time.monotonic()
        while not membership.stop_request() and not membership.step_down_cause():
            membership.apply()
            self._local.tick()
            for node in [one for one in members if one not in out]:
                observed, away = membership.observed(node), membership.links.lost_for(node)
                is_ended = node not in membership.unended(number, [node])
                if observed.get("gone") and not observed.get("survivors"):
                    out[node] = observed.get("lost") or {
                        "node": node,
                        "kind": "supervisor",
                        "message": f"{node} is lost: its supervisor was killed",
                    }
                elif away is not None and (
                    away > membership.certain(node)
                    or (not can_go_on and membership.evidence.is_known(node, time.monotonic() - begun))
                ):
                    out[node] = membership.evidence.judge(node, away)
                elif (
                    not is_ended
                    and away is None
                    and (not can_go_on or time.monotonic() - begun > membership.certain(node))
                ):
                    out[node] = {
                        "node": node,
                        "kind": "node",
                        "message": f"{node} did not say that its ranks have ended",
                    }
                    last["survivors"].setdefault(node, [])
            membership.gather()
            open_nodes = [
                node
                for node in members
                if node not in out
                and (membership.links.lost_for(node) is not None or membership.unended(number, [node]))
            ]
            if not open_nodes:
                break
            time.sleep(TICK)
        if not out and len(members) > 2:
            found = membership.evidence.broken_links(members, membership.pool)
            if not found or membership.next_members(but=list(found)):
                out = found
            elif last["cause"]:  # it can only be tried again with all of them
                last["cause"]["message"] = "; ".join(
                    [*(one["message"] for one in found.values()), last["cause"]["message"] or "a rank failed"]
                )
        for node, why in out.items():
            membership.put_out(node, why)
        return out
