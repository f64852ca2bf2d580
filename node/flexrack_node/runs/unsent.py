"""What a run's relays hold that the tracking server does not have, because it refused it, failed at it or went away:
shown, and sent again. docs/adr/0003.
"""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.relay.journal import count_waiting, read_rejected
from flexrack_node.runs.view import RunView, open_view

if TYPE_CHECKING:
    from flexrack_node.schema.run import NodeUnsent, ReconcileInput, RunRepaired, UnsentWrite
    from flexrack_node.schema.watch import RunName

_MOST_SHOWN = 20


def unsent(run: RunView) -> "NodeUnsent":
    """{count, writes: the newest of those that were refused or failed at, [{call, status, answer, at}]}; `call` is
    MLflow's, or `artifact NAME`.
    """
    parts = run.parts()
    records = [record for part in parts for record in read_rejected(part.spool)]
    writes: List[UnsentWrite] = [
        {
            "call": _call(record["path"]),
            "status": record["status"],
            "answer": record["answer"][:500],
            "at": record["at"],
        }
        for record in records[-_MOST_SHOWN:]
    ]
    # What was to be sent again when the server went away once more waits in the journal; while a run goes on that is
    # its relay's business.
    waiting = sum(count_waiting(part.spool) for part in parts if part.result() and not part.is_held())
    return {"count": len(records) + waiting, "writes": writes}


def listing(given: "RunName", channel: Channel) -> "NodeUnsent":
    """{run}: what `unsent` says of it."""
    return unsent(open_view(channel.root, given["run"]))


def repair(given: "ReconcileInput", channel: Channel) -> "RunRepaired":
    """{run, upstream?, token?, ca?, seconds?}: sends all of it once more, with the token's rights. Returns {sent,
    pending, unsent}. CONFLICT while the run goes on.
    """
    from flexrack_node.relay.relay import drain
    from flexrack_node.run.upstream import upstream_of

    run = open_view(channel.root, given["run"])
    folder = run.folder
    sent = pending = 0
    for part in run.parts():
        if part.is_held() or (not part.result() and not folder.result()):
            raise NodeError(
                "CONFLICT",
                f"{folder.run} is still running; what its tracking server failed at is sent again by itself",
                f"flexrack runs wait {folder.run}",
            )
        tracking = part.spec().get("tracking")
        before = len(read_rejected(part.spool)) + count_waiting(part.spool)
        if not tracking or not before:
            continue
        left = drain(part.spool, upstream_of(tracking, given), float(given.get("seconds") or 60), refused_too=True)
        pending += left["pending"]
        sent += max(0, before - left["rejected"] - left["pending"])
        folder.event("repaired", **left)
    return {"sent": sent, "pending": pending, "unsent": unsent(run)}


def _call(path: str) -> str:
    name = PurePosixPath(path.split("?")[0])
    return f"artifact {name.name}" if "/mlflow-artifacts/" in path else name.name
