"""The process that stays with a run on a node, from before its ranks start until its record is complete.

supervisor FOLDER              detached; started by run.start
supervisor FOLDER returned     the same by boot.resume, of a run that a reboot has cut off
"""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, List, Optional, Tuple, Union, cast

from flexrack_node.base.boot import boot_id
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read
from flexrack_node.bucket import remotes
from flexrack_node.gang.election import Handover
from flexrack_node.gang.leader import Leader
from flexrack_node.gang.member import Member
from flexrack_node.gang.member_agent import MemberAgent
from flexrack_node.gang.returning import Follows, Leads, find_place, order_of, port_of
from flexrack_node.gang.run_relay import DRAIN_SECONDS, RunRelay, end_token, open_relay
from flexrack_node.gang.signals import listen_to_signals, with_shutdown
from flexrack_node.gpu.lease import LeaseHold
from flexrack_node.gpu.seat import Seat
from flexrack_node.lineage.record import Lineage
from flexrack_node.measure import usage
from flexrack_node.measure.sampler import Sampler
from flexrack_node.process.detach import python_module
from flexrack_node.rank.local_ranks import LocalRanks
from flexrack_node.run.cause import close_result, of_gang
from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import leader_known
from flexrack_node.run.outputs import collect_outputs
from flexrack_node.run.recorded import LATE_SECONDS, NotRecorded
from flexrack_node.service import comeback

if TYPE_CHECKING:
    from flexrack_node.schema.result import GangOutcome, RunResult
    from flexrack_node.schema.runfiles import KeptRunOrder, RunState

Judge = Callable[["RunResult", float], "RunResult"]  # of the result, and when the signal came


def main(arguments: List[str]) -> int:
    return supervise(RunFolder(Path(arguments[0])), is_back="returned" in arguments[1:])


