"""Launchers that are packages of the environment (launchers/): what they are started with. The plan goes to them by
environment, which other users do not see.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from flexrack_node.base.file_schemas import SCHEMAS
from flexrack_node.run.keeper import is_slurms

if TYPE_CHECKING:
    from flexrack_node.launchers.with_ray import Place as RayPlace

_LAUNCHERS = Path(__file__).resolve().parents[1] / "launchers"
PACKAGED = {"accelerate": "with_accelerate.py", "deepspeed": "with_deepspeed.py"}
PLAN = "FLEXRACK_LAUNCH"
# CUDA_VISIBLE_DEVICES as it was chosen: DeepSpeed's launcher sets it to the numbers of its processes
DEVICES = "FLEXRACK_DEVICES"
EVERY_DEVICE = "all"


def packaged_argv(spec: Mapping[str, Any], attempt: Path, wrapper: List[str]) -> List[str]:
    return [spec["python"], "-u", str(_LAUNCHERS / PACKAGED[spec["launcher"]]), str(attempt), *wrapper]


def ray_argv(spec: Mapping[str, Any], attempt: Path, rank: List[str]) -> List[str]:
    """What a rank runs, where it is a node of a cluster; the first one runs `rank` in it."""
    return [spec["python"], "-I", "-u", str(_LAUNCHERS / "with_ray.py"), str(attempt), *rank]


def ray_plan(spec: Mapping[str, Any], attempt: int, port: int, env: Mapping[str, str]) -> "RayPlace":
    devices = env.get("CUDA_VISIBLE_DEVICES")
    return {
        "nodes": len(spec["nodes"]),
        "index": spec["index"],
        "address": spec["gang"]["address"],
        "own": spec["address"],
        "port": port,
        "python": spec["python"],
        "cpus": max(1, len(os.sched_getaffinity(0)) // max(1, int(spec.get("neighbours", 1)))),
        "gpus": None if devices is None else len([one for one in devices.split(",") if one]),
        # there nobody but the login node is spoken with
        "dashboard": spec["address"] if is_slurms(spec) else "127.0.0.1",
        "token": ray_token(spec, attempt),
        "scratch": str(ray_scratch(spec, attempt)),
        "schema": SCHEMAS["run.ray"],
    }


def ray_scratch(spec: Mapping[str, Any], attempt: int) -> Path:
    """Folder of a cluster's sockets and logs; short, as names of sockets are in it. Ray wants the head's on every node."""

    import hashlib
    import tempfile

    name = hashlib.sha256(f"{os.geteuid()} {spec['run']} {attempt}".encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir(), f"flexrack-ray-{name}")


def remove_ray_scratch(spec: Mapping[str, Any], attempt: int) -> None:
    """Once nothing of the attempt is alive that would write there."""

    import shutil

    if spec["launcher"] == "ray":
        shutil.rmtree(ray_scratch(spec, attempt), ignore_errors=True)


def ray_token(spec: Mapping[str, Any], attempt: int) -> str:
    """All nodes of the run know it without telling each other; nobody else does."""
    import hmac

    return hmac.new(spec["gang"]["secret"].encode(), f"ray {spec['run']} {attempt}".encode(), "sha256").hexdigest()


def packaged_environment(spec: Mapping[str, Any], attempt: int, port: int, env: Mapping[str, str]) -> Dict[str, str]:
    """What to add to the environment `env` of the launcher and its ranks."""
    if spec["launcher"] == "ray":
        return {PLAN: json.dumps(ray_plan(spec, attempt, port, env))}
    if spec["launcher"] not in PACKAGED:
        return {}
    nodes, processes, index = len(spec["nodes"]), spec["processes"], spec["index"]
    plan = {
        "nodes": nodes,
        "processes": processes,
        "index": index,
        "address": spec["gang"]["address"],
        "port": port,
    }
    added = {
        PLAN: json.dumps(plan),
        "LOCAL_WORLD_SIZE": str(processes),
        "GROUP_RANK": str(index),
        "GROUP_WORLD_SIZE": str(nodes),
        "NODE_RANK": str(index),
    }
    if spec["launcher"] == "deepspeed":
        added[DEVICES] = env.get("CUDA_VISIBLE_DEVICES", EVERY_DEVICE)
    elif nodes * processes == 1:  # then accelerate starts it as it is, without a torchrun that would say these
        added.update(
            RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", MASTER_ADDR=spec["gang"]["address"], MASTER_PORT=str(port)
        )
    return added
