"""What of a service is about the GPUs that it leases (`gpus` of its spec), by programs of their own: services know nothing
of GPUs.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Optional

from flexrack_node.base.stored import or_nothing

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import KeptService
    from flexrack_node.service.log import ServiceLog
    from flexrack_node.service.record import ServiceRecord

NOTHING_FREE = 75  # status of serving/with_gpus.py; EX_TEMPFAIL
_PROGRAMS = Path(__file__).resolve().parents[1] / "serving"
_RENEW_SECONDS = 3600.0  # a pass lasts a day
_AGAIN_SECONDS = 300.0  # where a node was not reached
_END_SECONDS = 30.0


def words_of(record: "ServiceRecord", spec: "KeptService") -> List[str]:
    """What is started: each start leases anew, where it is to have GPUs."""
    if not spec.get("gpus"):
        return spec["argv"]
    return [*_program("with_gpus.py"), str(record.folder.parents[1]), record.id, *spec["argv"]]


def places_of(spec: "KeptService") -> List[Any]:
    """The other nodes that it may lease of, with its passes."""
    found: List[Any] = or_nothing(spec.get("gpus")).get("places") or []
    return found


def end_passes(before: "KeptService", after: "Optional[KeptService]" = None) -> None:
    """Those of a spec, but for those that another one has, too. A node that is not reached ends them a day later."""
    kept = {one["pass"] for one in (places_of(after) if after else [])}
    places = [one for one in places_of(before) if one["pass"] not in kept]
    if not places:
        return
    try:
        given = json.dumps(places).encode()
        subprocess.run(
            [*_program("passes.py"), "end"], input=given, capture_output=True, timeout=_END_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        pass


class PassRenewal:
    """Keeps a service's passes alive while its supervisor looks."""

    def __init__(self, spec: "KeptService") -> None:
        self._places = places_of(spec)
        self._next = 0.0
        self._process: Optional[subprocess.Popen[bytes]] = None

    def look(self, log: "ServiceLog") -> None:
        """Begins it where it is time to, and waits for nothing. `log`: where it says which nodes it did not reach."""
        if not self._places or time.monotonic() < self._next:
            return
        if self._process is not None:
            if self._process.poll() is None:
                return
            failed, self._process = self._process.returncode != 0, None
            self._next = time.monotonic() + (_AGAIN_SECONDS if failed else _RENEW_SECONDS)
            return
        output = log.open()
        try:
            self._process = subprocess.Popen(
                [*_program("passes.py"), "renew"], stdin=subprocess.PIPE, stdout=output, stderr=output
            )
        finally:
            os.close(output)
        assert self._process.stdin
        self._process.stdin.write(json.dumps(self._places).encode())
        self._process.stdin.close()


def _program(name: str) -> List[str]:
    return [sys.executable, "-I", "-S", str(_PROGRAMS / name)]
