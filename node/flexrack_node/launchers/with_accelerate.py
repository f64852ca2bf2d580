"""`accelerate launch` on one node of a run: `with_accelerate.py FOLDER WORDS...`, of which each rank runs WORDS.

Its config is made from the plan, which comes in FLEXRACK_LAUNCH: in an argv other users would see where the ranks meet.
What the project's accelerate.yaml says beside that (mixed precision, FSDP, DeepSpeed, dynamo) stays.
"""

import json
import os
import sys
from typing import Any, Dict, TypedDict

OWN_CONFIG = "accelerate.yaml"
_ONE_PROCESS = ("NO", "MULTI_CPU")
Config = Dict[str, Any]  # accelerate's, which knows more keys with each version


class Place(TypedDict):
    """A node's part of the plan, as rank/packaged.py makes it."""

    nodes: int
    processes: int
    index: int
    address: str
    port: int


def merged(own: Config, place: Place) -> Config:
    """The config of a node: the project's own, with what the plan decides."""
    kind = str(own.get("distributed_type") or "NO")
    total = place["nodes"] * place["processes"]
    config = {
        "compute_environment": "LOCAL_MACHINE",
        "mixed_precision": "no",
        "debug": False,
        **own,
        # What starts several processes by torchrun's agent; whether there are GPUs is seen by each.
        "distributed_type": ("MULTI_GPU" if total > 1 else "NO")
        if kind in _ONE_PROCESS or (kind == "MULTI_GPU" and total == 1)
        else kind,
        "num_machines": place["nodes"],
        "num_processes": total,
        "machine_rank": place["index"],
        "main_process_ip": place["address"],
        "main_process_port": place["port"],
        "same_network": True,
        "rdzv_backend": "static",
        "gpu_ids": "all",
        "use_cpu": False,
    }
    if kind == "DEEPSPEED":  # the other ways go to the other nodes by ssh
        config["deepspeed_config"] = {
            **(own.get("deepspeed_config") or {}),
            "deepspeed_multinode_launcher": "standard",
            "deepspeed_hostfile": None,
        }
    return config


def read_own() -> Config:
    """The project's config; empty where it has none. Raises ValueError where it is none."""
    if not os.path.exists(OWN_CONFIG):
        return {}
    import yaml

    with open(OWN_CONFIG, encoding="utf-8") as file:
        found = yaml.safe_load(file)
    if not isinstance(found, dict):
        raise ValueError(
            f"{OWN_CONFIG} is no config of accelerate: accelerate config --config_file {OWN_CONFIG} writes one"
        )
    return found


def has_accelerator() -> bool:
    import torch

    return bool(torch.accelerator.is_available() if hasattr(torch, "accelerator") else torch.cuda.is_available())


def main() -> None:
    place: Place = json.loads(os.environ.pop("FLEXRACK_LAUNCH"))
    try:
        from accelerate.commands import launch
    except ImportError as error:
        sys.exit(
            f"train.launcher is accelerate, and the environment has none: add accelerate to workspace.python ({error})"
        )
    own = read_own()
    config = merged(own, place)
    file = os.path.join(sys.argv[1], "accelerate.json")
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump(config, out)
    if own.get("use_cpu") or not has_accelerator():  # ranks go to a CPU only where they are told to
        os.environ.setdefault("ACCELERATE_USE_CPU", "true")
    # torchrun's agent would leave a folder in /tmp; old versions of accelerate cannot tell it where. Its help hides the
    # words that it takes for others' business.
    known = launch.launch_command_parser()._option_string_actions
    logs = ["--log_dir", os.path.join(sys.argv[1], "torchrun")] if "--log_dir" in known else []
    sys.argv = ["accelerate", "--config_file", file, "--no_python", "--max_restarts", "0", *logs, *sys.argv[2:]]
    launch.main()


if __name__ == "__main__":
    main()
