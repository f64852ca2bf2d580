"""hardware.json: what a run used of this node so far, kept up to date while it runs: means, peaks and totals by
attempt.

    {"machine", "interface", "gpus": [uuid]|null, "cores", "memory_total", "attempts": {number: {"since", "until", "seconds", "cpu", "memory", "net": [in, out],
     "rdma", "disk", "ranks": {rank: {"cpu", "memory", "peak"}}, "gpus": {index: {"uuid", "used", "memory", "peak", "total", "power"}}}}}

Means in the units of hardware.jsonl; net, rdma and disk are bytes in all; times in seconds since 1970. A mean over no
time is null.
"""

import os
import time
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Tuple

from flexrack_node.base.stored import read, write
from flexrack_node.measure.hardware import memory_total
from flexrack_node.rank.launch import machine_id
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.measure.hardware_gpus import GpuReading
    from flexrack_node.schema.watch import HardwareSample, NodeHardware

_WRITE_SECONDS = 30.0


class Summary:
    """Of one node. `add()` a sample after the other; it writes by itself now and then, `write()` does it now."""

    def __init__(self, folder: RunFolder, interface: Optional[str], gpus: Optional[List[str]]) -> None:
        self._folder = folder
        self._value: NodeHardware = {
            "machine": machine_id(),
            "interface": interface,
            "gpus": gpus,
            "cores": os.cpu_count(),
            "memory_total": memory_total(),
            "attempts": {},
        }
        self._written = 0.0
        self.write()

    def add(self, sample: "HardwareSample", gpus: "Mapping[str, GpuReading]") -> None:
        """`gpus`: what GpuReader.latest() told with it."""
        if self._value["gpus"] is None and gpus:
            self._value["gpus"] = [one["uuid"] for _, one in sorted(gpus.items())]
        number, seconds = str(sample["attempt"]), sample["s"]
        if number == "0":
            return  # the gang has not come together yet
        known = self._value["attempts"].setdefault(
            number,
            {
                "since": sample["t"] - seconds,
                "seconds": 0.0,
                "cpu": None,
                "memory": None,
                "net": [0, 0],
                "rdma": None,
                "disk": [0, 0],
                "ranks": {},
                "gpus": {},
            },
        )
        before = known["seconds"]
        known["until"], known["seconds"] = sample["t"], round(before + seconds, 3)
        for key in ("cpu", "memory"):
            known[key] = running_mean(known[key], before, sample[key], seconds)
        counts: Tuple[Literal["net", "rdma", "disk"], ...] = ("net", "rdma", "disk")
        for key in counts:
            rates = sample[key]
            if rates is not None:
                known[key] = [total + round(rate * seconds) for total, rate in zip(known.get(key) or [0, 0], rates)]
        for rank, (cpu, memory, *_) in sample["ranks"].items():
            self._into(known["ranks"], rank, {"cpu": cpu, "memory": memory}, seconds)
        for index, (used, held, power, _) in sample["gpus"].items():
            reported = gpus.get(index)
            self._into(known["gpus"], index, {"used": used, "memory": held, "power": power}, seconds).update(
                uuid=reported["uuid"] if reported else None, total=reported["total"] if reported else None
            )
        if time.monotonic() - self._written > _WRITE_SECONDS:
            self.write()

    def write(self) -> None:
        """Not durable: after a crash of the machine it is what it was half a minute before, or nothing."""
        write("run.hardware", self._folder.path / "hardware.json", self._value, durable=False)
        self._written = time.monotonic()

    def _into(self, group: Dict[str, Any], name: str, values: Dict[str, Any], seconds: float) -> Dict[str, Any]:
        """A rank's or a GPU's means: over the time in which it told something, which is its own."""
        known = group.setdefault(name, {"seconds": 0.0, "peak": 0})
        for key, value in values.items():
            known[key] = running_mean(known.get(key), known["seconds"], value, seconds)
        known["peak"] = max(known["peak"], values["memory"] or 0)
        known["seconds"] = round(known["seconds"] + seconds, 3)
        found: Dict[str, Any] = known
        return found


def running_mean(old: Optional[float], weight: float, value: Optional[float], seconds: float) -> Optional[float]:
    if value is None:
        return old
    return value if old is None else round((old * weight + value * seconds) / (weight + seconds), 2)


def read_summary(folder: RunFolder) -> "Optional[NodeHardware]":
    """None for a run of an older version, and for one that has just begun."""
    return read("run.hardware", folder.path / "hardware.json")
