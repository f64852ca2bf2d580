"""The GPU daemon of this node: gpu.inspect, .place, .start, .stop.

    gpu/  program/{flexrack-gpud,flexrack-lease-keeper,libflexrack-opencl}-<hash>...  daemon/ (its own)  settings.json  leases/

What it serves is chosen by the user's side: `drivers` of gpu.inspect says what this machine has.

It runs as a systemd user unit where those begin with the machine (service/comeback.py), else under a supervisor of ours
(service/control.py). Either way its workers, one a client, outlive it: a broker that was killed or is replaced finds
them again.
"""

import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping

from flexrack_node.base import program_file
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.gpu import admin_socket, drivers, unit
from flexrack_node.gpu.passes import close_door
from flexrack_node.service import comeback, control
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ServiceRecord

if TYPE_CHECKING:
    from flexrack_node.schema.gpu import GpuFound, GpuOrder, GpuQuestion, GpuStarted, GpuStop, Withdrawn
    from flexrack_node.schema.head import FilePlaced, ProgramFile
    from flexrack_node.schema.service import ServiceStart

SERVICE = "gpu"
READY_SECONDS = 30.0


def inspect(given: "GpuQuestion", channel: Channel) -> "GpuFound":
    """{programs, drivers, env}: what is there: which of these files, how the daemon would be and is run, and with what.

    `drivers`: which GPU drivers this machine has too, where no daemon has been set up; `env`: what that would have
    besides.
    """

    import platform

    folder = channel.root / "gpu"
    state = admin_socket.look(channel.root)
    settings = read("gpu.settings", folder / "settings.json")
    comes_back = comeback.look(channel.root)
    found: GpuFound = {
        "folder": str(folder),
        "system": platform.system().lower(),
        "machine": platform.machine(),
        "glibc": platform.libc_ver()[1],
        "placed": [name for name in given.get("programs", []) if (folder / "program" / name).exists()],
        "keeper": "systemd"
        if unit.unit_path(folder).exists() or (not settings and comes_back["by"] == "systemd")
        else "supervisor",
        "comes_back": comes_back,
        "running": state is not None,
        "pid": state and state["pid"],
        "settings": settings,
    }
    if given.get("drivers") and not settings:
        found["drivers"] = drivers.look(given.get("env") or {})
    return found


def place(given: "ProgramFile", channel: Channel) -> "FilePlaced":
    """{name, sha256, executable} and the file's bytes. A daemon of another architecture, or for a newer glibc, is
    NODE_UNFIT.
    """
    record(channel.root, channel.root / "gpu", "gpu")
    target = program_file.receive(given, channel, channel.root / "gpu" / "program")
    if given.get("executable"):
        check_runs(target)
    return {"path": str(target)}


def start(given: "GpuOrder", channel: Channel) -> "GpuStarted":
    """{program, backend, driver, nvml, sim, bind: [address], port, transport, grace, env}: has exactly this daemon run, and
    waits until it answers.

    Another one that runs is replaced: only the broker, its clients do not notice. -> {started, pid, port, keeper,
    comes_back}
    """
    from flexrack_node.gpu import devices  # only where one is started

    record(channel.root, channel.root / "gpu", "gpu")
    folder = channel.root / "gpu"
    program = folder / "program" / Path(given["program"]).name
    (folder / "daemon").mkdir(parents=True, exist_ok=True, mode=0o700)
    before = or_nothing(read("gpu.settings", folder / "settings.json"))
    port = int(given.get("port") or before.get("port") or 0)
    devices.check_devices(folder, given)
    if not port:
        from flexrack_node.service.endpoint import ports

        port = ports({"count": 1, "host": given["bind"][0]}, channel)[0]
    argv = [
        str(program),
        "broker",
        "--root",
        str(folder / "daemon"),
        *devices.backend_options(folder, given),
        "--port",
        str(port),
        "--grace",
        str(given["grace"]),
        "--transport",
        given["transport"],
    ]
    for address in given["bind"]:
        argv += ["--bind", address]
    if given.get("trusted_fabric"):
        argv.append("--trusted-fabric")
    if given.get("oversubscribe"):
        argv += ["--oversubscribe", str(given["oversubscribe"])]
    old = admin_socket.look(channel.root)
    settings: GpuOrder = {**given, "port": port}
    write("gpu.settings", folder / "settings.json", settings)
    comes_back = comeback.settle(channel)
    keeper: Literal["systemd", "supervisor"] = "systemd" if comes_back["by"] == "systemd" else "supervisor"
    started = (start_unit if keeper == "systemd" else start_service)(channel, argv, given.get("env") or {})
    state = wait_until_ready(channel, keeper, old if started else None)
    tidy(folder, given)
    return {"started": started, "pid": state["pid"], "port": state["port"], "keeper": keeper, "comes_back": comes_back}


