"""What the supervisors of a run say to each other (link/gang_link.py): the leader says what it desires, members what they observe, and any node may ask another one. Generated from protocol/gang.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union

from flexrack_node.schema.record import NodeHere
from flexrack_node.schema.result import CheckpointAt, PaceOfRank, RankRecord, RunAttempt, RunResult
from flexrack_node.schema.runfiles import MemberPlace, StopRequest
from flexrack_node.schema.watch import RankStack


class CheckpointFound(TypedDict):
    """What tells one checkpoint from another: its name below the outputs, its newest file's time in nanoseconds since 1970, its size."""
    name: str
    at: int
    bytes: int


class CheckpointSource(CheckpointFound):
    """And who has it; `place`: the port at which that node gives it away, null where none is known."""
    node: str
    place: Optional[MemberPlace]


class CheckpointToKeep(CheckpointSource):
    """A checkpoint that some nodes are to have a copy of."""
    nodes: List[str]


class NodeLoss(TypedDict):
    """Why a node was put out: it is silent, its supervisor was killed, others do not reach it, or it goes down or was rebooted."""
    node: str
    kind: Literal["node", "supervisor", "link", "reboot"]
    message: str


class RoomWanted(TypedDict):
    """Between attempts of a run that makes room: whether its nodes are to be reserved, or given back for others. A higher `round` is newer."""
    round: int
    take: bool
    passes: List[str]


class HasHere(TypedDict):
    """As the head's claims name it."""
    node: str
    gpus: List[str]
    exclusive: bool
    leased: int


class RoomSeen(TypedDict):
    """What of that is done on a node."""
    round: int
    has: bool
    why: Optional[str]


class OpenAttempt(TypedDict):
    """The attempt that goes on."""
    attempt: int
    nodes: List[str]
    started: float
    checkpoint: Optional[CheckpointAt]
    why: str


class _GangHistory(TypedDict):
    attempts: List[RunAttempt]
    open: Optional[OpenAttempt]


class GangHistory(_GangHistory, total=False):
    """For whoever leads next."""
    lost: Dict[str, NodeLoss]


class PeersToAsk(TypedDict):
    """Nodes that a member is to ask whether they are there; `round` says which question this is."""
    round: int
    places: Dict[str, MemberPlace]


class _GangDesired(TypedDict):
    phase: Literal["wait", "prepare", "run", "stop", "committed", "end", "out"]
    attempt: int


class GangDesired(_GangDesired, total=False):
    """The state that the leader desires of every member. A higher `serial` of the same term is newer. `attempt` and what follows it up to `result` belongs to the phase."""
    term: int
    serial: int
    members: List[str]
    address: str
    port: int
    rendezvous: str
    checkpoint: Optional[CheckpointSource]
    grace: float
    quiet: bool
    room: RoomWanted
    requested: Optional[StopRequest]
    dump: int
    keep: CheckpointToKeep
    ask: Optional[PeersToAsk]
    result: RunResult
    history: GangHistory
    places: Dict[str, MemberPlace]


class _LaunchTrouble(TypedDict):
    at: float
    message: str
    exit: Optional[int]
    tail: List[str]


class LaunchTrouble(_LaunchTrouble, total=False):
    """The launcher ended badly, or did not start, without a rank that tells why."""
    kind: Literal["upload"]


class StalledRank(TypedDict):
    """A rank without progress: it waits in a collective; it does so for much longer than is patient."""
    waits: bool
    long: bool


class StacksTaken(TypedDict):
    """Stacks of a node's ranks, and by rank the seconds without progress. `number`: of the request for them."""
    number: int
    ranks: List[RankStack]
    idle: Dict[str, float]


class RanksWatched(TypedDict):
    stalled: Dict[str, StalledRank]
    watched: List[int]
    dumped: Optional[StacksTaken]


class FetchProblem(TypedDict):
    """The checkpoint of an attempt could not be copied."""
    attempt: int
    message: str

PeerWord = Literal["reached", "refused", "silent"]


class PeerHeard(TypedDict):
    word: PeerWord
    round: int


class GangObserved(TypedDict, total=False):
    """How things are on a member's node; of one that was not heard yet nothing is known. A reaper says less, and `gone`."""
    attempt: int
    phase: Literal["idle", "running", "ended"]
    records: Dict[str, RankRecord]
    unsaved: bool
    survivors: List[int]
    trouble: Optional[LaunchTrouble]
    watch: Optional[RanksWatched]
    paces: Dict[str, PaceOfRank]
    saved: Optional[CheckpointFound]
    kept: Optional[CheckpointFound]
    unkept: Optional[CheckpointFound]
    checkpoint: Optional[CheckpointFound]
    steps: Optional[int]
    ready: int
    problem: Optional[FetchProblem]
    peer: Optional[MemberPlace]
    words: Dict[str, PeerHeard]
    stop: Optional[StopRequest]
    here: NodeHere
    room: RoomSeen
    has: Optional[HasHere]
    skipped: int
    clock: float
    done: bool
    drained: bool
    gone: Literal[True]
    lost: NodeLoss


class _LeaderPlace(TypedDict):
    term: int
    leader: str
    address: str
    port: int


class LeaderPlace(_LeaderPlace, total=False):
    """Who leads in a term, and where."""
    anew: bool


class Returned(TypedDict):
    """A node was rebooted, and looks for its gang."""
    node: str
    boot: str

LeaderKnown = List[Union[int, str]]


class Candidacy(TypedDict):
    """A node wants to lead; `known`: term and serial of the newest word of a leader that it has heard."""
    term: int
    candidate: str
    known: List[int]


class LastWord(TypedDict):
    """A reaper's: the supervisor of that node is dead."""
    node: str
    observed: GangObserved


class PeerQuestion(TypedDict, total=False):
    """One of them."""
    vote: Candidacy
    follow: LeaderPlace
    gone: LastWord
    returned: Returned
    fetch: str


class PeerAnswer(TypedDict, total=False):
    """To `vote` all but `term`, to `follow` and `gone` the term alone; to `returned` a leader says `leads` and `welcome`, who has come back, too, `returned`."""
    term: int
    granted: bool
    why: Optional[str]
    voted: int
    out: bool
    result: Optional[RunResult]
    follow: Optional[LeaderPlace]
    leads: LeaderPlace
    welcome: bool
    returned: LeaderKnown


class CheckpointFile(TypedDict):
    """A file of a checkpoint: its path below the outputs, its size, its time in nanoseconds."""
    name: str
    bytes: int
    at: int


class FetchAnswer(TypedDict, total=False):
    """To `fetch`: `files`, then of each file `data` (base64) as often as needed and `end`; `error` instead of any of them."""
    files: List[CheckpointFile]
    data: str
    end: Literal[True]
    error: str


class LinkNonce(TypedDict):
    """The first line of a connection, by who was called."""
    nonce: str


class LinkHello(TypedDict):
    """The caller proves that it knows the run's secret; `clock`: its time."""
    node: str
    nonce: str
    clock: float
    proof: str


class LinkProof(TypedDict):
    """And who was called does."""
    proof: str
