"""Python environments that tests and benches need, each built once a machine and kept beside those of the other tests (test/support/environments.ts)."""
import fcntl
import hashlib
import os
import subprocess
import sys
from pathlib import Path


def shared_folder():
    """0700, this user's. Raises PermissionError if somebody else made it first."""
    folder = Path(os.environ.get("FLEXRACK_TEST_ENVIRONMENTS", f"/tmp/flexrack-test-environments-{os.getuid()}"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} is not a folder of this user")
    return folder


def environment(name, packages, finish=None):
    """The folder of a virtual environment with these packages (requirements as pip takes them), built where it is missing; one builds, others wait.
    `finish` gets the new folder and may change it. Raises CalledProcessError when pip fails."""
    return _environment(name, " ".join(packages), packages, finish)


def locked_environment(name, lock):
    """The same with exactly what a lock file has (npm run locks), by its hashes; what it leaves out stays out."""
    return _environment(name, lock.read_text(), ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "-r", str(lock)], None)


def _environment(name, content, packages, finish):
    target = shared_folder() / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    with (target.parent / f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "complete").exists():
            print(f"building the Python environment {target.name}: {' '.join(packages)}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", "--clear", target], check=True)
            subprocess.run([target / "bin" / "pip", "install", "-q", *packages], check=True, stdout=sys.stderr)
            if finish:
                finish(target)
            (target / "complete").touch()
    return target
