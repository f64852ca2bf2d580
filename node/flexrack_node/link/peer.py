"""The port that every supervisor of a gang keeps: the others ask there whether it is alive, fetch checkpoints from it,
and ask for its vote.

Authenticated like the gang's own links (link/gang_link.py). Where nothing is asked, having been let in is the answer.
What is asked and answered: PeerQuestion, PeerAnswer and FetchAnswer in protocol/gang.json; the answers of a voter are
in gang/voter_state.py.
"""

import base64
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, Mapping, NamedTuple, Optional, Set, Tuple

from flexrack_node.link import checkpoint
from flexrack_node.link.gang_link import Link, LinkLost, Listener, join

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from flexrack_node.schema.gang import (
        CheckpointFile,
        CheckpointFound,
        CheckpointSource,
        FetchAnswer,
        LinkHello,
        PeerAnswer,
        PeerHeard,
        PeerQuestion,
        PeerWord,
    )
    from flexrack_node.schema.runfiles import MemberPlace

REACH_SECONDS = 2.0  # for a connection and the proof
_AGAIN_SECONDS = 3.0  # between two questions to the same node
_CHUNK = 1 << 20
_TICK = 0.05  # seconds between two looks at what was answered
_AT_ONCE = 16

Place = Tuple[str, int]  # address and port


class Answers(NamedTuple):
    """By node; of a node that refused, the machine says that nobody listens there any more."""

    answers: "Dict[str, PeerAnswer]"
    refused: Set[str]


def place_of(place: "Optional[MemberPlace]") -> Place:
    """As it came in a message. Raises TypeError, ValueError, IndexError."""
    if place is None:
        raise ValueError("it has no port")
    return str(place[0]), int(place[1])


class PeerPort:
    """`port` is open from the start; `close()` ends it. `answer` is asked for everything but files. Raises OSError
    where the address is not ours.
    """

    def __init__(
        self,
        address: str,
        secret: str,
        outputs: Path,
        answer: "Callable[[PeerQuestion], Optional[PeerAnswer]]" = lambda _requested: None,
        port: int = 0,
    ) -> None:
        self._outputs, self._requested = outputs, answer
        self._listener = Listener(address, secret, self._answer, port)
        self.place: Place = (address, self._listener.port)

    def close(self) -> None:
        self._listener.close()

    def _answer(self, _node: str, link: Link, _hello: "LinkHello") -> None:
        """In a thread a connection."""
        try:
            while True:
                requested: PeerQuestion = link.receive()
                if "fetch" in requested:
                    _send_files(link, self._outputs, requested["fetch"])
                    continue
                answer = self._requested(requested)
                if answer is not None:
                    link.send(answer)
        except LinkLost:
            pass
        finally:
            link.close()


class Reach:
    """Asks other nodes, again and again and in threads of its own, whether they are there. `words()`: the newest
    answers.
    """

    def __init__(self, node: str, secret: str) -> None:
        self._node, self._secret = node, secret
        self._lock = threading.Lock()
        self._words: Dict[str, PeerHeard] = {}
        self._requested: Dict[str, Tuple[int, float]] = {}
        self._workers: Optional[ThreadPoolExecutor] = None

    def ask(self, number: int, places: "Mapping[str, MemberPlace]") -> None:
        """Never blocks. Within one round, told by its number, a node that was asked a moment ago is not asked again
        yet.
        """
        now = time.monotonic()
        for node, place in places.items():
            requested = self._requested.get(node)
            if node != self._node and (
                requested is None or requested[0] != number or now - requested[1] > _AGAIN_SECONDS
            ):
                self._requested[node] = (number, now)
                self._workers = self._workers or _pool(_AT_ONCE)
                self._workers.submit(self._look, number, node, place_of(place))

    def words(self) -> "Dict[str, PeerHeard]":
        """By node."""
        with self._lock:
            return dict(self._words)

    def close(self) -> None:
        if self._workers:
            self._workers.shutdown(wait=False)

    def _look(self, number: int, node: str, place: Place) -> None:
        word = reach(place, self._secret, self._node)
        with self._lock:
            self._words[node] = {"word": word, "round": number}


def reach(place: Place, secret: str, own: str) -> "PeerWord":
    try:
        join(place[0], place[1], secret, own, timeout=REACH_SECONDS).close()
        return "reached"
    except ConnectionRefusedError:
        return "refused"
    except LinkLost:
        return "silent"


