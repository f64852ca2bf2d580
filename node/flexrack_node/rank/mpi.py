"""Open MPI as a launcher: what mpirun is started with, and what a rank that it started takes from it.

mpirun runs on the leader's node. Where it would start a daemon (orted) on another node through ssh, it is given an
agent that hands the daemon's command line to that node's supervisor's side of the run (rank/mpi_launch.py). Names of
parameters: `ompi_info --all` of Open MPI 4.1.
"""

import contextlib
import json
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, MutableMapping, Optional, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.image.marks import python_of
from flexrack_node.process.containment import TAG
from flexrack_node.process.detach import python_module
from flexrack_node.run.keeper import keeper_of

if TYPE_CHECKING:
    from flexrack_node.schema.mpi import NodeMpi
    from flexrack_node.schema.mpi_launch import MpiJob, MpiPlace
    from flexrack_node.schema.node import Nothing

PLACE = "FLEXRACK_MPI"  # a rank's node: an MpiPlace
LINE = "FLEXRACK_MPI_RANK"  # what a rank is started with on this node, as a line of sh
INSTALL = "sudo apt-get install openmpi-bin"
# mpirun's name of a node, with its number: never resolved, and the same machine may be several nodes
_HOST = "flexrack-"


def inspect(_given: "Nothing", _channel: Channel) -> "NodeMpi":
    """{version, series}: of Open MPI's mpirun on this node; None where there is none, or another MPI's."""

    import shutil

    version = version_of(shutil.which("mpirun"))
    return {"version": version, "series": series_of(version)}


def version_of(program: Optional[str]) -> Optional[str]:
    """`4.1.4`, as `mpirun --version` says it."""
    if not program:
        return None
    try:
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=10
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\(Open MPI\)\s+(\S+)", said)
    return found.group(1) if found else None


def series_of(version: Optional[str]) -> Optional[str]:
    """`4.1`: within it daemons of different versions understand each other."""
    return ".".join(version.split(".")[:2]) if version else None


def mpi_argv(spec: Mapping[str, Any], attempt: Path, place: str, port: int, rank: List[str]) -> List[str]:
    """The process that the supervisor starts: it has mpirun, or the node's daemon, as its child. `rank`: argv of a rank
    here.
    """

    import shlex

    job: MpiJob = {
        "attempt": str(attempt),
        "place": place,
        "nodes": spec["nodes"],
        "index": spec["index"],
        "processes": spec["processes"],
        "address": spec["gang"]["address"],
        "own": spec["address"],
        "port": port,
        "grace": spec["grace"],
        "line": f"cd {shlex.quote(spec['cwd'])} && exec {shlex.join(rank)}",
        "deaf": keeper_of(spec).signals_ranks,
    }
    return python_module(
        f"rank.mpi_launch:{'lead' if spec['index'] == 0 else 'follow'}", json.dumps(job), python=python_of(spec)
    )


def mpirun_words(program: str, job: "MpiJob", hostfile: Path, agent: str, is_root: bool) -> List[str]:
    """argv of mpirun. Rank r is the (r mod processes)th on node r / processes: hosts in the plan's order, each filled
    before the next.
    """
    nodes, processes = len(job["nodes"]), job["processes"]
    settings = {
        # In a job of Slurm, too, the daemons are started by us, and the nodes are those of the hostfile.
        "plm": "rsh",
        "ras": "^slurm,gridengine,tm,lsf,alps",
        "plm_rsh_agent": agent,
        "plm_rsh_no_tree_spawn": "1",
        "plm_rsh_num_concurrent": str(max(1, nodes)),
        "plm_rsh_disable_qrsh": "1",
        "plm_rsh_disable_llspawn": "1",
        "plm_rsh_pass_environ_mca_params": "0",  # each node's daemon has its own
        "orte_keep_fqdn_hostnames": "1",
        "orte_leave_session_attached": "1",
        # A rank that fails is the gang's business, which ends the others as it ends those of every launcher: with their
        # grace. Where mpirun ends them all the same, its SIGTERM is for our wrappers, which ignore it, and its SIGKILL
        # comes too late to matter.
        "orte_abort_on_non_zero_status": "0",
        "odls_base_sigkill_timeout": str(int(job["grace"]) + 10),
    }
    words = [
        program,
        *(["--allow-run-as-root"] if is_root else []),
        "--do-not-resolve",
        "--bind-to",
        "none",
        "--map-by",
        "slot",
        "--rank-by",
        "slot",
    ]
    for name, value in settings.items():
        words += ["--mca", name, value]
    return [
        *words,
        "--hostfile",
        str(hostfile),
        "-np",
        str(nodes * processes),
        "--wdir",
        "/",
        "/bin/sh",
        "-c",
        f'eval "${LINE}"',
    ]


def hostfile_text(nodes: int, processes: int) -> str:
    return "".join(f"{'localhost' if index == 0 else host_name(index)} slots={processes}\n" for index in range(nodes))


