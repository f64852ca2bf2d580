"""slurm.limits: what Slurm's own database limits for this account, and how its fair share stands. Nothing is written:
Slurm alone decides for its jobs.
"""

import getpass
import math
from typing import TYPE_CHECKING, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.slurm import commands

if TYPE_CHECKING:
    from flexrack_node.schema.slurm import SlurmAssociation, SlurmLimits, SlurmPrograms, SlurmShare

# Fields of sacctmgr(1), "show associations": limits of the account, then of each user in it.
_LIMITS = (
    "GrpTRES",
    "GrpTRESMins",
    "GrpJobs",
    "GrpSubmit",
    "GrpWall",
    "MaxTRES",
    "MaxTRESMins",
    "MaxJobs",
    "MaxSubmit",
    "MaxWall",
)
_NAMES = ("Account", "Partition", "QOS", *_LIMITS)
_SHARES = "Account,User,NormShares,EffectvUsage,FairShare"


def limits(given: "SlurmPrograms", channel: Channel) -> "SlurmLimits":
    """{bin?} -> {user, associations, shares, problem}: of the account that asks. Where Slurm keeps none (no slurmdbd),
    `problem` has its words.
    """
    folder, user = given.get("bin"), getpass.getuser()
    found: SlurmLimits = {"user": user, "associations": [], "shares": [], "problem": None}
    words = ["show", "associations", f"user={user}", f"format={','.join(_NAMES)}"]
    try:
        shown = commands.call(["sacctmgr", "--noheader", "--parsable2", *words], folder)
        if shown.returncode != 0:
            return {**found, "problem": f"sacctmgr: {commands.last_line(shown.stderr or shown.stdout)}"}
        found["associations"] = read_associations(shown.stdout)
        shares = commands.call(
            ["sshare", "--noheader", "--parsable2", f"--users={user}", f"--format={_SHARES}"], folder
        )
    except NodeError as error:
        return {**found, "problem": error.message}
    if shares.returncode != 0:
        return {**found, "problem": f"sshare: {commands.last_line(shares.stderr or shares.stdout)}"}
    return {**found, "shares": read_shares(shares.stdout, user)}


def read_associations(text: str) -> "List[SlurmAssociation]":
    """Lines of sacctmgr --parsable2 with _NAMES."""
    rows: List[Dict[str, str]] = [
        dict(zip(_NAMES, line.split("|"))) for line in text.splitlines() if line.count("|") == len(_NAMES) - 1
    ]
    return [
        {
            "account": row["Account"],
            "partition": row["Partition"] or None,
            "qos": [name for name in row["QOS"].split(",") if name],
            "limits": {name: row[name] for name in _LIMITS if row[name]},
        }
        for row in rows
    ]


def read_shares(text: str, user: str) -> "List[SlurmShare]":
    """Lines of sshare --parsable2 with _SHARES: the user's own; those of accounts have no user."""
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 4]
    return [
        {
            "account": row[0].strip(),
            "share": _number(row[2]),
            "used": _number(row[3]),
            "fair_share": _number(row[4]),
        }
        for row in rows
        if row[1].strip() == user
    ]


def _number(text: str) -> Optional[float]:
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:  # empty, or "parent"
        return None
