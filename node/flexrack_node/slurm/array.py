"""Verbs on a login node of Slurm, for runs that are tasks of one job: slurm.submit_array starts them, slurm.cancel
takes them out of the queue.
"""

import shutil
from typing import TYPE_CHECKING, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.stored import write
from flexrack_node.data.use import with_data
from flexrack_node.history.of_run import with_snapshot
from flexrack_node.run.files import RunFolder, run_path
from flexrack_node.slurm import commands
from flexrack_node.slurm.job import SlurmJob
from flexrack_node.slurm.submit import pattern, sbatch
from flexrack_node.workspace.frozen import frozen

if TYPE_CHECKING:
    from flexrack_node.schema.run import NodeRun
    from flexrack_node.schema.slurm import JobsCancelled, RunNames, SlurmSubmitArray

_AT_ONCE = 200  # jobs that one scancel is told


def submit(given: "SlurmSubmitArray", channel: Channel) -> "List[NodeRun]":
    """{name, tasks: [spec], script}: as slurm.submit, for runs NAME-<task> that are tasks of one job (sbatch(1),
    --array). Summaries in the same order.
    """
    name, specs, script = given["name"], given["tasks"], given["script"]
    paths = [run_path(channel.root, spec["run"]) for spec in specs]
    known = next((path.name for path in paths if (path / "spec.json").exists()), None)
    if known:
        raise NodeError("CONFLICT", f"run {known} is there already", f"flexrack runs show {known}")
    record(channel.root, channel.root / "runs", "runs")
    try:
        for path, spec in zip(paths, specs):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            (path / "job.sh").write_text(script)
            write(
                "run.spec",
                path / "spec.json",
                with_snapshot(with_data(frozen(spec, path, channel), path, channel), path, channel),
            )
        runs = channel.root / "runs"
        job = sbatch(paths[0] / "job.sh", runs, pattern(runs / name) + "-%a/job.log", specs[0]["slurm"].get("bin"))
    except NodeError:
        for path in paths:
            shutil.rmtree(path, ignore_errors=True)
        raise
    found = []
    for path, spec in zip(paths, specs):
        number = f"{job}_{spec['slurm']['array']['task']}"
        write("run.job", path / "job.json", {"job": number})
        found.append(SlurmJob(RunFolder(path)).summary(commands.told_by_records(number, "PENDING", None)))
    return found


def cancel(given: "RunNames", channel: Channel) -> "JobsCancelled":
    """{runs}: takes tasks of arrays out of the queue at once, with Slurm's own grace for those that run. {cancelled:
    how many}. Raises REMOTE_FAILED.
    """
    runs = [
        SlurmJob(folder)
        for folder in (RunFolder(run_path(channel.root, run)) for run in given["runs"])
        if (folder.path / "spec.json").exists() and not folder.result()
    ]
    jobs = [job for job in (run.job() for run in runs) if job]
    for run in runs:
        run.folder.write("stop", {"grace": 0.0, "kill": False, "by": "flexrack sweep stop"})
    for at in range(0, len(jobs), _AT_ONCE):
        done = commands.call(["scancel", *jobs[at : at + _AT_ONCE]], runs[0].bin)
        if (
            done.returncode != 0
            and "already completing or completed" not in done.stderr
            and "Invalid job id" not in done.stderr
        ):
            raise NodeError("REMOTE_FAILED", f"scancel: {commands.last_line(done.stderr)}", "squeue --me")
    return {"cancelled": len(jobs)}
