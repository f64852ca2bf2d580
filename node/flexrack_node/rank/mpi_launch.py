"""The launcher of a run with Open MPI, one process a node:

    lead JOB      on the first node: waits for the others, starts mpirun, and hands out the daemons that it wants
    follow JOB    on every other node: waits for its daemon's arguments, and starts it
    agent SOCKET HOST WORDS...    what mpirun runs instead of ssh; ends as soon as the daemon is started

What they say is in protocol/mpi_launch.json. They talk over links of link/gang_link.py at the attempt's port,
authenticated by the run's secret. Each dies with its supervisor, its child with it, and the ranks with that; all of
them carry the attempt's tag.
"""

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional

from flexrack_node.base.stored import or_nothing, read
from flexrack_node.link.gang_link import Link, LinkLost, Listener
from flexrack_node.process.containment import TAG
from flexrack_node.process.detach import python_module
from flexrack_node.rank import mpi
from flexrack_node.rank.launch import free_port, interface_of
from flexrack_node.rank.mpi_link import JOIN_SECONDS, Heard, join_leader, tell
from flexrack_node.rank.rank import die_with_parent, enter_cgroup, raise_limits, signal_name

if TYPE_CHECKING:
    from flexrack_node.schema.gang import LinkHello
    from flexrack_node.schema.mpi_launch import MpiAgentAnswer, MpiAgentRequest, MpiFollower, MpiJob, MpiOrder

_ANSWER_SECONDS = 30.0  # for a node to start its daemon
_WORD_SECONDS = 3.0  # for the leader to say whether its mpirun is alive


def lead(arguments: List[str]) -> int:
    job: MpiJob = json.loads(arguments[0])
    _enter(job)
    program = shutil.which("mpirun")
    version = mpi.version_of(program)
    if not program or not version:
        return _fail(f"there is no Open MPI on {job['nodes'][0]} ({mpi.INSTALL})", 127)
    if os.geteuid() == 0:
        _say("the user is root here, which mpirun refuses unless it is told: --allow-run-as-root")
    scratch = mpi.make_scratch(os.environ[TAG])
    leader = _Leader(job, version)
    try:
        if not leader.wait_for_all():
            return 1
        hostfile, agent, agents = scratch / "hosts", scratch / "agent", scratch / "agents.sock"
        hostfile.write_text(mpi.hostfile_text(len(job["nodes"]), job["processes"]))
        agent.write_text(f'exec {shlex.join(python_module("rank.mpi_launch:agent", str(agents)))} "$@"\n')
        leader.open(agents)
        words = mpi.mpirun_words(program, job, hostfile, f"/bin/sh {agent}", os.geteuid() == 0)
        child = subprocess.Popen(
            words,
            cwd="/",
            env=mpi.daemon_environment(job, interface_of(job["own"]), leader.master),
            stdin=subprocess.DEVNULL,
            preexec_fn=die_with_parent,
        )
        status = child.wait()
        leader.is_over = True
        return _ended("mpirun", status, leader.first_lost)
    finally:
        leader.close()


def follow(arguments: List[str]) -> int:
    job: MpiJob = json.loads(arguments[0])
    _enter(job)
    node = job["nodes"][job["index"]]
    program = shutil.which("orted")
    if not program:
        return _fail(f"there is no Open MPI on {node} ({mpi.INSTALL})", 127)
    mpi.make_scratch(os.environ[TAG])
    link = join_leader(job, node)
    if not link:
        return _fail(f"{job['nodes'][0]} has no mpirun that {node} could join", 1)
    heard = Heard(link)
    tell(link, {"version": mpi.version_of(shutil.which("mpirun"))})
    order = heard.next(None)
    if order is None or "orted" not in order:
        return _fail(f"mpirun on {job['nodes'][0]} ended before it wanted anything of {node}", 1)
    env = mpi.daemon_environment(job, interface_of(job["own"]), order["port"])
    child = subprocess.Popen(
        [program, *order["orted"]], cwd="/", env=env, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent
    )
    tell(link, {"started": child.pid})
    status = child.wait()
    if status == 0:
        return 0
    # A daemon ends when mpirun does: what ended first is told.
    tell(link, {"ended": status})
    word = heard.next(_WORD_SECONDS)
    return (
        _ended(f"orted on {node}", status)
        if word and word.get("alive")
        else _fail(f"mpirun on {job['nodes'][0]} has ended", 1)
    )


