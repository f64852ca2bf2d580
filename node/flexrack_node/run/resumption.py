"""Whether a run goes on after a reboot of its node, told from its folder alone: docs/adr/0039.

A reboot uses up a restart, as a rank that fails does: a node that goes down whenever the training starts must not do so
for ever.
"""

from typing import TYPE_CHECKING, List, Optional, cast

from flexrack_node.base.boot import boot_id
from flexrack_node.base.stored import or_nothing, read
from flexrack_node.link import checkpoint
from flexrack_node.run import rules
from flexrack_node.run.cause import of_loss
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.result import CheckpointReached, RunAttempt
    from flexrack_node.schema.runfiles import RunState

NO_CHECKPOINT = "there is no whole checkpoint of it"


def is_open(folder: RunFolder) -> bool:
    """Whether the run is not over here and may go on after a reboot, as far as its manifest says."""
    return not (folder.path / "result.json").exists() and "after_reboot" in folder.spec()


def was_cut(state: "RunState") -> bool:
    """Whether a reboot or a shutdown of the node has ended the supervisor that wrote this, if it has ended. One that
    was too old says of no boot.
    """
    boot = boot_id()
    return state.get("boot") not in (None, boot) or state.get("down") == boot


def obstacle(folder: RunFolder) -> Optional[str]:
    """Why the run does not go on if its node goes down now, or went down; None where it does. Of a gang its leader
    alone knows all, and whether there is a checkpoint only when its nodes have come together.
    """
    spec = folder.spec()
    if not spec.get("after_reboot"):
        return (
            "its manifest allows no restart, or none after a reboot"
            if spec.get("scheduler") != "slurm"
            else "Slurm decides that"
        )
    if spec.get("leases"):
        return "its GPUs are lent to others by then"
    attempts = attempts_known(folder)
    if sum(not one.get("changes") for one in attempts) > spec["restarts"]:
        return f"its restarts ({spec['restarts']}) are used up"
    count = rules.stuck(attempts, int(spec.get("without_progress", rules.WITHOUT_PROGRESS)))
    if count:
        return rules.describe_stuck(count, attempts, None)
    is_alone = len(spec["nodes"]) == 1
    return NO_CHECKPOINT if is_alone and needs_checkpoint(folder, attempts) and not newest(folder) else None


def needs_checkpoint(folder: RunFolder, attempts: "List[RunAttempt]") -> bool:
    """Whether without a checkpoint something would be lost that the manifest does not give up."""
    return bool(attempts) and folder.spec().get("after_reboot") == "checkpoint"


def attempts_known(folder: RunFolder) -> "List[RunAttempt]":
    """Those that are over, and the one that the reboot has ended, or would end now. Empty on a node that has never led."""
    spec, history = folder.spec(), or_nothing(read("run.history", folder.path / "history.json"))
    begun = history.get("open")
    if not begun:
        return list(history.get("attempts") or spec.get("attempts") or [])
    declared, found, node = spec.get("checkpoint"), newest(folder), spec["node"]
    ends = [record.get("ended") or record["started"] for record in folder.records(begun["attempt"]).values()]
    cut: RunAttempt = {
        **cast("RunAttempt", begun),
        "status": "failed",
        "ended": max(ends, default=begun["started"]),
        "survivors": {},
        "clean": False,
        "lost": [node],
        "steps": None,
        "cause": of_loss(node, "reboot", f"{node} was rebooted while the run was going on"),
        "reached": found or (cast("CheckpointReached", {"at": 0}) if declared else None),
    }
    return [*history["attempts"], cut]


def newest(folder: RunFolder) -> "Optional[CheckpointReached]":
    declared = folder.spec().get("checkpoint")
    found = checkpoint.newest(folder.outputs, declared) if declared else None
    return cast("Optional[CheckpointReached]", found)
