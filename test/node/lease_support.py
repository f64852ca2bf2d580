"""A GPU daemon's admin socket that keeps books of whole devices, and what a pass may be for."""

import json
import os
import socket
import threading
from pathlib import Path

KEY = "k" * 64


def order(**parts):
    return {
        "count": 1,
        "share": {"memory": 512 << 20},
        "cap": False,
        "api": "cuda",
        "owner": "ada@laptop",
        "purpose": "notebook digits on a",
        "text": "1 GPU",
        **parts,
    }


class Daemon:
    """`taken`: devices of which nobody gets a lease."""

    def __init__(self, root: Path, devices, port=9) -> None:
        self.devices, self.leases, self.taken, self.port = devices, [], set(), port
        path = root / "gpu" / "admin.sock"
        (root / "gpu" / "daemon").mkdir(parents=True)
        (root / "gpu" / "daemon" / "address.json").write_text(json.dumps({"schema": 2, "admin": str(path)}))
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self.socket.accept()
            except OSError:
                return
            with link, link.makefile("rb") as lines:
                link.sendall(json.dumps(self._answer(json.loads(lines.readline()))).encode() + b"\n")

    def _answer(self, asked):
        if asked["op"] == "devices":
            return {"ok": {"devices": [{"id": one, "index": at, "api": "cuda"} for at, one in enumerate(self.devices)]}}
        if asked["op"] == "leases":
            return {"ok": {"leases": self.leases}}
        if asked["op"] == "release":
            self.leases = [one for one in self.leases if one["lease"] != asked["lease"]]
            return {"ok": {"lease": asked["lease"], "state": "ended"}}
        if asked["op"] == "status":
            return {"ok": {"port": self.port, "pid": 1}}
        if asked["devices"][0] in self.taken:
            return {"error": {"code": "unavailable", "message": f"{asked['devices'][0]} is taken"}}
        lease = os.urandom(16).hex()
        self.leases.append({**asked, "lease": lease, "devices": [{"id": one} for one in asked["devices"]]})
        server = {"address": "127.0.0.1", "port": self.port, "unix": "", "boot_id": "", "transport": "auto"}
        devices = [{"id": one, "name": "Flexrack Simulated GPU", "memory": 1 << 30} for one in asked["devices"]]
        return {"ok": {"lease": lease, "key": KEY, "grace_seconds": 3, "server": server, "devices": devices}}
