"""What can be seen of any run on a node, and done with it, whoever started its processes. Which of the two it is, is
decided here and nowhere else.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Protocol

from flexrack_node.base.channel import Channel
from flexrack_node.run.files import RunFolder, open_run
from flexrack_node.run.keeper import is_slurms
from flexrack_node.runs.plain import PlainRun

if TYPE_CHECKING:
    from flexrack_node.schema.run import NodeRun, NodeRunDetail, Reconciled, RunStopped
    from flexrack_node.schema.watch import NodeStacks


class RunView(Protocol):
    """Reading repairs nothing: runs/repair.py does, before verbs read."""

    folder: RunFolder
    is_ours: bool  # its processes are this node's to end; under Slurm they are Slurm's

    def parts(self) -> List[RunFolder]:
        """The folder itself, or under Slurm those of all nodes of the job, of all its starts."""

    def members(self) -> List[RunFolder]:
        """Those of the newest start alone."""

    def is_live(self) -> bool:
        """Whether its processes may be alive, as whoever keeps them says right now."""

    def is_over(self) -> bool:
        """Nothing will change any more unless somebody reconciles, as its files tell."""

    def close(self) -> None:
        """Writes down how it ended, where it is not ours and who keeps it says that it is over. runs/repair.py alone
        calls this.
        """

    def wait(self, seconds: float) -> None:
        """Until it is over, and no longer than that; 0: one look."""

    def summary(self) -> "NodeRun":
        """What run.list tells of it."""

    def detail(self) -> "NodeRunDetail":
        """The summary, every record, the result, and what the user asked for; never the secrets of the spec."""

    def follow(self, given: Mapping[str, Any], channel: Channel) -> None:
        """Events of run.follow, until all is told that there is, or is to come."""

    def stacks(self, given: Mapping[str, Any], channel: Channel) -> "NodeStacks":
        """The answer of run.stacks."""

    def stop(self, given: Mapping[str, Any]) -> None:
        """Asks for the end, and waits for it for as long as was promised."""

    def stopped(self) -> "RunStopped":
        """The answer of run.stop, after it."""

    def reconcile(
        self, given: Mapping[str, Any], one: Callable[[RunFolder, Mapping[str, Any]], "Reconciled"]
    ) -> "Reconciled":
        """The answer of run.reconcile. `one` completes the record of one part."""


def view_of(folder: RunFolder) -> RunView:
    if is_slurms(folder.spec()):
        from flexrack_node.slurm.run import SlurmRun  # only where it is one: looking has to be quick

        return SlurmRun(folder)
    return PlainRun(folder)


def open_view(root: Path, run: str) -> RunView:
    """A run that is here. Raises NOT_FOUND."""
    return view_of(open_run(root, run))
