"""NVIDIA's GPUs of this machine, as nvidia-smi and sysfs tell of them."""
import re
import shutil
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from flexrack_node.base.commands import run_quick
from flexrack_node.base.sysfs import ROOT, known, pci_address, pci_facts

# nvidia-smi refuses a question with a field that it does not know as a whole: what old drivers lack is asked for, then done without.
FIELDS = ("index", "uuid", "name", "memory.total", "driver_version", "pci.bus_id")
MORE_FIELDS = ("memory.free", "compute_mode", "mig.mode.current")


def gpus(root: Path = ROOT) -> List[Dict[str, Any]]:
    """[{index, uuid, name, memory, free (bytes; null where it is not told), driver, bus, numa_node, pcie, compute_mode, mig: [{profile, uuid}]}]."""
    program = shutil.which("nvidia-smi")
    if not program:
        return []
    found = ask(program)
    if any(gpu["mig_mode"] == "Enabled" for gpu in found):
        parts = parse_list(run_quick([program, "-L"]))
        found = [{**gpu, "mig": parts.get(gpu["uuid"], [])} if gpu["mig_mode"] == "Enabled" else gpu for gpu in found]
    return [placed(root, gpu) for gpu in found]


def ask(program: str) -> List[Dict[str, Any]]:
    for fields in (FIELDS + MORE_FIELDS, FIELDS):
        try:
            return parse_query(run_quick([program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]), fields)
        except RuntimeError:
            if fields == FIELDS:
                raise
    return []


def parse_query(text: str, fields: Sequence[str] = FIELDS + MORE_FIELDS) -> List[Dict[str, Any]]:
    """Rows of --format=csv,noheader,nounits. Lines that are no rows (warnings of the driver) are passed over."""
    lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    rows = [dict(zip(fields, line)) for line in lines if len(line) == len(fields) and line[0].isdigit()]
    return [
        {
            "index": int(row["index"]),
            "uuid": row["uuid"],
            "name": row["name"],
            "memory": mebibytes(row["memory.total"]),
            "driver": row["driver_version"],
            "bus": pci_address(row["pci.bus_id"]) or row["pci.bus_id"],
            "free": mebibytes(row.get("memory.free", "")),
            "compute_mode": meant(row.get("compute_mode", "")),
            "mig_mode": meant(row.get("mig.mode.current", "")),
        }
        for row in rows
    ]


def placed(root: Path, gpu: Dict[str, Any]) -> Dict[str, Any]:
    """With what sysfs knows of its place, and without what was not told. (Total and free memory stay: null says that nobody told.)"""
    place = pci_facts(root / "sys/bus/pci/devices" / gpu["bus"])
    reported = {key: value for key, value in gpu.items() if key != "mig_mode"}
    return {**known({**reported, "numa_node": place.get("numa_node"), "pcie": place.get("pcie")}), "memory": gpu["memory"], "free": gpu["free"]}


def parse_list(text: str) -> Dict[str, List[Dict[str, str]]]:
    """Of `nvidia-smi -L`: the MIG devices of each GPU, by the GPU's uuid."""
    found: Dict[str, List[Dict[str, str]]] = {}
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
