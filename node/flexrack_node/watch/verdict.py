"""Which rank keeps the others waiting, judged by what every rank looked like at about the same moment. Pure.

Ranks in lock step meet in collectives. A rank that hangs leaves the others in the next one: so the ranks that are in
none are to blame, then those that are in an earlier one than the others (fewer calls begun), then one that computes
where the others only wait (DDP: its gradients' backward pass counts as the collective). A process that is stopped, or
has ended, is to blame wherever it is. Where that tells nobody apart (asynchronous operations, NCCL), torch's flight
recorder does: who has queued fewer collectives of the default group.
"""

import re
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from flexrack_node.schema.watch import HangSuspect, HangVerdict, WaitingRanks

_BUSY, _IDLE = 0.5, 0.2  # CPUs in use
_LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib/python3[^/]*/|^<")
_LIBRARY_FOLDER = re.compile(r"^.*/(?:(?:site|dist)-packages|lib/python3[^/]*)/")
_LOCKS = {"acquire", "wait", "join", "_wait_for_tstate_lock", "get", "put", "__enter__", "result"}
_LOCK_FILES = ("threading.py", "queue.py", "_base.py", "synchronize.py", "popen_fork.py")


def verdict(ranks: Sequence[Mapping[str, Any]], ended: Mapping[int, int], idle: Mapping[int, float]) -> "HangVerdict":
    """`ranks` as stacks.dump gives them, of all nodes; `ended`: exit of each rank that is gone; `idle`: seconds without
    progress, of those for whom it is known.

    Returns {message, suspects: [{rank, node, why}], waiting: [{collective, number, ranks}], lines, seconds}; `lines`:
    the most telling lines of stacks, at most 3.
    """
    waiting = [one for one in ranks if _collective(one) and one.get("state") != "T"]
    groups = _groups(waiting, _count, _collective)
    suspects = _suspects(ranks, waiting)
    behind = _behind_in_flight(ranks)
    if behind and len(suspects) in (0, len(ranks)):  # what ranks tell themselves does not tell them apart
        suspects, waiting = behind, [one for one in ranks if one not in behind]
        groups = _groups(waiting, lambda one: one["flight"]["queued"], lambda one: one["flight"]["name"])
    parts = [
        f"{_names(group['ranks'])} {'wait' if len(group['ranks']) > 1 else 'waits'} in {group['collective']} #{group['number']}"
        for group in groups
        if not {one["rank"] for one in suspects} >= set(group["ranks"])
    ]
    gone = sorted(ended) if waiting else []
    reported: List[HangSuspect] = [{"rank": one["rank"], "node": one["node"], "why": doing(one)} for one in suspects]
    come = "has not come: it " if parts else "makes no progress: it "
    for why, same in _alike(reported):
        names = _names([one["rank"] for one in same])
        where = f" ({same[0]['node']})" if len(same) == 1 else ""
        parts.append(
            f"{names}{where} {come if len(same) == 1 else come.replace('has', 'have').replace('makes', 'make').replace(': it ', ': each ')}{why}"
        )
    if gone:
        parts.append(f"{_names(gone)} {'have' if len(gone) > 1 else 'has'} ended already")
    if not suspects and not gone and groups:
        parts.append(
            "no rank is missing: the network between them, or a rank of another group, keeps them waiting"
            if len(groups) == 1
            else "each group waits for ranks of another"
        )
    seconds = max(idle.values(), default=0.0)
    return {
        "message": "; ".join(parts) or "no rank is alive",
        "suspects": reported,
        "waiting": groups,
        "lines": _lines(suspects or list(waiting)),
        "seconds": round(seconds, 1),
    }


def doing(one: Mapping[str, Any]) -> str:
    """What a rank is at, after "it": `is in data loading, train.py:88 in next_batch`."""
    where = place(one)
    at = f", {where}" if where else ""
    progress = one.get("progress") or {}
    if one.get("state") == "T":
        return "is stopped (SIGSTOP)"
    if one.get("state") == "D":
        wchan = (one.get("kernel") or {}).get("wchan")
        return f"waits for a device or a file system{f' ({wchan})' if wchan else ''}{at}"
    if _collective(one):
        return f"is in {_collective(one)} #{progress.get('collectives')}{at}"
    if progress.get("data_since"):
        return f"is in data loading{at}"
    if one.get("cpu", 0.0) >= _BUSY or one.get("state") == "R":
        return f"computes ({one['cpu'] * 100:.0f} % CPU){at}"
    if _is_at_lock(one) or ((one.get("kernel") or {}).get("wchan") or "").startswith("futex"):
        return f"waits for a lock or another thread{at}"
    return (
        f"waits{at}"
        if at
        else "waits" + (f" in the kernel ({one['kernel']['wchan']})" if (one.get("kernel") or {}).get("wchan") else "")
    )


