"""What is started for a run on one node: argv and environment, from the spec. Pure but for looking at this machine."""

import fcntl
import os
import socket
import struct
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple

from flexrack_node.gpu.lease import environment as lease_environment
from flexrack_node.image.marks import is_inside, python_of
from flexrack_node.process.detach import python_module
from flexrack_node.rank.binding import visible_devices
from flexrack_node.rank.mpi import mpi_argv
from flexrack_node.rank.packaged import PACKAGED, packaged_argv, packaged_environment, ray_argv
from flexrack_node.run.cause import ONE_A_NODE

# Below Linux's default range for outgoing connections (ip_local_port_range starts at 32768), so that between choosing a
# port and torchrun's listening on it no connection can be given the same one.
_PORTS = range(20000, 32768)


def rank_argv(spec: Mapping[str, Any]) -> List[str]:
    """What a rank runs. `train.py ...` and `-m module ...` are given to the environment's Python."""
    words = list(spec["command"])
    python = spec["python"]
    if words[0].endswith(".py") or words[0] == "-m":
        return [python, "-u", *words]
    if words[0] in ("python", "python3"):
        return [python, "-u", *words[1:]]
    return words


def gang_argv(spec: Mapping[str, Any], attempt: Path, cgroup: Optional[Path], port: int) -> List[str]:
    """The one process that the supervisor starts: torchrun with our wrapper as its worker, rank/mpi_launch.py, or the
    wrapper itself.

    torchrun is told its node's number: its other rendezvous, c10d, unpickles what stands in a store that every user of
    the node may write to (docs/adr/0023).
    """
    place = str(cgroup) if cgroup and not is_inside(spec) else "-"  # what is inside is in it from its entrance on
    ours = python_of(spec)
    wrapper = python_module(
        "rank.rank",
        str(attempt),
        place,
        "--",
        *(ray_argv(spec, attempt, rank_argv(spec)) if spec["launcher"] == "ray" else rank_argv(spec)),
        python=ours,
    )
    if spec["launcher"] == "mpi":
        return mpi_argv(spec, attempt, place, port, wrapper)
    if spec["launcher"] in ONE_A_NODE:
        return wrapper
    if spec["launcher"] in PACKAGED:
        return python_module("rank.rank:launch", place, *packaged_argv(spec, attempt, wrapper), python=ours)
    if spec["launcher"] != "torchrun":
        raise ValueError("a launcher that this program does not know: {}".format(spec["launcher"]))
    torchrun = [
        spec["python"],
        "-m",
        "torch.distributed.run",
        "--nnodes",
        str(len(spec["nodes"])),
        "--nproc-per-node",
        str(spec["processes"]),
        "--rdzv-backend",
        "static",
        "--node-rank",
        str(spec["index"]),
        "--local-addr",
        spec["address"],
        "--max-restarts",
        "0",
        "--log-dir",  # else each attempt leaves a folder in /tmp, which nobody removes
        str(attempt / "torchrun"),
        "--no-python",
        *wrapper,
    ]
    return python_module("rank.rank:launch", place, *torchrun, python=ours)


def rendezvous_environment(spec: Mapping[str, Any], port: int, rendezvous: str) -> Dict[str, str]:
    """Where torchrun's agents meet, and under which name: its settings of the command line by environment (PET_NAME),
    which other users do not see.
    """
    if spec["launcher"] == "accelerate":  # it has torchrun's agent in itself, and these are not among its own settings
        return {"PET_RDZV_ID": rendezvous, "PET_LOCAL_ADDR": spec["address"]}
    if spec["launcher"] != "torchrun":
        return {}
    return {"PET_MASTER_ADDR": spec["gang"]["address"], "PET_MASTER_PORT": str(port), "PET_RDZV_ID": rendezvous}


