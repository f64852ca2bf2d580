"""Network interfaces by what they are: cards, bonds, bridges, and those that are software only; with speed, state and
where they are plugged in.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, List

from flexrack_node.base.sysfs import ROOT, known, names, number, pci_facts, read
from flexrack_node.facts.link_speed import fastest_mode

if TYPE_CHECKING:
    from flexrack_node.schema.facts import NicFact


def nics(root: Path = ROOT) -> "List[NicFact]":
    """Without the loopback. What the driver does not tell is left out."""
    folder = root / "sys/class/net"
    return [nic(root, folder / name, name) for name in names(folder) if name != "lo" and (folder / name).is_dir()]


def nic(root: Path, folder: Path, name: str) -> "NicFact":
    kind = kind_of(folder)
    speed = number(folder / "speed")
    device = folder / "device"
    members = read(folder / "bonding/slaves").split() or names(folder / "brif")
    found: NicFact = known(
        {
            "name": name,
            "kind": kind,
            "up": read(folder / "operstate") == "up"
            or (read(folder / "operstate") == "unknown" and read(folder / "carrier") == "1"),
            "speed": speed if speed and speed > 0 else None,
            # The question goes to the running kernel, which knows nothing of a captured tree.
            "max_speed": fastest_mode(name) if kind == "physical" and root == ROOT else None,
            "mtu": number(folder / "mtu"),
            "driver": os.path.basename(os.path.realpath(device / "driver")) if (device / "driver").exists() else None,
            "master": os.path.basename(os.path.realpath(folder / "master")) if (folder / "master").exists() else None,
            "members": members or None,
            **(pci_facts(device) if kind in ("physical", "wireless") else {}),
        }
    )
    return found


def kind_of(folder: Path) -> str:
    """By the folders that the kernel's drivers make (Documentation/ABI/testing/sysfs-class-net*)."""
    reported = re.search(r"^DEVTYPE=(\w+)", read(folder / "uevent"), re.MULTILINE)
    devtype = reported.group(1) if reported else ""
    if (folder / "bridge").is_dir():
        return "bridge"
    if (folder / "bonding").is_dir() or devtype == "bond":
        return "bond"
    if devtype == "vlan":
        return "vlan"
    if devtype == "wlan" or (folder / "wireless").is_dir():
        return "wireless"
    return "physical" if (folder / "device").exists() else "virtual"
