"""Who keeps the processes of a run: supervisors of ours, or Slurm. What differs for those who start and end ranks is
decided here; for those who look, in runs/view.py.
"""

from typing import Any, Mapping, NamedTuple


class Keeper(NamedTuple):
    ends_the_rest: bool  # where the leader's node is lost it ends the whole run, and nobody else is to lead it
    has_cgroups: bool  # its job's cgroups are its own: nothing may leave them
    signals_ranks: bool  # what it sends to end a run reaches every rank already


def is_slurms(spec: Mapping[str, Any]) -> bool:
    return spec.get("scheduler") == "slurm"


def keeper_of(spec: Mapping[str, Any]) -> Keeper:
    if is_slurms(spec):
        return Keeper(ends_the_rest=True, has_cgroups=True, signals_ranks=bool(spec["slurm"].get("reaches_all")))
    return Keeper(ends_the_rest=False, has_cgroups=False, signals_ranks=False)
