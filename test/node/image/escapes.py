"""Run in a sandbox: tries to get out, and prints what of it was prevented. Standard library alone."""

import ctypes
import json
import os
import socket
import sys


def fails(act):
    try:
        act()
    except (OSError, ValueError):
        return True
    return False


given = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
shown = os.listdir("/proc")
with open(os.path.join(given["code"], "made"), "w") as file:
    file.write("inside")


def connect():
    with socket.socket() as one:
        one.settimeout(3)
        one.connect(("127.0.0.1", given["port"]))


def write(path):
    with open(path, "w") as file:
        file.write("x")


print(
    json.dumps(
        {
            "no key": fails(lambda: open(os.path.join(given["home"], ".ssh", "id_ed25519"))),
            "no home": not os.listdir(given["home"]),
            "no other homes": not os.path.isdir("/root") or not os.listdir("/root"),
            "no writing beside the code": fails(lambda: write(os.path.join(given["root"], "images", "x"))),
            "no writing to the system": fails(lambda: write("/usr/x"))
            and fails(lambda: write("/etc/x"))
            and fails(lambda: os.mkdir("/x")),
            "a /tmp of its own": given["outside"].split("/")[2] not in os.listdir("/tmp")
            or not os.path.exists(os.path.join(given["outside"], "victim")),
            "no other processes": not any(name.isdigit() and int(name) > 64 for name in shown),
            "no killing": fails(lambda: os.kill(given["other"], 9)),
            "no tracing": libc.ptrace(16, given["other"], 0, 0) == -1,
            "no network": fails(connect),
            "no agent": "SSH_AUTH_SOCK" not in os.environ,
            "no further namespaces": libc.unshare(0x10000000) == -1,
            "no mounting": libc.mount(b"none", b"/mnt", b"tmpfs", 0, None) == -1,
            "no devices": fails(lambda: os.mknod(os.path.join(given["code"], "sda"), 0o60600, os.makedev(8, 0))),
            "no rights": "CapEff:\t0000000000000000" in open("/proc/self/status").read(),
            "no new rights": "NoNewPrivs:\t1" in open("/proc/self/status").read(),
            "said so": os.environ.get("FLEXRACK_SANDBOX") == "1",
        }
    )
)
