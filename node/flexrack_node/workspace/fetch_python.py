"""Fetches the archive of a Python with uv, for other machines: run by the caller's interpreter. `python3
fetch_python.py FOLDER UV MACHINE VERSION`

FOLDER gets one file, as python-build-standalone names it. UV is flexrack's wheel of uv, which knows where the archive
is, and its hash. MACHINE as in the names of wheels (x86_64, aarch64), VERSION is 3.12. uv keeps an archive where
UV_PYTHON_CACHE_DIR says, once its hash was right ("Environment variables" of uv).
"""

import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Dict, List
from urllib.parse import unquote


def main(folder: str, wheel: str, machine: str, version: str) -> int:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".part-") as temp:
        uv = unpack(Path(wheel), Path(temp))
        environment = environment_of_uv(Path(temp))
        key = f"cpython-{version}-linux-{machine}-gnu"
        known = json.loads(
            subprocess.run(
                [uv, "python", "list", key, "--only-downloads", "--all-platforms", "--output-format", "json"],
                env=environment,
                cwd=temp,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
            ).stdout
            or b"[]"
        )
        if not known:
            print(f"uv knows no Python {version} for {machine}", file=sys.stderr)
            return 1
        done = subprocess.run(
            [uv, "python", "install", known[0]["key"], "--install-dir", str(Path(temp, "installed")), "--no-bin"],
            env=environment,
            cwd=temp,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        kept = [path for path in Path(temp, "archives").glob("*.tar.*") if path.is_file()]
        if done.returncode != 0 or len(kept) != 1:
            print(why(done.stdout.decode(errors="replace").splitlines()), file=sys.stderr)
            return 1
        os.replace(kept[0], Path(folder, unquote(known[0]["url"].rsplit("/", 1)[-1])))
    return 0


def unpack(wheel: Path, temp: Path) -> str:
    program = temp / "uv"
    with zipfile.ZipFile(wheel) as archive, open(program, "xb") as file:
        name = next(one for one in archive.namelist() if one.endswith(".data/scripts/uv"))
        with archive.open(name) as source:
            shutil.copyfileobj(source, file, 1 << 20)
    program.chmod(0o700)
    return str(program)


def environment_of_uv(temp: Path) -> Dict[str, str]:
    """With what pip is told here of proxies and certificates, and folders of our own."""
    settings = runpy.run_path(str(Path(__file__).with_name("pip_settings.py")))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("UV_PYTHON_", "VIRTUAL_ENV"))}
    environment.update(settings["translate"](settings["read"](os.environ), os.environ, "").env)
    for key in ("UV_PYTHON_INSTALL_MIRROR", "UV_PYTHON_DOWNLOADS_JSON_URL"):
        if os.environ.get(key):
            environment[key] = os.environ[key]
    return {
        **environment,
        "UV_PYTHON_CACHE_DIR": str(temp / "archives"),
        "UV_CACHE_DIR": str(temp / "cache"),
        "UV_NO_CONFIG": "1",
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }


def why(lines: List[str]) -> str:
    """What uv says went wrong, in one line: the error, and the last of its causes."""
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if line.startswith("error")] or said
    causes = [line for line in said if line.lower().startswith("cause")] or said
    return ": ".join(dict.fromkeys([*errors[:1], *causes[-1:]])) or "uv gave no archive"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
