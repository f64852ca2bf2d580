"""Makes one gang of the supervisors of a run: all start together, and one failure ends it everywhere.

The protocol is a state, not a conversation. The leader (the run's first node, or who was chosen in its place: gang/election.py) tells every member what is wanted, each
member tells the leader how things are on its node; both say it again after every change and every reconnection. So a lost link needs no memory
of what was said before. What is in both: gang/side.py; a member's view has {stop: {grace, kill, by} | null, skipped, done, drained: bool} besides.

Not every supervisor takes part in every attempt: the run's nodes are a pool, and an attempt has the first of them that can be used, as
many as the run is to have (run/rules.py). The others are idle. docs/adr/0016 says what happens when a node is lost, and when.
"""
import secrets
import time
from typing import Any, Dict, List, Optional

from flexrack_node.gang.aftermath import Aftermath
from flexrack_node.gang.election import Heritage
from flexrack_node.gang.muster import Muster
from flexrack_node.gang.side import Side
from flexrack_node.link.gang_link import SILENT_SECONDS, boot_time
from flexrack_node.link.peer import ask_all
from flexrack_node.rank.launch import free_port
from flexrack_node.rank.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run.cause import first_cause, is_complete, of_gang, ranks_of
from flexrack_node.run.files import RunFolder
from flexrack_node.watch.hang import Hangs
from flexrack_node.watch.straggler import report

_STOP_LINK_SECONDS = 4.0  # without a link while stopping: a member that lives connects again every half second
_STOP_PATIENCE = 15.0  # seconds after the grace in which a node must say that its ranks are gone
_PREPARE_SECONDS = 3600.0  # for copying a checkpoint to the nodes that lack it; a node that is lost ends it before
_HEIR_SECONDS = SILENT_SECONDS + 3.0  # for everybody to come to a new leader; who still believed in the old one has noticed by then
_ANNOUNCE_SECONDS = 1.0


