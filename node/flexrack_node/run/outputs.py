"""What a run has written that its manifest calls outputs."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List

from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import KeptRunOrder


def collect_outputs(spec: "KeptRunOrder", folder: RunFolder, since: float) -> List[str]:
    """Everything that the manifest calls outputs, as names relative to the run's outputs folder.

    What the script left in FLEXRACK_OUTPUTS is there already. What this run wrote to the workspace instead is copied
    into it, because the next run writes to the same place. Without any output named, all of FLEXRACK_OUTPUTS counts.
    """

    import shutil

    base = Path(spec["cwd"])
    for pattern in spec.get("outputs", []):
        for path in _matching(base, pattern):
            target = folder.outputs / path.relative_to(base)
            if path.stat().st_mtime >= since - 1.0 and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)
    found = {path for pattern in spec.get("outputs", []) or ["*"] for path in _matching(folder.outputs, pattern)}
    return sorted(path.relative_to(folder.outputs).as_posix() for path in found)


def _matching(base: Path, pattern: str) -> Iterator[Path]:
    """Files below `base` that are named by an output: a file, a folder, or a glob. Never through a link that leads
    outside.
    """
    clean = pattern.rstrip("/")
    if os.path.isabs(clean) or ".." in Path(clean).parts:
        return
    root = base.resolve()
    for match in sorted(base.glob(clean)) if any(c in clean for c in "*?[") else [base / clean]:
        for path in _files(match) if match.is_dir() else [match]:
            if path.is_file() and root in path.resolve().parents:
                yield path


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path