def rank_environment(
    spec: Mapping[str, Any], attempt: int, port: int, outputs: Path, relay: Optional[int]
) -> Dict[str, str]:
    """The whole environment of the launcher and the ranks on this node."""
    inherited = {
        key: value for key, value in os.environ.items() if not key.startswith(("SSH_", "TORCHELASTIC_", "PET_"))
    }
    # a container's packages are its own
    environment = None if spec.get("container") else str(Path(spec["python"]).parent.parent)
    processes, interface = spec["processes"], interface_of(spec["address"])
    neighbours = max(1, int(spec.get("neighbours", 1)))  # nodes of this gang on the same machine
    env = {
        **inherited,
        "OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // (processes * neighbours))),
        **{key: str(value) for key, value in spec.get("env", {}).items()},
        "PATH": os.pathsep.join(
            [*([f"{environment}/bin"] if environment else []), inherited.get("PATH", "/usr/local/bin:/usr/bin:/bin")]
        ),
        **({"VIRTUAL_ENV": environment} if environment else {}),
        "PYTHONUNBUFFERED": "1",
        "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # it would name the relay, which ends with the run
        "FLEXRACK_RUN": spec["run"],
        "FLEXRACK_NODE": spec["node"],
        "FLEXRACK_ATTEMPT": str(attempt),
        "FLEXRACK_OUTPUTS": str(outputs),
    }
    if spec.get("data_folder"):
        env["FLEXRACK_DATA"] = spec["data_folder"]
    if spec.get("inputs_folder"):
        env["FLEXRACK_INPUTS"] = spec["inputs_folder"]
    env.update({f"FLEXRACK_VOLUME_{one['name'].upper()}": one["path"] for one in spec.get("volumes", [])})
    imports = (spec.get("code") or {}).get("imports")
    if imports:  # before the environment's own way to an editable project, which leads to the workspace
        env["PYTHONPATH"] = os.pathsep.join([*imports, *([env["PYTHONPATH"]] if env.get("PYTHONPATH") else [])])
    if spec.get("leases"):
        env = lease_environment(spec["leases"], env)
    elif spec.get("placed"):
        env["CUDA_VISIBLE_DEVICES"] = visible_devices(spec["placed"])  # nothing else is reserved
    if interface and len(spec["nodes"]) > 1:
        env.setdefault("GLOO_SOCKET_IFNAME", interface)
        env.setdefault("NCCL_SOCKET_IFNAME", f"={interface}")  # "=": exactly this name, not a prefix
    if spec["launcher"] in ONE_A_NODE:
        world = str(len(spec["nodes"]))
        env.update(
            RANK=str(spec["index"]),
            LOCAL_RANK="0",
            WORLD_SIZE=world,
            LOCAL_WORLD_SIZE="1",
            GROUP_RANK=str(spec["index"]),
            GROUP_WORLD_SIZE=world,
            NODE_RANK=str(spec["index"]),
            MASTER_ADDR=spec["gang"]["address"],
            MASTER_PORT=str(port),
        )
    env.update(packaged_environment(spec, attempt, port, env))
    tracking = spec.get("tracking")
    if tracking:
        env["MLFLOW_TRACKING_URI"] = f"http://127.0.0.1:{relay}" if relay else tracking["upstream"]
        env["MLFLOW_RUN_ID"] = tracking["run_id"]
        env["MLFLOW_EXPERIMENT_ID"] = tracking["experiment_id"]
        if tracking.get("token"):
            env["MLFLOW_TRACKING_TOKEN"] = tracking["token"]
    return env


def free_port(address: str) -> int:
    """A TCP port on which nobody listens at `address` right now. Raises OSError where the address is not ours."""

    import random

    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in random.sample(_PORTS, 200):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((address, port))
                return port
            except OSError as error:
                if error.errno not in (13, 98):  # EACCES, EADDRINUSE
                    raise
    raise OSError(98, f"no free port on {address}")


def interface_of(address: str) -> Optional[str]:
    """Name of the network interface that has this IPv4 address."""
    return next((name for name, own, _ in interfaces() if own == address), None)


def interfaces() -> List[Tuple[str, str, str]]:
    """(name, IPv4 address, netmask) of every interface that has one: ioctl(2) SIOCGIFADDR and SIOCGIFNETMASK."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                address = fcntl.ioctl(probe.fileno(), 0x8915, request)[20:24]
                mask = fcntl.ioctl(probe.fileno(), 0x891B, request)[20:24]
            except OSError:
                continue
            found.append((name, socket.inet_ntoa(address), socket.inet_ntoa(mask)))
    return found


def machine_id() -> str:
    """Equal for two nodes that share one machine and its network."""
    from flexrack_node.base.boot import boot_id

    try:
        return f"{boot_id()} {os.readlink('/proc/self/ns/net')}"
    except OSError:
        return " "


def source_towards(address: str, port: int = 9) -> Optional[str]:
    """Our address on the route to another one. Nothing is sent: connecting a datagram socket only asks the kernel."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((address, port))
            found: Optional[str] = probe.getsockname()[0]
            return found
        except OSError:
            return None
