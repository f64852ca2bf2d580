"""Binds a rank to what was chosen for it (`placed` of the run's spec): CPUs and memory beside its GPUs. What could not
be bound is told, not fatal.

CPUs by sched_setaffinity(2), before the rank is started: it inherits them. Memory by `numactl --membind` where that is
installed and may be used (a container often forbids set_mempolicy(2)). torchrun's own --numa-binding does the same for
CPUs, but counts GPUs by LOCAL_RANK on the whole machine.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional, Tuple

from flexrack_node.base import stored
from flexrack_node.base.sysfs import cpu_list

if TYPE_CHECKING:
    from flexrack_node.schema.order import RankPlace
    from flexrack_node.schema.result import RankBound


def visible_devices(placed: "List[RankPlace]") -> str:
    """CUDA_VISIBLE_DEVICES of every rank on the node: the GPUs of all, in the order of the ranks, so that
    cuda:LOCAL_RANK is the own one.
    """
    return ",".join(uuid for one in placed for uuid in one["gpus"])


def bind(spec_file: Path, local: int) -> "Tuple[List[str], Optional[RankBound]]":
    """Binds this process. Returns words to put before the rank's argv, and {cpus, memory, gpus} for its record, None
    where nothing was chosen.
    """
    try:
        spec = stored.current("run.spec", json.loads(spec_file.read_text()), spec_file)
    except (OSError, ValueError):
        return [], None
    placed = spec.get("placed")
    if not placed:
        return [], None
    mine = placed[local]
    cpus = bind_cpus(mine["cpus"])
    if cpus == mine["cpus"] and mine["cpus"] and "OMP_NUM_THREADS" not in spec.get("env", {}):
        os.environ["OMP_NUM_THREADS"] = str(threads_of(placed, local, int(spec.get("neighbours") or 1)))
    before, memory = memory_words(mine["memory"] if mine["cpus"] else [])
    return before, {"cpus": cpus, "memory": memory, "gpus": mine.get("leased") or mine["gpus"]}


def bind_cpus(cpus: Optional[str]) -> str:
    """The CPUs where it worked, else why not."""
    if not cpus:
        return "not bound: none were chosen"
    try:
        os.sched_setaffinity(0, cpu_list(cpus))
        return cpus
    except OSError as error:
        return f"not bound: {error.strerror}"


def threads_of(placed: "List[RankPlace]", local: int, neighbours: int) -> int:
    """A rank's share of its CPUs: those that are bound to the same have theirs too, on every node of the gang on this
    machine.
    """
    mine = set(cpu_list(placed[local]["cpus"] or ""))
    sharing = sum(1 for one in placed if one["cpus"] and mine & set(cpu_list(one["cpus"])))
    return max(1, len(mine) // (sharing * max(1, neighbours)))


def memory_words(nodes: List[int]) -> Tuple[List[str], str]:
    """numactl and its arguments where it works here; what is told."""

    import shutil

    if not nodes:
        return [], "not bound: none was chosen"
    program = shutil.which("numactl")
    if not program:
        return [], "not bound: no numactl"
    words = [program, f"--membind={','.join(str(node) for node in nodes)}"]
    tried = subprocess.run([*words, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if tried.returncode != 0:
        return [], f"not bound: {(tried.stderr.strip().splitlines() or ['numactl failed'])[0]}"
    return [*words, "--"], f"NUMA {','.join(str(node) for node in nodes)} by numactl"
