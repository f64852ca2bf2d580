"""slurm.check: what of a cluster decides whether a job can run there: partitions, accounts, pyxis, and where flexrack's
folder lies.
"""

import getpass
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.rank.launch import interfaces
from flexrack_node.slurm import commands
from flexrack_node.volume.look import mount_of

if TYPE_CHECKING:
    from flexrack_node.schema.slurm import CheckedPartition, ClusterFact, RootFact, SlurmPrograms

# Kinds of file systems (proc(5), mountinfo) that are shared by machines, and those that one machine has for itself.
_SHARED = re.compile(
    r"nfs4?|lustre|gpfs|mmfs|beegfs|ceph|fuse\.ceph.*|glusterfs|fuse\.glusterfs|afs|orangefs|pvfs2|wekafs|cifs|smb3|gfs2|ocfs2|panfs|vastnfs|fuse\.juicefs|fuse\.sshfs|9p|virtiofs"
)
_OWN = re.compile(r"ext[234]|xfs|btrfs|tmpfs|ramfs|overlay|zfs|f2fs|vfat|devtmpfs|squashfs")


def check(given: "SlurmPrograms", channel: Channel) -> "ClusterFact":
    """{bin?} -> {version, partitions: see read_partitions, accounts: [name] | None (nobody keeps them), pyxis, root:
    {path, kind, shared: True | False | None (cannot be told)}}. Raises NODE_UNFIT (a program is missing),
    NODE_UNREACHABLE.
    """
    folder = given.get("bin")
    for words in (
        ["sbatch", "--version"],
        ["scancel", "--version"],
        ["squeue", "--noheader", "--me"],
        ["sinfo", "--noheader"],
    ):
        done = commands.call(words, folder)
        if done.returncode != 0:
            raise NodeError(
                "NODE_UNREACHABLE", f"{words[0]} does not answer: {commands.last_line(done.stderr)}", words[0]
            )
    known = commands.config(folder)
    return {
        "version": known.get("SLURM_VERSION"),
        "partitions": partitions(folder),
        "accounts": None if known.get("AccountingStorageType", "none").endswith("none") else accounts(folder),
        "pyxis": has_pyxis(folder),
        "root": file_system(channel.root, folder),
    }


def has_pyxis(folder: Optional[str]) -> bool:
    """pyxis is a plugin of Slurm (SPANK), whose options srun then has as its own."""
    return "--container-image" in commands.call(["srun", "--help"], folder).stdout


def partitions(folder: Optional[str]) -> "List[CheckedPartition]":
    sizes = commands.call(["sinfo", "--noheader", "--format=%R|%c"], folder).stdout
    return read_partitions(commands.call(["scontrol", "--oneliner", "show", "partition"], folder).stdout, sizes)


def read_partitions(shown: str, sizes: str) -> "List[CheckedPartition]":
    """[{name, default, up, nodes, most_nodes, seconds, cpus, accounts}]: most nodes and seconds of a job, accounts that
    may use it; None: no limit.

    `sizes`: lines of sinfo's %R|%c; cpus of its largest node.
    """
    cpus: Dict[str, int] = {}
    for name, _, number in (line.partition("|") for line in sizes.splitlines()):
        found = re.match(r"\d+", number.strip())
        cpus[name.strip()] = max(cpus.get(name.strip(), 0), int(found.group()) if found else 0)
    rows = [
        dict(word.partition("=")[::2] for word in line.split())
        for line in shown.splitlines()
        if line.startswith("PartitionName=")
    ]
    return [
        {
            "name": row["PartitionName"],
            "default": row.get("Default") == "YES",
            "up": row.get("State") == "UP",
            "nodes": int(row.get("TotalNodes") or 0),
            "most_nodes": int(row["MaxNodes"]) if row.get("MaxNodes", "").isdigit() else None,
            "seconds": seconds_of(row.get("MaxTime", "")),
            "cpus": cpus.get(row["PartitionName"]) or None,
            "accounts": None if row.get("AllowAccounts", "ALL") == "ALL" else row["AllowAccounts"].split(","),
        }
        for row in rows
    ]


def seconds_of(text: str) -> Optional[int]:
    """[days-]hours:minutes:seconds, as scontrol shows times; None for UNLIMITED."""
    found = re.fullmatch(r"(?:(\d+)-)?(\d+):(\d+):(\d+)", text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def accounts(folder: Optional[str]) -> Optional[List[str]]:
    """Those that this user may charge; None where the database does not answer."""
    words = [
        "sacctmgr",
        "--noheader",
        "--parsable2",
        "show",
        "associations",
        f"user={getpass.getuser()}",
        "format=account",
    ]
    try:
        done = commands.call(words, folder)
    except NodeError:
        return None
    return sorted(set(done.stdout.split())) if done.returncode == 0 else None


def file_system(root: Path, folder: Optional[str]) -> "RootFact":
    """{path, kind, shared}: of the mount that `root` is in, or will be. A file system of this machine alone is shared
    by nodes that are all this machine.
    """
    kind = kind_of(root, Path("/proc/self/mountinfo").read_text())
    if _SHARED.fullmatch(kind):
        return {"path": str(root), "kind": kind, "shared": True}
    if not _OWN.fullmatch(kind):
        return {"path": str(root), "kind": kind, "shared": None}
    names = commands.call(["sinfo", "--noheader", "--Node", "--format=%o"], folder).stdout.split()
    own = {address for _, address, _ in interfaces()} | {
        "localhost",
        os.uname().nodename,
        os.uname().nodename.split(".")[0],
    }
    return {
        "path": str(root),
        "kind": kind,
        "shared": bool(names) and all(name in own or name.startswith("127.") for name in names),
    }


def kind_of(root: Path, mountinfo: str) -> str:
    """Type of the file system whose mount point is the longest beginning of the path."""
    return mount_of(str(root), mountinfo).type
