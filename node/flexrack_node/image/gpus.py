"""Local GPUs in an image: which device files and libraries of this machine a program needs to see, and no others.

By CDI where the machine describes its devices so (container-device-interface, SPEC.md: /etc/cdi, /var/run/cdi; JSON, or
YAML as `nvidia-ctk cdi generate` writes it), else by the list of libraries that apptainer takes for --nv
(nvliblist.conf).
"""

import json
import os
import re
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

FOLDER = "/.flexrack-gpu"  # of libraries, in the image
PLACES: Tuple[str, ...] = ("/etc/cdi", "/var/run/cdi")
VERSION = "/proc/driver/nvidia/version"
_LIBRARIES = (
    "libcuda.so",
    "libcudadebugger.so",
    "libnvidia-ml.so",
    "libnvidia-ptxjitcompiler.so",
    "libnvidia-nvvm.so",
    "libnvidia-opencl.so",
    "libnvidia-gpucomp.so",
    "libnvidia-cfg.so",
    "libnvidia-allocator.so",
    "libnvidia-pkcs11.so",
    "libnvcuvid.so",
    "libnvidia-encode.so",
    "libnvoptix.so",
    "libnvidia-rtcore.so",
)
_COMMON = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
_MOST = 16 << 20  # bytes of one description


class GpuParts(NamedTuple):
    """Pairs are (here, in the image)."""

    devices: List[Tuple[str, str]]
    files: List[Tuple[str, str]]
    links: List[Tuple[str, str]]  # (target, name)
    env: Dict[str, str]
    library_folders: List[str]
    warnings: List[str]


def none() -> GpuParts:
    return GpuParts([], [], [], {}, [], [])


def parts(wanted: Optional[List[str]]) -> GpuParts:
    """`wanted`: UUIDs or numbers, as they were leased; None: all that are here; empty: none."""
    if wanted == []:
        return none()
    specs = descriptions(PLACES)
    found = by_cdi(specs, wanted) if specs else by_list(wanted)
    running = driver_version(VERSION)
    described = sorted(
        {one for source, _ in found.files for one in re.findall(r"\.so\.(\d{3,}\.\d+(?:\.\d+)?)$", source)}
    )
    if specs and running and described and running not in described:
        found.warnings.append(
            f"the CDI description of the GPUs is of driver {described[0]}, and {running} runs: sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml"
        )
    return found


def descriptions(places: Iterable[str]) -> List[Dict[str, Any]]:
    """Of GPUs, whoever makes them; a file that cannot be read counts as none. A later folder comes first: it is the one
    of this boot.
    """
    from flexrack_node.image.plain_yaml import BadYaml, load  # only where GPUs are looked for

    found = []
    for place in reversed(list(places)):
        for path in sorted(Path(place).glob("*")):
            if path.suffix not in (".json", ".yaml", ".yml"):
                continue
            try:
                text = path.read_bytes()[:_MOST].decode()
                value: Any = json.loads(text) if path.suffix == ".json" else load(text)
            except (OSError, ValueError, BadYaml):
                continue
            if isinstance(value, dict) and str(value.get("kind", "")).endswith("/gpu"):
                found.append(value)
    return found


def by_cdi(specs: List[Dict[str, Any]], wanted: Optional[List[str]]) -> GpuParts:
    result = none()
    numbers = _numbers(wanted)
    for spec in specs:
        chosen = []
        for device in spec.get("devices") or []:
            name = str(device.get("name"))
            if (wanted is None and name != "all") or (wanted is not None and (name in wanted or name in numbers)):
                chosen.append(device)
        if chosen:
            for edits in (spec.get("containerEdits"), *(one.get("containerEdits") for one in chosen)):
                _apply(edits or {}, result)
    for pair in list(result.devices):
        while result.devices.count(pair) > 1:
            result.devices.remove(pair)
    result.library_folders.extend(
        sorted({os.path.dirname(target) for _, target in result.files if ".so" in os.path.basename(target)})
    )
    return result


def _apply(edits: Dict[str, Any], result: GpuParts) -> None:
    for one in edits.get("deviceNodes") or []:
        result.devices.append((str(one.get("hostPath") or one["path"]), str(one["path"])))
    for one in edits.get("mounts") or []:
        result.files.append((str(one["hostPath"]), str(one["containerPath"])))
    for text in edits.get("env") or []:
        name, _, value = str(text).partition("=")
        result.env[name] = value
    for hook in edits.get("hooks") or []:  # nothing of it runs here; what links it would make is known from its words
        words = [str(one) for one in hook.get("args") or []]
        for flag, link in zip(words, words[1:]):
            if flag == "--link" and "::" in link:
                target, _, name = link.partition("::")
                result.links.append((target, name))


def by_list(wanted: Optional[List[str]]) -> GpuParts:
    """As `apptainer --nv` does it."""
    result = none()
    numbers = None if wanted is None else set(_numbers(wanted)) | {one for one in wanted if one.isdigit()}
    own = sorted(path for path in Path("/dev").glob("nvidia[0-9]*") if numbers is None or path.name[6:] in numbers)
    if not own:
        return result
    for path in [*map(str, own), *_COMMON, *map(str, Path("/dev/nvidia-caps").glob("*"))]:
        if os.path.exists(path):
            result.devices.append((path, path))
    for name, path in libraries():
        result.files.append((os.path.realpath(path), f"{FOLDER}/{name}"))
    for program in ("/usr/bin/nvidia-smi",):
        if os.path.exists(program):
            result.files.append((program, program))
    if result.files:
        result.library_folders.append(FOLDER)
    return result


def libraries() -> List[Tuple[str, str]]:
    """(name, path) of NVIDIA's, as the linker here finds them."""
    import subprocess

    try:
        said = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    found: Dict[str, str] = {}
    for name, kind, path in re.findall(r"^\s*(\S+) \(([^)]*)\) => (\S+)$", said, re.M):
        if (name.startswith(_LIBRARIES) and "x86-64" in kind) or (name.startswith(_LIBRARIES) and "AArch64" in kind):
            found.setdefault(name, path)
    return sorted(found.items())


def driver_version(path: str) -> Optional[str]:
    try:
        found = re.search(r"Kernel Module[^\n]*?\s(\d{3,}\.\d+(?:\.\d+)?)\s", Path(path).read_text())
    except OSError:
        return None
    return found.group(1) if found else None


def _numbers(wanted: Optional[List[str]]) -> List[str]:
    """Of these GPUs, as the driver counts its device files (its `Device Minor`, by UUID)."""
    found = []
    for info in Path("/proc/driver/nvidia/gpus").glob("*/information"):
        try:
            text = info.read_text()
        except OSError:
            continue
        uuid, minor = re.search(r"GPU UUID:\s*(\S+)", text), re.search(r"Device Minor:\s*(\d+)", text)
        if uuid and minor and wanted and uuid.group(1) in wanted:
            found.append(minor.group(1))
    return found
