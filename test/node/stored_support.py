"""Files that outlive who wrote them: of each kind one as an older version left it, and how the program reads it."""

import json
import os
from unittest import mock

from flexrack_node.base import installed
from flexrack_node.base.stored import read
from flexrack_node.board import control as boards
from flexrack_node.data.store import Store
from flexrack_node.gpu import admin_socket
from flexrack_node.gpu.passes import Passes
from flexrack_node.history.folder import HistoryFolder
from flexrack_node.image.store import ImageStore
from flexrack_node.measure import usage
from flexrack_node.measure.hardware_file import last_sample, read_samples
from flexrack_node.measure.hardware_summary import read_summary
from flexrack_node.notebook import control as notebooks
from flexrack_node.relay.journal import Journal, read_rejected
from flexrack_node.reservation.place import Place
from flexrack_node.run import resumption
from flexrack_node.run.files import RunFolder
from flexrack_node.runs import dashboard, view
from flexrack_node.service import head
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ServiceRecord
from flexrack_node.serving import control as agents
from flexrack_node.share import invitations
from flexrack_node.slurm.job import SlurmJob
from flexrack_node.sweep import control
from flexrack_node.watch.hang import hangs
from flexrack_node.workspace import environment, environment_users, index, workspace
from flexrack_node.workspace.folder import WorkspaceFolder

SPEC = {
    "run": "r",
    "project": "p",
    "node": "a",
    "index": 0,
    "nodes": ["a"],
    "launcher": "plain",
    "processes": 1,
    "command": ["x"],
    "scheduler": "slurm",
    "slurm": {"nodes": 1},
    "created": 1.0,
}
RECORD = {
    "lease": "r",
    "fence": 3,
    "state": "running",
    "boot": "b",
    "heartbeat": 1.0,
    "ttl": 20,
    "since": 1.0,
    "owner": "me@here",
    "project": "p",
    "node": "a",
    "nodes": ["a"],
    "root": "/r",
    "domain": "d",
    "wants": {"gpus": [], "slots": 1, "exclusive": True},
    "holders": [],
    "pidns": "1",
}
LINE = {"run": "r", "node": "a", "attempt": 1, "started": 1.0, "ended": 2.0}
WRITE = {"method": "POST", "path": "/a", "type": "application/json", "at": 1.0, "body": "MQ=="}


def dashboard_of(root):
    """Its port, of a run on Ray that still runs."""
    (root / "runs/r/spec.json").write_text(
        json.dumps({**SPEC, "launcher": "ray", "gang": {"secret": "s"}, "scheduler": None})
    )
    with mock.patch.object(view.PlainRun, "is_live", lambda self: True):
        return dashboard.dashboard({"run": "r"}, mock.Mock(root=root))["port"]


def first_write(path):
    journal = Journal(path.parent, 1_000_000)
    try:
        return journal.first()[0].path
    finally:
        journal.close()


