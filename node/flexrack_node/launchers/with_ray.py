"""One node of a Ray cluster that lives as long as its run: `with_ray.py FOLDER WORDS...`. On the first node it starts
Ray's head, waits for the other nodes, and runs WORDS, which find the cluster by RAY_ADDRESS; on the others it joins,
and ends when the head is gone.

The plan comes in FLEXRACK_LAUNCH. Whoever talks to the cluster shows its token (RAY_AUTH_MODE=token, Ray 2.52 and
later). Run with -I: what reports a rank's steps is for the script.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Dict, List, Optional, TypedDict

OLDEST = (2, 52)
# A file, not a module to import: with -I a program has none of its neighbours.
_PROCESSES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ray_processes.py")
_JOIN_SECONDS = 300.0
_END_SECONDS = 10.0
_GONE = 3  # times in a row that nobody listens where the head was
# Of one rank among others, which the processes of a cluster are not: whoever needs them is told by Ray.
_OF_RANKS = (
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "GROUP_WORLD_SIZE",
    "NODE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
)
_OF_WATCHING = ("FLEXRACK_PROGRESS", "FLEXRACK_STACKS", "FLEXRACK_STACKS_SIGNAL")


class Place(TypedDict):
    """A node's part of the plan, as rank/packaged.py (`ray_plan`) makes it. `gpus`: None where Ray is to look itself;
    `schema`: of ray.json.
    """

    nodes: int
    index: int
    address: str
    own: str
    port: int
    python: str
    cpus: int
    gpus: Optional[int]
    dashboard: str
    token: str
    scratch: str
    schema: int


def start_words(place: Place, ports: List[int], scratch: str) -> List[str]:
    """Of `ray start`. Ports that are 0 are chosen by Ray; the others would be the same for every cluster on a machine."""
    words = [
        "start",
        f"--node-ip-address={place['own']}",
        "--block",
        "--disable-usage-stats",
        "--node-manager-port=0",
        "--object-manager-port=0",
        "--min-worker-port=0",
        "--max-worker-port=0",
        "--dashboard-agent-grpc-port=0",
        f"--dashboard-agent-listen-port={ports[0]}",
        f"--metrics-export-port={ports[1]}",
        f"--runtime-env-agent-port={ports[2]}",
        f"--num-cpus={place['cpus']}",
    ]
    if place["gpus"] is not None:
        words.append(f"--num-gpus={place['gpus']}")
    if place["index"] > 0:
        # Nodes that are one machine have one folder of logs, which the head's monitor reads.
        alone = ["--include-log-monitor=false"] if place["own"] == place["address"] else []
        return [*words, *alone, f"--address={place['address']}:{place['port']}"]
    return [
        *words,
        "--head",
        f"--port={place['port']}",
        "--include-dashboard=true",
        f"--dashboard-host={place['dashboard']}",
        f"--dashboard-port={ports[3]}",
        f"--temp-dir={scratch}",
    ]


def cluster_environment(place: Place, environ: Dict[str, str]) -> Dict[str, str]:
    """Of everything that belongs to the cluster, the script too."""
    kept = {name: value for name, value in environ.items() if name not in _OF_RANKS}
    return {
        **kept,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": place["token"],
        "RAY_ADDRESS": f"{place['address']}:{place['port']}",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    }


def free_ports(count: int, address: str) -> List[int]:
    """Nobody listens on them right now."""
    held = [socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) for _ in range(count)]
    for one in held:
        one.bind((address, 0))
    ports: List[int] = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def main() -> int:
    place: Place = json.loads(os.environ.pop("FLEXRACK_LAUNCH"))
    folder, words = sys.argv[1], sys.argv[2:]
    fault = check_ray(place["python"])
    if fault:
        return _fail(fault, 127)
    env = cluster_environment(place, dict(os.environ))
    scratch = make_scratch(place["scratch"])
    ports = free_ports(4, place["own"])
    log = os.path.join(folder, f"ray-{place['index']}.log")
    quiet = {name: value for name, value in env.items() if name not in _OF_WATCHING}
    with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        ray = subprocess.Popen(
            [place["python"], _PROCESSES, "start", *start_words(place, ports, scratch)],
            env=quiet,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            preexec_fn=die_with_parent,
        )
    try:
        if place["index"] > 0:
            return follow(place, ray, log)
        write_place(os.path.join(folder, "ray.json"), place["schema"], env["RAY_ADDRESS"], ports[3])
        return lead(place, ray, log, words, env, quiet)
    finally:
        end(ray)


def lead(
    place: Place, ray: "subprocess.Popen[bytes]", log: str, words: List[str], env: Dict[str, str], quiet: Dict[str, str]
) -> int:
    with open(log, "a", encoding="utf-8") as out:
        words_of_wait = [place["python"], _PROCESSES, "wait", str(_JOIN_SECONDS), str(place["nodes"])]
        waiting = subprocess.Popen(
            words_of_wait, env=quiet, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=die_with_parent
        )
    status = first_ended(waiting, ray)
    if status is None:
        end(waiting)
        return _fail_with_log("Ray's head has ended", log)
    if status != 0:
        return _fail_with_log(f"not all of the {place['nodes']} nodes have joined Ray", log)
    script = subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    # Whoever asks for the end asks the script; what it answers is the rank's exit status.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda given, _frame: script.send_signal(given))
    status = first_ended(script, ray)
    if status is None:
        end(script)
        return _fail_with_log("Ray's head has ended before the script", log)
    return status if status >= 0 else 128 - status


def follow(place: Place, ray: "subprocess.Popen[bytes]", log: str) -> int:
    """0 once the head is gone: how the run ended is the first node's to say."""
    signal.signal(signal.SIGTERM, lambda *_: None)
    gone = 0
    was_there = False
    deadline = time.monotonic() + _JOIN_SECONDS
    while gone < _GONE:
        if ray.poll() is not None:
            return 0 if is_ending(place) else _fail_with_log("Ray has ended on this node", log)
        if is_refused(place):
            gone = gone + 1 if was_there or time.monotonic() > deadline else 0
        else:
            was_there, gone = True, 0
        time.sleep(0.5)
    return 0 if was_there else _fail_with_log(f"there is no head of Ray at {place['address']}", log)


