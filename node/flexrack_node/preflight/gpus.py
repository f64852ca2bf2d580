"""How much of the GPUs is really free, and who holds the rest, from nvidia-smi."""

import os
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence

from flexrack_node.base.commands import run_quick

if TYPE_CHECKING:
    from flexrack_node.schema.preflight import GpuProcess, GpuState

_GPU = ("index", "uuid", "name", "memory.total", "memory.used", "memory.free", "driver_version")
_PROCESS = ("gpu_uuid", "pid", "used_memory", "process_name")
_MIB = 1024 * 1024


def gpus() -> "List[GpuState]":
    """Raises where there are GPUs and they do not answer. A process of another container has no command or user here."""

    import shutil

    program = shutil.which("nvidia-smi")
    if not program:
        if os.path.exists("/dev/nvidiactl"):
            raise RuntimeError("there is an NVIDIA device, but no nvidia-smi")
        return []
    held: Dict[str, List[GpuProcess]] = {}
    for row in rows(
        run_quick([program, f"--query-compute-apps={','.join(_PROCESS)}", "--format=csv,noheader,nounits"]), _PROCESS
    ):
        pid = int(row["pid"])
        held.setdefault(row["gpu_uuid"], []).append(
            {
                "pid": pid,
                "used": mebibytes(row["used_memory"]),
                "command": os.path.basename(row["process_name"]),
                "user": user_of(pid),
            }
        )
    return [
        {
            "index": int(row["index"]),
            "uuid": row["uuid"],
            "name": row["name"],
            "driver": row["driver_version"],
            "total": mebibytes(row["memory.total"]),
            "used": mebibytes(row["memory.used"]),
            "free": mebibytes(row["memory.free"]),
            "processes": held.get(row["uuid"], []),
        }
        for row in rows(run_quick([program, f"--query-gpu={','.join(_GPU)}", "--format=csv,noheader,nounits"]), _GPU)
    ]


def rows(text: str, columns: Sequence[str]) -> List[Dict[str, str]]:
    """Lines with as many cells as there are columns; the last cell may have commas."""
    split = [line.split(",", len(columns) - 1) for line in text.splitlines()]
    return [dict(zip(columns, (cell.strip() for cell in cells))) for cells in split if len(cells) == len(columns)]


def mebibytes(text: str) -> Optional[int]:
    return int(text) * _MIB if text.isdigit() else None


def user_of(pid: int) -> Optional[str]:
    import pwd

    try:
        return pwd.getpwuid(os.stat(f"/proc/{pid}").st_uid).pw_name
    except (OSError, KeyError):
        return None
