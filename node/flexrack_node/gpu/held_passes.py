"""The passes that a notebook of this node has of other nodes: `places` of gpus.json in its folder, each with a node's
name and what opens its door (gpu/door_talk.py). What this node itself has given out is gpu/passes.py.
"""

import json
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional

from flexrack_node.gpu.door_talk import CONNECT_SECONDS, Refused, ask

_END_SECONDS = 4.0


def held_places(file: Path) -> List[Dict[str, Any]]:
    """What a notebook was started with; none where there is no such file."""
    try:
        found: List[Dict[str, Any]] = json.loads(file.read_text()).get("places") or []
        return found
    except (OSError, ValueError, AttributeError):
        return []


def tell_all(places: List[Dict[str, Any]], request: Mapping[str, Any], seconds: float) -> List[str]:
    """Tells each, within about `seconds`; the nodes that were not reached, or refused."""
    problems = try_all(places, lambda place: ask(place, request, seconds), seconds + CONNECT_SECONDS)
    return [node for node, problem in problems.items() if problem is not None]


def end_passes(file: Path, but: Iterable[str] = ()) -> List[str]:
    """Ends those in such a file, but for some; the nodes that were not reached. There they end a day later."""
    return end_all(held_places(file), but)


def end_all(places: Iterable[Dict[str, Any]], but: Iterable[str] = ()) -> List[str]:
    """The same of places that are known."""
    spared = set(but)
    return tell_all([one for one in places if one["pass"] not in spared], {"do": "end"}, _END_SECONDS)


def try_all(
    places: List[Dict[str, Any]], work: Callable[[Dict[str, Any]], Any], seconds: float
) -> "Dict[str, Optional[str]]":
    """Does it with each, all at once: what went wrong there, by node; None where all is well. Waits so long at most."""
    import threading  # few who import this have passes to ask for

    problems: Dict[str, Optional[str]] = {one["node"]: "it does not answer in time" for one in places}

    def do(place: Dict[str, Any]) -> None:
        try:
            work(place)
            problems[place["node"]] = None
        except (OSError, Refused) as error:
            problems[place["node"]] = str(error)

    threads = [threading.Thread(target=do, args=(one,), daemon=True) for one in places]
    until = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return dict(problems)
