"""Slurm as this node sees it: its version, the partitions, and whether the node is one of Slurm's."""

import re
import shutil
import socket
import subprocess
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base.commands import run_quick

if TYPE_CHECKING:
    from flexrack_node.schema.facts import PartitionFact, SlurmFact, SlurmNodeFact

# %P partition (with * where it is the default), %a up or down, %l time limit, %D nodes; %N node, %T its state (sinfo's
# manual).
PARTITIONS = "%P|%a|%l|%D"
NODE = "%N|%P|%T"


def slurm() -> "Optional[SlurmFact]":
    """None where there is no sinfo. `problem`: why the rest is left out."""
    program = shutil.which("sinfo")
    if not program:
        return None
    fact: SlurmFact = {}
    try:
        fact["version"] = re.sub(r"^slurm(-wlm)?\s+", "", run_quick([program, "--version"], seconds=5).strip())
        partitions = parse_partitions(run_quick([program, "-h", "-a", "-o", PARTITIONS], seconds=5))
        node = parse_node(
            run_quick([program, "-h", "-a", "-N", "-n", socket.gethostname().split(".")[0], "-o", NODE], seconds=5)
        )
    except (RuntimeError, OSError) as error:
        return {**fact, "problem": str(error)}
    except subprocess.TimeoutExpired:  # by itself sinfo waits for minutes
        return {**fact, "problem": "its controller does not answer"}
    return {**fact, "partitions": partitions, "node": node}


def parse_partitions(text: str) -> "List[PartitionFact]":
    rows = [line.strip().split("|") for line in text.splitlines()]
    return [
        {
            "name": row[0].rstrip("*"),
            "default": row[0].endswith("*"),
            "up": row[1] == "up",
            "time_limit": row[2],
            "nodes": int(row[3]),
        }
        for row in rows
        if len(row) == 4 and row[3].isdigit()
    ]


def parse_node(text: str) -> "Optional[SlurmNodeFact]":
    """One line for each partition it is in; None where Slurm does not know it."""
    rows = [row for row in (line.strip().split("|") for line in text.splitlines()) if len(row) == 3 and row[0]]
    if not rows:
        return None
    # A mark after the state says more: idle* does not answer, idle~ is powered down (sinfo's manual).
    return {"name": rows[0][0], "state": rows[0][2].lower(), "partitions": [row[1].rstrip("*") for row in rows]}
