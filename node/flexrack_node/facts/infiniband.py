"""Ports that do RDMA: InfiniBand and RoCE (Documentation/ABI/stable/sysfs-class-infiniband)."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base.sysfs import ROOT, known, names, number, pci_facts, read

if TYPE_CHECKING:
    from flexrack_node.schema.facts import RdmaFact


def infiniband_ports(root: Path = ROOT) -> "List[RdmaFact]":
    folder = root / "sys/class/infiniband"
    return [
        port_facts(folder / device, device, int(port))
        for device in names(folder)
        for port in names(folder / device / "ports")
        if port.isdigit()
    ]


def port_facts(folder: Path, device: str, port: int) -> "RdmaFact":
    own = folder / "ports" / str(port)
    reported = re.match(r"([\d.]+) Gb/sec(?: \((.+)\))?", read(own / "rate"))
    rate = float(reported.group(1)) if reported else None
    found: RdmaFact = known(
        {
            "device": device,
            "port": port,
            "state": word(read(own / "state")),
            "physical": word(read(own / "phys_state")),
            "rate": int(rate) if rate and rate.is_integer() else rate,
            "width": reported.group(2) if reported else None,
            "link": read(own / "link_layer") or None,
            "netdev": netdev(folder, own, port),
            "type": read(folder / "hca_type") or None,
            "firmware": read(folder / "fw_ver") or None,
            **pci_facts(folder / "device"),
        }
    )
    return found


def word(text: str) -> Optional[str]:
    """`4: ACTIVE` is ACTIVE."""
    return text.partition(":")[2].strip() or None


def netdev(folder: Path, own: Path, port: int) -> Optional[str]:
    """The network interface of the port: RoCE's tells it itself; of IPoIB's, the one of the same card with that
    position.
    """
    reported = read(own / "gid_attrs/ndevs/0")
    if reported:
        return reported
    beside = names(folder / "device/net")
    # dev_port counts from 0, ports from 1; older kernels wrote it into dev_id (sysfs-class-net).
    placed = [
        name
        for name in beside
        if max(number(folder / "device/net" / name / "dev_port") or 0, device_id(folder / "device/net" / name))
        == port - 1
    ]
    return next(iter(placed or beside), None)


def device_id(folder: Path) -> int:
    text = read(folder / "dev_id")
    return int(text, 16) if text.startswith("0x") else 0