class Leader:
    """Runs on one node. `listen()` first, then `run()`, `judged(result)` as soon as there is one, then `end(result)`."""

    def __init__(self, folder: RunFolder, spec: Dict[str, Any], local: LocalRanks, side: Optional[Side] = None, heritage: Optional[Heritage] = None) -> None:
        """`side`, `heritage`: of the member that this node was before."""
        self._folder, self._spec, self._local, self._heritage = folder, spec, local, heritage
        self._muster = Muster(folder, spec, local, side, heritage)
        self._aftermath = Aftermath(spec, self._muster, local)
        self._checkpoint: Optional[Dict[str, Any]] = None  # the newest that was ever heard of
        self._hangs = Hangs(folder, spec, heritage.wanted.get("dump", 0) if heritage else 0)

    def listen(self) -> Dict[str, Any]:
        """Opens the gang's port; returns {address, port}, 0 where there are no members. Raises OSError."""
        place = {"address": self._muster.roll.address, "port": self._muster.roll.listen()}
        self._folder.write("state", {**self._folder.state(), "gang": place, "epoch": self._muster.epoch, "leader": self._muster.own})
        return place

    def run(self) -> Dict[str, Any]:
        """All attempts; returns {status: finished|failed|stopped, cause, attempts}, and `partial` where others lead the run by now."""
        attempts: List[Dict[str, Any]] = list(self._spec.get("attempts") or [])  # of a job of Slurm that was started before
        outcome: Optional[Dict[str, Any]] = None
        if self._heritage:
            attempts, members, why = self._heritage.attempts, self._heritage.open["nodes"], self._heritage.open["why"]
            outcome = self._inherit(self._heritage)
        else:
            missing = self._wait_for_all()
            found = self._muster.next_members()
            if self._muster.stop_request():
                return {"status": "stopped", "cause": None, "attempts": attempts}
            if not found:
                seconds = self._spec["gang"].get("timeout", 60)
                message = f"{', '.join(missing)} did not join the gang within {seconds} s"
                return {"status": "failed", "cause": of_gang(missing[0], message), "attempts": attempts}
            members, pool = found, self._muster.pool
            why = attempts[-1]["changes"] if attempts else "start" if len(members) == len(pool) else f"start with {len(members)} of {len(pool)} nodes"
        while True:
            outcome = {**(outcome or self._run_attempt(attempts, members, why)), "why": why}
            attempts.append(outcome)
            verdict = self._aftermath.decide(attempts, members) if outcome["status"] == "failed" and not self._hangs.is_final(len(attempts)) else None
            deposed = self._muster.deposed()
            if deposed:
                self._folder.event("deposed", why=deposed["message"])
                return {"status": "failed", "cause": deposed, "attempts": attempts, "partial": True}
            if not verdict:
                return {"status": outcome["status"], "cause": outcome["cause"], "attempts": attempts}
            members, why, outcome = verdict["members"], verdict["why"], None
            self._folder.event("restarting", attempt=len(attempts) + 1, why=why, nodes=members)

    def judged(self, result: Dict[str, Any]) -> None:
        """How it ended is known to the others from here on, also if this node is lost before it has put everything away."""
        self._muster.want({"phase": "judged", "attempt": self._local.attempt, "result": result})

    def end(self, result: Dict[str, Any], patience: float) -> bool:
        """Tells everybody the result; True where every member has said that its tracking writes are through."""
        self._muster.want({"phase": "end", "attempt": self._local.attempt, "result": result})
        deadline = time.monotonic() + patience
        members = self._muster.others
        waiting = [node for node in members if node not in self._muster.roll.out()]
        while time.monotonic() < deadline and not all(self._muster.view(node).get("done") for node in waiting):
            if all(node not in self._muster.roll.here() and not self._muster.view(node).get("done") for node in waiting):
                break
            time.sleep(TICK)
        self._muster.close()
        return all(self._muster.view(node).get("drained") for node in members)

    def leave(self) -> None:
        """Without a word: who is still connected finds another leader, if there is none yet."""
        self._muster.close()
        self._muster.roll.drop()

    def _inherit(self, heritage: Heritage) -> Dict[str, Any]:
        """Ends what the lost leader had begun, with whoever comes."""
        muster, begun = self._muster, {key: value for key, value in heritage.open.items() if key != "why"}
        muster.history = {"attempts": heritage.attempts, "open": heritage.open}
        places: Dict[str, Any] = heritage.wanted["places"]
        for node, why in heritage.wanted["history"]["lost"].items():
            muster.lost[node] = why
            muster.roll.put_out(node)
        muster.side.ballot.knows(muster.roll.wanted, False)
        waiting = [node for node in muster.others if node not in muster.lost]
        for node in waiting:
            former = node == heritage.leader
            muster.roll.expect(node, heritage.heard if former else boot_time(), {"peer": places.get(node), "skipped": 0})
        muster.want({"phase": "wait", "attempt": begun["attempt"]})  # who comes knows what was before, should we be lost, too
        told = {"follow": {"epoch": muster.epoch, "leader": muster.own, **self._folder.state()["gang"]}}
        deadline, again = time.monotonic() + _HEIR_SECONDS, 0.0
        while time.monotonic() < deadline and set(waiting) - muster.roll.here() - {heritage.leader}:
            self._local.tick()
            if time.monotonic() >= again:
                away = {node: (places[node][0], places[node][1]) for node in waiting if node in places and node not in muster.roll.here()}
                ask_all(away, told, self._spec["gang"]["secret"], muster.own, self._local.tick)
                again = time.monotonic() + _ANNOUNCE_SECONDS
            time.sleep(TICK)
        why = "stop" if heritage.wanted.get("asked") else "lost"
        return self._close(begun, begun["nodes"], why, [heritage.leader], time.time() - (boot_time() - heritage.heard))

    def _run_attempt(self, attempts: List[Dict[str, Any]], members: List[str], why: str) -> Dict[str, Any]:
        started, number, address = time.time(), len(attempts) + 1, self._muster.roll.address
        for one in attempts:
            one["pace"] = None  # of every rank of every attempt it would be more than fits into a line to the others
        begun = {"attempt": number, "nodes": members, "started": started, "checkpoint": None}
        nothing = {"status": "failed", "clean": True, "survivors": {}, "lost": [], "reached": None, "steps": None}
        try:
            port = free_port(address)
        except OSError as error:
            return {**begun, **nothing, "clean": False, "cause": of_gang(self._muster.own, f"no port to be had: {error}")}
        checkpoint = self._newest_checkpoint(members)
        begun["checkpoint"] = checkpoint and {"name": checkpoint["name"], "node": checkpoint["node"], "at": checkpoint["at"] / 1e9}
        self._muster.history = {"attempts": list(attempts), "open": {**begun, "why": why}}
        wanted = {"attempt": number, "members": members, "checkpoint": checkpoint}
        problem = self._prepare(wanted) if checkpoint else None
        if problem or (checkpoint and (self._muster.stop_request() or self._muster.deposed())):
            self._muster.want({**wanted, "phase": "stop", "grace": 0.0})  # nobody begins it any more
            status = "stopped" if self._muster.stop_request() and not problem else "failed"
            return {**begun, **nothing, "ended": time.time(), "cause": problem, "reached": checkpoint, "status": status}
        self._muster.want({**wanted, "phase": "run", "address": address, "port": port, "rendezvous": secrets.token_hex(16)})
        self._folder.write("state", {**self._folder.state(), "status": "running", "attempt": number, "members": members})
        ended, lost = self._watch(number, members)
        return self._close(begun, members, ended, lost, time.time())

    def _close(self, begun: Dict[str, Any], members: List[str], why: str, lost: List[str], stopped_at: float) -> Dict[str, Any]:
        """Ends an attempt everywhere, where it is not over; `why`: ended|failed|stop|lost|deposed, since `stopped_at`. Returns all that is known of it."""
        number: int = begun["attempt"]
        ranks = ranks_of(members, self._spec["launcher"], self._spec["processes"])
        finished = is_complete(self._muster.views(members), ranks)
        if why != "ended":
            request = self._muster.stop_request() or {}
            grace = FAILURE_GRACE if why != "stop" else 0.0 if request.get("kill") else float(request.get("grace", self._spec["grace"]))
            self._folder.write("state", {**self._folder.state(), "status": "stopping"})
            unreached = self._stop_all(number, members, min(grace, self._spec["grace"]) if why != "stop" else grace)
            lost = sorted(set(lost) | set(unreached))
        views = self._muster.views(members)
        # Where a warden speaks for a dead supervisor nothing can be started again.
        lost = sorted(set(lost) | {node for node, view in views.items() if view.get("gone")})
        complete = is_complete(views, ranks)
        survivors = {node: view.get("survivors", []) for node, view in views.items() if view.get("survivors")}
        cause = None
        if why != "stop" and not complete:
            cause = self._hangs.cause_in(number) or first_cause(views, self._muster.roll.clocks, stopped_at if why != "ended" else None)
            if why == "lost" and (cause is None or cause["at"] > stopped_at):
                cause = of_gang(lost[0], f"the connection to {', '.join(lost)} was lost for more than {self._muster.lost_seconds:.0f} s")
        found = [view["checkpoint"] for view in views.values() if view.get("checkpoint")]
        return {
            **begun,
            "status": "finished" if complete and (finished or why != "stop") else "stopped" if why == "stop" else "failed",
            "ended": time.time(), "cause": cause, "survivors": survivors, "lost": lost,
            "clean": not survivors and not lost,
            "pace": report({node: view.get("paces") or {} for node, view in views.items()}),
            "reached": max(found, key=lambda one: one["at"], default={"at": 0} if self._spec.get("checkpoint") else None),
            "steps": max((view["steps"] for view in views.values() if view.get("steps") is not None), default=None),
        }

    def _prepare(self, wanted: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Brings the checkpoint to all nodes of the attempt; returns the cause where that is not to be done."""
        members, number, name = wanted["members"], wanted["attempt"], wanted["checkpoint"]["name"]
        self._muster.want({**wanted, "phase": "prepare"})
        deadline = time.monotonic() + _PREPARE_SECONDS
        while True:
            self._muster.obey()
            views = self._muster.views(members)
            waiting = [node for node, view in views.items() if view.get("ready", 0) < number]
            problem = next((view["problem"] for view in views.values() if (view.get("problem") or {}).get("attempt") == number), None)
            lost = [node for node in waiting if node in self._muster.roll.lost(self._muster.lost_seconds) or self._muster.view(node).get("gone")]
            if not waiting or self._muster.stop_request() or self._muster.deposed():
                return None
            if problem or lost or time.monotonic() > deadline:
                return of_gang(waiting[0], problem["message"] if problem else f"checkpoint {name} did not come to {', '.join(lost or waiting)}")
            time.sleep(TICK)

    def _watch(self, number: int, members: List[str]) -> "tuple[str, List[str]]":
        """Until the attempt is over by itself, or must be ended: (ended|failed|stop|lost, nodes lost)."""
        while True:
            self._muster.obey()
            changed = self._local.tick()
            if self._muster.stop_request():
                return "stop", []
            if self._muster.deposed():
                return "deposed", []
            views = self._muster.views(members)
            mine = [view for view in views.values() if view.get("attempt") == number]
            if any(view.get("trouble") or any(record.get("exit") for record in view["records"].values()) for view in mine):
                return "failed", []
            if len(mine) == len(views) and all(view["phase"] == "ended" for view in mine):
                return "ended", []
            lost = [node for node in self._muster.roll.lost(self._muster.lost_seconds) if node in members]
            if lost:
                return "lost", lost
            if self._hangs.tick(number, dict(zip(views, mine)) if len(mine) == len(views) else {}):
                return "failed", []
            if self._hangs.wanted > self._muster.roll.wanted.get("dump", 0):
                self._muster.want({**self._muster.roll.wanted, "dump": self._hangs.wanted})
            self._muster.gather()
            self._muster.roll.pulse.pause(changed)

    def _stop_all(self, number: int, members: List[str], grace: float) -> List[str]:
        """Ends the attempt everywhere; returns the nodes that did not say that it is done."""
        self._muster.want({"phase": "stop", "attempt": number, "members": members, "grace": grace, "quiet": self._local.is_signalled(), "asked": self._muster.stop_request()})
        deadline = time.monotonic() + grace + _STOP_PATIENCE
        while time.monotonic() < deadline:
            self._muster.obey()
            self._local.tick()
            request = self._muster.stop_request()
            if request and request.get("kill") and self._muster.roll.wanted.get("grace"):
                self._muster.want({**self._muster.roll.wanted, "grace": 0.0})
            waiting = self._muster.unended(number, members)
            if not waiting or all(node in self._muster.roll.lost(_STOP_LINK_SECONDS) for node in waiting):
                return waiting
            time.sleep(TICK)
        return self._muster.unended(number, members)

    def _wait_for_all(self) -> List[str]:
        """Returns the nodes that are still missing when the time is over."""
        deadline = time.monotonic() + self._spec["gang"].get("timeout", 60)
        while True:
            missing = [node for node in self._muster.pool if node != self._muster.own and node not in self._muster.roll.here()]
            if not missing or time.monotonic() > deadline or self._muster.stop_request():
                return missing
            time.sleep(TICK)

    def _newest_checkpoint(self, members: List[str]) -> Optional[Dict[str, Any]]:
        """The newest whole one that a node of the gang has, and where; what only lost nodes had is said to be lost."""
        usable = self._muster.usable()
        found = [{**one, "node": node, "place": self._muster.view(node).get("peer")} for node in usable for one in [self._muster.view(node).get("checkpoint")] if one]
        newest = max(found, key=lambda one: (one["at"], one["node"] in members), default=None)
        known = [{**one, "node": node} for node in self._muster.lost for one in [self._muster.view(node).get("checkpoint") or self._muster.view(node).get("saved")] if one] + [one for one in [self._checkpoint] if one]
        gone = [one for one in known if one["at"] > (newest or {"at": 0})["at"]]
        if gone:
            self._folder.event("checkpoint lost", checkpoint=gone[0]["name"], had=gone[0]["node"], instead=newest and newest["name"])
        self._checkpoint = newest
        return newest
