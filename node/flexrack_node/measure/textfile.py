"""flexrack_run_RUN_INDEX.prom: a run's numbers on its node for Prometheus, in the folder of node_exporter's textfile
collector (https://github.com/prometheus/node_exporter#textfile-collector), while the run goes.

Every series has the run's name: two files with one series would take all of them from node_exporter. A file that nobody
takes away stays for ever, so a run takes away those of runs of its account that were killed.
"""

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterable, List, Mapping, Optional, Tuple

from flexrack_node.base.stored import replace_file
from flexrack_node.watch.progress import progress_path, read_progress

if TYPE_CHECKING:
    from flexrack_node.measure.hardware_gpus import GpuReading
    from flexrack_node.schema.runfiles import KeptRunOrder
    from flexrack_node.schema.watch import HardwareSample, RankProgress

PREFIX, SUFFIX = "flexrack_run_", ".prom"
STALE_SECONDS = 600.0  # a sampler writes every few seconds

HELP: Dict[str, Tuple[str, str]] = {
    "flexrack_run_info": ("gauge", "A run that goes on this node: who started it, and for what."),
    "flexrack_run_ranks": ("gauge", "Ranks of the run that live on this node."),
    "flexrack_run_attempt": ("gauge", "Number of the run's attempt, from 1; 0 before its ranks start."),
    "flexrack_run_started_timestamp_seconds": ("gauge", "When the run was started."),
    "flexrack_run_step": ("gauge", "Steps of the optimizer that all of its ranks on this node have made."),
    "flexrack_run_last_step_timestamp_seconds": ("gauge", "When the last rank here made its newest step."),
    "flexrack_run_samples_total": ("counter", "Samples that its ranks on this node have trained on, in this attempt."),
    "flexrack_run_data_wait_seconds_total": (
        "counter",
        "Time that its ranks on this node waited for data, in this attempt.",
    ),
    "flexrack_run_cpu_ratio": ("gauge", "Processors that its ranks on this node keep busy: 1 is one of them."),
    "flexrack_run_memory_bytes": ("gauge", "Resident memory of its ranks on this node."),
    "flexrack_run_gpu_busy_ratio": ("gauge", "Share of the time in which the GPU computed, 0 to 1."),
    "flexrack_run_gpu_memory_used_bytes": ("gauge", "Memory of the GPU that is in use, by whomever."),
}

Labels = Mapping[str, str]


class TextFile:
    """Of one run on one node. `write()` after each sample; `close()` takes it away. Raises OSError."""

    def __init__(self, folder: Path, spec: "KeptRunOrder") -> None:
        self._path = folder / f"{PREFIX}{safe(spec['run'])}_{spec['index']}{SUFFIX}"
        self._spec = spec
        remove_stale(folder, time.time())

    def write(self, sample: "HardwareSample", gpus: "Mapping[str, GpuReading]", attempt: Optional[Path]) -> None:
        ranks = [read_progress(progress_path(attempt, int(rank))) for rank in sample["ranks"]] if attempt else []
        text = exposition(self._spec, sample, gpus, [one for one in ranks if one])
        # node_exporter is another account's, and reads only what is called *.prom, so never a draft.
        replace_file(self._path, text, mode=0o644, durable=False)

    def close(self) -> None:
        self._path.unlink(missing_ok=True)


def exposition(
    spec: "KeptRunOrder",
    sample: "HardwareSample",
    gpus: "Mapping[str, GpuReading]",
    ranks: "List[RankProgress]",
) -> str:
    """The file's text, in the format of https://prometheus.io/docs/instrumenting/exposition_formats/."""
    run: Labels = {"run": spec["run"]}
    who = {"project": spec.get("project") or "", "user": spec.get("owner") or "", "node": spec["node"]}
    series: List[Tuple[str, Labels, Optional[float]]] = [
        ("flexrack_run_info", {**run, **who}, 1),
        ("flexrack_run_ranks", run, len(sample["ranks"])),
        ("flexrack_run_attempt", run, sample["attempt"]),
        ("flexrack_run_started_timestamp_seconds", run, spec.get("created")),
        ("flexrack_run_cpu_ratio", run, round(sum(one[0] for one in sample["ranks"].values()) / 100, 3)),
        ("flexrack_run_memory_bytes", run, sum(one[1] for one in sample["ranks"].values())),
    ]
    if ranks:
        series += [
            ("flexrack_run_step", run, min(one["steps"] for one in ranks)),
            ("flexrack_run_samples_total", run, sum(one["samples"] for one in ranks)),
            ("flexrack_run_data_wait_seconds_total", run, round(sum(one["data_wait"] for one in ranks), 3)),
        ]
        last = min(one["step_at"] for one in ranks)
        series.append(("flexrack_run_last_step_timestamp_seconds", run, last or None))
    for index, (used, memory, *_) in sample["gpus"].items():
        reported = gpus.get(index)
        gpu = {**run, "gpu": index, "uuid": reported["uuid"] if reported else ""}
        series.append(("flexrack_run_gpu_busy_ratio", gpu, None if used is None else used / 100))
        series.append(("flexrack_run_gpu_memory_used_bytes", gpu, memory))
    return "".join(lines(series))


def lines(series: "List[Tuple[str, Labels, Optional[float]]]") -> Iterable[str]:
    """All of one name together, as the format wants it."""
    for name, (kind, text) in HELP.items():
        told = [(labels, value) for one, labels, value in series if one == name and value is not None]
        if told:
            yield f"# HELP {name} {text}\n# TYPE {name} {kind}\n"
        for labels, value in told:
            yield f"{name}{{{','.join(f'{key}={quoted(word)}' for key, word in labels.items())}}} {value}\n"


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def safe(run: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", run)[:200]


def remove_stale(folder: Path, now: float) -> None:
    """Files of this account's runs that nobody has written to for a while. What others left is theirs."""
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        try:
            about = path.lstat()
            if about.st_uid == os.geteuid() and now - about.st_mtime > STALE_SECONDS:
                path.unlink()
        except OSError:
            continue