def host_name(index: int) -> str:
    return f"{_HOST}{index}"


def host_index(name: str) -> int:
    """Raises ValueError for a name that is not ours."""
    if not name.startswith(_HOST):
        raise ValueError(f"mpirun asks for a host that was not given to it: {name}")
    return int(name[len(_HOST) :])


def daemon_words(command: str) -> List[str]:
    """orted's arguments in the line that mpirun gives to its agent for a remote shell, whatever that line sets up
    around it.
    """

    import shlex

    words = shlex.split(command)
    first = next((index for index, word in enumerate(words) if os.path.basename(word) == "orted"), None)
    if first is None:
        raise ValueError(f"no orted in what mpirun wants to be started: {command[:200]}")
    # sh as a login shell: ( . ./.profile; orted ... )
    last = words.index(")", first) if ")" in words[first:] else len(words)
    return words[first + 1 : last]


def daemon_environment(job: "MpiJob", interface: Optional[str], port: int) -> Dict[str, str]:
    """Of mpirun and of every daemon, which hand it on to their ranks."""
    scratch = scratch_of(os.environ[TAG])
    place: MpiPlace = {
        "index": job["index"],
        "nodes": len(job["nodes"]),
        "processes": job["processes"],
        "scratch": str(scratch),
        "tmpdir": os.environ.get("TMPDIR"),
        "interface": interface,
        "address": job["address"],
        "port": port,
    }
    env = {**os.environ, "TMPDIR": str(scratch), PLACE: json.dumps(place), LINE: job["line"]}
    # A daemon starts no other one, and ends all the same where there is no ssh, which an image may not have.
    env.setdefault("OMPI_MCA_plm_rsh_agent", "/bin/sh")
    if interface:
        env.setdefault("OMPI_MCA_oob_tcp_if_include", interface)
    return env


def take_place(environ: MutableMapping[str, str] = os.environ) -> bool:
    """Gives a rank that mpirun has started the variables that torchrun would set, and Horovod's. False: mpirun did not
    start it.

    Raises RuntimeError where it is not on the node that the plan says.
    """
    if PLACE not in environ:
        return False
    place: MpiPlace = json.loads(environ.pop(PLACE))
    environ.pop(LINE, None)
    index, nodes, processes = place["index"], place["nodes"], place["processes"]
    rank, local, size = (int(environ[f"OMPI_COMM_WORLD_{name}"]) for name in ("RANK", "LOCAL_RANK", "SIZE"))
    if (rank, size) != (index * processes + local, nodes * processes):
        raise RuntimeError(
            f"mpirun started rank {rank} of {size} as number {local} on node {index}, which is not its place"
        )
    environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(local),
        WORLD_SIZE=str(size),
        LOCAL_WORLD_SIZE=str(processes),
        GROUP_RANK=str(index),
        GROUP_WORLD_SIZE=str(nodes),
        NODE_RANK=str(index),
        MASTER_ADDR=place["address"],
        MASTER_PORT=str(place["port"]),
        HOROVOD_RANK=str(rank),
        HOROVOD_SIZE=str(size),
        HOROVOD_LOCAL_RANK=str(local),
        HOROVOD_LOCAL_SIZE=str(processes),
        HOROVOD_CROSS_RANK=str(index),
        HOROVOD_CROSS_SIZE=str(nodes),
        HOROVOD_HOSTNAME=environ.get("FLEXRACK_NODE", ""),
    )
    if place["tmpdir"] is None:
        environ.pop("TMPDIR", None)
    else:
        environ["TMPDIR"] = place["tmpdir"]
    # files of shared memory, which would outlive a killed rank in /dev/shm
    for name in ("btl_vader", "osc_sm", "osc_rdma"):
        environ.setdefault(f"OMPI_MCA_{name}_backing_directory", place["scratch"])
    if place["interface"]:
        environ.setdefault("OMPI_MCA_btl_tcp_if_include", place["interface"])
    return True


def scratch_of(tag: str) -> Path:
    """Folder of an attempt on this node for the daemons' session files and the ranks' shared memory; in memory, and
    short, where possible.
    """
    return _scratches(tag)[0]


def make_scratch(tag: str) -> Path:
    """Raises OSError where somebody else has it."""
    path = scratch_of(tag)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    info = os.lstat(path)  # one look: between two of them the name may become another's
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid():
        raise PermissionError(13, "belongs to somebody else", str(path))
    return path


def remove_scratch(tag: str) -> None:
    import shutil

    for path in _scratches(tag):
        shutil.rmtree(path, ignore_errors=True)


def _scratches(tag: str) -> Tuple[Path, ...]:
    import tempfile

    name = f"flexrack-mpi-{os.geteuid()}-{tag}"
    places = [Path("/dev/shm")] if os.access("/dev/shm", os.W_OK | os.X_OK) else []
    return tuple(place / name for place in [*places, Path(tempfile.gettempdir())])
