"""What a run has reserved of this node, as its supervisor has it. A run that makes room gives it back between two
attempts, to its place in line, and takes it again when its leader says so (gang/room.py): docs/adr/0077.
"""

import contextlib
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Callable, List, Optional, Union

from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import reserving
from flexrack_node.gpu.ids import gpu_ids
from flexrack_node.gpu.lease import leased_count
from flexrack_node.reservation.hold import HOLD_TTL, Hold
from flexrack_node.reservation.place import open_place
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import HasHere, RoomSeen, RoomWanted
    from flexrack_node.schema.reservation import Had, LeaseFence
    from flexrack_node.schema.runfiles import KeptRunOrder

_LINE_SECONDS = 10.0  # between two words that keep the place in line, which lives HOLD_TTL
_GIVEN = "the run has made room for others"


class Seat:
    """`take_over()` first, then `add()` what else keeps it alive; `give_back()` at the end. `apply()` and `observed()`
    never block: giving back and taking again is done in a thread.
    """

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", on_lost: Callable[[str], None]) -> None:
        self._folder, self._spec, self._on_lost = folder, spec, on_lost
        self._root = Path(spec["root"])
        self._hold: Optional[Hold] = Hold(self._root, spec["reservation"], on_lost)
        self._leased, self._whole = leased_count(spec.get("leases")), gpu_ids()
        self._pids: List[int] = []
        self._lock = threading.Lock()  # of what follows
        self._wanted: Optional[RoomWanted] = None
        self._seen: RoomSeen = {"round": 0, "has": True, "why": None}
        self._changed = threading.Event()
        self._is_over = False
        self._worker: Optional[threading.Thread] = None

    def take_over(self) -> "Had":
        """What it has of the node. Raises NodeError."""
        assert self._hold is not None
        self._hold.take_over()
        had: Had = self._hold.wants
        return had

    def add(self, pid: int) -> None:
        """Another process that keeps it alive, as Hold.add."""
        self._pids.append(pid)
        if self._hold:
            self._hold.add(pid)

    def lost(self) -> Optional[str]:
        """Why nothing may be started here now."""
        hold = self._hold
        return hold.lost() if hold else _GIVEN

    def has(self) -> "Optional[HasHere]":
        """What the run has of the node now, as the reservation said that was taken over; None where it was given back."""
        hold = self._hold
        if hold is None or not hold.identity:
            return None
        gpus = sorted({*hold.wants["gpus"], *self._whole}) if hold.wants["exclusive"] else list(hold.wants["gpus"])
        return {"node": hold.identity, "gpus": gpus, "exclusive": hold.wants["exclusive"], "leased": self._leased}

    def apply(self, wanted: "Optional[RoomWanted]") -> None:
        """What the leader wants of it between two attempts."""
        if wanted is None or (self._wanted and wanted["round"] <= self._wanted["round"]):
            return
        with self._lock:
            self._wanted = wanted
        self._changed.set()
        if not self._worker:
            self._worker = threading.Thread(target=self._work, daemon=True)
            self._worker.start()

    def observed(self) -> "RoomSeen":
        with self._lock:
            return self._seen

    def give_back(self) -> None:
        self._is_over = True
        self._changed.set()
        if self._worker:
            self._worker.join()
        if self._hold:
            self._hold.give_back()
            return
        with contextlib.suppress(NodeError, OSError):
            place = open_place(self._root)
            with place.locked():
                record = place.read_own(self._folder.run, self._root)
                if record and record["state"] != "running":
                    place.remove(record)

    def _work(self) -> None:
        while not self._is_over:
            self._changed.clear()
            with self._lock:
                wanted = self._wanted
            if wanted:
                why = self._carry_out(wanted)
                with self._lock:
                    self._seen = {"round": wanted["round"], "has": self._hold is not None, "why": why}
            self._changed.wait(_LINE_SECONDS)

    def _carry_out(self, wanted: "RoomWanted") -> Optional[str]:
        """Returns why it has not got what it is to have."""
        try:
            if wanted["take"]:
                return None if self._hold else self._take(wanted["passes"])
            if self._hold:
                hold, self._hold = self._hold, None
                hold.stand_back()
            else:
                self._ask([], look=True)
        except (NodeError, OSError) as error:
            return error.message if isinstance(error, NodeError) else str(error)
        return None

    def _take(self, passes: List[str]) -> Optional[str]:
        fence = self._ask(passes)
        if isinstance(fence, str):
            return fence
        lease: LeaseFence = {"lease": self._folder.run, "fence": fence}
        reserving.update(lease, self._root, is_confirmed=True)
        # the reaper, and who comes back after a reboot, must know it by this number
        self._folder.write("spec", {**self._folder.spec(), "reservation": lease})
        hold = Hold(self._root, lease, self._on_lost)
        hold.take_over()
        for pid in self._pids:
            hold.add(pid)
        self._hold = hold
        return None

    def _ask(self, passes: List[str], look: bool = False) -> Union[int, str]:
        """The fencing number, or who is in the way. `look`: only keeps the place in line."""
        had = self._folder.state().get("wants")
        if not had:
            raise NodeError("RESERVATION_LOST", "nobody has written down what this run had of the node")
        answer = reserving.take(
            {
                "lease": self._folder.run,
                "owner": self._spec["owner"],
                "project": self._spec["project"],
                "node": self._spec["node"],
                "nodes": self._spec["nodes"],
                "wants": {"gpus": list(had["gpus"]), "slots": had["slots"], "exclusive": had["exclusive"]},
                "ttl": HOLD_TTL,
                "wait": True,
                "look": look,
                "passes": passes,
            },
            self._root,
        )
        if answer["fence"] is not None:
            return answer["fence"]
        return ", ".join(one["lease"] for one in answer["holders"]) + " has what it had of the node"
