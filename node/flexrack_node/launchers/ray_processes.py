"""What has to be done with Ray's own modules, each time in a process of its own, by with_ray.py of the same environment:

    ray_processes.py start WORDS...        `ray start WORDS...`
    ray_processes.py wait SECONDS NODES      until that many nodes have joined the cluster of RAY_ADDRESS

Ray gives its own processes 30 s to start, which a busy machine exceeds: most of that has settings, and one wait has
none (`start`). What answers without the token and is not needed here is off: Ray's client server and what it has for
Prometheus.
"""

import os
import sys
import time
from typing import Any, Dict, List

_START_SECONDS = 150


def ray_environment(environ: Dict[str, str]) -> Dict[str, str]:
    """Of Ray's own processes. Names as in Ray 2.60: src/ray/common/ray_config_def.h (each with RAY_ before it),
    ray/_private/ray_constants.py, dashboard/consts.py, autoscaler/_private/constants.py.
    """
    waits = {
        "RAY_raylet_start_wait_time_s": _START_SECONDS,
        "RAY_gcs_server_port_wait_time_s": _START_SECONDS,
        "RAY_worker_register_timeout_seconds": _START_SECONDS,
        "RAY_agent_register_timeout_ms": _START_SECONDS * 1000,
        "RAY_DASHBOARD_STARTUP_TIMEOUT_S": _START_SECONDS,
        "RAY_NUM_REDIS_GET_RETRIES": _START_SECONDS // 2,
    }  # every 2 s a node that joins asks for the head
    # No port is -1: the dashboard and the monitor say in their logs that they serve no metrics, and go on.
    unasked = {"RAY_enable_metrics_collection": "0", "DASHBOARD_METRIC_PORT": "-1", "AUTOSCALER_METRIC_PORT": "-1"}
    return {**{name: str(value) for name, value in waits.items()}, **unasked, **environ}


def start(words: List[str]) -> int:
    """`ray start`, in a process of its own. Ray asks again and again whether its raylet is there, for 30 s that nothing
    changes: the answer takes longer here. The client server it starts wherever it could.
    """
    os.environ.update(ray_environment(dict(os.environ)))  # before anything of Ray reads them
    from ray._private import services
    from ray.scripts import scripts

    ask = services.get_node

    def patiently(*given: Any) -> Any:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                return ask(*given)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.3)

    services.get_node = patiently
    if hasattr(scripts, "get_ray_client_dependency_error"):
        scripts.get_ray_client_dependency_error = lambda: "not in a run"
    return int(scripts.cli.main(words, prog_name="ray") or 0)


def wait_for(seconds: float, nodes: int) -> int:
    """1 where they are not there in time. In a process of its own, whose connection to the cluster ends with it."""
    import ray

    deadline = time.monotonic() + seconds
    while True:
        try:
            if not ray.is_initialized():
                ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False, logging_level="ERROR")
            if sum(1 for node in ray.nodes() if node["Alive"]) >= nodes:
                return 0
        except Exception as error:  # the head is not there yet
            if time.monotonic() > deadline:
                print(error, file=sys.stderr)
        if time.monotonic() > deadline:
            return 1
        time.sleep(0.3)


if __name__ == "__main__":
    if sys.argv[1] == "start":
        sys.exit(start(sys.argv[2:]))
    sys.exit(wait_for(float(sys.argv[2]), int(sys.argv[3])))
