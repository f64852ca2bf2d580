"""Brings MLflow's record of a run in line with the node's files, after the head was away or everything was killed."""

from typing import TYPE_CHECKING, Any, Mapping

from flexrack_node.lineage.record import complete, send
from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import is_leaders
from flexrack_node.run.outputs import collect_outputs
from flexrack_node.run.recorded import LATE_SECONDS, NotRecorded
from flexrack_node.run.recording import Recorder
from flexrack_node.run.upstream import upstream_of

if TYPE_CHECKING:
    from flexrack_node.schema.run import Reconciled


def reconcile_run(folder: RunFolder, given: Mapping[str, Any]) -> "Reconciled":
    """{upstream?, token?, ca?, seconds?, leads?}: returns {recorded: bool, why?}. Nothing to do while the run is alive,
    is not tracked, or is recorded.

    How the run ended is only told where `leads`: no other node's word counts more, and nobody has led the run on; the
    run's token ends with that. Outputs are for the node whose word it is. Every other one has its own tracking writes
    and logs to bring.
    """
    spec, result = folder.spec(), folder.result()
    tracking = spec.get("tracking")
    if folder.is_held() or not result:
        return {"recorded": False, "why": "the run is still going on"}
    leads, own = bool(given.get("leads")), is_leaders(spec, result)
    if not tracking or result.get("reconciled") or (result.get("recorded") and leads and own):
        return {"recorded": True}
    from flexrack_node.relay.relay import drain

    upstream = upstream_of(tracking, given)
    left = drain(folder.spool, upstream, float(given.get("seconds") or 30))
    if left["pending"]:
        return {"recorded": False, "why": f"{left['pending']} tracking writes still wait"}
    recorder = Recorder(upstream, tracking)
    try:
        if not result.get("recorded"):
            recorder.upload_logs(folder)
        if leads:
            if own:
                recorder.upload_outputs(
                    folder, result.get("outputs") or collect_outputs(spec, folder, result["started"])
                )
                # A run of an older version has none, and what it ran is not what lies here now.
                if (folder.path / "record.json").exists():
                    complete(folder, spec, result)
                    send(folder, recorder, parts=True)
            recorder.finish(spec, result)
    except (NotRecorded, OSError) as error:
        return {"recorded": False, "why": str(error)}
    if leads and tracking.get("own_token"):
        # With its own token, which gives itself back; the leader itself may be about to bring its outputs.
        Recorder(upstream_of(tracking, {**given, "token": None}), tracking).revoke(0.0 if own else LATE_SECONDS)
    folder.write("result", {**result, "recorded": True, "reconciled": True})
    folder.event("reconciled")
    return {"recorded": True}
