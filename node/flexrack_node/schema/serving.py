"""Servers that a node starts and ends by itself, as the head wants: its agent, and what it asks the head. Generated from protocol/serving.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Optional, TypedDict

from flexrack_node.schema.service import ComesBack


class AgentSettings(TypedDict):
    """What a node's agent needs to ask the head; kept in its folder, 0600."""
    url: str
    node: str
    token: str
    ca: Optional[str]


class AgentNote(TypedDict):
    """What the agent met last."""
    at: float
    problem: Optional[str]
    refused: bool


class AgentWanted(TypedDict):
    url: str
    node: str


class AgentFound(TypedDict):
    joined: bool
    problem: Optional[str]


class AgentJoined(TypedDict):
    comes_back: ComesBack


class AgentGone(TypedDict):
    stopped: bool


class ServerReport(TypedDict):
    state: str
    restarts: int
    exit: Optional[str]


class ServerGpuUse(TypedDict):
    """A lease of one GPU, and its use. Sizes in bytes."""
    service: str
    index: int
    busy: float
    used: int
    memory: int


class _AgentQuestion(TypedDict):
    seen: Optional[str]
    wait: float
    services: Dict[str, ServerReport]
    ca: Optional[str]


class AgentQuestion(_AgentQuestion, total=False):
    """POST /flexrack/v1/agent: what prepared services do, and what is to run."""
    gpus: List[ServerGpuUse]


class PlaceOrder(TypedDict):
    service: str
    on: bool


class _AgentAnswer(TypedDict):
    seen: str
    places: List[PlaceOrder]


class AgentAnswer(_AgentAnswer, total=False):
    ca: str
