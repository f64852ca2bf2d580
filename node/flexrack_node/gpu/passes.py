"""gpu.allow, .disallow: a pass lets another node take leases of this node's daemon by itself, over the network.

Leases are given out over SSH, to who types. A kernel of a notebook starts when nobody types, so its node has a pass: a
secret for leases of one size, of which each is taken and given back by the kernel. It is no key of the account: it
opens the door (gpu/door.py) and nothing else. It ends when the notebook does, or a day after the last word of it.

    gpu/passes/<32 hex>.json   0600
    gpu/door.json              where the door listens
"""

import re
import secrets
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.gpu import admin_socket
from flexrack_node.service import control
from flexrack_node.service.record import ServiceRecord

if TYPE_CHECKING:
    from flexrack_node.schema.gpu import GpuPass, PassEnded, PassId
    from flexrack_node.schema.leases import LeaseTerms
    from flexrack_node.schema.service import ServiceStart

LASTS_SECONDS = 86400.0  # without a word of the notebook's keeper
SERVICE = "gpu-door"
DOOR = Path(__file__).resolve().with_name("door.py")
_ID = re.compile(r"[0-9a-f]{32}")
_READY_SECONDS = 15.0


class Passes:
    def __init__(self, root: Path) -> None:
        self.folder = root / "gpu" / "passes"

    def file(self, identity: Any) -> Path:
        """Raises ValueError for what is no pass's name."""
        if not isinstance(identity, str) or not _ID.fullmatch(identity):
            raise ValueError("no pass")
        return self.folder / f"{identity}.json"

    def find(self, identity: Any) -> Dict[str, Any]:
        """One that counts. Raises ValueError where there is none."""
        found: Any = read("gpu.pass", self.file(identity))
        if found is None or found["until"] <= time.time():
            raise ValueError("no pass")
        kept: Dict[str, Any] = found
        return kept

    def renew(self, identity: str) -> None:
        kept: Any = {**self.find(identity), "until": time.time() + LASTS_SECONDS}
        write("gpu.pass", self.file(identity), kept)

    def end(self, identity: str) -> bool:
        """Whether there was one."""
        there = self.file(identity).exists()
        self.file(identity).unlink(missing_ok=True)
        return there

    def count(self) -> int:
        """Those that count, or cannot be read; the others are removed."""
        counted = 0
        for path in self.folder.glob("*.json"):
            try:
                self.find(path.stem)
                counted += 1
            except (ValueError, KeyError, TypeError):
                path.unlink(missing_ok=True)
            except (NodeError, OSError):
                counted += 1
        return counted


def allow(given: "LeaseTerms", channel: Channel) -> "GpuPass":
    """{count, share, cap, api, owner, purpose}: what each lease may be. Errors: GPU_UNAVAILABLE where no daemon runs,
    REMOTE_FAILED where the door does not open.
    """
    status = admin_socket.look(channel.root)
    if status is None:
        raise NodeError("GPU_UNAVAILABLE", "this node shares no GPUs now", "flexrack gpu serve")
    passes = Passes(channel.root)
    record(channel.root, channel.root / "gpu", "gpu")
    passes.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    passes.count()
    identity, secret = secrets.token_hex(16), secrets.token_hex(32)
    write("gpu.pass", passes.file(identity), {**given, "secret": secret, "until": time.time() + LASTS_SECONDS})
    try:
        bind, port = open_door(channel)
    except BaseException:
        passes.end(identity)
        raise
    return {"pass": identity, "secret": secret, "bind": bind, "port": port, "daemon_port": status["port"]}


def disallow(given: "PassId", channel: Channel) -> "PassEnded":
    """{pass}: nothing more is given for it; what is leased stays with its kernels."""
    try:
        return {"ended": Passes(channel.root).end(given["pass"])}
    except ValueError as error:
        raise NodeError("USAGE", str(error)) from error


def open_door(channel: Channel) -> "tuple[List[str], int]":
    """Where it listens: at the addresses of the daemon, and at the port that it had before."""
    folder = channel.root / "gpu"
    settings: Any = or_nothing(read("gpu.settings", folder / "settings.json"))
    bind: List[str] = list(settings.get("bind") or ["127.0.0.1"])
    port = int(or_nothing(read("gpu.door", folder / "door.json")).get("port") or 0)
    if not port:
        from flexrack_node.service.endpoint import ports

        port = ports({"count": 1, "host": bind[0]}, channel)[0]
    write("gpu.door", folder / "door.json", {"bind": bind, "port": port})
    spec: ServiceStart = {
        "id": SERVICE,
        "argv": [sys.executable, "-I", "-S", str(DOOR), str(channel.root), *bind, str(port)],
        "env": {},
        "grace": 5,
        "restart": {"max": 20, "window_seconds": 120},
        "replace": True,
    }
    until = time.monotonic() + _READY_SECONDS
    while time.monotonic() < until:
        control.start(spec, channel)  # again: one may have been ending, as it had nobody to let in
        for _ in range(20):
            if _listens(bind[0], port):
                return bind, port
            time.sleep(0.05)
    (folder / "door.json").unlink(missing_ok=True)  # somebody else may have its port
    state = control.describe(ServiceRecord(channel.root, SERVICE))["state"]
    raise NodeError(
        "REMOTE_FAILED",
        f"the door for kernels of other nodes does not open at {bind[0]}:{port} ({state})",
        "try it once more: it takes another port",
    )


def close_door(channel: Channel, grace: float) -> None:
    """With all passes."""
    import shutil

    control.stop({"id": SERVICE, "grace": grace, "remove": True}, channel)
    shutil.rmtree(channel.root / "gpu" / "passes", ignore_errors=True)
    (channel.root / "gpu" / "door.json").unlink(missing_ok=True)


def _listens(address: str, port: int) -> bool:
    local = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    try:
        with socket.create_connection((local, port), 1.0) as connection:
            connection.settimeout(2.0)
            return connection.recv(64).startswith(b'{"challenge"')
    except OSError:
        return False