def stop(given: "GpuStop", channel: Channel) -> "Withdrawn":
    """{force}: ends the daemon, its workers and its leases; CONFLICT while leases are there, unless forced. ->
    {stopped, leases}
    """
    leases: List[Dict[str, Any]] = []
    running = admin_socket.look(channel.root) is not None
    if running:
        leases = admin_socket.ask(channel.root, {"op": "leases"})["leases"]
        if leases and not given.get("force"):
            owners = ", ".join(sorted({str(one.get("owner") or "somebody") for one in leases}))
            count = "1 lease is" if len(leases) == 1 else f"{len(leases)} leases are"
            raise NodeError(
                "CONFLICT", f"{count} in use here, of {owners}", "--force", leases=[one["lease"] for one in leases]
            )
    there = (channel.root / "gpu" / "settings.json").exists()
    take_away(channel, float(given.get("grace") or 10))
    return {"stopped": running or there, "leases": len(leases)}


def take_away(channel: Channel, grace: float) -> None:
    """Ends what runs and removes what keeps it running; programs and the daemon's folder go with it."""

    import shutil

    from flexrack_node.gpu import runtime_folder

    folder = channel.root / "gpu"
    outside = runtime_folder.find(folder / "daemon")
    if admin_socket.look(channel.root) is not None:
        try:
            admin_socket.ask(channel.root, {"op": "stop"})
        except NodeError:
            pass  # it ended before it had answered
    unit.remove(folder)
    close_door(channel, grace)
    control.stop({"id": SERVICE, "grace": grace, "remove": True}, channel)
    if outside is not None:
        runtime_folder.remove(outside, folder / "daemon")
    if folder.is_dir():
        shutil.rmtree(folder / "daemon", ignore_errors=True)
        for path in [folder / "settings.json", *daemon_files(folder)]:
            path.unlink(missing_ok=True)
    if comeback.is_set_up(channel.root):
        comeback.settle(channel)


def start_unit(channel: Channel, argv: List[str], env: Dict[str, str]) -> bool:
    control.stop({"id": SERVICE, "remove": True}, channel)  # it was kept by a supervisor when there was no systemd
    return unit.start(channel.root / "gpu", argv, env)


def start_service(channel: Channel, argv: List[str], env: Dict[str, str]) -> bool:
    unit.remove(channel.root / "gpu")  # it was kept by systemd, which would end it at logout
    spec: ServiceStart = {
        "id": SERVICE,
        "argv": argv,
        "env": env,
        "grace": 10,
        "spare_children": True,
        "restart": {"max": 20, "window_seconds": 120},
        "replace": True,
    }
    return bool(control.start(spec, channel)["started"])


def wait_until_ready(channel: Channel, keeper: str, old: Any) -> Any:
    """The daemon's own status, of another process than `old`. Errors: GPU_FAILED with the last lines of its log."""
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        state = admin_socket.look(channel.root)
        if state is not None and (old is None or state["pid"] != old["pid"]):
            return state
        if keeper == "supervisor" and control.describe(ServiceRecord(channel.root, SERVICE))["state"] in (
            "failed",
            "stopped",
        ):
            break
        time.sleep(0.05)
    raise NodeError("GPU_FAILED", "the GPU daemon does not start", None, lines=last_lines(channel, keeper))


def last_lines(channel: Channel, keeper: str) -> List[str]:
    log = ServiceLog(ServiceRecord(channel.root, SERVICE).folder)
    said = (
        unit.last_lines(channel.root / "gpu")
        if keeper == "systemd"
        else log.read(max(0, log.end() - 4000))[1].decode("utf-8", "replace")
    )
    return said.strip().splitlines()[-20:]


def check_runs(program: Path) -> None:
    import platform

    try:
        done = subprocess.run(
            [str(program), "version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False
        )
    except OSError as error:
        program.unlink(missing_ok=True)
        raise NodeError(
            "NODE_UNFIT",
            f"flexrack's programs are not for this machine ({platform.machine()}): {error.strerror}",
            "build flexrack on a machine of the same architecture",
        ) from error
    if "GLIBC" in done.stderr:  # the loader says which version it looked for
        program.unlink(missing_ok=True)
        raise NodeError(
            "NODE_UNFIT",
            f"flexrack's programs need a newer C library than {' '.join(platform.libc_ver())}",
            "build flexrack on a machine with this C library or an older one",
            said=done.stderr.strip()[-500:],
        )


def daemon_files(folder: Path) -> List[Path]:
    return [*(folder / "program").glob("flexrack-gpud-*"), *(folder / "program").glob("libflexrack-sim-*")]


def tidy(folder: Path, given: Mapping[str, Any]) -> None:
    """Older daemons, once the new one answers: running workers have opened the files they were started from."""
    from flexrack_node.gpu.devices import LIBRARIES

    kept = {Path(given[name]).name for name in ("program", *LIBRARIES) if given.get(name)}
    for path in daemon_files(folder):
        if path.name not in kept:
            path.unlink(missing_ok=True)
