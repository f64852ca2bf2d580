"""Leases for a command that runs on this node: gpu.deliver, .forget.

    gpu/leases/<random>/  leases.json (0600)  vendors/flexrack.icd  libraries/libcuda.so.1...

Which OpenCL drivers a program sees is told by a folder of files, each with the path of one: here only ours. CUDA's are
found by their names: a folder with links to ours goes first in LD_LIBRARY_PATH.
"""

import json
import os
import secrets
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from flexrack_node.base.channel import Channel
from flexrack_node.base.installed import record

if TYPE_CHECKING:
    from flexrack_node.schema.gpu import DeliveredLeases, DeliveryFolder, DeliveryForgotten, LeaseDelivery

FORGOTTEN_SECONDS = 60.0


def deliver(given: "LeaseDelivery", channel: Channel) -> "DeliveredLeases":
    """{leases, keeper, icd, libraries: {link: name}}: names of programs here -> {folder, file, keeper, vendors,
    libraries}, absolute; null where there is none.
    """
    record(channel.root, channel.root / "gpu", "gpu")
    leases = channel.root / "gpu" / "leases"
    sweep(leases)
    folder = leases / secrets.token_hex(8)
    leases.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(mode=0o700)
    programs = channel.root / "gpu" / "program"
    file = os.open(folder / "leases.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "w") as stream:
        json.dump(given["leases"], stream)
    placed: DeliveredLeases = {
        "folder": str(folder),
        "file": str(folder / "leases.json"),
        "keeper": str(programs / Path(given["keeper"]).name),
        "vendors": None,
        "libraries": None,
    }
    icd = given.get("icd")
    if icd:
        vendors = folder / "vendors"
        vendors.mkdir(mode=0o700)
        (vendors / "flexrack.icd").write_text(f"{programs / Path(icd).name}\n")
        placed["vendors"] = str(vendors)
    if given.get("libraries"):
        libraries = folder / "libraries"
        libraries.mkdir(mode=0o700)
        for link, name in given["libraries"].items():
            (libraries / Path(link).name).symlink_to(programs / Path(name).name)
        placed["libraries"] = str(libraries)
    return placed


def forget(given: "DeliveryFolder", channel: Channel) -> "DeliveryForgotten":
    """{folder}: only one that `deliver` made."""
    folder = channel.root / "gpu" / "leases" / Path(given["folder"]).name
    shutil.rmtree(folder, ignore_errors=True)
    return {"removed": not folder.exists()}


def sweep(leases: Path) -> None:
    """What commands have left whose connection broke: nobody reads it any more."""
    for folder in leases.glob("*"):
        try:
            old = time.time() - folder.stat().st_mtime > FORGOTTEN_SECONDS
        except FileNotFoundError:
            continue
        if old and not is_read(folder):
            shutil.rmtree(folder, ignore_errors=True)


def is_read(folder: Path) -> bool:
    """True while a process has it on its command line, as flexrack-lease-keeper has for as long as the command runs."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if str(folder).encode() in Path("/proc", name, "cmdline").read_bytes():
                    return True
            except OSError:
                continue
    return False
