"""Verbs that change something about runs: run.start, .stop, .remove, .reconcile; and run.route. Those that look are in
verbs/look.py.
"""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.stored import or_nothing, write
from flexrack_node.process.detach import detach, python_module
from flexrack_node.rank.launch import interfaces, machine_id, source_towards
from flexrack_node.reservation.hold import check
from flexrack_node.run.files import RunFolder, run_path
from flexrack_node.runs.plain import PlainRun
from flexrack_node.runs.repair import end, repair
from flexrack_node.runs.view import open_view

if TYPE_CHECKING:
    from flexrack_node.schema.order import RunOrder
    from flexrack_node.schema.run import (
        NodeRoute,
        NodeRun,
        Reconciled,
        ReconcileInput,
        RouteQuestion,
        RunRemoved,
        RunStop,
        RunStopped,
        RunToRemove,
    )

_START_SECONDS = 20.0


def route(given: "Optional[RouteQuestion]", channel: Channel) -> "NodeRoute":
    """What is needed to choose the address at which the nodes of a gang reach each other. Optional {to: address}."""
    to = (given or {}).get("to")
    return {
        "machine": machine_id(),
        "interfaces": [{"name": name, "address": address, "netmask": mask} for name, address, mask in interfaces()],
        "outgoing": source_towards("192.0.2.1"),  # TEST-NET-1 (RFC 5737): takes the default route
        "source": source_towards(to) if to else None,
    }


def start(spec: "RunOrder", channel: Channel) -> "NodeRun":
    """Writes the run's folder and starts its supervisor; again for the same run it only tells how it is."""
    path = run_path(channel.root, spec["run"])
    if not (path / "spec.json").exists():
        if spec.get("reservation"):
            check(channel.root, spec["reservation"])
        record(channel.root, channel.root / "runs", "runs")
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        from flexrack_node.bucket import remotes  # only here: what looks at runs needs none
        from flexrack_node.data.use import with_data
        from flexrack_node.history.of_run import with_snapshot
        from flexrack_node.workspace.frozen import frozen

        kept = remotes.keep(spec, path)
        write(
            "run.spec",
            path / "spec.json",
            with_snapshot(with_data(frozen(kept, path, channel), path, channel), path, channel),
        )
        detach(python_module("gang.supervisor", str(path)), path / "supervisor.log", dict(os.environ), path)
        if spec.get("after_reboot"):
            from flexrack_node.service import comeback  # only here: most runs do not come back

            comeback.settle(channel)
    folder = RunFolder(path)
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        state, result = folder.state(), or_nothing(folder.result())
        if result.get("refused"):
            raise NodeError(result.get("refused_code", "RESERVATION_LOST"), result["refused"], "run the command again")
        if result or (state.get("gang") if spec["index"] == 0 else state.get("pid")):
            return PlainRun(folder).summary()
        time.sleep(0.02)
    raise NodeError(
        "NODE_UNFIT", f"the supervisor of {spec['run']} did not start", None, log=_last(path / "supervisor.log")
    )


def stop(given: "RunStop", channel: Channel) -> "RunStopped":
    """{run, grace?, kill?}: ends the ranks and returns {status, left: pids that are alive all the same, state: as
    run.list}; under Slurm {status, left, nodes}.
    """
    run = open_view(channel.root, given["run"])
    run.stop(given)
    end(run)
    return run.stopped()


def remove(given: "RunToRemove", channel: Channel) -> "RunRemoved":
    """{run, measure?}: deletes a run's folder here; tells what is left of the same owner's in that project. CONFLICT while
    it is running.
    """

    import shutil

    run = open_view(channel.root, given["run"])
    repair(run)
    name = run.folder.run
    if run.is_live():
        raise NodeError("CONFLICT", f"{name} is still running", f"flexrack runs stop {name}")
    from flexrack_node.measure import kept, usage

    whose = kept.whose_of(run.folder) if given.get("measure") else None
    for part in run.parts():  # what a run had of the node is told of also after its files are gone
        usage.note(part)
    shutil.rmtree(run.folder.path)
    if not whose:
        return {"removed": name}
    size = kept.kept_bytes(run.folder.path.parent, whose)
    return {"removed": name, "kept": {"owner": whose[0], "project": whose[1], "bytes": size}}


def reconcile(given: "ReconcileInput", channel: Channel) -> "Reconciled":
    """{run, upstream?, token?, ca?, seconds?, leads?}: completes the tracking record of a run that has ended while the
    head was away; see runs/reconcile.py.
    """
    from flexrack_node.runs.reconcile import reconcile_run

    run = open_view(channel.root, given["run"])
    repair(run)
    return run.reconcile(given, reconcile_run)


def _last(path: Path) -> List[str]:
    try:
        return path.read_text(errors="replace").splitlines()[-20:]
    except OSError:
        return []
