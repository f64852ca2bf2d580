"""Folders that one account of a node shares with another. Generated from protocol/share.json by `npm run protocol`; for type checkers alone."""
from typing import List, Literal, Optional, TypedDict


class ShareRecord(TypedDict):
    """An invitation, as it lies where both accounts can read it."""
    id: str
    name: str
    folder: str
    owner: str
    owner_uid: int
    user: str
    user_uid: int
    access: Literal["read", "write"]
    until: Optional[float]
    created: float
    opened: List[str]
    closed: List[str]
    sandbox: Optional[str]


class ShareAnswer(TypedDict):
    answer: Optional[Literal["accepted", "declined"]]
    key: Optional[str]

ShareState = Literal["invited", "waiting", "accepted", "declined", "expired"]


class Share(TypedDict):
    id: str
    name: str
    folder: str
    owner: str
    user: str
    access: Literal["read", "write"]
    until: Optional[float]
    state: ShareState


class Shares(TypedDict):
    account: str
    given: List[Share]
    received: List[Share]


class _ShareOrder(TypedDict):
    folder: str
    user: str
    access: Literal["read", "write"]
    name: Optional[str]
    until: Optional[float]


class ShareOrder(_ShareOrder, total=False):
    key: Optional[str]


class ShareMade(TypedDict):
    share: Share
    skipped: int


class _ShareReply(TypedDict):
    owner: str
    name: str
    accept: bool


class ShareReply(_ShareReply, total=False):
    key: Optional[str]


class ShareReplied(TypedDict):
    share: Share
    path: Optional[str]


class ShareEnd(TypedDict):
    name: str
    user: Optional[str]


class ShareEnded(TypedDict):
    ended: List[Share]
    left: int
