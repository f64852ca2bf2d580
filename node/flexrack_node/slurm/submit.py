"""Verbs on a login node of Slurm: slurm.inspect looks, slurm.submit starts a run as a job."""

import shutil
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.stored import write
from flexrack_node.bucket import remotes
from flexrack_node.data.use import with_data
from flexrack_node.history.of_run import with_snapshot
from flexrack_node.run.files import RunFolder, run_path
from flexrack_node.slurm import commands
from flexrack_node.slurm.check import has_pyxis
from flexrack_node.slurm.job import SlurmJob
from flexrack_node.workspace.frozen import frozen

if TYPE_CHECKING:
    from flexrack_node.schema.run import NodeRun
    from flexrack_node.schema.slurm import Cluster, ClusterPartition, SlurmPrograms, SlurmSubmit


def inspect(given: "SlurmPrograms", channel: Channel) -> "Cluster":
    """{bin?} -> {version, partitions: [{name, default, nodes}], kill_wait (s), accounting, pyxis, array: tasks of one
    are numbered below this}. Raises NODE_UNFIT, NODE_UNREACHABLE.
    """
    folder = given.get("bin")
    for name in ("sbatch", "squeue", "scancel"):
        commands.call([name, "--version"], folder)
    known = commands.config(folder)
    lines = commands.call(["sinfo", "--noheader", "--format=%R|%P|%D"], folder).stdout.splitlines()
    partitions: Dict[str, ClusterPartition] = {}
    for name, starred, nodes in (line.split("|") for line in lines if line.count("|") == 2):
        one = partitions.setdefault(name, {"name": name, "default": starred.endswith("*"), "nodes": 0})
        one["nodes"] += int(nodes)
    return {
        "version": known.get("SLURM_VERSION"),
        "partitions": list(partitions.values()),
        "kill_wait": float((known.get("KillWait") or "30").split()[0]),
        "accounting": not known.get("AccountingStorageType", "none").endswith("none"),
        "pyxis": has_pyxis(folder),
        "array": int(known.get("MaxArraySize") or "0"),
    }


def submit(given: "SlurmSubmit", channel: Channel) -> "NodeRun":
    """{spec, script}: writes the run's folder and gives the script to sbatch; again for the same run it only tells how
    it is.
    """
    spec, script = given["spec"], given["script"]
    path = run_path(channel.root, spec["run"])
    if not (path / "spec.json").exists():
        record(channel.root, channel.root / "runs", "runs")
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        (path / "job.sh").write_text(script)
        try:
            write(
                "run.spec",
                path / "spec.json",
                with_snapshot(with_data(frozen(remotes.keep(spec, path), path, channel), path, channel), path, channel),
            )
            write(
                "run.job",
                path / "job.json",
                {"job": sbatch(path / "job.sh", path, pattern(path / "job.log"), spec["slurm"].get("bin"))},
            )
        except NodeError:
            shutil.rmtree(path, ignore_errors=True)  # Slurm has refused it, or there is no code: there is no such run
            raise
    return SlurmJob(RunFolder(path)).summary()


def pattern(path: Any) -> str:
    """As a file name pattern of sbatch(1), which stands for the path itself."""
    return str(path).replace("\\", "\\\\").replace("%", "%%")


def sbatch(script: Any, place: Any, log: str, folder: Optional[str]) -> str:
    words: List[str] = ["sbatch", "--parsable", f"--chdir={place}", f"--output={log}", str(script)]
    done = commands.call(words, folder, is_read=False)
    job = done.stdout.strip().split(";")[0]  # NUMBER;CLUSTER in a federation
    if done.returncode != 0 or not job.isdigit():
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise NodeError(
            "REFUSED",
            f"Slurm refuses the job: {commands.last_line(done.stderr).removeprefix('sbatch: error: ')}",
            "flexrack train --dry-run",
            lines=said,
        )
    return job
