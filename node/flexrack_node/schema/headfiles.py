"""Files of the head, and of the machine of the command line, that outlive who wrote them: each kind, where it is, the number of its shape, and what it holds beside `schema`, that number. Words in capitals stand for names. Generated from protocol/headfiles.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.monitor import HeadTargets
from flexrack_node.schema.people import HeadRole
from flexrack_node.schema.standby import HeadPlace
from flexrack_node.schema.sync import EntryLine


class DataStats(TypedDict):
    """What is known of the files of a folder: size, mtime and ctime (ms), inode, SHA-256, by path."""
    files: Dict[str, List[Union[float, str]]]

HeadConfig = Dict[str, Any]


class HeadKeyLimits(TypedDict, total=False):
    """What a key of an endpoint's client may."""
    requestsPerSecond: float
    concurrency: int
    tokensPerMinute: float


class _HeadToken(TypedDict):
    kind: Literal["run", "endpoint", "session", "personal", "node", "standby", "joint", "metrics", "user"]
    hash: str
    expiresAt: float


class HeadToken(_HeadToken, total=False):
    """A token that the head has given out."""
    runId: str
    experimentId: str
    endpoint: str
    client: str
    limits: HeadKeyLimits
    login: str
    host: str
    opens: Literal["page", "look"]
    name: str
    createdAt: float
    node: str
    names: List[str]
    targets: List[HeadTargets]
    joint: str
    user: str
    project: str
    role: HeadRole
    lastUsedAt: float
    parent: str


class HeadTokens(TypedDict):
    """By their ids."""
    tokens: Dict[str, HeadToken]


class _HeadAudit(TypedDict):
    seq: int
    at: float
    who: str
    action: str
    target: str
    before: str


class HeadAudit(_HeadAudit, total=False):
    """What was changed or refused at the head. Each line has the hash of the one before, and its own at the end."""
    says: str
    login: str
    outcome: str
    error: str
    times: int


class _HeadAction(TypedDict):
    at: float
    owner: str
    login: str
    action: Literal["stop", "rollback", "endNotebook"]
    target: str


class HeadAction(_HeadAction, total=False):
    """What was done through the rack's page, in the log of before head.audit."""
    outcome: str
    error: str


class HeadLock(TypedDict):
    owner: str
    fence: int
    since: float
    expiresAt: float


class HeadLocks(TypedDict):
    lastFence: int
    locks: Dict[str, HeadLock]


class HeadEndpoint(TypedDict):
    """An endpoint; the document is its owner's (src/lib/endpoint)."""
    revision: int
    document: Dict[str, Any]


class HeadSwitch(TypedDict):
    """Several endpoints that are being changed at once: what they were, null where there was none."""
    before: Dict[str, Optional[HeadEndpoint]]


class HeadPromiseChanges(TypedDict):
    name: str
    revision: int
    document: Dict[str, Any]


class HeadPromiseLeader(TypedDict):
    url: str
    ca: Optional[str]
    token: str


class HeadPromise(TypedDict):
    """A switch over several racks, as far as it is this head's: what it will have switched once that is decided."""
    state: Literal["promised", "committed", "dropped"]
    racks: List[str]
    changes: List[HeadPromiseChanges]
    leader: Optional[HeadPromiseLeader]
    leaseUntil: float
    at: float


class _HeadRollout(TypedDict):
    release: str
    since: str
    state: Literal["running", "returned", "passed"]
    step: int
    percent: float
    stepSince: float
    looks: int


class HeadRollout(_HeadRollout, total=False):
    """How far an endpoint's canary has come, as the head knows it. `returned`: the judge found it worse, it gets nothing any more; `passed`: it has gone through every step."""
    verdict: str


class HeadScalingEvent(TypedDict):
    at: float
    text: str


class HeadScaling(TypedDict):
    """Which servers of an endpoint are to run, where the head chooses their number."""
    release: str
    on: List[str]
    wakes: int
    events: List[HeadScalingEvent]


class HeadIdentity(TypedDict):
    """PEM."""
    key: str
    certificate: str


class _HeadAuthority(TypedDict):
    current: HeadIdentity


class HeadAuthority(_HeadAuthority, total=False):
    """The rack's certificate authority."""
    cross: str
    former: str
    gateway: HeadIdentity


class HeadSnapshot(TypedDict):
    """What a standby needs to serve endpoints."""
    format: int
    version: str
    endpoints: Dict[str, HeadEndpoint]
    rollouts: Dict[str, HeadRollout]
    tokens: Dict[str, HeadToken]
    ca: str


class _HeadFollowed(TypedDict):
    tokenId: str
    heardAt: float
    listener: HeadIdentity
    gateway: HeadIdentity


class HeadFollowed(_HeadFollowed, total=False):
    """What a standby was told by its head, and its certificates."""
    dismissed: bool
    state: HeadSnapshot
    first: HeadPlace


class HeadCertificate(TypedDict):
    identity: HeadIdentity


class BackgroundWaiting(TypedDict):
    since: str
    why: str


class _BackgroundCommand(TypedDict):
    name: str
    project: str
    pid: int
    identity: str
    machine: str
    started: str
    ended: Optional[str]
    why: Optional[str]
    log: str


class BackgroundCommand(_BackgroundCommand, total=False):
    """A command that goes on without its terminal."""
    waiting: BackgroundWaiting


class EndpointToken(TypedDict):
    """A token that opens one endpoint."""
    id: str
    token: str
    expiresAt: float
    head: str


class AttachOwner(TypedDict):
    """The command whose leases lie beside it, written anew while it lives."""
    pid: int
    identity: str
    place: str


class LocalGroup(TypedDict):
    """A group of processes that was started on a node of the local rack."""
    node: str
    group: int


class LocalRackNode(TypedDict):
    name: str
    port: int


class KeptLocalRack(TypedDict):
    """The local rack as it should be."""
    id: str
    nodes: List[LocalRackNode]
    environments: str
    up: bool
    maxSessions: int


class ProjectDigests(TypedDict):
    """Digests of a project's files, by path, with what the file looked like then."""
    files: Dict[str, List[Any]]


class ProjectBase(TypedDict):
    """What a project looked like when it was last synced."""
    rows: List[EntryLine]
