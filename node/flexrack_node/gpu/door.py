"""python3 gpu/door.py ROOT ADDRESS... PORT: lets kernels of other nodes have leases of this node's daemon, by passes
(gpu/passes.py). A service; it ends once there is no pass.

It holds nothing: who gets a lease holds it at the daemon itself, and one that nobody holds ends within seconds.
"""

import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import contextlib
import hmac
import io

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import admin_socket, taking
from flexrack_node.gpu.door_talk import proof, sealed
from flexrack_node.gpu.passes import SERVICE, Passes
from flexrack_node.link.lobby import Lobby, close_listening
from flexrack_node.service.record import ServiceRecord

_PATIENCE_SECONDS = 10.0
_LOOK_SECONDS = 30.0
_GRACE_SECONDS = 5.0


class Door:
    def __init__(self, root: Path) -> None:
        self.passes = Passes(root)
        self.channel = Channel(root, root / "environments", io.BytesIO())
        self.given: Set[Tuple[str, str]] = set()  # pass, lease: what may be given back over the network
        self._lobby = Lobby("challenge", self.judge, self.serve, _PATIENCE_SECONDS)
        self._listening: List[socket.socket] = []
        self._one = threading.Lock()  # takes leases at a time: the daemon's free devices are looked at before

    def open(self, addresses: List[str], port: int) -> None:
        """Raises OSError."""
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            opened = socket.create_server((address, port), family=family, backlog=256)
            self._listening.append(opened)
            self._lobby.open(opened)

    def close(self) -> None:
        self._lobby.close()
        for one in self._listening:
            close_listening(one)

    def forget_ended(self) -> None:
        """Leases end without a word to this door, such as those whose client has gone."""
        before = set(self.given)
        if not before:
            return
        with contextlib.suppress(NodeError):  # the daemon is away: the next look has it
            live = {one["lease"] for one in admin_socket.ask(self.channel.root, {"op": "leases"})["leases"]}
            # What was given while it answered is not in what it had.
            self.given -= {one for one in before if one[1] not in live}

    def judge(self, challenge: str, said: Any) -> Optional[Any]:
        """Who proves to know the secret of a pass; anybody else is dropped without an answer."""
        try:
            kept = self.passes.find(said["pass"])
        except (NodeError, OSError) as error:  # of another version, or not to be read now
            print(f"[flexrack] a pass was not read: {error}", flush=True)
            return None
        nonce, ask = str(said["nonce"]), said["ask"]
        if not hmac.compare_digest(str(said["proof"]), proof(kept["secret"], challenge, nonce, ask)):
            return None
        return said["pass"], kept, challenge, nonce, ask

    def serve(self, connection: socket.socket, verified: Any) -> None:
        identity, kept, challenge, nonce, ask = verified
        leases: List[Any] = []
        try:
            answer = self.answer(identity, kept, ask)
            leases = answer.get("leases", [])
            connection.sendall(sealed(kept["secret"], challenge, nonce, answer))
            leases = []
        except OSError:
            pass  # who asked is gone; what it would have had is given back
        finally:
            taking.give_back(leases, self.channel)
            connection.close()

    def answer(self, identity: str, kept: Dict[str, Any], ask: Any) -> Dict[str, Any]:
        try:
            if ask["do"] == "lease":
                count = min(int(ask["count"]), int(kept["count"]))
                if count < 1:
                    raise ValueError("no lease of nothing")
                with self._one:
                    leases = taking.take(kept, count, kept["purpose"], self.channel, bool(ask["all"]))
                self.given.update((identity, one["lease"]) for one in leases)
                return {"leases": leases}
            if ask["do"] == "release":
                if (identity, ask["lease"]) not in self.given:
                    return {"error": "that lease is not of this pass"}
                self.given.discard((identity, ask["lease"]))
                taking.give_back([{"lease": ask["lease"]}], self.channel)
            elif ask["do"] == "renew":
                self.passes.renew(identity)
            elif ask["do"] == "end":
                self.passes.end(identity)
            else:
                return {"error": "it is not known here what that asks for"}
            return {}
        except NodeError as error:
            return {"error": error.message}
        except (ValueError, KeyError, TypeError):
            return {"error": "that is not asked so"}
        except OSError as error:
            return {"error": f"it failed there: {error}"}


def main(root: str, addresses: List[str], port: int) -> int:
    door = Door(Path(root))
    door.open(addresses, port)
    print(f"[flexrack] lets kernels of other nodes in at {', '.join(addresses)}, port {port}", flush=True)
    while True:
        time.sleep(_LOOK_SECONDS)
        door.forget_ended()
        if door.passes.count() == 0:
            print("[flexrack] nobody has a pass any more", flush=True)
            door.close()
            ServiceRecord(Path(root), SERVICE).end_from_within(_GRACE_SECONDS)
            return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:-1], int(sys.argv[-1])))
