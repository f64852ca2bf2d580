"""npm's node-llama-cpp, llama.cpp built for CUDA, of the versions in llama/package-lock.json."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "llama"


def modules(environment):
    """A folder in a Python environment whose node_modules has it; npm fetches what its lock has. Raises
    CalledProcessError.
    """
    folder = environment / "llama"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(HERE, folder)
        # Not `npm ci`: its lock would have to name builds for other systems, which a registry may not have.
        subprocess.run(
            ["npm", "install", "--no-save", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"],
            cwd=folder,
            check=True,
            stdout=sys.stderr,
            env={**os.environ, "LD_LIBRARY_PATH": ""},
        )
        (folder / "complete").touch()
    return folder
