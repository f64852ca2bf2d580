"""NVIDIA's GPUs of this machine, as nvidia-smi and sysfs tell of them."""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, NamedTuple, Optional, Sequence

from flexrack_node.base.commands import run_quick
from flexrack_node.base.sysfs import ROOT, pci_address, pci_facts

if TYPE_CHECKING:
    from flexrack_node.schema.facts import GpuFact, MigPart

# nvidia-smi refuses a question with a field that it does not know as a whole: what old drivers lack is asked for, then
# done without.
FIELDS = ("index", "uuid", "name", "memory.total", "driver_version", "pci.bus_id")
MORE_FIELDS = ("memory.free", "compute_mode", "mig.mode.current")


class Row(NamedTuple):
    """What nvidia-smi tells of a GPU."""

    gpu: "GpuFact"
    is_in_parts: bool


def gpus(root: Path = ROOT) -> "List[GpuFact]":
    program = shutil.which("nvidia-smi")
    if not program:
        return []
    found = ask(program)
    parts = parse_list(run_quick([program, "-L"])) if any(row.is_in_parts for row in found) else {}
    return [placed(root, row.gpu, parts.get(row.gpu["uuid"], []) if row.is_in_parts else None) for row in found]


def ask(program: str) -> List[Row]:
    for fields in (FIELDS + MORE_FIELDS, FIELDS):
        try:
            return parse_query(
                run_quick([program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]), fields
            )
        except RuntimeError:
            if fields == FIELDS:
                raise
    return []


def parse_query(text: str, fields: Sequence[str] = FIELDS + MORE_FIELDS) -> List[Row]:
    """Rows of --format=csv,noheader,nounits. Lines that are no rows (warnings of the driver) are passed over."""
    lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    return [row_of(dict(zip(fields, line))) for line in lines if len(line) == len(fields) and line[0].isdigit()]


def row_of(row: Dict[str, str]) -> Row:
    gpu: GpuFact = {
        "index": int(row["index"]),
        "uuid": row["uuid"],
        "name": row["name"],
        "driver": row["driver_version"],
        "memory": mebibytes(row["memory.total"]),
        "free": mebibytes(row.get("memory.free", "")),
        "bus": pci_address(row["pci.bus_id"]) or row["pci.bus_id"],
    }
    mode = meant(row.get("compute_mode", ""))
    if mode is not None:
        gpu["compute_mode"] = mode
    return Row(gpu, row.get("mig.mode.current") == "Enabled")


def placed(root: Path, gpu: "GpuFact", parts: "Optional[List[MigPart]]" = None) -> "GpuFact":
    """With what sysfs knows of its place."""
    place = pci_facts(root / "sys/bus/pci/devices" / gpu["bus"])
    found: GpuFact = {**gpu}
    if "numa_node" in place:
        found["numa_node"] = place["numa_node"]
    if "pcie" in place:
        found["pcie"] = place["pcie"]
    if parts is not None:
        found["mig"] = parts
    return found


def parse_list(text: str) -> "Dict[str, List[MigPart]]":
    """Of `nvidia-smi -L`: the MIG devices of each GPU, by the GPU's uuid."""
    found: Dict[str, List[MigPart]] = {}
    own: Optional[str] = None
    for line in text.splitlines():
        gpu = re.match(r"GPU \d+: .*\(UUID: (GPU-[^)]+)\)", line)
        part = re.match(r"\s+MIG (\S+)\s+Device\s+\d+: \(UUID: (MIG-[^)]+)\)", line)
        if gpu:
            own = gpu.group(1)
        elif part and own:
            found.setdefault(own, []).append({"profile": part.group(1), "uuid": part.group(2)})
    return found


def mebibytes(text: str) -> Optional[int]:
    return int(text) * 1024 * 1024 if text.isdigit() else None


def meant(text: str) -> Optional[str]:
    """`[N/A]`, `[Not Supported]` and nothing say nothing."""
    return None if not text or text.startswith("[") or text == "N/A" else text
