"""Sweeps, on the head's node. Generated from protocol/sweep.json by `npm run protocol`; for type checkers alone."""
from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

ParameterValue = Optional[Union[float, str, bool]]


class Choices(TypedDict):
    choices: List[Union[float, str, bool]]


class _ParameterRange(TypedDict):
    min: float
    max: float
    log: bool
    integer: bool


class ParameterRange(_ParameterRange, total=False):
    step: float

Parameter = Union[Choices, ParameterRange]


class _Pruner(TypedDict):
    name: Literal["none", "asha", "hyperband", "median"]


class Pruner(_Pruner, total=False):
    warmup: int
    reduction: int
    startup: int
    steps: int


class _SweepOrder(TypedDict):
    metric: str
    goal: Literal["maximize", "minimize"]
    sampler: Literal["grid", "random", "tpe", "cmaes", "qmc", "gp"]
    pruner: Pruner
    parallel: int
    parameters: Dict[str, Parameter]


class SweepOrder(_SweepOrder, total=False):
    """What a sweep tries."""
    trials: int
    time: float
    seed: int
    arguments: List[str]


class Trial(TypedDict):
    """One trial as the storage has it. Times in seconds since 1970."""
    number: int
    state: Literal["running", "complete", "pruned", "failed"]
    params: Dict[str, ParameterValue]
    texts: Dict[str, str]
    value: Optional[float]
    last: Optional[float]
    steps: int
    run: Optional[str]
    attempt: int
    started: Optional[float]
    ended: Optional[float]
    why: Optional[str]


class SweepRecord(TypedDict):
    """What makes a sweep."""
    project: str
    owner: str
    spec: SweepOrder
    command: List[str]
    tracked: str
    experiment: str


class StoredSweep(SweepRecord):
    sweep: str
    created: float
    status: Literal["running", "interrupted", "finished", "stopped", "failed"]
    driver: Optional[str]
    at: Optional[float]
    trials: List[Trial]
    importance: Optional[Dict[str, float]]


class _EngineInput(TypedDict):
    sweep: str
    python: str
    owner: str


class EngineInput(_EngineInput, total=False):
    record: SweepRecord
    spec: SweepOrder


class AskCommand(TypedDict):
    id: int
    do: Literal["ask", "look"]


class BindCommand(TypedDict):
    id: int
    do: Literal["bind"]
    number: int
    run: str


class DropCommand(TypedDict):
    id: int
    do: Literal["drop"]
    number: int


class ReportCommand(TypedDict):
    id: int
    do: Literal["report"]
    number: int
    values: List[List[float]]


class _TellCommand(TypedDict):
    id: int
    do: Literal["tell"]
    number: int
    state: Literal["complete", "pruned", "failed"]


class TellCommand(_TellCommand, total=False):
    value: float
    why: str


class FinishCommand(TypedDict):
    id: int
    do: Literal["finish"]
    status: Literal["finished", "stopped", "failed", "interrupted"]

EngineCommand = Union[AskCommand, BindCommand, DropCommand, ReportCommand, TellCommand, FinishCommand]


class _EngineReady(TypedDict):
    event: Literal["ready"]
    trials: List[Trial]
    limit: int


class EngineReady(_EngineReady, total=False):
    stop: bool

EngineDone = Dict[str, Any]


class SweepName(TypedDict):
    sweep: str


class _SweepStop(TypedDict):
    sweep: str


class SweepStop(_SweepStop, total=False):
    seconds: float


class SweepDriver(TypedDict):
    driver: Optional[str]


class SweepRemoved(TypedDict):
    removed: str