def ask(place: Place, secret: str, own: str, question: "PeerQuestion") -> "PeerAnswer":
    """The answer of a node. Raises LinkLost, ConnectionRefusedError."""
    link = join(place[0], place[1], secret, own, timeout=REACH_SECONDS)
    try:
        link.send(question)
        answer: PeerAnswer = link.receive()
        if not isinstance(answer, dict):
            raise LinkLost("no answer to the question")
        return answer
    finally:
        link.close()


def ask_all(
    places: Mapping[str, Place], question: "PeerQuestion", secret: str, own: str, meanwhile: Callable[[], object]
) -> Answers:
    """All nodes at once; who does not answer within a few seconds is missing in what it returns."""
    found: Dict[str, PeerAnswer] = {}
    refused: Set[str] = set()
    if not places:
        return Answers(found, refused)

    def one(node: str, place: Tuple[str, int]) -> None:
        try:
            found[node] = ask(place, secret, own, question)
        except ConnectionRefusedError:
            refused.add(node)
        except (LinkLost, OSError, ValueError, KeyError, TypeError):
            pass  # nobody there, or nobody of ours

    from concurrent.futures import wait

    workers = _pool(min(64, len(places)))
    waiting = {workers.submit(one, node, place) for node, place in places.items()}
    deadline = time.monotonic() + REACH_SECONDS * 1.5
    while waiting and time.monotonic() < deadline:
        waiting = wait(waiting, timeout=_TICK).not_done
        meanwhile()
    workers.shutdown(wait=False)
    return Answers(dict(found), set(refused))


def _pool(count: int) -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor  # only now: most gangs never ask, and it reads logging

    return ThreadPoolExecutor(count)


def fetch(
    place: Place, secret: str, own: str, outputs: Path, wanted: "CheckpointSource", exact: bool = True
) -> "CheckpointFound":
    """Brings a checkpoint of another node here, whole or not at all; returns what came. `exact`: this very one, not
    what has taken its name since. Raises LinkLost, OSError, ValueError with the reason.
    """
    link = join(place[0], place[1], secret, own, timeout=10.0)
    target = checkpoint.inside(outputs, wanted["name"])
    beside = target.with_name(f".{target.name}.{os.getpid()}.partial")
    remove(beside)
    try:
        question: PeerQuestion = {"fetch": wanted["name"]}
        link.send(question)
        reported: FetchAnswer = link.receive()
        if "error" in reported:
            raise ValueError(reported["error"])
        target.parent.mkdir(parents=True, exist_ok=True)
        for one in reported["files"]:
            inner = Path(checkpoint.inside(outputs, one["name"])).relative_to(target)
            _receive_file(link, beside / inner if inner.parts else beside, one)
        remove(target)
        os.replace(beside, target)
    finally:
        link.close()
        remove(beside)
    if exact and not checkpoint.has(outputs, wanted):
        raise ValueError(f"{wanted['name']} changed while it was copied")
    return checkpoint.describe(outputs, target)


def _send_files(link: Link, outputs: Path, name: str) -> None:
    try:
        files = checkpoint.parts(outputs, name)
        _send(link, {"files": files})
        for one in files:
            _send_file(link, outputs, one)
    except (OSError, ValueError) as error:
        _send(link, {"error": str(error)})


def _send(link: Link, answer: "FetchAnswer") -> bool:
    return link.send(answer)


def _send_file(link: Link, outputs: Path, one: "CheckpointFile") -> None:
    """Raises ValueError where it is not, or not any more, what was told of it: half of it would be of another
    checkpoint.
    """
    with open(outputs / one["name"], "rb") as file:
        while data := file.read(_CHUNK):
            if not _send(link, {"data": base64.b64encode(data).decode()}):
                return
        now = os.fstat(file.fileno())
    if (now.st_size, now.st_mtime_ns) != (one["bytes"], one["at"]):
        raise ValueError(f"{one['name']} was written to while it was read")
    _send(link, {"end": True})


def _receive_file(link: Link, path: Path, one: "CheckpointFile") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        while True:
            reported: FetchAnswer = link.receive()
            if "error" in reported:
                raise ValueError(reported["error"])
            if "end" in reported:
                break
            file.write(base64.b64decode(reported["data"]))
        file.flush()
        os.fsync(file.fileno())
    os.utime(path, ns=(int(one["at"]), int(one["at"])))


def remove(path: Path) -> None:
    """A file, a folder, or nothing."""
    import shutil

    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
