"""Network interfaces of this machine, and which of its addresses another one is reached from."""

import json
import shutil
import socket
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Set

from flexrack_node.base.sysfs import read

if TYPE_CHECKING:
    from flexrack_node.schema.facts import InterfaceFact, RouteFact
    from flexrack_node.schema.preflight import LinkFact

SIOCGIFADDR = 0x8915
SIOCGIFNETMASK = 0x891B


class Named(NamedTuple):
    """An interface, and its addresses as `10.0.0.1/24`."""

    name: str
    addresses: List[str]


def interfaces() -> "List[InterfaceFact]":
    """Without those that have no address."""
    found = from_ip_command() or from_kernel()
    return [{**link(one.name), "addresses": one.addresses} for one in found if one.addresses]


def routes_to(peers: Dict[str, str], known: "Sequence[InterfaceFact]") -> "Dict[str, RouteFact]":
    """For each peer the kernel's own choice, asked with a datagram socket that sends nothing."""
    owner = {address.split("/")[0]: one["name"] for one in known for address in one["addresses"]}
    routes: Dict[str, RouteFact] = {}
    for name, host in peers.items():
        try:
            family, _, _, _, target = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect(target)
                source = probe.getsockname()[0]
            routes[name] = {"to": str(target[0]), "from": source, "interface": owner.get(source)}
        except OSError as error:
            routes[name] = {"error": f"{host}: {error.strerror or error}"}
    return routes


def taken_ports(wanted: List[List[Any]]) -> List[int]:
    """Those of [address, port] that nobody can listen on now: in use, or not for this user."""
    taken: List[int] = []
    for address, port in wanted:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                taken.append(port)
    return taken


def from_ip_command() -> List[Named]:
    program = shutil.which("ip")
    if not program:
        return []
    try:
        done = subprocess.run(
            [program, "-j", "addr"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=5, check=True
        )
        links = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):  # busybox has an ip without -j
        return []
    return [
        Named(
            one["ifname"],
            [f"{each['local']}/{each['prefixlen']}" for each in one.get("addr_info", []) if "local" in each],
        )
        for one in links
        if one.get("ifname")
    ]


def from_kernel() -> List[Named]:
    """Without the ip command: one IPv4 address an interface, and all IPv6 addresses."""
    six: Dict[str, Set[str]] = {}
    for line in read("/proc/net/if_inet6").splitlines():
        digits, _, prefix, _, _, name = line.split()
        six.setdefault(name, set()).add(f"{socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits))}/{int(prefix, 16)}")
    return [Named(name, ipv4(name) + sorted(six.get(name, []))) for _, name in socket.if_nameindex()]


def ipv4(name: str) -> List[str]:
    address, mask = ask(name, SIOCGIFADDR), ask(name, SIOCGIFNETMASK)
    if not address or not mask:
        return []
    return [f"{socket.inet_ntoa(address)}/{bin(int.from_bytes(mask, 'big')).count('1')}"]


def ask(name: str, request: int) -> Optional[bytes]:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            return fcntl.ioctl(probe.fileno(), request, struct.pack("256s", name.encode()[:15]))[20:24]
        except OSError:  # no IPv4 address on it
            return None


def link(name: str) -> "LinkFact":
    folder = Path("/sys/class/net") / name
    fact: LinkFact = {"name": name, "up": read(folder / "operstate") in ("up", "unknown")}
    mtu, speed = read(folder / "mtu"), read(folder / "speed")
    if mtu.isdigit():
        fact["mtu"] = int(mtu)
    if speed.isdigit():
        fact["speed"] = int(speed)
    return fact
