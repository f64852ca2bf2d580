"""preflight.run: what a training needs of this node and of the ways to the others, measured while the caller says when.

A conversation: the caller's commands are JSON lines after the input, {"id": n, "do": WORD, ...}; each is answered by an
event {"event": "done", "id": n, ...}. The end of stdin ends it. Nothing of it stays: the ports are this process's, and
open for OPEN_SECONDS at most.

    clock     ClockAnswer     (protocol/preflight.json)
    listen    ListenAnswer
    reach     ReachAnswer
    flood     FloodAnswer
    facts     NodeState: what preflight/facts.py measures
"""

import json
import os
import select
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Callable, Dict, Optional, Sequence, Tuple, Union

from flexrack_node.base.channel import Channel
from flexrack_node.preflight.link import Listener, at_once, flood, reach
from flexrack_node.rank.launch import free_port, interface_of, machine_id

if TYPE_CHECKING:
    from flexrack_node.schema.node import Nothing
    from flexrack_node.schema.preflight import (
        ClockAnswer,
        FloodAnswer,
        ListenAnswer,
        NodeState,
        PreflightCommand,
        PreflightStart,
        ReachAnswer,
        ReachCommand,
        WayAnswer,
    )

OPEN_SECONDS = 15.0  # that a port is open
SECONDS = 30.0  # that the conversation lasts


def run(given: "PreflightStart", channel: Channel) -> "Nothing":
    """{node, address?, secret?, leads, project?, mpi?, checks, seconds?, open_seconds?}: says when it is ready, and on
    which machine. Returns {}.
    """
    talk = _Talk(given, channel)
    try:
        channel.event("ready", machine=machine_id())
        commands = _Commands(channel, min(float(given.get("seconds") or SECONDS), SECONDS))
        while command := commands.next():
            channel.event("done", id=command["id"], **talk.answer(command))
        return {}
    finally:
        talk.close()


class _Talk:
    """What there is while the conversation lasts: the ports, and the measurements, which begin with the first command."""

    def __init__(self, given: "PreflightStart", channel: Channel) -> None:
        self._given, self._channel = given, channel
        self._own = (str(given["node"]), str(given.get("address") or ""))
        self._secret = str(given.get("secret") or "")
        self._listener: Optional[Listener] = None
        self._facts: Optional[NodeState] = None
        self._failure: Optional[Exception] = None
        self._measuring = threading.Thread(target=self._measure, daemon=True)

    def close(self) -> None:
        if self._listener:
            self._listener.close()

    def answer(
        self, command: "PreflightCommand"
    ) -> "Union[ClockAnswer, ListenAnswer, ReachAnswer, FloodAnswer, NodeState]":
        if command["do"] == "clock":
            return {"at": time.time()}
        # Not before: on a machine that is several nodes, measuring would hold up those that are just starting.
        if not self._measuring.ident:
            self._measuring.start()
        if command["do"] == "listen":
            return self._listen()
        if command["do"] == "reach":
            return self._reach(command)
        if command["do"] == "flood":
            return flood(self._own, place_of(command["peer"]), self._secret, float(command["seconds"]))
        self._measuring.join()
        if self._facts is None:
            raise self._failure or RuntimeError("nothing was measured")
        return self._facts

    def _listen(self) -> "ListenAnswer":
        """`rendezvous` is a port among those that a run's rendezvous takes."""
        from flexrack_node.facts.network import link

        node, address = self._own
        self._listener = Listener(
            address, node, self._secret, min(float(self._given.get("open_seconds") or OPEN_SECONDS), OPEN_SECONDS)
        )
        try:
            found: ListenAnswer = {"port": self._listener.open()}
            if self._given.get("leads"):
                found["rendezvous"] = self._listener.open(free_port(address))
        except OSError as error:
            return {"failed": error.strerror or str(error)}
        name = interface_of(address)
        if name:
            found["interface"] = link(name)
        return found

    def _reach(self, command: "ReachCommand") -> "ReachAnswer":
        peers = {node: place_of([node, *place]) for node, place in command["peers"].items()}
        if "rendezvous" in command:
            peers[""] = place_of(command["rendezvous"])
        jobs: Dict[str, Callable[[], WayAnswer]] = {
            name: partial(reach, self._own, peer, self._secret) for name, peer in peers.items()
        }
        ways = at_once(jobs)
        rendezvous = ways.pop("", None)
        return {"ways": ways, "rendezvous": rendezvous} if rendezvous else {"ways": ways}

    def _measure(self) -> None:
        try:
            from flexrack_node.preflight.facts import measure

            self._facts = measure(self._given, self._channel)
        except Exception as error:  # for the thread that is asked for the facts
            self._failure = error


def place_of(place: Sequence[Union[str, int]]) -> Tuple[str, str, int]:
    """(node, address, port), as it came in a message."""
    return str(place[0]), str(place[1]), int(place[2])


class _Commands:
    """Lines of stdin. The caller says nothing before it is told that we are ready, so none of them lies in a buffer
    already.
    """

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._file, self._rest = channel.body.fileno(), b""
        self._deadline = time.monotonic() + seconds
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)

    def next(self) -> "Optional[PreflightCommand]":
        """None where the caller has ended it, or the time is over."""
        while b"\n" not in self._rest:
            left = self._deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                return None
            piece = os.read(self._file, 65536)
            if not piece:
                return None
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        command: PreflightCommand = json.loads(line)
        return command