def agent(arguments: List[str]) -> int:
    """Exit status 0 once the daemon is started: mpirun takes it from there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(arguments[0])
        request: MpiAgentRequest = {"host": arguments[1], "command": " ".join(arguments[2:])}
        connection.sendall(json.dumps(request).encode() + b"\n")
        said: MpiAgentAnswer = json.loads(connection.makefile().readline() or '{"failed": "the launcher is gone"}')
    if "failed" in said:
        return _fail(said["failed"], 1)
    return 0


class _Leader:
    """The leader's side of the links, and the listener for the agents."""

    def __init__(self, job: "MpiJob", version: str) -> None:
        self._job, self._version = job, version
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._links: Dict[str, Link] = {}
        self._versions: Dict[str, Optional[str]] = {}
        self._started: Dict[str, int] = {}
        self._agents: Optional[socket.socket] = None
        self._listener: Optional[Listener] = None
        self.is_over = False
        self.first_lost: Optional[str] = None  # the first node whose daemon ended before mpirun
        self.master = free_port(job["address"])
        self._members: List[str] = job["nodes"][1:]
        if self._members:
            secret = or_nothing(read("run.spec", Path(job["attempt"]).parents[1] / "spec.json"))["gang"]["secret"]
            self._listener = Listener(job["address"], secret, self._welcome, job["port"])

    def wait_for_all(self) -> bool:
        """True once every node is there with an Open MPI that understands this one; else it was said why not."""
        with self._lock:
            self._news.wait_for(lambda: len(self._versions) == len(self._members), JOIN_SECONDS)
            missing = [node for node in self._members if node not in self._versions]
            series = mpi.series_of(self._version)
            others = [
                f"{version} on {node}" for node, version in self._versions.items() if mpi.series_of(version) != series
            ]
        if missing:
            _fail(f"{', '.join(missing)} did not come within {JOIN_SECONDS:.0f} s", 1)
        elif others:
            why = f"different versions of Open MPI: {self._version} on {self._job['nodes'][0]}, {', '.join(others)}"
            _fail(why, 1)
        return not missing and not others

    def open(self, path: Path) -> None:
        self._agents = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._agents.bind(str(path))
        self._agents.listen(128)
        threading.Thread(target=self._serve, args=(self._agents,), daemon=True).start()

    def close(self) -> None:
        if self._listener:
            self._listener.close()
        if self._agents:
            self._agents.close()
        with self._lock:
            links = list(self._links.values())
        for link in links:
            link.close()

    def _welcome(self, node: str, link: Link, _hello: "LinkHello") -> None:
        """In a thread a node."""
        if node not in self._members:
            link.close()
            return
        with self._lock:
            self._links[node] = link
        try:
            while True:
                said: MpiFollower = link.receive()
                if "ended" in said:
                    _order(link, {"alive": not self.is_over})
                with self._lock:
                    if "version" in said:
                        self._versions[node] = said["version"]
                    if "started" in said:
                        self._started[node] = said["started"]
                    if "ended" in said and not self.is_over:
                        self.first_lost = self.first_lost or node
                    self._news.notify_all()
        except LinkLost:
            pass  # of a daemon that lives mpirun has a connection of its own

    def _serve(self, agents: socket.socket) -> None:
        while True:
            try:
                connection, _ = agents.accept()
            except OSError:
                return
            threading.Thread(target=self._hand_out, args=(connection,), daemon=True).start()

    def _hand_out(self, connection: socket.socket) -> None:
        with connection:
            try:
                requested: MpiAgentRequest = json.loads(connection.makefile().readline())
                node = self._job["nodes"][mpi.host_index(requested["host"])]
                link = self._links[node]
                _order(link, {"orted": mpi.daemon_words(requested["command"]), "port": self.master})
                with self._lock:
                    done = self._news.wait_for(lambda: node in self._started, _ANSWER_SECONDS)
                answer: MpiAgentAnswer = (
                    {"started": True}
                    if done
                    else {"failed": f"{node} did not start its daemon within {_ANSWER_SECONDS:.0f} s"}
                )
            except (ValueError, KeyError, IndexError) as error:
                answer = {"failed": str(error)}
            try:
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except OSError:
                pass  # mpirun has ended its agent


def _order(link: Link, order: "MpiOrder") -> None:
    link.send(order)


def _enter(job: "MpiJob") -> None:
    die_with_parent()
    raise_limits()
    enter_cgroup(job["place"])
    if job["deaf"]:
        # Slurm's SIGTERM is for every process of the job, and means the ranks: mpirun and its daemons would end them at
        # once. They inherit this; ranks are started with every signal open (orte/mca/odls/default).
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _ended(what: str, status: int, lost: Optional[str] = None) -> int:
    """The exit status for it; the last line of the log says what happened."""
    if status == 0:
        return 0
    if lost:
        _say(f"the daemon on {lost} ended before mpirun")
    elif status < 0:
        _say(f"{what} was killed by SIG{signal_name(status)}")
    else:
        _say(f"{what} ended with exit status {status}")
    return status if status > 0 else 128 - status


def _fail(message: str, status: int) -> int:
    _say(message)
    return status


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
