"""Two heads of one rack: which one follows, and which one has stepped down. Generated from protocol/standby.json by `npm run protocol`; for type checkers alone."""
from typing import TypedDict


class HeadPlace(TypedDict):
    """Node and base URL of a head. Standbys of older versions do not keep it."""
    node: str
    url: str


class HeadFormer(TypedDict):
    """Whom a head followed before it took over, and with which token: it is told of it until it has heard."""
    node: str
    url: str
    ca: str
    token: str


class HeadSuperseded(TypedDict):
    """A head has stepped down: its standby was made the head."""
    node: str
    url: str
    at: str
