"""What comes back after a reboot: boot.resume starts it, boot.inspect only looks. Services are in service/boot.py; here
are the runs.
"""

from typing import TYPE_CHECKING, Dict, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.process.detach import detach, python_module
from flexrack_node.run.files import RunFolder, all_runs
from flexrack_node.run.resumption import is_open, obstacle, was_cut
from flexrack_node.runs.repair import close_cut
from flexrack_node.runs.returning import outlook
from flexrack_node.service import boot, comeback
from flexrack_node.verbs import reservation

if TYPE_CHECKING:
    from flexrack_node.schema.node import Nothing
    from flexrack_node.schema.reservation import Wants
    from flexrack_node.schema.service import BootFound, BootResumed

_TTL_SECONDS = 60.0  # of the reservation, until the supervisor has it


def inspect(given: "Optional[Nothing]", channel: Channel) -> "BootFound":
    """How services and runs come back here, which of them would, and which services do not run."""
    found = boot.inspect(channel)
    return {**found, "runs": outlook(channel.root, found["comes_back"])}


def resume(given: "Optional[Nothing]", channel: Channel) -> "BootResumed":
    """Starts every service that is to run here and does not, and takes up every run that the reboot has cut off and
    that may go on. Run again it starts nothing.
    """
    waiting: Dict[str, str] = {}
    done = boot.resume(channel, lambda: _take_up_runs(channel, waiting))
    for run, why in waiting.items():
        close_cut(RunFolder(channel.root / "runs" / run), why)
    comeback.release(channel.root)
    return done


def _take_up_runs(channel: Channel, waiting: Dict[str, str]) -> bool:
    """Takes up what can be; `waiting` has what cannot yet, and why: True where there is any."""
    for folder in all_runs(channel.root):
        if not is_open(folder) or folder.is_held() or not was_cut(folder.state()):
            waiting.pop(folder.run, None)
            continue
        why = "it was stopped" if folder.stop_request() else obstacle(folder)
        if why:
            boot.say(f"{folder.run} does not go on: {why}")
            close_cut(folder, why)
            continue
        held_by = _reserve(folder, channel)
        if held_by:
            waiting[folder.run] = held_by
            continue
        waiting.pop(folder.run, None)
        detach(
            python_module("gang.supervisor", str(folder.path), "returned"),
            folder.path / "supervisor.log",
            cwd=folder.path,
        )
        boot.say(f"took up {folder.run}")
    return bool(waiting)


def _reserve(folder: RunFolder, channel: Channel) -> Optional[str]:
    """Reserves again what the run had of this node: the reboot has ended that. Returns why not."""
    spec, wants = folder.spec(), folder.state().get("wants")
    if not spec.get("reservation") or not wants:
        return None
    wish: Wants = {"gpus": list(wants["gpus"]), "slots": wants["slots"], "exclusive": wants["exclusive"]}
    try:
        answer = reservation.take(
            {
                "lease": folder.run,
                "owner": spec["owner"],
                "project": spec["project"],
                "node": spec["node"],
                "nodes": spec["nodes"],
                "ttl": _TTL_SECONDS,
                "wait": True,
                "wants": wish,
            },
            channel,
        )
        if not answer["granted"] or answer["fence"] is None:
            return f"{', '.join(one['lease'] for one in answer['holders'])} has what it had of the node"
        reservation.confirm({"lease": folder.run, "fence": answer["fence"]}, channel)
    except NodeError as error:
        return error.message
    folder.write("spec", {**spec, "reservation": {"lease": folder.run, "fence": answer["fence"]}})
    return None
