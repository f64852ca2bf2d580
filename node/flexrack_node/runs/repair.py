"""A run without a living supervisor has a result and no process, even where everything was killed.

Verbs call this before they read; who only reads a run never does. What it needs to end processes is imported only where there is something to end: looking has to
be quick.
"""
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import leader_known
from flexrack_node.runs.view import RunView

if TYPE_CHECKING:
    from flexrack_node.schema.result import Cause, RunAttempt
    from flexrack_node.schema.runfiles import KeptRunOrder


def repair(run: RunView) -> None:
    """Ends what is left of it, gives its reservation back, and writes the result that is missing. Nothing to do while its supervisor lives."""
    if run.is_ours:
        _repair(run.folder)
    else:
        run.close()


def end(run: RunView) -> None:
    """The same after run.stop, also where the supervisor lives and has not listened."""
    if run.is_ours and not run.folder.result():
        _sweep(run.folder)
    repair(run)


def _sweep(folder: RunFolder) -> None:
    from flexrack_node.gang.reaper import sweep

    sweep(folder)


def _repair(folder: RunFolder) -> None:
    if folder.is_held():
        return
    if folder.result():
        _give_back(folder.spec())
        return
    if time.time() - folder.path.stat().st_mtime < 2 and not folder.state().get("pid"):
        return  # it is just being started
    _sweep(folder)
    from flexrack_node.run.cause import close_result  # only here: what is repaired is seldom, and looking is to start quickly

    spec = folder.spec()
    started = float(folder.state().get("started") or folder.path.stat().st_ctime)
    cause = _cause(spec["node"], folder.state().get("boot"))
    folder.event("lost")
    attempts: List[RunAttempt] = [{"attempt": number, "status": "failed"} for number in folder.attempts()]
    result = close_result(spec, {"status": "failed", "cause": cause, "attempts": attempts}, started)
    term, leader = leader_known(spec, folder.state())
    last = max((record.get("ended") or record["started"] for number in folder.attempts() for record in folder.records(number).values()), default=started)
    folder.write("result", {**result, "ended": last, "duration": last - started, "lost": True, "term": term, "leader": leader})


def _cause(node: str, boot: Optional[str]) -> "Cause":
    """`boot`: the one in which the supervisor began; None where it was too old to say so, or never came that far."""
    from flexrack_node.reservation.life import boot_id
    from flexrack_node.run.cause import of_gang, of_loss

    if boot is None:
        return of_gang(node, "the supervisor was killed, or the node was restarted, while the run was going on")
    if boot != boot_id():
        return of_loss(node, "reboot", f"{node} was rebooted while the run was going on")
    return of_loss(node, "supervisor", "the supervisor was killed while the run was going on")


def _give_back(spec: "KeptRunOrder") -> None:
    """Nothing to do but where everything was killed between the result and the end of the supervisor."""
    if spec.get("reservation"):
        from flexrack_node.reservation.hold import give_back

        give_back(Path(spec["root"]), spec["reservation"])