def supervise(folder: RunFolder, judge: Optional[Judge] = None, is_back: bool = False) -> int:
    """`is_back`: the run goes on after a reboot of the node. `judge`: what the run's result is where this process got a
    signal, which then also was everybody's; None where a signal means no more than `runs stop`.
    """

    import traceback

    if not folder.hold() or folder.result():  # somebody has written down that it is over, while this process began
        return 0
    os.umask(0o077)
    before = folder.state() if is_back else None
    spec = order_of(folder) if is_back else folder.spec()
    started = or_nothing(before).get("started") or time.time()
    seat: Optional[Seat] = None
    leases: Optional[LeaseHold] = None
    try:
        if spec.get("volumes"):
            from flexrack_node.volume.look import need  # only here: most runs have none

            need(spec["volumes"])
        if spec.get("reservation"):
            seat = Seat(folder, spec, lambda why: _end_for_loss(folder, why))
            wants = seat.take_over()
        if spec.get("leases"):
            leases = LeaseHold(spec["leases"])
            leases.take()
    except (NodeError, OSError) as error:
        # Nothing is started on a node that is not ours any more, or without its GPUs.
        _refuse(folder, spec, started, error)
        if leases:
            leases.give_back()
        return 1
    state: RunState = {"status": "waiting", "attempt": 0, "pid": os.getpid(), "started": started, "boot": boot_id()}
    if seat:
        state["wants"] = wants
    if before:
        kept = cast(
            "RunState",
            {
                key: value
                for key, value in before.items()
                if key in ("attempt", "gang", "term", "leader", "members", "places")
            },
        )
        state = {**state, **kept, "returned": before.get("returned", 0) + 1}
        folder.event("came back", boot=boot_id())
    folder.write("state", state)
    reaper = subprocess.Popen(
        python_module("gang.reaper", str(folder.path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        # Slurm's is for every process of the job, and means the ranks
        preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    )
    listen_to_signals(folder, is_noted=judge is not None)
    try:
        if seat:
            # it ends the ranks if we are killed, and as long as it is at that nobody gets their place
            seat.add(reaper.pid)
        _supervise(folder, spec, started, (seat, leases), judge, is_back)
    except Exception as error:
        # The reaper ends the ranks: it is not told that all is well.
        folder.event("bug", trace=traceback.format_exc())
        cause = of_gang(spec["node"], f"flexrack's supervisor failed: {error!r}")
        folder.write("result", close_result(spec, {"status": "failed", "cause": cause, "attempts": []}, started))
        return 1
    finally:
        if leases:
            leases.give_back()
    _note_usage(folder)
    try:
        reaper.communicate(b".")  # all is well
    except OSError:
        pass  # it was killed; what it would have given back is given back below
    reaper.wait()
    if seat:
        seat.give_back()
    if not judge:  # of a job of Slurm the folder is everybody's: slurm/step.py
        remotes.forget(folder.path)
    if spec.get("after_reboot"):
        comeback.release(Path(spec["root"]))
    return 0


def _refuse(folder: RunFolder, spec: "KeptRunOrder", started: float, error: Exception) -> None:
    why = error.message if isinstance(error, NodeError) else f"the reservation cannot be taken over: {error}"
    folder.event("refused", why=why)
    result = close_result(spec, {"status": "failed", "cause": of_gang(spec["node"], why), "attempts": []}, started)
    remotes.forget(folder.path)
    folder.write("result", {**result, "refused": why, "refused_code": getattr(error, "code", "RESERVATION_LOST")})


def _forbids(seat: Optional[Seat], leases: Optional[LeaseHold]) -> Callable[[], Optional[str]]:
    """Why no rank may be started here any more, if that is so."""
    return lambda: (seat.lost() if seat else None) or (leases.lost() if leases else None)


def _supervise(
    folder: RunFolder,
    spec: "KeptRunOrder",
    started: float,
    has: "Tuple[Optional[Seat], Optional[LeaseHold]]",
    judge: Optional[Judge],
    is_back: bool,
) -> None:
    relay = open_relay(folder, spec)
    local = LocalRanks(folder, spec, relay.port if relay else None, _forbids(*has))
    local.seat = has[0]
    if relay:
        local.watch.metric_at = relay.metric_at
    sampler = Sampler(folder, spec, local, relay.recorder if relay else None)
    sampler.start()
    agent = MemberAgent(folder, spec, local, port_of(folder)) if is_back else None
    place = find_place(folder, spec, local, agent) if agent else None
    ended: Union[GangOutcome, Handover, None] = place if isinstance(place, dict) else None
    member = (
        Member(folder, spec, local, agent, place if isinstance(place, Follows) else None)
        if isinstance(place, Follows) or (not agent and spec["index"] > 0)
        else None
    )
    if agent:
        agent.voter.follows(has_vote=place.has_vote if isinstance(place, Follows) else True)
    if member:
        ended = member.run()
        agent = member.agent
    if isinstance(ended, dict):
        sampler.close()
        if "run" in ended:
            result = cast("RunResult", ended)
        else:
            result = close_result(spec, ended, started)
            result["term"], result["leader"] = leader_known(spec, folder.state())
        drained = _put_away(folder, relay, result)
        if member:
            member.done(drained)
        elif agent:
            agent.close()
    else:
        leader = Leader(folder, spec, local, agent, ended, place.term if isinstance(place, Leads) else 1)
        leader.listen()
        lineage = Lineage(folder, spec)
        lineage.begin(relay.recorder if relay else None)
        ended_as = with_shutdown(folder, leader.run(), leader.stop_request())
        sampler.close()
        _lead(
            folder,
            spec,
            started,
            leader,
            relay,
            lineage,
            _with_signal(folder, close_result(spec, ended_as, started), judge),
        )
    folder.write("state", {**folder.state(), "status": "ended"})


def _with_signal(folder: RunFolder, result: "RunResult", judge: Optional[Judge]) -> "RunResult":
    signalled = read("run.signal", folder.path / "signal.json") if judge else None
    return judge(result, signalled["at"]) if judge and signalled else result


def _lead(
    folder: RunFolder,
    spec: "KeptRunOrder",
    started: float,
    leader: Leader,
    relay: "Optional[RunRelay]",
    lineage: Lineage,
    result: "RunResult",
) -> None:
    """After the last attempt."""
    result["term"], result["leader"] = leader_known(spec, folder.state())  # whom this node follows, or is itself
    if result.get("partial"):  # how the run ends is for others to say, and to record
        leader.leave()
        _put_away(folder, relay, result)
        return
    leader.commit(result)
    result["outputs"] = collect_outputs(spec, folder, started)
    # Known from here on, whatever happens to the rest.
    folder.write("result", result)
    folder.write("state", {**folder.state(), "status": "recording"})
    nodes = leader.nodes_here()
    everybody = leader.end(result, patience=DRAIN_SECONDS * 2)
    kept = lineage.end(relay.recorder() if relay else None, result, nodes)
    _record(folder, spec, relay, result, everybody, kept)


def _record(
    folder: RunFolder,
    spec: "KeptRunOrder",
    relay: "Optional[RunRelay]",
    result: "RunResult",
    everybody: bool,
    kept: bool,
) -> None:
    """The leader's last work. Where the head is away, result.json keeps recorded: false and run.reconcile does it
    later.
    """
    if not relay:
        return
    uploaded = _upload(folder, relay, result["outputs"])
    recorder = relay.recorder()
    try:
        recorder.finish(spec, result)
        finished = True
    except NotRecorded as error:
        folder.event("not recorded", why=str(error))
        finished = False
    drained = relay.close()
    recorded = bool(uploaded and finished and drained and kept)
    tracking = spec["tracking"]
    if finished and tracking and tracking.get("own_token"):
        end_token(tracking, 0.0 if recorded and everybody else LATE_SECONDS)
    folder.write("result", {**result, "recorded": recorded, "recorded_everywhere": recorded and everybody})


def _put_away(folder: RunFolder, relay: "Optional[RunRelay]", result: "RunResult") -> bool:
    """What a node does at the end that does not lead; True where all of its tracking writes are through."""
    folder.write("result", result)
    recorded = _upload(folder, relay, []) and (relay.close() if relay else True)
    folder.write("result", {**result, "recorded": recorded})
    return recorded


def _upload(folder: RunFolder, relay: "Optional[RunRelay]", outputs: List[str]) -> bool:
    if not relay:
        return True
    try:
        recorder = relay.recorder()
        files = recorder.upload_outputs(folder, outputs)
        folder.event("uploaded", outputs=files, logs=recorder.upload_logs(folder))
        return True
    except NotRecorded as error:
        folder.event("not uploaded", why=str(error))
        return False


def _note_usage(folder: RunFolder) -> None:
    try:
        usage.note(folder)
    except OSError as error:
        folder.event("usage not noted", why=str(error))


def _end_for_loss(folder: RunFolder, why: str) -> None:
    """The reservation was taken away while ranks run: they end as after `runs stop`."""
    folder.event("reservation lost", why=why)
    if not folder.stop_request():
        folder.write("stop", {"grace": folder.spec().get("grace", 10), "kill": False, "by": "rack release"})
