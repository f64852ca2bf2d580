"""Python environments in an image: a virtual environment of the image's own Python, which sees the image's packages
below its own, filled by pip there.

pip, because it knows what the image has already (docs of venv: system-site-packages): uv would install all of that once
more. Where it lies and how it is published is as everywhere (workspace/environment.py).
"""

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from flexrack_node.base import interpreter
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.image.enter import enter_words
from flexrack_node.image.store import ImageStore
from flexrack_node.workspace.build import published, significant_lines
from flexrack_node.workspace.folder import project_folder
from flexrack_node.workspace.pip import PipBuilder

if TYPE_CHECKING:
    from flexrack_node.schema.environment import ProjectToInstall
    from flexrack_node.schema.image import EnterOrder

_PROBE_SECONDS = 60


def build(
    folder: Path,
    requirements: str,
    constraints: str,
    image: str,
    wanted: Optional[str],
    channel: Channel,
    project: "Optional[ProjectToInstall]",
) -> str:
    """Builds in place and publishes; what goes wrong leaves nothing. -> the Python's version; empty where the image has
    none and none is needed.
    """
    code = (project["name"], project_folder(project, channel.root)) if project else None
    lines = significant_lines(requirements)
    with published(folder, lines) as told:
        python = find(image, wanted, folder, channel)
        if python is None and (lines or code or wanted):
            raise NodeError(
                "NODE_UNFIT",
                f"the image has no python{wanted or '3'}, which its environment is made from",
                "take an image with Python, or leave workspace.python out",
            )
        if python is None:
            (folder / "bin").mkdir(mode=0o700, parents=True)
        else:
            ImagePip(folder, python["executable"], channel, image, python["pip"]).run(
                "\n".join(lines) and requirements, constraints, with_pip=bool(lines or code), project=code
            )
        version = python["version"] if python else ""
        told.update({"python": version, "platform": python["platform"] if python else "", "image": image, "by": "pip"})
    return version


def version_of(image: str, wanted: Optional[str], channel: Channel) -> Optional[str]:
    """Of the image's Python; None where it has none. Raises NOT_FOUND where the image is not here."""
    ImageStore(channel.root).need(image)
    found = find(image, wanted, channel.environments / "any", channel)
    return str(found["version"]) if found else None


def find(image: str, wanted: Optional[str], folder: Path, channel: Channel) -> Optional[Dict[str, Any]]:
    """What the image's Python is, and whether pip comes with it; None where there is none."""
    probe = f"exec(open({interpreter.__file__!r}).read())\nfrom importlib.util import find_spec as f\nprint(json.dumps({{'pip': 'image' if f('pip') else 'bundled' if f('ensurepip') else ''}}))"
    names = [f"python{wanted}"] if wanted else ["python3", "python"]
    # The shell looks for it: bubblewrap's own words for what is missing are nobody's business.
    script = 'for name; do command -v "$name" >/dev/null 2>&1 && exec "$name" -I -c "$PROBE"; done; exit 41'
    words = enter_words(
        channel.root,
        channel.environments,
        order_of(image, folder.parent, channel),
        ["/bin/sh", "-c", script, "sh", *names],
    )
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=_PROBE_SECONDS,
        env={**os.environ, "PROBE": probe},
    )
    if done.returncode == 41:
        return None
    try:
        told: List[Dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
        return {**told[0], **told[1]}
    except (ValueError, IndexError):
        last = done.stderr.strip().splitlines() or ["it said nothing"]
        raise NodeError(
            "NODE_UNFIT",
            f"no program runs in the image: {last[-1] if not last[0].startswith('flexrack: ') else last[0][10:]}",
            None,
            lines=last[-10:],
        ) from None


def order_of(image: str, cwd: Path, channel: Channel) -> "EnterOrder":
    """For building: what is flexrack's is writable, and no GPU is seen."""
    return {
        "image": image,
        "read": _package_places(),
        "write": [str(channel.root), str(channel.environments)],
        "gpus": [],
        "cwd": str(cwd),
        "path": [],
        "keep": [],
        "die": True,
    }


def _package_places() -> List[str]:
    """Folders and files of this node that its pip settings may name."""
    home = os.path.expanduser("~")
    named = [
        os.environ.get(name, "") for name in ("PIP_CONFIG_FILE", "PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    ] + os.environ.get("PIP_FIND_LINKS", "").split()
    return [
        path
        for path in ("/etc/pip.conf", f"{home}/.config/pip", f"{home}/.pip", f"{home}/.netrc", *named)
        if os.path.isabs(path) and path != "/dev/null" and os.path.exists(path)
    ]


class ImagePip(PipBuilder):
    """pip of the image, or the one that its ensurepip has."""

    def __init__(self, folder: Path, python: str, channel: Channel, image: str, pip: str) -> None:
        super().__init__(folder, python, channel)
        self.image, self.pip = image, pip

    def make(self, python: str, with_pip: bool) -> None:
        self._need([self.python, "-I", "-m", "venv", "--without-pip", "--system-site-packages", str(self.folder)])
        if not with_pip or self.pip == "image":
            return
        if not self.pip:
            raise NodeError(
                "NODE_UNFIT",
                "the image's Python has neither pip nor ensurepip, which would install the requirements",
                "take an image with pip",
            )
        self._need([python, "-I", "-m", "ensurepip", "--upgrade", "--default-pip"])

    def command(self, words: List[str]) -> List[str]:
        order = order_of(self.image, self.temp, self.channel)
        order["keep"] = [
            "TMPDIR",
            "PIP_USER",
            "PYTHONUNBUFFERED",
            *(name for name in os.environ if name.startswith("PIP_") or name.lower().endswith("_proxy")),
        ]
        return enter_words(self.channel.root, self.channel.environments, order, words)
