"""How GPUs and network cards reach each other: nvidia-smi's matrix, and where it is not to be had the paths of PCI
devices in sysfs.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from flexrack_node.base.commands import run_quick
from flexrack_node.base.sysfs import ROOT, pci_chain

if TYPE_CHECKING:
    from flexrack_node.schema.facts import AffinityFact, GpuFact, LinkFacts, NicFact, RdmaFact

    Placed = Union[GpuFact, RdmaFact, NicFact]  # what has a place in the matrix

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")  # the header is underlined, also in a pipe
CELL = re.compile(r"^(X|NV\d+|PIX|PXB|PHB|NODE|SYS|SOC)$")
CPUS = re.compile(r"^\d+(-\d+)?(,\d+(-\d+)?)*$")


class Matrix(NamedTuple):
    """`cells` by the two names; `affinity` by the name of a GPU: {cpus, numa_node}, what is not told left out."""

    names: List[str]
    cells: Dict[Tuple[str, str], str]
    affinity: "Dict[str, AffinityFact]"


def links(
    gpus: "Sequence[GpuFact]",
    ports: "Sequence[RdmaFact]",
    nics: "Sequence[NicFact]",
    numa_count: int,
    text: Optional[str],
    root: Path = ROOT,
) -> "LinkFacts":
    """GPUs by index, RDMA devices, then network cards that are none. `text`: what `nvidia-smi topo -m` said, if it said
    anything.
    """
    reported = parse_matrix(text or "")
    places = devices(gpus, ports, nics)
    # a container may not see a card that nvidia-smi knows
    names = list(places) + [name for name in reported.names if name not in places]
    matrix = [
        [
            reported.cells.get((a, b)) or path_between(root, places.get(a), places.get(b), numa_count)
            if a != b
            else "X"
            for b in names
        ]
        for a in names
    ]
    return {
        "source": "nvidia-smi" if reported.names else "sysfs",
        "devices": names,
        "matrix": matrix,
        "affinity": reported.affinity,
    }


def ask_matrix() -> Optional[str]:
    """None where there is no nvidia-smi, or it does not answer: sysfs is asked then."""
    program = shutil.which("nvidia-smi")
    try:
        return run_quick([program, "topo", "-m"]) if program else None
    except (RuntimeError, OSError, subprocess.TimeoutExpired):
        return None


def devices(
    gpus: "Sequence[GpuFact]", ports: "Sequence[RdmaFact]", nics: "Sequence[NicFact]"
) -> "Mapping[str, Placed]":
    """What has a place in the matrix, by name."""
    rdma: Dict[str, Placed] = {port["device"]: port for port in ports}
    taken = {port.get("bus") for port in ports} | {None}
    cards = {nic["name"]: nic for nic in nics if nic["kind"] == "physical" and nic.get("bus") not in taken}
    return {**{f"GPU{gpu['index']}": gpu for gpu in gpus}, **rdma, **cards}


def parse_matrix(text: str) -> Matrix:
    """Of `nvidia-smi topo -m`. Old versions name cards in the header (mlx5_0), newer ones number them and explain below
    (NIC0: mlx5_0).
    """
    # a wide header runs into its last name
    lines = [line.split() for line in ESCAPES.sub("", text).replace("CPU Affinity", " CPU Affinity").splitlines()]
    legend = {words[0][:-1]: words[1] for words in lines if len(words) == 2 and re.match(r"^NIC\d+:$", words[0])}
    header = next(
        (
            index
            for index, words in enumerate(lines)
            if words and re.match(r"^GPU\d+$", words[0]) and not (len(words) > 1 and CELL.match(words[1]))
        ),
        None,
    )
    if header is None:
        return Matrix([], {}, {})
    stop = next(
        (index for index, word in enumerate(lines[header]) if word in ("CPU", "NUMA", "GPU")), len(lines[header])
    )
    columns = lines[header][:stop]
    cells: Dict[Tuple[str, str], str] = {}
    affinity: Dict[str, AffinityFact] = {}
    for words in lines[header + 1 :]:
        row, values, rest = (words or [""])[0], words[1 : len(columns) + 1], words[len(columns) + 1 :]
        if row not in columns or len(values) < len(columns):
            continue
        for column, value in zip(columns, values):
            if CELL.match(value):
                # SOC: before driver 384
                cells[(legend.get(row, row), legend.get(column, column))] = "SYS" if value == "SOC" else value
        if row.startswith("GPU"):
            affinity[row] = affinity_of(rest)
    return Matrix([legend.get(name, name) for name in columns], cells, affinity)


def affinity_of(rest: List[str]) -> "AffinityFact":
    """CPU Affinity, NUMA Affinity, GPU NUMA ID: each may be N/A, and the first two empty (containers, virtual
    machines).
    """
    if not rest or not CPUS.match(rest[0]):
        return {}
    found: AffinityFact = {"cpus": rest[0]}
    if len(rest) > 1 and rest[1].isdigit():
        found["numa_node"] = int(rest[1])
    return found


def path_between(root: Path, a: "Optional[Placed]", b: "Optional[Placed]", numa_count: int) -> Optional[str]:
    """
    In nvidia-smi's words, from where the two hang in the tree of PCI devices: PIX below one switch, PXB below several,
    PHB on one host bridge, NODE on several of one NUMA node, SYS across. NVLink is not to be seen there. None where a
    place is not known.
    """
    chains = [
        pci_chain(root / "sys/bus/pci/devices" / bus) if bus else []
        for one in (a, b)
        for bus in [one.get("bus") if one else None]
    ]
    if not a or not b or not all(chains):
        return None
    shared = 0
    while shared < min(map(len, chains)) - 1 and chains[0][shared] == chains[1][shared]:
        shared += 1
    if shared == 0:
        return across(a, b, numa_count)
    if shared == 1:
        return "PHB"
    # Below the last bridge that both share, a switch has one more bridge (its downstream port) before each device.
    return "PIX" if max(len(chain) - 1 - shared for chain in chains) <= 1 else "PXB"


def across(a: "Placed", b: "Placed", numa_count: int) -> Optional[str]:
    if numa_count == 1:
        return "NODE"
    nodes = (a.get("numa_node"), b.get("numa_node"))
    if None in nodes:
        return None
    return "NODE" if nodes[0] == nodes[1] else "SYS"