def place(one: Mapping[str, Any]) -> Optional[str]:
    """Where its main thread is in the program of the user, `train.py:88 in next_batch`; the innermost frame where it is
    nowhere in it.
    """
    frames = _frames(one)
    own = next((frame for frame in frames if _is_own(frame)), frames[0] if frames else None)
    return _frame_text(own, one) if own else None


def _suspects(ranks: Sequence[Mapping[str, Any]], waiting: Sequence[Mapping[str, Any]]) -> List[Mapping[str, Any]]:
    outside = [one for one in ranks if one not in waiting]
    if outside:
        return outside
    most = max((_count(one) for one in waiting), default=0)
    behind = [one for one in waiting if _count(one) < most]
    if behind:
        return behind
    busy = [one for one in waiting if one.get("cpu", 0.0) >= _BUSY]
    return (
        busy
        if busy and all(one in busy or one.get("cpu", 0.0) <= _IDLE for one in waiting) and len(busy) < len(waiting)
        else []
    )


def _behind_in_flight(ranks: Sequence[Mapping[str, Any]]) -> List[Mapping[str, Any]]:
    """Those whose default group was given fewer collectives than others' (torch's flight recorder): the others wait for
    what these have not begun.
    """
    counts = [one["flight"]["queued"] for one in ranks if one.get("flight")]
    if len(counts) < len(ranks) or len(set(counts)) < 2:
        return []
    return [one for one in ranks if one["flight"]["queued"] == min(counts)]


def _groups(
    waiting: Sequence[Mapping[str, Any]],
    number: Callable[[Mapping[str, Any]], int],
    name: Callable[[Mapping[str, Any]], str],
) -> "List[WaitingRanks]":
    found: Dict[Tuple[int, str], List[int]] = {}
    for one in waiting:
        found.setdefault((number(one), name(one)), []).append(one["rank"])
    return [
        {"collective": what, "number": count, "ranks": sorted(them)}
        for (count, what), them in sorted(found.items(), reverse=True)
    ]


def _alike(reported: "List[HangSuspect]") -> "List[Tuple[str, List[HangSuspect]]]":
    """Suspects that are at the same are told once."""
    found: Dict[str, List[HangSuspect]] = {}
    for one in reported:
        found.setdefault(one["why"], []).append(one)
    return list(found.items())


def _lines(suspects: Sequence[Mapping[str, Any]]) -> List[str]:
    """The first suspect's: where the program of the user is, innermost first, and what it called there."""
    for one in suspects:
        frames = _frames(one)
        own = [frame for frame in frames if _is_own(frame)]
        chosen = ([frames[0]] if frames and frames[0] not in own else []) + own
        if chosen:
            return [f"rank {one['rank']}: {_frame_text(frame, one)}" for frame in chosen[:3]]
    return []


def _frames(one: Mapping[str, Any]) -> List[Mapping[str, Any]]:
    threads = one.get("threads") or []
    return threads[0]["frames"] if threads else []


def _frame_text(frame: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    name, cwd = frame["file"], one.get("cwd")
    if cwd and name.startswith(f"{cwd}/"):
        name = name[len(cwd) + 1 :]
    else:
        name = _LIBRARY_FOLDER.sub("", name)
    return f"{name}:{frame['line']} in {frame['function']}"


def _is_own(frame: Mapping[str, Any]) -> bool:
    return not _LIBRARY.search(frame["file"])


def _is_at_lock(one: Mapping[str, Any]) -> bool:
    frames = _frames(one)
    return bool(frames) and frames[0]["function"] in _LOCKS and frames[0]["file"].endswith(_LOCK_FILES)


def _collective(one: Mapping[str, Any]) -> str:
    return (one.get("progress") or {}).get("collective") or ""


def _count(one: Mapping[str, Any]) -> int:
    return int((one.get("progress") or {}).get("collectives") or 0)


def _names(ranks: Sequence[int]) -> str:
    """`rank 2`, `ranks 0, 1, 3`, `ranks 0-2, 5`."""
    ordered = sorted(ranks)
    pieces: List[str] = []
    index = 0
    while index < len(ordered):
        end = index
        while end + 1 < len(ordered) and ordered[end + 1] == ordered[end] + 1:
            end += 1
        pieces += (
            [f"{ordered[index]}-{ordered[end]}"]
            if end - index >= 2
            else [str(rank) for rank in ordered[index : end + 1]]
        )
        index = end + 1
    return f"rank{'s' if len(ordered) > 1 else ''} {', '.join(pieces)}"
