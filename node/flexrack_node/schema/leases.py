"""What a node needs to lease GPUs when nobody types: for kernels of notebooks, and for model servers. Generated from protocol/leases.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, Literal, Optional, TypedDict, Union


GpuPlace = TypedDict("GpuPlace", {"node": "str", "pass": "str", "secret": "str", "addresses": "List[str]", "port": "int", "daemon_port": "int"})


class LeaseTerms(TypedDict):
    """What a lease is to be that is taken when nobody types, and whose."""
    count: int
    share: Dict[str, Union[float, bool]]
    cap: bool
    api: Literal["cuda", "opencl"]
    owner: str
    purpose: str
    text: str


class _OwnLeases(LeaseTerms):
    keeper: str
    icd: Optional[str]
    libraries: Dict[str, str]


class OwnLeases(_OwnLeases, total=False):
    """What a process leases by itself when it starts, a kernel or a model server: of the daemon of its own node, else of those of `places`."""
    devices: List[str]
    places: List[GpuPlace]
