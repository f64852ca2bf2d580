"""Which ranks have a run of the tracking server's by now: the first that one asks for is the run it belongs to.

A library that was written for a server of its own makes its run by itself (runs/create), though MLFLOW_RUN_ID names
one. The head gives such a rank the run itself, and nests each further one in it (own-run.ts in
src/lib/head/service/tracking); what it cannot know is whether the rank has used its run before. A rank shows who it is
by its token: the run's, with `.ATTEMPT.RANK` behind it (rank/rank.py).
"""

import hmac
import re
import threading
from typing import Dict, Optional, Set, Tuple

OWN_RUN_HEADER = "Flexrack-Own-Run"
CREATE = re.compile(r"/api/[23]\.0/(?:preview/)?mlflow/runs/create$")
_RANK = re.compile(rb"\.(\d{1,9}\.\d{1,9})\Z")


def read_token(given: str, token: Optional[str]) -> Tuple[bool, Optional[str]]:
    """(whether the value of an Authorization header opens the relay, the rank that shows it as ATTEMPT.RANK)."""
    if token is None:
        return True, None
    shown = given.encode()
    rank = _RANK.search(shown)
    if rank and hmac.compare_digest(shown[: rank.start()], f"Bearer {token}".encode()):
        return True, rank[1].decode()
    return hmac.compare_digest(shown, f"Bearer {token}".encode()), None


class Claims:
    """Shared by all threads of a relay."""

    def __init__(self, run_id: Optional[str]) -> None:
        self._run = (run_id or "").encode()
        self._have: Set[str] = set()
        self._lock = threading.Lock()

    def wrote(self, rank: Optional[str], body: object) -> None:
        """A rank that writes to the run has it."""
        if rank is not None and rank not in self._have and self._run and isinstance(body, bytes) and self._run in body:
            with self._lock:
                self._have.add(rank)

    def headers(self, rank: Optional[str], method: str, path: str) -> Dict[str, str]:
        """For a rank that asks for its first run; from then on it has one, unless `failed`."""
        if rank is None or method != "POST" or not CREATE.match(path):
            return {}
        with self._lock:
            if rank in self._have:
                return {}
            self._have.add(rank)
            return {OWN_RUN_HEADER: "none"}

    def failed(self, rank: Optional[str], headers: Dict[str, str]) -> None:
        """The rank has got no run after all."""
        if rank is not None and OWN_RUN_HEADER in headers:
            with self._lock:
                self._have.discard(rank)
