"""Prints where the uv of locks/uv.txt is, below FOLDER; fetches it there if it is not: `python3 scripts/testing/uv.py FOLDER`."""
import fcntl
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "node"))

from flexrack_node.workspace import uv  # noqa: E402


def order():
    lock = (ROOT / "locks" / "uv.txt").read_text()
    version = next(line for line in lock.splitlines() if line.startswith("uv==")).split("==")[1].split()[0]
    return {"version": version, "oldest": version, "lock": lock}


def uv_below(folder):
    """One process fetches, others wait. Raises RuntimeError where it cannot be had."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = uv.place_of(order()["version"], folder)
    with (folder / ".fetching").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            found, reason = uv.fetch(order(), folder)
            if found is None:
                raise RuntimeError(f"uv cannot be had: {reason}")
    return place


if __name__ == "__main__":
    print(uv_below(Path(sys.argv[1])))
