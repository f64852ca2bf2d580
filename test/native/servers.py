"""A rack of daemons on this machine for tests: started on loopback with PoCL, leased from, used by ordinary OpenCL
programs, and ended.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("FLEXRACK_NATIVE_BUILD", ROOT / "native" / "build" / "asan"))
# PoCL keeps what it compiled; leaks in it are not ours to find, and a sanitizer's own exit code tells its findings from
# a program's. Undefined behaviour ends in a trap, of which it shows the line. How much memory PoCL says that a device
# has (GiB) follows what the machine has just then, so it is given a number.
COMMON = {
    "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:handle_segv=1:handle_sigill=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "POCL_MEMORY_LIMIT": "4",
}


def wait_until(condition, seconds=60, what="that"):
    """The first true value of `condition`, polled. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen within {seconds} s")
        time.sleep(0.02)


class Daemon:
    """A broker with `devices` PoCL devices. `prefix` is put before the command: a network namespace."""

    def __init__(
        self,
        devices=1,
        transport="auto",
        grace=30,
        address="127.0.0.1",
        port=0,
        root=None,
        prefix=(),
        env=None,
        options=(),
    ):
        self.root = Path(root or tempfile.mkdtemp(prefix="flexrack-gpud-"))
        self.devices = devices
        self.command = [
            *prefix,
            str(BUILD / "flexrack-gpud"),
            "broker",
            "--root",
            str(self.root),
            "--bind",
            address,
            "--port",
            str(port),
            "--transport",
            transport,
            "--grace",
            str(grace),
            *options,
        ]
        self.env = {**os.environ, **COMMON, "POCL_DEVICES": " ".join(["pthread"] * devices), **(env or {})}
        # The daemon's own devices are those of PoCL, whatever the test around it is attached to.
        for name in ("OCL_ICD_VENDORS", "FLEXRACK_LEASES", "FLEXRACK_TRACE"):
            self.env.pop(name, None)
        self.start()

    def start(self):
        self.output = (self.root / "stderr").open("ab")
        (self.root / "address.json").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            self.command,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            start_new_session=True,
        )
        wait_until(
            lambda: (self.root / "address.json").exists() or self.process.poll() is not None, 60, "the daemon's start"
        )
        if self.process.poll() is not None:
            raise RuntimeError(f"the daemon ended with {self.process.returncode}: {self.said()}")
        self.address = json.loads((self.root / "address.json").read_text())

    def said(self):
        return (self.root / "stderr").read_text(errors="replace") + "".join(
            f.read_text(errors="replace") for f in self.root.glob("log")
        )

    def ask(self, op, **fields):
        """One question at the admin socket. Raises RuntimeError with the daemon's error."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(120)
            link.connect(self.address["admin"])
            link.sendall((json.dumps({"op": op, **fields}) + "\n").encode())
            with link.makefile() as lines:
                answer = json.loads(lines.readline())
        if "ok" not in answer:
            raise RuntimeError(json.dumps(answer["error"]))
        return answer["ok"]

    def lease(self, devices=None, **share):
        return self.ask(
            "lease", devices=self.devices if devices is None else devices, owner="tests", purpose="tests", **share
        )

    def workers(self):
        """Process ids of the sessions that are alive."""
        return [one["pid"] for lease in self.ask("leases")["leases"] for one in lease["sessions"]]

    def end_broker(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)
        self.output.close()

    def stop(self):
        try:
            if self.process.poll() is None:
                self.ask("stop")
                self.process.wait(60)
        except (OSError, RuntimeError, subprocess.TimeoutExpired, ValueError):
            self.process.kill()
            self.process.wait()
        self.output.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def server_entry(lease, number):
    """A daemon's answer to `lease`, as lease files have it."""
    return {
        **lease["server"],
        "node": f"node-{number}",
        "lease": lease["lease"],
        "key": lease["key"],
        "devices": lease["devices"],
    }


class Attached:
    """Leases held, and the environment in which a program sees them: what `flexrack attach` does, without the rack.
    `held`: False leaves the holding to the test. `mirror`: what the file says of two daemons that do the same.
    """

    def __init__(self, daemons, transport="auto", share=None, prefix=(), rewrite=None, held=True, mirror=None):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-leases-"))
        self.daemons = daemons
        self.leases = [daemon.lease(**(share or {})) for daemon in daemons]
        servers = []
        for index, lease in enumerate(self.leases):
            server = {**server_entry(lease, index + 1), "transport": transport}
            servers.append(rewrite(server) if rewrite else server)
        self.file = self.folder / "leases.json"
        self.file.touch(0o600)
        content = {"version": 1, "grace_seconds": self.leases[0]["grace_seconds"], "servers": servers}
        self.file.write_text(json.dumps(content | ({"mirror": mirror} if mirror else {})))
        vendors = self.folder / "vendors"
        vendors.mkdir()
        (vendors / "flexrack.icd").write_text(f"{BUILD}/libflexrack-opencl.so\n")
        self.env = {
            **os.environ,
            **COMMON,
            "FLEXRACK_LEASES": str(self.file),
            "OCL_ICD_VENDORS": f"{vendors}/",
            "FLEXRACK_TRANSPORT": transport,
        }
        self.env.pop("POCL_DEVICES", None)
        self.holds = None
        if not held:
            return
        self.hold(prefix)
        wait_until(
            lambda: all(self.state(index) == "held" for index in range(len(daemons))) or self.holds.poll() is not None,
            60,
            "holding the leases",
        )

    def hold(self, prefix=()):
        self.holds = subprocess.Popen(
            [*prefix, str(BUILD / "flexrack-lease-keeper"), str(self.file), "--", "sleep", "infinity"],
            env=self.env,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    def state(self, index=0):
        lease = self.leases[index]["lease"]
        return next(
            (one["state"] for one in self.daemons[index].ask("leases")["leases"] if one["lease"] == lease), None
        )

    def close(self):
        if self.holds and self.holds.poll() is None:
            os.killpg(self.holds.pid, signal.SIGTERM)
            self.holds.wait(20)
        for daemon, lease in zip(self.daemons, self.leases):
            try:
                daemon.ask("release", lease=lease["lease"])
            except (OSError, RuntimeError):
                pass  # it ended with its holder
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def native_env(devices=1):
    """The environment in which a program sees PoCL itself."""
    env = {**os.environ, **COMMON, "POCL_DEVICES": " ".join(["pthread"] * devices)}
    for name in ("OCL_ICD_VENDORS", "FLEXRACK_LEASES"):
        env.pop(name, None)
    return env


def run(command, env, seconds=900, preload=False):
    """Ends of a program: (exit code, stdout, stderr). `preload`: it is not one of ours, so the sanitizer of the driver
    has to be there first. It runs in an empty folder: tuners leave files where they are.
    """
    if preload and BUILD.name == "asan":
        # Others' own faults are not ours to find: clinfo writes a byte too far when it prints a long line. Instrumented
        # code ends all the same.
        env = {**env, "LD_PRELOAD": sanitizer_runtime(), "ASAN_OPTIONS": env["ASAN_OPTIONS"] + ":halt_on_error=0"}
    with tempfile.TemporaryDirectory(prefix="flexrack-program-") as folder:
        done = subprocess.run(
            [str(part) for part in command],
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    return done.returncode, done.stdout, done.stderr


def sanitizer_runtime():
    names = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    return ":".join(os.path.realpath(name) for name in names)
