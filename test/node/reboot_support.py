"""A machine that can be rebooted: namespaces with what starts services (KEEPER). Needs root.

    systemd   a service manager of a user who lingers
    cron      a cron; and until the first reboot the manager of a user who is logged in, and whose services end at logout
    nothing   neither

    python3 reboot_support.py outer HOME KEEPER TEST     in a mount namespace of its own: what boots leave is there for the next one
    python3 reboot_support.py boot HOME KEEPER TEST N    boot N of the machine, in a PID namespace; its end is a power cut

A boot must never reach what belongs to the machine of the test. So it has its own /run, /tmp, crontabs and lingering
accounts; cron sees no system crontab; and systemd is a user's manager only (`--user`) that finds no units but those
written here and those of the test, and no generators. Never start a systemd of the system here: its first units empty
/tmp.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

from waiting import LONG, until

SYSTEMD = "/lib/systemd/systemd"
CRON = "/usr/sbin/cron"
PACKAGES = {"systemd": [SYSTEMD], "cron": [SYSTEMD, CRON], "nothing": []}
# What a manager needs to come up, to start what is enabled, and to end.
TARGETS = {
    "basic.target": "[Unit]\nDefaultDependencies=no\n",
    "default.target": "[Unit]\nRequires=basic.target\nAfter=basic.target\nAllowIsolate=yes\n",
    "shutdown.target": "[Unit]\nDefaultDependencies=no\n",
    "exit.target": "[Unit]\nDefaultDependencies=no\nRequires=systemd-exit.service\nAfter=systemd-exit.service\nAllowIsolate=yes\n",
    "app.slice": "[Unit]\nDefaultDependencies=no\n",
    "systemd-exit.service": "[Unit]\nDefaultDependencies=no\nRequires=shutdown.target\nAfter=shutdown.target\n[Service]\nType=oneshot\nExecStart=/bin/true\n",
}
HIDDEN = """set -e
mount --make-rprivate /
mount -t tmpfs none /run && mkdir -p /run/lock /run/user/0 && chmod 700 /run/user/0
mkdir -p "$1/spool" "$1/systemd/linger" "$1/cron.d" "$1/tmp" && : >"$1/crontab" && chmod 1777 "$1/tmp"
chgrp crontab "$1/spool" 2>/dev/null || true; chmod 1730 "$1/spool"
for pair in "spool /var/spool/cron/crontabs" "systemd /var/lib/systemd" "tmp $2" "cron.d /etc/cron.d" "crontab /etc/crontab"; do
  set -- "$1" $pair; if [ -e "$3" ]; then mount --bind "$1/$2" "$3"; fi
done
"""
BOOT = """set -e
mount -t tmpfs none /run && mkdir -p /run/lock /run/user/0 /run/systemd/system && chmod 700 /run/user/0
mount --bind "$1/boot-id" /proc/sys/kernel/random/boot_id
if [ -e "$1/logind" ]; then mkdir /run/systemd/users; fi
shift; exec "$@"
"""


def missing(keeper):
    """Why there can be no such machine here; None where there can."""
    if not all(Path(path).exists() for path in PACKAGES[keeper]):
        return f"needs {' and '.join(PACKAGES[keeper])}"
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "none", "/mnt"],
        capture_output=True,
        check=False,
    )
    return None if tried.returncode == 0 else "needs root, for namespaces"


def play(keeper, test):
    """Runs `first`, `second`, ... of a test's module in one boot of the machine each. Raises AssertionError with what
    they printed.
    """
    home = Path(tempfile.mkdtemp(prefix="flexrack-reboot-", dir="/var/tmp"))
    env = {key: value for key, value in os.environ.items() if not key.startswith(("FLEXRACK_", "XDG_", "DBUS_"))}
    try:
        done = subprocess.run(
            ["unshare", "--mount", sys.executable, __file__, "outer", str(home), keeper, test],
            env={**env, **paths(home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONG * 2,
            check=False,
        )
        logs = "".join(
            f"\n--- {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in sorted(home.glob("*.log"))
        )
        if done.returncode != 0 or done.stdout.strip().splitlines()[-1:] != ["good"]:
            raise AssertionError(done.stdout + logs)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def paths(home):
    units = home / "units"
    return {
        "HOME": str(home),
        "XDG_RUNTIME_DIR": "/run/user/0",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "SYSTEMD_UNIT_PATH": f"{home}/.config/systemd/user:{units}",
        "SYSTEMD_GENERATOR_PATH": str(home / "none"),
        "SYSTEMD_ENVIRONMENT_GENERATOR_PATH": str(home / "none"),
        "PYTHONPATH": os.pathsep.join(sys.path[:4]),
    }


def outer(home, keeper, test):
    is_checkout_there = Path(__file__).resolve().is_relative_to("/tmp")
    subprocess.run(["sh", "-c", HIDDEN, "sh", str(home), "/nowhere" if is_checkout_there else "/tmp"], check=True)
    (home / "units").mkdir()
    for name, text in TARGETS.items():
        (home / "units" / name).write_text(text)
    if keeper == "systemd":
        # as `loginctl enable-linger` leaves it, which only logind can do
        (home / "systemd" / "linger" / "root").touch()
        (home / "logind").touch()
    for number in range(1, boots(test) + 1):
        (home / "boot-id").write_text(f"{uuid.uuid4()}\n")
        inside = [
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "sh",
            "-c",
            BOOT,
            "sh",
            str(home),
        ]
        subprocess.run(
            [*inside, sys.executable, __file__, "boot", str(home), keeper, test, str(number)], check=True, timeout=LONG
        )
    print("good")


def boot(home, keeper, test, number):
    """The first process of the machine. Keepers start first, as they do on a machine; the test comes as a user would,
    over SSH.
    """
    log = open(home / f"boot-{number}.log", "ab")
    if keeper == "systemd" or (keeper == "cron" and number == 1):
        subprocess.Popen([SYSTEMD, "--user", "--log-target=console"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: Path("/run/user/0/systemd/private").exists())
    if keeper == "cron":
        env = {name: os.environ[name] for name in ("PATH",)}
        subprocess.Popen([CRON, "-f"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
        until(lambda: Path("/run/crond.pid").exists())
    os.environ["KEEPER"] = keeper
    reap_until_done([sys.executable, test, ("first", "second", "third")[number - 1], str(home)])


def reap_until_done(argv):
    """Whose parent ends is the first process's; nobody else would reap it. Ends with the status of `argv`."""
    child = subprocess.Popen(argv)
    while True:
        pid, status = os.wait()
        if pid == child.pid:
            sys.exit(os.waitstatus_to_exitcode(status))


def boots(test):
    text = Path(test).read_text()
    return sum(f"def {name}(home" in text for name in ("first", "second", "third"))


def wait_gone(pid):
    until(lambda: not Path(f"/proc/{pid}").exists())


if __name__ == "__main__":
    home_, keeper_, test_ = Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    if sys.argv[1] == "outer":
        outer(home_, keeper_, test_)
    else:
        boot(home_, keeper_, test_, int(sys.argv[5]))
