"""The uv of locks/uv.txt for this project's own use, below the folder of environments that all tests share.

python3 scripts/testing/uv.py                      prints where it is, fetches it if it is not there
python3 scripts/testing/uv.py make ENV WORDS...    a new virtual environment ENV; WORDS as for `pip install`
python3 scripts/testing/uv.py locked NAME LOCK     prints the folder of the environment with what a lock file has
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "node"))

from flexrack_node.workspace import pip_settings, uv  # noqa: E402


def order():
    lock = (ROOT / "locks" / "uv.txt").read_text()
    version = next(line for line in lock.splitlines() if line.startswith("uv==")).split("==")[1].split()[0]
    return {"version": version, "oldest": version, "lock": lock}


def shared_folder():
    """0700, this user's. Raises PermissionError if somebody else made it first."""
    folder = Path(os.environ.get("FLEXRACK_TEST_ENVIRONMENTS", f"/tmp/flexrack-test-environments-{os.getuid()}"))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} is not a folder of this user")
    return folder


def program():
    """One process fetches, others wait. Raises RuntimeError where it cannot be had."""
    folder = shared_folder() / ".uv"
    folder.mkdir(mode=0o700, exist_ok=True)
    place = uv.place_of(order()["version"], folder)
    with (folder / ".fetching").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            found, reason = uv.fetch(order(), folder)
            if found is None:
                raise RuntimeError(f"uv cannot be had: {reason}")
    return place


def make(target, words):
    """With pip, which takes longer, where there is no uv. Raises CalledProcessError."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        tool = program()
    except RuntimeError as error:
        print(f"{error}; pip is used", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(target)], check=True)
        subprocess.run(
            [f"{target}/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words],
            check=True,
            stdout=sys.stderr,
        )
        return
    told = pip_settings.translate(pip_settings.read(os.environ), os.environ)
    env = {
        **os.environ,
        **told.env,
        "UV_CACHE_DIR": str(shared_folder() / ".uv" / "cache"),
        "UV_NO_CONFIG": "1",
        "UV_LINK_MODE": "hardlink",
    }
    env.pop("VIRTUAL_ENV", None)
    env.pop("UV_CONSTRAINT", None)
    limits = [] if "--require-hashes" in words else [word for file in told.constraints for word in ("-c", file)]
    subprocess.run(
        [tool, "venv", "--quiet", "--no-project", "--python", os.path.realpath(sys.executable), str(target)],
        check=True,
        env=env,
    )
    install([tool, "pip", "install", "--quiet", "--python", f"{target}/bin/python", *told.args, *words, *limits], env)


def install(command, env):
    """Some of it is gigabytes, from servers that may stall: what was fetched is kept between tries. Raises
    CalledProcessError after the last.
    """
    env = {"UV_HTTP_TIMEOUT": "300", "UV_HTTP_RETRIES": "8", **env}
    for left in range(2, -1, -1):
        done = subprocess.run(command, env=env, stdout=sys.stderr, check=False)
        if done.returncode == 0:
            return
        if left == 0:
            done.check_returncode()
        print("once more: packages could not be installed", file=sys.stderr)


def kept(name, content, words, finish=None):
    """The folder of an environment that is made where it is missing, once for each content; one makes it, others wait.
    Raises as `make`.
    """
    target = shared_folder() / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    with (target.parent / f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "complete").exists():
            print(f"building the Python environment {target.name}: {' '.join(words)}", file=sys.stderr)
            make(target, words)
            if finish:
                finish(target)
            (target / "complete").touch()
    return target


def locked(name, lock):
    """One with exactly what a lock file has (npm run locks), by its hashes; what it leaves out stays out."""
    return kept(name, lock.read_text(), ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(lock)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(Path(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1:2] == ["locked"]:
        print(locked(sys.argv[2], Path(sys.argv[3])))
    else:
        print(program())
