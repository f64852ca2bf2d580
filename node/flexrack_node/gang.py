"""Makes one gang of the supervisors of a run: all start together, and one failure ends it everywhere.

The protocol is a state, not a conversation. The leader (the run's first node) tells every member what is wanted, each
member tells the leader how things are on its node; both say it again after every change and every reconnection. So a lost link needs no memory
of what was said before. What is in both: gang_side.py; a member's view has {stop: {grace, kill, by} | null, skipped, done, drained: bool} besides.

Not every supervisor takes part in every attempt: the run's nodes are a pool, and an attempt has the first of them that can be used, as
many as the run is to have (gang_rules.py). The others are idle. docs/adr/0016 says what happens when a node is lost, and when.
"""
import time
from typing import Any, Dict, List, Optional, Sequence

from flexrack_node import gang_rules
from flexrack_node.cause import first_cause, is_complete, of_gang, ranks_of
from flexrack_node.gang_evidence import Evidence, explain
from flexrack_node.gang_roll import Roll
from flexrack_node.gang_side import Side
from flexrack_node.hang import Hangs
from flexrack_node.launch import free_port
from flexrack_node.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run_files import RunFolder
from flexrack_node.straggler import report

LOST_SECONDS = 30.0  # without a member before the attempt is given up; without a leader before a member ends its ranks
CERTAIN_SECONDS = 8.0  # after that until a member that was cut off has surely ended its ranks
_STOP_LINK_SECONDS = 4.0  # the same while stopping: a member that lives connects again every half second
_STOP_PATIENCE = 15.0  # seconds after the grace in which a node must say that its ranks are gone
_PREPARE_SECONDS = 3600.0  # for copying a checkpoint to the nodes that lack it; a node that is lost ends it before


