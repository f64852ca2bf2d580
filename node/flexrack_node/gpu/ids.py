"""Names of this machine's GPUs that are the same for everybody, read from the driver's own files: quick, and needs no
library.
"""

import re
from pathlib import Path
from typing import List

_GPUS = Path("/proc/driver/nvidia/gpus")


def gpu_ids(folder: Path = _GPUS) -> List[str]:
    """The UUID of each NVIDIA GPU (as nvidia-smi writes it), or `pci:BUS` where the driver does not tell it. Empty
    without the driver.
    """
    found = []
    for one in sorted(folder.glob("*")):
        try:
            text = (one / "information").read_text(errors="replace")
        except OSError:
            text = ""
        reported = re.search(r"^GPU UUID:\s*(GPU-[0-9a-f-]{36})\s*$", text, re.MULTILINE)
        found.append(reported.group(1) if reported else f"pci:{one.name}")
    return found
