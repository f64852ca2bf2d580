"""preflight.run: what a training needs of this node and of the ways to the others, measured while the caller says when.

A conversation: the caller's commands are JSON lines after the input, {"id": n, "do": WORD, ...}; each is answered by an event
{"event": "done", "id": n, ...}. The end of stdin ends it. Nothing of it stays: the listener lives in this process, for SECONDS at most.

    clock                                          {at}: seconds since 1970
    reach  {peers: {node: [address, port]}, rendezvous?: [node, address, port]}    {ways: {node: {ms} | {error, text}}, rendezvous?}
    flood  {peer: [node, address, port], seconds}  {bytes, seconds} | {error, text}
    facts                                          the measurements of preflight_facts
"""
import json
import os
import select
import threading
import time
from typing import Any, Dict, Optional

from flexrack_node.channel import Channel
from flexrack_node.preflight_link import Listener, at_once, flood, reach

SECONDS = 15.0  # that a port is open, and that the conversation lasts


def run(given: Dict[str, Any], channel: Channel) -> Dict[str, Any]:
    """{node, address?, secret?, leads, project?, checks, seconds?}. With an address it listens there. Returns {}."""
    seconds = min(float(given.get("seconds") or SECONDS), SECONDS)
    commands = _Commands(channel, seconds)
    listener = Listener(given["address"], given["node"], given["secret"], seconds) if given.get("address") else None
    try:
        channel.event("ready", **_open(listener, given))
        measured = _Background(given, channel)
        for command in iter(commands.next, None):
            channel.event("done", id=command["id"], **_do(command, given, measured))
        return {}
    finally:
        if listener:
            listener.close()


def _do(command: Dict[str, Any], given: Dict[str, Any], measured: "_Background") -> Dict[str, Any]:
    own = (given["node"], given.get("address") or "")
    secret = given.get("secret") or ""
    if command["do"] == "clock":
        return {"at": time.time()}
    if command["do"] == "facts":
        return measured.wait()
    if command["do"] == "flood":
        return flood(own, tuple(command["peer"]), secret, float(command["seconds"]))
    peers = {node: (node, *place) for node, place in command["peers"].items()}
    jobs = {node: lambda peer=peer: reach(own, peer, secret) for node, peer in peers.items()}
    if command.get("rendezvous"):
        jobs[""] = lambda: reach(own, tuple(command["rendezvous"]), secret)
    ways = at_once(jobs)
    rendezvous = ways.pop("", None)
    return {"ways": ways, **({"rendezvous": rendezvous} if rendezvous else {})}


def _open(listener: Optional[Listener], given: Dict[str, Any]) -> Dict[str, Any]:
    """{machine, port?, rendezvous?, interface?, failed?}: `rendezvous` is a port among those that a run's rendezvous takes."""
    from flexrack_node.launch import free_port, interface_of, machine_id

    found: Dict[str, Any] = {"machine": machine_id()}
    if not listener:
        return found
    from flexrack_node.network import link

    try:
        found["port"] = listener.open()
        if given.get("leads"):
            found["rendezvous"] = listener.open(free_port(given["address"]))
        name = interface_of(given["address"])
        if name:
            found["interface"] = {"name": name, **link(name)}
    except OSError as error:
        found["failed"] = error.strerror or str(error)
    return found


class _Background:
    """The measurements that need no other node, made while the ways are tried."""

    def __init__(self, given: Dict[str, Any], channel: Channel) -> None:
        self._facts: Dict[str, Any] = {}
        self._thread = threading.Thread(target=self._measure, args=(given, channel), daemon=True)
        self._thread.start()

    def wait(self) -> Dict[str, Any]:
        self._thread.join()
        return self._facts

    def _measure(self, given: Dict[str, Any], channel: Channel) -> None:
        from flexrack_node.preflight_facts import measure

        self._facts.update(measure(given, channel))


class _Commands:
    """Lines of stdin. The caller says nothing before it is told that we are ready, so none of them lies in a buffer already."""

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._file, self._rest = channel.body.fileno(), b""
        self._deadline = time.monotonic() + seconds
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)

    def next(self) -> Optional[Dict[str, Any]]:
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
        command: Dict[str, Any] = json.loads(line)
        return command
