"""The launcher of a run, and with it all of its ranks on this node, in the workspace's image, in its sandbox, or both:
one entrance a node, so that ranks share memory, GPUs and each other's processes as they do without.
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from flexrack_node.base.stored import replace_file, stamped
from flexrack_node.image.enter import enter_words
from flexrack_node.image.marks import is_inside

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder

# of its spec; the rest are secrets of the gang and of the tracking server
_SEEN = ("placed", "neighbours", "watch", "launcher", "processes", "index", "nodes", "node", "run")


def entered(spec: Mapping[str, Any], folder: Path, attempt: Path, argv: List[str], env: Mapping[str, str]) -> List[str]:
    """What the supervisor starts instead of `argv`, with the environment `env`."""
    if not is_inside(spec):
        return argv
    root = _root_of(folder)
    environment = Path(spec["python"]).parents[1]
    return enter_words(root, environment.parent, _order(spec, root, folder, attempt, environment, env), argv)


def _order(
    spec: Mapping[str, Any], root: Path, folder: Path, attempt: Path, environment: Path, env: Mapping[str, str]
) -> "EnterOrder":
    leases: Optional[Dict[str, Any]] = spec.get("leases")
    isolate = spec.get("isolate")
    order: EnterOrder = {
        "read": [],
        "write": [spec["cwd"]],
        "gpus": _gpus(spec),
        "cwd": spec["cwd"],
        "path": [f"{environment}/bin"],
        "keep": sorted(
            {
                *spec.get("env", {}),
                *(
                    name
                    for name in env
                    if name.startswith(("FLEXRACK_", "MLFLOW_", "PET_", "CUDA_VISIBLE", "NCCL_SOCKET", "GLOO_SOCKET"))
                ),
                "OMP_NUM_THREADS",
                "RANK",
                "LOCAL_RANK",
                "WORLD_SIZE",
                "MASTER_ADDR",
                "MASTER_PORT",
                "PYTHONUNBUFFERED",
                "VIRTUAL_ENV",
                *(["PYTHONPATH"] if (spec.get("code") or {}).get("imports") else []),
            }
        ),
        "die": True,
    }
    if spec.get("image"):
        order["image"] = spec["image"]
    if leases and leases.get("libraries"):
        order["drivers"] = leases["libraries"]
    if isolate is not None:
        order["isolate"] = isolate
        seen = attempt / "seen.json"
        replace_file(
            seen, json.dumps(stamped("run.spec", {key: spec[key] for key in _SEEN if key in spec})), durable=False
        )
        order["read"] = [] if sys.base_prefix in ("/", "/usr", "/usr/local") or spec.get("image") else [sys.base_prefix]
        code = spec.get("code")
        # A run's own view of its code has links to what it shares with the workspace: data, and what runs download.
        shared = [str(root / "workspaces" / code["workspace"] / "code")] if code else []
        order["write"] = [spec["cwd"], *shared, str(folder / "outputs"), str(attempt)]
        order["over"] = [[str(seen), str(folder / "spec.json")]]
    if spec.get("inputs_folder"):
        order["read"] = [*order["read"], spec["inputs_folder"]]
    if spec.get("volumes"):
        order["volumes"] = spec["volumes"]
    if spec.get("data_folder"):
        order["read"] = [
            *order["read"],
            spec["data_folder"],
            *(str(root / "data" / "versions" / one["digest"] / "tree") for one in spec["data"]),
        ]
    return order


def _gpus(spec: Mapping[str, Any]) -> Optional[List[str]]:
    """Those that were leased for the ranks; leases of GPU daemons are of no device here. None were chosen: all."""
    if spec.get("leases"):
        return []
    placed = spec.get("placed")
    return [uuid for one in placed for uuid in one["gpus"]] if placed else None


def _root_of(folder: Path) -> Path:
    """flexrack's folder of this node, given a run's; a member's of a Slurm job lies deeper."""
    return next(one for one in folder.parents if one.name == "runs").parent
