"""What the kernel tells of the machine's parts in /sys and /proc. `root` is the folder that these are in: / here, a
captured tree in tests.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, TypedDict

if TYPE_CHECKING:
    from flexrack_node.schema.facts import PcieFact

ROOT = Path("/")
PCI_ADDRESS = re.compile(r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
# Above a device's own folder: pci0000:17, the host bridge (root complex) that it hangs on.
HOST_BRIDGE = re.compile(r"^pci[0-9a-f]{4,8}:[0-9a-f]{2}$")


def read(path: Any) -> str:
    """The text; empty where it cannot be read (`speed` of a link that is down gives EINVAL)."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def number(path: Any) -> Optional[int]:
    text = read(path)
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def cpu_model() -> Optional[str]:
    """Of the first processor, as the kernel calls it; None where it does not say (ARM)."""
    lines = (line for line in read("/proc/cpuinfo").splitlines() if line.startswith("model name"))
    return next((line.split(":", 1)[1].strip() for line in lines), None) or None


def names(folder: Path) -> List[str]:
    """Entries of a folder, eth2 before eth10; none where there is no such folder."""
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    return sorted(found, key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])


def known(facts: Mapping[str, Any]) -> Any:
    """Without what is not told. Its type is for who calls to say; node.facts is held against protocol/ in the tests."""
    return {key: value for key, value in facts.items() if value is not None}


def cpu_list(text: str) -> List[int]:
    """`0-2,8` as [0, 1, 2, 8] (cpulist format of the kernel's admin guide, cputopology)."""
    cpus: List[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def pci_address(text: str) -> Optional[str]:
    """NVML writes a domain of eight digits in capitals, sysfs one of at least four: 00000000:3B:00.0 is 0000:3b:00.0."""
    domain, _, rest = text.strip().lower().partition(":")
    try:
        address = f"{int(domain, 16):04x}:{rest}"
    except ValueError:
        return None
    return address if PCI_ADDRESS.match(address) else None


def pci_chain(folder: Path) -> List[str]:
    """From the host bridge down to the device: [pci0000:17, 0000:17:00.0, ..., 0000:1a:00.0]. Empty where it is no PCI
    device.
    """
    parts = os.path.realpath(folder).split("/")
    starts = [index for index, part in enumerate(parts) if HOST_BRIDGE.match(part)]
    if not starts:
        return []
    chain = [part for part in parts[starts[-1] :] if HOST_BRIDGE.match(part) or PCI_ADDRESS.match(part)]
    return chain if len(chain) > 1 else []


class PciFacts(TypedDict, total=False):
    bus: str
    part_of: str  # it is a slice (SR-IOV) of that one
    numa_node: int
    pcie: "PcieFact"


def pci_facts(folder: Path) -> PciFacts:
    """Of the PCI device that a folder of sysfs belongs to."""
    chain = pci_chain(folder)
    if not chain:
        return {}
    own = Path(os.path.realpath(folder))
    while own.name != chain[-1]:  # a virtio NIC's device is a folder below that of the PCI device
        own = own.parent
    node = number(own / "numa_node")
    lanes = {
        "width": number(own / "current_link_width"),
        "max_width": number(own / "max_link_width"),
        "speed": transfers(own / "current_link_speed"),
        "max_speed": transfers(own / "max_link_speed"),
    }
    # A link that is switched off, or a device inside the processor, has a width of 0.
    pcie = known(lanes) if lanes["width"] and lanes["max_width"] else None
    whole = os.path.basename(os.path.realpath(own / "physfn")) if (own / "physfn").exists() else None
    found: PciFacts = known(
        {
            "bus": chain[-1],
            "part_of": whole,
            "numa_node": node if node is not None and node >= 0 else None,
            "pcie": pcie,
        }
    )
    return found


def transfers(path: Path) -> Optional[float]:
    """`8.0 GT/s PCIe`, `8 GT/s`, `Unknown`."""
    found = re.match(r"([\d.]+) GT/s", read(path))
    return float(found.group(1)) if found else None
