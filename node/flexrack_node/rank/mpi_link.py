"""A node's link to the launcher on the first node, which has mpirun (rank/mpi_launch.py)."""

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base.stored import or_nothing, read
from flexrack_node.link.gang_link import Link, LinkLost, join

if TYPE_CHECKING:
    from flexrack_node.schema.mpi_launch import MpiFollower, MpiJob, MpiOrder

JOIN_SECONDS = 60.0  # for the other nodes' side of the attempt


class Heard:
    """What the leader says, read in a thread, because the link ends where nobody reads."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._news = threading.Condition()
        self._said: List[Optional[MpiOrder]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def next(self, seconds: Optional[float]) -> "Optional[MpiOrder]":
        """None where the link is lost, or nothing came in time."""
        with self._news:
            self._news.wait_for(lambda: bool(self._said), seconds)
            return self._said.pop(0) if self._said and self._said[0] is not None else None

    def _listen(self) -> None:
        while True:
            try:
                said: Optional[MpiOrder] = self._link.receive()
            except LinkLost:
                said = None
            with self._news:
                self._said.append(said)
                self._news.notify_all()
            if said is None:
                return


def join_leader(job: "MpiJob", node: str) -> Optional[Link]:
    secret = or_nothing(read("run.spec", Path(job["attempt"]).parents[1] / "spec.json"))["gang"]["secret"]
    deadline = time.monotonic() + JOIN_SECONDS
    while time.monotonic() < deadline:
        try:
            return join(job["address"], job["port"], secret, node, timeout=5.0)
        except (LinkLost, OSError):
            time.sleep(0.1)
    return None


def tell(link: Link, word: "MpiFollower") -> None:
    link.send(word)
