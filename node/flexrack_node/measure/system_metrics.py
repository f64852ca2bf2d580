"""A node's samples as MLflow's system metrics, under the names and units that MLflow itself uses.

mlflow/system_metrics: `system/` and, where a run has several nodes, the node's name and `/`; cpu_monitor.py,
network_monitor.py, gpu_monitor.py and process_monitor.py name what follows. Megabytes are 10^6 bytes; network_* count
up, here from the beginning of the run. Of its own are the ranks' (`rank_3_process_cpu_percentage`),
disk_read_megabytes, disk_write_megabytes and gpu_0_temperature_celsius.
"""

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

if TYPE_CHECKING:
    from flexrack_node.run.recording import Metric

PERIOD = 10.0  # seconds; MLflow's own
_ROWS_A_SECOND = 50.0  # of a whole run: a hundred nodes must not keep the tracking server's database busy
_POINTS = 2000  # after that many the period doubles: 10 s for the first hours, minutes after a week
_MOST = 900  # of one log-batch; the endpoint takes 1000


def named(
    sample: Mapping[str, Any], totals: Mapping[str, List[float]], gpu_totals: Mapping[str, Any], node: str
) -> Dict[str, float]:
    """Values by their names. `totals`: bytes since the run began, {net: [in, out], disk: [read, written]};
    `gpu_totals`: {index: {total, limit}}; `node`: empty where the run has only one.
    """
    values: Dict[str, Optional[float]] = {
        "cpu_utilization_percentage": sample["cpu"],
        "system_memory_usage_megabytes": sample["memory"] / 1e6,
        "network_receive_megabytes": totals["net"][0] / 1e6,
        "network_transmit_megabytes": totals["net"][1] / 1e6,
        "disk_read_megabytes": totals["disk"][0] / 1e6,
        "disk_write_megabytes": totals["disk"][1] / 1e6,
    }
    for rank, (cpu, memory, *_) in sample["ranks"].items():
        values[f"rank_{rank}_process_cpu_percentage"] = cpu
        values[f"rank_{rank}_process_memory_rss_megabytes"] = memory / 1e6
    for index, (used, memory, power, temperature) in sample["gpus"].items():
        reported = gpu_totals.get(index) or {}
        values.update(
            {
                f"gpu_{index}_utilization_percentage": used,
                f"gpu_{index}_memory_usage_megabytes": None if memory is None else memory / 1e6,
                f"gpu_{index}_memory_usage_percentage": share(memory, reported.get("total")),
                f"gpu_{index}_power_usage_watts": power,
                f"gpu_{index}_power_usage_percentage": share(power, reported.get("limit")),
                f"gpu_{index}_temperature_celsius": temperature,
            }
        )
    prefix = f"system/{node}/" if node else "system/"
    return {prefix + name: round(float(value), 1) for name, value in values.items() if value is not None}


class Pace:
    """When the next values are due, so that neither many nodes nor a long run write without end."""

    def __init__(self, nodes: int) -> None:
        self._nodes, self._points = nodes, 0

    def seconds(self, values: int) -> float:
        """Between two rounds of so many values on each node."""
        return float(max(PERIOD, values * self._nodes / _ROWS_A_SECOND) * 2 ** (self._points // _POINTS))

    def logged(self) -> int:
        """One round more; returns its step, counted from 0."""
        self._points += 1
        return self._points - 1


def batches(values: Mapping[str, float], at: float, step: int) -> "List[List[Metric]]":
    """Metrics of log-batch, in as many calls as it takes."""
    metrics: List[Metric] = [
        {"key": key, "value": value, "timestamp": int(at * 1000), "step": step} for key, value in values.items()
    ]
    return [metrics[first : first + _MOST] for first in range(0, len(metrics), _MOST)]


def share(part: Any, whole: Any) -> Any:
    return None if part is None or not whole else part / whole * 100
