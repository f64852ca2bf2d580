"""Triton Inference Server for one model: `serve.py FOLDER MODEL NAME HOST PORT`.

MODEL is a model's folder as Triton's model repository has it: config.pbtxt, and a folder a version with model.py
(https://github.com/triton-inference-server/python_backend). In FOLDER a repository is laid out that has it as NAME. The
server, its libraries and the Python backend come with the package nvidia-pytriton, which is used for nothing else.
"""

import ctypes
import os
import re
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path


def main(folder: Path, model: Path, name: str, host: str, port: str) -> None:
    found = find_spec("pytriton")
    if found is None or found.origin is None:
        raise SystemExit("nvidia-pytriton is not in this environment")
    package = Path(found.origin).parent
    server = package / "tritonserver"
    libraries = [str(package.parent / "nvidia_pytriton.libs"), str(folder_of_libpython())]
    arguments = [
        str(server / "bin" / "tritonserver"),
        f"--model-repository={repository(folder, model, name)}",
        f"--backend-directory={backends(folder, server)}",
        f"--http-address={host}",
        f"--http-port={port}",
        "--allow-grpc=false",
        "--allow-metrics=false",
        "--exit-timeout-secs=10",
    ]
    path = os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ.get("PATH", os.defpath)])
    before = [text for text in [os.environ.get("LD_LIBRARY_PATH")] if text]
    # The backend's processes embed a Python, which finds its environment by PATH.
    env = {**os.environ, "PATH": path, "VIRTUAL_ENV": sys.prefix}
    env["LD_LIBRARY_PATH"] = os.pathsep.join([*libraries, *before])
    env.pop("PYTHONHOME", None)
    os.execve(arguments[0], arguments, env)


def repository(folder: Path, model: Path, name: str) -> Path:
    """Of one model, whose name is that of its folder: what config.pbtxt says of a name gives way. Levels below the
    outermost, where tensors have names, stay as they are.
    """
    target = folder / "repository" / name
    target.mkdir(parents=True, exist_ok=True)
    text = (model / "config.pbtxt").read_text(encoding="utf-8")
    (target / "config.pbtxt").write_text(f'name: "{name}"\n{without_name(text)}', encoding="utf-8")
    for entry in model.iterdir():
        link = target / entry.name
        if entry.name != "config.pbtxt" and not link.is_symlink():
            link.symlink_to(entry)
    return target.parent


def without_name(text: str) -> str:
    depth, at = 0, 0
    for found in re.finditer(r'"(?:\\.|[^"\\])*"|#[^\n]*|[{}\[\]]|\bname\s*:\s*"[^"]*"\s*[,;]?', text):
        word = found.group()
        if word in "{[":
            depth += 1
        elif word in "}]":
            depth -= 1
        elif depth == 0 and word.startswith("name"):
            at = found.start()
            return text[:at] + text[found.end() :]
    return text


def backends(folder: Path, server: Path) -> Path:
    """The Python backend, beside it the stub for this Python."""
    target = folder / "backends" / "python"
    target.mkdir(parents=True, exist_ok=True)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    stub = server / "python_backend_stubs" / version / "triton_python_backend_stub"
    if not stub.exists():
        raise SystemExit(f"this Triton has no backend for Python {version}")
    for file in [*(server / "backends" / "python").iterdir(), stub]:
        link = target / file.name
        if not link.is_symlink():
            link.symlink_to(file)
    return target.parent


def folder_of_libpython() -> Path:
    """The stub loads Python as a library, which distributions have in a package of its own."""
    name = f"libpython{sys.version_info.major}.{sys.version_info.minor}.so.1.0"
    known = [Path(sys.base_prefix) / "lib", Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")]
    for one in known:
        if (one / name).exists():
            return one
    try:
        ctypes.CDLL(name)  # where the system's loader looks
    except OSError:
        raise SystemExit(
            f"Triton's Python backend needs {name}, which is not on this node: install the package "
            f"{name.split('.so')[0]} of its distribution"
        ) from None
    return known[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
