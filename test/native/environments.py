"""Python environments that tests and benches need, each built once a machine and kept beside those of the other tests (test/support/environments.ts)."""
import fcntl
import hashlib
import importlib.util
import sys
from pathlib import Path

_spec = importlib.util.spec_from_file_location("testing_uv", Path(__file__).resolve().parents[2] / "scripts" / "testing" / "uv.py")
_uv = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_uv)
shared_folder = _uv.shared_folder


def environment(name, packages, finish=None):
    """The folder of a virtual environment with these packages (requirements as pip takes them), built where it is missing; one builds, others wait.
    `finish` gets the new folder and may change it. Raises CalledProcessError where they cannot be had."""
    return _environment(name, " ".join(packages), packages, finish)


def locked_environment(name, lock):
    """The same with exactly what a lock file has (npm run locks), by its hashes; what it leaves out stays out."""
    return _environment(name, lock.read_text(), ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(lock)], None)


def _environment(name, content, packages, finish):
    target = shared_folder() / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    with (target.parent / f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "complete").exists():
            print(f"building the Python environment {target.name}: {' '.join(packages)}", file=sys.stderr)
            _uv.make(target, packages)
            if finish:
                finish(target)
            (target / "complete").touch()
    return target