def is_ending(place: Place) -> bool:
    """Whether the head goes, too: Ray of the other nodes ends as soon as the head begins to, and it may take as long as
    `end` gives it.
    """
    deadline = time.monotonic() + _END_SECONDS + 5
    while not is_refused(place):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.3)
    return True


def is_refused(place: Place) -> bool:
    """Whether that machine answers, and nobody listens there. No answer is no proof."""
    try:
        socket.create_connection((place["address"], place["port"]), 5.0).close()
        return False
    except ConnectionRefusedError:
        return True
    except OSError:
        return False


def first_ended(process: "subprocess.Popen[bytes]", ray: "subprocess.Popen[bytes]") -> Optional[int]:
    """Status of the process once it has ended; None where Ray ended first."""
    while True:
        status = process.poll()
        if status is not None:
            return status
        if ray.poll() is not None:
            return None
        time.sleep(0.1)


def check_ray(python: str) -> Optional[str]:
    """Why this environment's Ray will not do."""
    try:
        found = subprocess.run(
            [python, "-I", "-c", "from importlib.metadata import version; print(version('ray'))"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        ).stdout.strip()
        series = tuple(int(part) for part in found.split(".")[:2])
    except (OSError, ValueError):
        return "train.launcher is ray, and the environment has none: add ray[default] to workspace.python"
    return (
        None
        if series >= OLDEST
        else f"train.launcher is ray, and Ray {found} lets everybody in: ray[default]>=2.52 in workspace.python has tokens"
    )


def make_scratch(path: str) -> str:
    """The supervisor removes it. Raises PermissionError where somebody else has it."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    if os.lstat(path).st_uid != os.geteuid() or os.path.islink(path):
        raise PermissionError(13, "belongs to somebody else", path)
    return path


def write_place(path: str, schema: int, address: str, port: int) -> None:
    """Where the cluster and its dashboard are, for those who look; the token is not in it."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump({"schema": schema, "address": address, "dashboard": port}, out)


def end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def _fail_with_log(message: str, log: str) -> int:
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines.readlines()[-20:]:
            print(line.rstrip(), file=sys.stderr)
    return _fail(message, 1)


def _fail(message: str, status: int) -> int:
    print(message, file=sys.stderr, flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