# Kind, its file below flexrack's folder (with {} as an older version wrote it), how it is read, and what is read of it.
FILES = [
    (
        "run.spec",
        "runs/r/spec.json",
        {**SPEC, "leases": {"hold": "/k", "file": "/f", "folder": "/d", "libraries": None, "env": {}}},
        lambda path: RunFolder(path.parent).spec()["leases"],
        {"keeper": "/k", "file": "/f", "folder": "/d", "libraries": None, "env": {}},
    ),
    (
        "run.state",
        "runs/r/state.json",
        {"status": "running", "epoch": 3, "leader": "b"},
        lambda path: RunFolder(path.parent).state()["term"],
        3,
    ),
    (
        "run.result",
        "runs/r/result.json",
        {"status": "finished", "epoch": 2},
        lambda path: RunFolder(path.parent).result()["term"],
        2,
    ),
    (
        "run.tree",
        "runs/r/tree.json",
        {"entries": [["a", "file", "0"]]},
        lambda path: read("run.tree", path),
        {"entries": [["a", "file", "0"]]},
    ),
    (
        "run.record",
        "runs/r/record.json",
        {"run": "r", "status": "running"},
        lambda path: read("run.record", path)["status"],
        "running",
    ),
    (
        "run.history",
        "runs/r/history.json",
        {"attempts": [{"attempt": 1, "status": "failed"}], "open": None},
        lambda path: resumption.attempts_known(RunFolder(path.parent))[0]["attempt"],
        1,
    ),
    (
        "run.stop",
        "runs/r/stop.json",
        {"grace": 1.0, "kill": False, "by": "x"},
        lambda path: RunFolder(path.parent).stop_request()["by"],
        "x",
    ),
    (
        "run.upload",
        "runs/r/attempts/1/upload.json",
        {"status": "done", "uploads": [], "why": None},
        lambda path: read("run.upload", path)["status"],
        "done",
    ),
    (
        "run.rank",
        "runs/r/attempts/1/rank-0.json",
        {"rank": 0, "started": 1.0},
        lambda path: RunFolder(path.parents[2]).records(1)[0],
        {"rank": 0, "started": 1.0},
    ),
    (
        "run.hang",
        "runs/r/hang-1.json",
        {"number": 1, "ranks": []},
        lambda path: hangs(RunFolder(path.parent))[0]["number"],
        1,
    ),
    (
        "run.ray",
        "runs/r/attempts/1/ray.json",
        {"address": "a:1", "dashboard": 7},
        lambda path: dashboard_of(path.parents[4]),
        7,
    ),
    (
        "run.hardware",
        "runs/r/hardware.json",
        {"cores": 2, "attempts": {}},
        lambda path: read_summary(RunFolder(path.parent)),
        {"cores": 2, "attempts": {}},
    ),
    (
        "run.sample",
        "runs/r/hardware.jsonl",
        {"t": 1.0},
        lambda path: [*read_samples(path), last_sample(path)],
        [{"t": 1.0}, {"t": 1.0}],
    ),
    ("run.job", "runs/r/job.json", {"job": "17"}, lambda path: SlurmJob(RunFolder(path.parent)).job(), "17"),
    ("run.gang", "runs/r/gang.json", {"nodes": ["c1"]}, lambda path: SlurmJob(RunFolder(path.parent)).nodes(), ["c1"]),
    ("relay.entry", "runs/r/spool/journal.jsonl", WRITE, first_write, "/a"),
    (
        "relay.rejected",
        "runs/r/spool/rejected.jsonl",
        {"status": 400, "entry": WRITE},
        lambda path: read_rejected(path.parent)[0],
        {"status": 400, "entry": WRITE},
    ),
    ("usage.entry", "usage.jsonl", LINE, lambda path: usage.logged(path.parent), [LINE]),
    (
        "installed.entry",
        "installed.jsonl",
        {"path": "runs", "kind": "runs", "at": "2026-01-01T00:00:00Z"},
        lambda path: installed.listing(path.parent)[0]["kind"],
        "runs",
    ),
    ("boot.settings", "boot/settings.json", {"by": "cron"}, lambda path: read("boot.settings", path), {"by": "cron"}),
    (
        "service.spec",
        "services/s/spec.json",
        {"argv": ["x"]},
        lambda path: ServiceRecord(path.parents[2], "s").spec(),
        {"argv": ["x"]},
    ),
    (
        "service.state",
        "services/s/state.json",
        {"status": "running"},
        lambda path: ServiceRecord(path.parents[2], "s").state(),
        {"status": "running"},
    ),
    (
        "service.stop",
        "services/s/stop.json",
        {"grace": 4.0, "spare": True},
        lambda path: ServiceRecord(path.parents[2], "s").stop_grace(),
        4.0,
    ),
    ("service.log", "services/s/log.json", {"older": 1, "current": 7}, lambda path: ServiceLog(path.parent).end(), 7),
    (
        "serving.settings",
        "serving/settings.json",
        {"url": "https://h", "node": "a", "token": "t", "ca": None},
        lambda path: read("serving.settings", path)["url"],
        "https://h",
    ),
    (
        "serving.note",
        "serving/note.json",
        {"at": 1.0, "problem": "away", "refused": False},
        lambda path: agents.find({"url": "u", "node": "a"}, mock.Mock(root=path.parents[1]))["problem"],
        "away",
    ),
    (
        "workspace.index",
        "workspaces/p/index.json",
        {"v": 1, "revision": "7", "tree": None, "written_ns": 1, "entries": {}},
        lambda path: index.load_index(WorkspaceFolder(path.parents[2], "p")),
        {"revision": "7", "tree": None, "written_ns": 1, "entries": {}, "log": 0},
    ),
    (
        "workspace.change",
        "workspaces/q/index.log",
        {"after": "", "revision": "8", "tree": None, "written_ns": 1, "entries": {"a": ["file", "d", False, None]}},
        lambda path: index.load_index(WorkspaceFolder(path.parents[2], "q"))["revision"],
        "8",
    ),
    (
        "data.manifest",
        f"data/versions/{'0' * 64}/manifest.json",
        {"name": "d", "digest": "0" * 64, "at": 1.0, "source": "a:/d", "bytes": 0, "files": []},
        lambda path: Store(path.parents[3]).whole()[0]["name"],
        "d",
    ),
    (
        "workspace.sync",
        "workspaces/p/sync.json",
        {"owner": "me"},
        lambda path: read("workspace.sync", path),
        {"owner": "me"},
    ),
    (
        "history.settings",
        "history/p/settings.json",
        {"every": 60, "exclude": [], "largest": None},
        lambda path: HistoryFolder(path.parents[2], "p").is_on(),
        True,
    ),
    (
        "history.state",
        "history/p/state.json",
        {"snapshot": "s"},
        lambda path: HistoryFolder(path.parents[2], "p").state().get("snapshot"),
        "s",
    ),
    (
        "history.codes",
        "history/p/codes.json",
        {"codes": {"d": "s"}},
        lambda path: HistoryFolder(path.parents[2], "p").codes(),
        {"d": "s"},
    ),
    (
        "board.settings",
        "boards/abcd/settings.json",
        {"runs": ["r"], "rank": None, "idle": 60, "socket": "/x"},
        lambda path: boards.opened({"id": "abcd"}, mock.Mock(root=path.parents[2]))[1]["idle"],
        60,
    ),
    (
        "board.state",
        "boards/abce/state.json",
        {"ready": True, "at": 1.0, "ended": None},
        lambda path: read("board.state", path)["ready"],
        True,
    ),
    (
        "notebook.settings",
        "notebooks/p/settings.json",
        {"server": "/s", "environment": "/e", "socket": "/x", "idle": 60, "end_at": None},
        lambda path: notebooks.listing({"project": "p"}, mock.Mock(root=path.parents[2]))[0]["idle"],
        60,
    ),
    (
        "notebook.state",
        "notebooks/q/state.json",
        {"ready": True, "at": 1.0, "kernels": [], "ends_at": None, "ends_why": None, "ended": []},
        lambda path: read("notebook.state", path)["ready"],
        True,
    ),
    (
        "workspace.environment",
        "workspaces/p/environment.json",
        {"hash": "h", "path": "/h", "python": "3"},
        lambda path: workspace.environment_of(WorkspaceFolder(path.parents[2], "p"))["hash"],
        "h",
    ),
    (
        "workspace.image",
        "workspaces/p/image.json",
        {"digest": "d", "ref": "r"},
        lambda path: read("workspace.image", path),
        {"digest": "d", "ref": "r"},
    ),
    (
        "image.layer",
        f"images/l/{'0' * 32}.json",
        {"diff_id": "d", "files": 1, "bytes": 2, "devices": 0},
        lambda path: ImageStore(path.parents[2]).sizes(),
        {"d": {"bytes": 2, "files": 1}},
    ),
    (
        "image.image",
        f"images/i/{'0' * 32}.json",
        {"digest": "d", "ref": "r", "layers": [], "settings": {"env": {}}},
        lambda path: ImageStore(path.parents[2]).all()[0]["ref"],
        "r",
    ),
    (
        "environment.ready",
        f"environments/{'0' * 16}/.flexrack-ready.json",
        {"python": "3.9"},
        lambda path: environment.listing(None, mock.Mock(environments=path.parents[1]))[0]["python"],
        "3.9",
    ),
    (
        "environment.user",
        f"environments/{'0' * 16}/.flexrack-users/u.json",
        {"user": "head"},
        lambda path: environment_users.users_of(path.parents[1]),
        [{"user": "head"}],
    ),
    (
        "reservation.record",
        "shared/flexrack-reservations-0/r.json",
        RECORD,
        lambda path: Place(path.parents[1], True).records()[0]["fence"],
        3,
    ),
    (
        "share.record",
        "flexrack-shares-0/0123456789abcdef.json",
        {"id": "0123456789abcdef", "name": "n", "owner_uid": os.getuid()},
        lambda path: invitations.records_in(path.parent, os.getuid())[0]["name"],
        "n",
    ),
    (
        "sweep.record",
        "sweeps/s/sweep.json",
        {"sweep": "s", "created": 1.0},
        lambda path: control.describe(path.parent)["created"],
        1.0,
    ),
    (
        "sweep.trials",
        "sweeps/s/trials.json",
        {"status": "finished", "trials": [1]},
        lambda path: control.describe(path.parent)["trials"],
        [1],
    ),
    (
        "gpu.settings",
        "gpu/settings.json",
        {"port": 4},
        lambda path: __import__("flexrack_node.gpu.daemon", fromlist=["read"]).read("gpu.settings", path),
        {"port": 4},
    ),
    (
        "gpu.pass",
        f"gpu/passes/{'a' * 32}.json",
        {"secret": "s", "until": 1e12, "count": 1},
        lambda path: Passes(path.parents[2]).find("a" * 32)["secret"],
        "s",
    ),
    (
        "gpu.door",
        "gpu/door.json",
        {"bind": ["127.0.0.1"], "port": 5},
        lambda path: read("gpu.door", path)["port"],
        5,
    ),
    (
        "gpu.address",
        "gpu/daemon/address.json",
        {"version": 1, "pid": 1},
        lambda path: admin_socket.look(path.parents[2]),
        None,
    ),
    (
        "head.listener",
        "head/listener.json",
        {"pid": 1, "port": 2, "url": "u"},
        lambda path: head.access({}, mock.Mock(root=path.parents[1]))["listener"],
        {"pid": 1, "port": 2, "url": "u"},
    ),
]
# Read by the command line or the head (test/unit/base/stored.test.ts), or within one process.
ELSEWHERE = {
    "head.action",
    "head.audit",
    "head.claims",
    "head.holdings",
    "head.quotas",
    "head.authority",
    "head.certificate",
    "head.config",
    "head.endpoint",
    "head.followed",
    "head.former",
    "head.locks",
    "head.people",
    "head.promise",
    "head.rollout",
    "head.scaling",
    "head.superseded",
    "head.switch",
    "head.tokens",
    "background.command",
    "endpoint.token",
    "local.rack",
    "login.token",
    "project.base",
    "project.digests",
    "data.version",
    "data.stats",
    "run.event",
    "run.signal",
    "sweep.stop",
    "attach.owner",
    "local.group",
    "gpu.leases",
    "run.stack_request",
    "run.stack_answer",
}
# What can be made again is, where it has another number.
CACHES = {"run.summary", "slurm.queue"}
