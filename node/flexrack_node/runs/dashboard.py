"""Where the dashboard of a run's cluster is. Only reads."""

from typing import TYPE_CHECKING

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import read
from flexrack_node.rank.packaged import ray_token
from flexrack_node.run.keeper import is_slurms
from flexrack_node.runs.view import open_view

if TYPE_CHECKING:
    from flexrack_node.schema.watch import NodeDashboard, RunName


def dashboard(given: "RunName", channel: Channel) -> "NodeDashboard":
    """{run}: {host, port, token}: on this node's loopback, or under Slurm at the address of the job's first node.
    Errors: NOT_FOUND; CONFLICT where the run has no cluster whose head is here.
    """
    view = open_view(channel.root, given["run"])
    for folder in view.members() if view.folder.spec().get("launcher") == "ray" and view.is_live() else []:
        spec, attempts = folder.spec(), folder.attempts()
        place = read("run.ray", folder.attempt(attempts[-1]) / "ray.json") if attempts else None
        if place:
            return {
                "host": spec["address"] if is_slurms(spec) else "127.0.0.1",
                "port": place["dashboard"],
                "token": ray_token(spec, attempts[-1]),
            }
    raise NodeError(
        "CONFLICT",
        f"run {given['run']} has no dashboard here",
        "train.launcher: ray gives a run one, for as long as it lives",
    )
