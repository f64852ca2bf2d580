"""python3 serving/passes.py renew|end < PLACES: tells other nodes about the passes that a service has of them (leases.json,
GpuPlace). A program of its own, as services know nothing of GPUs. Ends with 1 where a node was not told.
"""

import json
import sys
from pathlib import Path
from typing import Any, List

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.gpu.held_passes import end_all, tell_all

_SECONDS = 20.0


def main(what: str, places: List[Any]) -> int:
    missed = end_all(places) if what == "end" else tell_all(places, {"do": "renew"}, _SECONDS)
    if missed:
        print(f"[flexrack] {', '.join(sorted(missed))}: the pass for GPUs was not told to {what}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.load(sys.stdin)))
