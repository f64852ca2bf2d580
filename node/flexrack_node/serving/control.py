"""serving.find, .join, .leave: the agent of this node, a service that asks the head what is to run here.

serving/  settings.json (0600: it has a token)  note.json (what the agent met last)
"""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.installed import record
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.service import comeback
from flexrack_node.service import control as services
from flexrack_node.service.record import ServiceRecord

if TYPE_CHECKING:
    from flexrack_node.schema.node import Nothing
    from flexrack_node.schema.serving import AgentFound, AgentGone, AgentJoined, AgentSettings, AgentWanted

SERVICE = "serving-agent"
_GRACE_SECONDS = 5.0
AGENT = Path(__file__).resolve().with_name("agent.py")


def find(given: "AgentWanted", channel: Channel) -> "AgentFound":
    """{url, node} -> {joined, problem}: whether this program's agent asks that head here, and was not refused."""
    place = folder(channel.root)
    settings = or_nothing(read("serving.settings", place / "settings.json"))
    note = or_nothing(read("serving.note", place / "note.json"))
    is_same = settings.get("url") == given["url"] and settings.get("node") == given["node"]
    state: Any = services.status({"id": SERVICE}, channel)
    runs = state["state"] in services.ALIVE and ServiceRecord(channel.root, SERVICE).spec().get("argv") == argv(channel)
    return {"joined": bool(is_same and runs and not note.get("refused")), "problem": note.get("problem")}


def join(given: "AgentSettings", channel: Channel) -> "AgentJoined":
    """{url, node, token, ca}: the agent goes on with these."""
    place = folder(channel.root)
    record(channel.root, place, "serving")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    end(channel)  # it reads them once
    (place / "note.json").unlink(missing_ok=True)
    settings: AgentSettings = {key: given.get(key) for key in ("url", "node", "token", "ca")}  # type: ignore[assignment]
    write("serving.settings", place / "settings.json", settings)
    started: Any = services.start(
        {
            "id": SERVICE,
            "argv": argv(channel),
            "env": {},
            "cwd": str(place),
            "restart": {"max": 1000, "window_seconds": 600},
            "grace": _GRACE_SECONDS,
            "replace": True,
            # servers that it has started are services of their own, with supervisors of their own
            "spare_children": True,
        },
        channel,
    )
    return {"comes_back": started["comes_back"]}


def leave(given: "Nothing", channel: Channel) -> "AgentGone":
    """Ends the agent and forgets its token; the servers stay as they are."""
    stopped = end(channel)
    shutil.rmtree(ServiceRecord(channel.root, SERVICE).folder, ignore_errors=True)
    shutil.rmtree(folder(channel.root), ignore_errors=True)
    if comeback.is_set_up(channel.root) and not comeback.is_wanted(channel.root):
        comeback.settle(channel)
    return {"stopped": stopped}


def end(channel: Channel) -> bool:
    """Ends the agent alone: supervisors of servers that it has started are its children, and go on."""
    agent = ServiceRecord(channel.root, SERVICE)
    if not agent.exists():
        return False
    with agent.change():
        was = services.describe(agent)["state"]
        services.halt(agent, _GRACE_SECONDS, spare=True)
        return was in services.ALIVE


def folder(root: Path) -> Path:
    return root / "serving"


def argv(channel: Channel) -> List[str]:
    return [sys.executable, "-I", "-S", str(AGENT), str(channel.root), str(channel.environments)]
