"""Starts a process that outlives the verb, the SSH connection and, where that is possible, the login session."""

import os
import resource
import struct
import sys
from pathlib import Path
from typing import List, Mapping, Optional, Sequence

from flexrack_node.process.containment import leave_session_cgroup


def detach(argv: Sequence[str], log: Path, env: Optional[Mapping[str, str]] = None, cwd: Optional[Path] = None) -> int:
    """Starts `argv` in a session of its own, stdin empty, stdout and stderr appended to `log` (0600). Returns its pid.

    `env` is the whole environment (this process's by default). Raises OSError where the program cannot be started.
    """
    read_end, write_end = os.pipe()  # close-on-exec: its end without an errno means that exec worked
    first = os.fork()
    if first == 0:
        _become_detached(argv, log, env, cwd, write_end)
    os.close(write_end)
    os.waitpid(first, 0)
    data = b""
    while True:
        chunk = os.read(read_end, 64)
        if not chunk:
            break
        data += chunk
    os.close(read_end)
    pid = struct.unpack("i", data[:4])[0] if len(data) >= 4 else -1
    if pid < 0 or len(data) >= 8:
        number = struct.unpack("i", data[4:8])[0] if len(data) >= 8 else 0
        raise OSError(number, os.strerror(number), argv[0])
    return pid


def python_module(module: str, *arguments: str, python: str = sys.executable) -> List[str]:
    """argv that runs `main(arguments) -> exit status` of a module of this program (or `module:function`).

    With this Python unless another one is named, isolated from PYTHON* variables and site-packages.
    """
    parent = str(Path(__file__).resolve().parents[2])
    name, _, function = module.partition(":")
    code = f"import sys; sys.path.insert(0, {parent!r}); from flexrack_node.{name} import {function or 'main'} as f; sys.exit(f(sys.argv[1:]))"
    return [python, "-I", "-S", "-c", code, *arguments]


def _become_detached(
    argv: Sequence[str], log: Path, env: Optional[Mapping[str, str]], cwd: Optional[Path], report: int
) -> None:
    """Runs in the first child; never returns."""
    try:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        os.write(report, struct.pack("i", os.getpid()))
        try:
            leave_session_cgroup()
            null = os.open(os.devnull, os.O_RDONLY)
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(null, 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            os.closerange(3, report)
            os.closerange(report + 1, 65536 if limit == resource.RLIM_INFINITY else min(limit, 65536))
            os.chdir(cwd if cwd is not None else "/")
            os.execvpe(argv[0], list(argv), dict(env if env is not None else os.environ))
        except OSError as error:
            os.write(report, struct.pack("i", error.errno or 1))
    finally:
        os._exit(127)