class Leader:
    """Runs on the first node. `listen()` first, then `run()`, then `end(result)`."""

    def __init__(self, folder: RunFolder, spec: Dict[str, Any], local: LocalRanks) -> None:
        self._folder, self._spec, self._local = folder, spec, local
        self._own: str = spec["node"]
        self._size = spec.get("size") or {"min": len(spec["nodes"]), "max": len(spec["nodes"])}
        self._lost_seconds = float(spec["gang"].get("lost", LOST_SECONDS))
        self._roll = Roll(folder, spec)
        self._side = Side(folder, spec, local)
        self._evidence = Evidence(folder, self._own, self._roll, self._side)
        self._lost: Dict[str, Dict[str, Any]] = {}  # nodes that were put out, and why
        self._checkpoint: Optional[Dict[str, Any]] = None  # the newest that was ever heard of
        self._hangs = Hangs(folder, spec)

    def listen(self) -> int:
        """Opens the gang's port on the run's address and returns it; 0 where there are no members. Raises OSError."""
        return self._roll.listen()

    def run(self) -> Dict[str, Any]:
        """All attempts; returns {status: finished|failed|stopped, cause, attempts}."""
        attempts: List[Dict[str, Any]] = list(self._spec.get("attempts") or [])  # of a job of Slurm that was started before
        missing = self._wait_for_all()
        members = self._next_members()
        if self._stop_request():
            return {"status": "stopped", "cause": None, "attempts": attempts}
        if not members:
            seconds = self._spec["gang"].get("timeout", 60)
            message = f"{', '.join(missing)} did not join the gang within {seconds} s"
            return {"status": "failed", "cause": of_gang(missing[0], message), "attempts": attempts}
        why = attempts[-1]["changes"] if attempts else "start" if len(members) == len(self._spec["nodes"]) else f"start with {len(members)} of {len(self._spec['nodes'])} nodes"
        while True:
            outcome = {**self._run_attempt(len(attempts) + 1, members), "why": why}
            attempts.append(outcome)
            verdict = self._after(attempts, members) if outcome["status"] == "failed" and not self._hangs.is_final(len(attempts)) else None
            if not verdict:
                return {"status": outcome["status"], "cause": outcome["cause"], "attempts": attempts}
            members, why = verdict["members"], verdict["why"]
            self._folder.event("restarting", attempt=len(attempts) + 1, why=why, nodes=members)

    def end(self, result: Dict[str, Any], patience: float) -> bool:
        """Tells everybody the result; True where every member has said that its tracking writes are through."""
        self._roll.want({"phase": "end", "attempt": self._local.attempt, "result": result})
        deadline = time.monotonic() + patience
        members = [node for node in self._spec["nodes"] if node != self._own]
        waiting = [node for node in members if node not in self._roll.out()]
        while time.monotonic() < deadline and not all(self._view(node).get("done") for node in waiting):
            if all(node not in self._roll.here() and not self._view(node).get("done") for node in waiting):
                break
            time.sleep(TICK)
        self._roll.close()
        self._side.close()
        return all(self._view(node).get("drained") for node in members)

    def _run_attempt(self, number: int, members: List[str]) -> Dict[str, Any]:
        started = time.time()
        begun = {"attempt": number, "nodes": members, "started": started, "checkpoint": None}
        nothing = {"status": "failed", "clean": True, "survivors": {}, "lost": [], "reached": None, "steps": None}
        try:
            port = free_port(self._spec["gang"]["address"])
        except OSError as error:
            return {**begun, **nothing, "clean": False, "cause": of_gang(self._own, f"no port to be had: {error}")}
        checkpoint = self._newest_checkpoint(members)
        begun["checkpoint"] = checkpoint and {"name": checkpoint["name"], "node": checkpoint["node"], "at": checkpoint["at"] / 1e9}
        wanted = {"attempt": number, "members": members, "checkpoint": checkpoint}
        problem = self._prepare(wanted) if checkpoint else None
        if problem or checkpoint and self._stop_request():
            self._want({**wanted, "phase": "stop", "grace": 0.0})  # nobody begins it any more
            return {**begun, **nothing, "ended": time.time(), "cause": problem, "reached": checkpoint, "status": "failed" if problem else "stopped"}
        self._want({**wanted, "phase": "run", "address": self._spec["gang"]["address"], "port": port, "rendezvous": f"{self._spec['run']}.{number}"})
        self._folder.write("state", {**self._folder.state(), "status": "running", "attempt": number, "members": members})
        why, lost = self._watch(number, members)
        stopped_at = time.time()
        ranks = ranks_of(members, self._spec["launcher"], self._spec["processes"])
        finished = is_complete(self._views(members), ranks)
        if why != "ended":
            request = self._stop_request() or {}
            grace = FAILURE_GRACE if why != "stop" else 0.0 if request.get("kill") else float(request.get("grace", self._spec["grace"]))
            self._folder.write("state", {**self._folder.state(), "status": "stopping"})
            unreached = self._stop_all(number, members, min(grace, self._spec["grace"]) if why != "stop" else grace)
            lost = sorted(set(lost) | set(unreached))
        views = self._views(members)
        # Where a warden speaks for a dead supervisor nothing can be started again.
        lost = sorted(set(lost) | {node for node, view in views.items() if view.get("gone")})
        complete = is_complete(views, ranks)
        survivors = {node: view.get("survivors", []) for node, view in views.items() if view.get("survivors")}
        cause = None
        if why != "stop" and not complete:
            cause = self._hangs.cause_in(number) or first_cause(views, self._roll.clocks, stopped_at if why != "ended" else None)
            if why == "lost" and (cause is None or cause["at"] > stopped_at):
                cause = of_gang(lost[0], f"the connection to {', '.join(lost)} was lost for more than {self._lost_seconds:.0f} s")
        found = [view["checkpoint"] for view in views.values() if view.get("checkpoint")]
        return {
            **begun,
            "status": "finished" if complete and (finished or why != "stop") else "stopped" if why == "stop" else "failed",
            "ended": time.time(), "cause": cause, "survivors": survivors, "lost": lost,
            "clean": not survivors and not lost,
            "pace": report({node: view.get("paces") or {} for node, view in views.items()}),
            "reached": max(found, key=lambda one: one["at"], default={"at": 0} if self._spec.get("checkpoint") else None),
            "steps": max((view["steps"] for view in views.values() if view.get("steps") is not None), default=None),
            "exits": {rank: record.get("exit") for view in views.values() for rank, record in view.get("records", {}).items()},
        }

    def _after(self, attempts: List[Dict[str, Any]], members: List[str]) -> Optional[Dict[str, Any]]:
        """What comes after an attempt that has failed: {members, why}, or None, and then its `cause` says why it is over."""
        last = attempts[-1]
        has_restarts = sum(not one.get("changes") for one in attempts) <= self._spec["restarts"]
        out = self._settle(last, members, has_restarts)
        if out:
            explain(last, out)
        if self._stop_request():
            last.update({"status": "stopped", "cause": None} if has_restarts or out else {})
            return None
        next_members = self._next_members()
        if last["survivors"]:
            return None
        if not next_members:
            left = len(self._spec["nodes"]) - len(self._lost)
            last["cause"]["message"] = f"{last['cause']['message']}; {left} of {len(self._spec['nodes'])} nodes are left, and {self._size['min']} are needed"
            return None
        if out:
            last["changes"] = gang_rules.describe_change(members, next_members)
            return {"members": next_members, "why": last["changes"]}
        count = gang_rules.stuck(attempts, int(self._spec.get("without_progress", gang_rules.WITHOUT_PROGRESS)))
        if count and has_restarts:
            last["cause"] = {**last["cause"], "message": gang_rules.describe_stuck(count, attempts, last["cause"]), "stuck": count}
            return None
        change = gang_rules.describe_change(members, next_members)
        return {"members": next_members, "why": f"a rank failed{', ' + change if change else ''}"} if has_restarts else None

    def _settle(self, last: Dict[str, Any], members: List[str], has_restarts: bool) -> Dict[str, Dict[str, Any]]:
        """Until every node of the attempt is ready again, or surely has no rank any more; returns those that are put out, and why."""
        out: Dict[str, Dict[str, Any]] = {}
        number, certain = last["attempt"], self._lost_seconds + CERTAIN_SECONDS
        # Where nothing could go on, only so long that the others can say what they know.
        can_go_on = has_restarts or self._next_members(but=last["lost"]) is not None
        begun = time.monotonic()
        while not self._stop_request():
            self._side.obey(self._roll.wanted)
            self._local.tick()
            for node in [one for one in members if one not in out]:
                view, away = self._view(node), self._roll.lost_for(node)
                is_ended = node not in self._unended(number, [node])
                if view.get("gone") and not view.get("survivors"):
                    out[node] = {"node": node, "kind": "supervisor", "message": f"{node} is lost: its supervisor was killed"}
                elif away is not None and (away > certain or not can_go_on and self._evidence.is_known(node, time.monotonic() - begun)):
                    out[node] = self._evidence.judge(node, away)
                elif not is_ended and away is None and (not can_go_on or time.monotonic() - begun > certain):
                    out[node] = {"node": node, "kind": "node", "message": f"{node} did not say that its ranks have ended"}
                    last["survivors"].setdefault(node, [])
            self._evidence.gather([node for node in members if node not in out and self._roll.lost_for(node) is not None])
            open_nodes = [node for node in members if node not in out and (self._roll.lost_for(node) is not None or self._unended(number, [node]))]
            if not open_nodes:
                break
            time.sleep(TICK)
        if not out and len(members) > 2:
            found = self._evidence.broken_links(members, self._spec["nodes"])
            if not found or self._next_members(but=list(found)):
                out = found
            elif last["cause"]:  # it can only be tried again with all of them
                last["cause"]["message"] = "; ".join([*(one["message"] for one in found.values()), last["cause"]["message"] or "a rank failed"])
        for node, why in out.items():
            self._lost[node] = why
            self._roll.put_out(node)
            self._folder.event("put out", member=node, lost=why["kind"], why=why["message"])
        return out

    def _prepare(self, wanted: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Brings the checkpoint to all nodes of the attempt; returns the cause where that is not to be done."""
        members, number, name = wanted["members"], wanted["attempt"], wanted["checkpoint"]["name"]
        self._want({**wanted, "phase": "prepare"})
        deadline = time.monotonic() + _PREPARE_SECONDS
        while True:
            self._side.obey(self._roll.wanted)
            views = self._views(members)
            waiting = [node for node, view in views.items() if view.get("ready", 0) < number]
            problem = next((view["problem"] for view in views.values() if (view.get("problem") or {}).get("attempt") == number), None)
            lost = [node for node in waiting if node in self._roll.lost(self._lost_seconds) or self._view(node).get("gone")]
            if not waiting or self._stop_request():
                return None
            if problem or lost or time.monotonic() > deadline:
                return of_gang(waiting[0], problem["message"] if problem else f"checkpoint {name} did not come to {', '.join(lost or waiting)}")
            time.sleep(TICK)

    def _watch(self, number: int, members: List[str]) -> "tuple[str, List[str]]":
        """Until the attempt is over by itself, or must be ended: (ended|failed|stop|lost, nodes lost)."""
        while True:
            self._side.obey(self._roll.wanted)
            self._local.tick()
            if self._stop_request():
                return "stop", []
            views = self._views(members)
            mine = [view for view in views.values() if view.get("attempt") == number]
            if any(view.get("trouble") or any(record.get("exit") for record in view["records"].values()) for view in mine):
                return "failed", []
            if len(mine) == len(views) and all(view["phase"] == "ended" for view in mine):
                return "ended", []
            lost = [node for node in self._roll.lost(self._lost_seconds) if node in members]
            if lost:
                return "lost", lost
            if self._hangs.tick(number, dict(zip(views, mine)) if len(mine) == len(views) else {}):
                return "failed", []
            if self._hangs.wanted > self._roll.wanted.get("dump", 0):
                self._want({**self._roll.wanted, "dump": self._hangs.wanted})
            self._evidence.gather([node for node in members if self._roll.lost_for(node) is not None])
            time.sleep(TICK)

    def _stop_all(self, number: int, members: List[str], grace: float) -> List[str]:
        """Ends the attempt everywhere; returns the nodes that did not say that it is done."""
        self._want({"phase": "stop", "attempt": number, "members": members, "grace": grace, "quiet": self._local.is_signalled()})
        deadline = time.monotonic() + grace + _STOP_PATIENCE
        while time.monotonic() < deadline:
            self._side.obey(self._roll.wanted)
            self._local.tick()
            request = self._stop_request()
            if request and request.get("kill") and self._roll.wanted.get("grace"):
                self._want({**self._roll.wanted, "grace": 0.0})
            waiting = self._unended(number, members)
            if not waiting or all(node in self._roll.lost(_STOP_LINK_SECONDS) for node in waiting):
                return waiting
            time.sleep(TICK)
        return self._unended(number, members)

    def _unended(self, number: int, members: List[str]) -> List[str]:
        """Nodes that may still have ranks. One that has not begun yet will not begin after a stop."""
        def is_over(view: Dict[str, Any]) -> bool:
            return view.get("attempt") == number and view.get("phase") == "ended" or view.get("skipped", self._local.attempt < number and number) >= number
        return [node for node in members if not is_over(self._view(node))]

    def _wait_for_all(self) -> List[str]:
        """Returns the nodes that are still missing when the time is over."""
        deadline = time.monotonic() + self._spec["gang"].get("timeout", 60)
        while True:
            missing = [node for node in self._spec["nodes"] if node != self._own and node not in self._roll.here()]
            if not missing or time.monotonic() > deadline or self._stop_request():
                return missing
            time.sleep(TICK)

    def _next_members(self, but: Sequence[str] = ()) -> Optional[List[str]]:
        """The nodes of the next attempt, `but` those; None where too few can be used."""
        usable = [node for node in self._spec["nodes"] if node == self._own or node in self._roll.here()]
        return gang_rules.next_members(self._spec["nodes"], [node for node in usable if node not in self._lost and node not in but], self._size["max"], self._size["min"])

    def _newest_checkpoint(self, members: List[str]) -> Optional[Dict[str, Any]]:
        """The newest whole one that a node of the gang has, and where; what only lost nodes had is said to be lost."""
        usable = [node for node in self._spec["nodes"] if node == self._own or node in self._roll.here()]
        found = [{**one, "node": node, "place": self._view(node).get("peer")} for node in usable for one in [self._view(node).get("checkpoint")] if one]
        newest = max(found, key=lambda one: (one["at"], one["node"] in members), default=None)
        known = [{**one, "node": node} for node in self._lost for one in [self._view(node).get("checkpoint")] if one] + [one for one in [self._checkpoint] if one]
        gone = [one for one in known if one["at"] > (newest or {"at": 0})["at"]]
        if gone:
            self._folder.event("checkpoint lost", checkpoint=gone[0]["name"], had=gone[0]["node"], instead=newest and newest["name"])
        self._checkpoint = newest
        return newest

    def _want(self, wanted: Dict[str, Any]) -> None:
        wanted = {"ask": self._roll.wanted.get("ask"), **wanted}
        self._roll.want(wanted)
        self._side.obey(wanted)

    def _view(self, node: str) -> Dict[str, Any]:
        return self._side.view() if node == self._own else self._roll.view(node)

    def _views(self, members: List[str]) -> Dict[str, Dict[str, Any]]:
        return {node: self._view(node) for node in members}

    def _stop_request(self) -> Optional[Dict[str, Any]]:
        """What somebody asked for on this node, or on a member's."""
        asked = [one for one in [self._folder.stop_request(), *self._roll.stop_requests()] if one]
        return next((one for one in asked if one.get("kill")), asked[0] if asked else None)
