"""Where the dashboard of a run's cluster is. Only reads."""
from typing import TYPE_CHECKING, Any, Dict

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import read
from flexrack_node.rank.packaged import ray_token
from flexrack_node.runs.view import open_view

if TYPE_CHECKING:
    from flexrack_node.schema.watch import RunName


def dashboard(given: "RunName", channel: Channel) -> Dict[str, Any]:
    """{run}: {port, token}, on this node's loopback. Errors: NOT_FOUND; CONFLICT where the run has no cluster whose head is here."""
    view = open_view(channel.root, given["run"])
    spec = view.folder.spec()
    attempts = view.folder.attempts()
    place = read("run.ray", view.folder.attempt(attempts[-1]) / "ray.json") if attempts else None
    if spec.get("launcher") != "ray" or not place or not view.is_live():
        raise NodeError("CONFLICT", f"run {given['run']} has no dashboard here", "train.launcher: ray gives a run one, for as long as it lives")
    return {"port": place["dashboard"], "token": ray_token(spec, attempts[-1])}
