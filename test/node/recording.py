"""A copy of the node program that writes down what its supervisors say to each other, so that it is held against
protocol/gang.json and mpi_launch.json.
"""

import atexit
import functools
import json
import shutil
import tempfile
from pathlib import Path

from messages import check_as
from places import PROGRAM

# Appended to link/gang_link.py of the copy: a line for each message that is sent, with the side that sends it.
_HOOK = """

def _recorded(send):
    def recorded(link, value):
        if value != "beat":
            fd = os.open({path!r}, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(fd, json.dumps([link._out.decode(), value]).encode() + b"\\n")
            finally:
                os.close(fd)
        return send(link, value)
    return recorded


Link.send = _recorded(Link.send)
"""
# Of what has such a field; the first that fits. L: who listens, the leader of a gang among them; M: who has called.
_KINDS = {
    "L": [
        ("phase", "gang.json", "GangDesired"),
        ("files data end error", "gang.json", "FetchAnswer"),
        ("orted alive", "mpi_launch.json", "MpiOrder"),
        ("", "gang.json", "PeerAnswer"),
    ],
    "M": [
        ("phase", "gang.json", "GangObserved"),
        ("vote follow gone fetch", "gang.json", "PeerQuestion"),
        ("", "mpi_launch.json", "MpiFollower"),
    ],
}


class Recording:
    def __init__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="flexrack-recording-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self.program = self._folder / PROGRAM.name
        shutil.copytree(PROGRAM, self.program)  # with times: what is compiled already stays so
        self.messages = self._folder / "messages.jsonl"
        self.messages.touch()
        with open(self.program / "link" / "gang_link.py", "a") as file:
            file.write(_HOOK.format(path=str(self.messages)))
        self._offset = 0
        self.seen = set()

    def check(self):
        """What was said since the last time. Raises AssertionError for what the protocol does not know."""
        with open(self.messages, "rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        self._offset += whole
        for line in data[:whole].splitlines():
            side, value = json.loads(line)
            topic, name = next(
                (topic, name) for keys, topic, name in _KINDS[side] if not keys or set(keys.split()) & set(value)
            )
            self.seen.add(name)
            check_as(topic, name, value)


@functools.cache
def recording():
    return Recording()
