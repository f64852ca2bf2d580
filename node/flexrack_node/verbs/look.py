"""Verbs that look at runs: run.state, .list, .follow, .window, .merged and .stacks. What is left of a run whose supervisor is dead is
repaired first. Those that only read are in runs/.
"""

from typing import TYPE_CHECKING, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.stored import read_current, write
from flexrack_node.run.files import all_runs
from flexrack_node.runs.repair import repair
from flexrack_node.runs.view import open_view, view_of

if TYPE_CHECKING:
    from flexrack_node.schema.logs import LogQuestion, LogWindow, MergedLog, MergedQuestion
    from flexrack_node.schema.run import FollowInput, NodeRun, NodeRunDetail, RunQuestion
    from flexrack_node.schema.watch import NodeStacks, StacksInput

SUMMARY = "summary.json"  # read by src/lib/runs/cached-listing.ts as well, without Python


def state(given: "RunQuestion", channel: Channel) -> "NodeRunDetail":
    """{run, wait?}: everything known here about a run; with `wait`, up to so many seconds later when it ends before."""
    run = open_view(channel.root, given["run"])
    run.wait(float(given.get("wait") or 0))
    repair(run)
    return run.detail()


def listing(_given: "None", channel: Channel) -> "List[NodeRun]":
    """A summary of every run of this node, oldest first."""
    found = []
    for folder in all_runs(channel.root):
        kept = read_current("run.summary", folder.path / SUMMARY)
        if not kept:
            run = view_of(folder)
            repair(run)
            kept = run.summary()
            if kept["recorded"] and not kept["live"]:  # nothing of it will change any more
                write("run.summary", folder.path / SUMMARY, kept, durable=False)
        found.append(kept)
    return found


def follow(given: "FollowInput", channel: Channel) -> "NodeRunDetail":
    """{run, follow, offsets: {"<attempt>/<file>": bytes}}: chunk events {attempt, file, offset, data: base64}.

    Reads to the end of what is there; with `follow` also what is still to come, until the run is over on this node.
    Returns the run's detail. Also emits `state` when the run's state changes and `news` for each line of events.jsonl.
    """
    run = open_view(channel.root, given["run"])
    run.follow(given, channel)
    repair(run)
    return run.detail()


def window(given: "LogQuestion", channel: Channel) -> "LogWindow":
    """A part of one rank's log: see runs/window.py. Looks at files alone."""
    from flexrack_node.runs import window as part  # only here: what else looks at runs needs none of it

    run = open_view(channel.root, given["run"])
    return part.read(run.parts(), given, run.is_live())


def merged(given: "MergedQuestion", channel: Channel) -> "MergedLog":
    """Parts of several ranks' logs by time: see runs/merged.py. Looks at files alone."""
    from flexrack_node.runs import merged as part  # only here, as above

    run = open_view(channel.root, given["run"])
    return part.read(run.parts(), given, run.is_live())


def stacks(given: "StacksInput", channel: Channel) -> "NodeStacks":
    """{run, rank?}: {node, attempt, ranks: see watch.stacks.dump}. Errors: NOT_FOUND; CONFLICT where no rank of it is
    alive here.
    """
    return open_view(channel.root, given["run"]).stacks(given, channel)
