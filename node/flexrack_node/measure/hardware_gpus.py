"""How busy the run's GPUs are: one nvidia-smi that stays and prints a line a GPU every few seconds.

A process of its own, and not NVML in the supervisor's: a driver that hangs, as drivers do, must not keep the supervisor
from its work or from ending. And one that stays, because to start it costs a hundred times what a look costs. Where
there is no nvidia-smi nothing is started.
"""

import os
import shutil
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, TypedDict, cast

from flexrack_node.facts.gpus import mebibytes
from flexrack_node.rank.rank import die_with_parent

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Record
    from flexrack_node.schema.runfiles import KeptRunOrder

FIELDS = (
    "index",
    "uuid",
    "utilization.gpu",
    "memory.used",
    "memory.total",
    "power.draw",
    "enforced.power.limit",
    "temperature.gpu",
)
AGAIN_SECONDS = 60.0  # before an nvidia-smi that has ended is started again


class GpuReading(TypedDict):
    """Percent, bytes, watts, degrees Celsius; None where the driver does not tell."""

    uuid: str
    used: Optional[float]
    memory: Optional[int]
    total: Optional[int]
    power: Optional[float]
    limit: Optional[float]
    temperature: Optional[float]


class GpuRow(GpuReading):
    index: int


class GpuReader:
    """`latest()` never waits. `uuids`: which GPUs; None: all that there are, [] none. `tell` is called once for each
    time that nvidia-smi has ended by itself.
    """

    def __init__(self, uuids: Optional[List[str]], seconds: float, tell: Callable[[str], None]) -> None:
        self._uuids, self._seconds, self._tell = uuids, seconds, tell
        self._program = shutil.which("nvidia-smi") if uuids != [] else None
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._started = -AGAIN_SECONDS
        self._lock = threading.Lock()
        self._latest: Dict[str, GpuReading] = {}
        self._at = 0.0

    def latest(self) -> "Dict[str, GpuReading]":
        """By index. Empty where nothing was told for three periods. To be called again and again by one thread: it
        keeps nvidia-smi going, which ends with this thread.
        """
        if self._program and (self._process is None or self._process.poll() is not None):
            self._start()
        with self._lock:
            return dict(self._latest) if time.monotonic() - self._at < self._seconds * 3 + 1 else {}

    def close(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            if self._process.stdout:
                self._process.stdout.close()
        self._program = None

    def _start(self) -> None:
        if self._process is not None and self._process.stdout and not self._process.stdout.closed:
            self._tell(f"nvidia-smi ended with {self._process.returncode}")
            self._process.stdout.close()
        if time.monotonic() - self._started < AGAIN_SECONDS:
            return
        self._started = time.monotonic()
        argv = [
            str(self._program),
            f"--query-gpu={','.join(FIELDS)}",
            "--format=csv,noheader,nounits",
            f"--loop-ms={max(100, round(self._seconds * 1000))}",
        ]
        if self._uuids:
            argv.append(f"--id={','.join(self._uuids)}")
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            self._program = None
            self._tell(f"nvidia-smi: {error.strerror}")
            return
        threading.Thread(target=self._read, args=(self._process,), name="gpu-reader", daemon=True).start()

    def _read(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                row = parse_row(line.decode("utf-8", "replace"))
                if row:
                    with self._lock:
                        self._latest[str(row["index"])] = cast(
                            GpuReading, {name: value for name, value in row.items() if name != "index"}
                        )
                        self._at = time.monotonic()
        except (OSError, ValueError):  # closed by close()
            pass


def parse_row(line: str) -> "Optional[GpuRow]":
    """One GPU's line; None for a line that is none (warnings of the driver)."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != len(FIELDS) or not cells[0].isdigit():
        return None
    row = dict(zip(FIELDS, cells))
    return {
        "index": int(row["index"]),
        "uuid": row["uuid"],
        "used": measured(row["utilization.gpu"]),
        "memory": mebibytes(row["memory.used"]),
        "total": mebibytes(row["memory.total"]),
        "power": measured(row["power.draw"]),
        "limit": measured(row["enforced.power.limit"]),
        "temperature": measured(row["temperature.gpu"]),
    }


def measured(text: str) -> Optional[float]:
    """`[N/A]` and `[Not Supported]` are no numbers."""
    try:
        return float(text)
    except ValueError:
        return None


def gpus_of(spec: "KeptRunOrder", reserved: "Optional[Record]", environment: Any = os.environ) -> Optional[List[str]]:
    """The GPUs of a run on this node, by UUID: those chosen for its ranks, else those it has reserved, else those that
    Slurm gave it. None where nobody chose: then they are all of the node's.
    """
    if spec.get("placed"):
        return [uuid for one in spec["placed"] for uuid in one["gpus"]]
    if spec.get("scheduler") == "slurm":
        given = environment.get("CUDA_VISIBLE_DEVICES")
        return (
            None
            if given is None and environment.get("SLURM_JOB_GPUS")
            else [one for one in (given or "").split(",") if one]
        )
    wanted = reserved["wants"]["gpus"] if reserved else None
    return [one for one in wanted if one.startswith("GPU-")] if isinstance(wanted, list) else None
